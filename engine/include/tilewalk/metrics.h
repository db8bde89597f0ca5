// SPDX-License-Identifier: Apache-2.0
// Metrics of a run for Prometheus: a file for node exporter's textfile collector.
#pragma once

#include <chrono>
#include <string>

#include "tilewalk/results.h"
#include "tilewalk/scenarios.h"
#include "tilewalk/timings.h"

namespace tilewalk {

struct told_run {
    std::string command;  // command that made the results, such as "price"
    std::string book;     // label of the run's metrics
    const results& prices;
    const scenario_results* scenarios = nullptr;  // scenario results; null if there are none
    const timings::account* times = nullptr;      // time by stage; null if not measured
    std::chrono::system_clock::time_point at{};   // the time of writing
    // Shard that was run, such as "3/16", and its stage, "pricing" or "training". `prices` is then
    // shard_outcome::result, and there are no metrics of prices. Empty for a request that is not sharded.
    std::string shard{}, stage{};
};

// Returns Prometheus text format; lines end in "\n". Unknown figures have no line.
std::string metrics_text(const told_run& of);

}  // namespace tilewalk
