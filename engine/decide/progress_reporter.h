// SPDX-License-Identifier: Apache-2.0
// Tells the caller how far a run has come.
#pragma once

#include <functional>

#include "engine/walk/job.h"
#include "tilewalk/options.h"

namespace tilewalk::studies {

class progress_reporter {
  public:
    explicit progress_reporter(const run_options& options) : to_(options.on_progress) {}

    progress now;
    bool is_wanted() const { return static_cast<bool>(to_); }
    void report() const {
        if (to_) to_(now);
    }
    // Returns a listener that adds a walk's path-steps to the run's; empty if the caller does not listen.
    std::function<void(const run::progress&)> of_walk() {
        if (!is_wanted()) return {};
        return [this, before = now.path_steps_done](const run::progress& p) {
            now.path_steps_done = before + p.path_steps_done;
            report();
        };
    }

  private:
    const std::function<void(const progress&)>& to_;
};

}  // namespace tilewalk::studies
