// SPDX-License-Identifier: Apache-2.0
// Black's formula on a forward, undiscounted, and implied volatilities. Not used on priced paths.
#pragma once

namespace tilewalk::analytics {

enum class right { call, put };

// `deviation` is volatility * sqrt(years). Accurate relative to the price, however far out of the money.
double black_price(right option, double forward, double strike, double deviation);

double black_vega(double forward, double strike, double volatility, double years);

// Throws tilewalk::error for an argument that is not positive, or a price that no volatility gives.
double implied_volatility(right option, double forward, double strike, double years, double price);

}  // namespace tilewalk::analytics
