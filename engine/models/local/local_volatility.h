// SPDX-License-Identifier: Apache-2.0
// Parameters shared by models of a surface, and their readers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/market/surface_reader.h"
#include "engine/models/model.h"

namespace tilewalk::models {

// Reads `surface`, which describes the random part of the asset.
markets::surface_reading read_surface_of(const config::node& parameters, const reading& of);
std::vector<std::string> remarks_of(const markets::surface_reading& read);

inline constexpr std::size_t usual_points = 128;
std::size_t read_points(const config::node& parameters);
double read_surface_steps(const config::node& parameters, double usual);
double read_watched_surface_steps(const config::node& parameters);

}  // namespace tilewalk::models
