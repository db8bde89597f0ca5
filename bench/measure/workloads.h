// SPDX-License-Identifier: Apache-2.0
// Workloads on which path kernels are timed: a few payoffs of the engine's own, and any user's book.
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
    bool by_name_only = false;  // its kernels take minutes to compile
    bool goes_back = false;     // its paths are walked both ways, for all derivatives of the price
};
std::span<const workload_entry> workloads();
bool goes_back(std::string_view subject);

void check_subject(const std::string& subject);

// A workload by name, or the shapes of a book's file, the one with the most path-steps first. Trades that
// can't be timed go to `leaves_out`. Throws tilewalk::error: usage without such a workload or file, input
// without a trade to time.
std::vector<workload> workloads_named(const std::string& subject, program::precision in,
                                      const std::function<void(const std::string&)>& leaves_out);

}  // namespace tilewalk::bench
