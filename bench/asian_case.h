// SPDX-License-Identifier: Apache-2.0
// The trade behind every speed figure: an arithmetic Asian call, 252 daily fixings, flat Black-Scholes.
#pragma once

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "tilewalk/tilewalk.h"

namespace tilewalk::bench {

inline book book_on_acme(double spot, double rate, double volatility, const std::string& trade) {
    const auto text = [](double x) { return std::to_string(x); };
    return book::parse("market: {as_of: 2026-01-15, currencies: {USD: {rate: " + text(rate) +
                       "}}, assets: {ACME: {currency: USD, spot: " + text(spot) +
                       ", volatility: " + text(volatility) + "}}}\ntrades:\n  - " + trade + "\n");
}

struct asian_case {
    double spot = 100, strike = 100, rate = 0.05, volatility = 0.2;
    int fixings = 252;

    tilewalk::book book() const {
        return book_on_acme(
            spot, rate, volatility,
            "{id: asian, product: asian, underlying: ACME, option: call, strike: " + std::to_string(strike) +
                ", averaging_dates: {start: 0, end: 1, count: " + std::to_string(fixings) + "}}");
    }
};

// Prices the book once in each benchmark iteration. Counts path-steps: a path over one fixing date.
inline price_row price_repeatedly(benchmark::State& state, const tilewalk::book& book,
                                  const std::string& instructions, std::uint64_t paths, int threads) {
    const engine pricer({instructions});
    run_options options;
    options.overrides.controls = technique::none;
    options.overrides.paths = paths;
    options.overrides.threads = threads;
    price_row row;
    std::uint64_t steps = 0;
    for (auto _ : state) {
        const results r = pricer.price(book, options);
        row = r.rows.at(0);
        if (row.status != trade_status::priced) {
            state.SkipWithError(row.message.c_str());
            break;
        }
        steps += r.manifest.path_steps;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(steps));
    state.counters["price"] = row.price;
    state.counters["standard_error"] = row.standard_error;
    return row;
}

}  // namespace tilewalk::bench
