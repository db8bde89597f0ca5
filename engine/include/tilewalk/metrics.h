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
    std::string book;     // labels this run's series
    const results& prices;
    const scenario_results* scenarios = nullptr;  // null if there are none
    const timings::account* times = nullptr;      // null if unknown by stage
    std::chrono::system_clock::time_point at{};   // the time of writing
    // The shard, such as "3/16", and its stage, "pricing" or "training". `prices` are then those of
    // shard_outcome::told, and metrics of figures are left out. Empty for a whole request.
    std::string shard{}, stage{};
};

// Returns Prometheus text format; lines end in "\n". Unknown figures have no line.
std::string metrics_text(const told_run& of);

}  // namespace tilewalk
