// SPDX-License-Identifier: Apache-2.0
// Mistakes that an engine could make. They are planted on purpose, to show that verification notices them.
#pragma once

#include <span>
#include <string_view>

#include "engine/study/price.h"

namespace tilewalk::verify {

// The kind of run in which a mistake can be made: for prices with any random numbers, for prices with
// independent paths only, for prices with quasi-random points only, or for sensitivities.
enum class mistake_of { prices, independent_paths, points, sensitivities };

struct plant {
    std::string_view name;
    std::string_view what;  // a sentence on the mistake
    stages (*made)();       // returns stages of an engine with this mistake alone
    mistake_of of = mistake_of::prices;

    bool is_of_sensitivities() const { return of == mistake_of::sensitivities; }
    bool can_be_made(bool with_points) const {
        return of != (with_points ? mistake_of::independent_paths : mistake_of::points);
    }
};

std::span<const plant> plants();

}  // namespace tilewalk::verify
