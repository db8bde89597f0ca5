// SPDX-License-Identifier: Apache-2.0
// Antithetic pairs: trades whose paths are pairs, of which each counts as one path.
#pragma once

#include <atomic>
#include <span>
#include <string>

#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/plan/trade_program.h"

namespace tilewalk::verbs {

// Makes the paths of a planned trade pairs, with a remark on that. A trade that needs no path stays as it is.
// Bounds of trades with rights have pairs, too, but nested ones.
void walk_in_pairs(planned& p, shape_store& shapes);

}  // namespace tilewalk::verbs
