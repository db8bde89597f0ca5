// SPDX-License-Identifier: Apache-2.0
// No formula divides by a parameter that may be zero, and no logarithm leaves its principal branch.
#include "engine/numerics/characteristic.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "engine/numerics/gauss_kronrod.h"
#include "tilewalk/error.h"

namespace tilewalk::fourier {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void need(bool good, const char* model, const char* name, double value, const std::string& expected) {
    if (good && std::isfinite(value)) return;
    throw error(error_kind::input, fmt::format("{} of {} is {}; expected {}", name, model, value, expected));
}

void need_positive(const char* model, const char* name, double value) {
    need(value > 0, model, name, value, "a number above 0");
}

void need_not_negative(const char* model, const char* name, double value) {
    need(value >= 0, model, name, value, "0 or more");
}

void need_correlation(const char* model, double rho) {
    need(std::abs(rho) <= 1, model, "rho", rho, "a number from -1 to 1");
}

// exp(-x) in `left` and 1 - exp(-x) in `gone`, accurate for small x.
struct decay {
    complex left, gone;

    explicit decay(complex x) {
        const double a = x.real(), b = x.imag(), half = std::sin(0.5 * b), size = std::exp(-a);
        left = {size * std::cos(b), -size * std::sin(b)};
        gone = {2 * half * half - std::expm1(-a) * std::cos(b), size * std::sin(b)};
    }
};

complex one_less_exp(complex x) {
    return decay(x).gone;
}

double one_less_exp(double x) {
    return -std::expm1(-x);
}

template <class number>
number mean_exp(number x) {
    return std::abs(x) == 0 ? number(1) : one_less_exp(x) / x;
}

// log(1 + x), accurate for small x.
complex log1p(complex x) {
    const double a = x.real(), b = x.imag();
    if (std::abs(a) > 0.5 || std::abs(b) > 0.5) return std::log(1.0 + x);
    return {0.5 * std::log1p(a * (2 + a) + b * b), std::atan2(b, 1 + a)};
}

// The mean of the integral of v over [0, years], for dv = kappa (theta - v) dt + noise.
double integrated_mean(double v0, double kappa, double theta, double years) {
    return theta * years + (v0 - theta) * years * mean_exp(kappa * years);
}

// For the Riccati equation D' = -c/2 - xi D + sigma^2/2 D^2: d = sqrt(xi^2 + sigma^2 c), plus = d + xi, minus
// = d - xi. Both without cancellation, as plus * minus = sigma^2 c.
struct roots {
    complex d, plus, minus;
    bool xi_leads = true;  // |plus| >= |minus|

    roots(complex xi, double sigma, complex c) {
        const double square = sigma * sigma;
        d = std::sqrt(xi * xi + square * c);
        xi_leads = xi.real() * d.real() + xi.imag() * d.imag() >= 0;
        if (xi_leads) {
            plus = d + xi;
            minus = std::abs(plus) > 0 ? square * c / plus : complex(0);
        } else {
            minus = d - xi;
            plus = square * c / minus;
        }
    }
};

struct stretch {
    double years = 0, kappa = 0, theta = 0, sigma = 0, rho = 0;

    // The height of z above which exp(-d t) and further terms of d are small; infinite if there is none. Far
    // up, d is sigma sqrt(1 - rho^2) z / i, and the solution is -(rho - i sqrt(1 - rho^2)) z / sigma.
    double far_height() const {
        const double rest = (1 - rho) * (1 + rho);
        if (!(sigma > 0 && rest > 0)) return infinity;
        return std::max({12 / (sigma * std::sqrt(rest) * years),
                         2 * std::abs(1 - 2 * kappa * rho / sigma) / rest,
                         2 * kappa / (sigma * std::sqrt(rest))});
    }
};

// Heston's law backwards over a stretch of constant parameters: E exp(z X + psi v_end) = exp(z X_start +
// constant + slope v_start). The denominator is that of the "little trap", off the logarithm's cut.
struct affine {
    complex constant = 0, slope = 0;
};
affine heston_back(const stretch& s, complex z, complex psi) {
    const complex c = z * (1.0 - z), xi = s.kappa - s.rho * s.sigma * z;
    const double square = s.sigma * s.sigma;
    const roots r(xi, s.sigma, c);
    const complex dt = r.d * s.years;
    affine out;
    if (std::abs(dt) < 0.05) {
        // d may be zero, so all is written in (1 - exp(-d t)) / d.
        const auto denominator = [&](double t, complex f) {
            return 1.0 + 0.5 * ((xi - square * psi) * t - r.d * t) * f;
        };
        const auto slope = [&](double t) {
            const complex f = mean_exp(r.d * t);
            return (psi * (1.0 - 0.5 * (r.d + xi) * t * f) - 0.5 * c * t * f) / denominator(t, f);
        };
        out.slope = slope(s.years);
        if (std::abs(xi) * s.years < 1 && square * std::abs(psi) * s.years < 1) {
            out.constant = s.kappa * s.theta * analytics::gauss_kronrod(slope, 0, s.years).value;
        } else {
            const complex y = denominator(s.years, mean_exp(dt));
            out.constant = -s.kappa * s.theta / square * (r.minus * s.years + 2.0 * std::log(y));
        }
        return out;
    }
    const decay share(dt);
    const complex e = share.left, less = share.gone;
    const complex y = r.plus + r.minus * e - square * psi * less;
    out.slope = (psi * (r.minus + r.plus * e) - c * less) / y;
    if (r.xi_leads) {
        // y / (2 d) = 1 - sigma^2 w
        const complex rate = c / r.plus, w = (rate + psi) * less / (2.0 * r.d);
        const complex log_y = square == 0 ? -w : log1p(-square * w) / square;
        out.constant = -s.kappa * s.theta * (rate * s.years + 2.0 * log_y);
    } else {
        out.constant = -s.kappa * s.theta / square * (r.minus * s.years + 2.0 * std::log(y / (2.0 * r.d)));
    }
    return out;
}

void check(const char* model, const stretch& s) {
    need_not_negative(model, "kappa", s.kappa);
    need_not_negative(model, "theta", s.theta);
    need_not_negative(model, "sigma", s.sigma);
    need_correlation(model, s.rho);
}

// log E exp(z J) of the jumps J until `years`, with the drift that makes it 0 at z = 1.
struct jump_law {
    double rate = 0;   // mean number of jumps
    double drift = 0;  // mean of exp(one jump), minus 1
    lognormal_jumps jumps;

    complex operator()(complex z) const {
        const complex one = z * (jumps.jump_mean + 0.5 * jumps.jump_sd * jumps.jump_sd * z);
        return rate * (-one_less_exp(-one) - z * drift);
    }

    // The transform's peaks lie where v mean is a multiple of 2 pi (v = Im z), and are 1 / (mean sqrt(rate))
    // wide. The spread of the jumps, or a diffusion of this variance, levels them from some height on.
    std::optional<ripples> peaks(double variance) const {
        const double mean = std::abs(jumps.jump_mean), sd = jumps.jump_sd;
        double height = 1e18;
        if (sd > 0) height = std::sqrt(2 * std::log(std::max(1.0, 100 * rate))) / sd;
        if (sd > 0 && rate > 40) height = std::min(height, std::sqrt(-2 * std::log1p(-40 / rate)) / sd);
        if (variance > 0) height = std::min(height, std::sqrt(80 / variance));
        if (!(mean * rate > 0)) return std::nullopt;
        return ripples{height, 3 / (mean * std::sqrt(std::max(1.0, rate)))};
    }
};

jump_law checked(const char* model, const lognormal_jumps& j, double years) {
    need_not_negative(model, "jump_intensity", j.jump_intensity);
    need_not_negative(model, "jump_sd", j.jump_sd);
    const double log_mean = j.jump_mean + 0.5 * j.jump_sd * j.jump_sd;
    need(log_mean < 100, model, "jump_mean", j.jump_mean, "jumps by less than exp(100) on average");
    return {j.jump_intensity * years, std::expm1(log_mean), j};
}

}  // namespace

characteristic characteristic_of(const black_scholes& m, double years) {
    need_positive("black_scholes", "the maturity", years);
    need_not_negative("black_scholes", "volatility", m.volatility);
    const double variance = m.volatility * m.volatility * years;
    return {
        [=](complex z) { return -0.5 * variance * z * (1.0 - z); }, lognormal_part{0, 0, variance}, {}, {}};
}

characteristic characteristic_of(const heston& m, double years) {
    return characteristic_of(heston_by_term{m.v0, {{infinity, m.kappa, m.theta, m.sigma, m.rho}}}, years);
}

characteristic characteristic_of(const heston_by_term& m, double years) {
    const char* const model = "heston";
    need_positive(model, "the maturity", years);
    need_not_negative(model, "v0", m.v0);
    if (m.pieces.empty()) throw error(error_kind::input, "heston by term has no piece; expected one or more");
    std::vector<stretch> stretches;
    double from = 0, mean = m.v0, variance = 0, drift = 0, height = 0;
    for (std::size_t i = 0; i < m.pieces.size() && from < years; ++i) {
        const heston_piece& p = m.pieces[i];
        if (!(p.until_years > from)) {
            throw error(error_kind::input,
                        fmt::format("until_years of piece {} of heston is {}; expected more than {}", i + 1,
                                    p.until_years, from));
        }
        const double to = i + 1 == m.pieces.size() ? years : std::min(p.until_years, years);
        stretches.push_back({to - from, p.kappa, p.theta, p.sigma, p.rho});
        check(model, stretches.back());
        height = std::max(height, stretches.back().far_height());
        if (std::isfinite(height)) {
            drift -= p.rho / p.sigma * (p.kappa * p.theta * (to - from) + (i == 0 ? m.v0 : 0.0));
        }
        variance += integrated_mean(mean, p.kappa, p.theta, to - from);
        mean = p.theta + (mean - p.theta) * std::exp(-p.kappa * (to - from));
        from = to;
    }
    return {
        [v0 = m.v0, stretches = std::move(stretches)](complex z) {
            affine sum;
            for (std::size_t i = stretches.size(); i-- > 0;) {
                const affine step = heston_back(stretches[i], z, sum.slope);
                sum = {sum.constant + step.constant, step.slope};
            }
            return sum.constant + sum.slope * v0;
        },
        lognormal_part{0, 0, variance},
        variance > 0 && std::isfinite(height) ? std::optional<far_field>({drift, height, 0}) : std::nullopt,
        {}};
}

characteristic characteristic_of(const merton& m, double years) {
    need_positive("merton", "the maturity", years);
    need_not_negative("merton", "volatility", m.volatility);
    const jump_law jumps = checked("merton", m.jumps, years);
    const double variance = m.volatility * m.volatility * years;
    return {[=](complex z) { return jumps(z) - 0.5 * variance * z * (1.0 - z); },
            lognormal_part{-jumps.rate, -jumps.rate * jumps.drift, variance},
            {},
            jumps.peaks(variance)};
}

characteristic characteristic_of(const bates& m, double years) {
    characteristic law = characteristic_of(m.variance, years);
    const jump_law jumps = checked("bates", m.jumps, years);
    law.log_moment = [=, without = std::move(law.log_moment)](complex z) { return without(z) + jumps(z); };
    law.peaks = jumps.peaks(0);
    law.like->log_weight = -jumps.rate;
    law.like->log_mean = -jumps.rate * jumps.drift;
    if (law.far && jumps.rate > 0) {
        const double mean = std::abs(m.jumps.jump_mean), sd = m.jumps.jump_sd;
        if (sd > 0) {  // up to half the height sideways, at most exp(-45) of a jump's transform is left
            law.far->height = std::max({law.far->height, 12 / sd, 8 * mean / (sd * sd)});
            law.far->drift -= jumps.rate * jumps.drift;
        } else {
            law.far.reset();
        }
    }
    return law;
}

characteristic characteristic_of(const kou& m, double years) {
    need_positive("kou", "the maturity", years);
    need_not_negative("kou", "volatility", m.volatility);
    need_not_negative("kou", "jump_intensity", m.jump_intensity);
    need(m.p_up >= 0 && m.p_up <= 1, "kou", "p_up", m.p_up, "a chance from 0 to 1");
    need(m.eta_up > 1, "kou", "eta_up", m.eta_up, "a number above 1, or the price has no mean");
    need_positive("kou", "eta_down", m.eta_down);
    const double rate = m.jump_intensity * years, variance = m.volatility * m.volatility * years;
    const auto jump = [m](auto z) {
        return m.p_up * z / (m.eta_up - z) - (1 - m.p_up) * z / (m.eta_down + z);
    };
    const double drift = jump(1.0);
    return {[=](complex z) { return rate * (jump(z) - z * drift) - 0.5 * variance * z * (1.0 - z); },
            lognormal_part{-rate, -rate * drift, variance},
            {},
            {}};
}

characteristic characteristic_of(const variance_gamma& m, double years) {
    const char* const model = "variance_gamma";
    need_positive(model, "the maturity", years);
    need_not_negative(model, "sigma", m.sigma);
    need_positive(model, "nu", m.nu);
    const double half_square = 0.5 * m.sigma * m.sigma, at_one = m.nu * (m.theta + half_square);
    need(at_one < 1, model, "theta", m.theta, "theta + sigma^2 / 2 below 1 / nu, or the price has no mean");
    const double shape = years / m.nu, drift = shape * std::log1p(-at_one);
    // Splits 1 - nu z (theta + sigma^2 z / 2) into (1 - z / up) (1 + z / down): in the upper half plane each
    // factor stays on its side of the real axis, off the logarithm's cut.
    const double root = std::hypot(m.theta, std::sqrt(4 * half_square / m.nu));
    const double one_over_up = 0.5 * m.nu * (root + m.theta), one_over_down = 0.5 * m.nu * (root - m.theta);
    return {[=, nu = m.nu, theta = m.theta](complex z) {
                const complex x = nu * z * (theta + half_square * z);
                const complex log =
                    std::abs(x) < 0.5 ? log1p(-x) : log1p(-z * one_over_up) + log1p(z * one_over_down);
                return z * drift - shape * log;
            },
            {},
            far_field{drift, 0, 2 * shape},
            {}};
}

characteristic characteristic_of(const nig& m, double years) {
    need_positive("nig", "the maturity", years);
    need_positive("nig", "alpha", m.alpha);
    need(std::abs(m.beta) < m.alpha && m.beta + 1 <= m.alpha, "nig", "beta", m.beta,
         "more than -alpha and at most alpha - 1, or the price has no mean");
    need_not_negative("nig", "delta", m.delta);
    const double scale = m.delta * years, level = std::sqrt((m.alpha - m.beta) * (m.alpha + m.beta));
    // A product of two roots gives sqrt(alpha^2 - (beta + z)^2) without a cut in the upper half plane. The
    // difference is accurate for z small beside alpha.
    const auto less = [=, alpha = m.alpha, beta = m.beta](complex z) {
        const complex here = std::sqrt(alpha - beta - z) * std::sqrt(alpha + beta + z);
        return z * (2 * beta + z) / (level + here);
    };
    const double drift = -scale * less(1).real();
    // Far up, the root is (z + beta) / i, and the next term of its slope is alpha^2 / (2 z^2).
    return {[=](complex z) { return z * drift + scale * less(z); },
            {},
            far_field{drift, 4 * m.alpha, scale * m.alpha},
            {}};
}

namespace {

// [1 - Y u - (1 - u)^Y] / (Y (1 - Y)): u^2 / 2 for small u, with limits at Y = 0 and Y = 1.
complex bent_power(double y, complex u) {
    if (std::abs(u) < 0.25) {
        complex sum = 1;
        for (int k = 28; k >= 1; --k) sum = 1.0 + (k + 1 - y) / (k + 2) * u * sum;
        return 0.5 * u * u * sum;
    }
    const complex l = std::log(1.0 - u);
    if (y < 0.5) return -(u + l * mean_exp(-y * l)) / (1 - y);
    return (u + (1.0 - u) * l * mean_exp((1 - y) * l)) / y;
}

complex less_power(double y, complex u) {
    if (std::abs(u) < 0.25) return u + (1 - y) * bent_power(y, u);
    const complex l = std::log(1.0 - u);
    return -l * mean_exp(-y * l);
}

}  // namespace

// For small Y the mean of jumps is not subtracted (compensated), since far up little remains beside it. For
// large Y it is, since jumps have no mean of their own from Y = 1 on.
characteristic characteristic_of(const cgmy& m, double years) {
    const char* const model = "cgmy";
    need_positive(model, "the maturity", years);
    need_positive(model, "C", m.c);
    need_positive(model, "G", m.g);
    need(m.m > 1, model, "M", m.m, "a number above 1, or the price has no mean");
    need(m.y < 2, model, "Y", m.y, "a number below 2");
    const bool as_they_are = m.y < 0.5;
    const double rate = years * m.c * std::tgamma((as_they_are ? 1 : 2) - m.y),
                 up = rate * std::pow(m.m, m.y), down = rate * std::pow(m.g, m.y);
    const auto jumps = [=](complex z) {
        return as_they_are ? up * less_power(m.y, z / m.m) + down * less_power(m.y, -z / m.g)
                           : up * bent_power(m.y, z / m.m) + down * bent_power(m.y, -z / m.g);
    };
    const double drift = -jumps(1).real();
    characteristic law{[=](complex z) { return z * drift + jumps(z); }, {}, {}, {}};
    if (m.y < 1) {
        const double power = years * m.c * std::tgamma(1 - m.y),
                     mean = as_they_are ? 0 : power * (std::pow(m.m, m.y - 1) - std::pow(m.g, m.y - 1));
        law.far = far_field{drift - mean, 0, 2 * power, 1 - m.y};
    }
    return law;
}

// log E exp(z X) = half C vol0^2 + B vol0 + A, where C solves a Riccati equation, B a linear one, and A' =
// kappa theta B + sigma^2 / 2 (B^2 + C).
characteristic characteristic_of(const schobel_zhu& m, double years) {
    const char* const model = "schobel_zhu";
    need_positive(model, "the maturity", years);
    need_not_negative(model, "kappa", m.kappa);
    need_not_negative(model, "sigma", m.sigma);
    need(true, model, "vol0", m.vol0, "a number");
    need(true, model, "theta", m.theta, "a number");
    need_correlation(model, m.rho);
    // The variance of the law to subtract: the integral of the squared mean volatility.
    const double away = m.vol0 - m.theta;
    const double height = stretch{years, m.kappa, 0, m.sigma, m.rho}.far_height();
    const double variance = m.theta * m.theta * years +
                            2 * m.theta * away * years * mean_exp(m.kappa * years) +
                            away * away * years * mean_exp(2 * m.kappa * years);
    return {[=](complex z) {
                const complex c = z * (1.0 - z), xi = m.kappa - m.rho * m.sigma * z;
                const double pull = m.kappa * m.theta, square = m.sigma * m.sigma;
                const roots r(xi, m.sigma, c);
                // At time t: (1 - exp(-2 d t)) / (2 d t), the denominator that C and B share, and B.
                struct parts {
                    complex mean_exp_twice, denominator, b;
                };
                const auto at = [&](double t) {
                    const complex dt = r.d * t, f = mean_exp(dt), twice = mean_exp(2.0 * dt);
                    const complex denominator = std::abs(dt) < 0.05
                                                    ? 1.0 + (xi - r.d) * t * twice
                                                    : (r.plus + r.minus * std::exp(-2.0 * dt)) / (2.0 * r.d);
                    return parts{twice, denominator, -0.5 * pull * c * t * t * f * f / denominator};
                };
                const parts end = at(years);
                const complex dt = r.d * years,
                              slope_of_square = -c * years * end.mean_exp_twice / end.denominator;
                complex constant = 0;
                if (std::abs(dt) < 0.5) {
                    const auto growth = [&](double t) {
                        const complex b = at(t).b;
                        return pull * b + 0.5 * square * b * b;
                    };
                    constant = analytics::gauss_kronrod(growth, 0, years).value;
                } else {
                    const decay share(dt);
                    const complex e = share.left, q = 2.0 * r.d * end.denominator;
                    constant = -pull * pull * c / (r.d * r.d) *
                               (0.5 * years + share.gone / (2.0 * r.d * q) *
                                                  (r.d * (1.0 + e) - 2.0 * (r.plus + r.minus * e)));
                }
                constant -= 0.5 * (r.minus * years + std::log(end.denominator));
                return constant + m.vol0 * (end.b + 0.5 * m.vol0 * slope_of_square);
            },
            lognormal_part{0, 0, variance},
            std::isfinite(height)
                ? std::optional<far_field>(
                      {-0.5 * m.rho * (m.vol0 * m.vol0 / m.sigma + m.sigma * years), height, 0})
                : std::nullopt,
            {}};
}

}  // namespace tilewalk::fourier
