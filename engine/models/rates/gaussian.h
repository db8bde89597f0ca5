// SPDX-License-Identifier: Apache-2.0
// Gaussian short rates without paths: bonds, bond options, caps, swaptions and futures in closed form or by
// one quadrature. Used for calibration and as truths in tests, not for prices.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "engine/market/curve.h"
#include "engine/models/parameters.h"
#include "engine/numerics/black.h"

namespace tilewalk::rates {

// dx = -mean_reversion x dt + volatility(t) dW, x(0) = 0. mean_reversion may be 0.
struct factor {
    double mean_reversion = 0;
    models::by_term volatility;
};

// The short rate is one factor (Hull-White) or the sum of two correlated ones (G2++), plus the function of
// time that reproduces the curve's bonds. Zero volatility of the second factor makes it a one-factor model.
struct gaussian_rates {
    std::array<factor, 2> factors;
    double correlation = 0;
};
gaussian_rates hull_white(double mean_reversion, models::by_term volatility);
gaussian_rates g2(double a, double sigma, double b, double eta, double rho);

// The factors in the forward measure to `years`: f(factors) is worth the discount factor times its mean.
struct factor_law {
    std::array<double, 2> mean{}, deviation{};
    double correlation = 0;
};
factor_law law_at(const gaussian_rates& model, double years);

// The price at `years`, given the factors x then, of 1 paid at `maturity`.
double bond(const gaussian_rates& model, const markets::curve& curve, double years, double maturity,
            const std::array<double, 2>& x);

// Values below are as of today for a notional of 1, with times in years from today. A call gains from a rise
// of the bond in bond_option, and of the rate in the others (caplet, cap, payer swaption).
double bond_option(analytics::right option, const gaussian_rates& model, const markets::curve& curve,
                   double expiry, double maturity, double strike);

// Interest over `accrual` years at the simple rate from start to end, fixed at the start and paid at the end.
struct period {
    double start = 0, end = 0, accrual = 0;
};
double caplet(analytics::right option, const gaussian_rates& model, const markets::curve& curve,
              const period& fixed, double strike);
double cap(analytics::right option, const gaussian_rates& model, const markets::curve& curve,
           std::span<const period> periods, double strike);

// Fixed payments of `strike` times accrual against the floating rate, from `start` to the last payment.
struct swap_terms {
    double start = 0;
    std::vector<double> payments, accruals;
};
double annuity(const markets::curve& curve, const swap_terms& swap);
double swap_rate(const markets::curve& curve, const swap_terms& swap);
// The swap must not start before the expiry. Exact to rounding with one factor, to about 1e-13 with two.
double swaption(analytics::right option, const gaussian_rates& model, const markets::curve& curve,
                double expiry, const swap_terms& swap, double strike);

// The continuously compounded convexity of a daily settled future, per year: 1 + (end - start) times the
// future's simple rate is the forward's times exp((end - start) * result). If start equals end, the
// difference of the instantaneous rates.
double futures_convexity(const gaussian_rates& model, double start, double end);

}  // namespace tilewalk::rates
