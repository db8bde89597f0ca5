// SPDX-License-Identifier: Apache-2.0
#include "engine/exercise/training.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "engine/cpu/tile_pool.h"
#include "engine/exercise/deciders.h"
#include "engine/exercise/regression.h"
#include "kernels/tile.h"

namespace tilewalk::exercise {

namespace {

using column = std::vector<double>;

// A function takes so many paths at least, or it would follow their noise.
constexpr std::size_t paths_of_function = 8;
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
    column numbers_;
};

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
                d.found.root = step + 1 > before ? 1 / std::sqrt(static_cast<double>(step + 1 - before)) : 0;
                before = step + 1;
            }
        }
    }
    return out;
}

// Goes back from date to date.
class backward {
  public:
    backward(policy& into, const left_arrays& left, std::size_t paths)
        : into_(into), left_(left), paths_(paths), moves_(into.normals.size()) {}

    void begin(std::size_t end_section, double last_root) {
        const auto value = left_.row(end_section, 0, 0);
        for (const double x : value)
            if (!std::isfinite(x))
                throw error(error_kind::numeric, "a path that trains a decision gave no finite number");
        total_.assign(value.begin(), value.end());
        worth_ = total_;
        if (into_.has_bound()) take_moves(end_section, 0, 1, last_root);
    }

    void decide(met_date& d) {
        const std::size_t run = d.found.run, m = into_.features.size();
        const auto gives = left_.row(d.section, run, 0), offered = left_.row(d.section, run, 1),
                   unit = left_.row(d.section, run, 2), alive = left_.row(d.section, run, 3),
                   value = left_.row(d.section, run, 4);
        column paid(paths_), to_come(paths_), in(paths_), out(paths_);
        for (std::size_t p = 0; p < paths_; ++p) {
            paid[p] = gives[p] / unit[p];
            to_come[p] = (total_[p] - value[p]) / unit[p];
            const bool pays = alive[p] != 0 && offered[p] != 0 && paid[p] > 0;
            in[p] = pays ? 1 : 0;
            out[p] = alive[p] != 0 && !pays ? 1 : 0;
        }
        std::vector<column> features;
        for (std::size_t f = 0; f <= m; ++f) {
            const std::span<const double> from =
                f < m ? left_.row(d.section, run, 5 + f) : std::span<const double>(paid);
            features.push_back(scaled(from, alive, d.found));
        }
        d.found.paid = fit(features, in, to_come);
        d.found.unpaid = fit(features, out, to_come);
        const column all = sum(in, out);
        const column left_if_paid = applied(d.found.paid, features),
                     left_if_unpaid = applied(d.found.unpaid, features);
        column estimate(paths_);
        for (std::size_t p = 0; p < paths_; ++p)
            estimate[p] = paid[p] > 0 ? left_if_paid[p] : left_if_unpaid[p];
        if (into_.has_bound()) fit_slopes(d.found.slopes, features, all, estimate, value, unit);
        const bool is_holder = d.found.of == language::party::holder;
        worth_.resize(paths_);
        for (std::size_t p = 0; p < paths_; ++p) {
            const bool can = alive[p] != 0 && offered[p] != 0;
            const bool uses = can && (is_holder ? estimate[p] < paid[p] : paid[p] < estimate[p]);
            if (uses) total_[p] = value[p] + gives[p];
            worth_[p] = alive[p] == 0 ? total_[p] : value[p] + (uses ? gives[p] : unit[p] * estimate[p]);
        }
        if (into_.has_bound()) take_moves(d.section, run, 5 + m, d.found.root);
    }

    // The interval that begins today: nothing is known but the numbers of the trade.
    void end() {
        const column ones(paths_, 1.0);
        const auto mean_of = [&](const column& of) {
            return sum_of_products(of.data(), ones.data(), paths_) / static_cast<double>(paths_);
        };
        const double mean = mean_of(worth_), plain = mean_of(total_);
        if (into_.has_bound()) {
            const std::vector<double> none(paths_, 0.0);
            fit_slopes(into_.first_slopes, std::vector<column>(into_.functions.features(), none), ones,
                       column(paths_, mean), none, ones);
            // Nothing but the first function, which is 1, is known today.
            for (std::size_t m = 0; m < moves_.size(); ++m)
                into_.first_slopes[m] = into_.first_slopes[m * into_.functions.functions()];
            into_.first_slopes.resize(moves_.size());
        }
        if (!into_.today) return;
        into_.is_used_today = into_.has_holder ? *into_.today > plain : *into_.today < plain;
    }

  private:
    static column sum(const column& a, const column& b) {
        column out(a.size());
        for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] + b[i];
        return out;
    }

    // With mean 0 and variance 1 on the paths that live, or 0 where it is alike on all.
    column scaled(std::span<const double> from, std::span<const double> alive, decision_date& into) const {
        const column ones(paths_, 1.0);
        const double count = std::max(sum_of_products(alive.data(), ones.data(), paths_), 1.0);
        const double mean = sum_of_products(from.data(), alive.data(), paths_) / count;
        column out(paths_);
        for (std::size_t p = 0; p < paths_; ++p) out[p] = (from[p] - mean) * alive[p];
        const double deviation = std::sqrt(sum_of_products(out.data(), out.data(), paths_) / count);
        const double scale =
            deviation > 1e-10 * std::abs(mean) && std::isfinite(1 / deviation) ? 1 / deviation : 0;
        into.means.push_back(std::isfinite(mean) ? mean : 0);
        into.scales.push_back(scale);
        for (double& x : out) x *= scale;
        return out;
    }

    // The basis on the paths that count.
    std::vector<column> functions_of(const std::vector<column>& features, const column& counts) const {
        std::vector<column> out{counts};
        for (const basis::product& p : into_.functions.products()) {
            column next(paths_);
            const column& before = out[p.before];
            const column& by = features[p.feature];
            for (std::size_t i = 0; i < paths_; ++i) next[i] = before[i] * by[i];
            out.push_back(std::move(next));
        }
        return out;
    }
    static std::vector<const double*> pointers(const std::vector<column>& to) {
        std::vector<const double*> out;
        for (const column& c : to) out.push_back(c.data());
        return out;
    }

    fitted_side fit(const std::vector<column>& features, const column& counts, const column& to_come) const {
        fitted_side out;
        out.coefficients.assign(into_.functions.functions(), 0);
        std::size_t count = 0;
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (std::size_t p = 0; p < paths_; ++p) {
            if (counts[p] == 0) continue;
            ++count;
            low = std::min(low, to_come[p]);
            high = std::max(high, to_come[p]);
        }
        if (count == 0) return out;
        out.low = low;
        out.high = high;
        const std::vector<column> functions = functions_of(features, counts);
        normal_equations equations(functions.size());
        const double* const right = to_come.data();
        equations.add(pointers(functions), {&right, 1}, paths_);
        out.coefficients = equations.solve(std::max<std::size_t>(count / paths_of_function, 1)).coefficients;
        return out;
    }

    column applied(const fitted_side& side, const std::vector<column>& features) const {
        const std::vector<column> functions = functions_of(features, column(paths_, 1.0));
        column out(paths_, 0);
        for (std::size_t f = 0; f < functions.size(); ++f)
            for (std::size_t p = 0; p < paths_; ++p) out[p] += side.coefficients[f] * functions[f][p];
        for (double& x : out) x = std::min(std::max(x, side.low), side.high);
        return out;
    }

    // Slopes explain the worth at the end of the interval, less what was expected, by moves times functions
    // of what was known: least squares over all of both, found move by move, in a few sweeps over them.
    void fit_slopes(std::vector<double>& slopes, const std::vector<column>& features, const column& counts,
                    const column& estimate, std::span<const double> value,
                    std::span<const double> unit) const {
        constexpr int sweeps = 3;
        const std::size_t count = into_.functions.functions();
        column rest(paths_);
        for (std::size_t p = 0; p < paths_; ++p)
            rest[p] = counts[p] == 0 ? 0 : (worth_[p] - value[p]) / unit[p] - estimate[p];
        const auto living =
            static_cast<std::size_t>(std::ranges::count_if(counts, [](double c) { return c != 0; }));
        const std::size_t most_rank = std::max<std::size_t>(living / (4 * paths_of_function), 1);
        const double* const right = rest.data();
        std::vector<normal_equations> equations(moves_.size(), normal_equations(count));
        slopes.assign(count * moves_.size(), 0);
        column weighted(paths_);
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            for (std::size_t m = 0; m < moves_.size(); ++m) {
                for (std::size_t p = 0; p < paths_; ++p) weighted[p] = counts[p] * moved_[m][p];
                const std::vector<column> functions = functions_of(features, weighted);
                const std::vector<const double*> of = pointers(functions);
                sweep == 0 ? equations[m].add(of, {&right, 1}, paths_)
                           : equations[m].set_right(of, {&right, 1}, paths_);
                const std::vector<double> more = equations[m].solve(most_rank).coefficients;
                for (std::size_t f = 0; f < count; ++f) {
                    slopes[m * count + f] += more[f];
                    for (std::size_t p = 0; p < paths_; ++p) rest[p] -= more[f] * functions[f][p];
                }
            }
        }
    }

    // The moves of the interval that ends here, whose normal numbers are left from row `first` on.
    void take_moves(std::size_t section, std::size_t run, std::size_t first, double root) {
        moved_.assign(moves_.size(), column(paths_));
        std::vector<double> normals(into_.normals.size());
        for (std::size_t p = 0; p < paths_; ++p) {
            for (std::size_t n = 0; n < normals.size(); ++n)
                normals[n] = left_.row(section, run, first + n)[p] * root;
            const std::vector<double> moves = moves_.of(normals, 1.0);
            for (std::size_t m = 0; m < moves.size(); ++m) moved_[m][p] = moves[m];
        }
    }

    policy& into_;
    const left_arrays& left_;
    const std::size_t paths_;
    interval_moves moves_;
    column total_;  // by path: all that is paid, discounted, if the policy is followed from here on
    column worth_;  // the same as it is estimated here
    std::vector<column> moved_;  // by move of the interval that begins here
};

}  // namespace

std::optional<policy> policy_of(const books::trade& t, const markets::market_view& in, const training& by) {
    leaving plainly;
    const plan::trade_program plain =
        plan::plan_trade(t, in, program::precision::double_, {}, by.often, &plainly);
    policy out;
    if (plainly.today()) {
        out.today = plainly.today()->second;
        (plainly.today()->first == language::party::holder ? out.has_holder : out.has_issuer) = true;
    }
    if (plain.is_certain()) {
        if (!out.today) return std::nullopt;
        const double to_come = plain.data.initial_states[plain.code.outputs[0]];
        out.is_used_today = out.has_holder ? *out.today > to_come : *out.today < to_come;
        return out;
    }
    if (plainly.rights().empty() && !out.today) return std::nullopt;
    for (const leaving::left_by_right& r : plainly.rights())
        (r.of == language::party::holder ? out.has_holder : out.has_issuer) = true;
    for (std::size_t s = 0; s < plain.code.states.size(); ++s) {
        const std::uint32_t source = plain.code.state_sources[s];
        if (source == plainly.value_state() || source >= plainly.first_state()) continue;
        out.features.push_back(source);
    }
    if (out.features.size() > most_features) {
        throw error(error_kind::input,
                    "the decision to end the trade depends on " + std::to_string(out.features.size()) +
                        " numbers of the path, expected at most " + std::to_string(most_features));
    }
    std::set<std::uint32_t> normals;
    for (const program::node& n : plain.code.sections[0].nodes)
        if (n.code == program::operation::normal) normals.insert(n.args[0]);
    out.normals.assign(normals.begin(), normals.end());
    out.functions = basis(out.features.size());

    leaving recorded(out.has_bound() ? out.normals : std::vector<std::uint32_t>());
    const plan::trade_program made =
        plan::plan_trade(t, in, program::precision::double_, {}, by.often, &recorded);
    const left_arrays left(recorded, made, out, by);
    out.paths = left.paths();
    std::vector<met_date> dates = dates_of(recorded, made);
    const std::size_t last_step = dates.empty() ? 0 : dates.back().step + 1;
    const std::size_t after = made.when.steps() - last_step;
    out.last_root = after > 0 ? 1 / std::sqrt(static_cast<double>(after)) : 0;
    backward sweep(out, left, left.paths());
    sweep.begin(made.code.sections.size() - 1, out.last_root);
    for (std::size_t k = dates.size(); k-- > 0;) {
        if (by.often) by.often();
        sweep.decide(dates[k]);
    }
    sweep.end();
    for (met_date& d : dates) out.dates.push_back(std::move(d.found));
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
