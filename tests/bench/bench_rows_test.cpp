// SPDX-License-Identifier: Apache-2.0
// The file of a benchmark run reads back equal, and a damaged file is refused with the line's number.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bench/measure/report.h"
#include "bench/measure/row.h"
#include "tests/made_run.h"
#include "tilewalk/error.h"

namespace tilewalk::bench::bench_rows_test {
namespace {

std::string written(const run& what) {
    std::ostringstream out;
    write_lines(out, what);
    return out.str();
}
run read(const std::string& text) {
    std::istringstream in(text);
    return read_lines(in, "run.jsonl");
}
void expect_same(const run& got, const run& expected) {
    EXPECT_EQ(got.about, expected.about);
    ASSERT_EQ(got.rows.size(), expected.rows.size());
    for (std::size_t i = 0; i < got.rows.size(); ++i) {
        const row &g = got.rows[i], &e = expected.rows[i];
        EXPECT_EQ(key_of(g), key_of(e));
        EXPECT_EQ(g.figures.dump(), e.figures.dump()) << key_of(e);
        EXPECT_EQ(g.over, e.over) << key_of(e);
        EXPECT_EQ(g.skipped, e.skipped) << key_of(e);
        EXPECT_EQ(g.wrong, e.wrong) << key_of(e);
    }
}

TEST(bench_rows, what_is_written_is_read_back) {
    run some = tests::made_run();
    some.rows[3].wrong = "other bits than feed 'none':\nprice 5.76 and 5.77";
    some.rows[4].suite = "copies \"and\" others";
    some.rows[4].axes["kind"] = "caf\xc3\xa9\t<b>";
    some.rows[5].figures["published"] = "355.90 us on an H20";
    some.rows[5].figures["tiny"] = 5e-324;
    ASSERT_GT(some.rows.size(), 300U);
    expect_same(read(written(some)), some);
    EXPECT_EQ(written(read(written(some))), written(some));
    expect_same(read(written({})), {});
}

TEST(bench_rows, what_is_no_text_and_no_number_is_still_written) {
    run some;
    some.about["device"] = "\xff\xfe";
    some.rows.push_back({"copy", {{"kind", "\xc3"}}, {{"milliseconds", std::nan("")}}, nullptr, "", "\x80"});
    const run got = read(written(some));
    EXPECT_EQ(got.about["device"], "\xef\xbf\xbd\xef\xbf\xbd");
    EXPECT_EQ(got.rows[0].axes["kind"], "\xef\xbf\xbd");
    EXPECT_TRUE(got.rows[0].figures["milliseconds"].is_null());
    EXPECT_FALSE(key_of(some.rows[0]).empty());
}

TEST(bench_rows, a_key_is_the_suite_and_the_axes) {
    const row one{"copy", {{"width", 4}}, {{"milliseconds", 1}}, nullptr, {}, {}};
    row other = one;
    other.figures = {{"milliseconds", 2}};
    other.skipped = "no";
    EXPECT_EQ(key_of(one), key_of(other));
    other.axes["width"] = 8;
    EXPECT_NE(key_of(one), key_of(other));
    other = one;
    other.suite = "copies";
    EXPECT_NE(key_of(one), key_of(other));
}

TEST(bench_rows, a_file_that_lost_its_end_is_refused) {
    run some = tests::made_run();
    some.rows.resize(3);
    const std::string whole = written(some);
    for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
        EXPECT_THROW(read(whole.substr(0, length)), error) << whole.substr(0, length);
    }
    EXPECT_NO_THROW(read(whole.substr(0, whole.size() - 1))) << "a last line break that is missing";
}

// A changed byte is refused or read as another text or number in its place; the reader never crashes.
TEST(bench_rows, a_file_with_a_damaged_byte_is_refused_or_read) {
    run some = tests::made_run();
    some.rows.resize(2);
    const std::string whole = written(some);
    std::size_t refused = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const char other : {'\0', '"', '{', '}', ',', '\n', '\xff'}) {
            if (whole[at] == other) continue;
            std::string text = whole;
            text[at] = other;
            try {
                read(text);
            } catch (const error& e) {
                ++refused;
                EXPECT_EQ(e.kind(), error_kind::input);
                EXPECT_EQ(e.where().file, "run.jsonl");
                EXPECT_GT(e.where().line, 0) << e.what();
            }
        }
    }
    EXPECT_GT(refused, whole.size());
}

struct damaged {
    std::string text;
    int line;
    std::string says;
};

TEST(bench_rows, are_read_as_they_were_kept) {
    const std::string head = "{\"run\":{\"device\":\"d\"}}\n", end = "{\"rows\":1}\n";
    const auto good = [](int width) {
        return "{\"suite\":\"copy\",\"axes\":{\"width\":" + std::to_string(width) + "},\"figures\":{}}\n";
    };
    const auto kept = [](const std::string& text) {
        std::istringstream in(text);
        return read_lines(in, "run.jsonl", true);
    };
    EXPECT_FALSE(kept(head + good(1) + end).about.contains("note"));
    const run cut = kept(head + good(1) + good(2));
    EXPECT_EQ(cut.rows.size(), 2U);
    EXPECT_EQ(cut.about["note"],
              "the line that counts the rows is missing, so nothing says whether all of them are here");
    const run joined = kept(head + good(1) + end + good(2) + end);
    EXPECT_EQ(joined.rows.size(), 2U);
    EXPECT_EQ(joined.about["note"],
              "rows from line 4 on were added behind the end of the run, and none says "
              "which run they are of");
    EXPECT_NE(report_html(joined).find("none says which run they are of"), std::string::npos);
    for (const std::string& bad : {head, head + end + end, head + good(1) + end + head + good(2) + end,
                                   head + good(1) + end + good(2) + good(3) + end,
                                   head + good(1) + end + good(1) + end, good(1) + end})
        EXPECT_THROW(kept(bad), error) << bad;
}

TEST(bench_rows, of_all_stored_files_are_read) {
    std::size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(TILEWALK_SOURCE_DIR "/bench/results")) {
        if (file.path().extension() != ".jsonl") continue;
        ++files;
        const std::string name = file.path().filename().string();
        std::ifstream in(file.path());
        const bool is_ours = in.peek() == '{' && [&] {
            std::string begin(7, ' ');
            in.read(begin.data(), 7);
            in.seekg(0);
            return begin == "{\"run\":";
        }();
        const std::string refused =
            !is_ours ? "did not write"
            : name == "2026-11-22-NVIDIA-H100-80GB-HBM3-bench-steps.jsonl"
                ? "another run begins here, which differs in copy_bytes_per_second, commit"
                : "";
        try {
            const run read = read_lines(in, name, true);
            EXPECT_EQ(refused, "") << name;
            EXPECT_NE(report_html(read).find("</html>"), std::string::npos) << name;
        } catch (const error& e) {
            EXPECT_TRUE(!refused.empty() && e.message().find(refused) != std::string::npos) << e.what();
        }
    }
    EXPECT_GT(files, 30U);
}

TEST(bench_rows, a_damaged_file_is_refused_with_its_line) {
    const std::string head = "{\"run\":{}}\n", end = "{\"rows\":1}\n";
    const std::string good = R"({"suite":"copy","axes":{"width":4},"figures":{"milliseconds":1}})"
                             "\n";
    ASSERT_NO_THROW(read(head + good + end));
    ASSERT_NO_THROW(read(head + "\n" + good + "\n" + end + "\n")) << "empty lines";
    const std::vector<damaged> all{
        {"", 0, "empty"},
        {"\n\n", 0, "empty"},
        {"hello\n", 1, "no JSON object"},
        {"[1]\n", 1, "no JSON object"},
        {good + end, 1, "which run this is"},
        {"{\"run\":3}\n", 1, "which run this is"},
        {head + good + good.substr(0, 20) + "\n" + end, 3, "no JSON object"},
        {head + good, 2, "ends too soon"},
        {head, 1, "ends too soon"},
        {head + good + "{\"rows\":2}\n", 3, "found 1 rows where there were 2"},
        {head + good + "{\"rows\":-1}\n", 3, "expected the last line"},
        {head + good + "{\"rows\":\"1\"}\n", 3, "expected the last line"},
        {head + good + "{\"rows\":1,\"more\":2}\n", 3, "expected the last line"},
        {head + good + end + good, 4, "after that which ends the file"},
        {head + good + end + end, 4, "after that which ends the file"},
        {head + good + good + "{\"rows\":2}\n", 3, "measures the same as line 2"},
        {head + head + end, 2, "another run begins here; put"},
        {head + good + "{\"run\":{\"commit\":\"a\",\"date\":\"b\"}}\n" + end, 3,
         "differs in commit, date; put"},
        {"{\"what\":\"a\",\"b\":1}\n", 1,
         "found an object with 'what', 'b', which tilewalk bench did not write"},
        {head + R"({"axes":{},"figures":{}})" + "\n" + end, 2, "says its suite"},
        {head + R"({"suite":"","axes":{},"figures":{}})" + "\n" + end, 2, "says its suite"},
        {head + R"({"suite":1,"axes":{},"figures":{}})" + "\n" + end, 2, "'suite' is not a text"},
        {head + R"({"suite":"copy","figures":{}})" + "\n" + end, 2, "object 'axes'"},
        {head + R"({"suite":"copy","axes":[],"figures":{}})" + "\n" + end, 2, "object 'axes'"},
        {head + R"({"suite":"copy","axes":{}})" + "\n" + end, 2, "object 'figures'"},
        {head + R"({"suite":"copy","axes":{"a":[1]},"figures":{}})" + "\n" + end, 2,
         "'a' of 'axes' is a list"},
        {head + R"({"suite":"copy","axes":{},"figures":{"b":{}}})" + "\n" + end, 2,
         "'b' of 'figures' is an object"},
        {head + R"({"suite":"copy","axes":{},"figures":{},"over":3})" + "\n" + end, 2, "object 'over'"},
        {head + R"({"suite":"copy","axes":{},"figures":{},"wrong":true})" + "\n" + end, 2,
         "'wrong' is not a text"},
        {head + R"({"suite":"copy","axes":{},"figures":{},"skiped":""})" + "\n" + end, 2,
         "did you mean 'skipped'?"},
        {head + R"({"suite":"copy","axes":{"a":1,"a":2},"figures":{}})" + "\n" + end, 2,
         "'a' is there twice"},
        {head + R"({"suite":"a","suite":"b","axes":{},"figures":{}})" + "\n" + end, 2,
         "'suite' is there twice"},
        {head + R"({"suite":"copy","axes":{"a":1e999},"figures":{}})" + "\n" + end, 2, "no JSON object"},
        {head + R"({"suite":"copy","axes":{},"figures":{"a":)" + std::string(100000, '[') + "\n" + end, 2,
         "no JSON object"},
        {head + R"({"suite":"copy","axes":{},"figures":{"a":)" + std::string(100000, '[') +
             std::string(100000, ']') + "}}\n" + end,
         2, "'a' of 'figures' is a list"},
    };
    for (const damaged& d : all) {
        const std::string shown = d.text.substr(0, 200);
        try {
            read(d.text);
            ADD_FAILURE() << "read: " << shown;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input) << shown;
            EXPECT_EQ(e.where().file, "run.jsonl") << shown;
            EXPECT_EQ(e.where().line, d.line) << shown;
            EXPECT_NE(e.message().find(d.says), std::string::npos) << shown << "\n" << e.message();
        }
    }
}

}  // namespace
}  // namespace tilewalk::bench::bench_rows_test
