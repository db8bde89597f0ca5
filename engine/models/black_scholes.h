// SPDX-License-Identifier: Apache-2.0
// The lognormal walk, alone or under jumps.
#pragma once

#include <memory>

#include "engine/models/model.h"

namespace tilewalk::models {

// Exact for steps of any length. The volatility must outlive the walk.
std::unique_ptr<walk> lognormal_walk(const markets::volatility& vol, const markets::asset& of);

}  // namespace tilewalk::models
