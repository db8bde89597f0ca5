// SPDX-License-Identifier: Apache-2.0
// Scenario arrays: externally simulated numbers by time and path, in a file that the market names.
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

// A scenario file, memory-mapped: it must not change while in use.
struct scenario_array {
    std::string name;  // name of the file
    // SHA-256 of the bytes, computed on first use: hashing is slow, and only results need it.
    std::shared_future<std::string> hash;
    arrays::shock_cube cube;  // a step of the cube is a row of the file, with one slot
    std::shared_ptr<const void> mapped;
    location where;  // where the market names the file
};

// Opens a file of volatilities: a NumPy array of shape (times, paths), or Tilewalk's own form
// (engine/walk/arrays/shock_file.h) with one normal per step and path. Checks every number. Throws
// tilewalk::error: (io) for a file that can't be read or lies outside of the folder `inside`, if given;
// (input) for numbers that can't be volatilities.
scenario_array open_volatilities(const std::filesystem::path& file, const std::filesystem::path& inside = {});

std::pair<double, double> range_of_row(const scenario_array& of, std::size_t row);

bool is_scenario_volatility(const config::node& value);

// A volatility for each path. Row k holds from years[k - 1] (from as_of for row 0) to years[k].
struct scenario_volatility {
    std::uint32_t array = 0;  // index into market_state::scenarios
    std::vector<double> years;
    std::vector<double> shifts;  // added to each row's numbers; empty for no shifts
    location where;              // where the market lists the times

    // The row that holds just before `years`, which must not exceed the last row's time.
    std::uint32_t row_until(double years) const;
};

}  // namespace tilewalk::markets
