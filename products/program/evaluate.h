// SPDX-License-Identifier: Apache-2.0
// One operation of a program on single numbers.
#pragma once

#include "products/program/operation.h"

namespace tilewalk::program {

// With the very functions that the lane loops use; no operation that reads a table.
double evaluate(operation code, double a, double b, double c);

}  // namespace tilewalk::program
