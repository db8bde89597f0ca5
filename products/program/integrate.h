// SPDX-License-Identifier: Apache-2.0
// Integration of jumps. If a decision on a date, such as a barrier or a call, depends on asset levels of that
// date, the normal numbers of the step before are integrated along one direction, given their components
// across it. The payoff no longer jumps there, and has derivatives along the path.
//
// Let d be the direction and c = d * z the coordinate of a step's normal numbers z. A decision whose truth
// changes once, at coordinate c + r, comes out one way with probability N(c + r). Both outcomes are computed,
// each with c drawn anew on its side, and weighted by their probabilities. If the decision ends the path
// (nothing paid later depends on shocks), the other side goes on: its weight is the product of the
// probabilities, and the levels of the date are those of the new draw.
#pragma once

#include <optional>

#include "products/program/passes.h"

namespace tilewalk::program {

// Empty if no decision can be integrated: its levels are not exponentials of sums of normal numbers, its
// truth changes more than once, or the path goes on differently after either outcome. A decision that only
// pays leaves the path alone.
//
// r is explicit if an exponential is compared with a level; otherwise a few Newton steps find it.
std::optional<whole_program> integrated(const path_program& p, const path_data& data, const timeline& when);

}  // namespace tilewalk::program
