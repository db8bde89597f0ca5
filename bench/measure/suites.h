// SPDX-License-Identifier: Apache-2.0
// The catalogue of benchmark suites: each has a file in bench/suites and a line in suites.cpp.
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

// The choices of a user that runs a suite. An empty list means all values.
struct request {
    std::string subject;  // name of a workload or model, or a book's file; empty: the suite's default
    std::vector<std::string> feeds, layouts, precisions;
    std::vector<int> distances, widths, warps;
    std::uint64_t paths = 0;  // 0: as many as the suite chooses
    bool is_timed = true;     // false: each row is one checked launch, without a time
    // The command line, without subject and options, that measures this suite in a process of its own, for a
    // profiler to watch. May be empty.
    std::vector<std::string> command{};
};

struct open_choices {
    std::string_view subject{};  // kind of subject, such as "a model"; empty: there is none
    bool ways = false;           // feeds, distances, layouts, widths and occupancy may be chosen
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
    // Throws tilewalk::error (usage) for values that the suite can't measure. Null if it can measure any.
    void (*check_values)(const request& asked);
    // Figures published elsewhere, a line of text each, to print beside the suite's own; may be empty.
    std::string_view published;
    void (*run)(gpu_timer& on, const request& asked, const sink& to);
    // On a machine without a GPU, measures the rows that need none. Null if all need a GPU.
    void (*run_on_cpu)(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                       const sink& to) = nullptr;
};

std::span<const suite_entry> suites();
// Finds a suite. Throws tilewalk::error (usage) with the known names and the nearest if there is none.
const suite_entry& suite_named(std::string_view name);
// Throws tilewalk::error (usage) for a choice that the suite does not offer or a value it can't measure.
void check(const suite_entry& suite, const request& asked);

}  // namespace tilewalk::bench
