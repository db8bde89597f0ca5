// SPDX-License-Identifier: Apache-2.0
// A temporary file of scenarios: a volatility for each time and path.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/walk/arrays/shock_writer.h"
#include "tests/own_folder.h"

namespace tilewalk::tests {

class scenario_file {
  public:
    scenario_file(std::uint64_t times, std::uint64_t paths) {
        std::vector<double> numbers(times * paths);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = 0.25 + 0.15 * std::sin(static_cast<double>(i));
        arrays::write_shocks<double>(name_, {times, 1, 0, paths, numbers, {}});
    }
    std::string name() const { return name_.string(); }

  private:
    own_folder folder_;
    std::filesystem::path name_ = folder_ / "scenarios";
};

}  // namespace tilewalk::tests
