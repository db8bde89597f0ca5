// SPDX-License-Identifier: Apache-2.0
// label: sampled (published values and truths)
// Products on a single asset through the public API against closed forms and quadratures, beyond the random
// trades of the catalogue of truths: quanto trades, cash dividends, monitoring on dates, terms that began in
// the past, and limiting cases.
//
// Each case has a fixed seed and passes within 4.5 standard errors: with new random numbers a sound engine
// would fail a case once in 150,000, and one of the 31 cases once in 5,000 times. Each case also bounds its
// standard error by a share of the spot or of the payment, so that noise can't hide a fault.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/verify/closed_forms.h"
#include "tests/by_source.h"
#include "tests/market_text.h"
#include "tests/plain_paths.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::single_asset_truth_test {
namespace {

using tests::dollar_market;
using truth::black;
using truth::intrinsic;
using truth::move;
using truth::price_mean;
using truth::side;
using truth::watch;

constexpr std::uint64_t paths = 1 << 18;
constexpr double limit = 4.5;

class single_asset_truths : public by_source {};

price_row price(const std::string& in, const std::string& trade, std::uint64_t with_paths = paths) {
    run_options options = tests::plain_paths();
    options.overrides.paths = with_paths;
    options.overrides.seed = 20260115;
    take_source(options);
    const book trades = book::parse("trades:\n  - {id: t, underlying: A, " + trade + "}\n", "truth");
    return engine().price(trades, market::parse(in), options).rows.at(0);
}

void check(const std::string& in, const std::string& trade, double truth, double largest_error) {
    const price_row got = price(in, trade);
    const std::string told = fmt::format(
        "{}{}\nprice {:.12g}, standard error {:.3g}, truth {:.12g}, z {:.2f}\n{}", in, trade, got.price,
        got.standard_error, truth, (got.price - truth) / got.standard_error, got.message);
    ASSERT_EQ(got.status, trade_status::priced) << told;
    EXPECT_FALSE(got.thin) << told;
    EXPECT_LE(std::abs(got.price - truth), chance_of(got, limit)) << told;
    EXPECT_GT(got.standard_error, 0) << told;
    EXPECT_LE(got.standard_error, largest_error) << told;
}

template <class F>
double change_of(const F& f) {
    return truth::crossing(f, 1e-3, 1e6);
}

TEST(single_asset_truths, closed_forms_give_the_figures_in_print) {
    // Printed in Haug, The Complete Guide to Option Pricing Formulas (1998): asset or nothing, gap, binary
    // barriers, forward start, complex chooser, compound, extensible, partial-time barriers and lookbacks,
    // double barriers.
    EXPECT_NEAR(truth::asset_digital(side::put, 70 * std::exp(0.01), 65, 0.27 * 0.27 * 0.5, std::exp(-0.035)),
                20.2069, 5e-5);
    const watch down{105, 0.05, 0.02, 100}, up{95, 0.05, 0.02, 0, 100};
    EXPECT_NEAR(15 * down.touch(true, 0.05), 9.7264, 5e-5);
    EXPECT_NEAR(15 * up.touch(false, 0.05), 11.6553, 5e-5);
    EXPECT_NEAR(15 * std::exp(-0.05) * up.touch(false, 0), 11.2223, 5e-5);
    EXPECT_NEAR(15 * std::exp(-0.05) * up.mean([](double) { return 1.0; }), 3.0461, 5e-5);
    EXPECT_NEAR(std::exp(-0.05) * down.mean([](double s) { return s; }), 40.1574, 5e-5);
    const watch between{100, 0.05, 0.15 * 0.15 * 0.5, 50, 150};
    EXPECT_NEAR(std::exp(-0.05) * between.mean([](double s) { return intrinsic(side::call, s, 100); }, {100}),
                6.9853, 5e-5);
    EXPECT_NEAR(truth::early_lookback(side::call, {110, 0.06, 0.01}, 0.5, 1, std::exp(-0.06)), 11.2601, 5e-5);
    EXPECT_NEAR(truth::early_lookback(side::put, {90, 0.06, 0.01}, 0.5, 1, std::exp(-0.06)), 3.4639, 5e-5);
    EXPECT_NEAR(std::exp(-0.06) * price_mean(100 * std::exp(0.015), 0.0025,
                                             [](double s) {
                                                 return truth::any_fixed_lookback(side::call, s, 90, 0.045,
                                                                                  0.0075, 1);
                                             },
                                             {90}),
                20.2845, 5e-5);
    const auto option_at = [](side option, double strike, double growth, double variance, double discount) {
        return [=](double s) { return black(option, s * std::exp(growth), strike, variance, discount); };
    };
    const double month = 1 / 12.0;
    const auto call = option_at(side::call, 55, 0.05 * 0.25, 0.35 * 0.35 * 0.25, std::exp(-0.1 * 0.25));
    const auto put =
        option_at(side::put, 48, 0.05 * 4 * month, 0.35 * 0.35 * 4 * month, std::exp(-0.1 * 4 * month));
    EXPECT_NEAR(std::exp(-0.025) * price_mean(50 * std::exp(0.05 * 0.25), 0.35 * 0.35 * 0.25,
                                              [&](double s) { return std::max(call(s), put(s)); },
                                              {change_of([&](double s) { return call(s) - put(s); })}),
                6.0508, 5e-5);
    const auto other = option_at(side::call, 520, 0.05 * 0.25, 0.35 * 0.35 * 0.25, std::exp(-0.08 * 0.25));
    EXPECT_NEAR(std::exp(-0.02) * price_mean(500 * std::exp(0.05 * 0.25), 0.35 * 0.35 * 0.25,
                                             [&](double s) { return std::max(50 - other(s), 0.0); },
                                             {change_of([&](double s) { return other(s) - 50; })}),
                21.1965, 2e-4);
    // Printed in Hui, One-touch double barrier binary option values (1996): upper level first, paid at touch.
    const watch narrow{100, 0.03 * 0.25, 0.01 * 0.25, 80, 120};
    EXPECT_NEAR(10 * narrow.touch(false, 0.0125), 0.0041, 5e-5);
    EXPECT_NEAR(10 * std::exp(-0.0125) * narrow.mean([](double) { return 1.0; }), 9.8716, 5e-5);
    // Printed by Levy, in Clewlow and Strickland, Exotic Options (1997): the last of ten prices against their
    // geometric mean.
    truth::geometric_mean mean;
    for (int i = 0; i < 10; ++i) {
        mean.weights.push_back(1);
        mean.forwards.push_back(100 * std::exp(0.003 * i));
        mean.variances.push_back(0.004 * i);
    }
    const truth::geometric_mean last{{1}, {mean.forwards.back()}, {mean.variances.back()}};
    EXPECT_NEAR(truth::geometric_exchange(side::call, last, mean, std::exp(-0.054)), 4.97109, 1e-5);
}

TEST(single_asset_truths, closed_forms_agree_with_each_other) {
    const watch w{100, 0.03, 0.05, 80, 130};
    const double untouched = w.mean([](double) { return 1.0; });
    EXPECT_NEAR(untouched, truth::double_no_touch(100, 80, 130, 0.03, 0.05, 1), 1e-12);
    EXPECT_NEAR(w.touch(true, 0) + w.touch(false, 0), 1 - untouched, 1e-12);
    const watch one{100, 0.03, 0.05, 80};
    const double rebate =
        truth::barrier_option({side::call, true, true, 100, 1e9, 80, 1, true, 0.03, 0.05, 0.04});
    EXPECT_NEAR(one.touch(true, 0.04), rebate, 1e-12);
    // A lookback watched up to its end is the floating lookback of Goldman, Sosin and Gatto.
    EXPECT_NEAR(truth::early_lookback(side::call, {100, 0.03, 0.05}, 1 - 1e-12, 1, 0.9),
                truth::floating_lookback(side::call, 100, 0.03, 0.05, 0.9), 1e-5);
    // Returns without limits add up to their means; a single return within limits is a spread of two calls.
    const std::vector<move> moves{{0.02, 0.03, 1}, {0.01, 0.02, 1}, {-0.01, 0.04, 1}};
    EXPECT_NEAR(truth::limited_returns(moves, {}), std::expm1(0.02) + std::expm1(0.01) + std::expm1(-0.01),
                1e-9);
    EXPECT_NEAR(
        truth::limited_returns({moves[0]}, {-1, 1e6, 0, 0.1}),
        black(side::call, std::exp(0.02), 1, 0.03, 1) - black(side::call, std::exp(0.02), 1.1, 0.03, 1),
        1e-12);
    EXPECT_NEAR(truth::limited_returns(moves, {0.1, 0.1, -1, 1}), 0.3, 1e-12);
    EXPECT_NEAR(truth::chooser(100, 95, 0, 0.04, 1), black(side::call, 100, 95, 0.04, 1), 1e-12);
    EXPECT_NEAR(truth::chooser(100, 95, 0.04, 0.04, 1),
                black(side::call, 100, 95, 0.04, 1) + black(side::put, 100, 95, 0.04, 1), 1e-12);
}

// A euro asset whose payoff is paid as that many dollars. The covariance with EURUSD lowers the asset's
// growth, and decisions by a forward price or an option's value take that growth too.
struct quanto_market {
    static constexpr double spot = 80, volatility = 0.3, rate = 0.05, covariance = -0.4 * 0.3 * 0.12;
    static constexpr double drift = 0.02 - 0.01 - covariance;
    static std::string text() {
        return "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.05}, EUR: {rate: 0.02}}\n"
               "assets: {A: {currency: EUR, spot: 80, dividend_yield: 0.01, volatility: 0.3}}\n"
               "fx: {EURUSD: {rate: 1.25, volatility: 0.12}}\ncorrelations: [[A, EURUSD, -0.4]]\n";
    }
    static double forward(double t) { return spot * std::exp(drift * t); }
    static double variance(double t) { return volatility * volatility * t; }
    static double discount(double t) { return std::exp(-rate * t); }
    static move step(double from, double to) {
        return {drift * (to - from), variance(to - from), discount(to - from)};
    }
    static watch all(double t, double lower, double upper) {
        return {spot, drift * t, variance(t), lower, upper};
    }
};

TEST_P(single_asset_truths, quanto) {
    using in = quanto_market;
    const double infinity = std::numeric_limits<double>::infinity(), t = 1.25, d = in::discount(t);
    const double forward = in::forward(t), variance = in::variance(t);
    const auto test = [&](const std::string& terms, double truth, double scale) {
        check(in::text(), terms + ", currency: USD", truth, 0.004 * scale);
    };
    const auto unit = [](double) { return 1.0; };
    const auto vanilla = [](double s) { return intrinsic(side::call, s, 82); };

    test("product: digital, strike: 82, pays: asset, maturity: 1.25",
         truth::asset_digital(side::call, forward, 82, variance, d), 80);
    test("product: gap_option, strike: 82, trigger: 90, maturity: 1.25",
         truth::asset_digital(side::call, forward, 90, variance, d) -
             82 * truth::cash_digital(side::call, forward, 90, variance, d),
         80);
    const truth::geometric_mean seen{
        {1, 2}, {in::forward(0.5), in::forward(1)}, {in::variance(0.5), in::variance(1)}};
    test("product: asian, mean: geometric, strike: 82, averaging_dates: [0.5, 1.0], weights: [1, 2]",
         black(side::call, truth::mean_of(seen), 82, truth::covariance(seen, seen), in::discount(1)), 80);
    const watch low = in::all(t, 70, infinity), channel = in::all(t, 60, 110);
    test("product: partial_barrier, strike: 82, barrier: 70, maturity: 1.25", d * low.mean(vanilla, {82}),
         80);
    test("product: barrier_digital, strike: 82, barrier: 70, direction: down, maturity: 1.25",
         d * low.mean([](double s) { return s >= 82 ? 1.0 : 0.0; }, {82}), 1);
    test("product: one_touch, barrier: 70, direction: down, paid: at_hit, maturity: 1.25",
         low.touch(true, in::rate * t), 1);
    test("product: double_barrier, strike: 82, lower: 60, upper: 110, maturity: 1.25",
         d * channel.mean(vanilla, {82}), 80);
    test("product: double_touch, kind: upper_first, lower: 60, upper: 110, maturity: 1.25",
         d * channel.touch(false, 0), 1);
    test("product: double_touch, kind: no_touch, lower: 60, upper: 110, maturity: 1.25",
         d * channel.mean(unit), 1);
    truth::watched_option soft{side::call, true,  true,          80,       82,          0,
                               0,          false, in::drift * t, variance, in::rate * t};
    test("product: soft_barrier, strike: 82, lower: 60, upper: 75, maturity: 1.25",
         truth::integrate(
             [&](double level) {
                 soft.barrier = level;
                 return truth::barrier_option(soft);
             },
             60, 75, 4) /
             15,
         80);
    test("product: lookback, option: call, maturity: 1.25",
         truth::floating_lookback(side::call, 80, in::drift * t, variance, d), 80);
    test("product: forward_start, strike_date: 0.5, maturity: 1.25",
         d * black(side::call, forward, in::forward(0.5), in::variance(0.75), 1), 80);
    test("product: cliquet, fixings: [0.25, 0.75, 1.25], local_cap: 0.1, global_floor: 0, notional: 1",
         d * truth::limited_returns({in::step(0.25, 0.75), in::step(0.75, 1.25)}, {-1, 0.1, 0, 1e6}), 1);
    test("product: chooser, strike: 82, choice_date: 0.5, maturity: 1.25",
         truth::chooser(forward, 82, in::variance(0.5), variance, d), 80);
    const auto later = [&](side option, double strike, double from, double to) {
        const move m = in::step(from, to);
        return
            [=](double s) { return black(option, s * std::exp(m.growth), strike, m.variance, m.discount); };
    };
    const auto call = later(side::call, 85, 0.5, 1.0), put = later(side::put, 78, 0.5, 1.25);
    const double f = in::forward(0.5), v = in::variance(0.5), first = in::discount(0.5);
    test(
        "product: complex_chooser, choice_date: 0.5, call_strike: 85, call_maturity: 1.0, put_strike: 78, "
        "put_maturity: 1.25",
        first * price_mean(f, v, [&](double s) { return std::max(call(s), put(s)); },
                           {change_of([&](double s) { return call(s) - put(s); })}),
        80);
    test(
        "product: compound, option: call, strike: 6, maturity: 0.5, underlying_option: put, "
        "underlying_strike: 78, "
        "underlying_maturity: 1.25",
        first * price_mean(f, v, [&](double s) { return std::max(put(s) - 6, 0.0); },
                           {change_of([&](double s) { return 6 - put(s); })}),
        80);
    test(
        "product: extensible_option, strike: 82, maturity: 0.5, extended_strike: 85, extended_maturity: 1.0, "
        "premium: 2",
        first * price_mean(f, v,
                           [&](double s) {
                               return std::max({s - 82, call(s) - 2, 0.0});
                           },
                           {82}),
        80);
}

// Randomness is in the price less the value of future dividends, for forward prices as well.
TEST_P(single_asset_truths, cash_dividends_between_decision_and_payment) {
    const double rate = 0.05, b = 0.04;
    const std::string in =
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.05}}\n"
        "assets: {A: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: 0.3, dividends: [\n"
        "  {date: 0.3, amount: 2}, {date: 0.75, amount: 4}, {date: 1.4, amount: 2.5}]}}\n";
    const double worth = 2 * std::exp(-b * 0.3) + 4 * std::exp(-b * 0.75) + 2.5 * std::exp(-b * 1.4);
    const auto scale = [&](double t) { return std::exp(b * t) * (100 - worth); };
    const double shift = 2.5 * std::exp(-b * 0.4);  // value at 1 of later dividends
    check(in, "product: chooser, strike: 98, choice_date: 0.5, maturity: 1",
          truth::chooser(scale(1), 98 - shift, 0.09 * 0.5, 0.09, std::exp(-rate)), 0.05);
    const auto call = [&](double x) {
        return black(side::call, x * std::exp(b * 0.5), 98 - shift, 0.045, std::exp(-rate * 0.5));
    };
    check(in, "product: compound, strike: 9, maturity: 0.5, underlying_strike: 98, underlying_maturity: 1",
          std::exp(-rate * 0.5) * price_mean(scale(0.5), 0.045,
                                             [&](double x) { return std::max(call(x) - 9, 0.0); },
                                             {change_of([&](double x) { return call(x) - 9; })}),
          0.05);
    // Strikes below the value of future dividends make the inner call a forward.
    const double deep = std::exp(-rate) * (scale(1) + shift - 2);
    check(in, "product: compound, strike: 60, maturity: 0.5, underlying_strike: 2, underlying_maturity: 1",
          std::exp(-rate * 0.5) * price_mean(scale(0.5), 0.045,
                                             [&](double x) {
                                                 const double forward = x * std::exp(b * 0.5) + shift;
                                                 return std::max(std::exp(-rate * 0.5) * (forward - 2) - 60,
                                                                 0.0);
                                             }),
          0.08);
    EXPECT_GT(deep, 60);
    const price_row nothing =
        price(in,
              "product: compound, option: put, strike: 1, maturity: 0.5, underlying_option: "
              "put, underlying_strike: 2, underlying_maturity: 1",
              2048);
    EXPECT_NEAR(nothing.price, std::exp(-rate * 0.5), 1e-15) << "a put below the dividends is worth nothing";
}

const std::string usual = dollar_market(0.05, {{"A", "spot: 100, dividend_yield: 0.02, volatility: 0.25"}},
                                        "fixings: {A: {2025-12-15: 104, 2025-12-31: 93}}");
move usual_step(double years) {
    return {0.03 * years, 0.0625 * years, std::exp(-0.05 * years)};
}

TEST_P(single_asset_truths, watched_on_dates) {
    const std::vector<move> six(6, usual_step(0.25));
    const auto knocked = [](std::size_t k, double s, double goes_on) {
        if (s <= 85 || s >= 130) return 0.0;
        return k == 5 ? intrinsic(side::put, s, 105) : goes_on;
    };
    const std::string terms =
        "option: put, strike: 105, maturity: 1.5, monitoring: discrete, monitoring_dates: {start: 0, end: "
        "1.5, count: 6}, ";
    const double alive = truth::backward(100, six, {85, 105, 130}, knocked);
    check(usual, "product: double_barrier, lower: 85, upper: 130, " + terms.substr(0, terms.size() - 2),
          alive, 0.03);
    check(usual,
          "product: double_barrier, lower: 85, upper: 130, kind: knock_in, " +
              terms.substr(0, terms.size() - 2),
          black(side::put, 100 * std::exp(0.045), 105, 0.0625 * 1.5, std::exp(-0.075)) - alive, 0.05);
    // A put on the lower of two prices: a put on the first, plus what the second adds if it is lower.
    const double strike = 95;
    const double first = black(side::put, 100 * std::exp(0.015), strike, 0.03125, std::exp(-0.05));
    const double further = std::exp(-0.05) * price_mean(100 * std::exp(0.015), 0.03125,
                                                        [&](double s) {
                                                            return black(side::put, s * std::exp(0.015),
                                                                         std::min(s, strike), 0.03125, 1);
                                                        },
                                                        {strike});
    check(usual,
          "product: lookback, option: put, strike: 95, maturity: 1, monitoring: discrete, monitoring_dates: "
          "[0.5, 1.0]",
          first + further, 0.04);
}

TEST_P(single_asset_truths, begun_in_the_past) {
    const double infinity = std::numeric_limits<double>::infinity(), d = std::exp(-0.05);
    const watch all{100, 0.03, 0.0625, 0, infinity};
    check(usual, "product: forward_start, strike_date: 2025-12-15, maturity: 1",
          black(side::call, 100 * std::exp(0.03), 104, 0.0625, d), 0.06);
    check(usual, "product: lookback, option: put, strike: 100, maturity: 1, monitoring_start: 2025-12-01",
          d * 7 + truth::any_fixed_lookback(side::put, 100, 93, 0.03, 0.0625, d), 0.04);
    check(usual, "product: asian, strike_dates: [2025-12-15, 2025-12-31], averaging_dates: [2027-01-15]",
          black(side::call, 100 * std::exp(0.03), 98.5, 0.0625, d), 0.06);
    check(usual, "product: cliquet, fixings: [2025-12-31, 2027-01-15], local_floor: 0, notional: 100",
          black(side::call, 100 * std::exp(0.03), 93, 0.0625, d) * 100 / 93, 0.06);
    const price_row touched = price(
        usual, "product: one_touch, direction: down, barrier: 95, maturity: 1, monitoring_start: 2025-12-01",
        2048);
    EXPECT_NEAR(touched.price, d, 1e-15) << "touched before today, paid at expiry";
    check(usual,
          "product: one_touch, direction: down, barrier: 90, maturity: 1, monitoring_start: 2025-12-01",
          d * (1 - watch{100, 0.03, 0.0625, 90}.mean([](double) { return 1.0; })), 0.002);
    EXPECT_NEAR(all.mean([](double) { return 1.0; }), 1, 1e-12);
}

TEST(single_asset_truths, no_volatility) {
    const std::string still = dollar_market(0.05, {{"A", "spot: 100, dividend_yield: 0.02, volatility: 0"}});
    const double d = std::exp(-0.05), forward = 100 * std::exp(0.03);
    const auto exact = [&](const std::string& terms, double truth) {
        const price_row got = price(still, terms, 2048);
        ASSERT_EQ(got.status, trade_status::priced) << terms << got.message;
        EXPECT_NEAR(got.price, truth, 1e-10) << terms;
    };
    exact("product: digital, strike: 101, pays: asset, maturity: 1", d * forward);
    exact("product: gap_option, strike: 90, trigger: 101, maturity: 1", d * (forward - 90));
    exact("product: asian, mean: geometric, strike: 100, averaging_dates: [0.5, 1.0], weights: [1, 3]",
          d * 100 * std::expm1(0.03 * 0.875));
    exact("product: partial_barrier, strike: 90, barrier: 95, maturity: 1", d * (forward - 90));
    exact("product: barrier_digital, strike: 90, direction: up, barrier: 102, maturity: 1, kind: knock_in",
          d);
    exact("product: soft_barrier, strike: 90, lower: 80, upper: 99, maturity: 1", d * (forward - 90));
    exact("product: double_barrier, strike: 90, lower: 95, upper: 110, maturity: 1", d * (forward - 90));
    exact("product: one_touch, direction: up, barrier: 102, maturity: 1, paid: at_expiry", d);
    exact("product: double_touch, kind: no_touch, lower: 95, upper: 110, maturity: 1", d);
    exact("product: double_touch, kind: upper_first, lower: 95, upper: 102, maturity: 1", d);
    exact("product: lookback, option: call, maturity: 1", d * (forward - 100));
    exact("product: lookback, option: call, strike: 99, maturity: 1", d * (forward - 99));
    exact("product: forward_start, strike_date: 0.5, maturity: 1", d * (forward - 100 * std::exp(0.015)));
    exact("product: cliquet, fixings: [0.0, 0.5, 1.0], local_cap: 0.01, notional: 100", d * 2);
    exact("product: chooser, strike: 101, choice_date: 0.5, maturity: 1", d * (forward - 101));
    exact("product: complex_chooser, call_strike: 101, choice_date: 0.5, call_maturity: 1",
          d * (forward - 101));
    exact("product: compound, strike: 1, maturity: 0.5, underlying_strike: 101, underlying_maturity: 1",
          d * (forward - 101) - std::exp(-0.025));
    exact(
        "product: extensible_option, strike: 110, maturity: 0.5, extended_strike: 101, extended_maturity: 1",
        d * (forward - 101));
}

TEST(single_asset_truths, refusals) {
    const auto message = [](const std::string& in, const std::string& terms) {
        return price(in, terms, 2048).message;
    };
    EXPECT_NE(message(usual, "product: chooser, strike: 100, choice_date: 2025-12-31, maturity: 1")
                  .find("the trade asks on 2025-12-31 for the forward price of 'A' for maturity; expected a "
                        "day after "
                        "as_of"),
              std::string::npos);
    EXPECT_NE(message(quanto_market::text(),
                      "product: chooser, currency: USD, strike: 80, choice_date: 2026-01-15, maturity: 1")
                  .find("expected a day after as_of, or a trade in EUR"),
              std::string::npos);
    EXPECT_NEAR(price(usual,
                      "product: compound, strike: 1, maturity: 2026-01-15, underlying_strike: 100, "
                      "underlying_maturity: 1",
                      2048)
                    .price,
                black(side::call, 100 * std::exp(0.03), 100, 0.0625, std::exp(-0.05)) - 1, 1e-10);
    EXPECT_NE(message(usual,
                      "product: double_touch, kind: lower_first, lower: 80, upper: 120, maturity: 1, "
                      "longest_step: 1e-9")
                  .find("the trade has 1000000000 dates to stop at; at most 200000 are possible"),
              std::string::npos);
    const double d = std::exp(-0.05);
    check(usual, "product: chooser, strike: 100, choice_date: 2026-01-15, maturity: 1",
          black(side::call, 100 * std::exp(0.03), 100, 0.0625, d), 0.06);
}

INSTANTIATE_TEST_SUITE_P(from, single_asset_truths, testing::Values(independent_paths), name_of_source);
INSTANTIATE_TEST_SUITE_P(from_points_long, single_asset_truths,
                         testing::Values(bridged_points, points_in_time), name_of_source);

}  // namespace
}  // namespace tilewalk::single_asset_truth_test
