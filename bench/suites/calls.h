// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/measure/suites.h"

namespace tilewalk::bench::calls {

struct sizes {
    std::uint64_t paths = 1024;  // paths of a timed call
    std::uint64_t paths_to_cancel = std::uint64_t{1}
                                    << 34;  // of a run that is stopped: more than it will walk
    int calls = 400;                        // calls timed
    int readings = 100, stops = 40;
};

struct percentiles {
    double p50 = 0, p95 = 0, p99 = 0;
};
// Percentiles by nearest rank: the smallest sample that this percentage of samples does not exceed.
percentiles percentiles_of(std::vector<double> samples);

void measure_reading(const sizes& of, const sink& to);
// Times pricing calls on a device (as run_settings::device names it) and passes on their rows.
void measure(const std::string& device, const sizes& of, const std::function<void(const std::string&)>& says,
             const std::atomic<bool>* cancel, const sink& to);

}  // namespace tilewalk::bench::calls
