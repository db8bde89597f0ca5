// SPDX-License-Identifier: Apache-2.0
// Comparisons at which a payoff jumps are found, and those at which it only has a kink are not: in scripts,
// and for each product of the library.
#include "products/program/jumps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "products/program/activity.h"
#include "tests/both_ways.h"
#include "tests/made_book.h"
#include "tests/recorded_paths.h"
#include "tests/texts.h"
#include "tilewalk/book.h"

namespace tilewalk::jumps_test {
namespace {

using tests::number;

plan::trade_program planned(const std::string& script) {
    const book one = book::parse(
        "products:\n"
        "  - product: mine\n"
        "    summary: One.\n"
        "    parameters: {underlying: {type: asset, help: A.}, dates: {type: schedule, help: B.}}\n"
        "    example: {underlying: A, dates: [1.0]}\n"
        "    script: |\n" +
        script + "trades:\n  - {id: a, product: mine, underlying: ACME, dates: [0.5, 1.0]}\n");
    const books::trade& t = state_of(one).trades.at(0);
    if (t.failure) throw *t.failure;
    return plan::plan_trade(t, state_of(tests::demo_market()));
}

std::size_t jumps_in(const std::string& payment) {
    const plan::trade_program of = planned("      on dates:\n          s = spot(underlying)\n" + payment);
    return program::jumps_of(of.code, of.data, of.when).size();
}

}  // namespace

TEST(jumps, are_told_from_kinks) {
    EXPECT_EQ(jumps_in("          pay max(s - 100, 0)\n"), 0u);
    EXPECT_EQ(
        jumps_in(
            "          gain = 0\n          if s > 100:\n              gain = s - 100\n          pay gain\n"),
        0u);
    EXPECT_EQ(jumps_in("          gain = 0\n          if s > 100:\n              gain = (s - 100) * s\n      "
                       "    pay gain\n"),
              0u);
    EXPECT_EQ(jumps_in("          gain = 3\n          if s > 100:\n              gain = 3 * s / 100\n        "
                       "  pay gain\n"),
              0u);
    EXPECT_EQ(
        jumps_in("          gain = 0\n          if s > 100:\n              gain = 1\n          pay gain\n"),
        1u);
    EXPECT_EQ(jumps_in("          gain = 0\n          if s > 100:\n              gain = s - 99.99\n          "
                       "pay gain\n"),
              1u);
    EXPECT_EQ(jumps_in("          gain = 0\n          if s > 100 and s < 120:\n              gain = 1\n      "
                       "    pay gain\n"),
              2u);
    EXPECT_EQ(jumps_in("          gain = 0\n          if not (s > 100 or s < 80):\n              gain = 1\n  "
                       "        pay gain\n"),
              2u);
    EXPECT_EQ(jumps_in("          gain = 0\n          if s > 100:\n              gain = s - 100\n          "
                       "if s > 120:\n              gain = 10\n          pay gain\n"),
              1u);
}

// A truth value used as a number makes its comparison a jump, also where another comparison selects it.
TEST(jumps, of_a_truth_are_those_of_the_number_that_it_is_taken_for) {
    const auto jumps_of = [](const auto& record) {
        const tests::recorded_path of = tests::of_three_rows(100, 110, 3, record);
        return program::jumps_of(of.code, of.data, of.when).size();
    };
    EXPECT_EQ(jumps_of([](auto&, number x, number y, number) { return x < y; }), 1u);
    EXPECT_EQ(jumps_of([](auto&, number x, number y, number payout) { return payout * (x < y); }), 1u);
    EXPECT_EQ(jumps_of([](auto&, number x, number y, number payout) { return payout - (x <= y); }), 1u);
    EXPECT_EQ(jumps_of([](auto&, number x, number y, number) { return max(x, y); }), 0u);
    EXPECT_EQ(jumps_of([](auto& into, number x, number y, number low) {
                  return program::select(low < x, x < y, into.truth(false));
              }),
              2u);
}

// A choice has no derivative with respect to a condition that is a number, but has one with respect to a
// smoothed truth value.
TEST(jumps, move_no_choice_by_a_condition_that_is_a_number) {
    const auto moves = [](bool by_truth) -> bool {
        const auto record = [&](auto& into, number x, number y, number) {
            const number less = x < y;
            return program::select(by_truth ? less : x, into.constant(5), into.constant(7)) + less;
        };
        const tests::recorded_path of = tests::of_three_rows(2, 3, 0, record);
        program::wanted_numbers wanted = program::no_number_of(of.code);
        wanted.initial_states.flip();
        const std::vector<program::jump> smoothed = tests::comparisons_of(of.code);
        EXPECT_EQ(smoothed.size(), 1u);
        const program::active_values active(of.code, wanted, smoothed);
        const auto& nodes = of.code.sections[0].nodes;
        const auto choice = std::ranges::find(nodes, program::operation::select, &program::node::code);
        return active.active_in(0).at(static_cast<std::size_t>(choice - nodes.begin()));
    };
    EXPECT_TRUE(moves(true));
    EXPECT_FALSE(moves(false));
}

TEST(jumps, stand_where_a_choice_is_made) {
    const plan::trade_program of = planned(
        "      chosen = false\n"
        "      on dates:\n"
        "          if chosen:\n"
        "              pay spot(underlying)\n"
        "          chosen = spot(underlying) > 100\n");
    const auto found = program::jumps_of(of.code, of.data, of.when);
    ASSERT_EQ(found.size(), 1u);
    const program::node& n = of.code.sections[found[0].section].nodes[found[0].node];
    EXPECT_TRUE(n.code == program::operation::less || n.code == program::operation::less_equal);
}

TEST(jumps, move_with_what_is_compared) {
    const plan::trade_program of = planned(
        "      on dates:\n          gain = 0\n          if spot(underlying) > 100:\n              gain = 1\n"
        "          pay gain\n");
    const auto all = program::jumps_of(of.code, of.data, of.when);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(program::moved_by(of.code, all, program::all_numbers_of(of.code)), all);
    EXPECT_TRUE(program::moved_by(of.code, all, program::no_number_of(of.code)).empty());
    // The discount factor is a row of the comparing section, but moves neither compared number.
    program::wanted_numbers discount = program::no_number_of(of.code);
    const std::size_t section = all[0].section;
    std::size_t moving = 0;
    for (std::size_t c = 0; c < discount.rows[section].size(); ++c) {
        program::wanted_numbers one = program::no_number_of(of.code);
        one.rows[section][c] = true;
        moving += program::moved_by(of.code, all, one).size();
    }
    EXPECT_LT(moving, discount.rows[section].size());
}

// Crossing the strike of a digital changes the payment by the payout. Crossing a level of the note changes it
// by the terms there. A barrier weighted by a bridge makes no jump: its weight is 0 at the level already.
TEST(jumps, are_as_large_as_the_terms_say) {
    const book b = book::parse(
        "trades:\n"
        "  - {id: digital, product: digital, underlying: ACME, strike: 105, payout: 7, maturity: 1.0}\n"
        "  - {id: far, product: digital, underlying: ACME, strike: 160, payout: 7, maturity: 1.0}\n"
        "  - {id: note, product: autocallable, basket: [ACME], initial_level: [100], observations: [1.0], "
        "call_level: 1, coupon: 0.1, protection: 0.7, notional: 100}\n"
        "  - {id: barriers, product: double_barrier, underlying: ACME, strike: 100, maturity: 1.0, lower: "
        "80, "
        "upper: 130}\n"
        "  - {id: levels, product: double_touch, underlying: ACME, kind: one_touch, lower: 85, upper: 120, "
        "payout: 7, maturity: 1.0}\n"
        "  - {id: kink, product: european, underlying: ACME, strike: 105, maturity: 1.0}\n");
    const auto step_of = [&](std::size_t trade) {
        const auto of = plan::plan_trade(state_of(b).trades.at(trade), state_of(tests::demo_market()));
        return program::largest_step(of.code, of.data, of.when, program::jumps_of(of.code, of.data, of.when));
    };
    const auto discounted = [&](double amount) {
        return amount * state_of(tests::demo_market()).discount_curve("USD").discount(1.0);
    };
    EXPECT_NEAR(step_of(1).value(), discounted(7), 1e-9);
    EXPECT_NEAR(step_of(2).value(), discounted(30), 1e-5);  // 100 less 70 at the protection; 10 at the call
    EXPECT_NEAR(step_of(3).value(), 0, 1e-6);
    EXPECT_NEAR(step_of(4).value(), 0, 1e-6);
    EXPECT_EQ(step_of(5), 0.0);
}

TEST(jumps, that_no_path_meets_have_no_size) {
    const plan::trade_program of = planned(
        "      on dates:\n          gain = 0\n          if spot(underlying) > 1e9:\n              gain = 1\n"
        "          pay gain\n");
    const auto all = program::jumps_of(of.code, of.data, of.when);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_FALSE(program::largest_step(of.code, of.data, of.when, all));
}

// Most observations of the note decide nothing on most paths, which were called before; smoothing is still
// allowed.
TEST(jumps, that_seldom_count_can_be_smoothed) {
    const book b = book::parse(
        "trades:\n  - {id: note, product: autocallable, basket: [ACME, BETA], initial_level: [100, 48.2], "
        "observations: {start: 0, end: 1, count: 252}, call_level: 1, coupon: 0.1, protection: 0.6, "
        "notional: "
        "100}\n");
    const auto of = plan::plan_trade(state_of(b).trades.at(0), state_of(tests::demo_market()));
    const auto all = program::jumps_of(of.code, of.data, of.when);
    EXPECT_EQ(all.size(), 3u);
    EXPECT_EQ(program::smoothable(of.code, of.data, of.when, all).size(), all.size());
}

// Each product always jumps, never jumps, or does so by its terms (not listed).
TEST(jumps, of_the_library_are_known) {
    const std::set<std::string> never = tests::texts<std::set<std::string>>(
        "best_of", "cap_floor", "capital_protected_note", "cliquet", "cms_leg", "complex_chooser", "compound",
        "continuous_asian", "corridor_accrual", "coupon_bond", "european", "exchange", "floating_rate_note",
        "forward_start", "lookback", "rainbow", "rate_future", "reverse_convertible", "soft_barrier",
        "spread", "step_option", "swap", "swaption", "variance_swap", "volatility_swap", "worst_of",
        "zero_coupon_bond", "asian", "basket");
    const std::set<std::string> always = tests::texts<std::set<std::string>>(
        "accumulator", "autocallable", "chooser", "corridor_variance_swap", "cumulative_parisian", "digital",
        "gap_option", "himalaya", "parisian", "phoenix_autocallable", "range_accrual", "rate_range_accrual",
        "target_redemption_forward");
    std::map<std::string, std::set<bool>> found;
    const book all = book_of_every_kind();
    for (const books::trade& t : state_of(all).trades) {
        const auto of = plan::plan_trade(t, state_of(tests::demo_market()));
        if (of.is_certain()) continue;
        found[t.product_name].insert(!program::jumps_of(of.code, of.data, of.when).empty());
    }
    EXPECT_EQ(found.size(), 64u);
    for (const auto& [product, has] : found) {
        if (!never.contains(product) && !always.contains(product)) continue;
        EXPECT_EQ(has, (std::set<bool>{always.contains(product)})) << product;
    }
}

}  // namespace tilewalk::jumps_test
