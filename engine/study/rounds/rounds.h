// SPDX-License-Identifier: Apache-2.0
// Runs to a tolerance: paths are added in rounds until the interval of each figure, or of each total, is as
// narrow as was asked for. Decisions of pilots are made once, for the first round.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/study/price.h"
#include "engine/study/rounds/widths.h"
#include "tilewalk/decisions.h"

namespace tilewalk::verbs {

// Walks these trades with so many paths each, of a seed: results by market.
using round_of_paths = std::function<std::vector<priced_book>(std::span<const std::size_t> trades,
                                                              std::uint64_t paths, std::uint64_t seed)>;

// A run that is walked in rounds: until it is as accurate as was asked for, or as the decisions that it
// follows have it.
struct run_in_rounds {
    const settled& run;  // the first round's
    std::span<const books::trade> trades;
    std::span<const market> in;
    const std::vector<std::uint64_t>& steps;  // of a path, by trade; known when the first round is walked
    std::chrono::steady_clock::time_point begin;
    bool is_of_sensitivities = false;  // these are to be narrow; else prices are
};
// Its results by market. A trade whose tolerance can't be measured, or whose decided paths can't be followed,
// fails.
std::vector<priced_book> walked_in_rounds(const run_in_rounds& r, const round_of_paths& walk, teller& tells);
// The walks that trades are to have next, in one market; those that they have, where figures are as narrow as
// was asked for, or get no narrower. Rows say which are too wide.
std::vector<walk_of_round> judge(const run_in_rounds& r, results& so_far);
// Decisions of a run's first round, for a walk of a later one.
void follow_on(trade_decisions& of, const settled& run, const walk_of_round& next);

// Lets a round tell of itself as of all rounds, whose steps count on. `all` outlives it.
void count_on(run_options& of_round, progress& all);

// Finds sensitivities of trades in one market. The stages see the walk of their prices.
using finder_of_greeks =
    std::function<results(const book& trades, const run_options& options, const stages& by)>;
// The same in the rounds that the run asks for, each of which finds those of some of the trades.
results greeks_in_rounds(const book& trades, const market& in, const run_options& options,
                         const finder_of_greeks& find);

}  // namespace tilewalk::verbs
