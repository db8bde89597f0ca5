// SPDX-License-Identifier: Apache-2.0
// The rows of a program's sections, as a kernel reads them: those of sections that run on every step are part
// of the step's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::cuda {

struct row_layout {
    std::vector<std::size_t> widths;  // by section; 0 for one whose rows are part of the step's
    std::vector<std::size_t> places;  // by section: where its numbers begin in the row that it reads
    std::uint32_t every_step = 0;     // bit k: section k runs on every step (see mark_every_step)
    bool step_has_tables = false;     // in a row of the step
};

row_layout layout_of_rows(const program::path_program& p);

}  // namespace tilewalk::cuda
