// SPDX-License-Identifier: Apache-2.0
// The way of a program: it finds out what was asked, runs it, and turns every failure into one line and an
// exit code.
#pragma once

#include <string>
#include <vector>

#include "engine/cli/commands.h"

namespace tilewalk::cli {

// To be returned by main. `arguments` follow the name of the program.
int run_program(const std::vector<std::string>& arguments, const std::vector<adds_command>& knows) noexcept;

// The name of the program and its arguments, as run_program had them.
const std::vector<std::string>& command_as_typed();

}  // namespace tilewalk::cli
