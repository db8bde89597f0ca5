// SPDX-License-Identifier: Apache-2.0
// Scenario files: each form gives the changes that it states, recomputed here by plain arithmetic, and every
// mistake is refused with its place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/base/text/csv.h"
#include "engine/base/wildcard.h"
#include "tests/own_folder.h"
#include "tests/refusal.h"
#include "tests/texts.h"
#include "tilewalk/scenarios.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::scenario_reader_test {
namespace {

using tests::nothing_refused;
using tests::refusal;

const std::string market_text = R"(as_of: 2026-01-15
currencies:
  USD: {zero_rates: {0.5: 0.02, 1.0: 0.03, 2027-07-15: 0.031}}
  EUR: {zero_rates: {0.5: 0.02, 2027-01-15: 0.021}, day_count: ACT/360}
  GBP: {discount_factors: {1.0: 0.96, 2028-01-15: 0.92}}
  JPY: {rate: -0.01}
assets:
  ACME: {currency: USD, spot: 100, volatility: 0.2}
  BETA: {currency: USD, spot: 50, volatility: {0.5: 0.25, 1.0: 0.3}, dividend_yield: {rate: 0.01}}
fx:
  EURUSD: {rate: 1.25, volatility: 0.1}
correlations:
  - [ACME, BETA, 0.5]
fixings:
  ACME: {2026-01-02: 99.5}
)";

const market& base() {
    static const market in = market::parse(market_text, "market.yaml");
    return in;
}

scenario_list parsed(const std::string& text, const std::filesystem::path& folder = {},
                     const load_options& options = {}) {
    return scenario_list::parse(text, "s", base(), folder, options);
}

std::string refused(const std::string& text, const std::filesystem::path& folder = {},
                    const load_options& options = {}) {
    return refusal([&] { parsed(text, folder, options); });
}

const scenario& named(const scenario_list& in, const std::string& name) {
    const auto found = std::ranges::find(in.scenarios, name, &scenario::name);
    if (found == in.scenarios.end()) throw std::runtime_error("there is no scenario " + name);
    return *found;
}

std::vector<std::string> names(const scenario_list& in) {
    std::vector<std::string> out;
    for (const scenario& s : in.scenarios) out.push_back(s.name);
    return out;
}

std::map<std::string, double> after(const scenario& s) {
    std::map<std::string, double> out;
    for (const market_change& c : s.changes) {
        const double before = base().number(c.key).value;
        EXPECT_TRUE(out.emplace(c.key, c.is == market_change::way::set ? c.amount : before + c.amount).second)
            << c.key;
    }
    return out;
}

using values = std::map<std::string, double>;
void expect_values(const scenario& s, const values& expected) {
    const values found = after(s);
    ASSERT_EQ(found.size(), expected.size()) << s.name;
    for (const auto& [key, value] : expected) {
        ASSERT_TRUE(found.contains(key)) << s.name << " " << key;
        EXPECT_NEAR(found.at(key), value, 1e-13 * std::max(1.0, std::abs(value))) << s.name << " " << key;
    }
}

TEST(scenario_reader, every_way_to_move) {
    const scenario_list read = parsed(R"(
stress:
  percent: {ACME.spot: -20%}
  points: {ACME.volatility: +10pt}
  basis_points: {USD.rate@0.5y: +50bp}
  plain: {BETA.spot: -5}
  fraction: {JPY.rate: 0.0025}
  log: {BETA.spot: {log: -0.2}}
  relative: {BETA.spot: {relative: -20%}}
  absolute: {BETA.spot: {absolute: 5}}
  absolute_points: {ACME.volatility: {absolute: 1pt}}
  set: {BETA.spot: {set: 80}}
  displaced: {JPY.rate: {relative: -0.2, displacement: 3pt}}
  displaced_log: {JPY.rate: {log: 0.5, displacement: 0.03}}
  other_spelling: {"BETA|ACME.correlation": 0.1, "USD.rate@0.50y": 1bp}
  later: {days: 1}
  both: {days: 30, ACME.spot: +0%}
)");
    EXPECT_EQ(read.scenarios.size(), 15U);
    for (const scenario& s : read.scenarios) {
        EXPECT_EQ(s.set, "stress");
        EXPECT_EQ(s.first_day + s.last_day, "");
        EXPECT_NO_THROW(base().changed(s.changes)) << s.name;
    }
    expect_values(named(read, "percent"), {{"ACME.spot", 80}});
    expect_values(named(read, "points"), {{"ACME.volatility", 0.3}});
    expect_values(named(read, "basis_points"), {{"USD.rate@0.5y", 0.025}});
    expect_values(named(read, "plain"), {{"BETA.spot", 45}});
    expect_values(named(read, "fraction"), {{"JPY.rate", -0.0075}});
    expect_values(named(read, "log"), {{"BETA.spot", 50 * std::exp(-0.2)}});
    expect_values(named(read, "relative"), {{"BETA.spot", 40}});
    expect_values(named(read, "absolute"), {{"BETA.spot", 55}});
    expect_values(named(read, "absolute_points"), {{"ACME.volatility", 0.21}});
    expect_values(named(read, "set"), {{"BETA.spot", 80}});
    expect_values(named(read, "displaced"), {{"JPY.rate", 0.02 * 0.8 - 0.03}});
    expect_values(named(read, "displaced_log"), {{"JPY.rate", 0.02 * std::exp(0.5) - 0.03}});
    expect_values(named(read, "other_spelling"), {{"ACME|BETA.correlation", 0.6}, {"USD.rate@0.5y", 0.0201}});
    EXPECT_EQ(named(read, "later").days, 1);
    EXPECT_TRUE(named(read, "later").changes.empty());
    EXPECT_EQ(named(read, "both").days, 30);
    expect_values(named(read, "both"), {{"ACME.spot", 100}});
    EXPECT_EQ(named(read, "points").changes.front().is, market_change::way::shift);
    EXPECT_EQ(named(read, "percent").changes.front().amount, 80);
    EXPECT_TRUE(read.likely_sets.empty());
    EXPECT_EQ(read.levels, (std::vector<double>{0.01, 0.025, 0.05}));
    ASSERT_EQ(read.inputs.size(), 1U);
    EXPECT_EQ(read.inputs.front().file, "s");
    EXPECT_EQ(read.inputs.front().hash.size(), 64U);
}

TEST(scenario_reader, patterns_move_all_that_fits_but_facts) {
    const scenario_list read = parsed(
        "stress:\n  a: {\"*.volatility*\": +1pt, \"USD.rate@*\": -10bp, \"*.spot\": +10%}\n"
        "  b: {\"ACME*\": {relative: 0.1}}\n");
    expect_values(read.scenarios[0], {{"ACME.volatility", 0.21},
                                      {"BETA.volatility@0.5y", 0.26},
                                      {"BETA.volatility@1y", 0.31},
                                      {"EURUSD.volatility", 0.11},
                                      {"USD.rate@0.5y", 0.019},
                                      {"USD.rate@1y", 0.029},
                                      {"USD.rate@2027-07-15", 0.03},
                                      {"ACME.spot", 110},
                                      {"BETA.spot", 55}});
    expect_values(read.scenarios[1],
                  {{"ACME.spot", 110}, {"ACME.volatility", 0.22}, {"ACME|BETA.correlation", 0.55}});
    expect_values(parsed("stress: {a: {ACME.fixing@2026-01-02: +1}}").scenarios[0],
                  {{"ACME.fixing@2026-01-02", 100.5}});
}

TEST(scenario_reader, a_changed_market_is_the_base) {
    const market in = base().with("ACME.spot", 200);
    const scenario_list read = scenario_list::parse("stress: {a: {ACME.spot: -20%}}", "s", in);
    EXPECT_EQ(read.scenarios[0].changes[0].amount, 160);
}

TEST(scenario_reader, displaced_moves_are_their_formula) {
    std::mt19937_64 dice(20260115);
    std::uniform_real_distribution<double> amounts(-0.9, 1.5), displacements(0.02, 3);
    for (int i = 0; i < 200; ++i) {
        const double x = amounts(dice), d = displacements(dice);
        char text[200];
        std::snprintf(text, sizeof text,
                      "stress:\n  r: {JPY.rate: {relative: %.17g, displacement: %.17g}}\n"
                      "  l: {JPY.rate: {log: %.17g, displacement: %.17g}}\n",
                      x, d, x, d);
        const scenario_list read = parsed(text);
        expect_values(read.scenarios[0], {{"JPY.rate", (-0.01 + d) * (1 + x) - d}});
        expect_values(read.scenarios[1], {{"JPY.rate", (-0.01 + d) * std::exp(x) - d}});
    }
}

TEST(scenario_reader, grids_are_every_combination) {
    const scenario_list read =
        parsed("ladder: {ACME.spot: [-20%, 0%, 20%], ACME.volatility: [-1pt, +10pt], days: [0, 5]}");
    EXPECT_EQ(
        names(read),
        (std::vector<std::string>{
            "ACME.spot=-20%;ACME.volatility=-1pt;days=0", "ACME.spot=-20%;ACME.volatility=-1pt;days=5",
            "ACME.spot=-20%;ACME.volatility=+10pt;days=0", "ACME.spot=-20%;ACME.volatility=+10pt;days=5",
            "ACME.spot=0%;ACME.volatility=-1pt;days=0", "ACME.spot=0%;ACME.volatility=-1pt;days=5",
            "ACME.spot=0%;ACME.volatility=+10pt;days=0", "ACME.spot=0%;ACME.volatility=+10pt;days=5",
            "ACME.spot=+20%;ACME.volatility=-1pt;days=0", "ACME.spot=+20%;ACME.volatility=-1pt;days=5",
            "ACME.spot=+20%;ACME.volatility=+10pt;days=0", "ACME.spot=+20%;ACME.volatility=+10pt;days=5"}));
    EXPECT_EQ(read.scenarios[11].set, "ladder");
    EXPECT_EQ(read.scenarios[11].days, 5);
    expect_values(read.scenarios[11], {{"ACME.spot", 120}, {"ACME.volatility", 0.3}});
    expect_values(read.scenarios[4], {{"ACME.spot", 100}, {"ACME.volatility", 0.19}});
}

TEST(scenario_reader, three_dots_fill_in) {
    const auto axis = [](const std::string& list) {
        return names(parsed("ladder: {ACME.volatility: " + list + "}"));
    };
    const auto expected = [](const std::vector<std::string>& moves) {
        std::vector<std::string> out;
        for (const std::string& m : moves) out.push_back("ACME.volatility=" + m);
        return out;
    };
    EXPECT_EQ(axis("[-20%, ..., 20%]"),
              expected({"-20%", "-15%", "-10%", "-5%", "0%", "+5%", "+10%", "+15%", "+20%"}));
    EXPECT_EQ(axis("[-10pt, -5pt, ..., 10pt]"), expected({"-10pt", "-5pt", "0pt", "+5pt", "+10pt"}));
    EXPECT_EQ(axis("[50bp, 25bp, ..., -25bp, -100bp]"),
              expected({"+50bp", "+25bp", "0bp", "-25bp", "-100bp"}));
    EXPECT_EQ(axis("[-0.03, -0.02, ..., 0.03]"),
              expected({"-0.03", "-0.02", "-0.01", "0", "+0.01", "+0.02", "+0.03"}));
    EXPECT_EQ(axis("{relative: [-0.2, 0, ..., 0.4]}"),
              expected({"relative -0.2", "relative 0", "relative +0.2", "relative +0.4"}));
    EXPECT_EQ(axis("{set: [0.1, 0.2, ..., 0.4]}"), expected({"set 0.1", "set 0.2", "set 0.3", "set 0.4"}));
    EXPECT_EQ(axis("[{set: 0.5}, 10%, {log: 0.1}]"), expected({"set 0.5", "+10%", "log +0.1"}));
    for (const scenario& s : parsed("ladder: {ACME.spot: [-30%, -27%, ..., 30%]}").scenarios) {
        const double percent = std::stod(s.name.substr(s.name.find('=') + 1));
        expect_values(s, {{"ACME.spot", 100 + percent}});
    }
    EXPECT_EQ(parsed("ladder: [{ACME.spot: [1%]}, {BETA.spot: [1%, 2%]}]").scenarios.size(), 3U);
}

TEST(scenario_reader, what_is_told_of_sets) {
    const scenario_list read = parsed(
        "value_at_risk: {levels: [1%, 2.5%, 0.1], currency: EUR}\nlikely: stress\nstress: {a: {ACME.spot: "
        "1}}\n");
    EXPECT_EQ(read.levels, (std::vector<double>{0.01, 0.025, 0.1}));
    EXPECT_EQ(read.currency, "EUR");
    EXPECT_EQ(read.likely_sets, std::vector<std::string>{"stress"});
    EXPECT_EQ(parsed("value_at_risk: {levels: 5%}\nstress: {a: {ACME.spot: 1}}").levels,
              std::vector<double>{0.05});
    const std::string some = "stress: {a: {ACME.spot: 1}}\n";
    EXPECT_EQ(refused(some + "likely: [sress]\n"),
              "s:2:10: likely[0]: unknown set of scenarios 'sress'; did you mean 'stress'? known: stress");
    EXPECT_EQ(refused(some + "value_at_risk: {levels: [99%]}\n"),
              "s:2:26: value_at_risk.levels[0]: found '99%', expected the share of the worst scenarios, more "
              "than 0% and at most 50%; write 1%");
    EXPECT_EQ(refused(some + "value_at_risk: {levels: [1%, 0.01]}\n"),
              "s:2:30: value_at_risk.levels[1]: found '0.01' a second time, expected different levels");
    EXPECT_EQ(refused(some + "value_at_risk: {level: 1%}\n"),
              "s:2:17: value_at_risk.level: unknown key 'level'; did you mean 'levels'? known keys: levels, "
              "currency");
    EXPECT_EQ(refused(some + "value_at_risk: {currency: EUX}\n"),
              "s:2:27: value_at_risk.currency: unknown currency 'EUX'; did you mean 'EUR'? known: EUR, GBP, "
              "JPY, USD");
}

TEST(scenario_reader, refusals_of_moves) {
    const auto stress = [](const std::string& of) { return refused("stress:\n  a: " + of + "\n"); };
    EXPECT_EQ(
        stress("{ACME.spt: -20%}"),
        "s:2:7: stress.a.ACME.spt: unknown market key 'ACME.spt'; did you mean 'ACME.spot'? the market's "
        "keys: ACME.fixing@2026-01-02, ACME.spot, ACME.volatility, ACME|BETA.correlation, "
        "BETA.dividend_yield, BETA.spot, BETA.volatility@0.5y, BETA.volatility@1y, EUR.rate@0.5y, "
        "EUR.rate@2027-01-15, EURUSD.rate, EURUSD.volatility, GBP.rate@1y, GBP.rate@2028-01-15, JPY.rate, "
        "USD.rate@0.5y, USD.rate@1y, USD.rate@2027-07-15");
    EXPECT_TRUE(stress("{\"X*\": -20%}")
                    .starts_with("s:2:7: stress.a.X*: found the pattern 'X*', which fits no number of the "
                                 "market; the market's keys: "));
    EXPECT_EQ(stress("{ACME.spot: -20 %}"),
              "s:2:18: stress.a.ACME.spot: found '-20 %', expected a move such as 5, -20%, +10pt or +50bp; "
              "write -20%");
    EXPECT_EQ(stress("{USD.rate@1y: 50bps}"),
              "s:2:20: stress.a.USD.rate@1y: found '50bps', expected a move such as 5, -20%, +10pt or +50bp; "
              "write 50bp");
    EXPECT_EQ(stress("{ACME.spot: '5'}"),
              "s:2:18: stress.a.ACME.spot: found the quoted text '5', expected a move such as 5, -20%, +10pt "
              "or +50bp, or a mapping such as {log: -0.2}");
    EXPECT_EQ(
        stress("{ACME.spot: nan}"),
        "s:2:18: stress.a.ACME.spot: found 'nan', expected a move such as 5, -20%, +10pt or +50bp; it has "
        "to be finite");
    EXPECT_EQ(
        stress("{ACME.spot: [1]}"),
        "s:2:18: stress.a.ACME.spot: found a list, expected a move such as 5, -20%, +10pt or +50bp, or a "
        "mapping such as {log: -0.2}");
    EXPECT_EQ(
        stress("{ACME.spot: +10pt}"),
        "s:2:18: stress.a.ACME.spot: found '+10pt' for 'ACME.spot', whose unit is USD, expected an amount "
        "in that unit, or a percentage");
    EXPECT_EQ(stress("{EURUSD.rate: 5bp}"),
              "s:2:20: stress.a.EURUSD.rate: found '+5bp' for 'EURUSD.rate', whose unit is USD for one EUR, "
              "expected an amount in that unit, or a percentage");
    EXPECT_EQ(
        stress("{ACME.spot: {log: 0.1, set: 1}}"),
        "s:2:18: stress.a.ACME.spot: found 2 ways to move, expected one of absolute, relative, log, set");
    EXPECT_EQ(
        stress("{ACME.spot: {displacement: 1}}"),
        "s:2:18: stress.a.ACME.spot: found 0 ways to move, expected one of absolute, relative, log, set");
    EXPECT_EQ(
        stress("{ACME.spot: {set: 1, displacement: 1}}"),
        "s:2:41: stress.a.ACME.spot.displacement: found a displacement beside 'set', expected one beside "
        "'relative' or 'log'");
    EXPECT_EQ(stress("{ACME.spot: {rel: 1}}"),
              "s:2:19: stress.a.ACME.spot.rel: unknown key 'rel'; known keys: absolute, relative, log, set, "
              "displacement");
    EXPECT_EQ(
        stress("{ACME.spot: {log: -20%}}"),
        "s:2:24: stress.a.ACME.spot.log: found '-20%' for an amount that is log, expected a number; write "
        "-0.2");
    EXPECT_EQ(stress("{JPY.rate: {log: 0.1}}"),
              "s:2:17: stress.a.JPY.rate: found 'log +0.1' for 'JPY.rate', which is -0.01, expected a number "
              "more than 0 to have a logarithm");
    EXPECT_EQ(
        stress("{JPY.rate: {log: 0.1, displacement: 0.01}}"),
        "s:2:17: stress.a.JPY.rate: found 'log +0.1' for 'JPY.rate', which is -0.01 with the displacement "
        "0.01, expected a number more than 0 to have a logarithm");
    EXPECT_EQ(
        stress("{ACME.spot: {log: 1e4}}"),
        "s:2:18: stress.a.ACME.spot: found 'log +10000' for 'ACME.spot', which is 100, expected a move to "
        "a finite number");
    EXPECT_EQ(
        stress("{ACME.spot: 1, \"*.spot\": -20%}"),
        "s:2:21: stress.a.*.spot: found '*.spot', which moves ACME.spot as 'ACME.spot' does, expected each "
        "number to be moved once in a scenario");
    EXPECT_EQ(
        stress("{\"ACME|BETA.correlation\": 0.1, \"BETA|ACME.correlation\": 0.1}"),
        "s:2:37: stress.a.BETA|ACME.correlation: found 'BETA|ACME.correlation', which moves "
        "ACME|BETA.correlation as 'ACME|BETA.correlation' does, expected each number to be moved once in a "
        "scenario");
    EXPECT_EQ(
        stress("{}"),
        "s:2:6: stress.a: found a scenario that moves nothing, expected a move of a number, or days that "
        "pass");
    EXPECT_EQ(
        stress("{days: 0}"),
        "s:2:6: stress.a: found a scenario that moves nothing, expected a move of a number, or days that "
        "pass");
    EXPECT_EQ(stress("{days: -1}"),
              "s:2:13: stress.a.days: found '-1', expected a whole number of days from 0 to 73000");
    EXPECT_EQ(
        stress("-20%"),
        "s:2:6: stress.a: found '-20%', expected a scenario: a mapping of market keys to moves, such as "
        "{ACME.spot: -20%}");
    EXPECT_EQ(refused("stress:\n  a: {ACME.spot: 1}\n  a: {ACME.spot: 2}\n"),
              "s:3:3: stress: duplicate key 'a'; it was first given on line 2");
    EXPECT_EQ(refused("stress: {' a': {ACME.spot: 1}}"),
              "s:1:10: stress. a: found ' a', expected the name of a scenario with no blank at an end");
}

TEST(scenario_reader, refusals_of_grids_and_files) {
    const auto ladder = [](const std::string& of) { return refused("ladder: " + of + "\n"); };
    EXPECT_EQ(ladder("{ACME.spot: -20%}"),
              "s:1:21: ladder.ACME.spot: found '-20%', expected a list of moves, such as [-20%, ..., 20%] or "
              "{relative: [-0.2, 0, 0.2]}");
    EXPECT_EQ(ladder("{ACME.spot: []}"),
              "s:1:21: ladder.ACME.spot: found an empty list, expected at least one move");
    EXPECT_EQ(ladder("{ACME.spot: [..., 20%]}"),
              "s:1:22: ladder.ACME.spot[0]: found '...' at an end of a list, expected it between two moves");
    EXPECT_EQ(ladder("{ACME.spot: [1%, ...]}"),
              "s:1:26: ladder.ACME.spot[1]: found '...' at an end of a list, expected it between two moves");
    EXPECT_EQ(ladder("{ACME.spot: [1%, ..., 3%, ..., 5%]}"),
              "s:1:26: ladder.ACME.spot[1]: found '...' more than once in a list, expected it once");
    EXPECT_EQ(
        ladder("{ACME.volatility: [-20%, ..., 2pt]}"),
        "s:1:34: ladder.ACME.volatility[1]: found '...' between amounts in different units, expected the "
        "same unit");
    EXPECT_EQ(ladder("{ACME.spot: [-20%, -17%, ..., 20%]}"),
              "s:1:34: ladder.ACME.spot[2]: found '...' from -17% to +20% in steps of +3%, expected a whole "
              "number of steps");
    EXPECT_EQ(ladder("{ACME.spot: [0%, 1%, ..., -20%]}"),
              "s:1:30: ladder.ACME.spot[2]: found '...' from +1% to -20% in steps of +1%, expected a whole "
              "number of steps");
    EXPECT_EQ(
        ladder("{ACME.spot: [1%, 1%, ..., 2%]}"),
        "s:1:30: ladder.ACME.spot[2]: found '...' from +1% to +2% in steps of 0%, expected a whole number "
        "of steps");
    EXPECT_EQ(ladder("{ACME.spot: [0, 1e-9, ..., 1]}"),
              "s:1:31: ladder.ACME.spot[2]: found '...' for 999999999 values, expected at most 100000");
    EXPECT_EQ(
        ladder("{ACME.spot: [1%, 1%]}"),
        "s:1:9: ladder: found a second scenario 'ACME.spot=+1%' of the set 'ladder', expected different "
        "names");
    EXPECT_EQ(ladder("[{ACME.spot: [1%]}, {ACME.spot: [1%]}]"),
              "s:1:29: ladder[1]: found a second scenario 'ACME.spot=+1%' of the set 'ladder', expected "
              "different names");
    EXPECT_EQ(
        ladder("{ACME.spot: [1%], \"*.spot\": [1%]}"),
        "s:1:27: ladder.*.spot: found '*.spot', which moves ACME.spot as 'ACME.spot' does, expected each "
        "number to be moved once in a scenario");
    EXPECT_EQ(
        ladder("{ACME.spot: [0, 0.001, ..., 1], BETA.spot: [0, 0.01, ..., 1]}"),
        "s:1:9: ladder: found a grid with which the file has more than 100000 scenarios, which is the limit "
        "of a file");
    EXPECT_EQ(ladder("{}"),
              "s:1:9: ladder: found an empty mapping, expected a grid: a mapping of market keys to lists of "
              "moves, such as {ACME.spot: [-20%, ..., 20%]}");
    EXPECT_EQ(
        refused("stres: {}\n"),
        "s:1:1: stres: unknown key 'stres'; did you mean 'stress'? known keys: stress, ladder, history, "
        "table, likely, value_at_risk");
    EXPECT_EQ(
        refused("value_at_risk: {}\n"),
        "s:1:1: found no scenarios, expected one of the keys stress, ladder, history, table; the file may "
        "be cut short");
    EXPECT_EQ(
        refused("- a\n"),
        "s:1:1: found a list, expected scenarios: a mapping with keys such as stress, ladder and history");
    EXPECT_EQ(
        refused("trades: []\n"),
        "s:1:1: found a book, expected scenarios: a mapping with keys such as stress, ladder and history");
    EXPECT_EQ(refused(market_text),
              "s:1:1: found a market, expected scenarios: a mapping with keys such as stress, ladder and "
              "history");
    EXPECT_EQ(
        refused("stress: {a: {ACME.spot: 1}}\n", "", {.strict = true}),
        "s:2:1: found no last line '...', expected one where files are read strictly; the file may be cut "
        "short");
    EXPECT_EQ(refused("stress: {a: {ACME.spot: 1}}\n...\n", "", {.strict = true}), nothing_refused);
}

class scenario_reader_tables : public testing::Test {
  protected:
    std::string at(const std::string& name) const { return (own / name).string(); }
    scenario_list of_history(const std::string& levels, const std::string& more = "") const {
        own.write("levels.csv", levels);
        return parsed("history: {levels: levels.csv" + more + "}\n", own.path());
    }
    std::string refused_history(const std::string& levels, const std::string& more = "") const {
        return shortened(refusal([&] { of_history(levels, more); }));
    }
    scenario_list of_table(const std::string& table, const std::string& more = "") const {
        own.write("table.csv", table);
        return parsed("table: {file: table.csv" + more + "}\n", own.path());
    }
    std::string refused_table(const std::string& table, const std::string& more = "") const {
        return shortened(refusal([&] { of_table(table, more); }));
    }
    std::string shortened(std::string text) const {
        const std::string folder = own.path().string() + "/";
        for (std::size_t at = 0; (at = text.find(folder)) != std::string::npos;)
            text.erase(at, folder.size());
        return text;
    }

    tests::own_folder own;
};

TEST_F(scenario_reader_tables, returns_of_a_history) {
    const std::string levels =
        "Date,ACME.spot,ACME.volatility,USD.rate@1y,EURUSD.rate\n"
        "2025-01-02,90,0.25,0.01,1.00\n2025-01-03,99,0.24,0.012,1.10\n2025-01-06,88,0.30,0.011,1.21\n"
        "2025-01-07,110,0.28,0.010,1.0\n";
    const scenario_list read = of_history(levels);
    EXPECT_EQ(names(read), (std::vector<std::string>{"2025-01-03", "2025-01-06", "2025-01-07"}));
    EXPECT_EQ(read.likely_sets, std::vector<std::string>{"history"});
    EXPECT_EQ(read.scenarios[1].set, "history");
    EXPECT_EQ(read.scenarios[1].first_day, "2025-01-03");
    EXPECT_EQ(read.scenarios[1].last_day, "2025-01-06");
    EXPECT_EQ(read.scenarios[1].days, 0);
    expect_values(read.scenarios[1], {{"ACME.spot", 100 * 88.0 / 99},
                                      {"ACME.volatility", 0.2 + 0.06},
                                      {"USD.rate@1y", 0.03 - 0.001},
                                      {"EURUSD.rate", 1.25 * 1.1}});
    ASSERT_EQ(read.inputs.size(), 2U);
    EXPECT_EQ(shortened(read.inputs[1].file), "levels.csv");

    const scenario_list two = of_history(levels, ", days: 2, roll: true, returns: log, set: two_days");
    EXPECT_EQ(names(two), (std::vector<std::string>{"2025-01-06", "2025-01-07"}));
    EXPECT_EQ(two.likely_sets, std::vector<std::string>{"two_days"});
    EXPECT_EQ(two.scenarios[0].days, 4);
    EXPECT_EQ(two.scenarios[1].days, 4);
    expect_values(two.scenarios[1], {{"ACME.spot", 100 * 110.0 / 99},
                                     {"ACME.volatility", 0.2 * 0.28 / 0.24},
                                     {"USD.rate@1y", 0.03 * 0.010 / 0.012},
                                     {"EURUSD.rate", 1.25 * 1.0 / 1.1}});

    const scenario_list some =
        of_history(levels,
                   ", from: 2025-01-03, to: 2025-01-06, displacement: {USD.rate*: 0.02}, returns: "
                   "{\"*rate*\": relative, EURUSD.rate: absolute}");
    ASSERT_EQ(some.scenarios.size(), 1U);
    expect_values(some.scenarios[0], {{"ACME.spot", 100 * 88.0 / 99},
                                      {"ACME.volatility", 0.2 + 0.06},
                                      {"USD.rate@1y", 0.05 * 0.031 / 0.032 - 0.02},
                                      {"EURUSD.rate", 1.25 + 0.11}});
}

TEST_F(scenario_reader_tables, overlapping_returns) {
    std::mt19937_64 dice(7);
    std::lognormal_distribution<double> jump(0, 0.02);
    std::vector<double> spots{100}, rates{0.03};
    std::string text = "Date,ACME.spot,USD.rate@1y\n";
    const int days = 60;
    for (int i = 0; i < days; ++i) {
        spots.push_back(spots.back() * jump(dice));
        rates.push_back(rates.back() * jump(dice));
        char line[100];
        std::snprintf(line, sizeof line, "2025-%02d-%02d,%.17g,%.17g\n", 1 + i / 28, 1 + i % 28, spots.back(),
                      rates.back());
        text += line;
    }
    for (const int h : {1, 2, 10, days - 1}) {
        const scenario_list read = of_history(text, ", days: " + std::to_string(h));
        ASSERT_EQ(read.scenarios.size(), static_cast<std::size_t>(days - h));
        for (int i = 0; i < days - h; ++i) {
            const auto a = static_cast<std::size_t>(i + 1), b = static_cast<std::size_t>(i + 1 + h);
            expect_values(
                read.scenarios[static_cast<std::size_t>(i)],
                {{"ACME.spot", 100 * (spots[b] / spots[a])}, {"USD.rate@1y", 0.03 + (rates[b] - rates[a])}});
        }
    }
    EXPECT_EQ(
        refused_history(text, ", days: 60"),
        "s:1:19: history.levels: found 60 days of levels, expected at least 61 for a return of 60 days");
}

TEST_F(scenario_reader_tables, several_histories) {
    own.write("a.csv", "Date,ACME.spot\n2025-01-02,1\n2025-01-03,2\n");
    own.write("b.csv", "Date,BETA.spot\n2025-01-02,1\n2025-01-03,2\n2025-01-04,2\n");
    const scenario_list read =
        parsed("history: [{levels: a.csv}, {set: other, levels: b.csv}]\n", own.path());
    EXPECT_EQ(read.likely_sets, (std::vector<std::string>{"history", "other"}));
    EXPECT_EQ(read.scenarios.size(), 3U);
    EXPECT_EQ(
        shortened(refused("history: [{levels: a.csv}, {levels: a.csv}]\n", own.path())),
        "a.csv:3:1: Date: found a second scenario '2025-01-03' of the set 'history', expected different "
        "names");
}

TEST_F(scenario_reader_tables, refusals_of_a_history) {
    const std::string head = "Date,ACME.spot,USD.rate@1y\n";
    const std::string first = "2025-01-02,90,0.01\n", second = "2025-01-03,91,0.011\n";
    EXPECT_EQ(refused_history(head + second + first),
              "levels.csv:3:1: Date: found 2025-01-02 after 2025-01-03, expected a later day in each row");
    EXPECT_EQ(refused_history(head + first + first),
              "levels.csv:3:1: Date: found 2025-01-02 a second time, expected a later day in each row");
    EXPECT_EQ(refused_history(head + first + "2025-01-03,#N/A,0.011\n"),
              "levels.csv:3:12: ACME.spot: found '#N/A', expected a level");
    EXPECT_EQ(refused_history(head + first + "2025-01-03,91,\n"),
              "levels.csv:3:15: USD.rate@1y: found nothing, expected a level");
    EXPECT_EQ(refused_history(head + first + "2025-01-03,\"1,200.5\",0\n"),
              "levels.csv:3:12: ACME.spot: found '1,200.5', expected a level; write 1200.5");
    EXPECT_EQ(refused_history(head + first + "03/01/2025,91,0.011\n"),
              "levels.csv:3:1: Date: found '03/01/2025', expected a date as YYYY-MM-DD, such as 2026-03-31");
    EXPECT_EQ(refused_history(head + first + "2025-01-03,91\n"),
              "levels.csv:3:14: found 2 cells, expected 3, one for each name of the header");
    EXPECT_EQ(
        refused_history(head + first + "2025-01-03,91"),
        "levels.csv:3:14: found 2 cells, expected 3, one for each name of the header; the file may be cut "
        "short");
    EXPECT_EQ(refused_history(head + first + "2025-01-03,91,1,2\n"),
              "levels.csv:3:17: found more than 3 cells, expected one for each name of the header");
    EXPECT_EQ(refused_history(head + first + "2025-01-03,0,0.01\n"),
              "levels.csv:3:12: ACME.spot: found the spot 0, expected more than 0 and at most 1e15");
    EXPECT_EQ(
        refused_history(head + first + "2025-01-03,1,-0.01\n", ", returns: log"),
        "levels.csv:3:14: USD.rate@1y: found the level -0.01, expected more than 0 for a return that is "
        "log");
    EXPECT_EQ(
        refused_history(head + first + "2025-01-03,1,-0.04\n", ", returns: log, displacement: 3pt"),
        "levels.csv:3:14: USD.rate@1y: found the level -0.04 with the displacement 0.03, expected more than "
        "0 for a return that is log");
    EXPECT_EQ(
        refused_history("Date,ACME.spott\n"),
        "levels.csv:1:6: unknown market key 'ACME.spott'; did you mean 'ACME.spot'? the market's keys: "
        "ACME.fixing@2026-01-02, ACME.spot, ACME.volatility, ACME|BETA.correlation, BETA.dividend_yield, "
        "BETA.spot, BETA.volatility@0.5y, BETA.volatility@1y, EUR.rate@0.5y, EUR.rate@2027-01-15, "
        "EURUSD.rate, EURUSD.volatility, GBP.rate@1y, GBP.rate@2028-01-15, JPY.rate, USD.rate@0.5y, "
        "USD.rate@1y, USD.rate@2027-07-15");
    EXPECT_EQ(refused_history("Date,USD.rate@1y,USD.rate@1.0y\n"),
              "levels.csv:1:18: found the column 'USD.rate@1.0y' for USD.rate@1y, which the column "
              "'USD.rate@1y' has already, expected one column for each number");
    EXPECT_EQ(refused_history("Day,ACME.spot\n"),
              "levels.csv:1:1: found a table that does not begin with 'Date', expected levels by date");
    EXPECT_EQ(refused_history("Date\n"),
              "levels.csv:1:1: found no column for a number of the market, expected market keys in the "
              "header, or 'keys' that map columns to them");
    EXPECT_EQ(refused_history("Date;ACME.spot\n"),
              "levels.csv:1:1: found one name, expected several with commas between them");
    EXPECT_EQ(refused_history(""), "levels.csv:1:1: found nothing, expected a header line");
    EXPECT_EQ(
        refused_history(head + "2025-01-02,\"90,0.01\n"),
        "levels.csv:2:12: found a cell in quotes that does not end, expected a closing quote; the file may "
        "be cut short");
    EXPECT_EQ(
        refused_history(head + "2025-01-02,9\"0,0.01\n"),
        "levels.csv:2:13: found a quote inside a cell, expected quotes around the whole cell and each quote "
        "inside it doubled");
    EXPECT_EQ(refused_history(head + "2025-01-02,\"90\"0,0.01\n"),
              "levels.csv:2:16: found text after a closing quote, expected a comma or the end of the line");
    EXPECT_EQ(refused_history(head + first + second + "...\nmore\n"),
              "levels.csv:5:1: found text after the line '...', which ends the table");
    EXPECT_EQ(refused_history(head + first),
              "s:1:19: history.levels: found 1 day of levels, expected at least 2 for a return of 1 day");
    const auto said = [&](const std::string& more) { return refused_history(head + first + second, more); };
    EXPECT_EQ(said(", returns: geometric"),
              "s:1:40: history.returns: found 'geometric', expected one of absolute, relative, log");
    EXPECT_EQ(
        said(", returns: {\"*.spott\": log}").substr(0, 97),
        "s:1:41: history.returns.*.spott: found the pattern '*.spott', which fits no number of the market;");
    EXPECT_EQ(said(", days: 0"),
              "s:1:37: history.days: found '0', expected a whole number of days from 1 to 1000");
    EXPECT_EQ(said(", roll: yes"), "s:1:37: history.roll: found 'yes', expected true or false; write true");
    EXPECT_EQ(said(", from: 2025-02-01, to: 2025-01-01"),
              "s:1:53: history.to: found '2025-01-01', expected a day that is not before 'from'");
    EXPECT_EQ(
        said(", row_count: 3"),
        "s:1:42: history.row_count: found '3' beside a table of 2 rows, expected the number of its rows; "
        "the table may be cut short");
    EXPECT_EQ(
        said(", return: log"),
        "s:1:31: history.return: unknown key 'return'; did you mean 'returns'? known keys: set, levels, "
        "keys, row_count, returns, displacement, days, roll, from, to");
    EXPECT_EQ(said(", set: ''"),
              "s:1:36: history.set: found nothing, expected the name of a set of one line");
    EXPECT_EQ(shortened(refused("history: {levels: none.csv}\n", own.path())),
              "s:1:19: history.levels: 'none.csv': there is no such file");
}

// Levels written in percent would move the market a hundred times too far. A market itself refuses such
// levels, and the readers of histories and scenario tables refuse them with the same words.
TEST_F(scenario_reader_tables, a_level_that_no_market_has) {
    const auto market_says = [](const std::string& from, const std::string& to) {
        const std::string said = refusal([&] { market::parse(tests::replaced(market_text, from, to)); });
        return said.substr(std::min(said.find("found"), said.size()));
    };
    struct one {
        std::string column, level, from, to, words;
    };
    const std::vector<one> levels{
        {"USD.rate@1y", "3.75", "1.0: 0.03", "1.0: 3.75",
         "found the rate 3.75, expected one between -1 and 1; 3.75 means 375 %; 3.75 % is written 0.0375"},
        {"ACME.volatility", "22", "volatility: 0.2", "volatility: 22",
         "found the volatility 22, expected one between 0 and 5; 22 means 2200 %; 22 % is written 0.22"},
        {"ACME.volatility", "-0.1", "volatility: 0.2", "volatility: -0.1",
         "found the volatility -0.1, expected one between 0 and 5"},
        {"BETA.volatility@1y", "30", "1.0: 0.3", "1.0: 30",
         "found the volatility 30, expected one between 0 and 5; 30 means 3000 %; 30 % is written 0.3"},
        {"ACME.spot", "-1", "spot: 100", "spot: -1",
         "found the spot -1, expected more than 0 and at most 1e15"},
        {"EURUSD.rate", "0", "rate: 1.25", "rate: 0",
         "found the rate 0, expected more than 0 and at most 1e15"},
        {"ACME|BETA.correlation", "50", "BETA, 0.5]", "BETA, 50]",
         "found the correlation 50, expected one between -1 and 1"}};
    for (const one& of : levels) {
        EXPECT_EQ(market_says(of.from, of.to), of.words);
        const std::string head = "Date,ACME.spot," + of.column;
        if (of.column == "ACME.spot") continue;
        const std::string table = head + "\n2025-01-02,90," + of.level + "\n2025-01-03,91," + of.level + "\n";
        EXPECT_EQ(refused_history(table), "levels.csv:2:15: " + of.column + ": " + of.words);
    }
    // A bad level is accepted on days that the history does not use.
    EXPECT_EQ(refused_history("Date,USD.rate@1y\n2024-01-02,3\n2025-01-02,0.03\n2025-01-03,0.031\n",
                              ", from: 2025-01-01"),
              nothing_refused);
    own.write("levels.csv", "Date,Scenario,ACME.volatility\n2025-01-02,up,23\n");
    EXPECT_EQ(shortened(refused("table: levels.csv\n", own.path())),
              "levels.csv:2:15: ACME.volatility: found the volatility 23, expected one between 0 and 5; 23 "
              "means 2300 %; 23 % is written 0.23");
}

TEST_F(scenario_reader_tables, forms_of_csv) {
    const scenario_list plain = of_history("Date,ACME.spot\n2025-01-02,1\n2025-01-03,2\n");
    const auto same = [&](const std::string& levels) {
        const scenario_list read = of_history(levels);
        ASSERT_EQ(names(read), names(plain)) << levels;
        EXPECT_EQ(after(read.scenarios[0]), after(plain.scenarios[0])) << levels;
    };
    same(
        "\xef\xbb\xbf"
        "Date,ACME.spot\r\n2025-01-02,1\r\n2025-01-03,2\r\n");
    same("#Date,ACME.spot\n2025-01-02,1\n2025-01-03,2");
    same("\"Date\",\"ACME.spot\"\n\n\"2025-01-02\",\"1\"\n\n2025-01-03,2\n...\n\n");
    EXPECT_EQ(of_history("Date,ACME.spot\n2025-01-02,1\n2025-01-03,2").remarks.size(), 1U);
    EXPECT_TRUE(plain.remarks.empty());
    config::csv_reader rows("a,\"b,\"\"c\"\"\nd\"\n1,\n\"\",\"x\ny\"\n", "t");
    EXPECT_EQ(rows.header()[1].text, "b,\"c\"\nd");
    ASSERT_TRUE(rows.next());
    EXPECT_EQ(rows.row()[1].text, "");
    EXPECT_EQ(rows.row()[0].line, 3);
    ASSERT_TRUE(rows.next());
    EXPECT_EQ(rows.row()[0].text, "");
    EXPECT_EQ(rows.row()[1].text, "x\ny");
    EXPECT_FALSE(rows.next());
    EXPECT_FALSE(rows.next());
}

TEST_F(scenario_reader_tables, strictly_and_confined) {
    const std::string levels = "Date,ACME.spot\n2025-01-02,1\n2025-01-03,2\n";
    own.write("whole.csv", levels + "...\n");
    own.write("open.csv", levels);
    const auto strictly = [&](const std::string& name) {
        return shortened(refused("history: {levels: " + name + "}\n...\n", own.path(), {.strict = true}));
    };
    EXPECT_EQ(strictly("whole.csv"), nothing_refused);
    EXPECT_EQ(strictly("open.csv, row_count: 2"), nothing_refused);
    EXPECT_EQ(strictly("open.csv"),
              "open.csv:4:1: found no last line '...', expected one, or a row_count beside the name of the "
              "table, where files are read strictly; the file may be cut short");
    std::filesystem::create_directory(own / "below");
    own.write("below/keys.yaml", "{}\n");
    const auto confined = [&](const std::string& text) {
        return refused(text, own / "below", {.confine = true}).find("files are confined to it") !=
               std::string::npos;
    };
    EXPECT_TRUE(confined("history: {levels: ../open.csv}"));
    EXPECT_TRUE(confined("table: ../open.csv"));
    EXPECT_TRUE(confined("history: {levels: x.csv, keys: ../keys.yaml}"));
    EXPECT_FALSE(confined("history: {levels: x.csv, keys: keys.yaml}"));
    EXPECT_EQ(refused("history: {levels: ../open.csv}", own / "below"), nothing_refused);
}

TEST_F(scenario_reader_tables, a_table_of_moves) {
    const std::string table =
        "Scenario,Set,Days,ACME.spot,\"*.volatility*\",USD.rate@1y\n"
        "crash,stress,,-20%,+10pt,+50bp\n\"up, and up\",other,2,5,,\nlater,history,1,,,\n";
    const scenario_list read = of_table(table);
    EXPECT_EQ(names(read), (std::vector<std::string>{"crash", "up, and up", "later"}));
    EXPECT_EQ(read.scenarios[1].set, "other");
    EXPECT_EQ(read.scenarios[1].days, 2);
    EXPECT_EQ(read.scenarios[2].days, 1);
    EXPECT_EQ(read.likely_sets, std::vector<std::string>{"history"});
    expect_values(read.scenarios[0], {{"ACME.spot", 80},
                                      {"ACME.volatility", 0.3},
                                      {"BETA.volatility@0.5y", 0.35},
                                      {"BETA.volatility@1y", 0.4},
                                      {"EURUSD.volatility", 0.2},
                                      {"USD.rate@1y", 0.035}});
    expect_values(read.scenarios[1], {{"ACME.spot", 105}});
    // A table that is loaded by itself is known to be CSV from its file name, or from its header line.
    own.write("moves.csv", table);
    EXPECT_EQ(names(scenario_list::load(own / "moves.csv", base())), names(read));
    EXPECT_EQ(names(parsed(table)), names(read));
    EXPECT_EQ(parsed("Scenario,ACME.spot\na,1\n").scenarios[0].set, "stress");
    expect_values(of_table("ACME.spot,Scenario\n-20%,crash\n").scenarios.at(0), {{"ACME.spot", 80}});
    // The default sets `history` and `ore` count as likely, so that value at risk includes them.
    EXPECT_EQ(
        parsed("Scenario,Set,ACME.spot\na,other,1\nb,ore,1\nc,stress,1\nd,ore,2\ne,history,1\n").likely_sets,
        (std::vector<std::string>{"ore", "history"}));
    const scenario_list loaded = scenario_list::load(own / "moves.csv", base());
    ASSERT_EQ(loaded.inputs.size(), 1U);
    EXPECT_EQ(loaded.inputs[0].file, at("moves.csv"));
    EXPECT_EQ(loaded.inputs[0].hash, read.inputs[1].hash);

    EXPECT_EQ(
        refused_table("Scenario,ACME.spot\na,\n"),
        "table.csv:2:1: Scenario: found a scenario that moves nothing, expected a move of a number, or days "
        "that pass");
    EXPECT_EQ(
        refused_table("Scenario,ACME.spot\na,20 %\n"),
        "table.csv:2:3: ACME.spot: found '20 %', expected a move such as 5, -20%, +10pt or +50bp; write "
        "20%");
    EXPECT_EQ(refused_table("Scenario,ACME.spot\na,1\na,2\n"),
              "table.csv:3:1: Scenario: found a second scenario 'a' of the set 'stress', expected different "
              "names");
    EXPECT_EQ(refused_table("Scenario,ACME.spot\n,1\n"),
              "table.csv:2:1: Scenario: found nothing, expected the name of a scenario of one line");
    EXPECT_EQ(refused_table("Scenario,Set,ACME.spot\na,,1\n"),
              "table.csv:2:3: Set: found nothing, expected the name of a set of one line");
    EXPECT_EQ(refused_table("Scenario,Days,ACME.spot\na,1.5,1\n"),
              "table.csv:2:3: Days: found '1.5', expected a whole number of days from 0 to 73000");
    EXPECT_EQ(
        refused_table("Scenario,ACME.spot,*.spot\na,1,\nb,1,1%\n"),
        "table.csv:3:5: *.spot: found '*.spot', which moves ACME.spot as 'ACME.spot' does, expected each "
        "number to be moved once in a scenario");
    EXPECT_EQ(refused_table("Scenario,ACME.spot,ACME.spot\n"),
              "table.csv:1:20: found a second column 'ACME.spot', expected one");
    EXPECT_EQ(
        refused_table("Set,ACME.spot\n"),
        "table.csv:1:1: found a table with no column 'Scenario', expected one with the names of scenarios");
    EXPECT_EQ(refused_table("Scenario,ACME.spot\n"),
              "table.csv:1:1: found a header and no rows, expected at least one scenario");
    EXPECT_EQ(refused_table("Scenario,ACME.spot\na,1\n", ", keys: {}"),
              "s:1:32: table.keys: found keys for a table of moves, whose columns are market keys already, "
              "expected keys only with a table of levels");
    EXPECT_EQ(refused_table("Date,ACME.spot\n2025-01-02,1\n"),
              "table.csv:1:1: found levels by date, expected scenarios; a YAML file makes them from levels, "
              "as in {history: {levels: NAME}}");
}

const std::string ore_table =
    "#Date,Scenario,Numeraire,EquitySpot/ACME/0,FXSpot/USDEUR/0,EquityVolatility/BETA/0,EquityVolatility/"
    "BETA/1,"
    "DiscountCurve/USD/0,DiscountCurve/USD/1,DiscountCurve/EUR/0,DiscountCurve/GBP/1,DiscountCurve/JPY/7,"
    "IndexCurve/EUR-EURIBOR-6M/0\n"
    "2025-01-02,1,1,110,0.75,0.26,0.31,0.99,0.97,0.98,0.9,1.02,#N/A\n"
    "2025-01-03,1,1,90,0.8,0.27,0.32,0.98,0.96,0.97,0.91,1.01,#N/A\n";
const std::string ore_keys =
    "EquityVolatility/BETA: [BETA.volatility@0.5y, BETA.volatility@1y]\n"
    "DiscountCurve/USD: [~, USD.rate@1y]\n"
    "DiscountCurve/EUR/0: EUR.rate@2027-01-15\n"
    "DiscountCurve/GBP/1: {key: GBP.rate@2028-01-15}\n"
    "DiscountCurve/JPY/7: {key: JPY.rate, years: 2}\n";

TEST_F(scenario_reader_tables, levels_of_ore) {
    own.write("keys.yaml", ore_keys);
    const scenario_list read = of_table(ore_table, ", keys: keys.yaml");
    EXPECT_EQ(names(read), (std::vector<std::string>{"2025-01-02", "2025-01-03"}));
    EXPECT_EQ(read.scenarios[0].set, "ore");
    EXPECT_EQ(read.likely_sets, std::vector<std::string>{"ore"});
    ASSERT_EQ(read.inputs.size(), 3U);
    EXPECT_EQ(shortened(read.inputs[2].file), "keys.yaml");
    ASSERT_EQ(read.remarks.size(), 1U);
    EXPECT_EQ(
        shortened(read.remarks[0]),
        "table.csv: a column is no number of the market and moves nothing: IndexCurve/EUR-EURIBOR-6M/0");
    const double to_2028 = (365.0 + 365) / 365;
    expect_values(read.scenarios[0], {{"ACME.spot", 110},
                                      {"EURUSD.rate", 1 / 0.75},
                                      {"BETA.volatility@0.5y", 0.26},
                                      {"BETA.volatility@1y", 0.31},
                                      {"USD.rate@1y", -std::log(0.97)},
                                      {"EUR.rate@2027-01-15", -std::log(0.98) * 360 / 365},
                                      {"GBP.rate@2028-01-15", -std::log(0.9) / to_2028},
                                      {"JPY.rate", -std::log(1.02) / 2}});
    // In the scenario's market, discount factors are those of the table.
    const market then = base().changed(read.scenarios[1].changes);
    EXPECT_NEAR(then.number("GBP.rate@2028-01-15").value, -std::log(0.91) / to_2028, 1e-15);
    for (const scenario& s : read.scenarios)
        for (const market_change& c : s.changes) EXPECT_EQ(c.is, market_change::way::set);

    own.write("ore.csv", ore_table);
    own.write("ore.keys.yaml", ore_keys);
    const scenario_list beside = scenario_list::load(own / "ore.csv", base());
    ASSERT_EQ(beside.scenarios.size(), 2U);
    EXPECT_EQ(after(beside.scenarios[1]), after(read.scenarios[1]));
    EXPECT_EQ(beside.inputs.size(), 2U);
    own.write("alone.csv", ore_table);
    const scenario_list alone = scenario_list::load(own / "alone.csv", base());
    ASSERT_EQ(alone.remarks.size(), 1U);
    EXPECT_EQ(shortened(alone.remarks[0]),
              "alone.csv: 8 columns are no numbers of the market and move nothing: EquityVolatility/BETA/0, "
              "EquityVolatility/BETA/1, DiscountCurve/USD/0, DiscountCurve/USD/1, DiscountCurve/EUR/0, "
              "DiscountCurve/GBP/1, DiscountCurve/JPY/7 and IndexCurve/EUR-EURIBOR-6M/0");
    expect_values(alone.scenarios[0], {{"ACME.spot", 110}, {"EURUSD.rate", 1 / 0.75}});

    own.write("levels.csv", ore_table);
    const scenario_list history = parsed("history: {levels: levels.csv, keys: keys.yaml}\n", own.path());
    ASSERT_EQ(history.scenarios.size(), 1U);
    const values moved = after(history.scenarios[0]);
    EXPECT_NEAR(moved.at("ACME.spot"), 100 * 90.0 / 110, 1e-12);
    EXPECT_NEAR(moved.at("EURUSD.rate"), 1.25 * 0.75 / 0.8, 1e-12);
    EXPECT_NEAR(moved.at("USD.rate@1y"), 0.03 + std::log(0.97) - std::log(0.96), 1e-12);
}

TEST_F(scenario_reader_tables, names_of_rows_of_ore) {
    const std::string head = "Date,Scenario,Numeraire,EquitySpot/ACME/0\n";
    EXPECT_EQ(names(of_table(head + "2025-01-02,1,1,1\n2025-01-02,2,1,1\n")),
              (std::vector<std::string>{"1", "2"}));
    EXPECT_EQ(names(of_table(head + "2025-01-02,1,1,1\n2025-01-03,1,1,1\n")),
              (std::vector<std::string>{"2025-01-02", "2025-01-03"}));
    EXPECT_EQ(names(of_table(head + "2025-01-02,1,1,1\n2025-01-02,2,1,1\n2025-01-03,1,1,1\n")),
              (std::vector<std::string>{"2025-01-02 1", "2025-01-02 2", "2025-01-03 1"}));
    EXPECT_EQ(refused_table(head + "2025-01-02,1,1,1\n2025-01-02,1,1,1\n"),
              "table.csv:3:12: Scenario: found a second scenario '2025-01-02 1' of the set 'ore', expected "
              "different names");
}

TEST_F(scenario_reader_tables, refusals_of_ore) {
    const std::string head = "Date,Scenario,Numeraire,DiscountCurve/USD/3\n", row = "2025-01-02,1,1,0.9\n";
    const auto keyed = [&](const std::string& keys) { return refused_table(head + row, ", keys: " + keys); };
    EXPECT_EQ(refused_table(head + row),
              "table.csv:1:1: found no column for a number of the market, expected market keys in the "
              "header, or 'keys' that map columns to them");
    EXPECT_EQ(keyed("{DiscountCurve/USD/3: USD.rate@1y}"), nothing_refused);
    EXPECT_EQ(
        keyed("{DiscountCurve/USD/3: JPY.rate}"),
        "s:1:54: table.keys.DiscountCurve/USD/3: found 'JPY.rate', a rate that has no time, for discount "
        "factors, expected their time too, such as {key: JPY.rate, years: 1}");
    EXPECT_EQ(
        keyed("{DiscountCurve/USD/3: ACME.spot}"),
        "s:1:54: table.keys.DiscountCurve/USD/3: found 'ACME.spot' for discount factors, expected the key "
        "of a rate");
    EXPECT_EQ(keyed("{DiscountCurve/USD/3: {key: JPY.rate, years: 0}}"),
              "s:1:77: table.keys.DiscountCurve/USD/3.years: found '0', expected a time after as_of");
    EXPECT_EQ(keyed("{EquitySpot/ACME/0: {key: ACME.spot, years: 1}}"),
              "s:1:76: table.keys.EquitySpot/ACME/0.years: found a time for levels, expected one only for "
              "discount factors");
    EXPECT_EQ(keyed("{EquitySpot/ACME: [ACME.spot], EquitySpot/ACME/0: ACME.spot}"),
              "s:1:82: table.keys.EquitySpot/ACME/0: found a second key for the column 'EquitySpot/ACME/0', "
              "expected one");
    EXPECT_EQ(keyed("[]").substr(0, 60), "s:1:32: table.keys: found a list, expected the name of a fil");
    EXPECT_EQ(refused_table(head + "2025-01-02,1,1,0\n", ", keys: {DiscountCurve/USD/3: USD.rate@1y}"),
              "table.csv:2:16: DiscountCurve/USD/3: found the discount factor 0, expected more than 0");
    EXPECT_EQ(refused_table(head + "2025-01-02,1,1,\n", ", keys: {DiscountCurve/USD/3: USD.rate@1y}"),
              "table.csv:2:16: DiscountCurve/USD/3: found nothing, expected a level");
    EXPECT_EQ(refused_table("Date,Scenario,Numeraire,FXSpot/USDEUR/0\n2025-01-02,1,1,-1\n"),
              "table.csv:2:16: FXSpot/USDEUR/0: found the rate -1, expected more than 0 and at most 1e15");
    EXPECT_EQ(refused_table("Date,Scenario,Numeraire,FXSpot/USDEUR/0\n2025-01-02,1,1,1e-310\n"),
              "table.csv:2:16: FXSpot/USDEUR/0: found a level that makes EURUSD.rate inf, expected a finite "
              "number");
}

TEST(scenario_reader, patterns) {
    using config::fits;
    EXPECT_TRUE(fits("", ""));
    EXPECT_FALSE(fits("", "a"));
    EXPECT_TRUE(fits("*", ""));
    EXPECT_TRUE(fits("a*", "a"));
    EXPECT_TRUE(fits("*a", "aba"));
    EXPECT_TRUE(fits("*ab*ab", "abxabab"));
    EXPECT_FALSE(fits("*ab*abc", "abxabab"));
    EXPECT_TRUE(fits("a**b", "ab"));
    EXPECT_FALSE(fits("a*b", "abc"));
    // Compares `fits` with a plain search, for all patterns and texts of up to five letters.
    const std::vector<std::string> all = [] {
        std::vector<std::string> out{""};
        for (std::size_t i = 0; i < out.size(); ++i)
            if (out[i].size() < 5)
                for (const char c : {'a', 'b', '*'}) out.push_back(out[i] + c);
        return out;
    }();
    const auto plain = [](auto& self, std::string_view p, std::string_view t) -> bool {
        if (p.empty()) return t.empty();
        if (p[0] == '*') return self(self, p.substr(1), t) || (!t.empty() && self(self, p, t.substr(1)));
        return !t.empty() && p[0] == t[0] && self(self, p.substr(1), t.substr(1));
    };
    for (const std::string& p : all) {
        for (const std::string& t : all) {
            if (t.find('*') != t.npos) continue;
            ASSERT_EQ(fits(p, t), plain(plain, p, t)) << p << " " << t;
        }
    }
    std::string pattern;
    for (int i = 0; i < 500; ++i) pattern += "*a";
    EXPECT_FALSE(fits(pattern + "b", std::string(10'000, 'a')));
}

TEST(scenario_reader, bounds_are_kept) {
    std::string many = "Scenario,ACME.spot\n";
    for (int i = 0; i <= 100'000; ++i) many += std::to_string(i) + ",1\n";
    EXPECT_EQ(refused(many),
              "s:100002:1: Scenario: found more than 100000 scenarios, which is the limit of a file");
    many.resize(many.size() - 9);
    EXPECT_EQ(parsed(many).scenarios.size(), 100'000U);
    const std::string wide = "ladder: {\"*\": {relative: [0, 1e-5, ..., 0.9]}}\n";
    EXPECT_EQ(parsed(wide).scenarios.size(), 90'001U);
    std::string assets = market_text.substr(0, market_text.find("fx:"));
    for (int i = 0; i < 100; ++i) assets += "  A" + std::to_string(i) + ": {currency: USD, spot: 1}\n";
    const market large = market::parse(assets, "m");
    EXPECT_EQ(
        refusal([&] { scenario_list::parse(wide, "s", large); }),
        "s:1:15: ladder.*: found more than 5000000 changes of numbers in all scenarios together, which is "
        "the limit");
    EXPECT_EQ(refused("stress: {" + std::string(1'024, 'a') + ": {ACME.spot: 1}}"), nothing_refused);
}

TEST_F(scenario_reader_tables, files_cut_after_any_byte) {
    own.write("keys.yaml", ore_keys);
    own.write("levels.csv", "Date,ACME.spot\n2025-01-02,1\n2025-01-03,2\n");
    own.write("table.csv", ore_table);
    const std::string yaml =
        "stress:\n  crash: {ACME.spot: -20%, \"*.volatility*\": {log: 0.1}}\n  later: {days: 1}\n"
        "ladder:\n  - ACME.spot: [-20%, ..., 20%]\n    ACME.volatility: [-1pt, 0pt, ..., 2pt]\n"
        "history: {levels: levels.csv, returns: {\"*\": log}, displacement: 0, days: 1}\n"
        "table: [{file: table.csv, keys: keys.yaml}]\n"
        "likely: [history]\nvalue_at_risk: {levels: [1%, 5%], currency: USD}\n...\n";
    EXPECT_EQ(refused(yaml, own.path()), nothing_refused);
    for (std::size_t bytes = 0; bytes < yaml.size() - 1; ++bytes) {
        EXPECT_NE(refusal([&] {
                      parsed(yaml.substr(0, bytes), own.path());
                      // If the cut text happens to be valid, strict reading must detect the cut.
                      parsed(yaml.substr(0, bytes), own.path(), {.strict = true});
                  }),
                  nothing_refused)
            << bytes;
    }
    const std::string moves = "Scenario,Set,ACME.spot,\"*.volatility*\"\n\"a\",x,-20%,+10pt\nb,y,,1\n...\n";
    for (const std::string* table : {&moves, &ore_table}) {
        for (std::size_t bytes = 0; bytes < table->size() - 1; ++bytes) {
            refusal([&] { parsed(table->substr(0, bytes)); });
            EXPECT_NE(refusal([&] { parsed(table->substr(0, bytes), {}, {.strict = true}); }),
                      nothing_refused)
                << bytes;
        }
    }
    for (std::size_t bytes = 0; bytes < ore_keys.size(); ++bytes) {
        own.write("keys.yaml", ore_keys.substr(0, bytes));
        refusal([&] { parsed("table: {file: table.csv, keys: keys.yaml}\n", own.path()); });
    }
}

// Files with bytes changed at random are read or refused; a refusal always has a place.
TEST_F(scenario_reader_tables, files_with_bytes_of_others) {
    std::mt19937_64 dice(3);
    const std::string letters = ",;\"'\n\r%*.-+0919eE{}[]:#&!|>ap \xc3\xff";
    own.write("keys.yaml", ore_keys);
    const auto spoiled = [&](std::string text) {
        for (int i = 0; i < 3; ++i) text[dice() % text.size()] = letters[dice() % letters.size()];
        return text;
    };
    const std::string moves = "Scenario,Set,ACME.spot,\"*.volatility*\"\n\"a\",x,-20%,+10pt\nb,y,,1\n...\n";
    const std::string yaml =
        "stress:\n  crash: {ACME.spot: -20%, \"*.volatility*\": {log: 0.1}}\nladder: {ACME.spot: [-20%, ..., "
        "20%]}\n";
    const auto expect_place = [](const std::string& said) {
        EXPECT_TRUE(said == nothing_refused || said.starts_with("s:") || said.starts_with("/")) << said;
    };
    for (int i = 0; i < 500; ++i) {
        expect_place(refused(spoiled(moves)));
        expect_place(refused(spoiled(ore_table)));
        expect_place(refused(spoiled(yaml)));
        own.write("table.csv", spoiled(ore_table));
        expect_place(refused("table: {file: table.csv, keys: keys.yaml}\n", own.path()));
    }
}

TEST(scenario_reader, the_examples) {
    const std::filesystem::path configs = std::filesystem::path(TILEWALK_SOURCE_DIR) / "configs";
    const market demo = market::load(configs / "markets/demo.yaml");
    const scenario_list read = scenario_list::load(configs / "scenarios/demo.yaml", demo, {.strict = true});
    EXPECT_EQ(read.likely_sets, std::vector<std::string>{"history"});
    EXPECT_TRUE(read.remarks.empty());
    std::map<std::string, int> sizes;
    for (const scenario& s : read.scenarios) {
        ++sizes[s.set];
        EXPECT_NO_THROW(demo.changed(s.changes)) << s.set << " " << s.name;
    }
    EXPECT_GE(sizes["stress"], 4);
    EXPECT_GE(sizes["ladder"], 27);
    EXPECT_GE(sizes["history"], 250);
    EXPECT_LE(tests::text_of(configs / "scenarios/history.csv").size(), 30'720U);
}

}  // namespace
}  // namespace tilewalk::scenario_reader_test
