// SPDX-License-Identifier: Apache-2.0
#include "engine/models/known_law.h"

#include <cmath>

#include "engine/numerics/black.h"
#include "engine/numerics/price.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

std::optional<double> implied_by(const std::function<fourier::characteristic()>& law, double years,
                                 double log_moneyness) {
    try {
        const double strike = std::exp(log_moneyness);
        const fourier::option_prices prices = fourier::vanilla(law(), strike);
        const bool is_call = strike >= 1;
        const double price = is_call ? prices.call : prices.put;
        if (!(prices.error < 1e-6 * price)) return std::nullopt;
        return analytics::implied_volatility(is_call ? analytics::right::call : analytics::right::put, 1,
                                             strike, years, price);
    } catch (const error&) {
        return std::nullopt;  // a parameter at the end of its range, where the transform is only a limit
    }
}

}  // namespace tilewalk::models
