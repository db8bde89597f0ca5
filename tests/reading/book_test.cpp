// SPDX-License-Identifier: Apache-2.0
// Books: arguments against their declarations, products from files and inline, and trades that fail alone.
#include "tilewalk/book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/digest.h"
#include "engine/market/market_state.h"
#include "engine/reading/argument_reader.h"
#include "engine/reading/book_state.h"
#include "engine/reading/library.h"
#include "tests/market_text.h"
#include "tests/own_folder.h"
#include "tests/refusal.h"
#include "tests/texts.h"

namespace tilewalk::books::book_test {
namespace {

using language::argument;
using language::arguments;
using language::parameter;
using language::parameter_type;
using tests::dollar_market;
using tests::error_of;

template <class action>
std::string what_of(action&& act) {
    const auto e = error_of(act);
    return e ? e->what() : "nothing was refused";
}

parameter declared(parameter_type type, const std::string& per = "") {
    parameter p;
    p.name = "term";
    p.type = type;
    p.per = per;
    p.help = "A term.";
    return p;
}

argument read(const std::string& yaml, const parameter& p, const arguments& others = {}) {
    const config::node root = config::parse("term: " + yaml + "\n", "book.yaml");
    return read_argument(root.at("term"), p, others);
}

std::string refusal(const std::string& yaml, const parameter& p, const arguments& others = {}) {
    const auto e = error_of([&] { read(yaml, p, others); });
    return e ? to_string(e->where()) + " " + e->key_path() + ": " + e->message() : "accepted: " + yaml;
}

dates::time_point day(int year, int month, int of_month) {
    return {*dates::make_date(year, month, of_month)};
}

dates::schedule schedule_of(const std::string& yaml) {
    return std::get<dates::schedule>(read(yaml, declared(parameter_type::schedule)));
}

TEST(book_arguments, one_value_of_each_type) {
    EXPECT_EQ(std::get<double>(read("100", declared(parameter_type::amount))), 100);
    EXPECT_EQ(std::get<double>(read("-0.5", declared(parameter_type::rate))), -0.5);
    EXPECT_EQ(std::get<double>(read("3", declared(parameter_type::integer))), 3);
    EXPECT_EQ(std::get<bool>(read("true", declared(parameter_type::boolean))), true);
    EXPECT_EQ(std::get<dates::time_point>(read("2026-03-31", declared(parameter_type::date))),
              day(2026, 3, 31));
    EXPECT_EQ(std::get<dates::time_point>(read("0.25", declared(parameter_type::date))),
              dates::time_point{0.25});
    EXPECT_EQ(std::get<std::string>(read("ACME", declared(parameter_type::asset))), "ACME");
    EXPECT_EQ(std::get<std::string>(read("'100'", declared(parameter_type::asset))), "100");
    EXPECT_EQ(std::get<std::string>(read("EUR", declared(parameter_type::currency))), "EUR");
    const std::vector<std::string> basket{"ACME", "BETA"};
    EXPECT_EQ(std::get<std::vector<std::string>>(read("[ACME, BETA]", declared(parameter_type::asset_list))),
              basket);
    parameter option = declared(parameter_type::choice);
    option.choices = {"call", "put"};
    EXPECT_EQ(std::get<std::string>(read("put", option)), "put");
}

TEST(book_arguments, refusals_say_found_and_expected) {
    parameter option = declared(parameter_type::choice);
    option.choices = {"call", "put"};
    const struct {
        const char* yaml;
        parameter p;
        const char* words;
    } cases[] = {
        {"20%", declared(parameter_type::rate), "found '20%', expected a number; write 0.2"},
        {"inf", declared(parameter_type::amount), "found 'inf', expected a number; it has to be finite"},
        {"1.5", declared(parameter_type::integer), "found '1.5', expected a whole number"},
        {"1e17", declared(parameter_type::integer), "found '1e17', expected a whole number"},
        {"yes", declared(parameter_type::boolean), "found 'yes', expected true or false; write true"},
        {"cal", option, "found 'cal'; did you mean 'call'? expected one of call, put"},
        {"[call]", option, "found a list, expected one of call, put"},
        {"2026-02-30", declared(parameter_type::date),
         "there is no day '2026-02-30' between 1900-01-01 and 2299-12-31"},
        {"", declared(parameter_type::asset), "found nothing, expected the name of an asset"},
        {"''", declared(parameter_type::asset), "found the quoted text '', expected the name of an asset"},
        {"[EUR]", declared(parameter_type::currency), "found a list, expected the name of a currency"},
        {"ACME", declared(parameter_type::asset_list), "found 'ACME', expected a list of assets"},
        {"[]", declared(parameter_type::asset_list), "found an empty list, expected at least one asset"},
    };
    for (const auto& c : cases) {
        const std::string place = *c.yaml ? "book.yaml:1:7 term: " : "book.yaml:1:1 term: ";
        EXPECT_EQ(refusal(c.yaml, c.p), place + c.words) << c.yaml;
    }
    EXPECT_EQ(refusal("[ACME, ACME]", declared(parameter_type::asset_list)),
              "book.yaml:1:14 term[1]: found 'ACME' a second time, expected different assets");
}

TEST(book_arguments, ranges_include_or_exclude_their_ends) {
    struct range_case {
        std::optional<double> minimum, maximum, above, below;
        const char* fits;
        const char* too_low;
        const char* too_high;
        const char* words;
    };
    const range_case cases[] = {
        {0, 1, {}, {}, "0", "-1e-300", "1.0000001", "expected a number at least 0 and at most 1"},
        {0, 1, {}, {}, "1", "-1", "2", "expected a number at least 0 and at most 1"},
        {{}, {}, 0, 1, "0.5", "0", "1", "expected a number above 0 and below 1"},
        {0.5, {}, {}, 2, "0.5", "0.4999", "2", "expected a number at least 0.5 and below 2"},
        {{}, 2, 0, {}, "2", "0", "2.1", "expected a number above 0 and at most 2"},
        {{}, {}, 0, {}, "1e6", "0", nullptr, "expected a number above 0"},
        {{}, 7, {}, {}, "7", nullptr, "8", "expected a number at most 7"},
    };
    for (const auto type : {parameter_type::amount, parameter_type::number, parameter_type::rate}) {
        for (const auto& c : cases) {
            parameter p = declared(type);
            p.minimum = c.minimum, p.maximum = c.maximum, p.above = c.above, p.below = c.below;
            EXPECT_NO_THROW(read(c.fits, p)) << c.fits << " " << c.words;
            for (const char* wrong : {c.too_low, c.too_high}) {
                if (!wrong) continue;
                const std::string words = std::string("found '") + wrong + "', " + c.words;
                EXPECT_EQ(refusal(wrong, p), "book.yaml:1:7 term: " + words);
            }
        }
    }
    parameter count = declared(parameter_type::integer);
    count.minimum = 1;
    EXPECT_EQ(refusal("0", count), "book.yaml:1:7 term: found '0', expected a number at least 1");
}

TEST(book_arguments, lists_match_what_they_are_per) {
    arguments others;
    others["observations"] = schedule_of("[0.25, 0.5, 0.75]");
    others["basket"] = std::vector<std::string>{"ACME", "BETA"};
    parameter coupon = declared(parameter_type::rate, "observations");
    coupon.minimum = 0;
    const std::vector<double> each{0.01, 0.02, 0.03}, all{0.02, 0.02, 0.02};
    EXPECT_EQ(std::get<std::vector<double>>(read("[0.01, 0.02, 0.03]", coupon, others)), each);
    EXPECT_EQ(std::get<std::vector<double>>(read("0.02", coupon, others)), all);
    EXPECT_EQ(refusal("[0.01, 0.02]", coupon, others),
              "book.yaml:1:7 term: found a list of 2, expected 3, one for each member of 'observations', or "
              "a single "
              "value for all");
    EXPECT_EQ(refusal("[0.01, -0.02, 0.03]", coupon, others),
              "book.yaml:1:14 term[1]: found '-0.02', expected a number at least 0");
    EXPECT_EQ(refusal("[0.01, [1], 0.03]", coupon, others),
              "book.yaml:1:14 term[1]: found a list, expected a number");
    EXPECT_EQ(refusal("-1", coupon, others), "book.yaml:1:7 term: found '-1', expected a number at least 0");
    const std::vector<double> weights{0.4, 0.6};
    EXPECT_EQ(
        std::get<std::vector<double>>(read("[0.4, 0.6]", declared(parameter_type::number, "basket"), others)),
        weights);
    const std::vector<dates::time_point> paid{{0.3}, {0.6}, {0.9}};
    EXPECT_EQ(std::get<std::vector<dates::time_point>>(
                  read("[0.3, 0.6, 0.9]", declared(parameter_type::date, "observations"), others)),
              paid);
}

TEST(book_arguments, schedules_as_lists_and_as_rules) {
    EXPECT_EQ(schedule_of("[0.25, 0.5]").times, (std::vector<dates::time_point>{{0.25}, {0.5}}));
    EXPECT_EQ(schedule_of("[2026-03-31, 2026-06-30]").times,
              (std::vector<dates::time_point>{day(2026, 3, 31), day(2026, 6, 30)}));
    const auto monthly = schedule_of("{start: 2026-01-15, end: 2026-04-15, every: 1m}");
    EXPECT_EQ(monthly.times,
              (std::vector<dates::time_point>{day(2026, 2, 15), day(2026, 3, 15), day(2026, 4, 15)}));
    EXPECT_EQ(monthly.anchor, std::optional(day(2026, 1, 15)));
    // 15 February and 15 March 2026 are Sundays.
    const auto rolled = schedule_of(
        "{start: 2026-01-15, end: 2026-04-15, every: 1m, calendar: weekends, roll: modified_following, "
        "include_start: true}");
    EXPECT_EQ(rolled.times, (std::vector<dates::time_point>{day(2026, 1, 15), day(2026, 2, 16),
                                                            day(2026, 3, 16), day(2026, 4, 15)}));
    EXPECT_EQ(schedule_of("{start: 0, end: 1, count: 4}").times,
              (std::vector<dates::time_point>{{0.25}, {0.5}, {0.75}, {1.0}}));

    const std::pair<const char*, const char*> bad[] = {
        {"1.0",
         "book.yaml:1:7 term: found '1.0', expected a list of dates or {start: ..., end: ..., every: ...}"},
        {"[]", "book.yaml:1:7 term: found an empty list, expected at least one date"},
        {"[0.5, 0.25]", "book.yaml:1:7 term: found 0.25y after 0.5y, expected strictly increasing times"},
        {"[0.5, x]", "book.yaml:1:13 term[1]: found 'x', expected a date"},
        {"[0.5, 2027-01-01]", "book.yaml:1:7 term: found 0.5y beside 2027-01-01"},
        {"{start: 0, end: 1}", "book.yaml:1:7 term: found neither every nor count"},
        {"{start: 0, end: 1, count: 0}",
         "book.yaml:1:33 term.count: found '0', expected a number of dates from 1"},
        {"{start: 0, end: 1, count: 1e9}",
         "book.yaml:1:33 term.count: found '1e9', expected a number of dates from 1"},
        {"{end: 1, count: 2}", "book.yaml:1:7 term: missing key 'start'"},
        {"{start: 2026-01-15, end: 2027-01-15, every: monthly}",
         "term.every: found 'monthly', expected a period"},
        {"{start: 2026-01-15, end: 2027-01-15, evry: 1m}",
         "term.evry: unknown key 'evry'; did you mean 'every'? known keys: start"},
        {"{start: 2026-01-15, end: 2027-01-15, every: 1m, calendar: weekend}",
         "term.calendar: found 'weekend'; did you mean 'weekends'? expected one of none, weekends"},
        {"{start: 2026-01-15, end: 2027-01-15, every: 1m, calendar: weekends, roll: following_modified}",
         "term.roll: found 'following_modified', expected one of unadjusted, following"},
        {"{start: 2027-01-15, end: 2026-01-15, every: 1m}",
         "book.yaml:1:7 term: the schedule starts at 2027-01-15"},
    };
    for (const auto& [yaml, words] : bad) {
        const std::string got = refusal(yaml, declared(parameter_type::schedule));
        EXPECT_NE(got.find(words), std::string::npos) << yaml << "\n" << got;
    }
}

TEST(book_arguments, an_empty_schedule_where_it_is_the_default) {
    parameter p = declared(parameter_type::schedule);
    p.fallback = dates::schedule{};
    EXPECT_TRUE(std::get<dates::schedule>(read("[]", p)).times.empty());
}

TEST(book_arguments, defaults_fill_in_and_spread_over_lists) {
    parameter observations = declared(parameter_type::schedule);
    observations.name = "observations";
    parameter coupon = declared(parameter_type::rate, "observations");
    coupon.name = "coupon";
    coupon.fallback = 0.05;
    parameter strike = declared(parameter_type::amount);
    strike.name = "strike";
    strike.help = "Fixed strike.";
    parameter paid = declared(parameter_type::date, "observations");
    paid.name = "paid";
    paid.fallback = dates::time_point{2.0};
    const std::vector<parameter> all{coupon, paid, observations, strike};
    const auto read_trade = [&](const char* yaml) {
        return read_arguments(config::parse(yaml, "f"), all, {"id"});
    };

    const arguments args = read_trade("{id: x, observations: [0.5, 1.0], strike: 1}");
    ASSERT_EQ(args.size(), 4U);
    EXPECT_EQ(std::get<std::vector<double>>(args.at("coupon")), (std::vector<double>{0.05, 0.05}));
    EXPECT_EQ(std::get<std::vector<dates::time_point>>(args.at("paid")),
              (std::vector<dates::time_point>{{2.0}, {2.0}}));
    EXPECT_EQ(std::get<double>(args.at("strike")), 1);

    EXPECT_EQ(what_of([&] { read_trade("{observations: [0.5]}"); }),
              "f:1:1: missing key 'strike' (Fixed strike)");
    EXPECT_EQ(what_of([&] { read_trade("{observations: [0.5], strik: 1}"); }),
              "f:1:23: strik: unknown key 'strik'; did you mean 'strike'? known keys: id, coupon, paid, "
              "observations, strike");
}

TEST(book_arguments, an_earlier_parameter_stands_in_and_an_optional_one_has_no_value) {
    parameter strike = declared(parameter_type::amount);
    strike.name = "strike";
    parameter other = strike;
    other.name = "other_strike";
    other.same_as = "strike";
    parameter cap = strike;
    cap.name = "cap";
    cap.optional = true;
    const std::vector<parameter> all{strike, other, cap};
    const arguments least = read_arguments(config::parse("{strike: 2}", "f"), all, {"id"});
    ASSERT_EQ(least.size(), 2U);
    EXPECT_EQ(std::get<double>(least.at("other_strike")), 2);
    const arguments most =
        read_arguments(config::parse("{strike: 2, cap: 5, other_strike: 3}", "f"), all, {"id"});
    ASSERT_EQ(most.size(), 3U);
    EXPECT_EQ(std::get<double>(most.at("other_strike")), 3);
    EXPECT_EQ(std::get<double>(most.at("cap")), 5);
}

const std::string product_head =
    "product: mine\n"
    "summary: One line.\n"
    "parameters:\n"
    "  underlying: {type: asset, help: The asset.}\n"
    "  maturity: {type: date, help: The end.}\n";
const std::string product_tail =
    "example: {underlying: ACME, maturity: 1.0}\n"
    "script: |\n"
    "  on maturity:\n"
    "      pay spot(underlying)\n";

std::shared_ptr<const language::product> product_of(const std::string& yaml) {
    return read_product(config::parse(yaml, "mine.yaml"));
}

TEST(book_products, a_definition_is_read_whole) {
    const auto product = product_of(
        "product: mine\n"
        "summary: One line.\n"
        "description: >\n"
        "  Two lines\n"
        "  of text.\n"
        "formula: |\n"
        "  max(S, 0)\n"
        "  on each of the dates\n"
        "parameters:\n"
        "  underlying: {type: asset, help: The asset.}\n"
        "  option: {type: choice, choices: [call, put], default: put, help: Which.}\n"
        "  dates: {type: schedule, help: When.}\n"
        "  levels: {type: rate, per: dates, above: 0, maximum: 2, default: 1, help: How high.}\n"
        "example: {underlying: ACME, dates: {start: 0, end: 1, count: 4}, levels: [1, 0.9, 0.8, 0.7], "
        "quantity: 2}\n"
        "script: |\n"
        "  on dates:\n"
        "      if option == put:\n"
        "          pay levels * spot(underlying)\n");
    EXPECT_EQ(product->name, "mine");
    EXPECT_EQ(product->summary, "One line.");
    EXPECT_EQ(product->description, "Two lines of text.");
    EXPECT_EQ(product->formula, "max(S, 0)\non each of the dates");
    ASSERT_EQ(product->parameters.size(), 4U);
    EXPECT_EQ(product->parameters[1].choices, (std::vector<std::string>{"call", "put"}));
    EXPECT_EQ(std::get<std::string>(*product->parameters[1].fallback), "put");
    EXPECT_EQ(product->parameters[3].per, "dates");
    EXPECT_EQ(product->parameters[3].above, std::optional(0.0));
    EXPECT_EQ(product->parameters[3].maximum, std::optional(2.0));
    EXPECT_EQ(std::get<double>(*product->parameters[3].fallback), 1);
    EXPECT_EQ(to_string(product->parameters[3].where), "mine.yaml:13:3");
    EXPECT_EQ(product->example,
              "{id: example, product: mine, underlying: ACME, dates: {start: 0, end: 1, count: 4}, "
              "levels: [1, 0.9, 0.8, 0.7], quantity: 2}");
    const config::node trade = config::parse(product->example, "example");
    EXPECT_NO_THROW(read_arguments(trade, product->parameters, {"id", "product", "currency", "quantity"}));
}

TEST(book_products, a_default_may_name_an_earlier_parameter) {
    const auto product = product_of(
        "product: mine\n"
        "summary: One line.\n"
        "parameters:\n"
        "  underlying: {type: asset, help: The asset.}\n"
        "  watched: {type: asset, default: underlying, help: Another.}\n"
        "  other: {type: asset, default: BETA, help: One of the market.}\n"
        "  maturity: {type: date, help: The end.}\n"
        "  payment: {type: date, default: maturity, help: Of it.}\n"
        "  cap: {type: amount, optional: true, help: The most.}\n"
        "example: {underlying: ACME, maturity: 1.0}\n"
        "script: |\n"
        "  on payment:\n"
        "      if not given(cap):\n"
        "          pay spot(watched) + spot(other)\n");
    ASSERT_EQ(product->parameters.size(), 6U);
    EXPECT_EQ(product->parameters[1].same_as, "underlying");
    EXPECT_FALSE(product->parameters[1].fallback);
    EXPECT_EQ(product->parameters[2].same_as, "");
    EXPECT_EQ(std::get<std::string>(*product->parameters[2].fallback), "BETA");
    EXPECT_EQ(product->parameters[4].same_as, "maturity");
    EXPECT_TRUE(product->parameters[5].optional);
}

TEST(book_products, refusals_stand_at_their_place) {
    struct product_case {
        std::string yaml;
        const char* words;
    };
    const auto with = [](const std::string& parameter_line) {
        return product_head + parameter_line + product_tail;
    };
    const product_case cases[] = {
        {"[1]\n", "mine.yaml:1:1: found a list, expected a product"},
        {"summary: x\n", "mine.yaml:1:1: missing key 'product'"},
        {"product: Mine\n", "mine.yaml:1:10: product: found the name 'Mine', expected small letters"},
        {"product: 2mine\n", "mine.yaml:1:10: product: found the name '2mine'"},
        {"product: mine\nsumary: x\n", "mine.yaml:2:1: sumary: unknown key 'sumary'"},
        {"product: mine\n", "mine.yaml:1:1: missing key 'summary'"},
        {with("  x: {type: number, help: x, optional: true, default: 1}\n"),
         "mine.yaml:6:40: parameters.x.optional: found optional with a default, expected one of them"},
        {with("  x: {type: schedule, help: x, optional: true}\n"),
         "mine.yaml:6:42: parameters.x.optional: found optional for a parameter of type schedule, expected a "
         "default"},
        {with("  x: {type: number, help: x, default: maturity}\n"),
         "mine.yaml:6:39: parameters.x.default: found 'maturity', expected a number"},
        {with("  x: {type: date, help: x, default: y}\n  y: {type: date, help: y}\n"),
         "mine.yaml:6:37: parameters.x.default"},
        {with("  w: {type: number, per: basket, help: w}\n  x: {type: number, help: x, default: w}\n"),
         "mine.yaml:7:39: parameters.x.default: found 'w', expected a number"},
        {with("  id: {type: number, help: x}\n"),
         "mine.yaml:6:3: parameters.id: the name 'id' is a key of every trade"},
        {with("  currency: {type: currency, help: x}\n"), "the name 'currency' is a key of every trade"},
        {with("  quantity: {type: number, help: x}\n"), "the name 'quantity' is a key of every trade"},
        {with("  product: {type: number, help: x}\n"), "the name 'product' is a key of every trade"},
        {with("  Strike: {type: number, help: x}\n"),
         "mine.yaml:6:3: parameters.Strike: found the name 'Strike'"},
        {with("  pay: {type: number, help: x}\n"),
         "found the name 'pay', which is a word of the script language"},
        {with("  worst: {type: number, help: x}\n"),
         "found the name 'worst', which is a word of the script language"},
        {with("  time: {type: number, help: x}\n"),
         "found the name 'time', which is a word of the script language"},
        {with("  k: {help: x}\n"), "mine.yaml:6:6: parameters.k: missing key 'type'"},
        {with("  k: {type: number}\n"), "missing key 'help'"},
        {with("  k: {type: nmber, help: x}\n"),
         "mine.yaml:6:13: parameters.k.type: unknown type 'nmber'; did you mean 'number'? known types: "
         "amount, number, rate, integer, boolean, choice, date, schedule, asset, "
         "asset_list, currency"},
        {with("  k: {type: number, help: x, min: 0}\n"), "parameters.k.min: unknown key 'min'"},
        {with("  k: {type: number, default: 1, help: x, unless: z}\n"),
         "parameters.k.unless: found 'z', expected the name of another parameter of this product"},
        {with("  k: {type: number, default: 1, help: x, unless: k}\n"),
         "parameters.k.unless: found 'k', expected the name of another parameter of this product"},
        {with("  k: {type: date, help: x, minimum: 0}\n"), "found a range for a parameter of type date"},
        {with("  k: {type: number, help: x, minimum: 2, maximum: 1}\n"),
         "found a range from 2 to 1 that holds no number"},
        {with("  k: {type: number, help: x, above: 1, maximum: 1}\n"),
         "found a range from 1 to 1 that holds no number"},
        {with("  k: {type: number, help: x, above: 1, minimum: 1}\n"), "found both minimum and above"},
        {with("  k: {type: number, help: x, below: 1, maximum: 1}\n"), "found both maximum and below"},
        {with("  k: {type: number, help: x, above: 0, default: 0}\n"),
         "parameters.k.default: found '0', expected a number above 0"},
        {with("  k: {type: choice, help: x}\n"), "missing key 'choices'"},
        {with("  k: {type: choice, choices: [], help: x}\n"),
         "found an empty list, expected at least one choice"},
        {with("  k: {type: choice, choices: [a, a], help: x}\n"),
         "parameters.k.choices[1]: found 'a' a second time"},
        {with("  k: {type: choice, choices: [a, B], help: x}\n"),
         "parameters.k.choices[1]: found the name 'B'"},
        {with("  k: {type: choice, choices: [a, b], default: c, help: x}\n"),
         "parameters.k.default: found 'c', expected one of a, b"},
        {with("  k: {type: number, choices: [a], help: x}\n"),
         "found choices for a parameter of type number"},
        {with("  k: {type: number, per: maturity, help: x}\n"),
         "parameters.k.per: found 'maturity', expected the name of a schedule or an asset_list of this "
         "product"},
        {with("  days: {type: schedule, help: x}\n  k: {type: number, per: dyas, help: x}\n"),
         "found 'dyas', expected the name of a schedule or an asset_list of this product; did you mean "
         "'days'?"},
        {with("  basket: {type: asset_list, help: x}\n  k: {type: date, per: basket, help: x}\n"),
         "found 'basket', expected a schedule, because the type is date"},
        {with("  days: {type: schedule, help: x}\n  k: {type: asset, per: days, help: x}\n"),
         "found a list of type asset, expected 'per' with numbers and dates only"},
        {with("  days: {type: schedule, help: x}\n  k: {type: number, per: days, default: [1], help: x}\n"),
         "found a list, expected one value that stands for every member of 'days'"},
        {with("  k: {type: number, default: 1, help: x}\n"),
         "mine.yaml:6:3: no line of the script reads parameter 'k'"},
        {with("  undrelying: {type: asset, default: A, help: x}\n"),
         "no line of the script reads parameter 'undrelying'; did you mean 'underlying'?"},
        {product_head +
             "  k: {type: number, help: Not in the example.}\nexample: {underlying: ACME, maturity: 1.0}\n"
             "script: |\n  on maturity:\n      pay k * spot(underlying)\n",
         "mine.yaml:7:10: example: missing key 'k' (Not in the example)"},
        {product_head + "example: {underlying: ACME, maturity: x}\nscript: |\n  on maturity:\n      pay "
                        "spot(underlying)\n",
         "mine.yaml:6:39: example.maturity: found 'x'"},
        {product_head + "example: {underlying: ACME, maturity: 1}\nscript: pay 1\n",
         "mine.yaml:7:9: script: found 'pay 1', expected the script as a block of lines"},
        {product_head + "example: {underlying: ACME, maturity: 1}\nscript: >\n  pay 1\n",
         "expected the script as a block"},
        {product_head + "example: {underlying: ACME, maturity: 1}\n", "missing key 'script'"},
        {product_head + "example: {underlying: ACME, maturity: 1}\nscript: |\n  on maturity:\n      pay "
                        "spo(underlying)\n",
         "mine.yaml:9:11"},
    };
    for (const auto& c : cases) {
        const std::string got = what_of([&] { product_of(c.yaml); });
        EXPECT_NE(got.find(c.words), std::string::npos)
            << c.yaml << "\ngot:    " << got << "\nwanted: " << c.words;
    }
    EXPECT_EQ(what_of([&] { product_of(product_head + product_tail); }), "nothing was refused");
}

TEST(book_products, the_library_reads_and_its_examples_are_trades) {
    const auto library = read_library();
    ASSERT_EQ(library.size(), library_files().size());
    ASSERT_GE(library.size(), 6U);
    for (std::size_t i = 0; i < library.size(); ++i) {
        if (i > 0) {
            EXPECT_LT(library[i - 1]->name, library[i]->name);
        }
        const auto trades = book::parse("trades:\n  - " + library[i]->example + "\n");
        ASSERT_EQ(trades.size(), 1U);
        const auto& read_back = state_of(trades).trades[0];
        EXPECT_FALSE(read_back.failure) << library[i]->example << "\n" << read_back.failure->what();
        EXPECT_EQ(read_back.product_name, library[i]->name);
        for (const auto& p : library[i]->parameters) {
            EXPECT_TRUE(p.optional || read_back.args.contains(p.name)) << library[i]->name << " " << p.name;
        }
    }
}

TEST(book_products, a_library_reads_a_product_when_it_is_asked_for) {
    const library_file european = *std::ranges::find(library_files(), "european.yaml", &library_file::name);
    const std::vector<library_file> files{
        {"broken.yaml", "product: ["}, european, {"misnamed.yaml", european.text}};
    const product_library of(files);
    EXPECT_EQ(of.names(), (std::vector<std::string>{"broken", "european", "misnamed"}));
    EXPECT_TRUE(of.has("broken"));
    EXPECT_FALSE(of.has("brok"));
    EXPECT_EQ(of.find("europea"), nullptr);
    const auto once = of.find("european");
    ASSERT_NE(once, nullptr);
    EXPECT_EQ(once->name, "european");
    EXPECT_EQ(of.find("european"), once) << "it is read once";
    for (int times = 0; times < 2; ++times) {
        EXPECT_THROW(of.find("broken"), error);
        EXPECT_THROW(of.find("misnamed"), error);
    }
}

TEST(book_products, a_library_takes_whole_files_alone) {
    const library_file european = *std::ranges::find(library_files(), "european.yaml", &library_file::name);
    const std::string whole(european.text), cut = whole.substr(0, whole.rfind("..."));
    ASSERT_NE(cut, whole);
    EXPECT_EQ(product_of(cut)->name, "european");
    const std::vector<library_file> files{{"european.yaml", cut}};
    const product_library of(files);
    const std::string got = what_of([&] { of.find("european"); });
    EXPECT_NE(got.find("found no last line '...'"), std::string::npos) << got;
}

const std::string good_trade =
    "  - {id: c1, product: european, underlying: ACME, option: call, strike: 100, maturity: 1.0}\n";
const std::string small_market =
    "  as_of: 2026-01-15\n"
    "  currencies: {USD: {rate: 0.03}}\n"
    "  assets: {ACME: {currency: USD, spot: 100, volatility: 0.2}}\n";

std::vector<dates::time_point> dates_of(const std::string& calendars, const std::string& schedule) {
    const auto read = book::parse(
        calendars + "trades:\n  - {id: a, product: asian, underlying: A, strike: 1, averaging_dates: " +
            schedule + "}\n",
        "b");
    const auto& trade = state_of(read).trades.at(0);
    if (trade.failure) throw *trade.failure;
    return std::get<dates::schedule>(trade.args.at("averaging_dates")).times;
}

TEST(books, calendars_with_holidays) {
    const std::string defined =
        "calendars:\n"
        "  london: {holidays: [2026-04-06, 2026-04-03]}\n"
        "  tokyo: {holidays: [2026-04-29]}\n"
        "  tel_aviv: {weekend: [friday, saturday], holidays: []}\n";
    const auto from_2_april = [&](const std::string& more) {
        return dates_of(defined, "{start: 2026-04-02, end: 2026-04-08, every: business_day, " + more + "}");
    };
    EXPECT_EQ(from_2_april("calendar: london"),
              (std::vector<dates::time_point>{day(2026, 4, 7), day(2026, 4, 8)}));
    EXPECT_EQ(
        from_2_april("calendar: tel_aviv"),
        (std::vector<dates::time_point>{day(2026, 4, 5), day(2026, 4, 6), day(2026, 4, 7), day(2026, 4, 8)}));
    EXPECT_EQ(from_2_april("calendar: [london, tel_aviv]"),
              (std::vector<dates::time_point>{day(2026, 4, 7), day(2026, 4, 8)}));
    EXPECT_EQ(dates_of(defined,
                       "{start: 2026-04-03, end: 2026-04-29, every: 1m, include_start: true, "
                       "calendar: [london, tokyo], roll: modified_following}"),
              (std::vector<dates::time_point>{day(2026, 4, 7), day(2026, 4, 30)}));
    const auto rolled =
        book::parse(defined +
                        "trades:\n  - {id: e, product: european, underlying: A, strike: 1, maturity: "
                        "{date: 2026-04-03, calendar: london, roll: preceding}}\n",
                    "b");
    ASSERT_FALSE(state_of(rolled).trades[0].failure) << state_of(rolled).trades[0].failure->what();
    EXPECT_EQ(std::get<dates::time_point>(state_of(rolled).trades[0].args.at("maturity")), day(2026, 4, 2));

    const struct {
        std::string calendars, schedule, words;
    } bad[] = {
        {"calendars: {london: {holidays: [2026-02-30]}}\n", "[1]",
         "b:1:33: calendars.london.holidays[0]: there is no day"},
        {"calendars: {london: {holidays: [0.5]}}\n", "[1]",
         "calendars.london.holidays[0]: found '0.5', expected a date"},
        {"calendars: {london: {}}\n", "[1]", "calendars.london: missing key 'holidays'"},
        {"calendars: {london: {holiday: []}}\n", "[1]", "unknown key 'holiday'"},
        {"calendars: {london: {holidays: 2026-01-01}}\n", "[1]",
         "expected a list of dates, such as [2026-12-25]"},
        {"calendars: {weekends: {holidays: []}}\n", "[1]", "every book has a calendar 'weekends'"},
        {"calendars: {a: {holidays: [], weekend: [sunday, munday]}}\n", "[1]",
         "calendars.a.weekend[1]: found 'munday'"},
        {"calendars: {a: {holidays: [], weekend: [monday, tuesday, wednesday, thursday, friday, saturday, "
         "sunday]}}\n",
         "[1]", "calendars.a.weekend: found all seven weekdays"},
        {"calendars: {a: none.yaml}\n", "[1]", "b:1:16: calendars.a: 'none.yaml': there is no such file"},
        {"calendars: [a]\n", "[1]", "b:1:12: calendars: found a list"},
        {defined, "{start: 2026-04-02, end: 2026-04-08, every: 1d, calendar: londn}",
         "averaging_dates.calendar: found 'londn'; did you mean 'london'? expected one of london, none, "
         "tel_aviv, tokyo, weekends"},
        {defined, "{start: 2026-04-02, end: 2026-04-08, every: 1d, calendar: []}",
         "expected at least one calendar"},
        {defined + "  rest: {weekend: [sunday, monday, tuesday, wednesday, thursday], holidays: []}\n",
         "{start: 2026-04-02, end: 2026-04-08, every: 1d, calendar: [rest, tel_aviv]}",
         "averaging_dates.calendar: found a weekend of all seven days"},
    };
    for (const auto& c : bad) {
        const std::string got = what_of([&] { dates_of(c.calendars, c.schedule); });
        EXPECT_NE(got.find(c.words), std::string::npos) << c.calendars << c.schedule << "\n" << got;
    }
}

TEST(books, a_book_is_read_whole) {
    const auto read_book = book::parse("market:\n" + small_market +
                                       "settings: {paths: 65536, seed: 7, threads: 3}\n"
                                       "trade_count: 2\n"
                                       "trades:\n" +
                                       good_trade +
                                       "  - id: p1\n"
                                       "    product: european\n"
                                       "    underlying: ACME\n"
                                       "    option: put\n"
                                       "    strike: 90\n"
                                       "    maturity: 2027-01-15\n"
                                       "    currency: EUR\n"
                                       "    quantity: -1.5\n");
    EXPECT_EQ(read_book.size(), 2U);
    ASSERT_TRUE(read_book.market());
    EXPECT_EQ(read_book.market()->as_of(), "2026-01-15");
    EXPECT_EQ(state_of(*read_book.market()).name, "book");
    EXPECT_EQ(read_book.settings().paths, std::optional<std::uint64_t>(65536));
    EXPECT_EQ(read_book.settings().seed, std::optional<std::uint64_t>(7));
    EXPECT_EQ(read_book.settings().threads, std::optional<int>(3));
    const auto& trades = state_of(read_book).trades;
    for (const auto& t : trades) EXPECT_FALSE(t.failure) << t.failure->what();
    EXPECT_EQ(trades[0].id, "c1");
    EXPECT_EQ(trades[0].product_name, "european");
    ASSERT_TRUE(trades[0].product);
    EXPECT_EQ(trades[0].product->name, "european");
    EXPECT_EQ(trades[0].product, trades[1].product) << "trades of one product share it";
    EXPECT_EQ(trades[0].currency, "");
    EXPECT_EQ(trades[0].quantity, 1);
    EXPECT_EQ(std::get<double>(trades[0].args.at("strike")), 100);
    EXPECT_EQ(trades[1].currency, "EUR");
    EXPECT_EQ(trades[1].quantity, -1.5);
    EXPECT_EQ(std::get<std::string>(trades[1].args.at("option")), "put");
    EXPECT_EQ(std::get<dates::time_point>(trades[1].args.at("maturity")), day(2027, 1, 15));
    EXPECT_EQ(to_string(trades[1].where), "book:9:5");
}

TEST(books, what_is_not_said_is_left_open) {
    const auto read_book = book::parse("trades:\n" + good_trade);
    EXPECT_FALSE(read_book.market());
    EXPECT_FALSE(read_book.settings().paths);
    EXPECT_FALSE(read_book.settings().seed);
    EXPECT_FALSE(read_book.settings().threads);
    EXPECT_EQ(book::parse("trades: []").size(), 0U);
}

TEST(books, a_bad_trade_fails_alone) {
    struct row_case {
        const char* row;
        const char* id;
        const char* words;
    };
    const row_case cases[] = {
        {"{id: x, product: europan, underlying: ACME, strike: 1, maturity: 1}", "x",
         "b:3:22: trades[1].product: unknown product 'europan'; did you mean 'european'? known products: "
         "european, "},
        {"{id: x, product: europan, underlying: ACME, strike: 1, maturity: 1}", "x", " more"},
        {"{id: x, product: european, underlying: ACME, strik: 1, maturity: 1}", "x",
         "b:3:50: trades[1].strik: unknown key 'strik'; did you mean 'strike'? known keys: id, product, "
         "currency, quantity, report, tolerance, portfolio, underlying"},
        {"{id: x, product: european, underlying: ACME, strik: 1, maturity: 1}", "x",
         "; did you mean 'strike'?"},
        {"{id: x, product: european, underlying: ACME, maturity: 1}", "x",
         "b:3:5: trades[1]: missing key 'strike' ("},
        {"{id: x, product: european, underlying: ACME, strike: -1, maturity: 1}", "x",
         "b:3:58: trades[1].strike: found '-1', expected a number at least 0"},
        {"{id: x, product: european, underlying: ACME, strike: 20%, maturity: 1}", "x",
         "b:3:58: trades[1].strike: found '20%', expected a number; write 0.2"},
        {"{id: x, product: european, option: cal, underlying: ACME, strike: 1, maturity: 1}", "x",
         "trades[1].option: found 'cal'; did you mean 'call'? expected one of call, put"},
        {"{product: european, underlying: ACME, strike: 1, maturity: 1}", "#2",
         "b:3:5: trades[1]: missing key 'id'"},
        {"{id: , product: european, underlying: ACME, strike: 1, maturity: 1}", "#2",
         "found nothing, expected a text"},
        {"{id: '', product: european, underlying: ACME, strike: 1, maturity: 1}", "#2",
         "expected one line of text"},
        {"{id: \"a\\nb\", product: european, underlying: ACME, strike: 1, maturity: 1}", "#2",
         "expected one line of text"},
        {"{id: x, underlying: ACME, strike: 1, maturity: 1}", "x", "b:3:5: trades[1]: missing key 'product'"},
        {"{id: x, prodct: european, strike: 1}", "x",
         "b:3:5: trades[1]: missing key 'product'; did you mean it by 'prodct'?"},
        {"{id: c1, product: european, underlying: ACME, strike: 1, maturity: 1}", "c1",
         "b:3:10: trades[1].id: duplicate id 'c1'; it was first given on line 2"},
        {"{id: x, product: european, underlying: ACME, strike: 1, maturity: 1, quantity: two}", "x",
         "trades[1].quantity: found 'two', expected a number"},
        {"{id: x, product: european, underlying: ACME, strike: 1, maturity: 1, currency: [EUR]}", "x",
         "trades[1].currency: found a list, expected a text"},
        {"european", "#2", "b:3:5: trades[1]: found 'european', expected a trade"},
        {"", "#2", "trades[1]: found nothing, expected a trade"},
    };
    const auto alone = book::parse("trades:\n" + good_trade, "b");
    for (const auto& c : cases) {
        const auto read_book = book::parse(
            "trades:\n" + good_trade + "  - " + c.row +
                "\n  - {id: last, product: european, underlying: ACME, strike: 90, maturity: 2.0}\n",
            "b");
        ASSERT_EQ(read_book.size(), 3U) << c.row;
        const auto& trades = state_of(read_book).trades;
        EXPECT_EQ(trades[1].id, c.id) << c.row;
        ASSERT_TRUE(trades[1].failure) << c.row;
        EXPECT_EQ(trades[1].failure->kind(), error_kind::input) << c.row;
        EXPECT_NE(std::string(trades[1].failure->what()).find(c.words), std::string::npos)
            << c.row << "\ngot:    " << trades[1].failure->what() << "\nwanted: " << c.words;
        EXPECT_FALSE(trades[0].failure) << c.row;
        EXPECT_FALSE(trades[2].failure) << c.row;
        EXPECT_EQ(trades[0].args, state_of(alone).trades[0].args) << c.row;
        EXPECT_EQ(std::get<double>(trades[2].args.at("strike")), 90) << c.row;
    }
}

TEST(books, threads_tell_of_trades_what_one_tells) {
    std::string text = "trades:\n";
    for (int i = 0; i < 2000; ++i) {
        // Some trades repeat the id of an earlier trade, good or bad, and may have another fault as well.
        const std::string id = "t" + std::to_string(i % 7 == 3 ? i / 2 : i);
        text += "  - {id: " + id + ", product: " + (i % 5 == 1 ? "europan" : "european") +
                ", underlying: ACME, strike: " + (i % 11 == 2 ? "-" : "") + std::to_string(i) +
                ", maturity: 1}\n";
    }
    text += "  - {id: '#1', product: european, underlying: ACME, strike: 1, maturity: 1}\n";
    const auto read = [&](int threads) {
        load_options how;
        how.threads = threads;
        return book::parse(text, "b", ".", how);
    };
    const book alone = read(1);
    for (const int threads : {2, 8}) {
        const book together = read(threads);
        ASSERT_EQ(together.size(), alone.size());
        for (std::size_t i = 0; i < alone.size(); ++i) {
            const trade &a = state_of(alone).trades[i], &b = state_of(together).trades[i];
            EXPECT_EQ(b.id, a.id);
            EXPECT_EQ(b.product_name, a.product_name) << a.id;
            EXPECT_EQ(b.args, a.args) << a.id;
            ASSERT_EQ(b.failure.has_value(), a.failure.has_value()) << a.id;
            if (a.failure) {
                EXPECT_STREQ(b.failure->what(), a.failure->what());
            }
        }
    }
    const trade& again = state_of(alone).trades[10];
    EXPECT_STREQ(again.failure->what(),
                 "b:12:10: trades[10].id: duplicate id 't5'; it was first given on line 7");
    EXPECT_TRUE(again.args.empty() && again.product_name.empty()) << "nothing else is told of it";
}

TEST(books, an_error_of_the_book_stops_the_reading) {
    const std::pair<std::string, const char*> cases[] = {
        {"", "b:1:1: found nothing, expected a book"},
        {"[1]", "b:1:1: found a list, expected a book"},
        {"settings: {}\n", "b:1:1: missing key 'trades'"},
        {"trades:\n", "b:1:1: trades: found nothing, expected a list"},
        {"trades: {a: 1}\n", "b:1:10: trades.a: unknown key 'a'; known keys: csv, product"},
        {"trade: []\n",
         "b:1:1: trade: unknown key 'trade'; did you mean 'trades'? known keys: market, settings, "
         "calendars, products, trades, trade_count"},
        {"trade_count: 2\ntrades:\n" + good_trade, "b:1:14: trade_count: found '2' beside 1 trade,"},
        {"trade_count: x\ntrades: []\n", "b:1:14: trade_count: found 'x', expected a whole number"},
        {"settings: {path: 1}\ntrades: []\n", "b:1:12: settings.path: unknown key 'path'"},
        {"settings: {paths: 0}\ntrades: []\n",
         "settings.paths: found '0', expected a whole number from 1 to 2^40"},
        {"settings: {paths: 1.5}\ntrades: []\n", "settings.paths: found '1.5', expected a whole number"},
        {"settings: {seed: -1}\ntrades: []\n",
         "settings.seed: found '-1', expected a whole number from 0 to 2^64 - 1"},
        {"settings: {threads: 5000}\ntrades: []\n",
         "settings.threads: found '5000', expected a whole number from 0 to 1024"},
        {"market: {as_of: x}\ntrades: []\n", "b:1:"},
        {"market: [1]\ntrades: []\n",
         "b:1:9: market: found a list, expected the name of a file or a mapping"},
        {"market: none.yaml\ntrades: []\n", "b:1:9: market: 'none.yaml': there is no such file"},
        {"products: [none.yaml]\ntrades: []\n", "b:1:12: products[0]: 'none.yaml': there is no such file"},
        {"products: none.yaml\ntrades: []\n", "b:1:11: products: found 'none.yaml', expected a list"},
        {"products: [{product: european}]\ntrades: []\n", "b:1:12: products[0]: missing key 'summary'"},
        {"trades: [*x]\n", "alias"},
    };
    for (const auto& c : cases) {
        const std::string got = what_of([&] { book::parse(c.first, "b", ""); });
        EXPECT_NE(got.find(c.second), std::string::npos)
            << c.first << "\ngot:    " << got << "\nwanted: " << c.second;
    }
}

TEST(books, a_book_that_is_cut_short_is_noticed) {
    const std::string trades = "trades:\n" + good_trade +
                               "  - id: p1\n    product: european\n    underlying: ACME\n    strike: 90.25\n"
                               "    maturity: 1.5\n";
    const auto strictly = [](const std::string& yaml) {
        return what_of([&] { book::parse(yaml, "b", "", {.strict = true}); });
    };
    EXPECT_EQ(strictly(trades),
              "b:8:1: found neither trade_count nor a last line '...', expected one of them where a book "
              "is read strictly; the file may be cut short");
    EXPECT_EQ(what_of([&] { book::parse(trades); }), "nothing was refused");
    EXPECT_EQ(strictly("trade_count: 2\n" + trades), "nothing was refused");
    EXPECT_EQ(strictly(trades + "trade_count: 2\n"), "nothing was refused");
    EXPECT_EQ(strictly(trades + "...\n"), "nothing was refused");
    // With an end marker or a trade count at its end, a book is refused wherever it is truncated.
    for (const std::string& end : {std::string("...\n"), std::string("trade_count: 2\n")}) {
        const std::string whole = trades + end;
        const std::size_t enough = whole.size() - 1;  // all but the last line feed
        for (std::size_t bytes = 0; bytes < enough; ++bytes)
            EXPECT_NE(strictly(whole.substr(0, bytes)), "nothing was refused") << bytes << "\n" << whole;
        EXPECT_EQ(strictly(whole.substr(0, enough)), "nothing was refused");
    }
    // With a trade count at its beginning, a book is refused wherever a cut loses a trade.
    const std::string counted = "trade_count: 2\n" + trades;
    for (std::size_t bytes = 0; bytes < counted.find("  - id: p1"); ++bytes)
        EXPECT_NE(strictly(counted.substr(0, bytes)), "nothing was refused") << bytes;
}

TEST(books, products_of_the_user) {
    const std::string own =
        "products:\n"
        "  - product: mine\n"
        "    summary: One line.\n"
        "    parameters:\n"
        "      underlying: {type: asset, help: The asset.}\n"
        "      maturity: {type: date, default: 1.0, help: The end.}\n"
        "    example: {underlying: ACME}\n"
        "    script: |\n"
        "      on maturity:\n"
        "          pay spot(underlying)\n";
    const auto read_book = book::parse(own + "trades:\n  - {id: a, product: mine, underlying: ACME}\n", "b");
    ASSERT_EQ(read_book.size(), 1U);
    EXPECT_FALSE(state_of(read_book).trades[0].failure) << state_of(read_book).trades[0].failure->what();
    EXPECT_EQ(state_of(read_book).trades[0].product->name, "mine");

    const std::string taken = tests::replaced(own, "mine", "european");
    EXPECT_EQ(what_of([&] { book::parse(taken + "trades: []\n", "b"); }),
              "b:2:5: products[0]: the library has a product 'european' already; give this one another name");
    const std::string second = own.substr(own.find("  - product"));
    EXPECT_EQ(what_of([&] { book::parse(own + second + "trades: []\n", "b"); }),
              "b:11:5: products[1]: found a second product 'mine' in this book, expected different names");
    const std::string misspelt = tests::replaced(own, "pay spot", "pay spto");
    const auto e = error_of([&] { book::parse(misspelt + "trades: []\n", "b"); });
    ASSERT_TRUE(e);
    EXPECT_EQ(to_string(e->where()), "b:10:15") << e->what();
}

class book_files : public ::testing::Test {
  protected:
    void SetUp() override {
        std::filesystem::create_directories(folder_ / "books");
        std::filesystem::create_directories(folder_ / "markets");
    }

    std::string write(const std::string& file, const std::string& text) {
        own_.write(file, text);
        return config::sha256(text);
    }

    tests::own_folder own_;
    std::filesystem::path folder_ = own_.path();
};

TEST_F(book_files, names_are_relative_to_the_book_and_every_input_is_hashed) {
    const std::string market_hash =
        write("markets/m.yaml", dollar_market(0.03, {{"ACME", "spot: 100, volatility: 0.2"}}));
    const std::string product_hash = write("books/mine.yaml", product_head + product_tail);
    const std::string book_hash = write("books/b.yaml",
                                        "market: ../markets/m.yaml\n"
                                        "products: [mine.yaml]\n"
                                        "trades:\n"
                                        "  - {id: a, product: mine, underlying: ACME, maturity: 1}\n");
    const auto file = folder_ / "books" / "b.yaml";
    const auto read_book = book::load(file);
    ASSERT_EQ(read_book.size(), 1U);
    EXPECT_FALSE(state_of(read_book).trades[0].failure) << state_of(read_book).trades[0].failure->what();
    EXPECT_EQ(to_string(state_of(read_book).trades[0].where), file.string() + ":4:5");
    ASSERT_TRUE(read_book.market());
    EXPECT_EQ(read_book.market()->as_of(), "2026-01-15");
    const auto& inputs = state_of(read_book).inputs;
    ASSERT_EQ(inputs.size(), 2U);
    EXPECT_EQ(inputs[0].file, file.string());
    EXPECT_EQ(inputs[0].hash, book_hash);
    EXPECT_EQ(inputs[1].file, (folder_ / "books" / "mine.yaml").string());
    EXPECT_EQ(inputs[1].hash, product_hash);
    ASSERT_TRUE(read_book.market().has_value());
    EXPECT_EQ(state_of(*read_book.market()).name, (folder_ / "markets" / "m.yaml").string());
    EXPECT_EQ(state_of(*read_book.market()).hash, market_hash);
}

TEST_F(book_files, an_error_in_a_named_file_has_the_place_in_that_file) {
    write("books/mine.yaml", product_head + "  k: {type: nmber, help: x}\n" + product_tail);
    write("books/b.yaml", "products: [mine.yaml]\ntrades: []\n");
    const auto e = error_of([&] { book::load(folder_ / "books" / "b.yaml"); });
    ASSERT_TRUE(e);
    EXPECT_EQ(to_string(e->where()), (folder_ / "books" / "mine.yaml").string() + ":6:13");

    write("books/c.yaml", "market: ../markets\ntrades: []\n");
    const std::string got = what_of([&] { book::load(folder_ / "books" / "c.yaml"); });
    EXPECT_NE(got.find("c.yaml:1:9: market: "), std::string::npos) << got;
    EXPECT_NE(got.find("found a directory"), std::string::npos) << got;
    EXPECT_EQ(error_of([&] { book::load(folder_ / "none.yaml"); })->kind(), error_kind::io);
}

}  // namespace
}  // namespace tilewalk::books::book_test
