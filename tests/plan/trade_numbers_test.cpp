// SPDX-License-Identifier: Apache-2.0
// The numbers of a trade in another market, got by recording alone, have the bits of a new plan in that
// market. They are empty if the program or its times would differ there.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "tests/both_ways.h"
#include "tests/every_model.h"
#include "tests/made_book.h"
#include "tilewalk/book.h"

namespace tilewalk::trade_numbers_test {
namespace {

std::vector<std::uint64_t> bits_of(const program::path_data& data) {
    std::vector<std::uint64_t> out;
    const auto add = [&](const std::vector<double>& numbers) {
        for (const double x : numbers) out.push_back(std::bit_cast<std::uint64_t>(x));
        out.push_back(numbers.size());
    };
    add(data.terms);
    for (const auto& rows : data.rows) add(rows);
    add(data.initial_states);
    return out;
}

struct findings {
    std::size_t moved = 0, stood = 0, other_program = 0;
};

void compare(const books::trade& t, const market& in, const market& moved, program::precision precision,
             const std::string& key, findings& found) {
    const plan::trade_program here = plan::plan_trade(t, state_of(in), precision);
    const plan::trade_program there = plan::plan_trade(t, state_of(moved), precision);
    const plan::trade_numbers numbers(t, state_of(in), here.code, here.idle, precision);
    const auto got = numbers.in(state_of(moved));
    const bool is_same =
        program::shape_of(here.code) == program::shape_of(there.code) && here.when.times == there.when.times;
    if (!is_same) {
        ++found.other_program;
        EXPECT_EQ(got, nullptr) << t.id << " and " << key;
        return;
    }
    ASSERT_NE(got, nullptr) << t.id << " and " << key;
    EXPECT_EQ(bits_of(*got), bits_of(there.data)) << t.id << " and " << key;
    const bool stands = bits_of(here.data) == bits_of(there.data);
    ++(stands ? found.stood : found.moved);
    if (!stands) {
        EXPECT_NE(got, numbers.in(state_of(in))) << t.id << " and " << key;
    }
}

findings compare_book(const book& trades, const market& in,
                      program::precision precision = program::precision::double_) {
    constexpr std::size_t one_in_so_many = 40;  // of the moved numbers that a trade does not read
    findings found;
    const std::vector<market_number> all = in.numbers();
    std::vector<market> moved;
    for (const market_number& n : all) {
        const double by = std::abs(n.value) > 2 ? 1e-3 * n.value : 1e-5;
        try {
            moved.push_back(in.shifted(n.key, by));
        } catch (const error&) {
            moved.push_back(in.shifted(n.key, -by));
        }
    }
    std::size_t unread = 0;
    for (const books::trade& t : state_of(trades).trades) {
        if (t.failure) throw *t.failure;
        markets::market_reads reads;
        plan::plan_trade(t, {state_of(in), &reads}, precision);
        for (std::size_t k = 0; k < all.size(); ++k) {
            const bool is_alike = reads.are_alike(state_of(in), state_of(moved[k]));
            if (is_alike && ++unread % one_in_so_many != 0) continue;
            const std::size_t stood = found.stood;
            compare(t, in, moved[k], precision, all[k].key, found);
            if (is_alike) {
                EXPECT_EQ(found.stood, stood + 1) << t.id << " has not read " << all[k].key;
            }
        }
    }
    std::printf("%zu moved, %zu stood, %zu had another program\n", found.moved, found.stood,
                found.other_program);
    return found;
}

TEST(trade_numbers, are_those_of_a_plan_for_every_product) {
    const findings found = compare_book(book_of_every_kind(), tests::demo_market());
    EXPECT_GT(found.moved, 3000u);
    EXPECT_GT(found.stood, 1000u);
}

TEST(trade_numbers, are_those_of_a_plan_for_every_model) {
    const book trades = book::parse(book_of_every_model());
    const findings found = compare_book(trades, *trades.market());
    EXPECT_GT(found.moved, 300u);
    EXPECT_GT(found.stood, 100u);
    EXPECT_GT(found.other_program, 0u);
}

TEST(trade_numbers, are_those_of_a_plan_in_every_precision) {
    for (const auto precision : {program::precision::single, program::precision::single_fast})
        EXPECT_GT(compare_book(made_book("--trades 40"), tests::demo_market(), precision).moved, 300u);
}

// Heston's variance is drawn by a shorter program, without a tail, if its volatility sigma is small enough.
TEST(trade_numbers, are_none_where_the_program_is_another) {
    const book b = book::parse(R"(
market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03}}
  assets:
    A: {currency: USD, spot: 100, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.42, rho: -0.7}}}
trades:
  - {id: call, product: european, underlying: A, strike: 100, maturity: 1.0}
)");
    findings found;
    for (const double sigma : {0.41, 0.43})
        compare(state_of(b).trades.at(0), *b.market(), b.market()->with("A.heston.sigma", sigma),
                program::precision::double_, "A.heston.sigma", found);
    EXPECT_EQ(found.moved, 1u);
    EXPECT_EQ(found.other_program, 1u);
}

TEST(trade_numbers, are_the_same_object_where_nothing_moves) {
    const book b = book::parse(
        "trades:\n  - {id: a, product: asian, underlying: ACME, strike: 100, averaging_dates: {start: 0, "
        "end: "
        "1, count: 12}}\n");
    const books::trade& t = state_of(b).trades.at(0);
    const market& in = tests::demo_market();
    const plan::trade_program here = plan::plan_trade(t, state_of(in));
    const plan::trade_numbers numbers(t, state_of(in), here.code, here.idle, program::precision::double_);
    EXPECT_EQ(numbers.in(state_of(in.shifted("BETA.spot", 1))), numbers.in(state_of(in)));
    EXPECT_EQ(numbers.in(state_of(in.shifted("USD.rate@30y", 1e-4))), numbers.in(state_of(in)));
    EXPECT_NE(numbers.in(state_of(in.shifted("USD.rate@1y", 1e-4))), numbers.in(state_of(in)));
    EXPECT_NE(numbers.in(state_of(in.shifted("ACME.spot", 1))), numbers.in(state_of(in)));
}

}  // namespace
}  // namespace tilewalk::trade_numbers_test
