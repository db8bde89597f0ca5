// SPDX-License-Identifier: Apache-2.0
// Every model: a declaration and a line here, and a file of its own beside this one.
#include <array>

#include "engine/models/model.h"

namespace tilewalk::models {

std::unique_ptr<model> make_black_scholes(const request& from);

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
