// SPDX-License-Identifier: Apache-2.0
// The lane machine, which walks tiles of paths on one core: each instruction of a program is a loop over 256
// lanes of the tile.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/walk/arrays/shock_cube.h"
#include "engine/walk/cpu/lane_program.h"
#include "engine/walk/cpu/point_shocks.h"
#include "engine/walk/tile_range.h"
#include "kernels/derivative_sums.h"
#include "kernels/tile_result.h"
#include "products/program/adjoint.h"
#include "products/program/passes.h"
#include "products/program/precision.h"
#include "products/program/timeline.h"

namespace tilewalk::cpu {

// The way back through a trade, which finds derivatives of its first output.
struct lane_way_back {
    const program::adjoint_program* code = nullptr;
    const lane_program *again = nullptr, *back = nullptr;  // its programs
    const program::path_data* data = nullptr;              // of the way back
    program::derivative_places places{};
    // The way forth is gone again in pieces, each from states that were kept: the first step of each piece.
    std::vector<std::size_t> pieces{};

    // The shocks and the states of a piece are kept in at most so many bytes, unless one step takes more.
    static constexpr std::size_t most_bytes_of_piece = std::size_t{4} << 20;

    lane_way_back(const program::adjoint_program& of, const lane_program& again, const lane_program& back,
                  const program::path_data& data_of_back, const program::timeline& when);
};

// Numbers that paths leave on their way: after each run of a section some of its states, a row of the array
// each, row-major by section, run and state.
struct left_numbers {
    struct of_section {
        std::vector<std::uint32_t> states;  // of the program
        std::size_t first_row = 0;
    };
    std::vector<of_section> sections;  // by section; later ones leave none
    double* array = nullptr;
    std::uint64_t pitch = 0;  // of rows: the paths of the run, or more
};

// Paths that begin on their way, where others have left all their states: those of a tile begin where the one
// path of the tile's number was.
struct way_begun {
    // The others had walked this step, and run so many events after it.
    std::size_t step = 0, events = 0;
    const double* states = nullptr;  // [state][path]
    std::uint64_t pitch = 0;         // of states
};

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
    // Points that the shocks are, if there is an order of their dimensions.
    run_of_points points{};
    run::tile_range range{};  // of the tiles that are walked; empty: the whole run
    // Tiles of a part of the run; 0: as many as usual.
    kernels::word64 part_tiles = 0;
    const lane_way_back* back = nullptr;
    // If there is no way back:
    const left_numbers* leaves = nullptr;
    const way_begun* begun = nullptr;
    // A state: where it is 0 on all of 256 paths, nothing more happens to their outputs and they end.
    std::optional<std::uint32_t> goes_on{};

    std::uint64_t tiles() const;  // of the run
    run::tile_range walked_tiles() const;
    kernels::word64 tiles_of_part() const;
    // Throws tilewalk::error: usage, if the precision needs a GPU; input, if a cube or array is too small.
    // Walks of tiles check nothing of this again.
    void check() const;
};

using kernels::tile_result;

// The result of a tile's payoffs, of which the first is that of the path first_path.
tile_result result_of_tile(std::span<const double> payoffs, std::uint64_t first_path);

// The walk of a tile in one precision: states and numbers of type `real`, made from shocks of type `shock`.
template <class real, class shock>
class lane_walk {
  public:
    lane_walk(const lane_functions<real>& functions, const lane_draws<real>& draws,
              const lane_points<shock>& points)
        : functions_(functions),
          normals_(kernels::shock_kind::normal, draws.normals, points),
          uniforms_(kernels::shock_kind::uniform, draws.uniforms, points) {}

    // The payoffs of the 256 paths from first_path on, into out[output * paths_per_tile + lane].
    // Throws tilewalk::error (cancelled).
    void walk(const path_job& job, std::uint64_t first_path, double* out, const std::atomic<bool>* cancel);

    // The same, and the sums of derivatives over these paths: sums[place], in_tables[place] is added to.
    void walk_both_ways(const path_job& job, std::uint64_t first_path, double* out, std::span<double> sums,
                        std::span<kernels::fixed_sum> in_tables, const std::atomic<bool>* cancel);

    std::uint64_t scenario_rows_read() const { return scenarios_.rows_read(); }

  private:
    struct alignas(64) lane_array {
        real of[lanes];
    };
    // Shocks of one kind, in the order in which the steps of a pass take them.
    class shock_buffer {
      public:
        shock_buffer(kernels::shock_kind kind, lane_draw<real> fill, const lane_points<shock>& points)
            : kind_(kind), draw_(fill), points_(points) {}
        void begin(const path_job& job, const arrays::shock_cube& from,
                   std::span<const program::place_in_stream> slots,
                   std::span<const program::stream_name> names, std::uint64_t first_path);
        void refill(std::size_t step);
        std::span<const real* const> by_slot() const { return slot_; }

      private:
        // The blocks that are kept of one stream: as many as a step may touch. Blocks that the step before
        // drew and did not use up are still there.
        struct stream {
            kernels::stream_key key;
            std::size_t first = 0;  // of its arrays
            std::size_t blocks = 0;
            std::size_t next = 0;  // the block after those that were drawn
        };
        void add_streams(std::span<const program::stream_name> names);
        const real* drawn(std::size_t step, std::size_t slot);
        void draw(std::size_t step);
        void read(std::size_t step);
        void begin_points(const path_job& job);
        void take_points(std::size_t step);
        // Normals that are no points, for those that have too many dimensions.
        auto other_normals() {
            return [this](std::size_t step, std::size_t slot, shock* out) {
                const real* const from = drawn(step, slot);
                for (int lane = 0; lane < lanes; ++lane) out[lane] = static_cast<shock>(from[lane]);
            };
        }

        static constexpr std::size_t per_block = 16 / sizeof(shock);
        const kernels::shock_kind kind_;
        lane_draw<real> draw_;
        point_shocks<shock> points_;
        bool takes_points_ = false, takes_any_ = false;
        const arrays::shock_cube* from_ = nullptr;
        std::uint64_t seed_ = 0, first_path_ = 0, paths_ = 0;
        std::span<const program::place_in_stream> places_;  // by slot
        std::vector<stream> streams_;
        std::vector<lane_array> arrays_, of_points_;
        std::vector<const real*> slot_;
    };
    // The numbers of the scenario slots on a step.
    class scenario_buffer {
      public:
        void begin(const path_job& job, std::uint64_t first_path);
        void refill(std::size_t step);
        std::span<const real* const> by_slot() const { return slot_; }
        std::uint64_t rows_read() const { return rows_read_; }

      private:
        static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
        const path_job* job_ = nullptr;
        std::uint64_t first_path_ = 0, rows_read_ = 0;
        std::vector<std::uint64_t> row_;  // by slot: the row in its array
        std::vector<lane_array> arrays_;
        std::vector<const real*> slot_;
    };
    // Sources of the numbers that an instruction takes.
    struct frame {
        const lane_program* code;
        const program::path_data* data;
        std::vector<lane_array>* registers;
        std::span<const real*const> normals, uniforms, scenarios;  // by slot

        const double* row_of(std::size_t section, std::size_t run) const {
            return data->rows[section].data() + run * data->widths[section];
        }
    };
    void begin(const path_job& job, std::uint64_t first_path, const lane_program& code);
    void refill(std::size_t step);
    std::size_t begin_states(const path_job& job, const frame& in);
    frame forth(const lane_program& code, const program::path_data& data);
    void execute(const frame& in, std::size_t section, std::size_t run);

    // Numbers of a piece of the way forth, in the order in which its steps and runs took them.
    struct kept_piece {
        std::vector<lane_array> arrays;
        std::size_t used = 0;
        void keep(const lane_functions<real>& functions, const real* from) {
            if (used == arrays.size()) arrays.resize(std::max<std::size_t>(64, 2 * used));
            functions.copy(arrays[used++].of, from);
        }
    };
    void walk_piece(const path_job& job, const frame& in, std::size_t from, std::size_t to, bool keeps,
                    const std::atomic<bool>* cancel);
    void leave_numbers(const path_job& job, std::size_t section, std::size_t run);
    void walk_piece_back(const path_job& job, std::size_t from, std::size_t to, int count,
                         std::span<double> sums, std::span<kernels::fixed_sum> in_tables);
    void take_derivatives(const path_job& job, std::size_t section, std::size_t run, int count,
                          std::span<double> sums, std::span<kernels::fixed_sum> in_tables);

    const lane_functions<real>& functions_;
    std::vector<lane_array> registers_, registers_of_back_, states_at_pieces_;
    std::uint64_t first_path_ = 0;
    kept_piece kept_;
    std::vector<const real*> kept_normals_, kept_uniforms_, kept_scenarios_;
    shock_buffer normals_, uniforms_;
    scenario_buffer scenarios_;
};

class lane_machine {
  public:
    explicit lane_machine(const lane_operations& operations)
        : double_(operations.in_double, operations.double_draws, operations.double_points),
          single_(operations.in_single, operations.single_draws, operations.single_points),
          mixed_(operations.in_double, operations.widened_draws, operations.single_points) {}

    // One result for each output of the program. The job has passed its check. The flag `cancel`, if there is
    // one, is read before each step of 256 paths, and throws tilewalk::error (cancelled). Such a step takes
    // 17 us or less in the models of the benchmark
    // (bench/results/2026-11-22-NVIDIA-H100-80GB-HBM3-bench-models.jsonl, in double).
    void walk(const path_job& job, std::uint64_t tile, std::span<tile_result> results,
              const std::atomic<bool>* cancel = nullptr);
    // The same for a job with a way back, with the sums of derivatives over the tile's paths, by place.
    void walk(const path_job& job, std::uint64_t tile, std::span<tile_result> results,
              std::span<double> derivatives, const std::atomic<bool>* cancel = nullptr);

    // The payoffs of the 256 paths from first_path on, in double, as lane_walk has them.
    void walk_paths(const path_job& job, std::uint64_t first_path, double* payoffs,
                    const std::atomic<bool>* cancel = nullptr);

    // Rows read so far by all walks; a row for 256 lanes counts once.
    std::uint64_t scenario_rows_read() const {
        return double_.scenario_rows_read() + single_.scenario_rows_read() + mixed_.scenario_rows_read();
    }

  private:
    lane_walk<double, double> double_;
    lane_walk<float, float> single_;
    lane_walk<double, float> mixed_;
    template <class one_pass>
    void walk_passes(const path_job& job, std::uint64_t tile, const one_pass& walk);
    void summarise(const path_job& job, std::uint64_t tile, std::span<tile_result> results);

    std::vector<double> payoffs_;            // [output][path of the tile]
    std::vector<double> sums_;               // [pass of the tile][place]
    std::vector<kernels::fixed_sum> fixed_;  // [place]
};

}  // namespace tilewalk::cpu
