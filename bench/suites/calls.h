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
    std::uint64_t paths = 1024;  // of a call
    std::uint64_t paths_to_cancel = std::uint64_t{1}
                                    << 34;  // of a call that is stopped: far more than it gets to
    int calls = 400;                        // timed
    int readings = 100, stops = 40;
};

struct percentiles {
    double p50 = 0, p95 = 0, p99 = 0;
};
// Nearest rank: the smallest sample that at least this percentage of all samples do not exceed.
percentiles percentiles_of(std::vector<double> samples);

void measure_reading(const sizes& of, const sink& to);
// Adds rows of calls on a device, named as in run_settings::device.
void measure(const std::string& device, const sizes& of, const std::function<void(const std::string&)>& says,
             const std::atomic<bool>* cancel, const sink& to);

}  // namespace tilewalk::bench::calls
