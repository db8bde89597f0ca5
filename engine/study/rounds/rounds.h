// SPDX-License-Identifier: Apache-2.0
// Runs to a tolerance: rounds walk more paths until intervals are narrow enough. Pilots run in the first
// round only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/decide/inner_options.h"
#include "engine/study/price.h"
#include "engine/study/rounds/widths.h"
#include "tilewalk/decisions.h"

namespace tilewalk::studies {

// Walks these trades, `paths` paths each. Returns results by market.
using round_of_paths = std::function<std::vector<priced_book>(std::span<const std::size_t> trades,
                                                              std::uint64_t paths, std::uint64_t seed)>;

// A run in rounds: to an accuracy, or with the numbers of paths in the decisions that it follows.
struct run_in_rounds {
    const settled& run;  // settings of the first round
    std::span<const books::trade> trades;
    std::span<const market> in;
    const std::vector<std::uint64_t>& steps;  // steps of one path, by trade; filled by the first round
    std::chrono::steady_clock::time_point begin;
    bool is_of_sensitivities = false;  // true if tolerances are for sensitivities, not prices
};
// Returns results by market. Fails trades whose tolerance has no amount, or whose decided paths are
// impossible.
std::vector<priced_book> walked_in_rounds(const run_in_rounds& r, const round_of_paths& walk,
                                          progress_reporter& reporter);
// Returns each trade's next walk, the last one if more paths do not help. Says in rows what is too wide.
std::vector<walk_of_round> judge(const run_in_rounds& r, results& so_far);
// Turns decisions for a run's first round into those for a later walk.
void follow_on(trade_decisions& of, const settled& run, const walk_of_round& next);

// Makes a round report progress over all rounds, counting steps on from `all`, which must outlive it.
void count_on(inner_options& of_round, progress& all);

// Finds sensitivities in one market, with the given stages for the walk that prices.
using finder_of_greeks =
    std::function<results(const book& trades, const inner_options& options, const stages& by)>;
results greeks_in_rounds(const book& trades, const market& in, const inner_options& options,
                         const finder_of_greeks& find);

}  // namespace tilewalk::studies
