// SPDX-License-Identifier: Apache-2.0
// Runs to a tolerance: rounds add paths until intervals are narrow enough. Pilots decide once.
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

namespace tilewalk::verbs {

// Walks these trades with so many paths each; results by market.
using round_of_paths = std::function<std::vector<priced_book>(std::span<const std::size_t> trades,
                                                              std::uint64_t paths, std::uint64_t seed)>;

// A run that is walked in rounds, to the accuracy asked for, or as the decisions that it follows have it.
struct run_in_rounds {
    const settled& run;  // the first round's
    std::span<const books::trade> trades;
    std::span<const market> in;
    const std::vector<std::uint64_t>& steps;  // of a path, by trade; known once the first round is walked
    std::chrono::steady_clock::time_point begin;
    bool is_of_sensitivities = false;  // these are to be narrow; else prices are
};
// By market. A trade fails if its tolerance can't be measured, or its decided paths can't be followed.
std::vector<priced_book> walked_in_rounds(const run_in_rounds& r, const round_of_paths& walk, teller& tells);
// Returns each trade's next walk, the present one if more paths do not help. Rows say what is too wide.
std::vector<walk_of_round> judge(const run_in_rounds& r, results& so_far);
// Turns decisions of a run's first round into those of a later walk.
void follow_on(trade_decisions& of, const settled& run, const walk_of_round& next);

// Lets a round report progress as of all rounds, whose steps count on. `all` must outlive it.
void count_on(inner_options& of_round, progress& all);

// Finds sensitivities in one market. The stages see the walk of the prices.
using finder_of_greeks =
    std::function<results(const book& trades, const inner_options& options, const stages& by)>;
results greeks_in_rounds(const book& trades, const market& in, const inner_options& options,
                         const finder_of_greeks& find);

}  // namespace tilewalk::verbs
