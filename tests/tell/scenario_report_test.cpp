// SPDX-License-Identifier: Apache-2.0
// Gains in scenarios as text: files for risk systems, JSON, and the table for people.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine/study/risk/risks.h"
#include "engine/tell/line_writer.h"
#include "tests/documented_columns.h"
#include "tilewalk/files.h"
#include "tilewalk/scenarios.h"
#include "tilewalk/write.h"

namespace tilewalk::scenario_report_test {
namespace {

price_row row_of(const std::string& trade, const std::string& currency, double value) {
    price_row row;
    row.trade = trade;
    row.product = "call";
    row.currency = currency;
    row.status = trade_status::priced;
    row.price = value;
    row.standard_error = row.low = row.high = 0;
    return row;
}

// Made-up results: four trades in two currencies, of which one fails in the base market and another in the
// second scenario; two scenarios that count as equally likely, and two others that share a name.
scenario_results made(bool converted) {
    scenario_results r;
    r.base.manifest.paths = 2048;
    r.base.manifest.seed = 5;
    r.base.manifest.as_of = "2026-01-31";
    r.base.rows = {row_of("T0", "EUR", 10.5), row_of("a,\"b\"", "USD", -1), row_of("=1+1", "USD", 0),
                   row_of("late", "USD", 2)};
    r.base.rows[2].status = trade_status::failed;
    r.base.rows[2].message = "no, not here";
    r.portfolios = {"rates", "", "rates", ""};
    r.scenarios = {{"history", "d1", {}, 0, "2020-01-02", "2020-01-03"},
                   {"history", "d2", {}, 0, "", ""},
                   {"stress", "up", {{"ACME.spot", 1.5}}, 1, "", ""},
                   {"other", "up", {{"ACME.spot", 90, market_change::way::set}}, 0, "", ""}};
    const double none = no_figure;
    r.gains = {-0.125, 1e-9, none, 3, 0.1, -0.25, none, none, 1, 2, none, 3, 4, 5, none, 6};
    r.errors = {0.5, 0, none, 0.25, 0.5, 0, none, none, 0.5, 0, none, 0.25, 0.5, 0, none, 0.25};
    r.failures = {{1, 3, "too late", error_kind::numeric}};
    portfolio_gains eur, usd;
    eur.currency = "EUR";
    eur.trades = {0};
    eur.base_value = 10.5;
    eur.gains = {-0.125, 0.1, 1, 4};
    eur.errors = {0.5, 0.5, 0.5, 0.5};
    eur.failed = {0, 0, 0, 0};
    usd.currency = "USD";
    usd.trades = {1, 2, 3};
    usd.base_value = 1;
    usd.gains = {3 + 1e-9, -0.25, 5, 11};
    usd.errors = {0.25, none, 0.25, 0.25};
    usd.failed = {1, 2, 1, 1};
    r.totals = {eur, usd};
    if (converted) {
        r.converted_gains = r.gains;
        r.converted_errors = r.errors;
        portfolio_gains all = usd;
        all.is_converted = true;
        all.trades = {0, 1, 2, 3};
        for (std::size_t s = 0; s < 4; ++s) {
            r.converted_gains[4 * s] *= 2;
            r.converted_errors[4 * s] *= 2;
            all.gains[s] += r.converted_gains[4 * s];
        }
        r.totals.push_back(all);
    }
    scenario_list asked;
    asked.likely_sets = {"history"};
    asked.levels = {0.01, 0.5};
    r.risks = risk::risks_of(r, asked);
    r.measures = {"delta", "vega"};
    r.explained = {{2, "", "USD", 5, 0.25, {4, 0.5}, 0.25}};
    return r;
}

std::string file(const scenario_results& r, std::string_view name) {
    const auto reports = scenario_reports();
    const auto found = std::ranges::find(reports, name, &scenario_report::file);
    if (found == reports.end()) return "no such file";
    std::ostringstream out;
    found->write(out, r);
    return out.str();
}

std::string text(const scenario_results& r, output_format format, const text_form& form = {}) {
    std::ostringstream out;
    write(out, r, format, form);
    return out.str();
}

TEST(scenario_report_ore_files, have_the_columns_of_ore) {
    EXPECT_EQ(file(made(false), "var.csv"),
              "#Portfolio,RiskClass,RiskType,Quantile_0.010000,Quantile_0.500000,ExpectedShortfall_0.010000,"
              "ExpectedShortfall_0.500000\n"
              "All (EUR),All,All,-0.125000,0.100000,-0.125000,-0.012500\n"
              "All (USD),All,All,-0.250000,0.000000,-0.250000,-0.125000\n");
    EXPECT_EQ(file(made(false), "pnl.csv"),
              "#Portfolio,RiskClass,RiskType,PLDate1,PLDate2,PLAmount\n"
              "All (EUR),All,All,2020-01-02,2020-01-03,-0.125000\n"
              "All (EUR),All,All,#N/A,#N/A,0.100000\n"
              "All (USD),All,All,2020-01-02,2020-01-03,0.000000\n"
              "All (USD),All,All,#N/A,#N/A,-0.250000\n");
    EXPECT_EQ(file(made(false), "stress.csv"),
              "#TradeId,ScenarioLabel,Base NPV,Scenario NPV,Sensitivity\n"
              "T0,stress/up,10.500000,11.500000,1.000000\n"
              "T0,other/up,10.500000,14.500000,4.000000\n"
              "\"a,\"\"b\"\"\",stress/up,-1.000000,1.000000,2.000000\n"
              "\"a,\"\"b\"\"\",other/up,-1.000000,4.000000,5.000000\n"
              "=1+1,stress/up,#N/A,#N/A,#N/A\n"
              "=1+1,other/up,#N/A,#N/A,#N/A\n"
              "late,stress/up,2.000000,5.000000,3.000000\n"
              "late,other/up,2.000000,8.000000,6.000000\n");
}

greek_row greek(const std::string& trade, const char* measure, const std::string& key, double value) {
    greek_row g;
    g.trade = trade;
    g.measure = measure;
    g.key = key;
    g.value = value;
    return g;
}

// Sensitivities to market numbers of every kind that is a risk factor in ORE, and of some that are not.
void add_sensitivities(scenario_results& r, const std::string& trade, const std::string& failed) {
    r.numbers = {{"ACME.spot", 250, "USD"},
                 {"ACME.volatility", 0.2, "volatility"},
                 {"ACME.dividend_yield", 0.01, "rate a year"},
                 {"INDEX.spot", 5000, "EUR"},
                 {"INDEX.volatility@0.5y,6000", 0.3, "volatility"},
                 {"INDEX.volatility@2027-01-15,6000", 0.3, "volatility"},
                 {"INDEX.heston.sigma", 0.5, "parameter of the model"},
                 {"USD.rate@0.5y", 0.03, "rate a year"},
                 {"USD.rate@1y", 0.03, "rate a year"},
                 {"USD.rate@0.1y", 0.03, "rate a year"},
                 {"EUR.rate", 0.02, "rate a year"},
                 {"USD.hull_white.volatility@1y", 0.01, "parameter of the model"},
                 {"EURUSD.rate", 1.16, "USD for one EUR"},
                 {"EURUSD.volatility", 0.07, "volatility"},
                 {"ACME|INDEX.correlation", 0.5, "correlation"},
                 {"A/B.spot", 10, "USD"},
                 {"ACME.fixing@2026-01-02", 99.5, "USD"}};
    r.base.greeks = {greek(trade, "delta", "ACME.spot", 4),
                     greek(trade, "delta", "INDEX.spot", -2),
                     greek(trade, "delta", "A/B.spot", 1),
                     greek(trade, "vega", "ACME.volatility", 3.5),
                     greek(trade, "vega", "INDEX.volatility@0.5y,6000", 0.25),
                     greek(trade, "vega", "INDEX.volatility@2027-01-15,6000", 0.5),
                     greek(trade, "vega", "EURUSD.volatility", 0.75),
                     greek(trade, "rho", "USD.rate@1y", -0.0625),
                     greek(trade, "rho", "USD.rate@0.1y", 0.125),
                     greek(trade, "rho", "EUR.rate", 2),
                     greek(trade, "dividend", "ACME.dividend_yield", -1),
                     greek(trade, "fx", "EURUSD.rate", 100),
                     greek(trade, "correlation", "ACME|INDEX.correlation", 9),
                     greek(trade, "parameter", "INDEX.heston.sigma", 9),
                     greek(trade, "parameter", "USD.hull_white.volatility@1y", 9),
                     greek(trade, "theta", "as_of", -0.5),
                     greek(trade, "gamma", "ACME.spot", 0.0125),
                     greek(trade, "cross_gamma", "ACME.spot;INDEX.spot", 0.01),
                     greek(trade, "vanna", "ACME.spot;ACME.volatility", 0.5),
                     greek(trade, "volga", "ACME.volatility", 0.03125),
                     greek(trade, "volga", "INDEX.volatility@0.5y,6000", 7),
                     greek(trade, "vega", "", 12),
                     greek("", "delta", "ACME.spot", 4),
                     greek(failed, "delta", "ACME.spot", 4),
                     greek(trade, "delta", "BETA.spot", no_figure)};
}

TEST(scenario_report_ore_files, have_sensitivities_for_the_moves_of_ore) {
    scenario_results r = made(false);
    add_sensitivities(r, "T0", "=1+1");
    const std::string base = "EUR,10.5000000000,";
    const auto line = [&](const std::string& factors, const std::string& figures) {
        return "T0,false," + factors + "," + base + figures + "," + base + figures + "\n";
    };
    const std::string none = ",,0.0000000000";
    const std::string text = file(r, "sensitivity.csv");
    EXPECT_EQ(text.substr(text.find('\n') + 1),
              line("EquitySpot/ACME/0/spot,2.5000000000" + none, "10.0000000000,0.0781250000") +
                  line("EquitySpot/INDEX/0/spot,50.0000000000" + none, "-100.0000000000,#N/A") +
                  line("EquitySpot/A\\\\/B/0/spot,0.1000000000" + none, "0.1000000000,#N/A") +
                  line("EquityVolatility/ACME/0/1Y/ATM,0.0100000000" + none, "3.5000000000,0.0312500000") +
                  line("EquityVolatility/INDEX/0/6M/6000,0.0100000000" + none, "0.2500000000,#N/A") +
                  line("EquityVolatility/INDEX/1/2027-01-15/6000,0.0100000000" + none, "0.5000000000,#N/A") +
                  line("FXVolatility/EURUSD/0/1Y/ATM,0.0100000000" + none, "0.7500000000,#N/A") +
                  line("DiscountCurve/USD/1/1Y,0.0001000000" + none, "-0.0625000000,#N/A") +
                  line("DiscountCurve/USD/2/37D,0.0001000000" + none, "0.1250000000,#N/A") +
                  line("DiscountCurve/EUR/0/1Y,0.0001000000" + none, "2.0000000000,#N/A") +
                  line("DividendYield/ACME/0/1Y,0.0001000000" + none, "-1.0000000000,#N/A") +
                  line("FXSpot/EURUSD/0/spot,0.0116000000" + none, "1.1600000000,#N/A") +
                  line("Theta//0/1D,0.0027397260" + none, "-0.5000000000,#N/A") +
                  line("EquitySpot/ACME/0/spot,2.5000000000,EquitySpot/INDEX/0/spot,50.0000000000",
                       "0.0000000000,1.2500000000") +
                  line("EquitySpot/ACME/0/spot,2.5000000000,EquityVolatility/ACME/0/1Y/ATM,0.0100000000",
                       "0.0000000000,1.2500000000"));
}

TEST(scenario_report_ore_files, hold_the_currency_of_conversion_alone) {
    EXPECT_EQ(file(made(true), "var.csv"),
              "#Portfolio,RiskClass,RiskType,Quantile_0.010000,Quantile_0.500000,ExpectedShortfall_0.010000,"
              "ExpectedShortfall_0.500000\n"
              "All,All,All,-0.250000,-0.050000,-0.250000,-0.150000\n");
    EXPECT_EQ(file(made(true), "pnl.csv"),
              "#Portfolio,RiskClass,RiskType,PLDate1,PLDate2,PLAmount\n"
              "All,All,All,2020-01-02,2020-01-03,-0.250000\n"
              "All,All,All,#N/A,#N/A,-0.050000\n");
    scenario_results two_sets = made(true);
    two_sets.risks.push_back(two_sets.risks.back());
    two_sets.risks.back().set = "made";
    EXPECT_NE(file(two_sets, "var.csv").find("\nAll (made),All,All,"), std::string::npos);
    EXPECT_NE(file(two_sets, "var.csv").find("\nAll (history),All,All,"), std::string::npos);
}

TEST(scenario_report_our_files, hold_every_figure_with_all_its_bits) {
    const scenario_results r = made(true);
    EXPECT_EQ(
        file(r, "gains.csv"),
        "set,scenario,trade,portfolio,currency,base_value,gain,standard_error,low,high,message,converted_to,"
        "converted_gain,converted_error\n"
        "history,d1,T0,rates,EUR,10.5,-0.125,0.5,,,,USD,-0.25,1\n"
        "history,d1,\"a,\"\"b\"\"\",,USD,-1,1e-09,0,1e-09,1e-09,,USD,1e-09,0\n"
        "history,d1,=1+1,rates,USD,,,,,,\"no, not here\",USD,,\n"
        "history,d1,late,,USD,2,3,0.25,,,,USD,3,0.25\n"
        "history,d2,T0,rates,EUR,10.5,0.1,0.5,,,,USD,0.2,1\n"
        "history,d2,\"a,\"\"b\"\"\",,USD,-1,-0.25,0,-0.25,-0.25,,USD,-0.25,0\n"
        "history,d2,=1+1,rates,USD,,,,,,\"no, not here\",USD,,\n"
        "history,d2,late,,USD,2,,,,,too late,USD,,\n"
        "stress,up,T0,rates,EUR,10.5,1,0.5,,,,USD,2,1\n"
        "stress,up,\"a,\"\"b\"\"\",,USD,-1,2,0,2,2,,USD,2,0\n"
        "stress,up,=1+1,rates,USD,,,,,,\"no, not here\",USD,,\n"
        "stress,up,late,,USD,2,3,0.25,,,,USD,3,0.25\n"
        "other,up,T0,rates,EUR,10.5,4,0.5,,,,USD,8,1\n"
        "other,up,\"a,\"\"b\"\"\",,USD,-1,5,0,5,5,,USD,5,0\n"
        "other,up,=1+1,rates,USD,,,,,,\"no, not here\",USD,,\n"
        "other,up,late,,USD,2,6,0.25,,,,USD,6,0.25\n");
    EXPECT_EQ(text(r, output_format::csv), file(r, "gains.csv"));
    EXPECT_NE(text(r, output_format::csv, {.spreadsheet_safe = true}).find("d1,'=1+1,"), std::string::npos);
    EXPECT_NE(file(made(false), "gains.csv").find("history,d1,T0,rates,EUR,10.5,-0.125,0.5,,,,,,\n"),
              std::string::npos);
    EXPECT_EQ(file(made(false), "totals.csv"),
              "set,scenario,portfolio,currency,gain,standard_error,low,high,failed,converted,base_value\n"
              "history,d1,,EUR,-0.125,0.5,,,0,false,10.5\n"
              "history,d2,,EUR,0.1,0.5,,,0,false,10.5\n"
              "stress,up,,EUR,1,0.5,,,0,false,10.5\n"
              "other,up,,EUR,4,0.5,,,0,false,10.5\n"
              "history,d1,,USD,3.000000001,0.25,,,1,false,1\n"
              "history,d2,,USD,-0.25,,,,2,false,1\n"
              "stress,up,,USD,5,0.25,,,1,false,1\n"
              "other,up,,USD,11,0.25,,,1,false,1\n");
    EXPECT_EQ(file(r, "explained.csv"),
              "set,scenario,portfolio,currency,gain,standard_error,delta,vega,left\n"
              "stress,up,,USD,5,0.25,4,0.5,0.25\n");
    // With sixteen parts, errors have fifteen degrees of freedom.
    scenario_results in_parts = made(false);
    in_parts.base.rows[0].part_means.assign(16, 0.0);
    in_parts.totals[0].parts = 16;
    const std::string gains = file(in_parts, "gains.csv"), totals = file(in_parts, "totals.csv");
    EXPECT_NE(gains.find("10.5,-0.125,0.5,-1.1907"), std::string::npos) << gains;
    EXPECT_NE(totals.find("EUR,-0.125,0.5,-1.1907"), std::string::npos) << totals;
    const std::string risks = file(r, "risk.csv");
    EXPECT_TRUE(risks.starts_with(
        "set,portfolio,currency,level,quantile,quantile_noise,quantile_sampling,shortfall,shortfall_noise,"
        "shortfall_sampling,scenario,scenarios,left_out,converted\n"
        "history,,EUR,0.01,-0.125,,0.0974"))
        << risks;
    EXPECT_NE(risks.find(",d1,2,0,false\n"), std::string::npos);
    EXPECT_NE(risks.find("\nhistory,,USD,0.01,-0.25,0,0.108"), std::string::npos) << risks;
    EXPECT_NE(risks.find(",d2,2,2,true\n"), std::string::npos) << risks;
    const std::string components = file(r, "components.csv");
    EXPECT_NE(components.find("\nhistory,,EUR,0.01,T0,-0.125,0.5,-0.125,0.5,-0.125,-0.125,false\n"),
              std::string::npos)
        << components;
    EXPECT_NE(components.find("\nhistory,,USD,0.01,T0,-0.25,1,-0.25,1,"), std::string::npos) << components;
}

TEST(scenario_report_reports, are_told_of_in_the_documentation) {
    std::set<std::string_view> names;
    for (const scenario_report& report : scenario_reports()) {
        EXPECT_TRUE(names.insert(report.file).second) << report.file;
        EXPECT_TRUE(report.meaning.ends_with('.')) << report.file;
        tests::expect_documented(report.file, file(made(true), report.file));
    }
}

TEST(scenario_report_reports, hold_their_heads_where_nothing_is_told) {
    for (const scenario_report& report : scenario_reports()) {
        const std::string text = file({}, report.file);
        EXPECT_EQ(std::ranges::count(text, '\n'), 1) << report.file;
    }
    EXPECT_EQ(file({}, "var.csv"), "#Portfolio,RiskClass,RiskType\n");
    EXPECT_NE(text({}, output_format::table).find("no scenarios"), std::string::npos);
    EXPECT_TRUE(nlohmann::json::accept(text({}, output_format::json)));
}

TEST(scenario_report_json, holds_everything) {
    const scenario_results r = made(true);
    const nlohmann::json read = nlohmann::json::parse(text(r, output_format::json));
    EXPECT_EQ(read["format"], "tilewalk-scenarios-1");
    EXPECT_EQ(read["manifest"]["seed"], 5);
    ASSERT_EQ(read["rows"].size(), 4U);
    EXPECT_EQ(read["rows"][2]["message"], "no, not here");
    EXPECT_EQ(read["portfolios"][0], "rates");
    ASSERT_EQ(read["scenarios"].size(), 4U);
    for (std::size_t s = 0; s < 4; ++s) {
        const nlohmann::json& of = read["scenarios"][s];
        EXPECT_EQ(of["set"], r.scenarios[s].set);
        EXPECT_EQ(of["name"], r.scenarios[s].name);
        ASSERT_EQ(of["gains"].size(), 4U);
        for (std::size_t t = 0; t < 4; ++t) {
            const double gain = r.gain(s, t);
            if (is_figure(gain)) {
                EXPECT_EQ(of["gains"][t].get<double>(), gain);
                EXPECT_EQ(of["errors"][t].get<double>(), r.error_of_gain(s, t));
                EXPECT_EQ(of["converted_gains"][t].get<double>(), r.converted_gains[4 * s + t]);
            } else {
                EXPECT_TRUE(of["gains"][t].is_null());
            }
        }
    }
    EXPECT_EQ(read["scenarios"][0]["first_day"], "2020-01-02");
    EXPECT_EQ(read["scenarios"][2]["days"], 1);
    EXPECT_EQ(read["scenarios"][2]["changes"][0]["shift"], 1.5);
    EXPECT_EQ(read["scenarios"][3]["changes"][0]["set"], 90.0);
    EXPECT_EQ(read["failures"].dump(),
              R"([{"kind":"numeric","message":"too late","scenario":"d2","set":"history","trade":"late"}])");
    ASSERT_EQ(read["totals"].size(), 3U);
    EXPECT_EQ(read["totals"][1]["trades"], (std::vector<std::string>{"a,\"b\"", "=1+1", "late"}));
    EXPECT_EQ(read["totals"][1]["failed"], (std::vector<int>{1, 2, 1, 1}));
    EXPECT_EQ(read["totals"][2]["converted"], true);
    ASSERT_EQ(read["risks"].size(), 3U);
    EXPECT_EQ(read["risks"][1]["left_out"], (std::vector<std::string>{"=1+1", "late"}));
    EXPECT_EQ(read["risks"][0]["tails"][0]["quantile"]["value"], -0.125);
    EXPECT_TRUE(read["risks"][0]["tails"][0]["quantile"]["noise"].is_null());
    EXPECT_EQ(read["risks"][0]["tails"][0]["scenario"], "d1");
    EXPECT_EQ(read["shares"].size(), 8U);
    EXPECT_EQ(read["explained"][0]["by_measure"], (std::vector<double>{4, 0.5}));
    EXPECT_FALSE(read["totals"][0].contains("means_of_parts"));
    EXPECT_TRUE(nlohmann::json::parse(text(r, output_format::json, {.parts = true}))["totals"][0].contains(
        "means_of_parts"));
}

scenario_results many() {
    scenario_results r;
    r.base.rows = {row_of("only", "USD", 1)};
    portfolio_gains all;
    all.currency = "USD";
    all.trades = {0};
    for (std::size_t s = 0; s < 3000; ++s) {
        r.scenarios.push_back({"history", "day" + std::to_string(s)});
        const bool fails = s % 100 == 0;
        const double gain = fails ? no_figure : static_cast<double>((s * 7) % 3001) - 1500;
        r.gains.push_back(gain);
        r.errors.push_back(fails ? no_figure : 0.5);
        if (fails) r.failures.push_back({s, 0, "failure " + std::to_string(s), error_kind::numeric});
        all.gains.push_back(fails ? 0 : gain);
        all.errors.push_back(0.5);
        all.failed.push_back(fails ? 1 : 0);
    }
    r.totals.push_back(all);
    return r;
}

TEST(scenario_report_table, tells_the_worst_and_counts_the_others) {
    const std::string said = text(many(), output_format::table);
    EXPECT_NE(said.find("and 2990 other scenarios, from -14"), std::string::npos) << said;
    EXPECT_NE(said.find("30 gains in scenarios:\n"), std::string::npos) << said;
    EXPECT_NE(said.find("only in history/day900: failure 900\n"), std::string::npos) << said;
    EXPECT_EQ(said.find("failure 1000"), std::string::npos) << said;
    EXPECT_NE(said.find("and 20 more lines; csv and json output have them all"), std::string::npos) << said;
    EXPECT_LT(std::ranges::count(said, '\n'), 40);
}

// A scenario whose market is invalid fails all trades: the table has one line for them, and no gain of 0.
TEST(scenario_report_table, shows_no_gain_where_all_trades_failed) {
    scenario_results r;
    r.base.rows = {row_of("one", "USD", 1), row_of("two", "USD", 1)};
    r.scenarios = {{"stress", "broken"}, {"stress", "up"}, {"stress", "half"}};
    r.gains = {no_figure, no_figure, 1, 2, no_figure, 5};
    r.errors = {no_figure, no_figure, 0, 0, no_figure, 0};
    r.failures = {{0, 0, "no market"}, {0, 1, "no market"}, {2, 0, "too far"}};
    portfolio_gains all;
    all.currency = "USD";
    all.trades = {0, 1};
    all.gains = {0, 3, 5};
    all.errors = {0, 0, 0};
    all.failed = {2, 0, 1};
    r.totals = {all};
    const std::string said = text(r, output_format::table);
    const std::size_t up = said.find("up "), half = said.find("half "), broken = said.find("broken ");
    EXPECT_TRUE(up < half && half < broken && broken != std::string::npos) << said;
    const std::string line = said.substr(broken, said.find('\n', broken) - broken);
    EXPECT_EQ(line.find('0'), std::string::npos) << line;
    EXPECT_NE(said.find("\n  2 trades in stress/broken: no market\n  one in stress/half: too far\n"),
              std::string::npos)
        << said;
}

TEST(scenario_report_table, tells_tails_with_both_errors) {
    const std::string said = text(made(true), output_format::table);
    for (const char* word : {"value at risk", "its noise", "its sampling", "shortfall", "50%", "-0.25",
                             "left out of all trades (USD) in history", "late in history/d2: too late",
                             "=1+1 in the base market: no, not here"})
        EXPECT_NE(said.find(word), std::string::npos) << word << " in\n" << said;
    EXPECT_EQ(said.find("EUR"), std::string::npos) << said;
    EXPECT_NE(text(made(false), output_format::table).find("EUR"), std::string::npos);
}

TEST(scenario_report_table, keeps_to_the_width_and_to_printable_text) {
    scenario_results r = made(true);
    r.scenarios[1].name = std::string(150, 'x') + "\x1b[2J";
    r.totals[2].portfolio = "";
    for (const std::size_t columns : {60U, 80U, 120U}) {
        std::istringstream lines(text(r, output_format::table, {.columns = columns}));
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(line.size(), columns) << line;
            EXPECT_EQ(line.find('\x1b'), std::string::npos);
        }
    }
}

TEST(scenario_report_lines, are_written_whole_over_the_edge_of_the_buffer) {
    std::ostringstream out;
    std::string expected;
    {
        report::line_writer lines(out, "none");
        for (int i = 0; i < 20000; ++i) {
            lines.field(std::size_t{1}).field(0.1).field(no_figure).field(-1e-9, 6).field("x");
            lines.end_line();
            expected += "1,0.1,none,0.000000,x\n";
        }
        const std::string long_text(200000, 'y');
        lines.field(long_text).field(std::numeric_limits<double>::max(), 6);
        lines.end_line();
        expected += long_text + ",17976931348623157";
    }
    EXPECT_TRUE(out.str().starts_with(expected));
    EXPECT_TRUE(out.str().ends_with("858368.000000\n"));
}

// Writes files that tests/ore_files_test.py compares with ORE. There are 240 likely scenarios, so that their
// number times each level is whole, which shows how ORE counts, and 3 others.
TEST(scenario_report_ore_files, are_written_for_the_test_of_ore) {
    scenario_results r;
    const std::vector<std::string> names{"plain", "b,c", "of two words"};
    for (const std::string& name : names) r.base.rows.push_back(row_of(name, "USD", 1234.56789));
    r.base.rows[1].status = trade_status::failed;
    portfolio_gains all;
    all.currency = "USD";
    all.trades = {0, 1, 2};
    for (int s = 0; s < 243; ++s) {
        const int day = s % 28 + 1;
        const std::string date =
            "2021-0" + std::to_string(s / 28 + 1) + (day < 10 ? "-0" : "-") + std::to_string(day);
        r.scenarios.push_back({s < 240 ? "history" : "stress", "S" + std::to_string(s), {}, 0, date, date});
        double sum = 0;
        for (int t = 0; t < 3; ++t) {
            const double gain = (((s * 7919 + t * 104729) % 1009) - 504) / 7.0;
            r.gains.push_back(t == 1 ? no_figure : gain);
            r.errors.push_back(t == 1 ? no_figure : 0);
            if (t != 1) sum += gain;
        }
        all.gains.push_back(sum);
        all.errors.push_back(0);
        all.failed.push_back(1);
    }
    r.totals = {all};
    scenario_list asked;
    asked.likely_sets = {"history"};
    asked.levels = {0.01, 0.025, 0.05, 0.1};
    r.risks = risk::risks_of(r, asked);
    add_sensitivities(r, "of two words", "b,c");
    const char* asked_folder = std::getenv("TILEWALK_ORE_FOLDER");
    const std::filesystem::path folder = asked_folder != nullptr ? asked_folder : testing::TempDir();
    for (const scenario_report& report : scenario_reports()) {
        std::ofstream out(folder / report.file);
        report.write(out, r);
        EXPECT_TRUE(out.good()) << report.file;
    }
}

}  // namespace
}  // namespace tilewalk::scenario_report_test
