// SPDX-License-Identifier: Apache-2.0
// Seeds of all paths other than those of prices: one for each purpose, so that no two purposes share paths.
#pragma once

#include <cstdint>
#include <span>

namespace tilewalk::decide {

enum class purpose : std::uint8_t {
    points,         // pilots that choose constructions of points
    controls,       // pilots that fit controls
    importance,     // pilots that look for shifts
    treatments,     // pilots that choose between smoothing and likelihood ratios
    training,       // training of policies
    bounds,         // dual bounds by the fitted martingale
    nested_bounds,  // outer paths of nested bounds; inner ones take the next seeds
};
std::span<const purpose> all_purposes();

std::uint64_t seed_for(std::uint64_t seed, purpose what);
std::uint64_t seed_of_part(std::uint64_t seed, std::uint64_t number);
std::uint64_t seed_of_round(std::uint64_t seed, std::uint64_t paths);

}  // namespace tilewalk::decide
