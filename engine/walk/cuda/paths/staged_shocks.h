// SPDX-License-Identifier: Apache-2.0
// A device's shocks and scenarios for chunk after chunk; the next are made while the current are read.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/shock_cubes.h"
#include "engine/walk/tile_range.h"

namespace tilewalk::cuda {

class staged_shocks {
  public:
    staged_shocks(loaded_device& on, const shock_plan& plan, kernels::word64 tiles, std::size_t sets,
                  stream fills);

    // Makes the chunk's shocks the current set. Work queued later in stream `reader` may read them.
    void make_current(const run::tile_range& chunk, stream reader);
    // Begins to make the shocks of the next chunk, unless there is only one set or the chunk is empty. The
    // chunk that read the other set must have ended.
    void make_ahead(const run::tile_range& next);

    // The current set as arguments of a kernel that reads `per_step` shocks a step.
    kernels::array_argument normals(int per_step) const { return cubes_.normals(set_, per_step); }
    kernels::array_argument uniforms(int per_step) const { return cubes_.uniforms(set_, per_step); }
    const point_rows::target_tables& targets() const { return cubes_.targets(); }
    void point_to_tables(kernels::path_arguments& a) const { cubes_.point_to_tables(a); }
    kernels::array_argument scenarios() const { return cubes_.scenarios(set_); }
    // Makes a launch keep normals in the second-level cache. Returns false if their space does not do so.
    bool keep_in_l2(launch& how) const;

  private:
    void fill(std::size_t set, const run::tile_range& chunk);

    device& device_;
    shock_cubes cubes_;
    std::size_t sets_, set_ = 0;  // set_ is the current set
    stream fills_;
    run::tile_range ahead_;              // chunk whose shocks the other set has; may be empty
    std::optional<owned_event> filled_;  // when the last fill ends
};

}  // namespace tilewalk::cuda
