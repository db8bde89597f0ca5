// SPDX-License-Identifier: Apache-2.0
#include "engine/study/scenarios/rounds_of_gains.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/base/wording.h"
#include "engine/decide/seeds.h"
#include "engine/study/manifest.h"
#include "engine/study/rounds/rounds.h"

namespace tilewalk::studies {

namespace {

// The book, and the tolerance of each trade as an amount of money, 0 if it has none. A trade fails if its
// tolerance can't be made an amount, as one in basis points without a notional.
struct measured_book {
    book trades;
    std::vector<double> tolerances;
    bool has_failed = false;
};
measured_book measure_tolerances(const book& trades, const market& in, const wanted_accuracy& to,
                                 const results& base) {
    measured_book out{trades, std::vector<double>(trades.size(), 0)};
    auto measured = std::make_shared<books::book_state>(state_of(trades));
    for (std::size_t i = 0; i < trades.size(); ++i) {
        books::trade& t = measured->trades[i];
        try {
            if (base.rows[i].paths > 0) out.tolerances[i] = tolerance_of(t, in, to);
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
            t.failure = at_trade(t, e);
            out.has_failed = true;
        }
    }
    if (out.has_failed) out.trades = with_state<book>(std::move(measured));
    return out;
}

class held_gains {
  public:
    held_gains(const wanted_accuracy& to, const std::vector<double>& tolerances, const scenario_results& of)
        : to_(to), tolerances_(tolerances), of_(of) {
        whole_.paths = of.base.manifest.paths;
        for (const price_row& row : of.base.rows)
            whole_.randomisations = std::max(whole_.randomisations, row.randomisations);
        for (const portfolio_gains& t : of.totals) parts_ = std::max(parts_, t.parts);
    }

    paths_of_next_round for_figures() const {
        paths_of_next_round out(to_);
        for_each_figure(
            [&](const figure_of_unit& f, double tolerance, auto&&...) { out.add(f, tolerance, true); });
        return out;
    }
    // Returns the present paths if the rounds are over. A round of more than `most` would take too long.
    walk_of_round next(const settled& run, const paths_of_next_round& wanted, double most = no_figure) const {
        std::uint64_t paths = wanted.paths(whole_.paths);
        while (paths > to_.most_paths) paths /= 2;
        while (paths > whole_.paths && static_cast<double>(paths) > most) paths /= 2;
        return {paths, whole_.randomisations > 0 ? decide::seed_of_round(run.seed, paths) : run.seed};
    }
    // Says in each trade's row which figure is furthest from its tolerance.
    void say_what_is_missed(std::vector<price_row>& to) const {
        std::vector<std::pair<double, std::string>> worst(to.size());
        for_each_figure([&](const figure_of_unit& f, double tolerance, std::span<const std::size_t> of,
                            const std::string& name) {
            const width_of_figure is = width_of(f, tolerance, to_.confidence);
            if (is.is_met) return;
            const double times = is_figure(is.half_width) ? is.half_width / is.tolerance : 0;
            for (const std::size_t i : of)
                if (worst[i].second.empty() || times > worst[i].first)
                    worst[i] = {times, text_of_miss(f, is, to_, "its " + name)};
        });
        for (std::size_t i = 0; i < to.size(); ++i)
            if (!worst[i].second.empty() && to[i].status == trade_status::priced && to[i].paths != 0)
                add_miss(to[i], worst[i].second);
    }

  private:
    figure_of_unit figure_of(const price_row& row, double value, double error) const {
        figure_of_unit out(row);
        out.value = value;
        out.error = error;
        if (parts_ > 1) out.degrees_of_freedom = static_cast<double>(parts_ - 1);
        out.lean = out.least_hits = 0;
        return out;
    }

    // Calls `use` with each figure that has a tolerance, and the tolerance, trades and name of the figure.
    template <class body>
    void for_each_figure(const body& use) const {
        for (std::size_t i = 0; i < of_.trades(); ++i) {
            const price_row& row = of_.base.rows[i];
            if (row.status != trade_status::priced || row.paths == 0) continue;
            for (std::size_t s = 0; s < of_.scenarios.size() && row.quantity != 0; ++s)
                if (is_figure(of_.gain(s, i)))
                    use(figure_of(row, of_.gain(s, i) / row.quantity,
                                  of_.error_of_gain(s, i) / std::abs(row.quantity)),
                        tolerances_[i], std::span(&i, 1), "gain in " + name_of(s));
        }
        if (!to_.of_run || !to_.of_run->is_of_totals) return;
        const double size = to_.of_run->size;
        for (const portfolio_gains& t : of_.totals)
            for (std::size_t s = 0; s < t.gains.size(); ++s)
                if (is_figure(t.gains[s]))
                    use(figure_of(whole_, t.gains[s], t.errors[s]), size, std::span(t.trades),
                        "total gain in " + name_of(s));
        for (const portfolio_risk& r : of_.risks)
            for (const tail& of : r.tails)
                for (const tail_figure* f : {&of.quantile, &of.shortfall})
                    if (is_figure(f->value))
                        use(figure_of(whole_, f->value, f->noise), size, trades_of(r),
                            fmt::format("tail of {} at {:.4g} %", config::shown(r.set), 100 * of.level));
    }
    std::string name_of(std::size_t scenario) const {
        return config::shown(of_.scenarios[scenario].set + ": " + of_.scenarios[scenario].name);
    }
    std::span<const std::size_t> trades_of(const portfolio_risk& r) const {
        for (const portfolio_gains& t : of_.totals)
            if (t.portfolio == r.portfolio && t.currency == r.currency && t.is_converted == r.is_converted)
                return t.trades;
        return {};
    }

    const wanted_accuracy& to_;
    const std::vector<double>& tolerances_;
    const scenario_results& of_;
    price_row whole_{};  // has the paths and randomisations of totals
    std::size_t parts_ = 0;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

walk_of_round judge(const book& trades, const market& in, const settled& run, scenario_results& so_far,
                    const study_of_scenarios& again) {
    const measured_book measured = measure_tolerances(trades, in, *run.accuracy, so_far.base);
    if (measured.has_failed) so_far = again(measured.trades, {});
    const held_gains held(*run.accuracy, measured.tolerances, so_far);
    const walk_of_round out = held.next(run, held.for_figures());
    held.say_what_is_missed(so_far.base.rows);
    return out;
}

scenario_results scenarios_in_rounds(const book& trades, const market& in, const inner_options& options,
                                     const study_of_scenarios& found) {
    const settled run = settle(options, state_of(trades), {&in, 1});
    if (!run.accuracy) return found(trades, options);
    const wanted_accuracy& to = *run.accuracy;
    const auto begin = std::chrono::steady_clock::now();
    double last_seconds = 0;
    progress all;
    scenario_results out;
    const auto walk = [&](const book& some, const walk_of_round& round) {
        round_of_study of = of_round(some, options, run, round);
        ++all.round;
        count_on(of.options, all);
        const auto begin_of_round = std::chrono::steady_clock::now();
        const run_manifest before = std::move(out.base.manifest);
        out = found(of.trades, of.options);
        last_seconds = seconds_since(begin_of_round);
        if (all.round > 1) add_steps(out.base.manifest, before);
        out.base.manifest.total_seconds = seconds_since(begin);
    };
    walk(trades, {run.paths, run.seed});
    const measured_book measured = measure_tolerances(trades, in, to, out.base);
    if (measured.has_failed) walk(measured.trades, {run.paths, run.seed});
    while (true) {
        const held_gains held(to, measured.tolerances, out);
        const paths_of_next_round wanted = held.for_figures();
        all.widest = wanted.widest();
        const auto now = static_cast<double>(out.base.manifest.paths);
        const double left = to.seconds ? *to.seconds - seconds_since(begin) : no_figure;
        const walk_of_round next = held.next(run, wanted, left / last_seconds * now);
        if (next.paths <= out.base.manifest.paths) {
            held.say_what_is_missed(out.base.rows);
            out.base.manifest.settings = run.said;
            return out;
        }
        walk(measured.trades, next);
    }
}

}  // namespace tilewalk::studies
