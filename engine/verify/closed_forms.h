// SPDX-License-Identifier: Apache-2.0
// Prices under Black-Scholes by closed forms and quadratures, in plain C++ that shares nothing with the
// engine. Formulas take forwards, total variances (volatility squared times time) and discount factors, so
// that the same formula serves for flat and for changing volatilities and rates.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tilewalk::truth {

enum class side { call, put };

inline double normal_density(double x) {
    return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
}

inline double normal_cdf(double x) {
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

struct node {
    double x = 0, weight = 0;
};

// Gauss-Legendre nodes and weights on [-1, 1]: 16 points, exact for polynomials up to degree 31.
inline const std::array<node, 16>& gauss_nodes() {
    static const std::array<node, 16> nodes = [] {
        std::array<node, 16> made{};
        const int n = static_cast<int>(made.size());
        for (int i = 0; i < n; ++i) {
            double x = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1;
            for (int round = 0; round < 100; ++round) {
                double p = 1, before = 0;
                for (int k = 0; k < n; ++k) {
                    before = std::exchange(p, ((2 * k + 1) * x * p - k * before) / (k + 1));
                }
                slope = n * (x * p - before) / (x * x - 1);
                const double step = p / slope;
                x -= step;
                if (std::abs(step) < 1e-15) break;
            }
            made[static_cast<std::size_t>(i)] = {x, 2 / ((1 - x * x) * slope * slope)};
        }
        return made;
    }();
    return nodes;
}

template <class F>
double integrate(const F& f, double from, double to, int panels) {
    const double half = 0.5 * (to - from) / panels;
    double sum = 0;
    for (int i = 0; i < panels; ++i) {
        const double middle = from + (2 * i + 1) * half;
        for (const node& n : gauss_nodes()) sum += n.weight * half * f(middle + half * n.x);
    }
    return sum;
}

// The mean of f(Z) for a standard normal Z; f may have a kink or a jump at each of `breaks`.
template <class F>
double normal_mean(const F& f, std::vector<double> breaks = {}, int panels = 24, double far = 13) {
    std::erase_if(breaks, [far](double b) { return !(std::abs(b) < far); });
    breaks.push_back(-far);
    breaks.push_back(far);
    std::sort(breaks.begin(), breaks.end());
    double sum = 0;
    for (std::size_t i = 0; i + 1 < breaks.size(); ++i) {
        sum +=
            integrate([&](double z) { return normal_density(z) * f(z); }, breaks[i], breaks[i + 1], panels);
    }
    return sum;
}

// P(X <= a, Y <= b) for standard normals of correlation rho. Its derivative by rho is their joint density
// (Plackett 1954), which is integrated over the angle with rho = sin(angle).
inline double normal_cdf(double a, double b, double rho) {
    if (rho >= 1) return normal_cdf(std::min(a, b));
    if (rho <= -1) return std::max(0.0, normal_cdf(a) + normal_cdf(b) - 1);
    const double rest = integrate(
        [&](double angle) {
            const double s = std::sin(angle), c = std::cos(angle);
            return std::exp(-(a * a + b * b - 2 * a * b * s) / (2 * c * c));
        },
        0, std::asin(rho), 64);
    return normal_cdf(a) * normal_cdf(b) + rest / (2 * std::numbers::pi);
}

inline double intrinsic(side option, double spot, double strike) {
    return option == side::call ? std::max(spot - strike, 0.0) : std::max(strike - spot, 0.0);
}

// Black's formula (1976). A call with a strike at or below zero is always exercised.
inline double black(side option, double forward, double strike, double variance, double discount) {
    if (variance <= 0 || strike <= 0) return discount * intrinsic(option, forward, strike);
    const double sd = std::sqrt(variance), sign = option == side::call ? 1 : -1;
    const double d1 = std::log(forward / strike) / sd + 0.5 * sd;
    return discount * sign * (forward * normal_cdf(sign * d1) - strike * normal_cdf(sign * (d1 - sd)));
}

inline double mean_square_payoff(side option, double forward, double strike, double variance) {
    const double sd = std::sqrt(variance), sign = option == side::call ? 1 : -1;
    const double d1 = std::log(forward / strike) / sd + 0.5 * sd;
    return forward * forward * std::exp(variance) * normal_cdf(sign * (d1 + sd)) -
           2 * strike * forward * normal_cdf(sign * d1) + strike * strike * normal_cdf(sign * (d1 - sd));
}

inline double cash_digital(side option, double forward, double strike, double variance, double discount) {
    if (variance <= 0) return discount * ((forward >= strike) == (option == side::call) ? 1 : 0);
    const double sd = std::sqrt(variance), sign = option == side::call ? 1 : -1;
    return discount * normal_cdf(sign * (std::log(forward / strike) / sd - 0.5 * sd));
}

inline double asset_digital(side option, double forward, double strike, double variance, double discount) {
    return forward * cash_digital(option, forward * std::exp(variance), strike, variance, discount);
}

// The forward of an asset whose price is paid unconverted in another currency. `covariance` is that of the
// logs of the asset and of the exchange rate, the value of the asset's currency in the currency of payment.
inline double quanto_forward(double forward, double covariance) {
    return forward * std::exp(-covariance);
}

// An option on the geometric mean of prices with these forwards and total variances, both in order of time.
inline double geometric_asian(side option, const std::vector<double>& forwards,
                              const std::vector<double>& variances, double strike, double discount) {
    const double n = static_cast<double>(forwards.size());
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < forwards.size(); ++i) {
        mean += (std::log(forwards[i]) - 0.5 * variances[i]) / n;
        for (std::size_t j = 0; j < forwards.size(); ++j) variance += variances[std::min(i, j)] / (n * n);
    }
    return black(option, std::exp(mean + 0.5 * variance), strike, variance, discount);
}

// Interpolates a table of at least six rows at a fractional index: Lagrange through the six nearest rows.
inline double between_points(const std::vector<double>& table, double place) {
    const std::size_t first =
        std::clamp<std::size_t>(static_cast<std::size_t>(place), 2, table.size() - 4) - 2;
    double sum = 0;
    for (std::size_t i = 0; i < 6; ++i) {
        double weight = 1;
        for (std::size_t j = 0; j < 6; ++j) {
            if (j == i) continue;
            weight *=
                (place - static_cast<double>(first + j)) / (static_cast<double>(i) - static_cast<double>(j));
        }
        sum += weight * table[first + i];
    }
    return sum;
}

// The lognormal change of a price from one date to the next.
struct move {
    double growth = 0;    // log of the later forward over the earlier
    double variance = 0;  // variance of the log of the ratio of prices
    double discount = 1;  // discount factor from the later date to the earlier
};

// A call on the arithmetic mean of the prices after each move, from the last date backwards. With m = (n
// strike - sum so far) / price, its value on a date is price * v(m), and v before a move is the mean of R v(m
// / R - 1), where R is the ratio of prices. Exact for m <= 0, above by a table that is interpolated in log m.
inline double arithmetic_asian_call(double spot, const std::vector<move>& moves, double strike) {
    const std::size_t n = moves.size();
    constexpr std::size_t points = 1601;
    const double lowest = std::log(1e-4), highest = std::log(40.0 * static_cast<double>(n));
    const double gap = (highest - lowest) / (points - 1);
    std::vector<double> table, next(points);
    double discount = 1, rest = 0;  // `rest`: mean of the sum of price ratios to come
    const auto later = [&](double m) {
        if (m <= 0) return rest - m;
        if (table.empty()) return 0.0;
        const double at = (std::log(m) - lowest) / gap;
        if (at < 0) return rest - m;  // for m below 1e-4 the call almost surely pays
        if (at > points - 1) return 0.0;
        return between_points(table, at);
    };
    for (std::size_t k = n; k-- > 0;) {
        const move& step = moves[k];
        const double sd = std::sqrt(step.variance);
        const auto before = [&](double m) {
            if (table.empty()) return black(side::call, std::exp(step.growth), m, step.variance, 1);
            // With the price as numeraire, the mean of R f(R) is exp(growth) times the mean of f(R), where
            // the variance is added to the drift of log R.
            const auto shifted = [&](double z) {
                return later(m / std::exp(step.growth + 0.5 * step.variance + sd * z) - 1);
            };
            const double kink = (std::log(m) - step.growth - 0.5 * step.variance) / sd;
            return std::exp(step.growth) * normal_mean(shifted, {kink}, 6, 8.5);
        };
        discount *= step.discount;
        if (k == 0)
            return discount * spot * before(static_cast<double>(n) * strike / spot) / static_cast<double>(n);
        for (std::size_t i = 0; i < points; ++i)
            next[i] = before(std::exp(lowest + static_cast<double>(i) * gap));
        rest = std::exp(step.growth) * (1 + rest);
        table = next;
    }
    throw std::invalid_argument("an average needs at least one date");
}

// An option with one continuously monitored barrier; growth, variance and rate accrue evenly over its life.
struct watched_option {
    side option = side::call;
    bool down = true, out = true;
    double spot = 0, strike = 0, barrier = 0, rebate = 0;
    bool rebate_at_hit = false;  // only a knock-out: a knock-in pays its rebate at expiry
    double growth = 0;           // (r - q) T
    double variance = 0;         // sigma^2 T
    double rate = 0;             // r T
};

// Reiner and Rubinstein (1991), in all eight cases of call or put, down or up, in or out.
inline double barrier_option(const watched_option& o) {
    const double discount = std::exp(-o.rate), sd = std::sqrt(o.variance);
    const double vanilla = black(o.option, o.spot * std::exp(o.growth), o.strike, o.variance, discount);
    if (o.down ? o.spot <= o.barrier : o.spot >= o.barrier) {
        return o.out ? o.rebate * (o.rebate_at_hit ? 1 : discount) : vanilla;
    }
    const double phi = o.option == side::call ? 1 : -1, eta = o.down ? 1 : -1;
    const double mu = o.growth / o.variance - 0.5, ratio = o.barrier / o.spot;
    const double shift = (1 + mu) * sd, carried = o.spot * std::exp(o.growth - o.rate);
    const double x1 = std::log(o.spot / o.strike) / sd + shift, x2 = -std::log(ratio) / sd + shift;
    const double y1 = std::log(o.barrier * ratio / o.strike) / sd + shift, y2 = std::log(ratio) / sd + shift;
    const auto direct = [&](double x) {
        return phi * (carried * normal_cdf(phi * x) - o.strike * discount * normal_cdf(phi * (x - sd)));
    };
    const auto mirrored = [&](double y) {
        return phi * (carried * std::pow(ratio, 2 * (mu + 1)) * normal_cdf(eta * y) -
                      o.strike * discount * std::pow(ratio, 2 * mu) * normal_cdf(eta * (y - sd)));
    };
    const double a = direct(x1), b = direct(x2), c = mirrored(y1), d = mirrored(y2);
    const bool strike_first = o.down ? o.strike > o.barrier : o.strike < o.barrier;
    double alive = 0;
    if ((o.option == side::call) == o.down) {  // in the money away from the barrier
        alive = strike_first ? a - c : b - d;
    } else {
        alive = strike_first ? a - b + c - d : 0;
    }
    const double never =
        discount * (normal_cdf(eta * (x2 - sd)) - std::pow(ratio, 2 * mu) * normal_cdf(eta * (y2 - sd)));
    if (!o.out) return vanilla - alive + o.rebate * never;
    if (!o.rebate_at_hit) return alive + o.rebate * (discount - never);
    const double square = mu * mu + 2 * o.rate / o.variance;
    if (square < 0) throw std::domain_error("the rebate at the touch has no closed form at this rate");
    const double lambda = std::sqrt(square), z = std::log(ratio) / sd + lambda * sd;
    return alive + o.rebate * (std::pow(ratio, mu + lambda) * normal_cdf(eta * z) +
                               std::pow(ratio, mu - lambda) * normal_cdf(eta * (z - 2 * lambda * sd)));
}

// One unit at expiry if the price stays between both levels: eigenfunction series of the heat equation.
inline double double_no_touch(double spot, double lower, double upper, double growth, double variance,
                              double discount) {
    const double mu = growth / variance - 0.5, width = std::log(upper / lower),
                 start = std::log(spot / lower);
    double sum = 0;
    for (int n = 1; n <= 400; ++n) {
        const double k = n * std::numbers::pi / width;
        const double ends = 1 - (n % 2 == 0 ? 1 : -1) * std::exp(mu * width);
        sum += 2 * k / (width * (mu * mu + k * k)) * std::exp(-mu * start) * ends * std::sin(k * start) *
               std::exp(-0.5 * (k * k + mu * mu) * variance);
    }
    return discount * sum;
}

// Floating lookback, monitored continuously from today (Goldman, Sosin and Gatto 1979): a call pays the last
// price less the minimum, a put the maximum less the last price.
inline double floating_lookback(side option, double spot, double growth, double variance, double discount) {
    const double sd = std::sqrt(variance), forward = spot * std::exp(growth),
                 sign = option == side::call ? 1 : -1;
    const double a = growth / sd + 0.5 * sd, reach = 2 * growth / sd;
    const double plain = sign * (forward * normal_cdf(sign * a) - spot * normal_cdf(sign * (a - sd)));
    if (growth == 0)
        return discount * (plain + spot * sd * (normal_density(a) - a * normal_cdf(-a)) +
                           (option == side::put ? spot * sd * a : 0.0));
    const double extra = spot * variance / (2 * growth) * sign *
                         (normal_cdf(sign * (reach - a)) - std::exp(growth) * normal_cdf(-sign * a));
    return discount * (plain + extra);
}

// Fixed lookback: a call pays the maximum less the strike, a put the strike less the minimum. The strike must
// be at or beyond the spot (Conze and Viswanathan 1991).
inline double fixed_lookback(side option, double spot, double strike, double growth, double variance,
                             double discount) {
    const double sd = std::sqrt(variance), sign = option == side::call ? 1 : -1;
    const double d = (std::log(spot / strike) + growth) / sd + 0.5 * sd;
    const double extra =
        spot * variance / (2 * growth) * sign *
        (std::exp(growth) * normal_cdf(sign * d) -
         std::pow(spot / strike, -2 * growth / variance) * normal_cdf(sign * (d - 2 * growth / sd)));
    return black(option, spot * std::exp(growth), strike, variance, discount) + discount * extra;
}

// The mean of f(S) for a lognormal price S; f may have a kink or a jump at each of `prices`.
template <class F>
double price_mean(double forward, double variance, const F& f, const std::vector<double>& prices = {}) {
    const double sd = std::sqrt(variance);
    std::vector<double> breaks;
    for (const double p : prices) breaks.push_back(std::log(p / forward) / sd + 0.5 * sd);
    return normal_mean([&](double z) { return f(forward * std::exp(sd * z - 0.5 * variance)); }, breaks, 32);
}

template <class F>
double crossing(const F& f, double low, double high) {
    for (int i = 0; i < 200; ++i) {
        const double middle = std::sqrt(low * high);
        (f(middle) < 0 ? low : high) = middle;
    }
    return low;
}

// A price monitored continuously between two dates, with growth and variance accruing evenly. `lower` 0 means
// no lower level, and `upper` infinite no upper level.
struct watch {
    double spot = 0, growth = 0, variance = 0;
    double lower = 0, upper = std::numeric_limits<double>::infinity();

    // The probability that a path which ends at the price `end` has touched no level: by reflection in both
    // levels (images of the heat equation).
    double survival(double end) const {
        if (!(lower < std::min(spot, end) && std::max(spot, end) < upper)) return 0;
        const double a = std::log(spot / lower), b = std::log(end / lower);  // infinite if lower is 0
        const double c = std::log(upper / spot), d = std::log(upper / end);
        if (lower == 0)
            return upper == std::numeric_limits<double>::infinity() ? 1 : -std::expm1(-2 * c * d / variance);
        if (upper == std::numeric_limits<double>::infinity()) return -std::expm1(-2 * a * b / variance);
        const double wide = a + c;
        double sum = 0;
        for (int k = -40; k <= 40; ++k) {
            const double by = k * wide;
            sum +=
                std::exp(-2 * by * (by + b - a) / variance) - std::exp(-2 * (a + by) * (b + by) / variance);
        }
        return sum;
    }
    // The mean of f(last price) over all paths, where a path that touched a level counts as 0.
    template <class F>
    double mean(const F& f, std::vector<double> prices = {}) const {
        for (const double level : {lower, upper}) {
            if (level > 0 && level < std::numeric_limits<double>::infinity()) prices.push_back(level);
        }
        return price_mean(
            spot * std::exp(growth), variance, [&](double s) { return survival(s) * f(s); }, prices);
    }
    // The value of one unit paid when the lower (otherwise: upper) level is touched, if it is touched first.
    // `rate` is the interest rate times the length of the watch, not below 0. Without an end of the watch,
    // the value is a sum of two powers of the price; the value of touches after the end is subtracted.
    double touch(bool of_lower, double rate) const {
        const double mu = growth / variance - 0.5, k = std::sqrt(mu * mu + 2 * rate / variance);
        const auto ever = [&](double s) {
            const double away = std::abs(std::log(s / (of_lower ? lower : upper)));
            const double sign = of_lower ? 1 : -1;
            if (lower == 0 || upper == std::numeric_limits<double>::infinity()) {
                return std::exp((-sign * mu - k) * away);
            }
            const double wide = std::log(upper / lower);
            const double ratio =
                k == 0 ? (wide - away) / wide
                       : std::exp(-k * away) * std::expm1(-2 * k * (wide - away)) / std::expm1(-2 * k * wide);
            return std::exp(-sign * mu * away) * ratio;
        };
        if (spot <= lower) return of_lower ? 1 : 0;
        if (spot >= upper) return of_lower ? 0 : 1;
        return ever(spot) - std::exp(-rate) * mean(ever);
    }
};

inline double any_fixed_lookback(side option, double spot, double strike, double growth, double variance,
                                 double discount) {
    const double inside = option == side::call ? spot - strike : strike - spot;
    if (inside <= 0) return fixed_lookback(option, spot, strike, growth, variance, discount);
    return discount * inside + fixed_lookback(option, spot, spot, growth, variance, discount);
}

// A floating lookback whose extreme, times `factor`, is taken until a first date, at a fraction `part` of
// growth and variance: a mean over the price on that date and over the extreme of the bridge to it.
inline double early_lookback(side option, const watch& whole, double part, double factor, double discount) {
    const double first = part * whole.variance, rest = whole.variance - first;
    return discount * price_mean(whole.spot * std::exp(part * whole.growth), first, [&](double s) {
               const double move = std::log(s / whole.spot);
               const auto at = [&](double u) {
                   const double reach = std::sqrt(move * move - 2 * first * std::log(u));
                   const double extreme =
                       whole.spot * std::exp(0.5 * (move + (option == side::call ? -reach : reach)));
                   return black(option, s * std::exp((1 - part) * whole.growth), factor * extreme, rest, 1);
               };
               // As a function of u, the extreme has a square root at u = 1 and a logarithm at u = 0. The
               // substitution u = x^2 (3 - 2 x) is flat at both.
               return integrate([&](double x) { return 6 * x * (1 - x) * at(x * x * (3 - 2 * x)); }, 0, 1, 3);
           });
}

struct geometric_mean {
    std::vector<double> weights, forwards, variances;  // by date, in order; variances are from today
};

inline double covariance(const geometric_mean& a, const geometric_mean& b) {
    double sum = 0, weight_a = 0, weight_b = 0;
    for (const double w : a.weights) weight_a += w;
    for (const double w : b.weights) weight_b += w;
    for (std::size_t i = 0; i < a.weights.size(); ++i) {
        for (std::size_t j = 0; j < b.weights.size(); ++j) {
            sum += a.weights[i] * b.weights[j] * std::min(a.variances[i], b.variances[j]);
        }
    }
    return sum / (weight_a * weight_b);
}

inline double mean_of(const geometric_mean& m) {
    double logs = 0, weight = 0;
    for (std::size_t i = 0; i < m.weights.size(); ++i) {
        logs += m.weights[i] * (std::log(m.forwards[i]) - 0.5 * m.variances[i]);
        weight += m.weights[i];
    }
    return std::exp(logs / weight + 0.5 * covariance(m, m));
}

// An option to exchange one mean for the other (Margrabe 1978).
inline double geometric_exchange(side option, const geometric_mean& price, const geometric_mean& strike,
                                 double discount) {
    return black(option, mean_of(price), mean_of(strike),
                 covariance(price, price) + covariance(strike, strike) - 2 * covariance(price, strike),
                 discount);
}

struct return_limits {
    double local_floor = -1, local_cap = 1e6, global_floor = -1e6, global_cap = 1e6;
};

// The mean of the limited sum of limited returns over the moves from number `from` on, given the sum earned
// before: calls on the ratio of prices for the last move, quadrature for the others.
inline double limited_returns(const std::vector<move>& moves, const return_limits& in, double sum = 0,
                              std::size_t from = 0) {
    const move& m = moves[from];
    const double forward = std::exp(m.growth);
    if (from + 1 == moves.size()) {
        const double low = std::clamp(in.global_floor - sum, in.local_floor, in.local_cap);
        const double high = std::clamp(in.global_cap - sum, in.local_floor, in.local_cap);
        const double mean = low + black(side::call, forward, 1 + low, m.variance, 1) -
                            black(side::call, forward, 1 + high, m.variance, 1);
        return std::clamp(sum + in.local_floor, in.global_floor, in.global_cap) == in.global_cap
                   ? in.global_cap
               : sum + in.local_cap <= in.global_floor ? in.global_floor
                                                       : sum + mean;
    }
    const double sd = std::sqrt(m.variance), middle = m.growth - 0.5 * m.variance;
    const auto z_of = [&](double change) { return (std::log(std::max(1 + change, 1e-300)) - middle) / sd; };
    // Kinks: the sum reaches a global limit if all later returns are at the same local limit.
    const double left = static_cast<double>(moves.size() - from - 1);
    std::vector<double> breaks{z_of(in.local_floor), z_of(in.local_cap)};
    for (const double limit : {in.global_floor, in.global_cap})
        for (const double rest : {in.local_floor, in.local_cap})
            breaks.push_back(z_of(limit - sum - left * rest));
    return normal_mean(
        [&](double z) {
            const double change = std::expm1(middle + sd * z);
            return limited_returns(moves, in, sum + std::clamp(change, in.local_floor, in.local_cap),
                                   from + 1);
        },
        breaks, 6, 9);
}

// Put-call parity makes a chooser a put to maturity and a call to the date of choice.
inline double chooser(double forward, double strike, double variance_until_choice, double variance,
                      double discount) {
    return black(side::put, forward, strike, variance, discount) +
           black(side::call, forward, strike, variance_until_choice, discount);
}

inline double mean_square_return(const std::vector<move>& moves) {
    double sum = 0;
    for (const move& m : moves) {
        const double drift = m.growth - 0.5 * m.variance;
        sum += m.variance + drift * drift;
    }
    return sum / static_cast<double>(moves.size());
}

// A call or put whose strike is `ratio` times the price on a first date; `forward` is that of the last date.
inline double forward_start(side option, double first_forward, double forward, double ratio,
                            double variance_between, double discount) {
    return black(option, forward, ratio * first_forward, variance_between, discount);
}

struct pair_of_assets {
    double first_forward = 0, second_forward = 0;
    double first_variance = 0, second_variance = 0, covariance = 0;
};

// Standard deviation of the sum of the two prices, or of their difference if `sign` is -1.
inline double spread_of_sum(const pair_of_assets& p, double sign) {
    const double f = p.first_forward, g = sign * p.second_forward;
    return std::sqrt(f * f * std::expm1(p.first_variance) + g * g * std::expm1(p.second_variance) +
                     2 * f * g * std::expm1(p.covariance));
}

// The right to receive the first asset for the second (Margrabe 1978).
inline double exchange(const pair_of_assets& p, double discount) {
    return black(side::call, p.first_forward, p.second_forward,
                 p.first_variance + p.second_variance - 2 * p.covariance, discount);
}

// A call on the lower of two prices (Stulz 1982).
inline double call_on_worst(const pair_of_assets& p, double strike, double discount) {
    const double sd1 = std::sqrt(p.first_variance), sd2 = std::sqrt(p.second_variance);
    const double rho = p.covariance / (sd1 * sd2);
    const double spread = std::sqrt(p.first_variance + p.second_variance - 2 * p.covariance);
    const double d = std::log(p.first_forward / p.second_forward) / spread + 0.5 * spread;
    const double y1 = std::log(p.first_forward / strike) / sd1 + 0.5 * sd1;
    const double y2 = std::log(p.second_forward / strike) / sd2 + 0.5 * sd2;
    return discount * (p.first_forward * normal_cdf(y1, -d, -(sd1 - rho * sd2) / spread) +
                       p.second_forward * normal_cdf(y2, d - spread, -(sd2 - rho * sd1) / spread) -
                       strike * normal_cdf(y1 - sd1, y2 - sd2, rho));
}

inline double call_on_best(const pair_of_assets& p, double strike, double discount) {
    return black(side::call, p.first_forward, strike, p.first_variance, discount) +
           black(side::call, p.second_forward, strike, p.second_variance, discount) -
           call_on_worst(p, strike, discount);
}

inline double put_on_worst(const pair_of_assets& p, double strike, double discount) {
    const double worst = p.first_forward * discount - exchange(p, discount);
    return call_on_worst(p, strike, discount) - worst + strike * discount;
}

inline double both_above(const pair_of_assets& p, double level) {
    const double sd1 = std::sqrt(p.first_variance), sd2 = std::sqrt(p.second_variance);
    return normal_cdf(std::log(p.first_forward / level) / sd1 - 0.5 * sd1,
                      std::log(p.second_forward / level) / sd2 - 0.5 * sd2, p.covariance / (sd1 * sd2));
}

// A product on one price, observed after each move, priced from the last date backwards: the value at a node
// is a sum over the same nodes one move later (Nystroem). `value(k, price, continuation)` is the product's
// value on date k = 0, 1, ... if holding on is worth `continuation`; it may jump at the prices `breaks`.
inline double backward(double spot, const std::vector<move>& moves, const std::vector<double>& breaks,
                       const std::function<double(std::size_t, double, double)>& value) {
    double drift = 0, variance = 0, least_sd = 1e300, lowest = 0, highest = 0;
    for (const move& m : moves) {
        drift += m.growth - 0.5 * m.variance;
        variance += m.variance;
        least_sd = std::min(least_sd, std::sqrt(m.variance));
        lowest = std::min(lowest, drift - 9 * std::sqrt(variance));
        highest = std::max(highest, drift + 9 * std::sqrt(variance) + variance);
    }
    std::vector<double> edges{lowest, highest};
    for (const double b : breaks) {
        const double x = std::log(b / spot);
        if (x > lowest && x < highest) edges.push_back(x);
    }
    std::sort(edges.begin(), edges.end());
    std::vector<node> nodes;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        const double wide = edges[i + 1] - edges[i];
        const int panels = static_cast<int>(std::ceil(wide / (1.5 * least_sd)));
        const double half = 0.5 * wide / panels;
        for (int p = 0; p < panels; ++p) {
            for (const node& n : gauss_nodes()) {
                nodes.push_back({edges[i] + (2 * p + 1 + n.x) * half, n.weight * half});
            }
        }
    }
    std::vector<double> held(nodes.size(), 0.0);
    for (std::size_t k = moves.size(); k-- > 0;) {
        const move& m = moves[k];
        const double sd = std::sqrt(m.variance), scale = m.discount / sd;
        std::vector<double> weighted(nodes.size());
        for (std::size_t j = 0; j < nodes.size(); ++j) {
            weighted[j] = nodes[j].weight * scale * value(k, spot * std::exp(nodes[j].x), held[j]);
        }
        const auto before = [&](double x) {
            double sum = 0;
            for (std::size_t j = 0; j < nodes.size(); ++j) {
                const double z = (nodes[j].x - x - m.growth + 0.5 * m.variance) / sd;
                if (std::abs(z) < 10) sum += weighted[j] * normal_density(z);
            }
            return sum;
        };
        if (k == 0) return before(0);
        for (std::size_t j = 0; j < nodes.size(); ++j) held[j] = before(nodes[j].x);
    }
    throw std::invalid_argument("a product needs at least one date");
}

// The mean of f(x, y) over the prices x and y of both assets on one date. f(., y) may have kinks at kinks(y),
// and f(x, .) at `kinks_of_second` for every x.
template <class F, class K>
double pair_mean(const pair_of_assets& p, const F& f, const K& kinks,
                 const std::vector<double>& kinks_of_second = {}) {
    const double sd1 = std::sqrt(p.first_variance), sd2 = std::sqrt(p.second_variance);
    const double rho = p.covariance / (sd1 * sd2), rest = sd1 * std::sqrt(1 - rho * rho);
    std::vector<double> outer;
    for (const double y : kinks_of_second) {
        outer.push_back((std::log(y / p.second_forward) + 0.5 * p.second_variance) / sd2);
    }
    return normal_mean(
        [&](double z) {
            const double y = p.second_forward * std::exp(sd2 * z - 0.5 * p.second_variance);
            const double middle = std::log(p.first_forward) + sd1 * rho * z - 0.5 * p.first_variance;
            std::vector<double> breaks;
            for (const double x : kinks(y)) {
                if (x > 0) breaks.push_back((std::log(x) - middle) / rest);
            }
            return normal_mean([&](double w) { return f(std::exp(middle + rest * w), y); }, breaks, 2, 9);
        },
        outer, 12, 9);
}

// A call or put with the payoff of first + sign * second - strike, where `sign` is 1 or -1: a mean over the
// second price, given which the option is a plain one on the first.
inline double option_on_sum(side option, const pair_of_assets& p, double sign, double strike,
                            double discount) {
    const double sd2 = std::sqrt(p.second_variance), pull = p.covariance / sd2;
    const double rest = p.first_variance - pull * pull;
    const auto given = [&](double z) {
        const double y = p.second_forward * std::exp(sd2 * z - 0.5 * p.second_variance);
        const double forward = p.first_forward * std::exp(pull * z - 0.5 * pull * pull);
        return black(option, forward, strike - sign * y, rest, discount);
    };
    // At this second price, the strike that is left for the first price passes 0.
    const double kink = sign * strike > 0
                            ? (std::log(sign * strike / p.second_forward) + 0.5 * p.second_variance) / sd2
                            : 1e300;
    return normal_mean(given, {kink});
}

inline double within(double forward, double variance, double lower, double upper) {
    const auto below = [&](double level) {
        if (level <= 0) return 0.0;
        return cash_digital(side::put, forward, level, variance, 1);
    };
    return below(upper) - below(lower);
}

inline double both_within(const pair_of_assets& p, double lower1, double upper1, double lower2,
                          double upper2) {
    const double sd1 = std::sqrt(p.first_variance), sd2 = std::sqrt(p.second_variance);
    const auto below = [&](double a, double b) {
        return normal_cdf(std::log(a / p.first_forward) / sd1 + 0.5 * sd1,
                          std::log(b / p.second_forward) / sd2 + 0.5 * sd2, p.covariance / (sd1 * sd2));
    };
    return below(upper1, upper2) - below(lower1, upper2) - below(upper1, lower2) + below(lower1, lower2);
}

// The mean of sqrt(X), where X is the sum of squared log returns over these moves: with phi(u) = E exp(-u X),
// it is the integral of (1 - phi(w^2)) / w^2 over w > 0, divided by sqrt(pi).
inline double mean_root_square(const std::vector<move>& moves) {
    const double scale = mean_square_return(moves) * static_cast<double>(moves.size());
    const auto one_less_phi = [&](double u) {
        double log_phi = 0;
        for (const move& m : moves) {
            const double drift = m.growth - 0.5 * m.variance, more = 2 * u * m.variance;
            log_phi -= 0.5 * std::log1p(more) + u * drift * drift / (1 + more);
        }
        return -std::expm1(log_phi);
    };
    const double sum = integrate(
        [&](double x) {
            const double w = std::exp(x);
            return one_less_phi(w * w / scale) / w;
        },
        -36, 36, 72);
    return std::sqrt(scale / std::numbers::pi) * sum;
}

// The mean of the squared log return of a move if the price lies in [lower, upper], and otherwise of 0. The
// price is that before the move, whose forward and variance are given, or after the move if `by_end`.
inline double square_in_range(double forward, double variance, const move& m, double lower, double upper,
                              bool by_end) {
    const double drift = m.growth - 0.5 * m.variance;
    if (!by_end) return (m.variance + drift * drift) * within(forward, variance, lower, upper);
    // Given the log of the price after the move, the return is normal.
    const double total = variance + m.variance, share = m.variance / total, sd = std::sqrt(total);
    const double middle = std::log(forward) + m.growth - 0.5 * total;
    const double from = lower > 0 ? (std::log(lower) - middle) / sd : -1e300,
                 to = (std::log(upper) - middle) / sd;
    return normal_mean(
        [&](double z) {
            if (z < from || z > to) return 0.0;
            const double mean = drift + share * sd * z;
            return mean * mean + m.variance * (1 - share);
        },
        {from, to});
}

// A forward that is bought (or sold) on each date until its gains reach a target. The value is a nested
// quadrature from date to date, as it depends on the price and on the gains so far.
struct target_forward {
    bool buys = true;
    double strike = 0, target = 0, gearing = 1;
    enum class last_gain { full, exact, none } at_target = last_gain::exact;
    std::vector<move> moves;

    double value(double spot, double gains = 0, std::size_t k = 0) const {
        if (k == moves.size()) return 0;
        const move& m = moves[k];
        const double sd = std::sqrt(m.variance), middle = std::log(spot) + m.growth - 0.5 * m.variance;
        const double end = buys ? strike + (target - gains) : strike - (target - gains);
        std::vector<double> breaks{(std::log(strike) - middle) / sd};
        if (end > 0) breaks.push_back((std::log(end) - middle) / sd);
        return m.discount * normal_mean(
                                [&](double z) {
                                    const double s = std::exp(middle + sd * z),
                                                 gain = buys ? s - strike : strike - s;
                                    if (gain < 0) return gearing * gain + value(s, gains, k + 1);
                                    if (gains + gain < target) return gain + value(s, gains + gain, k + 1);
                                    if (at_target == last_gain::full) return gain;
                                    return at_target == last_gain::exact ? target - gains : 0.0;
                                },
                                breaks, k + 1 == moves.size() ? 3 : 2, 8.5);
    }
};

}  // namespace tilewalk::truth
