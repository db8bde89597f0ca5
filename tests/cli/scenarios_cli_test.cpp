// SPDX-License-Identifier: Apache-2.0
// The command `tilewalk scenarios`, and plan, run and merge of scenarios in shards.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/command.h"
#include "tilewalk/files.h"
#include "tilewalk/scenarios.h"

namespace scenarios_cli_test {
namespace {

using namespace tilewalk::tests;

class scenarios_cli : public command_test {
  protected:
    scenarios_cli() {
        put("market.yaml", R"(as_of: 2026-01-15
currencies:
  USD: {rate: 0.03}
assets:
  ACME: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: 0.2}
  BETA: {currency: USD, spot: 50, volatility: 0.3}
)");
        put("book.yaml", R"(market: market.yaml
settings: {paths: 4096, seed: 11}
trades:
  - {id: call, product: european, underlying: ACME, strike: 100, maturity: 1.0, portfolio: options}
  - {id: asian, product: asian, underlying: BETA, strike: 50, averaging_dates: {start: 0, end: 1, count: 12}}
)");
        put("scenarios.yaml", R"(stress:
  crash: {"*.spot": -20%, ACME.volatility: +10pt}
  later: {days: 1}
ladder: {ACME.spot: [-10%, 0%, 10%]}
likely: [ladder]
)");
        put("broken.yaml", "stress: {broken: {ACME.volatility: -50pt}, up: {ACME.spot: +10%}}\n");
    }
    static arguments in_file(const std::string& scenarios, const arguments& more = {}) {
        arguments out{"scenarios", "book.yaml", "--scenarios", scenarios};
        out.insert(out.end(), more.begin(), more.end());
        return out;
    }
    static arguments with(const arguments& more = {}) { return in_file("scenarios.yaml", more); }
    std::string printed(const arguments& words, const std::string& said = "") const {
        const finished got = run(words);
        EXPECT_EQ(got.code, 0) << shown(words, got);
        EXPECT_EQ(got.err, said) << shown(words, got);
        return got.out;
    }
};

const std::string head_of_csv = "set,scenario,trade,portfolio,currency,base_value,gain,standard_error,";

std::ptrdiff_t lines_of(const std::string& text) {
    return std::ranges::count(text, '\n');
}

TEST_F(scenarios_cli, prints_in_the_form_that_is_asked_for) {
    const std::string csv = printed(with());
    EXPECT_TRUE(csv.starts_with(head_of_csv)) << "csv, as nobody looks\n" << csv;
    EXPECT_EQ(lines_of(csv), 1 + 5 * 2) << csv;
    EXPECT_TRUE(has(csv, "\nstress,crash,call,options,USD,")) << csv;
    EXPECT_EQ(printed(with({"--format", "csv"})), csv);

    const std::string table = printed(with({"--format", "table"}));
    for (const char* word : {"value at risk", "all trades, 2 trades in USD", "5 scenarios of 2 trades",
                             "4096 paths, seed 11", "stress  crash"})
        EXPECT_TRUE(has(table, word)) << word << " in\n" << table;
    const auto json = nlohmann::json::parse(printed(with({"--format", "json"})));
    EXPECT_EQ(json["format"], "tilewalk-scenarios-1");
    EXPECT_EQ(json["scenarios"].size(), 5U);
    EXPECT_EQ(json["manifest"]["paths"], 4096);

    EXPECT_EQ(printed(with({"-o", "gains.csv"})), "");
    EXPECT_EQ(text_of(folder / "gains.csv"), csv);
    EXPECT_EQ(printed(with({"-o", "gains.json"})), "");
    EXPECT_TRUE(nlohmann::json::accept(text_of(folder / "gains.json")));
    EXPECT_EQ(printed(with({"-o", "gains.txt"})), "");
    EXPECT_TRUE(has(text_of(folder / "gains.txt"), "5 scenarios of 2 trades"));
    expect(with({"-o", "gains.yaml"}), 2, "found 'gains.yaml', which ends in '.yaml'; expected .txt");
    expect(with({"--format", "tabel"}), 2, "--format: found 'tabel'");
}

TEST_F(scenarios_cli, writes_all_files_of_risk_systems) {
    EXPECT_EQ(printed(with({"--files", "risk/today", "-o", "gains.csv"})), "");
    std::size_t found = 0;
    for (const tilewalk::scenario_report& report : tilewalk::scenario_reports()) {
        const std::string text = text_of(folder / "risk/today" / report.file);
        EXPECT_GT(text.size(), 0U) << report.file;
        ++found;
    }
    EXPECT_EQ(text_of(folder / "risk/today/gains.csv"), text_of(folder / "gains.csv"));
    const std::string tails = text_of(folder / "risk/today/var.csv");
    EXPECT_EQ(lines_of(tails), 3) << "of all trades and of the portfolio\n" << tails;
    const std::filesystem::directory_iterator all(folder / "risk/today");
    EXPECT_EQ(static_cast<std::size_t>(std::distance(begin(all), end(all))), found);
    const std::string help = run({"scenarios", "--help"}).out;
    for (const tilewalk::scenario_report& report : tilewalk::scenario_reports())
        EXPECT_TRUE(has(help, std::string(report.file))) << report.file;
    expect(with({"--files", "book.yaml"}), 2, "--files: can't make the folder");
    expect(with({"--files", "risk", "-o", "risk/gains.csv"}), 2, "the same file as that of --output");
}

TEST_F(scenarios_cli, tells_where_a_file_of_scenarios_is_wrong) {
    const struct {
        std::string text, said;
    } cases[] = {
        {"stress:\n  crash:\n    ACME.spto: -20%\n",
         "wrong.yaml:3:5: stress.crash.ACME.spto: unknown market key 'ACME.spto'; did you mean 'ACME.spot'?"},
        {"stres:\n  crash: {ACME.spot: -20%}\n", "wrong.yaml:1:1: "},
        {"stres:\n  crash: {ACME.spot: -20%}\n", "did you mean 'stress'?"},
        {"stress:\n  crash: {ACME.spot: -20 %%}\n", "wrong.yaml:2:"},
        {"stress: {a: {ACME.spot: -1%, \"*.spot\": -2%}}\n", "wrong.yaml:1:"},
        {"stress: {a: {ACME.spot: -1%}}\nlikely: [stres]\n", "did you mean 'stress'?"},
        {"stress: {a: {ACME.spot: -1%}}\nvalue_at_risk: {levels: [0]}\n", "wrong.yaml:2:"},
        {"stress: {}\n", "wrong.yaml:1:9: stress: found an empty mapping"},
        {"{}\n", "wrong.yaml:1:1: found no scenarios, expected one of the keys stress, ladder, history"},
        {"", "wrong.yaml:1:1: found nothing, expected scenarios"},
    };
    for (const auto& c : cases) {
        put("wrong.yaml", c.text);
        expect(in_file("wrong.yaml", {"-o", "gains.csv", "--files", "risk"}), 2, c.said);
    }
    expect(in_file("absent.yaml"), 2, "absent.yaml: there is no such file");
    expect({"scenarios", "book.yaml"}, 2, "--scenarios is required");
    EXPECT_FALSE(files().contains("gains.csv"));
    EXPECT_FALSE(files().contains("risk")) << "nothing is left of a run that did not begin";
}

TEST_F(scenarios_cli, names_a_scenario_that_is_no_market_and_tells_the_others) {
    const finished csv = run(in_file("broken.yaml", {"--files", "risk"}));
    EXPECT_EQ(csv.code, 3) << csv.err;
    EXPECT_EQ(csv.err,
              "tilewalk: 2 gains have no value:\nscenario stress/broken, 2 trades: ACME.volatility moved by "
              "-0.5 to "
              "-0.3: this is no market: found the volatility -0.3, expected one between 0 and 5\n");
    EXPECT_TRUE(has(csv.out, "\nstress,broken,call,options,USD,")) << csv.out;
    EXPECT_TRUE(has(text_of(folder / "risk/stress.csv"), "call,broken,")) << "files are written all the same";
    put("up.yaml", "stress: {up: {ACME.spot: +10%}}\n");
    const std::string alone = printed(in_file("up.yaml"));
    for (const char* trade : {"call", "asian"}) {
        const std::string begin = "\nstress,up," + std::string(trade) + ",";
        const auto line = [&](const std::string& text) {
            const std::size_t at = text.find(begin);
            return at == text.npos ? "none" : text.substr(at + 1, text.find('\n', at + 1) - at);
        };
        EXPECT_EQ(line(csv.out), line(alone)) << trade;
    }
    const finished table = run(in_file("broken.yaml", {"--format", "table"}));
    EXPECT_EQ(table.code, 3);
    EXPECT_EQ(table.err, "") << "the table says it all";
    EXPECT_TRUE(has(table.out, "\n  2 trades in stress/broken: ACME.volatility moved by -0.5")) << table.out;
    put("bad.yaml",
        "market: market.yaml\nsettings: {paths: 4096}\ntrades:\n"
        "  - {id: call, product: european, underlying: ACME, strike: 100, maturity: 1.0}\n"
        "  - {id: bad, product: european, underlying: ACMEE, strike: 100, maturity: 1.0}\n");
    const finished bad = run({"scenarios", "bad.yaml", "--scenarios", "up.yaml"});
    EXPECT_EQ(bad.code, 3);
    EXPECT_TRUE(has(bad.err, "1 of 2 trades failed")) << bad.err;
    EXPECT_TRUE(has(bad.err, "did you mean 'ACME'?")) << bad.err;
    EXPECT_TRUE(has(bad.out, "\nstress,up,bad,,,,,")) << bad.out;
}

TEST_F(scenarios_cli, empty_book_gains_nothing_in_no_time) {
    put("empty.yaml", "market: market.yaml\ntrades: []\n");
    const arguments words{"scenarios", "empty.yaml", "--scenarios", "scenarios.yaml", "--format"};
    const auto in = [&](const std::string& format) {
        arguments with_format = words;
        with_format.push_back(format);
        return printed(with_format, "tilewalk: warning: the book has no trades\n");
    };
    EXPECT_TRUE(has(in("table"), "5 scenarios of 0 trades"));
    EXPECT_EQ(lines_of(in("csv")), 1);
    EXPECT_EQ(nlohmann::json::parse(in("json"))["scenarios"].size(), 5U);
    EXPECT_EQ(printed({"scenarios", "empty.yaml", "--scenarios", "scenarios.yaml", "--files", "risk", "-o",
                       "gains.csv", "--explain"},
                      "tilewalk: warning: the book has no trades\n"),
              "");
}

TEST_F(scenarios_cli, output_over_an_input_is_refused_and_harms_nothing) {
    put("levels.csv", "Date,ACME.spot\n2026-01-13,99\n2026-01-14,100\n");
    put("history.yaml", "history: {levels: levels.csv}\n");
    put("gains.csv", "stress: {up: {ACME.spot: +10%}}\n");
    std::filesystem::create_directory(folder / "risk");
    put("risk/var.csv", "stress: {up: {ACME.spot: +10%}}\n");
    std::map<std::string, std::string> before;
    for (const char* name :
         {"book.yaml", "market.yaml", "scenarios.yaml", "levels.csv", "history.yaml", "risk/var.csv"})
        before[name] = text_of(folder / name);
    for (const char* name : {"book.yaml", "market.yaml", "history.yaml", "levels.csv"})
        expect(in_file("history.yaml", {"--format", "csv", "-o", name}), 2,
               "this is the same file as '" + std::string(name) + "', which is read");
    expect({"scenarios", "book.yaml", "--scenarios", "risk/var.csv", "--files", "risk"}, 2, "risk/var.csv");
    surroundings in;  // standard output appends to a file, as by >> in a shell
    in.out = ::open((folder / "scenarios.yaml").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    expect(with(), 2, "standard output: can't write: this is the same file as 'scenarios.yaml'", in);
    ::close(in.out);
    for (const auto& [name, text] : before) EXPECT_EQ(text_of(folder / name), text) << name;
}

TEST_F(scenarios_cli, settings_are_printed_and_nothing_is_done) {
    const std::string config =
        printed(in_file("absent.yaml", {"--print-config", "--files", "risk", "-o", "gains.csv"}));
    EXPECT_TRUE(has(config, "paths") && has(config, "4096") && has(config, "book.yaml")) << config;
    EXPECT_FALSE(files().contains("risk") || files().contains("gains.csv"));
}

// `paths` limits what a run may take to reach its tolerance.
TEST_F(scenarios_cli, gains_that_miss_their_tolerance_are_told_and_exit_3) {
    const arguments most{"--paths", "4096", "--controls", "none", "--tolerance"};
    const auto to = [&](const char* tolerance) {
        arguments out = most;
        out.push_back(tolerance);
        return with(out);
    };
    expect(to("0.000001"), 3, "missed their tolerance");
    EXPECT_EQ(run(to("1000")).code, 0);
}

TEST_F(scenarios_cli, journal_is_gone_on_from) {
    const std::string whole = printed(with());
    const finished first = run(with({"--journal", "journal", "-o", "first.csv"}));
    EXPECT_EQ(first.code, 0) << first.err;
    EXPECT_EQ(first.err, "");
    const finished second = run(with({"--journal", "journal", "-o", "second.csv"}));
    EXPECT_EQ(second.code, 0) << second.err;
    EXPECT_TRUE(has(second.err, "tilewalk: resumed from ")) << second.err;
    EXPECT_EQ(text_of(folder / "first.csv"), whole);
    EXPECT_EQ(text_of(folder / "second.csv"), whole);
}

TEST_F(scenarios_cli, gains_are_explained_where_there_is_room) {
    EXPECT_EQ(printed(with({"--explain", "--files", "risk", "-o", "gains.csv"})), "");
    const std::string explained = text_of(folder / "risk/explained.csv");
    EXPECT_TRUE(explained.starts_with("set,scenario,portfolio,currency,gain,standard_error,delta,vega,"))
        << explained;
    EXPECT_TRUE(has(explained, ",theta,") && has(explained, ",gamma,") && has(explained, ",left\n"))
        << explained;
    EXPECT_EQ(lines_of(explained), 1 + 5 * 2) << "by scenario, for the book and the portfolio\n" << explained;
    const auto json = nlohmann::json::parse(printed(with({"--explain", "--format", "json"})));
    EXPECT_EQ(json["explained"].size(), 10U);
    EXPECT_EQ(printed(with({"--files", "risk", "-o", "gains.csv"})), "");
    EXPECT_EQ(lines_of(text_of(folder / "risk/explained.csv")), 1) << "nobody has asked";
    expect(with({"--explain"}), 2,
           "--explain writes to JSON and to explained.csv; use --format json or --files DIR");
}

TEST_F(scenarios_cli, shards_have_the_bytes_of_one_process) {
    EXPECT_EQ(printed(with({"--files", "at_once", "-o", "at_once.csv"})), "");
    const auto in_shards = [&](const std::string& plan, const arguments& more) {
        arguments words{"plan", "book.yaml", "--shards", "3", "-o", plan, "--quiet"};
        words.insert(words.end(), more.begin(), more.end());
        EXPECT_EQ(printed(words), "");
        for (const char* shard : {"1/3", "2/3", "3/3"}) {
            expect({"merge", plan}, 75, "missing");
            EXPECT_EQ(printed({"run", plan, "--shard", shard, "--quiet"}), "");
        }
    };
    in_shards("gains", {"--scenarios", "scenarios.yaml"});
    EXPECT_EQ(printed({"merge", "gains", "--files", "merged", "-o", "merged.csv"}), "");
    EXPECT_EQ(text_of(folder / "merged.csv"), text_of(folder / "at_once.csv"));
    for (const tilewalk::scenario_report& report : tilewalk::scenario_reports())
        EXPECT_EQ(text_of(folder / "merged" / report.file), text_of(folder / "at_once" / report.file))
            << report.file;
    EXPECT_TRUE(has(printed({"merge", "gains", "--format", "table"}), "5 scenarios of 2 trades"));

    in_shards("explained", {"--scenarios", "scenarios.yaml", "--explain"});
    EXPECT_EQ(printed({"merge", "explained", "--files", "merged_explained", "-o", "merged.csv"}), "");
    printed({"scenarios", "book.yaml", "--scenarios", "scenarios.yaml", "--explain", "--files",
             "explained_at_once", "-o", "explained.csv"});
    EXPECT_TRUE(has(text_of(folder / "merged_explained/explained.csv"), "delta"));
    EXPECT_EQ(text_of(folder / "merged_explained/explained.csv"),
              text_of(folder / "explained_at_once/explained.csv"));

    expect({"merge", "gains", "--totals", "totals.csv"}, 2, "--totals and --tiles are for prices");
    expect({"merge", "gains", "--format", "json", "--tiles"}, 2, "--totals and --tiles are for prices");
    in_shards("prices", {});
    const std::string market = text_of(folder / "market.yaml");
    for (const char* plan : {"gains", "prices"})
        for (const char* read : {"book.yaml", "market.yaml"})
            expect({"merge", plan, "--format", "csv", "-o", read}, 2, "which is read");
    expect({"merge", "gains", "--format", "csv", "-o", "scenarios.yaml"}, 2, "which is read");
    EXPECT_EQ(text_of(folder / "market.yaml"), market);
    const auto parts_of = [&](const arguments& words) {
        const auto document = nlohmann::json::parse(printed(words));
        nlohmann::json out;
        for (const auto& row : document.at("rows")) out.push_back(row.value("part_means", nlohmann::json()));
        return out;
    };
    EXPECT_EQ(parts_of({"merge", "prices", "--format", "json", "--tiles"}),
              parts_of({"price", "book.yaml", "--format", "json", "--tiles"}));
    EXPECT_EQ(printed({"merge", "prices", "--files", "values", "-o", "merged_prices.csv"}), "");
    EXPECT_TRUE(has(text_of(folder / "values/npv.csv"), "#TradeId,"));
    EXPECT_FALSE(files().contains("totals.csv"));
    expect({"plan", "book.yaml", "--shards", "3", "-o", "no", "--explain"}, 2, "--scenarios");
    for (const arguments& more : {arguments{"--greeks", "delta"}, arguments{"--with-greeks"}}) {
        arguments words{"plan", "book.yaml", "--shards", "3", "-o", "no", "--scenarios", "scenarios.yaml"};
        words.insert(words.end(), more.begin(), more.end());
        expect(words, 2, more[0]);
    }
    put("wrong.yaml", "stress: {crash: {ACME.spto: -20%}}\n");
    expect({"plan", "book.yaml", "--shards", "3", "-o", "no", "--scenarios", "wrong.yaml"}, 2,
           "did you mean 'ACME.spot'?");
    EXPECT_FALSE(files().contains("no"));
}

TEST_F(scenarios_cli, columns_that_lead_nowhere_are_told) {
    put("levels.csv", "#Date,Scenario,Numeraire,EquitySpot/ACME/0,Hail/ACME/0\n2026-01-15,1,1,101,5\n");
    for (const arguments& words :
         {in_file("levels.csv"),
          arguments{"plan", "book.yaml", "--shards", "2", "-o", "plan", "--scenarios", "levels.csv"}}) {
        const finished got = run(words);
        EXPECT_EQ(got.code, 0) << shown(words, got);
        EXPECT_TRUE(has(got.err, "tilewalk: levels.csv: ") && has(got.err, "Hail/ACME/0"))
            << shown(words, got);
    }
}

TEST_F(scenarios_cli, progress_counts_prices) {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_GE(terminal, 0);
    ASSERT_EQ(::grantpt(terminal), 0);
    ASSERT_EQ(::unlockpt(terminal), 0);
    surroundings in;
    in.err = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    in.variables = {{"TERM", "xterm"}};
    running started(with({"--paths", "200M"}), folder, in);
    std::string seen;
    char block[4096];
    while (!has(seen, " left")) {
        const ssize_t n = ::read(terminal, block, sizeof block);
        ASSERT_GT(n, 0) << seen;
        seen.append(block, static_cast<std::size_t>(n));
    }
    started.send(SIGINT);
    EXPECT_EQ(started.wait().code, 130);
    ::close(in.err);
    ::close(terminal);
    EXPECT_TRUE(has(seen, "0/12 prices  ")) << "two trades, today and in five scenarios\n" << seen;
    EXPECT_FALSE(has(seen, "path-steps/s")) << seen;
}

class scenarios_cli_interrupted : public scenarios_cli, public testing::WithParamInterface<int> {};

TEST_P(scenarios_cli_interrupted, end_with_their_code_and_leave_nothing) {
    for (const bool keeps : {false, true}) {
        arguments words = with({"--paths", "200M", "-o", "gains.csv", "--files", "risk"});
        if (keeps) words.insert(words.end(), {"--journal", "journal"});
        running started(words, folder, {});
        started.wait_until_at_work();
        started.send(GetParam());
        const finished got = started.wait();
        EXPECT_EQ(got.code, 128 + GetParam()) << shown(words, got);
        EXPECT_TRUE(has(got.err, keeps ? "interrupted; run the same command again to resume"
                                       : "interrupted; nothing was written"))
            << shown(words, got);
        EXPECT_FALSE(files().contains("gains.csv"));
        EXPECT_FALSE(std::filesystem::exists(folder / "risk/var.csv"));
    }
}

INSTANTIATE_TEST_SUITE_P(by, scenarios_cli_interrupted, testing::Values(SIGINT, SIGTERM),
                         [](const auto& signal) { return signal.param == SIGINT ? "ctrl_c" : "a_kill"; });

TEST_F(scenarios_cli, misspelt_words_are_told) {
    expect({"scenario", "book.yaml"}, 2, "unknown command 'scenario'; did you mean 'scenarios'?");
    expect(with({"--file", "risk"}), 2, "unknown option '--file'; did you mean '--files'?");
    expect(with({"--explian"}), 2, "did you mean '--explain'?");
    const std::string help = printed({"scenarios", "--help"});
    EXPECT_TRUE(has(help, "Examples:\n  tilewalk scenarios")) << help;
    EXPECT_EQ(printed({"help", "scenarios"}), help);
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

}  // namespace

}  // namespace scenarios_cli_test
