// SPDX-License-Identifier: Apache-2.0
// Gains in scenarios: against Black's formula and differences of price(), with correct standard errors;
// tails; failures confined to one trade in one scenario.
#include "tests/named_choice.h"
#include "tilewalk/scenarios.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "engine/numerics/black.h"
#include "engine/walk/units.h"
#include "tests/on_a_gpu.h"
#include "tests/plain_paths.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::gains_test {
namespace {

constexpr const char* market_text = R"(
as_of: 2026-01-15
currencies: {USD: {rate: 0.03}, EUR: {rate: 0.02}}
fx: {EURUSD: {rate: 1.10, volatility: 0.08}}
assets:
  ACME: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: 0.2}
  BETA: {currency: USD, spot: 50, volatility: 0.3}
  GAMMA: {currency: EUR, spot: 65, volatility: 0.25}
)";

book book_of(const std::string& trades) {
    return book::parse("trades:\n" + trades, "b");
}

market in() {
    return market::parse(market_text);
}

scenario moved(const std::string& name, std::vector<market_change> changes,
               const std::string& set = "history") {
    return {set, name, std::move(changes)};
}

market_change to(const std::string& key, double amount) {
    return {key, amount, market_change::way::set};
}

scenario_list spots(const std::vector<double>& levels) {
    scenario_list out;
    for (const double s : levels)
        out.scenarios.push_back(moved("spot " + std::to_string(s), {to("ACME.spot", s)}));
    out.likely_sets = {"history"};
    return out;
}

run_options with_paths(std::uint64_t paths, const std::string& random = "philox") {
    run_options out = tests::plain_paths();
    out.overrides.paths = paths;
    out.overrides.random = random;
    return out;
}

std::string why(const scenario_results& r) {
    for (const price_row& row : r.base.rows)
        if (row.status == trade_status::failed) return row.trade + ": " + row.message;
    return r.failures.empty() ? "" : r.failures.front().message;
}

double black_call(double spot, double strike, double volatility, double years) {
    const double forward = spot * std::exp((0.03 - 0.01) * years);
    return std::exp(-0.03 * years) *
           black_price(analytics::right::call, forward, strike, volatility * std::sqrt(years));
}

constexpr const char* call =
    "  - {id: call, product: european, underlying: ACME, strike: 100, maturity: 1.0, quantity: 10}\n";

// 12 scenarios by two sources: one of 24 independent gains is over 4.5 errors off once in 6,000 times.
TEST(gains, gains_of_a_european_are_those_of_blacks_formula) {
    const std::vector<double> levels{60, 80, 90, 95, 99, 100, 101, 105, 110, 120, 140, 200};
    for (const char* random : {"philox", "sobol"}) {
        const scenario_results r =
            engine().scenarios(book_of(call), in(), spots(levels), with_paths(65536, random));
        ASSERT_EQ(r.failed(), 0U) << why(r);
        for (std::size_t s = 0; s < levels.size(); ++s) {
            const double truth = 10 * (black_call(levels[s], 100, 0.2, 1) - black_call(100, 100, 0.2, 1));
            EXPECT_LE(std::abs(r.gain(s, 0) - truth), 4.5 * r.error_of_gain(s, 0) + 1e-9)
                << random << " " << levels[s];
        }
        EXPECT_EQ(r.gain(5, 0), 0);
        EXPECT_EQ(r.error_of_gain(5, 0), 0);
    }
}

// If both prices had independent errors, the error of their difference would exceed the price's own.
TEST(gains, common_random_numbers_make_the_error_of_a_small_gain_small) {
    const scenario_results r = engine().scenarios(book_of(call), in(), spots({101}), with_paths(65536));
    EXPECT_LT(r.error_of_gain(0, 0), 0.06 * r.base.rows[0].value_error());
    EXPECT_GT(r.error_of_gain(0, 0), 0);
}

const std::vector<const char*>& kinds() {
    static const std::vector<const char*> all{
        "  - {id: call, product: european, underlying: ACME, strike: 100, maturity: 1.0}\n",
        "  - {id: asian, product: asian, underlying: BETA, strike: 50, averaging_dates: [0.25, 0.5, 0.75, "
        "1.0], quantity: -3}\n",
        "  - {id: digital, product: digital, underlying: GAMMA, strike: 65, payout: 10, maturity: 1.0, "
        "quantity: 2}\n",
        "  - {id: put, product: american, option: put, underlying: ACME, strike: 105, maturity: 0.5}\n"};
    return all;
}

std::string all_kinds() {
    std::string out;
    for (const char* k : kinds()) out += k;
    return out;
}

// No pilots (`philox`), pilots that choose the construction (`sobol`), and the source as well (`auto`).
TEST(gains, gains_are_differences_of_prices_in_several_markets) {
    const market base = in();
    scenario_list asked;
    asked.scenarios = {moved("up", {to("ACME.spot", 103), to("BETA.spot", 52)}),
                       moved("vol", {to("BETA.volatility", 0.35)}),
                       moved("all", {to("ACME.spot", 90), to("GAMMA.spot", 60), to("USD.rate", 0.04)})};
    const book trades = book_of(all_kinds());
    for (const char* random : {"philox", "sobol", "auto"}) {
        run_options with = with_paths(16384, random);
        const scenario_results r = engine().scenarios(trades, base, asked, with);
        ASSERT_EQ(r.failed(), 0U) << why(r);
        std::vector<market> all{base};
        for (const scenario& s : asked.scenarios) all.push_back(base.changed(s.changes));
        const std::vector<results> priced = engine().price(trades, all, with);
        for (std::size_t s = 0; s < asked.scenarios.size(); ++s) {
            for (std::size_t i = 0; i < trades.size(); ++i) {
                const price_row &then = priced[s + 1].rows[i], &now = priced[0].rows[i];
                if (now.early) continue;  // price() of several markets trains a policy in each
                EXPECT_EQ(r.gain(s, i), then.value() - now.value()) << random << " " << now.trade;
                std::vector<double> means;
                for (std::size_t p = 0; p < then.part_means.size(); ++p)
                    means.push_back(now.quantity * then.part_means[p] - now.quantity * now.part_means[p]);
                if (r.gain(s, i) == 0) continue;
                const double shown = run::error_of_parts(means, priced[0].manifest.part_paths, 16384);
                const std::string where = now.trade + " by " + random + " in " + asked.scenarios[s].name;
                // Over points, the gain's error may exceed that of the parts, which may miss part of a jump.
                if (std::string(random) == "philox")
                    EXPECT_DOUBLE_EQ(r.error_of_gain(s, i), shown) << where;
                else
                    EXPECT_GE(r.error_of_gain(s, i), shown * (1 - 1e-12)) << where;
            }
        }
        EXPECT_EQ(r.base.rows[0].price, priced[0].rows[0].price);
    }
}

// A trade on an asset that stands still is not walked again: its gain is exactly 0 without an error.
TEST(gains, trades_that_nothing_moves_gain_nothing) {
    scenario_list asked;
    asked.scenarios = {moved("up", {to("ACME.spot", 103)})};
    const run_options with = with_paths(16384);
    const scenario_results r = engine().scenarios(book_of(all_kinds()), in(), asked, with);
    EXPECT_NE(r.gain(0, 0), 0);
    for (const std::size_t still : {std::size_t{1}, std::size_t{2}}) {
        EXPECT_EQ(r.gain(0, still), 0);
        EXPECT_EQ(r.error_of_gain(0, still), 0);
    }
    // The base market walks four trades, and the scenario the two of ACME.
    const scenario_results base = engine().scenarios(book_of(all_kinds()), in(), {}, with);
    const scenario_results one = engine().scenarios(book_of(kinds()[0]), in(), {}, with);
    const scenario_results put = engine().scenarios(book_of(kinds()[3]), in(), {}, with);
    const std::uint64_t of_one = one.base.manifest.path_steps;
    EXPECT_GE(r.base.manifest.path_steps, base.base.manifest.path_steps + of_one);
    EXPECT_LE(r.base.manifest.path_steps,
              base.base.manifest.path_steps + of_one + put.base.manifest.path_steps);
}

// Over 300 seeds: the mean of z squared (z is the error over the stated error) has the variance 2 / 300 for
// normal numbers, and is beyond 1 +- 0.3 once in 8,000 times.
TEST(gains, errors_of_gains_have_the_right_size) {
    const std::vector<double> levels{80, 99, 104};
    std::vector<double> squares(levels.size(), 0.0);
    constexpr int seeds = 300;
    const book trades = book_of(call);
    for (int seed = 1; seed <= seeds; ++seed) {
        run_options with = with_paths(4096);
        with.overrides.seed = static_cast<std::uint64_t>(seed);
        const scenario_results r = engine().scenarios(trades, in(), spots(levels), with);
        for (std::size_t s = 0; s < levels.size(); ++s) {
            const double truth = 10 * (black_call(levels[s], 100, 0.2, 1) - black_call(100, 100, 0.2, 1));
            squares[s] += std::pow((r.gain(s, 0) - truth) / r.error_of_gain(s, 0), 2) / seeds;
        }
    }
    for (const double mean : squares) EXPECT_NEAR(mean, 1, 0.4);
}

// For a small move, a control that moves with the market leaves almost no error in the gain, far less than
// points alone. A large move takes points without a control, so its error is the same as without controls.
TEST(gains, controls_serve_small_ones) {
    run_options with;
    with.overrides.paths = 16384;
    const std::vector<double> levels{90, 99.6, 100.3, 110};
    const scenario_results r = engine().scenarios(book_of(call), in(), spots(levels), with);
    const scenario_results plain =
        engine().scenarios(book_of(call), in(), spots(levels), with_paths(16384, "auto"));
    for (std::size_t s = 0; s < levels.size(); ++s) {
        const double truth = 10 * (black_call(levels[s], 100, 0.2, 1) - black_call(100, 100, 0.2, 1));
        EXPECT_LE(std::abs(r.gain(s, 0) - truth), 4.5 * r.error_of_gain(s, 0) + 1e-7) << levels[s];
        if (std::abs(levels[s] - 100) < 1) {
            EXPECT_LT(r.error_of_gain(s, 0), 0.5 * plain.error_of_gain(s, 0)) << levels[s];
        } else {
            EXPECT_EQ(r.error_of_gain(s, 0), plain.error_of_gain(s, 0)) << levels[s];
        }
    }
}

// Moves add up by squares: two of 0.6 of the limit for small moves make 0.85, two of 0.9 make 1.27.
TEST(gains, of_two_small_moves_may_be_large) {
    const auto both = [](const std::string& name, double part) {
        return moved(name, {to("ACME.spot", 100 + part), to("ACME.volatility", 0.2 + 0.01 * part)});
    };
    scenario_list asked;
    asked.scenarios = {both("small", 0.6), both("large", 0.9)};
    run_options with;
    with.overrides.paths = 16384;
    const scenario_results r = engine().scenarios(book_of(call), in(), asked, with);
    const scenario_results plain = engine().scenarios(book_of(call), in(), asked, with_paths(16384, "auto"));
    EXPECT_LT(r.error_of_gain(0, 0), 0.5 * plain.error_of_gain(0, 0));
    EXPECT_EQ(r.error_of_gain(1, 0), plain.error_of_gain(1, 0));
}

// A forward's control leaves only rounding, which parts do not show: the gain's error is that of both prices.
TEST(gains, of_prices_known_to_rounding_err_by_both) {
    scenario_list asked;
    asked.scenarios = {moved("up", {to("ACME.spot", 100.4)})};
    run_options with;
    with.overrides.paths = 16384;
    const book trades = book_of(
        "  - {id: forward, product: european, underlying: ACME, strike: 1e-9, maturity: 1.0, quantity: "
        "-3}\n");
    const scenario_results r = engine().scenarios(trades, in(), asked, with);
    ASSERT_EQ(r.failed(), 0U) << why(r);
    const double
        now = engine().price(trades, in(), with).rows[0].value_error(),
        then = engine().price(trades, in().changed(asked.scenarios[0].changes), with).rows[0].value_error();
    ASSERT_GT(std::min(now, then), 0);
    ASSERT_LT(std::max(now, then), 1e-9);
    EXPECT_NEAR(r.error_of_gain(0, 0), std::hypot(then, now), 0.01 * now);
}

TEST(gains, a_failure_stays_in_its_cell) {
    scenario_list asked;
    asked.scenarios = {moved("up", {to("ACME.spot", 103)}), moved("no market", {to("ACME.volatility", -0.1)}),
                       moved("down", {to("ACME.spot", 97)})};
    const std::string bad = "  - {id: bad, product: european, underlying: NOBODY, strike: 1, maturity: 1}\n";
    const scenario_results r = engine().scenarios(book_of(call + bad), in(), asked, with_paths(4096));
    EXPECT_EQ(r.base.failed(), 1U);
    ASSERT_EQ(r.failures.size(), 1U);
    EXPECT_EQ(r.failures[0].scenario, 1U);
    EXPECT_EQ(r.failures[0].trade, 0U);
    EXPECT_NE(r.failures[0].message.find("ACME.volatility"), std::string::npos) << r.failures[0].message;
    EXPECT_FALSE(is_figure(r.gain(1, 0)));
    EXPECT_TRUE(is_figure(r.gain(0, 0)));
    EXPECT_TRUE(is_figure(r.gain(2, 0)));
    EXPECT_EQ(r.totals.at(0).failed, (std::vector<std::size_t>{0, 1, 0}));
    EXPECT_FALSE(is_figure(r.totals.at(0).gains[1]));
}

TEST(gains, a_scenario_that_is_no_market_is_in_no_tail) {
    scenario_list asked = spots({90, 95, 99, 101, 105});
    asked.scenarios.push_back(moved("no market", {to("ACME.volatility", -0.1)}));
    const scenario_results r = engine().scenarios(book_of(call), in(), asked, with_paths(16384));
    ASSERT_EQ(r.risks.size(), 1U);
    EXPECT_EQ(r.risks[0].scenarios, 5U);
    EXPECT_TRUE(r.risks[0].left_out.empty());
    EXPECT_EQ(r.risks[0].tails[0].quantile.value, r.gain(0, 0));
    ASSERT_EQ(r.remarks.size(), 1U);
    EXPECT_NE(r.remarks[0].find("1 of 6 scenarios of 'history' give no valid market"), std::string::npos)
        << r.remarks[0];
}

TEST(gains, totals_are_by_portfolio_and_currency) {
    const std::string trades =
        "  - {id: a, product: european, underlying: ACME, strike: 100, maturity: 1.0, portfolio: one}\n"
        "  - {id: b, product: european, underlying: BETA, strike: 50, maturity: 1.0, portfolio: two}\n"
        "  - {id: c, product: european, underlying: GAMMA, strike: 65, maturity: 1.0, portfolio: two}\n";
    scenario_list asked;
    asked.scenarios = {moved("all", {to("ACME.spot", 90), to("BETA.spot", 52), to("GAMMA.spot", 60)}),
                       moved("euro", {to("EURUSD.rate", 1.2)})};
    asked.currency = "USD";
    const scenario_results r = engine().scenarios(book_of(trades), in(), asked, with_paths(16384));
    ASSERT_EQ(r.failed(), 0U) << why(r);
    const auto total = [&](const std::string& portfolio, const std::string& currency, bool is_converted) {
        for (const portfolio_gains& t : r.totals)
            if (t.portfolio == portfolio && t.currency == currency && t.is_converted == is_converted)
                return t;
        ADD_FAILURE() << portfolio << " " << currency;
        return portfolio_gains{};
    };
    EXPECT_DOUBLE_EQ(total("", "USD", false).gains[0], r.gain(0, 0) + r.gain(0, 1));
    EXPECT_DOUBLE_EQ(total("two", "EUR", false).gains[0], r.gain(0, 2));
    EXPECT_DOUBLE_EQ(total("two", "USD", true).gains[0], r.gain(0, 1) + 1.10 * r.gain(0, 2));
    EXPECT_DOUBLE_EQ(total("", "USD", true).gains[1], (1.2 - 1.1) * r.base.rows[2].value());
    EXPECT_EQ(total("one", "USD", false).trades, std::vector<std::size_t>{0});
    // Uncorrelated assets have independent numbers: errors add up by squares, nearly so on one run's paths.
    const portfolio_gains both = total("", "USD", false);
    EXPECT_NEAR(both.errors[0], std::hypot(r.error_of_gain(0, 0), r.error_of_gain(0, 1)),
                0.3 * both.errors[0]);
}

TEST(gains, value_at_risk_of_a_delta_one_book_is_the_quantile_of_its_factor) {
    std::vector<double> levels;
    for (int k = 0; k < 500; ++k) levels.push_back(100 + 10 * std::sin(1.7 * k + 0.1 * k * k));
    scenario_list asked = spots(levels);
    asked.levels = {0.01, 0.05};
    const std::string trades =
        "  - {id: stock, product: european, underlying: ACME, strike: 0, maturity: 0.001}\n";
    const scenario_results r = engine().scenarios(book_of(trades), in(), asked, with_paths(4096));
    ASSERT_EQ(r.failed(), 0U) << why(r);
    ASSERT_EQ(r.risks.size(), 1U);
    std::vector<double> gains;
    for (const double s : levels) gains.push_back(s - 100);
    std::ranges::sort(gains);
    const std::vector<tail>& tails = r.risks[0].tails;
    ASSERT_EQ(tails.size(), 2U);
    for (const tail& t : tails) {
        const auto place = static_cast<std::size_t>(std::floor(t.level * 500 + 1e-9));
        EXPECT_NEAR(t.quantile.value, gains[place], 0.01 * std::abs(gains[place]) + 4.5 * t.quantile.noise)
            << t.level;
    }
}

TEST(gains, components_add_up_to_the_value_at_risk) {
    std::vector<double> levels;
    for (int k = 0; k < 200; ++k) levels.push_back(100 + 8 * std::sin(1.7 * k + 0.1 * k * k));
    std::string trades;
    for (int k = 0; k < 6; ++k)
        trades += "  - {id: t" + std::to_string(k) +
                  ", product: european, underlying: ACME, strike: " + std::to_string(80 + 8 * k) +
                  ", maturity: 1.0, quantity: " + std::to_string(k % 2 ? -2 : 1) + "}\n";
    const scenario_results r = engine().scenarios(book_of(trades), in(), spots(levels), with_paths(4096));
    ASSERT_EQ(r.risks.size(), 1U);
    for (const tail& t : r.risks[0].tails) {
        double quantile = 0, shortfall = 0;
        for (const trade_in_tail& s : r.risks[0].shares) {
            if (s.level != t.level) continue;
            quantile += s.component_quantile;
            shortfall += s.component_shortfall;
        }
        EXPECT_NEAR(quantile, t.quantile.value, 1e-12 * std::abs(t.quantile.value));
        EXPECT_NEAR(shortfall, t.shortfall.value, 1e-12 * std::abs(t.shortfall.value));
    }
}

// Sensitivities explain a small move but for its third order, which is next to nothing.
TEST(gains, sensitivities_explain_small_moves) {
    scenario_list asked;
    asked.explains = true;
    asked.scenarios = {moved("both", {to("ACME.spot", 101), to("ACME.volatility", 0.205)}), moved("day", {}),
                       moved("rate", {to("USD.rate", 0.031)})};
    asked.scenarios[1].days = 1;
    run_options with;
    with.overrides.paths = 65536;
    const scenario_results r = engine().scenarios(book_of(call), in(), asked, with);
    ASSERT_EQ(r.failed(), 0U) << why(r);
    ASSERT_EQ(r.explained.size(), 3U);
    for (const explained_gain& e : r.explained) {
        EXPECT_NE(e.gain, 0);
        EXPECT_LT(std::abs(e.left), 0.01 * std::abs(e.gain) + 4.5 * e.error) << e.scenario;
        double sum = e.left;
        for (const double m : e.by_measure) sum += m;
        EXPECT_NEAR(sum, e.gain, 1e-12 * std::abs(e.gain));
    }
    EXPECT_NE(std::ranges::find(r.measures, "gamma"), r.measures.end());
    EXPECT_NE(std::ranges::find(r.measures, "theta"), r.measures.end());
}

// Volga explains a mean move of volatilities times a linear function of each: nothing of a twist of mean 0.
TEST(gains, volga_explains_what_volatilities_do_together) {
    const market pillars = market::parse(R"(
as_of: 2026-01-15
currencies: {USD: {rate: 0.03}}
assets: {ACME: {currency: USD, spot: 100, volatility: {0.5: 0.2, 1.5: 0.2}}}
)");
    const auto both = [](const std::string& name, double first, double second) {
        return moved(name, {{"ACME.volatility@0.5y", first}, {"ACME.volatility@1.5y", second}});
    };
    scenario_list asked;
    asked.explains = true;
    asked.scenarios = {both("parallel", 0.02, 0.02), both("twist", 0.02, -0.02), both("first", 0.04, 0),
                       both("second", 0, -0.02), both("all", 0.04, -0.02)};
    run_options with;
    with.overrides.paths = 16384;
    const scenario_results r = engine().scenarios(
        book_of("  - {id: call, product: european, underlying: ACME, strike: 130, maturity: 1.0}\n"), pillars,
        asked, with);
    ASSERT_EQ(r.failed(), 0U) << why(r);
    ASSERT_EQ(r.explained.size(), 5U);
    const auto volga = std::ranges::find(r.measures, "volga") - r.measures.begin();
    std::vector<double> parts;
    for (const explained_gain& e : r.explained)
        parts.push_back(e.by_measure.at(static_cast<std::size_t>(volga)));
    EXPECT_LT(std::abs(r.explained[0].left), 0.1 * parts[0] + 4.5 * r.explained[0].error);
    EXPECT_GT(parts[0], 4.5 * r.explained[0].error);
    EXPECT_NEAR(parts[1], 0, 1e-12 * parts[0]);
    EXPECT_NEAR(parts[4], parts[2] / 2 - parts[3], 1e-12 * parts[0]);
}

TEST(gains, a_day_that_passes_is_worth_what_black_says) {
    scenario_list asked;
    asked.scenarios = {moved("month", {})};
    asked.scenarios[0].days = 30;
    for (const bool has_controls : {false, true}) {
        run_options with = with_paths(65536);
        if (has_controls) with.overrides.controls = technique::automatic;
        const scenario_results r = engine().scenarios(book_of(call), in(), asked, with);
        ASSERT_EQ(r.failed(), 0U) << why(r);
        const double truth = 10 * (black_call(100, 100, 0.2, 1 - 30.0 / 365) - black_call(100, 100, 0.2, 1));
        EXPECT_LE(std::abs(r.gain(0, 0) - truth), 4.5 * r.error_of_gain(0, 0)) << truth;
        EXPECT_LT(r.error_of_gain(0, 0), 0.2);
    }
}

TEST(gains, of_too_few_parts_say_how_many_paths_would_do) {
    const book b = book_of(
        "  - {id: call, product: european, underlying: ACME, strike: 100, maturity: 1, quantity: 1000}\n");
    const scenario_results few = engine().scenarios(b, in(), spots({90}), with_paths(1024));
    EXPECT_FALSE(is_figure(few.error_of_gain(0, 0)));
    ASSERT_EQ(few.remarks.size(), 1u);
    EXPECT_EQ(
        few.remarks[0],
        "no standard errors: 1024 paths make 4 parts of the run, and an error needs 16; use 4096 paths");
    std::ostringstream table, json;
    write(table, few, output_format::table);
    EXPECT_TRUE(table.str().ends_with("\n" + few.remarks[0] + "\n")) << table.str();
    EXPECT_NE(table.str().find("e3"), std::string::npos) << "three digits\n" << table.str();
    write(json, few, output_format::json);
    EXPECT_NE(json.str().find("\"remarks\": [\"" + few.remarks[0] + "\"]"), std::string::npos);
    const scenario_results enough = engine().scenarios(b, in(), spots({90}), with_paths(4096));
    EXPECT_TRUE(is_figure(enough.error_of_gain(0, 0)));
    EXPECT_TRUE(enough.remarks.empty());
}

TEST(gains, of_short_trades_that_nothing_moves_have_no_sign) {
    const book b = book_of(
        "  - {id: short, product: european, underlying: BETA, strike: 50, maturity: 1, quantity: -1}\n");
    const scenario_results r = engine().scenarios(b, in(), spots({90}), with_paths(4096));
    EXPECT_EQ(r.gain(0, 0), 0);
    EXPECT_FALSE(std::signbit(r.gain(0, 0)));
}

std::string text_of(const scenario_results& r) {
    std::ostringstream out;
    write(out, r, output_format::csv);
    for (const portfolio_gains& t : r.totals)
        for (std::size_t s = 0; s < t.gains.size(); ++s) out << t.gains[s] << " " << t.errors[s] << "\n";
    return out.str();
}

class gains_on_gpu : public tests::on_a_gpu {};

// A run of few tiles is tallied by quarter tiles, one of more by whole tiles. Trade `put` can be ended early.
TEST_F(gains_on_gpu, have_the_bits_of_a_cpu) {
    scenario_list asked = spots({90, 99.5, 101, 120});
    asked.scenarios.push_back(
        moved("all", {to("ACME.volatility", 0.25), to("BETA.spot", 52), to("USD.rate", 0.031)}));
    asked.scenarios.push_back(moved("day", {to("BETA.spot", 51)}));
    asked.scenarios.back().days = 1;
    for (const std::uint64_t paths : {std::uint64_t{4096}, std::uint64_t{16384}}) {
        for (const char* controls : {"none", "auto"}) {
            run_options with = with_paths(paths, "auto");
            with.overrides.controls = tests::named{controls};
            with.overrides.device = "cpu";
            const std::string on_cpu = text_of(engine().scenarios(book_of(all_kinds()), in(), asked, with));
            with.overrides.device = "0";
            const std::string on_gpu = text_of(engine().scenarios(book_of(all_kinds()), in(), asked, with));
            std::istringstream a(on_cpu), b(on_gpu);
            int lines = 0, others = 0;
            for (std::string here, there; std::getline(a, here) && std::getline(b, there); ++lines)
                if (here != there && ++others <= 5)
                    ADD_FAILURE() << paths << ", controls " << controls << "\n" << here << "\n" << there;
            EXPECT_GT(lines, 24);
            EXPECT_EQ(on_cpu.size(), on_gpu.size());
        }
    }
}

}  // namespace
}  // namespace tilewalk::gains_test
