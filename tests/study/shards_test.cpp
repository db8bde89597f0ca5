// SPDX-License-Identifier: Apache-2.0
// A request in shards: any number of shards, in any order, with any number of threads, merges to the bits of
// one process; nothing else merges.
#include "tilewalk/shards.h"
#include "engine/base/accuracy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/study/manifest.h"
#include "tests/market_text.h"
#include "tests/on_a_gpu.h"
#include "tests/own_folder.h"
#include "tests/texts.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::shards_test {
namespace {

using tests::dollar_market;
using tests::in_book;
using tests::text_of;

std::string shown(const results& r) {
    std::ostringstream out;
    if (r.greeks.empty())
        write(out, r, output_format::csv);
    else
        write_greeks(out, r, output_format::csv);
    return out.str();
}

std::string shown(const scenario_results& r) {
    std::ostringstream out;
    write(out, r, output_format::csv);
    for (const portfolio_gains& t : r.totals)
        for (std::size_t s = 0; s < t.gains.size(); ++s) out << t.gains[s] << " " << t.errors[s] << "\n";
    return out.str();
}

std::vector<std::size_t> shuffled(std::size_t count, unsigned seed) {
    std::vector<std::size_t> out(count);
    std::iota(out.begin(), out.end(), 1);
    std::ranges::shuffle(out, std::mt19937(seed));
    return out;
}

sharded_request of_book(const std::string& name, std::uint64_t paths) {
    sharded_request out;
    out.book = std::string(TILEWALK_SOURCE_DIR) + "/configs/books/" + name;
    out.settings.paths = paths;
    return out;
}

run_options keeping_policies() {
    run_options out;
    out.keep_policies = true;
    return out;
}

results by_one_process(const engine& by, const sharded_request& what) {
    book trades = book::load(what.book);
    if (!what.trades.empty()) trades = trades.only(what.trades);
    const market in = trades.market()->changed(what.changes);
    run_options with = keeping_policies();
    with.overrides = what.settings;
    return what.greeks ? by.greeks(trades, in, *what.greeks, with) : by.price(trades, in, with);
}

void run_all(const engine& by, const std::filesystem::path& folder, unsigned seed,
             shards::stage of = shards::stage::pricing) {
    const shards all = shards::open(folder);
    for (const std::size_t number : shuffled(all.count(), seed)) {
        run_options with;
        with.overrides.threads = static_cast<int>(1 + number % 3);
        EXPECT_FALSE(all.run(by, number, of, with).was_done);
    }
}

TEST(shards, of_any_number_have_the_bits_of_one_process) {
    const engine by;
    for (const char* name : {"demo.yaml", "early.yaml", "rates.yaml", "own_product.yaml"}) {
        const sharded_request what = of_book(name, 20000);
        const std::string whole = shown(by_one_process(by, what));
        for (const std::size_t count : {1U, 2U, 5U, 23U}) {
            const tests::own_folder folder;
            shards::plan(by, what, count, folder.path());
            run_all(by, folder.path(), static_cast<unsigned>(count));
            EXPECT_EQ(shown(shards::open(folder.path()).merge(by)), whole) << name << ", " << count;
        }
    }
}

TEST(shards, of_greeks_have_the_bits_of_one_process) {
    const engine by;
    for (const char* name : {"demo.yaml", "early.yaml"}) {
        sharded_request what = of_book(name, 16384);
        what.greeks = greek_options{{"delta", "gamma", "theta"}};
        const std::string whole = shown(by_one_process(by, what));
        const tests::own_folder folder;
        shards::plan(by, what, 4, folder.path());
        run_all(by, folder.path(), 3);
        EXPECT_EQ(shown(shards::open(folder.path()).merge(by)), whole) << name;
    }
}

// Runs and merges shards. While the tolerance is missed, goes on with the plan that merging has written.
template <class results_of>
results_of merged_in_rounds(const engine& by, const sharded_request& what, std::size_t count, int& plans) {
    const tests::own_folder folder;
    shards::plan(by, what, count, folder.path());
    for (std::filesystem::path at = folder.path();; ++plans) {
        run_all(by, at, static_cast<unsigned>(count));
        const shards all = shards::open(at);
        results_of found = [&] {
            if constexpr (std::is_same_v<results_of, scenario_results>)
                return all.merge_scenarios(by);
            else
                return all.merge(by);
        }();
        at = all.next_folder();
        if (at.empty()) return found;
    }
}

constexpr const char* book_to_a_tolerance = R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.05}}
  assets: {A: {currency: USD, spot: 100, volatility: 0.2}}
trades:
  - {id: digital, product: digital, underlying: A, strike: 100, payout: 10, maturity: 1, tolerance: "0.0002"}
  - {id: barrier, product: barrier, underlying: A, strike: 100, maturity: 1, direction: up, kind: knock_out,
     barrier: 130, monitoring: discrete, monitoring_dates: {start: 0, end: 1, count: 12}}
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: right, product: american, option: put, underlying: A, strike: 100, maturity: 1, exercise_dates: [0.5, 1]}
)";

TEST(shards, to_a_tolerance_have_the_bits_of_one_process) {
    const engine by;
    const tests::own_folder files;
    sharded_request what;
    what.book = files.write("book.yaml", book_to_a_tolerance);
    what.settings.controls = technique::none;
    int plans = 0, several = 0;
    const auto expect_bits = [&](const std::vector<std::size_t>& counts) {
        const results whole = by_one_process(by, what);
        EXPECT_TRUE(std::ranges::any_of(whole.rows, [](const price_row& r) { return r.paths > 65536; }));
        for (const std::size_t count : counts) {
            plans = 1;
            const results found = merged_in_rounds<results>(by, what, count, plans);
            EXPECT_EQ(shown(found), shown(whole)) << count;
            EXPECT_EQ(found.manifest.settings.tolerance, what.settings.tolerance);
            EXPECT_EQ(found.policies, "");
            several += plans > 1 ? 1 : 0;
        }
    };
    for (const auto& [random, tolerance] :
         {std::pair{"philox", "0.05"}, {"sobol", "0.003"}, {"sobol", "0.02 total"}}) {
        SCOPED_TRACE(tolerance);
        what.settings.random = random;
        what.settings.tolerance = config::accuracy_of(tolerance);
        expect_bits({3});
    }
    what.settings.random.reset();
    what.settings.controls.reset();
    what.settings.tolerance = accuracy::amount(0.001);
    what.settings.paths = 262144;
    expect_bits({1, 5, 37});
    what.greeks = greek_options{{"delta", "vega"}};
    expect_bits({5});
    EXPECT_GT(several, 0) << "which one walk to the paths that a first round asks for does not show";
}

TEST(shards, of_gains_to_a_tolerance_have_the_bits_of_one_process) {
    const engine by;
    const tests::own_folder files;
    sharded_request what;
    what.book = files.write("book.yaml", book_to_a_tolerance);
    what.scenarios = files.write("scenarios.yaml", "stress: {near: {A.spot: +0.3%}, far: {A.spot: -20%}}");
    what.settings.controls = technique::none;
    what.settings.paths = 262144;  // the digital's own tolerance is out of reach
    for (const auto& [random, tolerance] : {std::pair{"philox", "0.03"}, {"sobol", "0.002"}}) {
        SCOPED_TRACE(random);
        what.settings.random = random;
        what.settings.tolerance = config::accuracy_of(tolerance);
        const book trades = book::load(what.book);
        run_options with;
        with.overrides = what.settings;
        const scenario_list list = scenario_list::load(what.scenarios, *trades.market());
        const scenario_results whole = by.scenarios(trades, *trades.market(), list, with);
        EXPECT_GT(whole.base.manifest.paths, 65536U);
        for (const std::size_t count : {5U, 37U}) {
            int plans = 1;
            const scenario_results found = merged_in_rounds<scenario_results>(by, what, count, plans);
            EXPECT_EQ(found.gains, whole.gains) << count;
            EXPECT_EQ(found.errors, whole.errors) << count;
            EXPECT_EQ(found.base.manifest.paths, whole.base.manifest.paths);
            EXPECT_EQ(found.base.manifest.seed, whole.base.manifest.seed);
            EXPECT_EQ(shown(found.base), shown(whole.base));
        }
    }
}

TEST(shards, of_gains_fail_a_trade_that_cannot_be_measured) {
    const engine by;
    const tests::own_folder files;
    sharded_request what;
    what.book = files.write("book.yaml", R"(market:
  as_of: 2026-01-15
  currencies:
    USD: {zero_rates: {1.0: 0.05}, model: {hull_white: {mean_reversion: 0.03, volatility: {1.0: 0.009}}}}
  assets: {A: {currency: USD, spot: 100, volatility: 0.2}}
  correlations: [[A, USD.rate, 0.2]]
products:
  - product: growth
    summary: What money grows.
    parameters: {from: {type: date, help: From that day.}, to: {type: date, help: To that day.}}
    example: {from: 1, to: 2, currency: USD}
    script: |
      on from:
          pay 1 / bond(currency, to) - 1 on to
trades:
  - {id: growth, product: growth, from: 1, to: 2, currency: USD}
  - {id: call, product: european, underlying: A, strike: 104, maturity: 1}
)");
    what.settings.tolerance = accuracy::basis_points(5);
    what.settings.random = "philox";
    run_options with;
    with.overrides = what.settings;
    const book trades = book::load(what.book);
    const market& in = *trades.market();

    const difference_results differences_of_all = differences(by, trades, in, {}, with);
    EXPECT_EQ(differences_of_all.values.rows[0].status, trade_status::failed);
    what.differences.emplace();
    const tests::own_folder folder;
    shards::plan(by, what, 3, folder.path());
    run_all(by, folder.path(), 3);
    const difference_results found = shards::open(folder.path()).merge_differences(by);
    for (const difference_report& report : difference_reports()) {
        std::ostringstream here, there;
        report.write(here, found);
        report.write(there, differences_of_all);
        EXPECT_EQ(here.str(), there.str()) << report.file;
    }

    what.differences.reset();
    what.scenarios = files.write("scenarios.yaml", "stress: {down: {A.spot: -20%}}");
    const scenario_results whole = by.scenarios(trades, in, scenario_list::load(what.scenarios, in), with);
    int plans = 1;
    const scenario_results merged = merged_in_rounds<scenario_results>(by, what, 3, plans);
    EXPECT_EQ(shown(merged.base), shown(whole.base));
    EXPECT_EQ(merged.base.rows[0].status, trade_status::failed);
    EXPECT_EQ(shown(merged), shown(whole));
}

TEST(shards, that_miss_a_tolerance_say_so_and_plan_no_more_than_the_most_paths) {
    const engine by;
    const tests::own_folder files, folder;
    sharded_request what;
    what.book = files.write("book.yaml", book_to_a_tolerance);
    what.trades = {"asian"};
    what.settings.controls = technique::none;
    what.settings.random = "philox";
    what.settings.tolerance = accuracy::amount(0.0001);
    what.settings.paths = 131072;
    shards::plan(by, what, 2, folder.path());
    run_all(by, folder.path(), 1);
    const shards all = shards::open(folder.path());
    const results r = all.merge(by);
    EXPECT_EQ(r.rows[0].paths, 131072U);
    EXPECT_TRUE(r.rows[0].misses_tolerance);
    EXPECT_NE(r.rows[0].message.find("paths should do"), std::string::npos) << r.rows[0].message;
    EXPECT_EQ(all.next_folder(), "");
    EXPECT_EQ(shown(r), shown(by_one_process(by, what)));
}

// Scenarios of near and far moves, a later day, no move, and an invalid market. With more shards than trades
// scenarios are split, and policies of far markets are trained in the shards that walk them.
TEST(shards, of_scenarios_have_the_bits_of_one_process) {
    const engine by;
    const tests::own_folder files;
    const std::string scenarios = files.write("scenarios.yaml", R"(
stress:
  near: {ACME.spot: +0.3%, INDEX.spot: -0.2%}
  far: {"*.spot": -20%, "USD.rate@*": +50bp}
  later: {days: 1}
  nowhere: {EURUSD.rate: 0%}
  impossible: {ACME.volatility: {set: -1}}
ladder: {ACME.spot: [-2%, ..., 2%]}
)");
    for (const char* name : {"demo.yaml", "early.yaml"}) {
        sharded_request what = of_book(name, 8192);
        what.scenarios = scenarios;
        const book trades = book::load(what.book);
        run_options with;
        with.overrides = what.settings;
        const std::string whole = shown(
            by.scenarios(trades, *trades.market(), scenario_list::load(scenarios, *trades.market()), with));
        for (const std::size_t count : {1U, 3U, 37U}) {
            const tests::own_folder folder;
            shards::plan(by, what, count, folder.path());
            const shards all = shards::open(folder.path());
            std::size_t decisions = 0;
            for (const std::size_t number : shuffled(count, 5)) decisions += all.run(by, number).decisions;
            EXPECT_EQ(decisions > 0, name == std::string("early.yaml")) << name << ", " << count;
            EXPECT_EQ(shown(all.merge_scenarios(by)), whole) << name << ", " << count;
            EXPECT_THROW(all.merge(by), error);
        }
    }
}

// Sensitivities are walked as one more market, which shards split as any other.
TEST(shards, of_explained_scenarios_have_the_bits_of_one_process) {
    const engine by;
    const tests::own_folder files;
    sharded_request what;
    what.book = files.write("book.yaml", R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03}}
  assets: {A: {currency: USD, spot: 100, volatility: 0.2}, B: {currency: USD, spot: 90, volatility: 0.3}}
  correlations: [[A, B, 0.4]]
trades:
  - {id: call, product: european, underlying: A, strike: 105, maturity: 1, quantity: 3}
  - {id: jump, product: digital, underlying: B, strike: 90, payout: 10, maturity: 1}
  - {id: right, product: american, option: put, underlying: A, strike: 100, exercise_dates: [0.5, 1], maturity: 1}
)");
    what.scenarios =
        files.write("scenarios.yaml",
                    "stress: {near: {A.spot: +0.3%}, far: {A.spot: -20%, B.spot: -5%}, later: {days: 1}}\n");
    what.explains = true;
    what.settings.paths = 16384;
    what.settings.device = "cpu";
    const auto text = [](const scenario_results& r) {
        std::string out;
        for (std::size_t k = 0; k < r.gains.size(); ++k)
            out += fmt::format("{:a} {:a}\n", r.gains[k], r.errors[k]);
        for (const greek_row& g : r.base.greeks)
            out += fmt::format("{} {} {} {:a} {:a} {:a}\n", g.trade, g.measure, g.key, g.value,
                               g.standard_error, g.bias);
        for (const explained_gain& e : r.explained)
            out += fmt::format("{} {} {:a} {:a} {:a} {:a}\n", e.scenario, e.portfolio, e.gain, e.error,
                               fmt::join(e.by_measure, " "), e.left);
        return out;
    };
    const book trades = book::load(what.book);
    scenario_list list = scenario_list::load(what.scenarios, *trades.market());
    list.explains = true;
    run_options with;
    with.overrides = what.settings;
    const scenario_results whole = by.scenarios(trades, *trades.market(), list, with);
    ASSERT_FALSE(whole.explained.empty());
    ASSERT_FALSE(whole.base.greeks.empty());
    for (const std::size_t count : {1U, 5U, 37U}) {
        const tests::own_folder folder;
        shards::plan(by, what, count, folder.path());
        const shards all = shards::open(folder.path());
        for (const std::size_t number : shuffled(count, 7)) all.run(by, number);
        EXPECT_EQ(text(all.merge_scenarios(by)), text(whole)) << count;
        sharded_request plain = what;
        plain.explains = false;
        EXPECT_THROW(shards::plan(by, plain, count, folder.path()), error) << "whose parts hold less";
    }
    what.settings.budget = std::chrono::seconds(1);
    const tests::own_folder folder;
    EXPECT_THROW(shards::plan(by, what, 2, folder.path()), error);
}

TEST(shards, of_other_settings_have_the_bits_of_one_process) {
    const engine by;
    std::vector<run_settings> all(7);
    all[0].precision = precision::single;
    all[1].random = "philox";
    all[2].importance = technique::automatic;
    all[3].antithetic = antithetic::pairs;
    all[3].random = "philox";
    all[4].upper = upper_bound::nested;
    all[5].controls = technique::none;
    all[5].random = "sobol";
    all[6].preintegration = technique::automatic;
    for (std::size_t k = 0; k < all.size(); ++k) {
        sharded_request what = of_book(k == 4 ? "early.yaml" : "demo.yaml", 16384);
        what.settings = over(all[k], what.settings);
        const std::string whole = shown(by_one_process(by, what));
        const tests::own_folder folder;
        shards::plan(by, what, 3, folder.path());
        run_all(by, folder.path(), static_cast<unsigned>(k));
        EXPECT_EQ(shown(shards::open(folder.path()).merge(by)), whole) << k;
    }
}

TEST(shards, are_cut_into_all_of_the_work_by_cost) {
    const engine by;
    const tests::own_folder folder;
    for (const std::size_t count : {1U, 3U, 16U, 200U}) {
        const sharded_request what = of_book("demo.yaml", 300000);
        const shards made = shards::plan(by, what, count, folder / std::to_string(count));
        ASSERT_EQ(made.pieces().size(), count);
        const std::size_t trades = book::load(what.book).size();
        std::size_t trade = 0;
        std::uint64_t tile = 0, tiles = 0;
        for (const auto& pieces : made.pieces()) {
            for (const shard_piece& p : pieces) {
                tiles = p.run_tiles;
                EXPECT_EQ(p.first_trade, trade);
                EXPECT_EQ(p.first_tile, tile);
                EXPECT_GT(p.end_tile, p.first_tile);
                EXPECT_TRUE(p.end_trade == p.first_trade + 1 || (p.first_tile == 0 && p.end_tile == tiles));
                trade = p.end_tile == tiles ? p.end_trade : p.first_trade;
                tile = p.end_tile == tiles ? 0 : p.end_tile;
            }
        }
        EXPECT_EQ(trade, trades);
        EXPECT_EQ(tile, 0U);
        const double all = std::accumulate(made.costs().begin(), made.costs().end(), 0.0);
        const double mean = all / static_cast<double>(count);
        const double of_tile = all / static_cast<double>(tiles);
        for (const double cost : made.costs()) EXPECT_NEAR(cost, mean, 0.01 * mean + of_tile) << count;
    }
}

TEST(shards, that_are_missing_or_damaged_are_listed_and_nothing_is_merged) {
    const engine by;
    const tests::own_folder folder;
    const sharded_request what = of_book("demo.yaml", 16384);
    const std::string whole = shown(by_one_process(by, what));
    shards::plan(by, what, 4, folder.path());
    const shards all = shards::open(folder.path());
    const auto missing = [&] {
        try {
            all.merge(by);
        } catch (const shards_missing& e) {
            return e.which();
        }
        return std::vector<std::size_t>{};
    };
    EXPECT_EQ(missing(), (std::vector<std::size_t>{1, 2, 3, 4}));
    all.run(by, 3);
    const std::string file = all.run(by, 1).file;
    EXPECT_EQ(missing(), (std::vector<std::size_t>{2, 4}));
    all.run(by, 2);
    all.run(by, 4);
    EXPECT_EQ(shown(all.merge(by)), whole);
    const std::string bytes = text_of(file);
    EXPECT_TRUE(all.run(by, 1).was_done);
    std::filesystem::remove(file);
    run_options with;
    with.overrides.threads = 1;
    with.journal_block_seconds = 1e-4;
    all.run(by, 1, shards::stage::pricing, with);
    EXPECT_EQ(text_of(file), bytes);
    for (const std::size_t at : {std::size_t{0}, std::size_t{30}, bytes.size() / 2, bytes.size() - 1}) {
        std::string other = bytes;
        other[at] = static_cast<char>(other[at] ^ 4);
        std::ofstream(file, std::ios::binary) << other;
        EXPECT_EQ(missing(), std::vector<std::size_t>{1}) << at;
    }
    std::ofstream(file, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
    EXPECT_EQ(missing(), std::vector<std::size_t>{1});
    const shard_outcome again = all.run(by, 1);
    EXPECT_FALSE(again.was_done);
    EXPECT_EQ(again.damaged, std::vector<std::string>{file});
    EXPECT_EQ(text_of(file), bytes);
    EXPECT_EQ(shown(all.merge(by)), whole);
}

const std::string own_market =
    in_book(dollar_market(0.03, {{"A", "spot: 100, volatility: 0.2"}})) + "trades:\n";
const std::string own_text =
    own_market +
    "  - {id: call, product: european, underlying: A, strike: 100, maturity: 1}\n"
    "  - {id: put, product: european, underlying: A, strike: 100, maturity: 1, option: put}\n";

std::string refusal(const auto& of) {
    try {
        of();
    } catch (const error& e) {
        return e.message();
    }
    return "accepted";
}

// Each shard reports its trades without figures, even if it was done before.
TEST(shards, tell_how_they_went) {
    const engine by;
    const tests::own_folder folder;
    sharded_request what;
    what.book = folder.write("book.yaml", own_market + R"(
  - {id: call, product: european, underlying: A, strike: 100, maturity: 1}
  - {id: wrong, product: europaean}
  - {id: put, product: european, underlying: A, option: put, strike: 100, maturity: 1}
)");
    what.settings.paths = 8192;
    const shards all = shards::plan(by, what, 3, folder.path() / "plan");
    std::map<std::string, std::set<trade_status>> found;
    for (std::size_t number = 1; number <= 3; ++number) {
        timings times;
        run_options with;
        with.times = &times;
        const shard_outcome first = all.run(by, number, shards::stage::pricing, with),
                            again = all.run(by, number);
        EXPECT_FALSE(first.was_done);
        EXPECT_TRUE(again.was_done);
        ASSERT_TRUE(first.result && again.result);
        ASSERT_EQ(first.result->rows.size(), again.result->rows.size());
        for (std::size_t i = 0; i < first.result->rows.size(); ++i) {
            const price_row &row = first.result->rows[i], &same = again.result->rows[i];
            EXPECT_EQ(row.trade, same.trade);
            EXPECT_EQ(row.status, same.status);
            EXPECT_FALSE(is_figure(row.price) || row.has_error() || row.has_interval());
            found[row.trade].insert(row.status);
        }
        EXPECT_EQ(first.result->manifest.inputs.front().file, what.book.string());
        EXPECT_EQ(first.result->manifest.paths, 8192U);
        EXPECT_FALSE(first.result->manifest.instruction_set.empty());
        EXPECT_GT(first.result->manifest.total_seconds, 0);
        EXPECT_EQ(again.result->manifest.total_seconds, first.result->manifest.total_seconds);
        EXPECT_EQ(again.result->manifest.instruction_set, first.result->manifest.instruction_set);
        std::filesystem::remove(std::filesystem::path(first.file).replace_extension(".json"));
        EXPECT_FALSE(all.run(by, number).result) << "of one that left no word";
    }
    const std::set good{trade_status::priced}, bad{trade_status::failed};
    EXPECT_EQ(found,
              (std::map<std::string, std::set<trade_status>>{{"call", good}, {"put", good}, {"wrong", bad}}));
}

// Two GPUs of one model with the same failure count as two. GPUs that are lost again in a later walk count
// once.
TEST(shards, count_the_gpus_of_all_their_walks) {
    run_manifest all, walk;
    walk.devices = {"L4", "L4"};
    walk.lost_devices = {"L4: lost", "L4: lost"};
    studies::add_walk(all, walk);
    studies::add_walk(all, walk);
    walk.devices = {"L4"};
    studies::add_walk(all, walk);
    EXPECT_EQ(all.devices.size(), 2U);
    EXPECT_EQ(all.lost_devices.size(), 2U);
}

TEST(shards, name_what_their_walks_leave_to_the_processor_once) {
    run_manifest all, walk;
    studies::add_walk(all, walk);
    EXPECT_TRUE(all.left_to_processor.empty());
    walk.left_to_processor = {{"nested bounds", 2, "they are long"}};
    studies::add_walk(all, walk);
    walk.left_to_processor = {{"nested bounds", 3, "they are long"}, {"policies", 1, "they are long"}};
    studies::add_walk(all, walk);
    studies::add_steps(all, walk);
    EXPECT_EQ(all.left_to_processor, walk.left_to_processor);
}

TEST(shards, of_prices_have_the_values_of_one_process) {
    const engine by;
    const sharded_request what = of_book("demo.yaml", 16384);
    const book trades = book::load(what.book);
    const auto files = [](const difference_results& of) {
        std::ostringstream out;
        for (const difference_report& one : value_reports()) one.write(out, of);
        return out.str();
    };
    const std::string whole = files(valued(trades, *trades.market(), by_one_process(by, what)));
    const tests::own_folder folder;
    const shards all = shards::plan(by, what, 3, folder.path());
    run_all(by, folder.path(), 1);
    EXPECT_EQ(files(all.merge_differences(by)), whole);
    const tests::own_folder other;
    sharded_request of_greeks = what;
    of_greeks.greeks = greek_options{{"delta"}};
    EXPECT_THROW(shards::plan(by, of_greeks, 1, other.path()).merge_differences(by), error);
}

TEST(shards, of_another_request_are_refused) {
    const engine by;
    const tests::own_folder folder;
    sharded_request what = of_book("demo.yaml", 16384), other = what;
    other.settings.seed = 43;
    shards::plan(by, what, 2, folder / "a");
    shards::plan(by, other, 2, folder / "b");
    run_all(by, folder / "a", 1);
    run_all(by, folder / "b", 1);
    EXPECT_NE(refusal([&] { shards::plan(by, other, 2, folder / "a"); }).find("another request"),
              std::string::npos);
    std::filesystem::copy_file(folder / "b" / "shard-2-of-2.kept", folder / "a" / "shard-2-of-2.kept",
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_EQ(refusal([&] { shards::open(folder / "a").merge(by); }),
              "found the results of another request, expected those of this plan; remove the file and run "
              "its shard again");
    // A request may be planned anew with more shards; finished shards that still fit stay.
    shards::plan(by, other, 3, folder / "b");
    EXPECT_EQ(shards::open(folder / "b").count(), 3U);
}

TEST(shards, see_that_an_input_has_changed) {
    const engine by;
    const tests::own_folder folder;
    const std::string text = own_text;
    sharded_request what;
    what.book = folder.write("book.yaml", text);
    what.settings.paths = 16384;
    shards::plan(by, what, 2, folder / "plan");
    folder.write("book.yaml", text + "\n# another\n");
    const std::string why = refusal([&] { shards::open(folder / "plan").run(by, 1); });
    EXPECT_NE(why.find("have changed since the shards were planned"), std::string::npos) << why;
    EXPECT_NE(why.find("book.yaml"), std::string::npos) << why;
}

// The plan fixes all settings that bits depend on, even if unset; only others may differ from shard to shard.
TEST(shards, take_no_setting_that_decides_bits_from_who_runs_them) {
    const engine by;
    const tests::own_folder folder;
    sharded_request what;
    what.book = folder.write("book.yaml", own_text);
    what.settings.paths = 8192;
    what.settings.seed = 5;
    const std::string whole = shown(by_one_process(by, what));
    run_options with;
    with.overrides.paths = 16384;
    with.overrides.seed = 9;
    with.overrides.random = "philox";
    with.overrides.precision = precision::single;
    with.overrides.threads = 1;
    const shards all = shards::plan(by, what, 2, folder / "plan");
    for (const std::size_t number : {1U, 2U}) all.run(by, number, shards::stage::pricing, with);
    EXPECT_EQ(shown(all.merge(by, with)), whole);
}

TEST(shards, are_found_where_the_folder_has_moved_with_its_book) {
    const engine by;
    const tests::own_folder folder;
    sharded_request what;
    std::filesystem::create_directory(folder / "here");
    what.book = folder.write("here/book.yaml", own_text);
    what.settings.paths = 16384;
    shards::plan(by, what, 2, folder / "here/plan");
    std::filesystem::rename(folder / "here", folder / "there");
    shards::open(folder / "there/plan").run(by, 1);
    std::filesystem::create_directory(folder / "here");
    folder.write("here/book.yaml", own_market +
                                       "  - {id: other, product: european, underlying: A, strike: 90, "
                                       "maturity: 1}\n");
    shards::open(folder / "there/plan").run(by, 2);
    EXPECT_EQ(shards::open(folder / "there/plan").merge(by).rows.size(),
              book::load(folder / "there/book.yaml").size());
}

TEST(shards, with_a_training_of_its_own_have_the_bits_of_one_process) {
    const engine by;
    const tests::own_folder folder;
    const sharded_request what = of_book("early.yaml", 16384);
    const shards made = shards::plan(by, what, 3, folder.path(), 0);
    EXPECT_FALSE(made.untrained().empty());
    EXPECT_NE(refusal([&] { made.run(by, 1); }).find("have no policy yet"), std::string::npos);
    EXPECT_THROW(shards::open(folder.path()).merge_training(), shards_missing);
    run_all(by, folder.path(), 5, shards::stage::training);
    shards::open(folder.path()).merge_training();
    EXPECT_TRUE(shards::open(folder.path()).untrained().empty());
    run_all(by, folder.path(), 6);
    const results merged = shards::open(folder.path()).merge(by, keeping_policies()),
                  whole = by_one_process(by, what);
    EXPECT_EQ(shown(merged), shown(whole));
    EXPECT_EQ(merged.policies, whole.policies);
    EXPECT_NE(merged.policies, "");
}

TEST(shards, decide_nothing_anew) {
    const engine by;
    const tests::own_folder folder;
    sharded_request what = of_book("early.yaml", 16384);
    shards::plan(by, what, 2, folder.path());
    for (const std::size_t number : {1U, 2U})
        EXPECT_EQ(shards::open(folder.path()).run(by, number).decisions, 0U);
    shards::plan(by, what, 2, folder / "untrained", 0);
    std::size_t decisions = 0;
    for (const std::size_t number : {1U, 2U})
        decisions += shards::open(folder / "untrained").run(by, number, shards::stage::training).decisions;
    EXPECT_GT(decisions, 0U);
}

// Greeks of a trade with rights follow policies of parts of the run, which belong to no plan: only the shard
// that walks a part trains its policy.
TEST(shards, find_policies_of_parts_once) {
    const engine by;
    const tests::own_folder folder;
    sharded_request what = of_book("early.yaml", 16384);
    what.trades = {"american_put", "callable_note"};
    what.greeks = greek_options{{"delta"}};
    const auto found_by = [&](std::size_t count) {
        const std::filesystem::path here = folder / std::to_string(count);
        shards::plan(by, what, count, here);
        std::size_t out = 0;
        for (std::size_t number = 1; number <= count; ++number)
            out += shards::open(here).run(by, number).decisions;
        EXPECT_EQ(shown(shards::open(here).merge(by)), shown(by_one_process(by, what))) << count;
        return out;
    };
    const std::size_t all = found_by(1);
    EXPECT_GT(all, 0U);
    EXPECT_EQ(found_by(7), all);
    EXPECT_EQ(found_by(24), all);
}

TEST(shards, of_rare_rights_have_the_greeks_of_one_process) {
    const engine by;
    const tests::own_folder folder;
    sharded_request what;
    what.book = folder.write("book.yaml", own_market + R"(
  - {id: rare, product: american, underlying: A, option: put, strike: 52, maturity: 1, exercise_step: 0.25}
)");
    what.settings.paths = 16384;
    what.settings.random = "philox";
    what.settings.controls = technique::none;
    what.greeks = greek_options{{"delta"}};
    const std::size_t count = 16;
    shards::plan(by, what, count, folder / "plan");
    run_all(by, folder / "plan", 1);
    const results whole = by_one_process(by, what);
    EXPECT_GT(whole.greeks.front().standard_error, 0);
    EXPECT_EQ(shown(shards::open(folder / "plan").merge(by)), shown(whole));
}

TEST(shards, refuse_what_can_not_be_cut) {
    const engine by;
    const tests::own_folder folder;
    sharded_request what = of_book("demo.yaml", 16384);
    EXPECT_NE(refusal([&] { shards::plan(by, what, 0, folder / "a"); }), "accepted");
    what.settings.budget = std::chrono::seconds(1);
    for (const auto method : {greek_method::automatic, greek_method::bump}) {
        EXPECT_NE(refusal([&] { shards::plan(by, what, 2, folder / "a"); }).find("budget"),
                  std::string::npos);
        what.greeks = greek_options{.wanted = {"delta"}, .method = method};
    }
    EXPECT_NE(refusal([&] { shards::plan(by, what, 2, folder / "a"); }).find("budget"), std::string::npos);
    what.greeks.reset();
    EXPECT_FALSE(std::filesystem::exists(folder / "a"));
    EXPECT_NE(refusal([&] { shards::open(folder / "a"); }).find("no plan of shards"), std::string::npos);
    folder.write("plan.json", "{\"format\": 1");
    EXPECT_NE(refusal([&] { shards::open(folder.path()); }).find("can't be read"), std::string::npos);
    what.settings.budget.reset();
    const shards made = shards::plan(by, what, 2, folder / "b");
    EXPECT_NE(refusal([&] { made.run(by, 3); }).find("expected 1 to 2"), std::string::npos);
    EXPECT_NE(refusal([&] { made.run(by, 0); }).find("expected 1 to 2"), std::string::npos);
}

class shards_on_gpu : public tests::on_a_gpu {};

TEST_F(shards_on_gpu, mix_with_those_of_cpus) {
    const engine by;
    for (const bool has_greeks : {false, true}) {
        sharded_request what = of_book("early.yaml", 65536);
        if (has_greeks) what.greeks = greek_options{{"delta", "vega"}};
        what.settings.device = "cpu";
        const std::string whole = shown(by_one_process(by, what));
        const tests::own_folder folder;
        shards::plan(by, what, 4, folder.path());
        for (std::size_t number = 1; number <= 4; ++number) {
            run_options with;
            with.overrides.device = number % 2 == 0 ? "cpu" : "0";
            with.journal_block_seconds = 0.001;
            shards::open(folder.path()).run(by, number, shards::stage::pricing, with);
        }
        EXPECT_EQ(shown(shards::open(folder.path()).merge(by)), whole) << has_greeks;
    }
}

TEST_F(shards_on_gpu, of_single_fast_have_the_bits_of_one_process_on_a_gpu) {
    const engine by;
    for (const bool has_greeks : {false, true}) {
        const tests::own_folder folder;
        sharded_request what;
        what.book = folder.write("book.yaml", own_text);
        what.settings.paths = 65536;
        if (has_greeks) what.greeks = greek_options{{"delta"}};
        what.settings.device = "0";
        what.settings.precision = precision::single_fast;
        const std::string whole = shown(by_one_process(by, what));
        shards::plan(by, what, 3, folder.path());
        run_all(by, folder.path(), 2);
        EXPECT_EQ(shown(shards::open(folder.path()).merge(by)), whole) << has_greeks;
    }
}

}  // namespace
}  // namespace tilewalk::shards_test
