// SPDX-License-Identifier: Apache-2.0
// For tests of scenarios: a market of which one part changes at a time, trades that read only some of its
// parts, and a bitwise comparison of results.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tilewalk/book.h"
#include "tilewalk/market.h"
#include "tilewalk/results.h"

namespace tilewalk::tests {

struct text_change {
    std::string what, from, to;
    std::set<std::string> readers;
};

inline const std::string changing_market = R"(as_of: 2026-01-15
currencies:
  USD: {rate: 0.03}
  EUR: {rate: 0.02}
  JPY: {rate: 0.01}
assets:
  ACME: {currency: USD, spot: 100, volatility: 0.2}
  BETA: {currency: EUR, spot: 50, dividend_yield: 0.01, volatility: {0.5: 0.2, 2.0: 0.25}}
  CASH: {currency: JPY, spot: 80, dividends: [{date: 2026-06-01, amount: 1.5}], volatility: 0.3}
fx:
  EURUSD: {rate: 1.10, volatility: 0.1}
  USDJPY: {rate: 150, volatility: 0.12}
correlations:
  - [ACME, BETA, 0.5]
  - [BETA, EURUSD, -0.2]
  - [ACME, EURUSD, 0.1]
fixings:
  ACME: {2025-12-15: 96, 2026-01-05: 99, 2026-01-15: 101}
  BETA: {2025-12-15: 51}
)";

inline const std::string changing_book = R"(
trades:
  - {id: acme, product: european, underlying: ACME, strike: 100, maturity: 1.0}
  - {id: acme_again, product: european, underlying: ACME, strike: 110, maturity: 0.5}
  - {id: beta, product: european, underlying: BETA, strike: 52, maturity: 1.0}
  - {id: beta_in_usd, product: european, underlying: BETA, strike: 52, maturity: 1.0, currency: USD}
  - {id: cash, product: european, option: put, underlying: CASH, strike: 85, maturity: 0.75}
  - {id: two, product: worst_of, basket: [ACME, BETA], initial_level: [100, 50], strike: 0.9, maturity: 1.0}
  - {id: averaged, product: asian, underlying: ACME, strike: 100, averaging_dates: [2025-12-15, 2026-01-05, 2026-03-01, 2026-06-01]}
)";

inline std::vector<text_change> market_changes() {
    return {
        {"spot", "spot: 100", "spot: 101.5", {"acme", "acme_again", "two", "averaged"}},
        {"volatility", "0.5: 0.2, 2.0", "0.5: 0.21, 2.0", {"beta", "beta_in_usd", "two"}},
        {"curve", "JPY: {rate: 0.01}", "JPY: {zero_rates: {1.0: 0.01, 5.0: 0.015}}", {"cash"}},
        {"dividend", "amount: 1.5", "amount: 1.6", {"cash"}},
        {"yield", "dividend_yield: 0.01", "dividend_yield: 0.012", {"beta", "beta_in_usd", "two"}},
        {"exchange rate", "rate: 1.10", "rate: 1.12", {"beta_in_usd", "two"}},
        {"volatility of a rate that nobody takes", "volatility: 0.12", "volatility: 0.13", {}},
        {"correlation", "[ACME, BETA, 0.5]", "[ACME, BETA, 0.4]", {"two"}},
        {"fixing", "2026-01-05: 99", "2026-01-05: 98", {"averaged"}},
        {"fixing that nobody reads", "2025-12-15: 51", "2025-12-15: 52", {}},
        {"day",
         "as_of: 2026-01-15",
         "as_of: 2026-01-16",
         {"acme", "acme_again", "beta", "beta_in_usd", "cash", "two", "averaged"}},
    };
}

inline std::string changed(std::string text, const text_change& by) {
    const auto at = text.find(by.from);
    EXPECT_NE(at, std::string::npos) << by.what;
    return at == std::string::npos ? text : text.replace(at, by.from.size(), by.to);
}

inline void expect_same_bits(double a, double b, const std::string& what) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b))
        << what << ": " << a << ", " << b;
}

inline void expect_same_rows(const results& a, const results& b, const std::string& what,
                             bool with_remarks = true) {
    ASSERT_EQ(a.rows.size(), b.rows.size()) << what;
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        const price_row &x = a.rows[i], &y = b.rows[i];
        const std::string here = what + ", " + x.trade;
        EXPECT_EQ(x.trade, y.trade) << what;
        EXPECT_EQ(x.status, y.status) << here << ": " << x.message << y.message;
        EXPECT_EQ(x.message, y.message) << here;
        EXPECT_EQ(x.currency, y.currency) << here;
        EXPECT_EQ(x.part_means, y.part_means) << here;
        EXPECT_EQ(x.shadow_difference, y.shadow_difference) << here;
        if (with_remarks) {
            EXPECT_EQ(x.remarks, y.remarks) << here;
        }
        expect_same_bits(x.price, y.price, here);
        expect_same_bits(x.standard_error, y.standard_error, here);
        ASSERT_EQ(x.reported.has_value(), y.reported.has_value()) << here;
        if (x.reported) expect_same_bits(x.reported->value, y.reported->value, here);
    }
    EXPECT_EQ(a.manifest.as_of, b.manifest.as_of) << what;
    EXPECT_EQ(a.manifest.path_steps, b.manifest.path_steps) << what;
    EXPECT_EQ(a.manifest.missing_correlations, b.manifest.missing_correlations) << what;
    ASSERT_EQ(a.manifest.inputs.size(), b.manifest.inputs.size()) << what;
}

}  // namespace tilewalk::tests
