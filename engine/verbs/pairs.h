// SPDX-License-Identifier: Apache-2.0
// Antithetic pairs: trades whose paths are pairs, of which each counts as one path.
#pragma once

#include <atomic>
#include <span>
#include <string>

#include "engine/plan/trade_program.h"
#include "engine/verbs/planned.h"
#include "engine/verbs/settled.h"

namespace tilewalk::verbs {

// Makes the paths of a plan pairs, with a remark on that. A trade that needs no path stays as it is.
void walk_in_pairs(plan::trade_program& made);
// The same of a trade in a run. Bounds of trades with rights have pairs, too, but nested ones.
void walk_in_pairs(planned& p, shape_store& shapes);
// The same of all trades of a run, if it asks for it.
void walk_in_pairs(std::span<planned> plans, const settled& run, shape_store& shapes,
                   const std::atomic<bool>* cancel);

}  // namespace tilewalk::verbs
