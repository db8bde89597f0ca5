// SPDX-License-Identifier: Apache-2.0
// Every library product in extreme but legal markets and terms: the exact limit if there is one, otherwise a
// finite price with its error, or a refusal that says why; never NaN or infinity.
//
// The trades are the products' examples, changed by their declarations: amounts of money scale with the
// spots, times with the life of the trade. New products are covered without an edit.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewalk/tilewalk.h"

namespace tilewalk::extremes_test {
namespace {

constexpr std::uint64_t paths = 2048;

struct world {
    double scale = 1;          // of every price and amount
    double volatility = 0.25;  // of every asset
    double rate = 0.03;
    std::optional<double> last;  // years to the last date of the trade; empty to keep the example's
};

std::string market_of(const world& w) {
    const std::map<std::string, double> spots{{"ACME", 100},    {"BETA", 48.20}, {"GAMMA", 65.40},
                                              {"DELTA", 11.85}, {"INDEX", 6900}, {"CASHCOW", 82.50}};
    std::string text = fmt::format(
        "as_of: 2026-01-15\ncurrencies: {{USD: {{rate: {0}}}, EUR: {{rate: {0}}}, AUD: {{rate: {0}, model: "
        "{{hull_white: {{mean_reversion: 0.03, volatility: {1}}}}}}}}}\nassets:\n",
        w.rate, 0.04 * w.volatility);
    for (const auto& [name, spot] : spots) {
        text += fmt::format("  {}: {{currency: USD, spot: {}, dividend_yield: 0.01, volatility: {}}}\n", name,
                            spot * w.scale, w.volatility);
    }
    text += fmt::format("fx: {{EURUSD: {{rate: 1.1, volatility: {}}}}}\n", w.volatility == 0 ? 0 : 0.1);
    text += "correlations: [[ACME, BETA, 0.5], [ACME, INDEX, 0.6], [BETA, INDEX, 0.4]]\n";
    return text;
}

bool is_number(const YAML::Node& n) {
    double ignored = 0;
    return n.IsScalar() && YAML::convert<double>::decode(n, ignored);
}

void multiply(YAML::Node n, double factor) {
    if (n.IsSequence()) {
        for (auto item : n) multiply(item, factor);
    } else if (n.IsMap()) {
        for (const char* end : {"start", "end"}) {
            if (n[end]) multiply(n[end], factor);
        }
    } else if (is_number(n)) {
        n = fmt::format("{}", n.as<double>() * factor);
    }
}

double last_of(const YAML::Node& n) {
    if (n.IsSequence()) {
        double last = 0;
        for (const auto& item : n) last = std::max(last, last_of(item));
        return last;
    }
    if (n.IsMap()) return n["end"] ? last_of(n["end"]) : 0;
    return is_number(n) ? n.as<double>() : 0;
}

YAML::Node trade_in(const product_page& page, const world& w) {
    YAML::Node trade = YAML::Load(page.example);
    const auto is_time = [](const std::string& type) {
        return type == "date" || type == "schedule" || type.starts_with("date per");
    };
    double last = 0;
    for (const auto& p : page.parameters) {
        const bool is_amount = p.type == "amount" || p.type.starts_with("amount per");
        double ignored = 0;
        const bool is_given_by_default = is_amount && !trade[p.name] &&
                                         YAML::convert<double>::decode(YAML::Node(p.default_value), ignored);
        if (is_given_by_default) trade[p.name] = p.default_value;
        if (is_amount && trade[p.name]) multiply(trade[p.name], w.scale);
        if (is_time(p.type) && trade[p.name]) last = std::max(last, last_of(trade[p.name]));
    }
    EXPECT_GT(last, 0) << page.name << ": the example has no times in years";
    if (w.last) {
        for (const auto& p : page.parameters) {
            if (is_time(p.type) && trade[p.name]) multiply(trade[p.name], *w.last / last);
        }
    }
    return trade;
}

price_row priced(const YAML::Node& trade, const world& w) {
    YAML::Emitter text;
    text << YAML::Flow << trade;
    std::string market = market_of(w), indented;
    for (std::size_t at = 0; at < market.size();) {
        const std::size_t end = market.find('\n', at);
        indented += "  " + market.substr(at, end - at) + "\n";
        at = end + 1;
    }
    run_options how;
    how.overrides.paths = paths;
    how.overrides.device = "cpu";
    const std::string book_text = "market:\n" + indented + "trades:\n  - " + text.c_str() + "\n";
    const price_row row = engine().price(book::parse(book_text, "extreme"), how).rows.at(0);
    if (row.status == trade_status::priced) {
        EXPECT_TRUE(std::isfinite(row.price)) << book_text << row.price;
        if (row.has_error()) {
            EXPECT_TRUE(std::isfinite(row.standard_error) && row.standard_error >= 0)
                << book_text << row.price << " +- " << row.standard_error;
        } else {
            EXPECT_NE(row.message, "") << book_text << row.price;
        }
    } else {
        // A refusal names a mistake of the trade, not a path without a finite number.
        EXPECT_EQ(row.kind, error_kind::input) << book_text << row.message;
        EXPECT_EQ(row.message.find("finite"), std::string::npos) << book_text << row.message;
    }
    return row;
}

// The row's standard error; 0 if it has none, since all paths are the same.
double error_of(const price_row& row) {
    return row.has_error() ? row.standard_error : 0;
}

class extremes : public testing::TestWithParam<std::string> {
  protected:
    const product_page& page() const {
        static const std::vector<product_page> all = product_pages();
        return *std::ranges::find(all, GetParam(), &product_page::name);
    }
    price_row in(const world& w) const { return priced(trade_in(page(), w), w); }
    price_row accepted(const world& w) const {
        const price_row row = in(w);
        EXPECT_EQ(row.status, trade_status::priced) << page().name << ": " << row.message;
        return row;
    }
};

TEST_P(extremes, spots_of_a_millionth_and_of_a_thousand_millions) {
    const price_row usual = accepted({});
    for (const double scale : {1e-8, 1e7}) {
        world w;
        w.scale = scale;
        const price_row scaled = accepted(w);
        const double tolerance = 1e-9 * (std::abs(usual.price) + error_of(usual));
        EXPECT_NEAR(scaled.price / scale, usual.price, tolerance) << page().name << " at " << scale;
        EXPECT_NEAR(error_of(scaled) / scale, error_of(usual), tolerance) << page().name;
    }
}

// Without volatility all paths are the same, and a very small volatility changes almost nothing.
TEST_P(extremes, no_volatility) {
    world still, nearly;
    still.volatility = 0;
    nearly.volatility = 1e-7;
    const price_row exact = accepted(still), near = accepted(nearly), usual = accepted({});
    const double size = std::abs(exact.price) + std::abs(usual.price) + error_of(usual);
    EXPECT_LE(error_of(exact), 1e-12 * size) << page().name;
    EXPECT_NEAR(exact.price, near.price, 1e-5 * size) << page().name;
}

TEST_P(extremes, lives_of_a_day_and_of_fifty_years) {
    for (const double years : {1 / 365.0, 50.0}) {
        for (const double rate : {0.03, -0.02}) {
            world w;
            w.last = years;
            w.rate = rate;
            accepted(w);
        }
    }
}

TEST_P(extremes, rates_far_below_zero_and_high_volatility) {
    for (const double volatility : {0.01, 5.0}) {
        world w;
        w.rate = -0.5;
        w.volatility = volatility;
        accepted(w);
    }
}

// Every date is today: the payment is known, or the product refuses the terms.
TEST_P(extremes, no_time_left) {
    world w;
    YAML::Node trade = trade_in(page(), w);
    for (const auto& p : page().parameters) {
        if (!trade[p.name]) continue;
        if (p.type == "date") trade[p.name] = "2026-01-15";
        if (p.type == "schedule") trade[p.name] = std::vector<std::string>{"2026-01-15"};
        // A list of one value for each date becomes a single value, for all dates.
        const bool is_list = trade[p.name].IsSequence() && trade[p.name].size() > 0;
        const auto per = [&](const product_parameter& list) { return p.type.ends_with(" per " + list.name); };
        const auto list = std::ranges::find_if(page().parameters, per);
        if (is_list && list != page().parameters.end() && list->type == "schedule") {
            trade[p.name] = YAML::Node(trade[p.name][0].as<std::string>());
        }
    }
    const price_row row = priced(trade, w);
    if (row.status == trade_status::priced) {
        EXPECT_LE(error_of(row), 1e-12 * std::abs(row.price)) << page().name;
    }
}

TEST_P(extremes, amounts_at_the_spot) {
    const std::map<std::string, double> spots{{"ACME", 100}, {"INDEX", 6900}};
    const world w;
    for (const auto& p : page().parameters) {
        YAML::Node trade = trade_in(page(), w);
        if (p.type != "amount" || !trade[p.name] || !trade["underlying"]) continue;
        trade[p.name] = spots.at(trade["underlying"].as<std::string>());
        priced(trade, w);
    }
}

std::vector<std::string> products() {
    std::vector<std::string> names;
    for (const auto& page : product_pages()) names.push_back(page.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(library, extremes, testing::ValuesIn(products()),
                         [](const auto& at) { return at.param; });

}  // namespace
}  // namespace tilewalk::extremes_test
