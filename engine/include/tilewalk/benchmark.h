// SPDX-License-Identifier: Apache-2.0
// Benchmarks of a GPU: the speed of each way of reading memory, reducing and making random numbers, and a
// comparison with an earlier run.
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
    std::string published;  // what the field has published about it, or empty
};
std::vector<benchmark_suite> benchmark_suites();

// Empty lists stand for all there is. Every suite takes its name and the limits of sampling; the rest is for
// the suites that know it.
struct benchmark_request {
    std::string suite;
    std::string subject;  // a workload or a model by name, or a book's file; empty: the suite's own
    std::vector<std::string> feeds, layouts, precisions;
    std::vector<int> distances, widths;
    std::vector<int> warps;   // resident on a multiprocessor; 64 is as many as fit
    std::uint64_t paths = 0;  // 0: the workload's
    std::string device = "0";
    // A row is sampled until its noise is so small, or for so long.
    double noise = 0.01, seconds = 0.15;
    // False: every row is checked, by one launch, and none timed: for a profiler to watch.
    bool is_timed = true;
    // The words that start the command of this request, which the suite prefetch lets ncu run once more, to
    // see whether prefetching can pay. If ncu fails, a row says why. Empty: ncu is not asked.
    std::vector<std::string> command;
    const std::atomic<bool>* cancel = nullptr;
    std::function<void(const std::string&)> says{};          // what is being done, for people
    std::function<void(const benchmark_results&)> on_row{};  // each row as it is there, as a run of its own
};
// Throws tilewalk::error (usage) with the known names and the nearest.
void check(const benchmark_request& asked);

class benchmark_results {
  public:
    explicit benchmark_results(std::shared_ptr<const bench::run> of) : of_(std::move(of)) {}
    // Reads the text of text(output_format::json); `name` is its name in errors. Throws tilewalk::error
    // (input) with the line. `as_kept`: rows whose number nobody wrote down, and parts that were joined, are
    // taken, too, and note() says what is not known of them.
    static benchmark_results parse(std::string_view json_lines, const std::string& name,
                                   bool as_kept = false);
    std::string note() const;  // empty: nothing is to be said

    // In json one object a line.
    std::string text(output_format as, const text_form& form = {}) const;
    // A page of HTML that needs nothing else.
    std::string page() const;
    // The figures of that page as SVG, by name.
    std::vector<std::pair<std::string, std::string>> figures() const;
    // Joins parts of one run that was cancelled, such as those given to on_row; the last row says so.
    static benchmark_results interrupted(const std::vector<benchmark_results>& parts);
    bool is_complete() const;
    // Rows whose bits are not those of their reference, or whose launch failed.
    std::size_t wrong() const;

    const bench::run& state() const { return *of_; }

  private:
    std::shared_ptr<const bench::run> of_;
};

// Every row is checked before it is timed. With a baseline that can't be compared with what is asked for,
// nothing is measured: throws tilewalk::error (usage). Throws tilewalk::error (device) where there is no GPU
// and the suite measures nothing else. Cancelled, it gives what it has; throws tilewalk::error (cancelled) if
// that is nothing.
benchmark_results measure(const benchmark_request& asked, const benchmark_results* baseline = nullptr);

struct benchmark_verdict {
    std::string text;  // for a person, worst first
    bool is_bad = false;
};
benchmark_verdict compare(const benchmark_results& now, const benchmark_results& before);

}  // namespace tilewalk
