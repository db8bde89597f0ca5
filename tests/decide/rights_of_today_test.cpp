// SPDX-License-Identifier: Apache-2.0
// Events on as_of that come before the right of that day: a barrier at or beyond the spot counts as touched,
// an extreme includes the spot, and payments are made whether or not the right is used.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/rights_books.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::rights_of_today_test {
namespace {

constexpr const char* asset = "    A: {currency: USD, spot: 100, volatility: 0.2, dividend_yield: 0.02}\n";

price_row row_of(const std::string& trade, double rate = 0.05, const char* of = asset) {
    const results got = tests::priced(
        tests::market_of(of, rate) + "trades:\n  - {id: t, underlying: A, maturity: 1, " + trade + "}\n",
        16384);
    EXPECT_EQ(got.rows.at(0).status, trade_status::priced) << got.rows[0].message;
    return got.rows[0];
}

const std::vector<std::string> touched = {"direction: up, barrier: 100", "direction: up, barrier: 80",
                                          "direction: down, barrier: 100", "direction: down, barrier: 125"};

}  // namespace

// The barrier is touched before anybody may exercise, so the option pays only its rebate.
TEST(rights_of_today, a_knock_out_that_is_touched_pays_its_rebate) {
    for (const std::string& barrier : touched) {
        for (const char* option : {"put, strike: 110", "call, strike: 90", "put, strike: 80"}) {
            const std::string of =
                "product: american_barrier, exercise_step: 0.25, option: " + std::string(option) + ", " +
                barrier;
            SCOPED_TRACE(of);
            for (const double rebate : {0.0, 3.0}) {
                const price_row row = row_of(of + ", rebate: " + std::to_string(rebate));
                EXPECT_EQ(row.price, rebate);
                EXPECT_EQ(row.standard_error, 0);
                EXPECT_EQ(row.early->policy_value, rebate);
            }
        }
    }
}

// At a rate of 25 % an American put is best exercised at once, which a touched knock-in allows.
TEST(rights_of_today, a_knock_in_that_is_touched_may_be_used_at_once) {
    for (const std::string& barrier : touched) {
        const std::string of =
            "product: american_barrier, kind: knock_in, rebate: 3, exercise_step: 0.25, "
            "option: put, strike: 150, " +
            barrier;
        SCOPED_TRACE(of);
        const price_row row = row_of(of, 0.25);
        EXPECT_EQ(row.early->policy_value, 50);
        EXPECT_EQ(row.early->policy_error, 0);
    }
}

// A knock-in draws random numbers to watch its barrier, so its paths differ from the American's, whose value
// must lie within the knock-in's bounds. By chance one pair of runs in 15,000 fails.
TEST(rights_of_today, a_knock_in_that_is_touched_is_worth_the_american) {
    const price_row plain = row_of("product: american, exercise_step: 0.25, option: put, strike: 100");
    for (const std::string& barrier : touched) {
        const price_row in = row_of(
            "product: american_barrier, kind: knock_in, rebate: 3, exercise_step: 0.25, option: put, strike: "
            "100, " +
            barrier);
        SCOPED_TRACE(barrier);
        EXPECT_LT(in.early->lower_bound,
                  plain.early->upper_bound + 4 * (in.early->lower_error + plain.early->upper_error));
        EXPECT_GT(in.early->upper_bound,
                  plain.early->lower_bound - 4 * (in.early->upper_error + plain.early->lower_error));
    }
}

TEST(rights_of_today, a_barrier_that_is_not_touched_yet_leaves_the_right) {
    const price_row row = row_of(
        "product: american_barrier, exercise_step: 0.25, option: put, strike: 150, direction: up, barrier: "
        "101, rebate: 3",
        0.25);
    EXPECT_EQ(row.early->policy_value, 50);
}

TEST(rights_of_today, an_extreme_has_seen_the_spot) {
    constexpr const char* still =
        "    A: {currency: USD, spot: 100, volatility: 0.01, dividend_yield: 0.4}\n";
    const std::string of = "product: american_lookback, exercise_step: 0.25, ";
    EXPECT_EQ(row_of(of + "option: call, strike: 80", 0.4, still).early->policy_value, 20);
    EXPECT_EQ(row_of(of + "option: put, strike: 120", 0.4, still).early->policy_value, 20);
    EXPECT_EQ(row_of(of + "option: put, extreme_so_far: 120", 0.4, still).early->policy_value, 20);
    EXPECT_EQ(row_of(of + "option: call, extreme_so_far: 80", 0.4, still).early->policy_value, 20);
}

// Payments on as_of are due in any case. The right is then to take 10 in a year instead of 8.
TEST(rights_of_today, what_was_paid_before_is_paid_all_the_same) {
    for (const double paid : {0.0, 5.0, -5.0}) {
        const std::string script =
            "on start:\n    pay strike\nexercise on start: receive 10\non last(dates):\n"
            "    pay min(spot(underlying), 8)\n";
        const results got = tests::priced(
            tests::put_on("spot: 100, volatility: 0.2", 0.05, std::to_string(paid), "[1.0]", script), 4096);
        ASSERT_EQ(got.rows.at(0).status, trade_status::priced) << got.rows[0].message;
        EXPECT_EQ(got.rows[0].price, paid + 10);
        EXPECT_EQ(got.rows[0].early->policy_value, paid + 10);
    }
}

}  // namespace tilewalk::rights_of_today_test
