// SPDX-License-Identifier: Apache-2.0
// Runs a program: parses the command line, runs the command, and turns a failure into one line and an exit
// code.
#pragma once

#include <string>
#include <vector>

#include "engine/cli/commands.h"

namespace tilewalk::cli {

// Returns the exit code for main. `arguments` follow the name of the program; a program with a single command
// takes them without its name. `starts` are the words that start the same program again, before its
// arguments; empty for the file of this process.
int run_program(const std::vector<std::string>& arguments, const std::vector<adds_command>& knows,
                const std::vector<std::string>& starts = {}) noexcept;

const std::vector<std::string>& command_as_typed();
// The words before the arguments of another process of this program; the first is a file.
const std::vector<std::string>& words_that_start_it();
// The words before the arguments of this command, for a process that the user starts.
std::vector<std::string> words_that_start(const std::string& command);

}  // namespace tilewalk::cli
