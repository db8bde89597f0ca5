// SPDX-License-Identifier: Apache-2.0
// Moves of the market of a trade with a known price. The price after a move gives the sensitivities.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::verify {

struct market_move {
    double forwards = 1;  // multiplies every forward
    std::string key{};    // a number that grows by `by`; empty for none
    double by = 0;

    double of(std::string_view number) const { return number == key ? by : 0; }
};

struct movable_number {
    std::string key;  // as `tilewalk market --keys` prints it
    double step = 0;  // a small move of the number
};
using movable_numbers = std::vector<movable_number>;

// Small moves by kind of number: small enough to keep the shape of the payoff's law, and large enough for the
// change in price to exceed the rounding of a quadrature by far.
inline constexpr double step_of_rate = 1e-4, step_of_volatility = 1e-3, step_of_correlation = 1e-3;
// Relative moves of prices and of parameters of models.
inline constexpr double step_of_size = 1e-3;

std::string pillar(std::string_view of, double years);

}  // namespace tilewalk::verify
