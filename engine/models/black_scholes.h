// SPDX-License-Identifier: Apache-2.0
// The lognormal walk, used alone and as the continuous part of jump diffusions.
#pragma once

#include <memory>

#include "engine/models/model.h"

namespace tilewalk::models {

// Makes the lognormal walk, which is exact for steps of any length. `vol` must outlive the walk.
std::unique_ptr<walk> lognormal_walk(const markets::volatility& vol, const markets::asset& of);

}  // namespace tilewalk::models
