// SPDX-License-Identifier: Apache-2.0
// The catalogue of benchmarks: one file each in bench/suites, and a line in suites.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/row.h"
#include "bench/measure/timing.h"

namespace tilewalk::bench {

// What a suite is asked to do. Empty lists stand for all there is.
struct request {
    std::string subject;  // a workload or a model by name, or a book's file; empty: the suite's own
    std::vector<std::string> feeds, layouts, precisions;
    std::vector<int> distances, widths, warps;
    std::uint64_t paths = 0;  // 0: the suite's own
    bool is_timed = true;     // false: rows are checked, each by one launch, and have no time
    // A program and its first arguments: with a subject and options after them it measures this suite on
    // this device, in a process of its own that a profiler can watch. Empty: there is none.
    std::vector<std::string> command{};

    // Whether it is asked for more than a subject.
    bool has_axes() const {
        return !feeds.empty() || !layouts.empty() || !precisions.empty() || !distances.empty() ||
               !widths.empty() || !warps.empty() || paths > 0;
    }
};

// Takes each row as it is there.
using sink = std::function<void(row)>;

// What measures the processor where no GPU does.
struct cpu_bench {
    stop_rule until{};
    std::function<void(const std::string&)> says = [](const std::string&) {};
    const std::atomic<bool>* cancel = nullptr;
};

struct suite_entry {
    std::string_view name;
    std::string_view summary;
    // Of a suite that takes a request: throws tilewalk::error (usage) for what it can't measure. Null: what
    // is asked for must be empty.
    void (*check)(const request& asked);
    // What is published about it, a line each, for people; may be empty.
    std::string_view published;
    void (*run)(gpu_timer& on, const request& asked, const sink& to);
    // Of a suite that also measures the processor: what is left of it where there is no GPU. Null: nothing.
    void (*run_on_cpu)(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                       const sink& to) = nullptr;
};

std::span<const suite_entry> suites();
// Throws tilewalk::error (usage) with the known names and the nearest.
const suite_entry& suite_named(std::string_view name);

}  // namespace tilewalk::bench
