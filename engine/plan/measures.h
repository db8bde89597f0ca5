// SPDX-License-Identifier: Apache-2.0
// Measures: the names of sensitivities to numbers of a market, and how each kind of number is moved and told.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/wildcard.h"
#include "engine/reading/written_market.h"
#include "tilewalk/measures.h"

namespace tilewalk::greeks {

struct risk_number {
    std::string_view measure;  // among greek_measures()
    double per = 1;            // move that a value stands for
    std::string per_words;     // "1 USD of ACME", "1 bp"
    // Moves for differences: of a program's numbers, which are smooth, and of prices from paths.
    double small = 0, large = 0;
    // Factor on the move at a jump: few paths come near, and if none crosses it, the error seems 0.
    double at_jumps = 1;
};
// Known facts, such as fixings, are no risk: their measure is empty.
risk_number risk_of(const markets::keyed_number& number);

inline constexpr std::string_view key_of_day = "as_of";

using config::fits;

}  // namespace tilewalk::greeks
