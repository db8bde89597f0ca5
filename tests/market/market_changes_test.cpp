// SPDX-License-Identifier: Apache-2.0
// A market with a changed number against a text with that number in its place, for every key of every form
// and model. Both give the same market to the bit, or are refused in the same words at the same place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/inside.h"
#include "engine/base/wording.h"
#include "engine/market/market_state.h"
#include "engine/market/market_view.h"
#include "engine/models/model.h"
#include "engine/models/rates/rates.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/reading/written_market.h"
#include "kernels/exponential.h"
#include "tests/all_forms.h"
#include "tests/every_model.h"
#include "tests/texts.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::market_changes_test {
namespace {

using markets::keyed_number;
using markets::market_state;
using reader = std::function<market(const std::string& text)>;

market of_book(const std::string& text) {
    return *book::parse(text, "market.yaml").market();
}
market of_text(const std::string& text) {
    return market::parse(text, "market.yaml");
}

const config::node& node_of(const market& in, const keyed_number& number) {
    using section = markets::market_part::section;
    const config::node& root = state_of(in).source->root();
    const auto part = [&](const char* name) -> const config::node& {
        return root.at(name).at(number.of.name);
    };
    switch (number.of.in) {
        case section::currencies:
            return part("currencies").descendant(number.place);
        case section::fx:
            return part("fx").descendant(number.place);
        case section::assets:
            return part("assets").descendant(number.place);
        case section::fixings:
            return part("fixings").descendant(number.place);
        case section::correlations:
            break;
    }
    return root.at("correlations").descendant(number.place);
}

// The text with `number` in place of the number at `where`.
std::string text_with(const std::string& text, const location& where, double number) {
    std::size_t at = 0;
    for (int line = 1; line < where.line; ++line) at = text.find('\n', at) + 1;
    at += static_cast<std::size_t>(where.column) - 1;
    const std::size_t end = text.find_first_not_of("0123456789.+-eE", at);
    return text.substr(0, at) + config::shown(number) + text.substr(end);
}

struct outcome {
    std::optional<market> in{};
    std::string message{}, key_path{};
    location where{};
};

template <class Make>
outcome outcome_of(Make make) {
    try {
        return {make()};
    } catch (const error& e) {
        return {{}, e.message(), e.key_path(), e.where()};
    }
}

void expect_same_parameters(const std::vector<model_parameter>& a, const std::vector<model_parameter>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].name, b[i].name);
        EXPECT_EQ(a[i].years, b[i].years) << a[i].name;
        EXPECT_EQ(a[i].values, b[i].values) << a[i].name;
        EXPECT_EQ(a[i].text, b[i].text) << a[i].name;
    }
}

void expect_same_asset(const markets::asset& a, const markets::asset& b) {
    EXPECT_EQ(a.spot, b.spot);
    EXPECT_EQ(a.dividend_yield, b.dividend_yield);
    EXPECT_EQ(a.dividends, b.dividends);
    EXPECT_EQ(a.vol, b.vol);
    expect_same_parameters(a.model_parameters, b.model_parameters);
    ASSERT_EQ(a.model == nullptr, b.model == nullptr);
    EXPECT_EQ(models::model_of(a).describe(), models::model_of(b).describe());
    EXPECT_EQ(models::model_of(a).remarks(), models::model_of(b).remarks());
}

void expect_same_state(const market_state& a, const market_state& b) {
    EXPECT_EQ(a.as_of, b.as_of);
    EXPECT_EQ(a.currencies, b.currencies);
    EXPECT_EQ(a.correlations, b.correlations);
    EXPECT_EQ(a.own_factors, b.own_factors);
    EXPECT_EQ(a.fixings, b.fixings);
    ASSERT_EQ(a.fx.size(), b.fx.size());
    for (std::size_t i = 0; i < a.fx.size(); ++i) {
        EXPECT_EQ(a.fx[i].base + a.fx[i].quote, b.fx[i].base + b.fx[i].quote);
        EXPECT_EQ(a.fx[i].rate, b.fx[i].rate);
        EXPECT_EQ(a.fx[i].vol, b.fx[i].vol);
    }
    ASSERT_EQ(a.assets.size(), b.assets.size());
    for (const auto& [name, asset] : a.assets) {
        const testing::ScopedTrace trace(__FILE__, __LINE__, name);
        expect_same_asset(asset, b.find_asset(name));
    }
    for (const auto& [name, parameters] : a.rate_parameters)
        expect_same_parameters(parameters, b.rate_parameters.at(name));
}

// Trades with what they read of the base market. Their plans show what models make of a market's numbers.
class planned_book {
  public:
    planned_book(const std::string& text, const market& base) : trades_(book::parse(text)), base_(base) {
        for (const books::trade& t : state_of(trades_).trades) {
            markets::market_reads& reads = reads_.emplace_back();
            plan::plan_trade(t, markets::market_view(state_of(base), &reads));
        }
    }

    // Plans, in `a` and in `b`, each trade that reads a number by which `a` differs from the base market, and
    // expects equal plans. Returns the number of these trades.
    std::size_t expect_same_plans(const market_state& a, const market_state& b) const {
        std::size_t moved = 0;
        for (std::size_t i = 0; i < reads_.size(); ++i) {
            if (reads_[i].are_alike(state_of(base_), a)) continue;
            const books::trade& t = state_of(trades_).trades[i];
            const program::path_data x = plan::plan_trade(t, a).data, y = plan::plan_trade(t, b).data;
            EXPECT_EQ(x.terms, y.terms) << t.id;
            EXPECT_EQ(x.rows, y.rows) << t.id;
            EXPECT_EQ(x.initial_states, y.initial_states) << t.id;
            ++moved;
        }
        return moved;
    }

  private:
    book trades_;
    market base_;
    std::vector<markets::market_reads> reads_;
};

struct count {
    std::size_t markets = 0, refusals = 0, plans = 0;
};

void expect_same_outcome(const outcome& changed, const outcome& read, const location& number,
                         const planned_book& trades, count& seen) {
    ASSERT_EQ(changed.in.has_value(), read.in.has_value()) << changed.message << read.message;
    if (read.in) {
        ++seen.markets;
        expect_same_state(state_of(*changed.in), state_of(*read.in));
        seen.plans += trades.expect_same_plans(state_of(*changed.in), state_of(*read.in));
        return;
    }
    ++seen.refusals;
    EXPECT_TRUE(changed.message.ends_with(": this is no market: " + read.message)) << changed.message << '\n'
                                                                                   << read.message;
    EXPECT_EQ(changed.key_path, read.key_path);
    EXPECT_EQ(changed.where.file, read.where.file);
    EXPECT_EQ(changed.where.line, read.where.line);
    // Text after the changed number moves with the length of the number.
    const bool is_behind = read.where.line == number.line && read.where.column > number.column;
    if (!is_behind) {
        EXPECT_EQ(changed.where.column, read.where.column);
    }
}

// Changes every number that the text states: a little, more, and beyond all bounds.
count expect_written_as_read(const std::string& text, const reader& read, const std::string& book_text) {
    const market base = read(text);
    const planned_book trades(book_text, base);
    count seen;
    for (const keyed_number& n : state_of(base).source->numbers()) {
        const config::node& written = node_of(base, n);
        const double size = std::max(std::abs(n.value), 0.01);
        for (const double by : {1e-4 * size, 0.3 * size, -1e17}) {
            const testing::ScopedTrace trace(__FILE__, __LINE__, n.key + " by " + config::shown(by));
            const double value = n.value + by;
            const double number = n.factor_years > 0
                                      ? written.number() * kernels::exp(-(value - n.value) * n.factor_years)
                                      : value;
            if (!std::isfinite(number)) continue;
            expect_same_outcome(outcome_of([&] { return base.with(n.key, value); }),
                                outcome_of([&] { return read(text_with(text, written.where(), number)); }),
                                written.where(), trades, seen);
        }
    }
    return seen;
}

TEST(market_changes, every_form_is_written_as_it_is_read) {
    const count seen = expect_written_as_read(tests::all_forms, of_text, tests::book_on_all_forms());
    EXPECT_GT(seen.markets, 100u);
    EXPECT_GT(seen.refusals, 80u);
    EXPECT_GT(seen.plans, 100u);
}

TEST(market_changes, every_model_is_written_as_it_is_read) {
    const std::string text = tests::replaced(book_of_every_model(), "particles: 1024", "particles: 256");
    const count seen = expect_written_as_read(text, of_book, text);
    EXPECT_GT(seen.markets, 100u);
    EXPECT_GT(seen.refusals, 80u);
    EXPECT_GT(seen.plans, 100u);
}

// Changes of different numbers share one copy of their part of the market: no earlier change may show in it.
TEST(market_changes, changes_of_one_part_know_nothing_of_one_another) {
    const market base = of_text(tests::all_forms);
    for (const std::vector<std::string>& keys :
         {std::vector<std::string>{"BETA.spot", "BETA.volatility@0.5y", "BETA.dividend@1.5y"},
          {"BETA|ACME.correlation", "BETA|EURUSD.correlation", "USD.rate|ACME.correlation"},
          {"GBP.rate@1y", "GBP.rate@2028-01-15", "GBP.forward_market.loadings@1,1"}}) {
        for (const std::string& key : keys) {
            const market one = base.with(key, base.number(key).value * 1.01);
            const market other = of_text(tests::all_forms).with(key, base.number(key).value * 1.01);
            expect_same_state(state_of(one), state_of(other));
            EXPECT_THROW(base.with(key, -1e17), error);
        }
        expect_same_state(state_of(base.shifted(keys[0], 0.001).with(keys[0], base.number(keys[0]).value)),
                          state_of(base));
    }
}

TEST(market_changes, dividends_that_a_curve_makes_dearer_than_the_spot_are_refused) {
    const market base = of_text(
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.5}}\nassets: {A: {currency: USD, spot: 10, "
        "volatility: "
        "0.2, dividends: [{date: 1, amount: 12}]}}\n");
    EXPECT_THROW(base.with("USD.rate", 0.1), error);
    EXPECT_NO_THROW(base.with("USD.rate", 0.4));
}

TEST(market_changes, threads_change_one_market_at_a_time_of_their_own) {
    const market base = of_text(tests::all_forms);
    const auto spot = [](int k) { return 50.125 + 0.125 * k; };
    std::vector<std::vector<market>> made(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < made.size(); ++t) {
        threads.emplace_back([&, t] {
            for (int k = 0; k < 50; ++k) {
                const std::string key = (k + static_cast<int>(t)) % 2 == 0 ? "BETA.spot" : "EUR.rate@0.5y";
                made[t].push_back(base.with(key, key == "BETA.spot" ? spot(k) : 1e-4 * k));
            }
        });
    }
    for (std::thread& t : threads) t.join();
    for (std::size_t t = 0; t < made.size(); ++t) {
        for (int k = 0; k < 50; ++k) {
            const market& got = made[t][static_cast<std::size_t>(k)];
            const bool is_spot = (k + static_cast<int>(t)) % 2 == 0;
            EXPECT_EQ(state_of(got).find_asset("BETA").spot, is_spot ? spot(k) : 50);
            EXPECT_EQ(got.changes().size(), 1u);
        }
    }
}

}  // namespace
}  // namespace tilewalk::market_changes_test
