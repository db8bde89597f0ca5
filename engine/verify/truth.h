// SPDX-License-Identifier: Apache-2.0
// Trades whose price is known without simulation. Each truth makes a random trade of one product in a market
// of its own, and knows the price from a closed form or a quadrature that shares nothing with the engine.
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
    std::string book;  // YAML of a market and one trade
    // The price of the trade as drawn after a move of the market; without a move, the true price.
    std::function<double(const market_move&)> price;
    movable_numbers numbers;  // market numbers that the price can be differentiated by
    double scale = 0;         // scale of the payoff; trades worth far less are not used
};

// A trade in the market `drawn`, whose price is a formula of that market, moved or not. A number that `price`
// captured from `drawn` itself is a term of the trade, such as an initial level, and does not move.
template <class Market, class Formula>
known_trade known_in(const Market& drawn, const std::string& trade, const Formula& price, double scale) {
    return {drawn.text() + trade, [=](const market_move& by) { return price(drawn.moved(by)); },
            drawn.numbers(), scale};
}

struct truth_entry {
    std::string_view product;  // name of a product of the library
    std::string_view by;       // words on how the price is known
    known_trade (*draw)(dice& d);
    enum class verified_by {
        any,
        sensitivities,  // used only if sensitivities are verified
        bounds,         // can be ended early: judged by bounds; used only if prices are verified
    } is = verified_by::any;

    bool takes_part(bool of_sensitivities) const {
        return is == verified_by::any ||
               is == (of_sensitivities ? verified_by::sensitivities : verified_by::bounds);
    }
};
// Most paths for trades that can be ended early: on few paths, a policy that sees the future shows clearly.
inline constexpr std::uint64_t most_paths_of_bounds = 500;

// The derivative of the known price by a market number: Richardson extrapolation from moves of `step` and
// half of it. Empty if these two disagree because the price has a kink there, as that of a cap whose first
// rate is known and close to the strike.
std::optional<double> known_sensitivity(const known_trade& of, const std::string& key, double step);

std::span<const truth_entry> truths();

}  // namespace tilewalk::verify
