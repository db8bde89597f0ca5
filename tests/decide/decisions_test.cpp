// SPDX-License-Identifier: Apache-2.0
// Decisions of a run (controls, points, shifts, policies) as values: written, read, edited, followed.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "tests/market_text.h"
#include "tests/own_folder.h"
#include "tests/rows_by_id.h"
#include "tests/texts.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::decisions_test {
namespace {

using tests::same_bits;

const book& trades() {
    static const book made = book::parse(
        tests::in_book(tests::dollar_market(0.03, {{"A", "spot: 100, volatility: 0.2"}})) + R"(trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0.25, end: 1, count: 4}}
  - {id: call, product: european, underlying: A, strike: 105, maturity: 1}
  - {id: digital, product: digital, underlying: A, strike: 101, payout: 10, pays: asset, maturity: 1}
  - {id: far, product: european, underlying: A, strike: 190, maturity: 1}
  - {id: right, product: american, option: put, underlying: A, strike: 105, exercise_dates: [0.5, 1], maturity: 1}
)");
    return made;
}

run_options asked() {
    run_options out;
    out.overrides = {.paths = 65536, .seed = 7, .threads = 2, .device = "cpu"};
    out.overrides.preintegration = out.overrides.importance = technique::automatic;
    out.keep_policies = true;
    return out;
}
const results& first() {
    static const results made = engine().price(trades(), asked());
    return made;
}
results following(const decisions& what, run_options with = asked()) {
    const memory_file file("decisions", json_of(what));
    with.overrides.paths.reset();
    with.overrides.decisions = file.name();
    return engine().price(trades(), with);
}
const price_row& row_of(const results& r, const std::string& trade) {
    return *std::ranges::find(r.rows, trade, &price_row::trade);
}

std::string why_refused(const std::string& json) {
    try {
        read_decisions(json, "decided.json");
    } catch (const error& e) {
        return e.what();
    }
    return "read";
}

TEST(decisions, read_back_as_they_were_written) {
    const decisions found = decisions_of(first());
    EXPECT_EQ(found.trades.size(), 5u);
    EXPECT_NE(found.trades.at("asian").control, "");
    EXPECT_TRUE(found.trades.at("digital").integrates_jumps);
    EXPECT_FALSE(found.trades.at("call").integrates_jumps);
    EXPECT_NE(found.trades.at("far").shifts, "");
    EXPECT_NE(found.trades.at("right").policy, "");
    EXPECT_EQ(read_decisions(json_of(found), "decided.json"), found);
    std::ostringstream text;
    write(text, first(), output_format::json);
    decisions without = found;
    for (auto& [trade, of] : without.trades) of.policy.clear();
    EXPECT_EQ(read_decisions(text.str(), "results.json"), without);
    EXPECT_NE(found, without);
}

TEST(decisions, are_followed_to_the_same_bits) {
    const results again = following(decisions_of(first()));
    for (const price_row& row : first().rows) {
        const price_row& now = row_of(again, row.trade);
        EXPECT_EQ(now.decisions, row.decisions) << row.trade;
        EXPECT_EQ(now.walk, row.walk) << row.trade;
        // The upper bound also depends on how the policy was trained, so the policy's value is compared.
        EXPECT_TRUE(same_bits(now.early ? now.early->policy_value : now.price,
                              row.early ? row.early->policy_value : row.price))
            << row.trade;
    }
}

TEST(decisions, have_the_policies_that_a_file_has) {
    const tests::own_folder folder;
    run_options with = asked();
    with.overrides.training_paths = 8192;
    decisions found = decisions_of(first());
    const results by_decisions = following(found, with);
    found.trades.at("right").policy.clear();
    const results anew = following(found, with);
    with.overrides.policy = folder.write("policies.json", first().policies).string();
    const results by_file = engine().price(trades(), with);
    const auto right_of = [](const results& r) { return *row_of(r, "right").early; };
    EXPECT_EQ(right_of(by_decisions).training_paths, right_of(first()).training_paths);
    EXPECT_EQ(right_of(anew).training_paths, 8192u);
    EXPECT_TRUE(same_bits(right_of(by_decisions).policy_value, right_of(by_file).policy_value));
    EXPECT_TRUE(same_bits(right_of(by_decisions).upper_bound, right_of(by_file).upper_bound));
    EXPECT_FALSE(same_bits(right_of(anew).policy_value, right_of(by_file).policy_value));
}

TEST(decisions, hold_as_they_are_edited) {
    decisions edited = decisions_of(first());
    edited.trades.at("asian").paths *= 4;
    edited.trades.at("call").control.clear();
    edited.trades.at("digital").integrates_jumps = false;
    edited.trades.at("far").shifts.clear();
    const results now = following(edited);
    EXPECT_EQ(row_of(now, "asian").paths, 4 * row_of(first(), "asian").paths);
    EXPECT_LT(row_of(now, "asian").standard_error, row_of(first(), "asian").standard_error);
    EXPECT_EQ(row_of(now, "call").decisions, "");
    EXPECT_GT(row_of(now, "call").standard_error, row_of(first(), "call").standard_error);
    EXPECT_GT(row_of(now, "digital").standard_error, row_of(first(), "digital").standard_error);
    EXPECT_EQ(row_of(now, "far").decisions.find("shifts"), std::string::npos);
    for (const char* trade : {"asian", "call", "digital", "far"}) {
        const price_row &a = row_of(now, trade), &b = row_of(first(), trade);
        // A sound engine exceeds this bound once in 100,000 times.
        EXPECT_NEAR(a.price, b.price, 4.5 * (a.standard_error + b.standard_error)) << trade;
    }
}

TEST(decisions, treat_jumps_as_the_run_that_they_are_of) {
    const book jumping = book::parse(
        tests::in_book(tests::dollar_market(0.03, {{"A", "spot: 100, volatility: 0.2"}})) + R"(trades:
  - {id: digital, product: digital, underlying: A, strike: 101, maturity: 1, payout: 10}
)");
    run_options with;
    with.overrides = {.paths = 65536, .seed = 7, .threads = 2, .device = "cpu"};
    const greek_options deltas{{"delta"}, greek_method::automatic};
    const results alone = engine().greeks(jumping, *jumping.market(), deltas, with);
    decisions found = decisions_of(alone);
    const std::string jumps = found.trades.at("digital").jumps;
    ASSERT_NE(jumps.find("A.spot"), std::string::npos) << jumps;
    EXPECT_EQ(decisions_of(engine().price(jumping, with)).trades.at("digital").jumps, "");
    EXPECT_EQ(read_decisions(json_of(found), "decided.json"), found);
    with.overrides.paths.reset();
    const auto delta_by = [&](const decisions& what) {
        const memory_file file("decisions", json_of(what));
        with.overrides.decisions = file.name();
        return engine().greeks(jumping, *jumping.market(), deltas, with);
    };
    const results again = delta_by(found);
    EXPECT_TRUE(same_bits(again.greeks.front().value, alone.greeks.front().value));
    EXPECT_TRUE(same_bits(again.greeks.front().bias, alone.greeks.front().bias));
    EXPECT_EQ(row_of(again, "digital").decisions, row_of(alone, "digital").decisions);
    EXPECT_LT(again.manifest.path_steps, alone.manifest.path_steps) << "no pilot walks";
    // A width of smoothing other than the pilot's is followed, too, and brings its own bias.
    const std::string wide = R"({"control": 0, "widths": {"A.spot": 8}})";
    found.trades.at("digital").jumps = wide;
    EXPECT_GT(delta_by(found).greeks.front().bias, 4 * alone.greeks.front().bias);
    found.trades.at("digital").jumps = tests::replaced(wide, "A.spot", "B.spot");
    EXPECT_TRUE(same_bits(delta_by(found).greeks.front().value, alone.greeks.front().value)) << "of no use";
    found.trades.at("digital").jumps = tests::replaced(wide, "8", "-8");
    EXPECT_NE(row_of(delta_by(found), "digital").message.find("decisions to follow whose jumps are damaged"),
              std::string::npos);
}

TEST(decisions, hold_the_control_of_derivatives_beside_that_of_the_price) {
    const book barrier = book::parse(
        tests::in_book(tests::dollar_market(0.03, {{"A", "spot: 100, volatility: 0.2"}})) + R"(trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 4}}
  - {id: digital, product: digital, underlying: A, strike: 101, maturity: 1, payout: 10}
  - {id: up_and_in, product: barrier, underlying: A, strike: 100, maturity: 1, barrier: 120, direction: up, kind: knock_in}
)");
    const greek_options wanted{{"delta", "vega"}, greek_method::automatic};
    run_options with;
    with.overrides = {.paths = 65536, .seed = 7, .threads = 2, .device = "cpu"};
    const results alone = engine().greeks(barrier, *barrier.market(), wanted, with);
    const decisions found = decisions_of(alone);
    EXPECT_TRUE(std::ranges::any_of(
        found.trades, [](const auto& of) { return !of.second.control_of_derivatives.empty(); }));
    EXPECT_EQ(read_decisions(json_of(found), "decided.json"), found);
    const memory_file file("decisions", json_of(found));
    with.overrides.paths.reset();
    with.overrides.decisions = file.name();
    const results again = engine().greeks(barrier, *barrier.market(), wanted, with);
    ASSERT_EQ(again.greeks.size(), alone.greeks.size());
    for (std::size_t i = 0; i < again.greeks.size(); ++i)
        EXPECT_TRUE(same_bits(again.greeks[i].value, alone.greeks[i].value))
            << again.greeks[i].trade << " " << again.greeks[i].key;
    for (std::size_t i = 0; i < again.rows.size(); ++i) {
        EXPECT_TRUE(same_bits(again.rows[i].price, alone.rows[i].price)) << again.rows[i].trade;
        EXPECT_EQ(again.rows[i].decisions, alone.rows[i].decisions);
    }
    const results price = engine().price(barrier, with);
    for (std::size_t i = 0; i < price.rows.size(); ++i)
        EXPECT_TRUE(same_bits(price.rows[i].price, alone.rows[i].price)) << price.rows[i].trade;
}

TEST(decisions, that_nobody_could_have_made_are_refused) {
    decisions odd = decisions_of(first());
    odd.trades.at("call").paths = 100000;
    EXPECT_NE(row_of(following(odd), "call")
                  .message.find("found 100000 paths in the decisions to follow, expected the 65536 of the "
                                "run or a doubling of them"),
              std::string::npos)
        << row_of(following(odd), "call").message;
    odd.trades.at("call").control = "{";
    EXPECT_THROW(json_of(odd), error);
    const std::string text = json_of(decisions_of(first()));
    EXPECT_EQ(why_refused(text), "read");
    EXPECT_EQ(
        why_refused(tests::replaced(text, "tilewalk-decisions-1", "tilewalk-decisions-2")).substr(0, 60),
        "decided.json: format: found the format 'tilewalk-decisions-2");
    EXPECT_EQ(why_refused(tests::replaced(text, "\"call\"", "\"far\"")),
              "decided.json: trades[3].trade: found the trade 'far' a second time; expected each once");
    EXPECT_EQ(why_refused(tests::replaced(text, "\"failed\"", "\"faild\"")),
              "decided.json: 'failed' is missing");
    EXPECT_NE(why_refused(tests::replaced(text, "\"walk\"", "\"wakl\"")).find("'wakl'"), std::string::npos);
}

}  // namespace
}  // namespace tilewalk::decisions_test
