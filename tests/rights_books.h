// SPDX-License-Identifier: Apache-2.0
// Books of one trade with a right to exercise, and a lattice that prices Bermudan puts.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "tests/by_source.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::tests {

inline std::string market_of(const std::string& assets, double rate) {
    return "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: " + std::to_string(rate) +
           "}}\n  assets:\n" + assets + "  correlations: []\n";
}

inline std::string product_of(const std::string& name, const std::string& parameters,
                              const std::string& script) {
    std::string example, out = "  - product: " + name + "\n    summary: A test.\n    parameters:\n";
    for (const std::string& word :
         {std::string("underlying"), std::string("basket"), std::string("strike"), std::string("dates")}) {
        if (parameters.find(word) == std::string::npos) continue;
        const std::string type = word == "underlying" ? "asset"
                                 : word == "basket"   ? "asset_list"
                                 : word == "strike"   ? "amount"
                                                      : "schedule";
        out += "      " + word + ": {type: " + type + ", help: It.}\n";
        example += (example.empty() ? "" : ", ") + word + ": " +
                   (word == "underlying" ? "ACME"
                    : word == "basket"   ? "[ACME, BETA]"
                    : word == "strike"   ? "100"
                                         : "[0.5, 1.0]");
    }
    out += "    example: {" + example + "}\n    script: |\n";
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line);) out += "      " + line + "\n";
    return out;
}

inline const std::string put = "exercise on dates: receive max(strike - spot(underlying), 0)\n";

inline results priced(const std::string& text, std::uint64_t paths, std::uint64_t seed = 42,
                      run_options options = {}) {
    options.overrides.paths = paths;
    options.overrides.seed = seed;
    options.overrides.threads = 2;
    take_source(options);
    return engine().price(book::parse(text), options);
}

// Expects that the bounds of `row` enclose `truth`, that the policy is worth `least` or more, and that the
// upper bound is `most` or less. By chance one seed in 15,000 fails at each end.
inline void expect_between(const price_row& row, double truth,
                           double least = -std::numeric_limits<double>::infinity(),
                           double most = std::numeric_limits<double>::infinity()) {
    ASSERT_EQ(row.status, trade_status::priced) << row.message;
    ASSERT_TRUE(row.early);
    const early_exercise& e = *row.early;
    // Errors of both bounds have the same number of degrees of freedom.
    const double errors = errors_of_normal(4, row, known_error(row));
    EXPECT_LT(e.lower_bound - errors * e.lower_error, truth);
    EXPECT_GT(e.upper_bound + errors * e.upper_error, truth);
    EXPECT_GT(e.lower_bound + errors * e.lower_error, least) << "a policy that is near the best";
    EXPECT_LT(e.upper_bound - errors * e.upper_error, most) << "a martingale that is near the best";
    EXPECT_NEAR(row.price, e.wide ? e.policy_value : (e.lower_bound + e.upper_bound) / 2,
                1e-12 * std::abs(truth));
    EXPECT_LE(row.low, row.price);
    EXPECT_GE(row.high, row.price);
}

inline std::string put_on(const std::string& asset, double rate, const std::string& strike,
                          const std::string& dates, const std::string& script = put) {
    return market_of("    A: {currency: USD, " + asset + "}\n", rate) + "products:\n" +
           product_of("p", "underlying strike dates", script) +
           "trades:\n  - {id: t, product: p, underlying: A, strike: " + strike + ", dates: " + dates + "}\n";
}

// The value of a Bermudan put by quadrature from date to date, on an even grid of log prices with the strike
// on a grid point. The weights are the density of the move.
inline double put_on_a_lattice(double spot, double strike, double rate, double volatility,
                               const std::vector<double>& dates, double dividends = 0) {
    constexpr int n = 1501;
    const double width = 8 * volatility * std::sqrt(dates.back()), h = 2 * width / (n - 1);
    const auto place = [](int i) { return static_cast<std::size_t>(i); };
    const auto at = [&](int i) { return std::log(strike) - width + i * h; };
    const auto pays = [&](int i) { return std::max(strike - std::exp(at(i)), 0.0); };
    std::vector<double> value(n);
    for (int i = 0; i < n; ++i) value[place(i)] = pays(i);
    const auto back = [&](double years, double from) {
        const double sd = volatility * std::sqrt(years),
                     mean = (rate - dividends - volatility * volatility / 2) * years;
        const int reach = static_cast<int>(8 * sd / h);
        const int middle = static_cast<int>(std::floor((from + mean - at(0)) / h));
        double sum = 0, weights = 0;
        for (int j = middle - reach; j <= middle + reach; ++j) {
            const double z = (at(j) - from - mean) / sd, w = std::exp(-z * z / 2);
            weights += w;
            sum += w * (j < 0 ? strike - std::exp(at(j)) : j >= n ? 0.0 : value[place(j)]);
        }
        return std::exp(-rate * years) * sum / weights;
    };
    for (std::size_t k = dates.size() - 1; k > 0; --k) {
        std::vector<double> next(n);
        for (int i = 0; i < n; ++i) next[place(i)] = std::max(pays(i), back(dates[k] - dates[k - 1], at(i)));
        value = next;
    }
    return back(dates[0], std::log(spot));
}

}  // namespace tilewalk::tests
