// SPDX-License-Identifier: Apache-2.0
// Jobs, and who walks them. A back end takes jobs and leaves tallies; how it is built, and in which
// precision it walks, is its own business.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/arrays/shock_cube.h"
#include "engine/arrays/shock_file.h"
#include "engine/run/tally.h"
#include "products/program/passes.h"
#include "products/program/timeline.h"
#include "tilewalk/error.h"

namespace tilewalk::run {

// One trade, ready to be walked: the program, which trades of its shape share, and its own numbers and times.
struct job {
    const program::path_program* code = nullptr;
    const program::path_data* data = nullptr;
    const program::timeline* when = nullptr;
};

struct progress {
    std::size_t jobs_done = 0;  // that are known to be; a GPU tells of them all at its end
    std::uint64_t path_steps_done = 0;
};

// Jobs that walk the same paths.
struct walk {
    std::span<const job> jobs;
    std::uint64_t seed = 0, paths = 0;                // of the run
    tile_range tiles{};                               // that are walked, of the run's; none: all
    const arrays::shock_file* replay = nullptr;       // instead of random numbers
    std::span<const arrays::shock_cube> scenarios{};  // the arrays that jobs take, by number
    const std::atomic<bool>* cancel = nullptr;
    std::function<void(const progress&)> on_progress;  // called by the thread that runs
};

struct outcome {
    std::vector<tally> tallies;                  // by job; of one that failed without a meaning
    std::vector<std::optional<error>> failures;  // by job
};

class back_end {
  public:
    virtual ~back_end() = default;
    // A failure of a job stays with it; throws only tilewalk::error (cancelled), or what no job is
    // to blame for.
    virtual outcome walk_all(const walk& of) = 0;
};

}  // namespace tilewalk::run
