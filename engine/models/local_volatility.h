// SPDX-License-Identifier: Apache-2.0
// What models of a surface read of their parameters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/market/surface_reader.h"
#include "engine/models/model.h"

namespace tilewalk::models {

// Their `surface`, of the random part of the asset.
markets::surface_reading read_surface_of(const config::node& parameters, const reading& of);
// Where it is bent.
std::vector<std::string> remarks_of(const markets::surface_reading& read);

// The `points` of the table of a step.
std::size_t read_points(const config::node& parameters);
double read_surface_steps(const config::node& parameters, double usual);
double read_watched_surface_steps(const config::node& parameters);

}  // namespace tilewalk::models
