// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/priced.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"
#include "engine/cli/terminal.h"

namespace tilewalk::cli {

namespace {

void complain_of_failures(const results& r) {
    complain(fmt::format("tilewalk: {} of {} trades failed:", r.failed(), r.rows.size()));
    for (const auto& row : r.rows) {
        if (row.status != trade_status::failed) continue;
        const std::string place = to_string(row.where);
        complain(fmt::format("{}{}trade {}: {}", place, place.empty() ? "" : ": ", row.trade, row.message));
    }
}

void complain_of_greeks(const results& r) {
    complain("tilewalk: some sensitivities have no value:");
    for (const greek_row& row : r.greeks) {
        if (row.has_failed())
            complain(fmt::format("trade {}, {} {}: {}", row.trade, row.measure, row.key, row.message));
    }
}

// True if another try may do better.
bool is_of_machine(const results& r) {
    return std::ranges::any_of(r.rows, [](const price_row& row) {
        return row.status == trade_status::failed && row.kind == error_kind::device;
    });
}

}  // namespace

void add_result_options(CLI::App& to, std::string& book, spoken& into, bool& spreadsheet_safe) {
    to.add_option("BOOK", book, "The book, a YAML file; - is standard input")->required();
    add_output_options(to, into, spreadsheet_safe);
    to.add_option("--journal", into.journal,
                  "Folder that keeps what is done: the same command, started again after it was killed or\n"
                  "the machine failed, goes on where it was and ends with the same bits")
        ->type_name("DIR");
}

void add_output_options(CLI::App& to, spoken& into, bool& spreadsheet_safe) {
    to.add_option("--format", into.format,
                  "table, csv or json; if left out, what the ending of --output says,\n"
                  "else a table on a terminal and csv elsewhere")
        ->type_name("NAME");
    to.add_option("-o,--output", into.output,
                  "File for the results; it appears whole or not at all. - is standard output")
        ->type_name("FILE");
    to.add_flag("--spreadsheet-safe", spreadsheet_safe,
                "In CSV, put an apostrophe before text that a spreadsheet would run as a formula");
}

void complain_of_lost_gpus(const results& r) {
    for (const auto& lost : r.manifest.lost_devices)
        remark(fmt::format("tilewalk: warning: a GPU failed and was left out: {}", lost));
}

int code_of(const results& r, bool tells_reasons) {
    const bool any_greek_failed = std::ranges::any_of(r.greeks, &greek_row::has_failed);
    const auto missed = std::ranges::count(r.rows, true, &price_row::misses_tolerance);
    if (tells_reasons && missed > 0)
        complain(fmt::format("tilewalk: {} of {} trades did not come within their tolerance", missed,
                             r.rows.size()));
    if (r.failed() == 0 && !any_greek_failed) return missed > 0 ? some_failed : all_well;
    if (tells_reasons && r.failed() > 0) complain_of_failures(r);
    if (tells_reasons && any_greek_failed) complain_of_greeks(r);
    return is_of_machine(r) ? try_again : some_failed;
}

}  // namespace tilewalk::cli
