// SPDX-License-Identifier: Apache-2.0
// Prints a checked program's lane part as a CUDA struct. Contains no text of the user's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "products/program/passes.h"
#include "products/program/precision.h"

namespace tilewalk::cuda {

// Members: constants states, terms, sections, normals, uniforms, output; row_width(k); outputs and
// output_of(k) if there are several; sums, first_of(k) and second_of(k) if some are crossed; step_has_tables
// if so; section<k>(states, shocks, row, term). Calls operations as math::exp, tables as row.table(place).
// Equal texts mean equal code: strikes, rows and numbers computed once a trade are not in it.
std::string program_text(const program::path_program& p, const std::string& name);

// A constant function: `head` is "name(int i)", `index` picks the number.
std::string table_text(const std::string& head, const std::string& index,
                       const std::vector<std::uint64_t>& numbers);
std::string includes_text(const std::vector<std::string>& headers);

// Types of the choices of a kernel, which are alike for all that walk paths: what draws shocks, with so many
// rounds of Philox if it is a fast one; the scenarios of paths; and the shape of its feed, for a step of so
// many shocks.
std::string draws_text(const program::precision_traits& words, int rounds, const std::string& scenarios);
std::string scenarios_text(const program::path_program& p, std::string_view space);
std::string shape_text(const kernel_decision& how, int slots);
// Bounds of a launch. 0 blocks: the compiler takes as many registers as it likes.
std::string bounds_text(std::uint32_t threads, int resident_blocks);

}  // namespace tilewalk::cuda
