// SPDX-License-Identifier: Apache-2.0
// Progress of a run, told to the caller.
#pragma once

#include <functional>

#include "engine/walk/job.h"
#include "tilewalk/run_options.h"

namespace tilewalk::verbs {

class teller {
  public:
    explicit teller(const run_options& options) : to_(options.on_progress) {}

    progress now;
    bool is_heard() const { return static_cast<bool>(to_); }
    void tell() const {
        if (to_) to_(now);
    }
    // Tells of a walk, whose path-steps count on; empty if nobody hears it.
    std::function<void(const run::progress&)> of_walk() {
        if (!is_heard()) return {};
        return [this, before = now.path_steps_done](const run::progress& p) {
            now.path_steps_done = before + p.path_steps_done;
            tell();
        };
    }

  private:
    const std::function<void(const progress&)>& to_;
};

}  // namespace tilewalk::verbs
