// SPDX-License-Identifier: Apache-2.0
// Pre-integration: a decision of the payoff is integrated over one normal in closed form. It keeps the price
// of every product, with far smaller errors, and pathwise derivatives where a payoff jumps.
#include "products/program/integrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/trade_program.h"
#include "engine/study/price.h"
#include "engine/verify/closed_forms.h"
#include "engine/verify/dice.h"
#include "engine/verify/judgement.h"
#include "engine/verify/sample.h"
#include "products/program/jumps.h"
#include "tests/named_choice.h"
#include "tests/on_a_gpu.h"
#include "tests/plain_paths.h"
#include "tests/rows_by_id.h"
#include "tests/texts.h"
#include "tilewalk/session.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::preintegration_test {
namespace {

constexpr const char* market_text = R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.25, dividend_yield: 0.01}
    B: {currency: USD, spot: 50, volatility: 0.3}
    C: {currency: USD, spot: 200, volatility: 0.2}
    H: {currency: USD, spot: 100, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7, steps_per_year: 20}}}
  correlations: [[A, B, 0.5], [A, C, 0.4], [B, C, 0.6]]
)";
constexpr const char* products_text = R"(products:
  - product: basket_digital
    summary: Pays once where a basket ends at or above a strike.
    parameters:
      basket: {type: asset_list, help: The assets.}
      weights: {type: number, per: basket, help: Units of each.}
      strike: {type: amount, help: The level.}
      maturity: {type: date, help: The day.}
    example: {basket: [A, B], weights: [1, 2], strike: 200, maturity: 1}
    script: |
      on maturity:
          if sum(weights[a] * spot(a) for a in basket) >= strike:
              pay 100
)";
constexpr const char* trades_text = R"(trades:
  - {id: digital, product: digital, underlying: A, strike: 105, payout: 100, maturity: 1}
  - {id: asset_or_nothing, product: digital, underlying: A, option: put, strike: 95, pays: asset, maturity: 1}
  - {id: on_basket, product: basket_digital, basket: [A, B, C], weights: [1, 2, 0.5], strike: 300, maturity: 1}
  - {id: on_spread, product: basket_digital, basket: [A, B], weights: [1, -2], strike: 5, maturity: 1}
  - {id: down_and_out, product: barrier, underlying: A, strike: 100, maturity: 1, direction: down, kind: knock_out, barrier: 90, rebate: 3, monitoring: discrete, monitoring_dates: {start: 0, end: 1, count: 12}}
  - {id: paid_at_hit, product: barrier, underlying: A, strike: 100, maturity: 1, direction: up, kind: knock_out, barrier: 130, rebate: 5, rebate_paid: at_hit, monitoring: discrete, monitoring_dates: {start: 0, end: 1, count: 4}}
  - {id: called, product: autocallable, basket: [A, B, C], initial_level: [100, 50, 200], observations: [0.5, 1, 1.5, 2], coupon: [0.04, 0.08, 0.12, 0.16]}
  - {id: phoenix, product: phoenix_autocallable, basket: [A, B], initial_level: [100, 50], observations: [0.5, 1, 1.5], coupon: 0.03, coupon_barrier: 0.8}
)";

run_options with(const char* preintegration, const char* random = "sobol", std::uint64_t paths = 131072) {
    run_options out = tests::plain_paths();
    out.overrides.preintegration = tests::named{preintegration};
    out.overrides.random = random;
    out.overrides.paths = paths;
    out.overrides.device = "cpu";
    return out;
}

tests::rows_by_id priced(const run_options& options) {
    return tests::priced_by_id(std::string(market_text) + products_text + trades_text, options);
}

bool is_integrated(const price_row& of) {
    return std::ranges::any_of(
        of.remarks, [](const std::string& r) { return r.find("integrated along") != std::string::npos; });
}

// The plan of a trade with all possible decisions integrated, counted by product.
plan::trade_program integrated_anyhow(plan::trade_program of, std::map<std::string, int>& count,
                                      const std::string& product) {
    if (of.data.scenarios.empty())
        if (auto made = program::integrated(of.code, of.data, of.when)) {
            EXPECT_EQ(program::fault_of(made->code), "") << product;
            of.code = std::move(made->code);
            of.data = std::move(made->data);
            of.when = std::move(made->when);
            ++count[product];
        }
    return of;
}

}  // namespace

// Every product with a known value, with all possible decisions integrated. A sound engine fails for one seed
// in 10,000.
TEST(preintegration, keeps_the_price_of_every_product) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < verify::truths().size(); ++i)
        if (verify::truths()[i].takes_part(false)) all.push_back(i);
    std::vector<verify::drawn_trade> trades =
        verify::draw_sample({3 * all.size(), 32768, 20261130, "double", all, 3});
    std::map<std::string, int> count;
    stages by;
    by.plan = [&](const books::trade& t, const markets::market_state& in, program::precision p,
                  const plan::poll& often) {
        plan::trade_program made = plan::plan_trade(t, in, p, {}, often);
        return plan::has_rights(t) ? std::move(made)
                                   : integrated_anyhow(std::move(made), count, t.product->name);
    };
    cuda::backend gpus;
    std::vector<verify::priced_trade> prices = verify::price_sample(trades, {"cpu", 1, nullptr, by}, gpus);
    for (std::size_t i = 0; i < trades.size(); ++i) ASSERT_EQ(prices[i].failure, "") << trades[i].text;
    const verify::judgement right = verify::judge(trades, prices, verify::truths_of(trades));
    for (const auto& s : right.of) EXPECT_TRUE(s.holds()) << s.name << " " << s.value;
    for (const char* const product : {"digital", "barrier"}) EXPECT_GT(count[product], 0) << product;
}

// Prices agree within 4.5 errors of their difference. Errors of 16 randomisations give ratios of variances
// within a factor of two; with 64 randomisations they are 11 to 5,000, so that any sound engine reaches 4.
TEST(preintegration, leaves_a_quarter_of_the_variance_of_points) {
    const auto plain = priced(with("none")), made = priced(with("auto"));
    for (const char* const id : {"on_basket", "on_spread", "down_and_out", "called", "paid_at_hit"}) {
        const price_row &a = plain.at(id), &b = made.at(id);
        EXPECT_TRUE(is_integrated(b)) << id;
        EXPECT_FALSE(is_integrated(a)) << id;
        EXPECT_NEAR(a.price, b.price, 4.5 * std::hypot(a.standard_error, b.standard_error)) << id;
        EXPECT_GT(a.standard_error * a.standard_error, 4 * b.standard_error * b.standard_error) << id;
    }
}

// If all that a payoff depends on is integrated (one step, one asset), the price is the closed form.
TEST(preintegration, of_all_that_a_payoff_depends_on_is_exact) {
    const auto made = priced(with("auto", "philox", 4096));
    const double discount = std::exp(-0.03), forward = 100 * std::exp(0.02), deviation = 0.25;
    const auto above = [&](double strike) {
        return (std::log(forward / strike) - 0.5 * deviation * deviation) / deviation;
    };
    const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
    const price_row& digital = made.at("digital");
    EXPECT_NEAR(digital.price, 100 * discount * normal(above(105)), 1e-11);
    // The stated error is that of rounding.
    EXPECT_NEAR(digital.standard_error, 1e-13 * digital.price, 1e-14 * digital.price);
    // A payment of the asset itself, not just the decision, still depends on random numbers.
    const price_row& asset = made.at("asset_or_nothing");
    EXPECT_NEAR(asset.price, discount * forward * normal(-above(95) - deviation), 4.5 * asset.standard_error);
}

// Left as they are: a trade that goes on either way, and an asset that moves with a stochastic variance.
TEST(preintegration, leaves_alone_what_it_can_not_integrate) {
    const std::string trades = R"(trades:
  - {id: knocked_in, product: barrier, underlying: A, strike: 100, maturity: 1, direction: down, kind: knock_in, barrier: 90, monitoring: discrete, monitoring_dates: {start: 0, end: 1, count: 4}}
  - {id: heston, product: digital, underlying: H, strike: 100, maturity: 1}
  - {id: call, product: european, underlying: A, strike: 100, maturity: 1}
  - {id: american, product: american, option: put, underlying: A, strike: 100, maturity: 1, exercise_step: 0.25}
)";
    const auto plain = tests::priced_by_id(market_text + trades, with("none", "philox", 8192)),
               made = tests::priced_by_id(market_text + trades, with("auto", "philox", 8192));
    for (const auto& [id, row] : made) {
        EXPECT_FALSE(is_integrated(row)) << id;
        EXPECT_EQ(row.price, plain.at(id).price) << id;
        EXPECT_EQ(row.standard_error, plain.at(id).standard_error) << id;
    }
}

// Decisions that are certain leave the plain payment: a side's probability is at least 1e-30, and single
// precision reaches down to 1e-38.
TEST(preintegration, of_what_is_certain_is_the_certain_price) {
    const std::string note =
        "  - {id: ID, product: autocallable, basket: [A, B], initial_level: [100, 50], observations: [0.5, "
        "1], "
        "coupon: 0.05, call_level: LEVEL, protection: PROTECTION}\n";
    const auto trade = [&](const char* id, const char* level, const char* protection) {
        return tests::replaced(tests::replaced(tests::replaced(note, "ID", id), "LEVEL", level), "PROTECTION",
                               protection);
    };
    const std::string trades = "trades:\n" + trade("called", "0.0001", "0.6") +
                               trade("kept", "10000", "0.0001") + trade("held", "1.0", "0.0001") +
                               "  - {id: above, product: basket_digital, basket: [A, B], weights: [1, 2], "
                               "strike: 0.00001, maturity: 1}\n"
                               "  - {id: below, product: basket_digital, basket: [A, B], weights: [1, 2], "
                               "strike: 1e+9, maturity: 1}\n";
    for (const char* const precision : {"double", "single"}) {
        run_options none = with("none"), all = with("auto");
        none.overrides.precision = all.overrides.precision = tests::named{precision};
        const auto plain = tests::priced_by_id(market_text + (products_text + trades), none),
                   made = tests::priced_by_id(market_text + (products_text + trades), all);
        for (const auto& [id, row] : made) {
            const double error = std::hypot(row.standard_error, plain.at(id).standard_error);
            EXPECT_NEAR(row.price, plain.at(id).price, (is_figure(error) ? 4.5 * error : 0) + 1e-4)
                << id << precision;
            EXPECT_TRUE(is_integrated(row)) << id << precision;
        }
        EXPECT_NEAR(made.at("called").price, 105 * std::exp(-0.015), 1e-4) << precision;
        EXPECT_NEAR(made.at("kept").price, 100 * std::exp(-0.03), 1e-4) << precision;
    }
}

TEST(preintegration, has_derivatives_along_the_path) {
    const book trades = book::parse(std::string(market_text) + products_text + trades_text);
    const engine by;
    greek_options wanted;
    wanted.wanted = {"A.spot", "A.volatility"};
    wanted.method = greek_method::pathwise;
    const results made = by.greeks(trades, *trades.market(), wanted, with("auto"));
    std::map<std::pair<std::string, std::string>, greek_row> found;
    for (const greek_row& g : made.greeks) found[{g.trade, g.key}] = g;
    const double discount = std::exp(-0.03), forward = 100 * std::exp(0.02), deviation = 0.25;
    const double d = (std::log(forward / 105) - 0.5 * deviation * deviation) / deviation;
    const double density = std::exp(-0.5 * d * d) / std::sqrt(2 * std::acos(-1.0));
    EXPECT_NEAR(found.at({"digital", "A.spot"}).value, 100 * discount * density / (deviation * 100), 1e-10);
    EXPECT_NEAR(found.at({"digital", "A.volatility"}).value, discount * density * (-d / deviation - 1), 1e-9);
}

// Derivatives and scenario gains of integrated trades match those without integration, within 4.5 errors of
// the difference and the bias of smoothing.
TEST(preintegration, moves_with_the_market_as_prices_do) {
    const book trades = book::parse(std::string(market_text) + products_text + trades_text)
                            .only({"on_basket", "on_spread", "down_and_out", "paid_at_hit", "called"});
    const market& in = *trades.market();
    const engine by;
    const greek_options wanted{{"delta", "vega"}};
    const results plain = by.greeks(trades, in, wanted, with("none")),
                  made = by.greeks(trades, in, wanted, with("auto"));
    ASSERT_EQ(plain.greeks.size(), made.greeks.size());
    for (std::size_t i = 0; i < plain.greeks.size(); ++i) {
        const greek_row &a = plain.greeks[i], &b = made.greeks[i];
        ASSERT_EQ(b.message, "") << b.trade << b.key;
        EXPECT_TRUE(b.trade.empty() || b.method == "pathwise") << b.trade << b.key << b.method;
        EXPECT_NEAR(a.value, b.value, 4.5 * std::hypot(a.standard_error, b.standard_error) + a.bias)
            << b.trade << b.measure << b.key;
    }
    // As a second reference, price differences on the same points: they need no derivative of correlation
    // roots, but include the curvature of a finite move.
    const book sums = trades.only({"on_basket", "on_spread"});
    const results along = by.greeks(sums, in, {{"delta"}, greek_method::pathwise}, with("auto")),
                  across = by.greeks(sums, in, {{"delta"}, greek_method::bump}, with("auto"));
    ASSERT_EQ(along.greeks.size(), across.greeks.size());
    for (std::size_t i = 0; i < along.greeks.size(); ++i)
        EXPECT_NEAR(along.greeks[i].value, across.greeks[i].value,
                    1e-5 * std::abs(along.greeks[i].value) + 1.5 * across.greeks[i].bias)
            << along.greeks[i].trade << along.greeks[i].key;
    const scenario_list moved =
        scenario_list::parse("stress:\n  down: {A.spot: -10%}\n  up: {A.volatility: +3pt}\n", "moved", in);
    const scenario_results gains = by.scenarios(trades, in, moved, with("none")),
                           others = by.scenarios(trades, in, moved, with("auto"));
    for (std::size_t s = 0; s < 2; ++s)
        for (std::size_t t = 0; t < trades.size(); ++t) {
            const double error = std::hypot(gains.error_of_gain(s, t), others.error_of_gain(s, t));
            EXPECT_NEAR(gains.gain(s, t), others.gain(s, t), 4.5 * error)
                << s << state_of(trades).trades[t].id;
            EXPECT_LT(others.error_of_gain(s, t), gains.error_of_gain(s, t))
                << s << state_of(trades).trades[t].id;
        }
}

// At a correlation of 0 the deciding asset does not move the paid one, but the derivative exists.
TEST(preintegration, has_the_derivative_to_a_correlation_of_nothing) {
    const std::string text = tests::replaced(market_text, "[A, B, 0.5]", "[A, B, 0]") + R"(products:
  - product: paid_by_another
    summary: Pays an asset where another one ends at or above a strike.
    parameters:
      one: {type: asset, help: The asset that decides.}
      other: {type: asset, help: The asset that is paid.}
      strike: {type: amount, help: The level.}
      maturity: {type: date, help: The day.}
    example: {one: A, other: B, strike: 100, maturity: 1}
    script: |
      on maturity:
          if spot(one) >= strike:
              pay spot(other)
trades:
  - {id: t, product: paid_by_another, one: A, other: B, strike: 105, maturity: 1}
)";
    const book trades = book::parse(text);
    const results made = engine().greeks(trades, *trades.market(), {{"correlation", "delta"}}, with("auto"));
    ASSERT_TRUE(is_integrated(made.rows.at(0)));
    // True value: E[B; A >= K] = B N(d2 + rho s_B), whose derivative with respect to rho is B n(d2) s_B.
    const double d2 = (std::log(100 / 105.0) + 0.02 - 0.5 * 0.25 * 0.25) / 0.25;
    const double density = std::exp(-0.5 * d2 * d2) / std::sqrt(2 * std::acos(-1.0));
    bool is_there = false;
    for (const greek_row& g : made.greeks) {
        EXPECT_EQ(g.message, "") << g.key;
        if (g.measure != "correlation" || g.trade.empty()) continue;
        is_there = true;
        EXPECT_EQ(g.method, "pathwise");
        EXPECT_NEAR(g.value, 0.01 * 50 * density * 0.3, 4.5 * g.standard_error + 1e-6);
    }
    EXPECT_TRUE(is_there);
}

TEST(preintegration, goes_with_pairs_and_importance) {
    const auto alone = priced(with("auto"));
    run_options both = with("auto");
    both.overrides.antithetic = antithetic::pairs;
    both.overrides.importance = technique::automatic;
    const auto beside = priced(both);
    for (const char* const id : {"on_basket", "down_and_out", "called", "paid_at_hit"}) {
        const price_row &a = alone.at(id), &b = beside.at(id);
        EXPECT_TRUE(is_integrated(b)) << id;
        EXPECT_NE(a.price, b.price) << id;
        EXPECT_NEAR(a.price, b.price, 4.5 * std::hypot(a.standard_error, b.standard_error)) << id;
    }
}

namespace {

class preintegration_on_a_gpu : public tests::on_a_gpu {};

}  // namespace

TEST_F(preintegration_on_a_gpu, has_the_bits_of_the_cpu) {
    tests::expect_bits_of_the_cpu_on_a_gpu(std::string(market_text) + products_text + trades_text,
                                           [](const char* random) { return with("auto", random, 65536); });
}

}  // namespace tilewalk::preintegration_test
