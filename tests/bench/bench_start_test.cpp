// SPDX-License-Identifier: Apache-2.0
// The suite `start`: results of runs, refused results, and rows of a made-up program that keeps a kernel in
// its cache. Times are ignored.
#include "bench/suites/start.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "bench/measure/suites.h"
#include "tests/own_folder.h"
#include "tilewalk/error.h"

namespace tilewalk::bench::bench_start_test {
namespace {

namespace fs = std::filesystem;

std::string results_of(const std::string& manifest, const std::string& rows) {
    return R"({"format": "tilewalk results", "manifest": {)" + manifest + R"(}, "rows": [)" + rows +
           R"(], "totals": []})";
}

const std::string counts =
    R"("plan_seconds": 0.25, "path_seconds": 2, "kernels_compiled": 3, "kernels_from_cache": 4,)"
    R"( "path_steps": 1000)";

std::string trade(const std::string& name, const std::string& price) {
    return R"({"trade": ")" + name + R"(", "status": "priced", "price": )" + price +
           R"(, "standard_error": 0.1})";
}

TEST(bench_start, results_are_read) {
    const std::string rows = trade("a", "1.5") + "," + trade("b", "null");
    const start::answer plain = start::read_answer(results_of(counts, rows), "run");
    EXPECT_EQ(plain.plan_seconds, 0.25);
    EXPECT_EQ(plain.path_seconds, 2);
    EXPECT_EQ(plain.kernels_compiled, 3U);
    EXPECT_EQ(plain.kernels_from_cache, 4U);
    EXPECT_EQ(plain.path_steps, 1000U);
    EXPECT_EQ(plain.path_steps_on_gpus, 0U);
    ASSERT_EQ(plain.prices.size(), 2U);
    EXPECT_EQ(plain.prices[1].first, "b");
    EXPECT_EQ(plain.prices[1].second, R"(null, 0.1, "priced")");
    EXPECT_EQ(start::read_answer(results_of(counts + R"(, "path_steps_on_gpus": 250)", rows), "run")
                  .path_steps_on_gpus,
              250U);
}

TEST(bench_start, the_last_bit_of_a_price_counts) {
    const auto with = [](const std::string& rows) {
        return start::read_answer(results_of(counts, rows), "run");
    };
    const start::answer processor = with(trade("a", "10.5") + "," + trade("b", "0.1"));
    EXPECT_EQ(start::why_other_bits(processor, processor), "");
    EXPECT_EQ(start::why_other_bits(with(trade("a", "10.50") + "," + trade("b", "1e-1")), processor), "");
    EXPECT_EQ(
        start::why_other_bits(with(trade("a", "10.500000000000002") + "," + trade("b", "0.1")), processor),
        R"('a' is 10.500000000000002, 0.1, "priced", on the processor 'a' is 10.5, 0.1, "priced")");
    EXPECT_EQ(start::why_other_bits(with(trade("a", "10.5")), processor),
              "there are 1 trades, on the processor 2");
    EXPECT_EQ(start::why_other_bits(processor, with(trade("a", "10.5"))),
              "there are 2 trades, on the processor 1");
    EXPECT_NE(start::why_other_bits(with(trade("b", "10.5") + "," + trade("b", "0.1")), processor), "");
    EXPECT_NE(start::why_other_bits(with(trade("a", "10.5") + "," + trade("b", "-0.1")), processor), "");
}

TEST(bench_start, hostile_results_are_refused) {
    const std::string row = trade("a", "1");
    const auto without = [&](const std::string& key, const std::string& put) {
        std::string of = counts;
        return results_of(of.replace(of.find(key), key.size(), put), row);
    };
    const std::vector<std::string> texts{
        "",
        "[]",
        "{}",
        "trade,price\na,1\n",
        R"({"manifest": {}})",
        R"({"manifest": [], "rows": []})",
        R"({"manifest": {}, "rows": {}})",
        results_of("", row),
        results_of(counts, ""),
        results_of(counts, "1"),
        results_of(counts, "{}"),
        results_of(counts, R"({"trade": 1, "status": "priced", "price": 1, "standard_error": 0})"),
        results_of(counts, R"({"trade": "a", "price": 1, "standard_error": 0})"),
        results_of(counts, R"({"trade": "a", "status": "priced", "standard_error": 0})"),
        results_of(counts, R"({"trade": "a", "status": "priced", "price": 1})"),
        results_of(counts + R"(, "path_steps_on_gpus": -1)", row),
        results_of(counts + R"(, "path_steps_on_gpus": "all")", row),
        without("0.25", "-0.25"),
        without("0.25", "1e999"),
        without("0.25", "\"soon\""),
        without("path_seconds", "path_second"),
        without("3", "3.5"),
        without("4", "-4"),
        without("1000", "null"),
        results_of(counts, row).substr(0, 100),
    };
    for (const std::string& text : texts) {
        try {
            start::read_answer(text, "results of it");
            ADD_FAILURE() << text;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input) << text;
            EXPECT_EQ(e.where().file, "results of it") << text;
        }
    }
}

// A stand-in for the command: a GPU compiles its kernel unless the cache has it, and `auto` takes the GPU if
// the kernel is there. Each run is a line of a log: the name of the build, the device and what the cache
// held.
class bench_start_made : public testing::Test {
  protected:
    std::string program(const std::string& name, const std::string& more = "") const {
        const fs::path file = own_.write(name, R"sh(#!/bin/sh
book=$2
while [ $# -gt 0 ]; do
    case $1 in --device) device=$2 ;; --output) file=$2 ;; --paths) paths=$2 ;; esac
    shift
done
mkdir -p "$TILEWALK_CACHE_DIR" "$CUDA_CACHE_PATH"
kept=none compiled=0 from_cache=0 on_gpus=0 price=10.5
[ ! -e "$TILEWALK_CACHE_DIR/kernel" ] || kept=$(cat "$TILEWALK_CACHE_DIR/kernel")
echo ")sh" + name + R"sh( $device $kept $book ${paths:-all} $WORD" >> ")sh" +
                                                   log() + R"sh("
case $device-$kept in
    cpu-* | auto-none) ;;
    *-none) compiled=1 on_gpus=300; echo ")sh" + name +
                                                   R"sh(" > "$TILEWALK_CACHE_DIR/kernel" ;;
    *) from_cache=1 on_gpus=300 ;;
esac
)sh" + more + R"sh(
cat > "$file" << END
{"manifest": {"plan_seconds": 0.5, "path_seconds": 1, "kernels_compiled": $compiled, "kernels_from_cache": $from_cache,
 "path_steps": 400, "path_steps_on_gpus": $on_gpus},
 "rows": [{"trade": "a", "status": "priced", "price": $price, "standard_error": 0.1}]}
END
)sh");
        fs::permissions(file, fs::perms::owner_all);
        return file.string();
    }
    std::string log() const { return (own_ / "log").string(); }
    std::string logged() const {
        std::ostringstream out;
        out << std::ifstream(log()).rdbuf();
        return out.str();
    }
    std::map<std::string, row> run(const start::contest& of, const start::priced_book& book) const {
        std::map<std::string, row> out;
        cpu_bench on;
        on.until = {0.5, 1, 1, 0};
        start::measure(of, book, on, [&](row r) {
            const std::string key = key_of(r);
            EXPECT_TRUE(out.emplace(key, std::move(r)).second) << key;
        });
        return out;
    }
    std::map<std::string, row> run_with(const std::string& more) const {
        return run(
            {.program = program("ours", more), .places = {{"cpu", "cpu"}, {"auto", "cuda"}, {"0", "0"}}},
            {.name = "b", .file = "b.yaml"});
    }

    tests::own_folder own_;
};

std::string key(const std::string& device, const std::string& begun) {
    return R"(start {"book":"b","device":")" + device + R"(","start":")" + begun + "\"}";
}

TEST_F(bench_start_made, cold_runs_find_nothing_and_warm_runs_a_filled_cache) {
    auto rows = run_with("");
    ASSERT_EQ(rows.size(), 6U);
    for (const std::string device : {"cpu", "auto", "0"}) {
        for (const std::string begun : {"cold", "warm"}) {
            row& r = rows[key(device, begun)];
            ASSERT_TRUE(r.is_result()) << r.wrong << r.skipped;
            EXPECT_GT(r.figures.at("milliseconds"), 0);
            EXPECT_EQ(r.figures.at("samples"), begun == "cold" ? 3 : 6);
            EXPECT_EQ(r.figures.at("plan_seconds"), 0.5);
            EXPECT_EQ(r.figures.at("path_seconds"), 1);
            EXPECT_EQ(r.figures.at("kernels_compiled"), device == "0" && begun == "cold" ? 1 : 0);
            EXPECT_EQ(r.figures.at("kernels_from_cache"), device != "cpu" && begun == "warm" ? 1 : 0);
            const bool is_on_gpu = device == "0" || (device == "auto" && begun == "warm");
            EXPECT_EQ(r.figures.at("path_steps_on_gpus"), is_on_gpu ? 300 : 0);
            EXPECT_EQ(r.figures.at("share_of_gpus"), is_on_gpu ? 0.75 : 0);
            EXPECT_FALSE(r.figures.contains("ratio_to_before"));
            if (device == "cpu") {
                EXPECT_FALSE(r.figures.contains("ratio"));
                continue;
            }
            const row& of_processor = rows[key("cpu", begun)];
            EXPECT_EQ(r.over, of_processor.axes);
            EXPECT_EQ(r.figures.at("ratio").get<double>(),
                      of_processor.figures.at("milliseconds").get<double>() /
                          r.figures.at("milliseconds").get<double>());
        }
    }
    std::string expected;
    for (int turn = 0; turn < 3; ++turn)
        for (const std::string run : {"cpu none", "auto none", "0 none"})
            expected += "ours " + run + " b.yaml all \n";
    for (const std::string run : {"cpu none", "cpu none", "cuda none", "auto ours", "0 none", "0 ours"})
        expected += "ours " + run + " b.yaml all \n";
    for (int turn = 1; turn < 6; ++turn)
        for (const std::string run : {"cpu none", "auto ours", "0 ours"})
            expected += "ours " + run + " b.yaml all \n";
    EXPECT_EQ(logged(), expected);
}

TEST_F(bench_start_made, the_build_before_takes_turns_in_warm_runs) {
    start::contest of{.program = program("ours"),
                      .before = program("theirs"),
                      .places = {{"cpu", "cpu"}, {"0", "0"}},
                      .environment = {"WORD=said"}};
    of.cold = 1;
    of.warm = 2;
    auto rows =
        run(of, {.name = "b", .file = "b.yaml", .options = {"--paths", "64"}, .axes = {{"paths", 64}}});
    ASSERT_EQ(rows.size(), 4U);
    for (const auto& [name, r] : rows) {
        ASSERT_TRUE(r.is_result()) << r.wrong;
        EXPECT_EQ(r.axes.at("paths"), 64);
        const bool is_warm = r.axes.at("start") == "warm";
        EXPECT_EQ(r.figures.contains("ratio_to_before"), is_warm) << name;
        EXPECT_EQ(r.figures.contains("before_milliseconds"), is_warm) << name;
    }
    std::string expected;
    for (const std::string run :
         {"ours cpu none", "ours 0 none",                                          // cold
          "ours cpu none", "theirs cpu none", "ours cpu none", "theirs cpu none",  // filling, and a turn
          "ours 0 none", "theirs 0 none", "ours 0 ours", "theirs 0 theirs",        // the same on the GPU
          "theirs cpu none", "ours cpu none", "theirs 0 theirs", "ours 0 ours"})   // a turn the other way
        expected += run + " b.yaml 64 said\n";
    EXPECT_EQ(logged(), expected);
}

TEST_F(bench_start_made, other_bits_are_wrong) {
    auto rows = run_with("[ $device-$kept != auto-ours ] || price=10.500000000000002");
    EXPECT_EQ(rows[key("auto", "warm")].wrong,
              R"('a' is 10.500000000000002, 0.1, "priced", on the processor 'a' is 10.5, 0.1, "priced")");
    EXPECT_TRUE(rows[key("auto", "warm")].figures.empty());
    EXPECT_TRUE(rows[key("auto", "cold")].is_result());
    EXPECT_TRUE(rows[key("0", "warm")].is_result()) << rows[key("0", "warm")].wrong;
}

TEST_F(bench_start_made, a_run_that_fails_is_wrong_and_ends_no_other) {
    auto rows = run_with("[ $device != 0 ] || { echo 'the GPU is lost' >&2; exit 75; }");
    for (const char* begun : {"cold", "warm"}) {
        const std::string& wrong = rows[key("0", begun)].wrong;
        EXPECT_NE(wrong.find("--device 0 ended with exit code 75: the GPU is lost"), std::string::npos)
            << wrong;
        EXPECT_TRUE(rows[key("auto", begun)].is_result()) << rows[key("auto", begun)].wrong;
    }
}

TEST_F(bench_start_made, without_prices_of_the_processor_nothing_is_right) {
    for (const auto& [name, r] : run_with("[ $device != cpu ] || exit 1")) EXPECT_NE(r.wrong, "") << name;
}

TEST(bench_start, says_what_is_missing) {
    std::vector<row> rows;
    suite_named("start").run_on_cpu({}, {}, "there is no GPU", [&](row r) { rows.push_back(std::move(r)); });
    ASSERT_EQ(rows.size(), 4U);
    for (const row& r : rows)
        EXPECT_NE(r.skipped.find("tilewalk is not there"), std::string::npos) << r.skipped;
}

}  // namespace
}  // namespace tilewalk::bench::bench_start_test
