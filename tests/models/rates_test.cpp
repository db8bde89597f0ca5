// SPDX-License-Identifier: Apache-2.0
// Interest rates in scripts and their models: on a constant curve by hand to the last digits, on stochastic
// ones against martingales and closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/models/loading.h"
#include "tests/every_model.h"
#include "tests/known_error.h"
#include "tests/market_text.h"
#include "tests/model_market.h"
#include "tests/moving_rates.h"
#include "tests/texts.h"

namespace tilewalk::rates_test {
namespace {

using tests::product_in_words;

// Each product pays the number of one language function, so that prices can be checked part by part.
const std::string own_products =
    "products:\n" + rate_products +
    product_in_words("a_forward_rate", "A rate fixed on one day for a period, paid at its end.",
                     "looked: date, from: date, to: date",
                     "on looked:\n"
                     "    pay forward_rate(currency, from, to, \"act_360\") on to\n") +
    product_in_words("an_annuity", "An annuity.", "looked: date, begin: date, payments: schedule",
                     "on looked:\n"
                     "    pay annuity(currency, begin, payments)\n") +
    product_in_words("a_swap_rate", "A swap rate of a currency.",
                     "looked: date, begin: date, payments: schedule, of: currency",
                     "on looked:\n"
                     "    pay swap_rate(of, begin, payments)\n") +
    product_in_words("a_forward", "A forward price, seen on one day and paid on its own.",
                     "looked: date, maturity: date, underlying: asset",
                     "on looked:\n"
                     "    pay forward(underlying, maturity) on maturity\n") +
    product_in_words("a_sale", "The asset, sold when it comes down to the level, or else on the last day.",
                     "underlying: asset, level: amount, maturity: date, of: currency",
                     "left = 1\n"
                     "between start and maturity:\n"
                     "    touched = touched_below(underlying, level)\n"
                     "    pay left * touched * level in of at touch_time_below(underlying, level)\n"
                     "    left = left * (1 - touched)\n"
                     "on maturity:\n"
                     "    pay left * spot(underlying) in of\n") +
    product_in_words("what_is_left", "The annuities of what is left of a swap on some days.",
                     "days: schedule, payments: schedule",
                     "on days:\n"
                     "    pay annuity(currency, today, payments)\n") +
    product_in_words("a_cms", "A swap rate of constant maturity.",
                     "days: schedule, years: number, of: currency",
                     "on days:\n"
                     "    pay constant_maturity_rate(of, years, 2)\n");

const std::string curves =
    "as_of: 2026-01-15\ncurrencies: {USD: {zero_rates: {1: 0.02, 5: 0.03, 10: 0.035}}, EUR: {rate: 0.01}}\n";

TEST(rates, of_a_curve_that_does_not_move_are_met_to_rounding) {
    const double annuity = 1.5 * usd(3.5) + usd(4.5), coupons = [] {
        double sum = 0;
        for (int k = 1; k <= 20; ++k) sum += 0.5 * usd(1.5 + 0.5 * k);
        return sum;
    }();
    const struct {
        const char* trade;
        double price;
    } all[] = {
        {"product: a_bond, looked: 1.5, maturity: 4", usd(4)},
        {"product: a_bond, looked: 2026-01-15, maturity: 4", usd(4)},
        {"product: a_payment, looked: 1.5, maturity: 4", usd(4)},
        {"product: a_forward_rate, looked: 1, from: 2, to: 2.25",
         (usd(2) / usd(2.25) - 1) / 0.25 * usd(2.25)},
        {"product: a_forward_rate, looked: 1, from: 2027-01-15, to: 2027-04-15",
         (usd(1) / usd(1 + 90 / 365.0) - 1) / (90 / 360.0) * usd(1 + 90 / 365.0)},
        {"product: an_annuity, looked: 1.5, begin: 2, payments: [3.5, 4.5]", annuity},
        // Payments up to the beginning of a swap don't belong to it.
        {"product: an_annuity, looked: 1, begin: 4, payments: [1.5, 3.5, 4.5]", 0.5 * usd(4.5)},
        {"product: an_annuity, looked: 3.75, begin: 4, payments: [3.5, 4.5]", 0.5 * usd(4.5)},
        {"product: what_is_left, days: [1, 2, 3], payments: [2, 3, 4]",
         usd(2) + usd(3) + usd(4) + usd(3) + usd(4) + usd(4)},
        {"product: a_swap_rate, looked: 1.5, begin: 2, payments: [3.5, 4.5], of: USD",
         (usd(2) - usd(4.5)) / annuity * usd(1.5)},
        {"product: a_swap_rate, looked: 1.5, begin: 2, payments: [3, 4], of: EUR",
         (std::exp(0.02) - 1) / (1 + std::exp(0.01)) * usd(1.5)},
        {"product: a_cms, days: [1.5], years: 10, of: USD", (usd(1.5) - usd(11.5)) / coupons * usd(1.5)},
    };
    std::vector<std::string> trades;
    for (const auto& one : all) trades.push_back(std::string(one.trade) + ", currency: USD");
    const auto rows = priced(own_products, curves, trades, 1 << 10, 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
        EXPECT_NEAR(rows[i].price, all[i].price, 1e-13) << trades[i];
    }
}

TEST(rates, of_days_gone_by_are_refused) {
    const struct {
        const char* trade;
        const char* expected;
    } all[] = {
        {"product: a_bond, looked: 2, maturity: 1, currency: USD", "'bond' for maturity"},
        {"product: a_forward_rate, looked: 1, from: 0.5, to: 2, currency: USD", "'forward_rate' for from"},
        {"product: an_annuity, looked: 3.75, begin: 3, payments: [3.5, 4.5], currency: USD",
         "counts the payment on"},
        {"product: an_annuity, looked: 1, begin: 5, payments: [3.5, 4.5], currency: USD",
         "expected before its last payment"},
        {"product: a_forward_rate, looked: 2026-01-05, from: 2026-01-05, to: 2, currency: USD",
         "the market has no past rates"},
        {"product: a_cms, days: [1.0], years: 1.3, of: USD, currency: USD",
         "expected a whole number of payments"},
        {"product: a_bond, looked: 1, maturity: 2", "write currency:"},
        {"product: a_cms, days: [1.0], years: 1, of: JPY, currency: USD", "JPY"},
    };
    std::vector<std::string> trades;
    for (const auto& one : all) trades.emplace_back(one.trade);
    const auto rows = priced(own_products, curves, trades, 1 << 10, 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_NE(rows[i].status, trade_status::priced) << trades[i];
        EXPECT_NE(rows[i].message.find(all[i].expected), std::string::npos) << rows[i].message;
    }
}

TEST(rates, are_asked_for_in_so_many_words) {
    const auto refused = [](const std::string& line) {
        try {
            book::parse(
                "products:\n  - product: own\n    summary: Own.\n    parameters:\n      looked: {type: date, "
                "help: The day.}\n      payments: {type: schedule, help: The days.}\n      width: {type: "
                "number, help: A number.}\n    example: {looked: 1, payments: [2], width: 1}\n    script: |\n"
                "      on looked:\n          pay " +
                line + "\ntrades: []\n");
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_NE(refused("bond(looked, payments)").find("expected a currency, found a date"), std::string::npos);
    EXPECT_NE(refused("bond(currency, payments)").find("expected a date, found a schedule"),
              std::string::npos);
    EXPECT_NE(refused("annuity(currency, looked, looked)").find("expected a schedule"), std::string::npos);
    EXPECT_NE(refused("swap_rate(currency, looked, payments, \"act_361\")").find("unknown day count"),
              std::string::npos);
    EXPECT_NE(refused("constant_maturity_rate(currency, width + 1, 1)").find("decides which bonds"),
              std::string::npos);
    EXPECT_NE(refused("currency").find("expected a number, found a currency"), std::string::npos);
}

std::string moving(const std::string& usd_model, const std::string& eur_model) {
    return "as_of: 2026-01-15\ncurrencies:\n"
           "  USD: {zero_rates: {1: 0.02, 5: 0.03, 10: 0.035}, model: " +
           usd_model +
           "}\n"
           "  EUR: {rate: 0.01, model: " +
           eur_model +
           "}\n"
           "fx: {EURUSD: {rate: 1.1, volatility: {1: 0.08, 5: 0.1}}}\n"
           "assets:\n"
           "  A: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: {1: 0.2, 5: 0.25}}\n"
           "  B: {currency: EUR, spot: 50, dividend_yield: 0.02, dividends: [{date: 2, proportion: 0.1}], "
           "model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.6, rho: -0.7}}}\n"
           "correlations: [[A, USD.rate, -0.4], [B, EUR.rate, 0.3], [USD.rate, EURUSD, 0.3], "
           "[EUR.rate, EURUSD, -0.3], [EUR.rate, USD.rate, 0.5], [A, EURUSD, 0.2], [A, B, 0.5]]\n";
}
const std::string hull_white =
                      "{hull_white: {mean_reversion: 0.05, volatility: {1: 0.01, 4: 0.025, 30: 0.015}}}",
                  ho_lee = "{hull_white: {mean_reversion: 0, volatility: 0.02}}",
                  g2 = "{g2: {a: 0.5, sigma: {2: 0.01, 30: 0.02}, b: 0.04, eta: 0.012, rho: -0.7}}",
                  g2_at_ends = "{g2: {a: 10, sigma: 0.05, b: 0, eta: 0.02, rho: 0.999}}";

// Prices in units of the numeraire are martingales: 4 markets with 15 prices, 60 comparisons at 4.5 standard
// errors, one false alarm in 2,500.
TEST(rates, that_move_leave_every_price_a_martingale) {
    const double annuity = 1.5 * usd(3.5) + usd(4.5);
    const auto eur = [](double years) { return std::exp(-0.01 * years); };
    const struct {
        const char* trade;
        double price;
    } all[] = {
        {"currency: USD, product: a_payment, looked: 4, maturity: 4", usd(4)},
        {"currency: USD, product: a_payment, looked: 0.5, maturity: 9", usd(9)},
        {"currency: USD, product: a_bond, looked: 7, maturity: 30", usd(30)},
        {"currency: USD, product: a_bond, looked: 0.1, maturity: 1", usd(1)},
        {"currency: USD, product: a_forward_rate, looked: 1.5, from: 2, to: 3", usd(2) - usd(3)},
        {"currency: USD, product: an_annuity, looked: 1.5, begin: 2, payments: [3.5, 4.5]", annuity},
        {"currency: EUR, product: a_bond, looked: 3, maturity: 8", eur(8)},
        {"currency: USD, product: in_other, looked: 3, maturity: 3, of: EUR", 1.1 * eur(3)},
        {"currency: USD, product: in_other, looked: 3, maturity: 8, of: EUR", 1.1 * eur(8)},
        {"currency: EUR, product: in_other, looked: 3, maturity: 8, of: USD", usd(8) / 1.1},
        {"currency: USD, product: a_spot, looked: 6, underlying: A, of: USD", 100 * std::exp(-0.06)},
        {"currency: EUR, product: a_spot, looked: 6, underlying: A, of: USD", 100 * std::exp(-0.06) / 1.1},
        {"currency: USD, product: a_spot, looked: 3, underlying: B, of: EUR",
         1.1 * 50 * 0.9 * std::exp(-0.06)},
        {"currency: USD, product: a_forward, looked: 2, maturity: 6, underlying: A", 100 * std::exp(-0.06)},
        {"currency: EUR, product: a_forward, looked: 1, maturity: 3, underlying: B",
         50 * 0.9 * std::exp(-0.06)},
    };
    std::vector<std::string> trades;
    for (const auto& one : all) trades.emplace_back(one.trade);
    std::uint64_t seed = 1;
    for (const auto& [one, other] : {std::pair(hull_white, g2), std::pair(g2, hull_white),
                                     std::pair(ho_lee, g2_at_ends), std::pair(g2_at_ends, ho_lee)}) {
        const auto rows = priced(own_products, moving(one, other), trades, 1 << 17, ++seed);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
            EXPECT_GT(rows[i].standard_error, 0) << trades[i] << ": can this fail?";
            EXPECT_NEAR(rows[i].price, all[i].price, limit * rows[i].standard_error)
                << trades[i] << one << other;
        }
    }
}

struct rate_factor {
    double decay;
    double (*volatility)(double years);
};
double bond_variance(const std::vector<rate_factor>& factors, double rho, double looked, double maturity) {
    constexpr int pieces = 20000;
    const auto reach = [](double decay, double left) {
        return decay == 0 ? left : -std::expm1(-decay * left) / decay;
    };
    double sum = 0;
    for (int i = 0; i < pieces; ++i) {
        const double u = looked * (i + 0.5) / pieces;
        const auto part = [&](const rate_factor& f) {
            return f.volatility(u) * (reach(f.decay, maturity - u) - reach(f.decay, looked - u));
        };
        const double one = part(factors[0]), other = factors.size() > 1 ? part(factors[1]) : 0;
        sum += (one * one + other * other + 2 * rho * one * other) * looked / pieces;
    }
    return sum;
}

// Jamshidian's bond option and its two-factor version follow Black's formula, since the forward bond is
// lognormal in the measure of the exercise date. One step from today, and twelve with their sum: 24
// comparisons at 4.5 standard errors, one false alarm in 6,000.
TEST(rates, that_are_normal_meet_blacks_formula_for_bonds) {
    const struct {
        std::string model;
        std::vector<rate_factor> factors;
        double rho;
    } all[] = {
        {hull_white, {{0.05, [](double u) { return u < 1   ? 0.01
                                                   : u < 4 ? 0.025
                                                           : 0.015; }}}, 0},
        {ho_lee, {{0, [](double) { return 0.02; }}}, 0},
        {"{hull_white: {mean_reversion: 1e-7, volatility: 0.02}}", {{1e-7, [](double) { return 0.02; }}}, 0},
        {"{hull_white: {mean_reversion: 4, volatility: 0.2}}", {{4, [](double) { return 0.2; }}}, 0},
        {g2,
         {{0.5, [](double u) { return u < 2 ? 0.01 : 0.02; }}, {0.04, [](double) { return 0.012; }}},
         -0.7},
        {g2_at_ends, {{10, [](double) { return 0.05; }}, {0, [](double) { return 0.02; }}}, 0.999},
    };
    const auto call = [&](const auto& of, double looked, double maturity, double strike) {
        const double deviation = std::sqrt(bond_variance(of.factors, of.rho, looked, maturity));
        const double d1 = std::log(usd(maturity) / usd(looked) / strike) / deviation + deviation / 2;
        const auto cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
        return usd(maturity) * cdf(d1) - strike * usd(looked) * cdf(d1 - deviation);
    };
    std::uint64_t seed = 10;
    for (const auto& of : all) {
        std::vector<std::string> trades;
        std::vector<double> truth;
        for (const auto& [looked, maturity] :
             {std::pair(1.0, 3.0), std::pair(5.0, 15.0), std::pair(0.01, 20.0)}) {
            const double strike = usd(maturity) / usd(looked) * 1.01;
            trades.push_back(
                fmt::format("currency: USD, product: bond_calls, days: [{}], maturity: {}, strike: {}",
                            looked, maturity, strike));
            truth.push_back(call(of, looked, maturity, strike));
        }
        trades.emplace_back(
            "currency: USD, product: bond_calls, maturity: 7, strike: 0.85, days: {start: 0, end: 6, "
            "count: 12}");
        truth.push_back(0);
        for (int i = 1; i <= 12; ++i) truth.back() += call(of, 0.5 * i, 7, 0.85);
        const auto rows = priced(own_products, moving(of.model, ho_lee), trades, 1 << 17, ++seed);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
            EXPECT_NEAR(rows[i].price, truth[i], limit * rows[i].standard_error)
                << of.model << " " << trades[i];
        }
    }
}

// A rate model without volatility leaves the curve as it is, and assets keep their random numbers.
TEST(rates, without_volatility_do_not_move) {
    const std::string still = "{hull_white: {mean_reversion: 0.1, volatility: 0}}",
                      still_g2 = "{g2: {a: 0.1, sigma: 0, b: 0.2, eta: 0, rho: 0.5}}";
    const std::string with = moving(still, still_g2);
    std::string without = with;
    for (const std::string& model : {still, still_g2}) {
        const std::string text = ", model: " + model;
        without.erase(without.find(text), text.size());
    }
    without.erase(without.find("correlations"));
    without += "correlations: [[A, EURUSD, 0.2], [A, B, 0.5]]\n";
    const std::vector<std::string> trades{
        "currency: USD, product: a_bond, looked: 1.5, maturity: 4",
        "currency: USD, product: a_payment, looked: 1.5, maturity: 4",
        "currency: USD, product: in_other, looked: 3, maturity: 8, of: EUR",
        "currency: USD, product: a_forward, looked: 2, maturity: 6, underlying: A",
        "currency: USD, product: european, underlying: A, strike: 100, maturity: 2",
        "currency: USD, product: a_swap_rate, looked: 1.5, begin: 2, payments: [3, 4], of: EUR",
        "currency: USD, product: a_cms, days: [1.5, 2.5], years: 10, of: USD",
    };
    const auto got = priced(own_products, with, trades, 1 << 12, 3),
               expected = priced(own_products, without, trades, 1 << 12, 3);
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].status, trade_status::priced) << got[i].message;
        EXPECT_NEAR(got[i].price, expected[i].price, 4e-15 * std::abs(expected[i].price)) << trades[i];
    }
}

// Every asset model under stochastic rates, in every precision (each has random numbers of its own): the
// asset is worth its spot less its dividends. Eight comparisons for each model, 72 in all: one false alarm in
// 2,000.
TEST(rates, move_beside_every_model_of_an_asset) {
    for (const auto& [name, moves] : every_model()) {
        const std::string text = "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03, model: " + hull_white +
                                 "}}\nassets:\n  A: {currency: USD, spot: 100, dividend_yield: 0.01, " +
                                 moves + "}\ncorrelations: [[A, USD.rate, 0.5]]\n";
        const std::vector<std::string> trades{
            "currency: USD, product: a_spot, looked: 1, underlying: A, of: USD",
            "currency: USD, product: a_forward, looked: 0.5, maturity: 4, underlying: A",
            "currency: USD, product: european, underlying: A, strike: 100, maturity: 1"};
        const auto exact = priced(own_products, text, trades, 1 << 14, 21);
        for (std::size_t i = 0; i < trades.size(); ++i) {
            ASSERT_EQ(exact[i].status, trade_status::priced) << name << ": " << exact[i].message;
            if (i < 2) {
                EXPECT_NEAR(exact[i].price, 100 * std::exp(i == 0 ? -0.01 : -0.04),
                            limit * exact[i].standard_error)
                    << name;
            }
        }
        for (const char* precision : {"single", "mixed"}) {
            const auto got = priced(own_products, text, trades, 1 << 14, 21, precision);
            for (std::size_t i = 0; i < trades.size(); ++i) {
                const double error = std::hypot(got[i].standard_error, exact[i].standard_error);
                EXPECT_NEAR(got[i].price, exact[i].price, limit * error) << name << precision;
            }
        }
    }
}

// An asset without dividends is worth its spot whenever it is delivered: at the moment of a touch, inside an
// interval, or at the end. Four comparisons at 4.5 standard errors: one false alarm in 37,000.
TEST(rates, see_a_touch_and_discount_from_its_time) {
    const std::string text =
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03, model: {hull_white: {mean_reversion: 0.02, "
        "volatility: 0.03}}}, EUR: {rate: 0.01, model: " +
        g2 +
        "}}\nfx: {EURUSD: {rate: 1.1, volatility: 0.1}}\nassets: {A: {currency: USD, spot: 100, volatility: "
        "0.2}, B: {currency: EUR, spot: 100, volatility: 0.2}}\ncorrelations: [[A, USD.rate, -0.8], [B, "
        "EUR.rate, 0.6], [B, EURUSD, 0.3], [EUR.rate, EURUSD, 0.2]]\n";
    const struct {
        const char* trade;
        double price;
    } all[] = {{"currency: USD, product: a_sale, underlying: A, level: 80, maturity: 4, of: USD", 100},
               {"currency: USD, product: a_sale, underlying: A, level: 95, maturity: 4, of: USD", 100},
               {"currency: USD, product: a_sale, underlying: B, level: 90, maturity: 4, of: EUR", 110},
               {"currency: EUR, product: a_sale, underlying: A, level: 90, maturity: 4, of: USD", 100 / 1.1}};
    std::vector<std::string> trades;
    for (const auto& one : all) trades.emplace_back(one.trade);
    const auto rows = priced(own_products, text, trades, 1 << 15, 5);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
        EXPECT_NEAR(rows[i].price, all[i].price, limit * rows[i].standard_error) << trades[i];
        EXPECT_LT(rows[i].standard_error, 0.3) << trades[i] << ": can this fail?";
    }
}

// A step from 0.5 to 2.5. `bent` is 2 until 1 and 3 after it, `one` is 1.
TEST(rates, noises_of_a_step_have_the_covariances_of_their_integrals) {
    using markets::volatility;
    using kind = models::loading::shape;
    const volatility bent = volatility::piecewise({1, 7}, {2, 3}), one = volatility::flat(1);
    const auto of = [&](const volatility& v, models::loading a, models::loading b) {
        return models::covariance(v, a, one, b, 0.5, 2.5);
    };
    const auto near = [](double got, double expected) { EXPECT_NEAR(got, expected, 2e-15 * expected); };
    const auto decayed = [](double a, double from, double to) {  // the integral of exp(-a t)
        return (std::exp(-a * from) - std::exp(-a * to)) / a;
    };
    const models::loading plain{}, decaying{kind::decaying, 0.7}, fast{kind::decaying, 40};
    near(of(bent, plain, plain), 2 * 0.5 + 3 * 1.5);
    near(of(bent, decaying, plain), 2 * decayed(0.7, 1.5, 2) + 3 * decayed(0.7, 0, 1.5));
    near(of(bent, decaying, fast), 2 * decayed(40.7, 1.5, 2) + 3 * decayed(40.7, 0, 1.5));
    near(of(one, {kind::integrated, 0}, {kind::integrated, 0}), 8.0 / 3);
    near(of(one, {kind::integrated, 1e-9}, {kind::integrated, 0}), 8.0 / 3 * (1 - 3e-9 / 4));
    near(of(one, {kind::integrated, 0.7}, plain), (2 - decayed(0.7, 0, 2)) / 0.7);
    near(of(one, {kind::integrated, 0.7}, {kind::integrated, 0.7}),
         (2 - 2 * decayed(0.7, 0, 2) + decayed(1.4, 0, 2)) / 0.49);
    near(bent.total_variance(10), 4 * 1 + 9 * 9);
    for (const double z : {0.0199, 0.0201}) near(models::integrated_decay(z, 1), -std::expm1(-z) / z);
}

TEST(rates, say_how_they_move) {
    const book trades = book::parse(own_products +
                                    "trades:\n  - {id: t, currency: USD, product: in_other, looked: 3, "
                                    "maturity: 3, of: EUR}\n");
    const auto plan = engine().explain(trades, market::parse(moving(hull_white, g2))).at(0);
    EXPECT_EQ(plan.models, (std::vector<std::string>{"USD: hull_white, exact between dates",
                                                     "EUR: g2, exact between dates"}));
    EXPECT_TRUE(plan.assets.empty());
}

TEST(rates, that_can_not_be_are_refused_where_they_stand) {
    const auto refused = [](const std::string& usd_text, const std::string& rest) {
        try {
            market::parse("as_of: 2026-01-15\ncurrencies:\n  USD: {rate: 0.02, " + usd_text + "}\n" + rest,
                          "m");
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string("accepted");
    };
    const std::string asset = "assets:\n  A: {currency: USD, spot: 100, volatility: 0.2}\n";
    const struct {
        std::string usd_text, rest;
        std::vector<std::string> expected;
    } all[] = {
        {"model: {hull_wite: {volatility: 0.01}}", "", {"m:3:", "hull_wite", "did you mean 'hull_white'"}},
        {"model: hull_white", "", {"m:3:", "expected a model with its parameters", "g2"}},
        {"model: {hull_white: {mean_reversion: -0.1, volatility: 0.01}}",
         "",
         {"m:3:", "-0.1", "between 0 and 10"}},
        {"model: {hull_white: {mean_reversion: 0.1, volatility: 1.2}}",
         "",
         {"m:3:", "1.2", "between 0 and 1"}},
        {"model: {hull_white: {mean_reversion: 0.1}}", "", {"m:3:", "volatility"}},
        {"model: {hull_white: {mean_reversion: 0.1, volatility: 0.1, sigma: 1}}", "", {"m:3:", "sigma"}},
        {"model: {g2: {a: 0.1, sigma: 0.01, b: 0.1, eta: 0.01, rho: -1.1}}", "", {"m:3:", "-1.1"}},
        {"model: " + g2, asset + "correlations: [[A, USD.rat, 0.1]]", {"m:6:", "did you mean 'USD.rate'"}},
        {"model: " + g2,
         asset + "correlations: [[USD.rate, USD.rate_2, 0.1]]",
         {"m:6:", "USD.rate_2 with USD.rate, which its model sets to -0.7"}},
        {"model: " + g2,
         asset + "correlations: [[A, USD.rate, 0.9], [A, USD.rate_2, 0.9]]",
         {"m:6:", "negative eigenvalue"}},
        {"model: " + g2,
         "assets:\n  USD.rate: {currency: USD, spot: 100, volatility: 0.2}\n",
         {"m:5:", "correlations call the rates"}},
        {"dividend: 0.1", "", {"m:3:", "dividend"}},
    };
    for (const auto& one : all) {
        for (const std::string& part : one.expected)
            EXPECT_NE(refused(one.usd_text, one.rest).find(part), std::string::npos)
                << one.usd_text << "\n"
                << refused(one.usd_text, one.rest);
    }
}

TEST(rates, that_move_refuse_what_is_not_known_under_them) {
    const std::string market =
        tests::replaced(moving(hull_white, g2), "dividend_yield: 0.01", "dividends: [{date: 1, amount: 2}]");
    const std::string unquoted =
        tests::replaced(moving(hull_white, g2), ", volatility: {1: 0.08, 5: 0.1}", "");
    const struct {
        std::string market, trade;
        std::vector<std::string> expected;
    } all[] = {
        {market,
         "currency: USD, product: a_spot, looked: 3, underlying: A, of: USD",
         {"'A' pays cash dividends", "proportional", ":7:"}},
        {moving(hull_white, g2),
         "currency: USD, product: compound, underlying: A, strike: 5, maturity: 1, "
         "underlying_strike: 100, underlying_maturity: 2",
         {"the value of an option on 'A'", "rates of USD move by a model", ":3:"}},
        {moving(hull_white, g2),
         "currency: EUR, product: a_forward, looked: 1, maturity: 2, underlying: A",
         {"the forward price on 'A' in EUR", "rates of EUR move by a model", ":4:"}},
        {unquoted,
         "currency: USD, product: a_swap_rate, looked: 1.5, begin: 2, payments: [3, 4], of: EUR",
         {"moving rates of 'EUR'", "EURUSD must have a volatility"}},
        {moving("{hull_white: {mean_reversion: 0, volatility: 1}}", g2),
         "currency: USD, product: a_bond, looked: 8, maturity: 9",
         {"the rates of USD move too far", "at most 100", ":3:"}},
    };
    for (const auto& one : all) {
        const auto row = priced(own_products, one.market, {one.trade}, 1 << 10, 1).at(0);
        EXPECT_NE(row.status, trade_status::priced) << one.trade;
        const std::string told = tilewalk::to_string(row.where) + " " + row.message;
        for (const std::string& part : one.expected) EXPECT_NE(told.find(part), std::string::npos) << told;
    }
}

TEST(rates, are_finite_at_extremes) {
    for (const std::string& model :
         {std::string("{hull_white: {mean_reversion: 0, volatility: 0.03}}"),
          std::string("{hull_white: {mean_reversion: 10, volatility: 1}}"),
          std::string("{g2: {a: 0.001, sigma: 0.01, b: 0.001, eta: 0.01, rho: -0.999}}"),
          std::string("{g2: {a: 1, sigma: 0.1, b: 1, eta: 0.1, rho: 0.999}}")}) {
        for (const char* rate : {"-0.05", "0.2"}) {
            for (const char* spot : {"1e-6", "1e9"}) {
                const std::string text = "as_of: 2026-01-15\ncurrencies: {USD: {rate: " + std::string(rate) +
                                         ", model: " + model +
                                         "}}\nassets: {A: {currency: USD, spot: " + spot +
                                         ", volatility: 0.3}}\ncorrelations: [[A, USD.rate, 0.999]]\n";
                for (const char* precision : {"double", "single"}) {
                    const auto rows =
                        priced(own_products, text,
                               {"currency: USD, product: a_spot, looked: 2026-01-16, underlying: A, of: USD",
                                "currency: USD, product: a_spot, looked: 50, underlying: A, of: USD",
                                "currency: USD, product: a_cms, days: [0.003, 50], years: 30, of: USD",
                                "currency: USD, product: a_bond, looked: 1, maturity: 51"},
                               1 << 10, 7, precision);
                    for (const auto& row : rows) {
                        EXPECT_EQ(row.status, trade_status::priced) << row.message << model;
                        EXPECT_TRUE(is_sound(row))
                            << row.trade << " " << row.price << " " << model << rate << " " << precision;
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace tilewalk::rates_test
