// SPDX-License-Identifier: Apache-2.0
// Rough volatility on a time grid: Y(t) is the integral of sqrt(2H) (t - s)^(H - 1/2) dZ(s) from 0 to t.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tilewalk::models {

// The sum of weights[j] exp(-rates[j] t), which approximates sqrt(2H) t^(H - 1/2).
struct exponentials {
    std::vector<double> rates, weights;
    double error = 0;  // largest relative error for t from shortest to longest
};
// Returns the fewest terms within 5e-4, at most 16: eight or ten if longest / shortest is 250, 16 if 1e6.
exponentials fit_power(double hurst, double shortest, double longest);

// A step of the process from its noise dZ and a fresh normal n. Each factor f carries the past:
//   Y after the step = of_move dZ + of_fresh n + the sum of decay f,
//   f after the step = decay f + of_move dZ + of_fresh n, with the factor's own numbers.
// Covariances are within 1.5e-3 on even steps, within 1e-2 if dates interrupt even steps. After a step a
// hundred times shorter than its predecessor Y lacks up to a tenth of its variance, which two numbers can't
// represent.
class rough_noise {
  public:
    struct factor {
        double decay = 0, of_move = 0, of_fresh = 0;
    };
    struct step {
        double of_move = 0, of_fresh = 0;
        std::vector<factor> factors;
        double variance = 0;  // variance of Y after the step by these numbers
    };

    rough_noise(double hurst, std::span<const double> grid);

    std::size_t factors() const { return kernel_.rates.size(); }
    const exponentials& kernel() const { return kernel_; }
    const step& from(double time) const;
    std::span<const step> steps() const { return steps_; }

  private:
    exponentials kernel_;
    std::vector<double> starts_;
    std::vector<step> steps_;
};

}  // namespace tilewalk::models
