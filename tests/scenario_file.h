// SPDX-License-Identifier: Apache-2.0
// Volatilities by path, in a file for as long as a test needs them.
#pragma once

#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/replay/shock_writer.h"

namespace tilewalk::tests {

class scenario_file {
  public:
    scenario_file(std::uint64_t times, std::uint64_t paths)
        : name_(std::filesystem::temp_directory_path() /
                ("tilewalk_test_" + std::to_string(getpid()) + ".scenarios")) {
        std::vector<double> numbers(times * paths);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = 0.25 + 0.15 * std::sin(static_cast<double>(i));
        replay::write_shocks<double>(name_, {times, 1, 0, paths, numbers, {}});
    }
    ~scenario_file() { std::filesystem::remove(name_); }
    scenario_file(const scenario_file&) = delete;
    scenario_file& operator=(const scenario_file&) = delete;
    std::string name() const { return name_.string(); }

  private:
    std::filesystem::path name_;
};

}  // namespace tilewalk::tests
