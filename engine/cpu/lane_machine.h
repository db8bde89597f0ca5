// SPDX-License-Identifier: Apache-2.0
// The lane machine, which walks tiles of paths on one core: each instruction of a program is a loop over 256
// lanes of the tile.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/arrays/shock_cube.h"
#include "engine/cpu/lane_program.h"
#include "engine/run/tile_range.h"
#include "kernels/tile_result.h"
#include "products/program/passes.h"
#include "products/program/precision.h"
#include "products/program/timeline.h"

namespace tilewalk::cpu {

// One trade, ready to be walked.
//
// Numbers of the trade are kept in double in every precision; `single` rounds each once when it is used.
// Payoffs are converted to double, and their moments are always double.
struct path_job {
    const lane_program* code = nullptr;
    const program::path_data* data = nullptr;
    const program::timeline* when = nullptr;
    std::uint64_t seed = 0;
    std::uint64_t paths = 0;  // of the run
    program::precision precision = program::precision::double_;
    // Cubes that replace the random numbers, if they are there. An element is converted to the type of the
    // precision's shocks (rounded to float in single and mixed), then to the type of the states.
    arrays::shock_cube normals{};
    arrays::shock_cube uniforms{};
    // The arrays of the market, by number; the trade's scenario_rows point into them. A step of an array is a
    // row, and an array has one slot. Elements are converted like those of the cubes above.
    std::span<const arrays::shock_cube> scenarios{};
    run::tile_range range{};  // of the tiles that are walked; empty: the whole run

    std::uint64_t tiles() const;  // of the run
    run::tile_range walked_tiles() const;
    // Throws tilewalk::error: usage, if the precision needs a GPU; input, if a cube or array is too small.
    // Walks of tiles check nothing of this again.
    void check() const;
};

using kernels::tile_result;

// The walk of a tile in one precision: states and numbers of type `real`, made from shocks of type `shock`.
template <class real, class shock>
class lane_walk {
  public:
    lane_walk(const lane_functions<real>& functions, const lane_draws<real>& draws)
        : functions_(functions), normals_(draws.normals), uniforms_(draws.uniforms) {}

    // The payoffs of the 256 paths from first_path on, into out[output * paths_per_tile + lane].
    // Throws tilewalk::error (cancelled).
    void walk(const path_job& job, std::uint64_t first_path, double* out, const std::atomic<bool>* cancel);

    std::uint64_t scenario_rows_read() const { return scenarios_.rows_read(); }

  private:
    struct alignas(64) lane_array {
        real of[lanes];
    };
    // Shocks of one kind, in the order in which the steps of a pass take them.
    class shock_buffer {
      public:
        explicit shock_buffer(lane_draw<real> fill) : draw_(fill) {}
        void begin(const path_job& job, const arrays::shock_cube& from,
                   std::span<const program::place_in_stream> slots,
                   std::span<const program::stream_name> names, std::uint64_t first_path);
        void refill(std::size_t step);
        const real* operator[](std::uint32_t slot) const { return slot_[slot]; }

      private:
        // The blocks that are kept of one stream: as many as a step may touch. Those that the step before
        // drew and did not use up are still there.
        struct stream {
            kernels::stream_key key;
            std::size_t first = 0;  // of its arrays
            std::size_t blocks = 0;
        };
        void add_streams(std::span<const program::stream_name> names);
        void draw(std::size_t step);
        void read(std::size_t step);

        static constexpr std::size_t per_block = 16 / sizeof(shock);
        lane_draw<real> draw_;
        const arrays::shock_cube* from_ = nullptr;
        std::uint64_t seed_ = 0, first_path_ = 0, paths_ = 0;
        std::span<const program::place_in_stream> places_;  // by slot
        std::vector<stream> streams_;
        std::vector<lane_array> arrays_;
        std::vector<const real*> slot_;
    };
    // The numbers of the scenario slots on a step.
    class scenario_buffer {
      public:
        void begin(const path_job& job, std::uint64_t first_path);
        void refill(std::size_t step);
        const real* operator[](std::uint32_t slot) const { return arrays_[slot].of; }
        std::uint64_t rows_read() const { return rows_read_; }

      private:
        static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
        const path_job* job_ = nullptr;
        std::uint64_t first_path_ = 0, rows_read_ = 0;
        std::vector<std::uint64_t> row_;  // by slot: the row in its array
        std::vector<lane_array> arrays_;
    };
    void execute(const std::vector<instruction>& section, const path_job& job, const double* row);

    const lane_functions<real>& functions_;
    std::vector<lane_array> registers_;
    shock_buffer normals_, uniforms_;
    scenario_buffer scenarios_;
};

class lane_machine {
  public:
    explicit lane_machine(const lane_operations& operations)
        : double_(operations.in_double, operations.double_draws),
          single_(operations.in_single, operations.single_draws),
          mixed_(operations.in_double, operations.widened_draws) {}

    // One result for each output of the program. The job has passed its check. The flag `cancel`, if there is
    // one, is read before each step of 256 paths, and throws tilewalk::error (cancelled). Such a step takes
    // 17 us or less in the models of the benchmark
    // (bench/results/2026-11-22-NVIDIA-H100-80GB-HBM3-bench-models.jsonl, in double).
    void walk(const path_job& job, std::uint64_t tile, std::span<tile_result> results,
              const std::atomic<bool>* cancel = nullptr);

    // Rows read so far by all walks; a row for 256 lanes counts once.
    std::uint64_t scenario_rows_read() const {
        return double_.scenario_rows_read() + single_.scenario_rows_read() + mixed_.scenario_rows_read();
    }

  private:
    lane_walk<double, double> double_;
    lane_walk<float, float> single_;
    lane_walk<double, float> mixed_;
    std::vector<double> payoffs_;  // [output][path of the tile]
};

}  // namespace tilewalk::cpu
