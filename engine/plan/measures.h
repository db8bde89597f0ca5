// SPDX-License-Identifier: Apache-2.0
// Measures: the names under which sensitivities to numbers of a market are known, and how a number of each
// kind is moved and told.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/wildcard.h"
#include "engine/reading/written_market.h"
#include "tilewalk/measures.h"

namespace tilewalk::greeks {

// A number of a market as sensitivities see it.
struct risk_number {
    std::string_view measure;  // a name of greek_measures()
    double per = 1;            // the move that a value is for
    std::string per_words;     // "1 USD of ACME", "1 bp"
    // Moves for differences: of the numbers of a program, which are smooth, and of prices that paths give.
    double small = 0, large = 0;
    // So many times further where a payoff jumps, of which few paths come near: that none has crossed a jump
    // would pass for an error of 0.
    double at_jumps = 1;
};
// Facts that are known, such as fixings, are no risk: their measure is empty.
risk_number risk_of(const markets::keyed_number& number);

// In place of a market key, where the day moves.
inline constexpr std::string_view key_of_day = "as_of";

// Keys of the market are asked for by patterns.
using config::fits;

}  // namespace tilewalk::greeks
