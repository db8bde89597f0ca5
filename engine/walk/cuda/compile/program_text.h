// SPDX-License-Identifier: Apache-2.0
// Prints a checked program's lane part as a CUDA struct. Contains no text of the user's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
// The struct that draws shocks; only a fast one takes `rounds` of Philox.
std::string draws_text(const program::precision_traits& words, int rounds);

}  // namespace tilewalk::cuda
