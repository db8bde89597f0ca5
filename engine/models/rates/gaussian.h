// SPDX-License-Identifier: Apache-2.0
// Gaussian short rates without paths: bonds, bond options, caps, swaptions and futures, in closed form or by
// one quadrature. Calibration and truths of tests use them, prices do not.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "engine/market/curve.h"
#include "engine/models/parameters.h"
#include "engine/numerics/black.h"

namespace tilewalk::rates {

// A factor of the rate: dx = -mean_reversion x dt + volatility(t) dW, x(0) = 0. mean_reversion may be 0.
struct factor {
    double mean_reversion = 0;
    models::by_term volatility;
};

// The short rate is one factor (Hull-White) or the sum of two correlated factors (G2++), plus a function of
// time with which bonds are the curve's. With a second factor of volatility 0 there is one factor.
struct gaussian_rates {
    std::array<factor, 2> factors;
    double correlation = 0;
};
gaussian_rates hull_white(double mean_reversion, models::by_term volatility);
gaussian_rates g2(double a, double sigma, double b, double eta, double rho);

// Law of the factors x in the forward measure: f(x) at `years` is worth the discount factor times its mean.
struct factor_law {
    std::array<double, 2> mean{}, deviation{};
    double correlation = 0;
};
factor_law law_at(const gaussian_rates& model, double years);

// Price at `years` of 1 paid at `maturity`, given the factors x at `years`.
double bond(const gaussian_rates& model, const markets::curve& curve, double years, double maturity,
            const std::array<double, 2>& x);

// Prices as of today for a notional of 1, with times in years from today. A call of bond_option gains from a
// rise of the bond; a call of the others gains from a rise of the rate (caplet, cap, payer swaption).
double bond_option(analytics::right option, const gaussian_rates& model, const markets::curve& curve,
                   double expiry, double maturity, double strike);

// Interest over `accrual` years at the simple rate from `start` to `end`, fixed at `start` and paid at `end`.
struct period {
    double start = 0, end = 0, accrual = 0;
};
double caplet(analytics::right option, const gaussian_rates& model, const markets::curve& curve,
              const period& fixed, double strike);
double cap(analytics::right option, const gaussian_rates& model, const markets::curve& curve,
           std::span<const period> periods, double strike);

// A swap of strike * accrual at each payment against the floating rate, from `start` to the last payment.
struct swap_terms {
    double start = 0;
    std::vector<double> payments, accruals;
};
double annuity(const markets::curve& curve, const swap_terms& swap);
double swap_rate(const markets::curve& curve, const swap_terms& swap);
// The swap must not start before the expiry. Prices are exact to rounding, with two factors to about 1e-13.
double swaption(analytics::right option, const gaussian_rates& model, const markets::curve& curve,
                double expiry, const swap_terms& swap, double strike);

// Continuously compounded convexity c a year of a daily settled future. With T = end - start, 1 + T times its
// simple rate is (1 + T times the forward's) exp(T c). If T is 0, the difference of instantaneous rates.
double futures_convexity(const gaussian_rates& model, double start, double end);

}  // namespace tilewalk::rates
