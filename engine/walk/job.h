// SPDX-License-Identifier: Apache-2.0
// Jobs, and back ends that turn them into tallies.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/numerics/quasi/order.h"
#include "engine/walk/arrays/shock_cube.h"
#include "engine/walk/arrays/shock_file.h"
#include "engine/walk/tally.h"
#include "products/program/adjoint.h"
#include "products/program/passes.h"
#include "products/program/timeline.h"
#include "tilewalk/error.h"
#include "tilewalk/timings.h"

namespace tilewalk::run {

// For derivatives of a trade's first output: its program's adjoint, and the trade's own numbers.
struct way_back {
    const program::adjoint_program* code = nullptr;
    const program::path_data* data = nullptr;
};

// One trade: a program shared by trades of its shape, and the trade's own numbers and times.
struct job {
    const program::path_program* code = nullptr;
    const program::path_data* data = nullptr;
    const program::timeline* when = nullptr;
    way_back back{};                        // empty: no derivatives
    std::optional<quasi::points> points{};  // empty: as the walk says
};

struct progress {
    std::size_t jobs_done = 0;  // known so far; a GPU reports all at its end
    std::uint64_t path_steps_done = 0;
};

struct walk {
    std::span<const job> jobs;
    std::uint64_t seed = 0, paths = 0;  // the run's
    tile_range tiles{};                 // to walk; empty: all tiles of the run
    // Paths of a randomisation, if jobs may take quasi-random points; 0: none may.
    std::uint64_t unit_paths = 0;
    std::optional<quasi::points> points{};            // for jobs that do not say; empty: independent numbers
    const arrays::shock_file* replay = nullptr;       // replaces random numbers
    std::span<const arrays::shock_cube> scenarios{};  // the market's arrays, by number
    const std::atomic<bool>* cancel = nullptr;
    timings* times = nullptr;                          // measures what is done before and beside the paths
    std::function<void(const progress&)> on_progress;  // called by the thread that calls walk_all
    // Owns the jobs' data, all constant. A back end that keeps the owner knows later jobs by their pointers.
    std::shared_ptr<const void> owner{};
    // All jobs of the run, same owner; empty if `jobs` are all. Some are walked by the kernels of all.
    std::span<const job> among{};

    // Empty if the job's numbers are independent.
    std::optional<quasi::points> points_of(const job& one) const {
        if (unit_paths == 0 || replay != nullptr) return std::nullopt;
        return one.points ? one.points : points;
    }
    kernels::word64 part_tiles() const {
        return unit_paths > 0 ? unit_paths / kernels::paths_per_tile
                              : part_tiles_of(kernels::tiles_of(paths));
    }
};

struct outcome {
    std::vector<tally> tallies;                  // by job; meaningless if the job failed
    std::vector<std::optional<error>> failures;  // by job
};

class back_end {
  public:
    virtual ~back_end() = default;
    // A failing job does not affect others. Throws only tilewalk::error (cancelled), or errors of no job.
    virtual outcome walk_all(const walk& of) = 0;
};

}  // namespace tilewalk::run
