// SPDX-License-Identifier: Apache-2.0
// GPU benchmarks of feeds, reductions and random sources, and their comparison with an earlier run.
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
    std::string published;  // published figures to compare with; may be empty
};
std::vector<benchmark_suite> benchmark_suites();

// Empty lists mean everything. Some fields matter only to some suites.
struct benchmark_request {
    std::string suite;
    std::string subject;  // name of a workload or model, or file of a book; empty: the suite's own
    std::vector<std::string> feeds, layouts, precisions;
    std::vector<int> distances, widths;
    std::vector<int> warps;   // resident on a multiprocessor; 64: as many as fit
    std::uint64_t paths = 0;  // 0: the workload's own
    std::string device = "0";
    // Sampling of a row ends at this relative noise or after this time.
    double noise = 0.01, seconds = 0.15;
    // False: check each row by one launch and time nothing, for use under a profiler.
    bool is_timed = true;
    // Command line that repeats this request. The prefetch suite runs it under ncu to see whether prefetching
    // can pay; a row reports a failure of ncu. Empty: ncu does not run.
    std::vector<std::string> command;
    const std::atomic<bool>* cancel = nullptr;
    std::function<void(const std::string&)> says{};          // progress, for people
    std::function<void(const benchmark_results&)> on_row{};  // receives each finished row as a run of its own
};
// Throws tilewalk::error (usage) with the known names and the nearest.
void check(const benchmark_request& asked);

class benchmark_results {
  public:
    // Reads the output of text(output_format::json); errors call it `name`. Throws tilewalk::error (input)
    // with the line. `as_kept` also accepts a missing count of rows and rows added after the end; note() then
    // says so.
    static benchmark_results parse(std::string_view json_lines, const std::string& name,
                                   bool as_kept = false);
    std::string note() const;  // may be empty

    // JSON has one object a line.
    std::string text(output_format as, const text_form& form = {}) const;
    std::string page() const;
    std::vector<std::pair<std::string, std::string>> figures() const;
    // Joins the parts of a cancelled run, such as those given to on_row; its last row says so.
    static benchmark_results interrupted(const std::vector<benchmark_results>& parts);
    bool is_complete() const;
    // Counts rows whose bits differ from their reference, or whose launch failed.
    std::size_t wrong() const;

  private:
    friend struct inside;
    explicit benchmark_results(std::shared_ptr<const bench::run> state) : state_(std::move(state)) {}
    std::shared_ptr<const bench::run> state_;
};

// Checks every row before timing it. Throws tilewalk::error: (usage) before measuring if `baseline` is not
// comparable with the request; (device) if the suite needs a GPU and there is none; (cancelled) if cancelled
// before the first row. A later cancellation returns the rows so far.
benchmark_results measure(const benchmark_request& asked, const benchmark_results* baseline = nullptr);

struct benchmark_verdict {
    std::string text;  // for people, worst first
    bool is_bad = false;
};
benchmark_verdict compare(const benchmark_results& now, const benchmark_results& before);

}  // namespace tilewalk
