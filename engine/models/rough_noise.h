// SPDX-License-Identifier: Apache-2.0
// The Gaussian process of rough volatility on a grid of times: Y(t) is the integral of
// sqrt(2H) (t - s)^(H - 1/2) dZ(s) from 0 to t, of variance t^(2H).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tilewalk::models {

// The sum of weight exp(-rate t) that stands for sqrt(2H) t^(H - 1/2).
struct exponentials {
    std::vector<double> rates, weights;
    double error = 0;  // the largest from shortest to longest, relative
};
// As few as keep the error within 5e-4, but no more than 16: for a range of 250 eight or ten, for one of 1e6
// sixteen. Beyond that the error grows.
exponentials fit_power(double hurst, double shortest, double longest);

// A step of the process, given the noise dZ over it and a fresh normal n. Each factor f keeps the past:
//   Y after the step = of_move dZ + of_fresh n + the sum of decay f,
//   f after the step = decay f + of_move dZ + of_fresh n, with the factor's own numbers.
// Covariances are within 1.5e-3 where steps are even, within 1e-2 where dates break even steps. After a step
// that is a hundred times shorter than the one before it Y lacks up to a tenth of its variance: what the two
// numbers leave out.
class rough_noise {
  public:
    struct factor {
        double decay = 0, of_move = 0, of_fresh = 0;
    };
    struct step {
        double of_move = 0, of_fresh = 0;
        std::vector<factor> factors;
        double variance = 0;  // of Y after the step, as these numbers make it
    };

    rough_noise(double hurst, std::span<const double> grid);

    std::size_t factors() const { return kernel_.rates.size(); }
    const exponentials& kernel() const { return kernel_; }
    // The step that starts at a time of the grid.
    const step& from(double time) const;
    std::span<const step> steps() const { return steps_; }

  private:
    exponentials kernel_;
    std::vector<double> starts_;
    std::vector<step> steps_;
};

}  // namespace tilewalk::models
