// SPDX-License-Identifier: Apache-2.0
// Market numbers on which a world's paths depend, to show to people.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/models/world.h"
#include "engine/models/world/members.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk::models {

// Implementations of the functions of models::world.
std::vector<std::string> descriptions(const members& of);
std::vector<correlation_taken> correlations_taken(const members& of);
world::market_numbers numbers_at(const members& of, std::span<const double> years);

}  // namespace tilewalk::models
