// SPDX-License-Identifier: Apache-2.0
// The seeds of paths that a run walks beside those of its prices. Each purpose has one, so that no two of
// them are of the same paths.
#pragma once

#include <cstdint>
#include <span>

namespace tilewalk::decide {

enum class purpose : std::uint8_t {
    points,         // pilots that choose constructions of points
    controls,       // pilots that fit controls
    importance,     // pilots that look for shifts
    treatments,     // pilots that choose how jumps are treated in derivatives
    training,       // paths that policies are found on
    bounds,         // paths of bounds
    nested_bounds,  // of the first of their sets of paths
};
std::span<const purpose> all_purposes();

std::uint64_t seed_for(std::uint64_t seed, purpose what);
// The seed of the part of a run with this number, which follows policies of its own.
std::uint64_t seed_of_part(std::uint64_t seed, std::uint64_t number);
// The seed of a later round of points, of so many paths.
std::uint64_t seed_of_round(std::uint64_t seed, std::uint64_t paths);

}  // namespace tilewalk::decide
