// SPDX-License-Identifier: Apache-2.0
// Workloads on which path kernels are timed: a few built-in payoffs, or any user's book.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/timing.h"
#include "products/program/precision.h"

namespace tilewalk::bench {

struct workload_entry {
    std::string_view name;
    std::string_view summary;
    workload (*make)(program::precision in);
    bool by_name_only = false;  // too slow to compile (minutes) to run unless named
    bool goes_back = false;     // walks paths forward and back (adjoint), for all derivatives
};
std::span<const workload_entry> workloads();
bool goes_back(std::string_view subject);

void check_subject(const std::string& subject);

// The workload of that name, or one for each program of a book's file, the one with the most path-steps
// first. Trades that can't be timed are reported to `leaves_out`. Throws tilewalk::error: (usage) if there is
// no such workload or file, (input) if no trade can be timed.
std::vector<workload> workloads_named(const std::string& subject, program::precision in,
                                      const std::function<void(const std::string&)>& leaves_out);

}  // namespace tilewalk::bench
