// SPDX-License-Identifier: Apache-2.0
// The work for a book of 1,000 similar trades, by counts: trades planned, programs kept, tables made, rows of
// scenarios read, tiles kept. Wasted work changes no number, so no other test would notice it.
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/models/model.h"
#include "engine/study/price.h"
#include "engine/walk/cuda/device/backend.h"
#include "kernels/tile.h"
#include "tests/every_model.h"
#include "tests/market_text.h"
#include "tests/own_folder.h"

namespace tilewalk::work_test {
namespace {

using tests::dollar_market;
using tests::in_book;

constexpr int alike = 1000;

struct work {
    std::map<std::string, int> plans;             // by trade
    std::set<const cpu::lane_program*> programs;  // compiled programs
    std::uint64_t most_tiles_kept = 0, scenario_rows_read = 0;
    results result;
};

work priced(const book& trades, std::uint64_t paths, int threads = 1) {
    work out;
    std::mutex lock;
    stages by;
    by.plan = [&](const books::trade& t, const markets::market_state& in, program::precision p,
                  const plan::poll& often) {
        {
            const std::lock_guard guard(lock);
            ++out.plans[t.id];
        }
        return plan::plan_trade(t, in, p, {}, often);
    };
    class watched : public cpu::back_end {
      public:
        watched(work& out, const cpu::lane_operations& operations, int crew, program::precision in)
            : back_end(operations, crew, in), out_(out) {}

      private:
        std::vector<run::tally> walk_tiles(
            std::span<const cpu::path_job> jobs, const std::atomic<bool>* cancel,
            const std::function<void(const cpu::pool_progress&)>& on_progress) override {
            for (const cpu::path_job& job : jobs) out_.programs.insert(job.code);
            return back_end::walk_tiles(jobs, cancel, [&](const cpu::pool_progress& p) {
                out_.most_tiles_kept = p.most_tiles_kept;
                out_.scenario_rows_read += p.scenario_rows_read;
                on_progress(p);
            });
        }
        work& out_;
    };
    by.on_cpu = [&](const cpu::lane_operations& operations, int crew, program::precision in) {
        return std::make_unique<watched>(out, operations, crew, in);
    };
    cuda::backend gpus;
    run_options options;
    options.overrides = {paths, 7, threads};
    options.overrides.device = "cpu";
    options.overrides.random = "philox";
    out.result = price_book(studies::resources({}, gpus), trades, *trades.market(), {options}, by).result;
    EXPECT_EQ(out.result.failed(), 0u) << out.result.rows.front().message;
    return out;
}

std::string text_of(const std::string& asset, const std::string& trade, int count) {
    std::string text = in_book(dollar_market(0.03, {{"ACME", "spot: 100, " + asset}})) + "trades:\n";
    for (int i = 0; i < count; ++i) {
        text += fmt::format("  - {{id: t{}, underlying: ACME, strike: {}, {}}}\n", i, 80 + 0.04 * i, trade);
    }
    return text;
}

book book_of(const std::string& asset, const std::string& trade, int count) {
    return book::parse(text_of(asset, trade, count));
}

std::uint64_t tables_made(const book& b) {
    return models::model_of(state_of(*b.market()).find_asset("ACME")).tables_made();
}

const std::string asian = "product: asian, averaging_dates: {start: 0, end: 1, count: 12}";

TEST(work, each_trade_is_planned_once) {
    const work w = priced(book_of("volatility: 0.2", asian, alike), 256, 2);
    EXPECT_EQ(w.plans.size(), std::size_t{alike});
    for (const auto& [id, times] : w.plans) EXPECT_EQ(times, 1) << id;
}

TEST(work, alike_trades_share_one_program) {
    EXPECT_EQ(priced(book_of("volatility: 0.2", asian, alike), 256, 2).programs.size(), 1u);
}

// A model makes one table for each length of step, or for each step, and all trades share it.
TEST(work, alike_trades_share_the_tables_of_their_model) {
    for (const std::string model : {"local_volatility", "stochastic_local_volatility", "cgmy"}) {
        const std::string& asset = every_model().at(model);
        const book one = book_of(asset, asian, 1), many = book_of(asset, asian, alike);
        priced(one, 16);
        priced(many, 16);
        EXPECT_GT(tables_made(one), 0u) << model;
        EXPECT_EQ(tables_made(many), tables_made(one)) << model;
    }
}

// Each row applies for a quarter of a year, in which a path stops three times; 256 lanes read it once.
TEST(work, a_row_of_scenarios_is_read_once_for_all_steps_that_it_holds) {
    constexpr std::uint64_t rows = 4, paths = 512, groups_of_lanes = paths / cpu::lanes;
    const tests::own_folder folder;
    const std::string header = fmt::format(
        "{:<117}\n",
        fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, paths));
    const std::vector<double> volatilities(rows * paths, 0.2);
    folder.write("vols.npy", std::string("\x93NUMPY\x01\x00", 8) + std::string("\x76\x00", 2) + header +
                                 std::string(reinterpret_cast<const char*>(volatilities.data()),
                                             volatilities.size() * sizeof(double)));
    const auto file = folder.write(
        "book.yaml",
        text_of("volatility: {scenarios: vols.npy, times: [0.25, 0.5, 0.75, 1.0]}", asian, alike));
    const book trades = book::load(file);
    EXPECT_EQ(priced(trades, paths).scenario_rows_read, alike * groups_of_lanes * rows);
}

TEST(work, a_merged_block_keeps_no_tiles) {
    constexpr std::uint64_t tiles_of_a_block = 128, blocks = 48;
    ASSERT_EQ(run::part_tiles_of(blocks * tiles_of_a_block), tiles_of_a_block);
    constexpr int threads = 2;
    const std::string call = "product: european, maturity: 1.0";
    const std::uint64_t paths = blocks * tiles_of_a_block * kernels::paths_per_tile;
    const work w = priced(book_of("volatility: 0.2", call, 1), paths, threads);
    EXPECT_GE(w.most_tiles_kept, tiles_of_a_block);
    EXPECT_LE(w.most_tiles_kept, (threads + 1) * tiles_of_a_block);
    // A book of small trades keeps only the tiles in progress.
    const work small = priced(book_of("volatility: 0.2", call, alike), kernels::paths_per_tile * 2, threads);
    EXPECT_LE(small.most_tiles_kept, 2u * (threads + 1));
}

}  // namespace
}  // namespace tilewalk::work_test
