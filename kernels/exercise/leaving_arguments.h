// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/arguments.h"

namespace tilewalk::kernels {

// The array of a trade, row-major by section, run and state. Rows are whole tiles of paths.
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
