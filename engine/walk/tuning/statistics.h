// SPDX-License-Identifier: Apache-2.0
// Statistics of timings, and the rule for when there are enough samples.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tilewalk::tuning {

struct summary {
    std::size_t samples = 0;
    double median = 0, p10 = 0, p90 = 0;
    // Half the width of an interval with at least 95 % confidence around the median, over the median; from
    // the order of samples alone, for any distribution. 1 if there are too few samples.
    double noise = 1;
};
// Requires at least one sample.
summary summarise(std::vector<double> samples);

struct stop_rule {
    double noise = 0.01;  // small enough to stop
    std::size_t fewest = 11, most = 201;
    double seconds = 0.5;  // for sampling beyond the fewest
};

// One sample; empty if it must not count, because the clock was throttled.
using sampler = std::function<std::optional<double>()>;

struct measurement {
    summary of;
    std::size_t dropped = 0;  // samples that did not count
    std::string why_stopped;  // "noise", "time", "count"
};

// A clock that never goes back.
double seconds_now();

// `now` is a clock in seconds. Empty if no sample counted and `most` were dropped.
std::optional<measurement> measure(const sampler& take, const stop_rule& until,
                                   const std::function<double()>& now);

}  // namespace tilewalk::tuning
