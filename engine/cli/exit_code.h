// SPDX-License-Identifier: Apache-2.0
// What the command's exit status says.
#pragma once

namespace tilewalk::cli {

enum exit_code : int {
    all_well = 0,
    defect = 1,       // of Tilewalk itself
    bad_input = 2,    // usage, a file, the output
    some_failed = 3,  // some trades failed or differ; all others are reported
    slower = 4,       // than the baseline
    unverified = 5,   // prices that are known came out wrong, or a mistake went unnoticed
    interrupted = 130,
};

}  // namespace tilewalk::cli
