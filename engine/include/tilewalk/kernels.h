// SPDX-License-Identifier: Apache-2.0
// Kernels that were made ready or tuned ahead of runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewalk {

// A kernel made ready ahead of the runs that need it.
struct warmed_kernel {
    std::string name;                   // of its shape
    std::vector<std::string> products;  // that need it
    std::string architecture;           // "sm_90"
    bool from_cache = false;
    double seconds = 0;
    std::string failure;  // why there is none, or empty
};

// A kernel whose ways to be built were timed on a GPU.
struct tuned_kernel {
    std::string name;                   // of its shape
    std::vector<std::string> products;  // that need it
    std::string untuned, best;          // how it is built without and with what was measured
    double untuned_milliseconds = 0, best_milliseconds = 0;  // of a launch of `paths` paths a trade
    std::uint64_t paths = 0;
    std::size_t candidates = 0;
    double seconds = 0;   // of timing
    std::string kept_in;  // the file that remembers it
    std::string failure;  // why it could not be tuned, or empty
};

// Throws tilewalk::error (usage) for a name that is no architecture of a GPU, such as sm_90 or sm_90a;
// `said_as` is what the caller calls them.
void check_architectures(const std::vector<std::string>& names, const std::string& said_as);

// Longest times of timing one kernel, in seconds.
inline constexpr double default_tuning_seconds = 2, most_tuning_seconds = 3600;
constexpr bool is_tuning_time(double seconds) {
    return seconds > 0 && seconds <= most_tuning_seconds;
}
// "a number above 0, up to 3600"
std::string expected_tuning_time();

}  // namespace tilewalk
