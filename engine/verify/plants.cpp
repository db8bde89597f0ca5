// SPDX-License-Identifier: Apache-2.0
// The planted mistakes. Each is made between two stages of the engine: in the market before planning, in the
// numbers and operations of a program before its passes, in the times of its events, in the shocks and
// quasi-random points, or in the results of tiles. Mistakes in sensitivities are made in the derivatives of a
// program's numbers by those of the market, and in the reported figures.
#include "engine/verify/plants.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/decide/exercise/policy.h"
#include "engine/numerics/quasi/directions.h"
#include "engine/numerics/quasi/order.h"
#include "engine/walk/cpu/point_shocks.h"
#include "engine/walk/units.h"
#include "kernels/tile.h"
#include "products/program/row_names.h"

namespace tilewalk::verify {

namespace {

using cpu::path_job;
using kernels::moments;
using kernels::tile_result;
using markets::curve;
using markets::market_state;
using program::operation;
using recorded = program::recorder::recorded;
namespace row_names = program::row_names;

// A CPU back end with wrong tallies: lies(jobs, operations, honestly) returns them. It may call
// honestly(jobs) to have jobs, changed or not, walked rightly.
template <class F>
stages with_cpu(const F& lies) {
    using on_progress = std::function<void(const cpu::pool_progress&)>;
    class lying : public cpu::back_end {
      public:
        lying(const cpu::lane_operations& operations, int threads, program::precision in, const F& how)
            : back_end(operations, threads, in), how_(how) {}

      private:
        std::vector<run::tally> walk_tiles(std::span<const path_job> jobs, const std::atomic<bool>* cancel,
                                           const on_progress& tell) override {
            const auto honestly = [&](std::span<const path_job> of) {
                return back_end::walk_tiles(of, cancel, tell);
            };
            return how_(jobs, operations(), honestly);
        }
        F how_;
    };
    stages s;
    s.on_cpu = [lies](const cpu::lane_operations& operations, int threads, program::precision in) {
        return std::make_unique<lying>(operations, threads, in, lies);
    };
    return s;
}

// ---- The market

stages with_market(void (*change)(market_state&)) {
    stages s;
    s.plan = [change](const books::trade& t, const market_state& in, program::precision p,
                      const plan::poll& often) {
        market_state changed = in;
        change(changed);
        return plan::plan_trade(t, changed, p, {}, often);
    };
    s.policies.change_market = change;
    return s;
}

// A curve with these logs of discount factors at `years`; its last forward rate continues afterwards.
template <class F>
curve curve_of(std::vector<double> years, const F& log_discount) {
    std::vector<double> factors;
    for (const double t : years) factors.push_back(std::exp(log_discount(t)));
    return curve::from_discount_factors(std::move(years), std::move(factors));
}

std::vector<double> united(std::vector<double> a, const std::vector<double>& b) {
    a.insert(a.end(), b.begin(), b.end());
    std::sort(a.begin(), a.end());
    a.erase(std::unique(a.begin(), a.end()), a.end());
    return a;
}

constexpr double far_years = 100;

// Discounts payments with other curves but keeps all forwards, by changing dividend yields as much.
template <class F>
void discount_with(market_state& in, const F& other) {
    const auto right = in.currencies;
    for (auto& [currency, c] : in.currencies) c = other(right, currency);
    for (auto& [name, a] : in.assets) {
        const curve &before = right.find(a.currency)->second, &now = in.currencies.find(a.currency)->second;
        const curve yield = a.dividend_yield;
        a.dividend_yield = curve_of(
            united(united(united(before.pillars(), now.pillars()), yield.pillars()), {far_years}),
            [&](double t) { return yield.log_discount(t) + now.log_discount(t) - before.log_discount(t); });
    }
}

using curves = decltype(market_state::currencies);

curve curve_of_another(const curves& all, const std::string& currency) {
    auto at = all.find(currency);
    return (++at == all.end() ? all.begin() : at)->second;
}

// Makes every payment ten days late: within its first hour, the curve already falls by ten days of
// discounting.
curve late_curve(const curves& all, const std::string& currency) {
    constexpr double late = 10 / 365.0, at_once = 1e-4;
    const curve& c = all.find(currency)->second;
    std::vector<double> years{at_once, far_years};
    for (const double t : c.pillars()) {
        if (t - late > at_once) years.push_back(t - late);
    }
    return curve_of(united(std::move(years), {}), [&](double t) { return c.log_discount(t + late); });
}

void read_rates_as_annual(market_state& in) {
    for (auto& [currency, c] : in.currencies) {
        const curve right = c;
        c = curve_of(united(right.pillars(), {far_years}),
                     [&](double t) { return -t * std::log1p(-right.log_discount(t) / t); });
    }
}

void raise_spots(market_state& in) {
    for (auto& [name, a] : in.assets) a.spot *= 1.001;
}

void ignore_dividends(market_state& in) {
    for (auto& [name, a] : in.assets) {
        a.dividend_yield = curve::flat(0);
        a.dividends.clear();
    }
}

void take_volatility_at_the_end(market_state& in) {
    for (auto& [name, a] : in.assets) {
        if (!a.vol || a.vol->pillars().empty()) continue;
        const double last = a.vol->pillars().back(), bit = 1e-6 * last;
        const double variance = a.vol->total_variance(last) - a.vol->total_variance(last - bit);
        a.vol = markets::volatility::flat(std::sqrt(variance / bit));
    }
}

void scale_correlations(market_state& in, bool with_a_rate, double by) {
    for (auto& [pair, rho] : in.correlations) {
        const bool is_rate = !in.assets.contains(pair.first) || !in.assets.contains(pair.second);
        if (is_rate == with_a_rate) rho *= by;
    }
}

// ---- The program and its numbers

stages with_program(void (*change)(recorded&, const std::vector<double>& grid)) {
    stages s;
    s.plan = [change](const books::trade& t, const market_state& in, program::precision p,
                      const plan::poll& often) { return plan::plan_trade(t, in, p, change, often); };
    return s;
}

// Calls change(number, run) for every number of the rows with is_asked_for(name), by run of the row's
// section.
template <class Is, class F>
void change_rows_where(recorded& r, const Is& is_asked_for, const F& change) {
    for (std::size_t s = 0; s < r.code.sections.size(); ++s) {
        const auto& names = r.code.sections[s].rows;
        for (std::size_t column = 0; column < names.size(); ++column) {
            if (!is_asked_for(names[column])) continue;
            for (std::size_t run = 0; run < r.data.runs[s]; ++run)
                change(r.data.rows[s][run * r.data.widths[s] + column], run);
        }
    }
}

template <class F>
void change_rows(recorded& r, std::string_view quantity, const F& change) {
    change_rows_where(
        r, [&](std::string_view name) { return row_names::is_numbered(name, quantity); }, change);
}

void add_to_drift(recorded& r, const std::vector<double>& grid) {
    change_rows(r, row_names::drift,
                [&](double& x, std::size_t step) { x += 0.0005 * (grid[step + 1] - grid[step]); });
}

void shorten_drift(recorded& r, const std::vector<double>&) {
    change_rows(r, row_names::drift, [](double& x, std::size_t) { x *= 0.98; });
}

void forget_rate_convexity(recorded& r, const std::vector<double>&) {
    change_rows_where(r, row_names::is_convexity_of_some_currency, [](double& x, std::size_t) { x = 0; });
}

void count_360_days(recorded& r, const std::vector<double>&) {
    constexpr double ratio = 365.0 / 360.0;
    change_rows(r, row_names::drift, [](double& x, std::size_t) { x *= ratio; });
    change_rows(r, row_names::variance, [](double& x, std::size_t) { x *= ratio; });
    change_rows(r, row_names::covariance_root, [](double& x, std::size_t) { x *= std::sqrt(ratio); });
}

bool watches(const program::section& s) {
    return std::ranges::any_of(
        s.rows, [](const auto& name) { return row_names::is_numbered(name, row_names::variance); });
}

// Calls `change` for every max(x, 0) of the sections that watch a path (or don't). A section that floors a
// product is left alone: it measures time beyond a level, and would give NaN without its floors.
template <class F>
void change_floors(recorded& r, bool of_watching, const F& change) {
    for (program::section& s : r.code.sections) {
        if (watches(s) != of_watching) continue;
        const auto is_zero = [&](std::uint32_t at) {
            return s.nodes[at].code == operation::constant && s.nodes[at].number == 0;
        };
        std::vector<program::node*> floors;
        for (program::node& n : s.nodes) {
            if (n.code != operation::max) continue;
            if (is_zero(n.args[0])) std::swap(n.args[0], n.args[1]);
            if (is_zero(n.args[1])) floors.push_back(&n);
        }
        const auto of_a_product = [&](const program::node* n) {
            return s.nodes[n->args[0]].code == operation::mul;
        };
        if (of_watching && std::ranges::any_of(floors, of_a_product)) continue;
        for (program::node* n : floors) change(*n);
    }
}

void share_normals_of_assets(recorded& r, const std::vector<double>&) {
    std::optional<std::uint32_t> first;
    for (program::node& n : r.code.sections[0].nodes) {
        if (n.code == operation::normal) n.args[0] = first ? *first : *(first = n.args[0]);
    }
}

void count_one_less(recorded& r, const std::vector<double>&) {
    for (std::size_t i = 0; i < r.code.terms.size(); ++i) {
        if (row_names::is_schedule_size(r.code.terms[i]) && r.data.terms[i] > 2) r.data.terms[i] -= 1;
    }
}

// ---- When things happen

constexpr std::size_t never = ~std::size_t{0};

// Moves the events that follow step k of n to step to(k, n), or drops them if that is `never`.
stages with_events(std::size_t (*to)(std::size_t k, std::size_t n)) {
    stages s;
    s.plan = [to](const books::trade& t, const market_state& in, program::precision p,
                  const plan::poll& often) {
        plan::trade_program made = plan::plan_trade(t, in, p, {}, often);
        const std::size_t n = made.when.steps();
        program::timeline moved;
        moved.times = made.when.times;
        for (std::size_t step = 0; step < n; ++step) {
            for (std::size_t k = 0; k < n; ++k) {
                if (to(k, n) != step) continue;
                for (const program::event& e : made.when.events_after(k)) moved.add(e);
            }
            moved.close_step();
        }
        made.when = std::move(moved);
        return made;
    };
    return s;
}

// ---- The shocks

struct path_shocks {
    std::size_t steps = 0, slots = 0, paths = 0;
    std::vector<double> all;
    double& at(std::size_t step, std::size_t slot, std::size_t path) {
        return all[(step * slots + slot) * paths + path];
    }
};

// Makes a shock for each step, slot and path: draw(out, step, slot, first_path) writes those of 256 paths.
template <class F>
path_shocks shocks_of(const path_job& job, const F& draw) {
    path_shocks out{job.when->steps(), job.code->normals.size(), static_cast<std::size_t>(job.paths), {}};
    out.all.resize(out.steps * out.slots * out.paths);
    double drawn[cpu::lanes];
    for (std::size_t first = 0; first < out.paths; first += cpu::lanes) {
        const std::size_t count = std::min<std::size_t>(cpu::lanes, out.paths - first);
        for (std::size_t row = 0; row < out.steps * out.slots; ++row) {
            draw(drawn, row / out.slots, row % out.slots, first);
            std::copy_n(drawn, count, out.all.data() + row * out.paths + first);
        }
    }
    return out;
}

void draw_normals(double* out, const path_job& job, const cpu::lane_operations& operations, std::size_t step,
                  std::size_t slot, std::size_t first_path) {
    const program::place_in_stream& p = job.code->normals[slot];
    const std::size_t number = step * p.dimensions + p.dimension;
    double drawn[2][cpu::lanes];
    operations.double_draws.normals(
        drawn, job.seed, first_path, static_cast<std::uint32_t>(number / 2),
        kernels::stream_key_of(program::key_of(job.data->normal_names, p.stream)));
    std::copy_n(drawn[number % 2], cpu::lanes, out);
}

path_shocks normals_of(const path_job& job, const cpu::lane_operations& operations) {
    cpu::point_shocks<double> points(operations.double_points);
    return shocks_of(job, [&](double* out, std::size_t step, std::size_t slot, std::size_t first) {
        const auto draw = [&](std::size_t of_step, std::size_t of_slot, double* to) {
            draw_normals(to, job, operations, of_step, of_slot, first);
        };
        if (job.points.order == nullptr) return draw(step, slot, out);
        if (step == 0 && slot == 0) points.begin_normals(job.points, job.seed, first, draw);
        std::copy_n(points.normals(step, slot, draw), cpu::lanes, out);
    });
}

// Normals from quasi-random points without a bridge, with all dimensions of a factor scrambled alike.
path_shocks normals_scrambled_alike(const path_job& job, const cpu::lane_operations& operations) {
    const kernels::normal_table<double>& table = quasi::normal_table<double>();
    const std::uint64_t paths = job.points.paths_of_randomisation;
    return shocks_of(job, [&](double* out, std::size_t step, std::size_t slot, std::size_t first) {
        const quasi::order& order = *job.points.order;
        if (order.dimension_of_normal(step, slot) == kernels::no_dimension)
            return draw_normals(out, job, operations, step, slot, first);
        const kernels::scramble by =
            kernels::scramble_of(job.seed, static_cast<std::uint32_t>(first / paths),
                                 order.dimension_of_normal(0, slot), order.normal_slots()[slot].key);
        operations.double_points.normals(out, quasi::directions_of(order.dimension_of_normal(step, slot)), by,
                                         static_cast<std::uint32_t>(first % paths), table);
    });
}

template <class F>
stages with_made_shocks(const F& made) {
    return with_cpu(
        [made](std::span<const path_job> jobs, const cpu::lane_operations& operations, const auto& honestly) {
            std::deque<path_shocks> shocks;
            std::vector<path_job> changed(jobs.begin(), jobs.end());
            for (path_job& job : changed) {
                path_shocks& of = shocks.emplace_back(made(job, operations));
                job.normals = {of.all.data(), of.slots * of.paths, of.paths, of.steps, of.slots, of.paths};
            }
            return honestly(changed);
        });
}

stages with_shocks(void (*change)(path_shocks&)) {
    return with_made_shocks([change](const path_job& job, const cpu::lane_operations& operations) {
        path_shocks of = normals_of(job, operations);
        change(of);
        return of;
    });
}

template <class F>
void change_each(path_shocks& of, const F& change) {
    for (double& x : of.all) x = change(x);
}

// Path p takes `sign` times the shocks of path from(p).
template <class F>
void take_from(path_shocks& of, double sign, const F& from) {
    for (std::size_t row = 0; row < of.steps * of.slots; ++row) {
        double* x = of.all.data() + row * of.paths;
        for (std::size_t p = 0; p < of.paths; ++p) {
            if (from(p) != p) x[p] = sign * x[from(p)];
        }
    }
}

void share_normals_of_dates(path_shocks& of) {
    for (std::size_t step = 1; step < of.steps; step += 2) {
        for (std::size_t slot = 0; slot < of.slots; ++slot)
            std::copy_n(&of.at(step - 1, slot, 0), of.paths, &of.at(step, slot, 0));
    }
}

// ---- The bridges of points

stages with_bridges(void (*change)(std::vector<kernels::bridge_node>&)) {
    return with_cpu(
        [change](std::span<const path_job> jobs, const cpu::lane_operations&, const auto& honestly) {
            std::deque<quasi::order> orders;
            std::vector<path_job> changed(jobs.begin(), jobs.end());
            for (path_job& job : changed) {
                const quasi::order& right = *job.points.order;
                if (!right.is_bridged()) continue;
                job.points.order = &orders.emplace_back(
                    right.with_steps([&](quasi::order_of_steps& steps) { change(steps.nodes); }));
            }
            return honestly(changed);
        });
}

void take_deviations_of_neighbours(std::vector<kernels::bridge_node>& nodes) {
    for (std::size_t n = nodes.size(); n-- > 1;) nodes[n].deviation = nodes[n - 1].deviation;
}

// ---- The results of tiles

// The number of tiles that form one part, by whose spread the error is estimated: all, or one randomisation.
std::uint64_t tiles_of_part(const path_job& job) {
    return job.points.order == nullptr ? std::bit_ceil(job.tiles()) : job.tiles_of_part();
}

using merge_of_two = tile_result (*)(const tile_result&, const tile_result&);

tile_result merge_with(std::vector<tile_result> m, merge_of_two merge_two) {
    while (m.size() > 1) {
        std::vector<tile_result> next;
        for (std::size_t i = 0; i + 1 < m.size(); i += 2) next.push_back(merge_two(m[i], m[i + 1]));
        if (m.size() % 2 == 1) next.push_back(m.back());
        m = std::move(next);
    }
    return m.at(0);
}

stages with_tiles(void (*change)(std::vector<tile_result>&), merge_of_two merge_two = kernels::merge) {
    return with_cpu([change, merge_two](std::span<const path_job> jobs,
                                        const cpu::lane_operations& operations, const auto&) {
        std::vector<run::tally> out;
        cpu::lane_machine machine(operations);
        for (const path_job& job : jobs) {
            job.check();
            std::vector<tile_result> tiles(job.tiles());
            for (std::uint64_t t = 0; t < tiles.size(); ++t) machine.walk(job, t, {&tiles[t], 1});
            change(tiles);
            run::tally& all = out.emplace_back(job.tiles(), tiles_of_part(job));
            for (std::uint64_t first = 0; first < tiles.size(); first += all.part_tiles()) {
                const auto begin = tiles.begin() + static_cast<std::ptrdiff_t>(first);
                const auto count = std::min<std::uint64_t>(all.part_tiles(), tiles.size() - first);
                all.add({first, count},
                        merge_with({begin, begin + static_cast<std::ptrdiff_t>(count)}, merge_two));
            }
        }
        return out;
    });
}

tile_result with_nothing(const tile_result& tile, double paths) {
    return kernels::merge(tile, {{paths, 0, 0, 0, 0}});
}

void lose_a_tile(std::vector<tile_result>& tiles) {
    tiles.front().moments = {tiles.front().moments.count, 0, 0, 0, 0};
}

void sum_a_tile_twice(std::vector<tile_result>& tiles) {
    tiles.front().moments.mean *= 2;
}

void lose_a_lane(std::vector<tile_result>& tiles) {
    for (tile_result& t : tiles) {
        const double lost = t.moments.count / kernels::lanes_per_tile;
        t.moments.count -= lost;
        t = with_nothing(t, lost);
    }
}

void count_empty_lanes(std::vector<tile_result>& tiles) {
    tile_result& last = tiles.back();
    last = with_nothing(last, kernels::paths_per_tile - last.moments.count);
}

tile_result merge_as_equals(const tile_result& a, const tile_result& b) {
    tile_result out = kernels::merge(a, b);
    out.moments.mean = 0.5 * (a.moments.mean + b.moments.mean);
    return out;
}

stages with_moments(void (*change)(std::vector<moments>&)) {
    return with_cpu(
        [change](std::span<const path_job> jobs, const cpu::lane_operations&, const auto& honestly) {
            std::vector<run::tally> out = honestly(jobs);
            for (std::size_t k = 0; k < out.size(); ++k) {
                const std::uint64_t tiles = out[k].run_tiles(), part = tiles_of_part(jobs[k]);
                std::vector<moments> parts = out[k].parts();
                if (part != out[k].part_tiles()) parts = {out[k].whole().moments};
                change(parts);
                out[k] = run::tally(tiles, part);
                for (std::uint64_t p = 0; p < parts.size(); ++p)
                    out[k].add({p * part, std::min(part, tiles - p * part)}, {parts[p]});
            }
            return out;
        });
}

void scale_error(std::vector<moments>& parts, double by) {
    if (parts.size() == 1) {
        parts.front().m2 *= by * by;
        return;
    }
    const double mean = run::estimate_of_units(parts).mean;
    for (moments& m : parts) m.mean = mean + by * (m.mean - mean);
}

// Sets the standard error as if the points were independent paths.
void count_points_as_independent(std::vector<moments>& parts) {
    moments all{};
    for (const moments& m : parts) all = kernels::merge(all, m);
    const double error = run::estimate_of_units(parts).standard_error;
    if (error > 0) scale_error(parts, run::standard_error_of(all) / error);
}

void repeat_randomisations(std::vector<moments>& parts) {
    for (std::size_t p = 1; p < parts.size(); p += 2) parts[p] = parts[p - 1];
}

// ---- Policies of trades that can be ended early

stages with_policy(void (*change)(exercise::policy&)) {
    stages s;
    s.policies.change = change;
    return s;
}

// Each date decides by the coefficients of the next date, and the last date by those of the first.
void decide_by_the_next(exercise::policy& p) {
    for (std::size_t k = 0; k + 1 < p.dates.size(); ++k) {
        exercise::decision_date &here = p.dates[k], &next = p.dates[k + 1];
        std::swap(here.means, next.means);
        std::swap(here.scales, next.scales);
        std::swap(here.paid, next.paid);
        std::swap(here.unpaid, next.unpaid);
        std::swap(here.slopes, next.slopes);
    }
}

void turn_signs_of_fits(exercise::policy& p) {
    for (exercise::decision_date& d : p.dates)
        for (exercise::fitted_side* side : {&d.paid, &d.unpaid})
            for (double& x : side->coefficients) x = -x;
}

void forget_martingale(exercise::policy& p) {
    std::ranges::fill(p.first_slopes, 0.0);
    for (exercise::decision_date& d : p.dates) std::ranges::fill(d.slopes, 0.0);
}

// ---- Sensitivities

// Changes how the numbers of a trade's program move with a number of the market.
stages with_moves(void (*change)(const std::string& key, program::path_data& moves)) {
    stages s;
    s.see_moves = [change](std::span<const std::string> keys,
                           std::span<std::optional<program::path_data>> moves) {
        for (std::size_t k = 0; k < keys.size(); ++k)
            if (moves[k]) change(keys[k], *moves[k]);
    };
    return s;
}

// True for keys such as "A.volatility@1y" if `what` is "volatility".
bool is_of(const std::string& key, std::string_view what) {
    const std::string of = key.substr(0, key.find('@'));
    return of.ends_with("." + std::string(what));
}

template <class F>
void change_moves(program::path_data& moves, const F& change) {
    for (double& x : moves.terms) change(x);
    for (double& x : moves.initial_states) change(x);
    for (auto& rows : moves.rows)
        for (double& x : rows) change(x);
}

void forget_last_run(program::path_data& moves) {
    for (std::size_t s = 0; s < moves.rows.size(); ++s) {
        auto& rows = moves.rows[s];
        if (moves.runs[s] > 1)
            std::fill(rows.end() - static_cast<std::ptrdiff_t>(moves.widths[s]), rows.end(), 0.0);
    }
}

// Section 0 is the step of the path; all others are events.
void forget_events(program::path_data& moves) {
    for (std::size_t s = 1; s < moves.rows.size(); ++s) std::ranges::fill(moves.rows[s], 0.0);
}

stages with_swapped_pillars() {
    stages s;
    s.see_moves = [](std::span<const std::string> keys, std::span<std::optional<program::path_data>> moves) {
        const auto name = [&](std::size_t k) { return keys[k].substr(0, keys[k].find('@')); };
        for (std::size_t k = 0; k + 1 < keys.size(); ++k) {
            if (keys[k].find('@') == std::string::npos || name(k) != name(k + 1)) continue;
            std::swap(moves[k], moves[k + 1]);
            ++k;
        }
    };
    return s;
}

stages with_sensitivities(void (*change)(greek_row&)) {
    stages s;
    s.see_sensitivity = change;
    return s;
}

}  // namespace

std::span<const plant> plants() {
    static constexpr std::array all{
        plant{"spot", "every spot is 0.1 % too high", [] { return with_market(raise_spots); }},
        plant{"drift", "every asset drifts 0.0005 a year too fast",
              [] { return with_program(add_to_drift); }},
        plant{"compounding", "rates are read as if compounded once a year",
              [] { return with_market(read_rates_as_annual); }},
        plant{"dividends", "dividend yields are ignored", [] { return with_market(ignore_dividends); }},
        plant{"discount_curve", "payments are discounted with the curve of another currency",
              [] { return with_market([](market_state& in) { discount_with(in, curve_of_another); }); }},
        plant{"discount_late", "payments are discounted from ten days after they are made",
              [] { return with_market([](market_state& in) { discount_with(in, late_curve); }); }},
        plant{"ito", "2 % of the drift that makes up for the variance is missing",
              [] { return with_program(shorten_drift); }},
        plant{"still_rates", "interest rates do not move",
              [] { return with_market([](market_state& in) { in.rate_models.clear(); }); }},
        plant{"rate_ito", "the drift that makes up for the variance of rates is missing",
              [] { return with_program(forget_rate_convexity); }},
        plant{"day_count", "variances grow by years of 360 days",
              [] { return with_program(count_360_days); }},
        plant{"last_volatility", "the volatility at the end holds from the start",
              [] { return with_market(take_volatility_at_the_end); }},
        plant{"correlation_sign", "correlations of assets have the wrong sign",
              [] { return with_market([](market_state& in) { scale_correlations(in, false, -1); }); }},
        plant{"correlation_ignored", "assets are not correlated",
              [] { return with_market([](market_state& in) { scale_correlations(in, false, 0); }); }},
        plant{"quanto_sign", "the quanto drift has the wrong sign",
              [] { return with_market([](market_state& in) { scale_correlations(in, true, -1); }); }},
        plant{"quanto_ignored", "the quanto drift is missing",
              [] { return with_market([](market_state& in) { scale_correlations(in, true, 0); }); }},
        plant{"no_bridge", "between its stops a path is not watched",
              [] {
                  return with_program([](recorded& r, const std::vector<double>&) {
                      change_rows(r, row_names::variance, [](double& x, std::size_t) { x = 0; });
                  });
              }},
        plant{"weak_bridge", "between its stops a path has 5 % too little variance",
              [] {
                  return with_program([](recorded& r, const std::vector<double>&) {
                      change_rows(r, row_names::variance, [](double& x, std::size_t) { x *= 0.95; });
                  });
              }},
        plant{"touch_side", "a touch is looked for on the wrong side of the level",
              [] {
                  return with_program([](recorded& r, const std::vector<double>&) {
                      change_floors(r, true, [](program::node& n) { n.code = operation::min; });
                  });
              }},
        plant{"floor", "payoffs have no floor at zero",
              [] {
                  return with_program([](recorded& r, const std::vector<double>&) {
                      change_floors(r, false, [](program::node& n) { n.args[1] = n.args[0]; });
                  });
              }},
        plant{"fixing_late", "all dates but the last see the price of the date after",
              [] { return with_events([](std::size_t k, std::size_t n) { return k + 1 < n ? k + 1 : k; }); }},
        plant{"fixing_early", "all dates but the last see the price of the date before",
              [] {
                  return with_events(
                      [](std::size_t k, std::size_t n) { return k + 1 < n && k > 0 ? k - 1 : k; });
              }},
        plant{
            "fixing_skipped", "the last date but one is left out",
            [] { return with_events([](std::size_t k, std::size_t n) { return k + 2 == n ? never : k; }); }},
        plant{"count", "averages divide by one date too few", [] { return with_program(count_one_less); }},
        plant{"shared_by_assets", "all assets move with the same normals",
              [] { return with_program(share_normals_of_assets); }},
        plant{"shared_by_dates", "every other step repeats the normals of the step before",
              [] { return with_shocks(share_normals_of_dates); }},
        plant{"shared_by_paths", "every fourth path repeats the path before",
              [] {
                  return with_shocks([](path_shocks& of) {
                      take_from(of, 1, [](std::size_t p) { return p % 4 == 3 ? p - 1 : p; });
                  });
              },
              mistake_of::independent_paths},
        plant{"mirrored", "every other path mirrors the path before and counts as independent",
              [] {
                  return with_shocks([](path_shocks& of) {
                      take_from(of, -1, [](std::size_t p) { return p % 2 == 1 ? p - 1 : p; });
                  });
              },
              mistake_of::independent_paths},
        plant{"normal_mean", "normals have the mean 0.003",
              [] {
                  return with_shocks(
                      [](path_shocks& of) { change_each(of, [](double x) { return x + 0.003; }); });
              }},
        plant{"normal_variance", "normals have the variance 1.01",
              [] {
                  return with_shocks(
                      [](path_shocks& of) { change_each(of, [](double x) { return x * std::sqrt(1.01); }); });
              }},
        plant{"normal_tails", "no normal is beyond 3",
              [] {
                  return with_shocks([](path_shocks& of) {
                      change_each(of, [](double x) { return std::clamp(x, -3.0, 3.0); });
                  });
              }},
        plant{"tile_lost", "1024 paths are counted and their payoffs are lost",
              [] { return with_tiles(lose_a_tile); }},
        plant{"tile_twice", "the payoffs of 1024 paths are summed twice",
              [] { return with_tiles(sum_a_tile_twice); }},
        plant{"lane_lost", "one lane of 256 is counted and its payoffs are lost",
              [] { return with_tiles(lose_a_lane); }},
        plant{"empty_lanes", "the lanes beyond the last path count as paths that pay nothing",
              [] { return with_tiles(count_empty_lanes); }, mistake_of::independent_paths},
        plant{"merge_weights", "two sets of paths merge as if they were of the same size",
              [] { return with_tiles([](std::vector<tile_result>&) {}, merge_as_equals); },
              mistake_of::independent_paths},
        plant{"error_small", "standard errors are 10 % too small",
              [] { return with_moments([](std::vector<moments>& parts) { scale_error(parts, 0.9); }); }},
        plant{"error_large", "standard errors are 10 % too large",
              [] { return with_moments([](std::vector<moments>& parts) { scale_error(parts, 1.1); }); }},
        plant{"points_independent", "errors are those of independent paths, which points are not",
              [] { return with_moments(count_points_as_independent); }, mistake_of::points},
        plant{"randomisations_repeated", "every other randomisation walks the points of the one before",
              [] { return with_moments(repeat_randomisations); }, mistake_of::points},
        plant{"scrambles_shared", "all dimensions of a factor are scrambled alike",
              [] { return with_made_shocks(normals_scrambled_alike); }, mistake_of::points},
        plant{"bridge_deviation", "places of a bridge deviate as the one found before them",
              [] { return with_bridges(take_deviations_of_neighbours); }, mistake_of::points},
        plant{"foresight", "the paths that policies are found on are priced",
              [] {
                  stages s;
                  s.policies.on_priced_paths = true;
                  return s;
              },
              mistake_of::independent_paths},
        plant{"decision_date", "each date decides by what was found for the one after",
              [] { return with_policy(decide_by_the_next); }},
        plant{"regression_sign", "the value to come is fitted with the wrong sign",
              [] { return with_policy(turn_signs_of_fits); }},
        plant{"discount_forgotten", "what using a right pays is not discounted",
              [] {
                  stages s;
                  // A currency with a rate model keeps its curve, because its rights are on rates.
                  s.policies.change_market = [](market_state& in) {
                      discount_with(in, [&in](const curves& right, const std::string& currency) {
                          const bool moves = in.rate_models.contains(currency);
                          return moves ? right.find(currency)->second : curve::flat(0);
                      });
                  };
                  return s;
              }},
        plant{"no_martingale", "upper bounds are what the best date is worth to who knows all",
              [] { return with_policy(forget_martingale); }},
        plant{"sign", "sensitivities to dividend yields have the wrong sign",
              [] {
                  return with_moves([](const std::string& key, program::path_data& moves) {
                      if (is_of(key, "dividend_yield")) change_moves(moves, [](double& x) { x = -x; });
                  });
              },
              mistake_of::sensitivities},
        plant{"last_step", "moves of the numbers of the last step are forgotten",
              [] {
                  return with_moves(
                      [](const std::string&, program::path_data& moves) { forget_last_run(moves); });
              },
              mistake_of::sensitivities},
        plant{"payments", "what rates do to the payments of a date is forgotten",
              [] {
                  return with_moves([](const std::string& key, program::path_data& moves) {
                      if (is_of(key, "rate")) forget_events(moves);
                  });
              },
              mistake_of::sensitivities},
        plant{"pillars", "each pillar moves what its neighbour should", [] { return with_swapped_pillars(); },
              mistake_of::sensitivities},
        plant{"no_bias", "jumps are smoothed four times as wide, and the bias is not told",
              [] {
                  stages s = with_sensitivities([](greek_row& row) {
                      if (row.method == "smoothed") row.bias = 0;
                  });
                  s.widths = 4;
                  return s;
              },
              mistake_of::sensitivities},
        plant{"sensitivity_error", "errors of sensitivities are half as large as they should be",
              [] { return with_sensitivities([](greek_row& row) { row.standard_error *= 0.5; }); },
              mistake_of::sensitivities},
    };
    return all;
}

}  // namespace tilewalk::verify
