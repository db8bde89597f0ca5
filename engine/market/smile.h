// SPDX-License-Identifier: Apache-2.0
// A smile: the total variance of one expiry as a function of log-moneyness.
#pragma once

#include <utility>
#include <variant>
#include <vector>

namespace tilewalk::markets {

// Gatheral's raw form: w(x) = a + b (rho (x - m) + sqrt((x - m)^2 + sigma^2)).
struct svi_parameters {
    double a = 0, b = 0, rho = 0, m = 0, sigma = 0;

    double least_variance() const;
    double steepest_wing() const;  // absolute slope of the steeper wing
};

struct smile_point {
    double variance = 0, slope = 0, curvature = 0;
};

// Gatheral's g: the ratio of the spot's density to that of the lognormal law with the same total variance.
// Negative means butterfly arbitrage. Returns -1 if the variance is not positive.
double density_ratio(const smile_point& w, double log_moneyness);

// Total variance as a function of x = log(strike / forward): a natural cubic spline through the quotes,
// continued by straight lines with its end slopes. Beyond the quotes variance must rise outwards with a slope
// of 0 to 2 (Lee's bound). An invalid end slope turns to the nearest valid one over the distance variance /
// |slope|, with value, slope and curvature continuous.
class smile {
  public:
    // Requires at least two points, strictly increasing x, and positive variances.
    static smile through(std::vector<double> x, std::vector<double> variances);
    // Requires b >= 0, |rho| < 1, sigma > 0, least_variance() >= 0, steepest_wing() <= 2.
    static smile svi(const svi_parameters& parameters);

    smile_point at(double x) const;

  private:
    struct spline {
        std::vector<double> x, variances, curvatures;
        double first_slope = 0, last_slope = 0;
    };

    explicit smile(std::variant<svi_parameters, spline> form) : form_(std::move(form)) {}
    static smile_point between(const spline& s, double x);

    std::variant<svi_parameters, spline> form_;
};

}  // namespace tilewalk::markets
