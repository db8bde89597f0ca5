// SPDX-License-Identifier: Apache-2.0
// Kernels that fill cubes of shocks: texts, constant but for a few words, and launches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/walk/cuda/random/random_source.h"

namespace tilewalk::random {

// Kernel `fill` with kernels::draws_arguments makes the shocks that paths would make in registers.
std::string draw_text(arrays::element of, shock_kind kind, bool approximate = false,
                      int rounds = kernels::philox_rounds);
// Kernel `fill` with kernels::bits_arguments, the random words of another generator.
std::string convert_bits_text(arrays::element of, shock_kind kind);
// Kernel `fill` with kernels::bits_arguments makes normals of quasi-random points.
std::string convert_points_text(arrays::element of);
// Kernel `fill` with kernels::points_arguments makes the points of trades, of bridges with components or of
// others. With `approximate`, numbers that are no points are those of paths in single_fast.
std::string points_text(arrays::element of, shock_kind kind, bool has_components, bool approximate);
std::string rotation_text(arrays::element of);
std::vector<std::string> texts_of_points(arrays::element of, bool approximate);

// Blocks of such a launch that a device runs at once, at least one.
std::uint64_t resident_blocks(cuda::device& on, cuda::kernel what, const cuda::launch& how);

// Fills the cube from our own generator. Rounds other than Philox's 10 are for approximate shocks.
void draw_cube(const opening& from, const cube& into, std::uint64_t first_path, std::uint64_t paths,
               cuda::stream on, int rounds = kernels::philox_rounds);

// Random bits, [row][path], for rows from first_row on and paths from path `at` of the cube on.
struct bits_block {
    std::uint64_t first_row = 0, rows = 0;
    std::uint64_t at = 0, paths = 0;
    const void* bits = nullptr;
    std::uint64_t pitch = 0;  // words from row to row
};
void convert_bits(const opening& from, const cube& into, const bits_block& what, cuda::stream on);
// Converts points of randomisation `unit`, 64 bits wide in every precision, to normals.
void convert_points(const opening& from, const cube& into, const bits_block& what, std::uint64_t unit,
                    cuda::stream on);

// Throws (a defect of ours) unless chunks are whole tiles and cubes are aligned for the widest stores.
void check_chunk(const opening& from, const cube& into, std::uint64_t first_path, std::uint64_t paths);

}  // namespace tilewalk::random
