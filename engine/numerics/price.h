// SPDX-License-Identifier: Apache-2.0
// European prices of a law given by its transform (engine/numerics/characteristic.h), each with a bound of
// its error. Everything is undiscounted and for a forward of 1; `strike` is the strike over the forward.
#pragma once

#include <optional>

#include "engine/numerics/characteristic.h"

namespace tilewalk::fourier {

struct option_prices {
    double call = 0, put = 0;
    double error = 0;  // of the one out of the money; the other is it and |1 - strike|, rounded
};

// One unit of money where the price ends above the strike, or below it.
struct digital_prices {
    double above = 0, below = 0;
    double error = 0;
};

// The contour of the integral. The defaults are right for every law. Two contours share no evaluation of the
// transform, so that they check each other.
struct contour {
    std::optional<double> real_part{};  // between 0 and 1; by default 0.5, nearer to an end for far strikes
    bool take_off_what_is_like = true;
    long most_evaluations = 2000000;
};

// The error is about 1e-13 of min(1, strike) wherever the transform falls fast enough for `most_evaluations`,
// and is what was reached where it does not: the caller judges. A result that is not a number is a
// tilewalk::error.
option_prices vanilla(const characteristic& law, double strike, const contour& along = {});
digital_prices digital(const characteristic& law, double strike, const contour& along = {});

}  // namespace tilewalk::fourier
