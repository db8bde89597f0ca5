// SPDX-License-Identifier: Apache-2.0
// The lines that bench/python_cost.py prints, as rows of the suite `python`. Needs neither a GPU nor Python.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/row.h"

namespace tilewalk::bench::python_cost {

// A line of the program. Throws tilewalk::error (input) that names the program and the line, for anything
// that it does not print.
row read_line(std::string_view line, const std::string& program, int number);

// Compares the price from a Python that is started for it with that of the command: the figure `ratio`, and
// `over_command_and_start`, its time over those of the command and of a start of Python together. Without
// results of all three nothing is compared.
void compare(std::vector<row>& rows);

}  // namespace tilewalk::bench::python_cost
