// SPDX-License-Identifier: Apache-2.0
// Trades with a price known without simulation. Each truth makes a random trade of one product in a market of
// its own, and knows its price from a closed form or a quadrature that shares nothing with the engine.
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
    // The price after a move of the market that keeps the terms of the trade; no move gives the truth.
    std::function<double(const market_move&)> price;
    movable_numbers numbers;  // the numbers by which the price can be differentiated
    double scale = 0;  // the scale of its payoff: a trade worth almost nothing beside it is too thin a sample
};

// A trade in a random market, priced by a formula of the market before or after a move. A number that the
// formula takes from the market as drawn is a term of the trade, such as an initial level.
template <class Market, class Formula>
known_trade known_in(const Market& drawn, const std::string& trade, const Formula& price, double scale) {
    return {drawn.text() + trade, [=](const market_move& by) { return price(drawn.moved(by)); },
            drawn.numbers(), scale};
}

struct truth_entry {
    std::string_view product;  // a product of the library
    std::string_view by;       // how the price is known
    known_trade (*draw)(dice& d);
    enum class kind {
        any,
        sensitivities,  // left out if only prices are verified
        bounds,         // can be ended early: the truth lies between bounds, and sensitivities are left out
    } is = kind::any;

    bool takes_part(bool of_sensitivities) const {
        return is == kind::any || is == (of_sensitivities ? kind::sensitivities : kind::bounds);
    }
};
// The path limit of trades that can be ended early: a policy that sees the future shows on few paths.
inline constexpr std::uint64_t most_paths_of_bounds = 500;

// The derivative of the known price by a number of its market, by Richardson extrapolation from moves of
// `step` and of half as much. Empty if the two disagree, at a kink of the price: a cap whose first rate is
// known and next to the strike has one.
std::optional<double> known_sensitivity(const known_trade& of, const std::string& key, double step);

std::span<const truth_entry> truths();

}  // namespace tilewalk::verify
