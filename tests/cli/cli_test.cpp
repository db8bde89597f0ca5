// SPDX-License-Identifier: Apache-2.0
// The command as a user meets it: output, exit codes, files, and signals that stop it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "engine/walk/cuda/compile/compiler.h"
#include "tests/command.h"
#include "tilewalk/results.h"
#include "tilewalk/setting_table.h"
#include "tilewalk/version.h"
#include "tilewalk/write.h"

namespace cli_test {
namespace {

namespace fs = std::filesystem;
using tilewalk::tests::arguments;
using tilewalk::tests::finished;
using tilewalk::tests::has;
using tilewalk::tests::running;
using tilewalk::tests::shown;
using tilewalk::tests::surroundings;
using tilewalk::tests::text_of;

// A trade's line of CSV without the last three columns, which say where the trade stands in the book.
std::string figures_of(const std::string& csv, const std::string& trade) {
    std::istringstream lines(csv);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(trade + ",")) continue;
        for (int column = 0; column < 3; ++column) line.erase(line.rfind(','));
        return line;
    }
    return "no line for " + trade;
}

const std::string market_text = R"(as_of: 2026-01-15
currencies:
  USD: {rate: 0.03}
assets:
  ACME: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: 0.2}
  BETA: {currency: USD, spot: 50, volatility: 0.3}
)";

const std::string call_text =
    "  - {id: call, product: european, underlying: ACME, strike: 100, maturity: 1.0}\n";
const std::string asian_text =
    "  - {id: asian, product: asian, underlying: BETA, strike: 50, averaging_dates: {start: 0, end: 1, "
    "count: 12}}\n";
const std::string daily_text =
    "  - {id: daily, product: asian, underlying: BETA, strike: 50, averaging_dates: {start: 0, end: 1, "
    "count: 252}}\n";
const std::string bad_text =
    "  - {id: bad, product: european, underlying: ACMEE, strike: 100, maturity: 1.0}\n";

class cli : public tilewalk::tests::command_test {
  protected:
    cli() {
        put("market.yaml", market_text);
        put("book.yaml",
            "market: market.yaml\nsettings: {paths: 8192, seed: 11}\ntrades:\n" + call_text + asian_text);
        put("bad.yaml", "market: market.yaml\nsettings: {paths: 8192, seed: 11}\ntrades:\n" + call_text +
                            bad_text + asian_text);
        put("empty.yaml", "market: market.yaml\ntrades: []\n");
    }
};

TEST_F(cli, prices_to_standard_output_and_says_nothing_else) {
    const arguments with{"price", "book.yaml"};
    const finished got = run(with);
    EXPECT_EQ(got.code, 0) << shown(with, got);
    EXPECT_EQ(got.err, "") << shown(with, got);
    EXPECT_TRUE(got.out.starts_with("trade,product,currency,status,")) << "csv, as nobody looks\n"
                                                                       << shown(with, got);
    EXPECT_EQ(std::count(got.out.begin(), got.out.end(), '\n'), 3) << shown(with, got);
    EXPECT_TRUE(has(got.out, "\ncall,european,USD,priced,1,")) << shown(with, got);

    const finished table = run({"price", "book.yaml", "--format", "table"});
    EXPECT_EQ(table.code, 0) << table.err;
    EXPECT_TRUE(has(table.out, "95% interval") && has(table.out, "8192 paths, seed 11")) << table.out;
    EXPECT_TRUE(std::ranges::all_of(table.out, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }))
        << table.out;

    const finished json = run({"price", "book.yaml", "--format=json"});
    const auto document = nlohmann::json::parse(json.out);
    EXPECT_EQ(document["rows"].size(), 2U) << json.out;
    EXPECT_EQ(document["manifest"]["paths"], 8192) << json.out;
    EXPECT_EQ(document["manifest"]["inputs"].size(), 2U) << "book and market\n" << json.out;
}

TEST_F(cli, empty_book_is_priced_in_no_time) {
    for (const std::string format : {"table", "csv", "json"}) {
        const arguments with{"price", "empty.yaml", "--format", format};
        const finished got = run(with);
        EXPECT_EQ(got.code, 0) << shown(with, got);
        EXPECT_FALSE(got.out.empty()) << shown(with, got);
    }
    EXPECT_EQ(run({"validate", "empty.yaml"}).out, "0 trades, all valid\n");
}

// A header without rows, as a nightly extract that failed leaves it.
TEST_F(cli, a_book_without_trades_is_remarked_upon_and_refused_strictly) {
    put("header.csv", "id,product,underlying,strike,maturity\n...\n");
    put("strict_market.yaml", market_text + "...\n");
    put("strict.yaml", "market: strict_market.yaml\ntrade_count: 0\ntrades: []\n...\n");
    put("moves.yaml", "stress: {a: {ACME.spot: -1}}\n...\n");
    const std::string sentence = "the book has no trades";
    const std::vector<arguments> commands{
        {"price", "strict.yaml"},    {"price", "header.csv", "--market", "strict_market.yaml"},
        {"greeks", "strict.yaml"},   {"scenarios", "strict.yaml", "--scenarios", "moves.yaml"},
        {"validate", "strict.yaml"}, {"plan", "strict.yaml", "--shards", "1", "-o", "plan"},
        {"explain", "strict.yaml"}};
    for (arguments with : commands) {
        const finished told = run(with);
        EXPECT_EQ(told.code, 0) << shown(with, told);
        EXPECT_TRUE(has(told.err, "tilewalk: warning: " + sentence + "\n")) << shown(with, told);
        with.emplace_back("--strict");
        const finished got = run(with);
        EXPECT_EQ(got.code, 2) << shown(with, got);
        EXPECT_TRUE(has(got.err, sentence + ", expected at least one where files are read strictly"))
            << shown(with, got);
        EXPECT_EQ(got.out, "") << shown(with, got);
    }
    const finished json = run({"price", "empty.yaml", "--format", "json"});
    EXPECT_EQ(nlohmann::json::parse(json.out)["remarks"], nlohmann::json::array({sentence})) << json.out;
    EXPECT_EQ(tilewalk::read_results(json.out, "back").rows.size(), 0U);
    EXPECT_FALSE(
        nlohmann::json::parse(run({"price", "book.yaml", "--format", "json"}).out).contains("remarks"));
}

TEST_F(cli, absurd_counts_are_wrong_usage) {
    for (const std::string count : {"-1", "0", "two", "1e3", "99999999999999999999"}) {
        for (const arguments& with : {arguments{"plan", "book.yaml", "-o", "plan", "--shards=" + count},
                                      arguments{"price", "book.yaml", "--workers=" + count}}) {
            const finished got = run(with);
            EXPECT_EQ(got.code, 2) << shown(with, got);
            EXPECT_TRUE(has(got.err, "found '" + count + "', expected a whole number from 1 to "))
                << shown(with, got);
        }
    }
    // The work of this book: two trades of 8 tiles (1024 paths) each.
    const finished many = run({"plan", "book.yaml", "-o", "plan", "--shards", "17"});
    EXPECT_EQ(many.code, 2) << many.err;
    EXPECT_TRUE(has(many.err,
                    "found 17 shards, expected at most 16: the work is 2 trades in 1 market, each 8 "
                    "blocks of 1024 paths"))
        << many.err;
    EXPECT_EQ(run({"plan", "book.yaml", "-o", "plan", "--shards", "16"}).code, 0);
    const finished crowd = run({"price", "book.yaml", "--workers", "100000"});
    EXPECT_EQ(crowd.code, 2) << crowd.err;
    EXPECT_TRUE(has(crowd.err, "--workers: found '100000', expected a whole number from 1 to ")) << crowd.err;
    put("one.yaml", "market: market.yaml\nsettings: {paths: 512}\ntrades:\n" + call_text);
    EXPECT_EQ(run({"price", "one.yaml", "--workers", "3"}).out, run({"price", "one.yaml"}).out);
}

TEST_F(cli, what_is_long_is_cut) {
    const std::string all(100'000, 'x');
    for (const arguments& with :
         {arguments{"price", "book.yaml", "--" + all}, arguments{"price", "book.yaml", all}, arguments{all},
          arguments{"help", all}, arguments{"price", "book.yaml", "--paths", all},
          arguments{"price", "book.yaml", "--format", all},
          arguments{"price", "book.yaml", "--shift", all}}) {
        const finished got = run(with);
        EXPECT_EQ(got.code, 2);
        EXPECT_LT(got.err.size(), 2000U) << got.err.substr(0, 300);
    }
}

TEST_F(cli, thousands_of_paths_are_written_either_way) {
    const std::string small = run({"price", "book.yaml", "--paths", "16k"}).out;
    EXPECT_EQ(run({"price", "book.yaml", "--paths", "16K"}).out, small);
    EXPECT_EQ(run({"price", "book.yaml", "--paths", "16000"}).out, small);
}

TEST_F(cli, bad_trade_leaves_the_others_to_the_bit) {
    const finished good = run({"price", "book.yaml"}), bad = run({"price", "bad.yaml"});
    EXPECT_EQ(bad.code, 3) << bad.err;
    for (const std::string trade : {"call", "asian"})
        EXPECT_EQ(figures_of(good.out, trade), figures_of(bad.out, trade)) << bad.out;
    EXPECT_TRUE(has(bad.out, "\nbad,european,,failed,1,,,,,,")) << bad.out;
    EXPECT_TRUE(has(bad.err, "1 of 3 trades failed")) << bad.err;
    const std::string before = bad_text.substr(0, bad_text.find("ACMEE"));
    const std::string place = "bad.yaml:5:" + std::to_string(before.size() + 1) + ": ";
    EXPECT_TRUE(has(bad.err, place)) << "the place of the asset\n" << bad.err;
    EXPECT_TRUE(has(bad.err, "did you mean 'ACME'?")) << bad.err;

    const finished table = run({"price", "bad.yaml", "--format", "table"});
    EXPECT_EQ(table.code, 3);
    EXPECT_EQ(table.err, "") << "the table says it all";
    EXPECT_TRUE(has(table.out, "1 trade failed:\n  bad: bad.yaml:5:")) << table.out;
}

TEST_F(cli, settings_change_what_they_should) {
    const auto prices = [&](const arguments& extra) {
        arguments with{"price", "book.yaml"};
        with.insert(with.end(), extra.begin(), extra.end());
        const finished got = run(with);
        EXPECT_EQ(got.code, 0) << shown(with, got);
        return figures_of(got.out, "call");
    };
    const std::string plain = prices({});
    EXPECT_EQ(prices({"--threads", "1"}), plain);
    EXPECT_EQ(prices({"--threads", "3"}), plain);
    EXPECT_EQ(prices({"--seed", "11", "--paths", "8192"}), plain);
    EXPECT_NE(prices({"--seed", "12"}), plain);
    EXPECT_NE(prices({"--paths", "16k"}), plain);
    EXPECT_TRUE(has(prices({"--paths", "16k"}), ",16000,")) << prices({"--paths", "16k"});
    put("dear.yaml",
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets:\n"
        "  ACME: {currency: USD, spot: 200, volatility: 0.2}\n  BETA: {currency: USD, spot: 50, volatility: "
        "0.3}\n");
    EXPECT_NE(prices({"--market", "dear.yaml"}), plain);
}

TEST_F(cli, wrong_usage_is_refused_with_a_hint) {
    const struct {
        arguments with;
        std::string said;
    } cases[] = {
        {{}, "a command is needed; known commands: price, greeks, scenarios, validate"},
        {{"prise", "book.yaml"}, "unknown command 'prise'"},
        {{"prise", "book.yaml"}, "unknown command 'prise'; did you mean 'price'? known commands: price, "},
        {{""}, "unknown command ''"},
        {{"--"}, "the command comes first"},
        {{"--", "price"}, "tilewalk --help shows how it is used"},
        {{"--verison"}, "unknown option '--verison'; did you mean '--version'?"},
        {{"price"}, "BOOK"},
        {{"price", ""}, "BOOK: found '', expected the name of a file"},
        {{"calibrate", ""}, "QUOTES: found '', expected the name of a file"},
        {{"diff", "", ""}, "A: found '', expected the name of a file"},
        {{"verify", "--trades", "1"}, "tilewalk: found 1 trade, expected at least one of each of the "},
        {{"verify", "--plant", ""}, "--plant: found '', expected the name of a mistake, or all"},
        {{"price", "book.yaml", "--trade", ""}, "the book has no trade ''"},
        {{"products", "nope"}, "unknown product 'nope'; 'tilewalk products' lists them all"},
        {{"price", "book.yaml", "second.yaml"}, "unexpected argument 'second.yaml'"},
        {{"price", "book.yaml", "--phats", "3"}, "unknown option '--phats'; did you mean '--paths'?"},
        {{"price", "book.yaml", "--phats=3"}, "unknown option '--phats'; did you mean '--paths'?"},
        {{"price", "--marktet", "m.yaml"}, "did you mean '--market'?"},
        {{"price", "book.yaml", "--paths"}, "--paths"},
        {{"price", "book.yaml", "--paths", "1", "--paths", "2"}, "--paths: given more than once"},
        {{"price", "book.yaml", "--paths", "0"}, "--paths: found '0', expected"},
        {{"price", "book.yaml", "--paths", "-5"}, "--paths: found '-5', expected"},
        {{"price", "book.yaml", "--paths", "1e-6"}, "--paths: found '1e-6', expected"},
        {{"price", "book.yaml", "--paths", "1_000"}, "--paths: found '1_000', expected"},
        {{"price", "book.yaml", "--paths", " 5"}, "--paths: found ' 5', expected"},
        {{"price", "book.yaml", "--paths", "k"}, "--paths: found 'k', expected"},
        {{"price", "book.yaml", "--paths", "5G"}, "--paths: found '5G', expected"},
        {{"price", "book.yaml", "--paths", "18446744073709551615M"},
         "expected a whole number from 1 to 2^40, such as 65536"},
        {{"price", "book.yaml", "--paths", ""}, "--paths: found '', expected"},
        {{"price", "book.yaml", "--seed", "-1"}, "--seed: found '-1', expected"},
        {{"price", "book.yaml", "--seed", "18446744073709551616"}, "--seed: found"},
        {{"price", "book.yaml", "--distance", "33"},
         "--distance: found '33', expected a whole number from 1 to 32"},
        {{"price", "book.yaml", "--row-space", "read"},
         "--row-space: found 'read', expected global, read_only"},
        {{"price", "book.yaml", "--prefetch", "smem_roling"}, "did you mean 'smem_rolling'?"},
        {{"price", "book.yaml", "--random", "Fast!"},
         "--random: found 'Fast!', expected auto, philox, philox_7, sobol, curand_philox"},
        {{"price", "book.yaml", "--row_space", "global"}, "did you mean '--row-space'?"},
        {{"price", "book.yaml", "--precision", "singel"},
         "--precision: found 'singel'; did you mean 'single'? expected double, single, single_fast, mixed"},
        {{"validate", "book.yaml", "--device", "gpu"},
         "--device: found 'gpu'; did you mean 'cuda'? expected auto, cpu, cuda or"},
        {{"explain", "book.yaml", "--width", "3"}, "--width: found '3', expected 1, 2, 4"},
        {{"explain", "book.yaml", "--memory-bytes", "lots"},
         "--memory-bytes: found 'lots', expected a number of"},
        {{"warm", "book.yaml", "--arch", "90"}, "--arch: found '90', expected an architecture such as sm_90"},
        {{"warm", "--arch", "sm_90"}, "the argument BOOK is missing; give a book, or --library"},
        {{"warm", "--library"}, "--library needs a market"},
        {{"warm", "--library"}, "give --market FILE, such as configs/markets/demo.yaml"},
        {{"warm", "--libary", "--market", "market.yaml"}, "did you mean '--library'?"},
        {{"warm", "--library", "--market", "none.yaml", "--arch", "sm_90"}, "none.yaml"},
        {{"warm", "book.yaml", "--library"}, "found the book 'book.yaml' beside --library, expected one"},
        {{"warm", "book.yaml", "--product", "asian"}, "--product goes with --library; --trade picks trades"},
        {{"warm", "--library", "--market", "market.yaml", "--trade", "call"}, "--product NAME goes with"},
        {{"warm", "--library", "--arch", "90"}, "--arch: found '90', expected an architecture"},
        {{"price", "book.yaml", "--threads", "1.5"}, "--threads: found '1.5', expected"},
        {{"price", "book.yaml", "--threads", "100000"}, "--threads: found '100000', expected"},
        {{"price", "book.yaml", "--format", "jsn"},
         "--format: found 'jsn'; did you mean 'json'? expected table, csv, json, parquet"},
        {{"price", "book.yaml", "--instruction-set", "mmx"}, "--instruction-set: found 'mmx', expected"},
        {{"price", "book.yaml", "--market", ""}, "--market: found '', expected the name of a file"},
        {{"price", "book.yaml", "--output", ""}, "--output: found '', expected the name of a file"},
        {{"products", "europaen"}, "did you mean 'european'?"},
        {{"products", "--format", "xml"}, "--format: found 'xml', expected table, csv, json"},
        {{"explain", "book.yaml", "asain"}, "the book has no trade 'asain'; did you mean 'asian'?"},
        {{"explain", "book.yaml", "price"}, "the book has no trade 'price'"},
        {{"validate", "book.yaml", "diff"}, "unexpected argument 'diff'"},
        {{"bench"}, "SUITE"},
        {{"bench", "prefech"}, "did you mean 'prefetch'?"},
        {{"bench", "prefetch", "asian", "--feeds", "none,smem_roling"}, "did you mean 'smem_rolling'?"},
        {{"bench", "prefetch", "asain"}, "did you mean 'asian'?"},
        {{"bench", "prefetch", "--layouts", "paded"}, "did you mean 'padded'?"},
        {{"bench", "prefetch", "--distances", "0"}, "--distances: found '0', expected a number from 1 to 32"},
        {{"bench", "prefetch", "--distances", "8..1"}, "--distances: found '8..1', expected"},
        {{"bench", "prefetch", "--distances", "1..33"}, "or a range such as 1..8"},
        {{"bench", "prefetch", "--occupancy", "65"}, "--occupancy: found '65', expected"},
        {{"bench", "prefetch", "--precision", "singel"}, "did you mean 'single'?"},
        {{"bench", "prefetch", "--paths", "0"}, "--paths: found '0', expected"},
        {{"bench", "prefetch", "--noise", "-1"}, "--noise: found '-1', expected a number above 0"},
        {{"bench", "prefetch", "--noise", "1.5"}, "--noise: found '1.5', expected a number above 0, up to 1"},
        {{"bench", "prefetch", "--format", "xml"}, "--format: found 'xml', expected table, csv, json"},
        {{"bench", "prefetch", "--against", "no.jsonl"}, "no.jsonl: can't read"},
        {{"bench", "prefetch", "--against", "book.yaml"}, "book.yaml:1: found no JSON object"},
        {{"bench", "memory", "--feeds", "none"}, "the benchmark 'memory' takes no choice of feeds"},
        {{"bench", "memory", "--untimed"}, "the benchmark 'memory' can't go untimed"},
        {{"bench", "prefetch", "--untimed", "--against", "night.jsonl"}, "--against needs timings"},
        {{"bench", "prefetch", "--untimed", "--report", "page.html"}, "--report needs timings"},
        {{"tune"}, "BOOK"},
        {{"tune", "book.yaml", "--seconds", "0"}, "--seconds: found '0', expected a number above 0"},
        {{"diff", "a.json"}, "B"},
        {{"diff", "a.json", "b.json", "--limit", "nan"}, "--limit: found 'nan', expected"},
        {{"diff", "a.json", "b.json", "--limit", "-1"}, "--limit: found '-1', expected"},
        {{"diff", "a.json", "b.json", "--limit", "4,5"}, "--limit: found '4,5', expected"},
        {{"diff", "a.json", "b.json", "--tolerance", "bp"}, "--tolerance: found 'bp', expected"},
        {{"diff", "a.json", "b.json", "--tolerance", "1%"}, "--tolerance: found '1%', expected"},
        {{"diff", "a.json", "b.json", "--tolerance", "-1bp"}, "--tolerance: found '-1bp', expected"},
        {{"diff", "a.json", "b.json", "--tolerance", "1", "--limit", "4"}, "excludes"},
    };
    for (const auto& c : cases) expect(c.with, 2, c.said);
}

TEST_F(cli, benchmarks_and_tuning_need_a_gpu) {
    const surroundings no_gpu{{{"CUDA_VISIBLE_DEVICES", ""}}, -1, -1, false, RLIM_INFINITY, -1};
    expect({"bench", "prefetch", "asian"}, 75, "GPU", no_gpu);
    expect({"bench", "prefetch", "asian", "--untimed"}, 75, "GPU", no_gpu);
    expect({"tune", "book.yaml"}, 75, "GPU", no_gpu);
    expect({"price", "book.yaml", "--device", "cuda"}, 75, "", no_gpu);
    expect({"tune", "book.yaml", "--width", "2"}, 2, "tuning chooses them", no_gpu);
}

TEST_F(cli, unreadable_input_is_refused) {
    put("torn.yaml", "market: market.yaml\ntrades:\n  - {id: a, product");
    put("stranger.yaml", "market: market.yaml\ntrade: []\n");
    put("homeless.yaml", "trades:\n" + call_text);
    put("lost.yaml", "market: nowhere.yaml\ntrades:\n" + call_text);
    expect({"price", "absent.yaml"}, 2, "absent.yaml");
    expect({"price", "."}, 2, "tilewalk: ");
    expect({"price", "torn.yaml"}, 2, "torn.yaml:3:");
    expect({"price", "stranger.yaml"}, 2, "stranger.yaml:2:");
    expect({"price", "homeless.yaml"}, 2, "market");
    expect({"validate", "homeless.yaml"}, 2, "--market");
    expect({"explain", "homeless.yaml"}, 2, "--market");
    expect({"price", "lost.yaml"}, 2, "nowhere.yaml");
    expect({"price", "book.yaml", "--market", "absent.yaml"}, 2, "absent.yaml");
    EXPECT_EQ(run({"price", "homeless.yaml", "--market", "market.yaml", "--paths", "256"}).code, 0);
}

TEST_F(cli, help_fits_80_columns) {
    const finished all = run({"--help"});
    std::istringstream commands(all.out.substr(all.out.find("\nCommands:\n")));
    std::vector<arguments> asked{{"--help"}, {"price", "--help-gpu"}};
    for (std::string line; std::getline(commands, line) && !line.starts_with("Examples:");)
        if (line.starts_with("  ")) asked.push_back({line.substr(2, line.find(' ', 2) - 2), "--help"});
    EXPECT_EQ(asked.size(), 22U);
    for (const arguments& with : asked) {
        std::istringstream lines(run(with).out);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
    }
}

// Order of the options in help: the most used first, then group by group.
TEST_F(cli, help_is_in_groups) {
    const std::string out = run({"price", "--help"}).out;
    std::vector<std::size_t> at;
    for (const char* text : {"\nOptions:\n  --paths ",
                             "\n  --seed ",
                             "\n  --tolerance ",
                             "\n  --trade ",
                             "\n  --market ",
                             "\n  -o,--output ",
                             "\n  --format ",
                             "\n  --report ",
                             "\n  --threads ",
                             "\n  --device ",
                             "\nOutput:\n",
                             "\n  --totals ",
                             "\nMarket:\n",
                             "\n  --shift ",
                             "\nRun:\n",
                             "\n  --budget ",
                             "\nRandom numbers and variance:\n",
                             "\n  --controls ",
                             "\nEarly exercise:\n",
                             "\n  --policy ",
                             "\nChecks:\n",
                             "\n  --strict ",
                             "\nExamples:\n"})
        at.push_back(out.find(text));
    EXPECT_TRUE(std::ranges::is_sorted(at) && at.back() != std::string::npos) << out;
}

TEST_F(cli, help_and_version) {
    for (const arguments& with : std::vector<arguments>{{"--help"},
                                                        {"-h"},
                                                        {"price", "--help"},
                                                        {"greeks", "-h"},
                                                        {"scenarios", "-h"},
                                                        {"validate", "-h"},
                                                        {"explain", "-h"},
                                                        {"products", "-h"},
                                                        {"warm", "-h"},
                                                        {"diff", "--help"},
                                                        {"devices", "--help"}}) {
        const finished got = run(with);
        EXPECT_EQ(got.code, 0) << shown(with, got);
        EXPECT_EQ(got.err, "") << shown(with, got);
        EXPECT_TRUE(has(got.out, "Usage: tilewalk ") && has(got.out, "Examples:\n  tilewalk "))
            << shown(with, got);
    }
    const finished price = run({"price", "--help"}), gpu = run({"price", "--help-gpu"});
    EXPECT_EQ(gpu.code, 0) << gpu.err;
    for (const auto& setting : tilewalk::setting_table()) {
        const std::string line = "\n  " + setting.option() + " ";
        const bool is_of_gpus = setting.of == tilewalk::run_setting::part::gpu;
        EXPECT_EQ(has(price.out, line), !is_of_gpus) << setting.name << "\n" << price.out;
        EXPECT_EQ(has(gpu.out, line), is_of_gpus) << setting.name << "\n" << gpu.out;
    }
    EXPECT_TRUE(has(price.out, "--help-gpu") && has(gpu.out, "\nGPU; no price depends on these")) << gpu.out;
    EXPECT_FALSE(has(gpu.out, "--output")) << gpu.out;
    expect({"diff", "--help-gpu"}, 2, "unknown option '--help-gpu'");

    EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
    EXPECT_EQ(run({"help", "price"}).out, price.out);
    EXPECT_EQ(run({"help", "help"}).out, run({"help", "--help"}).out);
    expect({"help", "prise"}, 2,
           "there is no help on 'prise'; did you mean 'price'? known: price, greeks, scenarios, validate");
    expect({"help", "price", "diff"}, 2, "unexpected argument 'diff'");

    const finished of_build = run({"--version"});
    const std::string begin = "tilewalk " + std::string(tilewalk::version()) + " (commit ";
    EXPECT_TRUE(of_build.out.starts_with(begin)) << of_build.out;
    const std::string cuda(tilewalk::cuda_version());
    EXPECT_TRUE(of_build.out.ends_with(", " + tilewalk::compiler() + ", " +
                                       (cuda.empty() ? "without CUDA" : "CUDA " + cuda) + ")\n"))
        << of_build.out;
    const std::string commit = of_build.out.substr(begin.size(), of_build.out.find(',') - begin.size());
    const bool is_hash = commit.size() >= 12 &&
                         commit.substr(0, 12).find_first_not_of("0123456789abcdef") == std::string::npos;
    EXPECT_TRUE(commit == "unknown" || (is_hash && (commit.size() == 12 || commit.substr(12) == "-dirty")))
        << commit;
}

TEST_F(cli, exit_codes_are_the_table_of_the_page) {
    const std::string page = text_of(fs::path(TILEWALK_SOURCE_DIR) / "docs/command_line.md");
    std::istringstream lines(run({"help", "exit-codes"}).out);
    std::string table;
    for (std::string line; std::getline(lines, line);)
        table += "| " +
                 line.substr(line.find_first_not_of(' '), line.find("  ", 3) - line.find_first_not_of(' ')) +
                 " | " + line.substr(5) + " |\n";
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 9);
    EXPECT_TRUE(has(page, "| exit code | means |\n|---:|---|\n" + table + "\n")) << table;
}

std::string config_line(const std::string& text, const std::string& name) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(name + " ")) continue;
        std::istringstream words(line);
        std::string word, out;
        while (words >> word) out += (out.empty() ? "" : " ") + word;
        return out;
    }
    return "no line for " + name;
}

TEST_F(cli, options_beat_environment_beats_book_beats_defaults) {
    put("silent.yaml", "trades: []\n");
    const finished defaults = run({"price", "silent.yaml", "--print-config"});
    EXPECT_EQ(defaults.code, 0) << defaults.err;
    EXPECT_EQ(config_line(defaults.out, "paths"), "paths 131072 default");
    EXPECT_EQ(config_line(defaults.out, "seed"), "seed 42 default");
    EXPECT_EQ(config_line(defaults.out, "market"), "market none default");
    EXPECT_EQ(config_line(defaults.out, "format"), "format csv default off a terminal");
    EXPECT_EQ(config_line(defaults.out, "output"), "output standard output default");
    EXPECT_TRUE(has(config_line(defaults.out, "threads"), "all cores")) << defaults.out;
    EXPECT_TRUE(has(config_line(defaults.out, "instruction_set"), "auto")) << defaults.out;

    const finished book = run({"price", "book.yaml", "--print-config"});
    EXPECT_EQ(config_line(book.out, "paths"), "paths 8192 book.yaml");
    put("tuned.yaml", "settings: {prefetch: unroll, distance: 4, row_space: constant}\ntrades: []\n");
    for (const std::string name : {"price", "validate", "explain", "warm"}) {
        surroundings tuned;
        tuned.variables = {{"TILEWALK_DISTANCE", "5"}, {"TILEWALK_ROW_SPACE", "global"}};
        const finished got = run({name, "tuned.yaml", "--print-config", "--row-space", "texture"}, tuned);
        EXPECT_EQ(got.code, 0) << got.err;
        EXPECT_EQ(config_line(got.out, "prefetch"), "prefetch unroll tuned.yaml");
        EXPECT_EQ(config_line(got.out, "distance"), "distance 5 TILEWALK_DISTANCE");
        EXPECT_EQ(config_line(got.out, "row_space"), "row_space texture --row-space");
        EXPECT_EQ(config_line(got.out, "layout"), "layout set by prefetch default");
    }
    EXPECT_EQ(config_line(book.out, "seed"), "seed 11 book.yaml");
    EXPECT_EQ(config_line(book.out, "market"), "market the book's, as of 2026-01-15 book.yaml");

    surroundings in;
    in.variables = {{"TILEWALK_PATHS", "2M"},     {"TILEWALK_SEED", "5"},
                    {"TILEWALK_THREADS", "3"},    {"TILEWALK_MARKET", "env.yaml"},
                    {"TILEWALK_FORMAT", "table"}, {"TILEWALK_INSTRUCTION_SET", "auto"}};
    const finished environment = run({"price", "book.yaml", "--print-config"}, in);
    EXPECT_EQ(config_line(environment.out, "paths"), "paths 2000000 TILEWALK_PATHS");
    EXPECT_EQ(config_line(environment.out, "seed"), "seed 5 TILEWALK_SEED");
    EXPECT_EQ(config_line(environment.out, "threads"), "threads 3 TILEWALK_THREADS");
    EXPECT_EQ(config_line(environment.out, "market"), "market env.yaml TILEWALK_MARKET");
    EXPECT_EQ(config_line(environment.out, "format"), "format table TILEWALK_FORMAT");

    const finished options = run({"price", "book.yaml", "--print-config", "--paths", "7", "--seed", "6",
                                  "--threads", "1", "--market", "option.yaml", "--output", "x.json"},
                                 in);
    EXPECT_EQ(config_line(options.out, "paths"), "paths 7 --paths");
    EXPECT_EQ(config_line(options.out, "seed"), "seed 6 --seed");
    EXPECT_EQ(config_line(options.out, "threads"), "threads 1 --threads");
    EXPECT_EQ(config_line(options.out, "market"), "market option.yaml --market");
    EXPECT_EQ(config_line(options.out, "format"), "format json the ending of --output");
    EXPECT_EQ(config_line(options.out, "output"), "output x.json --output");
    EXPECT_EQ(
        config_line(run({"price", "book.yaml", "--print-config", "-o", "x.json", "--format", "csv"}, in).out,
                    "format"),
        "format csv --format");
    EXPECT_FALSE(fs::exists(folder / "x.json"));

    put("counted.yaml", "trade_count: 0\ntrades: []\n");
    EXPECT_EQ(config_line(run({"price", "counted.yaml", "--print-config"}).out, "strict"),
              "strict false default");
    EXPECT_EQ(config_line(run({"price", "counted.yaml", "--print-config", "--strict"}).out, "strict"),
              "strict true --strict");
    in.variables = {{"TILEWALK_STRICT", "true"}};
    EXPECT_EQ(config_line(run({"price", "counted.yaml", "--print-config"}, in).out, "strict"),
              "strict true TILEWALK_STRICT");
    expect({"price", "silent.yaml", "--print-config"}, 2, "found neither trade_count nor a last line '...'",
           in);
    in.variables = {{"TILEWALK_CONFINE", "true"}};
    EXPECT_EQ(config_line(run({"price", "counted.yaml", "--print-config"}).out, "confine"),
              "confine false default");
    EXPECT_EQ(config_line(run({"price", "counted.yaml", "--print-config", "--confine"}).out, "confine"),
              "confine true --confine");
    EXPECT_EQ(config_line(run({"price", "counted.yaml", "--print-config"}, in).out, "confine"),
              "confine true TILEWALK_CONFINE");
    fs::create_directory(folder / "below");
    put("below/outer.yaml", "market: ../counted.yaml\ntrades: []\n");
    expect({"price", "below/outer.yaml"}, 2,
           "below/outer.yaml:1:9: market: 'counted.yaml': found a file outside the folder of the file "
           "that names it",
           in);
    in.variables = {{"TILEWALK_CONFINE", "yes"}};
    expect({"price", "counted.yaml"}, 2, "TILEWALK_CONFINE: found 'yes', expected true or false", in);

    in.variables = {{"TILEWALK_SEED", "12"}, {"TILEWALK_PATHS", ""}};
    EXPECT_EQ(figures_of(run({"price", "book.yaml"}, in).out, "call"),
              figures_of(run({"price", "book.yaml", "--seed", "12"}).out, "call"));
}

TEST_F(cli, environment_is_read_strictly) {
    for (const auto& [name, value] :
         std::map<std::string, std::string>{{"TILEWALK_PATHS", "many"},
                                            {"TILEWALK_SEED", "0x10"},
                                            {"TILEWALK_THREADS", "-1"},
                                            {"TILEWALK_FORMAT", "xml"},
                                            {"TILEWALK_STRICT", "yes"},
                                            {"TILEWALK_ROW_SPACE", "a-b"},
                                            {"TILEWALK_DEVICE", "0,0"},
                                            {"TILEWALK_INSTRUCTION_SET", "sse"}}) {
        surroundings in;
        in.variables = {{name, value}};
        expect({"price", "book.yaml"}, 2, name + ": found '" + value + "', expected", in);
    }
    surroundings in;
    in.variables = {{"TILEWALK_PTHS", "5"}, {"TILEWALK_CLI", "x"}, {"TILEWALK_CACHE_DIR", "/nowhere"}};
    const finished got = run({"price", "book.yaml"}, in);
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(
        got.err,
        "tilewalk: the environment variable TILEWALK_PTHS is not known; did you mean TILEWALK_PATHS?\n");
}

TEST_F(cli, output_file_holds_what_standard_output_would) {
    const arguments with{"price", "book.yaml", "--output", "out.csv"};
    const finished got = run(with);
    EXPECT_EQ(got.code, 0) << shown(with, got);
    EXPECT_EQ(got.out + got.err, "") << shown(with, got);
    EXPECT_EQ(text_of(folder / "out.csv"), run({"price", "book.yaml"}).out);
    EXPECT_EQ(run({"price", "book.yaml", "-o", "-"}).out, text_of(folder / "out.csv"));
    run({"price", "book.yaml", "-o", "out.json"});
    EXPECT_TRUE(text_of(folder / "out.json").starts_with("{")) << text_of(folder / "out.json");
    run({"price", "book.yaml", "-o", "out.txt"});
    EXPECT_TRUE(text_of(folder / "out.txt").starts_with("trade ")) << text_of(folder / "out.txt");
    run({"price", "book.yaml", "-o", "OUT.JSON"});
    EXPECT_TRUE(text_of(folder / "OUT.JSON").starts_with("{")) << "an ending in any case";
    expect({"price", "book.yaml", "-o", "out.jsn"}, 2,
           "--output: found 'out.jsn', which ends in '.jsn'; did you mean '.json'? expected .txt, .csv, "
           ".json, .parquet, or --format with any ending");
    expect({"price", "book.yaml", "-o", "out"}, 2,
           "--output: found 'out', which has no ending; expected .txt");
    expect({"verify", "-o", "out.dat"}, 2, "--output: found 'out.dat', which ends in '.dat'; expected .txt");
    expect({"verify", "-o", "out.parquet"}, 2, "'.parquet'; expected .txt, .csv, .json, or --format");
    expect({"devices", "--format", "parquet"}, 2, "--format: found 'parquet', expected table, csv, json");
    expect({"bench", "prefetch", "-o", "out.dat"}, 2, "expected .txt, .csv, .json, .jsonl");
    expect({"calibrate", "market.yaml", "-o", "out.json"}, 2, "missing key 'calibrate'");
    EXPECT_EQ(run({"price", "book.yaml", "-o", "out.dat", "--format", "csv"}).code, 0);
    EXPECT_TRUE(text_of(folder / "out.dat").starts_with("trade,")) << text_of(folder / "out.dat");
    EXPECT_EQ(run({"price", "book.yaml", "-o", "out.dat", "--format", "parquet"}).code, 0);
    EXPECT_TRUE(text_of(folder / "out.dat").starts_with("PAR1"));
    EXPECT_EQ(run({"price", "book.yaml", "-o", "out.parquet", "--totals", "totals.parquet"}).code, 0);
    EXPECT_TRUE(text_of(folder / "out.parquet").starts_with("PAR1"));
    EXPECT_TRUE(text_of(folder / "totals.parquet").ends_with("PAR1"));
    surroundings in;
    in.variables = {{"TILEWALK_FORMAT", "table"}};
    EXPECT_EQ(run({"price", "book.yaml", "-o", "out"}, in).code, 0) << "a format that somebody asked for";
    EXPECT_TRUE(text_of(folder / "out").starts_with("trade ")) << text_of(folder / "out");

    const finished bad = run({"price", "bad.yaml", "-o", "bad.csv"});
    EXPECT_EQ(bad.code, 3);
    EXPECT_TRUE(has(bad.err, "1 of 3 trades failed")) << bad.err;
    EXPECT_TRUE(has(text_of(folder / "bad.csv"), "bad,european,,failed")) << "failed rows are written too";
}

TEST_F(cli, metrics_stand_beside_results) {
    EXPECT_EQ(run({"price", "book.yaml", "-o", "out.csv", "--metrics", "m.prom"}).code, 0);
    const std::string metrics = text_of(folder / "m.prom");
    EXPECT_NE(metrics.find("tilewalk_info{command=\"price\",book=\"book.yaml\",version=\""),
              std::string::npos)
        << metrics;
    EXPECT_NE(metrics.find("phase=\"walking paths\"} "), std::string::npos) << metrics;
    EXPECT_EQ(run({"price", "bad.yaml", "-o", "out.csv", "--metrics", "m.prom"}).code, 3);
    EXPECT_NE(text_of(folder / "m.prom").find("status=\"failed\"} 1\n"), std::string::npos)
        << "trades may fail";
    const std::string before = text_of(folder / "m.prom");
    EXPECT_EQ(run({"price", "absent.yaml", "-o", "out.csv", "--metrics", "m.prom"}).code, 2);
    EXPECT_EQ(text_of(folder / "m.prom"), before) << "no results, no metrics";
    EXPECT_EQ(run({"greeks", "book.yaml", "-o", "out.csv", "--metrics", "g.prom"}).code, 0);
    EXPECT_NE(text_of(folder / "g.prom").find("tilewalk_sensitivities{command=\"greeks\""),
              std::string::npos);
    expect({"price", "book.yaml", "-o", "m.prom", "--format", "csv", "--metrics", "m.prom"}, 2,
           "the same file");
}

TEST_F(cli, replaced_file_keeps_its_permissions_and_links_stay_links) {
    put("old.csv", "old\n");
    fs::permissions(folder / "old.csv",
                    fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
    fs::create_symlink("old.csv", folder / "link.csv");
    EXPECT_EQ(run({"price", "book.yaml", "-o", "link.csv"}).code, 0);
    EXPECT_TRUE(fs::is_symlink(folder / "link.csv"));
    EXPECT_TRUE(text_of(folder / "old.csv").starts_with("trade,"));
    EXPECT_EQ(fs::status(folder / "old.csv").permissions(),
              fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
}

TEST_F(cli, output_that_cannot_be_written_is_refused_and_leaves_nothing) {
    put("old.csv", "old\n");
    fs::create_directory(folder / "sub");
    const auto before = files();
    expect({"price", "book.yaml", "-o", "nowhere/out.csv"}, 2,
           "nowhere/out.csv: can't write: the folder 'nowhere'");
    expect({"price", "book.yaml", "-o", "sub"}, 2, "sub: can't write: it is a folder");
    expect({"price", "book.yaml", "-o", "absent/", "--format", "csv"}, 2, "absent/: can't write");
    expect({"price", "book.yaml", "-o", "old.csv/x.csv"}, 2, "old.csv/x.csv: can't write");
    expect({"price", "book.yaml", "-o", "/dev/full"}, 75, "/dev/full: can't write: No space left on device");
    expect({"price", "book.yaml", "-o", std::string(300, 'x') + ".csv"}, 2,
           "can't write: File name too long");
    // A limit on file size stands for a disk that fills up.
    surroundings in;
    in.largest_file = 200;  // enough for a message, too little for results
    expect({"price", "book.yaml", "-o", "old.csv"}, 75, "old.csv: can't write: File too large", in);
    expect({"price", "book.yaml", "-o", "new.csv"}, 75, "new.csv: can't write: File too large", in);
    EXPECT_EQ(text_of(folder / "old.csv"), "old\n");
    if (::geteuid() != 0) {
        fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
        expect({"price", "book.yaml", "-o", "new.csv"}, 2, "Permission denied");
        fs::permissions(folder, fs::perms::owner_all);
    }
    EXPECT_EQ(files(), before);
    EXPECT_EQ(run({"price", "book.yaml", "-o", "/dev/null"}).code, 0);
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(cli, standard_output_that_fails_is_no_success) {
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    for (const arguments& with : std::vector<arguments>{
             {"price", "book.yaml"}, {"products"}, {"--help"}, {"--version"}, {"validate", "book.yaml"}}) {
        surroundings in;
        in.out = full;
        expect(with, 75, "standard output: can't write: No space left on device", in);
        in.out = -1;
        in.close_stdout = true;
        expect(with, 2, "standard output: can't write: ", in);
    }
    ::close(full);
}

class cli_interrupted : public cli, public testing::WithParamInterface<int> {};

TEST_P(cli_interrupted, run_ends_with_its_code_and_leaves_nothing) {
    put("long.yaml", "market: market.yaml\ntrades:\n" + daily_text);
    put("old.csv", "old\n");
    const auto before = files();
    for (const std::string output : {"old.csv", "new.csv", "-"}) {
        running started({"price", "long.yaml", "--paths", "200M", "--threads", "2", "--output", output},
                        folder, {});
        started.wait_until_at_work();
        started.send(GetParam());
        const finished got = started.wait();
        EXPECT_EQ(got.code, 128 + GetParam()) << got.err;
        EXPECT_EQ(got.out, "");
        EXPECT_EQ(got.err, "tilewalk: interrupted; nothing was written\n");
    }
    EXPECT_EQ(text_of(folder / "old.csv"), "old\n");
    EXPECT_EQ(files(), before);
}

INSTANTIATE_TEST_SUITE_P(signals, cli_interrupted, testing::Values(SIGINT, SIGTERM));

// Shells start background jobs with SIGINT ignored, so Ctrl-C must not stop them.
TEST_F(cli, a_job_in_the_background_goes_on_when_its_terminal_interrupts) {
    const arguments with{
        "-c",
        "\"$0\" \"$@\" & for i in 1 2 3 4 5 6 7 8; do sleep 0.05; kill -INT $! 2>&-; done; wait $!",
        TILEWALK_CLI,
        "price",
        "book.yaml",
        "--paths",
        "1M"};
    surroundings in_shell;
    in_shell.program = "/bin/sh";
    const finished got = run(with, in_shell);
    EXPECT_EQ(got.code, 0) << shown(with, got);
    EXPECT_EQ(got.err, "") << shown(with, got);
    EXPECT_TRUE(has(got.out, "\nasian,asian,USD,priced,")) << shown(with, got);
}

TEST_F(cli, progress_shows_on_a_terminal_and_wipes_itself_off) {
    put("long.yaml", "market: market.yaml\ntrades:\n" + daily_text);
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_GE(terminal, 0);
    ASSERT_EQ(::grantpt(terminal), 0);
    ASSERT_EQ(::unlockpt(terminal), 0);
    surroundings in;
    in.err = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    in.variables = {{"TERM", "xterm"}};
    running started({"price", "long.yaml", "--paths", "200M"}, folder, in);
    std::string seen;
    char block[4096];
    while (!has(seen, "path-steps/s")) {
        const ssize_t n = ::read(terminal, block, sizeof block);
        ASSERT_GT(n, 0) << seen;
        seen.append(block, static_cast<std::size_t>(n));
    }
    started.send(SIGINT);
    EXPECT_EQ(started.wait().code, 130);
    ::close(in.err);
    for (ssize_t n = 0; (n = ::read(terminal, block, sizeof block)) > 0;)
        seen.append(block, static_cast<std::size_t>(n));
    ::close(terminal);
    EXPECT_TRUE(has(seen, "0/1 trades")) << seen;
    const auto wiped = seen.rfind("\r\033[K");
    ASSERT_NE(wiped, std::string::npos) << seen;
    EXPECT_TRUE(seen.substr(wiped).starts_with("\r\033[Ktilewalk: interrupted")) << seen;
}

TEST_F(cli, validate_lists_every_problem_by_place) {
    const finished good = run({"validate", "book.yaml"});
    EXPECT_EQ(good.code, 0) << good.err;
    EXPECT_EQ(good.out, "2 trades, all valid\n");
    put("worse.yaml",
        "market: market.yaml\ntrades:\n" + bad_text + call_text +
            "  - {id: worse, product: europaen, underlying: ACME, strike: 100, maturity: 1.0}\n");
    const finished bad = run({"validate", "worse.yaml"});
    EXPECT_EQ(bad.code, 3) << bad.err;
    EXPECT_EQ(bad.err, "");
    EXPECT_TRUE(bad.out.starts_with("worse.yaml:3:")) << bad.out;
    EXPECT_TRUE(has(bad.out, "\nworse.yaml:5:")) << bad.out;
    EXPECT_TRUE(has(bad.out, ": trade bad: ") && has(bad.out, ": trade worse: ")) << bad.out;
    EXPECT_TRUE(has(bad.out, "\n3 trades, 2 bad\n")) << bad.out;
}

TEST_F(cli, price_and_validate_tell_of_a_surface_that_was_bent) {
    put("bent.yaml",
        "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n  assets:\n    ACME:\n"
        "      currency: USD\n      spot: 100\n      model:\n        local_volatility:\n"
        "          surface: {by_strike: {1.0: {90: 0.2, 100: 0.9, 110: 0.2}}, arbitrage: repair}\n"
        "trades:\n  - {id: call, product: european, underlying: ACME, strike: 100, maturity: 1.0}\n");
    for (const char* does : {"validate", "price"}) {
        const finished got = run({does, "bent.yaml", "--paths", "64"});
        EXPECT_EQ(got.code, 0) << got.err;
        EXPECT_TRUE(got.err.starts_with("tilewalk: warning: ACME: arbitrage at bent.yaml:10:")) << got.err;
        EXPECT_FALSE(has(got.out, "arbitrage")) << got.out;
    }
}

// explain prints a page for each trade of the demo book, instead of 1,120 lines of its whole program.
TEST_F(cli, explain_keeps_a_page_for_a_usual_trade) {
    const finished demo = run({"explain", TILEWALK_SOURCE_DIR "/configs/books/demo.yaml"});
    ASSERT_EQ(demo.code, 0) << demo.err;
    EXPECT_EQ(demo.err, "") << "the demo's market states all its correlations";
    std::istringstream lines(demo.out);
    std::map<std::string, int> count;
    std::string trade;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("trade ")) trade = line;
        ++count[trade];
    }
    EXPECT_EQ(count.size(), 12U);
    for (const auto& [of, lines_of] : count) EXPECT_LE(lines_of, 60) << of;
    EXPECT_FALSE(has(demo.out, "section")) << "no listing";
    const finished one = run({"explain", "book.yaml", "call"});
    for (const std::string part :
         {"\nterms\n  underlying  ACME\n  option      call  (default)\n  strike      100\n  maturity    1y\n",
          "\nmarket as of 2026-01-15\n  ACME  spot 100 USD; volatility 0.2\n",
          "  discount USD  forward ACME  volatility\n   1.000000      0.970446        102.02         0.2\n",
          "\nmodel     ACME: black_scholes, exact between dates\n", "(--program lists it)"})
        EXPECT_TRUE(has(one.out, part)) << part << "\n" << one.out;
    const finished listed = run({"explain", "book.yaml", "call", "--program"});
    EXPECT_GT(listed.out.size(), one.out.size() + 300) << listed.out;
}

TEST_F(cli, explain_writes_json_for_programs) {
    const finished json = run({"explain", "book.yaml", "--format", "json"});
    EXPECT_EQ(json.code, 0) << json.err;
    const auto read = nlohmann::json::parse(json.out);
    EXPECT_EQ(read.at("trades").size(), 2U);
    EXPECT_EQ(read.at("trades").at(0).at("terms").at(2).at("value").get<double>(), 100);
    EXPECT_EQ(run({"explain", "book.yaml", "-o", "made.json"}).code, 0);
    EXPECT_EQ(nlohmann::json::parse(text_of(folder / "made.json")), read) << "by the ending";
    EXPECT_EQ(run({"explain", "book.yaml", "-o", "made.txt"}).code, 0);
    EXPECT_TRUE(text_of(folder / "made.txt").starts_with("trade call\n"));
    expect({"explain", "book.yaml", "--format", "jsno"}, 2, "did you mean 'json'? expected text or json");
    expect({"explain", "book.yaml", "--format", "csv"}, 2, "expected text or json");
}

TEST_F(cli, missing_correlations_are_told_once_and_refused_strictly) {
    put("two.yaml",
        "market: market.yaml\nsettings: {paths: 1024}\ntrades:\n" + call_text +
            "  - {id: worst, product: worst_of, basket: [ACME, BETA], strike: 1, maturity: 1.0}\n"
            "  - {id: again, product: worst_of, basket: [BETA, ACME], strike: 1, maturity: 1.0}\n...\n");
    put("stated.yaml", market_text + "correlations: [[ACME, BETA, 0]]\n...\n");
    put("market.yaml", market_text + "...\n");
    const std::string said =
        "tilewalk: warning: the market states no correlation of ACME and BETA: taken as 0; add "
        "[ACME, BETA, 0] under correlations if that is meant\n";
    for (const std::string does : {"price", "validate", "explain"}) {
        const finished got = run({does, "two.yaml"});
        EXPECT_EQ(got.code, 0) << got.err;
        EXPECT_EQ(got.err, said) << does;
        EXPECT_EQ(run({does, "two.yaml", "--market", "stated.yaml"}).err, "") << does;
        EXPECT_EQ(run({does, "two.yaml", "--market", "stated.yaml", "--strict"}).code, 0) << does;
    }
    EXPECT_TRUE(has(run({"explain", "two.yaml", "worst"}).out, "not stated, so taken as 0  ACME and BETA\n"));
    // With --strict the book's market must have its end marker.
    put("market.yaml", market_text + "...\n");
    const finished strict = run({"price", "two.yaml", "--strict"});
    EXPECT_EQ(strict.code, 3) << strict.err;
    EXPECT_TRUE(has(strict.err, "2 of 3 trades failed") && has(strict.err, "no correlation of ACME and BETA"))
        << strict.err;
    EXPECT_TRUE(has(strict.out, "\ncall,european,USD,priced,")) << strict.out;
    EXPECT_EQ(run({"validate", "two.yaml", "--strict"}).code, 3);
}

TEST_F(cli, explain_shows_dates_grid_shocks_program_and_memory) {
    const finished one = run({"explain", "book.yaml", "asian"});
    EXPECT_EQ(one.code, 0) << one.err;
    for (const std::string part :
         {"trade asian\n", "dates\n", "grid      12 steps", "steps     exact, without error",
          "shocks    1 normal", "program   ", "memory    "})
        EXPECT_TRUE(has(one.out, part)) << part << "\n" << one.out;
    EXPECT_FALSE(has(one.out, "trade call\n")) << one.out;
    const finished all = run({"explain", "book.yaml"});
    EXPECT_TRUE(has(all.out, "trade call\n") && has(all.out, "trade asian\n")) << all.out;
    const finished bad = run({"explain", "bad.yaml"});
    EXPECT_EQ(bad.code, 3);
    EXPECT_TRUE(has(bad.out, "can't be planned: bad.yaml:5:") && has(bad.out, "trade asian\n")) << bad.out;
    put("long.yaml", "market: market.yaml\ntrades:\n" + daily_text);
    EXPECT_TRUE(has(run({"explain", "long.yaml"}).out, "240 more dates"))
        << "a long schedule is told by its ends";
    EXPECT_FALSE(has(run({"explain", "long.yaml", "--all-dates"}).out, "more dates"));
    put("named.yaml",
        "market: market.yaml\ntrades:\n  - {id: price, product: european, underlying: ACME, strike: 1, "
        "maturity: 1}\n");
    EXPECT_EQ(run({"explain", "named.yaml", "price"}).code, 0) << "a trade may be called like a command";
}

TEST_F(cli, products_are_listed_and_shown) {
    const finished list = run({"products"});
    EXPECT_EQ(list.code, 0) << list.err;
    for (const std::string name :
         {"european", "digital", "asian", "barrier", "autocallable", "variance_swap"}) {
        EXPECT_TRUE(has(list.out, "\n" + name + " ")) << list.out;
        const finished page = run({"products", name});
        EXPECT_EQ(page.code, 0) << page.err;
        for (const std::string part : {"\nparameter", "\nscript\n", "\nexample trade\n", "\nworth\n"})
            EXPECT_TRUE(has(page.out, part)) << part << "\n" << page.out;
    }
    EXPECT_TRUE(run({"products", "--format", "csv"}).out.starts_with("product,group,summary\n"));
    EXPECT_GE(nlohmann::json::parse(run({"products", "--format", "json"}).out).size(), 6U);
    EXPECT_EQ(nlohmann::json::parse(run({"products", "asian", "--format", "json"}).out)["product"], "asian");
}

TEST_F(cli, devices_are_listed) {
    const finished list = run({"devices"});
    EXPECT_EQ(list.code, 0) << list.err;
    EXPECT_EQ(list.err, "");
    EXPECT_TRUE(has(list.out, "\ncpu ") && has(list.out, "\ndevice: auto ")) << list.out;
    EXPECT_TRUE(run({"devices", "--format", "csv"}).out.starts_with("device,name,usable,"));
    EXPECT_TRUE(nlohmann::json::parse(run({"devices", "--format", "json"}).out)["gpus"].is_array());
    expect({"devices", "--format", "xml"}, 2, "--format: found 'xml'");
}

// A volatility of 0.225 instead of 0.22 moves the price by less than its errors; on equal paths diff sees it.
TEST_F(cli, diff_finds_a_small_change_of_the_market) {
    const auto write_market = [this](const std::string& volatility) {
        std::ofstream(folder / "changed.yaml") << "as_of: 2026-01-15\ncurrencies: {USD: {rate: "
                                                  "0.03}}\nassets:\n  ACME: {currency: USD, spot: 100, "
                                                  "volatility: "
                                               << volatility << "}\n";
    };
    std::ofstream(folder / "change.yaml")
        << "market: changed.yaml\nsettings: {paths: 2000}\ntrades:\n  - {id: call, product: european, "
           "underlying: ACME, strike: 100, maturity: 1.0}\n";
    write_market("0.22");
    run({"price", "change.yaml", "-o", "old.json"});
    write_market("0.225");
    run({"price", "change.yaml", "-o", "new.json"});
    const finished changed = run({"diff", "old.json", "new.json"});
    EXPECT_EQ(changed.code, 3) << changed.out;
    EXPECT_TRUE(has(changed.out, "  differs  ") && has(changed.out, "\nrule: the same random numbers"))
        << changed.out;
    EXPECT_EQ(run({"diff", "new.json", "old.json"}).code, 3) << "a fall as well as a rise";
    EXPECT_EQ(run({"diff", "old.json", "new.json", "--limit", "1000"}).code, 3);
    EXPECT_EQ(run({"diff", "old.json", "new.json", "--tolerance", "1bp"}).code, 3);
    EXPECT_EQ(run({"diff", "old.json", "new.json", "--tolerance", "1000bp"}).code, 0);
    EXPECT_EQ(run({"diff", "old.json", "new.json", "--tolerance", "0.5"}).code, 0);
}

TEST_F(cli, tables_are_as_wide_as_columns_say) {
    for (const auto& [said, widest] :
         {std::pair{"60", 60}, {"20", 60}, {"100", 100}, {"9999", 200}, {"x", 200}}) {
        surroundings in;
        in.variables["COLUMNS"] = said;
        const finished table = run({"price", "book.yaml", "--format", "table"}, in);
        EXPECT_EQ(table.code, 0) << table.err;
        std::istringstream lines(table.out);
        for (std::string line; std::getline(lines, line);)
            EXPECT_LE(line.size(), static_cast<std::size_t>(widest)) << said << "\n" << table.out;
        EXPECT_EQ(has(table.out, "left out in 60 columns"), widest == 60) << table.out;
    }
}

TEST_F(cli, tables_are_as_wide_as_the_terminal) {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_GE(terminal, 0);
    ASSERT_EQ(::grantpt(terminal) | ::unlockpt(terminal), 0);
    surroundings in;
    in.out = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_GE(in.out, 0);
    winsize size{};
    size.ws_col = 64;
    ASSERT_EQ(::ioctl(in.out, TIOCSWINSZ, &size), 0);
    EXPECT_EQ(run({"price", "book.yaml"}, in).code, 0);
    ::close(in.out);
    std::string table;
    char block[4096];
    for (ssize_t n = 0; (n = ::read(terminal, block, sizeof block)) > 0;)
        table.append(block, static_cast<std::size_t>(n));
    ::close(terminal);
    EXPECT_TRUE(has(table, "left out in 64 columns: ")) << table;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), 65U) << table << "with the return at the end of a line";
}

TEST_F(cli, programs_of_their_own_are_found_or_missed_by_name) {
    EXPECT_TRUE(has(run({"help", "bench"}).out, "tilewalk bench [OPTION"));
    EXPECT_TRUE(has(run({"verify", "--help"}).out, "tilewalk verify [OPTION"));
    surroundings alone;
    alone.program = (folder / "tilewalk").string();
    fs::copy_file(TILEWALK_CLI, alone.program);
    expect({"price", "book.yaml"}, 0, "", alone);
    for (const std::string name : {"bench", "verify"}) {
        expect({name}, 2, "tilewalk-" + name + ", which is missing; 'make commands' builds it", alone);
        expect({"help", name}, 2, "'make commands' builds it", alone);
    }
    EXPECT_TRUE(has(run({"--help"}, alone).out, "  bench "));
}

TEST_F(cli, totals_have_a_file_of_their_own) {
    EXPECT_EQ(run({"price", "book.yaml", "--totals", "totals.csv", "--format", "csv"}).code, 0);
    EXPECT_TRUE(
        text_of(folder / "totals.csv")
            .starts_with(
                "currency,trades,without_error,by_policy,value,value_error,low,high,value_error_at_most,"
                "error_steps\n"));
    EXPECT_EQ(run({"price", "book.yaml", "--totals", "totals.json", "-o", "all.json"}).code, 0);
    const auto all = nlohmann::json::parse(text_of(folder / "all.json"));
    EXPECT_EQ(nlohmann::json::parse(text_of(folder / "totals.json"))["totals"], all["totals"]);
    expect({"price", "book.yaml", "--totals", "absent/t.csv"}, 2, "absent");
    expect({"price", "book.yaml", "--totals", "x.csv", "-o", "x.csv"}, 2, "--totals");
}

TEST_F(cli, policies_are_kept_and_followed) {
    std::ofstream(folder / "early.yaml")
        << "market: market.yaml\nsettings: {paths: 4096}\ntrades:\n"
           "  - {id: put, product: american, underlying: ACME, option: put, strike: 100, maturity: 1, "
           "exercise_step: 0.25}\n";
    const finished kept = run({"price", "early.yaml", "--format", "csv", "--save-policy", "p.json"});
    EXPECT_EQ(kept.code, 0) << kept.err;
    const finished again = run({"price", "early.yaml", "--format", "csv", "--policy", "p.json"});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.out, kept.out);
    const std::string explained = run({"explain", "early.yaml", "--policy", "p.json"}).out;
    EXPECT_TRUE(has(explained, "\nranks     of 9 functions ") && has(explained, " on 4096 paths: 0.25y "))
        << explained;
    EXPECT_EQ(run({"greeks", "early.yaml", "--policy", "p.json", "--greeks", "delta"}).code, 0);
    const finished few = run({"price", "early.yaml", "--format", "csv", "--training-paths", "100"});
    EXPECT_TRUE(has(few.out, ",100,")) << few.out;
    EXPECT_NE(few.out, kept.out);
    expect({"price", "early.yaml", "--policy", "none.json"}, 2, "none.json");
    expect({"price", "early.yaml", "--policy", "early.yaml"}, 2, "this is not JSON");
    expect({"price", "early.yaml", "--policy", "p.json", "--save-policy", "p.json"}, 2, "--save-policy");
    expect({"price", "early.yaml", "--save-policy", "absent/p.json"}, 2, "absent");
    expect({"validate", "early.yaml", "--policy", "none.json"}, 2, "none.json");
    std::string text = text_of(folder / "p.json");
    text.replace(text.find("\"product\": \"american\""), 21, "\"product\": \"european\"");
    std::ofstream(folder / "other.json") << text;
    const finished wrong = run({"price", "early.yaml", "--format", "csv", "--policy", "other.json"});
    EXPECT_EQ(wrong.code, 3);
    EXPECT_TRUE(has(wrong.out, "it was trained for the product 'european', expected 'american'"))
        << wrong.out;
}

TEST_F(cli, a_bound_is_nested_on_demand) {
    const std::string trade =
        "trades:\n  - {id: put, product: american, underlying: ACME, option: put, strike: 100, maturity: 1, "
        "exercise_step: 0.25}\n";
    std::ofstream(folder / "early.yaml") << "market: market.yaml\nsettings: {paths: 4096}\n" << trade;
    std::ofstream(folder / "nested.yaml") << "market: market.yaml\nsettings: {paths: 4096, upper: nested}\n"
                                          << trade;
    std::ofstream(folder / "misspelt.yaml") << "market: market.yaml\nsettings: {upper: nestd}\n" << trade;
    const auto told = [&](const std::vector<std::string>& words) {
        const finished got = run(words);
        EXPECT_EQ(got.code, 0) << got.err;
        return nlohmann::json::parse(got.out);
    };
    const auto fitted = told({"price", "early.yaml", "--format", "json"});
    const auto by_option = told({"price", "early.yaml", "--upper", "nested", "--format", "json"});
    const auto by_book = told({"price", "nested.yaml", "--format", "json"});
    const auto early = [](const nlohmann::json& of) { return of["rows"][0]["early"]; };
    EXPECT_EQ(early(by_option), early(by_book));
    EXPECT_EQ(early(by_option)["lower_bound"], early(fitted)["lower_bound"]);
    EXPECT_NE(early(by_option)["upper_bound"], early(fitted)["upper_bound"]);
    EXPECT_EQ(by_option["manifest"]["settings"]["upper"], "nested") << "which bound it is";
    EXPECT_EQ(by_book["manifest"]["settings"]["upper"], "nested");
    expect({"price", "early.yaml", "--upper", "nestd"}, 2, "did you mean 'nested'?");
    expect({"price", "misspelt.yaml"}, 2, "misspelt.yaml:2:19");
    expect({"price", "early.yaml", "--upper", "nested", "--replay", "x.npy"}, 2,
           "upper: nested does not go with a replay: nested paths");
    EXPECT_TRUE(has(run({"price", "--help"}).out, "--upper NAME"));
}

TEST_F(cli, ids_go_out_as_they_came_in) {
    std::ofstream(folder / "formulas.yaml")
        << "market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}}\nsettings: {paths: 64}\ntrades:\n"
           "  - {id: '=1+1', product: zero_coupon_bond, currency: USD, maturity: 1.0}\n"
           "  - {id: \"'=1+1\", product: zero_coupon_bond, currency: USD, maturity: 1.0}\n";
    const finished plain = run({"price", "formulas.yaml", "--format", "csv"});
    EXPECT_TRUE(has(plain.out, "\n=1+1,") && has(plain.out, "\n'=1+1,")) << plain.out << plain.err;
    const finished safe = run({"price", "formulas.yaml", "--format", "csv", "--spreadsheet-safe"});
    EXPECT_TRUE(has(safe.out, "\n'=1+1,") && has(safe.out, "\n''=1+1,")) << safe.out << safe.err;
}

TEST_F(cli, timings_are_told_beside_the_same_prices) {
    for (const arguments& plain :
         {arguments{"price", "book.yaml"}, {"greeks", "book.yaml", "--greeks", "delta"}}) {
        arguments with = plain;
        with.insert(with.end(), {"--timings", "--quiet"});
        const finished timed = run(with), untimed = run(plain);
        EXPECT_EQ(timed.code, 0);
        EXPECT_EQ(timed.out, untimed.out);
        EXPECT_FALSE(has(untimed.err, "planning"));
        std::istringstream lines(timed.err);
        std::vector<std::string> names;
        double left = 0;
        for (std::string line; std::getline(lines, line);) {
            constexpr std::size_t column = 20;
            if (line.size() < column || line.starts_with("beside")) continue;
            const std::string name = line.substr(0, line.find("  "));
            const double milliseconds = std::strtod(line.c_str() + column, nullptr);
            // Times are printed in tenths of milliseconds, and these stages take several milliseconds.
            const bool is_at_work =
                name == "reading the book" || name == "planning" || name == "walking paths";
            EXPECT_TRUE(!is_at_work || milliseconds > 0) << line;
            left += name == "all" ? -milliseconds : milliseconds;
            names.push_back(name);
        }
        EXPECT_NEAR(left, 0, 1e-6) << timed.err;
        EXPECT_EQ(std::ranges::count(names, "opening GPUs"), 1) << timed.err;
        EXPECT_EQ(std::ranges::count(names, "ending"), 1) << timed.err;
        EXPECT_EQ(names.back(), "all") << timed.err;
    }
}

TEST_F(cli, diff_judges_in_standard_errors) {
    run({"price", "book.yaml", "-o", "a.json"});
    run({"price", "book.yaml", "-o", "b.json", "--threads", "1"});
    run({"price", "book.yaml", "-o", "c.json", "--seed", "99"});
    run({"price", "empty.yaml", "-o", "d.json"});
    run({"price", "book.yaml", "-o", "e.csv"});
    const finished same = run({"diff", "a.json", "b.json"});
    EXPECT_EQ(same.code, 0) << same.out << same.err;
    EXPECT_EQ(run({"diff", "a.json", "b.json", "--tolerance", "0"}).code, 0);
    const finished unused = run({"diff", "a.json", "b.json", "--limit", "0"});
    EXPECT_EQ(unused.code, 0) << unused.out << unused.err;
    EXPECT_TRUE(has(unused.out, "--limit is for independent random numbers; it was not used")) << unused.out;
    EXPECT_TRUE(has(same.out, "2 to the same bits") && has(same.out, "rule: the same random numbers"))
        << same.out;
    const finished other = run({"diff", "a.json", "c.json"});
    EXPECT_EQ(other.code, 0) << other.out << other.err;
    EXPECT_TRUE(has(other.out, "treated as independent")) << other.out;
    EXPECT_EQ(run({"diff", "a.json", "c.json", "--limit", "0.0001"}).code, 3);
    EXPECT_EQ(run({"diff", "a.json", "c.json", "--tolerance", "0.000001"}).code, 3);
    EXPECT_EQ(run({"diff", "a.json", "c.json", "--tolerance", "1000bp"}).code, 0);
    const finished missing = run({"diff", "a.json", "d.json"});
    EXPECT_EQ(missing.code, 3) << missing.out;
    EXPECT_TRUE(has(missing.out, "ONLY IN FIRST")) << missing.out;
    expect({"diff", "a.json", "e.csv"}, 2, "e.csv:1:");
    expect({"diff", "a.json", "absent.json"}, 2, "absent.json: can't read: No such file or directory");
    expect({"diff", ".", "a.json"}, 2, "found a folder, expected a file");
}

TEST_F(cli, verify_says_whether_prices_are_right) {
    // On the CPU, because a GPU would compile a kernel for each of the trades.
    const arguments small{"verify", "--trades", "240", "--paths", "1500", "--device", "cpu"};
    const auto with = [&small](const arguments& more) {
        arguments all = small;
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    const auto figures = [](std::string out) {
        out.erase(out.rfind('\n', out.size() - 2));
        return out;
    };
    const finished one = run(with({"--threads", "1"})), three = run(with({"--threads", "3"}));
    EXPECT_EQ(one.code, 0) << shown(small, one);
    EXPECT_TRUE(one.err.starts_with(
        "tilewalk verify: pricing 240 random trades with a known price, 1500 paths each\n"))
        << one.err;
    EXPECT_EQ(run(with({"--quiet"})).err, "");
    EXPECT_EQ(figures(one.out), figures(three.out));
    EXPECT_NE(figures(one.out), figures(run(with({"--seed", "2"})).out));
    for (const std::string part :
         {"240 random trades", "\nlargest |z| ", "\nmean z ", "\nleaning z ", "\nmean z squared ",
          "\nKolmogorov-Smirnov ", "\nautocallable ", "\nevery bound holds", "the worst trade"})
        EXPECT_TRUE(has(one.out, part)) << part << "\n" << one.out;

    const finished digital = run(with({"--product", "digital", "european", "-o", "made.csv"}));
    EXPECT_EQ(digital.code, 0) << digital.err;
    const std::string csv = text_of(folder / "made.csv");
    EXPECT_TRUE(
        csv.starts_with("mistake,product,known_by,trades,statistic,value,low,high,false_alarm,verdict\n"));
    EXPECT_TRUE(has(csv, "\n,digital,") && has(csv, "\n,european,") && !has(csv, "barrier")) << csv;

    // With so few trades, a small planted mistake is not noticed, and a large one is.
    const arguments fewer{"verify",    "--trades", "100",     "--paths", "1000",
                          "--product", "european", "digital", "--plant", "drift"};
    const finished small_one = run(fewer);
    EXPECT_EQ(small_one.code, 5) << shown(fewer, small_one);
    EXPECT_TRUE(has(small_one.out, "NOT CAUGHT\n") && has(small_one.out, "\n0 of 1 mistake caught\n"))
        << small_one.out;
    const finished large_one = run(with({"--plant", "floor", "--format", "json"}));
    EXPECT_EQ(large_one.code, 0) << shown(small, large_one);
    const auto json = nlohmann::json::parse(large_one.out);
    EXPECT_TRUE(json["holds"] && json["engine"]["holds"] && !json["mistakes"][0]["engine"]["holds"]);
    EXPECT_EQ(json["mistakes"][0]["name"], "floor");
    EXPECT_EQ(json["walked_on"]["CPU"], 240);

    surroundings in;
    in.variables = {{"TILEWALK_PATHS", "2k"}, {"TILEWALK_SEED", "9"}, {"TILEWALK_DEVICE", "cpu"}};
    EXPECT_TRUE(
        run({"verify", "--trades", "16", "--product", "digital"}, in)
            .out.starts_with(
                "16 random trades with a known price, 2000 paths each, seed 9, double precision, CPU\n"));
    EXPECT_TRUE(has(run(with({"--precision", "mixed"})).out, "mixed precision"));

    EXPECT_FALSE(has(run({"verify", "--trades", "1"}).err, "pricing")) << "what is refused does not begin";
    expect({"verify", "--plant", "drfit"}, 2, "did you mean 'drift'?");
    expect({"verify", "--product", "digitl"}, 2, "did you mean 'digital'?");
    expect({"verify", "--trades", "0"}, 2, "--trades: found '0', expected a whole number from 1 to");
    expect({"verify", "--paths", "1.5"}, 2, "--paths: found '1.5', expected a whole number");
    expect({"verify", "--precision", "tripel"}, 2, "--precision: found 'tripel', expected double");
    expect({"verify", "--plant", "drift", "--device", "cuda"}, 2, "mistakes are made on the CPU alone");
    expect({"verify", "book.yaml"}, 2, "unexpected argument 'book.yaml'");
    expect({"verify", "--format", "xml"}, 2, "--format: found 'xml'");
    expect({"verify", "--output", "absent/made.csv"}, 2, "absent");
}

void wait_for(const running& started, const std::string& said) {
    while (!has(started.said_on_stderr(), said)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// Trades of a million paths are so slow that most of the 400 are not priced when the signal arrives.
TEST_P(cli_interrupted, verify_writes_what_was_priced) {
    for (const std::string format : {"json", "csv", "txt"}) {
        const std::string file = "made." + format;
        running started({"verify", "--trades", "400", "--product", "european", "--paths", "1M", "--threads",
                         "1", "-o", file},
                        folder, {});
        wait_for(started, " of 400 trades after ");
        started.send(GetParam());
        const finished got = started.wait();
        EXPECT_EQ(got.code, 128 + GetParam()) << got.err;
        EXPECT_TRUE(
            has(got.err, "tilewalk: interrupted; the results so far are written and marked as incomplete\n"))
            << got.err;
        const std::string text = text_of(folder / file);
        if (format == "json") {
            const auto made = nlohmann::json::parse(text);
            EXPECT_EQ(made["complete"], false);
            EXPECT_EQ(made["trades_wanted"], 400);
            EXPECT_GE(made["trades"], 1);
            EXPECT_LT(made["trades"], 400);
            EXPECT_EQ(made["engine"]["failed"], 0) << "a trade that was at work is left out, not failed";
        }
        if (format == "csv") {
            EXPECT_TRUE(text.ends_with(",400,,,,interrupted\n")) << text;
        }
        if (format == "txt") {
            EXPECT_TRUE(text.starts_with("INTERRUPTED after ")) << text;
        }
    }
}

TEST_F(cli, verify_tells_that_it_is_complete) {
    const auto made = nlohmann::json::parse(
        run({"verify", "--trades", "100", "--paths", "1000", "--product", "digital", "--format", "json"})
            .out);
    EXPECT_EQ(made["complete"], true);
    EXPECT_EQ(made["trades"], made["trades_wanted"]);
}

TEST_F(cli, greeks_prints_sensitivities_and_says_what_failed) {
    const finished csv = run({"greeks", "book.yaml", "--format", "csv"});
    EXPECT_EQ(csv.code, 0) << csv.err;
    EXPECT_TRUE(csv.out.starts_with("trade,measure,key,unit,value,standard_error,method,paths,bias\n"))
        << csv.out;
    EXPECT_NE(csv.out.find(",delta,ACME.spot,USD per 1 USD of ACME,"), std::string::npos) << csv.out;
    const finished deltas = run({"greeks", "book.yaml", "--greeks", "delta", "--format", "json"});
    EXPECT_EQ(deltas.code, 0) << deltas.err;
    const auto told = nlohmann::json::parse(deltas.out);
    for (const auto& greek : told.at("greeks")) EXPECT_EQ(greek.at("measure"), "delta");
    EXPECT_NE(run({"greeks", "book.yaml", "--format", "table"}).out.find("pathwise"), std::string::npos);
    expect({"greeks", "book.yaml", "--greeks", "dleta"}, 2, "did you mean 'delta'?");
    expect({"greeks", "book.yaml", "--greeks-method", "bmup"}, 2, "did you mean 'bump'?");
    const finished bad = run({"greeks", "bad.yaml"});
    EXPECT_EQ(bad.code, 3);
    EXPECT_NE(bad.out.find(",delta,ACME.spot,"), std::string::npos) << bad.out;
    EXPECT_NE(bad.err.find("1 of 3 trades failed"), std::string::npos) << bad.err;
    const finished empty = run({"greeks", "empty.yaml"});
    EXPECT_EQ(empty.code, 0) << empty.err;
    EXPECT_EQ(empty.out, "trade,measure,key,unit,value,standard_error,method,paths,bias\n");
}

TEST_F(cli, calibrate_prints_the_fit_and_writes_the_market) {
    const std::string head =
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets: {ACME: {currency: USD, spot: 100}}\n";
    const std::string quotes =
        "by_strike: {0.5: {90: 0.24, 100: 0.22, 110: 0.21}, 1.5: {80: 0.25, 100: 0.22, "
        "120: 0.205}}";
    put("quotes.yaml", head + "calibrate: {ACME: {heston: {" + quotes + "}}}\n");
    const finished got = run({"calibrate", "quotes.yaml", "--output", "fitted.yaml"});
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(got.err, "");
    EXPECT_TRUE(has(got.out, "ACME: heston, 6 quotes by volatility\n")) << got.out;
    EXPECT_TRUE(has(got.out, "1.5 120")) << got.out;
    EXPECT_TRUE(has(got.out, "converged after")) << got.out;
    put("fitted_book.yaml", "settings: {paths: 4096}\ntrades:\n" + call_text);
    EXPECT_EQ(run({"price", "fitted_book.yaml", "--market", "fitted.yaml"}).code, 0);

    const finished csv = run({"calibrate", "quotes.yaml", "--format", "csv"});
    EXPECT_TRUE(csv.out.starts_with("of,model,part,row,name,weight,market,fitted,difference,state\n"));
    EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 1 + 5 + 6 + 1) << csv.out;
    const auto document = nlohmann::json::parse(run({"calibrate", "quotes.yaml", "--format", "json"}).out);
    EXPECT_EQ(document["fits"][0]["quotes"].size(), 6U);
    EXPECT_EQ(document["fits"][0]["sound"], true);

    put("bound.yaml", head + "calibrate: {ACME: {heston: {bounds: {rho: [0.5, 0.9]}, " + quotes + "}}}\n");
    const arguments bound{"calibrate", "bound.yaml", "-o", "bound_market.yaml"};
    const finished stopped = run(bound);
    EXPECT_EQ(stopped.code, 3) << shown(bound, stopped);
    EXPECT_EQ(stopped.err, "tilewalk: heston of ACME: the fit stopped at a bound\n");
    EXPECT_TRUE(has(stopped.out, "STOPPED AT A BOUND (") && has(stopped.out, "rho) after")) << stopped.out;
    EXPECT_TRUE(files().contains("bound_market.yaml"));

    put("misspelt.yaml", head + "calibrate: {ACME: {hestno: {" + quotes + "}}}\n");
    expect({"calibrate", "misspelt.yaml", "-o", "never.yaml"}, 2,
           "misspelt.yaml:4:20: calibrate.ACME.hestno: unknown key 'hestno'; did you mean 'heston'? known "
           "keys: "
           "heston, bates, svi, hull_white, g2");
    EXPECT_FALSE(files().contains("never.yaml"));
    expect({"calibrate", "market.yaml"}, 2, "missing key 'calibrate'");
    expect({"calibrate", "quotes.yaml", "-o", "-"}, 2, "--output: found '-'");
    expect({"calibrate", "quotes.yaml", "-o", "absent/made.yaml"}, 2, "absent");
    expect({"calibrate", "quotes.yaml", "--format", "xml"}, 2, "--format: found 'xml'");
    expect({"calibrate"}, 2, "QUOTES");
}

TEST_F(cli, output_over_an_input_is_refused_and_harms_nothing) {
    put("product.yaml",
        "product: mine\nsummary: A forward.\nparameters:\n  underlying: {type: asset, help: The asset.}\n"
        "  maturity: {type: date, help: The day.}\nexample: {underlying: ACME, maturity: 1.0}\nscript: |\n"
        "  on maturity:\n      pay spot(underlying)\n");
    put("days.yaml", "holidays: [2026-12-25]\n");
    put("shocks.npy", "shocks");
    put("all.yaml",
        "market: market.yaml\nproducts: [product.yaml]\ncalendars: {days: days.yaml}\nsettings: {paths: "
        "256}\n"
        "trades:\n" +
            call_text);
    ASSERT_EQ(run({"validate", "all.yaml"}).out, "1 trade, all valid\n") << run({"validate", "all.yaml"}).err;
    put("replayed.yaml", "market: market.yaml\nsettings: {replay: shocks.npy}\ntrades: []\n");
    put("quotes.yaml",
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets: {ACME: {currency: USD, spot: 100}}\n"
        "calibrate: {ACME: {heston: {by_strike: {0.5: {80: 0.26, 90: 0.24, 100: 0.22, 110: 0.21, 120: "
        "0.2}}}}}\n");
    put("baseline.jsonl", "{\"run\":{\"device\":\"x\",\"suite\":\"models\"}}\n{\"rows\":0}\n");
    run({"price", "book.yaml", "-o", "a.json"});
    fs::create_symlink("market.yaml", folder / "soft.csv");
    fs::create_hard_link(folder / "market.yaml", folder / "hard.csv");
    fs::create_directory(folder / "sub");
    fs::create_directory_symlink(folder, folder / "sub" / "up");
    std::map<std::string, std::string> before;
    for (const auto& name : files())
        if (fs::is_regular_file(folder / name)) before[name] = text_of(folder / name);

    const auto priced = [](const std::string& to) {
        return arguments{"price", "all.yaml", "--format", "csv", "-o", to};
    };
    const struct {
        arguments with;
        std::string said;
    } cases[] = {
        {priced("all.yaml"),
         "all.yaml: --output: can't write: this is the same file as 'all.yaml', which is read"},
        {priced("./sub/../all.yaml"), "the same file as 'all.yaml', which is read"},
        {priced("market.yaml"), "the same file as 'market.yaml', which is read"},
        {priced("soft.csv"), "the same file as 'market.yaml', which is read"},
        {priced("hard.csv"), "the same file as 'market.yaml', which is read"},
        {priced("sub/up/market.yaml"), "the same file as 'market.yaml', which is read"},
        {priced("product.yaml"), "the same file as 'product.yaml', which is read"},
        {priced("days.yaml"), "the same file as 'days.yaml', which is read"},
        {{"price", "replayed.yaml", "-o", "shocks.npy", "--format", "csv"}, "the same file as 'shocks.npy'"},
        {{"price", "all.yaml", "--replay", "shocks.npy", "-o", "shocks.npy", "--format", "csv"},
         "the same file as 'shocks.npy'"},
        {{"price", "all.yaml", "--market", "quotes.yaml", "-o", "market.yaml", "--format", "csv"},
         "quotes.yaml"},
        {{"calibrate", "quotes.yaml", "-o", "quotes.yaml"}, "the same file as 'quotes.yaml', which is read"},
        {{"bench", "models", "--device", "cpu", "--against", "baseline.jsonl", "--save", "baseline.jsonl"},
         "--save: can't write: this is the same file as 'baseline.jsonl', which is read"},
        {{"bench", "models", "--device", "cpu", "--against", "baseline.jsonl", "-o", "baseline.jsonl"},
         "--output: can't write: this is the same file as 'baseline.jsonl', which is read"},
        {{"bench", "prefetch", "all.yaml", "--save", "market.yaml"},
         "--save: can't write: this is the same file"},
        {{"bench", "prefetch", "all.yaml", "--report", "all.yaml"},
         "--report: can't write: this is the same file"},
        {{"bench", "models", "--device", "cpu", "--save", "new.jsonl", "-o", "sub/up/new.jsonl"},
         "--save: can't write: this is the same file as that of --output, which is written, too"},
        {{"bench", "models", "--device", "cpu", "--save", "new.jsonl", "--report", "new.jsonl"},
         "--save: can't write: this is the same file as that of --report, which is written, too"},
    };
    for (const auto& c : cases) expect(c.with, 2, c.said);

    surroundings in;
    const auto append_to = [&](const std::string& name) {
        in.out = ::open((folder / name).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    };
    const struct {
        arguments with;
        std::string to;
    } appended[] = {{{"price", "all.yaml"}, "market.yaml"},
                    {{"validate", "all.yaml"}, "product.yaml"},
                    {{"explain", "all.yaml"}, "market.yaml"},
                    {{"diff", "a.json", "a.json"}, "a.json"},
                    {{"calibrate", "quotes.yaml"}, "quotes.yaml"}};
    for (const auto& [with, to] : appended) {
        append_to(to);
        expect(with, 2, "standard output: can't write: this is the same file as '" + to + "', which is read",
               in);
        ::close(in.out);
    }
    in = {};
    in.in = ::open((folder / "book.yaml").c_str(), O_RDONLY | O_CLOEXEC);
    expect({"price", "-", "-o", "book.yaml", "--format", "csv"}, 2, "the same file as '/dev/stdin'", in);
    ::close(in.in);

    for (const auto& [name, text] : before) EXPECT_EQ(text_of(folder / name), text) << name;
    EXPECT_FALSE(files().contains("new.jsonl"));
    EXPECT_EQ(run(priced("beside.csv")).code, 0);
}

TEST_F(cli, trades_can_be_chosen_and_keep_their_bits) {
    const finished all = run({"price", "book.yaml"}), one = run({"price", "book.yaml", "--trade", "asian"});
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 2) << one.out;
    EXPECT_EQ(figures_of(one.out, "asian"), figures_of(all.out, "asian"));
    const finished both = run({"price", "bad.yaml", "--trade", "asian", "--trade", "call"});
    EXPECT_EQ(both.code, 0) << "the bad trade is none of them\n" << both.err;
    for (const std::string trade : {"call", "asian"})
        EXPECT_EQ(figures_of(both.out, trade), figures_of(all.out, trade));
    EXPECT_LT(both.out.find("\ncall,"), both.out.find("\nasian,")) << "the order of the book";
    EXPECT_EQ(run({"validate", "bad.yaml", "--trade", "call"}).out, "1 trade, all valid\n");
    EXPECT_EQ(run({"validate", "bad.yaml", "--trade", "bad"}).code, 3);
    EXPECT_FALSE(has(run({"explain", "book.yaml", "--trade", "call"}).out, "trade asian\n"));
    for (const std::string does : {"price", "validate", "explain", "warm"})
        expect({does, "book.yaml", "--trade", "asain"}, 2,
               "book.yaml: the book has no trade 'asain'; did you mean 'asian'?");
    expect({"price", "empty.yaml", "--trade", "call"}, 2, "the book has no trade 'call'");
}

TEST_F(cli, warm_compiles_products_of_the_library) {
    const finished config = run({"warm", "--library", "--market", "market.yaml", "--print-config"});
    EXPECT_EQ(config_line(config.out, "market"), "market market.yaml --market") << config.err;
    if (const std::string why = tilewalk::cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    put("mixed.yaml",
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets:\n"
        "  ALPHA: {currency: USD, spot: 7, volatility: 0.2}\n"
        "  OMEGA: {currency: USD, spot: 100, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.6, "
        "rho: -0.7}}}\n");
    put("one.yaml",
        "market: mixed.yaml\ntrades:\n  - {id: a, product: asian, underlying: ALPHA, option: call, strike: "
        "6.5, averaging_dates: {start: 0, end: 1, count: 6}}\n");
    surroundings in;
    in.variables = {{"TILEWALK_CACHE_DIR", (folder / "cache").string()}};
    const arguments with{"warm",      "--library", "--market", "mixed.yaml", "--arch",     "sm_90",
                         "--product", "asian",     "--random", "philox",     "--controls", "none"};
    const finished got = run(with, in);
    EXPECT_EQ(got.code, 0) << shown(with, got);
    EXPECT_EQ(got.err, "");
    for (const char* const name :
         {"asian/ALPHA/walk_1  sm_90", "asian/OMEGA/walk_1  sm_90", "\nmerge_tiles "})
        EXPECT_TRUE(has(got.out, name)) << name << '\n' << shown(with, got);
    EXPECT_TRUE(has(got.out, "\n3 kernels: 3 compiled, 0 from the cache, 0 failed; 0.")) << got.out;
    EXPECT_TRUE(has(got.out, " MB of machine code, in ")) << got.out;
    const finished book =
        run({"warm", "one.yaml", "--arch", "sm_90", "--random", "philox", "--controls", "none"}, in);
    EXPECT_TRUE(has(book.out, "\n2 kernels: 0 compiled, 2 from the cache, 0 failed; 0."))
        << shown(with, book);

    const arguments basket{"warm",   "--library", "--market",  "mixed.yaml",
                           "--arch", "sm_90",     "--product", "himalaya"};
    const finished none = run(basket, in);
    EXPECT_EQ(none.code, 0) << "a market of two assets is no fault\n" << shown(basket, none);
    EXPECT_TRUE(
        none.out.starts_with("no kernel for himalaya: it takes 3 assets, and the market has 2\n"
                             "0 kernels: 0 compiled"))
        << shown(basket, none);
    expect({"warm", "--library", "--market", "mixed.yaml", "--arch", "sm_90", "--product", "asain"}, 2,
           "unknown product 'asain'; did you mean 'asian'?", in);
}

TEST_F(cli, book_comes_from_standard_input) {
    surroundings in;
    const auto from = [&](const std::string& name) {
        in.in = ::open((folder / name).c_str(), O_RDONLY | O_CLOEXEC);
    };
    from("book.yaml");
    const finished piped = run({"price", "-"}, in);
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_EQ(figures_of(piped.out, "call"), figures_of(run({"price", "book.yaml"}).out, "call"));
    EXPECT_TRUE(has(piped.out, ",<stdin>,")) << "its name\n" << piped.out;
    for (const std::string does : {"validate", "explain"}) {
        from("bad.yaml");
        const finished got = run({does, "-"}, in);
        EXPECT_EQ(got.code, 3) << got.err;
        EXPECT_TRUE(has(got.out, "<stdin>:5:")) << got.out;
    }
    from("bad.yaml");
    expect({"price", "-"}, 3, "<stdin>:5:", in);
    in.in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    expect({"price", "-"}, 2, "<stdin>", in);
    in.in = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
    expect({"price", "-"}, 2, "<stdin>: can't read: Is a directory", in);
    put("-", "market: market.yaml\ntrades: []\n");
    EXPECT_EQ(run({"validate", "./-"}).out, "0 trades, all valid\n");
}

TEST_F(cli, quiet_leaves_failures_alone_on_standard_error) {
    surroundings in;
    in.variables = {{"TILEWALK_PTHS", "5"}};
    EXPECT_NE(run({"price", "book.yaml"}, in).err, "");
    EXPECT_EQ(run({"price", "book.yaml", "--quiet"}, in).err, "");
    expect({"price", "bad.yaml", "--quiet"}, 3, "1 of 3 trades failed", in);
    expect({"price", "absent.yaml", "--quiet"}, 2, "absent.yaml", in);
}

TEST_F(cli, misspelt_variables_are_told) {
    const std::map<std::string, std::string> cases{{"TILEWALK_PTHS", "TILEWALK_PATHS"},
                                                   {"TILWALK_PATHS", "TILEWALK_PATHS"},
                                                   {"TILEWALK_paths", "TILEWALK_PATHS"},
                                                   {"tilewalk_seed", "TILEWALK_SEED"}};
    for (const auto& [found, meant] : cases) {
        surroundings in;
        in.variables = {{found, "5"}, {"WALK_PATHS", "1"}, {"PATHS", "1"}, {"_SEED", "1"}};
        for (const arguments& with : std::vector<arguments>{{"validate", "book.yaml"}, {"devices"}}) {
            EXPECT_EQ(run(with, in).err, "tilewalk: the environment variable " + found +
                                             " is not known; did you mean " + meant + "?\n");
        }
    }
}

TEST_F(cli, replay_that_is_not_there_is_refused_by_all_who_look_at_trades) {
    put("replay.yaml", "market: market.yaml\nsettings: {replay: none.npy}\ntrades:\n" + call_text);
    for (const std::string does : {"validate", "price", "explain"})
        expect({does, "replay.yaml"}, 2, "none.npy: there is no such file");
    expect({"validate", "book.yaml", "--replay", "none.npy"}, 2, "none.npy: there is no such file");
}

TEST_F(cli, bench_writes_the_rows_it_has) {
    for (int wait = 250;; wait *= 2) {
        running started({"bench", "models", "--device", "cpu", "--seconds", "0.02", "-o", "rows.jsonl",
                         "--save", "baseline.jsonl"},
                        folder, {});
        started.wait_until_at_work();
        std::this_thread::sleep_for(std::chrono::milliseconds(wait));
        started.send(SIGTERM);
        const finished got = started.wait();
        ASSERT_EQ(got.code, 143) << got.err;
        EXPECT_TRUE(has(got.err, "tilewalk: interrupted; ")) << got.err;
        const bool is_written = files().contains("rows.jsonl");
        EXPECT_EQ(has(got.err, "tilewalk: no page, figure or baseline is made of incomplete rows\n"),
                  is_written)
            << got.err;
        EXPECT_FALSE(files().contains("baseline.jsonl"));
        const std::string rows = is_written ? text_of(folder / "rows.jsonl") : "";
        if (!has(rows, "\"path_steps_per_second\":")) continue;
        EXPECT_TRUE(has(rows, "\"interrupted\":true")) << rows;
        EXPECT_TRUE(has(rows, "nothing after this was measured")) << rows;
        break;
    }
}

// Each command is interrupted in long work: calibrating a leverage function, planning, a fit.
TEST_P(cli_interrupted, every_command_ends_with_its_code) {
    std::string trades;
    for (int i = 0; i < 50; ++i)
        trades +=
            "  - {id: t" + std::to_string(i) +
            ", product: asian, underlying: ACME, strike: 100, averaging_dates: {start: 0, end: 30, count: " +
            std::to_string(7000 + i) + "}}\n";
    put("slow.yaml",
        "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n  assets:\n    ACME:\n"
        "      currency: USD\n      spot: 100\n      model: {stochastic_local_volatility: {surface: {svi: "
        "{1.0: {a: "
        "0.012, b: 0.08, rho: -0.5, m: 0.03, sigma: 0.2}}}, heston: {v0: 0.04, kappa: 1.5, theta: 0.05, "
        "sigma: 0.6, "
        "rho: -0.7}, particles: 1048576, steps_per_year: 250}}\ntrades:\n" +
            trades);
    for (const std::string does : {"price", "validate", "explain", "warm"}) {
        arguments with{does, "slow.yaml"};
        if (does == "warm") with.insert(with.end(), {"--arch", "sm_90"});
        running started(with, folder, {});
        started.wait_until_at_work();
        started.send(GetParam());
        const finished got = started.wait();
        EXPECT_EQ(got.code, 128 + GetParam()) << does << got.err;
        EXPECT_EQ(got.out, "");
        EXPECT_EQ(got.err, "tilewalk: interrupted; nothing was written\n") << does;
    }
}

TEST_F(cli, control_characters_of_a_file_never_reach_the_terminal) {
    put("evil.yaml",
        "market: market.yaml\ntrades:\n  - {id: \"\\e[31mred\", product: european, underlying: ACMEE, "
        "strike: 1, maturity: 1}\n");
    for (const arguments& with : std::vector<arguments>{{"price", "evil.yaml"},
                                                        {"price", "evil.yaml", "--format", "table"},
                                                        {"validate", "evil.yaml"},
                                                        {"explain", "evil.yaml"}}) {
        const finished got = run(with);
        const bool data = with.size() == 2 && with[0] == "price";  // CSV on standard output is left as it is
        EXPECT_FALSE(has((data ? "" : got.out) + got.err, "\x1b")) << shown(with, got);
        EXPECT_NE(got.code, 0) << shown(with, got);
    }
}

}  // namespace

}  // namespace cli_test
