// SPDX-License-Identifier: Apache-2.0
// Sample paths: some of the paths that price a trade, with what they are paid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tilewalk/engine.h"

namespace tilewalk {

// The first paths of a run of the trade, without its control, shifts and pairs, and with rights that nobody
// uses.
struct trade_paths {
    std::string trade, currency;
    std::string as_of;
    std::uint64_t seed = 0;
    std::string random;         // the source of their random numbers, in words
    std::vector<double> years;  // the moments at which paths stop, as_of first
    std::vector<std::string> assets;
    std::vector<double> spots_today;                      // by asset
    std::vector<std::vector<std::vector<double>>> spots;  // by asset, path and moment
    // Sums that have been paid, with those known to be paid later, discounted to as_of: by path and moment.
    std::vector<std::vector<double>> paid;

    std::size_t paths() const { return paid.size(); }
};

inline constexpr std::size_t most_sample_paths = 1024;
// Throws tilewalk::error for a trade that the book does not have, or that can't be planned. A trade in which
// nothing is random has no paths.
trade_paths paths_of(const engine& by, const book& trades, const market& in, const std::string& trade,
                     const run_options& options = {}, std::size_t paths = 10);

}  // namespace tilewalk
