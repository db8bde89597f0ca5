// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "products/program/operation.h"
#include "products/program/precision.h"

namespace tilewalk::program {

// Evaluates a function of single numbers by the functions that the lane loops use.
double evaluate(operation code, double a, double b, double c);

// Interpolates a table of `size` numbers at a position, as paths do.
double interpolated(const double* table, std::size_t size, double position);

// The least x, infinities included, at which scale * exp(x) / divisor reaches `level` or, for
// least_log_above, exceeds it, in the arithmetic of paths of type `walked_in`. Comparing any x with it
// decides like the original comparison, because no operation here falls as x rises. NaN if the level is not
// finite, or another argument is not positive and finite.
double least_logarithm(operation code, number_type walked_in, double level, double scale, double divisor);

}  // namespace tilewalk::program
