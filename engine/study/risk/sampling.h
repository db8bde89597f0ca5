// SPDX-License-Identifier: Apache-2.0
// The error of a tail as its scenarios are a sample: the exact bootstrap error, without drawing resamples.
#pragma once

#include <cstddef>
#include <span>

namespace tilewalk::risk {

// Standard errors of a tail, from gains taken as independent; 0 for one scenario.
struct sampling_errors {
    double quantile = 0, shortfall = 0;
};
// Returns the errors of the gain at `place`, from 1 on, and of the mean of the `within` lowest gains.
sampling_errors sampling_errors_of(std::span<const double> sorted, std::size_t place, std::size_t within);

}  // namespace tilewalk::risk
