// SPDX-License-Identifier: Apache-2.0
// The words that a law known by its transform has to people of a model: Black's volatility of an option. Off
// the priced paths.
#pragma once

#include <functional>
#include <optional>

#include "engine/numerics/characteristic.h"

namespace tilewalk::models {

// For a strike of exp(log_moneyness) forwards; empty where the transform gives no price.
std::optional<double> implied_by(const std::function<fourier::characteristic()>& law, double years,
                                 double log_moneyness);

}  // namespace tilewalk::models
