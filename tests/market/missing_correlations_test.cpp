// SPDX-License-Identifier: Apache-2.0
// Correlations that a trade depends on and the market does not state: which pairs these are, where they are
// reported, and how a market or a caller refuses them.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "engine/base/wording.h"
#include "tilewalk/engine.h"
#include "tilewalk/write.h"

namespace tilewalk::missing_correlations_test {
namespace {

std::string market_text(const std::string& correlations) {
    return R"(
as_of: 2026-01-15
currencies:
  USD: {rate: 0.03}
  EUR: {rate: 0.02}
  GBP: {rate: 0.025}
  AUD: {rate: 0.04, model: {g2: {a: 0.5, sigma: 0.009, b: 0.03, eta: 0.008, rho: -0.7}}}
assets:
  ACME: {currency: USD, spot: 100, volatility: 0.2}
  BETA: {currency: EUR, spot: 50, volatility: 0.25}
  GAMMA: {currency: GBP, spot: 70, volatility: 0.25}
  HEST: {currency: USD, spot: 100, model: {heston: {v0: 0.04, kappa: 1, theta: 0.04, sigma: 0.3, rho: -0.5}}}
  KOALA: {currency: AUD, spot: 20, volatility: 0.3}
fx:
  EURUSD: {rate: 1.10, volatility: 0.1}
  GBPUSD: {rate: 1.30, volatility: 0.1}
)" + correlations;
}

const std::string call = "product: european, strike: 50, maturity: 1.0, underlying: ";
const std::string worst =
    "product: worst_of, option: put, strike: 1, maturity: 1.0, initial_level: 50, basket: ";

book book_of(const std::vector<std::string>& trades) {
    std::string text = "settings: {paths: 4096}\ntrades:\n";
    for (std::size_t i = 0; i < trades.size(); ++i)
        text += "  - {id: t" + std::to_string(i) + ", " + trades[i] + "}\n";
    return book::parse(text);
}

std::string told(const results& r) {
    std::string out;
    for (const factor_pair& p : r.manifest.missing_correlations) out += p.first + "|" + p.second + " ";
    return out;
}

std::string missing_of(const std::string& trade, const std::string& correlations = "") {
    const results r = engine().price(book_of({trade}), market::parse(market_text(correlations)));
    EXPECT_EQ(r.failed(), 0U) << trade << ": " << r.rows[0].message;
    return told(r);
}

TEST(missing_correlations, are_the_pairs_that_a_price_depends_on) {
    EXPECT_EQ(missing_of(call + "ACME"), "");
    EXPECT_EQ(missing_of(call + "BETA"), "") << "in its own currency";
    EXPECT_EQ(missing_of(call + "BETA, currency: USD"), "BETA|EURUSD ");
    EXPECT_EQ(missing_of(worst + "[ACME, HEST]"), "ACME|HEST ") << "a variance follows its asset";
    // GAMMA's quanto drift depends on GBPUSD alone, and no exchange rate is paid.
    EXPECT_EQ(missing_of(worst + "[BETA, GAMMA], currency: USD"), "BETA|EURUSD BETA|GAMMA GAMMA|GBPUSD ");
    EXPECT_EQ(missing_of(call + "KOALA"), "AUD.rate|KOALA ") << "the second rate follows the first";
    EXPECT_EQ(missing_of("product: swap, currency: AUD, fixed_rate: 0.04, fixed_payments: [1.0], "
                         "floating_payments: [0.5, 1.0]"),
              "");
}

TEST(missing_correlations, are_stated_by_any_number_and_by_0) {
    for (const std::string form :
         {"correlations: [[HEST, ACME, 0]]", "correlations: {pairs: [[ACME, HEST, 0.0]]}",
          "correlations: {complete: true, pairs: [[ACME, HEST, 0]]}",
          "correlations: {complete: false, pairs: [[ACME, HEST, 0]]}"})
        EXPECT_EQ(missing_of(worst + "[ACME, HEST]", form), "") << form;
    const auto price = [](const std::string& correlations) {
        return engine()
            .price(book_of({worst + "[ACME, HEST]"}), market::parse(market_text(correlations)))
            .rows.at(0)
            .price;
    };
    EXPECT_EQ(std::bit_cast<std::uint64_t>(price("")),
              std::bit_cast<std::uint64_t>(price("correlations: [[ACME, HEST, 0]]")))
        << "what is not stated is 0, to the bit";
    // The correlation of HEST's own factor, its variance, does not stand for HEST's.
    EXPECT_EQ(missing_of(worst + "[ACME, HEST]", "correlations: [[HEST.variance, ACME, -0.2]]"),
              "ACME|HEST ");
}

TEST(missing_correlations, stand_once_in_the_manifest_and_are_read_back) {
    const results r = engine().price(
        book_of({worst + "[ACME, HEST]", worst + "[HEST, ACME]", call + "BETA, currency: USD"}),
        market::parse(market_text("")));
    ASSERT_EQ(told(r), "ACME|HEST BETA|EURUSD ");
    std::ostringstream json;
    write(json, r, output_format::json);
    EXPECT_NE(json.str().find(R"("missing_correlations": [["ACME", "HEST"], ["BETA", "EURUSD"]])"),
              std::string::npos)
        << json.str();
    EXPECT_EQ(told(read_results(json.str(), "here")), told(r));
    std::string broken = json.str();
    broken.replace(broken.find(R"(["ACME", "HEST"])"), 16, R"(["ACME", 1])");
    EXPECT_THROW(read_results(broken, "here"), error);
}

TEST(missing_correlations, refuse_their_trade_alone_where_all_are_demanded) {
    const book trades = book_of({call + "ACME", worst + "[ACME, HEST]"});
    const market loose = market::parse(market_text("")),
                 complete = market::parse(market_text("correlations: {complete: true, pairs: []}"));
    run_options demanding;
    demanding.demand_correlations = true;
    for (const results& r : {engine().price(trades, complete), engine().price(trades, loose, demanding)}) {
        EXPECT_EQ(r.rows[0].status, trade_status::priced);
        ASSERT_EQ(r.rows[1].status, trade_status::failed);
        EXPECT_EQ(r.rows[1].kind, error_kind::input);
        EXPECT_NE(r.rows[1].message.find("no correlation of ACME and HEST"), std::string::npos)
            << r.rows[1].message;
        EXPECT_NE(r.rows[1].message.find("[ACME, HEST, 0]"), std::string::npos) << r.rows[1].message;
        EXPECT_EQ(r.rows[1].where.line, 4);
        EXPECT_EQ(told(r), "") << "nothing was taken as 0";
    }
    std::vector<factor_pair> missing;
    EXPECT_TRUE(engine().validate(trades, loose, {}, &missing).empty());
    EXPECT_EQ(missing, (std::vector<factor_pair>{{"ACME", "HEST"}}));
    const auto problems = engine().validate(trades, complete, {}, &missing);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].trade, "t1");
    EXPECT_TRUE(missing.empty());
    EXPECT_NE(engine().explain(trades, complete)[1].failure.find("no correlation"), std::string::npos);
}

TEST(missing_correlations, are_told_trade_by_trade) {
    const auto plans = engine().explain(book_of({call + "ACME", worst + "[ACME, HEST, BETA], currency: USD"}),
                                        market::parse(market_text("correlations: [[ACME, HEST, 0.4]]")));
    EXPECT_TRUE(plans[0].correlations.empty());
    std::string all;
    for (const correlation_taken& c : plans[1].correlations)
        all += c.first + "|" + c.second + (c.is_stated ? " stated " : " missing ");
    EXPECT_EQ(all, "ACME|BETA missing ACME|HEST stated BETA|EURUSD missing BETA|HEST missing ");
    EXPECT_EQ(plans[1].correlations[1].value, 0.4);
    EXPECT_EQ(plans[1].correlations[0].value, 0);
}

TEST(missing_correlations, are_listed_up_to_a_few) {
    std::vector<factor_pair> pairs;
    for (int i = 0; i < 6; ++i) pairs.push_back({"A" + std::to_string(i), "B"});
    EXPECT_EQ(config::pairs_text(pairs, 2), "A0 and B, A1 and B and 4 more");
    EXPECT_EQ(config::pairs_text({pairs[0]}), "A0 and B");
}

TEST(missing_correlations, none_in_the_books_that_ship) {
    for (const std::string name : {"demo", "notes", "smiles", "jumps", "rates", "own_product"}) {
        const book shipped =
            book::load(std::filesystem::path(TILEWALK_SOURCE_DIR) / "configs/books" / (name + ".yaml"));
        std::vector<factor_pair> missing;
        engine().validate(shipped, *shipped.market(), {}, &missing);
        EXPECT_TRUE(missing.empty()) << name << ": " << config::pairs_text(missing, 100);
    }
}

TEST(missing_correlations, malformed_forms_are_refused) {
    for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
             {"correlations: {complete: maybe, pairs: []}", "correlations.complete"},
             {"correlations: {complete: true}", "pairs"},
             {"correlations: {completed: true, pairs: []}", "did you mean 'complete'?"},
             {"correlations: 5", "{complete: true, pairs: [...]}"},
             {"correlations: {pairs: {ACME: BETA}}", "correlations.pairs"}}) {
        try {
            market::parse(market_text(text));
            ADD_FAILURE() << text;
        } catch (const error& e) {
            EXPECT_NE(std::string(e.what()).find(expected), std::string::npos) << e.what();
        }
    }
}

}  // namespace
}  // namespace tilewalk::missing_correlations_test
