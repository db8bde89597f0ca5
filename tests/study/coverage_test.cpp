// SPDX-License-Identifier: Apache-2.0
// The 95 % intervals of prices by default settings hold the truth 95 times in 100: trades of all families and
// models over many seeds, against independent truths or else the mean of a long run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewalk/tilewalk.h"

namespace tilewalk::coverage_test {
namespace {

struct truth {
    double price = 0, error = 0;
};
const std::string folder = std::string(TILEWALK_SOURCE_DIR) + "/tests/data/coverage/";

std::map<std::string, truth> truths() {
    std::ifstream in(folder + "truths.json");
    std::map<std::string, truth> out;
    const nlohmann::json all = nlohmann::json::parse(in);
    for (const auto& [trade, of] : all.items())
        out[trade] = {of.at("price").get<double>(), of.at("error").get<double>()};
    return out;
}

// Counts, over many seeds, how often a trade's interval holds the truth.
struct coverage {
    int runs = 0, held = 0, held_by_chance = 0, exact = 0;
    double squares = 0;
    int squared = 0;

    void add(const price_row& row, const truth& of) {
        ++runs;
        // `steps` bounds the error of time stepping, which widens the interval but is not random.
        const double steps = is_figure(row.error_steps) ? row.error_steps : 0,
                     least = std::hypot(1.96 * of.error, 1e-9 * std::abs(of.price));
        const double away = std::max(std::abs(row.price - of.price) - steps, 0.0),
                     reach = (row.high - row.low) / 2;
        const auto is_within = [&](double more) {
            return of.price >= row.low - more && of.price <= row.high + more;
        };
        held += is_within(least + steps) ? 1 : 0;
        held_by_chance += is_within(least) ? 1 : 0;
        exact += reach <= 1e-8 * std::abs(of.price) ? 1 : 0;
        // With early exercise the interval lies between two bounds and is no multiple of an error. The error
        // of a thin row is uncertain.
        if (row.early || row.thin) return;
        squares += std::pow(away / std::hypot(row.standard_error, of.error, 1e-9 * of.price), 2);
        ++squared;
    }
    bool is_exact() const { return exact == runs; }
    double share() const { return static_cast<double>(held) / runs; }
    double share_by_chance() const { return static_cast<double>(held_by_chance) / runs; }
    double mean_square() const { return squared > 0 ? squares / squared : 0; }
    // False if rows are exact, or mostly thin or intervals between bounds: `squares` then says little.
    bool has_squares() const { return !is_exact() && 2 * squared >= runs; }
};

std::map<std::string, coverage> covered(int seeds, std::uint64_t paths) {
    const std::map<std::string, truth> known = truths();
    const engine by;
    const book trades = book::load(folder + "book.yaml");
    std::map<std::string, coverage> out;
    for (int seed = 1; seed <= seeds; ++seed) {
        run_options options;
        options.overrides.seed = static_cast<std::uint64_t>(seed);
        options.overrides.paths = paths;
        options.overrides.device = "cpu";
        for (const price_row& row : by.price(trades, options).rows) {
            if (row.status != trade_status::priced || !row.has_interval()) {
                ADD_FAILURE() << row.trade << ", seed " << seed << ": " << row.message;
                continue;
            }
            out[row.trade].add(row, known.at(row.trade));
        }
    }
    for (const auto& [trade, c] : out)
        fmt::print("{:28} {:5.1f} % of intervals hold the truth, z squared {:.2f}{}\n", trade,
                   100 * c.share(), c.mean_square(), c.is_exact() ? ", exact" : "");
    EXPECT_EQ(out.size(), known.size());
    return out;
}

// The smallest k with P(X <= k) > 1e-4, for X of n trials with probability `chance`.
int fewest_of(int n, double chance) {
    double below = 0;
    for (int k = 0;; ++k) {
        below += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                          k * std::log(chance) + (n - k) * std::log1p(-chance));
        if (below > 1e-4) return k;
    }
}

}  // namespace

// False alarms: of 40 intervals that hold with probability 0.90, fewer than 28 hold once in 11,000 times
// (binomial), so one trade of all fails once in 280 times at worst; with probability 0.95 none does. A mean
// of 40 squares of Student's t is above 2.7 once in 6,000 times (by 200,000 draws). Seeds are fixed. Trades
// share their paths, so the last bounds are wider: all intervals together hold 90 to 99 times in 100, and the
// mean of all squares is at most 1.4, where Student's law has 15 / 13.
TEST(coverage, of_prices_by_default_settings_is_as_stated) {
    constexpr int seeds = 40;
    double held = 0, by_chance = 0, squares = 0, trades = 0;
    for (const auto& [trade, c] : covered(seeds, 16384)) {
        EXPECT_GE(c.held, fewest_of(seeds, 0.9)) << trade;
        if (!c.has_squares()) continue;
        EXPECT_LT(c.mean_square(), 2.7) << trade;
        held += c.share();
        by_chance += c.share_by_chance();
        squares += c.mean_square();
        trades += 1;
    }
    EXPECT_GE(held / trades, 0.9);
    EXPECT_LE(by_chance / trades, 0.99);
    EXPECT_LE(squares / trades, 1.4);
}

// Of 400 intervals that hold with probability 0.95, fewer than 90 % or more than 99 % hold once in 50,000
// times (binomial).
TEST(coverage_long, of_prices_by_default_settings_is_as_stated) {
    for (const auto& [trade, c] : covered(400, default_paths)) {
        EXPECT_GE(c.share(), 0.9) << trade;
        if (!c.has_squares()) continue;
        EXPECT_LE(c.share_by_chance(), 0.99) << trade;
        EXPECT_LE(c.mean_square(), 1.4) << trade;
    }
}

}  // namespace tilewalk::coverage_test
