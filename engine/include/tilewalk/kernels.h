// SPDX-License-Identifier: Apache-2.0
// Reports on kernels that were compiled or tuned ahead of runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewalk {

struct warmed_kernel {
    std::string name;                   // shape
    std::vector<std::string> products;  // products that need it
    std::string architecture;           // "sm_90"
    bool from_cache = false;
    double seconds = 0;
    std::string failure;  // empty if it compiled
};

// A kernel whose build variants were timed on a GPU.
struct tuned_kernel {
    std::string name;                                        // shape
    std::vector<std::string> products;                       // products that need it
    std::string untuned, best;                               // build variants before and after tuning
    double untuned_milliseconds = 0, best_milliseconds = 0;  // time of a launch with `paths` paths a trade
    std::uint64_t paths = 0;
    std::size_t candidates = 0;
    double seconds = 0;   // tuning time
    std::string kept_in;  // file that stores the result
    std::string failure;  // why tuning failed; may be empty
};

// Throws tilewalk::error (usage) for a name unlike sm_90 or sm_90a; the error calls them `said_as`.
void check_architectures(const std::vector<std::string>& names, const std::string& said_as);

inline constexpr double default_tuning_seconds = 2, most_tuning_seconds = 3600;
constexpr bool is_tuning_time(double seconds) {
    return seconds > 0 && seconds <= most_tuning_seconds;
}
// "a number above 0, up to 3600"
std::string expected_tuning_time();

}  // namespace tilewalk
