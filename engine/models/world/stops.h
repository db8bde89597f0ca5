// SPDX-License-Identifier: Apache-2.0
// Times at which a world's paths have to stop, and the length of steps.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/models/world/members.h"
#include "engine/models/world/path_states.h"

namespace tilewalk::models {

// Implementations of the functions of models::world.
void add_stops(const members& of, double from, double to, std::vector<double>& times);
void add_breaks(const members& of, double last, std::vector<double>& times);
double longest_step(const members& of, std::span<const double> stops);

std::optional<double> steps_leave(const members& of, const path_states& states);

}  // namespace tilewalk::models
