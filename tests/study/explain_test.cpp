// SPDX-License-Identifier: Apache-2.0
// The page of `explain`: terms as the trade understands them; forwards, discount factors and volatilities
// against sums by hand and prices.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/market_text.h"
#include "tests/plain_paths.h"
#include "tilewalk/engine.h"
#include "tilewalk/write.h"

namespace tilewalk::explain_test {
namespace {

using tests::product_in_words;

constexpr double z_limit = 4.5;  // one false alarm in 150,000 per comparison

const std::string market_text = R"(
as_of: 2026-01-15
currencies:
  USD: {zero_rates: {1.0: 0.03, 2.0: 0.04}}
  EUR: {rate: 0.01}
  AUD: {zero_rates: {1.0: 0.036, 5.0: 0.04}, model: {hull_white: {mean_reversion: 0.03, volatility: {1.0: 0.009, 30.0: 0.008}}}}
assets:
  ACME: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: {1.0: 0.2, 2.0: 0.25}}
  EURO: {currency: EUR, spot: 50, volatility: 0.3}
  CASH: {currency: USD, spot: 80, volatility: 0.2, dividends: [{date: 0.5, amount: 2}, {date: 0.75, proportion: 0.01}, {date: 1.5, amount: 3}]}
  FALLS: {currency: USD, spot: 80, volatility: 0.2, dividend_model: spot, dividends: [{date: 0.5, amount: 2}, {date: 0.75, proportion: 0.01}]}
  FALLS_EUR: {currency: EUR, spot: 80, volatility: 0.2, dividend_model: spot, dividends: [{date: 0.5, amount: 12}]}
  KOALA: {currency: AUD, spot: 20, volatility: 0.3}
  LOCAL:
    currency: USD
    spot: 100
    model: {local_volatility: {surface: {by_moneyness: {0.5: {0.8: 0.24, 1.0: 0.2, 1.2: 0.18}, 1.5: {0.8: 0.23, 1.0: 0.21, 1.2: 0.2}}}}}
  HESTON: {currency: USD, spot: 100, model: {heston: {v0: 0.04, kappa: 1.5, theta: {0.5: 0.05, 9.0: 0.07}, sigma: 0.5, rho: -0.7}}}
  BATES: {currency: USD, spot: 100, model: {bates: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.4, rho: -0.6, jump_intensity: 0.5, jump_mean: -0.1, jump_sd: 0.15}}}
  MERTON: {currency: USD, spot: 100, model: {merton: {volatility: {0.5: 0.15, 2.0: 0.2}, jump_intensity: 0.6, jump_mean: -0.1, jump_sd: 0.2}}}
  KOU: {currency: USD, spot: 100, model: {kou: {volatility: 0.16, jump_intensity: 2, p_up: 0.4, eta_up: 20, eta_down: 15}}}
  VG: {currency: USD, spot: 100, model: {variance_gamma: {sigma: 0.2, nu: 0.3, theta: -0.15}}}
  NIG: {currency: USD, spot: 100, model: {nig: {alpha: 15, beta: -5, delta: 0.5}}}
  CGMY: {currency: USD, spot: 100, model: {cgmy: {C: 0.5, G: 8, M: 12, Y: 0.7}}}
  SZ: {currency: USD, spot: 100, model: {schobel_zhu: {vol0: 0.2, kappa: 2, theta: 0.22, sigma: 0.2, rho: -0.5}}}
fx:
  EURUSD: {rate: 1.10, volatility: 0.1}
correlations: [[EURO, EURUSD, -0.4], [FALLS_EUR, EURUSD, 0.5], [KOALA, AUD.rate, 0.1]]
fixings:
  ACME: {2025-12-31: 98}
)";

const std::string own_product =
    "products:\n" + product_in_words("forward", "The price itself.", "underlying: asset, maturity: date",
                                     "on maturity:\n"
                                     "    pay spot(underlying)\n");

market test_market() {
    return market::parse(market_text);
}

book book_of(const std::string& trade) {
    return book::parse("settings: {paths: 65536}\n" + own_product + "trades:\n  - {id: t, " + trade + "}\n");
}

trade_plan plan_of(const std::string& trade) {
    trade_plan made = engine().explain(book_of(trade), test_market()).at(0);
    EXPECT_EQ(made.failure, "") << trade;
    return made;
}

price_row price_of(const std::string& trade, const run_options& options = {}) {
    price_row row = engine().price(book_of(trade), test_market(), options).rows.at(0);
    EXPECT_EQ(row.status, trade_status::priced) << trade << ": " << row.message;
    return row;
}

double black_call(double forward, double strike, double deviation) {
    const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
    const double d1 = std::log(forward / strike) / deviation + deviation / 2;
    return forward * normal(d1) - strike * normal(d1 - deviation);
}

TEST(explain, curves_forwards_and_volatilities_are_those_of_the_market) {
    const trade_plan p =
        plan_of("product: asian, underlying: ACME, strike: 100, averaging_dates: [0.5, 1.0, 1.5, 3.0]");
    ASSERT_EQ(p.years, (std::vector<double>{0.5, 1.0, 1.5, 3.0}));
    ASSERT_EQ(p.currencies.size(), 1U);
    ASSERT_EQ(p.asset_list.size(), 1U);
    // The forward rate is 3 % in the first year and (2 * 4 % - 3 %) after it.
    const std::vector<double> growth{0.015, 0.03, 0.03 + 0.025, 0.03 + 0.05 * 2},
        variance{0.04 * 0.5, 0.04, 0.04 + (0.125 - 0.04) / 2, 0.0625 * 3};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(p.currencies[0].discounts[i], std::exp(-growth[i]), 1e-14) << i;
        EXPECT_NEAR(p.asset_list[0].forwards[i], 100 * std::exp(growth[i] - 0.01 * p.years[i]), 1e-11) << i;
        ASSERT_TRUE(p.asset_list[0].volatilities[i].has_value());
        EXPECT_NEAR(*p.asset_list[0].volatilities[i], std::sqrt(variance[i] / p.years[i]), 1e-14) << i;
    }
    EXPECT_TRUE(p.asset_list[0].quanto_forwards.empty());
    EXPECT_EQ(p.asset_list[0].spot, 100);
    ASSERT_EQ(p.asset_list[0].parameters.size(), 1U);
    EXPECT_EQ(p.asset_list[0].parameters[0].name, "volatility");
    EXPECT_EQ(p.asset_list[0].parameters[0].values, (std::vector<double>{0.2, 0.25}));
    EXPECT_EQ(p.asset_list[0].parameters[0].years, (std::vector<double>{1, 2}));
}

TEST(explain, dividends_are_taken_off_the_forward) {
    const double grown = std::exp(0.03), to_first = std::exp(-0.015);
    for (const std::string name : {"CASH", "FALLS"}) {
        const trade_plan p =
            plan_of("product: european, underlying: " + name + ", strike: 80, maturity: 1.0");
        EXPECT_NEAR(p.asset_list.at(0).forwards.at(0), (80 - 2 * to_first) * grown * 0.99, 1e-11) << name;
        EXPECT_EQ(p.asset_list[0].falls_by_dividends, name == "FALLS");
        ASSERT_EQ(p.asset_list[0].dividends.size(), 2U) << "that of 1.5 years comes later";
        EXPECT_EQ(p.asset_list[0].dividends[0].amount, 2);
        EXPECT_TRUE(p.asset_list[0].dividends[1].is_proportion);
    }
}

TEST(explain, quanto_forwards_are_what_the_paths_have) {
    const double rho_sigma = -0.4 * 0.3 * 0.1;
    const trade_plan p = plan_of("product: forward, underlying: EURO, maturity: 2.0, currency: USD");
    EXPECT_NEAR(p.asset_list.at(0).forwards.at(0), 50 * std::exp(0.02), 1e-12);
    ASSERT_TRUE(p.asset_list[0].quanto_forwards.at(0).has_value());
    EXPECT_NEAR(*p.asset_list[0].quanto_forwards[0], 50 * std::exp(2 * (0.01 - rho_sigma)), 1e-11);
    ASSERT_EQ(p.exchange_rates.size(), 1U);
    EXPECT_EQ(p.exchange_rates[0].pair, "EURUSD");
    EXPECT_NEAR(p.exchange_rates[0].forwards.at(0), 1.1 * std::exp(-0.02 + 0.08), 1e-13);
    EXPECT_NEAR(p.exchange_rates[0].volatilities.at(0), 0.1, 1e-15);
    for (const std::string name : {"EURO", "FALLS_EUR"}) {
        const std::string trade = "product: forward, underlying: " + name + ", maturity: 2.0, currency: USD";
        const trade_plan said = plan_of(trade);
        const price_row row = price_of(trade);
        const double mean = row.price / said.currencies.at(0).discounts.at(0),
                     error = row.standard_error / said.currencies[0].discounts[0];
        EXPECT_LT(std::abs(mean - *said.asset_list[0].quanto_forwards[0]), z_limit * error)
            << name << ": " << mean << " +- " << error;
        // The test would notice a forward without the correlation.
        EXPECT_GT(std::abs(mean - said.asset_list[0].forwards[0]), z_limit * error) << name;
    }
}

// A call at the forward has Black's price from the shown discount factor, forward and volatility, for
// eleven models.
TEST(explain, volatilities_and_forwards_give_the_prices_of_all_models) {
    for (const std::string name :
         {"ACME", "CASH", "LOCAL", "HESTON", "BATES", "MERTON", "KOU", "VG", "NIG", "CGMY", "SZ"}) {
        const std::string terms = "product: european, underlying: " + name + ", maturity: 1.25, strike: ";
        const trade_plan said = plan_of(terms + "100");
        const asset_numbers& a = said.asset_list.at(0);
        ASSERT_TRUE(a.volatilities.at(0).has_value()) << name;
        // CASH has escrowed dividends: only the forward less the dividends to come is lognormal.
        const double shift = name == "CASH" ? 3 * std::exp(-0.0125) : 0, forward = a.forwards.at(0);
        const price_row row = price_of(terms + std::to_string(forward), tests::plain_paths());
        const double truth =
            said.currencies.at(0).discounts.at(0) *
            black_call(forward - shift, forward - shift, *a.volatilities[0] * std::sqrt(1.25));
        EXPECT_LT(std::abs(row.price - truth), z_limit * row.standard_error)
            << name << ": " << row.price << " +- " << row.standard_error << ", by what is shown " << truth;
        // The test would notice a volatility off by a relative 5 %.
        EXPECT_GT(0.05 * truth, z_limit * row.standard_error) << name;
    }
}

TEST(explain, rates_that_move_start_from_their_curve) {
    const trade_plan p = plan_of("product: european, underlying: KOALA, strike: 20, maturity: 1.0");
    ASSERT_EQ(p.currencies.size(), 1U);
    EXPECT_NEAR(p.currencies[0].discounts.at(0), std::exp(-0.036), 1e-14);
    EXPECT_TRUE(p.currencies[0].model.starts_with("hull_white")) << p.currencies[0].model;
    ASSERT_EQ(p.currencies[0].parameters.size(), 2U);
    EXPECT_EQ(p.currencies[0].parameters[0].values, (std::vector<double>{0.03}));
    EXPECT_EQ(p.currencies[0].parameters[1].values, (std::vector<double>{0.009, 0.008}));
    EXPECT_NEAR(p.asset_list.at(0).forwards.at(0), 20 * std::exp(0.036), 1e-12);
    EXPECT_FALSE(p.asset_list[0].volatilities.at(0).has_value())
        << "an option implies more than the asset's own";
    ASSERT_EQ(p.correlations.size(), 1U);
    EXPECT_EQ(p.correlations[0].value, 0.1);
}

TEST(explain, parameters_of_models_are_those_written) {
    const trade_plan p = plan_of("product: european, underlying: HESTON, strike: 100, maturity: 1.0");
    const auto& parameters = p.asset_list.at(0).parameters;
    ASSERT_EQ(parameters.size(), 5U);
    EXPECT_EQ(parameters[0].name, "v0");
    EXPECT_EQ(parameters[0].values, (std::vector<double>{0.04}));
    EXPECT_EQ(parameters[2].name, "theta");
    EXPECT_EQ(parameters[2].years, (std::vector<double>{0.5, 9.0}));
    EXPECT_EQ(parameters[2].values, (std::vector<double>{0.05, 0.07}));
}

const trade_term& term(const trade_plan& p, const std::string& name) {
    for (const trade_term& t : p.terms)
        if (t.name == name) return t;
    throw std::invalid_argument("no term " + name);
}

TEST(explain, terms_are_told_in_the_words_of_the_trade) {
    const trade_plan p = plan_of(
        "quantity: -3, product: barrier, underlying: ACME, strike: 100, direction: down, barrier: 85, "
        "maturity: {date: 2026-07-25, calendar: weekends, roll: following}");
    EXPECT_EQ(p.quantity, -3);
    EXPECT_EQ(term(p, "strike").numbers, (std::vector<double>{100}));
    EXPECT_FALSE(term(p, "strike").is_default);
    EXPECT_EQ(term(p, "kind").values, (std::vector<std::string>{"knock_out"}));
    EXPECT_TRUE(term(p, "kind").is_default);
    // The date is a Saturday and rolls to the Monday after it, 193 days from as_of.
    EXPECT_EQ(term(p, "maturity").values, (std::vector<std::string>{"2026-07-27"}));
    EXPECT_NEAR(term(p, "maturity").numbers.at(0), 193 / 365.0, 1e-15);
    EXPECT_EQ(term(p, "maturity").written, "{date: 2026-07-25, calendar: weekends, roll: following}");

    const trade_plan list = plan_of(
        "product: asian, underlying: ACME, strike: 100, averaging_dates: {start: 2025-12-31, end: "
        "2026-03-31, "
        "every: 1m, include_start: true, calendar: weekends, roll: modified_following}");
    const trade_term& days = term(list, "averaging_dates");
    EXPECT_EQ(days.values,
              (std::vector<std::string>{"2025-12-31", "2026-01-30", "2026-02-27", "2026-03-31"}));
    EXPECT_TRUE(days.is_list);
    EXPECT_NE(days.written.find("every: 1m"), std::string::npos) << days.written;
    EXPECT_EQ(list.years.size(), 3U) << "what is past has no forward";
    EXPECT_EQ(list.year_labels.at(0), "2026-01-30");
}

TEST(explain, json_has_all_of_it) {
    const book two = book::parse(
        "trades:\n  - {id: t, product: european, underlying: EURO, strike: 50, "
        "maturity: 2027-01-15, currency: USD}\n"
        "  - {id: \"b\\\"ad\", product: european, underlying: NOBODY, strike: 50, maturity: 1}\n");
    const auto plans = engine().explain(two, test_market());
    const auto read = nlohmann::json::parse(explanation_json(plans, "2026-01-15"));
    EXPECT_EQ(read.at("format"), "tilewalk-explanation-1");
    const auto& t = read.at("trades").at(0);
    EXPECT_EQ(t.at("terms").at(0).at("name"), "underlying");
    EXPECT_EQ(t.at("dates").at(0), "2027-01-15");
    EXPECT_EQ(t.at("years").at(0).get<double>(), 1.0);
    EXPECT_EQ(t.at("asset_numbers").at(0).at("forwards").at(0).get<double>(),
              plans[0].asset_list[0].forwards[0]);
    EXPECT_EQ(t.at("asset_numbers").at(0).at("quanto_forwards").at(0).get<double>(),
              *plans[0].asset_list[0].quanto_forwards[0]);
    EXPECT_EQ(t.at("exchange_rates").at(0).at("pair"), "EURUSD");
    EXPECT_EQ(t.at("currencies").at(0).at("discount_factors").at(0).get<double>(),
              plans[0].currencies[0].discounts[0]);
    EXPECT_EQ(t.at("correlations").at(0).at("value").get<double>(), -0.4);
    EXPECT_EQ(t.at("correlations").at(0).at("is_stated"), true);
    EXPECT_FALSE(t.contains("program"));
    EXPECT_NE(read.at("trades").at(1).at("failure").get<std::string>().find("NOBODY"), std::string::npos);
    EXPECT_EQ(read.at("trades").at(1).at("trade"), "b\"ad");
    EXPECT_TRUE(nlohmann::json::parse(explanation_json(plans, "2026-01-15", true))
                    .at("trades")
                    .at(0)
                    .contains("program"));
    EXPECT_EQ(nlohmann::json::parse(explanation_json({}, "2026-01-15")).at("trades").size(), 0U);
}

TEST(explain, names_the_jumps_of_a_payoff) {
    const auto places = [](const std::string& trade) {
        std::vector<std::string> out;
        const book one = book::parse("trades:\n  - {id: t, " + trade + "}\n");
        const std::vector<trade_plan> plans = engine().explain(one, market::parse(market_text));
        for (const trade_plan::jump& j : plans.at(0).jumps) {
            EXPECT_NE(j.operation.find(" v"), std::string::npos);
            out.push_back(j.at.substr(0, j.at.find(" (")));
        }
        return out;
    };
    using list = std::vector<std::string>;
    EXPECT_EQ(places("product: european, underlying: ACME, strike: 100, maturity: 1.0"), list{});
    EXPECT_EQ(places("product: european, underlying: HESTON, strike: 100, maturity: 1.0"),
              list(3, "in each step"));
    EXPECT_EQ(places("product: digital, underlying: ACME, strike: 100, maturity: 1.0, payout: 1"),
              list{"on maturity"});
    EXPECT_EQ(
        places("product: autocallable, basket: [ACME, EURO], initial_level: [100, 50], notional: 100, "
               "observations: [0.5, 1.0], coupon: 0.03, call_level: 1.0, protection: 0.7, currency: USD"),
        (list{"on observations", "on observations", "on last(observations)"}));
    const auto read = nlohmann::json::parse(explanation_json(
        engine().explain(book::parse("trades:\n  - {id: t, product: digital, underlying: ACME, strike: 100, "
                                     "maturity: 1.0, payout: 1}\n"),
                         market::parse(market_text)),
        "2026-01-15"));
    ASSERT_EQ(read.at("trades").at(0).at("jumps").size(), 1u);
    EXPECT_TRUE(read.at("trades").at(0).at("jumps").at(0).at("can_be_smoothed").get<bool>());
    EXPECT_TRUE(read.at("trades").at(0).at("jumps").at(0).at("can_be_held_still").get<bool>());
}

// The ranks told are of a policy trained on few paths, or of the policy that the run follows.
TEST(explain, a_right_tells_the_ranks_of_its_functions) {
    const std::string text = market_text;
    const book trades = book::parse(
        "trades:\n  - {id: t, product: american, underlying: ACME, option: put, strike: 100, maturity: 1, "
        "exercise_step: 0.25}\n");
    const market in = market::parse(text);
    run_options options;
    options.overrides.threads = 1;
    const trade_plan plan = engine().explain(trades, in, options).at(0);
    ASSERT_TRUE(plan.decides_by) << plan.failure;
    const trade_plan::decision& by = *plan.decides_by;
    EXPECT_EQ(by.training_paths, 4096u);
    ASSERT_EQ(by.dates.size(), 4u);
    EXPECT_EQ(by.dates[0].label, "0.25y");
    EXPECT_EQ(by.dates[3].years, 1);
    for (const auto& d : by.dates) {
        // Regression drops functions that depend on others. The payment is linear in the price where it is
        // paid, and 0 elsewhere; without it at most seven functions are left.
        EXPECT_GT(d.rank_paid, 3u);
        EXPECT_LT(d.rank_paid, by.functions);
        EXPECT_LE(d.rank_unpaid, 7u);
    }
    options.overrides.training_paths = 20;
    const trade_plan few = engine().explain(trades, in, options).at(0);
    EXPECT_EQ(few.decides_by.value().training_paths, 20u);
    EXPECT_LE(few.decides_by->dates.at(0).rank_paid, 2u) << "eight paths at least for each function";
    const auto json = nlohmann::json::parse(explanation_json({plan}, in.as_of()));
    const auto& told = json["trades"][0]["decides_by"];
    EXPECT_EQ(told["dates"][1]["rank_paid"].get<std::size_t>(), by.dates[1].rank_paid);
    EXPECT_EQ(told["training_paths"].get<std::size_t>(), 4096u);
}

}  // namespace
}  // namespace tilewalk::explain_test
