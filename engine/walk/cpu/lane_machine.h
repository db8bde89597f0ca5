// SPDX-License-Identifier: Apache-2.0
// Walks tiles of paths on one core: each instruction of a program is a loop over 256 lanes.
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

// For derivatives of a trade's first output.
struct lane_way_back {
    const program::adjoint_program* code = nullptr;
    const lane_program *again = nullptr, *back = nullptr;  // programs of `code`
    const program::path_data* data = nullptr;              // for the way back
    program::derivative_places places{};
    // First steps of the pieces. A piece is walked forth again from kept states before it is walked back.
    std::vector<std::size_t> pieces{};

    // Most bytes of a piece's kept shocks and states, unless one step takes more.
    static constexpr std::size_t most_bytes_of_piece = std::size_t{4} << 20;

    lane_way_back(const program::adjoint_program& of, const lane_program& again, const lane_program& back,
                  const program::path_data& data_of_back, const program::timeline& when);
};

// States that paths leave after runs of sections, one row each, ordered by section, run and state.
struct left_numbers {
    struct of_section {
        std::vector<std::uint32_t> states;  // the program's
        std::size_t first_row = 0;
    };
    std::vector<of_section> sections;  // by section; missing ones leave none
    double* array = nullptr;
    std::uint64_t pitch = 0;  // elements from row to row, at least the run's paths
};

// Paths that start from states left by others: those of a tile where the path of the tile's number was.
struct way_begun {
    // Already done by the other paths: this step, and so many events after it.
    std::size_t step = 0, events = 0;
    const double* states = nullptr;  // [state][path]
    std::uint64_t pitch = 0;         // elements from state to state
};

// Numbers are double in every precision, and rounded where `single` uses them. Moments are always double.
struct path_job {
    const lane_program* code = nullptr;
    const program::path_data* data = nullptr;
    const program::timeline* when = nullptr;
    std::uint64_t seed = 0;
    std::uint64_t paths = 0;  // the run's
    program::precision precision = program::precision::double_;
    // Replace random numbers, if present. Elements are rounded to the precision's shock type.
    arrays::shock_cube normals{};
    arrays::shock_cube uniforms{};
    // The market's arrays, indexed by scenario_rows. A step is a row, with one slot. Converted as above.
    std::span<const arrays::shock_cube> scenarios{};
    run_of_points points{};
    run::tile_range range{};  // to walk; empty: the whole run
    // 0: the usual number.
    kernels::word64 part_tiles = 0;
    const lane_way_back* back = nullptr;
    // Only without a way back:
    const left_numbers* leaves = nullptr;
    const way_begun* begun = nullptr;
    // A state that ends 256 paths, with their outputs as they are, once it is 0 on all of them.
    std::optional<std::uint32_t> goes_on{};

    std::uint64_t tiles() const;  // the run's
    run::tile_range walked_tiles() const;
    kernels::word64 tiles_of_part() const;
    // Throws tilewalk::error: usage if the precision needs a GPU, input if a cube or array is too small.
    void check() const;
};

using kernels::tile_result;

tile_result result_of_tile(std::span<const double> payoffs, std::uint64_t first_path);

template <class real, class shock>
class lane_walk {
  public:
    lane_walk(const lane_functions<real>& functions, const lane_draws<real>& draws,
              const lane_points<shock>& points)
        : functions_(functions),
          normals_(kernels::shock_kind::normal, draws.normals, points),
          uniforms_(kernels::shock_kind::uniform, draws.uniforms, points) {}

    // Walks 256 paths into out[output * paths_per_tile + lane]. Throws tilewalk::error (cancelled).
    void walk(const path_job& job, std::uint64_t first_path, double* out, const std::atomic<bool>* cancel);

    // Also sums derivatives over these paths: sets sums[place], adds to in_tables[place].
    void walk_both_ways(const path_job& job, std::uint64_t first_path, double* out, std::span<double> sums,
                        std::span<kernels::fixed_sum> in_tables, const std::atomic<bool>* cancel);

    std::uint64_t scenario_rows_read() const { return scenarios_.rows_read(); }

  private:
    struct alignas(64) lane_array {
        real of[lanes];
    };
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
        // Keeps as many blocks as a step may touch, with the numbers that the step before left over.
        struct stream {
            kernels::stream_key key;
            std::size_t first = 0;  // index of its first array
            std::size_t blocks = 0;
            std::size_t next = 0;  // first block not drawn yet
        };
        void add_streams(std::span<const program::stream_name> names);
        const real* drawn(std::size_t step, std::size_t slot);
        void draw(std::size_t step);
        void read(std::size_t step);
        void begin_points(const path_job& job);
        void take_points(std::size_t step);
        // Independent normals, for slots with more dimensions than points have.
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
        std::vector<std::uint64_t> row_;  // by slot: row in its array
        std::vector<lane_array> arrays_;
        std::vector<const real*> slot_;
    };
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

    // Requires job.check(). Reads `cancel`, if set, before each step of 256 paths, at most 17 us in the
    // benchmark's models (bench/results/2026-11-22-NVIDIA-H100-80GB-HBM3-bench-models.jsonl, in double), and
    // throws tilewalk::error (cancelled).
    void walk(const path_job& job, std::uint64_t tile, std::span<tile_result> results,
              const std::atomic<bool>* cancel = nullptr);
    // Also sums derivatives over the tile's paths, by place.
    void walk(const path_job& job, std::uint64_t tile, std::span<tile_result> results,
              std::span<double> derivatives, const std::atomic<bool>* cancel = nullptr);

    void walk_paths(const path_job& job, std::uint64_t first_path, double* payoffs,
                    const std::atomic<bool>* cancel = nullptr);

    // By all walks so far; a row for 256 lanes counts once.
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
