// SPDX-License-Identifier: Apache-2.0
// The way of a program: it finds out what was asked, runs it, and turns every failure into one line and an
// exit code.
#pragma once

#include <string>
#include <vector>

#include "engine/cli/commands.h"

namespace tilewalk::cli {

// To be returned by main. `arguments` follow the name of the program; one that knows one command takes them
// without the name of the command. `starts` are the words that start the same program once more, before its
// arguments; none: the file of this process.
int run_program(const std::vector<std::string>& arguments, const std::vector<adds_command>& knows,
                const std::vector<std::string>& starts = {}) noexcept;

// The name of the program and its arguments, as run_program had them.
const std::vector<std::string>& command_as_typed();
// The words before the arguments of another process of this program, the first of them a file.
const std::vector<std::string>& words_that_start_it();
// The words before the arguments of this command in a process that somebody else starts.
std::vector<std::string> words_that_start(const std::string& command);

}  // namespace tilewalk::cli
