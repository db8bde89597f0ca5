// SPDX-License-Identifier: Apache-2.0
// Integration of jumps: where a date's decision, such as a barrier or a call, depends on the level that
// assets have then, the normal numbers of the step before are integrated along one direction, given all that
// lies across it. What is paid then no longer jumps there, and has derivatives along the path.
//
// Along the direction d a step's normal numbers are c + v from where they are, c = d * z. A decision whose
// truth changes once, at v = r, comes out one way with the probability N(c + r). What it pays is taken both
// ways, each where c is drawn anew on its side, weighted by the probabilities. A decision that ends the path,
// after which nothing paid depends on shocks, leaves the other side to go on: its weight is the product of
// the probabilities, and the levels of the date are those of the number drawn anew. A decision that only pays
// leaves the path alone.
#pragma once

#include <optional>

#include "products/program/passes.h"

namespace tilewalk::program {

// None if no decision can be integrated: its levels are no sums of normal numbers on a scale of logarithms,
// it changes more than once, or both ways of it go on differently.
//
// r is known where an exponential is compared with a level; elsewhere some steps of Newton's method find it.
std::optional<whole_program> integrated(const path_program& p, const path_data& data, const timeline& when);

}  // namespace tilewalk::program
