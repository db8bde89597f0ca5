// SPDX-License-Identifier: Apache-2.0
// A user's program: prices one call through the installed library and compares it with Black-Scholes.
#include <tilewalk/tilewalk.h>

#include <cmath>
#include <iostream>

namespace {

constexpr const char* text = R"(
market:
  as_of: 2026-01-15
  currencies:
    USD: {rate: 0.03}
  assets:
    ACME: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: 0.2}
settings: {paths: 131072, seed: 7}
trades:
  - {id: call, product: european, underlying: ACME, option: call, strike: 105, maturity: 1.0}
)";

double normal(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

double black_scholes_call(double spot, double strike, double rate, double yield, double volatility,
                          double years) {
    const double deviation = volatility * std::sqrt(years);
    const double d1 = (std::log(spot / strike) + (rate - yield) * years) / deviation + 0.5 * deviation;
    return spot * std::exp(-yield * years) * normal(d1) -
           strike * std::exp(-rate * years) * normal(d1 - deviation);
}

}  // namespace

int main() {
    const tilewalk::engine engine;
    const auto priced = engine.price(tilewalk::book::parse(text)).rows.at(0);
    if (priced.status != tilewalk::trade_status::priced) {
        std::cerr << "the call was not priced: " << priced.message << "\n";
        return 1;
    }
    const double expected = black_scholes_call(100, 105, 0.03, 0.01, 0.2, 1.0);
    const double distance = (priced.price - expected) / priced.standard_error;
    std::cout << "tilewalk " << tilewalk::version() << ": " << priced.price << " +- " << priced.standard_error
              << ", Black-Scholes " << expected << ", " << distance << " standard errors apart\n";
    return std::abs(distance) < 4.5 && priced.standard_error < 0.05 ? 0 : 1;
}
