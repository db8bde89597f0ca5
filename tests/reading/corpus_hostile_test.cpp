// SPDX-License-Identifier: Apache-2.0
// label: sampled (hostile input)
// Thousands of hostile files made by rules: odd spellings of numbers and days in every place, every value
// replaced by a wrong one, every key misspelt or missing, YAML's traps, broken encodings, scripts,
// correlations, surfaces and invalid files.
//
// Each file is refused with a message and a place, or reads as in an independent second reader and gives
// finite prices. A failure prints the file.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <map>

#include "tests/corpus_court.h"
#include "tests/texts.h"

namespace tilewalk::corpus::corpus_hostile_test {
namespace {

using tests::repeated;
using tests::replaced;
using tests::texts;

enum class end { refused, taken, either };

struct hostile_case {
    std::string title;
    form is = form::book;
    std::string text;
    end expected = end::either;
};

const std::string good_market =
    "as_of: 2026-01-15\n"
    "currencies:\n"
    "  USD:\n"
    "    zero_rates:\n"
    "      0.5: 0.03\n"
    "      2027-06-15: 0.031\n"
    "  EUR:\n"
    "    discount_factors:\n"
    "      1.0: 0.98\n"
    "      2.0: 0.95\n"
    "  GBP:\n"
    "    rate: 0.04\n"
    "assets:\n"
    "  ACME:\n"
    "    currency: USD\n"
    "    spot: 100\n"
    "    dividend_yield: 0.01\n"
    "    volatility: 0.2\n"
    "  BETA:\n"
    "    currency: USD\n"
    "    spot: 50\n"
    "    volatility:\n"
    "      0.5: 0.3\n"
    "      2.0: 0.31\n"
    "    dividends:\n"
    "      - {date: 2026-06-01, amount: 0.5}\n"
    "      - {date: 2026-12-01, proportion: 0.01}\n"
    "  CHIPS:\n"
    "    currency: EUR\n"
    "    spot: 40\n"
    "    model: {heston: {v0: 0.05, kappa: 1.5, theta: 0.06, sigma: 0.5, rho: -0.6}}\n"
    "  MAKER:\n"
    "    currency: EUR\n"
    "    spot: 41.3\n"
    "    model: {merton: {volatility: 0.2, jump_intensity: 0.5, jump_mean: -0.1, jump_sd: 0.1}}\n"
    "fx:\n"
    "  EURUSD:\n"
    "    rate: 1.16\n"
    "    volatility: 0.07\n"
    "correlations:\n"
    "  - [ACME, BETA, 0.5]\n"
    "  - [ACME, EURUSD, 0.1]\n"
    "fixings:\n"
    "  ACME:\n"
    "    2025-12-31: 99\n"
    "    2026-01-12: 99.5\n";

const std::string good_trades =
    "trades:\n"
    "  - id: call\n"
    "    product: european\n"
    "    underlying: ACME\n"
    "    strike: 100\n"
    "    maturity: 1.0\n"
    "    option: call\n"
    "    quantity: 10\n"
    "  - id: average\n"
    "    product: asian\n"
    "    underlying: ACME\n"
    "    strike: 100\n"
    "    averaging_dates:\n"
    "      start: 2025-12-15\n"
    "      end: 2026-12-15\n"
    "      every: 1m\n"
    "      calendar: weekends\n"
    "      roll: preceding\n"
    "  - id: average_of_three\n"
    "    product: asian\n"
    "    underlying: BETA\n"
    "    strike: 50\n"
    "    averaging_dates: [0.25, 0.5, 1.0]\n"
    "  - id: knock_out\n"
    "    product: barrier\n"
    "    underlying: BETA\n"
    "    strike: 50\n"
    "    maturity: 2026-12-15\n"
    "    direction: down\n"
    "    barrier: 40\n"
    "    rebate: 1\n"
    "    rebate_paid: at_hit\n"
    "  - id: note\n"
    "    product: autocallable\n"
    "    basket: [ACME, BETA]\n"
    "    initial_level: [100, 50]\n"
    "    observations:\n"
    "      start: 0\n"
    "      end: 2\n"
    "      count: 4\n"
    "    coupon: [0.02, 0.04, 0.06, 0.08]\n"
    "    protection: 0.6\n"
    "    notional: 1000\n"
    "    currency: EUR\n"
    "  - id: stochastic\n"
    "    product: european\n"
    "    underlying: CHIPS\n"
    "    strike: 41\n"
    "    maturity: 0.5\n"
    "  - id: jumping\n"
    "    product: digital\n"
    "    underlying: MAKER\n"
    "    strike: 41\n"
    "    payout: 10\n"
    "    maturity: 0.75\n";

std::string inner(const std::string& text, const std::string& by) {
    std::string made;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) made += by + line + "\n";
    return made;
}

std::string good_book() {
    return "settings:\n  paths: 1024\n  seed: 5\n" + good_trades + "market:\n" + inner(good_market, "  ");
}

const std::string good_product =
    "product: own\n"
    "summary: A call that pays some of itself at once\n"
    "description: Nothing more is to be said.\n"
    "formula: max(S - K, 0)\n"
    "parameters:\n"
    "  underlying:\n"
    "    type: asset\n"
    "    help: The asset.\n"
    "  strike:\n"
    "    type: amount\n"
    "    above: 0\n"
    "    default: 100\n"
    "    help: The strike.\n"
    "  share:\n"
    "    type: rate\n"
    "    minimum: 0\n"
    "    maximum: 1\n"
    "    default: 0.5\n"
    "    help: What is paid.\n"
    "  side:\n"
    "    type: choice\n"
    "    choices: [up, down]\n"
    "    default: up\n"
    "    help: The side.\n"
    "  days:\n"
    "    type: schedule\n"
    "    help: The days.\n"
    "  levels:\n"
    "    type: number\n"
    "    per: days\n"
    "    default: 1\n"
    "    help: A level for each.\n"
    "  maturity:\n"
    "    type: date\n"
    "    help: The end.\n"
    "example:\n"
    "  underlying: ACME\n"
    "  strike: 100\n"
    "  days: [0.25, 0.5]\n"
    "  maturity: 1.0\n"
    "script: |\n"
    "  top = 0\n"
    "  on days:\n"
    "      top = max(top, spot(underlying) * levels)\n"
    "  on maturity:\n"
    "      if side == up:\n"
    "          pay share * max(top - strike, 0)\n"
    "      else:\n"
    "          pay 0.25 * max(strike - top, 0)\n";
const std::string own_trade =
    "{id: a, product: own, underlying: ACME, strike: 100, days: [0.25, 0.5], maturity: 1.0}";

const std::string good_calendar =
    "weekend: [saturday, sunday]\n"
    "holidays:\n"
    "  - 2026-01-01\n"
    "  - 2026-12-25\n"
    "  - 2027-12-27\n";

const std::vector<std::pair<form, std::string>>& good_files() {
    static const std::vector<std::pair<form, std::string>> all{{form::book, good_book()},
                                                               {form::market, good_market},
                                                               {form::product, good_product},
                                                               {form::calendar, good_calendar}};
    return all;
}
const char* name_of(form is) {
    return is == form::book      ? "book"
           : is == form::market  ? "market"
           : is == form::product ? "product"
                                 : "calendar";
}

// A text `from` of a good file, replaced by `to` with a hostile number or day for '@'.
struct place {
    form is;
    const char* from;
    const char* to;
    double least, most;  // numbers between these must be accepted
    bool takes_days = false, takes_numbers = true;
};

const place places[] = {
    {form::book, "strike: 100\n    maturity", "strike: @\n    maturity", 1e-3, 1e6},
    {form::book, "quantity: 10", "quantity: @", -1e6, 1e6},
    {form::book, "maturity: 1.0", "maturity: @", 0.05, 5, true},
    {form::book, "rebate: 1\n", "rebate: @\n", 0, 1000},
    {form::book, "protection: 0.6", "protection: @", 0, 1},
    {form::book, "notional: 1000", "notional: @", 1e-3, 1e6},
    {form::book, "barrier: 40", "barrier: @", 1, 45},
    {form::book, "payout: 10", "payout: @", 0.1, 1e6},
    {form::book, "      start: 2025-12-15", "      start: @", 1, 0, true},
    {form::book, "      end: 2026-12-15", "      end: @", 1, 0, true},
    {form::book, "      end: 2\n", "      end: @\n", 1.5, 10, true},
    {form::book, "      count: 4", "      count: @", 4, 4},
    {form::book, "[0.25, 0.5, 1.0]", "[0.25, 0.5, @]", 0.75, 10},
    {form::book, "[100, 50]", "[100, @]", 1, 1e4},
    {form::book, "[0.02, 0.04,", "[@, 0.04,", 0, 0.03},
    {form::market, "as_of: 2026-01-15", "as_of: @", 1, 0, true, false},
    {form::market, "0.5: 0.03", "0.5: @", -0.05, 0.2},
    {form::market, "      0.5: 0.03", "      @: 0.03", 0.05, 1, true},
    {form::market, "2027-06-15: 0.031", "@: 0.031", 1, 5, true},
    {form::market, "1.0: 0.98", "1.0: @", 0.9, 1},
    {form::market, "rate: 0.04", "rate: @", -0.05, 0.2},
    {form::market, "spot: 100", "spot: @", 1e-2, 1e6},
    {form::market, "dividend_yield: 0.01", "dividend_yield: @", -0.1, 0.2},
    {form::market, "volatility: 0.2\n  BETA", "volatility: @\n  BETA", 0.01, 1},
    {form::market, "2.0: 0.31", "2.0: @", 0.2, 0.9},
    {form::market, "2.0: 0.31", "@: 0.31", 1, 5, true},
    {form::market, "amount: 0.5", "amount: @", 0, 10},
    {form::market, "proportion: 0.01", "proportion: @", 0, 0.5},
    {form::market, "date: 2026-06-01", "date: @", 0.1, 5, true},
    {form::market, "rate: 1.16", "rate: @", 0.5, 2},
    {form::market, "volatility: 0.07", "volatility: @", 0.01, 1},
    {form::market, "BETA, 0.5]", "BETA, @]", -0.9, 0.9},
    {form::market, "2025-12-31: 99", "2025-12-31: @", 1, 1e4},
    {form::market, "2025-12-31: 99", "@: 99", 1, 0, true, false},
    {form::market, "v0: 0.05", "v0: @", 0.01, 0.2},
    {form::market, "theta: 0.06", "theta: @", 0.01, 0.2},
    {form::market, "kappa: 1.5", "kappa: @", 0.5, 5},
    {form::market, "jump_intensity: 0.5", "jump_intensity: @", 0.1, 2},
    {form::market, "jump_mean: -0.1", "jump_mean: @", -0.3, 0.3},
    {form::product, "default: 100", "default: @", 1, 1e6},
    {form::product, "minimum: 0", "minimum: @", -10, 0},
    {form::product, "maximum: 1", "maximum: @", 0.5, 10},
    {form::product, "  strike: 100", "  strike: @", 1, 1e6},
    {form::product, "  maturity: 1.0", "  maturity: @", 0.6, 5, true},
    {form::calendar, "2026-12-25", "@", 1, 0, true, false},
};

const std::vector<std::string>& odd_numbers() {
    static const std::vector<std::string> all =
        texts("1", "0.75", "3", "7e-1", "0.02", "95", "1e-3", ".5", "5.", "+.5", "+1", "1.e0", "0.0", "-0",
              "+0", "-0.0", "0e0", "0e999", "1E0", "1E+00", "1e00", "0x1", "0X1", "0x1p3", "0o17", "0b11",
              "00", "01", "0144", "08", "-01", "1_000", "1,5", "1 000", "1'000", "1.000,5", "20%", "5k",
              "25bp", "$100", "100USD", "100 USD",
              "\xe2\x82\xac"
              "5",
              "1/4", "1e400", "-1e400", "1e-400", "4.9e-324", "2.2250738585072011e-308", "1e308",
              "1.7976931348623157e308", "1.7976931348623159e308", "123456789012345678901234567890",
              "9007199254740993", "1e22", "1e23", "0.1000000000000000055511151231257827021181583404541015625",
              "0.3000000000000000166533453693773481063544750213623046875",
              "1.00000000000000011102230246251565404236316680908203125",
              "1.00000000000000011102230246251565404236316680908203124", ".", "+", "-", "+.", "-.", "e", "1e",
              "1e+", "1e-", "e5", ".e5", "1..2", "1.2.3", "--1", "++1", "+-1", "-+1", "1-", "1+1", "2*3",
              "(1)", "inf", "-inf", "+inf", ".inf", "-.inf", "+.inf", ".Inf", ".INF", "infinity", "nan",
              "-nan", ".nan", ".NaN", ".NAN", "nan(1)", "1:30", "1:30:00", "190:20:30", "true", "True", "yes",
              "on", "no", "y", "null", "~", "Null", "none", "\xd9\xa1\xd9\xa0", "\xef\xbc\x91\xef\xbc\x92",
              "\xe2\x88\x92"
              "1",
              "1\xe2\x80\x89"
              "000",
              "\xc2\xbd", "\xe2\x85\xa7", "1\xc2\xb2", "1d0", "1f", "1L", "1e5.0", "1e1e1", "0.5.0", "'1'",
              "\"1\"", "\"\\x31\"", "1#", "1 # one", "one", "@1", "`1`", "%1", "!!int 1", "!!float 1",
              "!<tag:yaml.org,2002:float> 1", "&a 1", "*a", "| 1", "> 1", "{1}", "[1]", "[[1]]", "{a: 1}",
              "[]", "{}", "''", "\"\"", "- 1", "? 1", ": 1", "1: 1", "1, 2", "<<", "=", "\\1");
    return all;
}
const std::vector<std::string>& odd_days() {
    static const std::vector<std::string> all = texts(
        "2026-01-15", "2026-06-30", "2027-01-15", "2024-02-29", "2028-02-29", "2000-02-29", "1900-01-01",
        "2299-12-31", "2026-02-30", "2026-02-29", "2100-02-29", "1900-02-29", "2027-02-29", "2026-04-31",
        "2026-06-31", "2026-13-01", "2026-00-01", "2026-01-00", "2026-01-32", "0000-00-00", "0001-01-01",
        "1899-12-31", "2300-01-01", "9999-12-31", "9999999-01-01", "-2026-01-01", "+2026-01-15", "26-01-15",
        "2026-1-5", "2026-01-5", "2026-1-05", "20260115", "2026/01/15", "2026.01.15", "2026_01_15",
        "2026 01 15", "15-01-2026", "15.01.2026", "01/15/2026", "15/01/2026", "2026-01-15T00:00:00",
        "2026-01-15T00:00:00Z", "2026-01-15 00:00:00", "2026-01-15Z", "2026-01-15+01:00", "2026-W03-4",
        "2026-015", "2026-01", "2026", "Jan 15 2026", "15 Jan 2026", "15-Jan-2026", "today", "tomorrow",
        "now", "6m", "1y", "46037", "1768435200", "-1", "\xd9\xa2\xd9\xa0\xd9\xa2\xd9\xa6-01-15",
        "2026\xe2\x80\x90"
        "01\xe2\x80\x90"
        "15",
        "2026\xe2\x88\x92"
        "01\xe2\x88\x92"
        "15",
        "\xef\xbc\x92\xef\xbc\x90\xef\xbc\x92\xef\xbc\x96-01-15", "2026-01-15x", "x2026-01-15", "2026--01-15",
        "2026-01--15", "2026-01-15-", "-2026-01-15-", "2026-0a-15", "2026-01-1 5", "'2026-01-15'",
        "\"2026-06-30\"", "\"2026-01-15 \"", "!!timestamp 2026-01-15", "[2026-01-15]", "{2026-01-15: 1}", "~",
        "", "1e400", "nan", ".inf", "0x7ea");
    return all;
}

void add_spellings(std::vector<hostile_case>& cases) {
    for (const place& at : places) {
        std::string good;
        for (const auto& [is, text] : good_files()) {
            if (is == at.is) good = text;
        }
        const std::size_t found = good.find(at.from);
        if (found == std::string::npos) throw std::runtime_error(std::string("no place ") + at.from);
        const std::string to = at.to;
        const bool in_brackets = to.find('[') != std::string::npos || to.find("amount") == 0 ||
                                 to.find("proportion") == 0 || to.find("date: @") == 0 ||
                                 to.find("theta") == 0 || to.find("v0") == 0 || to.find("kappa") == 0 ||
                                 to.find("jump") == 0;
        const auto spell = [&](const std::string& word) {
            hostile_case made{std::string(name_of(at.is)) + ": " + to + " with " + word, at.is, good};
            made.text.replace(found, std::string(at.from).size(),
                              std::string(to).replace(to.find('@'), 1, word));
            // After a key, YAML reads a word without special characters as it stands.
            const bool is_bare = word.find_first_of("#:,[]{}&*!|>'\"%@`\\?=<() ") == std::string::npos &&
                                 !word.empty() && word != "-" && !(in_brackets && word == "~");
            if (!is_bare) return cases.push_back(std::move(made));
            const auto number = independent::number(word);
            const auto day = independent::day(word);
            const bool may_be = (at.takes_numbers && number) || (at.takes_days && day);
            if (!may_be) made.expected = end::refused;
            if (at.takes_numbers && number && *number >= at.least && *number <= at.most)
                made.expected = end::taken;
            // Counts must be whole numbers.
            if (std::string(at.to).find("count") != std::string::npos && number &&
                *number != std::floor(*number))
                made.expected = end::refused;
            cases.push_back(std::move(made));
        };
        for (const std::string& word : odd_numbers()) spell(word);
        if (at.takes_days) {
            for (const std::string& word : odd_days()) spell(word);
        }
    }
}

// Writes a tree as YAML again, with one node replaced, or one key left out, misspelt or doubled.
struct writer {
    int target = -1;           // number of the replaced node
    std::string in_its_place;  // YAML value, on one line
    int lost_key = -1, misspelt_key = -1, doubled_key = -1;
    int nodes = 0, keys = 0;

    std::string flow(const tree& value) {
        if (nodes++ == target) return skip(value), in_its_place;
        switch (value.kind) {
            case tree::shape::nothing:
                return "~";
            case tree::shape::text:
                return value.is_quoted ? "'" + value.text + "'" : value.text;
            case tree::shape::list: {
                std::string made = "[";
                for (const tree& item : value.items) made += (made.size() > 1 ? ", " : "") + flow(item);
                return made + "]";
            }
            case tree::shape::mapping: {
                std::string made = "{";
                for (const auto& [key, held] : value.members) {
                    const std::string part = entry(key, held);
                    if (!part.empty()) made += (made.size() > 1 ? ", " : "") + part;
                }
                return made + "}";
            }
        }
        return "";
    }
    std::string block(const tree& root) {
        std::string made;
        for (const auto& [key, held] : root.members) {
            const bool is_script = key == "script" && held.is_quoted;
            const std::string part = entry(key, held, "\n", is_script);
            if (!part.empty()) made += part + "\n";
        }
        return made;
    }

  private:
    std::string entry(const std::string& key, const tree& held, const std::string& between = ", ",
                      bool is_script = false) {
        const int at = keys++;
        const bool in_lines = is_script && nodes != target;
        const std::string value = in_lines ? "|\n" + inner(held.text, "  ") : flow(held);
        if (in_lines) ++nodes;
        if (at == lost_key) return "";
        const std::string one = (at == misspelt_key ? key + "x" : key) + ": " + value;
        return at == doubled_key ? one + between + one : one;
    }
    void skip(const tree& value) {
        for (const tree& item : value.items) {
            ++nodes;
            skip(item);
        }
        for (const auto& [key, held] : value.members) {
            ++keys;
            ++nodes;
            skip(held);
        }
    }
};

void add_wrong_values(std::vector<hostile_case>& cases) {
    const std::vector<std::string> strangers{
        "~",      "abc",    "true",     "-1",           "0",  "1e300",      "[]",        "{}",
        "[1, 2]", "{a: 1}", "[[[[]]]]", "'2026-01-15'", "''", "2299-12-31", "\"a\\nb\"", "ACME"};
    for (const auto& [is, text] : good_files()) {
        const tree root = independent::yaml(text);
        writer counts;
        const std::string whole = counts.block(root);
        cases.push_back({std::string(name_of(is)) + " in brackets", is, whole, end::taken});
        for (int node = 0; node < counts.nodes; ++node) {
            for (const std::string& value : strangers) {
                writer w{node, value};
                std::string made = w.block(root);
                if (made != whole)
                    cases.push_back({std::string(name_of(is)) + ": value " + std::to_string(node) +
                                         " replaced by " + value,
                                     is, std::move(made)});
            }
        }
        for (int key = 0; key < counts.keys; ++key) {
            const std::string which = std::string(name_of(is)) + ": key " + std::to_string(key);
            writer lost, misspelt, doubled;
            lost.lost_key = misspelt.misspelt_key = doubled.doubled_key = key;
            cases.push_back({which + " left out", is, lost.block(root)});
            // Either outcome is right: a misspelt name of an asset or parameter is just another name.
            cases.push_back({which + " misspelt", is, misspelt.block(root)});
            const std::string twice = doubled.block(root);
            cases.push_back({which + " twice", is, twice, end::refused});
        }
    }
}

void add_yaml(std::vector<hostile_case>& cases) {
    for (const auto& [is, good] : good_files()) {
        const std::string which = name_of(is);
        const std::string first = good.substr(0, good.find(':'));
        const auto refused = [&](const std::string& title, const std::string& text) {
            cases.push_back({which + ": " + title, is, text, end::refused});
        };
        const auto either = [&](const std::string& title, const std::string& text) {
            cases.push_back({which + ": " + title, is, text});
        };
        const auto taken = [&](const std::string& title, const std::string& text) {
            cases.push_back({which + ": " + title, is, text, end::taken});
        };
        const auto with = [&](const std::string& from, const std::string& to) {
            return replaced(good, from, to);
        };
        std::string crlf;
        for (const char c : good) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
        std::string cr = good;
        std::replace(cr.begin(), cr.end(), '\n', '\r');
        std::string wide, swapped_wide;
        for (const char c : good) {
            wide += {c, '\0'};
            swapped_wide += {'\0', c};
        }

        taken("as it is", good);
        taken("with a byte order mark", "\xef\xbb\xbf" + good);
        taken("with an end", good + "...\n");
        taken("with a beginning", "---\n" + good);
        taken("with a comment", "# \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n" + good);
        if (is != form::product) taken("with lines that end as on Windows", crlf);

        refused("nothing", "");
        refused("a space", " ");
        refused("an end of line", "\n");
        refused("comments alone", "# a\n# b\n");
        refused("an end alone", "...\n");
        refused("a beginning alone", "---\n");
        refused("a byte order mark alone", "\xef\xbb\xbf");
        refused("a word", "abc\n");
        refused("a number", "5\n");
        refused("a list", "- a\n- b\n");
        refused("a list of itself", "- " + good);
        refused("an empty mapping", "{}\n");
        refused("a tilde", "~\n");
        refused("lines that end as on old computers", cr);
        refused("two bytes a letter", "\xff\xfe" + wide);
        refused("two bytes a letter, the other way", "\xfe\xff" + swapped_wide);
        refused("two bytes a letter without a mark", wide);
        refused("a byte order mark inside", with(": ", ": \xef\xbb\xbf"));
        refused("a zero byte at the end", good + std::string(1, '\0'));
        refused("a zero byte inside", with(":", std::string(":\0", 2)));
        refused("a tab in the indentation", with("\n ", "\n\t "));
        refused("a tab for the indentation", with("\n  ", "\n\t"));
        either("a tab before a value", with(": ", ":\t"));
        either("a tab at the end of a line", with("\n", "\t\n"));
        either("a carriage return inside", with(" ", "\r"));
        either("a line separator", with(" ", "\xe2\x80\xa8"));
        either("a paragraph separator", with(" ", "\xe2\x80\xa9"));
        either("a next line", with(" ", "\xc2\x85"));
        either("a space that does not break", with(" ", "\xc2\xa0"));
        either("a space of no width", with(":", "\xe2\x80\x8b:"));
        either("a text that runs the other way", with(": ", ": \xe2\x80\xae"));
        for (const std::string& bytes :
             texts("\xff", "\xfe", "\x80", "\xbf", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf",
                   "\xf8\x88\x80\x80\x80", "\xed\xa0\x80", "\xed\xbf\xbf", "\xed\xa0\xbd\xed\xb8\x80",
                   "\xf4\x90\x80\x80", "\xf7\xbf\xbf\xbf", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc0\x80",
                   "\xe9", "\x80\xff\xfe")) {
            std::string title = "the bytes";
            for (const char c : bytes) title += " " + std::to_string(static_cast<unsigned char>(c));
            refused(title + " in a value", with(": ", ": a" + bytes));
            refused(title + " in a comment", "# " + bytes + "\n" + good);
            refused(title + " at the end", good + "# " + bytes);
        }
        for (int code = 1; code < 32; ++code) {
            if (code == 9 || code == 10 || code == 13) continue;
            refused("the control character " + std::to_string(code),
                    with(": ", ": " + std::string(1, static_cast<char>(code))));
        }
        refused("the control character 127", with(":", "\x7f:"));

        refused("an anchor", with(": ", ": &a "));
        refused("an alias", good + "zz: *a\n");
        refused("an anchor and its alias", good + "zz: &a {b: *a}\n");
        refused("an anchor of the whole", "&a\n" + good);
        refused("a merge key", good + "<<: {a: 1}\n");
        refused("a merge key of an alias", good + "<<: *b\n");
        refused("many anchors", repeated("&a ", 1000) + good);
        refused(
            "laughs by the billion", "a: &a [1, 1]\n" + [] {
                std::string laughs;
                for (char c = 'b'; c < 'z'; ++c)
                    laughs += std::string(1, c) + ": &" + c + " [*" +
                              std::string(1, static_cast<char>(c - 1)) + ", *" +
                              std::string(1, static_cast<char>(c - 1)) + "]\n";
                return laughs;
            }() + good);
        for (const char* tag :
             {"!!str", "!!int", "!!float", "!!null", "!!map", "!!seq", "!!binary", "!!set", "!!omap",
              "!!timestamp", "!a", "!", "!<a>", "!!python/object:os.system", "!include"}) {
            refused(std::string("the tag ") + tag + " of a new key", good + "zz: " + tag + " a\n");
            refused(std::string("the tag ") + tag + " of the whole", "--- " + std::string(tag) + "\n" + good);
        }
        refused("a declared tag", "%TAG ! tag:a,2026:\n---\n" + good + "zz: !b 1\n");
        either("a version", "%YAML 1.2\n---\n" + good);
        either("an old version", "%YAML 1.1\n---\n" + good);
        refused("a version to come", "%YAML 3.0\n---\n" + good);
        either("an unknown directive", "%HELLO\n---\n" + good);
        either("a directive alone", "%YAML 1.2\n" + good);
        refused("a second document", good + "---\n" + good);
        refused("a second document after an end", good + "...\n" + good);
        refused("an empty second document", good + "---\n");
        refused("itself twice", good + good);
        refused("an unknown key", good + "zz: 1\n");
        refused("an unknown key at first", "zz: 1\n" + good);
        refused("a key of spaces", good + "\"  \": 1\n");
        refused("no key", good + ": 1\n");
        refused("an empty key", good + "'': 1\n");
        refused("a key of a list", good + "? [a]\n: 1\n");
        refused("a key of a mapping", good + "? {a: 1}\n: 1\n");
        refused("a key without a colon", good + "zz\n");
        refused("a key without a space", good + "zz:1\n");
        refused("a key of a thousand letters", good + std::string(1000, 'k') + ": 1\n");
        refused("a key of ten thousand letters", good + std::string(10'000, 'k') + ": 1\n");
        refused("a key of line ends", good + "\"" + repeated("\\n", 300) + "\": 1\n");
        refused("a key that a terminal obeys", good + "\"\\e[2J\": 1\n");
        refused("a key that a terminal obeys, by bytes", good + "\x1b[2J: 1\n");
        refused("a key that rings", good + "\"\\a\\a\\a\": 1\n");
        refused("a key of signs from Asia", good + repeated("\xe6\xbc\xa2", 60) + ": 1\n");
        refused("a key that runs the other way", good +
                                                     "\xe2\x80\xae"
                                                     "abc: 1\n");
        refused("a key of half a pair", good + "\"\\ud83d\": 1\n");
        refused("a key of the wrong pair", good + "\"\\ude00\\ud83d\": 1\n");
        refused("a key beyond Unicode", good + "\"\\U00110000\": 1\n");
        refused("a key of an unknown escape", good + "\"\\q\": 1\n");
        refused("a key of a cut escape", good + "\"\\x4\": 1\n");
        refused("the first key twice", good + first + ": 1\n");
        refused("the first key twice, in quotes", good + "'" + first + "': 1\n");
        refused(
            "the first key twice, escaped", good + "\"\\x" + [&] {
                constexpr std::string_view hex = "0123456789abcdef";
                const auto code = static_cast<unsigned char>(first[0]);
                return std::string(1, hex[code >> 4U]) + hex[code & 15U] + first.substr(1);
            }() + "\": 1\n");
        for (const char* opened :
             {"[",           "{",           "[[",      "{a: ",     "{a: [",    "'",
              "\"",          "[']",         "{\"}",    "[a, b",    "{a: 1, b", "[}",
              "{]",          "[a]]",        "{a: 1}}", "(",        "|",        ">",
              "|9",          ">-+",         "|0",      "|-a",      "- a",      "? a",
              "@a",          "`a`",         "%a",      "a: b",     "'a' b",    "\"a\" b",
              "[a] b",       "{a: 1} b",    "[,]",     "[a,,b]",   "{,}",      "{a: 1,, b: 2}",
              "{a: 1 b: 2}", "[a b: c: d]", "{a, b}",  "{[a]: 1}", "*",        "&",
              "!",           "&a",          "*a",      "!a"}) {
            refused(std::string("a new key with ") + opened, good + "zz: " + opened + "\n");
            std::string inside = good;
            const std::size_t at = inside.find(": ") + 2;
            either(std::string("a value ") + opened, inside.replace(at, inside.find('\n', at) - at, opened));
        }
        refused("an entry among keys", good + "- a\n");
        refused("a line too far out", "  " + good + "zz: 1\n");
        refused("a last line in the middle", with("\n", "\n...\n"));
        refused("a beginning in the middle", with("\n", "\n---\n"));
        for (const std::string& open :
             {std::string("["), std::string("{a: "), std::string("- "), std::string("? "), std::string("{"),
              std::string("'"), std::string("\""), std::string("!a "), std::string("&a "),
              std::string(": ")}) {
            refused("many of " + open, repeated(open, 20'000));
            refused("a new key with many of " + open, good + "zz: " + repeated(open, 20'000) + "\n");
            refused("a thousand of " + open, good + "zz: " + repeated(open, 1000) + "\n");
        }
        std::string deep;
        for (std::size_t i = 0; i < 500; ++i) deep += std::string(i, ' ') + "a:\n";
        refused("five hundred levels", deep);
        refused("a hundred levels of brackets",
                good + "zz: " + repeated("[", 100) + repeated("]", 100) + "\n");
        refused("a text of 300 kB", good + "zz: " + std::string(300'000, 'x') + "\n");
        refused("a line of 2 MB", good + "# " + std::string(2'000'000, 'x') + "\n");
        refused("a number of 100,000 digits", good + "zz: " + std::string(100'000, '9') + "\n");
        refused(
            "100,000 keys", good + [] {
                std::string keys;
                for (int i = 0; i < 100'000; ++i) keys += "k" + std::to_string(i) + ": 1\n";
                return keys;
            }());
        refused("a list of 300,000", good + "zz: [" + repeated("1,", 300'000) + "1]\n");
        refused("two million empty lines, no value", repeated("\n", 2'000'000));
        // A file cut at many places: if accepted, it must read as the second reader reads it.
        for (std::size_t at = 1; at < good.size(); at += std::max<std::size_t>(good.size() / 40, 1))
            either("cut at " + std::to_string(at), good.substr(0, at));
    }
}

void add_scripts(std::vector<hostile_case>& cases) {
    const std::string head = good_product.substr(0, good_product.find("script: |"));
    const auto script = [&](const std::string& title, const std::string& lines, end expected = end::refused) {
        cases.push_back(
            {"script: " + title, form::product, head + "script: |\n" + inner(lines, "  "), expected});
    };
    const auto pays = [&](const std::string& what, end expected = end::refused) {
        script("pay " + what.substr(0, 60),
               "on days:\n    x = levels * strike * share\n    if side == up:\n        y = x\n    pay 0 * "
               "spot(underlying)\non maturity:\n    pay " +
                   what + "\n",
               expected);
    };
    script("nothing", "");
    script("a comment alone", "# nothing\n");
    script("a word", "pay\n");
    script("no block", "pay 1\n");
    script("an empty block", "on maturity:\n");
    script("an empty block with a comment", "on maturity:\n    # nothing\n");
    script("a block that is not further in", "on maturity:\npay 1\n");
    script("a block that comes back half", "on maturity:\n    if 1 > 0:\n        pay 1\n      pay 2\n");
    script("a tab", "on maturity:\n\tpay 1\n");
    script("a tab after spaces", "on maturity:\n  \tpay 1\n");
    script("a first line further in", "on maturity:\n        pay 1\n    pay 2\n");
    script("an unknown date", "on maturities:\n    pay 1\n");
    script("a date that is a number", "on strike:\n    pay 1\n");
    script("a date that is an asset", "on underlying:\n    pay 1\n");
    script("no colon", "on maturity\n    pay 1\n");
    script("two colons", "on maturity::\n    pay 1\n");
    script("the last of a date", "on last(maturity):\n    pay 1\n");
    script("a block in a block", "on maturity:\n    on maturity:\n        pay 1\n");
    script("else without if", "on maturity:\n    else:\n        pay 1\n");
    script("elif without if", "on maturity:\n    elif 1 > 0:\n        pay 1\n");
    script(
        "two elses",
        "on maturity:\n    if 1 > 0:\n        pay 1\n    else:\n        pay 2\n    else:\n        pay 3\n");
    script("if without a condition", "on maturity:\n    if:\n        pay 1\n");
    script("if with a number", "on maturity:\n    if 1:\n        pay 1\n");
    script("for over a number", "on maturity:\n    for a in strike:\n        pay 1\n");
    script("for over an asset", "on maturity:\n    for a in underlying:\n        pay 1\n");
    script("for over itself", "on maturity:\n    for a in a:\n        pay 1\n");
    script("for a parameter", "on maturity:\n    for strike in days:\n        pay 1\n");
    script("a name read before it is set", "on maturity:\n    pay z\n");
    script("a name that is itself", "z = z + 1\non maturity:\n    pay z\n");
    script("two names of each other", "a = b\nb = a\non maturity:\n    pay a\n");
    script("a parameter that is set", "on maturity:\n    strike = 5\n    pay strike\n");
    script("a function that is set", "on maturity:\n    max = 5\n    pay max\n");
    script("a word that is set", "on maturity:\n    on = 5\n    pay 1\n");
    script("a number that is set", "on maturity:\n    5 = strike\n    pay 1\n");
    script("a time that is set", "on maturity:\n    time = 5\n    pay 1\n");
    script("refuse without words", "refuse\non maturity:\n    pay 1\n");
    script("refuse with an open quote", "if strike > 1:\n    refuse \"abc\non maturity:\n    pay 1\n");
    script("refuse with a terminal's order",
           "if strike > 1:\n    refuse \"\\e[2J\"\non maturity:\n    pay 1\n", end::either);
    script("refuse always",
           "if strike > 0:\n    refuse \"" + std::string(5000, 'a') + "\"\non maturity:\n    pay 1\n");
    script("stop with a value", "on maturity:\n    stop 1\n");
    script("lines after stop", "on maturity:\n    stop\n    pay 1\n", end::either);
    script("pay before the blocks", "pay 1\non maturity:\n    pay 1\n");
    script("between without an and", "between 0:\n    pay 1\n");
    script("between a date and itself", "between maturity and maturity:\n    pay 1\n", end::either);
    script("between that runs backwards", "between maturity and days:\n    pay 1\n");
    script("a schedule of no days", "on []:\n    pay 1\n");
    script(
        "a block for each letter",
        [] {
            std::string text;
            for (int i = 0; i < 2000; ++i) text += "on maturity:\n    pay 1\n";
            return text;
        }(),
        end::either);
    script(
        "three thousand names",
        [] {
            std::string text = "on maturity:\n    x0 = 1\n";
            for (int i = 1; i < 3000; ++i)
                text += "    x" + std::to_string(i) + " = x" + std::to_string(i - 1) + " + 1\n";
            return text + "    pay x2999\n";
        }(),
        end::either);
    script(
        "doubling, a hundred times",
        [] {
            std::string text = "on maturity:\n    x0 = spot(underlying)\n";
            for (int i = 1; i < 100; ++i)
                text += "    x" + std::to_string(i) + " = x" + std::to_string(i - 1) + " * x" +
                        std::to_string(i - 1) + "\n";
            return text + "    pay x99\n";
        }(),
        end::either);
    script("a hundred levels of if", [] {
        std::string text = "on maturity:\n";
        for (std::size_t i = 1; i < 100; ++i) text += std::string(i * 2, ' ') + "if strike > 1:\n";
        return text + std::string(200, ' ') + "pay 1\n";
    }());
    script("ten thousand lines", "on maturity:\n" + repeated("    pay 1\n", 10'000));
    script("a line of 60,000 signs", "on maturity:\n    pay 1" + repeated(" + 1", 15'000) + "\n",
           end::either);
    for (const std::string& what :
         texts("", "()", "(1", "1)", "1 +", "+ + 1", "1 1", "1,2", "1_000", "0x10", "1e", "1e400", "1e-400",
               ".", "..5", "1.2.3", "inf", "nan", "1 = 1", "1 == 1", "strike == strike", "1 < 2 < 3", "not 1",
               "true", "up", "side", "\"text\"", "'text'", "underlying", "days", "maturity", "levels[]",
               "levels[0]", "levels[-1]", "levels[99]", "levels[1.5]", "levels[levels]", "spot", "spot()",
               "spot(strike)", "spot(underlying, 1)", "spot(ACME)", "spot(spot)", "max()", "max(1)",
               "max(1,)", "max(, 1)", "maximum(1, 2)", "sqrt()", "sqrt(1, 2)", "exp()", "eval(1)",
               "import os", "__import__(1)", "system(1)", "a.b", "a->b", "a[1]", "{1}", "[1]", "1;2",
               "1 ? 2 : 3", "1 if 2 else 3", "lambda: 1", "strike!", "~1", "!1", "1 // 2", "1 ^ 2", "1 & 2",
               "1 | 2", "1 << 2", "&x", "*x", "$x", "@x", "#", "\\x", "1\\", "\xc2\xbd",
               "\xe2\x88\x9a"
               "2",
               "\xd9\xa1", "x\xc3\xa9", "for a in days", "sum(a)", "sum(1 for a in days)",
               "sum(for a in days)", "worst(spot(a) for a in strike)", "size(strike)", "last(strike)",
               "first(underlying)", "year_fraction(1, 2, 3)", "bond(1, 2)", "touched_below(underlying, 1)",
               "index[1]", "given(5)", "pay 1", "stop")) {
        pays(what);
    }
    for (const std::string& what : texts(
             "1 / 0", "0 / 0", "1 / (strike - strike)", "log(0)", "log(-1)", "log(strike - 200)", "sqrt(-1)",
             "sqrt(strike - 101)", "exp(1000)", "exp(exp(exp(10)))", "(-1) ** 0.5", "0 ** 0", "0 ** -1",
             "10 ** 400", "1e308 * 10", "-1e308 * 10", "1e308 * 10 - 1e308 * 10", "spot(underlying) / 0",
             "1e-308 / 1e308", "-0", "0 * -1", "max(0 / 0, 1)", "min(1, 0 / 0)", "spot(underlying) ** 1000",
             "exp(spot(underlying) * 100)", "1 / (spot(underlying) - spot(underlying))",
             "log(spot(underlying) - 1000)", "time / 0", "time", "norm_cdf(1e300)", "norm_inv(2)",
             "norm_inv(0)", "abs(-1e308) * 2", "floor(1e300)", "round(0 / 0)")) {
        pays(what, end::either);
    }
    for (const std::size_t depth : {60U, 70U, 1000U, 10'000U})
        pays(repeated("(", depth) + "1" + repeated(")", depth), depth > 65 ? end::refused : end::either);
    for (const std::size_t depth : {70U, 1000U, 10'000U}) {
        pays(repeated("-", depth) + "1", end::either);
        pays(repeated("not ", depth) + "1");
        pays(repeated("max(1, ", depth) + "1" + repeated(")", depth));
        pays("1" + repeated(" ** 1", depth), end::either);
    }
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"type: amount", "type: money"},
             {"type: amount", "type: asset_list"},
             {"type: amount", "type: schedule"},
             {"type: amount", "type: choice"},
             {"type: schedule", "type: amount"},
             {"type: date", "type: schedule"},
             {"type: asset", "type: amount"},
             {"above: 0", "above: 200"},
             {"above: 0", "above: 0\n    minimum: 0"},
             {"above: 0", "above: abc"},
             {"above: 0", "below: 0"},
             {"maximum: 1", "maximum: 0.1"},
             {"minimum: 0", "minimum: 2"},
             {"choices: [up, down]", "choices: []"},
             {"choices: [up, down]", "choices: up"},
             {"choices: [up, down]", "choices: [up, up]"},
             {"choices: [up, down]", "choices: [up, 1]"},
             {"choices: [up, down]", "choices: [up, max]"},
             {"choices: [up, down]", "choices: [Up, Down]"},
             {"default: up", "default: left"},
             {"default: up", "default: 1"},
             {"per: days", "per: strike"},
             {"per: days", "per: nothing"},
             {"per: days", "per: levels"},
             {"per: days", "per: [days]"},
             {"per: days\n    default: 1", "per: days\n    default: [1, 2]"},
             {"  strike:\n", "  id:\n"},
             {"  strike:\n", "  max:\n"},
             {"  strike:\n", "  Strike:\n"},
             {"  strike:\n", "  str-ike:\n"},
             {"  strike:\n", "  1strike:\n"},
             {"  strike:\n", "  on:\n"},
             {"  strike:\n", "  " + std::string(100, 's') + ":\n"},
             {"product: own", "product: european"},
             {"product: own", "product: Own"},
             {"product: own", "product: 'o w n'"},
             {"product: own", "product: ../own"},
             {"product: own", "product: " + std::string(100, 'o')},
             {"product: own", "product: [own]"},
             {"script: |", "script: >"},
             {"script: |", "script: \"\"#"},
             {"script: |", "script: |+1"},
             {"help: The strike.", "help: ''"},
             {"help: The strike.", "help: \"a\\nb\""},
             {"summary: A call that pays some of itself at once", "summary: ~"},
             {"  days: [0.25, 0.5]", "  days: []"},
             {"  days: [0.25, 0.5]", "  days: [0.5, 0.25]"},
             {"  days: [0.25, 0.5]", "  days: [0.5, 0.5]"},
             {"  days: [0.25, 0.5]", "  days: [0.25, 2026-12-01]"},
             {"  underlying: ACME", "  underlying: [ACME]"},
             {"  strike: 100\n  days", "  strike: 0\n  days"},
             {"default: 0.5", "default: 1.5"},
             {"default: 0.5", "default: maturity"},
             {"default: 0.5", "default: 0.5\n    optional: true"},
             {"default: 0.5", "optional: yes"}}) {
        cases.push_back({"product: " + to.substr(0, 60) + " for " + from, form::product,
                         replaced(good_product, from, to), end::refused});
    }
}

void add_nonsense(std::vector<hostile_case>& cases) {
    const auto of = [&](form is, const std::string& from, const std::string& to,
                        end expected = end::refused) {
        for (const auto& [kind, good] : good_files()) {
            if (kind != is) continue;
            cases.push_back(
                {std::string(name_of(is)) + ": " + to.substr(0, 80) + " for " + from.substr(0, 40), is,
                 replaced(good, from, to), expected});
        }
    };
    const auto market = [&](const std::string& from, const std::string& to, end expected = end::refused) {
        of(form::market, from, to, expected);
    };
    const auto book = [&](const std::string& from, const std::string& to, end expected = end::refused) {
        of(form::book, from, to, expected);
    };
    const auto calendar = [&](const std::string& from, const std::string& to, end expected = end::refused) {
        of(form::calendar, from, to, expected);
    };
    const std::string pairs = "  - [ACME, BETA, 0.5]\n  - [ACME, EURUSD, 0.1]\n";
    for (const char* rows : {"  - [ACME, BETA, 0.9]\n  - [BETA, CHIPS, 0.9]\n  - [ACME, CHIPS, -0.9]\n",
                             "  - [ACME, BETA, 1]\n  - [BETA, CHIPS, 1]\n  - [ACME, CHIPS, 0.5]\n",
                             "  - [ACME, BETA, 1.0000001]\n",
                             "  - [ACME, BETA, -2]\n",
                             "  - [ACME, ACME, 1]\n",
                             "  - [ACME, ACME, 0.5]\n",
                             "  - [ACME, BETA, 0.5]\n  - [BETA, ACME, 0.5]\n",
                             "  - [ACME, BETA, 0.5]\n  - [ACME, BETA, 0.4]\n",
                             "  - [ACME, NOBODY, 0.5]\n",
                             "  - [ACME, acme, 0.5]\n",
                             "  - [ACME, BETA]\n",
                             "  - [ACME, BETA, 0.5, 0.5]\n",
                             "  - []\n",
                             "  - ACME\n",
                             "  - {ACME: BETA}\n",
                             "  - [[ACME], BETA, 0.5]\n",
                             "  - [ACME, BETA, [0.5]]\n",
                             "  - [0.5, ACME, BETA]\n",
                             "  - [ACME, USDEUR, 0.1]\n",
                             "  - [ACME, USD, 0.1]\n",
                             "  - [ACME, USD.rate, 0.1]\n",
                             "  - [CHIPS, CHIPS.variance, 0.5]\n",
                             "  - [ACME, CHIPS.variance, 0.99]\n  - [ACME, CHIPS, 0.99]\n",
                             "  - [ACME, '', 0.5]\n",
                             "  - [ACME, ~, 0.5]\n",
                             "  - [ACME, BETA, nan]\n",
                             "  - [ACME, BETA, 50%]\n",
                             "  - [ACME, BETA, '0.5']\n"}) {
        market(pairs, rows);
    }
    market(pairs, "  - [ACME, BETA, 1]\n", end::either);
    market(pairs, "  - [ACME, BETA, -1]\n", end::either);
    market(pairs, "  - [ACME, BETA, 0.99999999999]\n", end::either);
    market("    spot: 100\n", "    spot: 0\n");
    market("    spot: 100\n", "    spot: -1\n");
    market("    spot: 100\n", "    spot: 1e16\n");
    market("    spot: 100\n", "    spot: 1e-300\n", end::either);
    market("    spot: 100\n", "    spot: 1e15\n", end::either);
    market("amount: 0.5", "amount: 60");
    market("amount: 0.5", "amount: -1");
    market("amount: 0.5", "amount: 0.5, proportion: 0.1");
    market("{date: 2026-06-01, amount: 0.5}", "{date: 2026-06-01}");
    market("{date: 2026-06-01, amount: 0.5}", "{amount: 0.5}");
    market("{date: 2026-06-01, amount: 0.5}", "{date: 2026-06-01, amount: 49.9999}", end::either);
    market("proportion: 0.01", "proportion: 1");
    market("proportion: 0.01", "proportion: 0.9999999999", end::either);
    market("      0.5: 0.3\n      2.0: 0.31", "      0.5: 0.3\n      2.0: 0.1");
    market("      0.5: 0.3\n      2.0: 0.31", "      2.0: 0.3\n      0.5: 0.31");
    market("      0.5: 0.3\n      2.0: 0.31", "      0.5: 0.3\n      0.50: 0.31");
    market("      0.5: 0.3\n      2.0: 0.31", "      0: 0.3");
    market("      0.5: 0.3\n      2.0: 0.31", "      -1: 0.3");
    market("      0.5: 0.3\n      2.0: 0.31", "      2026-01-15: 0.3");
    market("      0.5: 0.3\n      2.0: 0.31", "      1e-300: 0.3", end::either);
    market("      0.5: 0.3\n      2.0: 0.31", "      0.5: 0\n      2.0: 0", end::either);
    market("      0.5: 0.3\n      2.0: 0.31", "      0.5: 0.3\n      0.50000000001: 5", end::either);
    market("    volatility: 0.2\n  BETA", "    volatility: 6\n  BETA");
    market("    volatility: 0.2\n  BETA", "    volatility: -0.2\n  BETA");
    market("    volatility: 0.2\n  BETA", "    volatility: 20\n  BETA");
    market("    volatility: 0.2\n  BETA", "    volatility: 0\n  BETA", end::either);
    market("    volatility: 0.2\n  BETA", "    volatility: 5\n  BETA", end::either);
    market("    volatility: 0.2\n  BETA", "    volatility: {}\n  BETA");
    market("    volatility: 0.2\n  BETA",
           "    volatility: 0.2\n    model: {cev: {volatility: 0.2, beta: 0.5}}\n  BETA");
    market("    rate: 0.04", "    rate: 4");
    market("    rate: 0.04", "    rate: 0.04\n    zero_rates: {1.0: 0.03}");
    market("    rate: 0.04", "    day_count: ACT/360");
    market("    rate: 0.04", "    rate: 0.04\n    day_count: ACT/ACT");
    market("    rate: 0.04", "    rate: 0.04\n    day_count: 30E/360");
    market("    rate: 0.04", "    rate: 1", end::either);
    market("    rate: 0.04", "    rate: -1", end::either);
    market("      1.0: 0.98\n      2.0: 0.95", "      1.0: 0.98\n      2.0: 0");
    market("      1.0: 0.98\n      2.0: 0.95", "      1.0: 0.98\n      2.0: -0.95");
    market("      1.0: 0.98\n      2.0: 0.95", "      1.0: 98\n      2.0: 95");
    market("      1.0: 0.98\n      2.0: 0.95", "      0.00001: 0.9\n      2.0: 0.95");
    market("      1.0: 0.98\n      2.0: 0.95", "      1.0: 0.98\n      1.00000000001: 0.5", end::either);
    market("    rate: 1.16", "    rate: 0");
    market("    rate: 1.16", "    rate: -1.16");
    market("    rate: 1.16", "    rate: 1e16");
    market("  EURUSD:\n", "  USDUSD:\n");
    market("  EURUSD:\n", "  EURXXX:\n");
    market("  EURUSD:\n", "  EUR/USD:\n");
    market("  EURUSD:\n", "  eurusd:\n");
    market("  EURUSD:\n", "  USDEUR: {rate: 0.86}\n  EURUSD:\n");
    market("  EURUSD:\n", "  GBPUSD: {rate: 1.3}\n  EURGBP: {rate: 2}\n  EURUSD:\n");
    market("  USD:\n", "  usd:\n");
    market("  USD:\n", "  USDX:\n");
    market("  USD:\n", "  U D:\n");
    market("  ACME:\n    currency", "  A CME:\n    currency");
    market("  ACME:\n    currency", "  EURUSD:\n    currency");
    market("  ACME:\n    currency", "  " + std::string(65, 'A') + ":\n    currency");
    market("  ACME:\n    currency",
           "  \xc3\x89"
           "CME:\n    currency");
    market("currency: EUR\n    spot: 40", "currency: CHF\n    spot: 40");
    market("2025-12-31: 99", "2026-01-16: 99");
    market("2025-12-31: 99", "2025-12-31: 0");
    market("2025-12-31: 99", "2025-12-31: -1");
    market("2025-12-31: 99", "0.5: 99");
    market("fixings:\n  ACME", "fixings:\n  NOBODY");
    for (const char* simm :
         {"USD", "[USD]", "{}", "{ACME: {qualifier: X, bucket: 7}}", "{currency: CHF}", "{currency: [USD]}",
          "{currency: USD, NOBODY: {qualifier: X, bucket: 7}}", "{currency: USD, ACME: 7}",
          "{currency: USD, ACME: {qualifier: X}}", "{currency: USD, ACME: {bucket: 7}}",
          "{currency: USD, ACME: {qualifier: X, bucket: 7, name: Y}}",
          "{currency: USD, ACME: {qualifier: X, bucket: 0}}",
          "{currency: USD, ACME: {qualifier: X, bucket: 13}}",
          "{currency: USD, ACME: {qualifier: X, bucket: 7.0}}",
          "{currency: USD, ACME: {qualifier: [X], bucket: 7}}",
          "{currency: USD, ACME: {qualifier: 'a,b', bucket: 7}}",
          "{currency: USD, ACME: {qualifier: 'a b', bucket: 7}}", "{currency: USD, ACME: {fx: Euro}}",
          "{currency: USD, ACME: {fx: EUR, bucket: 7}}"})
        market("fixings:\n", "simm: " + std::string(simm) + "\nfixings:\n");
    const std::string heston = "{heston: {v0: 0.05, kappa: 1.5, theta: 0.06, sigma: 0.5, rho: -0.6}}";
    for (
        const std::string& model : texts(
            "{}", "heston", "[heston]", "{heston: {}}", "{heston: ~}", "{hestn: {v0: 0.05}}",
            "{heston: {v0: 0.05, kappa: 1.5, theta: 0.06, sigma: 0.5}}",
            "{heston: {v0: -0.05, kappa: 1.5, theta: 0.06, sigma: 0.5, rho: -0.6}}",
            "{heston: {v0: 0.05, kappa: 1.5, theta: 0.06, sigma: 0.5, rho: -1.1}}",
            "{heston: {v0: 0.05, kappa: -1, theta: 0.06, sigma: 0.5, rho: -0.6}}",
            "{heston: {v0: 0.05, kappa: 1.5, theta: -0.06, sigma: 0.5, rho: -0.6}}",
            "{heston: {v0: 0.05, kappa: 1.5, theta: 0.06, sigma: -0.5, rho: -0.6}}",
            "{heston: {v0: 0.05, kappa: 1.5, theta: {2.0: 0.06, 1.0: 0.05}, sigma: 0.5, rho: -0.6}}",
            "{heston: {v0: 0.05, kappa: 1.5, theta: 0.06, sigma: 0.5, rho: -0.6}, bates: {}}",
            "{heston: {v0: 0.05, kappa: 1.5, theta: 0.06, sigma: 0.5, rho: -0.6, nu: 1}}",
            "{heston: {v0: 20, kappa: 1.5, theta: 20, sigma: 0.5, rho: 60}}",
            "{sabr: {alpha: 0.5, beta: 1.5, rho: -0.2, nu: 0.5}}",
            "{sabr: {alpha: -0.5, beta: 0.5, rho: -0.2, nu: 0.5}}",
            "{sabr: {alpha: 0.5, beta: 0.5, rho: -2, nu: 0.5}}", "{cev: {volatility: 0.3, beta: -0.5}}",
            "{cev: {volatility: 0.3, beta: 3}}",
            "{merton: {volatility: 0.2, jump_intensity: -1, jump_mean: 0, jump_sd: 0.1}}",
            "{merton: {volatility: 0.2, jump_intensity: 1e9, jump_mean: 0, jump_sd: 0.1}}",
            "{merton: {volatility: 0.2, jump_intensity: 1, jump_mean: 0, jump_sd: -0.1}}",
            "{merton: {volatility: 0.2, jump_intensity: 1, jump_mean: 1e6, jump_sd: 0.1}}",
            "{kou: {volatility: 0.2, jump_intensity: 1, p_up: 1.5, eta_up: 25, eta_down: 15}}",
            "{kou: {volatility: 0.2, jump_intensity: 1, p_up: 0.5, eta_up: 0.5, eta_down: 15}}",
            "{variance_gamma: {sigma: 0.3, nu: -1, theta: 0}}",
            "{variance_gamma: {sigma: 0.3, nu: 50, theta: 0.5}}", "{nig: {alpha: 1, beta: 2, delta: 0.5}}",
            "{nig: {alpha: 1, beta: 0.9, delta: 0.5}}", "{cgmy: {C: 0.3, G: 8, M: 0.5, Y: 0.9}}",
            "{cgmy: {C: 0.3, G: 8, M: 16, Y: 2}}", "{cgmy: {C: -1, G: 8, M: 16, Y: 0.5}}",
            "{rough_bergomi: {xi: 0.04, eta: 1.9, rho: -0.9, hurst: 0}}",
            "{rough_bergomi: {xi: 0.04, eta: 1.9, rho: -0.9, hurst: 0.9}}",
            "{rough_bergomi: {xi: -0.04, eta: 1.9, rho: -0.9, hurst: 0.1}}",
            "{schobel_zhu: {vol0: 0.2, kappa: 0, theta: 0.2, sigma: -0.2, rho: 0}}", "{local_volatility: {}}",
            "{local_volatility: {surface: {}}}", "{local_volatility: {surface: {by_strike: {}}}}",
            "{local_volatility: {surface: {by_strike: {1.0: {}}}}}",
            "{local_volatility: {surface: {by_strike: {1.0: {40: 0.2}, 0.5: {40: 0.2}}}}}",
            "{local_volatility: {surface: {by_strike: {1.0: {50: 0.2, 40: 0.2}}}}}",
            "{local_volatility: {surface: {by_strike: {1.0: {-40: 0.2, 40: 0.2}}}}}",
            "{local_volatility: {surface: {by_strike: {1.0: {30: 0.2, 40: 2, 50: 0.2}}}}}",
            "{local_volatility: {surface: {by_strike: {0.5: {30: 0.5, 40: 0.5, 50: 0.5}, 1.0: {30: 0.2, 40: "
            "0.2, 50: 0.2}}}}}",
            "{local_volatility: {surface: {by_moneyness: {1.0: {0.5: 9, 1: 0.2, 1.5: 9}}}}}",
            "{local_volatility: {surface: {by_strike: {1.0: {30: 0.2, 40: 0.2}}, by_moneyness: {1.0: {1: "
            "0.2}}}}}",
            "{local_volatility: {surface: {svi: {1.0: {a: 0.02, b: 0.11, rho: -1.5, m: 0, sigma: 0.2}}}}}",
            "{local_volatility: {surface: {svi: {1.0: {a: 0.02, b: -0.11, rho: 0, m: 0, sigma: 0.2}}}}}",
            "{local_volatility: {surface: {svi: {1.0: {a: 0.02, b: 0.11, rho: 0, m: 0, sigma: -0.2}}}}}",
            "{local_volatility: {surface: {svi: {1.0: {a: -5, b: 0.11, rho: 0, m: 0, sigma: 0.2}}}}}",
            "{local_volatility: {surface: {svi: {1.0: {a: 0.02, b: 50, rho: 0, m: 0, sigma: 0.2}}}}}",
            "{local_volatility: {surface: {svi: {1.0: {a: 0.02, b: 0.11, rho: 0, m: 0}}}}}",
            "{local_volatility: {surface: {svi: {0.5: {a: 0.2, b: 0.1, rho: 0, m: 0, sigma: 0.2}, 1.0: {a: "
            "0.02, b: 0.1, rho: 0, m: 0, sigma: 0.2}}}}}",
            "{local_volatility: {surface: {svi: {1.0: {a: 0.02, b: 0.1, rho: 0, m: 0, sigma: 0.2}}}, "
            "steps_per_year: 1e9}}",
            "{local_volatility: {surface: {svi: {1.0: {a: 0.02, b: 0.1, rho: 0, m: 0, sigma: 0.2}}}, points: "
            "1e9}}",
            "{local_volatility: {surface: {svi: {1.0: {a: 0.02, b: 0.1, rho: 0, m: 0, sigma: 0.2}}}, points: "
            "0}}",
            "{stochastic_local_volatility: {surface: {svi: {1.0: {a: 0.02, b: 0.1, rho: 0, m: 0, sigma: "
            "0.2}}}, heston: {v0: 0.04, kappa: 1, theta: 0.04, sigma: 0.5, rho: 0}, mixing: 2}}",
            "{stochastic_local_volatility: {surface: {svi: {1.0: {a: 0.02, b: 0.1, rho: 0, m: 0, sigma: "
            "0.2}}}, heston: {v0: 0.04, kappa: 1, theta: 0.04, sigma: 0.5, rho: 0}, particles: 1e12}}",
            "{hull_white: {mean_reversion: 0.1, volatility: 0.01}}")) {
        market(heston, model);
    }
    for (const std::string& model : texts(
             "{heston: {v0: 0, kappa: 1.5, theta: 0, sigma: 0.5, rho: 1}}",
             "{heston: {v0: 1e-300, kappa: 1e-300, theta: 1e-300, sigma: 1e-300, rho: 0}}",
             "{heston: {v0: 1, kappa: 50, theta: 1, sigma: 5, rho: -1}}",
             "{heston: {v0: 0.04, kappa: 0, theta: 0.04, sigma: 0, rho: 0}}",
             "{sabr: {alpha: 5, beta: 0, rho: 1, nu: 5}}",
             "{sabr: {alpha: 1e-10, beta: 1, rho: -1, nu: 1e-10}}", "{cev: {volatility: 5, beta: 0}}",
             "{merton: {volatility: 0, jump_intensity: 0, jump_mean: 0, jump_sd: 0}}",
             "{merton: {volatility: 5, jump_intensity: 50, jump_mean: 1, jump_sd: 1}}",
             "{kou: {volatility: 0.2, jump_intensity: 50, p_up: 1, eta_up: 1.0001, eta_down: 1e-9}}",
             "{variance_gamma: {sigma: 1e-9, nu: 1e-9, theta: 0}}",
             "{nig: {alpha: 1000, beta: -998, delta: 50}}", "{cgmy: {C: 1e-9, G: 1e-9, M: 1.0001, Y: 0}}",
             "{cgmy: {C: 10, G: 8, M: 16, Y: 1.99}}", "{cgmy: {C: 0.3, G: 8, M: 16, Y: 1}}",
             "{cgmy: {C: 0.3, G: 8, M: 16, Y: -5}}",
             "{rough_bergomi: {xi: 4, eta: 10, rho: -1, hurst: 0.01}}",
             "{schobel_zhu: {vol0: 0, kappa: 1e-9, theta: 0, sigma: 5, rho: 1}}",
             "{local_volatility: {surface: {by_strike: {1.0: {40: 0.2}}}}}",
             "{local_volatility: {surface: {svi: {1.0: {a: 0, b: 0, rho: 0, m: 0, sigma: 0.2}}}}}",
             "{local_volatility: {surface: {svi: {0.001: {a: 0.02, b: 0.1, rho: 0, m: 0, sigma: 0.2}}}}}")) {
        market(heston, model, end::either);
    }
    const std::string rule =
        "      start: 2025-12-15\n      end: 2026-12-15\n      every: 1m\n      calendar: weekends\n      "
        "roll: preceding\n";
    for (const std::string& written :
         texts("{start: 2026-12-15, end: 2025-12-15, every: 1m}",
               "{start: 2026-12-15, end: 2026-12-15, every: 1m}", "{start: 2026-01-15, end: 2026-12-15}",
               "{start: 2026-01-15, end: 2026-12-15, every: 1m, count: 3}",
               "{start: 2026-01-15, end: 2026-12-15, every: 0m}",
               "{start: 2026-01-15, end: 2026-12-15, every: -1m}",
               "{start: 2026-01-15, end: 2026-12-15, every: 1}",
               "{start: 2026-01-15, end: 2026-12-15, every: m}",
               "{start: 2026-01-15, end: 2026-12-15, every: 1.5m}",
               "{start: 2026-01-15, end: 2026-12-15, every: 1M}",
               "{start: 2026-01-15, end: 2026-12-15, every: 99999m}",
               "{start: 2026-01-15, end: 2026-12-15, every: 1 m}",
               "{start: 2026-01-15, end: 2026-12-15, every: monthly}",
               "{start: 2026-01-15, end: 2026-12-15, every: [1m]}",
               "{start: 2026-01-15, end: 2026-12-15, every: 1b}",
               "{start: 2026-01-15, end: 2026-12-15, count: 0}",
               "{start: 2026-01-15, end: 2026-12-15, count: -1}",
               "{start: 2026-01-15, end: 2026-12-15, count: 1e9}",
               "{start: 2026-01-15, end: 2026-12-15, count: 1000}",
               "{start: 2026-01-15, end: 2026-12-15, count: 2.5}", "{start: 0, end: 1, every: 1m}",
               "{start: 0, end: 1, count: 1e9}", "{start: 0, end: 1, count: 4, calendar: weekends}",
               "{start: 0, end: 2026-12-15, count: 4}", "{start: 1, end: 0, count: 4}",
               "{start: 0, end: 0, count: 4}", "{start: 0, end: 1000, count: 4}",
               "{start: nan, end: 1, count: 4}", "{start: 0, end: .inf, count: 4}", "{end: 1, count: 4}",
               "{start: 0, count: 4}", "{start: 0, end: 1, count: 4, step: 1}",
               "{start: 2026-01-15, end: 2026-12-15, every: 1m, roll: following}",
               "{start: 2026-01-15, end: 2026-12-15, every: 1m, calendar: moon}",
               "{start: 2026-01-15, end: 2026-12-15, every: 1m, calendar: [weekends, moon]}",
               "{start: 2026-01-15, end: 2026-12-15, every: 1m, calendar: [], roll: following}",
               "{start: 2026-01-15, end: 2026-12-15, every: 1m, calendar: weekends, roll: backwards}",
               "{start: 2026-01-15, end: 2026-12-15, every: 1m, include_start: yes}",
               "{start: 2026-01-17, end: 2026-01-18, every: 1d, calendar: weekends, roll: preceding}", "[]",
               "{}", "2026-01-15", "[2026-01-15, 2026-01-15]", "[1, 0.5]", "[0.5, 2026-12-15]", "[[0.5]]",
               "[0.5, ~]", "[0.5, a]", "[-300, 1]")) {
        book("    averaging_dates:\n" + rule, "    averaging_dates: " + std::string(written) + "\n");
    }
    for (const char* written :
         {"{start: 1900-01-01, end: 2299-12-31, every: 1d}",
          "{start: 2026-01-15, end: 2299-12-31, every: 9999y}",
          "{start: 2026-01-15, end: 2299-12-31, every: 1m, calendar: weekends, roll: modified_following}",
          "{start: 0, end: 200, count: 100}", "{start: -200, end: 200, count: 3}",
          "{start: 0, end: 1e-7, count: 1}", "{start: 0, end: 1e-12, count: 3}", "[1e-9]", "[1e-300]", "[0]",
          "[-0]", "[0, 1]", "{start: 2024-02-29, end: 2028-02-29, every: 1y}",
          "{start: 2026-01-31, end: 2026-12-31, every: 1m}",
          "{start: 2026-01-15, end: 2026-12-15, every: 0001d}"}) {
        book("    averaging_dates:\n" + rule, "    averaging_dates: " + std::string(written) + "\n",
             end::either);
    }
    book("quantity: 10", "quantity: 1e308", end::either);
    book("quantity: 10", "quantity: -1e308", end::either);
    book("strike: 100\n    maturity", "strike: 1e-300\n    maturity", end::either);
    book("strike: 100\n    maturity", "strike: 1e300\n    maturity", end::either);
    book("notional: 1000", "notional: 1e308", end::either);
    book("rebate: 1\n", "rebate: 1e308\n", end::either);
    book("payout: 10", "payout: 1e308", end::either);
    book("initial_level: [100, 50]", "initial_level: [1e-300, 50]", end::either);
    book("initial_level: [100, 50]", "initial_level: [1e300, 1e-300]", end::either);
    book("maturity: 1.0", "maturity: 1e-300", end::either);
    book("maturity: 1.0", "maturity: 200", end::either);
    book("maturity: 1.0", "maturity: -1", end::either);
    book("maturity: 1.0", "maturity: 0", end::either);
    book("maturity: 1.0", "maturity: 200.0001");
    book("initial_level: [100, 50]", "initial_level: [100]");
    book("initial_level: [100, 50]", "initial_level: [100, 50, 1]");
    book("basket: [ACME, BETA]", "basket: [ACME, ACME]");
    book("basket: [ACME, BETA]", "basket: []");
    book("basket: [ACME, BETA]", "basket: ACME");
    book("currency: EUR\n  - id: stoch", "currency: XXX\n  - id: stoch");
    book("currency: EUR\n  - id: stoch", "currency: GBP\n  - id: stoch");
    book("product: digital", "product: digitl");
    book("product: digital", "product: ../digital");
    book("id: call", "id: average");
    book("id: call", "id: ''");
    book("id: call", "id: \"a\\nb\"");
    book("id: call", "id: \"a\\eb\"");
    book("id: call", "id: [call]");
    book("id: call", "id: " + std::string(5000, 'c'), end::either);
    book("id: call", "id: \"=1+1\"", end::either);
    book("id: call", "id: \xf0\x9f\x98\x80", end::either);
    book("id: call", "id: \"\\U0001F600\"", end::either);
    book("trades:\n", "trade_count: 3\ntrades:\n");
    book("trades:\n", "trade_count: 7\ntrades:\n", end::taken);
    book("trades:\n", "trade_count: seven\ntrades:\n");
    book("trades:\n", "trade_count: 7.0\ntrades:\n", end::either);
    book("trades:\n", "trade_count: 07\ntrades:\n");
    for (const char* setting :
         {"paths: 0",          "paths: -1",          "paths: 1e30",     "paths: 1.5",    "paths: 01",
          "paths: 0x10",       "paths: many",        "paths: '1024'",   "paths: [1024]", "paths: ~",
          "paths: 1_024",      "paths: 2^20",        "threads: -1",     "threads: 1e6",  "threads: 02",
          "device: gpu",       "device: [0, 0]",     "device: 64",      "device: ''",    "precision: half",
          "precision: 2",      "random: dice",       "replay: ''",      "distance: 0",   "distance: 33",
          "layout: soft",      "block: 100",         "width: 3",        "rows: 0",       "memory_bytes: -1",
          "memory_bytes: 1XB", "memory_bytes: 01GB", "reduction: none", "space: outer",  "colour: blue"}) {
        book("settings:\n  paths: 1024\n", std::string("settings:\n  ") + setting + "\n");
    }
    for (const char* asked : {"5", "price", "[]", "[fair_strike]", "{}", "{fair_strike: 1}", "{price: 1}",
                              "~", "implied_volatilty", "''", "{implied_volatility: implied_volatility}"})
        book("quantity: 10", std::string("report: ") + asked);
    calendar("weekend: [saturday, sunday]",
             "weekend: [monday, tuesday, wednesday, thursday, friday, saturday, sunday]");
    calendar("weekend: [saturday, sunday]", "weekend: [Saturday]");
    calendar("weekend: [saturday, sunday]", "weekend: saturday");
    calendar("weekend: [saturday, sunday]", "weekend: [6, 7]");
    calendar("weekend: [saturday, sunday]", "weekend: ~");
    calendar("weekend: [saturday, sunday]", "weekend: [saturday, saturday]", end::either);
    calendar("weekend: [saturday, sunday]", "weekend: []", end::either);
    calendar("holidays:\n", "holiday:\n");
    calendar("  - 2026-12-25\n", "  - [2026-12-25]\n");
    calendar("  - 2026-12-25\n", "  - {2026-12-25: Christmas}\n");
    calendar("  - 2026-12-25\n", "  - 0.5\n");
    calendar("  - 2026-12-25\n", "  -\n");
    calendar("  - 2026-12-25\n", "  - 2026-12-25 Christmas\n");
    calendar("  - 2026-12-25\n", "  - 2026-12-25\n  - 2026-12-25\n", end::either);
    std::string closed;
    for (int serial = *independent::day("2026-01-01"); serial < *independent::day("2036-01-01"); ++serial)
        closed += "  - " + independent::day_table::all().at(serial).text + "\n";
    calendar("  - 2026-12-25\n", closed, end::either);
    std::string for_ever;
    for (int serial = *independent::day("1900-01-01"); serial <= *independent::day("2299-12-31"); ++serial)
        for_ever += "  - " + independent::day_table::all().at(serial).text + "\n";
    calendar("  - 2026-01-01\n  - 2026-12-25\n  - 2027-12-27\n", for_ever);
}

std::string array_file(const std::string& shape, std::size_t numbers, double value = 0.2,
                       const std::string& type = "<f8", const std::string& order = "False") {
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
    while ((10 + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    std::string made = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() % 256) +
                       static_cast<char>(header.size() / 256) + header;
    for (std::size_t i = 0; i < numbers; ++i)
        made.append(reinterpret_cast<const char*>(&value), sizeof value);
    return made;
}

// Loads each book from a folder with odd files: the book, or one of its trades, must be refused.
void run_files(std::size_t step) {
    namespace fs = std::filesystem;
    const tests::own_folder folder;
    const auto link = [&](const char* name, const char* to) { fs::create_symlink(to, folder / name); };
    folder.write("good_market.yaml", good_market);
    folder.write("good_calendar.yaml", good_calendar);
    folder.write("own.yaml", good_product);
    folder.write("empty.yaml", "");
    folder.write("a book.yaml", good_trades);
    fs::create_directory(folder / "folder");
    fs::create_directory(folder / "folder.yaml");
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    link("loop", "loop");
    link("one", "other");
    link("other", "one");
    link("nowhere", "/nowhere/at/all");
    link("to_folder", "folder");
    link("to_pipe", "pipe");
    link("to_memory", "/dev/zero");
    folder.write("binary", std::string("\x7f"
                                       "ELF\x02\x01\x01\x00",
                                       8) +
                               std::string(1000, '\x01'));
    // A file of 1 MB, 20,000 lines that are no YAML.
    folder.write("long.yaml", repeated("a line that is no YAML at all: a: b: c\n", 20'000));

    struct file_case {
        std::string title, book;
        bool is_taken = false;
    };
    std::vector<file_case> cases;
    const std::string trades = good_trades.substr(0, good_trades.find("  - id: average\n"));
    std::vector<std::string> names =
        texts("book.yaml", "./book.yaml", "folder/../book.yaml", ".", "..", "/", "folder", "folder.yaml",
              "folder/", "pipe", "to_pipe", "loop", "one", "nowhere", "to_folder", "to_memory", "/dev/null",
              "/dev/zero", "/dev/stdin", "/dev/full", "/proc/self/mem", "/proc/self/environ", "/etc/passwd",
              "binary", "long.yaml", "empty.yaml", "missing.yaml", "'a book.yaml'", "''", "' '", "\"\\n\"",
              "\"a\\0b\"", "\"\\e[2J\"", "~", "[good_market.yaml]", "[]", "5", "true", std::string(5000, 'x'),
              repeated("a/", 2000), "good_market.yaml/", "good_market.yaml/.", "http://localhost/market.yaml",
              "file:good_market.yaml", "'good_market.yaml '", "good_market.yaml#x",
              "\"good_market.yaml\\0.png\"", "~/market.yaml", "$HOME/market.yaml", "*.yaml");
    for (const std::string& name : names) {
        const bool is_list = name == "[]";
        cases.push_back({"market: " + name, "market: " + name + "\n" + trades});
        cases.push_back(
            {"calendars: " + name, "market: good_market.yaml\ncalendars: {c: " + name + "}\n" + trades});
        cases.push_back(
            {"products: " + name, "market: good_market.yaml\nproducts: [" + name + "]\n" + trades});
        if (!is_list) cases.push_back({"scenarios: " + name, "market: scenarios.yaml\n" + trades});
    }
    for (const char* name : {"own.yaml", "good_calendar.yaml"})
        cases.push_back({std::string("market: ") + name, "market: " + std::string(name) + "\n" + trades});
    for (const char* name : {"own.yaml", "good_market.yaml"})
        cases.push_back({std::string("calendars: ") + name,
                         "market: good_market.yaml\ncalendars: {c: " + std::string(name) + "}\n" + trades});
    for (const char* name : {"good_calendar.yaml", "good_market.yaml"})
        cases.push_back({std::string("products: ") + name,
                         "market: good_market.yaml\nproducts: [" + std::string(name) + "]\n" + trades});
    cases.push_back(
        {"a product twice", "market: good_market.yaml\nproducts: [own.yaml, own.yaml]\n" + trades});
    cases.push_back({"a calendar of the name of another",
                     "market: good_market.yaml\ncalendars: {weekends: good_calendar.yaml}\n" + trades});
    cases.push_back(
        {"all that is needed",
         "market: good_market.yaml\nproducts: [own.yaml]\ncalendars: {c: good_calendar.yaml}\n" + trades,
         true});
    const std::vector<std::pair<std::string, std::string>> arrays{
        {"no magic", "not an array"},
        {"empty", ""},
        {"magic alone", "\x93NUMPY"},
        {"version 9", std::string("\x93NUMPY\x09\x00\x10\x00", 10) + std::string(200, ' ')},
        {"a header that ends early", std::string("\x93NUMPY\x01\x00\xff\xff", 10) + "{'descr'"},
        {"no numbers", array_file("(2, 256)", 0)},
        {"too few numbers", array_file("(2, 256)", 511)},
        {"too many numbers", array_file("(2, 256)", 513)},
        {"one dimension", array_file("(512,)", 512)},
        {"three dimensions", array_file("(2, 16, 16)", 512)},
        {"no dimension", array_file("()", 1)},
        {"one time", array_file("(1, 256)", 256)},
        {"three times", array_file("(3, 256)", 768)},
        {"no paths", array_file("(2, 0)", 0)},
        {"no times", array_file("(0, 256)", 0)},
        {"the wrong way round", array_file("(256, 2)", 512)},
        {"a huge shape", array_file("(2, 99999999999999999)", 512)},
        {"a shape that overflows", array_file("(2, 9223372036854775807)", 512)},
        {"a negative shape", array_file("(2, -256)", 512)},
        {"a shape of text", array_file("('2', 256)", 512)},
        {"Fortran's order", array_file("(2, 256)", 512, 0.2, "<f8", "True")},
        {"whole numbers", array_file("(2, 256)", 512, 0.2, "<i8")},
        {"big-endian numbers", array_file("(2, 256)", 512, 0.2, ">f8")},
        {"objects", array_file("(2, 256)", 512, 0.2, "|O")},
        {"half numbers", array_file("(2, 256)", 128, 0.2, "<f2")},
        {"not a number", array_file("(2, 256)", 512, std::nan(""))},
        {"infinite", array_file("(2, 256)", 512, std::numeric_limits<double>::infinity())},
        {"negative", array_file("(2, 256)", 512, -0.2)},
        {"in percent", array_file("(2, 256)", 512, 20)},
        {"huge", array_file("(2, 256)", 512, 1e308)},
        {"beyond all bounds", array_file("(2, 256)", 512, 101)},
        {"too few paths", array_file("(2, 100)", 200)}};
    for (const auto& [title, bytes] : arrays)
        cases.push_back({"array: " + title, "market: scenarios.yaml\n" + trades});
    cases.push_back({"array: good", "market: scenarios.yaml\n" + trades, true});

    const engine prices;
    std::size_t done = 0, array = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const file_case& c = cases[i];
        const bool has_array = c.title.starts_with("array: "),
                   names_array = c.title.starts_with("scenarios: ");
        const std::string bytes = !has_array   ? ""
                                  : c.is_taken ? array_file("(2, 256)", 512)
                                               : arrays.at(array++).second;
        if (i % step != 0) continue;
        ++done;
        if (has_array) folder.write("vols.npy", bytes);
        std::string of_scenarios = good_market;
        of_scenarios.replace(
            of_scenarios.find("volatility: 0.2"), 15,
            "volatility: {scenarios: " + (names_array ? c.title.substr(11) : std::string("vols.npy")) +
                ", times: [0.5, 2.0]}");
        folder.write("scenarios.yaml", of_scenarios);
        const fs::path file = folder.write("book.yaml", c.book);
        std::string said, fault;
        const memory_watch watch;
        try {
            const auto read = tilewalk::book::load(file);
            for (const price_row& row : prices.price(read, few_paths()).rows) {
                if (row.status == trade_status::failed) said = row.message;
                if (fault.empty()) fault = corpus::fault_of(row);
            }
        } catch (const error& e) {
            said = e.what();
            fault = corpus::fault_of(e);
        }
        if (fault.empty() && watch.most() > most_memory)
            fault = "took " + std::to_string(watch.most()) + " bytes";
        if (fault.empty() && c.is_taken != said.empty())
            fault = c.is_taken ? "refused: " + said : "taken, though it has to be refused";
        EXPECT_EQ(printable(fault), "") << printable(c.title) << "\n" << printable(c.book);
    }
    std::cout << "  " << done << " of " << cases.size() << " sets of files\n";
}

TEST(corpus_hostile, a_tenth_of_the_files_that_name_others) {
    run_files(10);
}
TEST(corpus_hostile_long, files_that_name_others) {
    run_files(1);
}

std::vector<hostile_case> all_cases() {
    std::vector<hostile_case> cases;
    add_spellings(cases);
    add_wrong_values(cases);
    add_yaml(cases);
    add_scripts(cases);
    add_nonsense(cases);
    return cases;
}

base_file base_of(const hostile_case& c) {
    return {c.is, c.title, c.text,
            c.is == form::product  ? own_trade
            : c.is == form::market ? good_trades
                                   : ""};
}

// How Tilewalk mishandled a case; empty if it did not. A failed trade of a file counts as a refusal.
std::string fault_of(court& judges, const hostile_case& c) {
    outcome found = judges.held(base_of(c), c.text, true);
    if (!found.defect.empty()) return found.defect;
    std::string failure = found.refusal;
    for (const price_row& row : found.rows) {
        if (failure.empty() && row.status == trade_status::failed) failure = row.message;
    }
    if (failure.empty()) failure = found.failed_trade;
    if (c.expected == end::refused && failure.empty()) return "taken, though it has to be refused";
    if (c.expected == end::taken && !failure.empty()) return "refused, though it has to be taken: " + failure;
    return "";
}

void run_every(std::size_t step, std::size_t first) {
    const auto cases = all_cases();
    EXPECT_GE(cases.size(), 700U);
    court judges({});
    std::size_t wrong = 0, done = 0;
    const char* only = std::getenv("TILEWALK_CORPUS_CASE");
    for (std::size_t i = first; i < cases.size() && wrong < 60; i += step) {
        if (only && cases[i].title.find(only) == std::string::npos) continue;
        ++done;
        const std::string fault = fault_of(judges, cases[i]);
        if (fault.empty()) continue;
        ++wrong;
        ADD_FAILURE() << printable(cases[i].title) << ":\n"
                      << printable(fault) << "\nThe file:\n"
                      << printable(cases[i].text.substr(0, only ? 100'000 : 0));
    }
    std::cout << "  " << done << " of " << cases.size() << " files\n";
}

TEST(corpus_hostile, a_tenth_of_the_hostile_files) {
    run_every(10, 0);
}
TEST(corpus_hostile_long, hostile_files) {
    run_every(1, 0);
}

}  // namespace
}  // namespace tilewalk::corpus::corpus_hostile_test

// Allocation in this program, counted and limited by corpus::memory().
void* operator new(std::size_t bytes) {
    return tilewalk::corpus::memory().take(bytes);
}
void* operator new[](std::size_t bytes) {
    return tilewalk::corpus::memory().take(bytes);
}
// Replaced too, because a sanitizer's version would bypass the operator above.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    try {
        return tilewalk::corpus::memory().take(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void* operator new[](std::size_t bytes, const std::nothrow_t& none) noexcept {
    return operator new(bytes, none);
}
void operator delete(void* at) noexcept {
    tilewalk::corpus::memory().give(at);
}
void operator delete[](void* at) noexcept {
    tilewalk::corpus::memory().give(at);
}
void operator delete(void* at, std::size_t) noexcept {
    tilewalk::corpus::memory().give(at);
}
void operator delete[](void* at, std::size_t) noexcept {
    tilewalk::corpus::memory().give(at);
}
