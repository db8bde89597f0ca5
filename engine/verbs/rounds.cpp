// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/rounds.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "engine/decide/followed.h"
#include "engine/decide/seeds.h"
#include "engine/plan/measure.h"
#include "engine/run/units.h"
#include "engine/verbs/manifest.h"
#include "engine/verbs/rows.h"

namespace tilewalk::verbs {

namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

// Paths that should do to narrow an interval by that much. Errors of independent paths fall by their root;
// those of points faster, by how much is for the next round to see.
std::uint64_t paths_to_narrow(const figure_of_unit& of, double by) {
    constexpr double rate_of_points = 0.75, rate_of_paths = 0.5, of_what_shows_no_error = 4;
    const double rate = of.is_of_points ? rate_of_points : rate_of_paths;
    const double times = std::isfinite(by) ? std::pow(by, 1 / rate) : of_what_shows_no_error;
    const double doublings = std::ceil(std::log2(std::max(times, 1.0)));
    const double paths = static_cast<double>(of.paths) * std::exp2(std::max(doublings, 1.0));
    constexpr double most = 0x1p62;
    return static_cast<std::uint64_t>(std::min(paths, most));
}

// The error on the most paths in the best case: that of scrambled points falls by the power 3/2 of their
// number for smooth payoffs, and never faster.
double least_error(const figure_of_unit& of, double error, std::uint64_t most_paths) {
    const double power = of.is_of_points ? 1.5 : 0.5;
    const std::uint64_t paths = std::max(most_paths, of.paths);
    return error * std::pow(static_cast<double>(of.paths) / static_cast<double>(paths), power);
}

// The next step of a trade that seems to need more paths than there are at most: far fewer show whether it
// comes nearer.
constexpr std::uint64_t step_into_the_unknown = 16;

// The most paths for a figure that shows no error; the others go on without it.
constexpr std::uint64_t most_unseen = std::uint64_t{1} << 20;

// A number of this size is known no better than that.
double rounding_of(double number) {
    return std::numeric_limits<double>::epsilon() * std::abs(number);
}

// An error that fewer paths carry may be off by anything.
constexpr double least_hits_of_error = 10;

// How many times larger an error may be than the one that so many effective hits show: its square goes as a
// chi-squared number of twice as many degrees of freedom, as that of payoffs does which a Poisson number of
// paths meets. The quantile is Wilson and Hilferty's, off by less than 1 % from 20 degrees on at up to 99 %.
double hidden_by_few(double hits, double confidence) {
    const double freedom = 2 * std::max(hits, least_hits_of_error), part = 2 / (9 * freedom);
    const double root = 1 - part - run::width_of(confidence, 1e300) * std::sqrt(part);
    return 1 / std::sqrt(root * root * root);
}

}  // namespace

figure_of_unit::figure_of_unit(const price_row& row)
    : value(row.price),
      error(row.early ? row.early->policy_error : row.standard_error),
      paths(row.paths),
      is_of_points(row.randomisations > 0),
      degrees_of_freedom(row.degrees_of_freedom()),
      lean(row.early ? 0 : row.lean),
      least_hits(row.thin ? least_hits_of_error : 0),
      hits(row.effective_hits) {}

figure_of_unit::figure_of_unit(const greek_row& row, const price_row& of_trade)
    : value(row.value / of_trade.quantity),
      error(row.standard_error / std::abs(of_trade.quantity)),
      paths(row.paths),
      is_of_points(of_trade.randomisations > 0),
      degrees_of_freedom(of_trade.degrees_of_freedom()),
      lean(is_of_points ? run::lean_of(row.part_means) : 0) {}

width_of_figure width_of(const figure_of_unit& figure, double tolerance, double confidence) {
    width_of_figure out;
    out.tolerance = tolerance;
    if (figure.paths == 0 || tolerance == 0) return out;
    const run::ends_of_interval ends = run::ends_of(confidence, figure.degrees_of_freedom, figure.lean);
    out.half_width = std::max(ends.below, ends.above) * figure.error;
    // An error that few paths carry is held for the largest that they do not rule out.
    if (figure.least_hits > 0) out.half_width *= hidden_by_few(figure.hits, confidence);
    out.is_met = figure.hits >= figure.least_hits && out.half_width <= tolerance;
    if (out.is_met) return out;
    out.shows_error = is_figure(figure.error);
    const bool is_too_wide = out.shows_error && out.half_width > tolerance;
    out.paths_needed = paths_to_narrow(figure, is_too_wide ? out.half_width / tolerance : no_figure);
    return out;
}

bool is_out_of_reach(const figure_of_unit& figure, const width_of_figure& is, const wanted_accuracy& to) {
    if (to.is_limited || !(is.half_width > is.tolerance)) return false;
    return least_error(figure, is.half_width, to.most_paths) > is.tolerance ||
           is.tolerance < rounding_of(figure.value);
}

std::string cure_of(const figure_of_unit& figure, const width_of_figure& is, const wanted_accuracy& to,
                    std::string_view name) {
    const double rounding = rounding_of(figure.value);
    if (is.tolerance < rounding)
        return fmt::format("no number of paths will do, since the {} is rounded to {:.1g}", name, rounding);
    if (is_out_of_reach(figure, is, to))
        return fmt::format("even the {} paths that a run takes at most are too few", to.most_paths);
    return fmt::format("about {} paths should do", is.paths_needed);
}

void paths_of_next_round::add(const figure_of_unit& figure, double tolerance, bool may_stay_unseen) {
    const width_of_figure is = width_of(figure, tolerance, to_.confidence);
    if (is.is_met) return;
    is_met_ = false;
    if (is.half_width > 0) widest_ = std::max(widest_, is.half_width / is.tolerance);
    if (is_out_of_reach(figure, is, to_)) return;
    if (may_stay_unseen && !is.shows_error && 2 * figure.paths > most_unseen) return;
    const bool is_unsure = !to_.is_limited && is.paths_needed > to_.most_paths;
    add(is_unsure ? step_into_the_unknown * figure.paths : is.paths_needed);
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
        const double least = least_error(row, error, most_paths);
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

// The sensitivities of each trade.
using greeks_by_trade = std::vector<std::vector<greek_row>>;

greeks_by_trade take_greeks(results& from) {
    greeks_by_trade out(from.rows.size());
    std::size_t k = 0;
    for (std::size_t i = 0; i < from.rows.size(); ++i)
        for (; k < from.greeks.size() && from.greeks[k].trade == from.rows[i].trade; ++k)
            out[i].push_back(std::move(from.greeks[k]));
    from.greeks.clear();
    return out;
}

// The results of a run in a market, with its sensitivities by trade.
struct market_of_rounds {
    priced_book found;
    greeks_by_trade greeks;

    explicit market_of_rounds(priced_book first) : found(std::move(first)), greeks(take_greeks(found.told)) {}

    // Takes trades of a later round, which are these of the run.
    void take(const std::vector<std::size_t>& trades, priced_book later) {
        greeks_by_trade greeks_of_later = take_greeks(later.told);
        for (std::size_t k = 0; k < trades.size(); ++k) {
            price_row& is = found.told.rows[trades[k]];
            price_row was = std::exchange(is, std::move(later.told.rows[k]));
            if (!later.moments.empty()) found.moments[trades[k]] = later.moments[k];
            const auto were = std::exchange(greeks[trades[k]], std::move(greeks_of_later[k]));
            if (is.status == trade_status::failed || is.randomisations > 0) continue;
            // All trades have the first round in common: its parts tell what their errors have in common.
            is.part_means = std::move(was.part_means);
            if (is.early && was.early) is.early->part_means = std::move(was.early->part_means);
            for (greek_row& g : greeks[trades[k]]) {
                const auto first = std::ranges::find_if(were, [&](const greek_row& other) {
                    return other.measure == g.measure && other.key == g.key;
                });
                g.part_means = first == were.end() ? std::vector<double>{} : first->part_means;
            }
        }
    }
    priced_book put_together() && {
        for (std::vector<greek_row>& of_trade : greeks)
            std::ranges::move(of_trade, std::back_inserter(found.told.greeks));
        return std::move(found);
    }

    // Sensitivities as results, whose totals are to be narrow: those to each key and to all.
    std::vector<results> by_total_of_greeks() const {
        std::map<std::tuple<std::string, std::string, std::string>, results> all;  // by measure, unit, key
        for (std::size_t i = 0; i < greeks.size(); ++i) {
            std::map<std::string, const greek_row*> sums;  // by measure
            for (const greek_row& g : greeks[i]) {
                if (g.has_failed()) continue;
                if (!g.key.empty()) add(all[{g.measure, g.unit, g.key}], i, g);
                const auto [at, is_new] = sums.try_emplace(g.measure, &g);
                if (!is_new && g.key.empty()) at->second = &g;
            }
            for (const auto& [measure, g] : sums) add(all[{measure, g->unit, ""}], i, *g);
        }
        std::vector<results> out;
        for (auto& [of, one] : all) out.push_back(std::move(one));
        return out;
    }

  private:
    void add(results& to, std::size_t trade, const greek_row& g) const {
        to.manifest = found.told.manifest;
        to.rows.resize(greeks.size());
        const price_row& of = found.told.rows[trade];
        price_row& as = to.rows[trade];
        as.trade = of.trade;
        as.currency = of.currency;
        as.status = trade_status::priced;
        as.price = g.value;
        as.standard_error = g.standard_error;
        as.paths = g.paths;
        as.randomisations = of.randomisations;
        as.part_means = g.part_means;
    }
};

// A figure of a trade with its width. `what` is empty for the price.
struct width_of_what {
    figure_of_unit figure;
    width_of_figure is;
    std::string what{};
};

// The fingerprint of the paths of a round that follows these decisions.
std::uint64_t fingerprint_of_walk(const trade_decisions& of, const settled& run, const walk_of_round& round) {
    std::optional<quasi::points> points = run.points;
    if (run.chooses_source || run.chooses_construction)
        points = of.randomisations > 0 && !of.construction.empty()
                     ? std::optional(quasi::points{quasi::construction_named(of.construction)})
                     : std::nullopt;
    return fingerprint_of_paths(round_of(run, round), points, {});
}

class rounds {
  public:
    rounds(const run_in_rounds& r, const round_of_paths& walk, teller& tells)
        : r_(r),
          to_(r.run.accuracy.value_or(wanted_accuracy{})),
          tolerances_(r.in.size() * r.trades.size(), 0),
          walk_(walk),
          tells_(tells) {}

    std::vector<priced_book> walked_as_decided() {
        walk_all();
        rounds_of_trades more;
        for (std::size_t i = 0; i < r_.trades.size(); ++i)
            if_possible(i, [&] {
                if (paths_of(i) == 0) return;
                const walk_of_round of = decided_walk_of(r_.trades[i].id);
                if (of.paths > paths_of(i)) more[{of.paths, of.seed}].push_back(i);
            });
        walk(more);
        return put_together();
    }
    std::vector<priced_book> walked_to_accuracy() {
        walk_all();
        measure_tolerances();
        while (true) {
            rounds_of_trades next = wanted();
            fit_into_time(next);
            if (next.empty()) break;
            walk(next);
        }
        say_what_is_missed();
        return put_together();
    }

    // The next round after results of one market.
    std::vector<walk_of_round> judged(results& so_far) {
        made_.emplace_back(priced_book{std::move(so_far), {}});
        measure_tolerances();
        const rounds_of_trades next = wanted();
        say_what_is_missed();
        so_far = std::move(put_together().front().told);
        std::vector<walk_of_round> out;
        for (const price_row& row : so_far.rows) out.push_back({row.paths, r_.run.seed});
        for (const auto& [of, trades] : next)
            for (const std::size_t i : trades) out[i] = {of.first, of.second};
        return out;
    }

  private:
    // Trades by the paths of their round and the seed of these.
    using rounds_of_trades = std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::size_t>>;

    void walk_all() {
        std::vector<std::size_t> all(r_.trades.size());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
        begin_round();
        for (priced_book& p : timed(all, r_.run.paths, r_.run.seed)) made_.emplace_back(std::move(p));
    }
    void walk(const rounds_of_trades& next) {
        begin_round();
        for (const auto& [of, trades] : next) take(trades, timed(trades, of.first, of.second));
    }
    std::vector<priced_book> put_together() {
        std::vector<priced_book> out;
        for (market_of_rounds& m : made_) out.push_back(std::move(m).put_together());
        return out;
    }

    // A trade fails in all markets.
    void if_possible(std::size_t trade, const std::function<void()>& act) {
        try {
            act();
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
            for (market_of_rounds& m : made_) {
                price_row& row = m.found.told.rows[trade];
                planned failed;
                failed.failure = at_trade(r_.trades[trade], e);
                failed.remarks = row.remarks;
                std::optional<walked_trade> none;
                row = row_of(r_.trades[trade], failed, none, 0);
                m.greeks[trade].clear();
            }
        }
    }
    // By market and trade, in the trade's currency; 0: none.
    void measure_tolerances() {
        for (std::size_t i = 0; i < r_.trades.size(); ++i) {
            const books::trade& t = r_.trades[i];
            const std::optional<config::accuracy>& asked = t.tolerance ? t.tolerance : to_.of_run;
            if (!asked || asked->is_of_totals || paths_of(i) == 0) continue;
            if_possible(i, [&] {
                for (std::size_t m = 0; m < made_.size(); ++m)
                    tolerances_[m * r_.trades.size() + i] =
                        asked->amount(asked->is_in_basis_points ? plan::measure_of(t, r_.in[m].state()) : 0);
            });
        }
    }
    walk_of_round decided_walk_of(const std::string& trade) const {
        const settled& run = r_.run;
        const trade_decisions& of = run.followed->row(trade);
        if (of.paths % run.paths != 0 || !std::has_single_bit(of.paths / run.paths))
            throw error(error_kind::input,
                        fmt::format("found {} paths in the decisions to follow, expected the {} of the run "
                                    "or a doubling of them",
                                    of.paths, run.paths));
        const walk_of_round later{of.paths, decide::seed_of_round(run.decisions_to_follow()->seed, of.paths)};
        const bool is_of_round = of.walk == fingerprint_of_walk(of, run, later);
        return {of.paths, is_of_round ? decide::seed_of_round(run.seed, of.paths) : run.seed};
    }

    // The most in any market, in which a trade may need no path.
    std::uint64_t paths_of(std::size_t trade) const {
        std::uint64_t out = 0;
        for (const market_of_rounds& m : made_) out = std::max(out, m.found.told.rows[trade].paths);
        return out;
    }
    // A payoff with a long tail has a small error where its mean is small, and then takes few paths: points
    // of later rounds are others than those that say how many there are to be. Totals take points that all
    // trades have in common.
    std::uint64_t seed_of(std::size_t trade, std::uint64_t paths) const {
        const bool is_of_totals = to_.of_run && to_.of_run->is_of_totals;
        const bool has_points = std::ranges::any_of(
            made_, [&](const market_of_rounds& m) { return m.found.told.rows[trade].randomisations > 0; });
        return !has_points || is_of_totals ? r_.run.seed : decide::seed_of_round(r_.run.seed, paths);
    }

    // The next round.
    rounds_of_trades wanted() const {
        std::vector<std::uint64_t> paths(r_.trades.size(), 0);
        if (to_.of_run && to_.of_run->is_of_totals)
            for (const market_of_rounds& m : made_)
                for (const results& one : by_total(m))
                    for (const more_paths& more :
                         paths_for_totals(one, r_.steps, to_.of_run->size, to_.confidence, to_.most_paths,
                                          !to_.is_limited))
                        paths[more.trade] = std::max(paths[more.trade], more.paths);
        for (std::size_t i = 0; i < r_.trades.size(); ++i)
            paths[i] = std::max(paths[i], for_figures(i).paths());
        rounds_of_trades out;
        for (std::size_t i = 0; i < r_.trades.size(); ++i) {
            // Doublings of the first round: the largest that is allowed.
            while (paths[i] > to_.most_paths) paths[i] /= 2;
            if (paths[i] > paths_of(i)) out[{paths[i], seed_of(i, paths[i])}].push_back(i);
        }
        return out;
    }
    paths_of_next_round for_figures(std::size_t trade) const {
        paths_of_next_round out(to_);
        bool has_error = false;
        for (std::size_t m = 0; m < made_.size(); ++m)
            for (const width_of_what& w : widths(m, trade)) {
                has_error = has_error || w.figure.error != 0;
                // A price goes on until some path pays.
                out.add(w.figure, w.is.tolerance, !w.what.empty());
            }
        if (out.is_met() && takes_all_time() && has_error) out.add(2 * paths_of(trade));
        return out;
    }

    std::vector<results> by_total(const market_of_rounds& m) const {
        return r_.is_of_sensitivities ? m.by_total_of_greeks() : std::vector<results>{m.found.told};
    }

    // The widths of all figures of the trade that are to be narrow and took paths.
    std::vector<width_of_what> widths(std::size_t m, std::size_t trade) const {
        const market_of_rounds& in = made_[m];
        const price_row& row = in.found.told.rows[trade];
        if (row.status == trade_status::failed || row.paths == 0) return {};
        const double tolerance = tolerances_[m * r_.trades.size() + trade];
        if (!r_.is_of_sensitivities) return {{row, verbs::width_of(row, tolerance, to_.confidence)}};
        std::vector<width_of_what> out;
        if (row.quantity == 0) return out;
        for (const greek_row& g : in.greeks[trade]) {
            if (g.has_failed() || g.paths == 0) continue;
            const figure_of_unit of(g, row);
            out.push_back({of, verbs::width_of(of, tolerance, to_.confidence),
                           g.key.empty() ? g.measure : g.measure + " to " + g.key});
        }
        return out;
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
            if (paths / 2 > paths_of(i)) add(i, paths / 2);
        }
        next.clear();
        for (; !queue.empty(); queue.pop()) {
            const auto& [cost, i, paths] = queue.top();
            next[{paths, seed_of(i, paths)}].push_back(i);
        }
        for (auto& [of, trades] : next) std::ranges::sort(trades);
    }
    double steps_of(std::size_t trade, std::uint64_t paths) const {
        return static_cast<double>(paths) * static_cast<double>(r_.steps[trade]);
    }
    // As fast as those before.
    double seconds_for(std::size_t trade, std::uint64_t paths) const {
        return walked_ > 0 ? steps_of(trade, paths) / walked_ * walking_ : 0;
    }
    std::vector<priced_book> timed(const std::vector<std::size_t>& trades, std::uint64_t paths,
                                   std::uint64_t seed) {
        const auto begin = clock::now();
        std::vector<priced_book> out = walk_(trades, paths, seed);
        walking_ += seconds(clock::now() - begin).count();
        for (const std::size_t i : trades) walked_ += steps_of(i, paths);
        return out;
    }
    void begin_round() {
        progress& now = tells_.now;
        ++now.round;
        now.trades_in_tolerance = 0;
        now.widest = 0;
        for (std::size_t i = 0; i < r_.trades.size() && !made_.empty(); ++i) {
            const paths_of_next_round next = for_figures(i);
            now.trades_in_tolerance += next.is_met() ? 1U : 0U;
            now.widest = std::max(now.widest, next.widest());
        }
        tells_.tell();
    }

    void take(const std::vector<std::size_t>& trades, std::vector<priced_book> later) {
        for (std::size_t m = 0; m < made_.size(); ++m) {
            run_manifest& all = made_[m].found.told.manifest;
            all.path_steps += later[m].told.manifest.path_steps;
            add_walk(all, later[m].told.manifest);
            all.total_seconds = seconds(clock::now() - r_.begin).count();
            made_[m].take(trades, std::move(later[m]));
        }
    }

    std::string text_of(const width_of_what& w) const {
        if (!(w.is.half_width > 0))
            return fmt::format("the paths show no error{} to hold against the tolerance",
                               w.what.empty() ? "" : " of the " + w.what);
        return fmt::format(
            "the interval{} at {:.4g} % is {:.3g} wide to each side{}, asked for was {:.3g}; {}",
            w.what.empty() ? "" : " of the " + w.what, 100 * to_.confidence, w.is.half_width,
            w.figure.least_hits > 0 ? ", with what so few paths leave uncertain" : "", w.is.tolerance,
            cure_of(w.figure, w.is, to_, w.what.empty() ? "price" : "figure"));
    }
    // Tells of the figure that is furthest from its tolerance.
    void say_what_is_missed(std::size_t m, std::size_t trade) {
        const std::vector<width_of_what> all = widths(m, trade);
        const width_of_what* worst = nullptr;
        std::size_t others = 0;
        for (const width_of_what& w : all) {
            if (w.is.is_met) continue;
            others += worst != nullptr ? 1 : 0;
            if (worst == nullptr || w.is.paths_needed > worst->is.paths_needed) worst = &w;
        }
        if (worst == nullptr) return;
        miss(made_[m].found.told.rows[trade],
             text_of(*worst) + (others == 0   ? ""
                                : others == 1 ? ", and another sensitivity is too wide"
                                              : fmt::format(", and {} others are too wide", others)));
    }
    void say_what_is_missed() {
        for (std::size_t m = 0; m < made_.size(); ++m) {
            for (std::size_t i = 0; i < r_.trades.size(); ++i) say_what_is_missed(m, i);
            if (to_.of_run && to_.of_run->is_of_totals) say_which_totals_miss(made_[m]);
        }
    }
    static void miss(price_row& row, const std::string& what) {
        row.misses_tolerance = true;
        row.message += (row.message.empty() ? "" : "; ") + what;
    }
    void say_which_totals_miss(market_of_rounds& in) {
        constexpr std::uint64_t any = std::uint64_t{1} << 62;
        std::map<std::size_t, std::uint64_t> missed;  // by trade: paths
        for (const results& one : by_total(in))
            for (const more_paths& more :
                 paths_for_totals(one, r_.steps, to_.of_run->size, to_.confidence, any))
                if (one.rows[more.trade].has_error())
                    missed[more.trade] = std::max(missed[more.trade], more.paths);
        for (const auto& [trade, paths] : missed)
            miss(in.found.told.rows[trade],
                 fmt::format(
                     "{} in {} is still too wide; about {} paths of this trade and of others should do",
                     r_.is_of_sensitivities ? "a total of sensitivities" : "the total",
                     in.found.told.rows[trade].currency, paths));
        if (r_.is_of_sensitivities) return;
        for (price_row& row : in.found.told.rows)
            if (row.status == trade_status::priced && !is_figure(row.error_in_totals()))
                miss(row,
                     fmt::format("the total in {} has no error while this trade shows none", row.currency));
    }

    const run_in_rounds& r_;
    wanted_accuracy to_;
    std::vector<double> tolerances_;
    const round_of_paths& walk_;
    teller& tells_;
    std::vector<market_of_rounds> made_;
    double walked_ = 0, walking_ = 0;  // path-steps and the seconds that they took
};

}  // namespace

std::vector<priced_book> walked_in_rounds(const run_in_rounds& r, const round_of_paths& walk, teller& tells) {
    rounds made(r, walk, tells);
    return r.run.accuracy ? made.walked_to_accuracy() : made.walked_as_decided();
}

std::vector<walk_of_round> judge(const run_in_rounds& r, results& so_far) {
    const run_options untold;
    teller none(untold);
    const round_of_paths walks_none;
    return rounds(r, walks_none, none).judged(so_far);
}

void follow_on(trade_decisions& of, const settled& run, const walk_of_round& next) {
    of.paths = next.paths;
    of.walk = fingerprint_of_walk(of, run, next);
}

results greeks_in_rounds(const book& trades, const market& in, const run_options& options,
                         const finder_of_greeks& find) {
    const settled run = settle(options, trades.state(), {&in, 1});
    if (!run.accuracy && !run.takes_decided_paths) return find(trades, options, {});
    teller tells(options);
    tells.now.trades = trades.size();
    std::uint64_t steps_before = 0;
    run_options how = options;
    if (tells.is_heard()) {
        how.on_progress = [&](const progress& of_round) {
            progress now = of_round;
            now.path_steps += steps_before;
            now.path_steps_done += steps_before;
            now.round = tells.now.round;
            now.trades = trades.size();
            now.trades_in_tolerance = tells.now.trades_in_tolerance;
            now.widest = tells.now.widest;
            tells.now.path_steps = tells.now.path_steps_done = now.path_steps_done;
            options.on_progress(now);
        };
    }
    std::vector<std::uint64_t> steps;
    decide::decided_by_trade policies;
    const round_of_paths walk = [&](std::span<const std::size_t> places, std::uint64_t paths,
                                    std::uint64_t seed) {
        const bool is_first = steps.empty();
        auto some = std::make_shared<books::book_state>(trades.state());
        some->trades.clear();
        for (const std::size_t i : places) some->trades.push_back(trades.state().trades[i]);
        round_of_study round = of_round(book::of(std::move(some)), how, run, {paths, seed});
        round.options.keep_policies = is_first && options.keep_policies;
        stages by;
        if (is_first) {
            by.see_plans = [&](const planned_run& r) {
                steps = steps_of_paths(r);
                for (const auto& [trade, of] : decided_in(r)) policies[trade].policy = of.policy;
            };
        } else {
            by.held = &policies;
        }
        std::vector<priced_book> out(1);
        out.front().told = find(round.trades, round.options, by);
        if (is_first) how.followed = followed_after(out.front().told.manifest, out.front().told.rows, run);
        steps_before = tells.now.path_steps_done;
        return out;
    };
    const auto begin = clock::now();
    results out =
        std::move(walked_in_rounds({run, trades.state().trades, {&in, 1}, steps, begin, true}, walk, tells)
                      .front()
                      .told);
    out.manifest.settings = run.said;
    return out;
}

}  // namespace tilewalk::verbs
