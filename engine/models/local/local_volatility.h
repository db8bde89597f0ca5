// SPDX-License-Identifier: Apache-2.0
// Parameters and readers shared by models of a volatility surface.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/market/surface_reader.h"
#include "engine/models/model.h"

namespace tilewalk::models {

// Reads `surface`, a surface of the asset's random part: the spot less future cash dividends.
markets::surface_reading read_surface_of(const config::node& parameters, const reading& of);
std::vector<std::string> remarks_of(const markets::surface_reading& read);

// Parameters of surface models. Bridges have a constant variance: with a volatility proportional to 1 / spot,
// a barrier option is off by 0.5 % with 100 watched steps a year, and by 0.1 % with the default of 500.
inline constexpr parameter_row surface_row{
    .name = "surface", .meaning = "by_strike, by_moneyness, svi or local", .takes = "a volatility surface"},
    points_row{.name = "points",
               .within = {{2, 4096}},
               .meaning = "points of the table of a step",
               .takes = "a whole number",
               .preset = 128},
    watched_surface_row{.name = "watched_steps_per_year",
                        .within = {{1, 100'000}},
                        .meaning = "least steps a year where watched continuously",
                        .preset = 500};
std::size_t read_whole(const config::node& parameters, const parameter_row& row);

}  // namespace tilewalk::models
