// SPDX-License-Identifier: Apache-2.0
// The error that a tail has since its scenarios are a sample: by the bootstrap over scenarios, of which the
// whole law is computed instead of drawing from it.
#pragma once

#include <cstddef>
#include <span>

namespace tilewalk::risk {

// Standard errors from gains in ascending order, taken to be independent. With one scenario they are 0.
struct sampling_errors {
    double quantile = 0, shortfall = 0;
};
// The errors of the gain at a place, the first being 1, and of the mean of so many of the least gains.
sampling_errors sampling_errors_of(std::span<const double> sorted, std::size_t place, std::size_t within);

}  // namespace tilewalk::risk
