// SPDX-License-Identifier: Apache-2.0
// Commands that a program beside this one knows.
#pragma once

#include <string>
#include <vector>

#include "engine/cli/commands.h"

namespace tilewalk::cli {

// Becomes the program of the command, which takes these arguments. Throws tilewalk::error (usage) if it is
// not there.
[[noreturn]] void become(const command& asked, const std::vector<std::string>& arguments);
// The output of the command's own program, run with these arguments; nothing if there is no such program.
// Throws tilewalk::error (io) if it fails.
std::string text_from(const command& asked, const std::vector<std::string>& arguments);

}  // namespace tilewalk::cli
