// SPDX-License-Identifier: Apache-2.0
// Sensitivities of books: against closed forms, differences of prices, and the identities between them.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/plan/measures.h"
#include "engine/plan/moved_markets.h"
#include "engine/reading/book_state.h"
#include "engine/study/price.h"
#include "tests/both_ways.h"
#include "tests/by_source.h"
#include "tests/every_model.h"
#include "tests/made_book.h"
#include "tests/market_text.h"
#include "tests/named_choice.h"
#include "tests/plain_paths.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::greeks_test {
namespace {

using tests::dollar_market;
using tests::in_book;

// Standard errors that a value may be off: a right one is further off once in 150,000 times.
constexpr double most_errors = 4.5;

run_options with_paths(std::uint64_t paths, std::uint64_t seed = 42, run_options out = {}) {
    out.overrides.paths = paths;
    out.overrides.seed = seed;
    out.overrides.device = "cpu";
    take_source(out);
    return out;
}
run_options plain_with(std::uint64_t paths) {
    return with_paths(paths, 42, tests::plain_paths());
}

results greeks_of(const std::string& trades, const run_options& how, const greek_options& wanted,
                  const market& in) {
    return engine().greeks(book::parse("trades:\n" + trades), in, wanted, how);
}
results greeks_of(const std::string& trades, std::uint64_t paths, const greek_options& wanted = {},
                  const market& in = tests::demo_market()) {
    return greeks_of(trades, with_paths(paths), wanted, in);
}

const greek_row& row_of(const results& r, const std::string& trade, const std::string& key) {
    const auto at =
        std::ranges::find_if(r.greeks, [&](const greek_row& g) { return g.trade == trade && g.key == key; });
    if (at == r.greeks.end()) throw std::logic_error(trade + " has no sensitivity to " + key);
    return *at;
}

void expect_near(const greek_row& row, double truth) {
    EXPECT_TRUE(row.message.empty()) << row.message;
    EXPECT_GT(row.standard_error, 0) << row.trade << " " << row.key;
    // Derivatives take differences of the numbers of programs, accurate to ten digits: hence 1e-9.
    const bool is_quasi = source_in_use::now().random == "sobol";
    const double most =
        is_quasi ? student_of_normal(most_errors, double(row.part_means.size()) - 1) : most_errors;
    EXPECT_LE(std::abs(row.value - truth), most * row.standard_error + row.bias + 1e-9 * std::abs(truth))
        << row.trade << " " << row.key << ": " << row.value << " +- " << row.standard_error << ", expected "
        << truth;
}

double bell(double x) {
    return std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}
double below(double x) {
    return std::erfc(-x / std::sqrt(2.0)) / 2;
}

// A market of one asset, whose rate, yield and volatility are flat.
const std::string flat_market =
    dollar_market(0.03, {{"A", "spot: 100, dividend_yield: 0.01, volatility: 0.25"}});

struct flat_option {
    double strike, years;
    static constexpr double spot = 100, rate = 0.03, yield = 0.01, volatility = 0.25;
    double deviation() const { return volatility * std::sqrt(years); }
    double d1() const {
        return (std::log(spot / strike) + (rate - yield) * years) / deviation() + deviation() / 2;
    }
    double d2() const { return d1() - deviation(); }
    double asset() const { return spot * std::exp(-yield * years); }
    double cash() const { return strike * std::exp(-rate * years); }
};

}  // namespace

class greeks_by_source : public by_source {};
INSTANTIATE_TEST_SUITE_P(greeks, greeks_by_source, testing::Values(independent_paths, bridged_points),
                         name_of_source);

TEST_P(greeks_by_source, of_a_call_and_a_put_are_those_of_black_and_scholes) {
    const market in = market::parse(flat_market);
    for (const auto& [strike, years] : {std::pair{80.0, 0.5}, {100.0, 1.0}, {130.0, 2.0}}) {
        const std::string terms = ", underlying: A, strike: " + std::to_string(strike) +
                                  ", maturity: " + std::to_string(years) + "}\n";
        const results r = greeks_of("  - {id: c, product: european, option: call" + terms +
                                        "  - {id: p, product: european, option: put, quantity: -2" + terms,
                                    1 << 16, {}, in);
        const flat_option o{strike, years};
        const double delta = std::exp(-o.yield * years) * below(o.d1());
        const double vega = o.asset() * bell(o.d1()) * std::sqrt(years);
        const double rho = years * o.cash() * below(o.d2());
        expect_near(row_of(r, "c", "A.spot"), delta);
        expect_near(row_of(r, "c", "A.volatility"), 0.01 * vega);
        expect_near(row_of(r, "c", "USD.rate"), 1e-4 * rho);
        expect_near(row_of(r, "c", "A.dividend_yield"), -1e-4 * years * o.asset() * below(o.d1()));
        expect_near(row_of(r, "p", "A.spot"), -2 * (delta - std::exp(-o.yield * years)));
        expect_near(row_of(r, "p", "A.volatility"), -0.02 * vega);
        expect_near(row_of(r, "p", "USD.rate"), -2e-4 * (rho - years * o.cash()));
        for (const greek_row& g : r.greeks)
            EXPECT_EQ(g.method, g.measure == "theta" ? "bump" : "pathwise") << g.key;
        EXPECT_EQ(row_of(r, "c", "A.spot").unit, "USD per 1 USD of A");
        EXPECT_EQ(row_of(r, "c", "A.volatility").unit, "USD per 1 % of volatility");
        EXPECT_EQ(row_of(r, "c", "USD.rate").unit, "USD per 1 bp");
        EXPECT_EQ(r.greeks.size(), 10u);
    }
}

// The pathwise derivative of a digital is 0, which is not the derivative of its price.
TEST_P(greeks_by_source, of_a_digital_see_its_jump) {
    const market in = market::parse(flat_market);
    const std::string trade =
        "  - {id: d, product: digital, underlying: A, option: call, strike: 105, maturity: 1, payout: 10}\n";
    const flat_option o{105, 1};
    const double density = 10 * std::exp(-o.rate) * bell(o.d2());
    for (const std::string method : {"auto", "smoothed", "likelihood_ratio", "bump"}) {
        const results r = greeks_of(trade, 1 << 18, {{}, tests::named{method}}, in);
        expect_near(row_of(r, "d", "A.spot"), density / (o.spot * o.deviation()));
        expect_near(row_of(r, "d", "A.volatility"), -0.01 * density * o.d1() / o.volatility);
        expect_near(row_of(r, "d", "USD.rate"),
                    1e-4 * (density / o.deviation() - 10 * std::exp(-o.rate) * below(o.d2())));
        for (const greek_row& g : r.greeks) {
            if (g.measure == "theta") {
                EXPECT_EQ(g.method, "bump");
            } else if (method == "auto") {
                EXPECT_TRUE(g.method == "smoothed" || g.method == "likelihood_ratio") << g.key;
            } else {
                EXPECT_EQ(g.method, method) << g.key;
            }
            // Theta is the change over a whole day by definition, so its move brings no bias.
            EXPECT_EQ(g.bias > 0, g.measure != "theta" && g.method != "likelihood_ratio") << g.key;
        }
    }
    const results forced = greeks_of(trade, 1 << 14, {{}, greek_method::pathwise}, in);
    EXPECT_EQ(row_of(forced, "d", "A.spot").value, 0);
}

// Likelihood ratios have no bias for any number of paths: the error of a short run over its standard error,
// from 32 parts, has Student's law, so a sum of 24 squares is beyond 68 once in 10,000 times.
TEST(greeks, of_likelihood_ratios_have_no_bias) {
    const market in = market::parse(flat_market);
    const flat_option o{105, 1};
    const double density = 10 * std::exp(-o.rate) * bell(o.d2());
    const double delta = density / (o.spot * o.deviation()), vega = -0.01 * density * o.d1() / o.volatility;
    double squares = 0;  // of deltas and vegas, from twelve runs each
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        const results r = engine().greeks(
            book::parse("trades:\n  - {id: d, product: digital, underlying: A, option: call, strike: 105, "
                        "maturity: 1, payout: 10}\n"),
            in, {{"delta", "vega"}, greek_method::likelihood_ratio}, with_paths(1 << 15, seed));
        const greek_row& row = row_of(r, "d", seed % 2 == 0 ? "A.spot" : "A.volatility");
        ASSERT_EQ(row.method, "likelihood_ratio");
        ASSERT_TRUE(row.message.empty()) << row.message;
        EXPECT_EQ(row.bias, 0);
        const double z = (row.value - (seed % 2 == 0 ? delta : vega)) / row.standard_error;
        squares += z * z;
    }
    EXPECT_LE(squares, 68);
    // The standard errors are not too wide either: 24 squares sum to less than 6 once in 15,000 times.
    EXPECT_GE(squares, 6);
}

TEST(greeks, of_likelihood_ratios_hold_many_jumps) {
    const std::string dates = ", underlying: ACME, maturity: 1";
    const std::string barrier =
        ", product: barrier, option: call, strike: 100, direction: down, barrier: 95, monitoring: discrete, "
        "monitoring_dates: {start: 0.25, end: 1, count: 4}" +
        dates;
    const std::string trades =
        "  - {id: out, kind: knock_out" + barrier + "}\n  - {id: in, kind: knock_in" + barrier + "}\n";
    const results r = greeks_of(trades, 1 << 16, {{"delta", "vega", "rho"}, greek_method::likelihood_ratio});
    const results whole =
        greeks_of("  - {id: all, product: european, option: call, strike: 100" + dates + "}\n", 1 << 16,
                  {{"delta", "vega", "rho"}, greek_method::automatic});
    const results bumps = greeks_of(trades, 1 << 16, {{"delta", "vega", "rho"}, greek_method::bump});
    std::size_t compared = 0;
    for (const greek_row& w : whole.greeks) {
        if (w.key.empty()) continue;
        const greek_row &out = row_of(r, "out", w.key), &in = row_of(r, "in", w.key);
        ASSERT_EQ(out.method, "likelihood_ratio") << w.key << ": " << out.message;
        EXPECT_NEAR(out.value + in.value, w.value,
                    most_errors * (std::hypot(out.standard_error, in.standard_error) + w.standard_error))
            << w.key;
        for (const greek_row* g : {&out, &in}) {
            const greek_row& b = row_of(bumps, g->trade, g->key);
            EXPECT_LE(std::abs(g->value - b.value),
                      most_errors * std::hypot(g->standard_error, b.standard_error) + b.bias)
                << g->trade << " " << g->key;
        }
        ++compared;
    }
    EXPECT_GE(compared, 3u);
    run_options one = with_paths(1 << 14), two = one;
    one.overrides.threads = 1;
    two.overrides.threads = 2;
    const auto csv_with = [&](const run_options& how) {
        const results found = engine().greeks(book::parse("trades:\n" + trades), tests::demo_market(),
                                              {{"delta", "vega"}, greek_method::likelihood_ratio}, how);
        std::ostringstream text;
        write_greeks(text, found, output_format::csv);
        return text.str();
    };
    EXPECT_EQ(csv_with(one), csv_with(two));
}

TEST(greeks, of_likelihood_ratios_are_refused_where_no_normal_number_does) {
    const results r = greeks_of(
        "  - {id: w, product: autocallable, basket: [ACME, BETA], initial_level: [100, 48.2], observations: "
        "[0.5, 1.0], coupon: 0.1}\n",
        1 << 14, {{"delta"}, greek_method::likelihood_ratio});
    const greek_row& row = row_of(r, "w", "ACME.spot");
    EXPECT_EQ(
        row.message,
        "it moves a jump, or the paths, in a way that no weights on normal random numbers express; expected "
        "the method auto, smoothed or bump");
    EXPECT_EQ(row.kind, error_kind::input);
}

// The adjoint takes a few thousand pairs of a trade and a number at a time: this book takes two turns.
TEST(greeks, of_the_last_of_very_many_trades_are_its_own) {
    const market in = market::parse(flat_market);
    const auto call = [](int i) {
        return fmt::format("  - {{id: c{}, product: european, underlying: A, strike: {}, maturity: 1}}\n", i,
                           80 + 0.03 * i);
    };
    constexpr int trades = 1100, last = trades - 1;
    std::string all;
    for (int i = 0; i < trades; ++i) all += call(i);
    const greek_options of_numbers{{"A.spot", "A.volatility", "A.dividend_yield", "USD.rate"},
                                   greek_method::automatic};
    const results together = greeks_of(all, plain_with(1024), of_numbers, in);
    EXPECT_EQ(together.greeks.size(), 4U * trades) << "as many pairs take two turns";
    const results alone = greeks_of(call(last), plain_with(1024), of_numbers, in);
    ASSERT_EQ(alone.greeks.size(), 4U);
    for (const greek_row& own : alone.greeks) {
        const greek_row& row = row_of(together, own.trade, own.key);
        EXPECT_EQ(row.value, own.value) << own.key;
        EXPECT_EQ(row.part_means, own.part_means) << own.key;
        EXPECT_NE(own.value, 0) << own.key;
    }
}

// A number that moves no path of a trade has no row: a difference of 0 on all paths shows no error.
TEST(greeks, by_bump_of_what_never_pays_are_none) {
    const market in = market::parse(flat_market);
    const results r = greeks_of(
        "  - {id: far, product: european, underlying: A, strike: 1e9, maturity: 1}\n"
        "  - {id: near, product: european, underlying: A, strike: 100, maturity: 1}\n",
        plain_with(4096), {{"A.spot", "A.volatility"}, greek_method::bump}, in);
    EXPECT_EQ(r.rows.at(0).price, 0);
    for (const greek_row& g : r.greeks) EXPECT_EQ(g.trade, "near") << g.key << " " << g.standard_error;
    EXPECT_EQ(r.greeks.size(), 2U);
}

TEST(greeks, of_what_no_path_shows_have_no_error) {
    const market in = market::parse(flat_market);
    const results r = greeks_of(
        "  - {id: d, product: cumulative_parisian, underlying: A, option: call, strike: 1000, direction: "
        "down, "
        "barrier: 90, maturity: 0.25, kind: knock_in, window: 0.04, elapsed: 0, rebate: 0}\n",
        1 << 15, {{"delta"}, greek_method::automatic}, in);
    const greek_row& row = row_of(r, "d", "A.spot");
    EXPECT_EQ(row.method, "bump");
    EXPECT_EQ(row.value, 0);
    EXPECT_FALSE(is_figure(row.standard_error));
    EXPECT_TRUE(row.message.empty()) << row.message;
}

TEST(greeks, leave_prices_as_they_are) {
    const book all = book::load(TILEWALK_SOURCE_DIR "/configs/books/demo.yaml");
    for (const char* const precision : {"double", "single", "mixed"}) {
        run_options options = with_paths(1 << 14);
        options.overrides.precision = tests::named{precision};
        const results alone = engine().price(all, options);
        for (const std::vector<std::string>& wanted : {std::vector<std::string>{}, {"delta", "vega"}}) {
            const results beside = engine().greeks(all, *all.market(), {wanted}, options);
            ASSERT_EQ(alone.rows.size(), beside.rows.size());
            for (std::size_t i = 0; i < alone.rows.size(); ++i) {
                EXPECT_EQ(alone.rows[i].part_means, beside.rows[i].part_means) << alone.rows[i].trade;
                EXPECT_EQ(std::bit_cast<std::uint64_t>(alone.rows[i].standard_error),
                          std::bit_cast<std::uint64_t>(beside.rows[i].standard_error));
            }
        }
    }
}

// Threads change no bit. Further requested numbers may change the method, and with it the last bits.
TEST(greeks, do_not_depend_on_threads_or_on_what_else_is_asked) {
    const book all = book::load(TILEWALK_SOURCE_DIR "/configs/books/demo.yaml");
    run_options one = with_paths(1 << 14), many = one;
    one.overrides.threads = 1;
    many.overrides.threads = 5;
    greek_options both_orders;
    for (const greek_measure& m : greek_measures()) both_orders.wanted.emplace_back(m.name);
    const results a = engine().greeks(all, *all.market(), both_orders, one);
    const results b = engine().greeks(all, *all.market(), both_orders, many);
    const results vegas = engine().greeks(all, *all.market(), {{"vega"}, greek_method::automatic}, one);
    ASSERT_EQ(a.greeks.size(), b.greeks.size());
    std::size_t compared = 0, differ = 0;
    for (std::size_t i = 0; i < a.greeks.size(); ++i) {
        EXPECT_EQ(a.greeks[i].part_means, b.greeks[i].part_means) << a.greeks[i].trade << a.greeks[i].key;
        EXPECT_EQ(a.greeks[i].key, b.greeks[i].key);
        if (a.greeks[i].measure != "vega" || a.greeks[i].has_failed()) continue;
        const std::vector<double>& one_way = a.greeks[i].part_means;
        const std::vector<double>& other = row_of(vegas, a.greeks[i].trade, a.greeks[i].key).part_means;
        ASSERT_EQ(one_way.size(), other.size());
        double size = 0;
        for (const double m : one_way) size = std::max(size, std::abs(m));
        for (std::size_t p = 0; p < one_way.size(); ++p) {
            EXPECT_NEAR(one_way[p], other[p], 1e-12 * size) << a.greeks[i].trade << a.greeks[i].key;
            differ += one_way[p] != other[p];
        }
        ++compared;
    }
    EXPECT_GT(compared, 10u);
    EXPECT_GT(differ, 0u);  // vegas alone use tangents
    for (const greek_row& g : vegas.greeks) EXPECT_EQ(g.measure, "vega");
}

TEST(greeks, tell_of_one_progress) {
    const std::string trades =
        "  - {id: c, product: european, underlying: A, option: call, strike: 105, maturity: 1}\n"
        "  - {id: d, product: digital, underlying: A, option: call, strike: 105, maturity: 1, payout: 10}\n";
    const market in = market::parse(flat_market);
    for (const greek_options& wanted : {greek_options{}, greek_options{{}, greek_method::bump},
                                        greek_options{{"delta", "gamma", "volga", "charm"}}}) {
        std::vector<progress> told;
        run_options options = with_paths(1 << 15);
        options.on_progress = [&](const progress& p) { told.push_back(p); };
        const results r = engine().greeks(book::parse("trades:\n" + trades), in, wanted, options);
        ASSERT_FALSE(told.empty());
        double before = 0;
        std::size_t between = 0;
        for (const progress& p : told) {
            EXPECT_EQ(p.trades, 2u);
            EXPECT_LE(p.path_steps_done, p.path_steps);
            if (p.path_steps == 0) continue;
            const double part = static_cast<double>(p.path_steps_done) / static_cast<double>(p.path_steps);
            EXPECT_GE(part, before - 1e-4);
            before = std::max(before, part);
            between += part > 0 && part < 1 ? 1 : 0;
        }
        EXPECT_GT(between, 0u);
        EXPECT_EQ(told.back().trades_done, 2u);
        EXPECT_EQ(told.back().path_steps_done, r.manifest.path_steps);
        EXPECT_EQ(told.back().path_steps, r.manifest.path_steps);
    }
}

TEST(greeks, of_paths_take_one_walk) {
    struct counted : cpu::back_end {
        using cpu::back_end::back_end;
        std::atomic<int>* walks = nullptr;
        run::outcome walk_all(const run::walk& of) override {
            ++*walks;
            return cpu::back_end::walk_all(of);
        }
    };
    std::atomic<int> walks{0};
    stages by;
    by.on_cpu = [&](const cpu::lane_operations& operations, int threads, program::precision in) {
        auto made = std::make_unique<counted>(operations, threads, in);
        made->walks = &walks;
        return made;
    };
    const book trades = book::parse(
        "trades:\n  - {id: a, product: asian, underlying: GAMMA, strike: 65, "
        "averaging_dates: {start: 0, end: 2, count: 24}}\n");
    cuda::backend gpus;
    const auto of = [&](const greek_options& wanted) {
        walks = 0;
        return greeks_of_book(studies::resources({}, gpus), trades, tests::demo_market(), wanted,
                              {with_paths(1 << 12)}, by);
    };
    EXPECT_GE(of({{"delta", "vega", "rho", "dividend"}, greek_method::automatic}).greeks.size(), 9u);
    EXPECT_EQ(walks, 1);
    EXPECT_GE(of({}).greeks.size(), 10u);
    EXPECT_EQ(walks, 2);  // theta walks the next day's market
    // Gammas and vannas take differences of markets: each further market takes one more walk.
    EXPECT_GE(of({{"gamma", "vanna"}, greek_method::automatic}).greeks.size(), 4u);
    EXPECT_EQ(walks, 1 + 4);
    EXPECT_EQ(of({{"gamma"}, greek_method::automatic}).greeks.size(), 1u);
    EXPECT_EQ(walks, 1 + 4);
    EXPECT_EQ(of({{"theta"}, greek_method::automatic}).greeks.size(), 1u);
    EXPECT_EQ(walks, 1 + 1);
    EXPECT_EQ(of({{"gamma", "theta"}, greek_method::automatic}).greeks.size(), 2u);
    EXPECT_EQ(walks, 1 + 4 + 1);
}

TEST(greeks, of_few_numbers_are_carried_forth) {
    struct looked_at : cpu::back_end {
        using cpu::back_end::back_end;
        std::vector<std::pair<bool, std::size_t>>* jobs = nullptr;  // has an adjoint, number of outputs
        run::outcome walk_all(const run::walk& of) override {
            for (const run::job& j : of.jobs)
                jobs->emplace_back(j.back.code != nullptr, j.code->outputs.size());
            return cpu::back_end::walk_all(of);
        }
    };
    std::vector<std::pair<bool, std::size_t>> jobs;  // without those of the shadow sample
    stages by;
    by.on_cpu = [&](const cpu::lane_operations& operations, int threads, program::precision in) {
        auto made = std::make_unique<looked_at>(operations, threads, in);
        made->jobs = &jobs;
        return made;
    };
    std::string rates;
    for (int i = 1; i <= 20; ++i) rates += fmt::format("{}{}: 0.03", i > 1 ? ", " : "", i / 20.0);
    const market in = market::parse("as_of: 2026-01-15\ncurrencies: {USD: {zero_rates: {" + rates +
                                    "}}}\nassets: {A: {currency: USD, spot: 100, volatility: 0.25}}\n");
    const book trades = book::parse(
        "trades:\n"
        "  - {id: a, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: "
        "24}}\n"
        "  - {id: d, product: digital, underlying: A, option: call, strike: 105, maturity: 1, payout: 10}\n");
    cuda::backend gpus;
    for (const char* const precision : {"double", "single"}) {
        run_options options = plain_with(1 << 14);
        options.overrides.precision = tests::named{precision};
        const results price = engine().price(trades, in, options);
        const auto of = [&](const std::vector<std::string>& wanted) {
            jobs.clear();
            results r = greeks_of_book(studies::resources({}, gpus), trades, in,
                                       {wanted, greek_method::smoothed}, {options}, by);
            for (std::size_t i = 0; i < price.rows.size(); ++i)
                EXPECT_EQ(price.rows[i].part_means, r.rows[i].part_means) << precision;
            return r;
        };
        const results few = of({"A.spot", "A.volatility"});
        EXPECT_FALSE(std::ranges::any_of(jobs, [](const auto& j) { return j.first; }));
        EXPECT_TRUE(std::ranges::all_of(jobs, [](const auto& j) { return j.second == 3; }));
        const results many = of({"A.*", "rho"});
        EXPECT_TRUE(std::ranges::all_of(jobs, [](const auto& j) { return j.first && j.second == 1; }));
        for (const char* const trade : {"a", "d"}) {
            for (const char* const key : {"A.spot", "A.volatility"}) {
                const greek_row &forth = row_of(few, trade, key), &back = row_of(many, trade, key);
                const double most = precision == std::string("double") ? 1e-12 : 1e-5;
                EXPECT_NEAR(forth.value, back.value, most * std::abs(back.value)) << trade << " " << key;
                EXPECT_NEAR(forth.standard_error, back.standard_error, 10 * most * back.standard_error);
                EXPECT_EQ(forth.method, back.method);
                EXPECT_EQ(forth.unit, back.unit);
            }
        }
        EXPECT_EQ(row_of(few, "a", "A.spot").method, "pathwise");
        EXPECT_EQ(row_of(few, "d", "A.spot").method, "smoothed");
    }
}

TEST(greeks, of_a_path_without_a_derivative_are_none) {
    const market in = market::parse(flat_market);
    const book trades = book::parse(
        "trades:\n  - {id: c, product: european, underlying: A, option: call, strike: 105, maturity: 1}\n");
    studies::shape_store shapes;
    studies::planned p;
    p.ready = std::make_shared<const studies::ready_trade>(
        plan::plan_trade(state_of(trades).trades.at(0), state_of(in)), shapes);
    p.with_tangents = p.ready;
    run::tally all(4, 2, 3);
    for (kernels::word64 tile = 0; tile < 4; ++tile) {
        const kernels::tile_result sound{{1024, 1.0 + static_cast<double>(tile), 0, 0, 0}},
            without{{1023, 5, 0, 0, 0}, tile == 2 ? 1u : 0u};
        const kernels::tile_result found[]{sound, without, sound};
        all.add({tile, 1}, found);
    }
    const studies::walked_trade walked(all, false, p);
    EXPECT_EQ(walked.result.not_finite, 0u);
    ASSERT_EQ(walked.derivatives.size(), 2u);
    ASSERT_EQ(walked.derivatives[0].size(), 2u);
    for (const double m : walked.derivatives[0]) EXPECT_TRUE(std::isnan(m));
    EXPECT_EQ(walked.derivatives[1], (std::vector<double>{1.5, 3.5}));
}

TEST(greeks, are_asked_for_by_measure_and_by_pattern) {
    const std::string trade =
        "  - {id: a, product: asian, underlying: GAMMA, strike: 65, averaging_dates: {start: 0, end: 1, "
        "count: 4}}\n";
    const auto keys = [&](std::vector<std::string> wanted) {
        std::vector<std::string> out;
        for (const greek_row& g : greeks_of(trade, 1024, {std::move(wanted), greek_method::automatic}).greeks)
            out.push_back(g.measure + " " + g.key);
        return out;
    };
    using list = std::vector<std::string>;
    EXPECT_EQ(keys({"delta"}), (list{"delta GAMMA.spot"}));
    EXPECT_EQ(keys({"GAMMA.volatility@0.5y"}), (list{"vega GAMMA.volatility@0.5y"}));
    EXPECT_EQ(keys({"delta", "*.volatility@0*"}), (list{"delta GAMMA.spot", "vega GAMMA.volatility@0.25y",
                                                        "vega GAMMA.volatility@0.5y", "vega "}));
    EXPECT_EQ(keys({"ACME.*"}), (list{}));
    const auto refusal = [&](std::vector<std::string> wanted, const std::string& method = "auto") {
        try {
            greeks_of(trade, 1024, {std::move(wanted), greek_method_named(method)});
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::usage);
            return e.message();
        }
        return std::string("taken");
    };
    EXPECT_EQ(keys({"gamma"}), (list{"gamma GAMMA.spot"}));
    EXPECT_EQ(keys({"gamma", "delta"}), (list{"delta GAMMA.spot", "gamma GAMMA.spot"}));
    EXPECT_EQ(keys({"cross_gamma"}), (list{}));
    EXPECT_NE(refusal({"dleta"}).find("did you mean 'delta'"), std::string::npos) << refusal({"dleta"});
    EXPECT_NE(refusal({"GAMA.spot"}).find("did you mean 'GAMMA.spot'"), std::string::npos);
    EXPECT_NE(refusal({}, "pathwse").find("did you mean 'pathwise'"), std::string::npos);
}

TEST(greeks, of_the_second_order_are_those_of_black_and_scholes) {
    const market in = market::parse(flat_market);
    for (const auto& [strike, years] : {std::pair{80.0, 0.5}, {100.0, 1.0}, {130.0, 2.0}}) {
        const std::string terms = ", underlying: A, strike: " + std::to_string(strike) +
                                  ", maturity: " + std::to_string(years) + "}\n";
        const results r = greeks_of("  - {id: c, product: european, option: call" + terms +
                                        "  - {id: p, product: european, option: put, quantity: -2" + terms,
                                    1 << 17, {{"gamma", "vanna", "volga"}, greek_method::automatic}, in);
        const flat_option o{strike, years};
        const double gamma = std::exp(-o.yield * years) * bell(o.d1()) / (flat_option::spot * o.deviation());
        const double vega = o.asset() * bell(o.d1()) * std::sqrt(years);
        const double vanna = -std::exp(-o.yield * years) * bell(o.d1()) * o.d2() / o.volatility;
        const double volga = vega * o.d1() * o.d2() / o.volatility;
        for (const auto& [trade, quantity] : {std::pair{"c", 1.0}, {"p", -2.0}}) {
            expect_near(row_of(r, trade, "A.spot"), quantity * gamma);
            expect_near(row_of(r, trade, "A.spot;A.volatility"), quantity * 0.01 * vanna);
            expect_near(row_of(r, trade, "A.volatility"), quantity * 1e-4 * volga);
        }
        EXPECT_EQ(r.greeks.size(), 6u);
        for (const greek_row& g : r.greeks) EXPECT_EQ(g.method, "bumped_pathwise") << g.key;
        EXPECT_EQ(row_of(r, "c", "A.spot").unit, "USD per 1 USD of A squared");
        EXPECT_EQ(row_of(r, "c", "A.spot;A.volatility").unit, "USD per 1 % of volatility and 1 USD of A");
    }
}

TEST(greeks, of_the_second_order_see_the_jump_of_a_digital) {
    const market in = market::parse(flat_market);
    const flat_option o{105, 1};
    for (const std::string method : {"smoothed", "likelihood_ratio", "bump"}) {
        const results r = greeks_of(
            "  - {id: d, product: digital, underlying: A, option: call, strike: 105, maturity: 1, payout: "
            "10}\n",
            1 << 19, {{"gamma", "vanna"}, tests::named{method}}, in);
        const double density = 10 * std::exp(-o.rate) * bell(o.d2());
        const double spot = flat_option::spot, deviation = o.deviation();
        expect_near(row_of(r, "d", "A.spot"), -density * o.d1() / (spot * spot * deviation * deviation));
        expect_near(row_of(r, "d", "A.spot;A.volatility"),
                    0.01 * density * (o.d1() * o.d2() - 1) / (spot * deviation * o.volatility));
        for (const greek_row& g : r.greeks) EXPECT_EQ(g.method, method) << g.key;
    }
}

// Margrabe's formula gives the truth of an exchange option.
TEST(greeks, of_the_second_order_cross_between_assets) {
    const market in = market::parse(dollar_market(0.03,
                                                  {{"A", "spot: 100, dividend_yield: 0.01, volatility: 0.25"},
                                                   {"B", "spot: 95, dividend_yield: 0.02, volatility: 0.2"}},
                                                  "correlations: [[A, B, 0.3]]"));
    const results r =
        greeks_of("  - {id: x, product: exchange, received_asset: A, given_asset: B, maturity: 2.0}\n",
                  1 << 17, {{"gamma", "cross_gamma", "vanna"}, greek_method::automatic}, in);
    const double variance = 0.25 * 0.25 + 0.2 * 0.2 - 2 * 0.3 * 0.25 * 0.2,
                 deviation = std::sqrt(2 * variance);
    const double a = 100 * std::exp(-0.02), b = 95 * std::exp(-0.04);
    const double d1 = std::log(a / b) / deviation + deviation / 2, d2 = d1 - deviation;
    expect_near(row_of(r, "x", "A.spot"), std::exp(-0.02) * bell(d1) / (100 * deviation));
    expect_near(row_of(r, "x", "B.spot"), std::exp(-0.04) * bell(d2) / (95 * deviation));
    expect_near(row_of(r, "x", "A.spot;B.spot"), -std::exp(-0.02) * bell(d1) / (95 * deviation));
    const double by_volatility = (0.25 - 0.3 * 0.2) / variance;  // relative derivative of the deviation
    expect_near(row_of(r, "x", "A.spot;A.volatility"),
                -0.01 * std::exp(-0.02) * bell(d1) * d2 * by_volatility);
    std::size_t rows = 0;
    for (const greek_row& g : r.greeks) rows += g.key.empty() ? 0u : 1u;
    EXPECT_EQ(rows, 2u + 1u + 4u);
}

// All volatilities of an asset move together like a flat volatility.
TEST(greeks, of_the_second_order_sum_over_pillars) {
    const std::string in_pillars =
        dollar_market(0.03, {{"A", "spot: 100, volatility: {0.5: 0.25, 1: 0.25, 2: 0.25}"}});
    const std::string flat = dollar_market(0.03, {{"A", "spot: 100, volatility: 0.25"}});
    const std::string trade =
        "  - {id: a, product: asian, underlying: A, strike: 110, averaging_dates: {start: 0, end: 2, count: "
        "8}}\n";
    const greek_options wanted{{"vanna", "volga"}, greek_method::automatic};
    const results by_pillar = greeks_of(trade, 1 << 14, wanted, market::parse(in_pillars));
    const results whole = greeks_of(trade, 1 << 14, wanted, market::parse(flat));
    std::size_t totals = 0;
    for (const greek_row& g : by_pillar.greeks) {
        if (!g.key.empty()) continue;
        const auto same = std::ranges::find(whole.greeks, g.measure, &greek_row::measure);
        ASSERT_NE(same, whole.greeks.end());
        EXPECT_NEAR(g.value, same->value, 1e-6 * std::abs(same->value) + 1e-9) << g.measure;
        EXPECT_NEAR(g.standard_error, same->standard_error, 1e-6 * same->standard_error) << g.measure;
        ++totals;
    }
    EXPECT_EQ(totals, 2u);
    EXPECT_GE(by_pillar.greeks.size(), 7u);
}

namespace {

double value_of_call(flat_option o) {
    return o.asset() * below(o.d1()) - o.cash() * below(o.d2());
}
double delta_of_call(flat_option o) {
    return std::exp(-flat_option::yield * o.years) * below(o.d1());
}

}  // namespace

// A number near an end of its range moves less far on that side, or not at all.
TEST(greeks, moved_markets_are_as_far_apart_as_their_numbers) {
    const market in = market::parse(dollar_market(
        0.03,
        {{"A", "spot: 100, volatility: 0.008, dividends: [{date: 2026-06-01, proportion: 0.95}]"},
         {"B", "spot: 100, volatility: 4.997"},
         {"C", "spot: 100, volatility: 5"}},
        "correlations: [[A, B, 0.992], [A, C, 0], [B, C, 0]]"));
    std::size_t central = 0, on_one_side = 0, uneven = 0;
    for (const markets::keyed_number& n : state_of(in).source->numbers()) {
        const greeks::risk_number risk = greeks::risk_of(n);
        if (risk.measure.empty()) continue;
        const greeks::moved_markets about(in, {n.key}, risk.large);
        ASSERT_TRUE(about.are_there()) << n.key;
        const double here = in.number(n.key).value, above = about.up->number(n.key).value - here,
                     below = here - about.down->number(n.key).value;
        EXPECT_NEAR(about.distance, above + below, 1e-9 * risk.large) << n.key;
        EXPECT_EQ(about.is_central, std::abs(above - below) < 1e-9 * risk.large) << n.key;
        if (about.is_central)
            ++central;
        else if (above == 0 || below == 0)
            ++on_one_side;
        else
            ++uneven;
    }
    EXPECT_GE(central, 4U);
    EXPECT_GE(on_one_side, 1U);
    EXPECT_GE(uneven, 4U);
}

// The stated bias is the error of a finite difference itself. The payoff, the square of a log price, has no
// kinks and a known bias. At the largest volatility the squared variable has mean 0: derivatives by one-sided
// differences leave nothing else there. Chance moves these biases by less than a hundredth.
TEST(greeks, of_the_second_order_tell_what_their_differences_leave) {
    const auto of = [](double years, const greek_options& wanted, const market& in) {
        const book b = book::parse(
            "products:\n" +
            tests::product_in_words("squared", "The square of a logarithm.",
                                    "underlying: asset, maturity: date",
                                    "on maturity:\n    pay pow(log(spot(underlying) / 100) + 12.5, 2)\n") +
            fmt::format("trades:\n  - {{id: t, product: squared, underlying: A, maturity: {}}}\n", years));
        return engine().greeks(b, in, wanted, plain_with(1 << 16));
    };
    // Volga takes a one-sided difference, because no volatility may be larger than `highest`.
    const double years = 1, highest = 5, move = 0.01, more = 12.5;
    const auto vega = [&](double v) { return 2 * v * years * (1 - more) + v * v * v * years * years; };
    const double volga = 2 * years * (1 - more) + 3 * highest * highest * years * years;
    const double of_side = (vega(highest) - vega(highest - move)) / move - volga;
    const greek_row by_volatility =
        row_of(of(years, {{"volga"}, greek_method::automatic},
                  market::parse(dollar_market(0, {{"A", "spot: 100, volatility: 5"}}))),
               "t", "A.volatility");
    EXPECT_NEAR(by_volatility.bias, 1e-4 * std::abs(of_side), 0.02e-4 * std::abs(of_side));
    // Charm takes the difference of two days' deltas, each by a two-sided difference.
    const auto worth = [&](double spot, double of_years) {
        const double variance = flat_option::volatility * flat_option::volatility * of_years;
        const double mean =
            std::log(spot / 100) + more + (flat_option::rate - flat_option::yield) * of_years - variance / 2;
        return std::exp(-flat_option::rate * of_years) * (mean * mean + variance);
    };
    const auto charm = [&](double by) {
        const auto delta = [&](double of_years) {
            return (worth(100 + by, of_years) - worth(100 - by, of_years)) / (2 * by);
        };
        return delta(years - 1 / 365.0) - delta(years);
    };
    const double of_both = charm(1) - charm(1e-2);
    const greek_row by_day =
        row_of(of(years, {{"charm"}, greek_method::bump}, market::parse(flat_market)), "t", "A.spot;as_of");
    EXPECT_NEAR(by_day.bias, std::abs(of_both), 0.1 * std::abs(of_both));
}

// A day later the option has a day less to live, whether its maturity is a number of years or a date.
TEST(greeks, of_the_next_day_are_those_of_black_and_scholes) {
    const market in = market::parse(flat_market);
    constexpr double day = 1 / 365.0;
    const std::string terms = ", product: european, underlying: A, option: call, strike: 105, maturity: ";
    const results r = greeks_of("  - {id: in_years, quantity: 3" + terms +
                                    "1.0}\n"
                                    "  - {id: by_date, quantity: 3" +
                                    terms +
                                    "2027-01-15}\n"
                                    "  - {id: last_week" +
                                    terms + "2026-01-22}\n  - {id: last_day" + terms + "2026-01-16}\n",
                                1 << 17, {{"theta", "charm"}, greek_method::automatic}, in);
    for (const auto& [trade, quantity, years] :
         {std::tuple{"in_years", 3.0, 1.0}, {"by_date", 3.0, 1.0}, {"last_week", 1.0, 7 * day}}) {
        const flat_option now{105, years}, then{105, years - day};
        expect_near(row_of(r, trade, "as_of"), quantity * (value_of_call(then) - value_of_call(now)));
        expect_near(row_of(r, trade, "A.spot;as_of"), quantity * (delta_of_call(then) - delta_of_call(now)));
    }
    EXPECT_EQ(row_of(r, "in_years", "as_of").part_means, row_of(r, "by_date", "as_of").part_means);
    // Trade `last_day` matures on the next day, out of the money, and is worth nothing then.
    const flat_option last{105, day};
    expect_near(row_of(r, "last_day", "as_of"), -value_of_call(last));
    expect_near(row_of(r, "last_day", "A.spot;as_of"), -delta_of_call(last));
    EXPECT_EQ(row_of(r, "in_years", "as_of").unit, "USD per 1 day");
    EXPECT_EQ(row_of(r, "in_years", "A.spot;as_of").unit, "USD per 1 USD of A and 1 day");
}

// A day later zero rates are the same, even if the market is written in discount factors.
TEST(greeks, of_the_next_day_accrue_interest) {
    const std::string rates =
        "as_of: 2026-01-15\n"
        "currencies: {USD: {discount_factors: {2027-01-15: 0.96, 2028-01-15: 0.91}}}\n";
    const results r = greeks_of(
        "  - {id: bond, product: coupon_bond, currency: USD, coupon_dates: {start: 0, end: 2, count: 2}, "
        "coupon: 0.04, notional: 1}\n",
        1024, {{"theta"}, greek_method::automatic}, market::parse(rates));
    const auto worth = [](double years_less) {
        const auto factor = [&](double whole, double days) {
            const double years = days / 365;
            return std::pow(whole, (years - years_less) / years);
        };
        return 0.04 * factor(0.96, 365) + 1.04 * factor(0.91, 730);
    };
    const greek_row& theta = row_of(r, "bond", "as_of");
    EXPECT_GT(theta.value, 0);
    EXPECT_NEAR(theta.value, worth(1 / 365.0) - worth(0), 1e-12);
}

TEST(greeks, of_the_next_day_are_differences_of_prices_of_two_days) {
    const std::string trades =
        "  - {id: k, product: barrier, direction: down, kind: knock_out, barrier: 85, underlying: A, option: "
        "call, strike: 100, maturity: 2027-01-15}\n"
        "  - {id: a, product: asian, underlying: A, strike: 100, averaging_dates: {start: 2026-01-15, end: "
        "2026-12-15, every: 1m}}\n";
    std::string text = flat_market;
    const results r =
        greeks_of(trades, plain_with(1 << 14), {{"theta"}, greek_method::automatic}, market::parse(text));
    text.replace(text.find("01-15"), 5, "01-16");
    const results later =
        engine().price(book::parse("trades:\n" + trades), market::parse(text), plain_with(1 << 14));
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
        const greek_row& theta = row_of(r, r.rows[i].trade, "as_of");
        ASSERT_FALSE(theta.has_failed()) << theta.message;
        EXPECT_NEAR(theta.value, later.rows[i].price - r.rows[i].price, 1e-13 * r.rows[i].price);
        EXPECT_LT(theta.value, 0);
    }
}

// A rate that is fixed today is known tomorrow, as `first_rate`.
TEST(greeks, of_the_next_day_know_the_rates_of_today) {
    std::string text =
        "as_of: 2026-01-15\n"
        "currencies: {USD: {rate: 0.03, model: {hull_white: {mean_reversion: 0.03, volatility: 0.01}}}}\n";
    const auto cap = [](const std::string& rest) {
        return "  - {id: c, product: cap_floor, currency: USD, strike: 0.03, begin: 2026-01-15, payments: "
               "[2026-07-15, 2027-01-15]" +
               rest + "}\n";
    };
    const results r = greeks_of(cap(""), 1 << 14, {{"theta"}, greek_method::automatic}, market::parse(text));
    const double length = 181 / 365.0, fixed = (std::exp(0.03 * length) - 1) / length;
    text.replace(text.find("01-15"), 5, "01-16");
    const results later =
        engine().price(book::parse("trades:\n" + cap(", first_rate: " + std::to_string(fixed))),
                       market::parse(text), with_paths(1 << 14));
    // `first_rate` is written with six digits, which limits the agreement.
    const greek_row& theta = row_of(r, "c", "as_of");
    EXPECT_NEAR(theta.value, later.rows[0].price - r.rows[0].price, 1e-4) << theta.message;
    EXPECT_NE(theta.value, 0);
}

TEST(greeks, of_the_next_day_are_found_for_every_product) {
    const results r = engine().greeks(book_of_every_kind(), tests::demo_market(),
                                      {{"theta"}, greek_method::automatic}, with_paths(1024));
    std::size_t found = 0;
    for (const greek_row& g : r.greeks) {
        EXPECT_FALSE(g.has_failed()) << g.trade << ": " << g.message;
        ++found;
    }
    EXPECT_GE(found, 45u);
}

// A call less a put is a forward: their common noise cancels in the total.
TEST(greeks, of_totals_know_what_trades_have_in_common) {
    const market in = market::parse(flat_market);
    const std::string terms = ", product: european, underlying: A, strike: 100, maturity: 1";
    const results r = greeks_of(
        "  - {id: c, option: call" + terms + "}\n  - {id: p, option: put, quantity: -1" + terms + "}\n",
        1 << 16, {}, in);
    const std::vector<greek_row> totals = r.greek_totals();
    const auto total = [&](const std::string& key) {
        return *std::ranges::find(totals, key, &greek_row::key);
    };
    expect_near(total("A.spot"), std::exp(-0.01));
    expect_near(total("USD.rate"), 1e-4 * 100 * std::exp(-0.03));
    const double apart = std::hypot(row_of(r, "c", "A.volatility").standard_error,
                                    row_of(r, "p", "A.volatility").standard_error);
    EXPECT_NE(total("A.volatility").standard_error, apart);
    // A forward has no vega.
    EXPECT_LE(std::abs(total("A.volatility").value), most_errors * total("A.volatility").standard_error);
}

TEST(greeks, of_a_call_and_a_put_keep_parity) {
    const std::string terms = ", product: european, underlying: A, strike: 105, maturity: 1}\n";
    const results r =
        greeks_of("  - {id: c, option: call" + terms + "  - {id: p, option: put" + terms, 1 << 16,
                  {{"delta", "gamma"}, greek_method::automatic}, market::parse(flat_market));
    for (const std::string measure : {"delta", "gamma"}) {
        const auto of = [&](const std::string& trade) {
            return *std::ranges::find_if(
                r.greeks, [&](const greek_row& g) { return g.trade == trade && g.measure == measure; });
        };
        const greek_row call = of("c"), put = of("p");
        ASSERT_EQ(call.part_means.size(), 64U);
        std::vector<double> apart;
        for (std::size_t i = 0; i < 64; ++i) apart.push_back(call.part_means[i] - put.part_means[i]);
        double mean = 0, squares = 0;
        for (const double x : apart) mean += x / 64;
        for (const double x : apart) squares += (x - mean) * (x - mean);
        const double error = std::sqrt(squares / 64 / 63);
        // Pathwise, the difference of gammas is 0 up to rounding.
        const double truth = measure == "delta" ? std::exp(-flat_option::yield) : 0;
        EXPECT_NEAR(call.value - put.value, truth, most_errors * error + 1e-9) << measure;
        EXPECT_NEAR(mean, call.value - put.value, 1e-12) << measure;
        EXPECT_LT(error, 0.5 * std::hypot(call.standard_error, put.standard_error)) << measure;
    }
}

// A price is homogeneous in spot and strike, path by path: spot x delta + strike x (the derivative with
// respect to the strike) is the price, without a random error.
TEST(greeks, of_spot_and_strike_make_the_price) {
    const double strike = 105, move = 1e-5;
    const auto call = [&](const std::string& id, double k) {
        return fmt::format("  - {{id: {}, product: european, underlying: A, strike: {}, maturity: 1}}\n", id,
                           k);
    };
    const results r =
        greeks_of(call("at", strike) + call("above", strike + move) + call("below", strike - move), 1 << 16,
                  {{"delta"}, greek_method::automatic}, market::parse(flat_market));
    const double of_strike = (r.rows[1].price - r.rows[2].price) / (2 * move);
    EXPECT_NEAR(flat_option::spot * row_of(r, "at", "A.spot").value + strike * of_strike, r.rows[0].price,
                1e-6 * r.rows[0].price);
}

TEST(greeks, of_all_pillars_sum_to_that_of_a_parallel_move) {
    const auto in = [](double more) {
        return market::parse(
            dollar_market(0.03, {{"A", fmt::format("spot: 100, volatility: {{0.5: {}, 1: {}, 2: {}}}",
                                                   0.2 + more, 0.25 + more, 0.22 + more)}}));
    };
    const std::string trade =
        "  - {id: t, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 2, count: "
        "8}}\n";
    constexpr double move = 1e-4;
    const results here = greeks_of(trade, plain_with(1 << 16), {{"vega"}, greek_method::automatic}, in(0));
    const auto price = [&](double more) {
        return engine().price(book::parse("trades:\n" + trade), in(more), plain_with(1 << 16)).rows[0].price;
    };
    const greek_row& all = row_of(here, "t", "");
    double sum = 0;
    for (const greek_row& g : here.greeks)
        if (g.trade == "t" && !g.key.empty()) sum += g.value;
    EXPECT_NEAR(all.value, sum, 1e-12 * std::abs(sum));
    // The sum of vegas is the price's difference for a parallel move, with the same random numbers, except on
    // the few paths that the move takes across the strike.
    const double parallel = 0.01 * (price(move) - price(-move)) / (2 * move);
    EXPECT_NEAR(all.value, parallel, 0.02 * all.standard_error);
    EXPECT_GT(std::abs(all.value), 100 * all.standard_error);
}

TEST(greeks, of_an_in_and_an_out_barrier_make_those_of_neither) {
    const std::string terms = ", underlying: ACME, option: call, strike: 100, maturity: 1";
    const std::string barrier = ", product: barrier, direction: down, barrier: 85" + terms;
    const results r = greeks_of("  - {id: out, kind: knock_out" + barrier + "}\n  - {id: in, kind: knock_in" +
                                    barrier + "}\n  - {id: all, product: european" + terms + "}\n",
                                1 << 14);
    for (const greek_row& whole : r.greeks) {
        if (whole.trade != "all") continue;
        EXPECT_EQ(whole.method, whole.measure == "theta" ? "bump" : "pathwise");
        const greek_row &out = row_of(r, "out", whole.key), &in = row_of(r, "in", whole.key);
        EXPECT_EQ(out.method, whole.method) << whole.key;
        EXPECT_NEAR(out.value + in.value, whole.value,
                    most_errors * std::hypot(out.standard_error, whole.standard_error))
            << whole.key;
    }
}

namespace {

void compare_with_bumps(const book& all, const market& in, std::size_t first, std::size_t every,
                        std::uint64_t paths, std::size_t least, std::size_t least_with_jumps) {
    auto some = std::make_shared<books::book_state>(state_of(all));
    std::vector<books::trade> taken;
    for (std::size_t i = first; i < some->trades.size(); i += every) taken.push_back(some->trades[i]);
    some->trades = std::move(taken);
    const book trades = with_state<book>(some);
    const results by_paths = engine().greeks(trades, in, {}, with_paths(paths));
    const results by_bumps = engine().greeks(trades, in, {{}, greek_method::bump}, with_paths(paths));
    std::map<std::pair<std::string, std::string>, const greek_row*> bumps;
    for (const greek_row& g : by_bumps.greeks) bumps[{g.trade, g.key}] = &g;
    std::size_t compared = 0, with_jumps = 0;
    for (const greek_row& g : by_paths.greeks) {
        if (g.key.empty() || g.method == "bump") continue;
        ASSERT_FALSE(g.has_failed()) << g.trade << " " << g.key << ": " << g.message;
        const auto at = bumps.find({g.trade, g.key});
        // If few paths cross a jump, the difference of prices and its error are wrong: the error is smaller
        // than that of smoothing or likelihood ratios, which see more crossings. These rows are skipped.
        const bool sees_jumps = g.method == "smoothed" || g.method == "likelihood_ratio";
        if (sees_jumps &&
            (least_with_jumps == 0 || at == bumps.end() || at->second->standard_error < g.standard_error))
            continue;
        if (at == bumps.end()) {
            // The number moves no price, but may move the policies that the parts of the run train.
            EXPECT_NEAR(g.value, 0, most_errors * g.standard_error + 1e-9) << g.trade << " " << g.key;
            continue;
        }
        const greek_row& b = *at->second;
        if (b.has_failed()) continue;
        // Some differences of prices have no known error. A bias is known to leading order only: hence 1.05.
        const double error = is_figure(b.standard_error) ? b.standard_error : 0;
        EXPECT_LE(std::abs(g.value - b.value),
                  most_errors * std::hypot(g.standard_error, error) + 1.05 * b.bias + g.bias + 1e-9)
            << g.trade << " " << g.key << ": " << g.value << " +- " << g.standard_error << ", by differences "
            << b.value << " +- " << b.standard_error << " with a bias of " << b.bias;
        (sees_jumps ? with_jumps : compared) += 1;
    }
    EXPECT_GE(compared, least);
    EXPECT_GE(with_jumps, least_with_jumps);
}

}  // namespace

TEST(greeks, of_some_of_the_library_are_those_of_differences) {
    compare_with_bumps(book_of_every_kind(), tests::demo_market(), 0, 16, 1 << 14, 75, 60);
}

TEST(greeks, of_some_models_are_those_of_differences) {
    const book all = book::parse(book_of_every_model());
    compare_with_bumps(all, *all.market(), 0, 6, 1 << 14, 60, 0);
}

TEST(greeks, the_mean_time_beyond_a_level_is_no_jump) {
    const book b = book::parse(
        in_book(dollar_market(0.02, {{"A", "spot: 100, dividend_yield: 0.01, volatility: 0.2"}})) +
        "settings: {paths: 16384}\n"
        "trades:\n"
        "  - {id: step, product: step_option, underlying: A, strike: 95, barrier: 105, direction: up, form: "
        "linear, knock_out_rate: 1, maturity: 1}\n"
        "  - {id: corridor, product: corridor_accrual, underlying: A, lower: 90, upper: 110, coupon: 0.05, "
        "maturity: 1}\n");
    const results got = engine().greeks(b, *b.market(), {{"A.*", "USD.rate"}});
    std::size_t rows = 0;
    for (const greek_row& g : got.greeks) {
        if (g.key.empty()) continue;
        EXPECT_EQ(g.method, "pathwise") << g.trade << " " << g.key;
        ++rows;
    }
    EXPECT_EQ(rows, 8U);
}

// A move of 10 bp takes none of these paths across the jump, and would state a fifth of the true error. The
// truth, 3.87983e-6, is by the law of the time beyond a level.
TEST(greeks, a_difference_of_rates_reaches_the_jump) {
    const book b = book::parse(
        "settings: {paths: 65000, seed: 11173794402672060872, random: philox}\n"
        "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.012840633300329826}}\n"
        "  assets: {A: {currency: USD, spot: 0.1826978286980873, dividend_yield: 0.030160167075150325, "
        "volatility: 0.196960515760226}}\n"
        "trades:\n"
        "  - {id: t, underlying: A, product: cumulative_parisian, option: call, strike: 0.16893591337662256, "
        "direction: down, barrier: 0.19879169385673043, maturity: 0.32680869409955166, kind: knock_in, "
        "window: 0.040527339474089714, elapsed: 0, rebate: 0}\n");
    const results got = engine().greeks(b, *b.market(), {{"USD.rate"}});
    const greek_row& g = got.greeks.at(0);
    EXPECT_EQ(g.method, "bump");
    EXPECT_NEAR(g.value, 3.87983e-6, 4 * g.standard_error + g.bias);
    EXPECT_LT(g.standard_error, 0.02 * g.value);
}

TEST(greeks_long, of_the_library_are_those_of_differences) {
    compare_with_bumps(book_of_every_kind(), tests::demo_market(), 0, 1, 1 << 14, 1500, 0);
}

// The run has more paths, since few of them cross a jump when a price moves.
TEST(greeks_long, of_smoothed_jumps_are_those_of_differences) {
    compare_with_bumps(book_of_every_kind(), tests::demo_market(), 3, 16, 1 << 17, 50, 60);
}

TEST(greeks_long, of_every_model_are_those_of_differences) {
    const book all = book::parse(book_of_every_model());
    compare_with_bumps(all, *all.market(), 0, 1, 1 << 14, 200, 20);
}

}  // namespace tilewalk::greeks_test
