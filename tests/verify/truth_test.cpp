// SPDX-License-Identifier: Apache-2.0
// label: sampled (published values and truths)
// label: no_sanitizer (hundreds of millions of path-steps)
// Prices through the public API against closed forms and quadratures: every library product, and some
// products as users may write them.
//
// Each case has a fixed seed and passes within 4.5 standard errors: with new random numbers a sound engine
// would fail a case once in 150,000, and one of the 350 cases once in 400 times. Each case also bounds its
// standard error by the known standard deviation of one path, so that noise can't hide a fault.
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

namespace tilewalk::truth_test {
namespace {

using tests::dollar_market;
using tests::product_in_words;
using truth::backward;
using truth::barrier_option;
using truth::black;
using truth::move;
using truth::pair_of_assets;
using truth::side;
using truth::watched_option;

constexpr std::uint64_t paths = 1 << 20;
constexpr double limit = 4.5;
constexpr side both_sides[] = {side::call, side::put};

const char* name_of(side option) {
    return option == side::call ? "call" : "put";
}

// Products as a user would write them, where the library has none.
const std::string own_products =
    "products:\n" +
    product_in_words("two_assets", "Exchange and rainbow options.",
                     "first_asset: asset, second_asset: asset, basket: asset_list, form: {type: choice, "
                     "choices: [exchange, call_on_worst, call_on_best, put_on_worst]}, strike: {type: "
                     "amount, default: 0}, maturity: date",
                     "on maturity:\n"
                     "    if form == exchange:\n"
                     "        pay max(spot(first_asset) - spot(second_asset), 0)\n"
                     "    elif form == call_on_worst:\n"
                     "        pay max(worst(spot(a) for a in basket) - strike, 0)\n"
                     "    elif form == call_on_best:\n"
                     "        pay max(best(spot(a) for a in basket) - strike, 0)\n"
                     "    else:\n"
                     "        pay max(strike - worst(spot(a) for a in basket), 0)\n") +
    product_in_words("foreign_call", "A call with an exchange rate in it.",
                     "underlying: asset, foreign: currency, form: {type: choice, choices: [composite, "
                     "paid_abroad, rate_itself]}, strike: amount, maturity: date",
                     "on maturity:\n"
                     "    if form == composite:\n"
                     "        pay max(spot(underlying) * fx(foreign) - strike, 0)\n"
                     "    elif form == paid_abroad:\n"
                     "        pay max(spot(underlying) - strike, 0) in foreign\n"
                     "    else:\n"
                     "        pay max(fx(foreign) - strike, 0)\n") +
    product_in_words("forward", "What the asset is worth above a price, or lacks to it.",
                     "underlying: asset, strike: amount, maturity: date",
                     "on maturity:\n"
                     "    pay spot(underlying) - strike\n");

struct one_asset {
    double spot = 100, rate = 0, yield = 0, volatility = 0;

    double forward(double years) const { return spot * std::exp((rate - yield) * years); }
    double variance(double years) const { return volatility * volatility * years; }
    double discount(double years) const { return std::exp(-rate * years); }
    move step(double years) const { return {(rate - yield) * years, variance(years), discount(years)}; }
    std::string text() const {
        return dollar_market(
            rate,
            {{"A", fmt::format("spot: {}, dividend_yield: {}, volatility: {}", spot, yield, volatility)}});
    }
};

// The discounted standard deviation of a lognormal price. Payoffs with slopes up to 1 in it have no more.
double spread_of(double forward, double variance, double discount) {
    return discount * forward * std::sqrt(std::expm1(variance));
}

struct truth_case {
    std::string market, trade;  // the trade without its id
    double truth = 0;
    double spread = 0;  // at least the standard deviation of one path
};

class truths : public by_source {};

price_row price(const std::string& in, const std::string& trade, std::uint64_t with_paths = paths,
                std::uint64_t seed = 20260115, run_options options = {}) {
    options.overrides.paths = with_paths;
    options.overrides.seed = seed;
    take_source(options);
    const book trades = book::parse(own_products + "trades:\n  - {id: t, " + trade + "}\n", "truth");
    return engine().price(trades, market::parse(in), options).rows.at(0);
}

std::string told(const truth_case& c, const price_row& got) {
    return fmt::format(
        "{}{}\nprice {:.12g}, standard error {:.3g}, truth {:.12g}, z {:.2f}, effective hits {:.0f}\n{}",
        c.market, c.trade, got.price, got.standard_error, c.truth, (got.price - c.truth) / got.standard_error,
        got.effective_hits, got.message);
}

void check(const truth_case& c) {
    const price_row got = price(c.market, c.trade);
    ASSERT_EQ(got.status, trade_status::priced) << told(c, got);
    // A thin price, of which a control variate leaves little, may get that little from few paths.
    if (got.thin) {
        EXPECT_LT(got.standard_error, 0.01 * c.spread / std::sqrt(double(paths))) << told(c, got);
    }
    EXPECT_LE(std::abs(got.price - c.truth), chance_of(got, limit)) << told(c, got);
    EXPECT_GT(got.standard_error, 0) << told(c, got);
    // The standard error is an estimate; unless the price is thin, it varies by far less than 10 percent.
    EXPECT_LE(got.standard_error, 1.1 * c.spread / std::sqrt(double(paths))) << told(c, got);
}

void check_exact(const truth_case& c) {
    const price_row got = price(c.market, c.trade, 2048);
    ASSERT_EQ(got.status, trade_status::priced) << told(c, got);
    EXPECT_NEAR(got.price, c.truth, 1e-13 * std::max(std::abs(c.truth), c.spread)) << told(c, got);
    EXPECT_LE(got.standard_error, 1e-15 * std::abs(got.price)) << told(c, got);
}

TEST(truths, closed_forms_give_the_figures_in_print) {
    // Printed in Haug, The Complete Guide to Option Pricing Formulas (1998): vanilla p. 3, barriers p. 72,
    // quanto p. 106.
    EXPECT_NEAR(black(side::call, 60 * std::exp(0.02), 65, 0.0225, std::exp(-0.02)), 2.1334, 5e-5);
    const auto haug = [](side option, bool down, bool out, double strike, double barrier, bool at_hit) {
        return barrier_option({option, down, out, 100, strike, barrier, 3, at_hit, 0.02, 0.03125, 0.04});
    };
    EXPECT_NEAR(haug(side::call, true, true, 90, 95, true), 9.0246, 5e-5);
    EXPECT_NEAR(haug(side::call, true, true, 100, 95, true), 6.7924, 5e-5);
    EXPECT_NEAR(haug(side::call, false, true, 90, 105, true), 2.6789, 5e-5);
    EXPECT_NEAR(haug(side::call, true, false, 90, 95, false), 7.7627, 5e-5);
    EXPECT_NEAR(haug(side::call, false, false, 90, 105, false), 14.1112, 5e-5);
    EXPECT_NEAR(haug(side::put, true, true, 90, 95, true), 2.2798, 5e-5);
    EXPECT_NEAR(haug(side::put, true, false, 90, 95, false), 2.9586, 5e-5);
    EXPECT_NEAR(haug(side::put, false, true, 90, 105, true), 3.7760, 5e-5);
    EXPECT_NEAR(haug(side::put, false, false, 90, 105, false), 1.4653, 5e-5);
    EXPECT_NEAR(
        black(side::call, truth::quanto_forward(100 * std::exp(0.005), 0.003), 105, 0.02, std::exp(-0.04)),
        5.3280 / 1.5, 5e-5);
    // Printed in Clewlow and Strickland, Implementing Derivatives Models (1998), p. 118: geometric mean.
    std::vector<double> forwards, variances;
    for (int i = 1; i <= 10; ++i) {
        forwards.push_back(100 * std::exp(0.003 * i));
        variances.push_back(0.004 * i);
    }
    EXPECT_NEAR(truth::geometric_asian(side::call, forwards, variances, 100, std::exp(-0.06)), 5.3425606635,
                1e-9);
    // Printed by Levy, in Clewlow and Strickland, Exotic Options (1997): a put on the arithmetic mean of four
    // dates, here by repeated convolution.
    const one_asset levy{90, 0.025, 0.06, 0.13};
    const std::vector<move> moves{levy.step(1.0 / 12), levy.step(11.0 / 36), levy.step(11.0 / 36),
                                  levy.step(11.0 / 36)};
    double mean = 0;
    for (int i = 0; i < 4; ++i) mean += levy.forward(1.0 / 12 + 11.0 / 36 * i) / 4;
    EXPECT_NEAR(truth::arithmetic_asian_call(90, moves, 87) + levy.discount(1) * (87 - mean), 2.01267427867,
                2e-6);
    // Printed by Broadie, Glasserman and Kou (1997): a down-and-out call monitored on 50 dates.
    const std::vector<move> fifty(50, one_asset{100, 0.1, 0, 0.3}.step(0.004));
    const auto knocked_out = [](std::size_t k, double s, double goes_on) {
        return s <= 97 ? 0.0 : k == 49 ? std::max(s - 100, 0.0) : goes_on;
    };
    EXPECT_NEAR(backward(100, fifty, {97, 100}, knocked_out), 3.834, 5e-4);
    // Lookbacks and rainbows: figures from another quadrature, over the joint laws.
    EXPECT_NEAR(truth::floating_lookback(side::call, 100, 0.05, 0.09, std::exp(-0.05)), 23.7884365017, 1e-9);
    EXPECT_NEAR(truth::floating_lookback(side::put, 100, 0.05, 0.045, std::exp(-0.05)), 15.3525554679, 1e-9);
    EXPECT_NEAR(truth::fixed_lookback(side::call, 100, 100, 0.05, 0.02, std::exp(-0.05)), 14.1701898667,
                1e-9);
    const double forward = 100 * std::exp(0.05);
    EXPECT_NEAR(truth::call_on_worst({forward, forward, 0.09, 0.09, 0.081}, 100, std::exp(-0.05)),
                10.8973554015, 1e-9);
}

TEST(truths, closed_forms_agree_with_each_other) {
    using truth::floating_lookback;
    for (const side option : both_sides) {
        const double near =
            floating_lookback(option, 100, 1e-6, 0.09, 1) + floating_lookback(option, 100, -1e-6, 0.09, 1);
        EXPECT_NEAR(floating_lookback(option, 100, 0, 0.09, 1), near / 2, 1e-7) << name_of(option);
    }
    // (Maximum - spot) - (last - spot) is maximum - last: a fixed less a floating lookback is a forward.
    EXPECT_NEAR(truth::fixed_lookback(side::call, 100, 100, 0.03, 0.04, 0.9) - 0.9 * 100 * std::expm1(0.03),
                floating_lookback(side::put, 100, 0.03, 0.04, 0.9), 1e-10);
    EXPECT_NEAR(truth::fixed_lookback(side::put, 100, 100, 0.03, 0.04, 0.9) + 0.9 * 100 * std::expm1(0.03),
                floating_lookback(side::call, 100, 0.03, 0.04, 0.9), 1e-10);
    // With the upper level far away, a unit paid unless the lower one is hit is the rebate of a knock-in.
    const double unit = barrier_option({side::call, true, false, 100, 1e6, 90, 1, false, 0.02, 0.04, 0.05});
    EXPECT_NEAR(truth::double_no_touch(100, 90, 100 * std::exp(4.0), 0.02, 0.04, std::exp(-0.05)), unit,
                1e-9);
    for (const double rho : {-1.0, -0.9999, -0.5, 0.0, 0.7, 0.9999, 1.0}) {
        const double direct = truth::normal_mean(
            [&](double z) {
                if (z > 0.4) return 0.0;
                const double sd = std::sqrt(1 - rho * rho), up = -0.2 - rho * z;
                return sd > 0 ? truth::normal_cdf(up / sd) : up >= 0 ? 1.0 : 0.0;
            },
            {0.4, -0.2, 0.2, -0.25, -0.15, 0.15, 0.25});
        EXPECT_NEAR(truth::normal_cdf(0.4, -0.2, rho), direct, 1e-9) << "correlation " << rho;
    }
    // A mean of one price is a European option; a mean of two, by conditioning on the first.
    const one_asset in{100, 0.03, 0.01, 0.2};
    EXPECT_NEAR(truth::arithmetic_asian_call(100, {in.step(1)}, 95),
                black(side::call, in.forward(1), 95, in.variance(1), in.discount(1)), 1e-12);
    const double by_hand = truth::normal_mean([&](double z) {
        const double first = in.forward(0.5) * std::exp(0.2 * std::sqrt(0.5) * z - 0.01);
        return black(side::call, first * std::exp(0.01), 190 - first, in.variance(0.5), in.discount(1)) / 2;
    });
    EXPECT_NEAR(truth::arithmetic_asian_call(100, {in.step(0.5), in.step(0.5)}, 95), by_hand, 1e-7);
}

TEST_P(truths, european) {
    const one_asset usual{100, 0.05, 0.02, 0.2};
    const one_asset cases[] = {usual,
                               {100, -0.01, 0.0, 0.2},   // negative rate
                               {100, 0.03, 0.07, 0.45},  // the forward falls
                               {1e-6, 0.05, 0.02, 0.2},
                               {1e9, 0.05, 0.02, 0.2}};
    for (const one_asset& in : cases) {
        for (const double years : {1.0 / 365, 0.5, 3.0}) {
            for (const side option : both_sides) {
                // Strikes up to 0.8 standard deviations of the logarithm away from spot.
                for (const double away : {-0.8, 0.0, 0.8}) {
                    const double strike = in.spot * std::exp(away * in.volatility * std::sqrt(years));
                    check(
                        {in.text(),
                         fmt::format("product: european, underlying: A, option: {}, strike: {}, maturity: {}",
                                     name_of(option), strike, years),
                         black(option, in.forward(years), strike, in.variance(years), in.discount(years)),
                         spread_of(in.forward(years), in.variance(years), in.discount(years))});
                }
            }
        }
    }
    // A maturity of fifty years: a put, and a call with a volatility so low that its sample mean is reliable.
    check({usual.text(), "product: european, underlying: A, option: put, strike: 300, maturity: 50",
           black(side::put, usual.forward(50), 300, usual.variance(50), usual.discount(50)),
           150 * usual.discount(50)});
    const one_asset calm{100, 0.01, 0.02, 0.06};
    check({calm.text(), "product: european, underlying: A, option: call, strike: 60, maturity: 50",
           black(side::call, calm.forward(50), 60, calm.variance(50), calm.discount(50)),
           spread_of(calm.forward(50), calm.variance(50), calm.discount(50))});
}

TEST_P(truths, digital) {
    for (const one_asset& in : {one_asset{100, 0.05, 0.02, 0.2}, one_asset{100, -0.02, 0.01, 0.35}}) {
        for (const side option : both_sides) {
            for (const double strike : {85.0, 100.0, 120.0}) {
                check({in.text(),
                       fmt::format("product: digital, underlying: A, option: {}, strike: {}, payout: 10, "
                                   "maturity: 0.75",
                                   name_of(option), strike),
                       10 * truth::cash_digital(option, in.forward(0.75), strike, in.variance(0.75),
                                                in.discount(0.75)),
                       5 * in.discount(0.75)});
            }
        }
    }
}

struct curved_market {
    static constexpr double pillars[] = {0, 0.4, 1.0, 2.5};

    static double between(const double (&values)[4], double years) {
        int i = 1;
        while (i < 3 && years > pillars[i]) ++i;
        const double weight = (years - pillars[i - 1]) / (pillars[i] - pillars[i - 1]);
        return values[i - 1] + (values[i] - values[i - 1]) * weight;
    }
    static double log_discount(double years) {
        return between({0, -0.4 * 0.01, -1.0 * 0.025, -2.5 * 0.03}, years);
    }
    static double log_yield_factor(double years) {
        return between({0, -0.4 * 0.03, -1.0 * 0.02, -2.5 * 0.022}, years);
    }
    static double variance(double years) {
        return between({0, 0.4 * 0.3 * 0.3, 1.0 * 0.22 * 0.22, 2.5 * 0.25 * 0.25}, years);
    }
    static double discount(double years) { return std::exp(log_discount(years)); }
    static double forward(double years) {
        return 100 * std::exp(log_yield_factor(years) - log_discount(years));
    }
    static move step(double from, double to) {
        return {std::log(forward(to) / forward(from)), variance(to) - variance(from),
                discount(to) / discount(from)};
    }
    static std::string text() {
        return "as_of: 2026-01-15\n"
               "currencies: {USD: {zero_rates: {0.4: 0.01, 1.0: 0.025, 2.5: 0.03}}}\n"
               "assets:\n"
               "  A: {currency: USD, spot: 100, dividend_yield: {zero_rates: {0.4: 0.03, 1.0: 0.02, 2.5: "
               "0.022}},\n"
               "      volatility: {0.4: 0.3, 1.0: 0.22, 2.5: 0.25}}\n";
    }
};

TEST_P(truths, curves_by_term) {
    using in = curved_market;
    for (const double years : {0.2, 0.4, 0.7, 1.9, 2.5}) {
        const double forward = in::forward(years), variance = in::variance(years),
                     discount = in::discount(years);
        for (const side option : both_sides) {
            check({in::text(),
                   fmt::format("product: european, underlying: A, option: {}, strike: 103, maturity: {}",
                               name_of(option), years),
                   black(option, forward, 103, variance, discount), spread_of(forward, variance, discount)});
        }
    }
    const std::vector<double> dates{0.2, 0.4, 0.9, 1.3, 2.0};
    const std::string list = "[0.2, 0.4, 0.9, 1.3, 2.0]";
    std::vector<move> moves;
    std::vector<double> forwards, variances;
    for (std::size_t i = 0; i < dates.size(); ++i) {
        moves.push_back(in::step(i == 0 ? 0 : dates[i - 1], dates[i]));
        forwards.push_back(in::forward(dates[i]));
        variances.push_back(in::variance(dates[i]));
    }
    const double spread = spread_of(in::forward(2), in::variance(2), in::discount(2));
    check({in::text(), "product: asian, underlying: A, strike: 98, averaging_dates: " + list,
           truth::arithmetic_asian_call(100, moves, 98), spread});
    check(
        {in::text(),
         "product: asian, mean: geometric, underlying: A, option: put, strike: 98, averaging_dates: " + list,
         truth::geometric_asian(side::put, forwards, variances, 98, in::discount(2)), spread});
    const double fair = truth::mean_square_return({moves.begin() + 1, moves.end()});
    check({in::text(),
           "product: variance_swap, underlying: A, strike: 0.2, annualisation: 4, notional: 100, fixings: " +
               list,
           in::discount(2) * 100 * (4 * fair - 0.04), 100 * 4 * fair});
    check({in::text(),
           "product: forward_start, underlying: A, strike_factor: 1.02, strike_date: 0.9, maturity: 2.0",
           truth::forward_start(side::call, in::forward(0.9), in::forward(2), 1.02,
                                in::variance(2) - in::variance(0.9), in::discount(2)),
           spread});
    const auto knocked_out = [](std::size_t k, double s, double goes_on) {
        return s >= 125 ? 0.0 : k == 4 ? std::max(s - 90, 0.0) : goes_on;
    };
    check({in::text(),
           "product: barrier, underlying: A, strike: 90, maturity: 2, direction: up, barrier: 125, "
           "monitoring: discrete, "
           "monitoring_dates: " +
               list,
           backward(100, moves, {125, 90}, knocked_out), 35});
}

TEST_P(truths, asian) {
    const one_asset in{100, 0.04, 0.01, 0.25};
    const double spread = spread_of(in.forward(1), in.variance(1), in.discount(1));
    for (const int count : {1, 2, 12, 52}) {
        const std::vector<move> moves(static_cast<std::size_t>(count), in.step(1.0 / count));
        double mean = 0;
        std::vector<double> forwards, variances;
        for (int i = 1; i <= count; ++i) {
            forwards.push_back(in.forward(double(i) / count));
            variances.push_back(in.variance(double(i) / count));
            mean += forwards.back() / count;
        }
        for (const double strike : {90.0, 105.0}) {
            const double call = truth::arithmetic_asian_call(100, moves, strike);
            for (const side option : both_sides) {
                const std::string terms = fmt::format(
                    "underlying: A, option: {}, strike: {}, averaging_dates: {{start: 0, end: 1, count: {}}}",
                    name_of(option), strike, count);
                check({in.text(), "product: asian, " + terms,
                       option == side::call ? call : call - in.discount(1) * (mean - strike), spread});
                check({in.text(), "product: asian, mean: geometric, " + terms,
                       truth::geometric_asian(option, forwards, variances, strike, in.discount(1)), spread});
            }
        }
    }
}

// An average with past fixings is one over the later dates alone, with the past subtracted from the strike.
TEST_P(truths, asian_with_fixings) {
    const one_asset in{100, 0.04, 0.01, 0.25};
    const std::string fixings = "fixings: {A: {2025-11-14: 96, 2025-12-15: 103, 2026-01-15: 100}}\n";
    const double strike = (5 * 99.0 - 96 - 103 - 100) / 2, first = 90.0 / 365, last = 182.0 / 365;
    check({in.text() + fixings,
           "product: asian, underlying: A, strike: 99, "
           "averaging_dates: [2025-11-14, 2025-12-15, 2026-01-15, 2026-04-15, 2026-07-16]",
           truth::arithmetic_asian_call(100, {in.step(first), in.step(last - first)}, strike) * 2 / 5,
           spread_of(in.forward(last), in.variance(last), in.discount(last)) * 2 / 5});
}

std::string barrier_trade(const watched_option& o, double years) {
    return fmt::format(
        "product: barrier, underlying: A, option: {}, strike: {}, maturity: {}, direction: {}, kind: {}, "
        "barrier: {}, "
        "rebate: {}, rebate_paid: {}",
        name_of(o.option), o.strike, years, o.down ? "down" : "up", o.out ? "knock_out" : "knock_in",
        o.barrier, o.rebate, o.rebate_at_hit ? "at_hit" : "at_expiry");
}

// Bounds the standard deviation of the payoff: a path pays at most the option or the rebate. An option that
// is knocked out in the money pays less than the distance from strike to barrier.
double barrier_spread(const watched_option& o) {
    const double forward = o.spot * std::exp(o.growth), discount = std::exp(-o.rate),
                 most = std::max(1.0, discount);
    if (o.out && (o.option == side::put) == o.down) {
        return 0.5 * most * std::max(std::abs(o.barrier - o.strike), o.rebate);
    }
    const double square = truth::mean_square_payoff(o.option, forward, o.strike, o.variance);
    return std::sqrt(discount * discount * square + most * most * o.rebate * o.rebate);
}

TEST_P(truths, barrier_watched_all_the_time) {
    for (const one_asset& in : {one_asset{100, 0.08, 0.04, 0.25}, one_asset{100, -0.01, 0.02, 0.4}}) {
        const double years = 0.75;
        for (const side option : both_sides) {
            for (const bool down : {true, false}) {
                for (const bool out : {true, false}) {
                    for (const double strike : {88.0, 100.0, 115.0}) {
                        watched_option o{option,
                                         down,
                                         out,
                                         100,
                                         strike,
                                         down ? 92.0 : 109.0,
                                         3,
                                         false,
                                         (in.rate - in.yield) * years,
                                         in.variance(years),
                                         in.rate * years};
                        // True if the option pays only beyond its barrier, where it has been knocked out.
                        const bool worthless = out && (option == side::put) == down &&
                                               (down ? strike < o.barrier : strike > o.barrier);
                        if (!worthless)
                            check({in.text(), barrier_trade(o, years), barrier_option(o), barrier_spread(o)});
                        if (!out) continue;
                        o.rebate_at_hit = true;
                        check({in.text(), barrier_trade(o, years), barrier_option(o), barrier_spread(o)});
                    }
                }
            }
        }
    }
}

// Pillars cut the life of the option into pieces, and a bridge over each piece keeps the whole exact. First
// curves are flat between their pillars. Then they bend, with rate equal to yield: the price is a martingale,
// and a plain geometric Brownian motion if its variance is taken as time.
TEST_P(truths, barrier_cut_at_pillars) {
    const one_asset flat{100, 0.08, 0.04, 0.25};
    const std::string cut =
        "as_of: 2026-01-15\n"
        "currencies: {USD: {zero_rates: {0.1: 0.08, 0.3: 0.08, 0.6: 0.08, 2: 0.08}}}\n"
        "assets: {A: {currency: USD, spot: 100, dividend_yield: {zero_rates: {0.15: 0.04, 1: 0.04}},\n"
        "  volatility: {0.05: 0.25, 0.2: 0.25, 0.5: 0.25, 0.7: 0.25, 1.5: 0.25}}}\n";
    const std::string bent =
        "as_of: 2026-01-15\n"
        "currencies: {USD: {zero_rates: {0.2: -0.01, 0.5: 0.06, 1: 0.03}}}\n"
        "assets: {A: {currency: USD, spot: 100, dividend_yield: {zero_rates: {0.2: -0.01, 0.5: 0.06, 1: "
        "0.03}},\n"
        "  volatility: {0.1: 0.5, 0.4: 0.3, 0.75: 0.28, 1: 0.3}}}\n";
    const double years = 0.75, bent_rate = (0.5 * 0.06 + 1.0 * 0.03) / 2, bent_variance = 0.75 * 0.28 * 0.28;
    for (const side option : both_sides) {
        for (const bool down : {true, false}) {
            for (const bool out : {true, false}) {
                watched_option o{option,
                                 down,
                                 out,
                                 100,
                                 100,
                                 down ? 90.0 : 112.0,
                                 3,
                                 out,
                                 0.04 * years,
                                 flat.variance(years),
                                 0.08 * years};
                check({flat.text(), barrier_trade(o, years), barrier_option(o), barrier_spread(o)});
                check({cut, barrier_trade(o, years), barrier_option(o), barrier_spread(o)});
                o.growth = 0;
                o.variance = bent_variance;
                o.rate = bent_rate;
                o.rebate_at_hit = false;
                check({bent, barrier_trade(o, years), barrier_option(o), barrier_spread(o)});
            }
        }
    }
}

TEST_P(truths, barrier_watched_on_dates) {
    const one_asset in{100, 0.06, 0.02, 0.3};
    const double years = 0.6;
    for (const bool ends_early : {false, true}) {
        // Six dates a month apart; the last, at maturity, is watched only if not `ends_early`.
        const std::size_t watched = ends_early ? 5 : 6;
        const std::vector<move> moves(6, in.step(0.1));
        for (const side option : both_sides) {
            for (const bool down : {true, false}) {
                const double barrier = down ? 93 : 110, strike = 101;
                const auto dead = [&](std::size_t k, double s) {
                    return k < watched && (down ? s <= barrier : s >= barrier);
                };
                const auto worth = [&](std::size_t k, double s, double goes_on) {
                    return k == 5 ? truth::intrinsic(option, s, strike) : goes_on;
                };
                const double vanilla =
                    black(option, in.forward(years), strike, in.variance(years), in.discount(years));
                const double at_hit =
                    backward(100, moves, {barrier, strike}, [&](std::size_t k, double s, double goes_on) {
                        return dead(k, s) ? 2.0 : worth(k, s, goes_on);
                    });
                const double out =
                    backward(100, moves, {barrier, strike}, [&](std::size_t k, double s, double goes_on) {
                        return dead(k, s) ? 0.0 : worth(k, s, goes_on);
                    });
                const double never =
                    backward(100, moves, {barrier, strike}, [&](std::size_t k, double s, double goes_on) {
                        return dead(k, s) ? 0.0 : k == 5 ? 1.0 : goes_on;
                    });
                const std::string terms = fmt::format(
                    "product: barrier, underlying: A, option: {}, strike: {}, maturity: {}, direction: {}, "
                    "barrier: {}, "
                    "monitoring: discrete, monitoring_dates: [0.1, 0.2, 0.3, 0.4, 0.5{}], rebate: 2, ",
                    name_of(option), strike, years, down ? "down" : "up", barrier, ends_early ? "" : ", 0.6");
                const double spread =
                    barrier_spread({option, down, false, 100, strike, barrier, 2, false,
                                    (in.rate - in.yield) * years, in.variance(years), in.rate * years});
                check({in.text(), terms + "kind: knock_out, rebate_paid: at_hit", at_hit, spread});
                check({in.text(), terms + "kind: knock_out, rebate_paid: at_expiry",
                       out + 2 * (in.discount(years) - never), spread});
                check({in.text(), terms + "kind: knock_in", vanilla - out + 2 * never, spread});
            }
        }
    }
}

// A down-and-out call whose life has two parts. In the first, from `start` with the barrier `line`, the law
// of the final price on paths that survive is known. The second is a barrier option of Reiner and Rubinstein,
// which starts at what `passed_on` makes of that price.
template <class F>
double in_two_parts(double start, double line, const move& first, const watched_option& second,
                    const F& passed_on, double lowest) {
    const double sd = std::sqrt(first.variance), at = std::log(line / start);
    const auto alive_at = [&](double x) {
        const double density = truth::normal_density((x - first.growth + first.variance / 2) / sd) / sd;
        const double survival = -std::expm1(-2 * at * (at - x) / first.variance);
        watched_option rest = second;
        rest.spot = passed_on(start * std::exp(x));
        return density * survival * barrier_option(rest);
    };
    return first.discount * truth::integrate(alive_at, std::log(lowest / start), first.growth + 10 * sd, 400);
}

// Without carry let Y be S - c before the date of a cash dividend c and S after it: Y is a plain lognormal,
// with the barrier lower by c before the date. A proportional dividend multiplies the price on its date. A
// fall by the dividend touches no barrier that is below both its ends.
TEST_P(truths, barrier_over_a_dividend) {
    const std::string in =
        "as_of: 2026-01-15\ncurrencies: {{USD: {{rate: 0}}}}\n"
        "assets: {{A: {{currency: USD, spot: 100, volatility: 0.25, dividends: [{{date: 0.5, {}}}]}}}}\n";
    const std::string trade =
        "product: barrier, underlying: A, strike: 95, maturity: 1, direction: down, barrier: 86";
    const move first{0, 0.25 * 0.25 * 0.5, 1};
    const watched_option second{side::call, true, true, 0, 95, 86, 0, false, 0, first.variance, 0};
    const double spread = std::sqrt(truth::mean_square_payoff(side::call, 100, 95, 2 * first.variance));
    check({fmt::format(fmt::runtime(in), "amount: 4"), trade,
           in_two_parts(
               96, 82, first, second, [](double y) { return y; }, 86),
           spread});
    check({fmt::format(fmt::runtime(in), "proportion: 0.06"), trade,
           in_two_parts(
               100, 86, first, second, [](double s) { return 0.94 * s; }, 86 / 0.94),
           spread});
}

// A single step over the bend would be no Brownian bridge: drift and variance are not proportional there.
TEST_P(truths, barrier_over_a_bend) {
    const std::string trade =
        "product: barrier, underlying: A, strike: 105, maturity: 0.8, direction: down, barrier: 93";
    const auto on = [&](const char* bent, const std::string& text, const move& first, const move& second) {
        SCOPED_TRACE(bent);
        const watched_option rest{side::call,
                                  true,
                                  true,
                                  0,
                                  105,
                                  93,
                                  0,
                                  false,
                                  second.growth,
                                  second.variance,
                                  -std::log(second.discount)};
        const double variance = first.variance + second.variance,
                     forward = 100 * std::exp(first.growth + second.growth);
        check({text, trade,
               in_two_parts(
                   100, 93, first, rest, [](double s) { return s; }, 93),
               first.discount * second.discount *
                   std::sqrt(truth::mean_square_payoff(side::call, forward, 105, variance))});
    };
    const std::string head = "as_of: 2026-01-15\ncurrencies: {USD: ";
    const std::string calm_then_wild = "{0.3: 0.1, 0.8: 0.3}";
    const double early = 0.01 * 0.3, late = 0.09 * 0.8 - early;
    on("volatility",
       head + "{rate: 0.4}}\nassets: {A: {currency: USD, spot: 100, volatility: " + calm_then_wild + "}}\n",
       {0.4 * 0.3, early, std::exp(-0.4 * 0.3)}, {0.4 * 0.5, late, std::exp(-0.4 * 0.5)});
    on("rate",
       head +
           "{zero_rates: {0.3: 0.5, 0.8: 0.1}}}\nassets: {A: {currency: USD, spot: 100, volatility: 0.25}}\n",
       {0.15, 0.0625 * 0.3, std::exp(-0.15)}, {0.08 - 0.15, 0.0625 * 0.5, std::exp(0.15 - 0.08)});
    on("yield",
       head +
           "{rate: 0}}\nassets: {A: {currency: USD, spot: 100, volatility: 0.25, "
           "dividend_yield: {zero_rates: {0.3: 0.5, 0.8: 0.0}}}}\n",
       {-0.15, 0.0625 * 0.3, 1}, {0.15, 0.0625 * 0.5, 1});
}

TEST_P(truths, variance_swap) {
    for (const one_asset& in : {one_asset{100, 0.03, 0.01, 0.2}, one_asset{100, 0.4, 0.0, 0.05}}) {
        for (const int count : {1, 12, 52}) {
            const std::vector<move> moves(static_cast<std::size_t>(count), in.step(1.0 / count));
            const double fair = count * truth::mean_square_return(moves);
            const std::string terms = fmt::format(
                "product: variance_swap, underlying: A, annualisation: {0}, notional: 1000, "
                "fixings: {{start: 0, end: 1, count: {0}, include_start: true}}, ",
                count);
            const std::string today = "fixings: {A: {2026-01-15: 100}}\n";
            // A mean of n squared normals has a variance of at most 2 / n times its squared mean.
            const double spread = 1000 * in.discount(1) * fair * std::sqrt(2.0 / count);
            check({in.text() + today, terms + "strike: 0.2", 1000 * in.discount(1) * (fair - 0.04), spread});
            check({in.text() + today, terms + "strike: 0.03, strike_is: variance",
                   1000 * in.discount(1) * (fair - 0.03), spread});
        }
    }
    // A proportional dividend counts as a return: a fall by 3 percent at 0.4.
    const std::string paying = dollar_market(
        0.03, {{"A", "spot: 100, volatility: 0.2, dividends: [{date: 0.4, proportion: 0.03}]"}});
    const double fair =
        truth::mean_square_return({{0.03 * 0.25 + std::log(0.97), 0.01, 1}, {0.03 * 0.25, 0.01, 1}});
    check({paying,
           "product: variance_swap, underlying: A, strike: 0, annualisation: 4, fixings: [0.25, 0.5, 0.75]",
           std::exp(-0.03 * 0.75) * 4 * fair, 4 * fair});
}

TEST_P(truths, autocallable_on_one_asset) {
    const one_asset in{50, 0.03, 0.01, 0.3};
    const double calls[] = {1.05, 1.0, 0.95, 0.9}, coupons[] = {0.02, 0.05, 0.07, 0.1};
    const std::vector<move> moves(4, in.step(0.5));
    const auto worth = [&](std::size_t k, double s, double goes_on) {
        const double performance = s / 52;
        if (performance >= calls[k]) return 1000 * (1 + coupons[k]);
        if (k < 3) return goes_on;
        return performance >= 0.65 ? 1000.0 : 1000 * performance;
    };
    check({in.text(),
           "product: autocallable, basket: [A], initial_level: 52, observations: [0.5, 1.0, 1.5, 2.0], "
           "call_level: [1.05, 1.0, 0.95, 0.9], coupon: [0.02, 0.05, 0.07, 0.1], protection: 0.65, notional: "
           "1000",
           backward(50, moves, {52 * 1.05, 52.0, 52 * 0.95, 52 * 0.9, 52 * 0.65}, worth), 1000 * 0.55});
}

struct two_asset_market {
    double correlation = 0, second_volatility = 0.3, second_yield = 0.03;

    static constexpr double rate = 0.04, first_yield = 0.01, first_volatility = 0.2;
    double covariance(double years) const {
        return correlation * first_volatility * second_volatility * years;
    }
    pair_of_assets at(double years, double first_level = 1, double second_level = 1) const {
        return {100 * std::exp((rate - first_yield) * years) / first_level,
                95 * std::exp((rate - second_yield) * years) / second_level,
                first_volatility * first_volatility * years, second_volatility * second_volatility * years,
                covariance(years)};
    }
    std::string text() const {
        return fmt::format(
            "as_of: 2026-01-15\ncurrencies: {{USD: {{rate: {}}}}}\nassets:\n"
            "  A: {{currency: USD, spot: 100, dividend_yield: {}, volatility: {}}}\n"
            "  B: {{currency: USD, spot: 95, dividend_yield: {}, volatility: {}}}\n"
            "correlations: [[A, B, {}]]\n",
            rate, first_yield, first_volatility, second_yield, second_volatility, correlation);
    }
};

// Correlations include 1 and -1, which make the covariance singular.
TEST_P(truths, two_assets) {
    for (const double correlation : {-1.0, -0.6, 0.0, 0.5, 0.95, 1.0}) {
        const two_asset_market in{correlation};
        const double years = 1.5, discount = std::exp(-0.04 * years);
        const pair_of_assets p = in.at(years);
        const double spread = spread_of(p.first_forward, p.first_variance, discount) +
                              spread_of(p.second_forward, p.second_variance, discount);
        const std::string terms =
            "product: two_assets, first_asset: A, second_asset: B, basket: [A, B], maturity: 1.5, ";
        check({in.text(), terms + "form: exchange", truth::exchange(p, discount), spread});
        check({in.text(), terms + "form: call_on_worst, strike: 90", truth::call_on_worst(p, 90, discount),
               spread});
        check({in.text(), terms + "form: call_on_best, strike: 105", truth::call_on_best(p, 105, discount),
               spread});
        check({in.text(), terms + "form: put_on_worst, strike: 95", truth::put_on_worst(p, 95, discount),
               spread});
        // A note with one observation is called, or redeemed in full, or short of a put on the worst asset.
        const pair_of_assets performance = in.at(years, 102, 98);
        const double called = truth::both_above(performance, 1.0);
        const double note = discount * called * 0.2 + discount -
                            (truth::put_on_worst(performance, 0.7, discount) +
                             discount * 0.3 * (1 - truth::both_above(performance, 0.7)));
        check({in.text(),
               "product: autocallable, basket: [A, B], initial_level: [102, 98], observations: [1.5], "
               "coupon: 0.2, "
               "protection: 0.7, notional: 1",
               note, 0.6});
    }
    const two_asset_market twin{1.0, 0.2, 0.01};
    const double forward = 95 * std::exp(0.03);
    check({twin.text(),
           "product: two_assets, first_asset: A, second_asset: B, basket: [A, B], maturity: 1, "
           "form: call_on_worst, strike: 90",
           black(side::call, forward, 90, 0.04, std::exp(-0.04)), spread_of(forward, 0.04, std::exp(-0.04))});
}

// An asset in euros and its exchange rate, quoted either way, or as a cross of two pairs with the same
// variance (0.1^2 + 0.08^2 - 2 0.125 0.1 0.08 = 0.12^2) and the same covariance with the asset (0.32 0.1 +
// 0.2 0.08 = 0.4 0.12).
TEST_P(truths, two_currencies) {
    const double years = 1.25, rho = -0.4, s = 0.3, x = 0.12;
    const std::string assets =
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.05}, EUR: {rate: 0.02}, GBP: {rate: 0.04}}\n"
        "assets: {A: {currency: EUR, spot: 80, dividend_yield: 0.01, volatility: 0.3}}\n";
    const std::string quotes[] = {
        assets + "fx: {EURUSD: {rate: 1.25, volatility: 0.12}}\ncorrelations: [[A, EURUSD, -0.4]]\n",
        assets + "fx: {USDEUR: {rate: 0.8, volatility: 0.12}}\ncorrelations: [[A, USDEUR, 0.4]]\n",
        assets +
            "fx: {EURGBP: {rate: 0.8, volatility: 0.1}, GBPUSD: {rate: 1.5625, volatility: 0.08}}\n"
            "correlations: [[A, EURGBP, -0.32], [A, GBPUSD, -0.2], [EURGBP, GBPUSD, -0.125]]\n",
        assets +
            "fx: {GBPEUR: {rate: 1.25, volatility: 0.1}, USDGBP: {rate: 0.64, volatility: 0.08}}\n"
            "correlations: [[A, GBPEUR, 0.32], [A, USDGBP, 0.2], [GBPEUR, USDGBP, -0.125]]\n"};
    const double home = std::exp(-0.05 * years), abroad = std::exp(-0.02 * years);
    const double forward = 80 * std::exp(0.01 * years), variance = s * s * years;
    const double quanto = truth::quanto_forward(forward, rho * s * x * years);
    const double composite = 80 * 1.25 * std::exp(0.04 * years),
                 composite_variance = (s * s + x * x + 2 * rho * s * x) * years;
    const double rate = 1.25 * std::exp(0.03 * years);
    for (const std::string& in : quotes) {
        for (const side option : both_sides) {
            check(
                {in,
                 fmt::format(
                     "product: european, currency: USD, underlying: A, option: {}, strike: 82, maturity: {}",
                     name_of(option), years),
                 black(option, quanto, 82, variance, home), spread_of(quanto, variance, home)});
            check({in,
                   fmt::format("product: european, underlying: A, option: {}, strike: 82, maturity: {}",
                               name_of(option), years),
                   black(option, forward, 82, variance, abroad), spread_of(forward, variance, abroad)});
        }
        check({in,
               fmt::format("product: digital, currency: USD, underlying: A, strike: 82, maturity: {}", years),
               truth::cash_digital(side::call, quanto, 82, variance, home), 0.5 * home});
        const double growth = std::log(quanto / 80);
        const watched_option o{side::put, false, false, 80, 85, 90, 1, false, growth, variance, 0.05 * years};
        check({in, barrier_trade(o, years) + ", currency: USD", barrier_option(o), barrier_spread(o)});
        const std::string terms = fmt::format(
            "product: foreign_call, currency: USD, underlying: A, foreign: EUR, maturity: {}, ", years);
        check({in, terms + "form: composite, strike: 98",
               black(side::call, composite, 98, composite_variance, home),
               spread_of(composite, composite_variance, home)});
        // The payoff is paid in euros and converted at today's rate; a path is worth payoff times its rate.
        check({in, terms + "form: paid_abroad, strike: 82",
               1.25 * black(side::call, forward, 82, variance, abroad),
               1.2 * spread_of(composite, composite_variance, home)});
        check({in, terms + "form: rate_itself, strike: 1.3",
               black(side::call, rate, 1.3, x * x * years, home), spread_of(rate, x * x * years, home)});
    }
}

// Randomness is in the price less the value of all future dividends, including those after maturity.
TEST_P(truths, cash_and_proportional_dividends) {
    const double rate = 0.05, yield = 0.01, b = rate - yield;
    const std::string in = dollar_market(
        0.05, {{"A",
                "spot: 100, dividend_yield: 0.01, volatility: 0.3, dividends: [ {date: 0.3, amount: 2}, "
                "{date: 0.6, proportion: 0.04}, {date: 0.9, amount: 3}, {date: 1.4, amount: 2.5}]"}});
    const double after = 0.96;  // share left by the proportional dividend
    const double worth =
        2 * std::exp(-b * 0.3) + 3 * std::exp(-b * 0.9) / after + 2.5 * std::exp(-b * 1.4) / after;
    const double years = 1, scale = after * std::exp(b * years) * (100 - worth),
                 shift = 2.5 * std::exp(-b * 0.4);
    for (const side option : both_sides) {
        for (const double strike : {2.0, 85.0, 100.0}) {
            if (option == side::put && strike == 2) continue;  // strike below future dividends: worth nothing
            check({in,
                   fmt::format("product: european, underlying: A, option: {}, strike: {}, maturity: 1",
                               name_of(option), strike),
                   black(option, scale, strike - shift, 0.09 * years, std::exp(-rate * years)),
                   spread_of(scale, 0.09 * years, std::exp(-rate * years))});
        }
    }
    EXPECT_EQ(price(in, "product: european, underlying: A, option: put, strike: 2, maturity: 1").price, 0);
}

TEST_P(truths, lookbacks_watched_all_the_time) {
    const one_asset in{100, 0.05, 0.02, 0.3};
    const std::string cut = dollar_market(
        0.05, {{"A", "spot: 100, dividend_yield: 0.02, volatility: {0.1: 0.3, 0.35: 0.3, 0.5: 0.3}"}});
    const std::string bent = dollar_market(
        0.05, {{"A", "spot: 100, dividend_yield: 0.05, volatility: {0.1: 0.5, 0.35: 0.35, 0.75: 0.3}"}});
    const double years = 0.75, growth = 0.03 * years, variance = in.variance(years),
                 discount = in.discount(years);
    // By Doob's inequality the maximum is spread about the start at most twice as far as the last price.
    const double spread =
        2 * discount * 100 * std::sqrt(std::exp(variance + 2 * growth) - 2 * std::exp(growth) + 1);
    const std::string terms = fmt::format("product: lookback, underlying: A, maturity: {}, ", years);
    for (const std::string& text : {in.text(), cut}) {
        check({text, terms + "option: call",
               truth::floating_lookback(side::call, 100, growth, variance, discount), spread});
        check({text, terms + "option: put",
               truth::floating_lookback(side::put, 100, growth, variance, discount), spread});
        check({text, terms + "option: call, strike: 105",
               truth::fixed_lookback(side::call, 100, 105, growth, variance, discount), spread});
        check({text, terms + "option: put, strike: 96",
               truth::fixed_lookback(side::put, 100, 96, growth, variance, discount), spread});
    }
    check({bent, terms + "option: call", truth::floating_lookback(side::call, 100, 0, variance, discount),
           spread});
    check({bent, terms + "option: put", truth::floating_lookback(side::put, 100, 0, variance, discount),
           spread});
}

TEST_P(truths, no_touch_of_two_levels) {
    const one_asset in{100, 0.03, 0.05, 0.2};
    const std::string cut =
        "as_of: 2026-01-15\ncurrencies: {USD: {zero_rates: {0.2: 0.03, 0.7: 0.03, 1: 0.03}}}\n"
        "assets: {A: {currency: USD, spot: 100, dividend_yield: 0.05, volatility: {0.05: 0.2, 0.5: 0.2, 1: "
        "0.2}}}\n";
    for (const std::string& text : {in.text(), cut}) {
        for (const double wide : {0.15, 0.3, 0.6}) {
            const double lower = 100 * std::exp(-wide), upper = 100 * std::exp(wide);
            check({text,
                   fmt::format("product: double_touch, kind: no_touch, underlying: A, lower: {}, upper: {}, "
                               "maturity: 0.8",
                               lower, upper),
                   truth::double_no_touch(100, lower, upper, -0.02 * 0.8, in.variance(0.8), in.discount(0.8)),
                   0.5});
        }
    }
}

TEST(truths, no_volatility_gives_the_forward) {
    const one_asset in{100, 0.05, 0.02, 0};
    const double d = in.discount(2), f = in.forward(2);
    const std::string today = in.text() + "fixings: {A: {2026-01-15: 100}}\n";
    check_exact({today, "product: forward, underlying: A, strike: 0, maturity: 2", d * f, 100});
    check_exact({today, "product: european, underlying: A, option: call, strike: 90, maturity: 2",
                 d * (f - 90), 100});
    check_exact({today, "product: european, underlying: A, option: put, strike: 120, maturity: 2",
                 d * (120 - f), 100});
    check_exact({today, "product: digital, underlying: A, option: put, strike: 106, maturity: 2", 0, 1});
    check_exact({today, "product: digital, underlying: A, option: call, strike: 106, maturity: 2", d, 1});
    check_exact({today, "product: asian, underlying: A, strike: 90, averaging_dates: [0.5, 1.25, 2]",
                 d * ((in.forward(0.5) + in.forward(1.25) + f) / 3 - 90), 100});
    check_exact({today,
                 "product: barrier, underlying: A, strike: 90, maturity: 2, direction: up, barrier: 107",
                 d * (f - 90), 100});
    // Without volatility a path passes 105 within a step, and has touched it by the end of the step.
    check_exact(
        {today,
         "product: barrier, underlying: A, strike: 90, maturity: 2, direction: up, barrier: 105, rebate: 2",
         2 * d, 100});
    check_exact(
        {today,
         "product: autocallable, basket: [A], initial_level: 104, observations: [1, 2], coupon: [0.05, 0.1]",
         110 * d, 100});
    check_exact({today,
                 "product: variance_swap, underlying: A, strike: 0.1, annualisation: 2, "
                 "fixings: {start: 0, end: 2, count: 4, include_start: true}",
                 d * (2 * 0.015 * 0.015 - 0.01), 1});
    check_exact({today, "product: lookback, underlying: A, option: call, maturity: 2", d * (f - 100), 100});
}

// Parities hold path by path: a run of one path has that path's payoff as its price, and trades on the same
// grid with the same seed have the same path.
TEST(truths, parities_hold_on_every_path) {
    const one_asset in{100, 0.05, 0.02, 0.3};
    const double d = in.discount(1);
    const market at = market::parse(in.text());
    const std::string watched[] = {"direction: down, barrier: 85", "direction: up, barrier: 120"};
    std::vector<std::string> trades{"product: forward, underlying: A, strike: 0, maturity: 1"};
    for (const side option : both_sides) {
        const std::string terms =
            fmt::format("underlying: A, option: {}, strike: 100, maturity: 1", name_of(option));
        trades.push_back("product: european, " + terms);
        for (const std::string& barrier : watched) {
            trades.push_back("product: barrier, rebate: 7, kind: knock_out, " + terms + ", " + barrier);
            trades.push_back("product: barrier, rebate: 7, kind: knock_in, " + terms + ", " + barrier);
        }
    }
    // Barriers monitored on the same dates; the first is never touched.
    const std::string on_dates =
        "product: barrier, underlying: A, strike: 100, maturity: 1, direction: down, monitoring: discrete, "
        "monitoring_dates: [0.25, 0.5, 0.75, 1.0], ";
    trades.push_back(on_dates + "barrier: 1e-9");
    trades.push_back(on_dates + "rebate: 7, kind: knock_out, barrier: 95");
    trades.push_back(on_dates + "rebate: 7, kind: knock_in, barrier: 95");
    std::string text = own_products + "trades:\n";
    for (std::size_t i = 0; i < trades.size(); ++i)
        text += fmt::format("  - {{id: t{}, {}}}\n", i, trades[i]);
    const book all = book::parse(text, "parities");

    int nearer_the_rebate = 0, dead_on_dates = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        run_options options;
        options.overrides.paths = 1;
        options.overrides.seed = seed;
        const results got = engine().price(all, at, options);
        const auto on = [&](std::size_t i) {
            EXPECT_EQ(got.rows[i].status, trade_status::priced) << trades[i] << "\n" << got.rows[i].message;
            return got.rows[i].price;
        };
        const double last = on(0) / d;
        std::size_t i = 1;
        for (const side option : both_sides) {
            const double vanilla = on(i++);
            EXPECT_NEAR(vanilla, d * truth::intrinsic(option, last, 100), 1e-12)
                << trades[i - 1] << ", seed " << seed;
            for ([[maybe_unused]] const std::string& barrier : watched) {
                const double out = on(i++), in_again = on(i++);
                EXPECT_NEAR(out + in_again, vanilla + 7 * d, 1e-12) << trades[i - 1] << ", seed " << seed;
                if (std::abs(out - 7 * d) < std::abs(out - vanilla)) ++nearer_the_rebate;
            }
        }
        const double vanilla = on(i), out = on(i + 1);
        EXPECT_NEAR(out + on(i + 2), vanilla + 7 * d, 1e-12) << trades[i + 2] << ", seed " << seed;
        EXPECT_TRUE(out == vanilla || std::abs(out - 7 * d) < 1e-12) << trades[i + 1] << ", seed " << seed;
        if (out != vanilla) ++dead_on_dates;
    }
    EXPECT_GT(nearer_the_rebate, 20);
    EXPECT_LT(nearer_the_rebate, 220);
    EXPECT_GT(dead_on_dates, 5);
    EXPECT_LT(dead_on_dates, 55);
}

TEST(truths, call_less_put_is_the_forward) {
    for (const one_asset& in : {one_asset{100, 0.05, 0.02, 0.2}, one_asset{100, -0.03, 0.01, 0.6}}) {
        for (const double strike : {70.0, 100.0, 140.0}) {
            const std::string terms = fmt::format("underlying: A, strike: {}, maturity: 1.5", strike);
            const auto plainly_priced = [&](const std::string& product) {
                return price(in.text(), product + terms, paths, 20260115, tests::plain_paths());
            };
            const price_row call = plainly_priced("product: european, option: call, ");
            const price_row put = plainly_priced("product: european, option: put, ");
            const price_row forward = plainly_priced("product: forward, ");
            EXPECT_NEAR(call.price - put.price, forward.price, 1e-11) << in.text() << terms;
            const double spread = spread_of(in.forward(1.5), in.variance(1.5), in.discount(1.5));
            EXPECT_NEAR(forward.standard_error, spread / std::sqrt(double(paths)),
                        0.03 * forward.standard_error)
                << in.text() << terms;
            EXPECT_NEAR(call.price - put.price, in.discount(1.5) * (in.forward(1.5) - strike),
                        limit * spread / std::sqrt(double(paths)))
                << in.text() << terms;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(from, truths, testing::Values(independent_paths), name_of_source);
INSTANTIATE_TEST_SUITE_P(from_points_long, truths, testing::Values(bridged_points, points_in_time),
                         name_of_source);

}  // namespace
}  // namespace tilewalk::truth_test
