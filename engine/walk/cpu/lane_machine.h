// SPDX-License-Identifier: Apache-2.0
// Walks tiles of paths on one core. Each instruction of a program is a loop over 256 paths, called lanes.
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

// The programs and numbers that give derivatives of a trade's first output.
struct lane_way_back {
    const program::adjoint_program* code = nullptr;
    const lane_program *again = nullptr, *back = nullptr;  // compiled from `code`
    const program::path_data* data = nullptr;              // numbers for `back`
    program::derivative_places places{};
    // The steps are cut into pieces, given by their first steps. Each piece is walked forward again from
    // states that were kept at its start, then backward.
    std::vector<std::size_t> pieces{};

    // Most bytes of shocks and states that are kept for a piece, unless one step needs more.
    static constexpr std::size_t most_bytes_of_piece = std::size_t{4} << 20;

    lane_way_back(const program::adjoint_program& of, const lane_program& again, const lane_program& back,
                  const program::path_data& data_of_back, const program::timeline& when);
};

// States of all paths after each run of a section, with a row for each section, run and state, in this order.
struct left_numbers {
    struct of_section {
        std::vector<std::uint32_t> states;  // states to store, by number in the program
        std::size_t first_row = 0;
    };
    std::vector<of_section> sections;  // by section; for missing ones nothing is stored
    double* array = nullptr;
    std::uint64_t pitch = 0;  // elements from one row to the next, at least the paths of the run
};

// A start from states that an earlier walk left: all paths of tile t continue path t of that walk.
struct way_begun {
    // The earlier walk has done this step, and this many of the events after it.
    std::size_t step = 0, events = 0;
    const double* states = nullptr;  // indexed [state][path of the earlier walk]
    std::uint64_t pitch = 0;         // elements from one state to the next
};

// A trade to walk on the CPU. Its numbers are double; `single` rounds them on use. Moments are always double.
struct path_job {
    const lane_program* code = nullptr;
    const program::path_data* data = nullptr;
    const program::timeline* when = nullptr;
    std::uint64_t seed = 0;
    std::uint64_t paths = 0;  // of the whole run
    program::precision precision = program::precision::double_;
    // Shocks that replace random ones, if present. Numbers are rounded to the precision's shock type.
    arrays::shock_cube normals{};
    arrays::shock_cube uniforms{};
    // The market's arrays, by scenario_rows::array: a row per step, one slot. Rounded like shocks.
    std::span<const arrays::shock_cube> scenarios{};
    run_of_points points{};
    run::tile_range range{};  // tiles to walk; empty: the whole run
    // Tiles of a part; 0 for the default, run::part_tiles_of.
    kernels::word64 part_tiles = 0;
    const lane_way_back* back = nullptr;
    // Allowed only if `back` is null: states to store, and states to start from.
    const left_numbers* leaves = nullptr;
    const way_begun* begun = nullptr;
    // A state that ends a walk of 256 paths once it is 0 on all of them. Outputs keep their present numbers.
    std::optional<std::uint32_t> goes_on{};

    std::uint64_t tiles() const;  // of the whole run
    run::tile_range walked_tiles() const;
    kernels::word64 tiles_of_part() const;
    // Throws tilewalk::error: usage if the precision needs a GPU, input if an array is too small.
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

    // Walks 256 paths. Writes out[output * paths_per_tile + lane]. Throws tilewalk::error (cancelled).
    void walk(const path_job& job, std::uint64_t first_path, double* out, const std::atomic<bool>* cancel);

    // Also sums derivatives over these paths: sets sums[place], and adds derivatives with respect to numbers
    // of tables to in_tables[place].
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
        // The random numbers of one stream, in blocks: as many as the numbers of one step may touch. A block
        // stays for the next step if that reads the rest of it.
        struct stream {
            kernels::stream_key key;
            std::size_t first = 0;  // index of the stream's first array in arrays_
            std::size_t blocks = 0;
            std::size_t next = 0;  // the first block that is not drawn yet
        };
        void add_streams(std::span<const program::stream_name> names);
        const real* drawn(std::size_t step, std::size_t slot);
        void draw(std::size_t step);
        void read(std::size_t step);
        void begin_points(const path_job& job);
        void take_points(std::size_t step);
        // Draws independent normals, for dimensions beyond those of the points.
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
        std::span<const program::place_in_stream> places_;  // stream and dimension of each slot
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
        std::vector<std::uint64_t> row_;  // row that is loaded, by slot
        std::vector<lane_array> arrays_;
        std::vector<const real*> slot_;
    };
    struct frame {
        const lane_program* code;
        const program::path_data* data;
        std::vector<lane_array>* registers;
        std::span<const real*const> normals, uniforms, scenarios;  // indexed by slot

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

    // Walks one tile of a job that passed check(). Throws tilewalk::error (cancelled) if *cancel is set. It
    // is read before each step of 256 paths, which takes at most 17 us in the benchmark's models, in double
    // (bench/results/2026-11-22-NVIDIA-H100-80GB-HBM3-bench-models.jsonl).
    void walk(const path_job& job, std::uint64_t tile, std::span<tile_result> results,
              const std::atomic<bool>* cancel = nullptr);
    // As above, and sums derivatives over the tile's paths, by place.
    void walk(const path_job& job, std::uint64_t tile, std::span<tile_result> results,
              std::span<double> derivatives, const std::atomic<bool>* cancel = nullptr);

    void walk_paths(const path_job& job, std::uint64_t first_path, double* payoffs,
                    const std::atomic<bool>* cancel = nullptr);

    // Rows of scenarios loaded by all walks so far; loading a row for 256 paths counts once.
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

    std::vector<double> payoffs_;            // indexed [output][path of the tile]
    std::vector<double> sums_;               // indexed [256 paths of the tile][place]
    std::vector<kernels::fixed_sum> fixed_;  // by place
};

}  // namespace tilewalk::cpu
