// SPDX-License-Identifier: Apache-2.0
// The catalogue of commands of the program tilewalk.
#pragma once

#include <vector>

#include "engine/cli/commands.h"

namespace tilewalk::cli {

// In the order of help. By default bench and verify start the programs beside this one; a program that
// contains them passes add_bench or add_verify.
std::vector<adds_command> all_commands(adds_command bench = add_bench_program,
                                       adds_command verify = add_verify_program);

}  // namespace tilewalk::cli
