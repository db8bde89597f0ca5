// SPDX-License-Identifier: Apache-2.0
// The kernels that fill cubes of shocks: their translation units, in which all but a few words is constant,
// and how they are launched.
#pragma once

#include <cstdint>
#include <string>

#include "engine/cuda/random/random_source.h"

namespace tilewalk::random {

// Its kernel `fill` takes kernels::draws_arguments: the shocks that paths would make in registers.
std::string draw_text(arrays::element of, shock_kind kind, bool approximate = false);
// Its kernel `fill` takes kernels::bits_arguments: the random words of another generator.
std::string convert_bits_text(arrays::element of, shock_kind kind);
// Its kernel `fill` takes kernels::bits_arguments: normals of quasi-random points.
std::string convert_points_text(arrays::element of);

// Fills the cube with our own numbers.
void draw_cube(const opening& from, const cube& into, std::uint64_t first_path, std::uint64_t paths,
               cuda::stream on);

// Random bits, [row][path], for a part of a cube: `rows` from first_row on, `paths` from the cube's path `at`
// on.
struct bits_block {
    std::uint64_t first_row = 0, rows = 0;
    std::uint64_t at = 0, paths = 0;
    const void* bits = nullptr;
    std::uint64_t pitch = 0;  // words from row to row
};
// Words as wide as the shocks that they become.
void convert_bits(const opening& from, const cube& into, const bits_block& what, cuda::stream on);
// Quasi-random points of randomisation `unit`, of 64 bits in every precision, become normals.
void convert_points(const opening& from, const cube& into, const bits_block& what, std::uint64_t unit,
                    cuda::stream on);

// Chunks are whole tiles, and cubes aligned for the widest stores; anything else is a defect of ours.
void check_chunk(const opening& from, const cube& into, std::uint64_t first_path, std::uint64_t paths);

}  // namespace tilewalk::random
