// SPDX-License-Identifier: Apache-2.0
// Times at which the paths of a world have to stop, and how long a step may be.
#pragma once

#include <span>
#include <vector>

#include "engine/models/world/members.h"

namespace tilewalk::models {

// models::world says what each does.
void add_stops(const members& of, double from, double to, std::vector<double>& times);
void add_breaks(const members& of, double last, std::vector<double>& times);
double longest_step(const members& of, std::span<const double> stops);

}  // namespace tilewalk::models
