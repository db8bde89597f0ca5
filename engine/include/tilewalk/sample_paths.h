// SPDX-License-Identifier: Apache-2.0
// Sample paths of a trade, with their payments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tilewalk/engine.h"

namespace tilewalk {

// First paths of a run without control, shifts and antithetic pairs, and with no right exercised.
struct trade_paths {
    std::string trade, currency;
    std::string as_of;
    std::uint64_t seed = 0;
    std::string random;         // random source in words
    std::vector<double> years;  // times at which paths stop, as_of first
    std::vector<std::string> assets;
    std::vector<double> spots_today;                      // by asset
    std::vector<std::vector<std::vector<double>>> spots;  // by asset, path and time
    // Payments so far and those already fixed for later, discounted to as_of, by path and time.
    std::vector<std::vector<double>> paid;

    std::size_t paths() const { return paid.size(); }
};

inline constexpr std::size_t most_sample_paths = 1024;
// Throws tilewalk::error for a trade that is unknown or can't be planned. No paths if nothing is random.
trade_paths paths_of(const engine& by, const book& trades, const market& in, const std::string& trade,
                     const run_options& options = {}, std::size_t paths = 10);

}  // namespace tilewalk
