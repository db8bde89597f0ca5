// SPDX-License-Identifier: Apache-2.0
// Loadings: how noise dW(u) within a step counts at its end, in the integral of volatility(u) loading(time
// left) dW(u). A mean-reverting rate forgets early noise; its time integral depends most on it.
#pragma once

#include <cstdint>

#include "engine/market/volatility.h"

namespace tilewalk::models {

struct loading {
    enum class shape : std::uint8_t {
        constant,    // loading 1
        decaying,    // loading exp(-decay * left)
        integrated,  // integral of `decaying`: (1 - exp(-decay * left)) / decay
    };
    shape is = shape::constant;
    double decay = 0;

    double at(double left) const;
};

// Returns (1 - exp(-decay * years)) / decay, which is `years` if decay is 0.
double integrated_decay(double decay, double years);

// The covariance over a step of two noises that are driven by the same Brownian motion.
double covariance(const markets::volatility& one, const loading& by_one, const markets::volatility& other,
                  const loading& by_other, double from, double to);

}  // namespace tilewalk::models
