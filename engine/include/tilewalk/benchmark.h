// SPDX-License-Identifier: Apache-2.0
// GPU benchmarks: prefetch strategies (feeds), reductions, random sources and others, and the comparison of
// results with an earlier run's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewalk/write.h"

namespace tilewalk {

namespace bench {
struct run;
}

class benchmark_results;

struct benchmark_suite {
    std::string name, summary;
    std::string published;  // published figures to compare results with; may be empty
};
std::vector<benchmark_suite> benchmark_suites();

// A suite to run and what to measure. An empty list selects everything; a suite ignores fields that do not
// concern it.
struct benchmark_request {
    std::string suite;
    std::string subject;  // workload, model or file of a book to measure; empty: the suite's default
    std::vector<std::string> feeds, layouts, precisions;
    std::vector<int> distances, widths;
    std::vector<int> warps;   // resident warps per multiprocessor; 64: as many as fit
    std::uint64_t paths = 0;  // 0: the workload's default
    std::string device = "0";
    // Each row is timed until its relative noise is at most `noise`, or for `seconds`.
    double noise = 0.01, seconds = 0.15;
    // False: launch and check each row once without timing it, for use under a profiler.
    bool is_timed = true;
    // Command line that repeats this request. The prefetch suite runs it under NVIDIA's profiler ncu to see
    // whether prefetching can pay; if ncu fails, a row says so. Empty: no profiling.
    std::vector<std::string> command;
    const std::atomic<bool>* cancel = nullptr;
    std::function<void(const std::string&)> says{};  // receives progress messages for people
    // receives each finished row as results of one row
    std::function<void(const benchmark_results&)> on_row{};
};
// Throws tilewalk::error (usage) for an unknown name in `asked`, with the known names and the nearest.
void check(const benchmark_request& asked);

class benchmark_results {
  public:
    // Reads the output of text(output_format::json). Throws tilewalk::error (input) with `name` as the file
    // and the line of the fault. `as_kept` also accepts a file without its final count of rows, and rows
    // added after that count; note() then says so.
    static benchmark_results parse(std::string_view json_lines, const std::string& name,
                                   bool as_kept = false);
    std::string note() const;  // oddities that `as_kept` accepted; may be empty

    // JSON output has one object per line.
    std::string text(output_format as, const text_form& form = {}) const;
    std::string page() const;
    std::vector<std::pair<std::string, std::string>> figures() const;
    // Joins the rows of a cancelled run, such as those given to on_row, and adds a row that says so.
    static benchmark_results interrupted(const std::vector<benchmark_results>& parts);
    bool is_complete() const;
    // Number of rows whose bits differ from their reference, or whose launch failed.
    std::size_t wrong() const;

  private:
    friend struct inside;
    explicit benchmark_results(std::shared_ptr<const bench::run> state) : state_(std::move(state)) {}
    std::shared_ptr<const bench::run> state_;
};

// Runs a suite, and checks the results of each row before timing it. Throws tilewalk::error: (usage) before
// measuring if `baseline` is from another device or suite; (device) if the suite needs a GPU and there is
// none; (cancelled) if cancelled before the first row. If cancelled later, returns the rows measured so far.
benchmark_results measure(const benchmark_request& asked, const benchmark_results* baseline = nullptr);

struct benchmark_verdict {
    std::string text;  // report for people, the worst rows first
    bool is_bad = false;
};
benchmark_verdict compare(const benchmark_results& now, const benchmark_results& before);

}  // namespace tilewalk
