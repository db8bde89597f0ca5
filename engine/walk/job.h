// SPDX-License-Identifier: Apache-2.0
// Jobs, and back ends that walk them. A back end takes jobs and leaves tallies; its build and its precision
// are its own business.
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

// The way back of a trade, on which derivatives of its first output are found: the adjoint of its program,
// shared by trades of its shape, and the trade's own numbers.
struct way_back {
    const program::adjoint_program* code = nullptr;
    const program::path_data* data = nullptr;
};

// One trade, ready to be walked: the program, shared by trades of its shape, and the trade's own numbers and
// times.
struct job {
    const program::path_program* code = nullptr;
    const program::path_data* data = nullptr;
    const program::timeline* when = nullptr;
    way_back back{};                        // none: only prices are found
    std::optional<quasi::points> points{};  // none: as the walk says
};

struct progress {
    std::size_t jobs_done = 0;  // as far as known; a GPU reports them all at its end
    std::uint64_t path_steps_done = 0;
};

// Jobs that walk the same paths.
struct walk {
    std::span<const job> jobs;
    std::uint64_t seed = 0, paths = 0;  // of the run
    tile_range tiles{};                 // the tiles that are walked; empty: all tiles of the run
    // Jobs may take quasi-random points, and each randomisation has so many paths; 0: none does.
    std::uint64_t unit_paths = 0;
    std::optional<quasi::points> points{};            // of jobs that do not say; none: independent numbers
    const arrays::shock_file* replay = nullptr;       // replaces random numbers
    std::span<const arrays::shock_cube> scenarios{};  // the market's arrays, by number
    const std::atomic<bool>* cancel = nullptr;
    timings* times = nullptr;  // takes the time of what is done before and beside the paths
    std::function<void(const progress&)> on_progress;  // called by the thread that calls walk_all
    // Owns what the jobs point to, none of which changes any more. A back end that keeps it knows a job of a
    // later walk by its pointers.
    std::shared_ptr<const void> owner{};
    // All jobs of the run, owned likewise, if these are some of them; empty: these are all. A back end walks
    // some by the kernels of all.
    std::span<const job> among{};

    // The points that a job takes; none: its numbers are independent.
    std::optional<quasi::points> points_of(const job& one) const {
        if (unit_paths == 0 || replay != nullptr) return std::nullopt;
        return one.points ? one.points : points;
    }
    // Tiles of a part of the tallies.
    kernels::word64 part_tiles() const {
        return unit_paths > 0 ? unit_paths / kernels::paths_per_tile
                              : part_tiles_of(kernels::tiles_of(paths));
    }
};

struct outcome {
    std::vector<tally> tallies;                  // by job; meaningless for a job that failed
    std::vector<std::optional<error>> failures;  // by job
};

class back_end {
  public:
    virtual ~back_end() = default;
    // The failure of a job stays with that job. Throws only tilewalk::error (cancelled), or errors that no
    // job causes.
    virtual outcome walk_all(const walk& of) = 0;
};

}  // namespace tilewalk::run
