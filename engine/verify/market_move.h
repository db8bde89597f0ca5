// SPDX-License-Identifier: Apache-2.0
// Moves of a market whose trades have a known price: what one is worth after a move says what its
// sensitivities are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::verify {

struct market_move {
    double forwards = 1;  // every forward is so many times what it was
    std::string key{};    // of a number that is larger by `by`; empty: none
    double by = 0;

    double of(std::string_view number) const { return number == key ? by : 0; }
};

// A number of the market to which a known price has a derivative.
struct movable_number {
    std::string key;  // as `tilewalk market --keys` has it
    double step = 0;  // a small move of it
};
using movable_numbers = std::vector<movable_number>;

// Small moves by the kind of number: the law of what is paid hardly changes its shape, and what rounds off in
// a quadrature is far less than what the move makes of the price.
inline constexpr double step_of_rate = 1e-4, step_of_volatility = 1e-3, step_of_correlation = 1e-3;
// Prices and parameters of a model move by a part of their size.
inline constexpr double step_of_size = 1e-3;

// The key of a pillar.
std::string pillar(std::string_view of, double years);

}  // namespace tilewalk::verify
