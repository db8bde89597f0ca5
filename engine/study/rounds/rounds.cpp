// SPDX-License-Identifier: Apache-2.0
#include "engine/study/rounds/rounds.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "engine/decide/followed.h"
#include "engine/decide/seeds.h"
#include "engine/study/manifest.h"
#include "engine/study/rows.h"

namespace tilewalk::studies {

namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

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

// A figure of a trade; `what` is empty for the price.
struct figure_of_trade {
    figure_of_unit figure;
    std::string what{};
};

struct market_of_rounds {
    priced_book found;
    greeks_by_trade greeks;
    std::vector<double> tolerances;  // by trade, in its currency; 0 if it has none

    explicit market_of_rounds(priced_book first)
        : found(std::move(first)), greeks(take_greeks(found.result)), tolerances(greeks.size(), 0) {}

    void take_round(const std::vector<std::size_t>& trades, priced_book later) {
        greeks_by_trade greeks_of_later = take_greeks(later.result);
        for (std::size_t k = 0; k < trades.size(); ++k) {
            price_row& is = found.result.rows[trades[k]];
            price_row was = std::exchange(is, std::move(later.result.rows[k]));
            if (!later.moments.empty()) found.moments[trades[k]] = later.moments[k];
            const auto were = std::exchange(greeks[trades[k]], std::move(greeks_of_later[k]));
            if (is.status == trade_status::failed || is.randomisations > 0) continue;
            // Part means stay those of the first round, whose paths all trades share: totals take common
            // errors from them.
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
    void fail(std::size_t place, const books::trade& t, const std::exception& why) {
        price_row& row = found.result.rows[place];
        planned failed;
        failed.failure = at_trade(t, why);
        failed.remarks = row.remarks;
        std::optional<walked_trade> none;
        row = row_of(t, failed, none, 0);
        greeks[place].clear();
    }
    // Returns the trade's price, or its sensitivities; figures found without paths are left out.
    std::vector<figure_of_trade> figures(std::size_t trade, bool of_sensitivities) const {
        const price_row& row = found.result.rows[trade];
        if (row.status == trade_status::failed || row.paths == 0) return {};
        if (!of_sensitivities) return {{row}};
        std::vector<figure_of_trade> out;
        for (const greek_row& g : greeks[trade])
            if (row.quantity != 0 && !g.has_failed() && g.paths != 0)
                out.push_back({{g, row}, g.key.empty() ? g.measure : g.measure + " to " + g.key});
        return out;
    }
    priced_book put_together() && {
        for (std::vector<greek_row>& of_trade : greeks)
            std::ranges::move(of_trade, std::back_inserter(found.result.greeks));
        return std::move(found);
    }

    // Returns each total of sensitivities as if it were a book: one for each key, and one over all keys.
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
        to.manifest = found.result.manifest;
        to.rows.resize(greeks.size());
        const price_row& of = found.result.rows[trade];
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

std::uint64_t fingerprint_of_walk(const trade_decisions& of, const settled& run, const walk_of_round& round) {
    std::optional<quasi::points> points = run.points;
    if (run.chooses_source || run.chooses_construction)
        points = of.randomisations > 0 && !of.construction.empty()
                     ? std::optional(quasi::points{quasi::construction_named(of.construction)})
                     : std::nullopt;
    return fingerprint_of_paths(round_of(run, round), points, {});
}

// The trades to walk next, by the number of paths and the seed.
using rounds_of_trades = std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::size_t>>;

class held_results {
  public:
    explicit held_results(const run_in_rounds& r) : r_(r), to_(r.run.accuracy.value_or(wanted_accuracy{})) {}

    const wanted_accuracy& wanted() const { return to_; }
    void begin(std::vector<priced_book> first) {
        for (priced_book& p : first) made_.emplace_back(std::move(p));
    }
    void take_round(const std::vector<std::size_t>& trades, std::vector<priced_book> later) {
        for (std::size_t m = 0; m < made_.size(); ++m) {
            run_manifest& all = made_[m].found.result.manifest;
            count_steps(all, later[m].result.manifest);
            add_walk(all, later[m].result.manifest);
            all.total_seconds = seconds(clock::now() - r_.begin).count();
            made_[m].take_round(trades, std::move(later[m]));
        }
    }
    std::vector<priced_book> put_together() {
        std::vector<priced_book> out;
        for (market_of_rounds& m : made_) out.push_back(std::move(m).put_together());
        return out;
    }

    // Calls act(). If it throws, fails the trade in all markets.
    void if_possible(std::size_t trade, const std::function<void()>& act) {
        try {
            act();
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
            for (market_of_rounds& m : made_) m.fail(trade, r_.trades[trade], e);
        }
    }
    void measure_tolerances() {
        for (std::size_t i = 0; i < r_.trades.size(); ++i) {
            if (paths_of(i) == 0) continue;
            if_possible(i, [&] {
                for (std::size_t m = 0; m < made_.size(); ++m)
                    made_[m].tolerances[i] = tolerance_of(r_.trades[i], r_.in[m], to_);
            });
        }
    }

    // Returns the most paths in any market: in some markets the trade may need none.
    std::uint64_t paths_of(std::size_t trade) const {
        std::uint64_t out = 0;
        for (const market_of_rounds& m : made_) out = std::max(out, m.found.result.rows[trade].paths);
        return out;
    }
    // Later rounds take new points: a payoff with a long tail shows a small error where its mean is too
    // small, so paths counted on the same points would favour low prices. Totals need points that all trades
    // share.
    std::uint64_t seed_of(std::size_t trade, std::uint64_t paths) const {
        const bool has_points = std::ranges::any_of(
            made_, [&](const market_of_rounds& m) { return m.found.result.rows[trade].randomisations > 0; });
        return !has_points || is_of_totals() ? r_.run.seed : decide::seed_of_round(r_.run.seed, paths);
    }
    paths_of_next_round for_figures(std::size_t trade) const {
        paths_of_next_round out(to_);
        for (const market_of_rounds& m : made_)
            for (const figure_of_trade& f : m.figures(trade, r_.is_of_sensitivities))
                // A price without an error goes on until some path pays; a sensitivity may stay without.
                out.add(f.figure, m.tolerances[trade], !f.what.empty());
        return out;
    }
    rounds_of_trades next_round() const {
        std::vector<std::uint64_t> paths(r_.trades.size(), 0);
        for (const market_of_rounds& m : made_)
            for (const results& one : totals_in(m))
                for (const more_paths& more : for_total(one, to_.most_paths, !to_.is_limited))
                    paths[more.trade] = std::max(paths[more.trade], more.paths);
        rounds_of_trades out;
        for (std::size_t i = 0; i < r_.trades.size(); ++i) {
            paths[i] = std::max(paths[i], for_figures(i).paths(paths_of(i)));
            // Paths are those of the first round, doubled; halve them until the limit allows them.
            while (paths[i] > to_.most_paths) paths[i] /= 2;
            if (paths[i] > paths_of(i)) out[{paths[i], seed_of(i, paths[i])}].push_back(i);
        }
        return out;
    }
    void say_what_is_missed() {
        for (market_of_rounds& m : made_) {
            for (std::size_t i = 0; i < r_.trades.size(); ++i) say_what_is_missed(m, i);
            say_which_totals_miss(m);
        }
    }

  private:
    bool is_of_totals() const { return to_.of_run && to_.of_run->is_of_totals; }

    // Returns the results whose totals must meet the tolerance; empty if none has to.
    std::vector<results> totals_in(const market_of_rounds& m) const {
        if (!is_of_totals()) return {};
        return r_.is_of_sensitivities ? m.by_total_of_greeks() : std::vector<results>{m.found.result};
    }
    std::vector<more_paths> for_total(const results& one, std::uint64_t most_paths, bool gives_up) const {
        return paths_for_totals(one, r_.steps, to_.of_run->size, to_.confidence, most_paths, gives_up);
    }

    // Says in the trade's row which figure is furthest from its tolerance.
    void say_what_is_missed(market_of_rounds& m, std::size_t trade) const {
        std::uint64_t most = 0;
        int missed = 0;
        std::string worst;
        for (const figure_of_trade& f : m.figures(trade, r_.is_of_sensitivities)) {
            const width_of_figure is = width_of(f.figure, m.tolerances[trade], to_.confidence);
            if (is.is_met) continue;
            if (++missed == 1 || is.paths_needed > most) {
                most = is.paths_needed;
                worst = text_of_miss(f.figure, is, to_, f.what.empty() ? "" : "the " + f.what);
            }
        }
        if (missed == 2) worst += ", and another sensitivity is too wide";
        if (missed > 2) worst += fmt::format(", and {} others are too wide", missed - 1);
        if (missed > 0) add_miss(m.found.result.rows[trade], worst);
    }
    void say_which_totals_miss(market_of_rounds& in) const {
        constexpr std::uint64_t any = std::uint64_t{1} << 62;
        std::map<std::size_t, std::uint64_t> missed;  // paths needed, by trade
        for (const results& one : totals_in(in))
            for (const more_paths& more : for_total(one, any, false))
                if (one.rows[more.trade].has_error())
                    missed[more.trade] = std::max(missed[more.trade], more.paths);
        for (const auto& [trade, paths] : missed)
            add_miss(in.found.result.rows[trade],
                     fmt::format(
                         "{} in {} is still too wide; about {} paths of this trade and of others should do",
                         r_.is_of_sensitivities ? "a total of sensitivities" : "the total",
                         in.found.result.rows[trade].currency, paths));
        if (!is_of_totals() || r_.is_of_sensitivities) return;
        for (price_row& row : in.found.result.rows)
            if (row.status == trade_status::priced && !is_figure(row.error_in_totals()))
                add_miss(row, fmt::format("the total in {} has no error while this trade shows none",
                                          row.currency));
    }

    const run_in_rounds& r_;
    const wanted_accuracy to_;
    std::vector<market_of_rounds> made_;  // by market
};

class rounds {
  public:
    rounds(const run_in_rounds& r, const round_of_paths& walk, progress_reporter& reporter)
        : r_(r), found_(r), walk_(walk), reporter_(reporter) {}

    std::vector<priced_book> walked_as_decided() {
        walk_all();
        rounds_of_trades more;
        for (std::size_t i = 0; i < r_.trades.size(); ++i)
            found_.if_possible(i, [&] {
                if (found_.paths_of(i) == 0) return;
                const walk_of_round of = decided_walk_of(r_.trades[i].id);
                if (of.paths > found_.paths_of(i)) more[{of.paths, of.seed}].push_back(i);
            });
        walk(more);
        return found_.put_together();
    }
    std::vector<priced_book> walked_to_accuracy() {
        walk_all();
        found_.measure_tolerances();
        while (true) {
            rounds_of_trades next = found_.next_round();
            fit_into_time(next);
            if (next.empty()) break;
            walk(next);
        }
        found_.say_what_is_missed();
        return found_.put_together();
    }

  private:
    void walk_all() {
        std::vector<std::size_t> all(r_.trades.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        ++reporter_.now.round;
        reporter_.report();
        found_.begin(timed(all, r_.run.paths, r_.run.seed));
    }
    void walk(const rounds_of_trades& next) {
        progress& now = reporter_.now;
        ++now.round;
        now.trades_in_tolerance = 0;
        now.widest = 0;
        for (std::size_t i = 0; i < r_.trades.size(); ++i) {
            const paths_of_next_round more = found_.for_figures(i);
            now.trades_in_tolerance += more.is_met() ? 1U : 0U;
            now.widest = std::max(now.widest, more.widest());
        }
        reporter_.report();
        for (const auto& [of, trades] : next) found_.take_round(trades, timed(trades, of.first, of.second));
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

    // Halves the paths of the costliest trades, or drops the trades, until the round should end in time.
    void fit_into_time(rounds_of_trades& next) const {
        if (!found_.wanted().seconds) return;
        const double left = *found_.wanted().seconds - seconds(clock::now() - r_.begin).count();
        std::priority_queue<std::tuple<double, std::size_t, std::uint64_t>> queue;  // cost, trade, paths
        double all = 0;
        const auto add = [&](std::size_t i, std::uint64_t paths) {
            const double cost = walked_ > 0 ? steps_of(i, paths) / walked_ * walking_ : 0;
            all += cost;
            queue.emplace(cost, i, paths);
        };
        for (const auto& [of, trades] : next)
            for (const std::size_t i : trades) add(i, of.first);
        for (next.clear(); !queue.empty();) {
            const auto [cost, i, paths] = queue.top();
            queue.pop();
            if (all <= left) {
                next[{paths, found_.seed_of(i, paths)}].push_back(i);
                continue;
            }
            all -= cost;
            if (paths / 2 > found_.paths_of(i)) add(i, paths / 2);
        }
        for (auto& [of, trades] : next) std::ranges::sort(trades);
    }
    double steps_of(std::size_t trade, std::uint64_t paths) const {
        return static_cast<double>(paths) * static_cast<double>(r_.steps[trade]);
    }
    std::vector<priced_book> timed(const std::vector<std::size_t>& trades, std::uint64_t paths,
                                   std::uint64_t seed) {
        const auto begin = clock::now();
        std::vector<priced_book> out = walk_(trades, paths, seed);
        walking_ += seconds(clock::now() - begin).count();
        for (const std::size_t i : trades) walked_ += steps_of(i, paths);
        return out;
    }

    const run_in_rounds& r_;
    held_results found_;
    const round_of_paths& walk_;
    progress_reporter& reporter_;
    double walked_ = 0, walking_ = 0;  // path-steps so far, and their seconds
};

}  // namespace

std::vector<priced_book> walked_in_rounds(const run_in_rounds& r, const round_of_paths& walk,
                                          progress_reporter& reporter) {
    rounds made(r, walk, reporter);
    return r.run.accuracy ? made.walked_to_accuracy() : made.walked_as_decided();
}

std::vector<walk_of_round> judge(const run_in_rounds& r, results& so_far) {
    held_results found(r);
    std::vector<priced_book> first(1);
    first.front().result = std::move(so_far);
    found.begin(std::move(first));
    found.measure_tolerances();
    const rounds_of_trades next = found.next_round();
    found.say_what_is_missed();
    so_far = std::move(found.put_together().front().result);
    std::vector<walk_of_round> out;
    for (const price_row& row : so_far.rows) out.push_back({row.paths, r.run.seed});
    for (const auto& [of, trades] : next)
        for (const std::size_t i : trades) out[i] = {of.first, of.second};
    return out;
}

void follow_on(trade_decisions& of, const settled& run, const walk_of_round& next) {
    of.paths = next.paths;
    of.walk = fingerprint_of_walk(of, run, next);
}

void count_on(inner_options& of_round, progress& all) {
    if (!of_round.on_progress) return;
    of_round.on_progress = [&all, before = all.path_steps_done,
                            to = std::move(of_round.on_progress)](const progress& of) {
        progress now = of;
        now.path_steps += before;
        now.path_steps_done += before;
        now.round = all.round;
        now.trades = std::max(of.trades, all.trades);
        now.trades_in_tolerance = all.trades_in_tolerance;
        now.widest = all.widest;
        all.path_steps = all.path_steps_done = now.path_steps_done;
        to(now);
    };
}

results greeks_in_rounds(const book& trades, const market& in, const inner_options& options,
                         const finder_of_greeks& find) {
    const settled run = settle(options, state_of(trades), {&in, 1});
    if (!run.accuracy && !run.takes_decided_paths) return find(trades, options, {});
    progress_reporter reporter(options);
    reporter.now.trades = trades.size();
    inner_options how = options;
    std::vector<std::uint64_t> steps;
    decide::decided_by_trade policies;
    const round_of_paths walk = [&](std::span<const std::size_t> places, std::uint64_t paths,
                                    std::uint64_t seed) {
        const bool is_first = steps.empty();
        auto some = std::make_shared<books::book_state>(state_of(trades));
        some->trades.clear();
        for (const std::size_t i : places) some->trades.push_back(state_of(trades).trades[i]);
        round_of_study round = of_round(with_state<book>(std::move(some)), how, run, {paths, seed});
        round.options.keep_policies = is_first && options.keep_policies;
        count_on(round.options, reporter.now);
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
        out.front().result = find(round.trades, round.options, by);
        if (is_first)
            how.followed = followed_after(out.front().result.manifest, out.front().result.rows, run);
        return out;
    };
    const run_in_rounds all{run, state_of(trades).trades, {&in, 1}, steps, clock::now(), true};
    results out = std::move(walked_in_rounds(all, walk, reporter).front().result);
    out.manifest.settings = run.said;
    return out;
}

}  // namespace tilewalk::studies
