// SPDX-License-Identifier: Apache-2.0
// The catalogue of commands of the program tilewalk.
#pragma once

#include <vector>

#include "engine/cli/commands.h"

namespace tilewalk::cli {

// Returns all commands, in the order of help. bench and verify start programs beside this one by default; a
// program that contains them passes add_bench or add_verify.
std::vector<adds_command> all_commands(adds_command bench = add_bench_program,
                                       adds_command verify = add_verify_program);

}  // namespace tilewalk::cli
