// SPDX-License-Identifier: Apache-2.0
// The CPU back end: compiles programs to loops over lanes, and walks tiles on all cores.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/walk/cpu/compiled_programs.h"
#include "engine/walk/cpu/lane_machine.h"
#include "engine/walk/cpu/lane_program.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/job.h"

namespace tilewalk::cpu {

class back_end : public run::back_end {
  public:
    back_end(const lane_operations& operations, int threads, program::precision in)
        : pool_(std::make_shared<tile_pool>(operations, threads)), precision_(in) {}
    // Keeps threads and compiled programs between walks. Programs must keep their addresses.
    back_end(std::shared_ptr<tile_pool> pool, std::shared_ptr<compiled_programs> compiled,
             program::precision in)
        : pool_(std::move(pool)), compiled_(std::move(compiled)), precision_(in) {}

    run::outcome walk_all(const run::walk& of) override;

  protected:
    const lane_operations& operations() const { return pool_->operations(); }
    virtual std::vector<run::tally> walk_tiles(std::span<const path_job> jobs,
                                               const std::atomic<bool>* cancel,
                                               const std::function<void(const pool_progress&)>& on_progress);

  private:
    std::shared_ptr<tile_pool> pool_;
    std::shared_ptr<compiled_programs> compiled_;  // null: programs are compiled anew for each walk
    program::precision precision_;
};

}  // namespace tilewalk::cpu
