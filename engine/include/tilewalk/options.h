// SPDX-License-Identifier: Apache-2.0
// Options for reading files, for sensitivities and for runs, and the progress of a run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tilewalk/choices.h"
#include "tilewalk/run_settings.h"

namespace tilewalk {

class timings;

// Options for reading books, markets, quotes and the files that they name.
struct load_options {
    // For machine-written files: refuses files that may be truncated. A file has to end with YAML's "...", or
    // a book has to state its trade_count, with nothing but trades after it.
    bool strict = false;
    // For untrusted files: a file may only name files in or below its own folder, symbolic links followed.
    bool confine = false;
    // Threads that read the trades of a long book; 0: one for each core.
    int threads = 0;
    timings* times = nullptr;
};

// Sensitivities to compute.
struct greek_options {
    // Measures ("delta") and patterns of market keys ("ACME.*", "*.rate@2y"). Empty: all of order 1.
    std::vector<std::string> wanted{};
    greek_method method = greek_method::automatic;
    // Under the view `quotes`, patterns in `wanted` match keys of quotes ("INDEX.quote@*").
    greek_view view = greek_view::market;
};
// Throw tilewalk::error (usage) for an unknown name, with the nearest known name.
greek_method greek_method_named(const std::string& name);
greek_view greek_view_named(const std::string& name);

struct progress {
    std::size_t trades_done = 0, trades = 0;
    std::uint64_t path_steps_done = 0, path_steps = 0;
    // Exercise policies found, and to find; all are found before the first pricing path is walked.
    std::size_t policies_done = 0, policies = 0;
    // For runs to a tolerance: the current round, counted from 1, trades within tolerance, and the widest
    // interval relative to its target. `path_steps` counts up to the end of this round.
    int round = 0;
    std::size_t trades_in_tolerance = 0;
    double widest = 0;
};

struct run_options {
    run_settings overrides;  // override the book's settings, which override the defaults
    // Called from time to time, by one thread at a time.
    std::function<void(const progress&)> on_progress;
    // Flag that any thread may set to true; the run then throws tilewalk::error (cancelled) soon.
    const std::atomic<bool>* cancel = nullptr;
    // Fail trades that need a correlation which the market does not state. A market with `correlations:
    // {complete: true}` has the same effect. By default such a correlation is 0, and the manifest lists it.
    bool demand_correlations = false;
    bool keep_policies = false;  // fill results::policies
    // Receives the time of each stage of one run at a time.
    timings* times = nullptr;
    // Folder for a journal, which keeps finished blocks of work. An interrupted run that starts again with
    // the same folder resumes and ends with the same bits. Empty: no journal.
    std::string journal{};
    // Seconds of work in a block of the journal; an interruption loses at most one block.
    double journal_block_seconds = 1;
};

}  // namespace tilewalk
