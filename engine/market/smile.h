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
    double steepest_wing() const;  // the slope of the steeper of the two, without its sign
};

// Total variance and its derivatives by log-moneyness.
struct smile_point {
    double variance = 0, slope = 0, curvature = 0;
};

// Gatheral's g: how the density of the spot compares to that of the lognormal law with the total variance of
// the point; below 0 a butterfly costs less than nothing. -1 where the variance is not positive, which no law
// has.
double density_ratio(const smile_point& w, double log_moneyness);

// Total variance by x = log(strike / forward). Between quotes it is the natural cubic spline through them,
// beyond them a straight line with the slope that the spline ends with. Lee's bound holds: variance rises
// outwards, with a slope of at most 2. A spline that ends with another slope goes over to the nearest one on
// a stretch as long as it would take to get to zero variance; value, slope and curvature stay continuous.
class smile {
  public:
    // At least two points, x strictly increasing, variances positive.
    static smile through(std::vector<double> x, std::vector<double> variances);
    // b >= 0, |rho| < 1, sigma > 0, least variance >= 0, steepest wing <= 2.
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
