// SPDX-License-Identifier: Apache-2.0
// Passes run only for the first trade of a shape; later trades of the shape get the same program.
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/crew.h"
#include "engine/market/market_state.h"
#include "engine/plan/passed_programs.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "products/program/passes.h"
#include "products/program/recorder.h"
#include "tests/made_book.h"

namespace tilewalk::passed_programs_test {
namespace {

using plan::passed_programs;
using program::precision;

plan::trade_program planned(const books::trade& t, const markets::market_state& in, precision p,
                            passed_programs* known) {
    return plan::plan_trade(t, in, p, {}, {}, nullptr, nullptr, known);
}

std::vector<std::uint64_t> bits_of(const program::path_data& data) {
    std::vector<std::uint64_t> out;
    const auto add = [&out](const std::vector<double>& numbers) {
        for (const double x : numbers) out.push_back(std::bit_cast<std::uint64_t>(x));
    };
    add(data.terms);
    for (const auto& rows : data.rows) add(rows);
    add(data.initial_states);
    return out;
}

void expect_the_same(const plan::trade_program& a, const plan::trade_program& b, const std::string& of) {
    EXPECT_EQ(program::shape_of(a.code), program::shape_of(b.code)) << of;
    EXPECT_EQ(program::print(a.code), program::print(b.code)) << of;
    EXPECT_EQ(bits_of(a.data), bits_of(b.data)) << of;
    EXPECT_EQ(a.when.times, b.when.times) << of;
    EXPECT_EQ(a.when.bytes(), b.when.bytes()) << of;
    EXPECT_EQ(a.idle, b.idle) << of;
    EXPECT_EQ(a.remarks, b.remarks) << of;
}

TEST(passed_programs, change_no_plan_of_any_kind_of_trade) {
    const book whole = book_of_every_kind();
    const markets::market_state& in = state_of(*whole.market());
    for (const precision p : {precision::double_, precision::single, precision::single_fast}) {
        passed_programs known;
        std::size_t plans = 0;
        for (int time = 0; time < 2; ++time) {
            for (const books::trade& t : state_of(whole).trades) {
                if (t.failure || plan::has_rights(t)) continue;
                expect_the_same(planned(t, in, p, &known), planned(t, in, p, nullptr), t.id);
                ++plans;
            }
        }
        EXPECT_GT(known.size(), 0U);
        EXPECT_LT(known.size(), plans / 2);
    }
}

TEST(passed_programs, are_few_in_a_book_of_many_trades) {
    const book made = made_book("--trades 500");
    passed_programs known;
    const std::vector<books::trade>& trades = state_of(made).trades;
    threads::for_each(trades.size(), 4, nullptr,
                      [&](int, std::uint64_t i) {
                          planned(trades[i], state_of(*made.market()), precision::double_, &known);
                      },
                      {});
    EXPECT_GT(known.size(), 5U);
    EXPECT_LT(known.size(), 150U);
}

template <class Record>
program::program recorded(const Record& record) {
    program::recorder into;
    const auto slot = into.state("value", 0.0);
    into.open_section(0, "step", 1);
    into.write(slot, record(into));
    into.output(slot);
    return std::move(into).finish().code;
}

TEST(passed_programs, are_told_apart_by_all_that_passes_see) {
    const auto times = [](double factor, const char* row) {
        return recorded([&](program::recorder& into) { return factor * into.row(row, std::vector{1.0}); });
    };
    passed_programs known;
    const auto first = known.passed(times(2, "a"), false);
    EXPECT_EQ(known.passed(times(2, "a"), false), first);
    EXPECT_EQ(known.size(), 1U);
    const auto other_number = known.passed(times(3, "a"), false),
               other_name = known.passed(times(2, "b"), false), fast = known.passed(times(2, "a"), true);
    EXPECT_EQ(known.size(), 4U);
    EXPECT_NE(program::shape_of(other_number->with_logarithms), program::shape_of(first->with_logarithms));
    EXPECT_NE(program::print(other_name->with_logarithms), program::print(first->with_logarithms));
    EXPECT_NE(fast, first);
    known.passed(times(0.0, "a"), false);
    known.passed(times(-0.0, "a"), false);
    EXPECT_EQ(known.size(), 6U);
}

TEST(passed_programs, beyond_the_most_are_made_and_not_kept) {
    passed_programs known;
    for (std::size_t i = 0; i < passed_programs::most + 3; ++i) {
        const program::program one = recorded([&](program::recorder& into) {
            return static_cast<double>(i + 2) * into.row("a", std::vector{1.0});
        });
        EXPECT_EQ(program::shape_of(known.passed(one, false)->with_logarithms),
                  program::shape_of(plan::passed_program(one, false).with_logarithms));
    }
    EXPECT_EQ(known.size(), passed_programs::most);
}

}  // namespace
}  // namespace tilewalk::passed_programs_test
