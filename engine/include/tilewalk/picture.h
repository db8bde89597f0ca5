// SPDX-License-Identifier: Apache-2.0
// A trade as a picture: its dates, what is watched and paid when, and some of the paths that price it.
//
//     tilewalk::trade_paths paths = tilewalk::paths_of(engine, book, market, "asian_1");
//     std::ofstream("asian_1.svg") << tilewalk::picture_of(plan, paths);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewalk/engine.h"
#include "tilewalk/trade_plan.h"

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

// As SVG, whole in itself, light and dark: a time line of the dates, and below it the paths of each asset
// with the amounts among the trade's terms that lie among them, such as strikes and barriers.
std::string picture_of(const trade_plan& plan, const trade_paths& paths);

}  // namespace tilewalk
