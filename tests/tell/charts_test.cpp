// SPDX-License-Identifier: Apache-2.0
// Charts, bars and histograms as SVG: texts don't overlap, and long names leave room for the picture.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "engine/tell/pictures/bar_chart.h"
#include "engine/tell/pictures/bars.h"
#include "engine/tell/pictures/chart.h"
#include "engine/tell/pictures/svg.h"

namespace tilewalk::charts_test {
namespace {

bool has(const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
}

pictures::chart chart_of(const std::vector<std::string>& names, const std::vector<double>& places) {
    pictures::chart out;
    out.panels.emplace_back();
    for (const std::string& name : names) {
        pictures::chart_line& line = out.panels[0].lines.emplace_back();
        line.name = name;
        for (const double x : places) {
            pictures::mark& one = line.marks.emplace_back();
            one.x = x;
            one.y = 1;
        }
    }
    return out;
}

// Eight six-digit labels don't fit side by side in 200 pixels.
TEST(charts, labels_of_an_axis_do_not_run_into_each_other) {
    std::vector<double> places;
    for (int k = 1; k <= 8; ++k) places.push_back(100000 + k);
    pictures::chart narrow = chart_of({""}, places);
    narrow.width = 200;
    const std::string drawn = pictures::svg(narrow);
    const std::regex label(R"re(<text x="([0-9.]+)" y="[0-9.]+" text-anchor="middle">(10000[0-9])</text>)re");
    std::vector<double> middles;
    for (std::sregex_iterator at(drawn.begin(), drawn.end(), label), end; at != end; ++at)
        middles.push_back(std::stod((*at)[1].str()));
    EXPECT_GE(middles.size(), 2U) << drawn;
    EXPECT_LT(middles.size(), 8U) << drawn;
    for (std::size_t i = 1; i < middles.size(); ++i)
        EXPECT_GE(middles[i] - middles[i - 1], pictures::width_of("100001")) << drawn;
}

// The picture begins at 60 pixels, after the margin and the labels of the vertical axis.
TEST(charts, names_at_the_ends_of_lines_take_half_of_the_width_at_most) {
    const auto end_of_axis = [](const std::string& name) {
        pictures::chart of = chart_of({name, name + "2"}, {1, 2, 3});
        of.width = 400;
        const std::string drawn = pictures::svg(of);
        const std::regex axis(R"re(class="axis" d="M60\.0 ([0-9.]+)L([0-9.]+) \1")re");
        std::smatch found;
        EXPECT_TRUE(std::regex_search(drawn, found, axis)) << drawn;
        return found.empty() ? 0 : std::stod(found[2].str());
    };
    EXPECT_GT(end_of_axis("short"), 240);
    EXPECT_EQ(end_of_axis(std::string(200, 'n')), 180);
}

TEST(charts, names_of_bars_have_room_for_34_columns) {
    const std::string fits(34, 'n'), longer(35, 'n');
    const auto drawn = [](const std::string& name) {
        return pictures::bar_chart("bars", {{name, 1, "1", {0, 0}, {}}}, 1);
    };
    EXPECT_TRUE(has(drawn(fits), '>' + fits + '<'));
    EXPECT_FALSE(has(drawn(longer), longer));
    EXPECT_TRUE(has(drawn(longer), "...")) << drawn(longer);
}

// The axis has 0 at 34 pixels and 10 at 330, so 4 is at 152.4 and 6 at 211.6, on both sides of the middle.
TEST(charts, levels_of_a_histogram_have_their_names_towards_its_middle) {
    std::vector<double> values;
    for (int k = 0; k <= 10; ++k) values.push_back(k);
    const std::string drawn = pictures::histogram(values, {{4, "low"}, {6, "high"}}, "gain", "gains");
    EXPECT_TRUE(has(drawn, "<text x=\"156.4\" y=\"14.0\" text-anchor=\"start\">low</text>")) << drawn;
    EXPECT_TRUE(has(drawn, "<text x=\"207.6\" y=\"28.0\" text-anchor=\"end\">high</text>")) << drawn;
}

}  // namespace
}  // namespace tilewalk::charts_test
