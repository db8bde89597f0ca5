// SPDX-License-Identifier: Apache-2.0
// Prices a test's trades by the public engine, in a market given as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/by_source.h"
#include "tests/market_text.h"
#include "tests/named_choice.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk {

// A sound engine with new random numbers misses one comparison at 4.5 standard errors once in 150,000 times;
// each test states its number of comparisons.
inline constexpr double limit = 4.5;

inline const std::string forward_product =
    tests::product_in_words("forward", "The price itself.", "underlying: asset, maturity: date",
                            "on maturity:\n"
                            "    pay spot(underlying)\n");
inline const std::string late_forward_product =
    tests::product_in_words("late_forward",
                            "The price on the last of many dates, on all of which the path stops.",
                            "underlying: asset, dates: schedule",
                            "seen = 0\n"
                            "on dates:\n"
                            "    seen = spot(underlying)\n"
                            "on last(dates):\n"
                            "    pay seen\n") +
    tests::product_in_words("not_above", "One where the price is at a level or below it, which may be 0.",
                            "underlying: asset, level: number, maturity: date",
                            "on maturity:\n"
                            "    if spot(underlying) <= level:\n"
                            "        pay 1\n");

// `own_products` is a book's section `products`, or empty. A trade is its YAML mapping without braces and id.
inline std::vector<price_row> priced(const std::string& own_products, const std::string& market_text,
                                     const std::vector<std::string>& trades, std::uint64_t paths,
                                     std::uint64_t seed, const std::string& precision = "double",
                                     run_options options = {}) {
    std::string text = own_products + "trades:\n";
    for (std::size_t i = 0; i < trades.size(); ++i)
        text += fmt::format("  - {{id: t{}, {}}}\n", i, trades[i]);
    options.overrides.paths = paths;
    options.overrides.seed = seed;
    options.overrides.device = "cpu";
    options.overrides.precision = tests::named{precision};
    take_source(options);
    return engine().price(book::parse(text), market::parse(market_text), options).rows;
}

}  // namespace tilewalk
