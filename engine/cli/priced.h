// SPDX-License-Identifier: Apache-2.0
// Prints what the commands that price a book print on standard error, and finds their exit codes.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "engine/cli/settings.h"
#include "tilewalk/engine.h"
#include "tilewalk/results.h"
#include "tilewalk/timings.h"

namespace tilewalk::cli {

engine engine_for(const spoken& options);
// Begins to open GPUs before the book is read, if options or variables already say which ones the run uses.
void open_devices_of(const engine& pricer, const spoken& options, timings& times);

// Returns the start of this process, estimated from its processor time.
timings::clock::time_point start_of_process();
void tell_of_times(const timings& times);
template <class arguments>
int timed(arguments& asked, int (*command)(arguments&, timings&)) {
    timings times(start_of_process());
    const int code = command(asked, times);
    if (asked.shows_timings) tell_of_times(times);
    return code;
}
// Ends the process once everything is written. To free a large book's memory piece by piece and to close GPUs
// would take as long as writing the prices, and the system reclaims all of it anyway. Returns in builds with
// a sanitizer, which look for leaks. `reported` is null if nobody asked for the times. No living object may
// own anything but memory.
void end_process(int code, const timings* reported);

// Adds the argument BOOK, and the options for the place and form of results and for the journal.
void add_result_options(CLI::App& to, std::string& book, spoken& into, bool& spreadsheet_safe,
                        bool& shows_timings);
// Adds only the options for the place and form of results.
void add_output_options(CLI::App& to, spoken& into, bool& spreadsheet_safe);

void tell_of_gpus(const results& r);
void tell_of_journal(const results& r);
// Returns the exit code of these results. With `tells_reasons`, prints failures on standard error, for an
// output that shows no table.
int code_of(const results& r, bool tells_reasons);

}  // namespace tilewalk::cli
