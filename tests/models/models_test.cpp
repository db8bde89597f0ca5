// SPDX-License-Identifier: Apache-2.0
// Every model of the catalogue prices alone and beside the others, in every precision, explains itself, and
// refuses unknown parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/every_model.h"
#include "tests/named_choice.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::models_test {
namespace {

results priced(const std::string& text, const std::string& precision, std::uint64_t paths = 1 << 14) {
    run_options options;
    options.overrides.paths = paths;
    options.overrides.precision = tests::named{precision};
    options.overrides.device = "cpu";
    return engine().price(book::parse(text, "models"), options);
}

TEST(models, price_alone_and_together_in_every_precision) {
    const results exact = priced(book_of_every_model(), "double");
    ASSERT_GE(exact.rows.size(), 3 * every_model().size());
    for (const char* precision : {"single", "mixed"}) {
        const results got = priced(book_of_every_model(), precision);
        for (std::size_t i = 0; i < got.rows.size(); ++i) {
            const price_row& row = got.rows[i];
            ASSERT_EQ(row.status, trade_status::priced) << row.trade << ": " << row.message;
            // Precision single has its own random numbers, which mixed shares: about 60 comparisons at 4.5
            // standard errors, one false alarm in 2,500. `shadow_difference` is against double on the same
            // shocks: rounding alone, but where a model rejects draws, rounding may reject others.
            const double error = std::hypot(row.standard_error, exact.rows[i].standard_error);
            EXPECT_NEAR(row.price, exact.rows[i].price, 4.5 * error) << row.trade << " in " << precision;
            if (row.shadow_difference) {
                EXPECT_LE(std::abs(*row.shadow_difference), 2 * row.standard_error) << row.trade;
            }
        }
    }
}

TEST(models, a_trade_alone_has_the_bits_that_it_has_in_a_book) {
    const results all = priced(book_of_every_model(), "double", 1 << 12);
    const std::string text = book_of_every_model();
    const std::string market = text.substr(0, text.find("trades:\n"));
    for (const price_row& row : all.rows) {
        const std::size_t at = text.find("  - {id: " + row.trade + ",");
        ASSERT_NE(at, std::string::npos) << row.trade;
        const results alone =
            priced(market + "trades:\n" + text.substr(at, text.find("}\n", at) + 2 - at), "double", 1 << 12);
        EXPECT_EQ(alone.rows.at(0).price, row.price) << row.trade;
        EXPECT_EQ(alone.rows.at(0).standard_error, row.standard_error) << row.trade;
    }
}

TEST(models, say_what_they_do) {
    const book trades = book::parse(book_of_every_model(), "models");
    for (const trade_plan& plan : engine().explain(trades, *trades.market())) {
        EXPECT_EQ(plan.failure, "");
        for (const auto& [model, moves] : every_model()) {
            if (!plan.trade.starts_with(model + "_")) continue;
            ASSERT_FALSE(plan.models.empty()) << plan.trade;
            EXPECT_TRUE(plan.models.front().starts_with(model + ": " + model)) << plan.models.front();
        }
    }
}

TEST(models, refuse_what_they_do_not_know) {
    const struct {
        const char* moves;
        std::vector<std::string> expected;
    } bad[] = {
        {"model: {hestn: {v0: 0.04}}", {"market:5", "hestn", "did you mean 'heston'"}},
        {"model: heston", {"market:5", "expected a model with its parameters", "merton"}},
        {"model: {heston: 3}", {"market:5", "parameters of the model heston"}},
        {"model: {heston: {}, merton: {}}", {"market:5", "2 models"}},
        {"volatility: 0.2, model: {merton: {}}", {"market:5", "a model beside a volatility"}},
        {"model: {black_scholes: {volatility: 0.2}}", {"market:5", "volatility"}},
    };
    for (const auto& b : bad) {
        try {
            market::parse(
                "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.01}}\nassets:\n\n  A: {currency: USD, spot: "
                "100, " +
                    std::string(b.moves) + "}\n",
                "market");
            ADD_FAILURE() << b.moves;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input);
            for (const std::string& part : b.expected)
                EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << b.moves << "\n" << e.what();
        }
    }
}

}  // namespace
}  // namespace tilewalk::models_test
