// SPDX-License-Identifier: Apache-2.0
// Brownian motion on a random clock T with known law: x(t) = drift t + lean T(t) + deviation W(T(t)).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/models/model.h"
#include "engine/numerics/characteristic.h"

namespace tilewalk::models {

class random_clock {
  public:
    virtual ~random_clock() = default;
    virtual program::value over(step& of) const = 0;
};

struct subordinated {
    std::string name;  // name of the model
    std::shared_ptr<const random_clock> clock;
    double drift = 0, lean = 0, deviation = 0;  // such that exp(x) has mean 1
    std::function<fourier::characteristic(double years)> law;
};

// Makes a model in which a step's correlated noise is scaled by the root of the clock's time. Returns of one
// asset are exact; the correlation of two falls short of the stated one, the more so the shorter the steps
// are compared to the clock's jumps.
std::shared_ptr<const model> model_on_clock(subordinated s);

}  // namespace tilewalk::models
