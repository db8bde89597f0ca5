// SPDX-License-Identifier: Apache-2.0
// Remarks beside a row's figures, on odd trades and markets; errors that no path shows; and the range of a
// trade's payment, which gives the interval if every path pays the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/plan/bounds.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "kernels/draws.h"
#include "tests/market_text.h"
#include "tests/plain_walk.h"
#include "tilewalk/engine.h"
#include "tilewalk/products.h"

namespace tilewalk::remarks_test {
namespace {

using tests::product_in_words;

const std::string market_text = R"(
as_of: 2026-01-15
currencies: {USD: {rate: 0.03}, EUR: {rate: 0.02}}
assets:
  ACME: {currency: USD, spot: 100, volatility: 0.2}
  BETA: {currency: EUR, spot: 50, volatility: 0.3}
  STILL: {currency: USD, spot: 100, volatility: 0}
fx: {EURUSD: {rate: 1.10, volatility: 0.1}}
correlations: [[ACME, BETA, 0.5], [BETA, EURUSD, 0]]
fixings:
  ACME: {2025-01-15: 90, 2026-01-05: 99, 2026-01-14: 98, 2026-01-15: 10100}
  STILL: {2026-01-14: 100, 2026-01-15: 101}
  EURUSD: {2026-01-15: 110}
)";

const std::string own_products =
    "products:\n" + product_in_words("quanto_average",
                                     "The average of the price in the trade's own currency.",
                                     "underlying: asset, days: schedule, foreign: currency",
                                     "so_far = 0\n"
                                     "on days:\n"
                                     "    so_far = so_far + spot(underlying) * fx(foreign)\n"
                                     "on last(days):\n"
                                     "    pay so_far / size(days)\n");

run_options with(std::uint64_t paths) {
    run_options o;
    o.overrides = {paths, 7, 1};
    o.overrides.device = "cpu";
    o.overrides.random = "philox";
    return o;
}

price_row price_one(const std::string& trade, std::uint64_t paths) {
    return engine()
        .price(book::parse("trades:\n  - {id: t, " + trade + "}\n"), market::parse(market_text), with(paths))
        .rows.at(0);
}

std::string told(const price_row& r) {
    std::string text = r.message;
    for (const auto& remark : r.remarks) text += "\nremark: " + remark;
    return text;
}

const double discount = std::exp(-0.03);

TEST(remarks_no_error, a_payoff_of_which_no_path_differed_has_none) {
    const std::string digital = "product: digital, underlying: ACME, payout: 100, maturity: 1.0, strike: ";
    const price_row never = price_one(digital + "1e6", 20000);
    EXPECT_EQ(never.status, trade_status::priced);
    EXPECT_EQ(never.price, 0);
    EXPECT_FALSE(never.has_error());
    EXPECT_TRUE(never.thin);
    EXPECT_EQ(
        never.message,
        "no path paid anything, so the probability of a payment is below 3 / paths = 0.00015 (95 %); the "
        "interval comes from the most and the least that a path can pay");
    ASSERT_TRUE(never.has_interval());
    EXPECT_EQ(never.low, 0);
    EXPECT_NEAR(never.high, 100 * discount * 3 / 20000, 1e-6);

    const price_row always = price_one(digital + "1e-6", 20000);
    EXPECT_FALSE(always.has_error()) << "a payoff that could vary";
    EXPECT_NEAR(always.high, always.price, 1e-4);
    EXPECT_NEAR(always.low, always.price * (1 - 3.0 / 20000), 1e-6);
    EXPECT_NE(always.message.find("every path paid the same, so the probability of anything else is below"),
              std::string::npos)
        << always.message;

    const price_row call =
        price_one("product: european, underlying: ACME, strike: 1e6, maturity: 1.0", 20000);
    EXPECT_FALSE(call.has_error());
    EXPECT_FALSE(call.has_interval()) << "what a call pays has no end";
    EXPECT_NE(call.message.find("below 3 / paths"), std::string::npos) << call.message;
    EXPECT_EQ(call.message.find("interval"), std::string::npos) << call.message;
    const price_row put =
        price_one("product: european, option: put, underlying: ACME, strike: 0.01, maturity: 1.0", 20000);
    ASSERT_TRUE(put.has_interval()) << "what a put pays is its strike at most";
    EXPECT_NEAR(put.high, 0.01 * discount * 3 / 20000, 1e-10);

    EXPECT_EQ(price_one(digital + "1e6", 3).message, "no path paid anything")
        << "of three paths nothing follows";
    EXPECT_FALSE(price_one(digital + "1e6", 3).has_interval());
    const price_row one = price_one("product: european, underlying: ACME, strike: 100, maturity: 1.0", 1);
    EXPECT_FALSE(one.has_error());
    EXPECT_FALSE(one.has_interval());
    EXPECT_EQ(one.message, "one path has no standard error");
    EXPECT_TRUE(price_one("product: european, underlying: ACME, strike: 100, maturity: 1.0", 2).has_error());
}

TEST(remarks_no_error, it_is_zero_where_nothing_is_random) {
    for (const std::uint64_t paths : {1U, 7U, 2000U}) {
        const price_row bond =
            price_one("product: zero_coupon_bond, currency: USD, maturity: 1.0, notional: 100", paths);
        EXPECT_NEAR(bond.price, 100 * discount, 1e-12);
        for (const price_row& r :
             {bond, price_one("product: european, underlying: STILL, strike: 90, maturity: 1.0", paths),
              price_one("product: european, underlying: STILL, strike: 900, maturity: 1.0", paths),
              price_one("product: european, underlying: ACME, strike: 90, maturity: 2026-01-15", paths)}) {
            EXPECT_EQ(r.standard_error, 0) << paths << ": " << told(r);
            EXPECT_EQ(r.low, r.price);
            EXPECT_EQ(r.high, r.price);
            EXPECT_FALSE(r.thin) << told(r);
        }
    }
    EXPECT_EQ(price_one("product: european, underlying: STILL, strike: 900, maturity: 1.0", 7).message,
              "no path can pay anything");
}

TEST(remarks, a_barrier_beyond_the_spot_is_one) {
    const std::string level = "product: barrier, underlying: ACME, strike: 100, maturity: 1.0, ";
    const price_row out = price_one(level + "direction: down, barrier: 120", 2000);
    EXPECT_EQ(out.price, 0);
    EXPECT_EQ(out.standard_error, 0) << "it is decided";
    EXPECT_FALSE(out.thin);
    ASSERT_EQ(out.remarks.size(), 1U) << told(out);
    EXPECT_EQ(out.remarks[0], "the level 120 is touched already, as ACME is at 100 on as_of");

    const price_row in = price_one(level + "direction: up, barrier: 100, kind: knock_in", 2000);
    EXPECT_TRUE(in.has_error() && in.standard_error > 0) << "a plain call by now";
    ASSERT_EQ(in.remarks.size(), 1U) << told(in);

    const price_row touch = price_one(
        "product: one_touch, underlying: ACME, maturity: 1.0, direction: up, barrier: 90, paid: at_hit",
        2000);
    EXPECT_EQ(touch.price, 1);
    EXPECT_EQ(touch.standard_error, 0) << told(touch);
    EXPECT_EQ(touch.remarks.size(), 1U) << told(touch);
    const price_row channel = price_one(
        "product: double_touch, underlying: ACME, maturity: 1.0, lower: 100, upper: 130, kind: no_touch",
        2000);
    ASSERT_EQ(channel.remarks.size(), 1U) << told(channel);
    EXPECT_EQ(channel.remarks[0], "the level 100 is touched already, as ACME is at 100 on as_of");

    for (const std::string sound :
         {"direction: down, barrier: 99.99", "direction: up, barrier: 100.01",
          // Monitoring does not include today: it starts later, or is on later dates.
          "direction: down, barrier: 120, monitoring_start: 0.5",
          "direction: down, barrier: 120, monitoring: discrete, monitoring_dates: [0.5, 1.0]"})
        EXPECT_EQ(price_one(level + sound, 2000).remarks, std::vector<std::string>{}) << sound;
    // Past fixings that touched are priced without a remark; a touch today gets one.
    const std::string watched = "product: barrier, underlying: STILL, strike: 90, maturity: 1.0, direction: ";
    EXPECT_EQ(price_one(watched + "up, barrier: 100.5, monitoring_start: 2026-01-14", 64).remarks.size(), 1U);
    EXPECT_EQ(price_one(watched + "down, barrier: 100.5, monitoring_start: 2026-01-14", 64).price, 0);
    EXPECT_EQ(price_one(watched + "down, barrier: 100.5, monitoring_start: 2026-01-14", 64).remarks,
              std::vector<std::string>{});
}

TEST(remarks, a_value_that_is_no_number_fails_its_trade_alone) {
    const results r = engine().price(
        book::parse(
            "trades:\n"
            "  - {id: huge, product: european, underlying: ACME, strike: 1, maturity: 1.0, quantity: 1e308}\n"
            "  - {id: sound, product: european, underlying: ACME, strike: 90, maturity: 1.0}\n"),
        market::parse(market_text), with(2000));
    EXPECT_EQ(r.rows[0].status, trade_status::failed);
    EXPECT_NE(r.rows[0].message.find("quantity"), std::string::npos) << r.rows[0].message;
    EXPECT_EQ(r.rows[1].status, trade_status::priced);
    for (const currency_total& total : r.totals())
        EXPECT_TRUE(std::isfinite(total.value) && std::isfinite(total.error_at_most));
}

TEST(remarks, a_fixing_far_from_the_spot_is_one) {
    const std::string average = "product: asian, strike: 90, underlying: ";
    const std::string dates = ", averaging_dates: [2026-01-05, 2026-01-15, 2026-06-30]";
    const price_row far = price_one(average + "ACME" + dates, 2000);
    ASSERT_EQ(far.remarks.size(), 1U) << told(far);
    EXPECT_EQ(far.remarks[0],
              "the fixing of ACME on as_of is 10100, far from its spot of 100; the trade takes the fixing");
    EXPECT_EQ(
        price_one(average + "STILL, averaging_dates: [2026-01-14, 2026-01-15, 2026-06-30]", 2000).remarks,
        std::vector<std::string>{});
    EXPECT_EQ(price_one(average + "ACME, averaging_dates: [2026-01-05, 2026-06-30]", 2000).remarks,
              std::vector<std::string>{})
        << "a trade that does not look at it";
    book quanto =
        book::parse(own_products +
                    "trades:\n  - {id: t, product: quanto_average, underlying: ACME, currency: USD, "
                    "foreign: EUR, days: [2026-01-15, 2026-06-30]}\n");
    const price_row two = engine().price(quanto, market::parse(market_text), with(2000)).rows.at(0);
    ASSERT_EQ(two.remarks.size(), 2U) << told(two);
    EXPECT_NE(two.remarks[1].find("EURUSD on as_of is 110, far from its spot of 1.1;"), std::string::npos)
        << told(two);
}

// Today's fixing gets a remark if it is more than five daily moves from spot, or more than a factor of 1.25.
TEST(remarks, a_fixing_is_far_by_the_volatility) {
    const auto is_told = [](const std::string& volatility, double fixing) {
        const std::string market =
            "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets: {A: {currency: "
            "USD, spot: 100, " +
            volatility + "}}\nfixings: {A: {2026-01-15: " + std::to_string(fixing) + "}}\n";
        const results r = engine().price(
            book::parse("trades: [{id: t, product: asian, strike: 90, underlying: A, averaging_dates: "
                        "[2026-01-15, 2026-06-30]}]\n"),
            market::parse(market), with(2000));
        return !r.rows.at(0).remarks.empty();
    };
    const auto expect_told_beyond = [&](const std::string& volatility, double far) {
        EXPECT_TRUE(is_told(volatility, 100 * std::exp(far + 1e-3))) << volatility;
        EXPECT_TRUE(is_told(volatility, 100 * std::exp(-far - 1e-3))) << volatility;
        EXPECT_FALSE(is_told(volatility, 100 * std::exp(far - 1e-3))) << volatility;
        EXPECT_FALSE(is_told(volatility, 100 * std::exp(-far + 1e-3))) << volatility;
    };
    EXPECT_TRUE(is_told("volatility: 0.25", 90)) << "seven daily moves of 1.6 %";
    expect_told_beyond("volatility: 0.25", 5 * 0.25 / std::sqrt(252));
    expect_told_beyond("volatility: {0.5: 0.4, 1.0: 0.5}", 5 * 0.4 / std::sqrt(252));
    expect_told_beyond("volatility: 2", std::log(1.25));
    expect_told_beyond("volatility: 0.01", 0.01);
    expect_told_beyond("model: {heston: {v0: 0.04, kappa: 1, theta: 0.04, sigma: 0.3, rho: -0.5}}", 0.1);
}

TEST(remarks, a_trade_that_has_ended_is_one) {
    const std::string call = "product: european, underlying: ACME, strike: 90, maturity: ";
    const price_row ended = price_one(call + "2025-01-15", 2000);
    EXPECT_EQ(ended.price, 0);
    ASSERT_EQ(ended.remarks.size(), 1U) << told(ended);
    EXPECT_EQ(ended.remarks[0],
              "it ended on 2025-01-15, 365 days before as_of, 2026-01-15, and nothing is left to pay");
    EXPECT_EQ(price_one(call + "2026-01-14", 2000).remarks, std::vector<std::string>{})
        << "it is being settled";
    EXPECT_EQ(price_one(call + "2026-01-05", 2000).remarks.size(), 1U);
    // A trade that fails because a fixing is missing also gets the remark that it has ended.
    const price_row failed = price_one(
        "product: asian, underlying: ACME, strike: 90, averaging_dates: [2025-05-30, 2025-06-30]", 2000);
    EXPECT_EQ(failed.status, trade_status::failed);
    ASSERT_EQ(failed.remarks.size(), 1U) << told(failed);
    EXPECT_EQ(failed.remarks[0], "it ended on 2025-06-30, 199 days before as_of, 2026-01-15");
    EXPECT_EQ(price_one(call + "0.5", 2000).remarks, std::vector<std::string>{});
}

// A trade planned in the market of the tests or of its example, with the range of what it pays.
struct planned_trade {
    book of;
    plan::trade_program made;
    plan::range pays;

    planned_trade(book b, const market& in)
        : of(std::move(b)), made(plan::plan_trade(state_of(of).trades.at(0), state_of(in))) {
        pays = plan::bounds_of(made.code, made.data, made.when);
    }
};

plan::range range_of(const std::string& trade) {
    const market in = market::parse(market_text);
    return planned_trade(book::parse("trades:\n  - {id: t, " + trade + "}\n"), in).pays;
}

TEST(remarks_bounds, are_what_the_terms_say) {
    const double infinity = std::numeric_limits<double>::infinity(), about = 1e-4;
    const std::string a = "underlying: ACME, maturity: 1.0, ";
    EXPECT_EQ(range_of("product: european, strike: 90, " + a).low, 0);
    EXPECT_EQ(range_of("product: european, strike: 90, " + a).high, infinity);
    EXPECT_NEAR(range_of("product: european, option: put, strike: 90, " + a).high, 90 * discount, about);
    EXPECT_NEAR(range_of("product: digital, strike: 90, payout: 5, " + a).high, 5 * discount, about);
    const std::string both = "direction: down, barrier: 80, ";
    EXPECT_NEAR(range_of("product: barrier, option: put, strike: 90, rebate: 2, " + both + a).high,
                92 * discount, about)
        << "not the narrowest: a path that pays the strike has no rebate";
    EXPECT_NEAR(range_of("product: one_touch, payout: 3, " + both + a).high, 3 * discount, about);
    const plan::range bond = range_of("product: zero_coupon_bond, currency: USD, maturity: 1.0, notional: 7");
    EXPECT_TRUE(bond.is_point());
    EXPECT_NEAR(bond.low, 7 * discount, 1e-14);
    EXPECT_TRUE(range_of("product: european, underlying: STILL, strike: 90, maturity: 1.0").is_point());
    EXPECT_FALSE(range_of("product: european, strike: 90, " + a).is_point());
}

// The range of the last of `nodes`. Node 0 of the program is a uniform number, its only shock.
plan::range range_of_last(std::vector<program::node> nodes) {
    using program::operation;
    nodes.insert(nodes.begin(), {operation::uniform, {0}, 0});
    program::path_program code;
    code.states = {"paid"};
    code.outputs = {0};
    code.uniforms_per_step = 1;
    code.uniform_streams = {0};
    program::lane_section step;
    step.writes = {{0, static_cast<std::uint32_t>(nodes.size() - 1)}};
    step.nodes = std::move(nodes);
    code.sections = {std::move(step)};
    program::path_data data;
    data.rows = {{}};
    data.runs = {1};
    data.widths = {0};
    data.initial_states = {0};
    program::timeline when;
    when.times.push_back(1);
    when.close_step();
    return plan::bounds_of(code, data, when);
}

TEST(remarks_bounds, of_truths_are_what_their_table_says) {
    using program::operation;
    const auto truth = [](double level) {
        return level <= 0  ? std::vector<bool>{false}
               : level > 1 ? std::vector<bool>{true}
                           : std::vector<bool>{false, true};
    };
    for (const double a : {-1.0, 0.5, 2.0}) {
        for (const double b : {-1.0, 0.5, 2.0}) {
            for (const bool is_or : {false, true}) {
                double low = 1, high = 0;
                for (const bool x : truth(a)) {
                    for (const bool y : truth(b)) {
                        const double here = (is_or ? x || y : x && y) ? 1 : 0;
                        low = std::min(low, here);
                        high = std::max(high, here);
                    }
                }
                const plan::range found =
                    range_of_last({{operation::constant, {}, a},
                                   {operation::less, {0, 1}, 0},
                                   {operation::constant, {}, b},
                                   {operation::less, {0, 3}, 0},
                                   {is_or ? operation::logical_or : operation::logical_and, {2, 4}, 0}});
                EXPECT_EQ(found.low, low) << a << (is_or ? " or " : " and ") << b;
                EXPECT_EQ(found.high, high) << a << (is_or ? " or " : " and ") << b;
            }
        }
    }
}

TEST(remarks_bounds, of_sines_and_cosines_are_those_of_the_circle) {
    using program::operation;
    for (const operation turns : {operation::sin, operation::cos}) {
        const plan::range found =
            range_of_last({{operation::constant, {}, 8}, {operation::mul, {0, 1}, 0}, {turns, {2}, 0}});
        EXPECT_EQ(found.low, -1);
        EXPECT_EQ(found.high, 1);
    }
}

TEST(remarks_bounds, hold_for_every_path_of_every_example) {
    std::size_t bounded = 0;
    for (const auto& page : product_pages()) {
        const book example = example_book(page);
        const planned_trade t(example, *example.market());
        bounded += t.pays.is_bounded();
        for (std::uint64_t path = 0; path < 50; ++path) {
            const double paid = tests::plain_random_walk<double, kernels::double_draws>(
                t.made.code, t.made.data, t.made.when, 11, path);
            EXPECT_TRUE(t.pays.low <= paid && paid <= t.pays.high)
                << page.name << ": " << paid << " is not in " << t.pays.low << " .. " << t.pays.high;
        }
    }
    EXPECT_GE(bounded, 8U) << "can this fail?";
}

}  // namespace
}  // namespace tilewalk::remarks_test
