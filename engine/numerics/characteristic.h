// SPDX-License-Identifier: Apache-2.0
// The law of X = log(S_T / F_T), given as log E exp(z X), with E exp(X) = 1. engine/numerics/price.h makes
// European prices of it, for calibration and to test the engine. Not used on priced paths.
#pragma once

#include <complex>
#include <functional>
#include <optional>
#include <vector>

namespace tilewalk::fourier {

using complex = std::complex<double>;

// Part of a law: a normal X of this variance, log_mean = log E exp(X), with the weight exp(log_weight).
struct lognormal_part {
    double log_weight = 0, log_mean = 0, variance = 0;
};

// Far up: above `height`, log_moment is valid at every z and continues the branch of the vertical lines. It
// is there z drift + an imaginary multiple of z + a rest whose slope is at most power / |z|^fall.
struct far_field {
    double drift = 0, height = 0, power = 0, fall = 1;
};

// Below `height` the transform may have narrow peaks: panels of integration must not be wider than `width`.
struct ripples {
    double height = 0, width = 0;
};

struct characteristic {
    // log E exp(z X) for 0 < Re z < 1, where every model has it finite and continuous along vertical lines.
    std::function<complex(complex)> log_moment;
    // A lognormal law similar to this one. Subtracting it leaves a smaller integrand that falls sooner.
    std::optional<lognormal_part> like;
    std::optional<far_field> far;
    std::optional<ripples> peaks;
};

struct black_scholes {
    double volatility = 0;
};

// The variance follows dv = kappa (theta - v) dt + sigma sqrt(v) dW; rho is its correlation with the asset.
struct heston {
    double v0 = 0, kappa = 0, theta = 0, sigma = 0, rho = 0;
};

// Heston with piecewise constant parameters; the last piece never ends.
struct heston_piece {
    double until_years = 0, kappa = 0, theta = 0, sigma = 0, rho = 0;
};
struct heston_by_term {
    double v0 = 0;
    std::vector<heston_piece> pieces;
};

// Jumps at a rate of jump_intensity a year; each adds a normal to the log of the price.
struct lognormal_jumps {
    double jump_intensity = 0, jump_mean = 0, jump_sd = 0;
};
struct merton {
    double volatility = 0;
    lognormal_jumps jumps;
};
struct bates {
    heston variance;
    lognormal_jumps jumps;
};

// The log price jumps up with chance p_up, by an exponential number of rate eta_up > 1, or down, of rate
// eta_down.
struct kou {
    double volatility = 0, jump_intensity = 0, p_up = 0, eta_up = 0, eta_down = 0;
};

// A Brownian motion of drift theta and volatility sigma on a gamma clock of mean T and variance nu T.
struct variance_gamma {
    double sigma = 0, nu = 0, theta = 0;
};

// Normal inverse Gaussian.
struct nig {
    double alpha = 0, beta = 0, delta = 0;
};

// Jumps up by x come at the rate C exp(-M x) / x^(1 + Y) a year; for jumps down, G takes the place of M.
struct cgmy {
    double c = 0, g = 0, m = 0, y = 0;
};

// The volatility itself is dvol = kappa (theta - vol) dt + sigma dW.
struct schobel_zhu {
    double vol0 = 0, kappa = 0, theta = 0, sigma = 0, rho = 0;
};

// The law of X at time `years`. Throws tilewalk::error that names a parameter out of range.
characteristic characteristic_of(const black_scholes&, double years);
characteristic characteristic_of(const heston&, double years);
characteristic characteristic_of(const heston_by_term&, double years);
characteristic characteristic_of(const merton&, double years);
characteristic characteristic_of(const bates&, double years);
characteristic characteristic_of(const kou&, double years);
characteristic characteristic_of(const variance_gamma&, double years);
characteristic characteristic_of(const nig&, double years);
characteristic characteristic_of(const cgmy&, double years);
characteristic characteristic_of(const schobel_zhu&, double years);

}  // namespace tilewalk::fourier
