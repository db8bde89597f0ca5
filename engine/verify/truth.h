// SPDX-License-Identifier: Apache-2.0
// Trades whose price is known without simulation: each truth makes up a trade of one product in a market of
// its own and knows its price from a closed form or a quadrature that shares nothing with the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/verify/dice.h"
#include "engine/verify/market_move.h"

namespace tilewalk::verify {

struct known_trade {
    std::string book;  // market and one trade, as YAML
    // The price after a move, by which the terms of the trade stand still; no move gives the truth.
    std::function<double(const market_move&)> price;
    movable_numbers numbers;  // to which the price has derivatives
    double scale = 0;         // of its payoff: a trade worth next to nothing beside it is too thin a sample
};

// A trade in a random market whose price is this formula of the market as it is or as it has moved. A number
// that the formula takes from the market as it was drawn is a term of the trade, such as an initial level.
template <class Market, class Formula>
known_trade known_in(const Market& drawn, const std::string& trade, const Formula& price, double scale) {
    return {drawn.text() + trade, [=](const market_move& by) { return price(drawn.moved(by)); },
            drawn.numbers(), scale};
}

struct truth_entry {
    std::string_view product;  // of the library
    std::string_view by;       // how the price is known
    known_trade (*draw)(dice& d);
    enum class kind {
        any,
        sensitivities,  // takes no part where prices alone are verified
        bounds,         // can be ended early: the truth lies between bounds, and sensitivities take no part
    } is = kind::any;

    bool takes_part(bool of_sensitivities) const {
        return is == kind::any || is == (of_sensitivities ? kind::sensitivities : kind::bounds);
    }
};
// Trades that can be ended early have no more paths: a policy that sees the future shows on few.
inline constexpr std::uint64_t most_paths_of_bounds = 500;

// The derivative of the known price to a number of its market, from moves of `step` and of half as much: the
// error that grows with the square of the move is gone. None where half the moves give another one: there the
// price bends, as that of a cap does whose first rate is known and next to the strike.
std::optional<double> known_sensitivity(const known_trade& of, const std::string& key, double step);

// The catalogue; a product may stand in it more than once.
std::span<const truth_entry> truths();

}  // namespace tilewalk::verify
