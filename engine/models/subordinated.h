// SPDX-License-Identifier: Apache-2.0
// Brownian motion on a clock of its own, which runs at random and is known by its law alone:
// x(t) = drift t + lean T(t) + deviation W(T(t)).
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
    // The time that it runs in a step: exact for a step of any length.
    virtual program::value over(step& of) const = 0;
};

struct subordinated {
    std::string name;  // of the model
    std::shared_ptr<const random_clock> clock;
    double drift = 0, lean = 0, deviation = 0;  // exp(x) has mean 1
    std::function<fourier::characteristic(double years)> law;
};

// The noise of a step, which correlations with others are of, is scaled by the root of the time that the
// clock went instead of that of the step. So returns are exact for each asset alone; what they share with
// another asset's falls short of the correlation given, and by the more the shorter steps are beside the
// clock's jumps.
std::shared_ptr<const model> model_on_clock(subordinated s);

}  // namespace tilewalk::models
