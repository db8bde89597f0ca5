// SPDX-License-Identifier: Apache-2.0
// Options of reading, of sensitivities and of runs, and how far a run is.
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

// For reading books, markets and quotes, and the files that they name.
struct load_options {
    // For machine-written files: refuses truncated ones. Files have to end with YAML's "..."; instead, a book
    // may state its trade_count, with nothing but trades after it.
    bool strict = false;
    // For untrusted files: a file may only name files in or below its own folder, symbolic links followed.
    bool confine = false;
    // Threads that read the trades of a long book; 0: one for each core.
    int threads = 0;
    timings* times = nullptr;
};

// Sensitivities that are asked for.
struct greek_options {
    // Measures ("delta") and patterns of market keys ("ACME.*", "*.rate@2y"). Empty: all of first order.
    std::vector<std::string> wanted{};
    greek_method method = greek_method::automatic;
    // Under the view `quotes`, patterns in `wanted` match keys of quotes ("INDEX.quote@*").
    greek_view view = greek_view::market;
};
// Throw tilewalk::error (usage) with the nearest known name.
greek_method greek_method_named(const std::string& name);
greek_view greek_view_named(const std::string& name);

struct progress {
    std::size_t trades_done = 0, trades = 0;
    std::uint64_t path_steps_done = 0, path_steps = 0;
    // Exercise policies; all are found before the first pricing path is walked.
    std::size_t policies_done = 0, policies = 0;
    // Runs to a tolerance: the current round, counted from 1, trades in tolerance, and the widest interval
    // relative to its target. `path_steps` then ends with this round.
    int round = 0;
    std::size_t trades_in_tolerance = 0;
    double widest = 0;
};

struct run_options {
    run_settings overrides;  // override the book's settings, which override the defaults
    // Called from time to time, from one thread at a time.
    std::function<void(const progress&)> on_progress;
    // Any thread may set it to true; the run then throws tilewalk::error (cancelled) soon.
    const std::atomic<bool>* cancel = nullptr;
    // Fail trades that need a correlation which the market does not state. By default, and with
    // `correlations: {complete: true}`, such a correlation is 0; the manifest lists it.
    bool demand_correlations = false;
    bool keep_policies = false;  // fill results::policies
    // Receives the time of each stage; serves one run at a time.
    timings* times = nullptr;
    // Folder that stores finished blocks by request. A run that was interrupted and starts again with the
    // same folder resumes and ends with the same bits. Empty: no journal.
    std::string journal{};
    // Seconds of work in a block; an interruption loses at most one block.
    double journal_block_seconds = 1;
};

}  // namespace tilewalk
