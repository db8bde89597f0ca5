// SPDX-License-Identifier: Apache-2.0
// Shared by the commands that price a book: what they say on standard error, and their exit codes.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "engine/cli/settings.h"
#include "tilewalk/engine.h"
#include "tilewalk/results.h"
#include "tilewalk/timings.h"

namespace tilewalk::cli {

// An engine to price a book with.
engine engine_for(const spoken& options);
// Begins to open its GPUs, before the book is read, if it is known already which they are.
void open_devices_of(const engine& pricer, const std::string& book, const spoken& options, timings& times);

// The moment at which this process began, as far back as the time that the processor has given it.
timings::clock::time_point start_of_process();
// Tells on standard error where the time went.
void tell_of_times(const timings& times);
// Runs a command whose times count from the start of the process, and tells them where they are asked for.
template <class arguments>
int timed(arguments& asked, int (*command)(arguments&, timings&)) {
    timings times(start_of_process());
    const int code = command(asked, times);
    if (asked.shows_timings) tell_of_times(times);
    return code;
}
// Ends the process with this code when all is written and told: to give back the memory of a large book piece
// by piece, and to close its GPUs, takes as long as to write its prices, and the system takes back all of it
// in any case. Returns in builds with a sanitizer, which look for what is never given back. `told`: null if
// nobody asked where the time went. No object may be alive then that leaves anything behind but memory.
void end_process(int code, const timings* told);

// Adds the book, the options for where its results go, and in what form, and the journal.
void add_result_options(CLI::App& to, std::string& book, spoken& into, bool& spreadsheet_safe,
                        bool& shows_timings);
// Adds those for results alone.
void add_output_options(CLI::App& to, spoken& into, bool& spreadsheet_safe);

// Warns of GPUs that failed: the prices are right without them, but whoever runs the machine should know.
void tell_of_gpus(const results& r);
// Tells what a journal had, and what of it was damaged.
void tell_of_journal(const results& r);
// The exit code of these results. `tells_reasons`: failures go to standard error, because the reader does not
// see the table.
int code_of(const results& r, bool tells_reasons);

}  // namespace tilewalk::cli
