// SPDX-License-Identifier: Apache-2.0
// A job is one trade to simulate; a back end (CPU or GPU) walks its paths and returns tallies.
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

// A trade's adjoint program and the numbers for it, which give derivatives of the first output.
struct way_back {
    const program::adjoint_program* code = nullptr;
    const program::path_data* data = nullptr;
};

// One trade: a program shared by trades of its shape, and the trade's own numbers and times.
struct job {
    const program::path_program* code = nullptr;
    const program::path_data* data = nullptr;
    const program::timeline* when = nullptr;
    way_back back{};                        // empty: no derivatives are computed
    std::optional<quasi::points> points{};  // empty: walk::points decides
};

struct progress {
    std::size_t jobs_done = 0;  // jobs finished so far; a GPU reports all of them when the run ends
    std::uint64_t path_steps_done = 0;
};

struct walk {
    std::span<const job> jobs;
    std::uint64_t seed = 0, paths = 0;  // of the whole run, even if only `tiles` are walked
    tile_range tiles{};                 // tiles to walk; empty: all tiles of the run
    // Paths of a randomisation, if jobs may take quasi-random points; 0 if no job may.
    std::uint64_t unit_paths = 0;
    std::optional<quasi::points> points{};            // for jobs without any; empty: independent numbers
    const arrays::shock_file* replay = nullptr;       // shocks from a file instead of random numbers
    std::span<const arrays::shock_cube> scenarios{};  // arrays of the market, by number
    const std::atomic<bool>* cancel = nullptr;
    int most_threads = 0;      // threads of the processor that walk; 0: all that the back end has
    timings* times = nullptr;  // measures work done before and while paths are walked
    std::function<void(const progress&)> on_progress;  // called by the thread that called walk_all
    // Owns the data that `jobs` point to, none of which changes. A back end that keeps the owner may
    // recognise jobs of a later walk by their pointers.
    std::shared_ptr<const void> owner{};
    // All jobs of the run, with the same owner; empty if they are `jobs`. Kernels are chosen as for all.
    std::span<const job> among{};

    // Empty if the job takes independent random numbers.
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
    std::vector<tally> tallies;                  // by job; meaningless where failures[job] is set
    std::vector<std::optional<error>> failures;  // by job; empty if the job succeeded
};

class back_end {
  public:
    virtual ~back_end() = default;
    // A failing job does not affect the others. Throws only a tilewalk::error that is no job's, such as
    // cancelled.
    virtual outcome walk_all(const walk& of) = 0;
};

}  // namespace tilewalk::run
