// SPDX-License-Identifier: Apache-2.0
// Products for tests of stochastic rates, as a book's section `products`, and a dollar curve.
#pragma once

#include <cmath>
#include <string>

#include "tests/market_text.h"

namespace tilewalk {

inline const std::string rate_products =
    tests::product_in_words("a_bond", "What a bond is worth on a day, paid then.",
                            "looked: date, maturity: date",
                            "on looked:\n"
                            "    pay bond(currency, maturity)\n") +
    tests::product_in_words("a_payment", "One unit, decided on one day and paid on another.",
                            "looked: date, maturity: date",
                            "on looked:\n"
                            "    pay 1 on maturity\n") +
    tests::product_in_words("in_other",
                            "One unit of another currency, decided on one day and paid on another.",
                            "looked: date, maturity: date, of: currency",
                            "on looked:\n"
                            "    pay 1 in of on maturity\n") +
    tests::product_in_words("a_spot", "An asset, in its currency.",
                            "looked: date, underlying: asset, of: currency",
                            "on looked:\n"
                            "    pay spot(underlying) in of\n") +
    tests::product_in_words("bond_calls", "Calls on a bond, one on each of some days.",
                            "days: schedule, maturity: date, strike: amount",
                            "on days:\n"
                            "    pay max(bond(currency, maturity) - strike, 0)\n");

// Discount factors of the curve {zero_rates: {1: 0.02, 5: 0.03, 10: 0.035}}.
inline double usd(double years) {
    const double at1 = -0.02, at5 = -0.15, at10 = -0.35;
    return std::exp(years <= 1   ? at1 * years
                    : years <= 5 ? at1 + (at5 - at1) * (years - 1) / 4
                                 : at5 + (at10 - at5) * (years - 5) / 5);
}

}  // namespace tilewalk
