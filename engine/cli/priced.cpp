// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/priced.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <sstream>
#include <string>

#include "engine/cli/exit_code.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/output.h"
#include "engine/cli/terminal/terminal.h"
#include "tilewalk/results.h"

namespace tilewalk::cli {

namespace {

void complain_of_failures(const results& r) {
    complain(fmt::format("tilewalk: {} of {} trades failed:", r.failed(), r.rows.size()));
    for (const std::string& line : failure_lines(r)) complain(line);
}

void complain_of_greeks(const results& r) {
    complain("tilewalk: some sensitivities have no value:");
    for (const greek_row& row : r.greeks) {
        if (row.has_failed())
            complain(fmt::format("trade {}, {} {}: {}", row.trade, row.measure, row.key, row.message));
    }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

bool is_of_machine(const results& r) {
    return std::ranges::any_of(r.rows, [](const price_row& row) {
        return row.status == trade_status::failed && row.kind == error_kind::device;
    });
}

}  // namespace

engine engine_for(const spoken& options) {
    return engine({resolve_instruction_set(options, process_environment()).value});
}

void open_devices_of(const engine& pricer, const spoken& options, timings& times) {
    const std::optional<std::string> said = said_device(options, process_environment());
    if (!options.print_config && said && *said != "auto") pricer.open_devices(*said, &times);
}

timings::clock::time_point start_of_process() {
    timespec taken{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &taken);
    return timings::clock::now() - std::chrono::seconds(taken.tv_sec) -
           std::chrono::nanoseconds(taken.tv_nsec);
}

void tell_of_times(const timings& times) {
    std::istringstream lines(text_of(times.so_far()));
    for (std::string line; std::getline(lines, line);) complain(line);
}

// No buffer is left to flush, since commands write to descriptors directly.
void end_process(int code, const timings* reported) {
    if (is_sanitized) return;
    if (reported != nullptr) tell_of_times(*reported);
    ::_exit(code);
}

void add_result_options(CLI::App& to, std::string& book, spoken& into, bool& spreadsheet_safe,
                        bool& shows_timings) {
    to.add_option("BOOK", book, "The book, a YAML file; - is standard input")->required();
    add_output_options(to, into, spreadsheet_safe);
    to.add_option("--journal", into.journal,
                  "Keep finished work in this folder: after a crash or a kill, the same command resumes and "
                  "gives the same results, bit for bit")
        ->type_name("DIR");
    to.add_flag("--timings", shows_timings, "Print the time of each stage to standard error");
}

void add_output_options(CLI::App& to, spoken& into, bool& spreadsheet_safe) {
    offers(to.add_option("--format", into.format,
                         "table, csv, json or parquet; by default what the ending of --output says, else a "
                         "table on a terminal and csv elsewhere"),
           result_format_words())
        ->type_name("NAME");
    to.add_option("-o,--output", into.output,
                  "File for the results (- for standard output), written whole or not at all")
        ->type_name("FILE");
    to.add_flag("--spreadsheet-safe", spreadsheet_safe,
                "In CSV, put an apostrophe before text that a spreadsheet would take for a formula");
}

void tell_of_gpus(const results& r) {
    for (const auto& lost : r.manifest.lost_devices)
        remark(fmt::format("tilewalk: warning: a GPU failed and was left out: {}", lost));
    if (!r.manifest.kernels_refused.empty())
        remark("tilewalk: warning: kernels in the cache were not used: " + r.manifest.kernels_refused +
               "; remove it, or name a folder of your own in TILEWALK_CACHE_DIR");
    for (const left_work& left : r.manifest.left_to_processor)
        remark("tilewalk: left to the processor: " + left.text());
}

void tell_of_journal(const results& r) {
    for (const std::string& file : r.manifest.journal_damaged)
        remark(fmt::format("tilewalk: warning: {} was damaged; its work was done again", file));
    if (r.manifest.journal_blocks > 0)
        remark(fmt::format("tilewalk: resumed from {} block{} of the journal", r.manifest.journal_blocks,
                           r.manifest.journal_blocks == 1 ? "" : "s"));
}

int code_of(const results& r, bool tells_reasons) {
    const bool any_greek_failed = std::ranges::any_of(r.greeks, &greek_row::has_failed);
    const auto missed = std::ranges::count(r.rows, true, &price_row::misses_tolerance);
    if (tells_reasons && missed > 0)
        complain(fmt::format("tilewalk: {} of {} trades missed their tolerance", missed, r.rows.size()));
    if (r.failed() == 0 && !any_greek_failed) return missed > 0 ? some_failed : all_well;
    if (tells_reasons && r.failed() > 0) complain_of_failures(r);
    if (tells_reasons && any_greek_failed) complain_of_greeks(r);
    return is_of_machine(r) ? try_again : some_failed;
}

}  // namespace tilewalk::cli
