// SPDX-License-Identifier: Apache-2.0
// Cuts a request into shards, after decisions are made.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>

#include "engine/base/crew.h"
#include "engine/base/digest.h"
#include "engine/decide/settled.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/study/asked.h"
#include "engine/study/price.h"
#include "engine/study/rounds/rounds.h"
#include "engine/study/scenarios/scenarios.h"
#include "engine/study/session/resources.h"
#include "engine/study/shards/shards.h"
#include "engine/walk/kept/kept_file.h"
#include "kernels/tile.h"

namespace tilewalk {

using std::filesystem::path;

namespace studies {

namespace {

// Cuts the work into shards of about equal cost. A cell is a trade in a market; large cells are cut by tiles.
class cutter {
  public:
    cutter(const std::vector<double>& costs, std::size_t markets, std::uint64_t run_tiles)
        : costs_(costs), markets_(markets), tiles_(run_tiles) {}

    std::vector<std::vector<shard_piece>> cut(std::size_t count) {
        const double all = static_cast<double>(markets_) * std::accumulate(costs_.begin(), costs_.end(), 0.0);
        std::vector<std::vector<shard_piece>> out(count);
        for (std::size_t k = 1; k <= count; ++k)
            fill(out[k - 1],
                 k == count ? INFINITY : all * static_cast<double>(k) / static_cast<double>(count));
        return out;
    }

  private:
    // Adds cells to a shard until the cost of all shards so far reaches `end`.
    void fill(std::vector<shard_piece>& pieces, double end) {
        while (trade_ < costs_.size()) {
            const double cost = costs_[trade_], whole = static_cast<double>(markets_) * cost;
            // Add the trade in all markets if it fits. Trades without cost go with the trade before them.
            if (market_ == 0 && tile_ == 0 && (before_ + whole <= end || cost == 0)) {
                add(pieces, {trade_, trade_ + 1, 0, markets_, 0, tiles_, tiles_});
                before_ += whole;
                ++trade_;
                continue;
            }
            const bool fits = before_ + cost <= end;
            const std::uint64_t up_to = fits ? tiles_ : tile_at((end - before_) / cost);
            if (fits || up_to > tile_) {
                add(pieces, {trade_, trade_ + 1, market_, market_ + 1, tile_, up_to, tiles_});
                tile_ = up_to;
            }
            if (!fits) return;
            before_ += cost;
            tile_ = 0;
            market_ = (market_ + 1) % markets_;
            if (market_ == 0) ++trade_;
        }
    }
    // Returns the tile at this fraction of a cell, rounded so that a shard holds few subtrees of the sum.
    std::uint64_t tile_at(double part) const {
        const std::uint64_t grain =
            std::bit_floor(std::max<std::uint64_t>(1, tiles_ / (std::uint64_t{64} * run::most_parts)));
        const double at = part * static_cast<double>(tiles_) / static_cast<double>(grain);
        return std::min(tiles_, static_cast<std::uint64_t>(std::llround(at)) * grain);
    }
    static void add(std::vector<shard_piece>& to, const shard_piece& more) {
        if (more.first_tile >= more.end_tile) return;
        if (to.empty()) return to.push_back(more);
        shard_piece& last = to.back();
        const bool has_same_tiles = last.first_tile == more.first_tile && last.end_tile == more.end_tile;
        const bool has_same_markets =
            last.first_market == more.first_market && last.end_market == more.end_market;
        if (has_same_tiles && has_same_markets && last.end_trade == more.first_trade)
            last.end_trade = more.end_trade;
        else if (has_same_tiles && last.first_trade == more.first_trade && last.end_trade == more.end_trade &&
                 last.end_market == more.first_market)
            last.end_market = more.end_market;
        else
            to.push_back(more);
    }

    const std::vector<double>& costs_;
    const std::size_t markets_;
    const std::uint64_t tiles_;
    double before_ = 0;  // cost of the cells before this one
    std::size_t trade_ = 0, market_ = 0;
    std::uint64_t tile_ = 0;
};

double cost_of(const std::vector<shard_piece>& pieces, const std::vector<double>& costs) {
    double out = 0;
    for (const shard_piece& p : pieces) {
        const double part = static_cast<double>(p.end_tile - p.first_tile) / static_cast<double>(p.run_tiles);
        const double markets = static_cast<double>(p.end_market - p.first_market);
        for (std::size_t i = p.first_trade; i < p.end_trade; ++i) out += markets * part * costs[i];
    }
    return out;
}

// Trains policies as long as all of them should take no more than `within_seconds`. Returns the rest.
std::vector<std::size_t> train(decider& by, const std::vector<std::size_t>& places, double within_seconds,
                               std::size_t at_once) {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    constexpr double least_seconds = 2;  // too short to extrapolate from
    for (std::size_t done = 0; done < places.size();) {
        const double took = std::chrono::duration<double>(clock::now() - begin).count();
        const double all =
            done == 0 ? 0 : took * static_cast<double>(places.size()) / static_cast<double>(done);
        const bool is_known = took >= std::min(least_seconds, within_seconds);
        if (within_seconds <= 0 || (is_known && done > 0 && all > within_seconds))
            return {places.begin() + static_cast<std::ptrdiff_t>(done), places.end()};
        const std::size_t end = std::min(done + at_once, places.size());
        by.decide(std::span(places).subspan(done, end - done));
        done = end;
    }
    return {};
}

void refuse_more_than_parts(std::size_t count, std::size_t trades, std::size_t markets, std::uint64_t paths) {
    const std::size_t most = shards::most(trades, markets, paths);
    if (count <= most) return;
    const auto counted = [](std::uint64_t n, const std::string& what) {
        return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    };
    throw error(error_kind::usage, "found " + std::to_string(count) + " shards, expected at most " +
                                       std::to_string(most) + ": the work is " + counted(trades, "trade") +
                                       " in " + counted(markets, "market") + ", each " +
                                       counted(kernels::tiles_of(paths), "block") + " of " +
                                       std::to_string(kernels::paths_per_tile) + " paths");
}

void refuse_other_request(const path& folder, const std::string& digest) {
    std::error_code unknown;
    if (!std::filesystem::exists(folder / name_of_plan, unknown)) return;
    if (shards::open(folder).digest() == digest) return;
    throw error(error_kind::usage,
                "the folder holds the shards of another request; take another folder, or remove this one",
                {folder.string()});
}

// Makes all decisions. Returns the trades whose policies shards still have to train.
std::vector<std::size_t> decide_all(decider& by, const std::vector<books::trade>& trades,
                                    double train_within_seconds, int threads) {
    std::vector<std::size_t> with_rights, others;
    for (std::size_t i = 0; i < trades.size(); ++i) {
        const bool has_rights = !trades[i].failure && trades[i].product && plan::has_rights(trades[i]);
        (has_rights ? with_rights : others).push_back(i);
    }
    by.decide(others);
    std::vector<std::size_t> untrained =
        train(by, with_rights, train_within_seconds, static_cast<std::size_t>(threads));
    by.decide(untrained, false);
    return untrained;
}

struct rounds_of_request {
    inner_options with;  // with the request's tolerance
    settled run;
    std::vector<std::uint64_t> steps;  // of a path, by trade; 1 unless totals need them

    rounds_of_request(sharded_request of, const opened_request& what, const run_options& options)
        : with{options_with_tolerance(std::move(of), options)},
          run(settle(with, state_of(what.asked), {&what.in, 1})),
          steps(what.asked.size(), 1) {
        if (!run.accuracy->of_run || !run.accuracy->of_run->is_of_totals) return;
        shape_store shapes;
        missing_pairs missing;
        threads::for_each(steps.size(), run.threads, with.cancel,
                          [&](int, std::uint64_t i) {
                              const planned p = plan_one(state_of(what.asked).trades[i], state_of(what.in),
                                                         run, shapes, missing, with.cancel, usual_planner());
                              steps[i] = p.needs_paths() ? p.ready->when.steps() : 0;
                          },
                          {});
    }
    walk_of_round first() const { return {run.paths, run.seed}; }
    static run_options options_with_tolerance(sharded_request of, const run_options& options) {
        of.fixed.reset();
        return options_for(of, options);
    }
    run_in_rounds on(const sharded_request& of, const opened_request& what) const {
        return {run, state_of(what.asked).trades, {&what.in, 1}, steps, {}, of.greeks.has_value()};
    }
};

// Walks a first round, and returns the request with the paths that it shows to be needed.
sharded_request with_fixed_paths(const engine& by, sharded_request of, const opened_request& what,
                                 const run_options& options, const path& folder) {
    const rounds_of_request rounds(of, what, options);
    const auto first = [&](const book& trades) {
        return of_round(trades, rounds.with, rounds.run, rounds.first());
    };
    if (what.scenarios) {
        const auto find = [&](const book& trades, const inner_options&) {
            const round_of_study round = first(trades);
            return scenarios_as_asked(resources(state_of(by)), round.trades, what.in, *what.scenarios,
                                      round.options);
        };
        scenario_results found = find(what.asked, {});
        of.fixed = fixed_after(found, of, what, options, find);
    } else {
        const round_of_study round = first(what.asked);
        results found = find_values(by, of, round.trades, what.in, round.options);
        of.fixed = fixed_after(found, of, what, options, folder);
    }
    return of;
}

}  // namespace

std::optional<run_settings> fixed_after(results& so_far, const sharded_request& of,
                                        const opened_request& what, const run_options& options,
                                        const path& folder) {
    const rounds_of_request rounds(of, what, options);
    const std::vector<walk_of_round> next = judge(rounds.on(of, what), so_far);
    decisions decided = decisions_of(so_far);
    for (auto& [trade, made] : decided.trades) made.policy.clear();  // the plan or its shards train them
    bool has_more = false;
    for (std::size_t i = 0; i < next.size(); ++i) {
        const auto at = decided.trades.find(so_far.rows[i].trade);
        if (at == decided.trades.end() || next[i].paths <= at->second.paths) continue;
        follow_on(at->second, rounds.run, next[i]);
        has_more = true;
    }
    if (!has_more && of.fixed) return std::nullopt;
    make_folder(folder);
    const std::string text = json_of(decided);
    const path file = folder / ("decisions-" + config::sha256(text).substr(0, 16) + ".json");
    kept::write_file(file, text);
    run_settings out = of_round(what.asked, rounds.with, rounds.run, rounds.first()).options.overrides;
    out.paths.reset();
    out.decisions = file.string();
    return out;
}

std::optional<run_settings> fixed_after(scenario_results& so_far, const sharded_request& of,
                                        const opened_request& what, const run_options& options,
                                        const study_of_scenarios& again) {
    const rounds_of_request rounds(of, what, options);
    walk_of_round next = judge(what.asked, what.in, rounds.run, so_far, again);
    if (next.paths <= so_far.base.manifest.paths) {
        if (of.fixed) return std::nullopt;
        next = rounds.first();
    }
    return of_round(what.asked, rounds.with, rounds.run, next).options.overrides;
}

}  // namespace studies

std::size_t shards::most(std::size_t trades, std::size_t markets, std::uint64_t paths) {
    const double parts = static_cast<double>(trades) * static_cast<double>(markets) *
                         static_cast<double>(kernels::tiles_of(paths));
    return static_cast<std::size_t>(std::clamp(parts, 1.0, 0x1p53));
}

shards shards::plan(const engine& by, const sharded_request& asked, std::size_t count, const path& folder,
                    double train_within_seconds, const run_options& options) {
    using namespace studies;
    if (count == 0) throw error(error_kind::usage, "found 0 shards, expected 1 or more");
    shard_plan out{folder, asked};
    opened_request request = open_request(asked);
    run_options with = options_for(asked, options);
    settled run = settle({with}, state_of(request.trades), {&request.in, 1});
    const std::vector<feature> features = features_asked(request.trades, with);
    refuse_combinations(studies::study_of(asked), features);
    if (asked.explains) refuse_combinations(study::explained_scenarios, features);
    refuse_more_than_parts(count, request.trades.size(), request.markets(), run.paths);
    if (run.accuracy) {
        out.request = with_fixed_paths(by, asked, request, options, folder);
        request = open_request(out.request);
        with = options_for(out.request, options);
        run = settle({with}, state_of(request.trades), {&request.in, 1});
    }
    out.digest = digest_in(out.request, request, with);
    refuse_other_request(folder, out.digest);
    make_folder(folder);

    auto known = std::make_shared<kept::store>(out.digest);
    known->add_records(kept::block_in(folder / name_of_decisions, out.digest).records);
    decider decides{by, out.request, request, with, known};
    const std::vector<books::trade>& trades = state_of(request.trades).trades;
    out.untrained = decide_all(decides, trades, train_within_seconds, run.threads);
    std::vector<double> costs;
    for (const books::trade& t : trades) costs.push_back(decides.costs[t.id]);
    out.pieces = cutter(costs, request.markets(), kernels::tiles_of(run.paths)).cut(count);
    for (const auto& pieces : out.pieces) out.costs.push_back(cost_of(pieces, costs));
    kept::write_block(folder / name_of_decisions, out.digest, records_of(*known));
    out.inputs = inputs_of(request, with);
    out.write(request.trades);
    return open(folder);
}

}  // namespace tilewalk
