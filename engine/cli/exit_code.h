// SPDX-License-Identifier: Apache-2.0
// The table of exit codes, the same for every command.
#pragma once

#include <string>

#include "tilewalk/error.h"

namespace tilewalk::cli {

enum exit_code : int {
    all_well = 0,
    defect = 1,
    bad_input = 2,
    some_failed = 3,
    slower = 4,
    unverified = 5,
    try_again = 75,  // as EX_TEMPFAIL of sysexits.h
    interrupted = 130,
    terminated = 143,
};

int exit_code_of(error_kind kind);
std::string exit_code_text();
std::string exit_code_hint();

}  // namespace tilewalk::cli
