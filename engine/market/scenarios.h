// SPDX-License-Identifier: Apache-2.0
// Scenario arrays: numbers by time and path that somebody else has made, in a file that the market names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/walk/arrays/shock_cube.h"
#include "tilewalk/error.h"

namespace tilewalk::markets {

// A file of them. It is mapped, not read, and must stay as it is while it is used.
struct scenario_array {
    std::string name;  // of the file
    // SHA-256 of its bytes. Made once, by the first who asks: it takes longer than all else that is done to a
    // file, and only results need it.
    std::shared_future<std::string> hash;
    arrays::shock_cube cube;  // a step is a row of the file, with one slot
    std::shared_ptr<const void> mapped;
    location where;  // in the market
};

// Opens a file of volatilities: a NumPy array of the shape (times, paths), or Tilewalk's own form (see
// engine/walk/arrays/shock_file.h) with one normal a step. Every number is looked at once. Throws
// tilewalk::error (io) for a file that can't be read or, where `inside` is a folder, is not below it, (input)
// for one that does not hold volatilities.
scenario_array open_volatilities(const std::filesystem::path& file, const std::filesystem::path& inside = {});

// The least and the most number of a row.
std::pair<double, double> range_of_row(const scenario_array& of, std::size_t row);

// Whether a volatility is written as scenarios.
bool is_scenario_volatility(const config::node& value);

// A volatility that each path has for itself: that of row k from the time of row k - 1, or as_of, to
// years[k].
struct scenario_volatility {
    std::uint32_t array = 0;  // its number in the market
    std::vector<double> years;
    std::vector<double> shifts;  // added to the numbers of the rows; empty: none
    location where;              // of the times

    // The row in force until `years`, which is at most that of the last.
    std::uint32_t row_until(double years) const;
};

}  // namespace tilewalk::markets
