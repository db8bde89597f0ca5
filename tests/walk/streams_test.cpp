// SPDX-License-Identifier: Apache-2.0
// Streams of random numbers by name: keys of names, which trades share noise, the effect on errors of totals,
// and refusals.
#include "products/program/streams.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/market/market_state.h"
#include "engine/models/world/stream_names.h"
#include "products/program/recorder.h"
#include "tests/market_text.h"
#include "tests/plain_paths.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::streams_test {
namespace {

using program::stream_name;
using tests::dollar_market;

// Expected keys were computed in Python: FNV-1a and the finaliser of MurmurHash3.
TEST(streams, keys_of_names_are_known_answers) {
    EXPECT_EQ(stream_name("ACME").key, 0x6efdcca57ccdae6u);
    EXPECT_EQ(stream_name("USD.rate").key, 0x1ab71680c6bb7407u);
    EXPECT_EQ(stream_name("EUR USD").key, 0x93002efc073918au);
    EXPECT_EQ(stream_name().key, 0u);
}

TEST(streams, of_a_market_are_all_named) {
    const market in = market::parse(
        "as_of: 2026-01-15\n"
        "currencies: {USD: {rate: 0.03}, EUR: {rate: 0.02}, JPY: {rate: 0.01}}\n"
        "assets: {A: {currency: USD, spot: 100, volatility: 0.2}, B: {currency: EUR, spot: 50, volatility: "
        "0.3}}\n");
    std::set<std::string> texts;
    for (const program::stream_name& name : models::stream_names(state_of(in))) texts.insert(name.text);
    EXPECT_EQ(texts.size(), 2U * 2 + 3 + 3);
    for (const std::string currency : {"USD", "EUR", "JPY"})
        EXPECT_TRUE(texts.contains(models::stream_of_rates(currency))) << currency;
    EXPECT_TRUE(texts.contains("A") && texts.contains("B"));
}

TEST(streams, two_names_of_one_key_are_refused) {
    std::vector<stream_name> all{stream_name("A"), stream_name("B"), stream_name("A")};
    EXPECT_EQ(program::fault_of_keys(all), "");
    all[1].key = all[0].key;
    EXPECT_EQ(program::fault_of_keys(all),
              "'A' and 'B' have the same key of random numbers, so they would move alike; expected another "
              "name for one of them");
}

TEST(streams, places_count_the_dimensions_of_each_stream) {
    const std::vector<std::uint32_t> streams{0, 1, 0, 2, 0};
    const auto places = program::places_in_streams(streams, 5);
    const std::vector<std::uint32_t> dimension{0, 0, 1, 0, 2}, dimensions{3, 1, 3, 1, 3};
    for (std::size_t s = 0; s < places.size(); ++s) {
        EXPECT_EQ(places[s].stream, streams[s]);
        EXPECT_EQ(places[s].dimension, dimension[s]);
        EXPECT_EQ(places[s].dimensions, dimensions[s]);
    }
    EXPECT_EQ(program::places_in_streams({}, 2)[1].dimension, 1u);
}

TEST(streams, a_path_of_too_many_numbers_is_refused_by_name) {
    const auto recorded = [](std::size_t steps, int numbers) {
        program::recorder into;
        into.output(into.state("x", 0.0));
        into.open_section(0, "step", steps);
        for (int i = 0; i < numbers; ++i) into.normal("ACME");
        return std::move(into).finish();
    };
    EXPECT_NO_THROW(recorded(program::most_numbers_of_stream / 2, 2));
    try {
        recorded(program::most_numbers_of_stream / 2, 3);
        ADD_FAILURE() << "it was recorded";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::input);
        EXPECT_EQ(
            e.message(),
            "found 50331648 random numbers of 'ACME' along a path, expected at most 33554432; take fewer "
            "or longer steps");
    }
}

// Two assets that differ only in their names.
const std::string alike =
    dollar_market(0.03, {{"ACME", "spot: 100, volatility: 0.2"}, {"BETA", "spot: 100, volatility: 0.2"}});

book book_of(const std::string& trades) {
    std::string text;
    std::size_t at = 0;
    int id = 0;
    for (std::size_t next; (next = trades.find("- {", at)) != std::string::npos; at = next + 3)
        text += trades.substr(at, next + 3 - at) + fmt::format("id: t{}, ", id++);
    return book::parse("trades:\n" + text + trades.substr(at));
}

results priced(const std::string& trades, std::uint64_t paths, std::uint64_t seed) {
    run_options how;
    how.overrides.paths = paths;
    how.overrides.seed = seed;
    how.overrides.threads = 2;
    how.overrides.device = "cpu";
    return engine().price(book_of(trades), market::parse(alike), how);
}

std::string call_on(const std::string& asset, double strike = 100) {
    return fmt::format("  - {{product: european, underlying: {}, strike: {}, maturity: 1.0}}\n", asset,
                       strike);
}

TEST(streams, trades_on_one_asset_walk_the_same_paths) {
    const results r = priced(
        call_on("ACME") + call_on("BETA") + call_on("ACME") +
            "  - {product: basket, basket: [ACME, BETA], weights: [1, 0], strike: 100, maturity: 1.0}\n"
            "  - {product: basket, basket: [BETA, ACME], weights: [0, 1], strike: 100, maturity: 1.0}\n"
            "  - {product: barrier, underlying: ACME, strike: 100, maturity: 1.0, barrier: 1, direction: "
            "down}\n",
        4096, 1);
    for (const price_row& row : r.rows) ASSERT_EQ(row.status, trade_status::priced) << row.message;
    EXPECT_EQ(r.rows[0].price, r.rows[2].price);
    EXPECT_NE(r.rows[0].price, r.rows[1].price);
    EXPECT_NEAR(r.rows[3].price / r.rows[0].price, 1, 1e-12);
    EXPECT_NEAR(r.rows[4].price / r.rows[0].price, 1, 1e-12);
    // A barrier that no path reaches leaves the price as it is, although the path is monitored for it.
    EXPECT_NEAR(r.rows[5].price / r.rows[0].price, 1, 1e-12);
}

// Over 400 seeds, errors of two trades are uncorrelated if they are on different assets, but not if they are
// on the same asset. The correlation of 400 independent pairs has a standard deviation of 0.05; 4.5 of these
// give one false alarm in 150,000.
TEST(streams, errors_of_trades_on_different_assets_are_independent) {
    const double truth = 9.413403383853019;  // price by Black-Scholes
    double ab = 0, aa = 0, a2 = 0, b2 = 0, c2 = 0;
    constexpr int seeds = 400;
    for (int seed = 1; seed <= seeds; ++seed) {
        const results r = priced(call_on("ACME") + call_on("BETA") + call_on("ACME", 105), 1024,
                                 static_cast<std::uint64_t>(seed));
        const double a = r.rows[0].price - truth, b = r.rows[1].price - truth,
                     c = r.rows[2].price - 7.1280646692617395;
        ab += a * b;
        aa += a * c;
        a2 += a * a;
        b2 += b * b;
        c2 += c * c;
    }
    EXPECT_LT(std::abs(ab / std::sqrt(a2 * b2)), 4.5 / std::sqrt(seeds));
    EXPECT_GT(aa / std::sqrt(a2 * c2), 0.9);
}

// The error of a total over many assets is the root of the sum of their squared errors; with common random
// numbers it would be the sum. From 64 parts it is known to 9 %: 4.5 times that is allowed.
TEST(streams, a_total_over_many_assets_gains_by_independence) {
    std::string market_text = "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets:\n", trades;
    constexpr int assets = 25;
    for (int i = 0; i < assets; ++i) {
        market_text += fmt::format("  A{}: {{currency: USD, spot: 100, volatility: 0.2}}\n", i);
        trades += call_on(fmt::format("A{}", i));
    }
    run_options how = tests::plain_paths();
    how.overrides.paths = 65536;
    how.overrides.device = "cpu";
    const results r = engine().price(book_of(trades), market::parse(market_text), how);
    double squares = 0;
    for (const price_row& row : r.rows) squares += row.standard_error * row.standard_error;
    const currency_total total = r.totals().at(0);
    EXPECT_NEAR(total.error / std::sqrt(squares), 1, 4.5 / std::sqrt(2.0 * 63));
    EXPECT_GT(total.error_at_most / total.error, 3.5);  // about sqrt(25) = 5
    EXPECT_LT(std::abs(total.value - assets * 9.413403383853019), 4.5 * total.error);
}

}  // namespace
}  // namespace tilewalk::streams_test
