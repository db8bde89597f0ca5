// SPDX-License-Identifier: Apache-2.0
// Black volatilities of laws with a known characteristic function, to show to people; no price uses them.
#pragma once

#include <functional>
#include <optional>

#include "engine/numerics/characteristic.h"

namespace tilewalk::models {

// Black volatility at a strike of exp(log_moneyness) forwards; empty if the transform gives no price.
std::optional<double> implied_by(const std::function<fourier::characteristic()>& law, double years,
                                 double log_moneyness);

}  // namespace tilewalk::models
