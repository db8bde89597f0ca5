// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/models/black_scholes.h"
#include "engine/models/model.h"

namespace tilewalk::models {

std::span<const catalogue_entry> catalogue() {
    static constexpr std::array entries{
        catalogue_entry{
            "black_scholes",
            "lognormal assets and exchange rates with term structures, correlated; exact between dates",
            make_black_scholes},
    };
    return entries;
}

}  // namespace tilewalk::models
