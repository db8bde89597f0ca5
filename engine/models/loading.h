// SPDX-License-Identifier: Apache-2.0
// Loadings: the noise that remains at the end of a step is the integral of volatility(u) loading(time left)
// dW(u). A mean-reverting rate forgets early noise; its integral remembers early noise most.
#pragma once

#include <cstdint>

#include "engine/market/volatility.h"

namespace tilewalk::models {

struct loading {
    enum class kind : std::uint8_t {
        constant,    // 1
        decaying,    // exp(-decay * left)
        integrated,  // the integral of that, (1 - exp(-decay * left)) / decay
    };
    kind is = kind::constant;
    double decay = 0;

    double at(double left) const;
};

// Returns (1 - exp(-decay * years)) / decay; years if decay is 0.
double integrated_decay(double decay, double years);

// The covariance of two noises over a step, driven by the same Brownian motion.
double covariance(const markets::volatility& one, const loading& by_one, const markets::volatility& other,
                  const loading& by_other, double from, double to);

}  // namespace tilewalk::models
