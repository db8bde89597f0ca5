// SPDX-License-Identifier: Apache-2.0
// What path kernels are timed on: a few payoffs of the engine's own, and any user's book.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/precision.h"
#include "engine/plan/timeline.h"
#include "products/program/passes.h"

namespace tilewalk::bench {

// Trades of one shape: what one kernel walks.
struct workload {
    std::string name;  // "asian"; of a book "book.yaml: asian"
    plan::precision precision = plan::precision::double_;
    program::path_program code;
    struct trade {
        program::path_data data;
        plan::timeline when;
    };
    std::vector<trade> trades;
    std::uint64_t paths = 0;  // that make a kernel long enough to time

    std::size_t steps() const;         // of the longest trade
    std::uint64_t path_steps() const;  // of all trades, a path each
};

// Paths that make a kernel of so many path-steps a path long enough to time.
std::uint64_t paths_to_time(std::uint64_t path_steps);

struct workload_entry {
    std::string_view name;
    std::string_view summary;
    workload (*make)(plan::precision in);
    bool by_name_only = false;  // its kernels take a compiler minutes
};
std::span<const workload_entry> workloads();

// Throws tilewalk::error (usage) if there is neither such a workload nor such a file.
void check_subject(const std::string& subject);

// A workload by name, or the shapes of a book's file, the one with the most path-steps first; trades that
// can't be timed so are told to `leaves_out`. Throws tilewalk::error: usage if there is neither such a
// workload nor such a file, input if nothing of the book can be timed.
std::vector<workload> workloads_named(const std::string& subject, plan::precision in,
                                      const std::function<void(const std::string&)>& leaves_out);

}  // namespace tilewalk::bench
