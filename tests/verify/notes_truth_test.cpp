// SPDX-License-Identifier: Apache-2.0
// label: sampled (published values and truths)
// Products on several assets and structured notes through the public API. Fixed cases are held against closed
// forms and quadratures, quanto trades against the same trade in a market with shifted yields, and other
// trades against pricers written here with the standard library's random numbers.
//
// Each case has a fixed seed and passes within 4.5 standard errors: with new random numbers a sound engine
// would fail one of the 110 cases once in 1,300 times. Each case also bounds its standard error, so that
// noise can't hide a fault.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/verify/closed_forms.h"
#include "tests/by_source.h"
#include "tests/market_text.h"
#include "tests/plain_paths.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::notes_truth_test {
namespace {

using tests::dollar_market;
using truth::black;
using truth::move;
using truth::pair_of_assets;
using truth::side;

constexpr std::uint64_t paths = 1 << 19;
constexpr double limit = 4.5;

// The three assets of all cases here, under flat curves.
struct asset {
    double spot, yield, volatility;
};
constexpr double rate = 0.03;
constexpr std::array<asset, 3> assets{{{100, 0.01, 0.2}, {60, 0.025, 0.3}, {80, 0, 0.25}}};

double discount(double years) {
    return std::exp(-rate * years);
}
double forward(std::size_t i, double years) {
    return assets[i].spot * std::exp((rate - assets[i].yield) * years);
}
double variance(std::size_t i, double years) {
    return assets[i].volatility * assets[i].volatility * years;
}
move step(std::size_t i, double years) {
    return {(rate - assets[i].yield) * years, variance(i, years), discount(years)};
}
pair_of_assets pair_at(double years, double rho, double first_factor = 1, double second_factor = 1) {
    return {first_factor * forward(0, years), second_factor * forward(1, years), variance(0, years),
            variance(1, years), rho * std::sqrt(variance(0, years) * variance(1, years))};
}

std::string market_text(const std::array<double, 3>& rho) {
    std::string text = fmt::format("as_of: 2026-01-15\ncurrencies: {{USD: {{rate: {}}}}}\nassets:\n", rate);
    for (std::size_t i = 0; i < assets.size(); ++i) {
        text += fmt::format("  {}: {{currency: USD, spot: {}, dividend_yield: {}, volatility: {}}}\n",
                            "ABC"[i], assets[i].spot, assets[i].yield, assets[i].volatility);
    }
    return text + fmt::format("correlations: [[A, B, {}], [A, C, {}], [B, C, {}]]\n", rho[0], rho[1], rho[2]);
}

class notes_truths : public by_source {};

price_row price(const std::string& in, const std::string& trade, std::uint64_t with_paths = paths) {
    run_options options = tests::plain_paths();
    options.overrides.paths = with_paths;
    options.overrides.seed = 20260115;
    take_source(options);
    return engine()
        .price(book::parse("trades:\n  - {id: t, " + trade + "}\n", "truth"), market::parse(in), options)
        .rows.at(0);
}

void check(const std::string& in, const std::string& trade, double truth, double largest_error) {
    const price_row got = price(in, trade);
    const std::string told = fmt::format(
        "{}{}\nprice {:.12g}, standard error {:.3g}, truth {:.12g}, z {:.2f}\n{}", in, trade, got.price,
        got.standard_error, truth, (got.price - truth) / got.standard_error, got.message);
    ASSERT_EQ(got.status, trade_status::priced) << told;
    EXPECT_FALSE(got.thin) << told;
    EXPECT_LE(std::abs(got.price - truth), chance_of(got, limit)) << told;
    EXPECT_LE(got.standard_error, largest_error) << told;
}
void check(const std::string& trade, double truth, double largest_error, double rho = 0.4) {
    check(market_text({rho, 0.1, 0.1}), trade, truth, largest_error);
}

TEST(notes_truths, quadratures_agree_with_closed_forms) {
    const pair_of_assets p = pair_at(1.5, 0.4, 0.6, 1.1);
    const double d = discount(1.5);
    for (const side option : {side::call, side::put}) {
        const auto payoff = [&](double strike, double sign) {
            return [=](double x, double y) { return truth::intrinsic(option, x + sign * y, strike); };
        };
        const auto kink = [](double strike, double sign) {
            return [=](double y) { return std::vector<double>{strike - sign * y}; };
        };
        for (const double strike : {-20.0, 0.0, 15.0, 110.0}) {
            for (const double sign : {1.0, -1.0}) {
                EXPECT_NEAR(truth::option_on_sum(option, p, sign, strike, d),
                            d * truth::pair_mean(p, payoff(strike, sign), kink(strike, sign)), 1e-7)
                    << strike << " " << sign;
            }
        }
    }
    EXPECT_NEAR(truth::option_on_sum(side::call, p, -1, 0, d), truth::exchange(p, d), 1e-10);
    const auto worst = [](double x, double y) { return std::max(std::min(x, y) - 58, 0.0); };
    const auto kinks = [](double y) { return std::vector<double>{y, 58}; };
    EXPECT_NEAR(truth::call_on_worst(p, 58, d), d * truth::pair_mean(p, worst, kinks, {58}), 1e-7);
    EXPECT_NEAR(truth::both_within(p, 0.001, 1e9, 50, 80),
                truth::within(p.second_forward, p.second_variance, 50, 80), 1e-9);
    EXPECT_NEAR(truth::both_within(p, 50, 70, 50, 80),
                truth::pair_mean(
                    p, [](double x, double y) { return x > 50 && x < 70 && y > 50 && y < 80 ? 1.0 : 0.0; },
                    [](double) {
                        return std::vector<double>{50, 70};
                    },
                    {50, 80}),
                1e-8);
    EXPECT_NEAR(truth::spread_of_sum(p, -1),
                std::sqrt(truth::pair_mean(
                    p,
                    [&](double x, double y) {
                        const double away = x - y - (p.first_forward - p.second_forward);
                        return away * away;
                    },
                    [](double) { return std::vector<double>{}; })),
                1e-7);
    // Normal returns of equal variance have a noncentral chi-squared sum of squares, a Poisson mixture.
    const std::vector<move> moves{{0.05, 0.04, 1}, {-0.1, 0.04, 1}, {0.3, 0.04, 1}};
    double noncentral = 0;
    for (const move& m : moves) noncentral += std::pow(m.growth - 0.5 * m.variance, 2) / m.variance;
    double root = 0, weight = std::exp(-0.5 * noncentral);
    for (int j = 0; j < 60; ++j) {
        root += weight * std::sqrt(2.0) * std::exp(std::lgamma(2 + j) - std::lgamma(1.5 + j));
        weight *= 0.5 * noncentral / (j + 1);
    }
    EXPECT_NEAR(truth::mean_root_square(moves), 0.2 * root, 1e-10);
    // With an unlimited range every squared return counts, by the price before it or after it.
    const move m{0.02, 0.03, 1};
    for (const bool by_end : {false, true}) {
        EXPECT_NEAR(truth::square_in_range(100, 0.05, m, 0, 1e12, by_end), truth::mean_square_return({m}),
                    1e-12);
    }
    EXPECT_NEAR(
        truth::square_in_range(100, 0.05, m, 95, 120, true), truth::normal_mean([&](double z) {
            const double before = 100 * std::exp(std::sqrt(0.05) * z - 0.025);
            const double drift = m.growth - 0.5 * m.variance, sd = std::sqrt(m.variance);
            const double a = (std::log(95 / before) - drift) / sd, b = (std::log(120 / before) - drift) / sd;
            return truth::normal_mean(
                [&](double w) { return w > a && w < b ? std::pow(drift + sd * w, 2) : 0.0; }, {a, b}, 3);
        }),
        1e-9);
    // A target that is never reached leaves forwards; one that the first payment reaches leaves just one.
    truth::target_forward t;
    t.strike = 95;
    t.target = 1e9;
    t.moves = {step(0, 0.5), step(0, 0.7)};
    const double both = discount(0.5) * (forward(0, 0.5) - 95) + discount(1.2) * (forward(0, 1.2) - 95);
    EXPECT_NEAR(t.value(100), both, 1e-6);
    t.target = 1e-9;
    t.at_target = truth::target_forward::last_gain::full;
    const auto until_gain = [](std::size_t k, double s, double on) {
        return k == 1 || s > 95 ? s - 95 : s - 95 + on;
    };
    EXPECT_NEAR(t.value(100), truth::backward(100, t.moves, {95}, until_gain), 1e-6);
}

TEST_P(notes_truths, baskets_spreads_and_exchanges) {
    for (const double rho : {-0.8, 0.0, 0.4, 0.9}) {
        for (const double years : {0.25, 2.0}) {
            const double d = discount(years), scale = 2e-3 * std::sqrt(years) * 100;
            const pair_of_assets weighted = pair_at(years, rho, 0.6, 1.1), plain = pair_at(years, rho);
            for (const side option : {side::call, side::put}) {
                const char* name = option == side::call ? "call" : "put";
                check(fmt::format("product: basket, basket: [A, B], weights: [0.6, 1.1], option: {}, strike: "
                                  "125, maturity: {}",
                                  name, years),
                      truth::option_on_sum(option, weighted, 1, 125, d), scale, rho);
                for (const double away : {-0.8, 0.0, 0.8}) {
                    const double strike = weighted.first_forward - weighted.second_forward +
                                          away * truth::spread_of_sum(weighted, -1);
                    check(
                        fmt::format(
                            "product: spread, long_asset: A, short_asset: B, long_weight: 0.6, short_weight: "
                            "1.1, option: {}, strike: {}, maturity: {}",
                            name, strike, years),
                        truth::option_on_sum(option, weighted, -1, strike, d), scale, rho);
                }
            }
            check(fmt::format(
                      "product: exchange, received_asset: A, given_asset: B, given_units: 1.6, maturity: {}",
                      years),
                  truth::exchange(pair_at(years, rho, 1, 1.6), d), scale, rho);
            check(fmt::format("product: best_of, basket: [A, B], strike: 105, maturity: {}", years),
                  truth::call_on_best(plain, 105, d), scale, rho);
            check(fmt::format("product: worst_of, basket: [A, B], strike: 62, option: put, maturity: {}",
                              years),
                  truth::put_on_worst(plain, 62, d), scale, rho);
        }
    }
    // A rainbow with equal weights is a basket; with all weight on one rank it is a best-of or worst-of on
    // three assets.
    const std::string in = market_text({0.4, 0.3, -0.2}),
                      terms = "basket: [A, B, C], initial_level: [100, 60, 80], ";
    const double same =
        price(in, "product: rainbow, " + terms + "weights: 0.5, strike: 1.5, maturity: 1.0", 4096).price;
    const double by_basket = price(in,
                                   "product: basket, basket: [A, B, C], weights: [0.5, 0.8333333333333333, "
                                   "0.625], strike: 150, maturity: 1.0",
                                   4096)
                                 .price;
    EXPECT_NEAR(same, by_basket, 1e-11);
    const std::string one = "strike: 1.05, notional: 100, maturity: 1.0";
    EXPECT_EQ(price(in, "product: rainbow, " + terms + "weights: [1, 0, 0], " + one, 4096).price,
              price(in, "product: best_of, " + terms + one, 4096).price);
    EXPECT_EQ(price(in, "product: rainbow, " + terms + "weights: [0, 0, 1], " + one, 4096).price,
              price(in, "product: worst_of, " + terms + one, 4096).price);
}

// A continuous barrier on two uncorrelated assets: each stays above its own barrier independently.
TEST_P(notes_truths, continuous_barrier_on_two_independent_assets) {
    constexpr double years = 1.0, barrier = 0.75, coupon = 0.08;
    // Density of an asset's log return on paths that stay above the barrier, by the reflection principle.
    const auto density = [&](std::size_t i, double x) {
        const double v = variance(i, years), sd = std::sqrt(v);
        const double drift = (rate - assets[i].yield) * years - 0.5 * v, low = std::log(barrier);
        const double here = truth::normal_density((x - drift) / sd) / sd;
        return here - std::exp(2 * drift * low / v) * truth::normal_density((x - 2 * low - drift) / sd) / sd;
    };
    // Loss by the worst asset at the end on paths where both stay above: 1 less the lower performance.
    const double low = std::log(barrier), far = 3;
    const auto lost_above = [&](double x) {
        const double of_x = std::exp(x);
        const auto given = [&](double y) {
            return density(1, y) * std::max(1 - std::min(of_x, std::exp(y)), 0.0);
        };
        const double edge = std::clamp(x, low, 0.0);
        return density(0, x) * (truth::integrate(given, low, edge, 4) + truth::integrate(given, edge, 0, 4) +
                                truth::integrate(given, 0, far, 8));
    };
    const double kept = truth::integrate(lost_above, low, 0, 8) + truth::integrate(lost_above, 0, far, 12);
    const pair_of_assets p = pair_at(years, 0, 1 / assets[0].spot, 1 / assets[1].spot);
    const double d = discount(years), lost = truth::put_on_worst(p, 1, d) - d * kept;
    for (const int dates : {1, 2, 50}) {
        check(
            fmt::format(
                "product: barrier_reverse_convertible, basket: [A, B], initial_level: [100, 60], barrier: "
                "{}, "
                "watched: continuous, watching_dates: {{start: 0, end: 1, count: {}}}, coupon_dates: [1.0], "
                "coupon: {}, maturity: 1.0, notional: 100",
                barrier, dates, coupon),
            100 * ((1 + coupon) * d - lost), 0.03, 0);
        check(fmt::format(
                  "product: phoenix_autocallable, basket: [A, B], initial_level: [100, 60], observations: "
                  "[1.0], "
                  "call_level: 1000, coupon_barrier: 0, coupon: {}, protection: {}, watched: continuous, "
                  "watching_dates: {{start: 0, end: 1, count: {}}}, notional: 100",
                  coupon, barrier, dates),
              100 * ((1 + coupon) * d - lost), 0.03, 0);
    }
}

TEST_P(notes_truths, continuous_protection_of_a_phoenix_on_one_asset) {
    const double d = discount(1.5), growth = (rate - 0.01) * 1.5;
    const double put = truth::barrier_option(
        {side::put, true, false, 1, 1, 0.8, 0, false, growth, variance(0, 1.5), rate * 1.5});
    check(
        "product: phoenix_autocallable, basket: [A], initial_level: 100, observations: [0.5, 1.0, 1.5], "
        "call_level: "
        "1000, coupon_barrier: 0, coupon: 0.02, protection: 0.8, watched: continuous, notional: 100",
        100 * (0.02 * (discount(0.5) + discount(1) + d) + d - put), 0.03);
}

// A quanto trade equals the same trade in a market whose only currency is that of payment, and whose yields
// give the same drifts. Random numbers are the same, so prices agree up to rounding.
TEST_P(notes_truths, quanto_is_a_market_with_other_yields) {
    constexpr double eurusd_volatility = 0.15;
    constexpr std::array<double, 3> with_eurusd{-0.4, 0.25, 0.3};
    std::string quanto = fmt::format(
        "as_of: 2026-01-15\ncurrencies: {{USD: {{rate: {}}}, EUR: {{rate: 0.011}}}}\nassets:\n", rate);
    std::string plain = "as_of: 2026-01-15\ncurrencies: {EUR: {rate: 0.011}}\nassets:\n";
    std::string correlated = "correlations: [[A, B, 0.4], [A, C, 0.3], [B, C, -0.2]";
    std::string with_rate = correlated;
    for (std::size_t i = 0; i < assets.size(); ++i) {
        const asset& a = assets[i];
        quanto += fmt::format("  {}: {{currency: USD, spot: {}, dividend_yield: {}, volatility: {}}}\n",
                              "ABC"[i], a.spot, a.yield, a.volatility);
        // The value of a dollar in euros moves against EURUSD, so the drift gains the covariance with EURUSD.
        const double drift = rate - a.yield + with_eurusd[i] * a.volatility * eurusd_volatility;
        plain += fmt::format("  {}: {{currency: EUR, spot: {}, dividend_yield: {}, volatility: {}}}\n",
                             "ABC"[i], a.spot, 0.011 - drift, a.volatility);
        with_rate += fmt::format(", [{}, EURUSD, {}]", "ABC"[i], with_eurusd[i]);
    }
    quanto +=
        fmt::format("fx: {{EURUSD: {{rate: 1.1, volatility: {}}}}}\n{}]\n", eurusd_volatility, with_rate);
    plain += correlated + "]\n";
    const std::string two = "basket: [A, B], initial_level: [100, 60], ",
                      all = "basket: [A, B, C], initial_level: [100, 60, 80], ";
    const std::vector<std::string> trades{
        "product: basket, basket: [A, B, C], strike: 240, maturity: 1.0",
        "product: spread, long_asset: A, short_asset: B, strike: 35, maturity: 1.0",
        "product: exchange, received_asset: A, given_asset: C, maturity: 1.0",
        "product: best_of, " + all + "strike: 1.1, maturity: 1.0",
        "product: worst_of, " + all + "strike: 0.9, maturity: 1.0",
        "product: rainbow, " + all + "weights: [0.5, 0.3, 0.2], maturity: 1.0",
        "product: himalaya, " + all + "observations: [1.0, 2.0, 3.0]",
        "product: volatility_swap, underlying: A, fixings: [0.0, 0.5, 1.0, 1.5], strike: 0.2",
        "product: corridor_variance_swap, underlying: A, fixings: [0.0, 0.5, 1.0], strike: "
        "0.2, upper: 110",
        "product: range_accrual, basket: [A, B], lower: [80, 50], upper: [120, 70], "
        "observations: [0.5, 1.0], "
        "coupon: 0.1, maturity: 1.5",
        "product: autocallable, basket: [A], initial_level: 100, observations: [1.0, 2.0], coupon: 0.1",
        "product: phoenix_autocallable, " + two +
            "observations: [1.0, 2.0], coupon: 0.1, watched: continuous, watching_dates: [0.5, 1.5]",
        "product: reverse_convertible, " + two + "coupon_dates: [0.5, 1.0], coupon: 0.1, maturity: 1.0",
        "product: barrier_reverse_convertible, basket: [B], initial_level: 60, barrier: 0.7, coupon_dates: "
        "[1.0], coupon: "
        "0.1, maturity: 1.0",
        "product: capital_protected_note, " + all + "maturity: 2.0",
        "product: accumulator, underlying: A, strike: 95, barrier: 110, watched: continuous, "
        "observations: "
        "[0.5, 1.0]",
        "product: target_redemption_forward, underlying: A, strike: 95, fixings: [0.5, 1.0, "
        "1.5], target: 15"};
    for (const std::string& trade : trades) {
        const price_row there = price(quanto, trade + ", currency: EUR", 8192),
                        here = price(plain, trade, 8192);
        ASSERT_EQ(there.status, trade_status::priced) << trade << "\n" << there.message;
        EXPECT_EQ(there.currency, "EUR");
        EXPECT_NEAR(there.price, here.price, 1e-11 * (1 + std::abs(here.price))) << trade;
        EXPECT_GT(std::abs(there.price - price(quanto, trade, 8192).price), 1e-6)
            << trade << ": as in dollars";
    }
}

using normals = std::function<double()>;

class three_assets {
  public:
    explicit three_assets(const std::array<double, 3>& rho) {
        c2_ = std::sqrt(1 - rho[0] * rho[0]);
        a2_ = rho[0];
        a3_ = rho[1];
        b3_ = (rho[2] - rho[1] * rho[0]) / c2_;
        c3_ = std::sqrt(1 - a3_ * a3_ - b3_ * b3_);
    }
    const std::array<double, 3>& next(double years, const normals& draw) {
        const double dt = years - now_, e1 = draw(), e2 = draw(), e3 = draw();
        now_ = years;
        const std::array<double, 3> z{e1, a2_ * e1 + c2_ * e2, a3_ * e1 + b3_ * e2 + c3_ * e3};
        for (std::size_t i = 0; i < z.size(); ++i) {
            const double v = assets[i].volatility;
            prices_[i] *= std::exp((rate - assets[i].yield - 0.5 * v * v) * dt + v * std::sqrt(dt) * z[i]);
        }
        return prices_;
    }

  private:
    double a2_ = 0, c2_ = 0, a3_ = 0, b3_ = 0, c3_ = 0, now_ = 0;
    std::array<double, 3> prices_{assets[0].spot, assets[1].spot, assets[2].spot};
};

constexpr std::array<double, 3> plain_rho{0.6, 0.3, -0.2};

template <class F>
void expect_agreement(const std::string& trade, const F& payoff, int plain_paths, double largest_error) {
    const price_row got = price(market_text(plain_rho), trade);
    ASSERT_EQ(got.status, trade_status::priced) << got.message;
    std::mt19937_64 random(12345);
    std::normal_distribution<double> normal;
    const normals draw = [&] { return normal(random); };
    double sum = 0, squares = 0;
    for (int p = 0; p < plain_paths; ++p) {
        const double x = payoff(draw);
        sum += x;
        squares += x * x;
    }
    const double mean = sum / plain_paths,
                 error = std::sqrt((squares / plain_paths - mean * mean) / plain_paths);
    const double both = std::hypot(error, got.standard_error);
    EXPECT_LE(std::abs(got.price - mean), errors_of_normal(limit, got, both) * both)
        << trade << "\nengine " << got.price << " +- " << got.standard_error << ", here " << mean << " +- "
        << error << ", z = " << (got.price - mean) / both;
    EXPECT_LT(both, largest_error) << trade << ": too noisy to say anything";
}

TEST_P(notes_truths, himalaya_of_three_assets) {
    expect_agreement(
        "product: himalaya, basket: [A, B, C], initial_level: [100, 60, 80], observations: [0.5, 1.0, 1.5]",
        [](const normals& draw) {
            three_assets a(plain_rho);
            std::array<bool, 3> gone{};
            double locked = 0;
            for (const double t : {0.5, 1.0, 1.5}) {
                const auto& s = a.next(t, draw);
                std::size_t best = 3;
                for (std::size_t i = 0; i < 3; ++i) {
                    if (!gone[i] && (best == 3 || s[i] / assets[i].spot > s[best] / assets[best].spot))
                        best = i;
                }
                gone[best] = true;
                locked += s[best] / assets[best].spot;
            }
            return discount(1.5) * 100 * std::max(locked / 3 - 1, 0.0);
        },
        300'000, 0.06);
}

TEST_P(notes_truths, worst_of_phoenix_on_three_assets) {
    expect_agreement(
        "product: phoenix_autocallable, basket: [A, B, C], initial_level: [100, 60, 80], observations: [0.5, "
        "1.0, 1.5, 2.0], "
        "coupon: [0.03, 0.035, 0.04, 0.045], coupon_barrier: 0.8, call_level: [1.05, 1.0, 0.95, 0.9], "
        "first_call: 2, "
        "protection: 0.7, watched: on_dates, watching_dates: [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0], "
        "notional: 100",
        [](const normals& draw) {
            three_assets a(plain_rho);
            double owed = 0, value = 0;
            bool broken = false;
            for (int quarter = 1; quarter <= 8; ++quarter) {
                const double t = 0.25 * quarter;
                const auto& s = a.next(t, draw);
                const double worst = std::min({s[0] / 100, s[1] / 60, s[2] / 80});
                broken = broken || worst <= 0.7;
                if (quarter % 2 != 0) continue;
                const int k = quarter / 2;
                owed += 0.03 + 0.005 * (k - 1);
                if (worst >= 0.8) {
                    value += 100 * owed * discount(t);
                    owed = 0;
                }
                if (k >= 2 && worst >= 1.1 - 0.05 * k) return value + 100 * discount(t);
                if (k == 4) value += 100 * discount(t) * (broken ? std::min(worst, 1.0) : 1.0);
            }
            return value;
        },
        300'000, 0.1);
}

// Two correlated assets under continuous monitoring. Here paths have 1,000 steps and a bridge of each asset
// between them; in the engine they have weekly dates. The difference is below the noise, as documented.
TEST_P(notes_truths, continuous_barrier_on_two_correlated_assets) {
    expect_agreement(
        "product: barrier_reverse_convertible, basket: [A, B], initial_level: [100, 60], barrier: 0.75, "
        "watching_dates: "
        "{start: 0, end: 1, count: 52}, coupon_dates: [1.0], coupon: 0.08, maturity: 1.0, notional: 100",
        [](const normals& draw) {
            constexpr int steps = 1000;
            const double dt = 1.0 / steps, low = std::log(0.75),
                         c2 = std::sqrt(1 - plain_rho[0] * plain_rho[0]);
            double x = 0, y = 0, kept = 1;
            for (int k = 0; k < steps && kept > 0; ++k) {
                const double e = draw(), z = plain_rho[0] * e + c2 * draw();
                const double from_x = x, from_y = y;
                x += (rate - 0.01 - 0.02) * dt + 0.2 * std::sqrt(dt) * e;
                y += (rate - 0.025 - 0.045) * dt + 0.3 * std::sqrt(dt) * z;
                const auto stays = [&](double from, double to, double v) {
                    return from <= low || to <= low ? 0.0
                                                    : -std::expm1(-2 * (from - low) * (to - low) / (v * dt));
                };
                kept *= stays(from_x, x, 0.04) * stays(from_y, y, 0.09);
                if (kept == 0) {  // barrier hit: only the end matters
                    const double rest = 1 - (k + 1) * dt, f = draw(), g = plain_rho[0] * f + c2 * draw();
                    x += (rate - 0.01 - 0.02) * rest + 0.2 * std::sqrt(rest) * f;
                    y += (rate - 0.025 - 0.045) * rest + 0.3 * std::sqrt(rest) * g;
                }
            }
            const double worst = std::exp(std::min(x, y));
            return 100 * discount(1) * (1.08 - (1 - kept) * std::max(1 - worst, 0.0));
        },
        60'000, 0.08);
}

TEST_P(notes_truths, target_redemption_forward_on_many_fixings) {
    for (const std::string rule : {"full", "exact", "none"}) {
        expect_agreement(
            "product: target_redemption_forward, underlying: A, strike: 97, fixings: {start: 0, end: 1, "
            "count: 12}, target: "
            "25, gearing: 2, at_target: " +
                rule,
            [&](const normals& draw) {
                double x = 0, gains = 0, value = 0;
                for (int k = 1; k <= 12; ++k) {
                    x += (rate - 0.01 - 0.02) / 12 + 0.2 * std::sqrt(1.0 / 12) * draw();
                    const double gain = 100 * std::exp(x) - 97, d = discount(k / 12.0);
                    if (gain < 0) {
                        value += 2 * gain * d;
                    } else if (gains + gain < 25) {
                        gains += gain;
                        value += gain * d;
                    } else {
                        return value + d * (rule == "full" ? gain : rule == "exact" ? 25 - gains : 0);
                    }
                }
                return value;
            },
            300'000, 0.4);
    }
}

TEST_P(notes_truths, decumulator_watched_at_every_moment) {
    double truth = 0;
    for (const double t : {0.25, 0.5, 0.75, 1.0}) {
        const auto option = [&](side of) {
            return truth::barrier_option(
                {of, true, true, 100, 104, 88, 0, false, (rate - 0.01) * t, variance(0, t), rate * t});
        };
        truth += 5 * (option(side::put) - 2 * option(side::call));
    }
    check(
        "product: accumulator, side: decumulate, underlying: A, strike: 104, barrier: 88, watched: "
        "continuous, "
        "observations: [0.25, 0.5, 0.75, 1.0], units: 5",
        truth, 0.8);
}

TEST(notes_truths, without_volatility_the_price_is_exact) {
    const std::string still = dollar_market(
        0.03, {{"A", "spot: 100, volatility: 0"}, {"B", "spot: 60, dividend_yield: 0.05, volatility: 0"}});
    const double up = std::exp(0.03), down = std::exp(-0.02), d = std::exp(-0.03);
    struct exact {
        std::string trade;
        double price;
    };
    for (const exact& e :
         {exact{"product: basket, basket: [A, B], strike: 150, maturity: 1.0",
                d * (100 * up + 60 * down - 150)},
          exact{"product: himalaya, basket: [A, B], initial_level: [100, 60], observations: [1.0, 2.0], "
                "strike: 0.5",
                100 * d * d * ((up + down * down) / 2 - 0.5)},
          exact{"product: range_accrual, basket: [A, B], lower: [101, 0], observations: [0.25, 0.5, 1.0], "
                "coupon: 0.3, "
                "maturity: 1.0, notional: 100",
                20 * d},
          exact{"product: phoenix_autocallable, basket: [B], initial_level: 60, observations: [0.5, 1.0], "
                "coupon: 0.1, "
                "protection: 0.985, watched: continuous",
                10 * std::exp(-0.015) + d * (10 + 100 * down)},
          exact{"product: barrier_reverse_convertible, basket: [B], initial_level: 60, barrier: 0.97, "
                "coupon_dates: [1.0], "
                "coupon: 0.1, maturity: 1.0",
                110 * d},
          exact{
              "product: volatility_swap, underlying: A, fixings: [0.0, 1.0], strike: 0.01, annualisation: 1",
              d * (0.03 - 0.01)},
          exact{"product: accumulator, underlying: A, strike: 101, barrier: 102.9, observations: [0.5, 0.9, "
                "1.0]",
                (100 * std::exp(0.015) - 101) * std::exp(-0.015) +
                    (100 * std::exp(0.027) - 101) * std::exp(-0.027)}}) {
        const price_row got = price(still, e.trade, 2048);
        ASSERT_EQ(got.status, trade_status::priced) << e.trade << got.message;
        EXPECT_NEAR(got.price, e.price, 1e-12 * (1 + std::abs(e.price))) << e.trade;
        EXPECT_LE(got.standard_error, 1e-13) << e.trade;
    }
}

TEST(notes_truths, the_worked_book_is_priced) {
    run_options options;
    options.overrides.paths = 4096;
    const book notes = book::load(std::string(TILEWALK_SOURCE_DIR) + "/configs/books/notes.yaml");
    std::set<std::string> products;
    for (const price_row& row : engine().price(notes, options).rows) {
        EXPECT_EQ(row.status, trade_status::priced) << row.trade << ": " << row.message;
        products.insert(row.product);
    }
    EXPECT_EQ(products.size(), 17U);
}

INSTANTIATE_TEST_SUITE_P(from, notes_truths, testing::Values(independent_paths), name_of_source);
INSTANTIATE_TEST_SUITE_P(from_points_long, notes_truths, testing::Values(bridged_points, points_in_time),
                         name_of_source);

}  // namespace
}  // namespace tilewalk::notes_truth_test
