// SPDX-License-Identifier: Apache-2.0
// The library's products in markets of other assets, and their kernels ahead of runs, on a fake compiler.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/decide/settled.h"
#include "engine/study/library_trades.h"
#include "tests/fake_backend.h"
#include "tilewalk/engine.h"
#include "tilewalk/error.h"
#include "tilewalk/products.h"

namespace tilewalk::library_trades_test {
namespace {

const std::string head = "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets:\n";
const std::string lognormal = "  ALPHA: {currency: USD, spot: 7, volatility: 0.2}\n";
const std::string heston =
    "  OMEGA: {currency: USD, spot: 200, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.6, "
    "rho: "
    "-0.7}}}\n";

studies::library_trades trades_in(const std::string& market_text, const std::vector<std::string>& products) {
    const market in = market::parse(market_text);
    const studies::settled run = studies::settle({}, run_settings{}, {&in, 1});
    return studies::library_trades_in(in, run, products, nullptr);
}

std::vector<std::string> ids_of(const studies::library_trades& of) {
    std::vector<std::string> out;
    for (const books::trade& t : of.trades) out.push_back(t.id);
    return out;
}

warmed_library warmed(cuda::text_compiler& compiler, const std::string& market_text,
                      const std::vector<std::string>& products = {}) {
    const engine by = tests::engine_on({}, compiler);
    return by.warm_library(market::parse(market_text), {}, {"sm_90"}, products);
}

using names = std::vector<std::string>;

TEST(library_trades, amounts_and_weights_follow_the_spot) {
    const studies::library_trades made =
        trades_in(head +
                      "  A: {currency: USD, spot: 50, volatility: 0.2}\n  B: {currency: USD, spot: 4.82, "
                      "volatility: 0.2}\n  C: {currency: USD, spot: 690, volatility: 0.3}\n",
                  {"european", "autocallable", "basket"});
    ASSERT_EQ(ids_of(made), names({"autocallable", "basket", "european"}));
    const auto& notes = made.trades[0].args;
    EXPECT_EQ(std::get<names>(notes.at("basket")), names({"A", "B", "C"}));
    const auto& levels = std::get<std::vector<double>>(notes.at("initial_level"));
    ASSERT_EQ(levels.size(), 3U);
    const double spots[] = {50, 4.82, 690};
    for (std::size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(levels[i], spots[i]);
    EXPECT_EQ(std::get<double>(notes.at("protection")), 0.6);
    const auto& basket = made.trades[1].args;
    const auto& weights = std::get<std::vector<double>>(basket.at("weights"));
    EXPECT_DOUBLE_EQ(std::get<double>(basket.at("strike")), 150);
    // ACME, BETA and INDEX of the example stand at 100, 48.20 and 6900.
    ASSERT_EQ(weights.size(), 3U);
    const double units[] = {1, 10, 0.075};
    for (std::size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(weights[i], units[i]);
    EXPECT_DOUBLE_EQ(std::get<double>(made.trades[2].args.at("strike")), 50);
}

TEST(library_trades, a_product_has_a_trade_for_each_form) {
    const std::string more =
        "  BETA: {currency: USD, spot: 9, volatility: 0.4}\n"
        "  GAMMA: {currency: USD, spot: 9, volatility: 0.4}\n";
    EXPECT_EQ(ids_of(trades_in(head + lognormal, {"asian"})), names({"asian"}));
    EXPECT_EQ(ids_of(trades_in(head + lognormal + more, {"asian", "asian"})), names({"asian"}));
    const studies::library_trades both = trades_in(head + lognormal + more + heston, {"worst_of", "asian"});
    EXPECT_EQ(ids_of(both), names({"asian/ALPHA", "asian/OMEGA", "worst_of/ALPHA", "worst_of/OMEGA"}));
    EXPECT_EQ(std::get<names>(both.trades[2].args.at("basket")), names({"ALPHA", "BETA", "GAMMA"}));
    EXPECT_EQ(std::get<names>(both.trades[3].args.at("basket")), names({"OMEGA", "ALPHA", "BETA"}));
}

TEST(library_trades, rates_move_in_currencies_of_the_market) {
    const std::string moving =
        "as_of: 2026-01-15\ncurrencies:\n  EUR: {rate: 0.02}\n  GBP: {rate: 0.03}\n"
        "  USD: {rate: 0.03, model: {hull_white: {mean_reversion: 0.03, volatility: 0.01}}}\n";
    const studies::library_trades made = trades_in(moving, {"cap_floor", "european"});
    EXPECT_EQ(ids_of(made), names({"cap_floor/EUR", "cap_floor/USD"}));
    ASSERT_EQ(made.left_out.size(), 1U);
    EXPECT_EQ(made.left_out[0].name, "european");
    EXPECT_EQ(made.left_out[0].why, "the market has no asset that its example can be priced on");
}

TEST(library_trades, what_the_market_cannot_price_is_named) {
    const studies::library_trades made =
        trades_in(head + lognormal + "  STILL: {currency: USD, spot: 5}\n", {"exchange", "asian"});
    EXPECT_EQ(ids_of(made), names({"asian"}));
    ASSERT_EQ(made.left_out.size(), 2U);
    EXPECT_EQ(made.left_out[0].name, "asset STILL");
    EXPECT_NE(made.left_out[0].why.find("volatility"), std::string::npos) << made.left_out[0].why;
    EXPECT_EQ(made.left_out[1].name, "exchange");
    EXPECT_EQ(made.left_out[1].why, "it takes 2 assets, and the market has 1");
    try {
        trades_in(head + lognormal, {"asain"});
        ADD_FAILURE() << "an unknown product";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        EXPECT_TRUE(std::string(e.what()).starts_with("unknown product 'asain'; did you mean 'asian'?"))
            << e.what();
    }
}

TEST(library_trades, every_product_has_kernels_or_a_reason) {
    cuda::text_compiler compiler;
    const std::string text =
        head + lognormal + heston + "  THIRD: {currency: USD, spot: 20, volatility: 0.3}\n";
    const warmed_library all = warmed(compiler, text);
    std::set<std::string> seen, found;
    for (const warmed_kernel& k : all.kernels) {
        EXPECT_EQ(k.failure, "") << k.name;
        EXPECT_GT(k.bytes, 0U) << k.name;
        EXPECT_EQ(k.architecture, "sm_90");
        EXPECT_TRUE(seen.insert(k.name).second) << "two kernels " << k.name;
        found.insert(k.products.begin(), k.products.end());
    }
    names left_out;
    for (const unwarmed& u : all.left_out) {
        left_out.push_back(u.name);
        EXPECT_TRUE(u.why.starts_with("the value of an option on 'OMEGA'")) << u.why;
    }
    EXPECT_EQ(left_out,
              names({"complex_chooser/OMEGA", "compound/OMEGA", "extensible_option/OMEGA", "shout/OMEGA"}));
    for (const product_page& page : product_pages()) EXPECT_TRUE(found.contains(page.name)) << page.name;
    EXPECT_TRUE(seen.contains("merge_tiles"));
    EXPECT_TRUE(std::ranges::any_of(seen, [](const std::string& name) {
        return name.starts_with("american/OMEGA/") && name.find("_of_policy_") != std::string::npos;
    }));
}

TEST(library_trades, a_book_of_one_product_finds_its_kernels) {
    cuda::text_compiler compiler;
    const engine by = tests::engine_on({}, compiler);
    const market in = market::parse(head + lognormal + heston);
    const warmed_library all = by.warm_library(in, {}, {"sm_90"}, {"european", "american"});
    ASSERT_FALSE(all.kernels.empty());
    const book two = book::parse(
        "trades:\n"
        "  - {id: a, product: american, underlying: OMEGA, option: put, strike: 190, maturity: 0.8, "
        "exercise_step: 0.1}\n"
        "  - {id: b, product: american, underlying: ALPHA, option: put, strike: 7.1, maturity: 1.2, "
        "exercise_step: 0.1}\n");
    for (const warmed_kernel& k : by.warm(two, in, {}, {"sm_90"})) EXPECT_TRUE(k.from_cache) << k.name;
}

TEST(library_trades, a_kernel_that_fails_does_not_stop_the_others) {
    cuda::text_compiler compiler;
    compiler.refuses = [](const std::string& text) { return text.find("merge_tiles") != std::string::npos; };
    const warmed_library one = warmed(compiler, head + lognormal, {"european"});
    std::size_t failed = 0;
    for (const warmed_kernel& k : one.kernels) {
        failed += !k.failure.empty();
        EXPECT_EQ(k.failure.empty(), k.bytes > 0) << k.name;
    }
    EXPECT_GE(failed, 1U);
    EXPECT_LT(failed, one.kernels.size());
}

}  // namespace

}  // namespace tilewalk::library_trades_test
