// SPDX-License-Identifier: Apache-2.0
// A session has the bits of the engine whatever was priced before, replans only what a change affects, serves
// many threads, and does not grow.
#include "tilewalk/session.h"
#include "tests/named_choice.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "tests/changing_market.h"
#include "tests/every_model.h"
#include "tests/market_text.h"
#include "tests/plain_paths.h"
#include "tests/scenario_file.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::session_test {
namespace {

using tests::changed;
using tests::changing_market;
using tests::dollar_market;

run_options on_cpu(std::uint64_t paths, int threads = 2, run_options o = {}) {
    o.overrides.paths = paths;
    o.overrides.threads = threads;
    o.overrides.device = "cpu";
    return o;
}

std::uint64_t planned_by(const session& ready, const market& in, const run_options& options) {
    const std::uint64_t before = ready.facts().trades_planned;
    ready.price(in, options);
    return ready.facts().trades_planned - before;
}

TEST(session, plans_anew_the_trades_that_read_what_changed) {
    const book trades = book::parse(tests::changing_book);
    const engine e;
    for (const auto& c : tests::market_changes()) {
        const session ready = e.open(trades);
        const market first = market::parse(changing_market),
                     other = market::parse(changed(changing_market, c));
        EXPECT_EQ(planned_by(ready, first, on_cpu(300)), trades.size());
        EXPECT_EQ(planned_by(ready, first, on_cpu(300)), 0U);
        EXPECT_EQ(planned_by(ready, market::parse(changing_market), on_cpu(300)), 0U)
            << "read anew, the same";
        EXPECT_EQ(planned_by(ready, other, on_cpu(300)), c.readers.size()) << c.what;
        EXPECT_EQ(planned_by(ready, other, on_cpu(300)), 0U) << c.what;
        EXPECT_EQ(planned_by(ready, first, on_cpu(300)), c.readers.size()) << c.what << " and back";
        tests::expect_same_rows(ready.price(other, on_cpu(300)), e.price(trades, other, on_cpu(300)), c.what);
    }
}

// Compiled code is kept by the address of its program, so programs that a call makes and drops, such as those
// of bounds, must be compiled anew by each call.
TEST(session, keeps_nothing_compiled_of_programs_that_go) {
    const book trades = book::parse(
        "trades:\n  - {id: a, product: american, option: put, underlying: A, strike: 100, maturity: 1, "
        "exercise_dates: [0.5, 1]}\n"
        "  - {id: b, product: european, underlying: A, strike: 100, maturity: 1}\n");
    const market in = market::parse(dollar_market(0.05, {{"A", "spot: 100, volatility: 0.2"}}));
    const session ready = engine().open(trades);
    for (const char* const source : {"sobol", "philox"}) {
        run_options with = on_cpu(16384);
        with.overrides.random = source;
        ready.price(in, with);
        EXPECT_GT(ready.facts().programs_compiled, 0U);
        EXPECT_LE(ready.facts().programs_compiled, ready.facts().programs);
    }
}

TEST(session, has_the_bits_of_price_after_any_changes) {
    const book trades = book::parse(tests::changing_book);
    const engine e;
    const session ready = e.open(trades);
    const auto changes = tests::market_changes();
    std::mt19937 dice(7);
    std::vector<bool> is_on(changes.size());
    for (int round = 0; round < 60; ++round) {
        const std::size_t flipped = dice() % changes.size();
        is_on[flipped] = !is_on[flipped];
        std::string text = changing_market;
        for (std::size_t i = 0; i < changes.size(); ++i) {
            if (is_on[i]) text = changed(text, changes[i]);
        }
        run_options options = on_cpu(200 + dice() % 3000, 1 + static_cast<int>(dice() % 3));
        options.overrides.seed = dice();
        if (round % 5 == 4)
            options.overrides.precision = round % 2 == 0 ? precision::single : precision::mixed;
        const market in = market::parse(text);
        tests::expect_same_rows(ready.price(in, options), e.price(trades, in, options),
                                "round " + std::to_string(round));
    }
}

// Consecutive calls differ by one setting that a plan or a pilot depends on. For points, pilots choose the
// construction of paths anew for each seed; a digital's strike is another number in float, and paths that
// hardly move end close to it.
TEST(session, has_the_bits_of_price_after_any_other_call) {
    struct call {
        std::uint64_t seed, paths;
        std::string precision, random, controls;
    };
    const auto expect_same = [](const book& trades, const market& in, const std::vector<call>& calls) {
        const engine e;
        const session ready = e.open(trades);
        for (const call& c : calls) {
            run_options options = on_cpu(c.paths);
            options.overrides.seed = c.seed;
            options.overrides.precision = tests::named{c.precision};
            options.overrides.random = c.random;
            options.overrides.controls = tests::named{c.controls};
            tests::expect_same_rows(ready.price(in, options), e.price(trades, in, options),
                                    fmt::format("seed {}, {} paths, {}, {}, controls {}", c.seed, c.paths,
                                                c.precision, c.random, c.controls));
        }
    };
    expect_same(book::parse(tests::changing_book), market::parse(changing_market),
                {{1, 32768, "double", "auto", "none"},
                 {2, 32768, "double", "auto", "none"},
                 {3, 32768, "double", "auto", "none"},
                 {3, 65536, "double", "auto", "none"},
                 {3, 65536, "double", "auto", "auto"},
                 {4, 65536, "double", "auto", "auto"},
                 {4, 65536, "double", "sobol", "auto"},
                 {4, 65536, "double", "sobol", "none"}});
    std::string digitals = "trades:\n";
    for (int k = -4; k <= 4; ++k)
        digitals += fmt::format(
            "  - {{id: d{}, product: digital, underlying: ACME, strike: {:.9f}, maturity: 1.0, payout: 1}}\n",
            k + 4, 100 * std::exp(0.05) * (1 + 3e-7 * k));
    expect_same(book::parse(digitals),
                market::parse(dollar_market(0.05, {{"ACME", "spot: 100, volatility: 0.000001"}})),
                {{1, 4096, "double", "philox", "none"},
                 {1, 4096, "single", "philox", "none"},
                 {1, 4096, "mixed", "philox", "none"},
                 {1, 4096, "double", "philox", "none"}});
}

std::string shown(const results& of) {
    std::string out;
    for (const price_row& row : of.rows)
        out += fmt::format("{} {:a} {:a} {}\n", row.trade, row.price, row.standard_error, row.message);
    for (const greek_row& g : of.greeks)
        out += fmt::format("{} {} {} {} {:a} {:a} {:a} {}\n", g.trade, g.measure, g.key, g.method, g.value,
                           g.standard_error, g.bias, g.message);
    return out;
}
std::string shown(const scenario_results& of) {
    return shown(of.base) + fmt::format("{:a} {:a}\n", fmt::join(of.gains, " "), fmt::join(of.errors, " "));
}

// Calls of greeks and scenarios by turns, in markets that change from round to round, and a day later.
TEST(session, greeks_and_gains_have_the_bits_of_fresh_ones) {
    const book trades = book::parse(tests::changing_book);
    const engine e;
    const session ready = e.open(trades);
    const auto changes = tests::market_changes();
    std::mt19937 dice(11);
    for (int round = 0; round < 8; ++round) {
        const std::string text = round == 0 ? std::string(changing_market)
                                            : changed(changing_market, changes[dice() % changes.size()]);
        const market in = market::parse(text);
        run_options options = on_cpu(16384);
        options.overrides.seed = 1 + dice() % 2;
        const greek_options wanted{{"delta", "vega", "theta", "gamma"},
                                   round % 3 == 2 ? greek_method::bump : greek_method::automatic};
        EXPECT_EQ(shown(ready.greeks(in, wanted, options)), shown(e.greeks(trades, in, wanted, options)))
            << round;
        scenario_list asked = scenario_list::parse(
            "stress:\n  far: {'*.spot': -20%}\n  near: {'*.spot': +0.1%}\n  later: {days: 1}\n", "scenarios",
            in);
        asked.explains = round % 4 == 0;
        EXPECT_EQ(shown(ready.scenarios(in, asked, options)), shown(e.scenarios(trades, in, asked, options)))
            << round;
        if (round % 2 == 0) ready.price(in, options);
    }
    EXPECT_LE(ready.facts().plans, trades.size());
}

TEST(session, greeks_and_gains_plan_the_base_market_once) {
    const book trades = book::parse(
        "trades:\n  - {id: a, product: european, underlying: A, strike: 100, maturity: 1}\n"
        "  - {id: b, product: asian, underlying: A, strike: 100, averaging_dates: [0.5, 1]}\n");
    const market in = market::parse(dollar_market(0.05, {{"A", "spot: 100, volatility: 0.2"}}));
    const session ready = engine().open(trades);
    const run_options options = on_cpu(4096);
    ready.greeks(in, {{"delta", "vega"}}, options);
    EXPECT_EQ(ready.facts().trades_planned, trades.size());
    ready.price(in, options);
    ready.greeks(in, {{"delta", "vega"}}, options);
    EXPECT_EQ(ready.facts().trades_planned, trades.size());
    EXPECT_EQ(ready.facts().plans, trades.size());
    const scenario_list asked = scenario_list::parse("stress:\n  far: {A.spot: -20%}\n", "scenarios", in);
    ready.scenarios(in, asked, options);
    EXPECT_EQ(ready.facts().trades_planned, 2 * trades.size()) << "once more in the scenario";
    ready.greeks(in, {{"delta"}}, options);
    EXPECT_EQ(ready.facts().trades_planned, 2 * trades.size()) << "whose plans are not kept";
    scenario_list explained = scenario_list::parse("stress:\n  later: {days: 1}\n", "scenarios", in);
    explained.explains = true;
    const std::size_t before = ready.facts().trades_planned;
    ready.scenarios(in, explained, options);
    EXPECT_EQ(ready.facts().trades_planned, before + 2 * trades.size()) << "a day later, for gains and theta";
}

TEST(session, models_that_were_read_anew_count_as_changed) {
    for (const auto& [name, asset] : every_model()) {
        const std::string text =
            dollar_market(0.03, {{"ACME", "spot: 100, " + asset}, {"BETA", "spot: 100, volatility: 0.2"}});
        const book trades = book::parse(
            "trades:\n  - {id: a, product: european, underlying: ACME, strike: 100, maturity: 0.5}\n"
            "  - {id: b, product: european, underlying: BETA, strike: 100, maturity: 0.5}\n");
        const engine e;
        const session ready = e.open(trades);
        const market in = market::parse(text), again = market::parse(text);
        EXPECT_EQ(planned_by(ready, in, on_cpu(100)), 2U) << name;
        EXPECT_EQ(planned_by(ready, in, on_cpu(100)), 0U) << name;
        EXPECT_EQ(planned_by(ready, again, on_cpu(100)), name == "black_scholes" ? 0U : 1U) << name;
        tests::expect_same_rows(ready.price(again, on_cpu(100)), e.price(trades, again, on_cpu(100)), name);
    }
}

TEST(session, shifts_by_market_key_plan_their_own_trades_anew) {
    const book trades = book::parse(book_of_every_model());
    const engine e;
    const session ready = e.open(trades);
    const market first = *trades.market();
    EXPECT_EQ(planned_by(ready, first, on_cpu(200)), trades.size());
    EXPECT_EQ(planned_by(ready, first.shifted("heston.spot", 0), on_cpu(200)), 0U);
    std::size_t of_heston = 0;
    for (const trade_dependence& t : e.depends_on(trades, first, on_cpu(200))) {
        for (const market_number& n : t.numbers) of_heston += n.key == "heston.heston.sigma";
    }
    EXPECT_GT(of_heston, 2U);
    EXPECT_LT(of_heston, trades.size() / 2);
    const market up = first.shifted("heston.heston.sigma", 0.01);
    EXPECT_EQ(planned_by(ready, up, on_cpu(200)), of_heston);
    tests::expect_same_rows(ready.price(up, on_cpu(200)), e.price(trades, up, on_cpu(200)), "sigma");
    EXPECT_EQ(planned_by(ready, first, on_cpu(200)), of_heston) << "and back";
}

TEST(session, rates_that_move) {
    for (const auto& [name, rates] : every_rate_model()) {
        const std::string text = "as_of: 2026-01-15\ncurrencies:\n  USD: {rate: 0.03, " + rates +
                                 "}\nassets:\n  ACME: {currency: USD, spot: 100, volatility: 0.2}\n";
        const book trades = book::parse(
            "trades:\n  - {id: a, product: european, underlying: ACME, strike: 100, maturity: 0.5}\n");
        const engine e;
        const session ready = e.open(trades);
        const market in = market::parse(text),
                     other = market::parse(changed(text, {"rate", "rate: 0.03", "rate: 0.031", {}}));
        for (const market& m : {in, other, in, other})
            tests::expect_same_rows(ready.price(m, on_cpu(500)), e.price(trades, m, on_cpu(500)), name);
    }
}

TEST(session, failures_are_those_of_price_and_pass) {
    const book trades =
        book::parse(tests::changing_book +
                    "  - {id: unread, product: european, strike: 1}\n"
                    "  - {id: unpaid, product: european, underlying: NONE, strike: 1, maturity: 1.0}\n");
    const engine e;
    const session ready = e.open(trades);
    const market good = market::parse(changing_market);
    const market bad = market::parse(changed(
        changing_market, {"BETA has no volatility", ", volatility: {0.5: 0.2, 2.0: 0.25}}", "}", {}}));
    for (const market& m : {good, bad, good, bad, bad, good})
        tests::expect_same_rows(ready.price(m, on_cpu(300)), e.price(trades, m, on_cpu(300)), "failures");
    EXPECT_EQ(ready.price(good, on_cpu(300)).failed(), 2U);
    EXPECT_EQ(ready.price(bad, on_cpu(300)).failed(), 5U);
    run_options demanding = on_cpu(300);
    demanding.demand_correlations = true;
    tests::expect_same_rows(ready.price(good, demanding), e.price(trades, good, demanding), "demanding");
}

TEST(session, scenarios_are_those_of_the_market_at_hand) {
    const tests::scenario_file file(2, 1000), shorter(2, 100);
    const auto in = [](const tests::scenario_file& by) {
        return market::parse(dollar_market(
            0.03, {{"ACME", "spot: 100, volatility: {scenarios: " + by.name() + ", times: [0.5, 1.0]}"}}));
    };
    const book trades = book::parse(
        "trades:\n  - {id: a, product: european, underlying: ACME, strike: 100, maturity: 1.0}\n");
    const engine e;
    const session ready = e.open(trades);
    for (const market& m : {in(file), in(shorter), in(file)}) {
        for (const std::uint64_t paths : {50U, 500U})
            tests::expect_same_rows(ready.price(m, on_cpu(paths)), e.price(trades, m, on_cpu(paths)),
                                    "scenarios");
    }
}

TEST(session, answers_are_those_of_price) {
    const book trades = book::parse(
        "trades:\n  - {id: a, product: european, underlying: ACME, strike: 100, maturity: 1.0, report: "
        "implied_volatility}\n  - {id: b, product: european, underlying: BETA, strike: 50, maturity: 0.5, "
        "report: "
        "{fair: strike, price: 5}}\n");
    const engine e;
    const session ready = e.open(trades);
    const market in = market::parse(changing_market);
    for (int round = 0; round < 2; ++round)
        tests::expect_same_rows(ready.price(in, on_cpu(2000)), e.price(trades, in, on_cpu(2000)), "answers");
}

TEST(session, outlives_its_book_and_engine) {
    std::optional<book> trades = book::parse(tests::changing_book);
    const market in = market::parse(changing_market);
    std::optional<engine> e(std::in_place);
    const results wanted = e->price(*trades, in, on_cpu(300));
    const session ready = e->open(*trades);
    trades.reset();
    e.reset();
    tests::expect_same_rows(ready.price(in, on_cpu(300)), wanted, "outlived");
}

TEST(session, eight_threads_have_equal_bits_and_nothing_grows) {
    const book trades = book::parse(tests::changing_book);
    const engine e;
    const session ready = e.open(trades);
    std::vector<market> in{market::parse(changing_market)};
    for (const auto& c : tests::market_changes()) in.push_back(market::parse(changed(changing_market, c)));
    std::vector<results> wanted;
    for (const market& m : in) wanted.push_back(e.price(trades, m, on_cpu(256)));
    const auto calls = [&](int threads, int each) {
        std::atomic<int> wrong{0};
        std::vector<std::jthread> all;
        for (int t = 0; t < threads; ++t) {
            all.emplace_back([&, t] {
                for (int k = 0; k < each; ++k) {
                    const std::size_t m = static_cast<std::size_t>(k / 3 + t) % in.size();
                    const results got = ready.price(in[m], on_cpu(256));
                    for (std::size_t i = 0; i < got.rows.size(); ++i)
                        wrong += got.rows[i].price != wanted[m].rows[i].price ||
                                 got.rows[i].standard_error != wanted[m].rows[i].standard_error;
                }
            });
        }
        all.clear();
        EXPECT_EQ(wrong, 0);
    };
    calls(8, 50);
    const auto expect_bounded = [&] {
        const session_facts f = ready.facts();
        EXPECT_EQ(f.plans, trades.size());
        EXPECT_LE(f.programs, 2 * trades.size());
        EXPECT_LE(f.programs_compiled, f.programs);
        EXPECT_LE(f.crews, 8U);
        EXPECT_LE(f.threads, 8U) << "one a crew of two, beside the caller";
    };
    expect_bounded();
    calls(8, 200);
    expect_bounded();
    calls(1, 100);
    expect_bounded();
}

TEST(session, programs_that_no_trade_has_are_dropped) {
    const book trades = book::parse(
        "trades:\n  - {id: a, product: european, underlying: ACME, strike: 100, maturity: 1.0}\n");
    const session ready = engine().open(trades);
    for (int round = 0; round < 3; ++round) {
        for (const auto& [name, asset] : every_model()) {
            ready.price(market::parse(dollar_market(0.03, {{"ACME", "spot: 100, " + asset}})),
                        on_cpu(10, 2, tests::plain_paths()));
            EXPECT_EQ(ready.facts().programs, 1U) << name;
            EXPECT_EQ(ready.facts().programs_compiled, 1U) << name;
        }
    }
}

TEST(session, a_call_that_is_stopped_leaves_the_book_ready) {
    const book trades = book::parse(tests::changing_book);
    const engine e;
    const session ready = e.open(trades);
    const market in = market::parse(changing_market);
    const std::atomic<bool> stop{true};
    run_options stopped = on_cpu(300);
    stopped.cancel = &stop;
    for (int round = 0; round < 3; ++round) {
        try {
            ready.price(in, stopped);
            ADD_FAILURE() << "it went on";
        } catch (const error& what) {
            EXPECT_EQ(what.kind(), error_kind::cancelled) << what.what();
        }
        tests::expect_same_rows(ready.price(in, on_cpu(300)), e.price(trades, in, on_cpu(300)),
                                "after a stop");
    }
}

}  // namespace
}  // namespace tilewalk::session_test
