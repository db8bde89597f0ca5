// SPDX-License-Identifier: Apache-2.0
// Black's formula on a forward, undiscounted, and the volatility that a price implies. Off the priced paths.
#pragma once

namespace tilewalk::analytics {

enum class right { call, put };

// `deviation` is the volatility times the root of the years. Accurate relative to the price itself, however
// far out of the money, as long as that can be written as a double.
double black_price(right option, double forward, double strike, double deviation);

// The derivative of the price by the volatility.
double black_vega(double forward, double strike, double volatility, double years);

// The volatility at which black_price is `price`. A price below what exercise is worth, at or above the most
// that any volatility gives, or an argument that is no positive number is a tilewalk::error that says so.
double implied_volatility(right option, double forward, double strike, double years, double price);

}  // namespace tilewalk::analytics
