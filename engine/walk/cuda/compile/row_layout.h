// SPDX-License-Identifier: Apache-2.0
// Layout of the rows of a program's sections in a GPU's memory. Sections that run on every step have their
// numbers in the row of the step, not in a row of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::cuda {

struct row_layout {
    std::vector<std::size_t> widths;  // numbers in the row, by section; 0 if they are in the step's row
    std::vector<std::size_t> places;  // place of the first number in the row, by section
    std::uint32_t every_step = 0;     // bit k is set if section k runs on every step (see mark_every_step)
    bool step_has_tables = false;     // whether a table is in the step's row
};

row_layout layout_of_rows(const program::path_program& p);

}  // namespace tilewalk::cuda
