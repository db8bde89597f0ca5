// SPDX-License-Identifier: Apache-2.0
// Arrays ("cubes") of a run's shocks and scenarios on a device, from a random source or a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/walk/arrays/shock_cube.h"
#include "engine/walk/arrays/shock_file.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/device/spaces.h"
#include "engine/walk/cuda/paths/noise_rows.h"
#include "engine/walk/cuda/paths/packed_trades.h"
#include "engine/walk/cuda/paths/point_rows.h"
#include "engine/walk/cuda/paths/staging.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/cuda/random/point_tables.h"
#include "kernels/arguments.h"
#include "products/program/precision.h"

namespace tilewalk::cuda {

using program::precision;

class loaded_device;
class counted_kernels;

// One cube of one step and one slot for each of the rows.
std::vector<arrays::shock_cube> rows_of(std::span<const arrays::shock_cube> arrays,
                                        std::span<const scenario_row> rows);

struct shock_plan {
    const random::catalogue_entry* source = nullptr;
    const arrays::shock_file* replay = nullptr;  // a file that replaces the source
    counted_kernels* kernels = nullptr;
    const space_entry* space = nullptr;
    cuda::precision precision = cuda::precision::double_;
    std::uint64_t seed = 0, paths = 0;
    // Rows of the arrays. For a keyed source they are those of noise_rows and point_rows. Otherwise a row is
    // a shock's number on the path or, with a file, a slot on one of the steps that trades read.
    std::uint64_t normal_rows = 0, uniform_rows = 0;
    noise_rows normals{}, uniforms{};  // planned for a keyed source only
    point_rows points{};
    std::uint64_t unit_paths = 0;  // paths of a randomisation
    std::vector<arrays::shock_cube> scenarios{};
    // Called for each row that is copied from the host. May throw to end the run.
    std::function<void()> poll{};

    // Whether all trades read the same rows, by step and slot alone.
    bool are_rows_alike() const { return replay != nullptr || !source->is_keyed; }
    arrays::element element() const { return program::shock_type(precision); }
    std::uint64_t shock_rows() const { return std::max(normal_rows, uniform_rows); }  // of the larger array
    std::size_t bytes_per_tile() const;
    std::size_t scratch_bytes() const;
    std::uint64_t most_tiles() const;
};

// One or two sets of arrays, filled for chunk after chunk; of two, one is filled while the other is read.
class shock_cubes {
  public:
    shock_cubes(loaded_device& on, const shock_plan& plan, std::uint64_t tiles, std::size_t sets,
                stream fills);

    // Fills a set. All calls must use the same stream, in which their work keeps its order.
    void fill(std::size_t set, std::uint64_t first_tile, std::uint64_t tiles, stream s);

    // The arrays of a set as arguments of a path kernel that reads `per_step` shocks a step.
    kernels::array_argument normals(std::size_t set, int per_step) const;
    kernels::array_argument uniforms(std::size_t set, int per_step) const;
    kernels::array_argument scenarios(std::size_t set) const;
    const point_rows::target_tables& targets() const { return targets_; }
    // Sets the arguments of a kernel whose paths compute their points.
    void point_to_tables(kernels::path_arguments& a) const;

    bool persists() const { return plan_.space->lives_in == residence::persisting_memory; }
    std::size_t bytes_of_normals() const { return sets_.front().normals.bytes; }

  private:
    struct one {
        std::uint64_t rows = 0;
        std::size_t bytes = 0;
        std::optional<device_memory> memory;
        std::optional<pinned_memory> mapped;
        std::optional<owned_texture> texture;
        std::byte* first = nullptr;  // address in kernels
    };
    struct cubes {
        one normals, uniforms, scenarios;
    };
    void open(one& cube, std::uint64_t rows);
    // Copies a cube from the host: row_of(row, first, count, to) writes `count` paths from `first` on.
    template <class row_writer>
    void bring(const one& cube, std::uint64_t first_path, std::uint64_t paths, stream s,
               const row_writer& row_of);
    void bring_replay(const one& cube, const arrays::shock_cube& from, std::uint64_t first_path,
                      std::uint64_t paths, stream s);
    kernels::array_argument argument(const one& cube, const arrays::shock_cube* from, int per_step) const;

    loaded_device& on_;
    const shock_plan& plan_;
    std::uint64_t pitch_;  // elements from row to row
    std::vector<cubes> sets_;
    std::vector<device_memory> slots_;  // lists and tables for keyed rows
    std::vector<random::keyed_rows> keyed_normals_, keyed_uniforms_;
    std::vector<random::placed_points> normal_points_, uniform_points_;
    point_rows::target_tables targets_;
    random::point_tables tables_;  // for paths that compute their points
    const kernels::made_point* made_points_ = nullptr;
    const kernels::word32* directions_ = nullptr;
    const void* normals_of_points_ = nullptr;
    std::optional<staging> through_;  // for data from a file
    std::unique_ptr<random::random_source> source_;
};

}  // namespace tilewalk::cuda
