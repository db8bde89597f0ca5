// SPDX-License-Identifier: Apache-2.0
// Prices from Sobol points: honest errors, and bits that depend on the trade alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/verify/dice.h"
#include "engine/verify/truth.h"
#include "engine/walk/units.h"
#include "tests/named_choice.h"
#include "tests/on_a_gpu.h"
#include "tests/plain_paths.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::sobol_prices_test {
namespace {

constexpr const char* market_text = R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.05}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.2}
    B: {currency: USD, spot: 90, volatility: 0.3, dividend_yield: 0.02}
    J: {currency: USD, spot: 100, model: {merton: {volatility: 0.2, jump_intensity: 0.5, jump_mean: -0.1, jump_sd: 0.15}}}
    H: {currency: USD, spot: 100, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7, steps_per_year: 20}}}
  correlations: {complete: true, pairs: [[A, B, 0.4]]}
)";
constexpr const char* trades_text = R"(trades:
  - {id: european, product: european, underlying: A, strike: 100, maturity: 1}
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: digital, product: digital, underlying: A, strike: 100, maturity: 1}
  - {id: best, product: best_of, basket: [A, B], strike: 100, maturity: 1}
  - {id: jumps, product: european, underlying: J, strike: 100, maturity: 1}
  - {id: heston, product: european, underlying: H, strike: 100, maturity: 1}
)";

results priced(run_settings with, const std::string& trades = trades_text) {
    if (!with.random) with.random = "sobol";
    if (!with.device) with.device = "cpu";
    if (!with.paths) with.paths = 16384;
    if (!with.controls) with.controls = technique::none;
    run_options options;
    options.overrides = with;
    return engine().price(book::parse(market_text + trades), options);
}

void expect_same_bits(const results& a, const results& b) {
    ASSERT_EQ(a.rows.size(), b.rows.size());
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        EXPECT_EQ(a.rows[i].status, trade_status::priced) << a.rows[i].message;
        EXPECT_EQ(std::bit_cast<std::uint64_t>(a.rows[i].price),
                  std::bit_cast<std::uint64_t>(b.rows[i].price))
            << a.rows[i].trade;
        EXPECT_EQ(std::bit_cast<std::uint64_t>(a.rows[i].standard_error),
                  std::bit_cast<std::uint64_t>(b.rows[i].standard_error))
            << a.rows[i].trade;
    }
}

double black_call(double spot, double strike, double rate, double volatility) {
    const double d1 = (std::log(spot / strike) + rate + 0.5 * volatility * volatility) / volatility;
    const auto cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
    return spot * cdf(d1) - strike * std::exp(-rate) * cdf(d1 - volatility);
}

}  // namespace

TEST(sobol_prices, take_whole_randomisations_and_say_so) {
    run_settings with;
    with.paths = 20000;
    const results r = priced(with);
    EXPECT_EQ(r.manifest.paths, 32768u);
    EXPECT_EQ(r.manifest.part_paths, 2048u);
    EXPECT_EQ(r.manifest.random, "sobol");
    std::size_t as_means = 0;
    for (const price_row& row : r.rows) {
        EXPECT_EQ(row.paths, 32768u);
        EXPECT_EQ(row.randomisations, 16u);
        EXPECT_EQ(row.part_means.size(), 16u);
        const run::ends_of_interval ends = run::ends_of(0.95, 15, row.lean);
        EXPECT_NEAR((row.price - row.low) / row.standard_error, ends.below, 1e-5) << row.trade;
        EXPECT_NEAR((row.high - row.price) / row.standard_error, ends.above, 1e-5) << row.trade;
        // Means of units may be skewed; an error added to theirs (such as of rounding) has no skew.
        EXPECT_LE(std::abs(row.lean), std::abs(run::lean_of(row.part_means)) * (1 + 1e-12)) << row.trade;
        EXPECT_GE(row.lean * run::lean_of(row.part_means), 0) << row.trade;
        as_means += std::abs(row.lean - run::lean_of(row.part_means)) < 1e-12 ? 1U : 0U;
    }
    EXPECT_GE(as_means, r.rows.size() / 2);
    with.randomisations = 9;
    with.paths = 1;
    EXPECT_EQ(priced(with).manifest.paths, 9 * 1024u);
}

TEST(sobol_prices, are_read_back_with_their_randomisations) {
    const results r = priced({});
    std::ostringstream out;
    write(out, r, output_format::json);
    EXPECT_NE(out.str().find("\"error_from\": \"randomisations\", \"randomisations\": 16"),
              std::string::npos);
    const results back = read_results(out.str(), "results.json");
    for (const price_row& row : back.rows) EXPECT_EQ(row.randomisations, 16u);
}

TEST(sobol_prices, have_the_same_bits_for_any_threads_and_beside_any_trades) {
    run_settings one, three;
    one.threads = 1;
    three.threads = 3;
    const results r = priced(one);
    expect_same_bits(r, priced(three));
    const results alone = priced(one, R"(trades:
  - {id: heston, product: european, underlying: H, strike: 100, maturity: 1}
)");
    EXPECT_EQ(alone.rows[0].price, r.rows[5].price);
    EXPECT_EQ(alone.rows[0].standard_error, r.rows[5].standard_error);
}

TEST(sobol_prices, on_one_step_are_the_same_however_paths_are_made) {
    run_settings steps, bridge;
    steps.construction = construction::steps;
    bridge.construction = construction::bridge;
    const results a = priced(steps), b = priced(bridge);
    EXPECT_EQ(a.rows[0].price, b.rows[0].price);
    EXPECT_NE(a.rows[1].price, b.rows[1].price);
}

// Bounds are five errors of Student's t: by chance one seed in 6,000 fails in one of both trades.
TEST(sobol_prices, are_right_to_more_digits_than_independent_paths_give) {
    run_settings with;
    with.paths = 131072;
    const results points = priced(with);
    with.random = "philox";
    const results paths = priced(with);
    const price_row &european = points.rows[0], &asian = points.rows[1];
    EXPECT_NEAR(european.price, black_call(100, 100, 0.05, 0.2), 5 * european.standard_error);
    EXPECT_LT(european.standard_error, paths.rows[0].standard_error / 100);
    EXPECT_LT(asian.standard_error, paths.rows[1].standard_error / 20);
    for (std::size_t i = 0; i < points.rows.size(); ++i) {
        EXPECT_LT(points.rows[i].standard_error, paths.rows[i].standard_error) << points.rows[i].trade;
        EXPECT_NEAR(points.rows[i].price, paths.rows[i].price, 4.5 * paths.rows[i].standard_error)
            << points.rows[i].trade;
    }
}

namespace {

constexpr const char* barrier_trades = R"(trades:
  - {id: double_out, product: double_barrier, underlying: V, strike: 100, maturity: 1, lower: 80, upper: 130}
  - {id: double_in, product: double_barrier, underlying: V, option: put, strike: 100, maturity: 1, kind: knock_in, lower: 80, upper: 130}
  - {id: touch_at_hit, product: one_touch, underlying: V, direction: up, barrier: 115, payout: 10, paid: at_hit, maturity: 1}
  - {id: no_touch, product: one_touch, underlying: V, kind: no_touch, direction: down, barrier: 90, payout: 10, maturity: 1}
  - {id: double_touch, product: double_touch, underlying: V, kind: no_touch, lower: 85, upper: 120, payout: 10, maturity: 0.5}
  - {id: out, product: barrier, underlying: V, strike: 100, maturity: 1, direction: down, kind: knock_out, barrier: 85}
  - {id: on_dates, product: barrier, underlying: V, strike: 100, maturity: 1, direction: up, kind: knock_out, barrier: 120, monitoring: discrete, monitoring_dates: [0.25, 0.5, 0.75, 1]}
  - {id: barrier_digital, product: barrier_digital, underlying: V, strike: 102, payout: 10, maturity: 1, direction: down, kind: knock_out, barrier: 85}
  - {id: note, product: autocallable, basket: [V], initial_level: [100], observations: [0.25, 0.5, 0.75, 1], coupon: [0.03, 0.06, 0.09, 0.12]}
  - {id: digital, product: digital, underlying: V, strike: 105, payout: 10, maturity: 0.5}
)";

// The error that prices state, and the spread of prices over seeds.
struct stated_and_seen {
    std::string trade;
    double stated = 0, seen = 0;
    int inside = 0;  // seeds whose interval holds the weighted mean of all
};

std::vector<stated_and_seen> errors_by_default(std::uint64_t paths, std::uint64_t seeds) {
    std::string market = market_text;
    market.insert(market.find("    A:"),
                  "    V: {currency: USD, spot: 100, dividend_yield: 0.02, volatility: 0.25}\n");
    const book b = book::parse(market + barrier_trades);
    const engine by;
    std::vector<std::vector<price_row>> rows(b.size());
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        run_options options;
        options.overrides.device = "cpu";
        options.overrides.paths = paths;
        options.overrides.seed = seed;
        const results r = by.price(b, options);
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(r.rows.at(i));
    }
    std::vector<stated_and_seen> out;
    const double n = static_cast<double>(seeds);
    for (const std::vector<price_row>& of : rows) {
        double mean = 0, squares = 0, stated = 0, weights = 0, weighted = 0;
        for (const price_row& r : of) mean += r.price / n, stated += r.standard_error * r.standard_error / n;
        for (const price_row& r : of) {
            squares += (r.price - mean) * (r.price - mean) / (n - 1);
            const double weight = 1 / (r.standard_error * r.standard_error);
            weights += weight, weighted += weight * r.price;
        }
        stated_and_seen& to = out.emplace_back();
        to = {of.front().trade, std::sqrt(stated), std::sqrt(squares)};
        for (const price_row& r : of)
            to.inside += r.low <= weighted / weights && weighted / weights <= r.high ? 1 : 0;
    }
    return out;
}

}  // namespace

// The spread of 24 seeds has an error of 15 %. A true ratio of 1 to 1.4 is out of bounds for one trade in
// 3,000 sets of seeds. With a path's largest payment as the least error, ratios were 2.5 to 7.
TEST(sobol_prices, near_barriers_state_the_error_that_seeds_show) {
    for (const stated_and_seen& e : errors_by_default(16384, 24)) {
        EXPECT_GT(e.stated, 0.65 * e.seen) << e.trade;
        EXPECT_LT(e.stated, 2.3 * e.seen) << e.trade;
    }
}

// The spread of 400 seeds has an error of 3.5 %, a share of 95 % one of 1.1 %. With one step, a single
// digital pays on one path more or less in each randomisation: for a rare payment the stated error is too
// large by nature, and intervals hold more often. A digital whose control jumps at its strike has almost no
// such error. With a barrier it states one path more or less that may jump with its control, twice the true
// error.
TEST(sobol_prices_long, near_barriers_state_the_error_that_seeds_show) {
    for (const std::uint64_t paths : {16384u, 131072u}) {
        for (const stated_and_seen& e : errors_by_default(paths, 400)) {
            if (e.trade == "digital" && paths == 131072) continue;
            SCOPED_TRACE(e.trade + " " + std::to_string(paths));
            RecordProperty(e.trade + std::to_string(paths), std::to_string(e.stated / e.seen));
            EXPECT_GT(e.stated, 0.8 * e.seen);
            EXPECT_LT(e.stated, (e.trade == "barrier_digital" ? 2.4 : 1.6) * e.seen);
            EXPECT_GE(e.inside, 364);
        }
    }
}

// If all randomisations have the same number of paying paths, their means show no spread.
TEST(sobol_prices, of_payoffs_that_jump_have_an_error_of_one_path_at_least) {
    const results r = priced({});
    const price_row& row = r.rows[2];
    const double pays = std::exp(-0.05);
    EXPECT_GE(row.standard_error, 0.9 * pays / 16384);
    EXPECT_LT(row.standard_error, 3 * pays / 16384);
}

TEST(sobol_prices, in_other_precisions_are_near_those_in_double) {
    const results in_double = priced({});
    for (const char* precision : {"single", "mixed"}) {
        run_settings with;
        with.precision = tests::named{precision};
        const results r = priced(with);
        for (std::size_t i = 0; i < r.rows.size(); ++i) {
            ASSERT_EQ(r.rows[i].status, trade_status::priced) << r.rows[i].message;
            EXPECT_NEAR(r.rows[i].price, in_double.rows[i].price, 2e-3 * in_double.rows[i].price)
                << precision << " " << r.rows[i].trade;
            ASSERT_TRUE(r.rows[i].shadow_difference);
            EXPECT_NEAR(*r.rows[i].shadow_difference, 0, 1e-3 * in_double.rows[i].price)
                << precision << " " << r.rows[i].trade;
        }
    }
}

TEST(sobol_prices, of_a_hedge_have_a_total_without_error) {
    const results r = priced({}, R"(trades:
  - {id: long, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: short, product: asian, quantity: -1, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
)");
    EXPECT_EQ(r.totals().at(0).value, 0);
    EXPECT_EQ(r.totals().at(0).error, 0);
}

TEST(sobol_prices, a_total_of_one_trade_has_its_interval) {
    const results r = priced({}, R"(trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
)");
    EXPECT_DOUBLE_EQ(r.totals().at(0).low, r.rows[0].low);
    EXPECT_DOUBLE_EQ(r.totals().at(0).high, r.rows[0].high);
}

// Number of 1,000 runs whose interval holds the known price of a random trade. It has a standard deviation of
// 7, and seeds are fixed.
int held_of_1000(const char* product, verify::dice& d) {
    const auto entry = std::ranges::find(verify::truths(), product, &verify::truth_entry::product);
    if (entry == verify::truths().end()) throw std::logic_error(product);
    const verify::known_trade t = entry->draw(d);
    const double truth = t.price({});
    const book b = book::parse(t.book);
    run_options options = tests::plain_paths();
    options.overrides.random = "sobol";
    options.overrides.paths = 16384;
    options.overrides.device = "cpu";
    options.overrides.threads = 1;
    const engine by;
    int held = 0;
    for (std::uint64_t run = 0; run < 1000; ++run) {
        options.overrides.seed = run;
        const price_row row = by.price(b, options).rows.at(0);
        if (row.status != trade_status::priced) throw std::runtime_error(row.message + t.book);
        held += row.low <= truth && truth <= row.high ? 1 : 0;
    }
    return held;
}

// A count about 950 has a standard deviation of 7, so that by chance one of twelve is out of bounds for one
// set of seeds in 20; seeds are fixed. The last four have one step: a few outermost points cause nearly all
// of their error, whose law is skew; symmetric intervals held the truth 900 to 940 times.
TEST(sobol_prices_long, intervals_of_95_percent_hold_the_truth) {
    verify::dice several(11), one(12);
    const auto expect = [](const char* product, int held) {
        RecordProperty(product, held);
        EXPECT_GE(held, 930) << product;
        EXPECT_LE(held, 970) << product;
    };
    for (const char* product : {"asian", "barrier", "cliquet", "autocallable", "himalaya", "variance_swap",
                                "range_accrual", "cap_floor"})
        expect(product, held_of_1000(product, several));
    for (const char* product : {"european", "lookback", "forward_start", "best_of"})
        expect(product, held_of_1000(product, one));
}

using sobol_prices_on_a_gpu = tests::on_a_gpu;

// If the feed is left open, paths draw moves that meet the bridge's targets; feeds of arrays read all moves.
// Covers jumps, whose sizes build no path, two factors, and a trade with too few steps.
TEST_F(sobol_prices_on_a_gpu, coarse_bridges_have_the_bits_of_the_cpu) {
    constexpr const char* trades = R"(trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 70}}
  - {id: jumps, product: asian, underlying: J, strike: 100, averaging_dates: {start: 0, end: 1, count: 70}}
  - {id: heston, product: asian, underlying: H, strike: 100, averaging_dates: {start: 0, end: 1, count: 70}}
  - {id: two, product: autocallable, basket: [A, B], initial_level: [100, 90], observations: {start: 0, end: 2, count: 80}, call_level: 1.05, coupon: 0.08, protection: 0.6, notional: 100}
  - {id: few, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
)";
    run_settings with;
    with.construction = construction::coarse;
    for (const char* const precision : {"double", "single", "mixed"}) {
        with.precision = tests::named{precision};
        with.prefetch = {};
        with.device = "cpu";
        const results on_cpu = priced(with, trades);
        with.device = "cuda";
        expect_same_bits(on_cpu, priced(with, trades));
        with.prefetch = "register_rolling";
        expect_same_bits(on_cpu, priced(with, trades));
    }
}

// Paths compute the points of a lone trade with few dimensions, and of two trades with equal points; for
// three, points are read from rows.
TEST_F(sobol_prices_on_a_gpu, made_points_have_the_bits_of_the_cpu) {
    constexpr const char* trades = R"(trades:
  - {id: lone, product: european, underlying: A, strike: 100, maturity: 1}
  - {id: two, product: worst_of, basket: [A, B], initial_level: [100, 90], option: put, strike: 1, notional: 100, maturity: 1}
  - {id: also two, product: worst_of, basket: [A, B], initial_level: [100, 90], option: put, strike: 0.9, notional: 100, maturity: 2}
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: digital 1, product: digital, underlying: B, strike: 90, maturity: 1}
  - {id: digital 2, product: digital, underlying: B, strike: 95, maturity: 1}
  - {id: digital 3, product: digital, underlying: B, strike: 99, maturity: 1}
)";
    run_settings with;
    with.construction = construction::steps;
    for (const char* const precision : {"double", "single", "mixed"}) {
        with.precision = tests::named{precision};
        with.prefetch = {};
        with.device = "cpu";
        const results on_cpu = priced(with, trades);
        with.device = "cuda";
        expect_same_bits(on_cpu, priced(with, trades));
        with.prefetch = "smem_rolling_async";
        expect_same_bits(on_cpu, priced(with, trades));
    }
}

}  // namespace tilewalk::sobol_prices_test
