// SPDX-License-Identifier: Apache-2.0
// The error of a tail by its scenarios, a sample: the whole law of the bootstrap, without draws.
#pragma once

#include <cstddef>
#include <span>

namespace tilewalk::risk {

// Standard errors from gains in ascending order, taken to be independent; 0 for one scenario.
struct sampling_errors {
    double quantile = 0, shortfall = 0;
};
// Returns the errors of the gain at a place, from 1 on, and of the mean of the `within` least gains.
sampling_errors sampling_errors_of(std::span<const double> sorted, std::size_t place, std::size_t within);

}  // namespace tilewalk::risk
