// SPDX-License-Identifier: Apache-2.0
// Price differences for usual shifts: against Black's formula in moved markets, summed by bucket, times
// quantity and in other currencies; the rows of SIMM; the files, and refusals of a market's `simm:`.
#include "tilewalk/differences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/comma_locale.h"
#include "tests/command.h"
#include "tests/documented_columns.h"
#include "tests/market_text.h"
#include "tests/own_folder.h"
#include "tests/texts.h"
#include "tilewalk/calibration.h"
#include "tilewalk/files.h"
#include "tilewalk/shards.h"

namespace tilewalk::differences_test {
namespace {

using tests::dollar_market;

const std::string market_text = R"(as_of: 2026-01-15
currencies:
  USD: {zero_rates: {0.5: 0.036, 1.0: 0.035, 2.0: 0.034}}
  EUR: {rate: 0.02}
  JPY: {rate: 0.005}
assets:
  ACME: {currency: USD, spot: 100, dividend_yield: 0.015, volatility: 0.22}
  BETA: {currency: EUR, spot: 50, volatility: {0.5: 0.3, 1.5: 0.31}}
  NIKKO: {currency: JPY, spot: 3000, volatility: 0.2}
fx: {EURUSD: {rate: 1.16, volatility: 0.07}, USDJPY: {rate: 150, volatility: 0.1}}
correlations: [[ACME, BETA, 0.4], [ACME, EURUSD, 0], [BETA, EURUSD, 0.1]]
)";
const std::string simm_text = R"(simm:
  currency: USD
  ACME: {qualifier: "ISIN:US0000000001", bucket: 7}
  BETA: {qualifier: "ISIN:DE0000000002", bucket: 8}
  NIKKO: {qualifier: "ISIN:JP0000000003", bucket: 8}
)";
const std::string book_text = R"(settings: {paths: 16384, seed: 5}
trades:
  - {id: call, product: european, underlying: ACME, option: call, strike: 104, maturity: 1.5, quantity: 500}
  - {id: one, product: european, underlying: ACME, option: call, strike: 104, maturity: 1.5}
  - {id: put, product: european, underlying: BETA, option: put, strike: 52, maturity: 1.0, quantity: -200, portfolio: p}
  - {id: yen, product: european, underlying: NIKKO, option: call, strike: 3000, maturity: 0.5}
)";

double normal(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0));
}
// Black's formula with a continuous yield; `what` is 1 for a call, -1 for a put.
double black(double what, double spot, double strike, double years, double rate, double yield, double vol) {
    const double deviation = vol * std::sqrt(years);
    const double d = (std::log(spot / strike) + (rate - yield) * years) / deviation;
    return what * (spot * std::exp(-yield * years) * normal(what * (d + deviation / 2)) -
                   strike * std::exp(-rate * years) * normal(what * (d - deviation / 2)));
}

struct call_market {
    double spot = 100, yield = 0.015, vol = 0.22, at_1y = 0.035, at_2y = 0.034, years = 1.5;
    double value() const {
        // The logarithm of discount factors is linear between the pillars.
        const double rate = (0.5 * at_1y + 0.5 * 2 * at_2y) / 1.5;
        return 500 * black(1, spot, 104, years, rate, yield, vol);
    }
};

const difference_results& found() {
    static const difference_results r = [] {
        const book trades = book::parse(book_text);
        const market in = market::parse(market_text + simm_text);
        difference_options wanted;
        wanted.vanna = true;
        return differences(engine(), trades, in, wanted);
    }();
    return r;
}

std::size_t place(const difference_results& r, const std::string& trade) {
    for (std::size_t t = 0; t < r.values.rows.size(); ++t)
        if (r.values.rows[t].trade == trade) return t;
    throw std::logic_error("no trade " + trade);
}

const difference_row& row(const difference_results& r, const std::string& trade, const std::string& key,
                          const std::string& second = "") {
    for (const difference_row& d : r.rows)
        if (r.values.rows[d.trade].trade == trade && d.key == key && d.second_key == second) return d;
    throw std::logic_error("no row for " + trade + " and " + key + ";" + second);
}

// Standard errors that a figure may be off. Student's t with 15 degrees of freedom, the fewest of a run of
// 16,384 paths, is beyond 7 once in 2e5 times, so nine rows of two figures fail once in 1e4 times.
// `expect_near` also allows for rounding, all that a control may leave, by the last digits of the value.
constexpr double far = 7;
void expect_near(double found, double error, double truth, double value, const std::string& what) {
    ASSERT_TRUE(is_figure(found) && is_figure(error)) << what;
    EXPECT_LE(std::abs(found - truth), far * error + 1e-11 * std::abs(value))
        << what << ": found " << found << " +- " << error << ", the truth is " << truth;
}

TEST(differences, are_those_of_black_in_moved_markets) {
    const call_market base;
    const double value = base.value();
    const auto check = [&](const std::string& key, auto member, double size) {
        const difference_row& d = row(found(), "call", key);
        EXPECT_DOUBLE_EQ(d.size, size) << key;
        call_market up = base, down = base;
        up.*member += size;
        down.*member -= size;
        expect_near(d.own.delta, d.own.delta_error, up.value() - value, value, key + ", delta");
        expect_near(d.own.gamma, d.own.gamma_error, up.value() - 2 * value + down.value(), value,
                    key + ", gamma");
        EXPECT_EQ(d.method, "bump");
        // Both prices have the same random numbers, so most of the noise cancels.
        EXPECT_LT(d.own.delta_error, 1e-3 * std::abs(d.own.delta)) << key;
    };
    check("ACME.spot", &call_market::spot, 1);
    check("ACME.volatility", &call_market::vol, 0.01);
    check("ACME.dividend_yield", &call_market::yield, 1e-4);
    check("USD.rate@1y", &call_market::at_1y, 1e-4);
    check("USD.rate@2y", &call_market::at_2y, 1e-4);

    // A day later each zero rate stays at its time to maturity, counted from the new day.
    call_market later = base;
    later.years -= 1.0 / 365;
    const double rate_later = [&] {
        const double t = later.years;
        return (0.035 * (2 - t) + 2 * 0.034 * (t - 1)) / t;
    }();
    const double tomorrow = 500 * black(1, 100, 104, later.years, rate_later, 0.015, 0.22);
    const difference_row& day = row(found(), "call", "as_of");
    EXPECT_DOUBLE_EQ(day.size, 1.0 / 365);
    expect_near(day.own.delta, day.own.delta_error, tomorrow - value, value, "a day");
    EXPECT_FALSE(is_figure(day.own.gamma));

    const difference_row& both = row(found(), "call", "ACME.spot", "ACME.volatility");
    call_market spot = base, vol = base, moved = base;
    spot.spot = moved.spot = 101;
    vol.vol = moved.vol = 0.23;
    expect_near(both.own.gamma, both.own.gamma_error, moved.value() - spot.value() - vol.value() + value,
                value, "both");
    EXPECT_EQ(both.own.delta, 0);
}

TEST(differences, have_rows_for_the_numbers_that_move_a_trade_alone) {
    std::vector<std::string> keys;
    for (const difference_row& d : found().rows)
        if (found().values.rows[d.trade].trade == "put") keys.push_back(d.key + ";" + d.second_key);
    EXPECT_EQ(keys,
              (std::vector<std::string>{"EUR.rate;", "BETA.spot;", "BETA.volatility@0.5y;",
                                        "BETA.volatility@1.5y;", "EURUSD.rate;", "as_of;",
                                        "BETA.spot;BETA.volatility@0.5y", "BETA.spot;BETA.volatility@1.5y"}));
    EXPECT_TRUE(found().failures.empty());
    EXPECT_TRUE(found().remarks.empty());
}

TEST(differences, of_buckets_add_up_to_the_parallel_move) {
    const call_market base;
    call_market up = base;
    up.at_1y += 1e-4;
    up.at_2y += 1e-4;
    const difference_row &one = row(found(), "call", "USD.rate@1y"),
                         &two = row(found(), "call", "USD.rate@2y");
    const double sum = one.own.delta + two.own.delta, parallel = up.value() - base.value();
    // The mixed second difference is at most the mean of the two pure ones, which have the same sign here.
    const double second_order = (std::abs(one.own.gamma) + std::abs(two.own.gamma)) / 2;
    EXPECT_LE(std::abs(sum - parallel),
              1.01 * second_order + far * (one.own.delta_error + two.own.delta_error));
    EXPECT_LT(second_order, 1e-3 * std::abs(parallel));
}

TEST(differences, go_with_the_quantity) {
    for (const char* const key : {"ACME.spot", "ACME.volatility", "USD.rate@1y", "as_of"}) {
        const difference &many = row(found(), "call", key).own, &one = row(found(), "one", key).own;
        EXPECT_NEAR(many.delta, 500 * one.delta, 1e-9) << key;
        EXPECT_NEAR(many.delta_error, 500 * one.delta_error, 1e-9) << key;
    }
}

TEST(differences, are_converted_into_the_base_currency) {
    EXPECT_EQ(found().currency, "USD");
    const std::size_t put = place(found(), "put"), yen = place(found(), "yen");
    EXPECT_DOUBLE_EQ(found().trades[put].to_base, 1.16);
    EXPECT_DOUBLE_EQ(found().trades[yen].to_base, 1.0 / 150);
    for (const char* const key : {"BETA.spot", "BETA.volatility@0.5y", "EUR.rate"}) {
        const difference_row& d = row(found(), "put", key);
        EXPECT_NEAR(d.base.delta, 1.16 * d.own.delta, 1e-9) << key;
        EXPECT_NEAR(d.base.delta_error, 1.16 * d.own.delta_error, 1e-9) << key;
        EXPECT_NEAR(d.base.gamma, 1.16 * d.own.gamma, 1e-9) << key;
    }
    // The exchange rate affects only the trade's value in dollars.
    const difference_row& fx = row(found(), "put", "EURUSD.rate");
    const double value = found().values.rows[put].value_in_totals();
    EXPECT_DOUBLE_EQ(fx.size, 0.0116);
    EXPECT_EQ(fx.own.delta, 0);
    EXPECT_NEAR(fx.base.delta, 0.0116 * value, 1e-9);
    const difference_row& turned = row(found(), "yen", "USDJPY.rate");
    const double yens = found().values.rows[yen].value_in_totals();
    EXPECT_NEAR(turned.base.delta, yens / 151.5 - yens / 150, 1e-12);
    EXPECT_NEAR(turned.base.gamma, yens / 151.5 - 2 * yens / 150 + yens / 148.5, 1e-12);
}

TEST(differences, without_a_base_currency_stay_in_their_own) {
    const difference_results r =
        differences(engine(), book::parse(book_text).only({"put"}), market::parse(market_text));
    EXPECT_TRUE(r.currency.empty());
    EXPECT_TRUE(r.crif.empty());
    const difference_row& d = row(r, "put", "BETA.spot");
    EXPECT_EQ(d.base.delta, d.own.delta);
    for (const difference_row& other : r.rows) EXPECT_NE(other.key, "EURUSD.rate");
    const results priced = engine().price(book::parse(book_text).only({"put"}), market::parse(market_text));
    EXPECT_EQ(r.values.rows[0].price, priced.rows[0].price);
    EXPECT_EQ(d.own.delta, row(found(), "put", "BETA.spot").own.delta);
    EXPECT_EQ(d.own.gamma, row(found(), "put", "BETA.spot").own.gamma);
}

TEST(differences, do_not_depend_on_the_trades_that_are_priced_together) {
    difference_options few;
    few.vanna = true;
    few.trades_at_once = 3;
    const difference_results r =
        differences(engine(), book::parse(book_text), market::parse(market_text + simm_text), few);
    ASSERT_EQ(r.rows.size(), found().rows.size());
    for (std::size_t k = 0; k < r.rows.size(); ++k) {
        const difference_row &a = r.rows[k], &b = found().rows[k];
        EXPECT_TRUE(a.trade == b.trade && a.key == b.key && a.base.delta == b.base.delta &&
                    a.own.delta_error == b.own.delta_error)
            << a.key;
    }
    ASSERT_EQ(r.crif.size(), found().crif.size());
    for (std::size_t k = 0; k < r.crif.size(); ++k) EXPECT_EQ(r.crif[k].amount, found().crif[k].amount);
    EXPECT_EQ(r.values.rows.back().price, found().values.rows.back().price);
}

// The kept policies are those of the prices, so that a later run can follow them.
TEST(differences, keep_the_policies_of_all_trades) {
    const market in = market::parse(dollar_market(0.03, {{"A", "spot: 100, volatility: 0.2"}}));
    const book trades = book::parse(R"(settings: {paths: 8192, seed: 5}
trades:
  - {id: one, product: american, option: put, underlying: A, strike: 100, exercise_dates: [0.5, 1], maturity: 1}
  - {id: two, product: american, option: put, underlying: A, strike: 110, exercise_dates: [0.5, 1], maturity: 1}
)");
    run_options with;
    EXPECT_EQ(differences(engine(), trades, in, {}, with).values.policies, "");
    with.keep_policies = true;
    const results priced = engine().price(trades, in, with);
    for (const std::size_t at_once : {1U, 2U})
        EXPECT_EQ(differences(engine(), trades, in, {.trades_at_once = at_once}, with).values.policies,
                  priced.policies);
}

// Raising the volatility of 0.5 years would let total variance fall until 0.52 years.
TEST(differences, go_down_where_the_market_cannot_go_up) {
    const market in =
        market::parse(dollar_market(0.03, {{"ACME", "spot: 100, volatility: {0.5: 0.30, 0.52: 0.295}"}}));
    const book trades = book::parse(R"(settings: {paths: 16384}
trades: [{id: call, product: european, underlying: ACME, option: call, strike: 100, maturity: 0.5}]
)");
    const difference_results r = differences(engine(), trades, in);
    const difference_row& d = row(r, "call", "ACME.volatility@0.5y");
    EXPECT_EQ(d.method, "bump_down");
    const double value = black(1, 100, 100, 0.5, 0.03, 0, 0.30);
    expect_near(d.own.delta, d.own.delta_error, value - black(1, 100, 100, 0.5, 0.03, 0, 0.29), value,
                "down");
    EXPECT_FALSE(is_figure(d.own.gamma));
    EXPECT_TRUE(r.failures.empty());
}

// CRIF amounts of a trade by "risk type|qualifier|bucket|label1|label2".
std::map<std::string, double> crif_of(const difference_results& r, const std::string& trade) {
    std::map<std::string, double> out;
    for (const crif_row& c : r.crif) {
        if (r.values.rows[c.trade].trade != trade) continue;
        const std::string key =
            std::string(c.risk_type) + "|" + c.qualifier + "|" + c.bucket + "|" + c.label1 + "|" + c.label2;
        EXPECT_TRUE(out.emplace(key, c.amount).second) << key;
        EXPECT_TRUE(is_figure(c.error) && c.error >= 0) << key;
    }
    return out;
}

TEST(differences_rows_of_simm, are_the_moves_that_isda_asks_for) {
    const auto call = crif_of(found(), "call");
    const auto delta = [](const char* trade, const char* key) { return row(found(), trade, key).base.delta; };
    const std::map<std::string, double> of_call{
        {"Risk_Equity|ISIN:US0000000001|7||", delta("call", "ACME.spot")},
        // A flat volatility counts at the maturity of 1.5 years: half for one year, half for two.
        {"Risk_EquityVol|ISIN:US0000000001|7|1y|", 0.5 * delta("call", "ACME.volatility")},
        {"Risk_EquityVol|ISIN:US0000000001|7|2y|", 0.5 * delta("call", "ACME.volatility")},
        {"Risk_IRCurve|USD|1|1y|OIS", delta("call", "USD.rate@1y")},
        {"Risk_IRCurve|USD|1|2y|OIS", delta("call", "USD.rate@2y")},
        {"Risk_FX|USD|||", 0.01 * found().values.rows[place(found(), "call")].value_in_totals()}};
    ASSERT_EQ(call.size(), of_call.size());
    for (const auto& [key, amount] : of_call) {
        ASSERT_TRUE(call.contains(key)) << key;
        EXPECT_NEAR(call.at(key), amount, 1e-9) << key;
    }
    EXPECT_EQ(found().trades[place(found(), "call")].product_class, "Equity");
}

TEST(differences_rows_of_simm, share_times_between_vertices_and_keep_the_sum) {
    const auto put = crif_of(found(), "put");
    const std::string vol = "Risk_EquityVol|ISIN:DE0000000002|8|";
    const double half = row(found(), "put", "BETA.volatility@0.5y").base.delta,
                 later = row(found(), "put", "BETA.volatility@1.5y").base.delta;
    EXPECT_NEAR(put.at(vol + "6m|"), half, 1e-9);
    EXPECT_NEAR(put.at(vol + "1y|"), later / 2, 1e-9);
    EXPECT_NEAR(put.at(vol + "2y|"), later / 2, 1e-9);
    EXPECT_NEAR(put.at("Risk_IRCurve|EUR|1|1y|OIS"), row(found(), "put", "EUR.rate").base.delta, 1e-9);
}

TEST(differences_rows_of_simm, move_each_currency_against_that_of_calculation) {
    const double put = 1.16 * found().values.rows[place(found(), "put")].value_in_totals(),
                 yen = found().values.rows[place(found(), "yen")].value_in_totals() / 150;
    EXPECT_NEAR(crif_of(found(), "put").at("Risk_FX|EUR|||"), 0.01 * put, 1e-9);
    EXPECT_NEAR(crif_of(found(), "put").at("Risk_FX|USD|||"), 0, 1e-9);
    // USDJPY is quoted in yens per dollar, but SIMM moves the price of a yen in dollars by 1 %.
    EXPECT_NEAR(crif_of(found(), "yen").at("Risk_FX|JPY|||"), 0.01 * yen, 1e-12);
    EXPECT_TRUE(crif_of(found(), "yen").contains("Risk_IRCurve|JPY|2|6m|OIS"));
}

// The drift of a quanto's asset has its covariance with the exchange rate, and so a vega of the rate.
TEST(differences_rows_of_simm, of_a_quanto_have_the_volatility_of_the_exchange_rate) {
    const market in = market::parse(
        "as_of: 2026-01-15\n"
        "currencies: {USD: {rate: 0.03}, EUR: {rate: 0.02}}\n"
        "assets: {BETA: {currency: EUR, spot: 50, volatility: 0.3}}\n"
        "fx: {EURUSD: {rate: 1.25, volatility: 0.1}}\n"
        "correlations: [[BETA, EURUSD, 0.4]]\n"
        "simm: {currency: USD, BETA: {qualifier: \"ISIN:DE0000000002\", bucket: 8}}\n");
    const book trades = book::parse(
        "settings: {paths: 16384, seed: 5}\n"
        "trades: [{id: call, product: european, underlying: BETA, option: call, strike: 52, maturity: 1.5, "
        "currency: USD, quantity: 1000}]\n");
    difference_options wanted;
    wanted.vanna = true;
    const difference_results r = differences(engine(), trades, in, wanted);
    const auto call = [](double spot, double of_rate) {
        // Paid in dollars, the asset grows by the euro's rate less its covariance with the exchange rate.
        return 1000 * black(1, spot, 52, 1.5, 0.03, 0.03 - (0.02 - 0.4 * 0.3 * of_rate), 0.3);
    };
    const double value = call(50, 0.1);
    const difference_row &rate = row(r, "call", "EURUSD.volatility"),
                         &both = row(r, "call", "BETA.spot", "EURUSD.volatility");
    const double up = 50 + both.size, more = 0.1 + rate.size;
    const double by_rate = call(50, more) - value;
    ASSERT_GT(rate.size, 0);
    EXPECT_EQ(both.second_size, rate.size);
    expect_near(rate.own.delta, rate.own.delta_error, by_rate, value, "the volatility of the rate");
    expect_near(both.own.gamma, both.own.gamma_error, call(up, more) - call(up, 0.1) - by_rate, value,
                "with the spot");
    const auto rows = crif_of(r, "call");
    for (const std::string vertex : {"1y|", "2y|"}) {
        ASSERT_TRUE(rows.contains("Risk_FXVol|EURUSD||" + vertex)) << vertex;
        EXPECT_NEAR(rows.at("Risk_FXVol|EURUSD||" + vertex), rate.own.delta / 2, 1e-9) << vertex;
    }
}

// An asset that is an exchange rate moves when one of its currencies moves against the calculation currency:
// either of them, or only the other one if it contains the calculation currency.
TEST(differences_rows_of_simm, of_an_exchange_rate_that_is_an_asset_are_those_of_currencies) {
    const double years = 1.5, rate = 0.034, yield = 0.02, vol = 0.07, units = 1e6;
    const auto call = [&](double spot, double at, double with_vol) {
        return units * black(1, spot, 1.15, years, rate, at, with_vol);
    };
    for (const std::string currency : {"USD", "EUR"}) {
        const market in = market::parse(
            "as_of: 2026-01-15\n"
            "currencies: {USD: {rate: 0.034}, EUR: {rate: 0.02}}\n"
            "assets: {EUR_USD: {currency: USD, spot: 1.16, dividend_yield: 0.02, volatility: 0.07}}\n"
            "fx: {EURUSD: {rate: 1.16, volatility: 0.07}}\n"
            "simm: {currency: " +
            currency + ", EUR_USD: {fx: EUR}}\n");
        const book trades = book::parse(
            "settings: {paths: 16384, seed: 5}\n"
            "trades: [{id: call, product: european, underlying: EUR_USD, option: call, strike: 1.15, "
            "maturity: 1.5, quantity: 1000000}]\n");
        const difference_results r = differences(engine(), trades, in);
        EXPECT_EQ(r.trades[0].product_class, "RatesFX");
        const double to_base = currency == "USD" ? 1 : 1 / 1.16, value = to_base * call(1.16, yield, vol);
        const double up = call(1.16 * 1.01, yield, vol) - call(1.16, yield, vol);
        const double down = call(1.16 / 1.01, yield, vol) * 1.01 / 1.16 - value;
        const double by_vol = to_base * (call(1.16, yield, vol + 0.01) - call(1.16, yield, vol));
        const double by_yield = to_base * (call(1.16, yield + 1e-4, vol) - call(1.16, yield, vol));
        std::map<std::string, double> expected{
            {"Risk_FXVol|EURUSD||1y|", 0.5 * by_vol},
            {"Risk_FXVol|EURUSD||2y|", 0.5 * by_vol},
            {"Risk_IRCurve|EUR|1|1y|OIS", 0.5 * by_yield},
            {"Risk_IRCurve|EUR|1|2y|OIS", 0.5 * by_yield},
            {"Risk_FX|EUR|||", currency == "USD" ? up : 0.01 * value - down},
            {"Risk_FX|USD|||", currency == "USD" ? 0.01 * value - up : down}};
        std::size_t found = 0;
        for (const crif_row& row : r.crif) {
            const std::string key = std::string(row.risk_type) + "|" + row.qualifier + "|" + row.bucket +
                                    "|" + row.label1 + "|" + row.label2;
            if (key.starts_with("Risk_IRCurve|USD")) continue;
            ASSERT_TRUE(expected.contains(key)) << key;
            expect_near(row.amount, row.error, expected.at(key), value, currency + " " + key);
            ++found;
        }
        EXPECT_EQ(found, expected.size());
    }
}

const std::vector<double> rate_volatilities{0.0080, 0.0091, 0.0088};
// A market of Hull and White, fitted to volatilities `v` of three quotes for its two parameters; the quotes
// expire at 1, 2.5 and (the last caplet of a cap) 3 years.
std::string rate_market(const std::vector<double>& v) {
    const auto quote = [&](std::size_t q) {
        std::ostringstream out;
        out.precision(17);
        out << "volatility: " << v[q] << ", type: normal}";
        return out.str();
    };
    const std::string quotes =
        "as_of: 2026-01-15\n"
        "currencies: {USD: {zero_rates: {1.0: 0.0351, 5.0: 0.0361}}, EUR: {rate: 0.02}}\n"
        "fx: {EURUSD: {rate: 1.25, volatility: 0.07}}\n"
        "calibrate:\n"
        "  USD:\n"
        "    hull_white:\n"
        "      swaptions: [{expiry: 1, tenor: 4, " +
        quote(0) + ", {expiry: 2.5, tenor: 2, " + quote(1) +
        "]\n"
        "      caps: [{maturity: 4, payments_per_year: 1, strike: 0.035, " +
        quote(2) + "]\n";
    return calibrate(market_quotes::parse(quotes)).market + "simm: {currency: EUR}\n";
}
const std::string rate_book = R"(settings: {paths: 65536}
trades:
  - {id: one, product: swaption, currency: USD, strike: 0.036, expiry: 2.0, payments: [3.0, 4.0, 5.0]}
  - {id: many, product: swaption, currency: USD, strike: 0.036, expiry: 2.0, payments: [3.0, 4.0, 5.0], quantity: -7}
  - {id: early, product: bermudan_swaption, currency: USD, strike: 0.036, exercise_dates: [1.0, 2.0], payments: [2.0, 3.0, 4.0]}
)";
book rate_trades() {
    return book::parse(rate_book);
}

TEST(differences_rate_volatilities_of_simm, are_volatility_times_what_calibrating_again_gives) {
    const difference_results r =
        differences(engine(), rate_trades(), market::parse(rate_market(rate_volatilities)));
    EXPECT_TRUE(r.failures.empty());
    for (const std::string& remark : r.remarks) EXPECT_FALSE(tests::has(remark, "crif.csv")) << remark;
    const std::vector<std::map<std::string, double>> shares{
        {{"1y", 1}}, {{"2y", 0.5}, {"3y", 0.5}}, {{"3y", 1}}};
    const double h = 0.01;
    std::vector<std::map<std::string, double>> truth(3);
    for (std::size_t q = 0; q < rate_volatilities.size(); ++q) {
        std::vector<double> up = rate_volatilities, down = rate_volatilities;
        up[q] *= 1 + h;
        down[q] *= 1 - h;
        const results above = engine().price(rate_trades(), market::parse(rate_market(up))),
                      below = engine().price(rate_trades(), market::parse(rate_market(down)));
        for (std::size_t t = 0; t < 3; ++t) {
            const double gain = above.rows[t].value_in_totals() - below.rows[t].value_in_totals();
            for (const auto& [vertex, share] : shares[q]) truth[t][vertex] += share * gain / (2 * h) / 1.25;
        }
    }
    for (std::size_t t = 0; t < 3; ++t) {
        std::map<std::string, const crif_row*> rows;
        for (const crif_row& c : r.crif)
            if (c.trade == t && c.risk_type == "Risk_IRVol") {
                EXPECT_TRUE(c.qualifier == "USD" && c.bucket.empty() && c.label2.empty());
                EXPECT_TRUE(rows.emplace(c.label1, &c).second) << c.label1;
            }
        ASSERT_EQ(rows.size(), 3U);
        double sum = 0;
        for (const auto& [vertex, amount] : truth[t]) sum += amount;
        EXPECT_GT(std::abs(sum), 0.1) << t;
        // Each market trains a policy for trade 2, a Bermudan, which moves its price by up to 2e-4.
        const double by_rule = t == 2 ? 2e-4 / (2 * h * 1.25) : 0;
        double found_sum = 0;
        for (const auto& [vertex, amount] : truth[t]) {
            ASSERT_TRUE(rows.contains(vertex)) << vertex;
            const crif_row& c = *rows.at(vertex);
            found_sum += c.amount;
            EXPECT_LE(std::abs(c.amount - amount), far * c.error + by_rule)
                << t << " at " << vertex << ": found " << c.amount << " +- " << c.error << ", the truth is "
                << amount;
            EXPECT_GT(c.error, 0);
            EXPECT_LT(c.error, 1e-3 * std::abs(sum)) << t << " at " << vertex;
            EXPECT_EQ(c.method, "pathwise");
        }
        EXPECT_NEAR(found_sum, sum, 2e-3 * std::abs(sum) + by_rule) << t;
    }
    const auto one = crif_of(r, "one"), many = crif_of(r, "many");
    EXPECT_NEAR(many.at("Risk_IRVol|USD||3y|"), -7 * one.at("Risk_IRVol|USD||3y|"), 1e-9);
}

TEST(differences_rate_volatilities_of_simm, are_of_quotes_that_the_market_keeps) {
    const std::string text = rate_market(rate_volatilities);
    const auto said = [](const std::string& in) {
        const difference_results r = differences(engine(), rate_trades(), market::parse(in));
        std::string out;
        for (const crif_row& c : r.crif)
            if (c.risk_type == "Risk_IRVol") out += c.label1 + " ";
        for (const std::string& s : r.failures) out += s + "\n";
        for (const std::string& s : r.remarks) out += s + "\n";
        return out;
    };
    EXPECT_TRUE(tests::has(said(text.substr(0, text.find("calibrated:")) + "simm: {currency: EUR}\n"),
                           "crif.csv has no volatility risk"));
    const std::size_t at = text.find("volatility: ", text.find("hull_white: {mean_reversion"));
    const std::string moved = said(std::string(text).replace(at, 17, "volatility: 0.010"));
    EXPECT_TRUE(tests::has(moved, "volatilities that rate models are fitted to: ")) << moved;
    EXPECT_TRUE(tests::has(moved, "unchanged")) << moved;
}

std::string file(const difference_results& r, std::string_view name) {
    for (const difference_report& report : difference_reports()) {
        if (report.file != name) continue;
        std::ostringstream out;
        report.write(out, r);
        return out.str();
    }
    return "no such file";
}

difference_results made() {
    difference_results r;
    price_row good, bad;
    good.trade = "a,b";
    good.product = "european";
    good.currency = "EUR";
    good.status = trade_status::priced;
    good.quantity = 2;
    good.price = 10.5;
    good.paths = 2048;
    bad.trade = "late";
    bad.product = "asian";
    bad.currency = "USD";
    r.values.rows = {good, bad};
    r.trades = {{"rates", "2027-01-15", 1, 1, 1.25, "Equity"}, {"", "", 0, 0, no_figure, "RatesFX"}};
    r.currency = "USD";
    r.base_to_usd = 1;
    r.numbers = {{"ACME.spot", 250, "EUR"}, {"ACME.volatility", 0.2, "volatility"}};
    difference_row spot, both;
    spot.key = both.key = "ACME.spot";
    spot.size = both.size = 2.5;
    spot.paths = both.paths = 2048;
    spot.own = {4, 0.5, 0.25, no_figure};
    spot.base = {5, 0.625, 0.3125, no_figure};
    both.second_key = "ACME.volatility";
    both.second_size = 0.01;
    both.own = {0, 0, 0.5, 0.125};
    both.base = {0, 0, 0.625, 0.15625};
    r.rows = {spot, both};
    r.crif = {{0, "Risk_EquityVol", "ISIN:1", "7", "6m", "", 0.75, 0.5},
              {0, "Risk_FX", "USD", "", "", "", no_figure, no_figure}};
    return r;
}

TEST(differences_files_of_differences, have_their_bytes) {
    EXPECT_EQ(file(made(), "npv.csv"),
              "#TradeId,TradeType,Maturity,MaturityTime,NPV,NpvCurrency,NPV(Base),BaseCurrency,Notional,"
              "NotionalCurrency,Notional(Base),NettingSet,CounterParty\n"
              "\"a,b\",european,2027-01-15,1.000000,21.000000,EUR,26.250000,USD,#N/A,#N/A,#N/A,rates,\n"
              "late,asian,#N/A,#N/A,#N/A,#N/A,#N/A,USD,#N/A,#N/A,#N/A,,\n");
    EXPECT_EQ(
        file(made(), "sensitivity.csv"),
        "#TradeId,IsPar,Factor_1,ShiftSize_1,Factor_2,ShiftSize_2,Currency,Base "
        "NPV,Delta,Gamma,Currency(Trade),"
        "Base NPV(Trade),Delta(Trade),Gamma(Trade)\n"
        "\"a,b\",false,EquitySpot/ACME/0/spot,2.5000000000,,0.0000000000,USD,26.2500000000,5.0000000000,"
        "0.3125000000,EUR,21.0000000000,4.0000000000,0.2500000000\n"
        "\"a,b\",false,EquitySpot/ACME/0/spot,2.5000000000,EquityVolatility/ACME/0/1Y/ATM,0.0100000000,USD,"
        "26.2500000000,0.0000000000,0.6250000000,EUR,21.0000000000,0.0000000000,0.5000000000\n");
    EXPECT_EQ(
        file(made(), "sensitivity_error.csv"),
        "#TradeId,IsPar,Factor_1,ShiftSize_1,Factor_2,ShiftSize_2,Currency,Delta SE,Gamma SE,"
        "Currency(Trade),Delta SE(Trade),Gamma SE(Trade),Method,Paths,Bias bound\n"
        "\"a,b\",false,EquitySpot/ACME/0/spot,2.5000000000,,0.0000000000,USD,0.625,#N/A,EUR,0.5,#N/A,bump,"
        "2048,0\n"
        "\"a,b\",false,EquitySpot/ACME/0/spot,2.5000000000,EquityVolatility/ACME/0/1Y/ATM,0.0100000000,USD,0,"
        "0.15625,EUR,0,0.125,bump,2048,0\n");
    EXPECT_EQ(
        file(made(), "crif.csv"),
        "TradeID,PortfolioID,ProductClass,RiskType,Qualifier,Bucket,Label1,Label2,AmountCurrency,Amount,"
        "AmountUSD,IMModel,PostRegulations,CollectRegulations,EndDate\n"
        "\"a,b\",rates,Equity,Risk_EquityVol,ISIN:1,7,6m,,USD,0.75,0.75,SIMM,,,2027-01-15\n"
        "\"a,b\",rates,Equity,Risk_FX,USD,,,,USD,,,SIMM,,,2027-01-15\n");
    EXPECT_EQ(
        file(made(), "crif_error.csv"),
        "TradeID,PortfolioID,ProductClass,RiskType,Qualifier,Bucket,Label1,Label2,AmountCurrency,Amount SE,"
        "AmountUSD SE,Method,Paths\n"
        "\"a,b\",rates,Equity,Risk_EquityVol,ISIN:1,7,6m,,USD,0.5,0.5,bump,2048\n"
        "\"a,b\",rates,Equity,Risk_FX,USD,,,,USD,,,bump,2048\n");
}

// Vertices and tenors are parsed from market keys, such as BETA.volatility@1.5y.
TEST(differences_files_of_differences, do_not_depend_on_the_locale) {
    const auto all = [](const difference_results& r) {
        std::ostringstream out;
        for (const difference_report& file : difference_reports()) file.write(out, r);
        return out.str();
    };
    const std::string expected = all(found());
    EXPECT_TRUE(tests::has(expected, "/18M/"));
    const tests::comma_locale comma;
    if (!comma.is_set()) GTEST_SKIP() << "no locale with a decimal comma can be made";
    difference_options wanted;
    wanted.vanna = true;
    EXPECT_EQ(
        all(differences(engine(), book::parse(book_text), market::parse(market_text + simm_text), wanted)),
        expected);
}

TEST(differences_files_of_differences, are_told_of_column_by_column) {
    std::set<std::string_view> names;
    for (const difference_report& report : difference_reports()) {
        EXPECT_TRUE(names.insert(report.file).second) << report.file;
        EXPECT_TRUE(report.meaning.ends_with('.')) << report.file;
        tests::expect_documented(report.file, file(made(), report.file));
    }
}

std::string files_of(const difference_results& r) {
    std::ostringstream out;
    for (const difference_report& report : difference_reports()) report.write(out, r);
    return out.str();
}

// Derivatives with respect to rate parameters are walked as one more market, which shards split as others.
TEST(differences_in_shards, have_the_bytes_of_one_process) {
    const tests::own_folder files;
    sharded_request what;
    what.market =
        files.write("market.yaml", tests::replaced(rate_market(rate_volatilities), "{currency: EUR}",
                                                   "{currency: EUR, A: {qualifier: A, bucket: 7}}") +
                                       "assets: {A: {currency: USD, spot: 100, volatility: 0.2}}\n");
    what.book = files.write("book.yaml", rate_book + R"(
  - {id: call, product: european, underlying: A, strike: 105, maturity: 1, quantity: 3}
  - {id: right, product: american, option: put, underlying: A, strike: 100, exercise_dates: [0.5, 1], maturity: 1}
)");
    what.differences.emplace().vanna = true;
    const engine by;
    const book trades = book::load(what.book);
    const market in = market::load(what.market);
    int rounds = 0;
    for (const auto& [tolerance, counts] :
         {std::pair(std::optional<accuracy>(), std::vector{1U, 23U}),
          std::pair(std::optional(accuracy::basis_points(2)), std::vector{3U})}) {
        what.settings = {.paths = 8192, .device = "cpu", .tolerance = tolerance};
        if (tolerance) what.settings.paths.reset();
        run_options with;
        with.overrides = what.settings;
        const difference_results whole = differences(by, trades, in, *what.differences, with);
        const std::string text = files_of(whole);
        EXPECT_TRUE(tests::has(text, "Risk_IRVol") && tests::has(text, "Risk_EquityVol")) << text;
        for (const std::size_t count : counts) {
            const tests::own_folder folder;
            shards::plan(by, what, count, folder.path(), INFINITY);
            std::filesystem::path at = folder.path();
            std::optional<difference_results> merged;
            for (rounds = 0; !at.empty(); ++rounds) {
                const shards all = shards::open(at);
                for (std::size_t number = all.count(); number > 0; --number) all.run(by, number);
                merged = all.merge_differences(by);
                EXPECT_THROW(all.merge(by), error);
                at = all.next_folder();
            }
            EXPECT_EQ(files_of(*merged), text) << count << (tolerance ? " to a tolerance" : "");
            EXPECT_EQ(merged->values.manifest.settings.tolerance, what.settings.tolerance);
            EXPECT_EQ(merged->values.manifest.paths, whole.values.manifest.paths);
        }
    }
    EXPECT_GE(rounds, 2) << "the first one misses the tolerance";
}

class differences_of_a_command : public tests::command_test {
  protected:
    void put_inputs(const std::string& simm) const {
        put("market.yaml", market_text + simm);
        put("book.yaml", "market: market.yaml\n" + book_text);
    }
};

TEST_F(differences_of_a_command, are_in_its_folder) {
    put_inputs(simm_text);
    tests::arguments greeks{"greeks", "book.yaml", "--trade", "one", "--files", "made", "-o", "greeks.csv"};
    expect(greeks, 0, "");
    std::set<std::string> names, wanted;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "made"))
        names.insert(entry.path().filename().string());
    for (const difference_report& report : difference_reports()) wanted.emplace(report.file);
    EXPECT_EQ(names, wanted);
    EXPECT_TRUE(tests::has(tests::text_of(folder / "made/crif.csv"), "one,All,Equity,Risk_Equity,"));
    // A market without `simm:` writes no crif.csv. A file of an earlier run would pass for this run's.
    put_inputs("");
    expect(greeks, 2, "crif.csv: --files: found a file of an earlier run");
    greeks[5] = "other";
    expect(greeks, 0, "the market has no 'simm', so there is no crif.csv");
    EXPECT_FALSE(std::filesystem::exists(folder / "other/crif.csv"));
    EXPECT_TRUE(std::filesystem::exists(folder / "other/sensitivity.csv"));

    expect({"price", "book.yaml", "--files", "values", "-o", "prices.csv"}, 0, "");
    std::string values = tests::text_of(folder / "values/npv.csv");
    EXPECT_EQ(std::ranges::count(values, '\n'), 5) << values;
    EXPECT_TRUE(tests::has(values, "\nput,european,2027-01-15,1.000000,")) << values;
    EXPECT_TRUE(tests::has(values, ",EUR,#N/A,#N/A,#N/A,p,\n")) << values;
    expect({"price", "book.yaml", "--files", "by_two", "--workers", "2", "-o", "two.csv"}, 0, "");
    EXPECT_EQ(tests::text_of(folder / "by_two/npv.csv"), values);
}

TEST_F(differences_of_a_command, are_told_where_they_have_no_value) {
    std::string moved = rate_market(rate_volatilities);
    moved.replace(moved.find("volatility: ", moved.find("hull_white: {mean_reversion")), 17,
                  "volatility: 0.010");
    put("market.yaml", moved);
    put("book.yaml", "market: market.yaml\n" + rate_book);
    const tests::arguments greeks{"greeks",   "book.yaml", "--trade", "one",  "--paths", "2048",
                                  "--greeks", "delta",     "--files", "made", "-o",      "greeks.csv"};
    const tests::finished got = run(greeks);
    EXPECT_EQ(got.code, 3) << tests::shown(greeks, got);
    const std::string told = got.err.substr(
        std::min(got.err.find("tilewalk: --files: 1 difference has no value:\n"), got.err.size()));
    EXPECT_TRUE(tests::has(told, ":\nvolatilities that rate models are fitted to: "))
        << tests::shown(greeks, got);
    EXPECT_EQ(std::ranges::count(told, '\n'), 2) << tests::shown(greeks, got);
}

TEST_F(differences_of_a_command, are_those_of_shards) {
    put_inputs(simm_text);
    expect({"greeks", "book.yaml", "--greeks", "cross_gamma", "--files", "at_once", "-o", "greeks.csv"}, 0,
           "");
    expect({"plan", "book.yaml", "--with-differences", "--cross-gamma", "--shards", "2", "-o", "night"}, 0,
           "");
    for (const char* const shard : {"1/2", "2/2"}) expect({"run", "night", "--shard", shard}, 0, "");
    expect({"merge", "night", "-o", "prices.csv"}, 2, "add --files DIR");
    expect({"merge", "night", "--files", "merged", "-o", "prices.csv"}, 0, "");
    for (const difference_report& report : difference_reports())
        EXPECT_EQ(tests::text_of(folder / "merged" / report.file),
                  tests::text_of(folder / "at_once" / report.file))
            << report.file;
    expect({"plan", "book.yaml", "--vanna", "--shards", "2", "-o", "no"}, 2, "--with-differences");
    expect({"plan", "book.yaml", "--with-greeks", "--shards", "2", "-o", "greeks"}, 0, "");
    for (const char* const shard : {"1/2", "2/2"}) expect({"run", "greeks", "--shard", shard}, 0, "");
    expect({"merge", "greeks", "--files", "other", "-o", "prices.csv"}, 2, "plan with --with-differences");
    put_inputs("");
    expect({"plan", "book.yaml", "--with-differences", "--shards", "1", "-o", "plain"}, 0, "");
    expect({"run", "plain", "--shard", "1/1"}, 0, "");
    expect({"merge", "plain", "--files", "merged", "-o", "prices.csv"}, 2,
           "crif.csv: --files: found a file of an earlier run");
    expect({"merge", "plain", "--files", "fresh", "-o", "prices.csv"}, 0, "so there is no crif.csv");
}

TEST(differences_simm_of_a_market, is_refused_where_it_is_wrong) {
    const auto refusal = [](const std::string& simm) -> std::string {
        try {
            market::parse(market_text + simm, "market.yaml");
        } catch (const error& e) {
            return e.what();
        }
        return "not refused";
    };
    const std::string head = "simm:\n  currency: USD\n";
    for (const auto& [simm, said] : std::vector<std::pair<std::string, std::string>>{
             {"simm: USD\n", "market.yaml:12:7: simm: "},
             {"simm: {ACME: {qualifier: X, bucket: 7}}\n", "market.yaml:12:7: simm: "},
             {"simm: {currency: USF}\n", "unknown currency 'USF'; did you mean 'USD'?"},
             {"simm: {currency: [USD]}\n", "expected a currency"},
             {head + "  ACMEE: {qualifier: X, bucket: 7}\n",
              "market.yaml:14:3: simm.ACMEE: unknown asset 'ACMEE'; did you mean 'ACME'?"},
             {head + "  ACME: {qualifier: X, bucket: 13}\n", "1 to 12 or Residual"},
             {head + "  ACME: {qualifier: X, bucket: residual}\n", "1 to 12 or Residual"},
             {head + "  ACME: {qualifier: \"a,b\", bucket: 7}\n", "without spaces, commas"},
             {head + "  ACME: {qualifier: \"\", bucket: 7}\n", "1 to 64 visible"},
             {head + "  ACME: {qualifer: X, bucket: 7}\n", "did you mean 'qualifier'"},
             {head + "  ACME: {qualifier: X}\n", "'bucket'"},
             {head + "  ACME: 7\n", "market.yaml:14:9: simm.ACME: "},
             {head + "  ACME: {fx: USD}\n",
              "found 'USD', expected the other currency of the exchange rate to USD that the asset is, such "
              "as EUR"},
             {head + "  BETA: {fx: Euro}\n", "such as USD"},
             {head + "  ACME: {fx: [EUR]}\n", "market.yaml:14:14: simm.ACME.fx: "},
             {head + "  ACME: {fx: EUR, bucket: 7}\n", "bucket"}})
        EXPECT_TRUE(tests::has(refusal(simm), said)) << simm << "said: " << refusal(simm);
}

TEST(differences_simm_of_a_market, has_every_asset_that_a_trade_depends_on) {
    const std::string some = "simm:\n  currency: USD\n  ACME: {qualifier: X, bucket: 7}\n";
    const market in = market::parse(market_text + some, "market.yaml");
    const book trades = book::parse(book_text);
    EXPECT_EQ(differences(engine(), trades.only({"one"}), in).failures.size(), 0U);
    try {
        differences(engine(), trades, in);
        FAIL() << "an asset without a qualifier passed";
    } catch (const error& e) {
        EXPECT_TRUE(tests::has(e.what(),
                               "market.yaml:13:3: simm: simm has no entry for the asset 'BETA', on "
                               "which the trade 'put' depends"))
            << e.what();
    }
}

}  // namespace
}  // namespace tilewalk::differences_test
