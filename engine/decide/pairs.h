// SPDX-License-Identifier: Apache-2.0
// Antithetic pairs of paths; each pair counts as one path.
#pragma once

#include <atomic>
#include <span>
#include <string>

#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/plan/trade_program.h"

namespace tilewalk::studies {

// Rewrites a trade to walk pairs, with a remark; likewise its bound, unless that is nested.
void walk_in_pairs(planned& p, shape_store& shapes);

}  // namespace tilewalk::studies
