// SPDX-License-Identifier: Apache-2.0
// Names and texts in messages: the likeliest name comes first, long lists are cut to names similar to the
// wrong one, and no content of a file makes a message long.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/base/wording.h"
#include "engine/reading/book_state.h"
#include "products/language/nearest.h"
#include "tests/texts.h"
#include "tilewalk/error.h"
#include "tilewalk/products.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::messages_test {
namespace {

using tests::repeated;

std::string told(const std::string& yaml) {
    try {
        const book read = book::parse(yaml, "book.yaml", ".");
        std::string all;
        for (const auto& trade : state_of(read).trades)
            if (trade.failure) all += std::string(trade.failure->what()) + "\n";
        return all;
    } catch (const error& e) {
        return e.what();
    }
}

TEST(messages, a_short_list_is_whole_and_a_long_one_is_what_is_near) {
    EXPECT_EQ(language::listed("x", {}), "");
    EXPECT_EQ(language::listed("x", {"b", "a"}), "b, a");
    std::vector<std::string> names;
    for (int i = 0; i < 24; ++i) names.push_back("name_" + std::to_string(i));
    EXPECT_EQ(language::listed("name_23", names).find("more"), std::string::npos);
    names.push_back("other");
    EXPECT_EQ(language::listed("othr", names).find("other, "), 0U);
    EXPECT_TRUE(language::listed("othr", names).ends_with(" and 17 more")) << language::listed("othr", names);
    EXPECT_EQ(config::alternatives("othr", "known:", {"one", "other"}),
              "; did you mean 'other'? known: one, other");
    EXPECT_EQ(config::alternatives("x", "known:", {"one", "other"}), "; known: one, other");
    const std::vector<std::string> many(100'000, "a"), wide(100, std::string(64, 'b'));
    EXPECT_LT(language::listed("x", many).size(), 100U);
    EXPECT_LT(language::listed(std::string(100'000, 'x'), wide).size(), 700U);
}

TEST(messages, what_was_meant_comes_before_what_there_is) {
    const struct {
        const char *yaml, *words;
    } cases[] = {
        {"trades: [{id: a, product: europan}]\n",
         "unknown product 'europan'; did you mean 'european'? known products: european, "},
        {"trade: []\n", "unknown key 'trade'; did you mean 'trades'? known keys: "},
        {"settings: {pths: 1}\ntrades: []\n",
         "unknown key 'pths'; did you mean 'paths'? known keys: paths, "},
        {"trades: [{id: a, product: european, underlying: A, strike: 1, maturity: 1, option: cal}]\n",
         "found 'cal'; did you mean 'call'? expected one of call, put"},
        {"market: {as_of: 2026-01-15, currencies: {USD: {rate: 0}}, assets: {A: {currency: USF, spot: "
         "1}}}\ntrades: []\n",
         "unknown currency 'USF'; did you mean 'USD'? known: USD"},
        {"market: {as_of: 2026-01-15, currencies: {USD: {rate: 0}}, assets: {A: {currency: USD, spot: 1, "
         "model: {hestn: "
         "{}}}}}\ntrades: []\n",
         "unknown model 'hestn'; did you mean 'heston'? known: "},
    };
    for (const auto& c : cases) EXPECT_NE(told(c.yaml).find(c.words), std::string::npos) << told(c.yaml);
    EXPECT_NE(told(cases[0].yaml).find(" more"), std::string::npos);
}

// Limits of a message: a thousand letters for the place and path, and a thousand for the complaint.
TEST(messages, none_is_long) {
    const std::string much = std::string(100'000, 'x'), digits = std::string(100'000, '1'),
                      zeros = "0." + std::string(100'000, '0') + "7";
    const std::string key(1000, 'k'), european = "{id: a, product: european, underlying: A, ";
    const std::string market = "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0}}\n  ";
    const auto product = [](const std::string& script) {
        return "products:\n  - product: p\n    summary: s\n    parameters: {m: {type: date, help: h}}\n    "
               "example: {m: 1}\n"
               "    script: |\n      on m:\n          " +
               script + "\ntrades: []\n";
    };
    const std::vector<std::string> books{
        "trades: [" + european + "strike: " + much + ", maturity: 1}]\n",
        "trades: [" + european + "strike: -" + digits + ", maturity: 1}]\n",
        "trades: [" + european + "strike: 1, maturity: " + digits + "}]\n",
        "trades: [" + european + "strike: 1, maturity: 1, quantity: " + digits + "}]\n",
        "trades: [" + european + "strike: 1, maturity: 1, option: " + much + "}]\n",
        "trades: [" + european + "strike: 1, maturity: 1, " + key + ": 1}]\n",
        "trades: [{id: " + much + ", product: european}]\n",
        "trades: [{id: a, product: " + much + "}]\n",
        "trades: [{id: \"" + repeated("\\u0301", 40) + "\", product: european}]\n",
        much + "\n",
        key + ": 1\n",
        repeated("{" + std::string(900, 'k') + ": ", 60) + "*a" + repeated("}", 60) + "\n",
        market + "assets: {" + key + ": {currency: USD, spot: 1}}\ntrades: []\n",
        market + "assets: {A: {currency: " + much + ", spot: 1}}\ntrades: []\n",
        market + "assets: {A: {currency: USD, spot: -" + digits + "}}\ntrades: []\n",
        market + "assets: {A: {currency: USD, spot: 1, volatility: -" + zeros + "}}\ntrades: []\n",
        market + "assets: {A: {currency: USD, spot: 1, dividend_yield: " + digits + "}}\ntrades: []\n",
        market + "assets: {A: {currency: USD, spot: 1, volatility: {0.5: 0.2, 0.4: 0." + digits +
            "}}}\ntrades: []\n",
        market + "correlations: [[" + much + ", B, 0.1]]\ntrades: []\n",
        market + "fixings: {" + key + ": {}}\ntrades: []\n",
        "settings: {paths: " + much + "}\ntrades: []\n",
        "settings: {prefetch: " + much + "}\ntrades: []\n",
        "market: " + much + "\ntrades: []\n",
        "calendars: {" + key + ": {holidays: [" + much + "]}}\ntrades: []\n",
        product("pay " + std::string(60'000, 'x')),
        product("pay " + std::string(60'000, '1') + "x"),
        product(std::string(60'000, 'x') + " = 1"),
        product("pay \"" + std::string(60'000, 'x') + "\""),
        product("refuse \"" + std::string(60'000, 'x') + "\""),
    };
    for (const std::string& yaml : books) {
        const std::string said = told(yaml);
        EXPECT_FALSE(said.empty()) << yaml.substr(0, 200);
        EXPECT_LT(said.size(), 2300U) << yaml.substr(0, 200) << "\n"
                                      << said.size() << ": " << said.substr(0, 500);
    }
}

TEST(messages, a_file_is_named_once) {
    for (const char* yaml :
         {"trades: 1\n", "market: none.yaml\ntrades: []\n", "trades: [{id: a}]\n", "a\n", "{", "trade: []\n",
          "settings: {path: 1}\ntrades: []\n", "products: [none.yaml]\ntrades: []\n"}) {
        const std::string said = told(yaml);
        EXPECT_EQ(said.find("book.yaml"), 0U) << said;
        EXPECT_EQ(said.find("book.yaml", 1), std::string::npos) << said;
        EXPECT_EQ(said.find("none.yaml"), said.rfind("none.yaml")) << said;
    }
}

}  // namespace
}  // namespace tilewalk::messages_test
