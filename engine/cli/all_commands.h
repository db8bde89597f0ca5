// SPDX-License-Identifier: Apache-2.0
// The commands of the program tilewalk, for whoever is that program.
#pragma once

#include <vector>

#include "engine/cli/commands.h"

namespace tilewalk::cli {

// In the order in which help lists them.
std::vector<adds_command> all_commands();

}  // namespace tilewalk::cli
