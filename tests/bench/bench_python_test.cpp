// SPDX-License-Identifier: Apache-2.0
// The suite `python`: rows from its program's lines, refused lines, and the cost of Python beside the
// command.
#include "bench/suites/python_cost.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/measure/suites.h"
#include "tilewalk/error.h"

namespace tilewalk::bench::bench_python_test {
namespace {

row read(const std::string& line) {
    return python_cost::read_line(line, "cost.py", 7);
}

TEST(bench_python, lines_become_rows) {
    const row r = read(
        R"({"what": "command", "trades": 1000, "paths": 65536, "milliseconds": [9, 7, 8, 30, 6, 8.5, 7.5]})");
    EXPECT_EQ(key_of(r), R"(python {"what":"command","trades":1000,"paths":65536})");
    EXPECT_TRUE(r.is_result());
    EXPECT_EQ(r.figures.at("milliseconds"), 8);
    EXPECT_EQ(r.figures.at("samples"), 7);
    EXPECT_GT(r.figures.at("noise"), 0);
    EXPECT_EQ(read(R"({"what": "command", "skipped": "no pandas"})").skipped, "no pandas");
    EXPECT_EQ(read(R"({"what": "command", "milliseconds": [1], "wrong": "other bits"})").wrong, "other bits");
}

TEST(bench_python, a_copied_number_is_wrong) {
    const std::string begin = R"({"what": "DataFrame of results", "rows": 10, "milliseconds": [1, 2], )";
    EXPECT_TRUE(read(begin + R"("copied_bytes": 0})").is_result());
    const row copied = read(begin + R"("copied_bytes": 80})");
    EXPECT_EQ(copied.wrong, "80 bytes of numbers were copied");
    EXPECT_EQ(copied.figures.at("copied_bytes"), 80);
}

TEST(bench_python, hostile_lines_are_refused_with_their_place) {
    const std::vector<std::string> lines{
        "",
        "[1]",
        "python: not found",
        R"({"milliseconds": [1]})",
        R"({"what": "", "milliseconds": [1]})",
        R"({"what": 3, "milliseconds": [1]})",
        R"({"what": "command"})",
        R"({"what": "command", "milliseconds": 1})",
        R"({"what": "command", "milliseconds": []})",
        R"({"what": "command", "milliseconds": [0]})",
        R"({"what": "command", "milliseconds": [1, -1]})",
        R"({"what": "command", "milliseconds": [1e999]})",
        R"({"what": "command", "milliseconds": ["1"]})",
        R"({"what": "command", "milliseconds": [1], "paths": -1})",
        R"({"what": "command", "milliseconds": [1], "paths": 1.5})",
        R"({"what": "command", "milliseconds": [1], "copied_bytes": "none"})",
        R"({"what": "command", "milliseconds": [1], "wrong": 1})",
        R"({"what": ")" + std::string(500, 'a') + R"(", "milliseconds": [1]})",
        R"({"what": "command", "milliseconds": [)" + std::string(20000, ' ') + "1]}",
    };
    for (const std::string& line : lines) {
        try {
            read(line);
            ADD_FAILURE() << line.substr(0, 200);
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input) << line.substr(0, 200);
            EXPECT_EQ(e.where().file, "cost.py");
            EXPECT_EQ(e.where().line, 7);
        }
    }
}

TEST(bench_python, python_is_compared_with_the_command_and_a_start) {
    std::vector<row> rows{read(R"({"what": "command", "milliseconds": [200]})"),
                          read(R"({"what": "python", "milliseconds": [320]})"),
                          read(R"({"what": "start of python", "milliseconds": [50]})")};
    python_cost::compare(rows);
    EXPECT_EQ(rows[1].figures.at("ratio"), 200.0 / 320);
    EXPECT_EQ(rows[1].figures.at("over_command_and_start"), 320.0 / 250);
    EXPECT_EQ(rows[1].over, rows[0].axes);
    EXPECT_FALSE(rows[0].figures.contains("ratio"));

    rows[0].wrong = "other bits";
    rows[1] = read(R"({"what": "python", "milliseconds": [320]})");
    python_cost::compare(rows);
    EXPECT_FALSE(rows[1].figures.contains("ratio"));
    rows.clear();
    python_cost::compare(rows);
}

}  // namespace
}  // namespace tilewalk::bench::bench_python_test
