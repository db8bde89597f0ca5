// SPDX-License-Identifier: Apache-2.0
// Walks tiles of paths on one core: each instruction of a program is a loop over the 256 lanes of the tile.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/lane_program.h"
#include "engine/plan/timeline.h"
#include "kernels/tile_result.h"
#include "products/program/passes.h"

namespace tilewalk::cpu {

// One trade, ready to be walked.
struct path_job {
    const lane_program* code = nullptr;
    const program::path_data* data = nullptr;
    const plan::timeline* when = nullptr;
    std::uint64_t seed = 0;
    std::uint64_t paths = 0;

    std::uint64_t tiles() const;
};

using kernels::tile_result;

class lane_machine {
  public:
    explicit lane_machine(const lane_operations& operations) : operations_(operations) {}

    // One result for each output of the program.
    void walk(const path_job& job, std::uint64_t tile, std::span<tile_result> results);

  private:
    struct alignas(64) lane_array {
        double of[lanes];
    };
    // Shocks of one kind: two from each block of the counter, so a step with an odd number leaves one for the
    // next.
    struct shock_buffer {
        std::vector<lane_array> arrays;
        std::vector<const double*> slot;
        void resize(int per_step);
    };
    using draw = decltype(lane_operations::normals);
    static void refill(shock_buffer& into, draw fill, int per_step, std::size_t step, std::uint64_t seed,
                       std::uint64_t first_path);
    void execute(const std::vector<instruction>& section, const path_job& job, const double* row);

    const lane_operations& operations_;
    std::vector<lane_array> registers_;
    shock_buffer normals_, uniforms_;
    std::vector<lane_array> payoffs_;  // [output][path of the lane]
};

}  // namespace tilewalk::cpu
