// SPDX-License-Identifier: Apache-2.0
// Options and progress of a run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tilewalk/run_settings.h"

namespace tilewalk {

class timings;

namespace decide {
class followed_run;
}
namespace kept {
class work;
}

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
    bool keep_policies = false;
    // Receives the time of each stage; serves one run at a time.
    timings* times = nullptr;
    // Folder that stores finished blocks by request. A run that was interrupted and starts again with the
    // same folder resumes and ends with the same bits. Empty: no journal.
    std::string journal{};
    // Seconds of work in a block; an interruption loses at most one block.
    double journal_block_seconds = 1;
    // For the engine itself: a store of work that replaces the journal.
    std::shared_ptr<kept::work> work{};
    // For the engine itself: the settings `decisions` and `policy`, read once.
    std::shared_ptr<const decide::followed_run> followed{};
};

}  // namespace tilewalk
