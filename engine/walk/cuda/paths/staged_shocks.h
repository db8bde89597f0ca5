// SPDX-License-Identifier: Apache-2.0
// A device's shocks and scenarios for one chunk after another, the next made while the current is read.
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

    // Later work in `reader` finds the chunk's shocks in the current set.
    void take(const run::tile_range& chunk, stream reader);
    // Begins the shocks of the next chunk, if there are two sets and the chunk is not empty. No work may
    // still read the other set: a walk waits for its chunk.
    void make_ahead(const run::tile_range& next);

    // The current set, for a program with `per_step` shocks a step.
    kernels::array_argument normals(int per_step) const { return cubes_.normals(set_, per_step); }
    kernels::array_argument uniforms(int per_step) const { return cubes_.uniforms(set_, per_step); }
    const point_rows::target_tables& targets() const { return cubes_.targets(); }
    void point_to_tables(kernels::path_arguments& a) const { cubes_.point_to_tables(a); }
    kernels::array_argument scenarios() const { return cubes_.scenarios(set_); }
    // Keeps normals in the second-level cache; false if their space does not want it.
    bool keep_in_l2(launch& how) const;

  private:
    void fill(std::size_t set, const run::tile_range& chunk);

    device& device_;
    shock_cubes cubes_;
    std::size_t sets_, set_ = 0;  // set_ is being read
    stream fills_;
    run::tile_range ahead_;              // the chunk in the other set, or empty
    std::optional<owned_event> filled_;  // end of the last fill
};

}  // namespace tilewalk::cuda
