// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/tuning/workload.h"

#include <algorithm>

namespace tilewalk::tuning {

std::size_t workload::steps() const {
    std::size_t most = 0;
    for (const trade& t : trades) most = std::max(most, t.when.steps());
    return most;
}

std::uint64_t workload::path_steps() const {
    std::uint64_t sum = 0;
    for (const trade& t : trades) sum += t.when.steps();
    return sum;
}

std::uint64_t paths_to_time(std::uint64_t path_steps) {
    // Path steps to time; a benchmark of a few assets has as many.
    constexpr std::uint64_t wanted = std::uint64_t{1} << 28, most = std::uint64_t{1} << 20;
    std::uint64_t paths = std::uint64_t{1} << 12;
    while (paths < most && paths * path_steps < wanted) paths *= 2;
    return paths;
}

}  // namespace tilewalk::tuning
