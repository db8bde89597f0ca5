// SPDX-License-Identifier: Apache-2.0
// Trades whose price is known without simulation: each truth makes up a trade of one product in a market of
// its own and knows its price from a closed form or a quadrature that shares nothing with the engine.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "engine/verify/dice.h"

namespace tilewalk::verify {

struct known_trade {
    std::string book;  // market and one trade, as YAML
    // The price if every forward were this many times what it is; 1 gives the truth.
    std::function<double(double)> price;
    double scale = 0;  // of its payoff: a trade worth next to nothing beside it is too thin a sample
};

struct truth_entry {
    std::string_view product;  // of the library
    std::string_view by;       // how the price is known
    known_trade (*draw)(dice& d);
};

// The catalogue; a product may stand in it more than once.
std::span<const truth_entry> truths();

}  // namespace tilewalk::verify
