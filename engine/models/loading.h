// SPDX-License-Identifier: Apache-2.0
// Loadings: the part of a noise that is left at the end of a step, the integral over the step of
// volatility(u) times what a loading makes of the time that is left, by a Brownian motion. A rate that
// reverts to its mean forgets what came early; the integral of such a rate remembers it most.
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

// (1 - exp(-decay * years)) / decay, and years where decay is 0.
double integrated_decay(double decay, double years);

// The covariance of two noises over a step, by Brownian motions with correlation 1.
double covariance(const markets::volatility& one, const loading& by_one, const markets::volatility& other,
                  const loading& by_other, double from, double to);

}  // namespace tilewalk::models
