// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/rounds.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "engine/decide/seeds.h"
#include "engine/run/units.h"
#include "engine/verbs/manifest.h"

namespace tilewalk::verbs {

namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

double error_of(const price_row& row) {
    return row.early ? row.early->policy_error : row.standard_error;
}

// Paths that should do to narrow an interval by that much. Errors of independent paths fall by their root;
// those of points faster, by how much is for the next round to see.
std::uint64_t paths_to_narrow(const price_row& row, double by) {
    constexpr double rate_of_points = 0.75, rate_of_paths = 0.5, of_what_shows_no_error = 4;
    const double rate = row.randomisations > 0 ? rate_of_points : rate_of_paths;
    const double times = std::isfinite(by) ? std::pow(by, 1 / rate) : of_what_shows_no_error;
    const double doublings = std::ceil(std::log2(std::max(times, 1.0)));
    const double paths = static_cast<double>(row.paths) * std::exp2(std::max(doublings, 1.0));
    constexpr double most = 0x1p62;
    return static_cast<std::uint64_t>(std::min(paths, most));
}

// The error on so many paths in the best case: that of scrambled points falls by the power 3/2 of their
// number for smooth payoffs, and never faster.
double least_error(const price_row& row, double error, std::uint64_t paths) {
    const double power = row.randomisations > 0 ? 1.5 : 0.5;
    return error * std::pow(static_cast<double>(row.paths) / static_cast<double>(paths), power);
}

// The next step of a trade that seems to need more paths than there are at most: far fewer show whether it
// comes nearer.
constexpr std::uint64_t step_into_the_unknown = 16;

// A number of this size is known no better than that.
double rounding_of(double number) {
    return std::numeric_limits<double>::epsilon() * std::abs(number);
}

// An error that fewer paths carry may be off by anything.
constexpr double least_hits = 10;

// How many times larger an error may be than the one that so many effective hits show: its square goes as a
// chi-squared number of twice as many degrees of freedom, as that of payoffs does which a Poisson number of
// paths meets. The quantile is Wilson and Hilferty's, off by less than 1 % from 20 degrees on at up to 99 %.
double hidden_by_few(double hits, double confidence) {
    const double freedom = 2 * std::max(hits, least_hits), part = 2 / (9 * freedom);
    const double root = 1 - part - run::width_of(confidence, 1e300) * std::sqrt(part);
    return 1 / std::sqrt(root * root * root);
}

}  // namespace

width_of_trade width_of(const price_row& row, double tolerance, double confidence) {
    width_of_trade out;
    out.tolerance = tolerance;
    if (row.status == trade_status::failed || row.paths == 0 || tolerance == 0) return out;
    const double error = error_of(row);
    const run::ends_of_interval ends =
        run::ends_of(confidence, row.degrees_of_freedom(), row.early ? 0 : row.lean);
    out.half_width = std::max(ends.below, ends.above) * error;
    // An error that few paths carry is held for the largest that they do not rule out.
    if (row.thin) out.half_width *= hidden_by_few(row.effective_hits, confidence);
    const bool has_hits = !row.thin || row.effective_hits >= least_hits;
    out.is_met = has_hits && out.half_width <= tolerance;
    if (out.is_met) return out;
    const bool shows_error = is_figure(error) && out.half_width > tolerance;
    out.paths_needed = paths_to_narrow(row, shows_error ? out.half_width / tolerance : no_figure);
    return out;
}

namespace {

// A trade of a total, as far as doublings of its paths are planned.
struct doubled_trade {
    std::size_t trade = 0;
    std::uint64_t paths = 0;
    double variance = 0, steps = 0;

    // The variance that the next doubling takes away, for what it costs.
    double worth() const { return 0.5 * variance / (steps * static_cast<double>(paths)); }
    void double_paths() {
        paths *= 2;
        variance *= 0.5;
    }
    friend bool operator<(const doubled_trade& a, const doubled_trade& b) { return a.worth() < b.worth(); }
};

// `rows`: the places in the run of those of the total's results.
void double_for_total(const currency_total& total, const results& of_seen, std::span<const std::size_t> rows,
                      std::span<const std::uint64_t> steps, double tolerance, double confidence,
                      std::uint64_t most_paths, bool gives_up, std::vector<more_paths>& to) {
    std::vector<doubled_trade> of;
    double variance = 0, least_variance = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const price_row& row = of_seen.rows[k];
        const double error = row.error_in_totals();
        if (row.currency != total.currency || error == 0) continue;
        of.push_back({rows[k], row.paths, error * error, static_cast<double>(steps[rows[k]])});
        variance += error * error;
        const double least = least_error(row, error, std::max(most_paths, row.paths));
        least_variance += least * least;
    }
    const double half = is_figure(total.high)
                            ? std::max(total.high - total.value, total.value - total.low) *
                                  run::width_of(confidence, 1e300) / run::width_of(0.95, 1e300)
                            : run::width_of(confidence, 1e300) * total.error_at_most;
    if (half <= tolerance || of.empty()) return;
    const double least_half = half * std::sqrt(least_variance / variance);
    if (gives_up && (least_half > tolerance || tolerance < rounding_of(total.value))) return;
    // A trade's part in the total's variance is taken to be that in the sum of all: errors that trades have
    // in common fall as those do that they have not.
    constexpr double aim = 0.9;
    double wanted = variance * (1 - std::pow(aim * tolerance / half, 2));
    std::priority_queue<doubled_trade> queue(of.begin(), of.end());
    std::map<std::size_t, std::uint64_t> planned;
    while (wanted > 0 && !queue.empty()) {
        doubled_trade most = queue.top();
        queue.pop();
        if (most.paths > most_paths / 2) continue;
        most.double_paths();
        wanted -= most.variance;
        planned[most.trade] = most.paths;
        queue.push(most);
    }
    std::map<std::size_t, std::uint64_t> now;
    for (const doubled_trade& t : of) now[t.trade] = t.paths;
    const bool is_unsure = gives_up && wanted > 0;
    for (const auto& [trade, paths] : planned)
        to.push_back({trade, is_unsure ? std::min(paths, step_into_the_unknown * now[trade]) : paths});
}

}  // namespace

std::vector<more_paths> paths_for_totals(const results& so_far, std::span<const std::uint64_t> steps,
                                         double tolerance, double confidence, std::uint64_t most_paths,
                                         bool gives_up) {
    // A trade that shows no error may show one on more paths, up to so many; the others go on without it.
    constexpr std::uint64_t most_unseen = std::uint64_t{1} << 20;
    std::vector<more_paths> out;
    results seen;
    seen.manifest = so_far.manifest;
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < so_far.rows.size(); ++i) {
        const price_row& row = so_far.rows[i];
        if (row.status == trade_status::failed) continue;
        if (is_figure(row.error_in_totals())) {
            seen.rows.push_back(row);
            rows.push_back(i);
        } else if (2 * row.paths <= std::min(most_paths, most_unseen)) {
            out.push_back({i, 2 * row.paths});
        }
    }
    for (const currency_total& total : seen.totals())
        double_for_total(total, seen, rows, steps, tolerance, confidence, most_paths, gives_up, out);
    return out;
}

namespace {

class rounds {
  public:
    rounds(const planned_run& r, const wanted_accuracy& to, std::span<const double> tolerances,
           const round_of_paths& walk, teller& tells)
        : r_(r), to_(to), tolerances_(tolerances), walk_(walk), tells_(tells) {
        for (const planned& p : r.plans) steps_.push_back(p.needs_paths() ? p.ready->when.steps() : 0);
    }

    priced_book walked_with(std::span<const decided_walk> walks) {
        walk_all();
        rounds_of_trades more;
        for (std::size_t i = 0; i < walks.size(); ++i)
            if (made_.told.rows[i].paths > 0 && walks[i].paths > made_.told.rows[i].paths)
                more[{walks[i].paths, walks[i].seed}].push_back(i);
        walk(more);
        return std::move(made_);
    }
    priced_book walked() {
        walk_all();
        while (true) {
            rounds_of_trades next = wanted();
            fit_into_time(next);
            if (next.empty()) break;
            walk(next);
        }
        say_what_is_missed();
        return std::move(made_);
    }

  private:
    // Trades by the paths of their round and the seed of these.
    using rounds_of_trades = std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::size_t>>;

    void walk_all() {
        std::vector<std::size_t> all(r_.plans.size());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
        begin_round();
        made_ = timed([&] { return walk_(all, r_.run.paths, r_.run.seed); });
    }
    void walk(const rounds_of_trades& next) {
        begin_round();
        for (const auto& [of, trades] : next)
            take(trades,
                 timed([this, &by = of, &some = trades] { return walk_(some, by.first, by.second); }));
    }
    // A payoff with a long tail has a small error where its mean is small, and then takes few paths: points
    // of later rounds are others than those that say how many there are to be. Totals take points that all
    // trades have in common.
    std::uint64_t seed_of(std::size_t trade, std::uint64_t paths) const {
        const bool is_of_totals = to_.of_run && to_.of_run->is_of_totals;
        return made_.told.rows[trade].randomisations == 0 || is_of_totals
                   ? r_.run.seed
                   : decide::seed_of_round(r_.run.seed, paths);
    }

    // The next round.
    rounds_of_trades wanted() const {
        rounds_of_trades out;
        const std::vector<price_row>& rows = made_.told.rows;
        const auto add = [&](std::size_t i, std::uint64_t paths) {
            // Doublings of the first round: the largest that is allowed.
            while (paths > to_.most_paths) paths /= 2;
            if (paths > rows[i].paths) out[{paths, seed_of(i, paths)}].push_back(i);
        };
        if (to_.of_run && to_.of_run->is_of_totals) {
            for (const more_paths& one : paths_for_totals(made_.told, steps_, to_.of_run->size,
                                                          to_.confidence, to_.most_paths, !to_.is_limited))
                add(one.trade, one.paths);
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (const width_of_trade w = width(i); !w.is_met) {
                if (is_out_of_reach(rows[i], w)) continue;
                const bool is_unsure = !to_.is_limited && w.paths_needed > to_.most_paths;
                add(i, is_unsure ? step_into_the_unknown * rows[i].paths : w.paths_needed);
            } else if (takes_all_time() && rows[i].paths > 0 && error_of(rows[i]) != 0) {
                add(i, 2 * rows[i].paths);
            }
        }
        return out;
    }
    width_of_trade width(std::size_t i) const {
        return verbs::width_of(made_.told.rows[i], tolerances_[i], to_.confidence);
    }
    // Whether not even the most paths of a run should narrow the interval to the tolerance.
    bool is_out_of_reach(const price_row& row, const width_of_trade& w) const {
        if (to_.is_limited || !(w.half_width > w.tolerance)) return false;
        return least_error(row, w.half_width, std::max(to_.most_paths, row.paths)) > w.tolerance ||
               w.tolerance < rounding_of(row.price);
    }
    // A budget alone is used up.
    bool takes_all_time() const { return to_.seconds && !to_.of_run; }

    // Takes paths from the trade that takes longest, and at last the trade, until the round should end in
    // time.
    void fit_into_time(rounds_of_trades& next) const {
        if (!to_.seconds) return;
        const double left = *to_.seconds - seconds(clock::now() - r_.begin).count();
        using cost_of_trade = std::tuple<double, std::size_t, std::uint64_t>;  // with its paths
        std::priority_queue<cost_of_trade> queue;
        double all = 0;
        const auto add = [&](std::size_t i, std::uint64_t paths) {
            const double cost = seconds_for(i, paths);
            all += cost;
            queue.emplace(cost, i, paths);
        };
        for (const auto& [of, trades] : next)
            for (const std::size_t i : trades) add(i, of.first);
        while (all > left && !queue.empty()) {
            const auto [cost, i, paths] = queue.top();
            queue.pop();
            all -= cost;
            if (paths / 2 > made_.told.rows[i].paths) add(i, paths / 2);
        }
        next.clear();
        for (; !queue.empty(); queue.pop()) {
            const auto& [cost, i, paths] = queue.top();
            next[{paths, seed_of(i, paths)}].push_back(i);
        }
        for (auto& [of, trades] : next) std::ranges::sort(trades);
    }
    // As fast as those before.
    double seconds_for(std::size_t trade, std::uint64_t paths) const {
        const double path_steps = static_cast<double>(paths) * static_cast<double>(steps_[trade]);
        return walked_ > 0 ? path_steps / walked_ * walking_ : 0;
    }
    template <class walk>
    priced_book timed(const walk& of) {
        const auto begin = clock::now();
        priced_book out = of();
        walking_ += seconds(clock::now() - begin).count();
        walked_ += static_cast<double>(out.told.manifest.path_steps);
        return out;
    }
    void begin_round() {
        progress& now = tells_.now;
        ++now.round;
        now.trades_in_tolerance = 0;
        now.widest = 0;
        for (std::size_t i = 0; i < made_.told.rows.size(); ++i) {
            const width_of_trade w = width(i);
            now.trades_in_tolerance += w.is_met ? 1 : 0;
            if (!w.is_met && w.half_width > 0) now.widest = std::max(now.widest, w.half_width / w.tolerance);
        }
        tells_.tell();
    }

    void take(const std::vector<std::size_t>& trades, priced_book found) {
        run_manifest& all = made_.told.manifest;
        all.path_steps += found.told.manifest.path_steps;
        add_walk(all, found.told.manifest);
        all.total_seconds = seconds(clock::now() - r_.begin).count();
        for (std::size_t k = 0; k < trades.size(); ++k) {
            price_row& is = made_.told.rows[trades[k]];
            price_row was = std::exchange(is, std::move(found.told.rows[k]));
            made_.moments[trades[k]] = found.moments[k];
            if (is.status == trade_status::failed || is.randomisations > 0) continue;
            // All trades have the first round in common: its parts tell what their errors have in common.
            is.part_means = std::move(was.part_means);
            if (is.early && was.early) is.early->part_means = std::move(was.early->part_means);
        }
    }

    std::string cure_of(const price_row& row, const width_of_trade& w) const {
        if (w.tolerance < rounding_of(row.price))
            return fmt::format("no number of paths will do, since the price is rounded to {:.1g}",
                               rounding_of(row.price));
        if (is_out_of_reach(row, w))
            return fmt::format("even the {} paths that a run takes at most are too few", to_.most_paths);
        return fmt::format("about {} paths should do", w.paths_needed);
    }
    void say_what_is_missed() {
        for (std::size_t i = 0; i < made_.told.rows.size(); ++i) {
            const width_of_trade w = width(i);
            if (w.is_met) continue;
            price_row& row = made_.told.rows[i];
            row.misses_tolerance = true;
            const std::string what =
                w.half_width > 0
                    ? fmt::format(
                          "the interval at {:.4g} % is {:.3g} wide to each side{}, asked for was {:.3g}; {}",
                          100 * to_.confidence, w.half_width,
                          row.thin ? ", with what so few paths leave uncertain" : "", w.tolerance,
                          cure_of(row, w))
                    : std::string("the paths show no error to hold against the tolerance");
            row.message += (row.message.empty() ? "" : "; ") + what;
        }
        if (!to_.of_run || !to_.of_run->is_of_totals) return;
        const auto miss = [&](price_row& row, const std::string& what) {
            row.misses_tolerance = true;
            row.message += (row.message.empty() ? "" : "; ") + what;
        };
        constexpr std::uint64_t any = std::uint64_t{1} << 62;
        for (const more_paths& one :
             paths_for_totals(made_.told, steps_, to_.of_run->size, to_.confidence, any)) {
            price_row& row = made_.told.rows[one.trade];
            if (row.has_error())
                miss(row,
                     fmt::format("the total in {} is still too wide; about {} paths of this trade and of "
                                 "others should do",
                                 row.currency, one.paths));
        }
        for (price_row& row : made_.told.rows)
            if (row.status == trade_status::priced && !is_figure(row.error_in_totals()))
                miss(row,
                     fmt::format("the total in {} has no error while this trade shows none", row.currency));
    }

    const planned_run& r_;
    wanted_accuracy to_;
    std::span<const double> tolerances_;
    const round_of_paths& walk_;
    teller& tells_;
    std::vector<std::uint64_t> steps_;  // of a path, by trade
    priced_book made_;
    double walked_ = 0, walking_ = 0;  // path-steps and the seconds that they took
};

}  // namespace

priced_book priced_in_rounds(const planned_run& r, std::span<const double> tolerances,
                             const round_of_paths& walk, teller& tells) {
    return rounds(r, *r.run.accuracy, tolerances, walk, tells).walked();
}

priced_book priced_with_paths(const planned_run& r, std::span<const decided_walk> walks,
                              const round_of_paths& walk, teller& tells) {
    const std::vector<double> no_tolerances(r.plans.size());
    return rounds(r, {}, no_tolerances, walk, tells).walked_with(walks);
}

}  // namespace tilewalk::verbs
