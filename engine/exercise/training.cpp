// SPDX-License-Identifier: Apache-2.0
#include "engine/exercise/training.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/cpu/tile_pool.h"
#include "engine/exercise/backward.h"
#include "engine/exercise/deciders.h"
#include "kernels/tile.h"
#include "products/program/row_names.h"

namespace tilewalk::exercise {

namespace {

// The numbers that paths leave take no more; a trade of very many dates is trained on fewer paths.
constexpr std::size_t most_bytes_left = std::size_t{1} << 29;

// The numbers that paths have left.
class left_arrays {
  public:
    left_arrays(const leaving& by, const plan::trade_program& made, const policy& of, const training& how) {
        const program::path_program& code = made.code;
        leaves_.sections.resize(code.sections.size());
        const auto state = [&](std::uint32_t source) {
            const auto at = std::ranges::find(code.state_sources, source);
            if (at == code.state_sources.end())
                throw error(error_kind::internal, "a state that a right depends on is not there");
            return static_cast<std::uint32_t>(at - code.state_sources.begin());
        };
        for (const leaving::left_by_right& r : by.rights()) {
            auto& states = leaves_.sections[made.section_of_block[r.block]].states;
            for (const std::uint32_t s : {r.gives, r.offered, r.unit, r.alive, by.value_state()})
                states.push_back(state(s));
            for (const std::uint32_t s : of.features) states.push_back(state(s));
            for (const std::uint32_t s : r.moved) states.push_back(state(s));
        }
        auto& last = leaves_.sections.back().states;
        last.push_back(state(by.end_value()));
        for (const std::uint32_t s : by.moved_at_end()) last.push_back(state(s));
        std::size_t rows = 0;
        for (std::size_t k = 0; k < leaves_.sections.size(); ++k) {
            leaves_.sections[k].first_row = rows;
            if (!leaves_.sections[k].states.empty())
                rows += leaves_.sections[k].states.size() * made.data.runs[k];
        }
        paths_ = paths_that_fit(rows, how.paths);
        numbers_.resize(rows * paths_);
        leaves_.array = numbers_.data();
        leaves_.pitch = paths_;
        const cpu::lane_program compiled = cpu::compile(code);
        cpu::path_job job{&compiled, &made.data, &made.when, how.seed, paths_};
        job.scenarios = how.scenarios;
        job.leaves = &leaves_;
        cpu::walk_all({&job, 1}, *how.operations, how.threads, how.cancel, {});
    }

    std::span<const double> row(std::size_t section, std::size_t run, std::size_t number) const {
        const auto& of = leaves_.sections[section];
        return std::span(numbers_).subspan((of.first_row + run * of.states.size() + number) * leaves_.pitch,
                                           leaves_.pitch);
    }

    std::size_t paths() const { return paths_; }

  private:
    static std::size_t paths_that_fit(std::size_t rows, std::uint64_t asked) {
        const std::size_t fit = most_bytes_left / sizeof(double) / std::max<std::size_t>(rows, 1);
        if (fit < kernels::paths_per_tile && fit < asked) {
            throw error(error_kind::input,
                        "the decision to end the trade takes " + std::to_string(rows) +
                            " numbers of each path, expected at most " +
                            std::to_string(most_bytes_left / sizeof(double) / kernels::paths_per_tile) +
                            "; take fewer dates");
        }
        return std::min<std::size_t>(asked, fit);
    }

    cpu::left_numbers leaves_;
    std::size_t paths_ = 0;
    std::vector<double> numbers_;
};

double root_of_steps(std::size_t steps) {
    return steps > 0 ? 1 / std::sqrt(static_cast<double>(steps)) : 0;
}

// A date on which a right is there, as training meets it.
struct met_date {
    std::size_t section, step;
    decision_date found;
};

std::vector<met_date> dates_of(const leaving& by, const plan::trade_program& made) {
    std::vector<met_date> out;
    std::size_t before = 0;
    for (std::size_t step = 0; step < made.when.steps(); ++step) {
        for (const program::event& e : made.when.events_after(step)) {
            for (const leaving::left_by_right& r : by.rights()) {
                if (made.section_of_block[r.block] != e.section) continue;
                met_date& d = out.emplace_back(met_date{e.section, step, {}});
                d.found.block = r.block;
                d.found.run = e.row;
                d.found.of = r.of;
                d.found.root = root_of_steps(step + 1 - before);
                before = step + 1;
            }
        }
    }
    return out;
}

// A date as its paths have left it.
date_left left_on(const met_date& d, const left_arrays& left, const policy& by) {
    const auto row = [&](std::size_t number) { return left.row(d.section, d.found.run, number).data(); };
    date_left out{row(0), row(1), row(2), row(3), row(4), {}, {{}, d.found.root}};
    const std::size_t features = by.features.size();
    for (std::size_t f = 0; f < features; ++f) out.features.push_back(row(5 + f));
    if (!by.has_bound()) return out;
    for (std::size_t n = 0; n < by.normals.size(); ++n) out.before.sums.push_back(row(5 + features + n));
    return out;
}

// The factors of prices that the program of a trade was recorded with: by section, by name, by run.
using recorded_scales = std::vector<std::map<std::string, std::vector<double>, std::less<>>>;

recorded_scales scales_of(const program::recorder::recorded& r) {
    recorded_scales out(r.code.sections.size());
    for (std::size_t s = 0; s < out.size(); ++s) {
        const std::vector<std::string>& names = r.code.sections[s].rows;
        for (std::size_t column = 0; column < names.size(); ++column) {
            if (!program::row_names::is_numbered(names[column], program::row_names::scale)) continue;
            for (std::size_t run = 0; run < r.data.runs[s]; ++run)
                out[s][names[column]].push_back(r.data.rows[s][run * r.data.widths[s] + column]);
        }
    }
    return out;
}

// The short rate of a currency, near enough: over a quarter of a year from then on.
double short_rate(const markets::curve& of, double years) {
    constexpr double quarter = 0.25;
    return (of.log_discount(years) - of.log_discount(years + quarter)) / quarter;
}

// A name that a script gives to a number of its own, too, tells nothing.
std::vector<double> levels_of(const policy_to_find& of, const recorded_scales& scales, const met_date& d,
                              double years, const markets::market_view& in) {
    std::vector<double> out;
    for (std::size_t f = 0; f < of.known.size(); ++f) {
        const std::string& name = of.known[f];
        double& level = out.emplace_back(0);
        if (std::ranges::count(of.known, name) > 1) continue;
        if (name.ends_with(program::row_names::first_rate)) {
            const std::string currency = name.substr(0, name.size() - program::row_names::first_rate.size());
            if (in.rate_model(currency) != nullptr) level = short_rate(in.discount_curve(currency), years);
            continue;
        }
        const auto found = scales[d.section].find(program::row_names::scale_of(name));
        if (found == scales[d.section].end()) continue;
        const double scale = found->second[d.found.run];
        if (scale > 0) level = of.are_products[f] ? scale : std::log(scale);
    }
    return out;
}

}  // namespace

std::optional<policy_to_find> policy_to_find_of(const books::trade& t, const markets::market_view& in,
                                                const plan::poll& often) {
    leaving plainly;
    recorded_scales scales;
    const plan::amendment look = [&](program::recorder::recorded& r, const std::vector<double>&) {
        scales = scales_of(r);
    };
    const plan::trade_program plain =
        plan::plan_trade(t, in, program::precision::double_, look, often, &plainly);
    policy_to_find out;
    policy& by = out.by;
    if (plainly.today()) {
        by.today = plainly.today()->second;
        (plainly.today()->first == language::party::holder ? by.has_holder : by.has_issuer) = true;
    }
    if (plain.is_certain()) {
        if (!by.today) return std::nullopt;
        const double to_come = plain.data.initial_states[plain.code.outputs[0]];
        by.is_used_today = by.has_holder ? *by.today > to_come : *by.today < to_come;
        out.is_certain = true;
        return out;
    }
    if (plainly.rights().empty() && !by.today) return std::nullopt;
    for (const leaving::left_by_right& r : plainly.rights())
        (r.of == language::party::holder ? by.has_holder : by.has_issuer) = true;
    for (std::size_t s = 0; s < plain.code.states.size(); ++s) {
        const std::uint32_t source = plain.code.state_sources[s];
        if (source == plainly.value_state() || source >= plainly.first_state()) continue;
        if (plain.code.states[s] == "alive") continue;  // as is every path on which something is decided
        by.features.push_back(source);
        out.known.push_back(plain.code.states[s]);
        out.are_products.push_back(plain.data.initial_states[s] != 0);
    }
    if (by.features.size() > most_features) {
        throw error(error_kind::input,
                    "the decision to end the trade depends on " + std::to_string(by.features.size()) +
                        " numbers of the path, expected at most " + std::to_string(most_features));
    }
    std::set<std::uint32_t> normals;
    for (const program::node& n : plain.code.sections[0].nodes)
        if (n.code == program::operation::normal) normals.insert(n.args[0]);
    by.normals.assign(normals.begin(), normals.end());
    by.functions = basis(by.features.size());
    std::size_t last_step = 0;
    for (const met_date& d : dates_of(plainly, plain)) {
        const language::block& b = plain.blocks[d.found.block];
        const std::size_t past = b.times.size() - plain.data.runs[d.section];
        out.dates.push_back({b.times[past + d.found.run], to_string(b.labels[past + d.found.run]),
                             levels_of(out, scales, d, b.times[past + d.found.run], in)});
        by.dates.push_back(d.found);
        last_step = d.step + 1;
    }
    by.last_root = root_of_steps(plain.when.steps() - last_step);
    return out;
}

std::optional<policy> policy_of(const books::trade& t, const markets::market_view& in, const training& by) {
    std::optional<policy_to_find> of = policy_to_find_of(t, in, by.often);
    if (!of) return std::nullopt;
    if (of->is_certain) return std::move(of->by);
    policy out = std::move(of->by);
    leaving recorded(out.has_bound() ? out.normals : std::vector<std::uint32_t>());
    const plan::trade_program made =
        plan::plan_trade(t, in, program::precision::double_, {}, by.often, &recorded);
    const left_arrays left(recorded, made, out, by);
    out.paths = left.paths();
    std::vector<met_date> dates = dates_of(recorded, made);
    const std::size_t end = made.code.sections.size() - 1;
    interval_left last{{}, out.last_root};
    for (std::size_t n = 0; out.has_bound() && n < out.normals.size(); ++n)
        last.sums.push_back(left.row(end, 0, 1 + n).data());
    backward sweep(out, left.row(end, 0, 0), std::move(last), by.threads, by.cancel);
    for (std::size_t k = dates.size(); k-- > 0;) {
        if (by.often) by.often();
        sweep.decide(dates[k].found, left_on(dates[k], left, out));
    }
    sweep.end();
    for (std::size_t k = 0; k < dates.size(); ++k) out.dates[k] = std::move(dates[k].found);
    return out;
}

plan::trade_program following_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                   program::precision to, const plan::poll& often) {
    following decides(by);
    return plan::plan_trade(t, in, to, {}, often, &decides);
}

plan::trade_program bounding_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                  program::precision to, const plan::poll& often) {
    bounding decides(by);
    const plan::amendment takes_bound = [&](program::recorder::recorded& r, const std::vector<double>&) {
        r.code.outputs = {decides.bound()};
    };
    return plan::plan_trade(t, in, to, takes_bound, often, &decides);
}

}  // namespace tilewalk::exercise
