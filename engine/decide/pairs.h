// SPDX-License-Identifier: Apache-2.0
// Antithetic pairs: each pair counts as one path.
#pragma once

#include <atomic>
#include <span>
#include <string>

#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/plan/trade_program.h"

namespace tilewalk::verbs {

// Turns the paths of a trade, and of its bound unless nested, into pairs, with a remark.
void walk_in_pairs(planned& p, shape_store& shapes);

}  // namespace tilewalk::verbs
