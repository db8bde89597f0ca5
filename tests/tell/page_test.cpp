// SPDX-License-Identifier: Apache-2.0
// Pages of made-up results: every figure is in its place, every name is escaped, and the page says what it
// leaves out. tests/drawn_pages_test.py checks pages of real runs as a browser draws them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "engine/tell/page/figures.h"
#include "engine/tell/page/markup.h"
#include "tests/xml_check.h"
#include "tilewalk/page.h"

namespace tilewalk::page_test {
namespace {

using tests::xml_check;

bool has(const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
}
std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
    return n;
}
// The HTML of one section of a page; empty if there is none.
std::string section(const std::string& page, const std::string& id) {
    const auto from = page.find("<section id=\"" + id + "\"");
    return from == std::string::npos ? "" : page.substr(from, page.find("</section>", from) - from);
}

price_row priced(const std::string& id, double price, double error) {
    price_row row;
    row.trade = id;
    row.product = "european";
    row.currency = "USD";
    row.status = trade_status::priced;
    row.price = price;
    row.standard_error = error;
    row.low = price - 1.96 * error;
    row.high = price + 1.96 * error;
    row.paths = 65536;
    row.effective_hits = 5000;
    return row;
}

results some(std::vector<price_row> rows) {
    results r;
    r.rows = std::move(rows);
    r.manifest.version = "1.2.3";
    r.manifest.as_of = "2026-01-15";
    r.manifest.seed = 42;
    r.manifest.paths = 65536;
    r.manifest.part_paths = 1024;
    r.manifest.threads = 2;
    return r;
}

TEST(page, tells_totals_failures_and_thin_trades_with_their_digits) {
    results r = some({priced("a", 12.3456789, 0.00123), priced("b", 100, 0.5), priced("thin_one", 3, 0.25)});
    r.rows[1].quantity = -2;
    r.rows[2].thin = true;
    r.rows[2].effective_hits = 7;
    r.rows[2].message = "only about 7 paths carry the variance";
    price_row& lost = r.rows.emplace_back();
    lost.trade = "lost";
    lost.where = {"book.yaml", 12, 5};
    lost.message = "unknown asset 'ACMEE'";
    const std::string page = page_of(r);
    EXPECT_EQ(xml_check::fault(page), "");
    const std::string totals = section(page, "totals"), look = section(page, "look"),
                      trades = section(page, "trades");
    EXPECT_TRUE(has(totals, ">-184.7<")) << totals;  // 12.3457 - 200 + 3; the error is at most 1.251
    EXPECT_TRUE(has(totals, "at most 1.3")) << totals;
    EXPECT_FALSE(has(totals, "Bars are")) << "a bound has no interval, and so no bar: " << totals;
    EXPECT_TRUE(has(trades, ">12.3457<")) << trades;
    EXPECT_TRUE(has(look, "<code class=\"id\">book.yaml:12:5</code>")) << look;
    EXPECT_TRUE(has(look, "unknown asset &#39;ACMEE&#39;")) << look;
    EXPECT_TRUE(has(look, "1 trade failed"));
    EXPECT_TRUE(has(look, "1 trade with a thin sample"));
    EXPECT_TRUE(has(look, "only about 7 paths"));
    EXPECT_EQ(count(trades, "<tr class=\"alarm\">"), 2U) << "what failed and what is thin stand out";
}

TEST(page, marks_trades_whose_time_steps_leave_more_than_chance) {
    results r = some({priced("a", 12.3, 0.001), priced("b", 100, 0.5), priced("c", 100, 0.5)});
    EXPECT_FALSE(has(section(page_of(r), "trades"), "steps"));
    r.rows[0].error_steps = 0.007;
    r.rows[1].error_steps = 0.007;
    const std::string trades = section(page_of(r), "trades");
    EXPECT_EQ(count(trades, ">priced, steps<"), 1U) << trades;
    EXPECT_TRUE(has(trades, "the error of the model's time steps may exceed")) << trades;
}

TEST(page, tells_wide_bounds) {
    results r = some({priced("a", 12.3456789, 0.00123), priced("far_apart", 35.4, 0.25)});
    early_exercise& e = r.rows[1].early.emplace();
    e.policy_value = e.lower_bound = 35.4;
    e.policy_error = e.lower_error = 0.25;
    e.upper_bound = 52.884;
    e.upper_error = 0.4206;
    e.wide = true;
    r.rows[1].message = "its bounds are 17.5 apart";
    const std::string page = page_of(r);
    EXPECT_EQ(xml_check::fault(page), "");
    const std::string look = section(page, "look"), trades = section(page, "trades");
    EXPECT_TRUE(has(page, "1 with wide bounds"));
    EXPECT_TRUE(has(look, "1 trade with wide bounds")) << look;
    EXPECT_TRUE(has(look, "more than 2% apart, so the price is the value of the policy")) << look;
    EXPECT_TRUE(has(look, ">52.88<")) << look;
    EXPECT_TRUE(has(look, "its bounds are 17.5 apart")) << look;
    EXPECT_TRUE(has(trades, "priced, wide")) << trades;
    EXPECT_EQ(count(trades, "<tr class=\"alarm\">"), 1U);
}

// Errors are shown with two digits, values with the decimals of their errors, and only very small or very
// large numbers by powers of ten.
TEST(page, writes_numbers_for_people) {
    using namespace page;
    struct number {
        double value, error;
        const char *text, *error_text;
    };
    for (const auto& [value, error, text, of_error] : std::vector<number>{
             {0.043986028945123, 4.397e-10, "0.04398602895", "4.4e-10"},
             {0.0439, 0.00123, "0.0439", "0.0012"},
             {-4.7449069677e-4, 4.744e-12, "-0.0004744906968", "4.7e-12"},
             {7.3946397534, 1.48e-12, "7.39463975340", "1.5e-12"},
             {1234.5678, 0.0996, "1234.57", "0.10"},
             {1234.5678, 9.96, "1235", "10"},
             {12345678.9, 1234.5, "12345679", "1234"},
             {1.5e9, 0.25, "1500000000.00", "0.25"},
             {2.5e16, 1e10, "2.5000000e16", "1.0e10"},
             {1.25e-8, 3.1e-10, "1.250e-8", "3.1e-10"},
             {1.25e-8, 0.5, "0.00", "0.50"},
             {0, 0.5, "0.00", "0.50"},
             {0, 1e-14, "0", "1.0e-14"},
             {0, 0, "0", "0"},
             {1e-6, 9.99e-7, "0.0000010", "0.0000010"},
             {9.6e8, 9.996e8, "960000000", "1.0e9"},
             {100000, 0, "100000", "0"},
             {100000, no_figure, "100000", ""},
             {0.00001, no_figure, "0.00001", ""},
             {-874114.8068, no_figure, "-874000", ""},
             {288.3158778, no_figure, "288", ""},
         }) {
        EXPECT_EQ(value_text(value, error), text) << value << ", " << error;
        EXPECT_EQ(error_text(error), of_error) << error;
    }
    EXPECT_EQ(rounded(2260, 2), "2260");
    EXPECT_EQ(rounded(1.2345e8, 3), "123450000");
    EXPECT_EQ(rounded(0.0000123456, 3), "0.0000123");
    EXPECT_EQ(rounded(0.5, 3), "0.5");
    EXPECT_EQ(rounded(1e-9, 3), "1e-9");
    EXPECT_EQ(exact(100000), "100000");
    EXPECT_EQ(exact(-0.00001), "-0.00001");
    EXPECT_EQ(exact(0.1), "0.1");
    EXPECT_EQ(exact(1e300), "1e+300");
    table rows("t", {{"name", table::of::text}, {"x"}});
    for (const char* cell : {"12.345", "-3.4", "7", "failed", "4.4e-7", ""}) rows.add({"a", cell});
    const std::string markup = rows.text();
    for (const char* cell : {"<td class=\"r1\">12.345<", "<td class=\"r5\">-3.4<", "<td class=\"r8\">7<",
                             "<td>failed<", "<td>4.4e-7<", "<td><"})
        EXPECT_TRUE(has(markup, cell)) << cell << "\n" << markup;
    EXPECT_TRUE(has(page_of(some({})), ".r9{padding-right:calc(.65rem + 4.5ch)}"));
}

TEST(page, ranks_the_largest_errors_by_their_share) {
    results r = some({priced("small", 5, 0.01), priced("large", 5, 0.3), priced("middle", 5, 0.1)});
    r.rows.push_back(priced("exact_but_for_rounding", 5, 1e-14));
    r.rows.back().currency = "EUR";
    const std::string errors = section(page_of(r), "errors");
    const auto at = [&](const char* name) { return errors.find(std::string(">") + name + "<"); };
    EXPECT_LT(at("large"), at("middle"));
    EXPECT_LT(at("middle"), at("small"));
    EXPECT_FALSE(has(errors, "exact_but_for_rounding"));
    // Without part means, the total's error is taken as the root of 0.3^2 + 0.1^2 + 0.01^2.
    EXPECT_TRUE(has(errors, ">94.8%<")) << errors;
    EXPECT_TRUE(has(errors, "root of the sum of squares"));
}

// The picture shows the mean after 1, 2, ... parts less the mean after all of them.
TEST(page, shows_how_the_worst_trades_converge) {
    results r = some({priced("a", 2.5, 0.6454972243679028)});
    r.rows[0].part_means = {1, 2, 3, 4};
    const std::string page = page_of(r), part = section(page, "convergence");
    EXPECT_TRUE(has(part, "parts of the run")) << part;
    EXPECT_EQ(count(part, "class=\"mark "), 3U);
    EXPECT_FALSE(has(part, "quasi-Monte Carlo"));
    r.rows[0].randomisations = 4;
    EXPECT_TRUE(has(section(page_of(r), "convergence"), "quasi-Monte Carlo"));
    // If there are many parts, 16 running means are shown: of 64 parts, after 4, 8 and so on.
    results many = some({priced("a", 32.5, 2.327373)});
    for (int mean = 1; mean <= 64; ++mean) many.rows[0].part_means.push_back(mean);
    EXPECT_EQ(count(section(page_of(many), "convergence"), "class=\"mark "), 16U);
    // If all parts are equal, the error is one of rounding, and there is no picture.
    r.rows[0].part_means = {2.5, 2.5, 2.5, 2.5};
    EXPECT_EQ(section(page_of(r), "convergence"), "");
}

TEST(page, names_are_harmless_and_the_page_runs_nothing) {
    for (const std::string evil :
         {"<script>alert(1)</script>", "\"><svg onload=\"alert(1)", "a & b", "]]>", "'quoted'", "\x1b[2J\x07",
          "\xff\xfe", "\xef\xbf\xbf", "&amp;", "</td></tr></table>", ""}) {
        results r = some({priced(evil, 1, 0.1), priced("b", 1, 0.1)});
        r.rows[0].product = r.rows[0].message = evil;
        r.rows[0].remarks = {evil};
        r.rows[0].reported = reported_figure{evil, 1, 0.1, evil};
        r.rows[0].part_means = {0.8, 1.2, 0.9, 1.1};
        price_row& lost = r.rows.emplace_back();
        lost.trade = lost.message = lost.where.file = evil;
        r.manifest.inputs = {{evil, evil}};
        r.manifest.market_changes = {{evil, 1, evil}};
        r.manifest.lost_devices = {evil};
        r.manifest.machine = r.manifest.compiler = evil;
        greek_row greek;
        greek.trade = greek.key = greek.unit = greek.method = evil;
        greek.measure = "delta";
        greek.value = 1;
        r.greeks = {greek};
        greek.message = evil;
        r.greeks.push_back(greek);
        scenario_results s;
        s.scenarios = {{evil, evil}, {evil, "b"}};
        s.base = r;
        s.remarks = {evil};
        s.failures = {{0, 0, evil}};
        s.totals = {{evil, evil, false, {0}, 1, {1, -1}, {0.1, 0.1}, {0, 0}},
                    {"", evil, false, {0}, 1, {1, -1}, {0.1, 0.1}, {0, 0}}};
        const std::string page = page_of(r, {.scenarios = &s, .command = {"tilewalk", evil}});
        EXPECT_EQ(xml_check::fault(page), "") << evil;
        EXPECT_FALSE(has(page, "<script")) << evil;
        EXPECT_FALSE(has(page, "<svg onload")) << evil;
    }
}

TEST(page, the_command_is_quoted_for_a_shell) {
    const std::string page = page_of(
        some({priced("a", 1, 0.1)}),
        {.command = {"tilewalk", "price", "it's a book.yaml", "--tolerance", "2 total", "$HOME", "a;b", ""}});
    EXPECT_TRUE(has(page,
                    "tilewalk price &#39;it&#39;\\&#39;&#39;s a book.yaml&#39; --tolerance &#39;2 total&#39; "
                    "&#39;$HOME&#39; &#39;a;b&#39; &#39;&#39;"))
        << section(page, "command");
    EXPECT_EQ(section(page_of(some({priced("a", 1, 0.1)})), "command"), "");
}

// A ladder of two keys, whose second key changes fastest. The key with more steps runs down the table.
TEST(page, a_ladder_of_two_keys_is_a_heat_map) {
    scenario_results s;
    s.base = some({priced("a", 1, 0.1)});
    portfolio_gains total{"", "USD", false, {0}, 1};
    for (const int volatility : {-5, 0, 5}) {
        for (const int spot : {-20, -10, 0, 10, 20}) {
            const std::string name = "ACME.volatility=" + std::to_string(volatility) +
                                     "pt;ACME.spot=" + std::to_string(spot) + "%";
            s.scenarios.push_back({"ladder", name});
            total.gains.push_back(10 * spot + volatility);
            total.errors.push_back(0.5);
            total.failed.push_back(0);
        }
    }
    s.totals = {total};
    const std::string part = section(page_of(s.base, {.scenarios = &s}), "scenarios");
    EXPECT_TRUE(has(part, "gain by ACME.spot (down) and ACME.volatility (across)")) << part;
    EXPECT_TRUE(has(part, "<th scope=\"col\">-5pt</th><th scope=\"col\">0pt</th><th scope=\"col\">5pt</th>"))
        << part;
    // The largest gain is 205. In the last row 195, 200 and 205 are within an eighth of it, and so coloured
    // alike.
    const auto row = part.find("<th scope=\"row\">20%</th>");
    ASSERT_NE(row, std::string::npos);
    const std::string cells = part.substr(row, part.find("</tr>", row) - row);
    EXPECT_EQ(count(cells, "class=\"p4\""), 3U) << cells;
    EXPECT_LT(cells.find(">195.00<"), cells.find(">200.00<")) << cells;
    EXPECT_LT(cells.find(">200.00<"), cells.find(">205.00<")) << cells;
    EXPECT_TRUE(has(part, "class=\"z\" title=\"standard error 0.50\">0.00<")) << part;
    s.scenarios.pop_back();
    for (auto* of : {&s.totals[0].gains, &s.totals[0].errors}) of->pop_back();
    s.totals[0].failed.pop_back();
    EXPECT_FALSE(has(section(page_of(s.base, {.scenarios = &s}), "scenarios"), "class=\"heat\""));
}

TEST(page, tails_have_their_noise_and_the_scenario_they_are) {
    scenario_results s;
    s.base = some({priced("a", 1, 0.1)});
    portfolio_gains total{"", "USD", false, {0}, 1};
    for (int k = 0; k < 100; ++k) {
        s.scenarios.push_back({"history", "day " + std::to_string(k)});
        total.gains.push_back(k - 50);
        total.errors.push_back(0.25);
        total.failed.push_back(0);
    }
    s.totals = {total};
    portfolio_risk risk;
    risk.set = "history";
    risk.currency = "USD";
    risk.scenarios = 100;
    risk.tails = {{0.05, {-45.5, 0.25, 3.5}, {-48, 0.125, 2}, 5},
                  {0.012345678, {-49, 0.25, 3.5}, {-49.5, 0.125, 2}, 1}};  // level shown with six digits
    s.risks = {risk};
    const std::string part = section(page_of(s.base, {.scenarios = &s}), "tails");
    for (const char* text :
         {">5%<", ">-45.50<", ">0.25<", ">3.5<", ">-48.00<", ">0.12<", ">day 5<", ">1.23457%<"})
        EXPECT_TRUE(has(part, text)) << text << "\n" << part;
    EXPECT_TRUE(has(part, "class=\"histogram\""));
    EXPECT_TRUE(has(part, "5%: -45.50"));
    EXPECT_TRUE(has(part, "1.23457%: -49.00"));
}

TEST(page, a_list_that_is_cut_says_so) {
    std::vector<price_row> rows;
    for (int i = 0; i < 2100; ++i) rows.push_back(priced("t" + std::to_string(i), 1, 0.01));
    const std::string page = page_of(some(rows)), part = section(page, "trades");
    EXPECT_TRUE(has(part, "and 100 other trades; csv and json output have them all"));
    EXPECT_TRUE(has(part, "<details>")) << "a long list is folded";
    EXPECT_FALSE(has(section(page_of(some({priced("a", 1, 0.1)})), "trades"), "<details>"));
}

TEST(page, tells_once_of_trades_that_fail_alike) {
    std::vector<price_row> rows;
    for (int i = 0; i < 143; ++i) {
        price_row& row = rows.emplace_back();
        row.trade = "N" + std::to_string(i);
        row.message = "the terms are refused";
    }
    const std::string page = page_of(some(rows)), look = section(page, "look");
    EXPECT_EQ(xml_check::fault(page), "");
    EXPECT_TRUE(has(look, "143 trades failed")) << look;
    EXPECT_TRUE(has(look, "the terms are refused (N0, N1, N2, N3, N4, ...)")) << look;
    EXPECT_EQ(count(look, "<tr class=\"alarm\">"), 1U) << look;
}

// 300 deltas from 1 to 300, and as many vegas a million times smaller. Both lose their smallest third,
// because sensitivities are compared with those of the same measure.
TEST(page, shows_the_sensitivities_that_are_large_beside_their_like) {
    results r = some({priced("a", 1, 0.1)});
    const auto add = [&](const std::string& measure, int number, double value) {
        greek_row& greek = r.greeks.emplace_back();
        greek.trade = "a";
        greek.measure = measure;
        greek.key = "N" + std::to_string(number) + ".number";
        greek.unit = "USD";
        greek.value = value;
        greek.standard_error = no_figure;
    };
    const auto by_trade = [&] {
        const std::string part = section(page_of(r), "greeks");
        return part.substr(std::min(part.find("by trade: "), part.size()));
    };
    for (int k = 1; k <= 300; ++k) add("delta", k, k);
    for (int k = 1; k <= 300; ++k) add("vega", k, std::ldexp(k, -20));
    const std::string told = by_trade();
    EXPECT_TRUE(has(told, "the largest 400 of 600 sensitivities; csv and json output have them all"));
    EXPECT_EQ(count(told, ">delta<"), 200U);
    EXPECT_EQ(count(told, ">vega<"), 200U);
    for (greek_row& greek : r.greeks) greek.value = -2;
    EXPECT_TRUE(has(by_trade(), "the largest 400 of 600 sensitivities"));
}

TEST(page, tells_times_only_where_they_were_taken) {
    results r = some({priced("a", 1, 0.1)});
    EXPECT_EQ(section(page_of(r), "time"), "");
    r.manifest.total_seconds = 4;
    r.manifest.plan_seconds = 1;
    r.manifest.path_seconds = 2.5;
    const std::string part = section(page_of(r), "time");
    for (const char* text : {">planning<", ">25.0%<", ">paths<", ">62.5%<", ">other<", ">12.5%<"})
        EXPECT_TRUE(has(part, text)) << text << "\n" << part;
}

TEST(page, says_how_many_paths_give_sensitivities_an_error) {
    results r = some({priced("a", 12.3456789, 0.00123)});
    r.manifest.paths = 4096;
    greek_row greek;
    greek.trade = "a";
    greek.measure = "delta";
    greek.key = "ACME.spot";
    greek.unit = "USD per 1 USD of ACME";
    greek.value = -874114.8068;
    greek.standard_error = no_figure;
    greek.part_means = {1, 2, 3, 4};
    r.greeks = {greek};
    const std::string page = page_of(r);
    EXPECT_EQ(xml_check::fault(page), "");
    EXPECT_TRUE(has(page, "4096 paths make 4 parts of the run, and an error needs 16; use 16384 paths"))
        << page;
    EXPECT_TRUE(has(page, ">-874000<")) << page;
    EXPECT_FALSE(has(page, "-874114")) << page;
}

TEST(page, a_book_of_no_trades_and_one_that_failed_have_pages_too) {
    EXPECT_EQ(xml_check::fault(page_of(some({}))), "");
    results r = some({price_row{}});
    EXPECT_EQ(xml_check::fault(page_of(r)), "");
    EXPECT_TRUE(has(page_of(r), "1 failed"));
}

}  // namespace
}  // namespace tilewalk::page_test
