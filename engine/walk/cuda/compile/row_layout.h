// SPDX-License-Identifier: Apache-2.0
// Rows of a program's sections as a kernel reads them. Sections of every step have theirs in the step's row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::cuda {

struct row_layout {
    std::vector<std::size_t> widths;  // by section; 0 if in the step's row
    std::vector<std::size_t> places;  // by section: first number in the row that it reads
    std::uint32_t every_step = 0;     // bit k: section k runs on every step (see mark_every_step)
    bool step_has_tables = false;     // the step's row has tables
};

row_layout layout_of_rows(const program::path_program& p);

}  // namespace tilewalk::cuda
