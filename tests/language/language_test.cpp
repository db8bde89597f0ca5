// SPDX-License-Identifier: Apache-2.0
// The payoff language: every complaint with its place, and every statement and function on paths, with exact
// values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "products/language/nearest.h"
#include "products/language/payoff.h"
#include "products/language/product.h"
#include "tests/played_path.h"
#include "tests/texts.h"
#include "tilewalk/error.h"

namespace tilewalk::language::language_test {
namespace {

using dates::time_point;
using tests::path;
using tests::play;
using tests::played;
using tests::repeated;

parameter declared(const std::string& name, parameter_type type, const std::string& per = "",
                   std::vector<std::string> choices = {}) {
    parameter p;
    p.name = name;
    p.type = type;
    p.per = per;
    p.choices = std::move(choices);
    return p;
}

std::vector<parameter> all_parameters() {
    using enum parameter_type;
    return {declared("underlying", asset),
            declared("basket", asset_list),
            declared("others", asset_list),
            declared("strike", amount),
            declared("knocked", boolean),
            declared("option", choice, "", {"call", "put"}),
            declared("maturity", parameter_type::date),
            declared("observations", parameter_type::schedule),
            declared("coupon", rate, "observations"),
            declared("pay_date", parameter_type::date, "observations"),
            declared("weight", number, "basket"),
            declared("rank", integer),
            declared("payout", currency),
            declared("convention", choice, "", {"act_360", "thirty_360"})};
}

bool is_word_of(const std::string& text, const std::string& word) {
    const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
    }
    return false;
}

// Declares the parameters that a script names, with the lists of their values. A product may have no others.
std::vector<parameter> parameters_for(const std::string& text) {
    const std::vector<parameter> all = all_parameters();
    std::vector<parameter> named;
    for (const parameter& p : all) {
        if (is_word_of(text, p.name) || std::any_of(all.begin(), all.end(), [&](const parameter& q) {
                return q.per == p.name && is_word_of(text, q.name);
            })) {
            named.push_back(p);
        }
    }
    return named;
}

std::shared_ptr<const product> product_of(const std::string& text) {
    const std::vector<parameter> of = parameters_for(text);
    return std::make_shared<const product>(
        product{"test", "", "", "", "", of, "", script(text, {"p.yaml", 1, 1}, of), {}});
}

time_point day(int year, int month, int of_month) {
    return {*dates::make_date(year, month, of_month)};
}

arguments usual_arguments() {
    return {{"underlying", std::string("ACME")},
            {"basket", std::vector<std::string>{"ACME", "BETA", "GAMMA"}},
            {"others", std::vector<std::string>{"BETA"}},
            {"strike", 100.0},
            {"knocked", false},
            {"option", std::string("call")},
            {"maturity", time_point{2.0}},
            {"observations", dates::schedule{{{0.5}, {1.0}, {2.0}}, {}}},
            {"coupon", std::vector<double>{0.25, 0.5, 0.75}},
            {"pay_date", std::vector<time_point>{{0.75}, {1.25}, {2.25}}},
            {"weight", std::vector<double>{1.0, 2.0, 4.0}},
            {"rank", 2.0},
            {"payout", std::string("EUR")},
            {"convention", std::string("act_360")}};
}

arguments with(const std::string& name, argument given) {
    arguments a = usual_arguments();
    a[name] = std::move(given);
    return a;
}

path usual_path() {
    path p;
    p.spots["ACME"] = {{0, 96}, {0.5, 64}, {1, 128}, {2, 112}};
    p.spots["BETA"] = {{0, 20}, {0.5, 32}, {1, 16}, {2, 8}};
    p.spots["GAMMA"] = {{0, 5}, {0.5, 4}, {1, 2}, {2, 1}};
    p.fx["EUR"] = {{0, 1.25}, {0.5, 1.5}, {1, 2}, {2, 4}};
    return p;
}

// The script's value on a path. Recording the script and running it eagerly must agree bit for bit.
double value_of(const std::string& text, const arguments& args, const path& along) {
    const played p = play(product_of(text), args, along);
    if (!p.eager.empty()) {
        for (const auto& [name, x] : p.recorded) EXPECT_EQ(x, p.eager.at(name)) << name << " of\n" << text;
    }
    return p.recorded.at("value");
}
double value_of(const std::string& text) {
    return value_of(text, usual_arguments(), usual_path());
}

double paid(const std::string& expression) {
    return value_of("on maturity:\n    pay " + expression + "\n");
}

struct complaint {
    std::string text;
    int line = 0, column = 0;
    std::string message;
};

const std::string fixed_number_wanted =
    "expected a number known from the start as the first argument of 'nth': a whole number, an integer "
    "parameter, size(LIST) or position(a), or a sum or difference of them";

const std::vector<complaint> complaints{
    {"on maturity:\n\tpay 1\n", 2, 1, "found a tab in the indentation; indent with spaces"},
    {"on maturity:\n    pay 1\n   stop\n", 3, 4,
     "this line is indented by 3 spaces; expected the indentation of a block that is open: 0, 4"},
    {"on maturity:\n    pay (1 + 2\n    stop\n", 2, 9, "this '(' is never closed"},
    {"on maturity:\n    pay (1 + 2\n", 2, 9, "this '(' is never closed"},
    {"on maturity:\n    pay 1)\n", 2, 10, "found ')' without a '(' before it"},
    {"on maturity:\n    pay (1]\n", 2, 11, "found ']' where the '(' of line 2 is still open"},
    {"on maturity:\n    pay 2 ^ 3\n", 2, 11, "found '^'; write pow(a, b)"},
    {"on maturity:\n    pay 20%\n", 2, 11, "found '%'; 20% is written 0.2"},
    {"on maturity:\n    pay 1 $ 2\n", 2, 11, "found '$', which means nothing in a script"},
    {"on maturity:\n    pay 12abc\n", 2, 9,
     "'12abc' is not a number; expected one such as 100, 0.25 or 1e-6"},
    {"on maturity:\n    pay 1e999\n", 2, 9, "the number '1e999' is too large or too small"},
    {"on maturity:\n    pay .5\n", 2, 9, "found '.'; a number starts with a digit: 0.5"},
    {"on maturity:\n    pay \"abc\n", 2, 9, "this text has no closing double quote on its line"},
    {"on maturity:\n    pay \"abc\"\n", 2, 9, "a text can only be a day count or a choice, found \"abc\""},
    {"on maturity\n    pay 1\n", 1, 12, "expected ':' after 'on', found the end of the line"},
    {"on maturity: pay 1\n", 1, 14,
     "expected the end of the line after ':', found 'pay'; the body of 'on' starts on the next line, "
     "indented"},
    {"on maturity:\npay 1\n", 2, 1, "expected an indented line that belongs to 'on', found 'pay'"},
    {"on maturity:\n    if true:\n    pay 1\n", 3, 5,
     "expected an indented line that belongs to 'if', found 'pay'"},
    {"on maturity:\n    pay 1\n      pay 2\n", 3, 7, "this line is indented deeper than the one above it"},
    {"    on maturity:\n        pay 1\n", 1, 5, "this line is indented, and no block is open"},
    {"x = 1\n", 2, 1, "the script has no block; expected at least one 'on DATES:' or 'between A and B:'"},
    {"pay 1\non maturity:\n    pay 1\n", 1, 1, "'pay' stands inside an 'on' or 'between' block"},
    {"on maturity:\n    pay 1\nx = 0\n", 3, 1,
     "'x' comes after a block; statements go above all blocks or inside one"},
    {"on maturity:\n    on maturity:\n        pay 1\n", 2, 5,
     "'on' begins a block of its own, not inside another block"},
    {"on maturity:\n    paye 1\n", 2, 5, "'paye' does not begin a statement; did you mean 'pay'?"},
    {"on maturity:\n    total 1\n", 2, 11,
     "expected '=' after 'total', found '1'; other statements begin with if, for, pay or stop"},
    {"on maturity:\n    max(1, 2)\n", 2, 8, "'max(...)' by itself does nothing; expected name = value"},
    {"on maturity:\n    3 = x\n", 2, 5, "expected a statement (name = value, if, for, pay, stop), found '3'"},
    {"on maturity:\n    else:\n        pay 1\n", 2, 5,
     "'else' without an 'if' of the same indentation before it"},
    {"on maturity:\n    if option = call:\n        pay 1\n", 2, 15,
     "found '=' in a condition; two values are compared with '=='"},
    {"on maturity:\n    pay 1 < 2 < 3\n", 2, 15, "comparisons can't be chained; write a < b and b < c"},
    {"on maturity:\n    pay\n", 2, 8, "expected a value, found the end of the line"},
    {"on maturity:\n    pay 1 +\n", 2, 12, "expected a value, found the end of the line"},
    {"on maturity:\n    pay 1 on maturity on maturity\n", 2, 23, "'on' is given twice for one payment"},
    {"on maturity:\n    pay 1 on maturity at 2\n", 2, 23,
     "a payment is 'on' a date or 'at' a time, not both"},
    {"on maturity:\n    refuse \"x\"\n", 2, 5,
     "'refuse' checks the terms of a trade; it goes above all blocks"},
    {"refuse strike\non maturity:\n    pay 1\n", 1, 8,
     "expected the reason in double quotes after 'refuse', found 'strike'"},
    {"if strike > 1:\n    refuse \"" + std::string(301, 'a') + "\"\non maturity:\n    pay 1\n", 2, 12,
     "the reason has 301 bytes, expected at most 300"},
    {"on maturity:\n    pay strik\n", 2, 9, "unknown name 'strik'; did you mean 'strike'?"},
    {"on maturity:\n    pay spot(ACME)\n", 2, 14,
     "unknown name 'ACME'; a script names assets by parameters of the type asset, for which a trade says its "
     "own: write underlying"},
    {"on maturity:\n    pay spot(underlyin)\n", 2, 14,
     "unknown name 'underlyin'; did you mean 'underlying'?"},
    {"on maturity:\n    pay maxx(1, 2)\n", 2, 9, "unknown function 'maxx'; did you mean 'max'?"},
    {"on maturity:\n    pay spot(strike)\n", 2, 14, "expected an asset, found a number"},
    {"on maturity:\n    pay underlying\n", 2, 9, "expected a number, found an asset; write spot(underlying)"},
    {"on maturity:\n    pay strike + underlying\n", 2, 18,
     "expected a number, found an asset; write spot(underlying)"},
    {"on maturity:\n    pay basket\n", 2, 9,
     "expected a number, found a list of assets; write worst(spot(a) for a in basket), or sum, average, "
     "best"},
    {"on maturity:\n    pay maturity\n", 2, 9,
     "expected a number, found a date; write year_fraction(start, maturity)"},
    {"on maturity:\n    pay observations\n", 2, 9,
     "expected a number, found a schedule; write size(observations)"},
    {"on maturity:\n    pay payout\n", 2, 9, "expected a number, found a currency; write fx(payout)"},
    {"on maturity:\n    pay option\n", 2, 9,
     "expected a number, found a choice; compare it, as in option == call"},
    {"on maturity:\n    pay knocked\n", 2, 9,
     "expected a number, found a condition (true or false); write 'if knocked:'"},
    {"on maturity:\n    if strike:\n        pay 1\n", 2, 8,
     "expected a condition (true or false), found a number; compare it, as in x > 0"},
    {"on maturity:\n    pay call\n", 2, 9,
     "'call' is one of the choices of 'option'; compare it: option == call"},
    {"on maturity:\n    if option == cal:\n        pay 1\n", 2, 18,
     "'cal' is not a choice of 'option'; did you mean 'call'? choices: call, put"},
    {"on maturity:\n    if option < call:\n        pay 1\n", 2, 15, "choices are compared with == or !="},
    {"on maturity:\n    pay coupon\n", 2, 9,
     "'coupon' has one value for each date of 'observations'; it can be used inside 'on observations:' only"},
    {"on observations:\n    pay weight\n", 2, 9,
     "'weight' has one value for each asset of 'basket'; write weight[a] inside 'for a in basket'"},
    {"on observations:\n    pay strike[a]\n", 2, 9, "'strike' is a single value, not a list; write strike"},
    {"on observations:\n    for a in basket:\n        pay strike[a]\n", 3, 13,
     "'strike' is a single value, not a list; write strike"},
    {"on observations:\n    for a in others:\n        pay weight[a]\n", 3, 20,
     "'weight' has one value for each asset of 'basket', and this loop runs over 'others'"},
    {"on observations:\n    for a in observations:\n        pay 1\n", 2, 14,
     "expected a list of assets after 'in', found a schedule, 'observations'"},
    {"on observations:\n    for a in bascet:\n        pay 1\n", 2, 14,
     "unknown list of assets 'bascet'; did you mean 'basket'?"},
    {"on observations:\n    for strike in basket:\n        pay 1\n", 2, 9,
     "'strike' already means something else; choose another name for the asset"},
    {"on observations:\n    strike = 1\n", 2, 5, "'strike' is a parameter and can't be assigned"},
    {"on observations:\n    index = 1\n", 2, 5, "'index' is a word of the language and can't be assigned"},
    {"on observations:\n    max = 1\n", 2, 5, "'max' is a function of the language and can't be assigned"},
    {"on observations:\n    total = total + 1\n    pay total\n", 2, 13,
     "'total' may have no value yet here; a value kept from date to date needs a first value above the "
     "blocks, such as 'total = 0'"},
    {"on observations:\n    if knocked:\n        x = 1\n    pay x\n", 4, 9,
     "'x' may have no value yet here; a value kept from date to date needs a first value above the blocks, "
     "such as 'x = 0'"},
    {"if knocked:\n    x = 1\non observations:\n    pay x\n", 2, 5,
     "'x' gets its first value in some cases only; set it in all cases"},
    {"x = y\non observations:\n    y = x\n    pay x\n", 1, 5, "'y' has no value yet here"},
    {"x = 1\non observations:\n    x = true\n    pay x\n", 3, 9,
     "'x' is a number since line 1, found a condition (true or false)"},
    {"for a in basket:\n    x[a] = 1\non observations:\n    pay x\n", 4, 9,
     "'x' has one value for each asset of 'basket'; write x[a] inside 'for a in basket'"},
    {"for a in basket:\n    x[a] = 1\non observations:\n    for a in others:\n        pay x[a]\n", 5, 15,
     "'x' has one value for each asset of 'basket', and this loop runs over 'others'"},
    {"x = spot(underlying)\non observations:\n    pay x\n", 1, 5,
     "'spot' needs a current date; use it inside an 'on' or 'between' block"},
    {"x = index\non observations:\n    pay x\n", 1, 5,
     "'index' refers to the current date; use it inside an 'on' block only"},
    {"on maturity:\n    pay index\n", 2, 9, "'index' refers to a schedule, and this block has a single date"},
    {"on maturity:\n    pay value\n", 2, 9, "'value' is reserved by the language and can't be read"},
    {"on maturity:\n    pay touched_below(underlying, strike)\n", 2, 9,
     "'touched_below' asks what happens between two dates; it can be used inside a 'between' block "
     "only"},
    {"between start and maturity:\n    pay index\n", 2, 9,
     "'index' refers to the current date; use it inside an 'on' block only"},
    {"between start and maturity:\n    pay year_fraction(today, next)\n", 2, 30,
     "'next' refers to the current date; use it inside an 'on' block only"},
    {"x = time\non maturity:\n    pay x\n", 1, 5,
     "'time' refers to the current date; use it inside a block only"},
    {"on maturity:\n    pay step\n", 2, 9,
     "'step' is the length of the current interval; use it inside a 'between' block"},
    {"on maturity:\n    pay mean_spot(underlying)\n", 2, 9,
     "'mean_spot' asks what happens between two dates; it can be used inside a 'between' block only"},
    {"between start and maturity:\n    pay time_above(underlying)\n", 2, 9,
     "'time_above' takes 2 arguments, found 1; write time_above(asset, level)"},
    {"missed = 0\non observations:\n    if spot(underlying) > strike:\n        pay 1 + missed\n        "
     "missed = 0\n"
     "    else:\n        mised = missed + 1\n",
     7, 9, "'mised' is set and never read; did you mean 'missed'?"},
    {"missed = 0\non observations:\n    mised = missed + 1\n    pay mised\n", 1, 1,
     "'missed' is never set after its first value; did you mean 'mised'? Write the number where it is read, "
     "or make it a parameter with a default"},
    {"peak = 0\non maturity:\n    peak = max(peak, spot(underlying))\n    pay 1\n", 1, 1,
     "'peak' is set and never read"},
    {"for a in basket:\n    peak[a] = 0\non maturity:\n    for a in basket:\n        peak[a] = spot(a)\n    "
     "pay 1\n",
     2, 5, "'peak' is set and never read"},
    {"on maturity:\n    x = spot(underlying)\n    pay 1\n", 2, 5, "'x' is set and never read"},
    {"on observations:\n    seen = 1\n    pay seen\non maturity:\n    seen = 2\n    pay 1\n", 5, 5,
     "'seen' is set and never read"},
    {"five = 5\non maturity:\n    pay five\n", 1, 1,
     "'five' is never set after its first value; write the number where it is read, or make it a parameter "
     "with a default"},
    {"on maturity:\n    for a in basket:\n        pay 1\n", 2, 9,
     "'a' runs over 'basket', and nothing reads it; use it as in spot(a), or write size(basket) for the "
     "number of assets"},
    {"on maturity:\n    pay sum(strike for a in basket)\n", 2, 24,
     "'a' runs over 'basket', and nothing reads it; use it as in spot(a), or write size(basket) for the "
     "number of assets"},
    {"on maturity:\n    pay 1 at 0.5\n", 2, 14,
     "'at' a time is for 'between' blocks; expected 'on' and a date"},
    {"on maturity:\n    pay 1 on observations\n", 2, 14,
     "expected a date, found a schedule; write first(observations) or last(observations)"},
    {"on maturity:\n    pay 1 on strike\n", 2, 14, "expected a date, found a number"},
    {"on maturity:\n    pay 1 in underlying\n", 2, 14, "expected a currency, found an asset"},
    {"on strike:\n    pay 1\n", 1, 4,
     "expected a date or a schedule after 'on', found a number; there are: observations, maturity"},
    {"on maturty:\n    pay 1\n", 1, 4, "unknown name 'maturty'; did you mean 'maturity'?"},
    {"between start and observations:\n    pay 1\n", 1, 19,
     "expected a date, found a schedule; write first(observations) or last(observations)"},
    {"between start:\n    pay 1\n", 1, 14, "expected 'and' between the two ends, found ':'"},
    {"on maturity:\n    pay min(1)\n", 2, 9, "'min' takes 2 to 64 arguments, found 1; write min(a, b, ...)"},
    {"on maturity:\n    pay year_fraction(start)\n", 2, 9,
     "'year_fraction' takes 2 or 3 arguments, found 1; write year_fraction(from, to, \"act_360\")"},
    {"on maturity:\n    pay year_fraction(start, maturity, \"act_36\")\n", 2, 40,
     "unknown day count 'act_36'; did you mean 'act_360'? known: \"act_365f\", \"act_360\", \"act_act\", "
     "\"thirty_360\""},
    {"on maturity:\n    pay year_fraction(start, maturity, option)\n", 2, 40,
     "unknown day count 'call'; known: \"act_365f\", \"act_360\", \"act_act\", \"thirty_360\""},
    {"on maturity:\n    pay worst(basket)\n", 2, 9,
     "'worst' runs over a list of assets; write worst(spot(a) for a in basket)"},
    {"on maturity:\n    pay max(spot(a) for a in basket)\n", 2, 9,
     "'max' does not run over a list; write max(a, b, ...)"},
    {"on maturity:\n    pay nth(1.5, spot(a) for a in basket)\n", 2, 13, fixed_number_wanted},
    {"on maturity:\n    pay nth(strike, spot(a) for a in basket)\n", 2, 13, fixed_number_wanted},
    {"on maturity:\n    pay nth(time, spot(a) for a in basket)\n", 2, 13, fixed_number_wanted},
    {"on maturity:\n    pay nth(size(observations), spot(a) for a in basket)\n", 2, 13, fixed_number_wanted},
    {"on maturity:\n    pay nth(2 * rank, spot(a) for a in basket)\n", 2, 15, fixed_number_wanted},
    {"on maturity:\n    pay nth(a, spot(a) for a in basket)\n", 2, 13,
     "unknown name 'a'; known names: underlying, basket, others, strike, knocked, option, maturity, "
     "observations, "
     "coupon, pay_date, weight, rank, payout, convention, time, step, index, count, start, currency, true, "
     "false"},
    {"on maturity:\n    pay position(underlying)\n", 2, 18,
     "expected the asset of a loop in position(...), found 'underlying', which is in no list"},
    {"on maturity:\n    pay sum(position(weight[a]) for a in basket)\n", 2, 22,
     "expected an asset, found a number"},
    {"on maturity:\n    pay size(strike)\n", 2, 14,
     "expected a list of assets or a schedule, found a number"},
    {"on maturity:\n    x = underlying\n    pay 1\n", 2, 9,
     "expected a number or a condition after '=', found an asset; write spot(underlying)"},
    {"on maturity:\n    x = 1\n", 1, 1, "the script never pays; expected 'pay AMOUNT' in one of its blocks"},
    {"on maturity:\n    pay max\n", 2, 9, "'max' is a function; write max(a, b, ...)"},
    {"on maturity:\n    pay strike(1)\n", 2, 9, "'strike' is not a function"},
    {"on maturity:\n    pay 1 pay 2\n", 2, 11, "expected the end of the line after the payment, found 'pay'"},
    {"on maturity:\n    pay not 1\n", 2, 13,
     "expected a condition (true or false), found a number; compare it, as in x > 0"},
    {"on maturity:\n    pay x[strike]\n", 2, 9,
     "unknown name 'x'; known names: underlying, basket, others, strike, knocked, option, maturity, "
     "observations, "
     "coupon, pay_date, weight, rank, payout, convention, time, step, index, count, start, currency, true, "
     "false"},
    {"on maturity:\n    pay true + 1\n", 2, 9, "expected a number, found a condition (true or false)"},
    {"on observations:\n    x = previous\n    pay 1\n", 2, 9,
     "expected a number or a condition after '=', found a date; write year_fraction(start, previous)"},
    {"x = forward(underlying, maturity)\non maturity:\n    pay x\n", 1, 5,
     "'forward' needs a current date; use it inside an 'on' or 'between' block"},
    {"x = bond(payout, maturity)\non maturity:\n    pay x\n", 1, 5,
     "'bond' needs a current date; use it inside an 'on' or 'between' block"},
    {"on first(observations):\n    pay forward(maturity, underlying)\n", 2, 17,
     "expected an asset, found a date"},
    {"on first(observations):\n    pay call_value(underlying, maturity, strike)\n", 2, 32,
     "expected a number, found a date; write year_fraction(start, maturity)"},
    {"on maturity:\n    if given(strike):\n        pay 1\n", 2, 14,
     "expected a parameter with 'optional: true', which a trade need not give, found 'strike'; there are "
     "none"},
    {"between start and maturity every maturity:\n    pay 1\n", 1, 34,
     "expected a number of years, or a numeric parameter, after 'every'"},
    {"between start and maturity within coupon:\n    pay 1\n", 1, 35,
     "expected a number of years, or a numeric parameter, after 'within'"},
    {"between start and maturity every coupon:\n    pay 1\n", 1, 34,
     "expected a number of years, or a numeric parameter, after 'every'"},
    {"on maturity every 0.5:\n    pay 1\n", 1, 13, "expected ':' after 'on', found 'every'"},
    {"on maturity:\n    for pay in basket:\n        pay 1\n", 2, 9,
     "expected a name for the asset after 'for', found 'pay', which is a word of the language"},
};

TEST(language, complains_at_the_place_with_a_way_out) {
    for (const complaint& c : complaints) {
        try {
            script(c.text, {"p.yaml", 1, 1}, all_parameters());
            ADD_FAILURE() << "accepted:\n" << c.text;
        } catch (const error& e) {
            EXPECT_EQ(e.message(), c.message) << c.text;
            EXPECT_EQ(to_string(e.where()),
                      "p.yaml:" + std::to_string(c.line) + ":" + std::to_string(c.column))
                << c.text << e.message();
            EXPECT_EQ(e.kind(), error_kind::input) << c.text;
        }
    }
}

std::string complaint_of(const std::string& text, const location& origin = {"p.yaml", 1, 1},
                         const std::vector<parameter>& of = all_parameters()) {
    try {
        script(text, origin, of);
    } catch (const error& e) {
        return e.what();
    }
    return "accepted";
}

TEST(language, places_are_those_of_the_file) {
    EXPECT_EQ(complaint_of("on maturity:\n    pay strik\n", {"book.yaml", 40, 5}),
              "book.yaml:41:13: unknown name 'strik'; did you mean 'strike'?");
    EXPECT_EQ(complaint_of("\n# a comment\n\non maturity:   # another\n\n    pay strik\n"),
              "p.yaml:6:9: unknown name 'strik'; did you mean 'strike'?");
    EXPECT_EQ(complaint_of("on maturity:\r\n    pay max(1,\r\n      strik)\r\n"),
              "p.yaml:3:7: unknown name 'strik'; did you mean 'strike'?");
    EXPECT_EQ(complaint_of(""),
              "p.yaml:1:1: the script has no block; expected at least one 'on DATES:' or 'between A and B:'");
}

TEST(language, hostile_scripts_are_bounded) {
    const std::string on = "on maturity:\n    pay ";
    const auto is_accepted = [](const std::string& text) {
        return complaint_of(text, {"p.yaml", 1, 1}, parameters_for(text)) == "accepted";
    };
    EXPECT_TRUE(is_accepted(on + repeated("(", 60) + "1" + repeated(")", 60) + "\n"));
    EXPECT_NE(complaint_of(on + repeated("(", 30000) + "1" + repeated(")", 30000) + "\n")
                  .find("nested deeper than 64"),
              std::string::npos);
    EXPECT_NE(complaint_of(on + repeated("-", 60000) + "1\n").find("nested deeper than 64"),
              std::string::npos);
    EXPECT_NE(complaint_of("on maturity:\n    if " + repeated("not ", 15000) + "true:\n        pay 1\n")
                  .find("nested deeper than 64"),
              std::string::npos);
    EXPECT_TRUE(is_accepted(on + "1" + repeated(" + 1", 200) + "\n"));
    EXPECT_NE(complaint_of(on + "1" + repeated(" + 1", 15000) + "\n").find("chains more than 256 operations"),
              std::string::npos);
    std::string deep = "on maturity:\n";
    for (int i = 1; i < 300; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "if true:\n";
    EXPECT_NE(complaint_of(deep).find("nested deeper than 64"), std::string::npos);
    std::string arms = "on maturity:\n  if strike > 1:\n    pay 1\n";
    for (int i = 0; i < 100; ++i) arms += "  elif strike > 1:\n    pay 1\n";
    EXPECT_NE(complaint_of(arms).find("more than 64 cases"), std::string::npos);
    EXPECT_NE(complaint_of(on + "1\n" + repeated("# long\n", 20000)).find("at most 65536"),
              std::string::npos);
    EXPECT_NE(complaint_of(std::string("on maturity:\n    pay 1\0\n", 24)).find("0x00"), std::string::npos);
    EXPECT_NE(complaint_of("on maturity:\n    pay \xc3\xa9\n").find("0xc3"), std::string::npos);
}

TEST(language, parameters_are_checked_too) {
    const auto refused = [](const std::vector<parameter>& parameters) {
        try {
            script("on maturity:\n    pay 1\n", {"p.yaml", 1, 1}, parameters);
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string("accepted");
    };
    const parameter maturity = declared("maturity", parameter_type::date);
    EXPECT_EQ(refused({maturity}), "accepted");
    EXPECT_EQ(refused({maturity, declared("index", parameter_type::number)}),
              "parameter 'index' has the name of a word of the script language");
    EXPECT_EQ(refused({maturity, declared("max", parameter_type::number)}),
              "parameter 'max' has the name of a word of the script language");
    EXPECT_EQ(refused({maturity, declared("pay", parameter_type::number)}),
              "parameter 'pay' has the name of a word of the script language");
    EXPECT_EQ(refused({maturity, declared("coupon", parameter_type::rate, "maturity")}),
              "parameter 'coupon' is per 'maturity', which is neither a schedule nor an asset_list among the "
              "parameters");
    EXPECT_EQ(refused({maturity, declared("flag", parameter_type::boolean, "dates"),
                       declared("dates", parameter_type::schedule)}),
              "parameter 'flag' of type boolean can't be per 'dates'; numbers can, and dates per schedule");
}

TEST(language_nearest, suggests_only_what_is_close) {
    const std::vector<std::string> known{"strike", "maturity", "call", "put", "underlying", "notional"};
    EXPECT_EQ(nearest("strik", known), "strike");
    EXPECT_EQ(nearest("stirke", known), "strike");
    EXPECT_EQ(nearest("STRIKE", known), "strike");
    EXPECT_EQ(nearest("undrelyng", known), "underlying");
    EXPECT_EQ(nearest("cal", known), "call");
    EXPECT_EQ(nearest("barrier", known), "");
    EXPECT_EQ(nearest("xy", known), "");
    EXPECT_EQ(nearest("", known), "");
    EXPECT_EQ(nearest(std::string(100000, 's'), known), "");
    EXPECT_EQ(nearest("strike", {}), "");
}

TEST(language_nearest, another_word_stands_between_the_last_two_of_a_list) {
    const std::vector<std::string> one{"a"}, two{"a", "b"}, three{"a", "b", "c"};
    EXPECT_EQ(joined({}, ", ", " and "), "");
    EXPECT_EQ(joined(one, ", ", " and "), "a");
    EXPECT_EQ(joined(two, ", ", " and "), "a and b");
    EXPECT_EQ(joined(three, ", ", " and "), "a, b and c");
    EXPECT_EQ(joined(three), "a, b, c");
}

TEST(language_parameter_types, have_names_that_read_back) {
    using enum parameter_type;
    for (const auto type : {amount, number, rate, integer, boolean, choice, parameter_type::date,
                            parameter_type::schedule, asset, asset_list, currency}) {
        EXPECT_EQ(parse_parameter_type(to_string(type)), type) << to_string(type);
    }
    EXPECT_EQ(parse_parameter_type("Amount"), std::nullopt);
}

// At maturity, two years from as_of, the usual path has ACME at 112, BETA at 8 and GAMMA at 1.

TEST(language, expressions) {
    struct expected {
        std::string expression;
        double value;
    };
    const std::vector<expected> all{
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"8 - 4 - 2", 2},
        {"8 / 4 / 2", 1},
        {"-2 * -3", 6},
        {"- - 2", 2},
        {"1e2 + 0.5", 100.5},
        {"strike", 100},
        {"spot(underlying) - strike", 12},
        {"min(3, 1, 2)", 1},
        {"max(3, spot(underlying), 2)", 112},
        {"abs(-3)", 3},
        {"exp(0)", 1},
        {"log(1)", 0},
        {"sqrt(16)", 4},
        {"pow(2, 10)", 1024},
        {"floor(-1.5)", -2},
        {"norm_cdf(0)", 0.5},
        {"time", 2},
        {"size(basket)", 3},
        {"size(observations)", 3},
        {"sum(spot(a) for a in basket)", 121},
        {"average(spot(a) for a in others)", 8},
        {"average(spot(a) * 3 for a in basket)", 121},
        {"worst(spot(a) for a in basket)", 1},
        {"best(spot(a) for a in basket)", 112},
        {"sum(weight[a] for a in basket)", 7},
        {"sum(weight[a] * sum(spot(b) for b in others) for a in basket)", 56},
        {"nth(1, spot(a) for a in basket)", 1},
        {"nth(2, spot(a) for a in basket)", 8},
        {"nth(3, spot(a) for a in basket)", 112},
        {"nth(rank, -spot(a) for a in basket)", -8},
        {"nth(4 - rank, spot(a) for a in basket)", 8},
        {"nth(size(basket), spot(a) for a in basket)", 112},
        {"sum(position(a) * weight[a] for a in basket)", 17},
        {"sum(weight[a] * nth(position(a), spot(b) for b in basket) for a in basket)", 465},
        {"sum(weight[a] * nth(size(basket) + 1 - position(a), spot(b) for b in basket) for a in basket)",
         132},
        {"year_fraction(start, maturity)", 2},
        {"year_fraction(first(observations), last(observations))", 1.5},
        {"year_fraction(start, today)", 2},
        {"fx(payout)", 4},
        {"max(\n        1,   # lines go on inside brackets\n        2)", 2},
    };
    for (const expected& e : all) EXPECT_EQ(paid(e.expression), e.value) << e.expression;
}

TEST(language, conditions) {
    struct expected {
        std::string condition;
        bool value;
    };
    const std::vector<expected> all{
        {"true", true},
        {"false", false},
        {"spot(underlying) > 112", false},
        {"spot(underlying) >= 112", true},
        {"spot(underlying) < 112", false},
        {"spot(underlying) <= 112", true},
        {"spot(underlying) == 112", true},
        {"spot(underlying) != 112", false},
        {"112 == spot(underlying) and strike == 100", true},
        {"spot(underlying) > 200 or strike > 200", false},
        {"spot(underlying) > 100 or strike > 200", true},
        {"not spot(underlying) > 100", false},
        {"not (spot(underlying) > 100 and strike > 200)", true},
        {"true or false and false", true},
        {"(true or false) and false", false},
        {"option == call", true},
        {"option != call", false},
        {"option == \"put\"", false},
        {"knocked", false},
        {"not knocked and spot(underlying) > 1", true},
        {"knocked or spot(underlying) > 1", true},
        {"spot(underlying) > 1 and not knocked", true},
        {"spot(underlying) > 1 or knocked", true},
        {"knocked == (spot(underlying) > 1)", false},
        {"knocked != (spot(underlying) > 1)", true},
        {"maturity == last(observations)", true},
        {"maturity > first(observations)", true},
        {"start >= maturity", false},
    };
    for (const expected& e : all) {
        EXPECT_EQ(value_of("on maturity:\n    if " + e.condition + ":\n        pay 1\n"), e.value ? 1.0 : 0.0)
            << e.condition;
    }
}

TEST(language, choices_and_booleans_of_the_trade) {
    const std::string text =
        "on maturity:\n    if option == call and not knocked:\n        pay 1\n    elif option == put:\n      "
        "  pay 2\n"
        "    else:\n        pay 4\n";
    EXPECT_EQ(value_of(text, with("option", std::string("call")), usual_path()), 1);
    EXPECT_EQ(value_of(text, with("option", std::string("put")), usual_path()), 2);
    EXPECT_EQ(value_of(text, with("knocked", true), usual_path()), 4);
}

TEST(language, if_elif_else_on_what_the_path_shows) {
    const std::string text =
        "on maturity:\n    if spot(underlying) > strike:\n        x = 1\n    elif spot(underlying) == "
        "strike:\n"
        "        x = 2\n        y = 1\n        x = x + y\n    else:\n        x = 4\n    pay x\n";
    EXPECT_EQ(value_of(text, with("strike", 100.0), usual_path()), 1);
    EXPECT_EQ(value_of(text, with("strike", 112.0), usual_path()), 3);
    EXPECT_EQ(value_of(text, with("strike", 120.0), usual_path()), 4);
}

TEST(language, states_are_kept_from_date_to_date_and_block_to_block) {
    EXPECT_EQ(value_of("total = 1\nseen = false\n"
                       "on observations:\n    total = total + spot(underlying)\n    if total > 150:\n        "
                       "seen = true\n"
                       "on maturity:\n    if seen:\n        pay total\n"),
              1 + 64 + 128 + 112);
    EXPECT_EQ(value_of("last_high = 5\non observations:\n    if spot(underlying) > 120:\n        last_high = "
                       "spot(underlying)\n"
                       "on maturity:\n    pay last_high\n"),
              128);
}

TEST(language, first_values_may_be_computed) {
    EXPECT_EQ(value_of("if option == call:\n    sign = 1\nelse:\n    sign = -1\nlevel = sign * strike * 2\n"
                       "on maturity:\n    pay level\n",
                       with("option", std::string("put")), usual_path()),
              -200);
}

TEST(language, a_value_for_each_asset) {
    EXPECT_EQ(value_of("for a in basket:\n    peak[a] = 0\n"
                       "on observations:\n    for a in basket:\n        peak[a] = max(peak[a], spot(a))\n"
                       "on maturity:\n    for a in basket:\n        scaled[a] = peak[a] * weight[a]\n"
                       "    pay sum(scaled[a] for a in basket)\n"),
              128 + 2 * 32 + 4 * 4);
    const played p = play(product_of("for a in basket:\n    peak[a] = weight[a]\n"
                                     "on maturity:\n    pay sum(peak[a] for a in basket)\n"),
                          usual_arguments(), usual_path());
    EXPECT_EQ(p.recorded.at("peak[0]"), 1);
    EXPECT_EQ(p.recorded.at("peak[2]"), 4);
}

TEST(language, one_value_stands_for_all_of_a_list) {
    EXPECT_EQ(
        value_of("on maturity:\n    pay sum(weight[a] for a in basket)\n", with("weight", 3.0), usual_path()),
        9);
    EXPECT_EQ(value_of("on observations:\n    pay coupon\n", with("coupon", 0.5), usual_path()), 1.5);
}

TEST(language, the_date_at_hand) {
    EXPECT_EQ(value_of("on observations:\n    pay index * 16 + count\n"), 16 * 6 + 9);
    EXPECT_EQ(value_of("on observations:\n    pay time\n"), 3.5);
    EXPECT_EQ(value_of("on observations:\n    pay coupon * index\n"), 0.25 + 2 * 0.5 + 3 * 0.75);
    EXPECT_EQ(value_of("on first(observations):\n    pay coupon + index\n"), 1.25);
    EXPECT_EQ(value_of("on last(observations):\n    pay coupon + index * count\n"), 9.75);
    EXPECT_EQ(value_of("on last(observations):\n    pay year_fraction(previous, today)\n"), 1);
    // In a list of years, the first period starts today.
    EXPECT_EQ(value_of("on observations:\n    pay index * year_fraction(previous, today)\n"),
              0.5 + 2 * 0.5 + 3 * 1);
    EXPECT_EQ(value_of("on observations:\n    pay index * year_fraction(today, next)\n"), 0.5 + 2 * 1);
    EXPECT_EQ(value_of("on first(observations):\n    pay year_fraction(today, next)\n"), 0.5);
}

TEST(language, year_fractions_follow_their_convention) {
    arguments args = usual_arguments();
    args["observations"] =
        dates::schedule{{day(2026, 7, 15), day(2027, 1, 15), day(2028, 1, 15)}, day(2026, 1, 15)};
    args["maturity"] = day(2028, 1, 15);
    path p = usual_path();
    const auto years = [&](const time_point& t) { return t.years(p.as_of); };
    for (const int m : {2026, 2027, 2028}) p.spots["ACME"][years(day(m, m == 2026 ? 7 : 1, 15))] = 1;
    EXPECT_DOUBLE_EQ(
        value_of("on observations:\n    pay year_fraction(previous, today, \"act_360\")\n", args, p),
        730 / 360.0);
    EXPECT_DOUBLE_EQ(
        value_of("on observations:\n    pay year_fraction(previous, today, convention)\n", args, p),
        730 / 360.0);
    EXPECT_DOUBLE_EQ(
        value_of("on observations:\n    pay year_fraction(previous, today, \"30/360\")\n", args, p), 2);
    EXPECT_DOUBLE_EQ(value_of("on observations:\n    pay year_fraction(previous, today)\n", args, p), 2);
    EXPECT_DOUBLE_EQ(
        value_of("on maturity:\n    pay year_fraction(start, maturity, \"thirty_360\")\n", args, p), 2);
}

path discounted_path() {
    path p = usual_path();
    p.rates = {{"USD", 0.03}, {"EUR", 0.02}};
    return p;
}

TEST(language, payments_are_discounted_from_their_date) {
    const arguments args = usual_arguments();
    const path p = discounted_path();
    const auto df = [](double t) { return std::exp(-0.03 * t); };
    EXPECT_DOUBLE_EQ(value_of("on maturity:\n    pay 10\n", args, p), 10 * df(2));
    EXPECT_DOUBLE_EQ(value_of("on first(observations):\n    pay 10 on maturity\n", args, p), 10 * df(2));
    EXPECT_DOUBLE_EQ(value_of("on first(observations):\n    pay 10 on last(observations)\n", args, p),
                     10 * df(2));
    EXPECT_DOUBLE_EQ(value_of("on observations:\n    pay coupon on pay_date\n", args, p),
                     0.25 * df(0.75) + 0.5 * df(1.25) + 0.75 * df(2.25));
    EXPECT_DOUBLE_EQ(
        value_of("on observations:\n    pay 1 on pay_date\n", with("pay_date", time_point{3.0}), p),
        3 * df(3));
    EXPECT_DOUBLE_EQ(
        value_of("on observations:\n    if spot(underlying) > 100:\n        pay 1\n    pay 2\n", args, p),
        2 * df(0.5) + 3 * df(1) + 3 * df(2));
}

TEST(language, payments_in_another_currency) {
    const arguments args = usual_arguments();
    const path p = discounted_path();
    const auto usd = [](double t) { return std::exp(-0.03 * t); };
    const auto eur = [](double t) { return std::exp(-0.02 * t); };
    EXPECT_DOUBLE_EQ(value_of("on maturity:\n    pay 10 in payout\n", args, p), 10 * 4 * usd(2));
    EXPECT_DOUBLE_EQ(value_of("on first(observations):\n    pay 10 in payout on maturity\n", args, p),
                     10 * 1.5 * usd(0.5) * eur(2) / eur(0.5));
    EXPECT_DOUBLE_EQ(value_of("on first(observations):\n    pay 10 on maturity in payout\n", args, p),
                     10 * 1.5 * usd(0.5) * eur(2) / eur(0.5));
    EXPECT_DOUBLE_EQ(
        value_of("on maturity:\n    pay 10 * fx(payout) in payout\n", with("payout", std::string("USD")), p),
        10 * usd(2));
}

TEST(language, payments_before_as_of_are_gone_and_those_of_today_count) {
    arguments args = usual_arguments();
    args["observations"] = dates::schedule{{day(2025, 12, 15), day(2026, 1, 15), day(2026, 7, 15)}, {}};
    args["pay_date"] = std::vector<time_point>{day(2026, 1, 15), day(2026, 1, 20), day(2026, 7, 20)};
    args["maturity"] = day(2027, 1, 15);
    path p = discounted_path();
    const double past = -31 / 365.0, future = 181 / 365.0;
    p.spots["ACME"] = {{past, 64}, {0, 96}, {future, 128}};
    p.fx["EUR"] = {{past, 8}, {0, 1.25}, {future, 2}};
    const auto usd = [](double t) { return std::exp(-0.03 * t); };
    const auto eur = [](double t) { return std::exp(-0.02 * t); };
    EXPECT_DOUBLE_EQ(value_of("on observations:\n    pay spot(underlying)\n", args, p),
                     96 + 128 * usd(future));
    EXPECT_DOUBLE_EQ(value_of("on observations:\n    pay spot(underlying) on pay_date\n", args, p),
                     64 + 96 * usd(5 / 365.0) + 128 * usd(186 / 365.0));
    // An amount in euros fixed before today converts at today's rate.
    EXPECT_DOUBLE_EQ(value_of("on first(observations):\n    pay 10 in payout on maturity\n", args, p),
                     10 * 1.25 * eur(1));
    EXPECT_EQ(value_of("on first(observations):\n    pay 10 in payout\n", args, p), 0);
    // Observations before today keep their effect on states.
    EXPECT_DOUBLE_EQ(
        value_of("total = 0\non observations:\n    total = total + spot(underlying)\n    pay total * index\n",
                 args, p),
        2 * 160 + 3 * 288 * usd(future));
}

TEST(language, stop_ends_the_trade_for_the_path) {
    const std::string text =
        "on observations:\n    if spot(underlying) > strike:\n        pay index\n        stop\n        pay "
        "1000\n"
        "    pay 16\non maturity:\n    pay 256\n";
    EXPECT_EQ(value_of(text, with("strike", 200.0), usual_path()), 3 * 16 + 256);
    EXPECT_EQ(value_of(text, with("strike", 100.0), usual_path()), 16 + 2);
    EXPECT_EQ(value_of(text, with("strike", 50.0), usual_path()), 1);
    EXPECT_EQ(
        value_of(
            "on observations:\n    if spot(underlying) < strike:\n        pay 1\n    else:\n        stop\n"
            "    pay 4\n",
            with("strike", 100.0), usual_path()),
        5);
    EXPECT_EQ(value_of("on first(observations):\n    pay 1\n    stop\non maturity:\n    pay 2\n"), 1);
}

TEST(language, a_trade_that_stopped_in_the_past_looks_at_nothing_any_more) {
    arguments args = usual_arguments();
    args["observations"] = dates::schedule{{day(2025, 12, 15), day(2025, 12, 31), day(2026, 7, 15)}, {}};
    args["pay_date"] = day(2026, 7, 20);
    path p;
    p.spots["ACME"] = {{-31 / 365.0, 128}, {181 / 365.0, 128}};  // without a fixing of 2025-12-31
    EXPECT_EQ(value_of("on observations:\n    if spot(underlying) > strike:\n        pay index on pay_date\n "
                       "       stop\n",
                       args, p),
              1);
}

TEST(language, touch_probabilities) {
    path p;
    p.spots["ACME"] = {{0, 100}, {0.5, 110}, {2, 90}};
    const auto touch = [](double from, double to, double level, double years) {
        const double a = std::log(from) - std::log(level), b = std::log(to) - std::log(level);
        return std::exp(-2 * a * b / (0.04 * years));
    };
    const auto paid_between = [&](const std::string& ends, const std::string& what) {
        return value_of("between " + ends + ":\n    pay " + what + "\n", usual_arguments(), p);
    };
    const std::string life = "start and maturity", second = "first(observations) and maturity";
    EXPECT_DOUBLE_EQ(paid_between(life, "touched_below(underlying, 80)"),
                     touch(100, 110, 80, 0.5) + touch(110, 90, 80, 1.5));
    EXPECT_DOUBLE_EQ(paid_between(second, "touched_below(underlying, 80)"), touch(110, 90, 80, 1.5));
    EXPECT_DOUBLE_EQ(paid_between(life, "touched_above(underlying, 120)"),
                     touch(100, 110, 120, 0.5) + touch(110, 90, 120, 1.5));
    EXPECT_DOUBLE_EQ(paid_between(life, "touched_above(underlying, 110)"), 2);
    EXPECT_DOUBLE_EQ(paid_between(life, "touched_below(underlying, 90)"), touch(100, 110, 90, 0.5) + 1);
    EXPECT_DOUBLE_EQ(paid_between(second, "touched_outside(underlying, 90, 200)"), 1);
    EXPECT_NEAR(paid_between(life, "touched_outside(underlying, 80, 1e9)"),
                touch(100, 110, 80, 0.5) + touch(110, 90, 80, 1.5), 1e-12);
    EXPECT_NEAR(paid_between(life, "touched_outside(underlying, 1e-9, 120)"),
                touch(100, 110, 120, 0.5) + touch(110, 90, 120, 1.5), 1e-12);
}

TEST(language, sampled_extremes_and_touch_times) {
    path p;
    p.spots["ACME"] = {{0, 100}, {2, 110}};
    p.uniforms = {0.25, 0.5};
    p.normals = {0.5};
    const double x = std::log(100.0), y = std::log(110.0), v = 0.08;
    const auto extreme = [&](double u, double side) {
        return std::exp(0.5 * (x + y + side * std::sqrt((y - x) * (y - x) - 2 * v * std::log(u))));
    };
    const std::string between = "between start and maturity:\n    pay ";
    EXPECT_DOUBLE_EQ(value_of(between + "lowest(underlying)\n", usual_arguments(), p), extreme(0.25, -1));
    EXPECT_DOUBLE_EQ(value_of(between + "highest(underlying)\n", usual_arguments(), p), extreme(0.25, 1));
    // lowest and highest each draw a number of their own, and return the same value when asked again.
    EXPECT_DOUBLE_EQ(
        value_of(between + "lowest(underlying) * 1000 + highest(underlying) - lowest(underlying)\n",
                 usual_arguments(), p),
        extreme(0.25, -1) * 1000 + extreme(0.5, 1) - extreme(0.25, -1));

    const double a = std::log(100 / 90.0), b = std::log(110 / 90.0);
    const double mu = a / b, lambda = a * a / v, nu = 0.25;
    const double root = mu + mu * mu * nu / (2 * lambda) -
                        mu / (2 * lambda) * std::sqrt(4 * mu * lambda * nu + mu * mu * nu * nu);
    const double s = 0.25 <= mu / (mu + root) ? root : mu * mu / root;
    const double time = 2 * s / (1 + s);
    EXPECT_NEAR(value_of(between + "touch_time_below(underlying, 90)\n", usual_arguments(), p), time, 1e-14);
    EXPECT_NEAR(value_of(between + "touch_time_below(underlying, 90) - touch_time_below(underlying, 90)\n",
                         usual_arguments(), p),
                0, 0);
    EXPECT_EQ(value_of(between + "1 + touch_time_above(underlying, 100)\n", usual_arguments(), p), 1);

    // A payment inside an interval is discounted by a factor that is log-linear between the interval's ends.
    p.rates = {{"USD", 0.03}, {"EUR", 0.02}};
    p.fx["EUR"] = {{0, 1.25}, {2, 4}};
    EXPECT_NEAR(value_of(between + "10 at touch_time_below(underlying, 90)\n", usual_arguments(), p),
                10 * std::exp(-0.03 * time), 1e-13);
    EXPECT_NEAR(
        value_of(between + "10 in payout at touch_time_below(underlying, 90)\n", usual_arguments(), p),
        10 * 4 * std::exp(-0.03 * 2) * std::exp(0.02 * (2 - time)), 1e-12);
}

TEST(language, intervals_of_the_past_know_fixings_only) {
    arguments args = usual_arguments();
    args["observations"] = dates::schedule{{day(2025, 12, 15), day(2026, 7, 15)}, {}};
    args["coupon"] = 0.5;
    args["pay_date"] = args["maturity"] = time_point{1.0};
    path p;
    p.spots["ACME"] = {{-20 / 365.0, 90}, {-10 / 365.0, 130}, {0, 100}};
    const auto counted = [&](const std::string& what) {
        return value_of("n = 0\nbetween first(observations) and start:\n    n = n + " + what +
                            "\non maturity:\n    pay n\n",
                        args, p);
    };
    p.spots["ACME"][1.0] = 100;
    EXPECT_EQ(counted("touched_below(underlying, 90)"), 1);
    EXPECT_EQ(counted("touched_above(underlying, 131)"), 0);
    EXPECT_EQ(counted("touched_outside(underlying, 95, 120)"), 2);
    EXPECT_EQ(counted("lowest(underlying) + highest(underlying)"), 640);
    EXPECT_DOUBLE_EQ(counted("touch_time_below(underlying, 90)"), -20 / 365.0 - 10 / 365.0);
    EXPECT_EQ(
        value_of("between first(observations) and start:\n    pay 1 at touch_time_below(underlying, 90)\n",
                 args, p),
        1);
}

TEST(language, intervals_know_their_times) {
    // The path stops at 0.5, 1 and 2 years, and its last fixing before today is at -0.5.
    path p = usual_path();
    EXPECT_EQ(value_of("between start and maturity:\n    pay step * 100 + time\n", usual_arguments(), p),
              200 + 0.5 + 1 + 2);
    EXPECT_EQ(value_of("between start and maturity:\n    pay year_fraction(previous, today) * 100\n"
                       "    if today > first(observations):\n        pay year_fraction(start, previous)\n",
                       usual_arguments(), p),
              200 + 0.5 + 1);
    EXPECT_EQ(
        value_of("between start and maturity every 1:\n    pay step * 100 + time\n", usual_arguments(), p),
        200 + 1 + 2);
    EXPECT_EQ(value_of("runs = 0\nbetween start and maturity every 1:\n    runs = runs + 1\n"
                       "on maturity:\n    pay runs\n",
                       usual_arguments(), p),
              2);
    // Intervals before today lie between the fixings, from the block's first day on.
    p.spots["ACME"] = {{-0.5, 90}, {-0.25, 80}, {0, 96}, {0.5, 64}, {1, 128}, {2, 112}};
    const std::string seen =
        "total = 0\nbetween last_seen and maturity:\n    total = total + step * spot(underlying)\n"
        "on maturity:\n    pay total\n";
    std::vector<parameter> of = parameters_for(seen);
    of.push_back(declared("last_seen", parameter_type::date));
    arguments args = usual_arguments();
    args["last_seen"] = time_point{-0.75};
    const auto made = std::make_shared<const product>(
        product{"test", "", "", "", "", of, "", script(seen, {"p.yaml", 1, 1}, of), {}});
    EXPECT_DOUBLE_EQ(play(made, args, p).recorded.at("value"),
                     0.25 * (90 + 80 + 96) + 0.5 * (64 + 128) + 112);
}

TEST(language, an_interval_in_parts_is_the_whole_of_them) {
    path along = usual_path();
    along.variance_per_year = 0.25;
    along.uniforms.assign(20, 0.37);
    along.normals.assign(20, 0.5);
    const auto touched = [&](const std::string& every) {
        return value_of(
            "alive_so_far = 1\nbetween start and maturity" + every +
                ":\n    alive_so_far = alive_so_far * (1 - touched_below(underlying, 50)) * "
                "(1 - touched_above(underlying, 250))\n    alive_so_far = alive_so_far * "
                "(1 - touched_outside(underlying, 10, 400))\non maturity:\n    pay alive_so_far\n",
            usual_arguments(), along);
    };
    EXPECT_NEAR(touched(" every 1"), touched(""), 1e-15);
    EXPECT_NEAR(touched(" every 2"), touched(""), 1e-15);
    EXPECT_LT(touched(""), 0.99);
    const auto summed = [&](const std::string& every) {
        return value_of(
            "total = 0\nbetween start and maturity" + every +
                ":\n    total = total + step * mean_spot(underlying) + 1000 * time_above(underlying, 100) + "
                "3000 * time_below(underlying, 90) + step * mean_log_spot(underlying) + step * step * "
                "(variance_of_mean_spot(underlying) + variance_of_mean_log_spot(underlying)) + "
                "variance_of_time_above(underlying, 100)\non "
                "maturity:\n    pay total\n",
            usual_arguments(), along);
    };
    EXPECT_NEAR(summed(" every 1"), summed(""), 1e-11);
    EXPECT_NEAR(summed(" every 2"), summed(""), 1e-11);
    EXPECT_GT(summed(""), 1000);
    const auto extremes = [&](const std::string& every) {
        return value_of(
            "low = 1000\nhigh = 0\nbetween start and maturity" + every +
                ":\n    low = min(low, lowest(underlying))\n    high = max(high, highest(underlying))\n"
                "on maturity:\n    pay high + 1000 * low\n",
            usual_arguments(), along);
    };
    EXPECT_EQ(extremes(" every 1"), extremes(""));
    EXPECT_EQ(extremes(" every 2"), extremes(""));
    // A payment, a change of a state or a stop takes effect once, at the end of the interval.
    EXPECT_EQ(
        value_of(
            "between start and maturity every 1:\n    if spot(underlying) < 100:\n        stop\n    pay 1\n",
            usual_arguments(), along),
        2);
    EXPECT_EQ(value_of("between start and maturity every 1:\n    if spot(underlying) > 120:\n        pay 1\n "
                       "       stop\n"
                       "    pay 10\n",
                       usual_arguments(), along),
              1);
}

TEST(language_payoff, knows_its_dates_assets_and_currencies) {
    arguments args = usual_arguments();
    args["observations"] = dates::schedule{{day(2025, 7, 15), day(2026, 7, 15)}, {}};
    args["coupon"] = 0.5;
    args["pay_date"] = time_point{1.0};
    const payoff script(
        product_of("on observations:\n    pay spot(underlying) in payout\n"
                   "between start and maturity:\n    pay sum(touched_below(a, 1) for a in others)\n"
                   "on last(observations):\n    pay 1\n"),
        args, *dates::make_date(2026, 1, 15), "USD");
    ASSERT_EQ(script.blocks().size(), 3U);
    EXPECT_EQ(script.blocks()[0].name, "on observations (line 1)");
    EXPECT_FALSE(script.blocks()[0].continuous);
    ASSERT_EQ(script.blocks()[0].times.size(), 2U);
    EXPECT_DOUBLE_EQ(script.blocks()[0].times[0], -184 / 365.0);
    EXPECT_EQ(to_string(script.blocks()[0].labels[1]), "2026-07-15");
    EXPECT_EQ(script.blocks()[1].name, "between start and maturity (line 3)");
    EXPECT_TRUE(script.blocks()[1].continuous);
    EXPECT_EQ(script.blocks()[1].times, (std::vector<double>{0, 2}));
    EXPECT_EQ(script.blocks()[2].times, (std::vector<double>{181 / 365.0}));
    EXPECT_EQ(script.assets(), (std::vector<std::string>{"ACME", "BETA"}));
    EXPECT_EQ(script.currencies(), (std::vector<std::string>{"EUR"}));
}

TEST(language_payoff, trades_of_one_shape_share_a_program) {
    const std::string text =
        "total = 0\non observations:\n    total = total + spot(underlying) * coupon + index / count\n"
        "    pay worst(spot(a) * weight[a] for a in basket) on pay_date\n"
        "    if total > strike and option == call:\n        pay year_fraction(previous, today) * total\n     "
        "   stop\n"
        "on maturity:\n    pay max(spot(underlying) - strike, 0) * size(observations)\n";
    const played one = play(product_of(text), usual_arguments(), discounted_path());
    arguments args = usual_arguments();
    path p = discounted_path();
    p.spots["OTHER"] = {{0.25, 10}, {1.5, 20}, {1.75, 20}, {3, 30}};
    p.spots["MORE"] = p.spots["THIRD"] = p.spots["OTHER"];
    args["underlying"] = std::string("OTHER");
    args["basket"] = std::vector<std::string>{"OTHER", "MORE", "THIRD"};
    args["strike"] = 7.0;
    args["maturity"] = time_point{3.0};
    args["observations"] = dates::schedule{{{0.25}, {1.5}, {1.75}, {3.0}}, {}};
    args["coupon"] = 0.125;
    args["pay_date"] = time_point{4.0};
    args["weight"] = 2.0;
    const played other = play(product_of(text), args, p);
    EXPECT_EQ(one.code.terms, other.code.terms);
    EXPECT_EQ(one.code.states, other.code.states);
    ASSERT_EQ(one.code.sections.size(), other.code.sections.size());
    for (std::size_t s = 0; s < one.code.sections.size(); ++s) {
        EXPECT_EQ(one.code.sections[s].nodes, other.code.sections[s].nodes) << s;
        EXPECT_EQ(one.code.sections[s].name, other.code.sections[s].name);
        // Rows of the world name an asset here, such as its spot; the script's own rows name no asset and no
        // day.
        for (const std::string& row : one.code.sections[s].rows) {
            EXPECT_TRUE(row.starts_with("spot ") || std::count(other.code.sections[s].rows.begin(),
                                                               other.code.sections[s].rows.end(), row) == 1)
                << row;
        }
    }
    EXPECT_EQ(one.code.states, (std::vector<std::string>{"value", "total", "alive"}));
    EXPECT_EQ(one.code.outputs, (std::vector<std::uint32_t>{0}));
}

TEST(language_payoff, what_the_terms_decide_is_not_recorded) {
    const auto nodes_with = [](program::operation code, const played& p) {
        std::size_t n = 0;
        for (const auto& s : p.code.sections) {
            n += static_cast<std::size_t>(std::count_if(s.nodes.begin(), s.nodes.end(),
                                                        [&](const auto& node) { return node.code == code; }));
        }
        return n;
    };
    const played p = play(
        product_of("on maturity:\n    if option == call and not knocked:\n"
                   "        pay max(spot(underlying) - strike, 0)\n    else:\n        pay sqrt(strike)\n"),
        usual_arguments(), usual_path());
    EXPECT_EQ(nodes_with(program::operation::select, p), 0U);
    EXPECT_EQ(nodes_with(program::operation::sqrt, p), 0U);
    EXPECT_EQ(nodes_with(program::operation::logical_and, p), 0U);
    EXPECT_EQ(nodes_with(program::operation::max, p), 1U);
}

std::string refusal_of(const std::string& text, const arguments& args, const path& along = usual_path()) {
    try {
        play(product_of(text), args, along);
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::input) << e.what();
        return e.what();
    }
    return "accepted";
}

TEST(language_payoff, refuses_terms_that_make_no_sense) {
    arguments missing = usual_arguments();
    missing.erase("strike");
    const std::string pays = "on maturity:\n    pay 1\n", at_strike = "on maturity:\n    pay strike\n";
    EXPECT_EQ(refusal_of(at_strike, missing), "strike: the trade has no 'strike'");
    EXPECT_EQ(refusal_of("on maturity:\n    pay size(basket)\n", with("basket", std::vector<std::string>{})),
              "basket: found an empty list of assets, expected at least one");
    EXPECT_EQ(refusal_of("on observations:\n    pay coupon\n", with("coupon", std::vector<double>{1, 2})),
              "coupon: found 2 values, expected 3, one for each date of 'observations'");
    EXPECT_EQ(refusal_of("on maturity:\n    pay sum(weight[a] for a in basket)\n",
                         with("weight", std::vector<double>{1, 2})),
              "weight: found 2 values, expected 3, one for each asset of 'basket'");
    EXPECT_EQ(refusal_of("on maturity:\n    pay nth(rank, spot(a) for a in basket)\n", with("rank", 4.0)),
              "p.yaml:2:13: 'nth' is asked for number 4 of 3 assets; expected 1 to 3");
    EXPECT_EQ(
        refusal_of(
            "on maturity:\n    pay sum(nth(position(a) - 1, spot(b) for b in basket) for a in basket)\n",
            usual_arguments()),
        "p.yaml:2:29: 'nth' is asked for number 0 of 3 assets; expected 1 to 3");
    EXPECT_EQ(refusal_of("on observations:\n    pay 1 on pay_date\n", with("pay_date", time_point{1.5})),
              "p.yaml:2:5: a payment on pay_date (1.5y) comes before the date that decides it (2y)");
    EXPECT_EQ(refusal_of("between maturity and first(observations):\n    pay 1\n", usual_arguments()),
              "p.yaml:1:9: the block begins at 2y, after its end at 0.5y");
    EXPECT_EQ(
        refusal_of("if strike > 50:\n    refuse \"the strike is too high\"\n" + pays, usual_arguments()),
        "the terms of the trade are refused: the strike is too high");
    EXPECT_EQ(
        refusal_of("if strike > 500:\n    refuse \"the strike is too high\"\n" + pays, usual_arguments()),
        "accepted");
    arguments dated = with("observations", dates::schedule{{day(2026, 7, 15), day(2027, 1, 15)}, {}});
    dated["coupon"] = 0.5;
    dated["pay_date"] = time_point{2.0};
    EXPECT_EQ(refusal_of("on observations:\n    pay year_fraction(previous, today)\n", dated),
              "p.yaml:2:23: 'previous' is unknown for the first date of 'observations': a list of dates does "
              "not say when its first period starts; write the schedule with start, end and every");
    arguments empty = with("observations", dates::schedule{});
    empty["coupon"] = 0.5;
    empty["pay_date"] = time_point{2.0};
    EXPECT_EQ(refusal_of("on maturity:\n    pay year_fraction(start, last(observations))\n", empty),
              "p.yaml:2:30: 'last(observations)' is asked for a schedule without dates");
    EXPECT_EQ(refusal_of("on observations:\n    pay 1\non last(observations):\n    pay 1\n", empty),
              "accepted");
}

std::shared_ptr<const product> product_with_optional_terms(const std::string& text) {
    std::vector<parameter> all{
        declared("underlying", parameter_type::asset), declared("maturity", parameter_type::date),
        declared("cap", parameter_type::amount), declared("last_call", parameter_type::date),
        declared("other", parameter_type::asset)};
    for (std::size_t i = 2; i < all.size(); ++i) all[i].optional = true;
    std::erase_if(all, [&](const parameter& p) { return !is_word_of(text, p.name); });
    return std::make_shared<const product>(
        product{"test", "", "", "", "", all, "", script(text, {"p.yaml", 1, 1}, all), {}});
}

TEST(language_payoff, optional_terms_are_asked_for) {
    const arguments least{{"underlying", std::string("ACME")}, {"maturity", time_point{2.0}}};
    arguments most = least;
    most["cap"] = 100.0;
    most["last_call"] = time_point{1.0};
    most["other"] = std::string("BETA");
    const auto value = [&](const std::string& text, const arguments& args) {
        const played p = play(product_with_optional_terms(text), args, usual_path());
        EXPECT_EQ(p.recorded.at("value"), p.eager.at("value")) << text;
        return p.recorded.at("value");
    };
    const std::string capped =
        "on maturity:\n    if given(cap):\n        pay min(spot(underlying), cap)\n    else:\n        pay "
        "spot(underlying)\n";
    EXPECT_EQ(value(capped, least), 112);
    EXPECT_EQ(value(capped, most), 100);
    EXPECT_TRUE(play(product_with_optional_terms(capped), least, usual_path()).code.terms.empty());
    EXPECT_EQ(play(product_with_optional_terms(capped), most, usual_path()).code.terms.size(), 1U);
    // A block on an optional day that is not given never runs; an optional asset not given is not observed.
    const std::string dated =
        "on last_call:\n    pay 1\non maturity:\n    pay 4\n    if given(other):\n        "
        "pay spot(other)\n";
    EXPECT_EQ(value(dated, least), 4);
    EXPECT_EQ(value(dated, most), 13);
    const std::string watched = "between last_call and maturity:\n    pay 1\non maturity:\n    pay 4\n";
    EXPECT_EQ(value(watched, least), 4);
    EXPECT_EQ(value(watched, most), 5);
    const dates::date today = *dates::make_date(2026, 1, 15);
    EXPECT_TRUE(payoff(product_with_optional_terms(dated), least, today, "USD").assets().empty());
    EXPECT_EQ(payoff(product_with_optional_terms(dated), most, today, "USD").assets(),
              std::vector<std::string>{"BETA"});
    try {
        value("on maturity:\n    pay cap\n", least);
        ADD_FAILURE() << "a term that is not given was used";
    } catch (const error& e) {
        EXPECT_STREQ(e.what(), "cap: the trade has no 'cap'");
    }
}

TEST(language, what_is_expected_of_later_dates) {
    // On this path forwards grow by exp(0.05) a year, and options are worth their intrinsic value at the
    // forward.
    EXPECT_DOUBLE_EQ(value_of("on first(observations):\n    pay forward(underlying, maturity)\n"),
                     64 * std::exp(0.05 * 1.5));
    EXPECT_DOUBLE_EQ(value_of("on observations:\n    pay forward(underlying, pay_date)\n"),
                     (64 + 128 + 112) * std::exp(0.05 * 0.25));
    EXPECT_DOUBLE_EQ(value_of("on maturity:\n    pay forward(underlying, maturity)\n"), 112);
    EXPECT_DOUBLE_EQ(value_of("on last(observations):\n    pay call_value(underlying, 100, maturity)\n"), 12);
    EXPECT_EQ(value_of("on last(observations):\n    pay put_value(underlying, 100, maturity)\n"), 0);
    EXPECT_DOUBLE_EQ(value_of("on first(observations):\n    pay put_value(underlying, strike, maturity)\n"),
                     100 - 64 * std::exp(0.05 * 1.5));
    EXPECT_EQ(
        refusal_of("on maturity:\n    pay forward(underlying, first(observations))\n", usual_arguments()),
        "p.yaml:2:9: the forward price for first(observations) (0.5y) is asked for after that day, on 2y");
    EXPECT_EQ(refusal_of("on observations:\n    pay put_value(underlying, 1, first(observations))\n",
                         usual_arguments()),
              "p.yaml:2:9: the value of an option for first(observations) (0.5y) is asked for after that "
              "day, on 1y");
}

TEST(language, dates_within_a_rounding_are_one) {
    const double t = 2.0, later = t + 1e-13, much_later = t + 1e-6;
    for (const double maturity : {t, later, much_later}) {
        const arguments args = with("maturity", time_point{maturity});
        const auto holds = [&](const std::string& condition) {
            path p = usual_path();
            p.spots["ACME"][maturity] = 1;
            return value_of("on maturity:\n    if " + condition + ":\n        pay 1\n", args, p) == 1;
        };
        const bool after = maturity == much_later;
        EXPECT_EQ(holds("maturity > last(observations)"), after) << maturity;
        EXPECT_EQ(holds("maturity >= last(observations)"), true) << maturity;
        EXPECT_EQ(holds("maturity < last(observations)"), false) << maturity;
        EXPECT_EQ(holds("maturity <= last(observations)"), !after) << maturity;
        EXPECT_EQ(holds("maturity == last(observations)"), !after) << maturity;
        EXPECT_EQ(holds("maturity != last(observations)"), after) << maturity;
        EXPECT_EQ(holds("last(observations) < maturity"), after) << maturity;
    }
}

TEST(language_payoff, a_longest_step_is_said_by_the_script_or_the_trade) {
    const auto step = [](const std::string& every, const arguments& args) {
        return payoff(product_of("between start and maturity" + every + ":\n    pay 1\n"), args,
                      *dates::make_date(2026, 1, 15), "USD")
            .blocks()[0]
            .longest_step;
    };
    EXPECT_EQ(step("", usual_arguments()), 0);
    EXPECT_EQ(step(" every 0.25", usual_arguments()), 0.25);
    EXPECT_EQ(step(" every strike", usual_arguments()), 100);
    EXPECT_EQ(step(" within 0.25", usual_arguments()), 0.25);
    EXPECT_EQ(refusal_of("between start and maturity every strike:\n    pay 1\n", with("strike", 0.0)),
              "p.yaml:1:34: the longest step between two dates is 0.000000 years, expected more than 0");
    EXPECT_EQ(value_of("every = 1\nwithin = 2\non observations:\n    every = every + within\n    within = 0\n"
                       "on maturity:\n    pay every\n"),
              3);
}

// Notice is given on days of its own. Each is labelled as a date if the right's day is a date and the notice
// is whole days, else as a time in years.
TEST(language_payoff, notice_has_a_label_for_each_of_its_days) {
    const auto labels = [](const std::string& notice, const arguments& args) {
        const payoff of(product_of("exercise on observations with notice " + notice + ": receive 1\n"), args,
                        *dates::make_date(2026, 1, 15), "USD");
        const block& given = of.blocks().back();
        EXPECT_EQ(given.notice_of, std::size_t{0});
        EXPECT_EQ(given.labels.size(), given.times.size());
        return given.labels;
    };
    using list = std::vector<time_point>;
    EXPECT_EQ(labels("0.25", usual_arguments()), (list{{0.25}, {0.75}, {1.75}}));
    arguments dated = with("observations", dates::schedule{{day(2026, 7, 15), day(2027, 1, 15)}, {}});
    dated["coupon"] = 0.5;
    dated["pay_date"] = time_point{3.0};
    EXPECT_EQ(labels("30 days", dated), (list{day(2026, 6, 15), day(2026, 12, 16)}));
    // The right's dates are 181 and 365 days from today.
    const list broken = labels("36.5 days", dated);
    ASSERT_EQ(broken.size(), 2U);
    EXPECT_NEAR(std::get<double>(broken[0].when), (181 - 36.5) / 365, 1e-12);
    EXPECT_NEAR(std::get<double>(broken[1].when), (365 - 36.5) / 365, 1e-12);
}

TEST(language_payoff, loops_that_unroll_without_end_are_refused) {
    std::vector<std::string> many(100, "ACME");
    arguments args = with("basket", many);
    args["weight"] = 1.0;
    EXPECT_EQ(
        refusal_of("on maturity:\n    pay sum(sum(sum(sum(weight[a] * weight[b] * weight[c] * spot(d) for d "
                   "in basket) for c in basket) for b in basket) for a in basket)\n",
                   args),
        "p.yaml:2:25: the block unrolls to more than 1048576 values, which is the limit; take shorter lists, "
        "or nest fewer loops");
}

}  // namespace
}  // namespace tilewalk::language::language_test
