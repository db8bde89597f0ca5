// SPDX-License-Identifier: Apache-2.0
// The CPU as a back end: programs become lists of loops, and all cores walk their tiles.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/lane_machine.h"
#include "engine/cpu/lane_program.h"
#include "engine/cpu/tile_pool.h"
#include "engine/run/job.h"

namespace tilewalk::cpu {

class back_end : public run::back_end {
  public:
    back_end(const lane_operations& operations, int threads, program::precision in)
        : operations_(operations), threads_(threads), precision_(in) {}

    run::outcome walk_all(const run::walk& of) override;

  protected:
    const lane_operations& operations() const { return operations_; }
    int threads() const { return threads_; }
    // Walks the jobs that can be walked. A test of whether a wrong walk is noticed overrides it.
    virtual std::vector<run::tally> walk_tiles(std::span<const path_job> jobs,
                                               const std::atomic<bool>* cancel,
                                               const std::function<void(const pool_progress&)>& on_progress);

  private:
    const lane_operations& operations_;
    int threads_;
    program::precision precision_;
};

}  // namespace tilewalk::cpu
