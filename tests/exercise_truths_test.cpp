// SPDX-License-Identifier: Apache-2.0
// Rights to end a trade early against values of our own: Bermudan swaptions under one and two factors, puts
// on a geometric mean, which is one asset, and how often the interval holds the truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/analytics/black.h"
#include "tests/by_source.h"
#include "tests/plain_paths.h"
#include "tests/rights_books.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk {
namespace {

using tests::expect_between;
using tests::priced;
using tests::put_on;
using tests::put_on_a_lattice;

// The rule of Simpson on 200 intervals.
template <class function>
double integral(double from, double to, function&& f) {
    constexpr int n = 200;
    const double h = (to - from) / n;
    double sum = f(from) + f(to);
    for (int i = 1; i < n; ++i) sum += (i % 2 == 0 ? 2 : 4) * f(from + i * h);
    return sum * h / 3;
}

// Two Gaussian factors whose sum and a number of the day are the short rate, on a flat curve.
struct two_factors {
    double rate, a, sigma, b, eta, rho;

    static double reach(double reversion, double years) {
        return reversion == 0 ? years : -std::expm1(-reversion * years) / reversion;
    }
    // The variance of the integral of the rate.
    double variance(double from, double to) const {
        return integral(from, to, [&](double u) {
            const double x = sigma * reach(a, to - u), y = eta * reach(b, to - u);
            return x * x + y * y + 2 * rho * x * y;
        });
    }
};

// A bond seen from a day, as a function of the factors.
struct bond {
    double level, of_x, of_y;
    bond(const two_factors& m, double day, double maturity)
        : level(std::exp(-m.rate * (maturity - day) +
                         (m.variance(day, maturity) - m.variance(0, maturity) + m.variance(0, day)) / 2)),
          of_x(two_factors::reach(m.a, maturity - day)),
          of_y(two_factors::reach(m.b, maturity - day)) {}
    double at(double x, double y) const { return level * std::exp(-of_x * x - of_y * y); }
};

// Nodes and weights for the mean over a normal number. Even ones are right for smooth functions, and nearly
// so for those with a kink, if there are many or the kink is elsewhere for each node of another number.
std::vector<std::pair<double, double>> normal_nodes(int count) {
    if (count == 1) return {{0.0, 1.0}};
    constexpr double reach = 6.5;
    std::vector<std::pair<double, double>> out;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        const double z = reach * (2.0 * i / (count - 1) - 1);
        out.emplace_back(z, std::exp(-z * z / 2));
        sum += out.back().second;
    }
    for (auto& [z, weight] : out) weight /= sum;
    return out;
}

// A function on an even grid over both factors, read by cubics between its points.
class on_grid {
  public:
    static constexpr int points = 61;
    on_grid(double reach_x, double reach_y) : reach_x_(reach_x), reach_y_(reach_y), value_(points * points) {}

    double x(int i) const { return reach_x_ * (2.0 * i / (points - 1) - 1); }
    double y(int j) const { return reach_y_ * (2.0 * j / (points - 1) - 1); }
    double& at(int i, int j) { return value_[static_cast<std::size_t>(i * points + j)]; }
    double operator()(double x, double y) const {
        const place of_x(x, reach_x_), of_y(y, reach_y_);
        double sum = 0;
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j)
                sum += of_x.weights[i] * of_y.weights[j] *
                       value_[static_cast<std::size_t>((of_x.first + i) * points + of_y.first + j)];
        return sum;
    }

  private:
    struct place {
        int first;
        double weights[4];
        place(double x, double reach) {
            const double at = reach > 0 ? (x / reach + 1) / 2 * (points - 1) : points / 2;
            first = std::clamp(static_cast<int>(std::floor(at)) - 1, 0, points - 4);
            for (int i = 0; i < 4; ++i) {
                weights[i] = 1;
                for (int j = 0; j < 4; ++j)
                    if (j != i) weights[i] *= (at - first - j) / (i - j);
            }
        }
    };
    double reach_x_, reach_y_;
    std::vector<double> value_;
};

struct swaption {
    double strike;
    bool is_payer;
    std::vector<double> dates, payments;

    // The worth of the rest of the swap to its holder, of one unit.
    double rest(const std::vector<bond>& left, double day, double x, double y) const {
        const std::size_t passed = payments.size() - left.size();
        double fixed = 0, before = day;
        for (std::size_t k = 0; k < left.size(); ++k) {
            fixed += strike * (payments[passed + k] - before) * left[k].at(x, y);
            before = payments[passed + k];
        }
        const double worth = 1 - left.back().at(x, y) - fixed;
        return is_payer ? worth : -worth;
    }
};

// By quadrature from date to date, each under the measure of the bond that ends on the later one.
double swaption_on_a_grid(const two_factors& m, const swaption& of) {
    const double end = of.dates.back();
    const auto deviation = [](double volatility, double reversion, double years) {
        return volatility * std::sqrt(two_factors::reach(2 * reversion, years));
    };
    const double reach_x = 7 * deviation(m.sigma, m.a, end), reach_y = 7 * deviation(m.eta, m.b, end);
    // From a day, and both factors there: the mean of what is worth `next` on a later one.
    const bool are_two = m.eta > 0;
    const auto nodes = normal_nodes(are_two ? 41 : 2001), others = normal_nodes(are_two ? 41 : 1);
    const auto back = [&](double day, double later, auto&& next) {
        const double years = later - day;
        const double sd_x = deviation(m.sigma, m.a, years), sd_y = deviation(m.eta, m.b, years);
        const double covariance = m.rho * m.sigma * m.eta * two_factors::reach(m.a + m.b, years);
        const double slope = sd_x > 0 ? covariance / sd_x : 0;
        const double rest = std::sqrt(std::max(sd_y * sd_y - slope * slope, 0.0));
        const auto drift = [&](double own, double reversion, double other, double other_reversion) {
            return integral(day, later, [&](double u) {
                return (own * own * two_factors::reach(reversion, later - u) +
                        m.rho * own * other * two_factors::reach(other_reversion, later - u)) *
                       std::exp(-reversion * (later - u));
            });
        };
        const double drift_x = drift(m.sigma, m.a, m.eta, m.b), drift_y = drift(m.eta, m.b, m.sigma, m.a);
        const bond discount(m, day, later);
        return [=, &nodes, &others, &m](double x, double y) {
            double sum = 0;
            const double mean_x = x * std::exp(-m.a * years) - drift_x,
                         mean_y = y * std::exp(-m.b * years) - drift_y;
            for (const auto& [z, w] : nodes)
                for (const auto& [u, v] : others)
                    sum += w * v * next(mean_x + sd_x * z, mean_y + slope * z + rest * u);
            return discount.at(x, y) * sum;
        };
    };
    const auto rest_on = [&](double day) {
        std::vector<bond> left;
        for (const double t : of.payments)
            if (t > day) left.emplace_back(m, day, t);
        return [&of, day, left](double x, double y) { return std::max(of.rest(left, day, x, y), 0.0); };
    };
    on_grid to_come(reach_x, reach_y);  // on the date at hand
    for (std::size_t k = of.dates.size() - 1; k > 0; --k) {
        const auto used = rest_on(of.dates[k]);
        const auto from = back(of.dates[k - 1], of.dates[k],
                               [&](double x, double y) { return std::max(used(x, y), to_come(x, y)); });
        on_grid made(reach_x, reach_y);
        for (int i = 0; i < on_grid::points; ++i)
            for (int j = 0; j < on_grid::points; ++j)
                made.at(i, j) = are_two || j == 0 ? from(made.x(i), made.y(j)) : made.at(i, 0);
        to_come = made;
    }
    const auto used = rest_on(of.dates[0]);
    return back(0, of.dates[0], [&](double x, double y) { return std::max(used(x, y), to_come(x, y)); })(0,
                                                                                                         0);
}

std::string years_text(const std::vector<double>& years) {
    std::string out;
    for (const double t : years) out += (out.empty() ? "[" : ", ") + std::to_string(t);
    return out + "]";
}

results priced_swaptions(const two_factors& m, const std::vector<swaption>& all,
                         const run_options& options = {}) {
    const auto text = [](double x) { return std::to_string(x); };
    const std::string model =
        m.eta == 0 ? "hull_white: {mean_reversion: " + text(m.a) + ", volatility: " + text(m.sigma) + "}"
                   : "g2: {a: " + text(m.a) + ", sigma: " + text(m.sigma) + ", b: " + text(m.b) +
                         ", eta: " + text(m.eta) + ", rho: " + text(m.rho) + "}";
    std::string out = "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: " + text(m.rate) +
                      ", model: {" + model + "}}}\ntrades:\n";
    for (std::size_t i = 0; i < all.size(); ++i)
        out += "  - {id: s" + std::to_string(i) + ", product: bermudan_swaption, currency: USD, option: " +
               (all[i].is_payer ? "payer" : "receiver") + ", strike: " + text(all[i].strike) +
               ", exercise_dates: " + years_text(all[i].dates) +
               ", payments: " + years_text(all[i].payments) + "}\n";
    return priced(out, 65536, 42, options);
}

class exercise_truths : public by_source {};
INSTANTIATE_TEST_SUITE_P(from, exercise_truths, testing::Values(independent_paths, bridged_points),
                         name_of_source);

// In, at and out of the money; the rest of one swap from one, two and three of its dates on. A swaption with
// one date is known from a formula.
TEST_P(exercise_truths, swaptions_on_a_grid_are_between_their_bounds) {
    const std::vector<double> payments{2, 3, 4, 5};
    const two_factors one{0.04, 0.05, 0.01, 0.05, 0, 0}, two{0.04, 0.5, 0.012, 0.04, 0.01, -0.6};
    for (const two_factors& m : {one, two}) {
        std::vector<swaption> all;
        for (const double strike : {0.03, 0.04, 0.05}) all.push_back({strike, true, {1, 2, 3, 4}, payments});
        all.push_back({0.042, false, {1, 2, 3, 4}, payments});
        all.push_back({0.042, false, {2, 3, 4}, payments});
        all.push_back({0.042, false, {3, 4}, payments});
        const results got = priced_swaptions(m, all);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const double truth = 100 * swaption_on_a_grid(m, all[i]);
            SCOPED_TRACE((m.eta > 0 ? "two factors, " : "one factor, ") + std::to_string(i) + ": " +
                         std::to_string(truth));
            expect_between(got.rows[i], truth, 0.99 * truth, 1.02 * truth + 0.01);
        }
    }
}

// The grid itself: one date, on which the price is that of a put on a bond with coupons, is what a walk
// without a decision pays. The grid is good to about 3 parts in 1,000, which points would see.
TEST(exercise_truths, the_grid_gives_european_swaptions) {
    const two_factors m{0.04, 0.5, 0.012, 0.04, 0.01, -0.6};
    const std::vector<swaption> all{{0.04, true, {2}, {3, 4, 5}}, {0.035, false, {1}, {2, 3, 4}}};
    const results got = priced_swaptions(m, all, tests::plain_paths());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const price_row& row = got.rows[i];
        const double value = row.early ? row.early->policy_value : row.price;
        const double error = row.early ? row.early->policy_error : row.standard_error;
        // One seed in 150,000 fails.
        EXPECT_NEAR(100 * swaption_on_a_grid(m, all[i]), value, 4.5 * error);
        EXPECT_LT(error, 0.015 * value);
    }
}

// A geometric mean of lognormal prices is lognormal, with less volatility and a drift that pays for it.
TEST_P(exercise_truths, puts_on_a_geometric_mean_are_puts_on_one_asset) {
    std::vector<double> dates;
    for (int i = 1; i <= 10; ++i) dates.push_back(i / 10.0);
    for (const int count : {2, 5}) {
        const double volatility = 0.3, correlation = 0.4, rate = 0.05;
        std::string text = "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.05}}\n  assets:\n",
                    names, pairs;
        for (int i = 0; i < count; ++i) {
            const std::string name(1, static_cast<char>('A' + i));
            text += "    " + name + ": {currency: USD, spot: 100, volatility: 0.3}\n";
            names += (names.empty() ? "" : ", ") + name;
            for (int j = 0; j < i; ++j)
                pairs += (pairs.empty() ? "[" : ", [") + std::string(1, static_cast<char>('A' + j)) + ", " +
                         name + ", 0.4]";
        }
        text += "  correlations: [" + pairs + "]\ntrades:\n  - {id: t, product: bermudan_basket, basket: [" +
                names +
                "], option: put, price: geometric_mean, strike: 100, exercise_dates: {start: 0, end: 1, "
                "count: 10}}\n";
        const double variance = volatility * volatility * (1 + (count - 1) * correlation) / count;
        const double truth = put_on_a_lattice(100, 100, rate, std::sqrt(variance), dates,
                                              (volatility * volatility - variance) / 2);
        SCOPED_TRACE(std::to_string(count) + ": " + std::to_string(truth));
        // The martingale of many moves is fitted less well.
        expect_between(priced(text, 65536).rows[0], truth, 0.985 * truth, (count == 2 ? 1.02 : 1.05) * truth);
    }
}

// A shout of today locks in what the asset is worth now: (S - K) paid at maturity, and an option at the
// money.
TEST(exercise_truths, a_shout_of_today_has_its_closed_form) {
    const std::string assets =
        "    A: {currency: USD, spot: 110, volatility: 0.2, dividend_yield: 0.01}\n"
        "    D: {currency: USD, spot: 110, volatility: 0.2, dividends: [{date: 0.5, amount: 2}]}\n";
    const auto price = [&](const std::string& terms) {
        const price_row row = priced(tests::market_of(assets, 0.05) +
                                         "trades:\n  - {id: t, product: shout, " + terms + ", maturity: 1}\n",
                                     16384)
                                  .rows[0];
        EXPECT_EQ(row.status, trade_status::priced) << row.message;
        return row.early ? row.early->policy_value : no_figure;
    };
    const double discount = std::exp(-0.05), of_a = 110 * std::exp(0.05 - 0.01);
    const double call = discount * analytics::black_price(analytics::right::call, of_a, 110, 0.2),
                 put = discount * analytics::black_price(analytics::right::put, of_a, 110, 0.2);
    EXPECT_NEAR(price("underlying: A, strike: 100, shout_dates: [0]"), 10 * discount + call, 1e-11);
    EXPECT_NEAR(price("underlying: A, option: put, strike: 125, shout_dates: [2026-01-15]"),
                15 * discount + put, 1e-11);
    // Cash dividends are taken off what moves.
    const double moving = (110 - 2 * std::exp(-0.05 * 0.5)) / discount;
    EXPECT_NEAR(price("underlying: D, strike: 100, shout_dates: [0]"),
                10 * discount + discount * analytics::black_price(analytics::right::call, moving, 110, 0.2),
                1e-11);
    // Later dates are worth something beside it.
    EXPECT_GT(price("underlying: A, strike: 109, shout_dates: [0, 0.5]"), 1 * discount + call);
}

// American with exercise_dates is Bermudan.
TEST(exercise_truths, an_american_put_on_dates_is_used_on_those_alone) {
    const std::string market = tests::market_of("    A: {currency: USD, spot: 36, volatility: 0.2}\n", 0.06);
    const std::string put = "{id: t, product: american, underlying: A, strike: 40, maturity: 1";
    const auto said = [&](const std::string& more) {
        return priced(market + "trades:\n  - " + put + more + "}\n", 65536).rows[0];
    };
    const price_row row = said(", exercise_dates: [0.5, 1]");
    const double truth = put_on_a_lattice(36, 40, 0.06, 0.2, {0.5, 1});
    expect_between(row, truth, 0.995 * truth, 1.005 * truth);
    EXPECT_FALSE(is_figure(row.early->extrapolated)) << "its dates are no step to exercise at any time";
    // Today is a day of exercise, and is worth more than to wait.
    EXPECT_EQ(said(", exercise_dates: [0, 1]").early->policy_value, 4);
    const auto refused = [&](const std::string& more) { return said(more).message; };
    EXPECT_NE(refused(", exercise_dates: [0.5, 1], exercise_step: 0.1")
                  .find("found 'exercise_step' beside 'exercise_dates', expected one of them"),
              std::string::npos);
    EXPECT_NE(refused(", exercise_dates: [0.5, 1], exercise_start: 0.1")
                  .find("found 'exercise_start' beside 'exercise_dates', expected one of them"),
              std::string::npos);
    EXPECT_NE(
        refused(", exercise_dates: [0.5, 0.75]").find("the last of the exercise_dates must be the maturity"),
        std::string::npos);
}

// The truth lies below the interval in 2.5 % of runs at most, and above it in as many: with 300 runs at most
// 18 each, which one set of seeds in 5,000 exceeds where it is just that. The intervals are not so wide that
// they could not miss it.
TEST(exercise_truths, intervals_hold_the_truth) {
    std::vector<double> dates;
    for (int i = 1; i <= 5; ++i) dates.push_back(i / 5.0);
    const double truth = put_on_a_lattice(36, 40, 0.06, 0.2, dates);
    const std::string text = put_on("spot: 36, volatility: 0.2", 0.06, "40", "{start: 0, end: 1, count: 5}");
    constexpr int runs = 300;
    int below = 0, above = 0, policies_above = 0;
    double width = 0, error = 0;
    for (int seed = 1; seed <= runs; ++seed) {
        const price_row row = priced(text, 2048, static_cast<std::uint64_t>(seed)).rows[0];
        below += truth < row.low;
        above += truth > row.high;
        policies_above += row.early->lower_bound > truth;
        width += (row.high - row.low) / runs;
        error += row.early->lower_error / runs;
    }
    EXPECT_LE(below, 18);
    EXPECT_LE(above, 18);
    EXPECT_GT(policies_above, 0) << "chance moves the bounds";
    EXPECT_LT(width, 6 * error);
}

}  // namespace
}  // namespace tilewalk
