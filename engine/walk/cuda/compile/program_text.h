// SPDX-License-Identifier: Apache-2.0
// The lane part of a program as a CUDA struct, which the kernel headers walk. It is printed from the checked
// program alone and contains no text of the user's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "products/program/passes.h"
#include "products/program/precision.h"

namespace tilewalk::cuda {

// The struct `name`. It has the constants states, terms, sections, normals, uniforms and output;
// row_width(k); outputs and output_of(k) if there are several outputs; sums, first_of(k) and second_of(k) if
// some are crossed; step_has_tables if the step has some; and a function template section<k>(states, shocks,
// row, term). Operations are called as math::exp and so on, with row.table(place) for a table. Equal texts
// mean equal code: strikes, rows and numbers computed once a trade are not in it.
std::string program_text(const program::path_program& p, const std::string& name);

// A constant function of a text: head is "name(int i)", and index what picks of the numbers.
std::string table_text(const std::string& head, const std::string& index,
                       const std::vector<std::uint64_t>& numbers);
// The head of a text, which includes these headers.
std::string includes_text(const std::vector<std::string>& headers);
// The struct that draws shocks, with so many rounds of Philox if it is a fast one.
std::string draws_text(const program::precision_traits& words, int rounds);

}  // namespace tilewalk::cuda
