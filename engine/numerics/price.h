// SPDX-License-Identifier: Apache-2.0
// European prices of a law given by its transform (engine/numerics/characteristic.h), with error bounds.
// Undiscounted, for a forward of 1; `strike` is strike over forward.
#pragma once

#include <optional>

#include "engine/numerics/characteristic.h"

namespace tilewalk::fourier {

struct option_prices {
    double call = 0, put = 0;
    double error = 0;  // of the out-of-the-money option; the other one adds |1 - strike|, rounded
};

struct digital_prices {
    double above = 0, below = 0;
    double error = 0;
};

// The line of integration. The defaults suit every law. Lines share no evaluation, so two check each other.
struct contour {
    std::optional<double> real_part{};  // in (0, 1); empty: 0.5, nearer to an end for far strikes
    bool take_off_what_is_like = true;
    long most_evaluations = 2000000;
};

// Prices of a call and a put. Errors are about 1e-13 of min(1, strike); larger, and stated, if the transform
// falls too slowly for `most_evaluations`. Throws tilewalk::error if the result is not finite.
option_prices vanilla(const characteristic& law, double strike, const contour& along = {});
digital_prices digital(const characteristic& law, double strike, const contour& along = {});

}  // namespace tilewalk::fourier
