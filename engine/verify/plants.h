// SPDX-License-Identifier: Apache-2.0
// Mistakes that an engine could make, each made on purpose: what would go unnoticed can't be trusted to be
// right.
#pragma once

#include <span>
#include <string_view>

#include "engine/study/price.h"

namespace tilewalk::verify {

// The runs in which a mistake can be made. One of prices is made with any random numbers, but for those that
// prices from independent paths, or those from points, have nothing to be wrong about.
enum class mistake_of { prices, independent_paths, points, sensitivities };

struct plant {
    std::string_view name;
    std::string_view what;  // is wrong
    stages (*made)();       // an engine that makes the mistake and no other
    mistake_of of = mistake_of::prices;

    bool is_of_sensitivities() const { return of == mistake_of::sensitivities; }
    // Whether a run of points, or one of independent paths, can make it.
    bool can_be_made(bool with_points) const {
        return of != (with_points ? mistake_of::independent_paths : mistake_of::points);
    }
};

// The catalogue.
std::span<const plant> plants();

}  // namespace tilewalk::verify
