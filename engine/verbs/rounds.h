// SPDX-License-Identifier: Apache-2.0
// Runs to a tolerance: paths are added in rounds until the interval of each price, or of each total, is as
// narrow as was asked for. All that pilots decide is decided once, for the first round.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/verbs/price.h"

namespace tilewalk::verbs {

// Walks these trades with so many paths each, of a seed.
using round_of_paths =
    std::function<priced_book(std::span<const std::size_t> trades, std::uint64_t paths, std::uint64_t seed)>;

// How wide an interval is, by how much too wide, and what it takes to narrow it.
struct width_of_trade {
    double half_width = 0, tolerance = 0;
    bool is_met = true;
    // The number of paths that should do, where it is not met; doublings of those it has.
    std::uint64_t paths_needed = 0;
};
width_of_trade width_of(const price_row& row, double tolerance, double confidence);

// The trades of a round for totals, with the paths that they are to have: doublings go, one after the other,
// to the trade that takes most of a total's variance for what the doubling costs, until they should do.
// `steps`: of a path, by trade. `gives_up`: a total that the most paths do not bring within its tolerance
// gets none.
struct more_paths {
    std::size_t trade = 0;
    std::uint64_t paths = 0;
};
std::vector<more_paths> paths_for_totals(const results& so_far, std::span<const std::uint64_t> steps,
                                         double tolerance, double confidence, std::uint64_t most_paths,
                                         bool gives_up = false);

// The run's rounds, all of them. `tolerances`: amounts by trade; 0: the trade has none of its own, and is
// done where the run has none for it.
priced_book priced_in_rounds(const planned_run& r, std::span<const double> tolerances,
                             const round_of_paths& walk, teller& tells);

// A run whose trades have so many paths each, doublings of the run's, of these seeds.
struct decided_walk {
    std::uint64_t paths = 0, seed = 0;
};
priced_book priced_with_paths(const planned_run& r, std::span<const decided_walk> walks,
                              const round_of_paths& walk, teller& tells);

}  // namespace tilewalk::verbs
