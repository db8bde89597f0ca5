// SPDX-License-Identifier: Apache-2.0
// One operation of a program on single numbers.
#pragma once

#include "products/program/operation.h"

namespace tilewalk::program {

// Uses the same functions as the lane loops. The operation must not read a table.
double evaluate(operation code, double a, double b, double c);

}  // namespace tilewalk::program
