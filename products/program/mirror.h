// SPDX-License-Identifier: Apache-2.0
// Antithetic pairs: a program that walks a path and its mirror image as one path, whose outputs are the means
// of both. A pair counts as one sample; any back end walks it.
#pragma once

#include "products/program/passes.h"

namespace tilewalk::program {

// The opposite path takes -z for each normal number and 1 - u for each uniform one, which is exact, because
// uniform numbers are odd multiples of a power of 2. Scenarios are shared, and so are states and nodes that
// depend on no shock. The first path of a pair keeps its bits.
whole_program mirror(const path_program& p, const path_data& data, const timeline& when);

}  // namespace tilewalk::program
