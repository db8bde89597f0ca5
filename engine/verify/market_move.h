// SPDX-License-Identifier: Apache-2.0
// A move of the market of a trade with a known price. Prices after small moves give the true sensitivities.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::verify {

struct market_move {
    double forwards = 1;  // factor on every forward
    std::string key{};    // market key of a number that grows by `by`; or empty
    double by = 0;

    double shift_of(std::string_view number) const { return number == key ? by : 0; }
};

struct movable_number {
    std::string key;  // market key, as `tilewalk market --keys` prints it
    double step = 0;  // size of a small move
};
using movable_numbers = std::vector<movable_number>;

// Sizes of small moves by kind of number: small enough that the law of the payoff keeps its shape, and large
// enough that the price changes by far more than a quadrature's rounding.
inline constexpr double step_of_rate = 1e-4, step_of_volatility = 1e-3, step_of_correlation = 1e-3;
// Relative size of moves of prices and of models' parameters.
inline constexpr double step_of_size = 1e-3;

std::string pillar(std::string_view of, double years);

}  // namespace tilewalk::verify
