// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/arguments.h"

namespace tilewalk::kernels {

// The numbers that a trade's paths leave, row-major by section, run and state. A row holds whole tiles.
struct left_array {
    double* numbers;
    word64 pitch;
};

struct leaving_arguments {
    path_arguments forth;      // its results are not written
    const left_array* left;    // by trade
    const word32* first_rows;  // [trade][section]
};

}  // namespace tilewalk::kernels
