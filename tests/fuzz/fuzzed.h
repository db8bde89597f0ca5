// SPDX-License-Identifier: Apache-2.0
// The rule of all fuzz targets: any input may be refused, but only as bad input and with a message for
// people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tilewalk/error.h"

namespace tilewalk::fuzzed {

inline void demand(bool holds, const char* what, const std::string& about) {
    if (holds) return;
    std::fprintf(stderr, "%s: %s\n", what, about.c_str());
    std::abort();
}

inline void check_refusal(const error& e) {
    constexpr std::size_t longest = 20'000;
    demand(e.kind() == error_kind::input || e.kind() == error_kind::io || e.kind() == error_kind::numeric,
           "refused as no input is refused", e.what());
    demand(!e.message().empty() && std::string_view(e.what()).size() < longest, "no message for people",
           e.what());
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

inline constexpr std::string_view market_text =
    "as_of: 2026-01-15\n"
    "currencies: {USD: {rate: 0.03}, EUR: {zero_rates: {0.5: 0.02, 2027-01-15: 0.021}}, GBP: {rate: 0.04}}\n"
    "assets:\n"
    "  ACME: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: 0.2}\n"
    "  BETA: {currency: USD, spot: 48, volatility: {0.5: 0.3, 2.0: 0.31}}\n"
    "  GAMMA: {currency: EUR, spot: 65, volatility: 0.25, dividends: [{date: 2026-06-01, amount: 0.5}]}\n"
    "  DELTA: {currency: GBP, spot: 12, volatility: 0.2}\n"
    "  INDEX: {currency: USD, spot: 6900, volatility: 0.17}\n"
    "  CASHCOW: {currency: USD, spot: 82, volatility: 0.18}\n"
    "fx: {EURUSD: {rate: 1.16, volatility: 0.07}, GBPUSD: {rate: 1.34, volatility: 0.08}}\n"
    "correlations: [[ACME, BETA, 0.5], [ACME, GAMMA, 0.4], [GAMMA, EURUSD, -0.15]]\n"
    "fixings: {ACME: {2025-12-31: 99, 2026-01-12: 99.5}}\n";

}  // namespace tilewalk::fuzzed
