// SPDX-License-Identifier: Apache-2.0
// Rows of the suite `python` from the lines that bench/python_cost.py prints. Needs no GPU and no Python.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/row.h"

namespace tilewalk::bench::python_cost {

// Parses one line. Throws tilewalk::error (input) with program and line if the program can't have printed it.
row read_line(std::string_view line, const std::string& program, int number);

// Adds two figures to the row of a price from a fresh Python: `ratio` to the command's time, and
// `over_command_and_start`, to the command and a start of Python together. Needs results in all three rows.
void compare(std::vector<row>& rows);

}  // namespace tilewalk::bench::python_cost
