// SPDX-License-Identifier: Apache-2.0
// The kernels that fill cubes of shocks: their texts, which are constant but for a few words, and their
// launches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/walk/cuda/random/random_source.h"

namespace tilewalk::random {

// The kernel `fill` takes kernels::draws_arguments and makes the shocks that paths would make in registers.
std::string draw_text(arrays::element of, shock_kind kind, bool approximate = false,
                      int rounds = kernels::philox_rounds);
// The kernel `fill` takes kernels::bits_arguments, the random words of another generator.
std::string convert_bits_text(arrays::element of, shock_kind kind);
// The kernel `fill` takes kernels::bits_arguments and makes normals of quasi-random points.
std::string convert_points_text(arrays::element of);
// The kernel `fill` takes kernels::points_arguments and makes the points of trades, of bridges with
// components or of others. Numbers that are no points are those of paths in single_fast if they are
// `approximate`.
std::string points_text(arrays::element of, shock_kind kind, bool has_components, bool approximate);
// The text of a kernel `rotate`.
std::string rotation_text(arrays::element of);
// The texts of all kernels that make points.
std::vector<std::string> texts_of_points(arrays::element of, bool approximate);

// The blocks of such a launch that a device runs at once; at least one.
std::uint64_t resident_blocks(cuda::device& on, cuda::kernel what, const cuda::launch& how);

// Fills the cube with the shocks of our own generator. Other rounds than Philox's 10 are for approximate
// shocks.
void draw_cube(const opening& from, const cube& into, std::uint64_t first_path, std::uint64_t paths,
               cuda::stream on, int rounds = kernels::philox_rounds);

// Random bits, [row][path], for a part of a cube: `rows` rows from first_row on, and `paths` paths from path
// `at` of the cube on.
struct bits_block {
    std::uint64_t first_row = 0, rows = 0;
    std::uint64_t at = 0, paths = 0;
    const void* bits = nullptr;
    std::uint64_t pitch = 0;  // words from row to row
};
// Converts words as wide as the shocks that they become.
void convert_bits(const opening& from, const cube& into, const bits_block& what, cuda::stream on);
// Converts quasi-random points of randomisation `unit`, 64 bits wide in every precision, to normals.
void convert_points(const opening& from, const cube& into, const bits_block& what, std::uint64_t unit,
                    cuda::stream on);

// Throws unless chunks are whole tiles and cubes are aligned for the widest stores; anything else is a defect
// of ours.
void check_chunk(const opening& from, const cube& into, std::uint64_t first_path, std::uint64_t paths);

}  // namespace tilewalk::random
