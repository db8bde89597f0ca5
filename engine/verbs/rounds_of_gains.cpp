// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/rounds_of_gains.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/config/wording.h"
#include "engine/decide/seeds.h"
#include "engine/plan/measure.h"
#include "engine/run/units.h"
#include "engine/verbs/manifest.h"
#include "engine/verbs/rounds.h"

namespace tilewalk::verbs {

namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

class gains_in_rounds {
  public:
    gains_in_rounds(const book& trades, const market& in, const run_options& options, const settled& run,
                    const study_of_scenarios& found)
        : trades_(trades), in_(in), options_(options), run_(run), to_(*run.accuracy), found_(found) {}

    scenario_results walked() {
        walk({run_.paths, run_.seed});
        measure_tolerances();
        for (walk_of_round more = next(); more.paths > walked_.paths; more = next()) walk(more);
        say_what_is_missed();
        out_.base.manifest.settings = run_.said;
        return std::move(out_);
    }
    walk_of_round judged(scenario_results& so_far) {
        out_ = std::move(so_far);
        walked_ = {out_.base.manifest.paths, out_.base.manifest.seed};
        measure_tolerances();
        const walk_of_round out = next();
        say_what_is_missed();
        so_far = std::move(out_);
        return out;
    }

  private:
    const std::vector<books::trade>& trades() const { return trades_.state().trades; }
    bool has_points() const {
        return std::ranges::any_of(out_.base.rows,
                                   [](const price_row& row) { return row.randomisations > 0; });
    }

    void walk(const walk_of_round& round) {
        round_of_study of = of_round(trades_, options_, run_, round);
        ++round_;
        if (options_.on_progress) {
            of.options.on_progress = [this](const progress& of_walk) {
                progress now = of_walk;
                now.path_steps += steps_before_;
                now.path_steps_done += steps_before_;
                now.round = round_;
                now.widest = widest_;
                options_.on_progress(now);
                steps_told_ = now.path_steps_done;
            };
        }
        const auto begin = clock::now();
        const run_manifest before = std::move(out_.base.manifest);
        out_ = found_(of.trades, of.options);
        last_seconds_ = seconds(clock::now() - begin).count();
        steps_before_ = steps_told_;
        walked_ = round;
        if (round_ > 1) add_steps(out_.base.manifest, before);
        out_.base.manifest.total_seconds = seconds(clock::now() - begin_).count();
    }

    // By trade, in its currency; 0: it has none of its own. A trade that can't be measured fails, and the
    // totals are without it.
    void measure_tolerances() {
        tolerances_.assign(trades().size(), 0);
        auto measured = std::make_shared<books::book_state>(trades_.state());
        bool any_failed = false;
        for (std::size_t i = 0; i < trades().size(); ++i) {
            books::trade& t = measured->trades[i];
            const std::optional<accuracy>& asked = t.tolerance ? t.tolerance : to_.of_run;
            if (!asked || asked->is_of_totals || out_.base.rows[i].paths == 0) continue;
            try {
                tolerances_[i] =
                    asked->amount_for(asked->is_in_basis_points ? plan::measure_of(t, in_.state()) : 0);
            } catch (const std::exception& e) {
                throw_if_cancelled(e);
                t.failure = at_trade(t, e);
                any_failed = true;
            }
        }
        if (!any_failed) return;
        trades_ = book::of(std::move(measured));
        if (found_) walk(walked_);
    }

    // The figure of a gain, of one unit.
    figure_of_unit figure_of(std::size_t trade, double gain, double error) const {
        const price_row& row = out_.base.rows[trade];
        figure_of_unit out(row);
        out.value = gain / row.quantity;
        out.error = error / std::abs(row.quantity);
        as_of_parts(out);
        return out;
    }
    figure_of_unit figure_of_total(double value, double error) const {
        figure_of_unit out{price_row{}};
        out.value = value;
        out.error = error;
        out.paths = walked_.paths;
        out.is_of_points = has_points();
        as_of_parts(out);
        return out;
    }
    void as_of_parts(figure_of_unit& to) const {
        std::size_t parts = 0;
        for (const portfolio_gains& t : out_.totals) parts = std::max(parts, t.parts);
        if (parts > 1) to.degrees_of_freedom = static_cast<double>(parts - 1);
        to.lean = to.least_hits = 0;
    }

    // Calls `use` with each figure that is to be narrow, its tolerance, the trades that it is of, and its
    // name.
    template <class body>
    void for_each_figure(const body& use) const {
        for (std::size_t i = 0; i < trades().size(); ++i) {
            const price_row& row = out_.base.rows[i];
            if (row.status != trade_status::priced || row.paths == 0) continue;
            for (std::size_t s = 0; s < out_.scenarios.size() && row.quantity != 0; ++s)
                if (is_figure(out_.gain(s, i)))
                    use(figure_of(i, out_.gain(s, i), out_.error_of_gain(s, i)), tolerances_[i],
                        std::span(&i, 1), "gain in " + name_of(s));
        }
        if (!to_.of_run || !to_.of_run->is_of_totals) return;
        const double size = to_.of_run->size;
        for (const portfolio_gains& t : out_.totals)
            for (std::size_t s = 0; s < t.gains.size(); ++s)
                if (is_figure(t.gains[s]))
                    use(figure_of_total(t.gains[s], t.errors[s]), size, std::span(t.trades),
                        "total gain in " + name_of(s));
        for (const portfolio_risk& r : out_.risks)
            for (const tail& of : r.tails)
                for (const tail_figure* f : {&of.quantile, &of.shortfall})
                    if (is_figure(f->value))
                        use(figure_of_total(f->value, f->noise), size, trades_of(r),
                            fmt::format("tail of {} at {:.4g} %", config::shown(r.set), 100 * of.level));
    }
    std::string name_of(std::size_t scenario) const {
        return config::shown(out_.scenarios[scenario].set + ": " + out_.scenarios[scenario].name);
    }
    std::span<const std::size_t> trades_of(const portfolio_risk& r) const {
        for (const portfolio_gains& t : out_.totals)
            if (t.portfolio == r.portfolio && t.currency == r.currency && t.is_converted == r.is_converted)
                return t.trades;
        return {};
    }

    // The paths of the next round; no more than there are, if this was the last.
    walk_of_round next() {
        const std::uint64_t paths = next_paths();
        return {paths, has_points() ? decide::seed_of_round(run_.seed, paths) : run_.seed};
    }
    std::uint64_t next_paths() {
        paths_of_next_round all(to_);
        bool has_error = false;
        for_each_figure([&](const figure_of_unit& f, double tolerance, auto&&...) {
            has_error = has_error || f.error != 0;
            all.add(f, tolerance, true);
        });
        widest_ = all.widest();
        // A budget alone is used up.
        if (all.is_met() && to_.seconds && !to_.of_run && has_error) all.add(2 * walked_.paths);
        std::uint64_t paths = all.paths();
        while (paths > to_.most_paths) paths /= 2;
        if (!to_.seconds) return paths;
        const double left = *to_.seconds - seconds(clock::now() - begin_).count();
        const auto takes = [&] {
            return last_seconds_ * static_cast<double>(paths) / static_cast<double>(walked_.paths);
        };
        while (paths > walked_.paths && takes() > left) paths /= 2;
        return paths;
    }

    // By trade, the figure that is furthest from its tolerance.
    void say_what_is_missed() {
        std::vector<std::pair<double, std::string>> worst(trades().size());
        for_each_figure([&](const figure_of_unit& f, double tolerance, std::span<const std::size_t> of,
                            const std::string& name) {
            const width_of_figure is = width_of(f, tolerance, to_.confidence);
            if (is.is_met) return;
            const double times = is_figure(is.half_width) ? is.half_width / is.tolerance : 0;
            const std::string said =
                is.half_width > 0
                    ? fmt::format(
                          "the interval of its {} at {:.4g} % is {:.3g} wide to each side, asked for "
                          "was {:.3g}; {}",
                          name, 100 * to_.confidence, is.half_width, is.tolerance, cure_of(f, is, to_))
                    : fmt::format("the paths show no error of its {} to hold against the tolerance", name);
            for (const std::size_t i : of)
                if (worst[i].second.empty() || times > worst[i].first) worst[i] = {times, said};
        });
        for (std::size_t i = 0; i < trades().size(); ++i) {
            price_row& row = out_.base.rows[i];
            if (worst[i].second.empty() || row.status != trade_status::priced || row.paths == 0) continue;
            row.misses_tolerance = true;
            row.message += (row.message.empty() ? "" : "; ") + worst[i].second;
        }
    }

    book trades_;
    const market& in_;
    const run_options& options_;
    const settled& run_;
    const wanted_accuracy& to_;
    const study_of_scenarios& found_;
    const clock::time_point begin_ = clock::now();
    scenario_results out_;
    walk_of_round walked_;
    std::vector<double> tolerances_;
    int round_ = 0;
    double widest_ = 0, last_seconds_ = 0;
    std::uint64_t steps_before_ = 0, steps_told_ = 0;
};

}  // namespace

walk_of_round judge(const book& trades, const market& in, const settled& run, scenario_results& so_far) {
    const run_options untold;
    const study_of_scenarios walks_none;
    return gains_in_rounds(trades, in, untold, run, walks_none).judged(so_far);
}

scenario_results scenarios_in_rounds(const book& trades, const market& in, const run_options& options,
                                     const study_of_scenarios& found) {
    const settled run = settle(options, trades.state(), {&in, 1});
    if (!run.accuracy) return found(trades, options);
    return gains_in_rounds(trades, in, options, run, found).walked();
}

}  // namespace tilewalk::verbs
