// SPDX-License-Identifier: Apache-2.0
// Limits of inputs: docs/books.md states the limits of the code, and every place that reads a number keeps
// them.
#include "tilewalk/bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/reading/book_state.h"
#include "engine/reading/library.h"
#include "tests/texts.h"
#include "tilewalk/error.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::bounds_test {
namespace {

using tests::own_text;

// Writes a count with commas: 20,000,000.
std::string counted(std::uint64_t n) {
    std::string digits = std::to_string(n);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return digits;
}
std::string bytes(std::uint64_t n) {
    for (const auto& [shift, unit] : {std::pair{30, " GiB"}, {20, " MiB"}, {10, " KiB"}})
        if (n >> shift > 1 || n == std::uint64_t{1} << shift)
            return n == 1024 ? "1,024 bytes" : counted(n >> shift) + unit;
    return counted(n) + " bytes";
}
std::string number(double x) {
    if (x < 1e6) return counted(static_cast<std::uint64_t>(x));
    std::string text = std::to_string(static_cast<int>(std::log10(x) + 0.5));
    return "1e" + text;
}

TEST(bounds, the_table_of_the_page_is_that_of_the_code) {
    const std::map<std::string, std::string> code{
        {"a file", bytes(bounds::file_bytes)},
        {"a line of a file, but of JSON", bytes(bounds::line_bytes)},
        {"a text in quotes, or a block of lines", bytes(bounds::text_bytes)},
        {"a key", bytes(bounds::key_bytes)},
        {"values in a file", counted(bounds::file_values)},
        {"trades of a book, and other entries of a file", counted(bounds::entries)},
        {"values in one trade, or outside of all entries", counted(bounds::part_values)},
        {"levels of nesting", counted(bounds::nesting)},
        {"an amount or whole number of a trade, its quantity, a spot", number(bounds::money)},
        {"any other number of a trade", number(bounds::number)},
        {"a rate of a trade", number(bounds::rate)},
        {"a time, in years from `as_of`", number(bounds::years)},
        {"an `id`", bytes(bounds::id_bytes)},
        {"dates of a schedule", counted(bounds::schedule_dates)},
        {"holidays of a calendar", counted(bounds::holidays)},
        {"a script", bytes(bounds::script_bytes)},
        {"levels of nesting in a script", counted(bounds::script_nesting)},
        {"steps of a trade", counted(bounds::steps)},
        {"trades of a call, times its markets", counted(bounds::priced_at_once)},
        {"a rate of a market", number(bounds::market_rate)},
        {"a volatility", number(bounds::volatility)},
        {"a volatility of a scenario", number(bounds::scenario_volatility)},
        {"currencies of a market", counted(bounds::currencies)},
        {"assets and rates linked by correlations", counted(bounds::correlated)},
        {"expiries of a surface", counted(bounds::surface_expiries)},
        {"strikes of an expiry", counted(bounds::surface_strikes)},
        {"quotes of options for a fit", counted(bounds::option_quotes)},
        {"quotes of rates for a fit", counted(bounds::rate_quotes)},
        {"scenarios of a file", counted(bounds::scenarios)},
        {"changes of numbers in all scenarios together", counted(bounds::scenario_changes)},
        {"the name of a scenario", bytes(bounds::scenario_name_bytes)},
        {"days of a return from a history", counted(bounds::days_of_a_return)},
        {"a file of results that is read again", bytes(bounds::results_bytes)},
    };
    const std::string header = own_text("engine/include/tilewalk/bounds.h"), word = "inline constexpr ";
    std::size_t constants = 0;
    for (std::size_t at = 0; (at = header.find(word, at)) != std::string::npos; at += word.size())
        ++constants;
    EXPECT_EQ(constants, code.size());

    const std::string page = own_text("docs/books.md"), head = "| bound | at most |\n|---|---|\n";
    const std::size_t begin = page.find(head);
    ASSERT_NE(begin, std::string::npos);
    std::map<std::string, std::string> told;
    for (std::size_t at = begin + head.size(); page[at] == '|';) {
        const std::size_t middle = page.find(" | ", at), end = page.find(" |\n", middle);
        told[page.substr(at + 2, middle - at - 2)] = page.substr(middle + 3, end - middle - 3);
        at = end + 3;
    }
    EXPECT_EQ(told, code);
}

// The complaint about a trade of the product and parameters in `terms`; empty if there is none.
std::string failure_of(const std::string& terms, const std::string& head = "") {
    const book read = book::parse(head + "trades:\n  - {id: a, product: " + terms + "}\n...\n", "b");
    const auto& failure = state_of(read).trades.at(0).failure;
    return failure ? failure->what() : "";
}

TEST(bounds, numbers_of_a_book) {
    const std::string european = "european, underlying: ACME, maturity: 1, strike: ";
    EXPECT_EQ(failure_of(european + "1e15, quantity: -1e15"), "");
    EXPECT_EQ(failure_of(european + "1, quantity: 1e308"),
              "b:2:84: trades[0].quantity: found '1e308', expected a number between -1e+15 and 1e+15");
    EXPECT_NE(failure_of(european + "1, quantity: -1.01e15"), "");
    EXPECT_EQ(failure_of(european + "1.01e15"),
              "b:2:71: trades[0].strike: found '1.01e15', expected a number between -1e+15 and 1e+15");
    const std::string own =
        "products:\n  - product: mine\n    summary: s\n    parameters:\n"
        "      amount_of: {type: amount, default: 1, help: h}\n      number_of: {type: number, default: 1, "
        "help: h}\n"
        "      rate_of: {type: rate, default: 1, help: h}\n      whole: {type: integer, default: 1, help: "
        "h}\n"
        "      days: {type: schedule, help: h}\n      each: {type: amount, per: days, default: 1, help: h}\n"
        "    example: {days: [1]}\n    script: |\n      on days:\n"
        "          pay amount_of + number_of + rate_of + whole + each\n";
    const std::string mine = "mine, days: [1, 2], ";
    ASSERT_EQ(failure_of(mine + "amount_of: 1", own), "");
    for (const char* good : {"amount_of: -1e15", "number_of: 1e100", "rate_of: 1e6", "rate_of: -1e6",
                             "whole: 1e15", "each: [1e15, 0]"})
        EXPECT_EQ(failure_of(mine + good, own), "") << good;
    for (const char* bad : {"amount_of: -1.1e15", "number_of: 1.1e100", "number_of: 1e300", "rate_of: 1.1e6",
                            "rate_of: -1.1e6", "whole: 2e15", "each: [1, 1e16]", "each: 1e16"}) {
        EXPECT_NE(failure_of(mine + bad, own).find(", expected a number between -"), std::string::npos)
            << bad << ": " << failure_of(mine + bad, own);
    }
    EXPECT_NE(failure_of("mine, days: [1, 201]", own), "");
}

TEST(bounds, numbers_of_a_product) {
    const auto refusal = [](const std::string& declared) -> std::string {
        try {
            book::parse(
                "products:\n  - product: mine\n    summary: s\n    parameters:\n      x: {type: number, "
                "help: h, " +
                declared +
                "}\n      m: {type: date, help: h}\n    example: {x: 1, m: 1}\n    script: |\n      on m:\n"
                "          pay x\ntrades: []\n");
        } catch (const error& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_EQ(refusal("maximum: 1e100"), "");
    EXPECT_NE(refusal("maximum: 1e101"), "");
    EXPECT_NE(refusal("minimum: -1e300"), "");
    EXPECT_NE(refusal("default: 1e101"), "");
}

}  // namespace
}  // namespace tilewalk::bounds_test
