// SPDX-License-Identifier: Apache-2.0
// Every row of every model's parameter table: ranges, time dependence, and what is required.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "engine/base/wording.h"
#include "tests/every_model.h"
#include "tests/refusal.h"
#include "tilewalk/models.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::parameter_table_test {
namespace {

using given = std::optional<std::string>;

// The mapping, such as "{a: 1, b: {c: 2}}", with `value` for the parameter `name`, such as b.c, or without.
std::string with(const std::string& mapping, const std::string& name, const given& value) {
    const std::size_t dot = name.find('.');
    const std::string first = name.substr(0, dot);
    std::string out;
    const auto add = [&](const std::string& key, const std::string& text) {
        out += (out.empty() ? "" : ", ") + key + ": " + text;
    };
    bool is_there = false;
    for (const auto& [key, text] : tests::entries_of(mapping.substr(1, mapping.size() - 2))) {
        const bool is_meant = key == first;
        is_there = is_there || is_meant;
        if (is_meant && dot != name.npos)
            add(key, with(text, name.substr(dot + 1), value));
        else if (!is_meant || value)
            add(key, is_meant ? *value : text);
    }
    if (!is_there && value) add(name, *value);
    return "{" + out + "}";
}

struct tabled {
    std::string model, parameters;  // as every_model.h has them
    models::parameter_table table;
    bool is_of_rates;

    std::string refused(const std::string& name, const given& value) const {
        // Loadings stand in place of the parameters from which volatilities otherwise follow.
        const std::string base = name == "loadings" ? "{tenor: 1, until: 15}" : parameters;
        const std::string moves = "model: {" + model + ": " + with(base, name, value) + "}";
        return tests::refusal([&] {
            if (is_of_rates)
                market::parse("as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03, " + moves + "}}\n");
            else
                market::parse(tests::dollar_market(0.03, {{"A", "spot: 100, " + moves}}));
        });
    }
};

std::vector<tabled> every_table() {
    std::vector<tabled> out;
    const auto add = [&](const auto& catalogue, const auto& all, bool is_of_rates) {
        for (const auto& entry : catalogue) {
            const std::string name(entry.name), text = all.find(name)->second,
                                                head = "model: {" + name + ": ";
            const std::string parameters =
                text.starts_with(head) ? text.substr(head.size(), text.size() - head.size() - 1) : "{}";
            out.push_back({name, parameters, entry.parameters, is_of_rates});
        }
    };
    add(models::catalogue(), every_model(), false);
    add(models::rate_catalogue(), every_rate_model(), true);
    return out;
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != text.npos;
}

// A number as the row's reader takes it: alone, or as a matrix of rows.
std::string written(const models::parameter_row& row, double number) {
    const std::string text = fmt::format("{}", number);
    return row.takes.starts_with("rows") ? "[[" + text + "]]" : text;
}

TEST(parameter_tables, are_what_markets_may_say) {
    std::size_t ranges = 0;
    for (const tabled& of : every_table()) {
        EXPECT_EQ(of.table.empty(), of.model == "black_scholes");
        for (const models::parameter_row& row : of.table) {
            if (!row.within) continue;
            ++ranges;
            const models::range& r = *row.within;
            const std::string name(row.name), told = models::to_string(r);
            const double low_step = 1e-9 * std::max(std::abs(r.low), 1e-3),
                         high_step = 1e-9 * std::max(std::abs(r.high), 1e-3);
            for (const double outside :
                 {r.has_low ? r.low - low_step : r.low, r.has_high ? r.high + high_step : r.high})
                EXPECT_TRUE(has(of.refused(name, written(row, outside)), told))
                    << of.model << " " << name << " " << outside;
            for (const double inside :
                 {r.has_low ? r.low : r.low + low_step, r.has_high ? r.high : r.high - high_step}) {
                const std::string refused = of.refused(name, written(row, inside));
                EXPECT_FALSE(has(refused, told))
                    << of.model << " " << name << " " << inside << ": " << refused;
            }
            const std::string by_term = of.refused(name, "{1.0: " + written(row, r.high + high_step) + "}");
            EXPECT_EQ(has(by_term, told), row.may_be_by_term) << of.model << " " << name << ": " << by_term;
        }
    }
    EXPECT_GT(ranges, 70u);
}

TEST(parameter_tables, say_what_is_required) {
    for (const tabled& of : every_table()) {
        for (const models::parameter_row& row : of.table) {
            const std::string name(row.name), refused = of.refused(name, std::nullopt);
            const std::string last = name.substr(name.find('.') + 1);
            if (row.left_out_text() == "required") {
                EXPECT_TRUE(has(refused, "missing key") && has(refused, last)) << of.model << " " << refused;
            } else if (!row.otherwise.starts_with("required without")) {
                EXPECT_EQ(refused, tests::nothing_refused) << of.model << " " << name;
            }
        }
    }
}

TEST(parameter_tables, leave_no_parameter_out) {
    for (const tabled& of : every_table()) {
        for (const models::parameter_row& row : of.table) {
            const std::string wrong = std::string(row.name) + "x", refused = of.refused(wrong, "1");
            const std::string last = wrong.substr(wrong.find('.') + 1);
            EXPECT_TRUE(has(refused, "unknown key '" + last + "'")) << of.model << " " << refused;
            EXPECT_TRUE(has(refused, last.substr(0, last.size() - 1))) << of.model << " " << refused;
        }
    }
}

TEST(parameter_tables, are_told_to_users) {
    const auto tables = every_table();
    for (const model_page& page : model_pages()) {
        const auto of = std::ranges::find(tables, page.name, &tabled::model);
        ASSERT_EQ(page.parameters.size(), of->table.size()) << page.name;
        for (const parameter_page& p : page.parameters)
            EXPECT_FALSE(p.meaning.empty() || p.takes.empty() || p.left_out.empty())
                << page.name << " " << p.name;
        if (page.name != "heston") continue;
        EXPECT_EQ(page.parameters[1].takes, "a number between 0 and 100, also by term");
        EXPECT_EQ(page.parameters[1].left_out, "required");
        EXPECT_EQ(page.parameters[5].takes, "quadratic_exponential or full_truncation");
        EXPECT_EQ(page.parameters[5].left_out, "default quadratic_exponential");
    }
}

}  // namespace
}  // namespace tilewalk::parameter_table_test
