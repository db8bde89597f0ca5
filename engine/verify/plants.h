// SPDX-License-Identifier: Apache-2.0
// Mistakes that an engine could make, planted on purpose to show that verification notices them.
#pragma once

#include <span>
#include <string_view>

#include "engine/study/price.h"

namespace tilewalk::verify {

// The runs in which a mistake can be made. `prices` can be made with any random numbers; some mistakes exist
// only for independent paths, others only for points.
enum class mistake_of { prices, independent_paths, points, sensitivities };

struct plant {
    std::string_view name;
    std::string_view what;  // what is wrong
    stages (*made)();       // returns an engine with this mistake and no other
    mistake_of of = mistake_of::prices;

    bool is_of_sensitivities() const { return of == mistake_of::sensitivities; }
    bool can_be_made(bool with_points) const {
        return of != (with_points ? mistake_of::independent_paths : mistake_of::points);
    }
};

std::span<const plant> plants();

}  // namespace tilewalk::verify
