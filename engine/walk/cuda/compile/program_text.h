// SPDX-License-Identifier: Apache-2.0
// Prints the arithmetic of a checked program as a CUDA struct. None of the user's own text is in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "products/program/passes.h"
#include "products/program/precision.h"

namespace tilewalk::cuda {

// A struct `name` with constants states, terms, sections, normals, uniforms, output; row_width(k); outputs
// and output_of(k) if there are several outputs; sums, first_of(k) and second_of(k) if pairs of them are
// crossed; step_has_tables if so; and section<k>(states, shocks, row, term), which calls operations as
// math::exp and reads tables as row.table(place). Strikes, rows and other numbers of a trade are not in the
// text, so trades of one shape have equal texts.
std::string program_text(const program::path_program& p, const std::string& name);

// A constexpr function with the declarator `head`, such as "name(int i)", that returns numbers[index].
std::string table_text(const std::string& head, const std::string& index,
                       const std::vector<std::uint64_t>& numbers);
std::string includes_text(const std::vector<std::string>& headers);

// Names of types that path kernels of all kinds take: what draws shocks (with `rounds` of Philox if the
// precision is fast), the scenarios of paths, and the shape of the feed for `slots` shocks a step.
std::string draws_text(const program::precision_traits& words, int rounds, const std::string& scenarios);
std::string scenarios_text(const program::path_program& p, std::string_view space);
std::string shape_text(const kernel_decision& how, int slots);
// The launch bounds of a kernel. With 0 resident blocks, the compiler takes as many registers as it likes.
std::string bounds_text(std::uint32_t threads, int resident_blocks);

}  // namespace tilewalk::cuda
