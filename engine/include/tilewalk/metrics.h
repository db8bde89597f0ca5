// SPDX-License-Identifier: Apache-2.0
// How a run went, as metrics for Prometheus: a file that node exporter's textfile collector reads.
#pragma once

#include <chrono>
#include <string>

#include "tilewalk/results.h"
#include "tilewalk/scenarios.h"
#include "tilewalk/timings.h"

namespace tilewalk {

struct told_run {
    std::string command;  // that made the results, such as "price"
    std::string book;     // a name, which tells this run's series from those of others
    const results& prices;
    const scenario_results* scenarios = nullptr;  // null: none were asked for
    const timings::account* times = nullptr;      // null: not known by stage
    std::chrono::system_clock::time_point at{};   // when the results were written
    // The shard, such as "3/16", and its stage, "pricing" or "training": `prices` are what it told of itself
    // (see shard_outcome), and metrics of figures have no line. Empty: the whole request.
    std::string shard{}, stage{};
};

// In the text format of Prometheus, whose lines end in "\n". A figure that is not known has no line.
std::string metrics_text(const told_run& of);

}  // namespace tilewalk
