// SPDX-License-Identifier: Apache-2.0
// The lines that bench/python_cost.py prints, as rows of the suite `python`. Needs neither a GPU nor Python.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/row.h"

namespace tilewalk::bench::python_cost {

// Throws tilewalk::error (input) with program and line for anything that the program does not print.
row read_line(std::string_view line, const std::string& program, int number);

// Compares the price from a fresh Python with the command's, as `ratio`, and with the command and a start of
// Python together, as `over_command_and_start`. Does nothing unless all three have results.
void compare(std::vector<row>& rows);

}  // namespace tilewalk::bench::python_cost
