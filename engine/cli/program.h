// SPDX-License-Identifier: Apache-2.0
// Runs a program: parses the command line, runs the command, and turns a failure into one line and an exit
// code.
#pragma once

#include <string>
#include <vector>

#include "engine/cli/commands.h"

namespace tilewalk::cli {

// Returns the exit code for main. `arguments` come after the name of the program; if it knows a single
// command, they leave out its name. `starts` are the words that start the same program again, in front of
// its arguments; if empty, the file of this process starts it.
int run_program(const std::vector<std::string>& arguments, const std::vector<adds_command>& knows,
                const std::vector<std::string>& starts = {}) noexcept;

const std::vector<std::string>& command_as_typed();
// Returns the words in front of the arguments of another process of this program; the first is a file.
const std::vector<std::string>& words_that_start_it();
// Returns the words in front of a command's arguments, for a user to start it.
std::vector<std::string> words_that_start(const std::string& command);

}  // namespace tilewalk::cli
