// SPDX-License-Identifier: Apache-2.0
// Statistics of timings, and the rule by which sampling stops.
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
    // Relative half-width of a confidence interval (at least 95 %) of the median, from the order of samples,
    // so valid for any distribution. 1 if there are too few samples.
    double noise = 1;
};
// `samples` must not be empty.
summary summarise(std::vector<double> samples);

struct stop_rule {
    double noise = 0.01;  // stop if summary::noise is no larger
    std::size_t fewest = 11, most = 201;
    double seconds = 0.5;  // time after which to stop, once there are `fewest` samples
};

// Takes a sample; empty if it must not count, as the clock was throttled.
using sampler = std::function<std::optional<double>()>;

struct measurement {
    summary of;
    std::size_t dropped = 0;  // samples that did not count
    std::string why_stopped;  // "noise", "time", "count" or, if `most` were dropped, "throttled"
};

// A monotonic clock.
double seconds_now();

// Samples until the rule is met; `now` is a clock in seconds. Empty if none counted and `most` were dropped.
std::optional<measurement> measure(const sampler& take, const stop_rule& until,
                                   const std::function<double()>& now);

}  // namespace tilewalk::tuning
