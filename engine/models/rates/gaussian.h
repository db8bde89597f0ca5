// SPDX-License-Identifier: Apache-2.0
// Gaussian short rates without a path: bonds, bond options, caps, swaptions and futures in closed form or by
// one quadrature. Off the priced paths: it is for calibration and as the truth of what paths give.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "engine/market/curve.h"
#include "engine/models/parameters.h"
#include "engine/numerics/black.h"

namespace tilewalk::rates {

// dx = -mean_reversion x dt + volatility(t) dW, from 0. Mean reversion may be zero.
struct factor {
    double mean_reversion = 0;
    models::by_term volatility;
};

// The short rate is the sum of one factor (Hull and White) or of two correlated ones (G2++), and of that
// function of time which gives the curve's bonds their prices today. A second factor without volatility is
// none at all, which is how the first stands alone.
struct gaussian_rates {
    std::array<factor, 2> factors;
    double correlation = 0;
};
gaussian_rates hull_white(double mean_reversion, models::by_term volatility);
gaussian_rates g2(double a, double sigma, double b, double eta, double rho);

// The factors at `years`, jointly normal, in the measure of the bond that matures then: a payment at `years`
// of f(factors) is worth the curve's discount factor times the mean of f.
struct factor_law {
    std::array<double, 2> mean{}, deviation{};
    double correlation = 0;
};
factor_law law_at(const gaussian_rates& model, double years);

// The price at `years` of 1 paid at `maturity`, where the factors are x then.
double bond(const gaussian_rates& model, const markets::curve& curve, double years, double maturity,
            const std::array<double, 2>& x);

// Everything below is worth today, in years from today, for a notional of 1. A call gains when its underlying
// rises: the bond in bond_option, and the rate in the others (caplet, cap, payer swaption).
double bond_option(analytics::right option, const gaussian_rates& model, const markets::curve& curve,
                   double expiry, double maturity, double strike);

// Interest for `accrual` years at the simple rate from start to end, fixed at its start and paid at its end.
struct period {
    double start = 0, end = 0, accrual = 0;
};
double caplet(analytics::right option, const gaussian_rates& model, const markets::curve& curve,
              const period& fixed, double strike);
double cap(analytics::right option, const gaussian_rates& model, const markets::curve& curve,
           std::span<const period> periods, double strike);

// Fixed payments of `strike` times their accruals against the floating rate from the start to the last of
// them.
struct swap_terms {
    double start = 0;
    std::vector<double> payments, accruals;
};
double annuity(const markets::curve& curve, const swap_terms& swap);
double swap_rate(const markets::curve& curve, const swap_terms& swap);
// The swap starts at the expiry or later. Exact but for rounding with one factor, to about 1e-13 with two.
double swaption(analytics::right option, const gaussian_rates& model, const markets::curve& curve,
                double expiry, const swap_terms& swap, double strike);

// The excess of the rate of a future that settles daily over the forward rate, continuously compounded, per
// year: 1 + (end - start) times the future's simple rate is exp((end - start) times this) times as much of
// the forward's. If start and end are one, it is the difference of the instantaneous rates.
double futures_convexity(const gaussian_rates& model, double start, double end);

}  // namespace tilewalk::rates
