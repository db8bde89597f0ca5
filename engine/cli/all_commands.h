// SPDX-License-Identifier: Apache-2.0
// The commands of the program tilewalk, for whoever is that program.
#pragma once

#include <vector>

#include "engine/cli/commands.h"

namespace tilewalk::cli {

// In the order in which help lists them. Bench and verify are those of programs beside this one, unless it
// has them itself: add_bench and add_verify.
std::vector<adds_command> all_commands(adds_command bench = add_bench_program,
                                       adds_command verify = add_verify_program);

}  // namespace tilewalk::cli
