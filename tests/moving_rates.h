// SPDX-License-Identifier: Apache-2.0
// Products for tests of moving rates, as the section `products` of a book, and a curve of dollars.
#pragma once

#include <cmath>
#include <string>

namespace tilewalk {

inline const std::string rate_products = R"(  - product: a_bond
    summary: What a bond is worth on a day, paid then.
    parameters:
      looked: {type: date, help: The day.}
      maturity: {type: date, help: Of the bond.}
    example: {looked: 1.0, maturity: 2.0}
    script: |
      on looked:
          pay bond(currency, maturity)
  - product: a_payment
    summary: One unit, decided on one day and paid on another.
    parameters:
      looked: {type: date, help: The day of decision.}
      maturity: {type: date, help: The day of payment.}
    example: {looked: 1.0, maturity: 2.0}
    script: |
      on looked:
          pay 1 on maturity
  - product: in_other
    summary: One unit of another currency, decided on one day and paid on another.
    parameters:
      looked: {type: date, help: The day of decision.}
      maturity: {type: date, help: The day of payment.}
      of: {type: currency, help: What is paid.}
    example: {looked: 1.0, maturity: 2.0, of: EUR}
    script: |
      on looked:
          pay 1 in of on maturity
  - product: a_spot
    summary: An asset, in its currency.
    parameters:
      looked: {type: date, help: The day.}
      underlying: {type: asset, help: The asset.}
      of: {type: currency, help: Its currency.}
    example: {looked: 1.0, underlying: A, of: USD}
    script: |
      on looked:
          pay spot(underlying) in of
  - product: bond_calls
    summary: Calls on a bond, one on each of some days.
    parameters:
      days: {type: schedule, help: The days of exercise.}
      maturity: {type: date, help: Of the bond.}
      strike: {type: amount, help: What is paid for it.}
    example: {days: [1.0], maturity: 2.0, strike: 0.9}
    script: |
      on days:
          pay max(bond(currency, maturity) - strike, 0)
)";

// The discount factors of {zero_rates: {1: 0.02, 5: 0.03, 10: 0.035}}.
inline double usd(double years) {
    const double at1 = -0.02, at5 = -0.15, at10 = -0.35;
    return std::exp(years <= 1   ? at1 * years
                    : years <= 5 ? at1 + (at5 - at1) * (years - 1) / 4
                                 : at5 + (at10 - at5) * (years - 5) / 5);
}

}  // namespace tilewalk
