// SPDX-License-Identifier: Apache-2.0
// Reports of benchmark runs: terminal table, CSV, charts and page. Every point is there, every name is
// escaped, and every file is well-formed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bench/measure/report.h"
#include "bench/measure/table.h"
#include "engine/tell/pictures/axis.h"
#include "engine/tell/pictures/chart.h"
#include "tests/made_run.h"
#include "tests/xml_check.h"
#include "tilewalk/error.h"

namespace tilewalk::bench::bench_report_test {
namespace {

using namespace pictures;
using tests::xml_check;

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
    return n;
}
bool has(const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
}
row timed(const std::string& suite, json axes, double ms, double noise = 0.004) {
    return {suite,
            std::move(axes),
            {{"milliseconds", ms}, {"p10", ms * 0.99}, {"p90", ms * 1.02}, {"noise", noise}, {"samples", 11}},
            nullptr,
            {},
            {}};
}

TEST(bench_report, the_check_of_xml_can_fail) {
    for (const char* good :
         {"<a/>", "<a b=\"c\"><d>e &amp; f &#39;</d>\n</a>\n", "<!DOCTYPE html>\n<a></a>"}) {
        EXPECT_EQ(xml_check::fault(good), "") << good;
    }
    for (const char* bad : {"",
                            "a",
                            "<a>",
                            "</a>",
                            "<a></b>",
                            "<a/><b/>",
                            "<a/>b",
                            "<a b=c/>",
                            "<a b=\"c/>",
                            "<a b=\"<\"/>",
                            "<a>&</a>",
                            "<a>&nbsp;</a>",
                            "<a b=\"1\" b=\"2\"/>",
                            "<a>\x01</a>",
                            "<a>\xff</a>",
                            "<a>]]></a>",
                            "<a b=\"1\"c=\"2\"/>",
                            "<a><b></a></b>",
                            "<a>\xef\xbf\xbf</a>",
                            "< a/>"}) {
        EXPECT_NE(xml_check::fault(bad), "") << bad;
    }
}

TEST(bench_report, numbers_are_shown_with_three_digits) {
    const std::map<double, std::string> known{
        {0, "0"},           {1, "1.00"},         {1.234, "1.23"},   {9.994, "9.99"},       {9.996, "10.0"},
        {99.96, "100"},     {123.4, "123"},      {1234.5, "1234"},  {0.0123456, "0.0123"}, {1e-4, "0.000100"},
        {1.5e-7, "1.5e-7"}, {2.346e9, "2.35e9"}, {-45.67, "-45.7"}, {999999.6, "1000000"}};
    for (const auto& [x, text] : known) EXPECT_EQ(three_digits(x), text) << x;
    EXPECT_EQ(time_text(0.1234), "123 us");
    EXPECT_EQ(time_text(1234), "1.23 s");
    EXPECT_EQ(time_text(0.00000045), "0.450 ns");
    EXPECT_EQ(rate_text(2.98e12), "2.98 TB/s");
    EXPECT_EQ(rate_text(12), "12.0 B/s");
}

TEST(bench_report, axes_are_described_in_words) {
    EXPECT_EQ(described({{"feed", "none"}, {"distance", 8}, {"shared_part", 0.5}, {"cold", true}}),
              "none, distance 8, shared part 0.5, cold true");
    EXPECT_EQ(described(json::object()), "");
}

run small_run() {
    run r;
    r.about = tests::made_about();
    r.rows.push_back(timed("access", {{"kind", "shared"}, {"warps", 8}}, 0.0123));
    r.rows.push_back(timed("access", {{"kind", "shared"}, {"stride", 3}, {"warps", 8}}, 0.5));
    r.rows[1].over = r.rows[0].axes;
    r.rows[1].figures["ratio"] = 0.0246;
    r.rows[1].figures["share_of_copy"] = 0.8321;
    r.rows[1].figures["bytes_per_second"] = 2.5e12;
    r.rows[1].figures["registers"] = 32;
    r.rows[1].figures["published"] = "355.90 us on an H20";
    r.rows.push_back({"access", {{"kind", "texture"}, {"warps", 8}}, {}, nullptr, "no textures here", {}});
    r.rows.push_back(
        {"access", {{"kind", "shared"}, {"stride", 4}, {"warps", 8}}, {}, nullptr, {}, "other bits"});
    return r;
}

TEST(bench_report, table_is_word_for_word) {
    EXPECT_EQ(table(small_run(), 200),
              R"(access
in all rows: kind shared, warps 8
stride  time us   noise   ratio  share of copy  TB/s  registers  published
------  -------  ------  ------  -------------  ----  ---------  -------------------
           12.3  0.40 %
     3      500  0.40 %  0.02 x         83.2 %  2.50         32  355.90 us on an H20
1 row wrong: other bits
  shared, stride 4, warps 8
1 row skipped: no textures here
  texture, warps 8
)");
    EXPECT_EQ(table({}, 200), "no rows\n");
}

TEST(bench_report, table_fits_the_columns) {
    run r = small_run();
    for (std::size_t i = 0; i < r.rows.size(); ++i)
        r.rows[i].axes["feed"] = "a feed with a name that goes on and on, number " + std::to_string(i);
    for (const std::size_t columns : {60U, 80U, 200U}) {
        const std::string text = table(r, columns);
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << line;
        EXPECT_TRUE(has(text, "time")) << text;
    }
}

TEST(bench_report, table_of_a_sweep_has_each_row_and_straight_columns) {
    const run r = tests::made_run();
    std::istringstream lines(table(r, 200));
    std::string line, rule;
    std::size_t rows = 0;
    while (std::getline(lines, line)) {
        if (line.starts_with("----")) rule = line;
        if (!line.starts_with("single  ") && !line.starts_with("double  ")) continue;
        ++rows;
        for (std::size_t i = 0; i < std::min(line.size(), rule.size()); ++i) {
            EXPECT_TRUE(rule[i] != ' ' || line[i] == ' ') << line << "\n" << rule;
        }
    }
    const auto results = static_cast<std::size_t>(std::ranges::count_if(r.rows, &row::is_result));
    EXPECT_EQ(rows, results);
    EXPECT_TRUE(
        has(table(r, 200), "rows skipped: the ring takes more shared memory than a block may have\n"));
}

TEST(bench_report, columns_stand_where_the_rows_that_have_them_put_them) {
    run r;
    r.rows = {timed("s", {{"a", 1}, {"z", 1}}, 1), timed("s", {{"a", 2}, {"m", 1}, {"z", 2}}, 2),
              timed("s", {{"first", 3}, {"a", 2}, {"m", 1}, {"n", 5}, {"z", 2}}, 2)};
    EXPECT_TRUE(has(table(r, 200), "\nfirst  a  m  n  z  time ms")) << table(r, 200);
}

TEST(bench_report, csv_has_everything_with_all_bits) {
    run r = small_run();
    r.rows[1].figures["kind"] = 0.1 + 0.2;
    EXPECT_EQ(
        csv(r),
        "suite,kind,stride,warps,milliseconds,p10,p90,noise,samples,ratio,share_of_copy,bytes_per_second,"
        "registers,published,measured_kind,over,skipped,wrong\n"
        "access,shared,,8,0.0123,0.012177,0.012546,0.004,11,,,,,,,,,\n"
        "access,shared,3,8,0.5,0.495,0.51,0.004,11,0.0246,0.8321,2.5e+12,32,355.90 us on an "
        "H20,0.30000000000000004,\"shared, warps 8\",,\n"
        "access,texture,,8,,,,,,,,,,,,,no textures here,\n"
        "access,shared,4,8,,,,,,,,,,,,,,other bits\n");
    const std::string sweep = csv(tests::made_run());
    std::istringstream lines(sweep);
    std::string line;
    std::set<std::ptrdiff_t> fields;
    while (std::getline(lines, line)) {
        line = std::regex_replace(line, std::regex("\"[^\"]*\""), "");
        fields.insert(std::ranges::count(line, ','));
    }
    EXPECT_EQ(fields.size(), 1U) << "as many fields in each line";
}

TEST(bench_report, ticks_are_round_and_hold_what_is_shown) {
    EXPECT_EQ(round_ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
    EXPECT_EQ(round_ticks(0, 12.6, 5), (std::vector<double>{0, 5, 10, 15}));
    EXPECT_EQ(round_ticks(-3, 4, 5), (std::vector<double>{-4, -2, 0, 2, 4}));
    for (double high = 1e-9; high < 1e12; high *= 1.37) {
        const auto ticks = round_ticks(0, high, 5);
        EXPECT_GE(ticks.back(), high * (1 - 1e-9)) << high;
        EXPECT_LE(ticks.back(), high * 2.5) << high;
        EXPECT_GE(ticks.size(), 3U) << high;
        EXPECT_LE(ticks.size(), 8U) << high;
    }
}

struct place {
    double x, y;
    bool beside;
};
std::multimap<std::string, place> marks_of(const std::string& svg) {
    static const std::regex one(
        R"re(<path class="mark ([^"]*)" transform="translate\(([-0-9.]+) ([-0-9.]+)\)[^"]*" d="[^"]*"><title>([^<]*)</title>)re");
    std::multimap<std::string, place> out;
    for (std::sregex_iterator i(svg.begin(), svg.end(), one), end; i != end; ++i) {
        out.insert({(*i)[4], {std::stod((*i)[2]), std::stod((*i)[3]), has((*i)[1], "beside")}});
    }
    return out;
}

TEST(bench_report, marks_stand_where_their_numbers_are) {
    chart c;
    c.title = "t";
    c.level = 2;
    panel p;
    p.lines.push_back({"l", 0, {}});
    for (const double x : {1.0, 3.0, 5.0}) {
        p.lines[0].marks.push_back({x, x, {{x - 0.5, x + 0.5}}, "at " + std::to_string(int(x)), true});
    }
    p.lines[0].marks.push_back({std::nullopt, 4, {}, "level", true});
    c.panels.push_back(p);
    const std::string drawn = svg(c);
    EXPECT_EQ(xml_check::fault(drawn), "");
    const auto marks = marks_of(drawn);
    ASSERT_EQ(marks.size(), 4U) << drawn;
    const auto at = [&](const char* name) { return marks.find(name)->second; };
    EXPECT_NEAR(at("at 3").x - at("at 1").x, at("at 5").x - at("at 3").x, 0.11);
    EXPECT_NEAR(at("at 1").y - at("at 3").y, at("at 3").y - at("at 5").y, 0.11);
    EXPECT_LT(at("at 5").y, at("at 1").y) << "up is more";
    EXPECT_NEAR(at("level").y, 0.5 * (at("at 3").y + at("at 5").y), 0.11);
    // The chart's dotted line at a given level, here half way between 1 and 3.
    std::smatch level;
    ASSERT_TRUE(std::regex_search(drawn, level, std::regex("class=\"level\" d=\"M[0-9.]+ ([0-9.]+)L")));
    EXPECT_NEAR(std::stod(level[1]), 0.5 * (at("at 1").y + at("at 3").y), 0.11);
    EXPECT_EQ(count(drawn, "class=\"bar "), 3U);
}

// An axis is linear and includes zero where values are within a small range, unless a logarithmic axis is
// requested, on which equal ratios are equally far apart.
TEST(bench_report, axes_are_logarithmic_where_that_is_asked_for) {
    chart c;
    c.panels.push_back(
        {"p",
         0,
         0,
         0,
         {{"l", 0, {{1.0, 1, {}, "at 1", true}, {2.0, 2, {}, "at 2", true}, {4.0, 4, {}, "at 4", true}}}}});
    const auto ratio_of_steps = [](const chart& of) {
        const auto marks = marks_of(svg(of));
        const auto y = [&](const char* says) { return marks.find(says)->second.y; };
        return (y("at 2") - y("at 4")) / (y("at 1") - y("at 2"));
    };
    EXPECT_NEAR(ratio_of_steps(c), 2, 0.01);
    c.by_logarithm = true;
    EXPECT_NEAR(ratio_of_steps(c), 1, 0.01);
    c.panels[0].lines[0].marks.push_back({8.0, 0, {}, "at 8", true});
    EXPECT_NEAR(ratio_of_steps(c), 2, 0.01);
}

double luminance(const std::string& colour) {
    const auto part = [&](std::size_t i) {
        const double c = std::stoi(colour.substr(i, 2), nullptr, 16) / 255.0;
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4);
}

TEST(bench_report, lines_are_told_apart_without_colour_and_seen_on_both_backgrounds) {
    const std::string style = chart_style();
    const std::regex one(R"(\.s(\d+)\{stroke:#([0-9a-f]{6})\})");
    std::vector<std::string> colours;
    for (std::sregex_iterator i(style.begin(), style.end(), one), end; i != end; ++i)
        colours.push_back((*i)[2]);
    ASSERT_EQ(colours.size(), 24U);
    for (std::size_t i = 0; i < 24; ++i) {
        const double l = luminance(colours[i]), paper = luminance(i < 12 ? "ffffff" : "161616");
        EXPECT_GE((std::max(l, paper) + 0.05) / (std::min(l, paper) + 0.05), 3) << colours[i];
    }
    chart c;
    panel p;
    for (std::size_t i = 0; i < 12; ++i)
        p.lines.push_back({"l" + std::to_string(i), i, {{1.0, 1.0, {}, "x", true}}});
    c.panels.push_back(p);
    const std::string drawn = svg(c);
    const std::regex shape(R"re(class="mark (full|hollow) s\d+" [^>]*d="([^"]*)"><title>)re");
    std::set<std::string> shapes;
    for (std::sregex_iterator i(drawn.begin(), drawn.end(), shape), end; i != end; ++i) {
        shapes.insert((*i)[1].str() + (*i)[2].str());
    }
    EXPECT_EQ(shapes.size(), 12U);
}

void expect_self_contained(const std::string& page) {
    EXPECT_EQ(xml_check::fault(page), "");
    std::string text = page;
    for (const std::string space : {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}) {
        text = std::regex_replace(text, std::regex("xmlns=\"" + space + "\""), "");
    }
    for (const char* foreign : {"http", "src=", "href", "url(", "@import", "@font-face", "<script", "<link",
                                "<iframe", "<image", " on", "javascript"}) {
        if (std::string(foreign) == " on") {
            const std::string bare = std::regex_replace(text, std::regex("=\"[^\"]*\""), "=");
            EXPECT_FALSE(std::regex_search(bare, std::regex("<[^>]* on[a-z]+="))) << "a handler of events";
        } else {
            EXPECT_FALSE(has(text, foreign)) << foreign;
        }
    }
}

bool is_in_figure(const row& r, const std::string& precision, const std::string& layout) {
    return r.is_result() && r.axes["precision"] == precision &&
           (!r.axes.contains("layout") || r.axes["layout"] == layout);
}

TEST(bench_report, every_row_has_its_point) {
    const run r = tests::made_run();
    const std::vector<std::string> expected{
        "prefetch-asian-single-plain",      "prefetch-asian-single-padded",
        "prefetch-asian-single-transposed", "prefetch-asian-single-share",
        "prefetch-asian-double-plain",      "prefetch-asian-double-padded",
        "prefetch-asian-double-transposed", "prefetch-asian-double-share"};
    ASSERT_EQ(figure_names(r), expected);
    const std::string page = report_html(r);
    expect_self_contained(page);
    for (const std::string precision : {"single", "double"}) {
        for (const std::string layout : {"plain", "padded", "transposed"}) {
            const std::string figure = figure_svg(r, "prefetch-asian-" + precision + '-' + layout);
            expect_self_contained(figure);
            const auto marks = marks_of(figure);
            std::size_t rows = 0;
            for (const row& of : r.rows) {
                if (!is_in_figure(of, precision, layout)) continue;
                ++rows;
                const double ratio = of.over.is_null() ? 1 : of.figures["ratio"].get<double>();
                std::array<char, 40> text{};
                std::snprintf(text.data(), text.size(), "%.2f x", ratio);
                EXPECT_EQ(marks.count(described(of.axes) + ": " + text.data()), 1U) << described(of.axes);
            }
            EXPECT_EQ(marks.size(), rows);
            EXPECT_GT(rows, 100U);
        }
        // The best row of each feed at each occupancy; feed inline reads no array and has no share.
        const auto shares = marks_of(figure_svg(r, "prefetch-asian-" + precision + "-share"));
        EXPECT_EQ(shares.size(), 10U * 3);
        std::map<std::string, const row*> best;
        for (const row& of : r.rows) {
            if (!of.is_result() || of.axes["precision"] != precision || !of.figures.contains("share_of_copy"))
                continue;
            const row*& b = best[of.axes["feed"].get<std::string>() + of.axes["warps"].dump()];
            if (b == nullptr || b->figures["share_of_copy"] < of.figures["share_of_copy"]) b = &of;
        }
        for (const auto& [key, of] : best) {
            const std::string start = described(of->axes) + ": ";
            const auto at = shares.lower_bound(start);
            EXPECT_TRUE(at != shares.end() && at->first.starts_with(start)) << start;
        }
    }
}

TEST(bench_report, errors_by_paths_have_a_panel_for_each_case) {
    run r;
    r.about = tests::made_about();
    double error = 8;
    for (const char* of : {"asian", "digital", "heston", "basket", "cliquet"}) {
        for (const auto& [random, construction] :
             {std::pair{"philox", "none"}, std::pair{"sobol", "steps"}, std::pair{"sobol", "bridge"}}) {
            for (const int paths : {16384, 32768}) {
                r.rows.push_back({"convergence",
                                  {{"case", of},
                                   {"random", random},
                                   {"construction", construction},
                                   {"precision", "double"},
                                   {"device", "cpu"},
                                   {"paths", paths}},
                                  {{"error_bp", error *= 0.97}, {"milliseconds", 1.5}},
                                  nullptr,
                                  {},
                                  {}});
            }
        }
    }
    r.rows.back().wrong = "no luck";
    ASSERT_EQ(figure_names(r), std::vector<std::string>{"convergence-cpu-double"});
    const std::string page = report_html(r), figure = figure_svg(r, "convergence-cpu-double");
    expect_self_contained(page);
    expect_self_contained(figure);
    EXPECT_TRUE(has(page, "standard error of a price by paths, cpu, double"));
    const auto marks = marks_of(figure);
    EXPECT_EQ(marks.size(), 29U);
    for (const row& of : r.rows) {
        EXPECT_EQ(marks.count(described(of.axes) + ": " + three_digits(of.figures["error_bp"]) + " bp"),
                  of.is_result() ? 1U : 0U)
            << described(of.axes);
    }
    EXPECT_EQ(count(figure, "class=\"panel\""), 5U);
    for (const char* line : {">philox<", ">sobol, steps<", ">sobol, bridge<"})
        EXPECT_EQ(count(figure, line), 1U) << line;
}

// Within a panel a faster row stands higher; the line joins the fastest rows of a feed at each distance.
TEST(bench_report, figures_show_the_faster_row_higher_and_the_fastest_on_the_line) {
    tests::made_run_options how;
    how.precisions = {"double"};
    how.warps = {16};
    how.widths = {1};
    const run r = tests::made_run(how);
    const std::string figure = figure_svg(r, "prefetch-asian-double-padded");
    std::vector<std::pair<double, double>> places;
    std::map<double, double> line, beside_it;  // y by x, of bulk_async, which has two rows at some distances
    for (const auto& [says, where] : marks_of(figure)) {
        places.emplace_back(std::stod(says.substr(says.rfind(": ") + 2)), where.y);
        if (has(says, "bulk_async")) (where.beside ? beside_it : line)[where.x] = where.y;
    }
    EXPECT_EQ(line.size(), how.distances.size());
    EXPECT_EQ(beside_it.size(), 4U);
    for (const auto& [x, y] : beside_it) EXPECT_GE(y, line.at(x)) << "at " << x;
    std::ranges::sort(places);
    for (std::size_t i = 1; i < places.size(); ++i) {
        EXPECT_LE(places[i].second, places[i - 1].second + 0.5)
            << places[i].first << " and " << places[i - 1].first;
    }
    std::size_t beside = 0;
    for (const int distance : how.distances) beside += distance < 12;  // where 4 and 12 rows a copy fit
    EXPECT_EQ(count(figure, " beside "), beside);
}

TEST(bench_report, a_feed_looks_the_same_in_every_figure) {
    const run r = tests::made_run();
    std::map<std::string, std::set<std::string>> styles;
    const std::regex one(
        R"re(class="mark (?:full|hollow)(?: beside)? (s\d+)"[^>]*><title>asian, \w+, (\w+),)re");
    for (const std::string& name : figure_names(r)) {
        const std::string figure = figure_svg(r, name);
        for (std::sregex_iterator i(figure.begin(), figure.end(), one), end; i != end; ++i) {
            styles[(*i)[2]].insert((*i)[1]);
        }
    }
    std::set<std::string> all;
    for (const auto& [feed, its] : styles) {
        EXPECT_EQ(its.size(), 1U) << feed;
        all.insert(its.begin(), its.end());
    }
    EXPECT_EQ(styles.size(), 11U);
    EXPECT_EQ(all.size(), 11U);
}

TEST(bench_report, the_head_says_what_was_measured_on_what) {
    const std::string page = report_html(tests::made_run());
    for (const char* said :
         {"NVIDIA H100 80GB HBM3", "580.65.06", "1980 MHz", "2619 MHz", "2.98 TB/s", "0123abc", "2026-11-21",
          "How to read", "50.0 MiB", "The fastest 10 rows", "prefers-color-scheme:dark", "@media print"}) {
        EXPECT_TRUE(has(page, said)) << said;
    }
}

TEST(bench_report, hostile_names_are_harmless_everywhere) {
    for (const std::string evil :
         {"<script>alert(1)</script>", "\"><svg onload=\"alert(1)", "a & b", "]]>", "'quoted'", "\x1b[2J\x07",
          "\xff\xfe", "\xef\xbf\xbf", "&amp;", "</title></svg>", "../../etc", ""}) {
        tests::made_run_options how;
        how.warps = {8};
        run r = tests::made_run(how);
        r.about["device"] = evil;
        r.about[evil] = evil;
        for (row& of : r.rows) {
            of.axes["workload"] = evil;
            if (!of.over.is_null()) of.over["workload"] = evil;
        }
        r.rows[1].axes["feed"] = evil;
        r.rows[2].axes["layout"] = evil;
        r.rows[3].axes["warps"] = evil;
        r.rows[4].axes[evil] = evil;
        r.rows[5].figures[evil] = evil;
        r.rows[6].wrong = evil.empty() ? "x" : evil;
        r.rows[7].skipped = evil.empty() ? "x" : evil;
        for (int i = 0; i < 3; ++i) r.rows.push_back(timed(evil, {{evil, i}, {"kind", evil}}, i + 1));
        expect_self_contained(report_html(r));
        EXPECT_FALSE(has(report_html(r), "<svg onload"));
        const auto names = figure_names(r);
        EXPECT_FALSE(names.empty());
        for (const std::string& name : names) {
            expect_self_contained(figure_svg(r, name));
            EXPECT_TRUE(std::regex_match(name, std::regex("[A-Za-z0-9_-]+"))) << name;
        }
        for (const std::string& text : {table(r, 200), csv(r)}) {
            EXPECT_FALSE(has(text, "\x1b"));
            EXPECT_FALSE(has(text, "\x07"));
        }
    }
}

TEST(bench_report, figures_of_workloads_that_differ_in_punctuation_have_their_own_names) {
    tests::made_run_options how;
    how.warps = {8};
    how.precisions = {"double"};
    run r = tests::made_run(how);
    const std::vector<row> rows = r.rows;
    r.rows.clear();
    for (const char* workload : {"a b", "a/b"}) {
        for (row of : rows) {
            of.axes["workload"] = workload;
            r.rows.push_back(std::move(of));
        }
    }
    const auto names = figure_names(r);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 8U);
    EXPECT_EQ(names[4], "prefetch-a_b-double-plain-2");
    EXPECT_TRUE(has(figure_svg(r, names[0]), "a b, double"));
    EXPECT_TRUE(has(figure_svg(r, names[4]), "a/b, double"));
}

TEST(bench_report, a_figure_that_is_not_there_is_refused_with_the_nearest) {
    try {
        figure_svg(tests::made_run(), "prefetch-asian-double-paded");
        ADD_FAILURE();
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        EXPECT_TRUE(has(e.message(), "did you mean 'prefetch-asian-double-padded'?")) << e.message();
    }
    EXPECT_THROW(figure_svg({}, "x"), error);
}

TEST(bench_report, runs_with_little_or_nothing_in_them_have_a_page) {
    expect_self_contained(report_html({}));
    EXPECT_TRUE(has(report_html({}), "The run has no rows."));
    EXPECT_TRUE(figure_names({}).empty());

    run one;
    one.rows.push_back(
        timed("prefetch", {{"workload", "asian"}, {"precision", "double"}, {"feed", "none"}}, 2));
    expect_self_contained(report_html(one));
    ASSERT_EQ(figure_names(one), std::vector<std::string>{"prefetch-asian-double-plain"});
    EXPECT_EQ(marks_of(figure_svg(one, figure_names(one)[0])).size(), 1U);
    one.rows[0].axes["distance"] = 4;
    one.rows[0].axes["warps"] = 8;
    EXPECT_EQ(marks_of(figure_svg(one, figure_names(one)[0])).size(), 1U);
    expect_self_contained(report_html(one));

    run skipped = tests::made_run();
    for (row& of : skipped.rows) of.skipped = "there is no GPU";
    expect_self_contained(report_html(skipped));
    EXPECT_TRUE(figure_names(skipped).empty());
    EXPECT_TRUE(has(report_html(skipped), "No results."));
    EXPECT_TRUE(
        has(report_html(skipped), "there is no GPU (" + std::to_string(skipped.rows.size()) + " rows)"));
    EXPECT_TRUE(
        has(table(skipped, 200), std::to_string(skipped.rows.size()) + " rows skipped: there is no GPU"));

    run no_numbers = tests::made_run();
    for (row& of : no_numbers.rows) of.figures = {{"milliseconds", nullptr}, {"ratio", "fast"}};
    expect_self_contained(report_html(no_numbers));
}

std::map<std::string, double> bars_of(const std::string& page) {
    static const std::regex one(
        R"re(<g><title>([^<]*)</title><rect x="[-0-9.]+" y="[-0-9.]+" width="([-0-9.]+)")re");
    std::map<std::string, double> out;
    for (std::sregex_iterator i(page.begin(), page.end(), one), end; i != end; ++i)
        out.emplace((*i)[1], std::stod((*i)[2]));
    return out;
}

TEST(bench_report, another_suite_has_its_table_and_a_chart_of_what_varies) {
    run r;
    for (const char* way : {"read", "write"}) {
        for (int bytes = 1024; bytes <= 1 << 20; bytes *= 4) {
            row of = timed("copies", {{"way", way}, {"bytes", bytes}, {"block", 256}}, bytes * 1e-6);
            of.figures["bytes_per_second"] = 1e9 + bytes;
            r.rows.push_back(std::move(of));
        }
    }
    const std::string page = report_html(r);
    expect_self_contained(page);
    EXPECT_EQ(count(page, "<svg"), 1U);
    EXPECT_TRUE(has(page, "copies: GB/s by bytes"));
    EXPECT_TRUE(has(page, ">256 Ki<"));
    EXPECT_EQ(marks_of(page).size(), r.rows.size());
    EXPECT_EQ(count(page, "<tr>"), r.rows.size() + 1);
    // Too many lines become bars, in a chart for each value of the first axis; too many bars are not drawn.
    run many;
    for (int a = 0; a < 9; ++a) {
        for (int b = 0; b < 9; ++b) many.rows.push_back(timed("copies", {{"a", a}, {"b", b}}, 1 + a + b));
    }
    EXPECT_EQ(count(report_html(many), "<svg"), 9U);
    EXPECT_EQ(bars_of(report_html(many)).size(), 81U);
    EXPECT_EQ(count(report_html(many), "<tr>"), 82U);
    for (int a = 9; a < 30; ++a)
        for (int b = 0; b < 30; ++b) many.rows.push_back(timed("copies", {{"a", a}, {"b", b}}, 1 + a + b));
    EXPECT_EQ(count(report_html(many), "<svg"), 0U);
    // Rows without a rate get bars of their times, and a table with the published figure.
    run times;
    for (int a = 1; a < 4; ++a) times.rows.push_back(timed("waits", {{"a", a}}, a * 0.01));
    times.rows[0].figures["published"] = "12 us";
    EXPECT_TRUE(has(report_html(times), "waits: time us by a"));
    EXPECT_TRUE(has(report_html(times), "<td class=\"t\">12 us</td>"));
}

// A run of two unrelated kinds of rows; the axis `pitch` of the first has two values.
run run_of_kinds() {
    run r;
    for (const int width : {33, 1001})
        for (const char* pitch : {"narrow", "broad"})
            r.rows.push_back(timed("memory", {{"kind", "rows"}, {"width", width}, {"pitch", pitch}},
                                   width * (pitch[0] == 'n' ? 1e-3 : 2e-3)));
    for (int stride = 1; stride <= 8; stride *= 2)
        r.rows.push_back(timed("memory", {{"kind", "strided"}, {"stride", stride}}, stride * 1e-3));
    r.rows.push_back(timed("memory", {{"kind", "lone"}, {"bytes", 8}}, 7));
    return r;
}

TEST(bench_report, each_kind_of_row_has_its_table_with_its_columns) {
    EXPECT_EQ(table(run_of_kinds(), 200), R"(memory
rows
width  pitch   time ms   noise
-----  ------  -------  ------
   33  narrow   0.0330  0.40 %
   33  broad    0.0660  0.40 %
 1001  narrow     1.00  0.40 %
 1001  broad      2.00  0.40 %

strided
stride  time us   noise
------  -------  ------
     1     1.00  0.40 %
     2     2.00  0.40 %
     4     4.00  0.40 %
     8     8.00  0.40 %

lone
bytes  time ms   noise
-----  -------  ------
    8     7.00  0.40 %
)");
    const std::string page = report_html(run_of_kinds());
    expect_self_contained(page);
    for (const char* kind : {"rows", "strided", "lone"})
        EXPECT_EQ(count(page, "<h3>" + std::string(kind) + "</h3>"), 1U) << kind;
    EXPECT_EQ(count(page, "<table>"), 3U);
}

TEST(bench_report, two_values_of_an_axis_are_bars_and_more_are_a_curve) {
    const std::string page = report_html(run_of_kinds());
    const auto bars = bars_of(page);
    ASSERT_EQ(bars.size(), 4U) << "of the rows by width and pitch alone";
    const auto length = [&](const char* of) {
        for (const auto& [says, is] : bars)
            if (says.starts_with(of)) return is;
        ADD_FAILURE() << of;
        return 0.0;
    };
    EXPECT_NEAR(length("rows, width 1001, broad"), 2 * length("rows, width 1001, narrow"), 0.2);
    EXPECT_NEAR(length("rows, width 1001, narrow") * 0.066, length("rows, width 33, broad"), 0.2);
    EXPECT_TRUE(has(page, "memory, strided: time us by stride"));
    EXPECT_EQ(marks_of(page).size(), 4U);
    EXPECT_EQ(count(page, "class=\"bars\""), 1U);
}

TEST(bench_report, models_are_bars_by_device_and_precision_on_one_scale) {
    run r;
    for (const char* device : {"cpu", "gpu"})
        for (const char* precision : {"single", "double"})
            for (const int model : {1, 2, 3}) {
                row of = timed(
                    "models",
                    {{"model", "m" + std::to_string(model)}, {"device", device}, {"precision", precision}},
                    1.0 / model);
                const double times = device[0] == 'c' ? 1e6 : 1e9;
                of.figures["path_steps_per_second"] = model * times * (precision[0] == 's' ? 2 : 1);
                r.rows.push_back(std::move(of));
            }
    const std::string page = report_html(r);
    expect_self_contained(page);
    EXPECT_EQ(count(page, "class=\"bars\""), 4U);
    EXPECT_TRUE(has(page, "<h3>cpu</h3>")) << "each device has its own";
    const auto bars = bars_of(page);
    ASSERT_EQ(bars.size(), r.rows.size());
    const auto length = [&](const std::string& of) { return bars.lower_bound(of)->second; };
    EXPECT_NEAR(length("m1, gpu, single"), 2 * length("m1, gpu, double"), 0.2);
    EXPECT_NEAR(length("m3, gpu, single"), 3 * length("m1, gpu, single"), 0.2);
    EXPECT_NEAR(length("m3, cpu, double"), length("m3, gpu, double"), 0.2);
    EXPECT_TRUE(has(page, "single, G path steps/s")) << page;
    EXPECT_TRUE(has(page, "double, M path steps/s"));
}

}  // namespace
}  // namespace tilewalk::bench::bench_report_test
