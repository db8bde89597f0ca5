// SPDX-License-Identifier: Apache-2.0
// Starts programs that lie in the folder of this one.
#pragma once

#include <string>
#include <vector>

#include "engine/cli/commands.h"

namespace tilewalk::cli {

// Replaces this process by the command's program. Throws tilewalk::error (usage) if there is no such program.
[[noreturn]] void become(const command& asked, const std::vector<std::string>& arguments);
// Runs the command's program and returns its output; empty if there is no such program. Throws
// tilewalk::error (io) if the program fails.
std::string text_from(const command& asked, const std::vector<std::string>& arguments);

}  // namespace tilewalk::cli
