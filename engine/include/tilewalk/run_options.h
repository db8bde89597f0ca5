// SPDX-License-Identifier: Apache-2.0
// Options of a run, and how far it is.
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
    // Policies of trades that may be ended early: all are found before the first path is walked for a price.
    std::size_t policies_done = 0, policies = 0;
    // A run to a tolerance: the round of paths that is walked, counted from 1, the trades whose interval is
    // narrow enough, and how many times too wide the widest is. `path_steps` are those up to this round's
    // end.
    int round = 0;
    std::size_t trades_in_tolerance = 0;
    double widest = 0;
};

struct run_options {
    run_settings overrides;  // beat the book's own settings, which beat the defaults
    // Called now and then, from one thread at a time.
    std::function<void(const progress&)> on_progress;
    // Set to true by anyone: the run throws tilewalk::error (cancelled) soon after.
    const std::atomic<bool>* cancel = nullptr;
    // A trade that takes a correlation which the market does not state fails, and names it. Without this, or
    // `correlations: {complete: true}` in the market, such a correlation is 0 and stands in the manifest.
    bool demand_correlations = false;
    // Fill results::policies.
    bool keep_policies = false;
    // Takes the time of each stage of the run; of one run at a time.
    timings* times = nullptr;
    // A folder that keeps what is done, by request and in blocks: a run that was ended at any moment, started
    // again with the same folder, goes on where it was and ends with the same bits. Empty: nothing is kept.
    std::string journal{};
    // Seconds of work in a block, of which one at most is lost.
    double journal_block_seconds = 1;
    // For the engine itself: where work is taken from and kept, in the place of a journal.
    std::shared_ptr<kept::work> work{};
    // Likewise: what the settings `decisions` and `policy` name, read once.
    std::shared_ptr<const decide::followed_run> followed{};
};

}  // namespace tilewalk
