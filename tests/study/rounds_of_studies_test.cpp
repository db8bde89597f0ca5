// SPDX-License-Identifier: Apache-2.0
// Tolerances in studies other than prices in one market: every reported figure of a trade meets the tolerance
// and has the bits of a run with all its paths at once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/accuracy.h"
#include "engine/numerics/black.h"
#include "engine/walk/units.h"
#include "tests/named_choice.h"
#include "tests/on_a_gpu.h"
#include "tests/own_folder.h"
#include "tests/plain_paths.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::rounds_of_studies_test {
namespace {

constexpr std::uint64_t first_round = 65536;
constexpr double rate = 0.05;

book trades() {
    return book::parse(R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.05}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.2}
    B: {currency: USD, spot: 90, volatility: 0.3, dividend_yield: 0.02}
  correlations: [[A, B, 0.4]]
trades:
  - {id: call, product: european, underlying: A, strike: 104, maturity: 1, quantity: 20}
  - {id: put, product: european, option: put, underlying: A, strike: 95, maturity: 0.25, quantity: -20}
  - {id: asian, product: asian, underlying: B, strike: 90, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: digital, product: digital, underlying: A, strike: 100, payout: 10, maturity: 1}
)");
}
struct vanilla {
    std::string_view id;
    double strike, years, quantity;
};
constexpr std::array vanillas{vanilla{"call", 104, 1, 20}, vanilla{"put", 95, 0.25, -20}};
double vega_of(const vanilla& v) {
    return 0.01 * v.quantity * std::exp(-rate * v.years) *
           analytics::black_vega(100 * std::exp(rate * v.years), v.strike, 0.2, v.years);
}

run_options to(const std::string& tolerance, const char* random) {
    run_options out = tests::plain_paths();
    out.overrides.tolerance = config::accuracy_of(tolerance);
    out.overrides.random = random;
    out.overrides.threads = 2;
    return out;
}
run_options at_once(run_options how, std::uint64_t paths) {
    how.overrides.tolerance.reset();
    how.overrides.paths = paths;
    return how;
}

const price_row& row_of(const results& of, std::string_view trade) {
    return *std::ranges::find(of.rows, trade, &price_row::trade);
}
double half_width_of(const greek_row& g, const results& of) {
    const price_row& row = row_of(of, g.trade);
    return run::width_95(row.degrees_of_freedom()) * g.standard_error / std::abs(row.quantity);
}
std::string text_of(const greek_row& g) {
    return fmt::format("{} {} {} {} {} {} {}", g.trade, g.measure, g.key, g.value, g.standard_error, g.bias,
                       g.paths);
}
std::vector<std::string> greeks_of(const results& of, std::string_view trade) {
    std::vector<std::string> out;
    for (const greek_row& g : of.greeks)
        if (g.trade == trade) out.push_back(text_of(g));
    return out;
}
std::set<std::uint64_t> paths_in(const results& of) {
    std::set<std::uint64_t> out;
    for (const price_row& row : of.rows) out.insert(row.paths);
    return out;
}

}  // namespace

TEST(rounds_of_studies, sensitivities_are_as_narrow_as_was_asked_for) {
    const book b = trades();
    for (const char* const random : {"philox", "sobol"}) {
        for (const char* const method : {"auto", "bump"}) {
            SCOPED_TRACE(fmt::format("{} {}", random, method));
            const double tolerance = random == std::string("philox") ? 0.0042 : 0.0002;
            const run_options how = to(fmt::format("{}", tolerance), random);
            const results r = engine().greeks(b, *b.market(), {{"delta", "vega"}, tests::named{method}}, how);
            EXPECT_EQ(r.manifest.paths, first_round);
            EXPECT_EQ(r.manifest.settings.tolerance, how.overrides.tolerance);
            EXPECT_GE(paths_in(r).size(), 2U) << "trades that are done stop";
            // The tolerance applies to one unit, whatever the quantity.
            EXPECT_TRUE(random != std::string("philox") || row_of(r, "put").paths == first_round);
            ASSERT_EQ(r.greeks.size(), 8U);
            for (const greek_row& g : r.greeks) {
                EXPECT_EQ(g.paths, row_of(r, g.trade).paths);
                EXPECT_LE(half_width_of(g, r), tolerance) << text_of(g);
            }
            for (const price_row& row : r.rows) EXPECT_FALSE(row.misses_tolerance) << row.message;
        }
    }
}

// Of 100 intervals of 95 %, fewer than 88 hold the truth once in 650 times (binomial). Seeds are fixed.
TEST(rounds_of_studies, vegas_hold_the_closed_form) {
    const book b = trades().only(std::vector<std::string>{"call", "put"});
    for (const char* const random : {"philox", "sobol"}) {
        std::map<std::string_view, int> held;
        std::map<std::string_view, double> sum_of_squares;
        int second_rounds = 0, held_by_total = 0;
        double squares_of_total = 0;
        run_options how = to(random == std::string("philox") ? "0.0045" : "0.0001", random);
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            how.overrides.seed = seed;
            const results r = engine().greeks(b, *b.market(), {{"vega"}}, how);
            for (const vanilla& v : vanillas) {
                const greek_row& g = *std::ranges::find(r.greeks, v.id, &greek_row::trade);
                const double off = g.value - vega_of(v);
                held[v.id] += std::abs(off) <= half_width_of(g, r) * std::abs(v.quantity) ? 1 : 0;
                sum_of_squares[v.id] += std::pow(off / g.standard_error, 2);
            }
            second_rounds += *paths_in(r).rbegin() > first_round ? 1 : 0;
            const greek_row total = r.greek_totals().at(0);
            const double off = total.value - vega_of(vanillas[0]) - vega_of(vanillas[1]);
            held_by_total += std::abs(off) <= 2 * total.standard_error ? 1 : 0;
            squares_of_total += std::pow(off / total.standard_error, 2);
        }
        SCOPED_TRACE(random);
        const bool has_points = random == std::string("sobol");
        EXPECT_GE(second_rounds, 50);
        for (const vanilla& v : vanillas) {
            EXPECT_GE(held[v.id], 88) << v.id;
            // Over points, payoffs with a kink state at least the error of one path: the sum may be small.
            EXPECT_NEAR(sum_of_squares[v.id], has_points ? 75 : 100, has_points ? 75 : 50) << v.id;
        }
        // The sum of 100 squared normals has a standard deviation of 14.
        EXPECT_GE(held_by_total, 88);
        EXPECT_LE(squares_of_total, 150);
        EXPECT_GE(squares_of_total, has_points ? 0 : 50);
    }
}

TEST(rounds_of_studies, sensitivities_have_the_bits_of_paths_at_once) {
    const book b = trades();
    const greek_options wanted{{"delta", "gamma", "vega", "theta"}};
    const run_options how = to("0.0043", "philox");
    const results r = engine().greeks(b, *b.market(), wanted, how);
    ASSERT_GE(paths_in(r).size(), 2U);
    for (const price_row& row : r.rows) {
        const results whole = engine().greeks(b, *b.market(), wanted, at_once(how, row.paths));
        EXPECT_EQ(row.price, row_of(whole, row.trade).price);
        // The digital's jump is treated as was decided on the paths of the first round.
        if (row.trade == "digital") continue;
        EXPECT_EQ(greeks_of(r, row.trade), greeks_of(whole, row.trade));
    }
}

// Covers decisions about controls, points, jumps and policies.
TEST(rounds_of_studies, sensitivities_are_repeated_by_their_decisions) {
    const book b = book::parse(R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.05}}
  assets: {A: {currency: USD, spot: 100, volatility: 0.2}}
trades:
  - {id: asian, product: asian, underlying: A, strike: 90, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: digital, product: digital, underlying: A, strike: 100, payout: 10, maturity: 1}
  - {id: right, product: american, option: put, underlying: A, strike: 100, maturity: 1, exercise_dates: [0.5, 1]}
)");
    const greek_options wanted{{"delta", "vega"}};
    run_options how;
    how.overrides.tolerance = accuracy::amount(0.0005);
    how.overrides.paths = 262144;
    how.keep_policies = true;
    const results r = engine().greeks(b, *b.market(), wanted, how);
    EXPECT_GT(*paths_in(r).rbegin(), first_round);
    EXPECT_NE(r.policies.find("right"), std::string::npos);
    std::ostringstream text;
    write(text, r, output_format::json);
    const tests::own_folder folder;
    run_options again;
    again.overrides.decisions = folder.write("greeks.json", text.str()).string();
    const results followed = engine().greeks(b, *b.market(), wanted, again);
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
        EXPECT_EQ(r.rows[i].price, followed.rows[i].price);
        EXPECT_EQ(greeks_of(r, r.rows[i].trade), greeks_of(followed, r.rows[i].trade));
    }
    run_options first;
    first.overrides.paths = first_round;
    first.overrides.randomisations = 32;
    const decisions of_first = decisions_of(engine().greeks(b, *b.market(), wanted, first));
    for (const auto& [trade, of] : decisions_of(r).trades) {
        EXPECT_EQ(of.control, of_first.trades.at(trade).control) << trade;
        EXPECT_EQ(of.jumps, of_first.trades.at(trade).jumps) << trade;
    }
    how.keep_policies = false;
    EXPECT_EQ(engine().greeks(b, *b.market(), wanted, how).policies, "");
}

TEST(rounds_of_studies, a_sensitivity_that_stays_too_wide_is_named) {
    const book b = trades();
    run_options how = to("0.001", "philox");
    how.overrides.paths = 131072;
    const results r = engine().greeks(b, *b.market(), {{"vega"}}, how);
    const price_row& row = row_of(r, "call");
    EXPECT_TRUE(row.misses_tolerance);
    EXPECT_EQ(row.paths, 131072U);
    EXPECT_NE(row.message.find("the interval of the vega to A.volatility at 95 % is"), std::string::npos)
        << row.message;
    EXPECT_NE(row.message.find("paths should do"), std::string::npos) << row.message;
}

TEST(rounds_of_studies, totals_of_sensitivities_are_as_narrow_as_was_asked_for) {
    const book b = trades().only(std::vector<std::string>{"call", "put", "asian"});
    const run_options how = to("0.03 total", "philox");
    const results r = engine().greeks(b, *b.market(), {{"vega"}}, how);
    EXPECT_GT(row_of(r, "put").paths, first_round) << "which is 20 puts";
    EXPECT_EQ(row_of(r, "asian").paths, first_round);
    const results first = engine().greeks(b, *b.market(), {{"vega"}}, at_once(how, first_round));
    const auto widest = [](const results& of) {
        double out = 0;
        for (const greek_row& g : of.greek_totals()) out = std::max(out, g.standard_error);
        return 1.96 * out;
    };
    EXPECT_GT(widest(first), 0.03);
    EXPECT_LE(widest(r), 0.032);
}

TEST(rounds_of_studies, tell_how_far_they_are) {
    const book b = trades();
    run_options how = to("0.005", "philox");
    int round = 0;
    bool any_wide = false;
    std::uint64_t done = 0;
    how.on_progress = [&](const progress& now) {
        EXPECT_GE(now.round, round);
        EXPECT_GE(now.path_steps_done, done);
        EXPECT_EQ(now.trades, b.size());
        round = now.round;
        done = now.path_steps_done;
        any_wide = any_wide || (now.widest > 1 && now.trades_in_tolerance < now.trades);
    };
    const results r = engine().greeks(b, *b.market(), {{"vega"}}, how);
    EXPECT_GE(round, 2);
    EXPECT_TRUE(any_wide);
    EXPECT_EQ(done, r.manifest.path_steps) << "no step of any round is told of twice";
}

TEST(rounds_of_studies, prices_of_several_markets_have_the_paths_of_the_widest) {
    const book b = trades();
    const std::vector<market_change> up{{"A.volatility", 0.2}};
    const std::vector<market> in{*b.market(), b.market()->changed(up)};
    const run_options how = to("0.04", "philox");
    const std::vector<results> r = engine().price(b, in, how);
    EXPECT_GT(row_of(r[1], "call").paths, row_of(engine().price(b, in[0], how), "call").paths)
        << "twice the volatility";
    for (std::size_t m = 0; m < in.size(); ++m) {
        for (std::size_t i = 0; i < b.size(); ++i) {
            const price_row& row = r[m].rows[i];
            EXPECT_EQ(row.paths, r[0].rows[i].paths);
            EXPECT_LE(1.96 * row.standard_error, 0.04) << row.trade;
            const results whole = engine().price(b, in[m], at_once(how, row.paths));
            EXPECT_EQ(row.price, whole.rows[i].price) << row.trade;
        }
    }
}

TEST(rounds_of_studies, sessions_have_the_bits_of_fresh_ones) {
    const book b = trades();
    const session prepared = engine().open(b);
    for (const char* const random : {"philox", "auto"}) {
        const run_options how = to(random == std::string("philox") ? "0.05" : "0.0008", random);
        for (const double spot : {100.0, 101.0}) {
            const std::vector<market_change> moved{{"A.spot", spot, market_change::way::set}};
            const market in = b.market()->changed(moved);
            const results fresh = engine().price(b, in, how), r = prepared.price(in, how);
            EXPECT_GT(*paths_in(r).rbegin(), first_round);
            for (std::size_t i = 0; i < b.size(); ++i) {
                EXPECT_EQ(r.rows[i].paths, fresh.rows[i].paths);
                EXPECT_EQ(r.rows[i].price, fresh.rows[i].price) << r.rows[i].trade;
                EXPECT_EQ(r.rows[i].standard_error, fresh.rows[i].standard_error);
            }
        }
    }
}

namespace {

scenario_list gains_of(const market& in) {
    return scenario_list::parse(R"(stress:
  down: {A.spot: -20%, B.spot: -10%}
  later: {days: 1}
  a bit: {A.spot: -3%}
  up: {A.spot: +2%, A.volatility: +0.01}
  other: {B.spot: -5%}
likely: [stress]
value_at_risk: {levels: [50%]}
)",
                                "scenarios", in);
}

}  // namespace

TEST(rounds_of_studies, gains_are_as_narrow_as_was_asked_for_with_the_bits_of_paths_at_once) {
    const book b = trades();
    const market& in = *b.market();
    const scenario_list asked = gains_of(in);
    for (const char* const random : {"philox", "sobol"}) {
        SCOPED_TRACE(random);
        const bool has_points = random == std::string("sobol");
        const run_options how = to(has_points ? "0.0004" : "0.03", random);
        const scenario_results r = engine().scenarios(b, in, asked, how);
        EXPECT_EQ(paths_in(r.base).size(), 1U);
        EXPECT_GT(r.base.manifest.paths, first_round);
        EXPECT_EQ(r.base.manifest.settings.tolerance, how.overrides.tolerance);
        for (const price_row& row : r.base.rows) EXPECT_FALSE(row.misses_tolerance) << row.message;
        run_options whole = at_once(how, r.base.manifest.paths);
        whole.overrides.seed = r.base.manifest.seed;
        whole.overrides.randomisations = 32;
        EXPECT_EQ(r.base.manifest.seed != default_seed, has_points) << "points of another round are others";
        const scenario_results plain = engine().scenarios(b, in, asked, whole);
        EXPECT_EQ(r.gains, plain.gains);
        EXPECT_EQ(r.errors, plain.errors);
        EXPECT_GT(r.base.manifest.path_steps, plain.base.manifest.path_steps) << "of all rounds";
        for (std::size_t s = 0; s < r.scenarios.size(); ++s)
            for (std::size_t t = 0; t < r.trades(); ++t)
                EXPECT_FALSE(1.96 * r.error_of_gain(s, t) / std::abs(r.base.rows[t].quantity) >
                             (has_points ? 0.0004 : 0.03));
    }
}

TEST(rounds_of_studies, gains_take_no_more_paths_for_a_larger_quantity) {
    const book b = trades().only(std::vector<std::string>{"put"});
    const market& in = *b.market();
    const scenario_results r = engine().scenarios(b, in, gains_of(in), to("0.1", "philox"));
    EXPECT_EQ(r.base.manifest.paths, first_round);
    EXPECT_FALSE(r.base.rows[0].misses_tolerance);
}

TEST(rounds_of_studies, totals_of_gains_and_tails_are_as_narrow_as_was_asked_for) {
    const book b = trades();
    const market& in = *b.market();
    const scenario_results r = engine().scenarios(b, in, gains_of(in), to("0.25 total", "philox"));
    EXPECT_GT(r.base.manifest.paths, first_round);
    double widest = 0;
    for (const portfolio_gains& t : r.totals)
        for (const double e : t.errors) widest = std::max(widest, e);
    for (const portfolio_risk& risk : r.risks)
        for (const tail& t : risk.tails) widest = std::max({widest, t.quantile.noise, t.shortfall.noise});
    EXPECT_LE(1.96 * widest, 0.25);
    EXPECT_GT(1.96 * widest, 0.25 / 8) << "far too many paths";
    run_options limited = to("0.01 total", "philox");
    limited.overrides.paths = 131072;
    const scenario_results wide = engine().scenarios(b, in, gains_of(in), limited);
    EXPECT_EQ(wide.base.manifest.paths, 131072U);
    const price_row& row = row_of(wide.base, "put");
    EXPECT_TRUE(row.misses_tolerance);
    EXPECT_NE(row.message.find("the interval of its total gain in "), std::string::npos) << row.message;
}

TEST(rounds_of_studies, gains_end_where_the_time_is_up) {
    const book b = trades();
    const market& in = *b.market();
    run_options how = tests::plain_paths();
    how.overrides.budget = std::chrono::microseconds(1);
    EXPECT_EQ(engine().scenarios(b, in, gains_of(in), how).base.manifest.paths, first_round);
    how.overrides.budget = std::chrono::seconds(3600);
    how.overrides.paths = 262144;
    EXPECT_EQ(engine().scenarios(b, in, gains_of(in), how).base.manifest.paths, 262144U);
}

TEST(rounds_of_studies, a_trade_that_has_no_measure_fails_alone) {
    const book b = book::parse(R"(market:
  as_of: 2026-01-15
  currencies:
    USD: {zero_rates: {1.0: 0.05}, model: {hull_white: {mean_reversion: 0.03, volatility: {1.0: 0.009}}}}
  assets: {A: {currency: USD, spot: 100, volatility: 0.2}}
  correlations: [[A, USD.rate, 0.2]]
products:
  - product: growth
    summary: What money grows beyond a rate.
    parameters:
      strike: {type: rate, help: The rate.}
      from: {type: date, help: From that day.}
      to: {type: date, help: To that day.}
    example: {strike: 0.05, from: 1, to: 2, currency: USD}
    script: |
      on from:
          pay max(1 / bond(currency, to) - 1 - strike, 0) on to
trades:
  - {id: growth, product: growth, strike: 0.05, from: 1, to: 2, currency: USD}
  - {id: call, product: european, underlying: A, strike: 104, maturity: 1}
)");
    const market& in = *b.market();
    const scenario_list asked = scenario_list::parse("stress: {down: {A.spot: -20%}}", "scenarios", in);
    const run_options how = to("5bp", "philox");
    const auto expect_failure = [](const price_row& row) {
        EXPECT_EQ(row.trade, "growth");
        EXPECT_EQ(row.status, trade_status::failed);
        EXPECT_NE(row.message.find("a trade with neither a notional nor an asset"), std::string::npos)
            << row.message;
    };
    const scenario_results r = engine().scenarios(b, in, asked, how);
    expect_failure(r.base.rows[0]);
    EXPECT_EQ(r.base.rows[1].status, trade_status::priced) << r.base.rows[1].message;
    EXPECT_LE(1.96 * r.error_of_gain(0, 1), 0.05);
    expect_failure(engine().open(b).scenarios(in, asked, how).base.rows[0]);
    const results greeks = engine().greeks(b, in, {{"delta"}}, how);
    expect_failure(greeks.rows[0]);
    EXPECT_EQ(greeks_of(greeks, "growth").size(), 0U);
    EXPECT_FALSE(greeks_of(greeks, "call").empty());
    expect_failure(engine().price(b, how).rows[0]);
    EXPECT_EQ(engine().price(b, to("0.05", "philox")).failed(), 0U);
}

using rounds_of_studies_on_a_gpu = tests::on_a_gpu;

TEST_F(rounds_of_studies_on_a_gpu, have_the_bits_of_the_cpu) {
    const book b = trades();
    const market& in = *b.market();
    const std::vector<market_change> up{{"A.volatility", 0.2}};
    const std::vector<market> markets{in, in.changed(up)};
    const scenario_list asked = gains_of(in);
    for (const char* const random : {"philox", "auto"}) {
        SCOPED_TRACE(random);
        const bool has_points = random == std::string("auto");
        run_options there = to(has_points ? "0.0005" : "0.03", random), here = there;
        here.overrides.device = "cpu";
        there.overrides.device = "cuda";
        const greek_options wanted{{"delta", "vega"}};
        const auto greeks_by = [&](run_options how) {
            how.overrides.tolerance = accuracy::amount(has_points ? 0.0002 : 0.0042);
            return engine().greeks(b, in, wanted, how);
        };
        const results greeks = greeks_by(here), greeks_there = greeks_by(there);
        ASSERT_FALSE(greeks_there.manifest.devices.empty());
        EXPECT_GE(paths_in(greeks).size(), 2U);
        const std::vector<results> prices = engine().price(b, markets, here);
        const std::vector<results> prices_there = engine().price(b, markets, there);
        for (const price_row& row : greeks.rows) {
            EXPECT_EQ(row.price, row_of(greeks_there, row.trade).price) << row.trade;
            EXPECT_EQ(greeks_of(greeks, row.trade), greeks_of(greeks_there, row.trade));
            for (std::size_t m = 0; m < markets.size(); ++m) {
                const price_row& priced = row_of(prices_there[m], row.trade);
                EXPECT_EQ(row_of(prices[m], row.trade).price, priced.price) << row.trade << " " << m;
                EXPECT_EQ(row_of(prices[m], row.trade).paths, priced.paths) << row.trade << " " << m;
            }
        }
        const scenario_results gains = engine().scenarios(b, in, asked, here);
        const scenario_results gains_there = engine().scenarios(b, in, asked, there);
        EXPECT_GT(gains.base.manifest.paths, first_round);
        EXPECT_EQ(gains.gains, gains_there.gains);
        EXPECT_EQ(gains.errors, gains_there.errors);
    }
}

}  // namespace tilewalk::rounds_of_studies_test
