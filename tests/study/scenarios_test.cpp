// SPDX-License-Identifier: Apache-2.0
// Volatilities by path: against flat ones, closed forms averaged over the paths, and a pricer written here
// that shares no code with the engine; alone, in books, in every precision. Mistakes in a file or its times
// are reported with their place. Bounds of 4 standard errors: one false alarm in 15,000 cases, with fixed
// seeds.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/verify/closed_forms.h"
#include "engine/walk/arrays/shock_writer.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/device/device.h"
#include "kernels/shocks.h"
#include "products/program/streams.h"
#include "tests/market_text.h"
#include "tests/named_choice.h"
#include "tests/own_folder.h"
#include "tests/plain_paths.h"
#include "tilewalk/setting_table.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::scenarios_test {
namespace {

using tests::dollar_market;

constexpr std::uint64_t paths = 20000;

std::string numpy_text(const std::string& fields, const std::string& numbers) {
    const std::size_t length = (10 + fields.size() + 1 + 63) / 64 * 64 - 10;
    std::string text("\x93NUMPY\x01\x00", 8);
    text += static_cast<char>(length & 0xff);
    text += static_cast<char>(length >> 8);
    return text + fields + std::string(length - fields.size() - 1, ' ') + '\n' + numbers;
}

template <class number>
std::string bytes_of(const std::vector<number>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(number)};
}

std::string header(const char* type, std::size_t times, std::size_t count) {
    return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}", type, times, count);
}

class scenarios : public testing::Test {
  protected:
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    void write(const std::string& name, const std::string& text) const { own_.write(name, text); }
    template <class number = double>
    void write_rows(const std::string& name, const std::vector<std::vector<number>>& rows) const {
        std::string numbers;
        for (const auto& row : rows) numbers += bytes_of(row);
        write(name,
              numpy_text(header(sizeof(number) == 8 ? "<f8" : "<f4", rows.size(), rows[0].size()), numbers));
    }

    book load(const std::string& text) const {
        write("book.yaml", text);
        return book::load(path("book.yaml"));
    }

    tests::own_folder own_;
    std::filesystem::path folder_ = own_.path();
};

using rows_of_paths = std::vector<std::vector<double>>;

// Volatilities between 10 % and 60 %, different on every path and row.
rows_of_paths made_up(std::size_t rows, std::uint64_t count, std::uint64_t seed = 3) {
    std::mt19937_64 random(seed);
    rows_of_paths out(rows, std::vector<double>(count));
    for (auto& row : out) {
        for (double& x : row) x = 0.1 + 0.5 * static_cast<double>(random() >> 11) * 0x1p-53;
    }
    return out;
}

run_options on_cpu(const std::string& precision = "double", std::uint64_t count = paths,
                   run_options options = {}) {
    options.overrides.device = "cpu";
    options.overrides.precision = tests::named{precision};
    options.overrides.paths = count;
    return options;
}

run_options plain_on_cpu(const std::string& precision = "double") {
    return on_cpu(precision, paths, tests::plain_paths());
}

const price_row& row_of(const results& r, const std::string& trade) {
    for (const auto& row : r.rows) {
        if (row.trade != trade) continue;
        EXPECT_EQ(row.status, trade_status::priced) << trade << ": " << row.message;
        return row;
    }
    throw std::logic_error("no trade " + trade);
}

std::uint64_t bits(double x) {
    return std::bit_cast<std::uint64_t>(x);
}

// MOVING has a volatility for each path, FLAT one number for all, with the same dates. Both are correlated
// with each other, a third asset and the exchange rate.
const std::string two_kinds = R"(as_of: 2026-01-15
currencies: {USD: {rate: 0.03}, EUR: {zero_rates: {0.25: 0.015, 0.5: 0.017, 1.5: 0.02}}}
assets:
  MOVING:
    currency: USD
    spot: 100
    dividend_yield: 0.01
    volatility: {scenarios: vols.npy, times: [0.25, 0.5, 1.5]}
    dividends: [{date: 0.4, amount: 2}, {date: 0.7, proportion: 0.01}]
  FLAT:
    currency: USD
    spot: 100
    dividend_yield: 0.01
    volatility: {0.25: 0.2, 0.5: 0.2, 1.5: 0.2}
    dividends: [{date: 0.4, amount: 2}, {date: 0.7, proportion: 0.01}]
  OTHER: {currency: EUR, spot: 50, volatility: 0.3}
fx: {EURUSD: {rate: 1.1, volatility: 0.12}}
correlations: [[MOVING, OTHER, 0.4], [FLAT, OTHER, 0.4], [MOVING, EURUSD, -0.3], [FLAT, EURUSD, -0.3], [OTHER, EURUSD, 0.2]]
)";

std::string trades_on(const std::string& asset, const std::string& prefix) {
    const std::string dates = "averaging_dates: [0.25, 0.5, 1.0]";
    return fmt::format(R"(
  - {{id: {1}asian, product: asian, underlying: {0}, strike: 100, {2}}}
  - {{id: {1}quanto, product: asian, underlying: {0}, strike: 100, {2}, currency: EUR}}
  - {{id: {1}down, product: barrier, underlying: {0}, option: call, strike: 95, maturity: 1.0, direction: down, barrier: 85,
     rebate: 3, rebate_paid: at_hit}}
  - {{id: {1}up, product: barrier, underlying: {0}, option: put, strike: 95, maturity: 1.25, direction: up, barrier: 115,
     kind: knock_in}}
  - {{id: {1}basket, product: autocallable, basket: [{0}, OTHER], initial_level: [100, 50],
     observations: [0.25, 0.5, 1.0, 1.5], coupon: 0.1, protection: 0.6, notional: 1000}}
  - {{id: {1}range, product: range, underlying: {0}, maturity: 1.0}}
)",
                       asset, prefix, dates);
}

const std::string range_product = R"(
products:
  - product: range
    summary: Between the highest and the lowest price, and a channel.
    parameters:
      underlying: {type: asset, help: The asset.}
      maturity: {type: date, help: Day of payment.}
    example: {underlying: FLAT, maturity: 1.0}
    script: |
      inside = 1
      top = 0
      between start and maturity:
          inside = inside * (1 - touched_outside(underlying, 60, 160))
          top = max(top, highest(underlying) - lowest(underlying))
      on maturity:
          pay top + 10 * inside
)";

TEST_F(scenarios, constant_rows_are_a_flat_volatility) {
    write_rows("vols.npy", rows_of_paths(3, std::vector<double>(paths, 0.2)));
    write("market.yaml", two_kinds);
    write("flat.yaml", std::regex_replace(std::regex_replace(two_kinds, std::regex("MOVING"), "UNUSED"),
                                          std::regex("FLAT"), "MOVING"));
    const std::string text =
        std::regex_replace(range_product, std::regex("FLAT"), "MOVING") + "trades:" + trades_on("MOVING", "");
    const book b = load("market: market.yaml" + text), b_flat = load("market: flat.yaml" + text);
    const results r = engine().price(b, plain_on_cpu()), r_flat = engine().price(b_flat, plain_on_cpu());
    for (const char* trade : {"asian", "quanto", "down", "up", "basket", "range"}) {
        const auto& moving = row_of(r, trade);
        const auto& flat = row_of(r_flat, trade);
        EXPECT_NEAR(moving.price / flat.price, 1, 1e-12) << trade;
        EXPECT_NEAR(moving.standard_error / flat.standard_error, 1, 1e-11) << trade;
        EXPECT_GT(flat.standard_error, 0) << trade;
    }
    // Single precision takes the same shocks for both assets, so only rounding to 24 bits differs.
    const results single = engine().price(b, plain_on_cpu("single")),
                  single_flat = engine().price(b_flat, plain_on_cpu("single"));
    for (const char* trade : {"asian", "quanto", "down", "up", "range"}) {
        EXPECT_NEAR(row_of(single, trade).price / row_of(single_flat, trade).price, 1, 1e-5) << trade;
    }
}

TEST_F(scenarios, a_call_is_worth_the_average_of_black_scholes) {
    constexpr std::uint64_t count = 200000;
    const auto vols = made_up(4, count);
    write_rows("vols.npy", vols);
    write("market.yaml", R"(as_of: 2026-01-15
currencies: {USD: {rate: 0.04}, EUR: {rate: 0.01}}
assets:
  A:
    currency: USD
    spot: 100
    dividend_yield: 0.015
    volatility: {scenarios: vols.npy, times: [0.2, 2026-07-16, 1.1, 2.0]}
fx: {EURUSD: {rate: 1.1, volatility: 0.15}}
correlations: [[A, EURUSD, -0.5]]
)");
    const book b = load(R"(market: market.yaml
trades:
  - {id: early, product: european, underlying: A, option: call, strike: 100, maturity: 0.1}
  - {id: call, product: european, underlying: A, option: call, strike: 105, maturity: 1.3}
  - {id: put, product: european, underlying: A, option: put, strike: 90, maturity: 2.0}
  - {id: quanto, product: european, underlying: A, option: call, strike: 105, maturity: 1.3, currency: EUR}
)");
    const results r = engine().price(b, on_cpu("double", count));
    const std::vector<double> times{0, 0.2, 182.0 / 365, 1.1, 2.0};
    const auto average = [&](truth::side side, double strike, double maturity, bool quanto) {
        double sum = 0;
        for (std::uint64_t p = 0; p < count; ++p) {
            double variance = 0, covariance = 0;
            for (std::size_t k = 0; k < 4; ++k) {
                const double dt = std::max(0.0, std::min(times[k + 1], maturity) - times[k]);
                variance += vols[k][p] * vols[k][p] * dt;
                covariance += -0.5 * 0.15 * vols[k][p] * dt;
            }
            double forward = 100 * std::exp((0.04 - 0.015) * maturity);
            // A payment in euros adds the asset's covariance with EURUSD to its drift.
            if (quanto) forward *= std::exp(covariance);
            sum +=
                truth::black(side, forward, strike, variance, std::exp(-(quanto ? 0.01 : 0.04) * maturity));
        }
        return sum / static_cast<double>(count);
    };
    const auto expect = [&](const char* trade, double expected) {
        const auto& row = row_of(r, trade);
        EXPECT_NEAR(row.price, expected, 4 * row.standard_error) << trade;
    };
    expect("early", average(truth::side::call, 100, 0.1, false));
    expect("call", average(truth::side::call, 105, 1.3, false));
    expect("put", average(truth::side::put, 90, 2.0, false));
    expect("quanto", average(truth::side::call, 105, 1.3, true));
    // The test would notice a missing drift of the quanto.
    const auto& quanto = row_of(r, "quanto");
    EXPECT_GT(std::abs(quanto.price - average(truth::side::call, 105, 1.3, false) * std::exp(0.03 * 1.3)),
              8 * quanto.standard_error);
}

// Without rates, time enters a path only by its variance, so the closed form of a barrier holds with the
// path's total variance.
TEST_F(scenarios, a_watched_barrier_is_worth_the_average_of_its_closed_form) {
    constexpr std::uint64_t count = 200000;
    // Every other path is five times calmer, so a closed form at the mean variance would be wrong.
    auto vols = made_up(3, count);
    for (auto& row : vols) {
        for (std::uint64_t p = 0; p < count; p += 2) row[p] *= 0.2;
    }
    write_rows("vols.npy", vols);
    write("market.yaml",
          dollar_market(0, {{"A", "spot: 100, volatility: {scenarios: vols.npy, times: [0.3, 0.5, 1.0]}"}}));
    const book b = load(R"(market: market.yaml
trades:
  - {id: down, product: barrier, underlying: A, option: call, strike: 95, maturity: 0.9, direction: down, barrier: 85, rebate: 5}
  - {id: up, product: barrier, underlying: A, option: call, strike: 150, maturity: 0.9, direction: up, barrier: 160, kind: knock_in}
)");
    const results r = engine().price(b, on_cpu("double", count));
    double down = 0, up = 0;
    const auto variance_of = [&](std::uint64_t p) {
        const auto square = [&](std::size_t k) { return vols[k][p] * vols[k][p]; };
        return square(0) * 0.3 + square(1) * 0.2 + square(2) * 0.4;
    };
    double mean_variance = 0;
    for (std::uint64_t p = 0; p < count; ++p) {
        const double variance = variance_of(p);
        mean_variance += variance / count;
        down += truth::barrier_option({truth::side::call, true, true, 100, 95, 85, 5, false, 0, variance, 0});
        up +=
            truth::barrier_option({truth::side::call, false, false, 100, 150, 160, 0, false, 0, variance, 0});
    }
    const double at_mean = truth::barrier_option(
        {truth::side::call, false, false, 100, 150, 160, 0, false, 0, mean_variance, 0});
    EXPECT_NEAR(row_of(r, "down").price, down / count, 4 * row_of(r, "down").standard_error);
    EXPECT_NEAR(row_of(r, "up").price, up / count, 4 * row_of(r, "up").standard_error);
    EXPECT_GT(std::abs(at_mean - up / count), 6 * row_of(r, "up").standard_error)
        << "the mean variance would pass as well";
}

double number_of(const char* asset, std::uint64_t path, std::uint32_t step) {
    const auto key = kernels::stream_key_of(program::stream_name(asset).key);
    const auto two = kernels::normals(42, path, step / 2, key);
    return step % 2 == 0 ? two.first : two.second;
}

// A plain pricer makes each path from the documented random numbers and agrees up to rounding: a continuously
// monitored barrier with rates, on an asset paid in another currency.
TEST_F(scenarios, the_paths_are_those_of_a_plain_pricer) {
    const auto vols = made_up(3, paths);
    write_rows("vols.npy", vols);
    write("market.yaml", R"(as_of: 2026-01-15
currencies: {USD: {rate: 0.05}, EUR: {rate: 0.02}}
assets:
  A: {currency: USD, spot: 100, volatility: {scenarios: vols.npy, times: [0.25, 0.75, 1.0]}}
  B: {currency: EUR, spot: 80, volatility: 0.3}
fx: {EURUSD: {rate: 1.1, volatility: 0.15}}
correlations: [[A, B, 0.6], [A, EURUSD, 0.4]]
)");
    const book b = load(R"(market: market.yaml
products:
  - product: both
    summary: A watched barrier on one asset, and another asset.
    parameters:
      one: {type: asset, help: Watched.}
      two: {type: asset, help: Paid.}
      maturity: {type: date, help: Day of payment.}
    example: {one: A, two: B, maturity: 1.0}
    script: |
      intact = 1
      between start and maturity:
          intact = intact * (1 - touched_below(one, 80))
      on maturity:
          pay intact * max(spot(one) + spot(two) - 150, 0)
trades:
  - {id: both, product: both, one: A, two: B, maturity: 1.0, currency: EUR}
)");
    const results r = engine().price(b, plain_on_cpu());
    const double dt[3] = {0.25, 0.5, 0.25}, rho = 0.6, other = std::sqrt(1 - rho * rho);
    double sum = 0;
    for (std::uint64_t p = 0; p < paths; ++p) {
        double a = std::log(100.0), two = std::log(80.0), alive = 1;
        for (std::uint32_t step = 0; step < 3; ++step) {
            const double z_a = number_of("A", p, step), z_b = number_of("B", p, step);
            const double v = vols[step][p], w1 = std::sqrt(dt[step]) * z_a;
            const double w2 = rho * w1 + other * std::sqrt(dt[step]) * z_b;
            const double before = a;
            a += (0.05 - 0.5 * v * v + 0.4 * v * 0.15) * dt[step] + v * w1;
            two += (0.02 - 0.5 * 0.3 * 0.3) * dt[step] + 0.3 * w2;
            const double low = std::log(80.0);
            const bool below = a <= low || before <= low;
            alive *= below ? 0 : 1 - std::exp(-2 * (before - low) * (a - low) / (v * v * dt[step]));
        }
        sum += alive * std::max(std::exp(a) + std::exp(two) - 150, 0.0) * std::exp(-0.02);
    }
    EXPECT_NEAR(row_of(r, "both").price / (sum / paths), 1, 1e-11);
}

TEST_F(scenarios, a_trade_is_worth_the_same_alone_and_in_a_book) {
    write_rows("vols.npy", made_up(3, paths));
    write("market.yaml", two_kinds);
    const std::string head = "market: market.yaml" + range_product + "trades:";
    const book all = load(head + trades_on("FLAT", "flat_") + trades_on("MOVING", "moving_"));
    const results together = engine().price(all, on_cpu());
    const book half = load(head + trades_on("MOVING", "moving_"));
    for (const auto& set : engine::instruction_sets()) {
        for (const int threads : {1, 3}) {
            run_options options = on_cpu();
            options.overrides.threads = threads;
            for (const auto& row : engine({set}).price(half, options).rows) {
                const auto& same = row_of(together, row.trade);
                EXPECT_EQ(bits(row.price), bits(same.price)) << row.trade << ", " << set;
                EXPECT_EQ(bits(row.standard_error), bits(same.standard_error)) << row.trade << ", " << set;
            }
        }
    }
    // The first paths of a longer file equal those of a file that ends there.
    const auto vols = made_up(3, paths);
    rows_of_paths fewer;
    for (const auto& row : vols) fewer.emplace_back(row.begin(), row.begin() + 3000);
    const results long_file = engine().price(half, on_cpu("double", 3000));
    write_rows("vols.npy", fewer);
    const results short_file = engine().price(book::load(path("book.yaml")), on_cpu("double", 3000));
    for (const auto& row : long_file.rows)
        EXPECT_EQ(bits(row.price), bits(row_of(short_file, row.trade).price)) << row.trade;
}

TEST_F(scenarios, float_and_our_own_form_are_read_alike) {
    const auto vols = made_up(3, paths);
    std::vector<std::vector<float>> narrow;
    rows_of_paths widened;
    std::vector<double> flat;
    for (const auto& row : vols) {
        narrow.emplace_back(row.begin(), row.end());
        widened.emplace_back(narrow.back().begin(), narrow.back().end());
        flat.insert(flat.end(), widened.back().begin(), widened.back().end());
    }
    write("market.yaml", two_kinds);
    const std::string text = "market: market.yaml" + range_product + "trades:" + trades_on("MOVING", "");
    write_rows("vols.npy", widened);
    const book in_double = load(text);
    for (const char* precision : {"double", "single", "mixed"}) {
        write_rows("vols.npy", widened);
        const results expected = engine().price(book::load(path("book.yaml")), on_cpu(precision));
        write_rows<float>("vols.npy", narrow);
        const results from_float = engine().price(book::load(path("book.yaml")), on_cpu(precision));
        arrays::write_shocks<double>(folder_ / "vols.npy", {3, 1, 0, paths, flat, {}});
        const results from_own = engine().price(book::load(path("book.yaml")), on_cpu(precision));
        for (const auto& row : expected.rows) {
            ASSERT_EQ(row.status, trade_status::priced) << row.message;
            EXPECT_EQ(bits(row.price), bits(row_of(from_float, row.trade).price)) << row.trade << precision;
            EXPECT_EQ(bits(row.price), bits(row_of(from_own, row.trade).price)) << row.trade << precision;
            if (std::string(precision) == "double") continue;
            ASSERT_TRUE(row.shadow_difference) << row.trade;
            EXPECT_LT(std::abs(*row.shadow_difference), 0.1 * row.standard_error) << row.trade << precision;
        }
    }
}

TEST_F(scenarios, of_a_market_within_a_book_are_found_from_where_the_book_says) {
    write_rows("vols.npy", made_up(1, paths));
    const std::string text =
        "market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {MOVING: {currency: USD, "
        "spot: 100, volatility: {scenarios: vols.npy, times: [1.0]}}}}\ntrades:\n  - {id: call, product: "
        "european, underlying: MOVING, option: call, strike: 100, maturity: 1.0}\n";
    const results from_file = engine().price(load(text), on_cpu());
    const results from_text = engine().price(book::parse(text, "standard input", folder_), on_cpu());
    EXPECT_EQ(bits(row_of(from_file, "call").price), bits(row_of(from_text, "call").price));
    EXPECT_THROW(book::parse(text, "standard input", folder_ / "elsewhere"), error);
}

TEST_F(scenarios, go_with_replayed_shocks) {
    constexpr std::uint64_t count = 3000;
    const auto vols = made_up(2, count);
    write_rows("vols.npy", vols);
    std::vector<double> shocks(2 * count);
    std::mt19937_64 random(9);
    for (double& z : shocks) z = std::normal_distribution<double>()(random);
    arrays::write_numpy<double>(folder_ / "shocks.npy", {2, 1, 0, count, shocks, {}});
    write("market.yaml",
          dollar_market(0.02, {{"A", "spot: 100, volatility: {scenarios: vols.npy, times: [0.5, 1.0]}"}}));
    const book b = load(R"(market: market.yaml
trades: [{id: call, product: european, underlying: A, option: call, strike: 100, maturity: 1.0}]
)");
    run_options options = on_cpu("double", count);
    options.overrides.replay = path("shocks.npy");
    const results r = engine().price(b, options);
    double sum = 0;
    for (std::uint64_t p = 0; p < count; ++p) {
        double x = std::log(100.0) + 0.02;
        for (std::size_t k = 0; k < 2; ++k) {
            const double v = vols[k][p];
            x += -0.25 * v * v + v * std::sqrt(0.5) * shocks[k * count + p];
        }
        sum += std::exp(-0.02) * std::max(std::exp(x) - 100, 0.0);
    }
    EXPECT_NEAR(row_of(r, "call").price / (sum / count), 1, 1e-11);
}

TEST_F(scenarios, are_inputs_of_the_run_and_part_of_the_plan) {
    write_rows("vols.npy", made_up(3, paths));
    write("market.yaml", two_kinds);
    const book b = load(R"(market: market.yaml
trades:
  - {id: short, product: european, underlying: MOVING, option: call, strike: 100, maturity: 0.3}
  - {id: other, product: european, underlying: OTHER, option: call, strike: 50, maturity: 0.3}
)");
    const auto inputs = [&](const book& of) { return engine().price(of, on_cpu()).manifest.inputs; };
    const auto first = inputs(b);
    ASSERT_EQ(first.size(), 3u);
    EXPECT_EQ(first[2].file, path("vols.npy"));
    write_rows("vols.npy", made_up(3, paths, 4));
    const auto second = inputs(book::load(path("book.yaml")));
    ASSERT_EQ(second.size(), 3u);
    EXPECT_EQ(first[1].hash, second[1].hash);
    EXPECT_NE(first[2].hash, second[2].hash);

    const auto plans = engine().explain(b, *b.market(), on_cpu());
    ASSERT_EQ(plans.size(), 2u);
    EXPECT_EQ(plans[0].grid, (std::vector<double>{0, 0.25, 0.3}));
    ASSERT_EQ(plans[0].scenarios.size(), 1u);
    EXPECT_EQ(plans[0].scenarios[0].name, path("vols.npy"));
    EXPECT_EQ(plans[0].scenarios[0].rows, 3u);
    EXPECT_EQ(plans[0].scenarios[0].rows_used, 2u);
    EXPECT_EQ(plans[0].scenarios[0].bytes, 2 * paths * sizeof(double));
    EXPECT_GE(plans[0].bytes_shared, plans[0].scenarios[0].bytes);
    EXPECT_TRUE(plans[1].scenarios.empty());

    // A row of volatilities applies up to and including its time.
    for (const auto& [maturity, rows] :
         {std::pair{"0.24", 1u}, {"0.25", 1u}, {"0.2501", 2u}, {"0.5", 2u}, {"0.5001", 3u}, {"1.5", 3u}}) {
        const book one =
            load(fmt::format("market: market.yaml\ntrades:\n  - {{id: one, product: european, underlying: "
                             "MOVING, option: call, "
                             "strike: 100, maturity: {}}}\n",
                             maturity));
        EXPECT_EQ(engine().explain(one, *one.market(), on_cpu()).at(0).scenarios.at(0).rows_used, rows)
            << maturity;
    }
}

class scenarios_wrong_scenarios : public scenarios {
  protected:
    // The refusal of a market with this `volatility`, a file and its times; empty if accepted.
    std::string refusal(const std::string& volatility) {
        const std::string name = path("market.yaml");
        write("market.yaml",
              "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets:\n  A:\n    currency: USD\n"
              "    spot: 100\n    volatility: " +
                  volatility + "\n");
        try {
            market::load(name);
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input) << e.what();
            EXPECT_EQ(e.where().file, name);
            std::string text = fmt::format("{}:{}: {}", e.where().line, e.where().column, e.message());
            for (std::size_t at; (at = text.find(folder_.string() + "/")) != std::string::npos;)
                text.erase(at, folder_.string().size() + 1);
            return text;
        }
        return "";
    }
    std::string refusal_of_file(const std::string& bytes) {
        write("vols.npy", bytes);
        return refusal("{scenarios: vols.npy, times: [0.5, 1.0]}");
    }
};

TEST_F(scenarios_wrong_scenarios, in_the_times) {
    write_rows("vols.npy", made_up(2, 5));
    EXPECT_EQ(refusal("{scenarios: vols.npy, times: [0.5, 1.0]}"), "");
    EXPECT_EQ(refusal("{scenarios: vols.npy, times: [2026-03-31, 1.0]}"), "");
    EXPECT_EQ(refusal("{scenarios: vols.npy, times: [0.5, 0.5]}"),
              "7:52: found the time 0.5 after 0.5, expected strictly increasing times");
    EXPECT_EQ(refusal("{scenarios: vols.npy, times: [0, 0.5]}"),
              "7:47: found the time 0, expected one after as_of (2026-01-15)");
    EXPECT_EQ(refusal("{scenarios: vols.npy, times: 0.5}"),
              "7:46: found '0.5', expected a list of times, one for each row of the file, such as [0.5, "
              "2027-01-15]");
    EXPECT_EQ(refusal("{scenarios: vols.npy, times: [soon, 1.0]}").substr(0, 5), "7:47:");
    EXPECT_EQ(refusal("{scenarios: vols.npy, times: [0.5, 1.0, 1.5]}"),
              "7:46: found 3 times for the 2 rows of 'vols.npy', expected one for each: row k holds from the "
              "time before to its own");
    EXPECT_EQ(refusal("{scenarios: vols.npy, times: [0.1, 0.2, 0.3, 0.4, 0.5]}"),
              "7:46: found 5 times for the 2 rows of 'vols.npy', expected one for each: row k holds from the "
              "time before to its own; the array has 5 paths: is it the wrong way round?");
    EXPECT_EQ(refusal("{scenarios: vols.npy}").substr(0, 5), "7:17:");
    EXPECT_EQ(refusal("{times: [0.5, 1.0]}").substr(0, 5), "7:17:");
    EXPECT_NE(refusal("{scenarios: vols.npy, time: [0.5, 1.0]}").find("did you mean 'times'?"),
              std::string::npos);
    EXPECT_EQ(refusal("{scenarios: [1, 2], times: [0.5, 1.0]}"),
              "7:29: found a list, expected the name of a file, such as vols.npy");
}

TEST_F(scenarios_wrong_scenarios, in_the_file) {
    const std::string good = bytes_of(std::vector<double>(10, 0.2));
    EXPECT_EQ(refusal_of_file(numpy_text(header("<f8", 2, 5), good)), "");
    EXPECT_EQ(refusal("{scenarios: none.npy, times: [0.5, 1.0]}"),
              "7:29: 'none.npy': there is no such file; expected a NumPy array (.npy) of the shape (times, "
              "paths)");
    EXPECT_EQ(refusal("{scenarios: ., times: [0.5, 1.0]}").substr(0, 5), "7:29:");
    EXPECT_EQ(refusal_of_file(""),
              "7:29: 'vols.npy': expected a file of scenarios: a NumPy array (.npy), or Tilewalk's own form, "
              "which begins with TWSHOCKS");
    EXPECT_EQ(refusal_of_file(numpy_text("{'descr': '<f8', 'fortran_order': False, 'shape': (10,), }", good)),
              "7:29: 'vols.npy': found an array of 1 dimensions, expected the shape (times, paths)");
    EXPECT_EQ(
        refusal_of_file(numpy_text("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1, 5), }", good)),
        "7:29: 'vols.npy': found an array of 3 dimensions, expected the shape (times, paths)");
    EXPECT_EQ(refusal_of_file(numpy_text("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 5), }", good)),
              "7:29: 'vols.npy': found an array in Fortran order, expected C order; save "
              "numpy.ascontiguousarray(x)");
    EXPECT_EQ(refusal_of_file(numpy_text(header("<i8", 2, 5), good)),
              "7:29: 'vols.npy': found numbers of the type '<i8', expected '<f8' or '<f4'; save "
              "numpy.asarray(x, '<f8')");
    EXPECT_EQ(refusal_of_file(numpy_text(header("<f8", 2, 6), good)),
              "7:29: 'vols.npy': found 80 bytes of numbers, expected 96 for 2 times on 6 paths");
    EXPECT_EQ(refusal_of_file(numpy_text(header("<f8", 0, 5), "")),
              "7:29: 'vols.npy': the file has no scenarios: 0 times on 5 paths");
    const std::vector<double> numbers(20, 0.2);
    arrays::write_shocks<double>(folder_ / "own", {2, 1, 1, 5, {numbers.data(), 10}, {numbers.data(), 10}});
    EXPECT_EQ(refusal("{scenarios: own, times: [0.5, 1.0]}"),
              "7:29: 'own': found 1 normals and 1 uniforms a step, expected 1 and 0 in a file of scenarios");
    for (const double bad : {0.0, -0.2, 100.5, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
        std::vector<double> x(10, 0.2);
        x[7] = bad;
        x[9] = -1;
        const std::string said = refusal_of_file(numpy_text(header("<f8", 2, 5), bytes_of(x)));
        EXPECT_NE(said.find("in row 1 on path 2 (both counted from 0), expected a volatility above 0 and at "
                            "most 100, where 0.2 is 20 %"),
                  std::string::npos)
            << bad << ": " << said;
    }
    std::vector<float> narrow(10, 0.2f);
    // A volatility of 2000 % is possible on one path, but not on all.
    const std::vector<double> in_percent{15, 20, 25, 18.5, 30, 12.25, 16, 21, 22, 40};
    EXPECT_EQ(
        refusal_of_file(numpy_text(header("<f8", 2, 5), bytes_of(in_percent))),
        "7:29: 'vols.npy': found no volatility below 12.25, expected some below 5; are they in percent? 0.2 "
        "is 20 %");
    narrow[0] = -1;
    EXPECT_EQ(refusal_of_file(numpy_text(header("<f4", 2, 5), bytes_of(narrow))),
              "7:29: 'vols.npy': found -1 in row 0 on path 0 (both counted from 0), expected a volatility "
              "above 0 and at most 100, where 0.2 is 20 %");
}

TEST_F(scenarios_wrong_scenarios, of_an_exchange_rate) {
    write("market.yaml", R"(as_of: 2026-01-15
currencies: {USD: {rate: 0.03}, EUR: {rate: 0.02}}
fx: {EURUSD: {rate: 1.1, volatility: {scenarios: vols.npy, times: [1.0]}}}
)");
    try {
        market::load(path("market.yaml"));
        ADD_FAILURE() << "read";
    } catch (const error& e) {
        EXPECT_EQ(e.where().line, 3);
        EXPECT_EQ(e.where().column, 38);
        EXPECT_EQ(e.message(),
                  "found scenarios for the volatility of the exchange rate EURUSD, which only an asset's can "
                  "have; expected a volatility such as 0.1, or one by term such as {0.5: 0.1, 2.0: 0.12}");
    }
}

TEST_F(scenarios, that_are_too_few_fail_their_trades) {
    write_rows("vols.npy", made_up(3, 1000));
    write("market.yaml", two_kinds);
    const book b = load(R"(market: market.yaml
trades:
  - {id: late, product: european, underlying: MOVING, option: call, strike: 100, maturity: 1.6}
  - {id: good, product: european, underlying: MOVING, option: call, strike: 100, maturity: 1.5}
  - {id: other, product: european, underlying: OTHER, option: call, strike: 50, maturity: 1.6}
)");
    const results r = engine().price(b, on_cpu("double", 1000));
    EXPECT_EQ(r.rows[0].status, trade_status::failed);
    EXPECT_EQ(r.rows[0].message,
              "the volatility scenarios of 'MOVING' end at 1.5 years, the trade at 1.6; expected times, and "
              "rows of the file, until then");
    EXPECT_EQ(r.rows[0].where.file, path("market.yaml"));
    EXPECT_EQ(r.rows[0].where.line, 8);
    EXPECT_EQ(r.rows[0].where.column, 46);
    EXPECT_EQ(r.rows[1].status, trade_status::priced);
    EXPECT_EQ(r.rows[2].status, trade_status::priced);

    const auto expect_too_few = [&](const std::string& message, const location& where) {
        EXPECT_EQ(message, "found 1000 paths in the scenarios of '" + path("vols.npy") +
                               "', expected at least the 1001 of the run; take --paths 1000 or fewer");
        EXPECT_EQ(where.file, path("market.yaml"));
        EXPECT_EQ(where.line, 8);
        EXPECT_EQ(where.column, 29);
    };
    const results more = engine().price(b, on_cpu("double", 1001));
    expect_too_few(more.rows[1].message, more.rows[1].where);
    EXPECT_EQ(more.rows[2].status, trade_status::priced);
    const auto plans = engine().explain(b, *b.market(), on_cpu("double", 1001));
    expect_too_few(plans[1].failure, plans[1].where);
    EXPECT_EQ(plans[2].failure, "");
}

TEST_F(scenarios, give_the_same_bits_on_a_gpu) {
    const cuda::device_survey survey = cuda::survey_devices();
    std::string all, why = survey.why_none;
    std::size_t devices = 0;
    int capability = 0;
    for (const auto& d : survey.devices) {
        why += d.why_not;
        if (!d.why_not.empty()) continue;
        if (devices++ == 0) capability = 10 * d.properties.major + d.properties.minor;
        all += (all.empty() ? "" : ",") + std::to_string(d.properties.index);
    }
    if (devices == 0) {
        ASSERT_EQ(std::getenv("TILEWALK_REQUIRE_GPU"), nullptr) << why;
        GTEST_SKIP() << "no GPU: " << why;
    }
    constexpr std::uint64_t count = 9 * 1024 + 77;
    write_rows("vols.npy", made_up(3, count));
    write("market.yaml", two_kinds);
    const book b = load("market: market.yaml" + range_product + "trades:" + trades_on("MOVING", "moving_") +
                        trades_on("FLAT", "flat_"));
    const engine pricer;
    std::size_t compared = 0;
    const auto compare = [&](run_settings with) {
        run_options options = on_cpu(std::string(name_of(*with.precision)), count);
        const results expected = pricer.price(b, options);
        options.overrides = with;
        options.overrides.paths = count;
        options.overrides.device = with.device.value_or(all.substr(0, all.find(',')));
        const results got = pricer.price(b, options);
        ASSERT_EQ(got.manifest.devices.size(), with.device ? devices : 1u);
        for (const auto& row : expected.rows) {
            ++compared;
            EXPECT_EQ(bits(row.price), bits(row_of(got, row.trade).price))
                << row.trade << ", " << *with.prefetch << ", " << name_of(*with.precision);
            EXPECT_EQ(bits(row.standard_error), bits(row_of(got, row.trade).standard_error)) << row.trade;
        }
    };
    for (const char* precision : {"double", "single", "mixed"}) {
        for (const auto& feed : cuda::feeds()) {
            if (feed.least_compute_capability > capability) continue;
            run_settings with;
            with.precision = tests::named{precision};
            with.prefetch = std::string(feed.name);
            compare(with);
            with.memory_bytes = 1;  // a tile at a time
            with.correlation = "matrix";
            compare(with);
        }
        if (devices > 1) {
            run_settings with;
            with.precision = tests::named{precision};
            with.prefetch = "inline";
            with.device = all;
            compare(with);
        }
        for (const char* space : {"global", "texture", "l2_persisting", "mapped"}) {
            run_settings with;
            with.precision = tests::named{precision};
            with.space = space;
            for (const char* feed : {"inline", "none"}) {
                with.prefetch = feed;
                compare(with);
            }
        }
    }
    std::printf("%zu prices and standard errors compared\n", compared);
}

}  // namespace
}  // namespace tilewalk::scenarios_test
