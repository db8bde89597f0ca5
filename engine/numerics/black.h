// SPDX-License-Identifier: Apache-2.0
// Black's formula on a forward, undiscounted, and implied volatilities. Not used on priced paths.
#pragma once

namespace tilewalk::analytics {

enum class right { call, put };

// `deviation` is volatility * sqrt(years). Accurate relative to the price, however far out of the money, as
// long as a double can hold it.
double black_price(right option, double forward, double strike, double deviation);

double black_vega(double forward, double strike, double volatility, double years);

// Throws tilewalk::error if an argument is not positive, or if `price` is below the value of exercise or not
// below the limit for infinite volatility.
double implied_volatility(right option, double forward, double strike, double years, double price);

}  // namespace tilewalk::analytics
