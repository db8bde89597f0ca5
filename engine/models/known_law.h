// SPDX-License-Identifier: Apache-2.0
// Black volatilities of laws known by their transform, for people; no price uses them.
#pragma once

#include <functional>
#include <optional>

#include "engine/numerics/characteristic.h"

namespace tilewalk::models {

// For a strike of exp(log_moneyness) forwards; empty if the transform gives no price.
std::optional<double> implied_by(const std::function<fourier::characteristic()>& law, double years,
                                 double log_moneyness);

}  // namespace tilewalk::models
