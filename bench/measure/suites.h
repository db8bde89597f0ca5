// SPDX-License-Identifier: Apache-2.0
// The catalogue of benchmarks: each has a file in bench/suites and a line in suites.cpp.
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

// The request to a suite. An empty list stands for all values.
struct request {
    std::string subject;  // the name of a workload or model, or a book's file; empty: the suite's own
    std::vector<std::string> feeds, layouts, precisions;
    std::vector<int> distances, widths, warps;
    std::uint64_t paths = 0;  // 0: as many as the suite chooses
    bool is_timed = true;     // false: rows are checked by one launch each, and have no time
    // A program and its first arguments that measures this suite, with a subject and options appended, in a
    // process that a profiler can watch. May be empty.
    std::vector<std::string> command{};
};

struct open_choices {
    std::string_view subject{};  // people's words for its subjects, such as "a model"; empty: it has none
    bool ways = false;           // feeds, distances, layouts, widths and occupancy
    bool precisions = false;
    bool paths = false;
    bool untimed = false;
};

using sink = std::function<void(row)>;

struct cpu_bench {
    stop_rule until{};
    std::function<void(const std::string&)> says = [](const std::string&) {};
    const std::atomic<bool>* cancel = nullptr;
};

struct suite_entry {
    std::string_view name;
    std::string_view summary;
    open_choices open;
    // Throws tilewalk::error (usage) for values that the suite can't measure. Null: any will do.
    void (*check_values)(const request& asked);
    // Published figures, a line each, for people; may be empty.
    std::string_view published;
    void (*run)(gpu_timer& on, const request& asked, const sink& to);
    // Measures the rows that need no GPU, on a machine without one. Null if there are none.
    void (*run_on_cpu)(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                       const sink& to) = nullptr;
};

std::span<const suite_entry> suites();
// Throws tilewalk::error (usage) with the known names and the nearest.
const suite_entry& suite_named(std::string_view name);
// Throws tilewalk::error (usage) for a choice that the suite does not leave open, or can't measure.
void check(const suite_entry& suite, const request& asked);

}  // namespace tilewalk::bench
