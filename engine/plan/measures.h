// SPDX-License-Identifier: Apache-2.0
// Measures: the names of sensitivities, and how each kind of number in a market is moved and reported.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/wildcard.h"
#include "engine/reading/written_market.h"
#include "tilewalk/measures.h"

namespace tilewalk::greeks {

struct risk_number {
    std::string_view measure;  // a name in greek_measures()
    double per = 1;            // the move whose effect is reported
    std::string per_words;     // `per` in words: "1 USD of ACME", "1 bp"
    // Moves: `small` for differences of a program's numbers, which are smooth; `large` for prices of paths.
    double small = 0, large = 0;
    // Factor on `large` at a jump, which few paths or none would cross: the error would then seem to be 0.
    double at_jumps = 1;
};
// Returns an empty measure for known facts, such as fixings, which are no risk.
risk_number risk_of(const markets::keyed_number& number);

inline constexpr std::string_view key_of_day = "as_of";

using config::fits;

}  // namespace tilewalk::greeks
