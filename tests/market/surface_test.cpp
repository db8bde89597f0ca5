// SPDX-License-Identifier: Apache-2.0
// Implied surfaces and local volatility: formulas against finite differences, Dupire's formula against a
// forward-equation solver, published prices, planted arbitrage, every refusal of the reader.
#include "engine/market/surface.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/market/arbitrage.h"
#include "engine/market/local_volatility.h"
#include "engine/market/smile.h"
#include "engine/market/surface_reader.h"
#include "engine/verify/closed_forms.h"
#include "products/dates/date.h"

namespace surface_test {
namespace {

using namespace tilewalk;
using namespace tilewalk::markets;

using written_by = implied_surface::written_by;

// Black's price of the out-of-the-money option at the log-moneyness x, for a forward of 1.
double black(double x, double deviation) {
    const double d1 = -x / deviation + deviation / 2, d2 = d1 - deviation;
    return x >= 0 ? truth::normal_cdf(d1) - std::exp(x) * truth::normal_cdf(d2)
                  : std::exp(x) * truth::normal_cdf(-d2) - truth::normal_cdf(-d1);
}

double implied_deviation(double x, double price) {
    const double sought = x >= 0 ? price : price - (1 - std::exp(x));
    double low = 1e-6, high = 20;
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        (black(x, middle) < sought ? low : high) = middle;
    }
    return low;
}

// Solves for calls by log-strike y with a forward of 1, c_T = sigma^2(T, y) / 2 (c_yy - c_y), by
// Crank-Nicolson. `variance(t0, t1, y)` is the local variance of a step.
class forward_equation {
  public:
    using variance_function =
        std::function<std::vector<double>(double t0, double t1, const std::vector<double>&)>;

    forward_equation(double reach, int half_points) {
        const double h = reach / half_points;
        for (int i = -half_points; i <= half_points; ++i) {
            y_.push_back(h * i);
            calls_.push_back(i < 0 ? 1 - std::exp(h * i) : 0);
        }
        // The payoff's mean over the cell of its kink, which would otherwise reduce the order.
        calls_[static_cast<std::size_t>(half_points)] = h / 8;
    }

    // Steps from time 0 grow, and the first four are implicit, which damps the effect of the kink.
    void walk(double from, double to, int steps, const variance_function& variance) {
        for (int k = 0; k < steps; ++k) {
            const auto time = [&](int i) {
                const double u = static_cast<double>(i) / steps;
                return from == 0 ? to * u * u : from + (to - from) * u;
            };
            step(time(k), time(k + 1), variance, from == 0 && k < 4 ? 1.0 : 0.5);
        }
    }

    double call(double y) const {
        const double h = y_[1] - y_[0];
        const auto i =
            static_cast<std::size_t>(std::clamp((y - y_[0]) / h, 1.0, static_cast<double>(y_.size() - 3)));
        double sum = 0;
        for (std::size_t j = i - 1; j <= i + 2; ++j) {
            double weight = 1;
            for (std::size_t k = i - 1; k <= i + 2; ++k)
                if (k != j) weight *= (y - y_[k]) / (y_[j] - y_[k]);
            sum += weight * calls_[j];
        }
        return sum;
    }

  private:
    void step(double t0, double t1, const variance_function& variance, double implicit) {
        const std::size_t n = y_.size();
        const double h = y_[1] - y_[0], dt = t1 - t0;
        const std::vector<double> local = variance(t0, t1, y_);
        std::vector<double> above(n), next(n);
        next[0] = calls_[0];
        for (std::size_t i = 1; i + 1 < n; ++i) {
            const double half = local[i] / 2 * dt;
            const double up = half * (1 / (h * h) - 0.5 / h), down = half * (1 / (h * h) + 0.5 / h);
            const double known = calls_[i] + (1 - implicit) * (down * (calls_[i - 1] - calls_[i]) +
                                                               up * (calls_[i + 1] - calls_[i]));
            const double pivot = 1 + implicit * (up + down) - implicit * down * above[i - 1];
            above[i] = implicit * up / pivot;
            next[i] = (known + implicit * down * next[i - 1]) / pivot;
        }
        next[n - 1] = calls_[n - 1];
        for (std::size_t i = n - 1; i-- > 1;) next[i] += above[i] * next[i + 1];
        calls_ = std::move(next);
    }

    std::vector<double> y_, calls_;
};

// The local variance of a step: a volatility of time and y, taken at the middle of the step.
forward_equation::variance_function local(const std::function<double(double, double)>& volatility) {
    return [=](double t0, double t1, const std::vector<double>& y) {
        std::vector<double> out;
        for (const double at : y) out.push_back(std::pow(volatility(t0 + (t1 - t0) / 2, at), 2));
        return out;
    };
}

// The local variance as a path reads it: a table of `points` for each step, linear between them, flat beyond.
forward_equation::variance_function tables(const local_volatility& vol, std::size_t points) {
    return [&vol, points](double t0, double t1, const std::vector<double>& y) {
        const auto [low, high] = vol.table_range(t0, t1);
        std::vector<double> table(points), out;
        vol.table(t0, t1, low, high, table);
        for (const double at : y) {
            const double place =
                std::clamp((at - low) / (high - low), 0.0, 1.0) * static_cast<double>(points - 1);
            const auto i = std::min(static_cast<std::size_t>(place), points - 2);
            const double weight = place - static_cast<double>(i);
            out.push_back(std::pow((1 - weight) * table[i] + weight * table[i + 1], 2));
        }
        return out;
    };
}

// Problem 3 of von Sydow et al., "BENCHOP - The BENCHmarking project in Option Pricing", 2015.
constexpr double benchop_rate = 0.03;

double benchop_volatility(double spot, double years) {
    const double s = spot / 100;
    return 0.15 + 0.15 * (0.5 + 2 * years) * (s - 1.2) * (s - 1.2) / (s * s + 1.44);
}

std::vector<quote> quotes_of(const std::vector<double>& x, const std::function<double(double)>& volatility) {
    std::vector<quote> quotes;
    for (const double at : x) quotes.push_back({at, volatility(at), std::to_string(at), {}, {}});
    return quotes;
}

std::vector<double> even(double low, double high, int points) {
    std::vector<double> x;
    for (int i = 0; i < points; ++i) x.push_back(low + (high - low) * i / (points - 1));
    return x;
}

// A typical market: steep and curved at short times, flatter at long ones, free of arbitrage.
implied_surface svi_surface() {
    return {written_by::svi,
            {expiry::from_svi(1.0 / 12, {0.0010, 0.030, -0.50, 0.010, 0.06}),
             expiry::from_svi(0.25, {0.0030, 0.055, -0.55, 0.020, 0.10}),
             expiry::from_svi(1.0, {0.0120, 0.110, -0.60, 0.030, 0.22}),
             expiry::from_svi(3.0, {0.0450, 0.180, -0.60, 0.060, 0.40})}};
}

implied_surface equity_surface() {
    const auto smile = [](double level, double skew, double bend) {
        return [=](double x) { return level + skew * x + bend * x * x; };
    };
    const std::vector<double> x = even(-0.35, 0.25, 13);
    std::vector<expiry> expiries;
    expiries.push_back(expiry::from_quotes(0.25, quotes_of(x, smile(0.20, -0.20, 0.20))));
    expiries.push_back(expiry::from_quotes(0.5, quotes_of(x, smile(0.21, -0.16, 0.12))));
    expiries.push_back(expiry::from_quotes(1.0, quotes_of(x, smile(0.22, -0.12, 0.08))));
    expiries.push_back(expiry::from_quotes(2.5, quotes_of(x, smile(0.23, -0.09, 0.04))));
    return {written_by::moneyness, std::move(expiries)};
}

implied_surface term_surface(const std::vector<double>& years, const std::vector<double>& levels) {
    std::vector<expiry> expiries;
    for (std::size_t i = 0; i < years.size(); ++i) {
        expiries.push_back(
            expiry::from_quotes(years[i], quotes_of({-0.2, 0.0, 0.2}, [&](double) { return levels[i]; })));
    }
    return {written_by::moneyness, std::move(expiries)};
}

TEST(surface_smile, goes_through_its_points_and_on_along_straight_lines) {
    const std::vector<double> x = {-0.3, -0.1, 0.0, 0.15, 0.2}, w = {0.09, 0.05, 0.04, 0.045, 0.05};
    const smile s = smile::through(x, w);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(s.at(x[i]).variance, w[i], 1e-16) << x[i];
    for (const double end : {x.front(), x.back()}) {
        EXPECT_NEAR(s.at(end).curvature, 0, 1e-12);
        const double outwards = end < 0 ? -1 : 1;
        const smile_point at = s.at(end), far = s.at(end + 5 * outwards);
        EXPECT_GT(at.slope * outwards, 0);  // the wing rises and may go on straight
        EXPECT_NEAR(far.slope, at.slope, 1e-12);
        EXPECT_NEAR(far.variance, at.variance + 5 * std::abs(at.slope), 1e-12);
    }
    EXPECT_NEAR(smile::through({-0.5, 0.5}, {0.06, 0.04}).at(0.1).variance, 0.048, 1e-16);
    // Further points of a natural spline determine the same spline.
    std::vector<double> more, values;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (i > 0) more.push_back(0.3 * x[i - 1] + 0.7 * x[i]);
        more.push_back(x[i]);
    }
    for (const double at : more) values.push_back(s.at(at).variance);
    const smile same = smile::through(more, values);
    for (double at = -0.5; at < 0.4; at += 0.0071) {
        EXPECT_NEAR(same.at(at).variance, s.at(at).variance, 1e-15) << at;
        EXPECT_NEAR(same.at(at).curvature, s.at(at).curvature, 1e-10) << at;
    }
}

TEST(surface_smile, wings_turn_to_where_they_may_go) {
    struct {
        std::vector<double> x, w;
        double left, right;  // slopes of the straight wings
    } const cases[] = {
        {{-0.2, 0.0, 0.2}, {0.06, 0.05, 0.04}, -0.05, 0},  // the right wing must not fall
        {{-0.2, 0.0, 0.2}, {0.04, 0.05, 0.06}, 0, 0.05},   // the left wing must not fall
        {{-0.1, 0.0, 0.1}, {0.01, 0.03, 0.01}, 0, 0},      // a frown: both would fall
        {{0.0, 0.1}, {0.01, 0.4}, 0, 2},                   // steeper than Lee's bound
        {{-0.1, 0.0}, {0.4, 0.01}, -2, 0},
    };
    for (const auto& c : cases) {
        const smile s = smile::through(c.x, c.w);
        EXPECT_NEAR(s.at(-40).slope, c.left, 1e-12);
        EXPECT_NEAR(s.at(40).slope, c.right, 1e-12);
        EXPECT_EQ(s.at(-40).curvature, 0);
        for (double x = -3; x <= 3; x += 0.01) {
            if (x > c.x.front() && x < c.x.back()) continue;
            EXPECT_GE(s.at(x).variance, 0.499 * std::min(c.w.front(), c.w.back())) << x;
        }
        for (const double end : {c.x.front(), c.x.back()}) {
            const smile_point a = s.at(end - 1e-11), b = s.at(end + 1e-11);
            EXPECT_NEAR(a.variance, b.variance, 1e-9);
            EXPECT_NEAR(a.slope, b.slope, 1e-9);
            EXPECT_NEAR(a.curvature, b.curvature, 1e-4);
        }
    }
}

TEST(surface_smile, derivatives_are_those_of_the_value) {
    const smile smiles[] = {
        smile::through({-0.3, -0.1, 0.0, 0.15, 0.2}, {0.09, 0.05, 0.04, 0.035, 0.032}),
        smile::through({-0.1, 0.0, 0.1}, {0.01, 0.03, 0.01}),
        smile::through({0.0, 0.1}, {0.01, 0.4}),
        smile::svi({0.012, 0.11, -0.6, 0.03, 0.22}),
        smile::svi({-0.041, 0.1331, 0.306, 0.3586, 0.4153}),
    };
    const double h = 1e-4;
    for (const smile& s : smiles) {
        // No difference straddles a point of the spline, where the curvature has a kink.
        for (double x = -1.0003; x < 1; x += 0.0141) {
            const smile_point here = s.at(x), below = s.at(x - h), above = s.at(x + h);
            EXPECT_NEAR(here.slope, (above.variance - below.variance) / (2 * h), 1e-4) << x;
            EXPECT_NEAR(here.curvature, (above.slope - below.slope) / (2 * h),
                        0.05 + 1e-3 * std::abs(here.curvature))
                << x;
        }
    }
    const svi_parameters p{0.012, 0.11, -0.6, 0.03, 0.22};
    const smile s = smile::svi(p);
    const double x = 0.17;
    EXPECT_NEAR(s.at(x).variance, 0.012 + 0.11 * (-0.6 * 0.14 + std::sqrt(0.14 * 0.14 + 0.22 * 0.22)), 1e-16);
    const double low = p.m - p.rho * p.sigma / std::sqrt(1 - p.rho * p.rho);
    EXPECT_NEAR(s.at(low).variance, p.least_variance(), 1e-16);
    EXPECT_NEAR(s.at(low).slope, 0, 1e-15);
    EXPECT_NEAR(s.at(-1e6).slope, -p.steepest_wing(), 1e-9);
}

TEST(surface_smile, refuses_what_is_no_smile) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(smile::through({}, {}), error);
    EXPECT_THROW(smile::through({0.0}, {0.04}), error);
    EXPECT_THROW(smile::through({0.0, 0.1}, {0.04}), error);
    EXPECT_THROW(smile::through({0.1, 0.1}, {0.04, 0.04}), error);
    EXPECT_THROW(smile::through({0.0, nan}, {0.04, 0.04}), error);
    EXPECT_THROW(smile::through({0.0, 0.1}, {0.04, 0.0}), error);
    EXPECT_THROW(smile::through({0.0, 0.1}, {nan, 0.04}), error);
    EXPECT_THROW(smile::svi({0.01, -0.1, 0, 0, 0.1}), error);
    EXPECT_THROW(smile::svi({0.01, 0.1, 1, 0, 0.1}), error);
    EXPECT_THROW(smile::svi({0.01, 0.1, 0, 0, 0}), error);
    EXPECT_THROW(smile::svi({-0.011, 0.1, 0, 0, 0.1}), error);
    EXPECT_THROW(smile::svi({0.01, 1.5, 0.5, 0, 0.1}), error);
    EXPECT_THROW(smile::svi({nan, 0.1, 0, 0, 0.1}), error);
}

TEST(surface_density_ratio, is_the_second_derivative_of_call_prices) {
    const smile smiles[] = {smile::svi({0.012, 0.11, -0.6, 0.03, 0.22}),
                            smile::through({-0.3, -0.1, 0.0, 0.15, 0.2}, {0.09, 0.05, 0.04, 0.035, 0.032})};
    const double h = 1e-3;
    for (const smile& s : smiles) {
        // The price of a call or a put; they differ by a forward, which has no curvature in the strike.
        const auto price = [&](double x, bool call) {
            const double out = black(x, std::sqrt(s.at(x).variance));
            return out + (call == (x >= 0) ? 0 : (call ? 1 : -1) * (1 - std::exp(x)));
        };
        for (double x = -0.4; x < 0.3; x += 0.0237) {
            const bool call = x >= 0;
            const double below = price(x - h, call), here = price(x, call), above = price(x + h, call);
            const double density =
                ((above - 2 * here + below) / (h * h) - (above - below) / (2 * h)) * std::exp(-x);
            const smile_point w = s.at(x);
            const double root = std::sqrt(w.variance);
            const double lognormal = truth::normal_density(-x / root - root / 2) / root;
            EXPECT_NEAR(density_ratio(w, x) * lognormal, density, 2e-4) << x;
        }
    }
}

TEST(surface, linear_in_time_at_constant_moneyness) {
    const implied_surface s = equity_surface();
    for (const double x : {-0.9, -0.3, 0.0, 0.1, 0.8}) {
        const auto at = [&](double t) { return s.total_variance(t, x).at.variance; };
        EXPECT_EQ(at(0), 0) << x;
        EXPECT_NEAR(at(0.1), 0.4 * at(0.25), 1e-15) << x;
        EXPECT_NEAR(at(0.75), (at(0.5) + at(1.0)) / 2, 1e-15) << x;
        EXPECT_NEAR(at(7), at(2.5) + 3 * (at(2.5) - at(1.0)), 1e-14) << x;
        EXPECT_NEAR(s.implied_volatility(0.25, x), s.implied_volatility(0, x), 1e-15) << x;
        for (double t = 0.03; t < 4; t += 0.107) {
            const double h = 1e-6, up = s.total_variance(t + h, x).at.variance;
            EXPECT_NEAR(s.total_variance(t, x).by_time, (up - at(t)) / h, 1e-8) << t << " " << x;
            const smile_point below = s.total_variance(t, x - h).at, above = s.total_variance(t, x + h).at;
            EXPECT_NEAR(s.total_variance(t, x).at.slope, (above.variance - below.variance) / (2 * h), 1e-8);
            EXPECT_NEAR(s.total_variance(t, x).at.curvature, (above.slope - below.slope) / (2 * h), 1e-3);
        }
    }
    for (const expiry& e : s.expiries()) {
        for (const quote& q : e.quotes)
            EXPECT_NEAR(s.implied_volatility(e.years, q.log_moneyness), q.volatility, 1e-15);
    }
    const auto [low, high] = s.reach(1, 5);
    for (const double x : {low, high}) {
        const double w = s.total_variance(1, x).at.variance, far = (std::abs(x) - w / 2) / std::sqrt(w);
        EXPECT_GE(far, 5) << x;
        EXPECT_LE(far, 5.5) << x;
    }
    EXPECT_THROW(implied_surface(written_by::svi, {}), error);
    const expiry one = expiry::from_svi(1, {0.04, 0, 0, 0, 0.1});
    EXPECT_THROW(implied_surface(written_by::svi, {one, one}), error);
}

TEST(surface_local_volatility, a_flat_surface_is_flat) {
    const local_volatility vol = local_volatility::of_surface(term_surface({0.5, 2.0}, {0.2, 0.2}));
    std::vector<double> table(100);
    for (const double t0 : {0.0, 0.3, 0.49, 1.9, 5.0}) {
        for (const double step : {1.0 / 365, 0.1, 3.0}) {
            const auto [low, high] = vol.table_range(t0, t0 + step);
            EXPECT_LT(low, 0);
            EXPECT_GT(high, 0);
            vol.table(t0, t0 + step, low, high, table);
            for (const double sigma : table) EXPECT_NEAR(sigma, 0.2, 1e-14) << t0 << " " << step;
        }
    }
}

TEST(surface_local_volatility, a_term_structure_gives_forward_volatilities) {
    const local_volatility vol =
        local_volatility::of_surface(term_surface({0.5, 1.0, 3.0}, {0.3, 0.25, 0.28}));
    const double first = 0.09, second = (0.0625 - 0.045) / 0.5, third = (3 * 0.0784 - 0.0625) / 2;
    for (const double x : {-1.5, -0.1, 0.0, 0.05, 2.0}) {
        EXPECT_NEAR(vol.local_variance(0, 0.25, x), first, 1e-14);
        EXPECT_NEAR(vol.local_variance(0.6, 0.8, x), second, 1e-14);
        EXPECT_NEAR(vol.local_variance(1, 2, x), third, 1e-14);
        EXPECT_NEAR(vol.local_variance(5, 6, x), third, 1e-14);
        EXPECT_NEAR(vol.local_variance(0.25, 2, x), (0.25 * first + 0.5 * second + third) / 1.75, 1e-14);
    }
}

TEST(surface_local_volatility, the_solver_meets_published_prices) {
    struct {
        double spot, price;
    } const published[] = {{90, 2.95517}, {100, 7.64217}};
    for (const auto& p : published) {
        forward_equation equation(2, 2000);
        equation.walk(0, 1, 1000, local([&](double t, double y) {
                          return benchop_volatility(p.spot * std::exp(benchop_rate * t + y), t);
                      }));
        EXPECT_NEAR(p.spot * equation.call(std::log(100 / p.spot) - benchop_rate), p.price, 2e-5) << p.spot;
    }
}

TEST(surface_local_volatility, is_recovered_from_the_prices_that_it_gives) {
    const double spot = 100;
    const auto worst = [&](int expiries, int strikes) {
        forward_equation equation(2, 2000);
        std::vector<expiry> read;
        for (int k = 1; k <= expiries; ++k) {
            const double from = static_cast<double>(k - 1) / expiries, to = static_cast<double>(k) / expiries;
            equation.walk(from, to, 1600 / expiries, local([&](double t, double y) {
                              return benchop_volatility(spot * std::exp(benchop_rate * t + y), t);
                          }));
            const double reach = 3 * 0.17 * std::sqrt(to);
            read.push_back(expiry::from_quotes(to, quotes_of(even(-reach, reach, strikes), [&](double x) {
                                                   return implied_deviation(x, equation.call(x)) /
                                                          std::sqrt(to);
                                               })));
        }
        const implied_surface surface(written_by::moneyness, std::move(read));
        EXPECT_TRUE(std::none_of(find_arbitrage(surface).begin(), find_arbitrage(surface).end(),
                                 [](const arbitrage& a) { return a.in_quotes; }));
        const local_volatility vol = local_volatility::of_surface(surface);
        double most = 0;
        for (double t = 0.25; t < 0.95; t += 0.1) {
            for (double u = -1.5; u <= 1.5; u += 0.25) {
                const double x = u * 0.17 * std::sqrt(t);
                const double got = std::sqrt(vol.local_variance(t, t + 0.05, x));
                const double expected =
                    benchop_volatility(spot * std::exp(benchop_rate * (t + 0.025) + x), t + 0.025);
                most = std::max(most, std::abs(got - expected));
            }
        }
        return most;
    };
    // The error that remains is the interpolation's: more quotes reduce it.
    EXPECT_LT(worst(5, 13), 2e-3);
    EXPECT_LT(worst(20, 25), 2e-5);
}

TEST(surface_local_volatility, the_surface_comes_back_from_its_tables) {
    struct {
        const char* name;
        implied_surface surface;
    } const cases[] = {{"svi", svi_surface()}, {"equity", equity_surface()}};
    for (const auto& c : cases) {
        const local_volatility vol = local_volatility::of_surface(c.surface);
        forward_equation equation(4, 4000);
        double from = 0;
        for (const double to : {1.0 / 12, 0.25, 0.4, 1.0, 1.7, 2.5}) {
            equation.walk(from, to, 200, tables(vol, 100));
            from = to;
            for (double u = -3; u <= 2.5; u += 0.25) {
                const double x = u * std::sqrt(c.surface.total_variance(to, 0).at.variance);
                const double got = implied_deviation(x, equation.call(x)) / std::sqrt(to);
                EXPECT_NEAR(got, c.surface.implied_volatility(to, x), 0.5e-4)
                    << c.name << " " << to << " " << x;
            }
        }
    }
}

TEST(surface_local_volatility, the_published_svi_surface) {
    // BENCHOP's problem 3 II: the surface gives the variance by x = log(strike / forward), whatever the spot.
    std::vector<expiry> expiries;
    for (int k = 1; k <= 50; ++k) {
        const double t = 0.01 * k, root = std::sqrt(t), late = std::sqrt(t + 0.04);
        const double right = 0.06 * (1 - 0.87 * root), left = 0.31 * (1 - 0.7 * root);
        const double b = (right - left) / 2, c = (right + left) / 2;
        expiries.push_back(expiry::from_svi(
            t, {t * (0.01 + 0.03 * late), t * c, b / c, 0.03 + 0.01 * t, 0.15 * (0.4 + 0.6 * late)}));
    }
    const implied_surface surface(written_by::svi, std::move(expiries));
    EXPECT_TRUE(find_arbitrage(surface).empty());
    const local_volatility vol = local_volatility::of_surface(surface);
    forward_equation equation(1.5, 3000);
    equation.walk(0, 0.5, 500, tables(vol, 100));
    struct {
        double spot, price;
    } const published[] = {{90, 2.1433}, {100, 6.874}, {110, 14.2983}};
    for (const auto& p : published) {
        const double x = std::log(100 / p.spot) - 0.5 * benchop_rate;
        EXPECT_NEAR(p.spot * equation.call(x), p.price, 1e-3) << p.spot;
    }
}

TEST(surface_local_volatility, a_given_grid_is_bilinear_and_flat_outside) {
    const local_volatility_grid grid{{0.5, 1.0}, {80, 100, 150}, {{0.4, 0.3, 0.2}, {0.2, 0.25, 0.3}}};
    const auto forward = [](double t) { return 100 * std::exp(0.05 * t); };
    const local_volatility vol = local_volatility::of_grid(grid, forward);
    const double step = 1e-6;
    const auto at = [&](double t, double spot) {
        return std::sqrt(vol.local_variance(t, t + step, std::log(spot / forward(t))));
    };
    EXPECT_NEAR(at(0.1, 80), 0.4, 1e-6);
    EXPECT_NEAR(at(0.1, 10), 0.4, 1e-6);
    EXPECT_NEAR(at(0.1, 125), 0.25, 1e-6);
    EXPECT_NEAR(at(0.75, 90), (0.35 + 0.225) / 2, 1e-6);
    EXPECT_NEAR(at(0.6, 1e6), 0.8 * 0.2 + 0.2 * 0.3, 1e-6);
    EXPECT_NEAR(at(3, 150), 0.3, 1e-6);
    EXPECT_NEAR(at(3, 1), 0.2, 1e-6);
    // At the spot 80 the grid's volatility is 0.4 until 0.5 years and falls linearly to 0.2 at 1.
    const local_volatility still = local_volatility::of_grid(grid, [](double) { return 80.0; });
    EXPECT_NEAR(still.local_variance(0.25, 1.5, 0),
                (0.25 * 0.16 + 0.5 * (0.16 + 0.08 + 0.04) / 3 + 0.5 * 0.04) / 1.25, 1e-14);

    const auto [low, high] = vol.table_range(0.6, 0.7);
    EXPECT_NEAR(low, std::log(80 / forward(0.65)), 1e-12);
    EXPECT_NEAR(high, std::log(150 / forward(0.65)), 1e-12);
    const auto [near_low, near_high] = vol.table_range(0, 1.0 / 365);
    EXPECT_GT(near_low, -0.1);
    EXPECT_LT(near_high, 0.1);
    const auto [far_low, far_high] =
        local_volatility::of_grid(grid, [](double) { return 1e4; }).table_range(0, 1);
    EXPECT_LT(far_low, -1);
    EXPECT_GT(far_high, 1);

    EXPECT_THROW(local_volatility::of_grid({{}, {80}, {}}, forward), error);
    EXPECT_THROW(local_volatility::of_grid({{1, 1}, {80}, {{0.2}, {0.2}}}, forward), error);
    EXPECT_THROW(local_volatility::of_grid({{1}, {80, 70}, {{0.2, 0.2}}}, forward), error);
    EXPECT_THROW(local_volatility::of_grid({{1}, {80, 90}, {{0.2}}}, forward), error);
    EXPECT_THROW(local_volatility::of_grid({{1}, {80}, {{-0.2}}}, forward), error);
}

TEST(surface_local_volatility, extremes_stay_finite) {
    const std::vector<double> levels = {1e-4, 0.01, 0.2, 5};
    const std::vector<double> years = {1.0 / 365, 50};
    std::vector<double> table(100);
    const auto check = [&](const implied_surface& surface, const std::string& what) {
        (void)find_arbitrage(surface);
        const local_volatility vol = local_volatility::of_surface(surface);
        for (const double t0 : {0.0, 1.0 / 365, 1.0, 49.99, 80.0}) {
            for (const double step : {1e-6, 1.0 / 365, 10.0}) {
                const auto [low, high] = vol.table_range(t0, t0 + step);
                ASSERT_TRUE(low < 0 && high > 0 && high - low <= 50) << what << " " << t0 << " " << step;
                vol.table(t0, t0 + step, low, high, table);
                for (const double sigma : table) {
                    ASSERT_TRUE(sigma >= 0 && sigma <= local_volatility::most_volatility)
                        << what << " " << t0 << " " << step << " " << sigma;
                }
                for (const double x : {-25.0, -1.0, 0.0, 1e-9, 25.0}) {
                    ASSERT_TRUE(std::isfinite(surface.implied_volatility(t0, x))) << what << " " << x;
                }
            }
        }
    };
    for (const double first : levels) {
        for (const double second : levels) {
            check(term_surface(years, {first, second}),
                  "term " + std::to_string(first) + " " + std::to_string(second));
            std::vector<expiry> jumpy;
            for (const double t : years) {
                jumpy.push_back(expiry::from_quotes(t, {{-1, first, "a", {}, {}},
                                                        {0, second, "b", {}, {}},
                                                        {1e-6, first, "c", {}, {}},
                                                        {3, second, "d", {}, {}}}));
            }
            check({written_by::moneyness, std::move(jumpy)},
                  "jumpy " + std::to_string(first) + " " + std::to_string(second));
        }
    }
    check({written_by::svi, {expiry::from_svi(1, {0, 1, 0.999, 0, 1e-12})}}, "a kink that touches zero");
    check({written_by::svi, {expiry::from_svi(1, {1, 1, -0.999, 0, 1000})}}, "a smile a thousand wide");
    std::mt19937_64 dice(20260115);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (int round = 0; round < 200; ++round) {
        std::vector<expiry> expiries;
        double t = 0;
        for (int i = 0; i < 4; ++i) {
            t += 10 * std::pow(uniform(dice), 4) + 1e-3;
            std::vector<quote> quotes;
            double x = -3;
            for (int k = 0; k < 6; ++k) {
                x += std::pow(uniform(dice), 3) + 1e-6;
                quotes.push_back({x, 1e-4 + 5 * std::pow(uniform(dice), 4), "x", {}, {}});
            }
            expiries.push_back(expiry::from_quotes(t, std::move(quotes)));
        }
        check({written_by::moneyness, std::move(expiries)}, "round " + std::to_string(round));
    }
}

// Calls under a mixture of two lognormals with different means, which is always free of arbitrage.
struct mixture {
    double weight[2], mean[2], volatility[2];

    double implied(double x, double years) const {
        double price = 0;
        for (int i = 0; i < 2; ++i) {
            const double shifted = x - std::log(mean[i]), deviation = volatility[i] * std::sqrt(years);
            const double call = black(shifted, deviation) + (shifted >= 0 ? 0 : 1 - std::exp(shifted));
            price += weight[i] * mean[i] * call;
        }
        return implied_deviation(x, price) / std::sqrt(years);
    }
};

TEST(surface_arbitrage, none_in_quotes_that_have_none) {
    EXPECT_TRUE(find_arbitrage(svi_surface()).empty());
    EXPECT_TRUE(find_arbitrage(equity_surface()).empty());
    std::mt19937_64 dice(7);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (int round = 0; round < 100; ++round) {
        const double p = 0.1 + 0.8 * uniform(dice), jump = 0.7 + 0.3 * uniform(dice);
        const mixture law{{p, 1 - p},
                          {jump, (1 - p * jump) / (1 - p)},
                          {0.05 + 0.5 * uniform(dice), 0.05 + 0.3 * uniform(dice)}};
        std::vector<expiry> expiries;
        for (const double t : {0.1, 0.25, 1.0, 3.0}) {
            const double reach = 2 * law.implied(0, t) * std::sqrt(t);
            expiries.push_back(expiry::from_quotes(
                t, quotes_of(even(-reach, reach, 9), [&](double x) { return law.implied(x, t); })));
        }
        for (const arbitrage& a : find_arbitrage({written_by::moneyness, std::move(expiries)})) {
            EXPECT_FALSE(a.in_quotes) << round << ": " << a.message;
        }
    }
}

double hundred(double) {
    return 100;
}

const dates::date as_of = *dates::parse_date("2026-01-15");

surface_reading read(const std::string& text) {
    return read_surface(config::parse(text, "m.yaml"), as_of, hundred);
}

// The message by which the reader refuses the text; empty if it does not.
std::string refusal(const std::string& text) {
    try {
        read(text);
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::input);
        return e.what();
    }
    return "";
}

TEST(surface_arbitrage, is_named_where_it_was_planted) {
    struct {
        const char *text, *refusal;
    } const cases[] = {
        {"by_strike:\n  2026-07-15: {80: 0.31, 90: 0.27, 100: 0.29, 110: 0.22}\n",
         "m.yaml:2:36: by_strike.2026-07-15.100: butterfly arbitrage at the strike 100 of 2026-07-15: with "
         "the "
         "volatility 0.29 the call costs 0.0813293 of the forward, more than the 0.0796853 that those at 90 "
         "and "
         "110 allow; expected a volatility of at most 0.284118; to price with a local volatility that is "
         "bounded "
         "there, write arbitrage: repair"},
        // A volatility at 100 that is too low makes the call at 90 too dear.
        {"by_strike:\n  2026-07-15: {80: 0.31, 90: 0.27, 100: 0.15, 110: 0.22}\n",
         "m.yaml:2:26: by_strike.2026-07-15.90: butterfly arbitrage at the strike 90 of 2026-07-15"},
        {"by_moneyness: {0.5: {0.8: 0.4, 0.9: 0.25, 1: 0.2}}",
         "m.yaml:1:22: by_moneyness.0.5.0.8: butterfly arbitrage at the moneyness 0.8 of 0.5: with the "
         "volatility "
         "0.4 the call costs 0.230827 of the forward, more than the 0.225255 that those at 0 and 0.9 allow"},
        {"by_strike: {0.5: {100: 0.2, 110: 0.4}}",
         "m.yaml:1:29: by_strike.0.5.110: butterfly arbitrage at the strike 110 of 0.5: with the volatility "
         "0.4 "
         "the call costs 0.0746773 of the forward, more than the 0.056372 that the quotes to 100 allow; "
         "expected a volatility of at most 0.333206"},
        {"by_strike:\n  2026-07-15: {80: 0.31, 90: 0.27, 100: 0.24, 110: 0.22}\n"
         "  2027-01-15: {80: 0.3, 90: 0.26, 100: 0.165, 110: 0.21}\n",
         "m.yaml:3:35: by_strike.2027-01-15.100: calendar arbitrage at the strike 100 of 2027-01-15: with "
         "the "
         "volatility 0.165 the call costs 0.0657509 of the forward, less than the 0.0673438 that the quotes "
         "of "
         "2026-07-15 allow; expected a volatility of at least 0.169007 (1 more in the surface); to price"},
        // The expiry 1 has no quote at 100, but its other quotes limit the price there.
        {"by_strike: {0.5: {90: 0.3, 100: 0.3, 110: 0.3}, 1: {95: 0.2, 105: 0.2}}",
         "m.yaml:1:28: by_strike.0.5.100: calendar arbitrage at the strike 100 of 0.5: with the volatility "
         "0.3 the "
         "call costs 0.08447 of the forward, more than the 0.0821257 that the quotes of 1 allow; expected a "
         "volatility of at most 0.291644"},
        // The earlier expiry has no quote at 100, but its prices bound the price there by convexity.
        {"by_strike: {0.5: {85: 0.3, 95: 0.3, 105: 0.3, 115: 0.3}, 1: {100: 0.15, 160: 0.15}}",
         "m.yaml:1:62: by_strike.1.100: calendar arbitrage at the strike 100 of 1: with the volatility 0.15 "
         "the call "
         "costs 0.0597853 of the forward, less than the 0.07"},
        // Axel Vogt's example: the density is negative in a wing.
        {"svi: {1: {a: -0.041, b: 0.1331, rho: 0.306, m: 0.3586, sigma: 0.4153}}",
         "m.yaml:1:7: svi.1: butterfly arbitrage at the log-moneyness 0.890759 of 1: the density is "
         "-0.0328079 "
         "times a lognormal one; to price"},
        {"svi: {1: {a: 0.02, b: 0.1, rho: -0.1, m: 0, sigma: 0.2}, 2: {a: 0.05, b: 0.02, rho: 0, m: 0, "
         "sigma: 0.2}}",
         "m.yaml:1:58: svi.2: calendar arbitrage at the log-moneyness -1.07122 of 2: the total variance "
         "falls from 0.139686 at 1 "
         "to 0.0717947 at 2; expected a volatility of at least 0.264278 at 2 (1 more in the surface); to "
         "price"},
    };
    for (const auto& c : cases) {
        const std::string said = refusal(c.text);
        EXPECT_EQ(said.substr(0, std::string(c.refusal).size()), c.refusal) << c.text << "\n" << said;
        // With `arbitrage: repair` the surface is read, and reports the same findings.
        const surface_reading repaired = read(std::string(c.text) + "\narbitrage: repair");
        ASSERT_FALSE(repaired.findings.empty()) << c.text;
        EXPECT_TRUE(std::any_of(repaired.findings.begin(), repaired.findings.end(), [&](const arbitrage& a) {
            return a.in_quotes && said.find(a.message) != std::string::npos && a.size > 0;
        })) << c.text;
        std::vector<double> table(100);
        for (double t = 0; t < 2; t += 0.1) {
            const auto [low, high] = repaired.local.table_range(t, t + 0.1);
            repaired.local.table(t, t + 0.1, low, high, table);
            for (const double sigma : table) EXPECT_TRUE(sigma >= 0 && sigma <= 10) << c.text << " " << t;
        }
    }
}

TEST(surface_arbitrage, what_is_expected_is_just_enough) {
    const auto butterfly = [](double vol) {
        return "by_strike: {0.5: {80: 0.31, 90: 0.27, 100: " + std::to_string(vol) + ", 110: 0.22}}";
    };
    EXPECT_NE(refusal(butterfly(0.29)).find("at most 0.283796"), std::string::npos)
        << refusal(butterfly(0.29));
    EXPECT_EQ(refusal(butterfly(0.28379)), "");
    EXPECT_NE(refusal(butterfly(0.2838)), "");
    const auto calendar = [](double vol) {
        return "by_strike: {0.5: {90: 0.2, 100: 0.2, 110: 0.2}, 1: {90: 0.15, 100: " + std::to_string(vol) +
               ", 110: 0.15}}";
    };
    EXPECT_NE(refusal(calendar(0.14)).find("at least 0.141421"), std::string::npos)
        << refusal(calendar(0.14));
    EXPECT_EQ(refusal(calendar(0.14143)), "");
}

TEST(surface_arbitrage, the_interpolation_alone_is_no_reason_to_refuse) {
    struct {
        const char *text, *message;
        arbitrage::violation what;
        location where;
    } const cases[] = {
        {"by_strike: {0.5: {80: 0.1, 100: 0.32, 120: 0.18}}",
         "butterfly arbitrage at the strike 100 of 0.5: the density is -0.476899 times a lognormal one, by "
         "the "
         "interpolation alone; the local volatility is bounded there",
         arbitrage::violation::butterfly,
         {"m.yaml", 1, 28}},
        {"by_strike: {0.5: {80: 0.19, 100: 0.24, 120: 0.32}, 1: {85: 0.19, 105: 0.18, 125: 0.24}}",
         "calendar arbitrage at the strike 110.88 of 1: the total variance falls from 0.0404106 at 0.5 to "
         "0.0379596 at 1, by the interpolation alone; the local volatility is bounded there",
         arbitrage::violation::calendar,
         {"m.yaml", 1, 52}},
    };
    for (const auto& c : cases) {
        const surface_reading got = read(c.text);
        ASSERT_EQ(got.findings.size(), 1u) << c.text;
        const arbitrage& a = got.findings.front();
        EXPECT_EQ(a.message, c.message);
        EXPECT_EQ(a.what, c.what);
        EXPECT_EQ(a.where, c.where) << to_string(a.where);
        EXPECT_FALSE(a.in_quotes);
        // Bounds of local volatility: 5 times the forward volatility at a butterfly, 0 at a calendar.
        const double at = got.local.local_variance(a.years - 0.01, a.years, a.log_moneyness);
        if (c.what == arbitrage::violation::butterfly) {
            EXPECT_NEAR(at, 0.32 * 0.32 / local_volatility::least_ratio, 1e-9);
        } else {
            EXPECT_EQ(at, 0);
        }
    }
}

// A finding halfway between two expiries is reported only if neither expiry is to blame for it.
TEST(surface_arbitrage, of_the_later_expiry_is_not_told_again_halfway_to_it) {
    const surface_reading got = read(
        "by_strike: {0.25: {70: 0.04, 100: 0.04, 130: 0.04}, "
        "0.5: {70: 0.16, 85: 0.38, 100: 0.3, 115: 0.31, 130: 0.42}}");
    ASSERT_EQ(got.findings.size(), 2u);
    for (const arbitrage& a : got.findings) {
        EXPECT_EQ(a.what, arbitrage::violation::butterfly) << a.message;
        EXPECT_EQ(a.years, 0.5) << a.message;
    }
    // At the strike 85 the density is negative halfway as well, which is the later expiry's fault.
    const implied_surface* const surface = got.local.implied();
    ASSERT_NE(surface, nullptr);
    const double x = std::log(0.85);
    for (const double years : {0.375, 0.5})
        EXPECT_LT(density_ratio(surface->total_variance(years, x).at, x), -0.1) << years;
    EXPECT_GE(density_ratio(surface->total_variance(0.25, x).at, x), 0);
}

TEST(surface_reader, reads_each_form) {
    const double x = std::log(0.9);
    const double half = dates::time_point{*dates::parse_date("2026-07-15")}.years(as_of);
    EXPECT_TRUE(
        read("by_strike: {2026-07-15: {90: 0.22, 100: 0.2, 110: 0.19}, 1: {90: 0.215, 100: 0.2, 110: 0.19}}")
            .findings.empty());
    for (const char* text :
         {"by_strike: {2026-07-15: {90: 0.2, 110: 0.2}}", "by_moneyness: {0.5: {0.9: 0.2, 1.1: 0.2}}",
          "svi: {0.5: {a: 0.02, b: 0, rho: 0, m: 0, sigma: 0.1}}",
          "local: {times: [0], spots: [100], volatilities: [[0.2]]}",
          "local: {times: [0, 2026-07-15], spots: [90, 1e2], volatilities: [[0.2, 0.2], [0.2, 0.2]]}",
          "{by_strike: {0.5: {90: 0.2, 110: 0.2}}, arbitrage: refuse}"}) {
        const surface_reading got = read(text);
        EXPECT_TRUE(got.findings.empty()) << text;
        EXPECT_NEAR(got.local.local_variance(0.1, 0.2, x), 0.04, 1e-14) << text;
    }
    // Strikes become log-moneyness by the forward of their own expiry, not by the spot.
    const auto forward = [](double t) { return 100 * std::exp(0.1 * t); };
    const surface_reading by_strike = read_surface(
        config::parse("by_strike: {2026-07-15: {90: 0.24, 100: 0.22, 110: 0.21}}", "m.yaml"), as_of, forward);
    std::vector<quote> quotes;
    const double vols[] = {0.24, 0.22, 0.21};
    for (int i = 0; i < 3; ++i)
        quotes.push_back({std::log((90 + 10 * i) / forward(half)), vols[i], "", {}, {}});
    const local_volatility same =
        local_volatility::of_surface({written_by::strike, {expiry::from_quotes(half, quotes)}});
    for (const double at : {-0.5, -0.1, 0.0, 0.07, 0.4})
        EXPECT_NEAR(by_strike.local.local_variance(0, 0.3, at), same.local_variance(0, 0.3, at), 1e-14) << at;

    EXPECT_TRUE(is_surface(config::parse("{svi: {}}", "m.yaml")));
    EXPECT_TRUE(is_surface(config::parse("{0.5: 0.2, by_strik: {}}", "m.yaml")));
    EXPECT_FALSE(is_surface(config::parse("{0.5: 0.2, 2027-01-15: 0.3}", "m.yaml")));
    EXPECT_FALSE(is_surface(config::parse("0.2", "m.yaml")));
}

TEST(surface_reader, refuses_with_place_value_and_range) {
    struct {
        const char *text, *refusal;
    } const cases[] = {
        {"0.2",
         "m.yaml:1:1: found '0.2', expected one of {by_strike: ...}, {by_moneyness: ...}, {svi: ...} or "
         "{local: ...}"},
        {"by_strik: {}",
         "m.yaml:1:1: by_strik: unknown key 'by_strik'; did you mean 'by_strike'? known keys: "
         "by_strike, by_moneyness, svi, local, arbitrage"},
        {"arbitrage: repair", "m.yaml:1:1: found 0 forms of a surface, expected one of"},
        {"{by_strike: {}, svi: {}}", "m.yaml:1:1: found 2 forms of a surface, expected one of"},
        {"{by_strike: {1: {90: 0.2, 110: 0.2}}, arbitrage: repare}",
         "m.yaml:1:50: arbitrage: found 'repare'; did you mean 'repair'? expected one of refuse, repair"},
        {"{by_strike: {1: {90: 0.2, 110: 0.2}}, arbitrage: [repair]}",
         "m.yaml:1:50: arbitrage: found a list, expected one of refuse, repair"},
        {"{local: {times: [0], spots: [100], volatilities: [[0.2]]}, arbitrage: repair}",
         "m.yaml:1:71: arbitrage: found the key arbitrage beside local, expected no such key: a given local "
         "volatility has no arbitrage"},
        {"by_strike: 0.2",
         "m.yaml:1:12: by_strike: found '0.2', expected a mapping of dates or years to smiles: "
         "{2027-01-15: ...}, each a mapping of strikes to volatilities, such as {90: 0.22, 100: "
         "0.2, 110: 0.19}"},
        {"by_strike: {}", "m.yaml:1:12: by_strike: found 0 expiries, expected at least 1 and at most 500"},
        {"by_strike: {6m: {90: 0.2, 100: 0.2}}",
         "m.yaml:1:13: by_strike.6m: found '6m', expected a date as YYYY-MM-DD or a number of years, such as "
         "2026-03-31 or 0.25; write 0.5"},
        {"by_strike: {2026-01-15: {90: 0.2, 100: 0.2}}",
         "m.yaml:1:13: by_strike.2026-01-15: found the time 2026-01-15, expected one after as_of "
         "(2026-01-15)"},
        {"by_strike: {1: {90: 0.2, 100: 0.2}, 0.5: {90: 0.2, 100: 0.2}}",
         "m.yaml:1:37: by_strike.0.5: found the time 0.5 after 1, expected strictly increasing times"},
        {"by_strike: {1: 0.2}",
         "m.yaml:1:16: by_strike.1: found '0.2', expected a mapping of strikes to "
         "volatilities, such as {90: 0.22, 100: 0.2, 110: 0.19}"},
        {"by_strike: {1: {100: 0.2}}",
         "m.yaml:1:16: by_strike.1: found 1 strikes, expected at least 2 and at most 500"},
        {"by_strike: {1: {atm: 0.2, 100: 0.2}}",
         "m.yaml:1:17: by_strike.1.atm: found the strike 'atm', expected a number such as 100"},
        {"by_strike: {1: {-90: 0.2, 100: 0.2}}",
         "m.yaml:1:17: by_strike.1.-90: found the strike -90, expected more than 0 and at most 1e15"},
        {"by_strike: {1: {1e-9: 0.2, 100: 0.2}}",
         "m.yaml:1:17: by_strike.1.1e-9: found the strike 1e-9, which is 1e-11 times the forward 100, "
         "expected "
         "between 1.12535e-07 and 8.88611e+06 times"},
        {"by_strike: {1: {100: 0.2, 90: 0.2}}",
         "m.yaml:1:27: by_strike.1.90: found 90 after 100, expected strictly increasing strikes"},
        {"by_strike: {1: {100: 0.2, 100.0: 0.2}}",
         "m.yaml:1:27: by_strike.1.100.0: found 100.0 after 100, expected strictly increasing strikes"},
        {"by_strike: {1: {90: 20, 100: 0.2}}",
         "m.yaml:1:21: by_strike.1.90: found the volatility 20, expected one between 0.0001 and 5; 20 means "
         "2000 "
         "%; 20 % is written 0.2"},
        {"by_strike: {1: {90: 0, 100: 0.2}}",
         "m.yaml:1:21: by_strike.1.90: found the volatility 0, expected one between 0.0001 and 5"},
        {"by_strike: {1: {90: 20%, 100: 0.2}}", "m.yaml:1:21: by_strike.1.90: "},
        {"by_moneyness: {1: {90: 0.2, 110: 0.2}}",
         "m.yaml:1:20: by_moneyness.1.90: found the moneyness 90, expected strike / forward, between 0.001 "
         "and 20; "
         "strikes are written under by_strike"},
        {"by_moneyness: {1: {0: 0.2, 1: 0.2}}",
         "m.yaml:1:20: by_moneyness.1.0: found the moneyness 0, expected strike / forward, between 0.001 and "
         "20"},
        {"svi: {1: [0.01, 0.1]}",
         "m.yaml:1:10: svi.1: found a list, expected the numbers of an SVI smile, such as"},
        {"svi: {1: {a: 0.01, b: 0.1, rho: 0, m: 0, sigm: 0.2}}",
         "m.yaml:1:42: svi.1.sigm: unknown key 'sigm'; did you mean 'sigma'? known keys: a, b, rho, m, "
         "sigma"},
        {"svi: {1: {a: 0.01, b: 0.1, rho: 0, m: 0}}", "m.yaml:1:10: svi.1: missing key 'sigma'"},
        {"svi: {1: {a: 1e4, b: 0.1, rho: 0, m: 0, sigma: 0.2}}",
         "m.yaml:1:14: svi.1.a: found the level a 1e4, expected one between -1000 and 1000"},
        {"svi: {1: {a: 0.01, b: -0.1, rho: 0, m: 0, sigma: 0.2}}",
         "m.yaml:1:23: svi.1.b: found the slope b -0.1, expected one between 0 and 2"},
        {"svi: {1: {a: 0.01, b: 0.1, rho: -1, m: 0, sigma: 0.2}}",
         "m.yaml:1:33: svi.1.rho: found the correlation rho -1, expected one above -1 and below 1"},
        {"svi: {1: {a: 0.01, b: 0.1, rho: 0, m: 17, sigma: 0.2}}",
         "m.yaml:1:39: svi.1.m: found the shift m 17, expected one between -16 and 16"},
        {"svi: {1: {a: 0.01, b: 0.1, rho: 0, m: 0, sigma: 0}}",
         "m.yaml:1:49: svi.1.sigma: found the curvature sigma 0, expected more than 0 and at most 1000"},
        {"svi: {1: {a: -0.03, b: 0.1, rho: 0, m: 0, sigma: 0.2}}",
         "m.yaml:1:14: svi.1.a: found the level a -0.03, with which the variance falls to -0.01; expected at "
         "least "
         "-b sigma sqrt(1 - rho^2) = -0.02"},
        {"svi: {1: {a: 0.01, b: 1.5, rho: -0.6, m: 0, sigma: 0.2}}",
         "m.yaml:1:23: svi.1.b: found the slope b 1.5, with which a wing rises by 2.4; expected b (1 + "
         "|rho|) to be "
         "at most 2 (Lee's bound), so b at most 1.25"},
        {"svi: {0.1: {a: 9, b: 0.1, rho: 0, m: 0, sigma: 0.2}}",
         "m.yaml:1:12: svi.0.1: found the volatility 9.49737 at the forward, expected one between 0.0001 and "
         "5; SVI "
         "is of total variance, which is the square of the volatility times the years"},
        {"local: 0.2", "m.yaml:1:8: local: found '0.2', expected a grid such as {times: [0, 1]"},
        {"local: {times: [0], spots: [100], volatility: [[0.2]]}",
         "m.yaml:1:35: local.volatility: unknown key 'volatility'; did you mean "
         "'volatilities'? known keys: times, spots, volatilities"},
        {"local: {times: 0, spots: [100], volatilities: [[0.2]]}",
         "m.yaml:1:16: local.times: found '0', expected a list of dates or years"},
        {"local: {times: [], spots: [100], volatilities: []}",
         "m.yaml:1:16: local.times: found 0 times, expected at least 1 and at most 500"},
        {"local: {times: [0], spots: [], volatilities: [[]]}",
         "m.yaml:1:28: local.spots: found 0 spots, expected at least 1 and at most 500"},
        {"local: {times: [2025-01-15], spots: [100], volatilities: [[0.2]]}",
         "m.yaml:1:17: local.times[0]: found the time 2025-01-15, expected one from as_of (2026-01-15) on"},
        {"local: {times: [1, 1], spots: [100], volatilities: [[0.2], [0.2]]}",
         "m.yaml:1:20: local.times[1]: found the time 1 after 1, expected strictly increasing times"},
        {"local: {times: [0], spots: [100, 90], volatilities: [[0.2, 0.2]]}",
         "m.yaml:1:34: local.spots[1]: found the spot 90 after 100, expected strictly increasing spots"},
        {"local: {times: [0], spots: [0], volatilities: [[0.2]]}",
         "m.yaml:1:29: local.spots[0]: found the spot 0, expected more than 0 and at most 1e15"},
        {"local: {times: [0], spots: [90, 100], volatilities: [[0.2], [0.2]]}",
         "m.yaml:1:53: local.volatilities: found 2 lists of volatilities for 1 times, expected one for each "
         "time; is "
         "the grid the wrong way round?"},
        {"local: {times: [0], spots: [90, 100], volatilities: [[0.2]]}",
         "m.yaml:1:54: local.volatilities[0]: found 1 volatilities for 2 spots, expected one for each spot; "
         "is the "
         "grid the wrong way round?"},
        {"local: {times: [0], spots: [90, 100], volatilities: [[0.2, -0.2]]}",
         "m.yaml:1:60: local.volatilities[0][1]: found the volatility -0.2, expected one between 0 and 5"},
    };
    for (const auto& c : cases) {
        const std::string said = refusal(c.text);
        EXPECT_EQ(said.substr(0, std::string(c.refusal).size()), c.refusal) << c.text << "\n" << said;
    }
    const auto no_forward = [](double) { return -1.0; };
    const config::node value = config::parse("by_strike: {1: {90: 0.2, 110: 0.2}}", "m.yaml");
    EXPECT_THROW(read_surface(value, as_of, no_forward), error);
    std::string many = "by_strike: {1: {";
    for (int k = 1; k <= 501; ++k) many += std::to_string(k) + ": 0.2, ";
    EXPECT_NE(refusal(many + "502: 0.2}}").find("found 502 strikes, expected at least 2 and at most 500"),
              std::string::npos);
}

}  // namespace

}  // namespace surface_test
