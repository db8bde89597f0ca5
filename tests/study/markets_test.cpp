// SPDX-License-Identifier: Apache-2.0
// A book in many markets in one walk: the bits of each market alone, failures confined to their market, and
// remarks on paths that differ from the first market's.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "engine/study/price.h"
#include "engine/walk/cuda/device/backend.h"
#include "tests/changing_market.h"
#include "tests/every_model.h"
#include "tests/named_choice.h"
#include "tests/scenario_file.h"
#include "tilewalk/bounds.h"
#include "tilewalk/engine.h"

namespace tilewalk::markets_test {
namespace {

using tests::changed;
using tests::changing_market;

run_options on_cpu(std::uint64_t paths, const std::string& precision = "double") {
    run_options o;
    o.overrides.paths = paths;
    o.overrides.threads = 2;
    o.overrides.device = "cpu";
    o.overrides.precision = tests::named{precision};
    return o;
}

void expect_those_of_each_alone(const book& trades, const std::vector<market>& in, const run_options& options,
                                const std::string& what) {
    const engine e;
    const std::vector<results> together = e.price(trades, std::span(in), options);
    ASSERT_EQ(together.size(), in.size()) << what;
    for (std::size_t m = 0; m < in.size(); ++m) {
        tests::expect_same_rows(together[m], e.price(trades, in[m], options),
                                what + " in market " + std::to_string(m), false);
    }
}

std::vector<market> changed_markets() {
    std::vector<market> in{market::parse(changing_market)};
    for (const auto& c : tests::market_changes()) in.push_back(market::parse(changed(changing_market, c)));
    return in;
}

TEST(markets, each_has_the_bits_of_a_call_alone) {
    const book trades = book::parse(tests::changing_book);
    for (const std::string precision : {"double", "single", "mixed"})
        expect_those_of_each_alone(trades, changed_markets(), on_cpu(3000, precision), precision);
    expect_those_of_each_alone(trades, {}, on_cpu(3000), "no market");
}

TEST(markets, every_model) {
    const std::string head =
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets:\n  ACME: {currency: USD, spot: ";
    const book trades = book::parse(
        "trades:\n  - {id: a, product: asian, underlying: ACME, strike: 100, averaging_dates: {start: 0, "
        "end: 1, "
        "count: 4}}\n  - {id: b, product: european, underlying: ACME, strike: 90, maturity: 0.5, report: "
        "fair_strike}\n");
    for (const auto& [name, asset] : every_model()) {
        expect_those_of_each_alone(
            trades,
            {market::parse(head + "100, " + asset + "}\n"), market::parse(head + "103, " + asset + "}\n")},
            on_cpu(300), name);
    }
}

TEST(markets, scenarios_of_each_are_its_own) {
    const tests::scenario_file first(4, 1000), second(2, 600), third(2, 100);
    const auto in = [](const std::string& asset) {
        return market::parse("as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets:\n" + asset);
    };
    const auto moved_by = [](const std::string& name, const tests::scenario_file& by,
                             const std::string& times) {
        return "  " + name + ": {currency: USD, spot: 100, volatility: {scenarios: " + by.name() +
               ", times: [" + times + "]}}\n";
    };
    const std::vector<market> markets{
        in(moved_by("ACME", first, "0.25, 0.5, 0.75, 1.0") + moved_by("BETA", second, "0.5, 1.0")),
        in(moved_by("ACME", second, "0.5, 1.0") + moved_by("BETA", first, "0.25, 0.5, 0.75, 1.0")),
        // File `third` has fewer paths than the run, so trade `a` fails in this market.
        in(moved_by("ACME", third, "0.5, 1.0") + "  BETA: {currency: USD, spot: 100, volatility: 0.2}\n"),
    };
    const book trades = book::parse(
        "trades:\n  - {id: a, product: european, underlying: ACME, strike: 100, maturity: 1.0}\n"
        "  - {id: b, product: european, underlying: BETA, strike: 100, maturity: 1.0}\n");
    expect_those_of_each_alone(trades, markets, on_cpu(500), "scenarios");
    const auto got = engine().price(trades, std::span(markets), on_cpu(500));
    EXPECT_EQ(got[0].failed(), 0U);
    EXPECT_EQ(got[1].failed(), 0U);
    EXPECT_EQ(got[2].failed(), 1U);
}

TEST(markets, a_trade_fails_only_where_it_fails) {
    const book trades = book::parse(tests::changing_book);
    const std::vector<market> in{
        market::parse(changing_market),
        market::parse(changed(changing_market,
                              {"BETA has no volatility", ", volatility: {0.5: 0.2, 2.0: 0.25}}", "}", {}})),
        market::parse(changing_market)};
    const auto got = engine().price(trades, std::span(in), on_cpu(500));
    EXPECT_EQ(got[0].failed(), 0U);
    EXPECT_EQ(got[1].failed(), 3U);
    EXPECT_EQ(got[2].failed(), 0U);
    tests::expect_same_rows(got[0], got[2], "the same market twice");
    expect_those_of_each_alone(trades, in, on_cpu(500), "a failure");
}

TEST(markets, a_remark_says_where_paths_are_not_those_of_the_first) {
    const book trades = book::parse(
        "trades:\n  - {id: call, product: european, underlying: ACME, strike: 100, maturity: 2027-01-15}\n"
        "  - {id: falling, product: european, underlying: CASH, strike: 100, maturity: 2027-01-15}\n");
    const auto changed_to = [](const std::string& from, const std::string& to) {
        return market::parse(changed(changing_market, {from, from, to, {}}));
    };
    const std::vector<market> in{
        market::parse(changing_market), changed_to("spot: 100", "spot: 120"),
        changed_to("as_of: 2026-01-15", "as_of: 2026-01-16"),
        changed_to("ACME: {currency: USD, spot: 100, volatility: 0.2}",
                   "ACME: {currency: USD, spot: 100, model: {merton: {volatility: 0.18, "
                   "jump_intensity: 0.5, jump_mean: -0.1, jump_sd: 0.12}}}")};
    const auto got = engine().price(trades, std::span(in), on_cpu(500));
    const auto remarks = [&](std::size_t m, std::size_t i) { return got[m].rows[i].remarks; };
    const auto has = [](const std::vector<std::string>& in_these, const std::string& words) {
        return std::ranges::any_of(in_these,
                                   [&](const std::string& r) { return r.find(words) != std::string::npos; });
    };
    for (const std::size_t m : {std::size_t{0}, std::size_t{1}}) {
        EXPECT_FALSE(has(remarks(m, 0), "first market")) << m;
        EXPECT_FALSE(has(remarks(m, 1), "first market")) << m;
    }
    EXPECT_TRUE(has(remarks(2, 0), "stop at other times than in the first market"));
    EXPECT_TRUE(has(remarks(3, 0), "are not made as in the first market"));
    EXPECT_FALSE(has(remarks(3, 1), "first market")) << "the other trade is as it was";
}

TEST(markets, one_walk_has_the_trades_of_all_markets_and_one_program_a_shape) {
    struct watched : cpu::back_end {
        watched(std::vector<std::size_t>& jobs, std::set<const cpu::lane_program*>& code,
                const cpu::lane_operations& operations, int threads, program::precision in)
            : back_end(operations, threads, in), jobs_(jobs), code_(code) {}
        std::vector<run::tally> walk_tiles(
            std::span<const cpu::path_job> jobs, const std::atomic<bool>* cancel,
            const std::function<void(const cpu::pool_progress&)>& tell) override {
            jobs_.push_back(jobs.size());
            for (const auto& j : jobs) code_.insert(j.code);
            return back_end::walk_tiles(jobs, cancel, tell);
        }
        std::vector<std::size_t>& jobs_;
        std::set<const cpu::lane_program*>& code_;
    };
    std::vector<std::size_t> jobs;
    std::set<const cpu::lane_program*> code;
    stages by;
    by.on_cpu = [&](const cpu::lane_operations& operations, int threads, program::precision in) {
        return std::make_unique<watched>(jobs, code, operations, threads, in);
    };
    const book trades = book::parse(
        "trades:\n  - {id: a, product: european, underlying: ACME, strike: 100, maturity: 1.0}\n"
        "  - {id: b, product: european, underlying: BETA, strike: 50, maturity: 0.5}\n");
    std::vector<market> in;
    for (const std::string spot : {"90", "95", "105"})
        in.push_back(market::parse(changed(changing_market, {"spot", "spot: 100", "spot: " + spot, {}})));
    cuda::backend gpus;
    const auto got =
        price_book(studies::resources({}, gpus), trades, std::span<const market>(in), {on_cpu(2000)}, by);
    EXPECT_EQ(jobs, std::vector<std::size_t>{6});
    EXPECT_EQ(code.size(), 1U);
    EXPECT_EQ(got.size(), 3U);
}

TEST(markets, too_many_are_refused_before_anything_is_made) {
    const book trades = book::parse(tests::changing_book);
    const std::vector<market> in(bounds::priced_at_once / trades.size() + 1, market::parse(changing_market));
    try {
        engine().price(trades, std::span(in), on_cpu(1));
        ADD_FAILURE() << "it went on";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        EXPECT_NE(e.message().find("price fewer markets at once"), std::string::npos) << e.message();
    }
}

}  // namespace
}  // namespace tilewalk::markets_test
