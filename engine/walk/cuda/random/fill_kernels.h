// SPDX-License-Identifier: Apache-2.0
// Kernels that fill cubes of shocks: their texts, which hardly differ, and their launches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/walk/cuda/random/random_source.h"

namespace tilewalk::random {

// Text of kernel `fill` (kernels::draws_arguments), which draws the shocks that path kernels would draw.
std::string draw_text(arrays::element of, shock_kind kind, bool approximate = false,
                      int rounds = kernels::philox_rounds);
// Text of kernel `fill` (kernels::bits_arguments), which turns another generator's random words into shocks.
std::string convert_bits_text(arrays::element of, shock_kind kind);
// Text of kernel `fill` (kernels::bits_arguments), which turns quasi-random points into normals.
std::string convert_points_text(arrays::element of);
// Text of kernel `fill` (kernels::points_arguments), which makes points of trades whose bridges have
// components or, without `has_components`, have none. If `approximate`, shocks that are no points are those
// of single_fast.
std::string points_text(arrays::element of, shock_kind kind, bool has_components, bool approximate);
std::string rotation_text(arrays::element of);
std::vector<std::string> texts_of_points(arrays::element of, bool approximate);

// Blocks that the device runs at once for such a launch, at least one.
std::uint64_t resident_blocks(cuda::device& on, cuda::kernel what, const cuda::launch& how);

// Fills `into` by our own generator. Only approximate shocks may take other than 10 rounds of Philox.
void draw_cube(const opening& from, const cube& into, std::uint64_t first_path, std::uint64_t paths,
               cuda::stream on, int rounds = kernels::philox_rounds);

// Random bits, indexed [row][path], for the cube's rows from first_row on and its paths from `at` on.
struct bits_block {
    std::uint64_t first_row = 0, rows = 0;
    std::uint64_t at = 0, paths = 0;
    const void* bits = nullptr;
    std::uint64_t pitch = 0;  // words from one row to the next
};
void convert_bits(const opening& from, const cube& into, const bits_block& what, cuda::stream on);
// Turns points of randomisation `unit` into normals. Points have 64 bits in every precision.
void convert_points(const opening& from, const cube& into, const bits_block& what, std::uint64_t unit,
                    cuda::stream on);

// Throws tilewalk::error (internal) unless chunks are whole tiles and cubes are aligned for the widest
// stores.
void check_chunk(const opening& from, const cube& into, std::uint64_t first_path, std::uint64_t paths);

}  // namespace tilewalk::random
