// SPDX-License-Identifier: Apache-2.0
// One operation of a program on single numbers.
#pragma once

#include <cstddef>

#include "products/program/operation.h"
#include "products/program/precision.h"

namespace tilewalk::program {

// Uses the same functions as the lane loops. The operation is a function of single numbers.
double evaluate(operation code, double a, double b, double c);

// The number of a table of `size` numbers at a position, as paths interpolate it.
double interpolated(const double* table, std::size_t size, double position);

// The least x, infinities included, for which scale * exp(x) / divisor, computed as paths in this type of
// number compute it, reaches the level or, for least_log_above, exceeds it: then x >= least_logarithm decides
// as the comparison would for every number x. So it does because exp never falls where x rises, nor do
// products and quotients by positive numbers. Not a number if the level is not finite, or the others are not
// positive and finite.
double least_logarithm(operation code, number_type walked_in, double level, double scale, double divisor);

}  // namespace tilewalk::program
