// SPDX-License-Identifier: Apache-2.0
// Antithetic pairs: a program in which a path and the one of the opposite shocks are one path, whose outputs
// are the means of both. Any back end walks it like any other, so that a pair counts as one sample by itself.
#pragma once

#include "products/program/passes.h"

namespace tilewalk::program {

// The opposite path takes -z for each normal number and 1 - u for each uniform one, which is exact: uniform
// numbers are odd multiples of a power of 2, as many below 1/2 as above. It reads the same scenarios. States
// and nodes that depend on no shock are there once. The first path of a pair has the bits that it had alone.
whole_program mirror(const path_program& p, const path_data& data, const timeline& when);

}  // namespace tilewalk::program
