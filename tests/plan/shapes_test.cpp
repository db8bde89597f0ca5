// SPDX-License-Identifier: Apache-2.0
// Programs shared by trades: a large book needs few kernels, and a trade's price has the same bits in a
// shared program as in its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/plan/unite.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cpu/lane_program.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "tests/made_book.h"
#include "tests/market_text.h"
#include "tests/whole.h"
#include "tilewalk/book.h"

namespace tilewalk::shapes_test {
namespace {

using tests::dollar_market;
using tests::in_book;

struct planned_book {
    std::vector<std::string> ids;
    std::vector<plan::trade_program> trades;
    std::vector<const program::path_program*> shapes;
    std::vector<std::size_t> shape_of_trade;
};

planned_book plan_all(const book& from) {
    planned_book out;
    for (const auto& t : state_of(from).trades) {
        if (t.failure) throw *t.failure;
        auto made = plan::plan_trade(t, state_of(*from.market()));
        if (made.is_certain()) continue;
        out.ids.push_back(t.id);
        out.trades.push_back(std::move(made));
    }
    std::map<std::string, std::size_t> known;
    for (const auto& t : out.trades) {
        const auto [at, is_new] = known.emplace(program::shape_of(t.code), out.shapes.size());
        if (is_new) out.shapes.push_back(&t.code);
        out.shape_of_trade.push_back(at->second);
    }
    return out;
}

std::set<std::string> kernels_of(const plan::united_programs& u) {
    std::set<std::string> texts;
    for (const auto& p : u.programs) texts.insert(cuda::path_kernel_text(p, {}));
    return texts;
}

TEST(shapes, ten_thousand_mixed_trades_take_at_most_thirty_kernels) {
    const planned_book b = plan_all(made_book("--trades 10000"));
    const auto united = plan::unite(b.shapes);
    const auto kernels = kernels_of(united);
    std::printf("%zu trades, %zu shapes, %zu kernels\n", b.trades.size(), b.shapes.size(), kernels.size());
    EXPECT_GT(b.shapes.size(), 30u) << "so many shapes that uniting them is worth a test";
    EXPECT_LE(kernels.size(), 30u);
    EXPECT_EQ(kernels.size(), united.programs.size());
    for (const auto& p : united.programs) EXPECT_LE(p.sections.size(), 8u);
}

TEST(shapes, what_runs_on_every_step_stays_apart_in_a_small_book) {
    const planned_book b = plan_all(book::parse(
        in_book(dollar_market(0.03, {{"A", "spot: 100, volatility: 0.2"}})) +
            "trades:\n"
            "  - {id: call, product: european, underlying: A, strike: 100, maturity: 1}\n"
            "  - {id: all, product: asian, underlying: A, strike: 100, averaging_dates: [0.5, 1]}\n"
            "  - {id: more, product: asian, underlying: A, strike: 90, averaging_dates: [0.2, 0.5, 1]}\n"
            "  - {id: put, product: asian, option: put, underlying: A, strike: 90, averaging_dates: [0.2, "
            "0.5, 1]}\n",
        "small"));
    const auto united = plan::unite(b.shapes);
    const auto seat_of = [&](std::size_t trade) { return united.seats[b.shape_of_trade[trade]]; };
    ASSERT_EQ(b.trades.size(), 4u);
    EXPECT_NE(seat_of(0).program, seat_of(1).program);
    for (const std::size_t asian : {1u, 2u, 3u}) {
        EXPECT_EQ(seat_of(asian).program, seat_of(1).program);
        const auto& code = united.programs[seat_of(asian).program];
        EXPECT_TRUE(code.sections[seat_of(asian).sections[1]].is_on_every_step);
    }
}

TEST(shapes, paths_that_move_otherwise_stay_apart) {
    using program::operation;
    const auto moving_by = [](operation how, double size) {
        program::path_program p;
        p.states = {"x", "paid"};
        p.outputs = {1};
        p.normals_per_step = 1;
        p.normal_streams = {0};
        program::lane_section step, end;
        step.name = "step";
        step.nodes = {{operation::state, {0}, 0},
                      {operation::normal, {0}, 0},
                      {operation::constant, {}, size},
                      {operation::mul, {1, 2}, 0},
                      {how, {0, 3}, 0}};
        step.writes = {{0, 4}};
        end.name = "end";
        end.nodes = {{operation::state, {0}, 0}, {operation::exp, {0}, 0}};
        end.writes = {{1, 1}};
        p.sections = {step, end};
        return p;
    };
    const program::path_program up = moving_by(operation::add, 0.2), down = moving_by(operation::sub, 0.2),
                                far = moving_by(operation::add, 0.4), same = moving_by(operation::add, 0.2);
    const std::vector<const program::path_program*> all{&up, &down, &far, &same};
    const auto united = plan::unite(all);
    EXPECT_EQ(united.programs.size(), 3U);
    EXPECT_NE(united.seats[0].program, united.seats[1].program);
    EXPECT_NE(united.seats[0].program, united.seats[2].program);
    EXPECT_NE(united.seats[1].program, united.seats[2].program);
    EXPECT_EQ(united.seats[0].program, united.seats[3].program);
}

// A barrier monitored on dates never runs its block for continuous monitoring; its path takes one step.
TEST(shapes, a_block_that_never_runs_puts_no_other_on_every_step) {
    const planned_book b = plan_all(book::parse(
        in_book(dollar_market(0.03, {{"A", "spot: 100, volatility: 0.2"}})) +
            "trades:\n"
            "  - {id: call, product: european, underlying: A, strike: 100, maturity: 1}\n"
            "  - {id: out, product: barrier, underlying: A, strike: 100, barrier: 120, direction: up, "
            "monitoring: discrete, monitoring_dates: [1.0], maturity: 1}\n",
        "small"));
    ASSERT_EQ(b.trades.size(), 2u);
    for (const plan::trade_program& t : b.trades) {
        EXPECT_EQ(t.when.steps(), 1u);
        for (std::size_t k = 1; k < t.code.sections.size(); ++k)
            EXPECT_FALSE(t.code.sections[k].is_on_every_step) << t.code.sections[k].name;
    }
}

TEST(shapes, the_order_of_a_book_changes_no_kernel) {
    planned_book b = plan_all(book_of_every_kind());
    const auto forward = kernels_of(plan::unite(b.shapes));
    std::reverse(b.shapes.begin(), b.shapes.end());
    EXPECT_EQ(kernels_of(plan::unite(b.shapes)), forward);
}

std::vector<cpu::tile_result> walk(const std::vector<program::path_program>& codes,
                                   const std::vector<std::size_t>& code_of,
                                   const std::vector<program::path_data>& data,
                                   const std::vector<program::timeline>& when) {
    constexpr std::uint64_t seed = 42, paths = 1500;
    std::vector<cpu::lane_program> compiled;
    for (const auto& c : codes) compiled.push_back(cpu::compile(c));
    std::vector<cpu::path_job> jobs;
    for (std::size_t i = 0; i < data.size(); ++i)
        jobs.push_back({&compiled[code_of[i]], &data[i], &when[i], seed, paths});
    return tests::whole(cpu::walk_all(jobs, *cpu::runnable_instruction_sets().sets[0], 1, nullptr, {}));
}

void expect_same_bits(const planned_book& b, const std::vector<std::size_t>& for_most_sections) {
    for (const std::size_t most_sections : for_most_sections) {
        const auto united = plan::unite(b.shapes, most_sections);
        std::vector<program::path_program> own;
        for (const auto* p : b.shapes) own.push_back(*p);
        std::vector<program::path_data> own_data, shared_data;
        std::vector<program::timeline> own_when, shared_when;
        std::vector<std::size_t> shared_by;
        for (std::size_t i = 0; i < b.trades.size(); ++i) {
            const plan::seat& seat = united.seats[b.shape_of_trade[i]];
            own_data.push_back(b.trades[i].data);
            own_when.push_back(b.trades[i].when);
            shared_data.push_back(plan::seated(b.trades[i].data, seat, united.programs[seat.program]));
            shared_when.push_back(plan::seated(b.trades[i].when, seat));
            shared_by.push_back(seat.program);
        }
        const auto alone = walk(own, b.shape_of_trade, own_data, own_when);
        const auto shared = walk(united.programs, shared_by, shared_data, shared_when);
        for (std::size_t i = 0; i < b.trades.size(); ++i) {
            EXPECT_EQ(std::bit_cast<std::uint64_t>(alone[i].moments.mean),
                      std::bit_cast<std::uint64_t>(shared[i].moments.mean))
                << b.ids[i] << ", at most " << most_sections << " sections";
            EXPECT_EQ(std::bit_cast<std::uint64_t>(alone[i].moments.m2),
                      std::bit_cast<std::uint64_t>(shared[i].moments.m2))
                << b.ids[i] << ", at most " << most_sections << " sections";
        }
    }
}

TEST(shapes, a_trade_has_the_same_bits_in_a_shared_program) {
    expect_same_bits(plan_all(book_of_every_kind()), {3, 16, 32});
}

// Blocks of a script that are alike, but have dates and numbers of their own, each need a place of their own
// in the shared program, also if the trade joins a program made before.
TEST(shapes, alike_observations_of_a_trade_have_a_seat_each) {
    std::string products, trades;
    for (const std::string pays : {"total", "2 * total", "total * total", "abs(total)"}) {
        const std::string name = "own_" + std::to_string(products.size());
        products += "  - product: " + name +
                    "\n    summary: Alike blocks.\n    parameters:\n"
                    "      underlying: {type: asset, help: It.}\n"
                    "      first_day: {type: date, help: A day.}\n"
                    "      second_day: {type: date, help: A day.}\n"
                    "      third_day: {type: date, help: A day.}\n"
                    "      maturity: {type: date, help: A day.}\n"
                    "    example: {underlying: A, first_day: 1, second_day: 2, third_day: 3, maturity: 4}\n"
                    "    script: |\n      total = 0\n";
        for (const std::string day : {"first_day", "second_day", "third_day"})
            products += "      on " + day + ":\n          total = total / 2 + spot(underlying)\n";
        products += "      on maturity:\n          pay " + pays + "\n";
        trades += "  - {id: " + name + ", product: " + name +
                  ", underlying: A, first_day: 0.5, second_day: 1, third_day: 1.5, maturity: 2}\n";
    }
    const auto b = plan_all(book::parse(in_book(dollar_market(0.05, {{"A", "spot: 100, volatility: 0.2"}})) +
                                        "products:\n" + products + "trades:\n" + trades));
    ASSERT_EQ(b.shapes.size(), 4u);
    const auto united = plan::unite(b.shapes);
    ASSERT_EQ(united.programs.size(), 1u) << "all of them share a program";
    for (const plan::seat& s : united.seats) {
        std::set<std::uint32_t> taken;
        for (const std::uint32_t section : s.sections) EXPECT_TRUE(taken.insert(section).second) << section;
    }
    expect_same_bits(b, {8});
}

}  // namespace
}  // namespace tilewalk::shapes_test
