// SPDX-License-Identifier: Apache-2.0
// Reports: tables, CSV and JSON word for word, digits that are shown, bits that are kept, and refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/written_json.h"
#include "engine/tell/formats.h"
#include "engine/tell/row_fields.h"
#include "tests/texts.h"
#include "tilewalk/compare.h"
#include "tilewalk/engine.h"
#include "tilewalk/printable.h"
#include "tilewalk/products.h"
#include "tilewalk/results.h"

namespace tilewalk::report_test {
namespace {

using tests::replaced;

price_row priced(const std::string& id, const std::string& currency, double price, double standard_error) {
    price_row row;
    row.trade = id;
    row.product = "european";
    row.currency = currency;
    row.status = trade_status::priced;
    row.price = price;
    row.standard_error = standard_error;
    row.low = price - 2 * standard_error;
    row.high = price + 2 * standard_error;
    row.paths = 131072;
    row.effective_hits = 20000;
    row.where = {"book.yaml", 4, 5};
    return row;
}

price_row failed(const std::string& id) {
    price_row row;
    row.trade = id;
    row.product = "barrier";
    row.message = "unknown asset 'ACMEE'; did you mean 'ACME'?";
    row.kind = error_kind::input;
    row.where = {"book.yaml", 7, 22};
    return row;
}

results sample() {
    results r;
    r.rows = {priced("call", "USD", 10.45058, 0.03125), priced("swap", "EUR", -1234.5, 12.5), failed("bad"),
              priced("far", "USD", 0.0125, 0.0025)};
    r.rows[3].thin = true;
    r.rows[3].effective_hits = 37.5;
    r.rows[3].message = "only about 37 paths carry the variance";
    auto& m = r.manifest;
    m.version = "0.1.0";
    m.compiler = "gcc 12.2";
    m.instruction_set = "x86-64-v3";
    m.machine = "eight cores";
    m.as_of = "2026-01-15";
    m.started = "2026-01-15T08:00:00Z";
    m.seed = 18446744073709551615ULL;
    m.paths = 131072;
    m.threads = 2;
    m.inputs = {{"book.yaml", "00ff"}, {"market.yaml", "1234"}};
    m.plan_seconds = 0.0125;
    m.path_seconds = 0.5;
    m.total_seconds = 0.515625;
    m.path_steps = 150000000;
    m.path_steps_on_gpus = 120000000;
    return r;
}

std::string written(const results& r, output_format format) {
    std::ostringstream out;
    write(out, r, format);
    return out.str();
}

// Texts without escapes are written by a fast path, with the same bytes as by nlohmann::json.
TEST(report, texts_of_json_are_those_of_its_library) {
    std::vector<std::string> texts{
        "", "plain text ~", "a \"quoted\" one", "back\\slash", "caf\xc3\xa9", "\xff broken"};
    for (int c = 0; c < 256; ++c) texts.push_back(std::string("a") + static_cast<char>(c) + "z");
    for (const std::string& text : texts) {
        const auto replace = nlohmann::json::error_handler_t::replace;
        EXPECT_EQ(report::json_string(text), nlohmann::json(text).dump(-1, ' ', false, replace));
    }
}

TEST(report, table_is_word_for_word) {
    const std::string expected =
        R"(trade  status    product   currency        price  std error        95% interval   paths
-----  --------  --------  --------  -----------  ---------  ------------------  ------
call   priced    european  USD          10.4506     0.0312   10.3881 .. 10.5131  131072
swap   priced    european  EUR       -1234.5       12.5      -1259.5 .. -1209.5  131072
bad    failed    barrier
far    priced *  european  USD           0.01250    0.00250  0.00750 .. 0.01750  131072

* thin sample: fewer than 100 paths carry the variance, so the standard error itself is in doubt
  far: only about 37 paths carry the variance

1 trade failed:
  bad: book.yaml:7:22: unknown asset 'ACMEE'; did you mean 'ACME'?

total  trades       value       std error        95% interval
-----  ------  ----------  --------------  ------------------
USD         2     10.4631  at most 0.0338
EUR         1  -1234.5               12.5  -1259.0 .. -1210.0
at most: the plain sum of the errors, an upper bound; a run of 16 parts or more estimates their correlation
errors of totals take into account that trades share random numbers
failed trades are left out

131072 paths, seed 18446744073709551615, double precision, as of 2026-01-15
516 ms on 2 threads (x86-64-v3): planning 12 ms, paths 500 ms; 3.00e8 path-steps/s
)";
    EXPECT_EQ(written(sample(), output_format::table), expected);
}

TEST(report, table_shows_value_only_where_a_quantity_is_not_one) {
    results r = sample();
    EXPECT_EQ(written(r, output_format::table).find("quantity"), std::string::npos);
    r.rows[0].quantity = -1000;
    const std::string text = written(r, output_format::table);
    EXPECT_NE(text.find("quantity"), std::string::npos) << text;
    EXPECT_NE(text.find("-10450.6"), std::string::npos) << text;
    EXPECT_NE(text.find("-10450.6  at most 31.3\n"), std::string::npos) << "the total\n" << text;
}

TEST(report, empty_book_has_an_empty_table) {
    results r = sample();
    r.rows.clear();
    EXPECT_EQ(written(r, output_format::table).substr(0, 10), "no trades\n");
    EXPECT_EQ(written(r, output_format::csv).find('\n'), written(r, output_format::csv).size() - 1);
    EXPECT_TRUE(read_results(written(r, output_format::json), "r").rows.empty());
}

TEST(report, table_takes_no_orders_from_a_trade) {
    results r = sample();
    r.rows[0].trade = "a\x1b[2Jb\n\u202Ec\xff";
    r.rows[1].trade = "Z\u00FCrich";
    const std::string text = written(r, output_format::table);
    EXPECT_NE(text.find("a\\x1b[2Jb\\x0a\\xe2\\x80\\xaec\\xff  priced"), std::string::npos) << text;
    EXPECT_NE(text.find("Z\u00FCrich "), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(report, csv_is_word_for_word) {
    const std::string expected =
        R"(trade,product,currency,status,quantity,price,standard_error,low,high,error_steps,value,value_error,paths,error_from,randomisations,construction,effective_hits,thin,shadow_difference,remark,report,report_value,report_error,policy_value,policy_error,lower_bound,lower_error,upper_bound,upper_error,wide,extrapolated,step_error,training_paths,message,file,line,column
call,european,USD,priced,1,10.45058,0.03125,10.38808,10.51308,,10.45058,0.03125,131072,paths,0,,20000,false,,,,,,,,,,,,,,,,,book.yaml,4,5
swap,european,EUR,priced,1,-1234.5,12.5,-1259.5,-1209.5,,-1234.5,12.5,131072,paths,0,,20000,false,,,,,,,,,,,,,,,,,book.yaml,4,5
bad,barrier,,failed,1,,,,,,,,,,,,,,,,,,,,,,,,,,,,,unknown asset 'ACMEE'; did you mean 'ACME'?,book.yaml,7,22
far,european,USD,priced,1,0.0125,0.0025,0.007500000000000001,0.0175,,0.0125,0.0025,131072,paths,0,,37.5,true,,,,,,,,,,,,,,,,only about 37 paths carry the variance,book.yaml,4,5
)";
    EXPECT_EQ(written(sample(), output_format::csv), expected);
}

TEST(report, threads_write_the_lines_of_csv_that_one_writes) {
    results r = sample();
    const std::string few = written(r, output_format::csv);
    const std::string header = few.substr(0, few.find('\n') + 1), lines = few.substr(header.size());
    const std::vector<price_row> rows = r.rows;
    std::string wanted = header + lines;
    for (int again = 1; again < 800; ++again) {
        r.rows.insert(r.rows.end(), rows.begin(), rows.end());
        wanted += lines;
    }
    for (const int threads : {0, 1, 3, 16}) {
        text_form form;
        form.threads = threads;
        std::ostringstream out;
        write(out, r, output_format::csv, form);
        EXPECT_EQ(out.str(), wanted) << threads << " threads";
    }
}

TEST(report, csv_fields_go_out_as_they_came_in_or_safe_for_spreadsheets) {
    text_form safe_form;
    safe_form.spreadsheet_safe = true;
    struct {
        const char *text, *field, *safe;
    } const cases[] = {
        {"plain", "plain", "plain"},
        {"", "", ""},
        {"a,b", "\"a,b\"", "\"a,b\""},
        {"say \"hi\"", "\"say \"\"hi\"\"\"", "\"say \"\"hi\"\"\""},
        {"two\nlines", "\"two\nlines\"", "\"two\nlines\""},
        {"two\rlines", "\"two\rlines\"", "\"two\rlines\""},
        {"\r", "\"\r\"", "\"'\r\""},
        {"=SUM(A1)", "=SUM(A1)", "'=SUM(A1)"},
        {"+1", "+1", "'+1"},
        {"-1", "-1", "'-1"},
        {"@x", "@x", "'@x"},
        {"\tx", "\tx", "'\tx"},
        {"'=x", "'=x", "''=x"},
        {"=a,\"b\"", "\"=a,\"\"b\"\"\"", "\"'=a,\"\"b\"\"\""},
        {" padded", "\" padded\"", "\" padded\""},
        {"a-b=c", "a-b=c", "a-b=c"},
    };
    std::set<std::string> plain, safe;
    for (const auto& c : cases) {
        EXPECT_EQ(report::csv_field(c.text), c.field) << c.text;
        EXPECT_EQ(report::csv_field(c.text, safe_form), c.safe) << c.text;
        plain.insert(report::csv_field(c.text));
        safe.insert(report::csv_field(c.text, safe_form));
    }
    EXPECT_EQ(plain.size(), std::size(cases)) << "no two texts become one";
    EXPECT_EQ(safe.size(), std::size(cases)) << "no two texts become one";
    results r = sample();
    r.rows[0].trade = "=call";
    r.rows[0].price = r.rows[0].low = -0.5;
    EXPECT_NE(written(r, output_format::csv).find("\n=call,"), std::string::npos);
    std::ostringstream out;
    write(out, r, output_format::csv, safe_form);
    EXPECT_NE(out.str().find("\n'=call,"), std::string::npos) << out.str();
    EXPECT_NE(out.str().find(",-0.5,"), std::string::npos) << "negative numbers stay numbers";
}

// A trade with early exercise has columns of its own, and counts in totals by the value of its policy.
TEST(report, early_exercise_is_told_in_every_form) {
    results r = sample();
    r.rows.resize(1);
    price_row& row = r.rows[0];
    row.quantity = -2;
    early_exercise& e = row.early.emplace();
    e.policy_value = e.lower_bound = 10.25;
    e.policy_error = e.lower_error = 0.0625;
    e.upper_bound = 10.65;
    e.upper_error = 0.015625;
    e.extrapolated = 4.5;
    e.step_error = 0.5;
    e.training_paths = 4096;
    const std::string csv = written(r, output_format::csv);
    EXPECT_NE(
        csv.find(",false,,,,,,10.25,0.0625,10.25,0.0625,10.65,0.015625,false,4.5,0.5,4096,,book.yaml,4,5\n"),
        std::string::npos)
        << csv;
    const currency_total total = r.totals().at(0);
    EXPECT_EQ(total.value, -20.5);
    EXPECT_EQ(total.error, 0.125);
    EXPECT_EQ(total.by_policy, 1u);
    EXPECT_NE(written(r, output_format::json).find("\"by_policy\": 1, \"value\": -20.5,"), std::string::npos);
    std::ostringstream totals;
    write_totals(totals, r, output_format::table);
    EXPECT_NE(totals.str().find("trades with early exercise count at the value of their policy"),
              std::string::npos)
        << totals.str();
    const std::string table = written(r, output_format::table);
    EXPECT_NE(table.find("10.2500  10.2500 .. 10.6500"), std::string::npos) << table;
    EXPECT_EQ(table.find("wide bounds"), std::string::npos) << table;
    e.wide = true;
    row.message = "its bounds are 0.4 apart";
    EXPECT_NE(written(r, output_format::csv).find(",0.015625,true,4.5,"), std::string::npos);
    const std::string json = written(r, output_format::json), marked = written(r, output_format::table);
    EXPECT_NE(json.find("\"upper_error\": 0.015625, \"wide\": true,"), std::string::npos) << json;
    EXPECT_TRUE(read_results(json, "r").rows.at(0).early.value().wide);
    EXPECT_NE(marked.find("priced ^"), std::string::npos) << marked;
    EXPECT_NE(marked.find("^ wide bounds: more than 2 % apart, so the price is the value of the policy\n"
                          "  call: its bounds are 0.4 apart\n"),
              std::string::npos)
        << marked;
    row.thin = true;
    EXPECT_NE(written(r, output_format::table).find("priced *^"), std::string::npos);
    row.thin = e.wide = false;
    e.lower_bound = e.lower_error = e.upper_bound = e.upper_error = no_figure;
    EXPECT_NE(written(r, output_format::csv).find(",10.25,0.0625,,,,,false,4.5,0.5,4096,its bounds"),
              std::string::npos);
    EXPECT_EQ(written(r, output_format::table).find(" .. 10.6500"), std::string::npos);
}

// If bounds are wide apart the price is the policy's value, else their middle. Two such prices can't be
// compared, so the values of the policies are.
TEST(report, prices_of_two_kinds_are_compared_by_their_policies) {
    results middle = sample(), wide;
    middle.rows.resize(1);
    early_exercise& e = middle.rows[0].early.emplace();
    e.policy_value = 10;
    e.policy_error = 0.01;
    wide = middle;
    wide.manifest.seed += 1;
    wide.rows[0].early->wide = true;
    wide.rows[0].early->policy_value = wide.rows[0].price = 10.02;
    const comparison c = compare(middle, wide);
    ASSERT_EQ(c.rows.size(), 1u);
    EXPECT_EQ(c.rows[0].first, 10);
    EXPECT_EQ(c.rows[0].second, 10.02);
    EXPECT_NEAR(c.rows[0].error, std::hypot(0.01, 0.01), 1e-15);
    middle.rows[0].early->wide = true;
    EXPECT_EQ(compare(middle, wide).rows[0].first, middle.rows[0].price);
}

// Errors of totals come from part means, which for a trade with a policy are means of the policy's value.
TEST(report, totals_take_the_parts_of_policies) {
    results r = sample();
    r.rows.resize(2);
    r.manifest.part_paths = 2048;
    for (price_row& row : r.rows) {
        row.currency = "USD";
        row.quantity = 1;
        row.part_means.clear();
        for (int p = 0; p < 64; ++p) row.part_means.push_back(row.price + (p - 31.5));
        row.standard_error = 2.3;  // the error that part_means show
    }
    early_exercise& e = r.rows[1].early.emplace();
    e.policy_value = 7;
    e.policy_error = r.rows[1].standard_error;
    for (int p = 0; p < 64; ++p) e.part_means.push_back(7 - (p - 31.5));
    const currency_total total = r.totals().at(0);
    EXPECT_EQ(total.value, r.rows[0].price + 7);
    EXPECT_LT(total.error, 1e-12) << "one holds itself against the other";
    std::ostringstream json;
    text_form with_parts;
    with_parts.parts = true;
    write(json, r, output_format::json, with_parts);
    EXPECT_EQ(read_results(json.str(), "r").rows[1].early.value().part_means, e.part_means);
}

TEST(report, totals_of_sensitivities_read_back_with_their_errors) {
    results r = sample();
    r.manifest.part_paths = r.manifest.paths / 64;
    for (const char* trade : {"a", "b"}) {
        greek_row& row = r.greeks.emplace_back();
        row.trade = trade;
        row.measure = "delta";
        row.key = "ACME.spot";
        row.unit = "USD per USD";
        row.method = "pathwise";
        row.value = 1;
        row.paths = r.manifest.paths;
        for (int part = 0; part < 64; ++part) row.part_means.push_back(1 + (part - 31.5));
        row.standard_error = 2.3;  // the error that part_means show
    }
    std::ostringstream json;
    text_form with_parts;
    with_parts.parts = true;
    write_greeks(json, r, output_format::json, with_parts);
    const results back = read_results(json.str(), "r");
    EXPECT_EQ(back.greeks.at(1).part_means, r.greeks[1].part_means);
    const std::vector<greek_row> totals = r.greek_totals(), totals_back = back.greek_totals();
    ASSERT_FALSE(totals.empty());
    EXPECT_GT(totals[0].standard_error, 0);
    EXPECT_EQ(totals_back.at(0).standard_error, totals[0].standard_error);
}

// Equal part means show no error, but each price is known only to rounding: the total adds these errors up.
TEST(report, totals_have_the_errors_that_parts_do_not_show) {
    results r = sample();
    r.rows.resize(2);
    for (price_row& row : r.rows) {
        row.currency = "USD";
        row.quantity = 2;
        row.standard_error = 3e-13;
        row.part_means.assign(64, row.price);
    }
    EXPECT_NEAR(r.totals().at(0).error, 6e-13 * std::sqrt(2.0), 1e-18);
}

TEST(report, a_figure_that_there_is_not_is_empty_or_null) {
    results r = sample();
    r.rows.resize(2);
    price_row& row = r.rows[0];
    row.standard_error = row.low = row.high = no_figure;
    row.quantity = -3;
    row.thin = true;
    row.message = "one path has no standard error";
    row.remarks = {"first, of two", "second"};
    EXPECT_FALSE(row.has_error() || row.has_interval() || is_figure(row.value_error()));
    const std::string csv = written(r, output_format::csv);
    EXPECT_NE(csv.find("\ncall,european,USD,priced,-3,10.45058,,,,,-31.35174,,131072,paths,0,,20000,true,,"
                       "\"first, of two; "
                       "second\",,,,,,,,,,,,,,one path"),
              std::string::npos)
        << csv;
    const std::string json = written(r, output_format::json);
    EXPECT_NE(
        json.find(
            R"("price": 10.45058, "standard_error": null, "low": null, "high": null, "error_steps": null, "value": )"
            R"(-31.35174, "value_error": null, "paths")"),
        std::string::npos)
        << json;
    EXPECT_NE(json.find(R"("remarks": ["first, of two", "second"], "reported": null,)"), std::string::npos)
        << json;
    const results back = read_results(json, "r.json");
    EXPECT_FALSE(back.rows[0].has_error() || back.rows[0].has_interval());
    EXPECT_EQ(back.rows[0].remarks, row.remarks);
    EXPECT_EQ(written(back, output_format::json), json);
    const std::string table = written(r, output_format::table);
    EXPECT_NE(table.find("\nremarks:\n  call: first, of two\n  call: second\n"), std::string::npos) << table;
    EXPECT_NE(table.find("1 trade in USD has no standard error, so this total has none\n"), std::string::npos)
        << table;
    for (const std::string& text : {csv, json, table}) EXPECT_EQ(text.find("nan"), std::string::npos) << text;
}

TEST(report, totals_are_told_in_every_form) {
    results r = sample();
    r.rows[0].quantity = -2;
    r.rows.push_back(priced("none", "JPY", 5, no_figure));
    r.rows.back().low = r.rows.back().high = no_figure;
    const auto totals = [&](output_format format) {
        std::ostringstream out;
        write_totals(out, r, format);
        return out.str();
    };
    EXPECT_EQ(
        totals(output_format::csv),
        R"(currency,trades,without_error,by_policy,value,value_error,low,high,value_error_at_most,error_steps
USD,2,0,0,-20.88866,,,,0.065,
EUR,1,0,0,-1234.5,12.5,-1258.9995498067506,-1210.0004501932494,12.5,
JPY,1,1,0,5,,,,,
)");
    const std::string json = R"("totals": [
    {"currency": "USD", "trades": 2, "without_error": 0, "by_policy": 0, "value": -20.88866, "value_error": null, "low": null, "high": null, "value_error_at_most": 0.065, "error_steps": null},
    {"currency": "EUR", "trades": 1, "without_error": 0, "by_policy": 0, "value": -1234.5, "value_error": 12.5, "low": -1258.9995498067506, "high": -1210.0004501932494, "value_error_at_most": 12.5, "error_steps": null},
    {"currency": "JPY", "trades": 1, "without_error": 1, "by_policy": 0, "value": 5.0, "value_error": null, "low": null, "high": null, "value_error_at_most": null, "error_steps": null}
  ]
}
)";
    EXPECT_TRUE(totals(output_format::json).ends_with(json)) << totals(output_format::json);
    EXPECT_TRUE(written(r, output_format::json).ends_with(json)) << written(r, output_format::json);
    EXPECT_NE(totals(output_format::table).find("at most 0.0650"), std::string::npos);
    r.rows[0].quantity = r.rows[3].quantity = 1;
    r.rows[0].price = r.rows[3].price = 1.5e308;
    EXPECT_FALSE(is_figure(r.totals()[0].value) || is_figure(r.totals()[0].error_at_most));
    EXPECT_NE(totals(output_format::csv).find("\nUSD,2,0,0,,,,,,\n"), std::string::npos)
        << totals(output_format::csv);
    EXPECT_NE(totals(output_format::table).find("the values in USD are too large to be added"),
              std::string::npos)
        << totals(output_format::table);
}

TEST(report, an_answer_beside_the_price_is_told_in_every_form) {
    results r = sample();
    r.rows[0].reported = {"implied_volatility", 0.22125, 0.00125, ""};
    r.rows[1].reported = {"fair_strike", no_figure, no_figure, "the price never is 0"};
    const std::string csv = written(r, output_format::csv);
    EXPECT_NE(csv.find(",implied_volatility,0.22125,0.00125,,,,,,,,,,,,book.yaml"), std::string::npos) << csv;
    EXPECT_NE(csv.find(",fair_strike,,,,,,,,,,,,,fair_strike: the price never is 0,"), std::string::npos)
        << csv;
    const std::string table = written(r, output_format::table);
    EXPECT_NE(table.find("implied_volatility: 0.22125 +- 0.00125\n"), std::string::npos) << table;
    EXPECT_NE(table.find("fair_strike: none\n"), std::string::npos) << table;
    EXPECT_NE(table.find("swap: fair_strike: the price never is 0\n"), std::string::npos) << table;
    const std::string json = written(r, output_format::json);
    EXPECT_NE(
        json.find(
            R"("reported": {"what": "implied_volatility", "value": 0.22125, "standard_error": 0.00125,)"),
        std::string::npos)
        << json;
    EXPECT_EQ(written(read_results(json, "r.json"), output_format::json), json);
}

TEST(report, the_page_of_results_documents_every_field) {
    const std::string page = tests::own_text("docs/results.md");
    const auto code = [](std::string_view name) {
        return name.empty() ? std::string() : "`" + std::string(name) + "`";
    };
    std::string rows = "| CSV and Parquet | JSON | what it is |\n|---|---|---|\n";
    for (const auto& field : report::row_fields()) {
        rows += "| " + code(field.column) + " | " + code(field.json) + " | " + std::string(field.meaning) +
                " |\n";
        EXPECT_EQ(field.column.empty(), field.value == nullptr) << field.column << field.json;
        EXPECT_EQ(field.json.empty(), field.json_text == nullptr) << field.column << field.json;
    }
    std::string totals = "| CSV, Parquet and JSON | what it is |\n|---|---|\n";
    for (const auto& field : report::total_fields())
        totals += "| " + code(field.name) + " | " + std::string(field.meaning) + " |\n";
    const std::string text = page;
    EXPECT_NE(text.find("\n" + rows + "\n"), std::string::npos) << "docs/results.md should say\n" << rows;
    EXPECT_NE(text.find("\n" + totals + "\n"), std::string::npos) << "docs/results.md should say\n" << totals;
    results all = sample();
    all.rows.front().early.emplace();
    all.rows.front().decisions = "{\"control\":{}}";
    all.rows.front().walk = 1;
    const std::string json = written(all, output_format::json);
    for (const auto& field : report::row_fields()) {
        if (field.json.empty()) continue;
        EXPECT_NE(json.find("\"" + std::string(field.json) + "\": "), std::string::npos) << field.json;
    }
}

namespace {

greek_row greek(const std::string& trade, const std::string& measure, const std::string& key,
                const std::string& unit, double value, double slope) {
    greek_row row;
    row.trade = trade;
    row.measure = measure;
    row.key = key;
    row.unit = unit;
    row.value = value;
    row.method = "pathwise";
    row.paths = 131072;
    for (int p = 0; p < 64; ++p) row.part_means.push_back(value + slope * (p - 31.5));
    row.standard_error = std::abs(slope) * 2.327373;
    return row;
}

results sample_of_greeks() {
    results r = sample();
    r.manifest.part_paths = 2048;
    r.greeks = {greek("call", "delta", "ACME.spot", "USD per 1 USD of ACME", 0.5625, 0.001),
                greek("call", "vega", "ACME.volatility@1y", "USD per 1 % of volatility", 0.25, 0.002),
                greek("far", "vega", "ACME.volatility@1y", "USD per 1 % of volatility", 0.75, -0.002),
                greek("far", "vega", "ACME.volatility@2y", "USD per 1 % of volatility", 0.125, 0.001)};
    greek_row bad = greek("far", "rho", "USD.rate", "USD per 1 bp", no_figure, 0);
    bad.part_means.clear();
    bad.standard_error = no_figure;
    bad.method = "bump";
    bad.message = "no market has another USD.rate beside the others";
    bad.kind = error_kind::input;
    r.greeks.push_back(bad);
    return r;
}

std::string written_greeks(const results& r, output_format format) {
    std::ostringstream out;
    write_greeks(out, r, format);
    return out.str();
}

}  // namespace

TEST(report, totals_of_greeks_add_what_trades_have_in_common) {
    const std::vector<greek_row> totals = sample_of_greeks().greek_totals();
    ASSERT_EQ(totals.size(), 4u);
    const std::vector<std::string> keys{"ACME.spot", "ACME.volatility@1y", "ACME.volatility@2y", ""};
    const double values[] = {0.5625, 1.0, 0.125, 1.125};
    for (std::size_t i = 0; i < totals.size(); ++i) {
        EXPECT_EQ(totals[i].trade, "");
        EXPECT_EQ(totals[i].key, keys[i]);
        EXPECT_EQ(totals[i].value, values[i]) << i;
    }
    EXPECT_NEAR(totals[0].standard_error, 0.0023274, 1e-6);
    EXPECT_LT(totals[1].standard_error, 1e-15);
    EXPECT_NEAR(totals[3].standard_error, 0.0023274, 1e-6);
}

TEST(report, greeks_are_written_and_read) {
    const std::string csv = written_greeks(sample_of_greeks(), output_format::csv);
    EXPECT_TRUE(
        csv.starts_with("trade,measure,key,unit,value,standard_error,method,paths,bias\n"
                        "call,delta,ACME.spot,USD per 1 USD of ACME,0.5625,"))
        << csv;
    EXPECT_NE(csv.find("\nfar,rho,USD.rate,USD per 1 bp,,,bump,131072,0\n"), std::string::npos) << csv;
    EXPECT_NE(csv.find("\n,vega,,USD per 1 % of volatility,1.125,"), std::string::npos) << csv;
    const std::string json = written_greeks(sample_of_greeks(), output_format::json);
    const results read = read_results(json, "r.json");
    ASSERT_EQ(read.greeks.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
        const greek_row a = sample_of_greeks().greeks[i], &b = read.greeks[i];
        EXPECT_EQ(std::tie(a.trade, a.measure, a.key, a.unit, a.method, a.paths, a.bias, a.message),
                  std::tie(b.trade, b.measure, b.key, b.unit, b.method, b.paths, b.bias, b.message));
        if (a.has_failed()) continue;
        EXPECT_EQ(std::tie(a.value, a.standard_error), std::tie(b.value, b.standard_error));
    }
    EXPECT_EQ(read.greeks[4].kind, error_kind::input);
    const std::string table = written_greeks(sample_of_greeks(), output_format::table);
    EXPECT_NE(table.find("far    vega     ACME.volatility@1y"), std::string::npos) << table;
    EXPECT_NE(table.find("far, rho USD.rate: no market has another USD.rate"), std::string::npos) << table;
}

TEST(report, the_page_of_greeks_documents_every_field) {
    const std::string page = tests::own_text("docs/greeks.md");
    std::string fields = "| CSV, Parquet and JSON | what it is |\n|---|---|\n";
    for (const auto& field : report::greek_fields())
        fields += "| `" + std::string(field.name) + "` | " + std::string(field.meaning) +
                  (field.is_in_csv ? "" : " Not in CSV.") + " |\n";
    EXPECT_NE(page.find("\n" + fields + "\n"), std::string::npos) << "docs/greeks.md should say\n" << fields;
    std::string measures = "| measure | what the value changes with |\n|---|---|\n";
    for (const greek_measure& m : greek_measures())
        measures += "| `" + std::string(m.name) + "` | " + std::string(m.to) + " |\n";
    EXPECT_NE(page.find("\n" + measures + "\n"), std::string::npos) << "docs/greeks.md should say\n"
                                                                    << measures;
}

// Rows are read while text is still arriving. The message about a damaged file must not depend on how much
// has arrived.
TEST(report, damage_is_told_in_one_order_whichever_comes_first) {
    const std::string good = written(sample(), output_format::json);
    const auto told = [](const std::string& text) -> std::string {
        try {
            read_results(text, "r.json");
        } catch (const error& e) {
            return e.what();
        }
        return "nothing";
    };
    const auto has = [](const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    const std::string head = "  \"format\": \"tilewalk-results-3\",\n";
    const std::string late =
        replaced(replaced(good, head, ""), "\n  ]\n}\n", "\n  ],\n  \"format\": \"tilewalk-results-3\"\n}\n");
    EXPECT_EQ(written(read_results(late, "r.json"), output_format::json), good) << late;
    for (const std::string& sound : {good, late}) {
        const std::string wrong = replaced(sound, "\"price\": 10.45058", "\"price\": null");
        EXPECT_TRUE(has(told(wrong), "rows[0].price: found null"));
        EXPECT_TRUE(has(told(wrong + "{"), "not JSON")) << told(wrong + "{");
        EXPECT_TRUE(has(told(replaced(wrong, "\"price\": null", "\"price\": null, \"low\": 1")), "twice"));
        EXPECT_TRUE(has(told(replaced(wrong, "\"threads\": 2", "\"threads\": -2")), "manifest.threads"));
        EXPECT_TRUE(has(told(replaced(wrong, "results-3", "results-9")), "format: found the format"));
        EXPECT_TRUE(has(told(replaced(wrong, "\"kind\": \"input\"", "\"kind\": 3")), "rows[0].price"));
        EXPECT_TRUE(has(told(replaced(wrong, "\"totals\": [", "\"total\": [")), "rows[0].price"));
    }
}

TEST(report, older_json_is_read) {
    std::string older = written(sample(), output_format::json);
    const auto drop = [&](const std::string& from, const std::string& to) {
        for (std::size_t at = 0; (at = older.find(from)) != std::string::npos;) {
            const std::size_t end = older.find(to, at);
            ASSERT_NE(end, std::string::npos) << to;
            older.erase(at, end - at);
        }
    };
    older.replace(older.find(",\n  \"totals\""), std::string::npos, "\n}\n");
    drop("\"value\": ", "\"paths\"");
    drop("\"remarks\": ", "\"message\"");
    older.replace(older.find("results-3"), 9, "results-2");
    const results back = read_results(older, "r.json");
    EXPECT_EQ(written(back, output_format::json), written(sample(), output_format::json)) << older;
    const std::string none = "\"standard_error\": null";
    older.replace(older.find("\"standard_error\": 0.03125"), 25, none);
    EXPECT_THROW(read_results(older, "r.json"), error) << "there was always one";
}

TEST(report, json_is_word_for_word) {
    results r = sample();
    r.rows.erase(r.rows.begin() + 1);
    r.rows.pop_back();
    const std::string expected = R"({
  "format": "tilewalk-results-3",
  "manifest": {
    "version": "0.1.0",
    "compiler": "gcc 12.2",
    "instruction_set": "x86-64-v3",
    "machine": "eight cores",
    "as_of": "2026-01-15",
    "started": "2026-01-15T08:00:00Z",
    "precision": "double",
    "random": "auto",
    "numbered_by": "name",
    "seed": 18446744073709551615,
    "paths": 131072,
    "threads": 2,
    "settings": {},
    "devices": [],
    "lost_devices": [],
    "left_to_processor": [],
    "inputs": [
      {"file": "book.yaml", "hash": "00ff"},
      {"file": "market.yaml", "hash": "1234"}
    ],
    "market_changes": [],
    "missing_correlations": [],
    "plan_seconds": 0.0125,
    "path_seconds": 0.5,
    "total_seconds": 0.515625,
    "path_steps": 150000000,
    "path_steps_on_gpus": 120000000,
    "kernels_compiled": 0,
    "kernels_from_cache": 0,
    "launches": 0,
    "device_seconds": 0.0,
    "kernel_seconds": 0.0
  },
  "rows": [
    {"trade": "call", "product": "european", "currency": "USD", "status": "priced", "quantity": 1.0, "price": 10.45058, "standard_error": 0.03125, "low": 10.38808, "high": 10.51308, "error_steps": null, "value": 10.45058, "value_error": 0.03125, "paths": 131072, "error_from": "paths", "randomisations": 0, "construction": "", "effective_hits": 20000.0, "thin": false, "shadow_difference": null, "remarks": [], "reported": null, "message": "", "where": {"file": "book.yaml", "line": 4, "column": 5}},
    {"trade": "bad", "product": "barrier", "currency": "", "status": "failed", "quantity": 1.0, "price": null, "standard_error": null, "low": null, "high": null, "error_steps": null, "value": null, "value_error": null, "paths": 0, "error_from": "paths", "randomisations": 0, "construction": "", "effective_hits": 0.0, "thin": false, "shadow_difference": null, "remarks": [], "reported": null, "message": "unknown asset 'ACMEE'; did you mean 'ACME'?", "kind": "input", "where": {"file": "book.yaml", "line": 7, "column": 22}}
  ],
  "totals": [
    {"currency": "USD", "trades": 1, "without_error": 0, "by_policy": 0, "value": 10.45058, "value_error": 0.03125, "low": 10.389331125483123, "high": 10.511828874516878, "value_error_at_most": 0.03125, "error_steps": null}
  ]
}
)";
    EXPECT_EQ(written(r, output_format::json), expected);
}

TEST(report, json_reads_back_to_the_same_bits) {
    std::mt19937_64 bits(7);
    const auto any = [&] {
        for (;;)
            if (const double x = std::bit_cast<double>(bits()); std::isfinite(x)) return x;
    };
    results r = sample();
    for (const double edge :
         {0.0, -0.0, 1e22, 123456789012345680.0, std::numeric_limits<double>::denorm_min(),
          -std::numeric_limits<double>::max(), 0.1, 1.0 / 3}) {
        r.rows.push_back(priced("edge", "USD", edge, std::abs(edge)));
        r.rows.back().low = r.rows.back().high = edge;
    }
    for (int i = 0; i < 2000; ++i) {
        auto& row = r.rows.emplace_back(priced("random \"\\\u00E9\x01", "JPY", any(), std::abs(any())));
        do row.quantity = any();
        while (!std::isfinite(row.value()) || !std::isfinite(row.value_error()));
        row.low = any();
        row.high = any();
        row.effective_hits = std::abs(any());
        row.paths = bits();
        row.thin = i % 2 == 0;
    }
    const results back = read_results(written(r, output_format::json), "r.json");
    ASSERT_EQ(back.rows.size(), r.rows.size());
    const auto same = [](double a, double b) {
        return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
    };
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
        const auto &a = r.rows[i], &b = back.rows[i];
        EXPECT_TRUE(same(a.quantity, b.quantity) && same(a.price, b.price) &&
                    same(a.standard_error, b.standard_error) && same(a.low, b.low) && same(a.high, b.high) &&
                    same(a.effective_hits, b.effective_hits))
            << "row " << i << ": " << a.price << " became " << b.price;
        EXPECT_TRUE(a.trade == b.trade && a.product == b.product && a.currency == b.currency &&
                    a.status == b.status && a.paths == b.paths && a.thin == b.thin &&
                    a.message == b.message && a.where == b.where &&
                    (a.status == trade_status::priced || a.kind == b.kind))
            << "row " << i;
    }
    EXPECT_EQ(written(back, output_format::json), written(r, output_format::json)) << "manifest included";
}

// Replaces the first `from` of a good file by `to`. Reading it must fail with a message that contains `said`.
struct damage {
    const char *from, *to, *said;
};

TEST(report, damaged_json_is_refused_with_the_reason) {
    const std::string good = written(sample(), output_format::json);
    const damage cases[] = {
        {"\"format\": \"tilewalk-results-3\"", "\"format\": \"tilewalk-results-9\"", "tilewalk-results-9"},
        {"  \"format\": \"tilewalk-results-3\",\n", "", "'format' is missing"},
        {"\"price\": 10.45058", "\"price\": null", "rows[0].price: found null, expected a number"},
        {"\"price\": 10.45058", "\"price\": \"10\"", "rows[0].price: found \"10\", expected a number"},
        {"\"price\": 10.45058", "\"price\": 1e999", "too large for a double"},
        {"\"price\": 10.45058", "\"price\": NaN", "not JSON"},
        {"\"price\": 10.45058", "\"prise\": 10.45058", "'price' is missing"},
        {"\"price\": 10.45058", "\"price\": 10.45058, \"price\": 1", "'price' is given twice"},
        {"\"price\": 10.45058", "\"price\": 10.45058, \"more\": 1", "unknown key 'more'"},
        {"\"standard_error\": 0.03125", "\"standard_error\": -0.03125", "at least 0"},
        {"\"price\": null", "\"price\": 3.0", "the trade failed"},
        {"\"low\": 10.38808", "\"low\": true", "rows[0].low: found true, expected a number or null"},
        {"\"value\": 10.45058", "\"value\": null", "rows[0].value: found null, expected a number"},
        {"\"value_error\": 0.03125", "\"value_error\": -1", "at least 0 or null"},
        {"\"remarks\": []", "\"remarks\": [1]", "rows[0].remarks[0]: found 1, expected a text"},
        {"\"remarks\": []", "\"remarks\": null", "rows[0].remarks: found null, expected a list"},
        {"\"reported\": null", "\"reported\": {}", "rows[0].reported: 'what' is missing"},
        {"\"totals\": [", "\"total\": [", "'totals' is missing"},
        {"\"kind\": \"input\"", "\"kind\": \"bad luck\"", "'usage', 'input'"},
        {"\"status\": \"priced\"", "\"status\": \"done\"",
         "expected one of 'priced', 'tolerance not met', 'failed'"},
        {"\"paths\": 131072", "\"paths\": 1.5", "manifest.paths: found 1.5, expected a whole number"},
        {"\"paths\": 131072", "\"paths\": -1", "expected a whole number"},
        {"\"threads\": 2", "\"threads\": 3000000000", "expected a whole number"},
        {"\"seed\": 18446744073709551615", "\"seed\": 18446744073709551616", "expected a whole number"},
        {"\"thin\": false", "\"thin\": 0", "expected true or false"},
        {"\"shadow_difference\": null", "\"shadow_difference\": true", "expected a number or null"},
        {"\"settings\": {}", "\"settings\": {\"phats\": 1}", "manifest.settings: unknown key 'phats'"},
        {"\"settings\": {}", "\"settings\": {\"distance\": \"4\"}",
         "manifest.settings.distance: found \"4\", expected a whole number from 1 to 32"},
        {"\"settings\": {}", "\"settings\": {\"distance\": 33}",
         "manifest.settings.distance: found 33, expected a whole number from 1 to 32"},
        {"\"settings\": {}", "\"settings\": {\"precision\": \"singel\"}", "did you mean 'single'?"},
        {"\"settings\": {}", "\"settings\": {\"precision\": 1}",
         "precision: found 1, expected double, single"},
        {"\"devices\": []", "\"devices\": [3]", "manifest.devices[0]: found 3, expected a text"},
        {"\"device_seconds\": 0.0", "\"device_seconds\": -1", "at least 0"},
        {"\"kernel_seconds\": 0.0", "\"kernel_seconds\": -1", "at least 0"},
        {"\"launches\": 0,", "", "'launches' is missing"},
        {"\"trade\": \"call\"", "\"trade\": 7", "expected a text"},
        {"\"rows\": [", "\"rows\": [[[[[[[[[[[[", "levels of nesting"},
        {"\"rows\": [", "\"rows\": {", "not JSON"},
        {"\"rows\": [", "\"rows\": [7, ", "rows[0]: found 7, expected a mapping"},
        {"\"line\": 4, ", "", "'line' is missing"},
        {"\n}\n", "\n}\n{}", "not JSON"},
    };
    ASSERT_NO_THROW(read_results(good, "r.json"));
    for (const auto& c : cases) {
        const std::string text = replaced(good, c.from, c.to);
        try {
            read_results(text, "r.json");
            ADD_FAILURE() << "accepted " << c.to << " in place of " << c.from;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input) << c.to;
            EXPECT_EQ(e.where().file, "r.json") << c.to;
            EXPECT_NE(std::string(e.what()).find(c.said), std::string::npos)
                << c.to << " was answered by " << e.what();
        }
    }
    for (std::size_t length = 0; length + 2 < good.size(); length += 7)
        EXPECT_THROW(read_results(good.substr(0, length), "r.json"), error) << "cut at " << length;
}

results sample_on_gpus() {
    results r = sample();
    r.rows.erase(r.rows.begin() + 1, r.rows.begin() + 3);
    r.rows[0].shadow_difference = -0.00125;
    auto& m = r.manifest;
    m.precision = "single";
    m.random = "curand_xorwow";
    m.devices = {"NVIDIA H200", "NVIDIA L4", "NVIDIA H200"};
    m.lost_devices = {"NVIDIA L4: GPU 3: cudaEventQuery failed"};
    m.left_to_processor = {{"nested bounds", 2, "they are long"}, {"ways back", 1, "it is so"}};
    m.settings.seed = m.seed;
    m.settings.precision = precision::single;
    m.settings.random = m.random;
    m.settings.distance = 4;
    m.settings.padding = "auto";
    m.settings.prefetch = "smem_rolling_async";
    m.settings.row_space = "constant";
    m.settings.memory_bytes = std::uint64_t{1} << 35;
    m.kernels_compiled = 1;
    m.kernels_from_cache = 4;
    m.launches = 12;
    m.device_seconds = 0.26;
    m.kernel_seconds = 0.25;
    return r;
}

TEST(report, table_says_what_gpus_did) {
    EXPECT_EQ(
        written(sample_on_gpus(), output_format::table),
        R"(trade  status    product   currency     price  std error        95% interval   paths  from double
-----  --------  --------  --------  --------  ---------  ------------------  ------  -----------
call   priced    european  USD       10.4506     0.0312   10.3881 .. 10.5131  131072      -0.0013
far    priced *  european  USD        0.01250    0.00250  0.00750 .. 0.01750  131072

* thin sample: fewer than 100 paths carry the variance, so the standard error itself is in doubt
  far: only about 37 paths carry the variance

total  trades    value       std error
-----  ------  -------  --------------
USD         2  10.4631  at most 0.0338
at most: the plain sum of the errors, an upper bound; a run of 16 parts or more estimates their correlation

131072 paths, seed 18446744073709551615, single precision, random numbers of curand_xorwow, as of 2026-01-15
516 ms on 2 threads (x86-64-v3): planning 12 ms, paths 500 ms; 3.00e8 path-steps/s
2 x NVIDIA H200, NVIDIA L4: 80.0% of the path-steps, the processor the others; 12 launches, 250 ms; 1 kernel compiled, 4 from the cache; prefetch smem_rolling_async, distance 4, row_space constant,
  memory_bytes 34359738368
lost NVIDIA L4: GPU 3: cudaEventQuery failed
left to the processor: nested bounds of 2 trades: they are long
left to the processor: ways back of 1 trade: it is so
)");
}

TEST(report, settings_and_devices_are_written_and_read_back) {
    const results r = sample_on_gpus();
    const std::string text = written(r, output_format::json);
    for (const std::string part :
         {R"("settings": {"seed": 18446744073709551615, "precision": "single", "random": "curand_xorwow", )"
          R"("prefetch": "smem_rolling_async", "distance": 4, "row_space": "constant", )"
          R"("memory_bytes": 34359738368},)",
          R"("devices": ["NVIDIA H200", "NVIDIA L4", "NVIDIA H200"],)",
          R"("lost_devices": ["NVIDIA L4: GPU 3: cudaEventQuery failed"],)",
          R"({"work": "nested bounds", "trades": 2, "why": "they are long"},)",
          R"("thin": false, "shadow_difference": -0.00125,)", R"("kernels_from_cache": 4,)"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    const results back = read_results(text, "r.json");
    EXPECT_EQ(back.rows[0].shadow_difference, r.rows[0].shadow_difference);
    EXPECT_FALSE(back.rows[1].shadow_difference);
    EXPECT_EQ(back.manifest.left_to_processor, r.manifest.left_to_processor);
    EXPECT_EQ(back.manifest.settings.distance, 4);
    EXPECT_EQ(back.manifest.settings.row_space, "constant");
    EXPECT_FALSE(back.manifest.settings.padding) << "what is the preset is not written";
    EXPECT_EQ(written(back, output_format::json), text);
    std::string before_there_were_any = text;
    const std::string lost = "    \"lost_devices\": [\"NVIDIA L4: GPU 3: cudaEventQuery failed\"],\n";
    before_there_were_any.replace(before_there_were_any.find(lost), lost.size(), "");
    EXPECT_TRUE(read_results(before_there_were_any, "r.json").manifest.lost_devices.empty());
    const std::string csv = written(r, output_format::csv);
    EXPECT_NE(csv.find(",false,-0.00125,,,,,,,,,,,,,,,,book.yaml"), std::string::npos) << csv;
}

TEST(report, broken_json_names_line_and_column) {
    try {
        read_results("{\n  \"format\": oops\n}", "r.json");
        FAIL() << "accepted";
    } catch (const error& e) {
        EXPECT_EQ(to_string(e.where()).substr(0, 9), "r.json:2:") << e.what();
    }
}

TEST(report, figures_that_are_not_finite_are_never_written) {
    for (const auto format : {output_format::table, output_format::csv, output_format::json}) {
        results r = sample();
        r.rows[0].standard_error = std::numeric_limits<double>::infinity();
        EXPECT_THROW(written(r, format), error);
        r = sample();
        r.rows[0].price = no_figure;
        EXPECT_THROW(written(r, format), error);
        r = sample();
        r.rows[0].quantity = 1e308;
        EXPECT_THROW(written(r, format), error) << "the value";
        r = sample();
        r.rows[1].high = std::numeric_limits<double>::infinity();
        EXPECT_THROW(written(r, format), error);
    }
}

TEST(report, digits_follow_the_standard_error) {
    struct {
        double x, error;
        const char* text;
    } const cases[] = {
        {10.450583, 0.0312, "10.4506"},
        {10.450583, 0.9, "10.451"},
        {10.450583, 1.0, "10.45"},
        {1234567.8, 250, "1234568"},
        {-3.0, 0.05, "-3.0000"},
        {0, 0.05, "0.0000"},
        {95.12294245007, 0, "95.12294245"},
        {100, 0, "100"},
        {0, 0, "0"},
        {1.2345678e-12, 1e-14, "1.2346e-12"},
        {1e-12, 1e-9, "1e-12"},
        {3.3e18, 1e15, "3.30000e18"},
        {498.228382607993, 9.96e-11, "498.228382608"},
        {1.48e-12, 1.48e-12, "1.48e-12"},
        {0, 1e-13, "0"},
        {-874114.8068, no_figure, "-8.74e5"},
        {288.3158778, no_figure, "288"},
    };
    for (const auto& c : cases)
        EXPECT_EQ(report::justified(c.x, c.error), c.text) << c.x << " known to " << c.error;
}

TEST(report, numbers_for_people) {
    EXPECT_EQ(report::shortest(0.1), "0.1");
    EXPECT_EQ(report::json_number(100), "100.0");
    EXPECT_EQ(report::json_number(-0.0), "-0.0");
    EXPECT_EQ(report::json_number(1e22), "1e+22");
    EXPECT_EQ(report::rate(3.15e8), "3.15e8");
    EXPECT_EQ(report::significant(1.4222e-14, 3), "1.42e-14");
    EXPECT_EQ(report::duration(0.00042), "0.42 ms");
    EXPECT_EQ(report::duration(0.0125), "12 ms");
    EXPECT_EQ(report::duration(0.4124), "412 ms");
    EXPECT_EQ(report::duration(1.734), "1.73 s");
    EXPECT_EQ(report::duration(252.2), "4 min 12 s");
    EXPECT_EQ(report::duration(7380), "2 h 3 min");
    EXPECT_EQ(report::counted(1, "trade"), "1 trade");
    EXPECT_EQ(report::counted(0, "trade"), "0 trades");
}

TEST(report, text_is_wrapped_between_words) {
    EXPECT_EQ(report::wrapped("one two three four", 9, 2), "  one two\n  three\n  four\n");
    EXPECT_EQ(report::wrapped("one\n\ntwo\n", 20, 0), "one\n\ntwo\n");
    EXPECT_EQ(report::wrapped("", 20, 0), "");
}

TEST(report, last_column_goes_on_below_itself) {
    report::columns table({{"a"}, {"b", report::align::right}, {"words"}});
    table.add({"x", "1", "one two three four five six seven"});
    table.add({"y", "22", "short"});
    EXPECT_EQ(table.text(31),
              "a   b  words\n-  --  ------------------------\nx   1  one two three four five\n       six "
              "seven\ny  22  short\n");
    EXPECT_EQ(table.text(),
              "a   b  words\n-  --  ---------------------------------\nx   1  one two three four five six "
              "seven\ny  22  short\n");
}

TEST(report, widths_are_those_of_a_terminal) {
    struct {
        const char* text;
        std::size_t columns;
    } const cases[] = {
        {"plain", 5},
        {"", 0},
        {"Z\u00FCrich", 6},
        {"Zu\u0308rich", 6},                // a letter and a combining mark
        {"\u65E5\u672C", 4},                // kanji
        {"\uD55C\uAE00", 4},                // hangul
        {"\u1112\u1161\u11AB", 2},          // the letters of a syllable
        {"\uFF21\uFF76", 3},                // full width and half width
        {"\U0001F600", 2},                  // an emoji
        {"\U0001F44D\U0001F3FD", 2},        // with a skin tone
        {"\U0001F468\u200D\U0001F4BB", 2},  // two emoji joined
        {"\U0001F1E8\U0001F1ED", 2},        // a flag
        {"\u2764\uFE0F", 2},                // a heart as an emoji
        {"\u2764", 1},
        {"a\u200Bb", 2},    // a zero-width space
        {"\U00020000", 2},  // beyond U+FFFF
        {"\xff", 1},        // not valid UTF-8
    };
    for (const auto& c : cases) EXPECT_EQ(report::width(c.text), c.columns) << c.text;
    EXPECT_EQ(report::shortened("abcdefghijkl", 9), "abcd...kl");
    EXPECT_EQ(report::shortened("abcdefghi", 9), "abcdefghi");
    EXPECT_EQ(report::shortened("\u65E5\u672C\u65E5\u672C\u65E5", 8), "\u65E5...\u65E5") << "none cut in two";
    for (std::size_t most = 3; most < 12; ++most)
        EXPECT_LE(report::width(report::shortened("\u65E5\u672C\u65E5\u672C\u65E5\u672C", most)), most);
}

TEST(report, tables_fit_the_terminal) {
    results r = sample_on_gpus();
    r.rows.push_back(
        failed("a_trade_with_an_id_that_is_as_long_as_those_that_machines_make_20260115_000001"));
    r.rows.push_back(
        priced("\u65E5\u672C\u65E5\u672C\u65E5\u672C\u65E5\u672C\u65E5\u672C\u65E5\u672C\u65E5\u672C", "JPY",
               -1234567.25, 0.125));
    r.rows.back().quantity = -1250000.5;
    r.rows.back().product = "barrier_reverse_convertible_of_many_words";
    r.rows.back().remarks = {
        "the fixing of ACME on as_of is 10100, far from its spot of 100; the trade takes the fixing"};
    r.rows.back().reported = {"implied_volatility", 0.22125, 0.00125, ""};
    results other = r;
    other.rows[0].price += 1;
    for (std::size_t columns = 60; columns <= 200; ++columns) {
        text_form form;
        form.columns = columns;
        std::ostringstream table, differences;
        write(table, r, output_format::table, form);
        write(differences, compare(r, other), {}, form);
        for (const std::string& text : {table.str(), differences.str()}) {
            std::istringstream lines(text);
            for (std::string line; std::getline(lines, line);)
                EXPECT_LE(report::width(line), columns) << line << "\n" << text;
        }
        std::istringstream lines(table.str());
        std::string line;
        std::getline(lines, line);
        std::getline(lines, line);
        for (const auto& row : r.rows) {
            std::getline(lines, line);
            const std::size_t at = line.find(row.status == trade_status::priced ? "  priced" : "  failed");
            EXPECT_NE(at, std::string::npos) << table.str();
        }
        const bool whole = table.str().find("95% interval") != std::string::npos &&
                           table.str().find("paths  ") != std::string::npos;
        EXPECT_EQ(
            table.str().find("left out in " + std::to_string(columns) + " columns: ") == std::string::npos,
            whole && columns > 150)
            << table.str();
    }
    text_form narrow;
    narrow.columns = 60;
    std::ostringstream out;
    write(out, sample(), output_format::table, narrow);
    EXPECT_NE(out.str().find("left out in 60 columns: paths, product, 95% interval\n"), std::string::npos)
        << out.str();
}

// As the terminal narrows, a long name shrinks to 40, then 24, then 16 columns, and at each of these widths
// other columns are left out before the name shrinks further.
TEST(report, long_names_of_trades_shrink_by_steps) {
    results r = sample();
    r.rows = {priced(std::string(60, 'n'), "USD", 10.45058, 0.03125)};
    std::map<std::size_t, int> times;  // how often a name has each width
    for (std::size_t columns = 40; columns <= 200; ++columns) {
        text_form form;
        form.columns = columns;
        std::ostringstream table;
        write(table, r, output_format::table, form);
        std::istringstream lines(table.str());
        std::string rule;
        std::getline(lines, rule);
        std::getline(lines, rule);
        ++times[rule.find_first_not_of('-')];
    }
    for (const std::size_t width : {60U, 40U, 24U, 16U}) EXPECT_GT(times[width], 2) << width;
    for (const std::size_t width : {50U, 41U, 30U, 25U, 17U}) EXPECT_LE(times[width], 1) << width;
}

// Columns of 6, 5 and 5 characters with two gaps of 2 take 20. In 20 the table is whole; in 19 the name is
// cut; in 18 the second column is left out, too.
TEST(report, columns_give_way_only_where_a_line_has_no_room) {
    const auto fitted = [](std::size_t most) {
        report::columns table({{"name"}, {"count", report::align::right}, {"words"}});
        table.add({"abcdef", "1", "right"});
        return report::fitted(table, most, {{"name", 5}, {"count"}});
    };
    EXPECT_EQ(fitted(20), "name    count  words\n------  -----  -----\nabcdef      1  right\n");
    EXPECT_EQ(fitted(19), "name   count  words\n-----  -----  -----\nab...      1  right\n");
    EXPECT_EQ(fitted(18), "name   words\n-----  -----\nab...  right\nleft out in 18\n  columns: count\n");
}

TEST(report, long_lines_go_on_below_themselves) {
    EXPECT_EQ(folded("short\n\n  as it  is\n", 12), "short\n\n  as it  is\n");
    EXPECT_EQ(folded("ab  cd    words that go on", 14), "ab  cd\n    words that\n    go on\n");
    EXPECT_EQ(folded("  strike  1, 2, 3, 4, 5", 15), "  strike  1, 2,\n      3, 4, 5\n");
    EXPECT_EQ(folded("0123456789abcdef", 10), "0123456789\n    abcdef\n") << "no space to break at";
    EXPECT_EQ(folded("  0123456789abcdef", 12), "  0123456789\n      abcdef\n");
    EXPECT_EQ(folded("\u4e2d\u4e2d \u4e2d\u4e2d", 8), "\u4e2d\u4e2d\n    \u4e2d\u4e2d\n") << "wide letters";
    EXPECT_EQ(folded("", 10), "");
}

TEST(report, printable_keeps_letters_and_spells_out_the_rest) {
    struct {
        std::string text, shown;
    } const cases[] = {
        {"plain", "plain"},
        {"\u00E9\u65E5\U0001F600", "\u00E9\u65E5\U0001F600"},
        {"\x1b[31m", "\\x1b[31m"},
        {std::string("\0", 1), "\\x00"},
        {"\x7f", "\\x7f"},
        {"\xc2\x9b", "\\xc2\\x9b"},
        {"\xc0\xaf", "\\xc0\\xaf"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"\xe2\x82", "\\xe2\\x82"},
        {"\u2066x", "\\xe2\\x81\\xa6x"},
    };
    for (const auto& c : cases) EXPECT_EQ(printable(c.text), c.shown);
    EXPECT_EQ(printable(std::string_view("\u4e2d").substr(0, 2)), "\\xe4\\xb8") << "what follows is not its";
}

TEST(report_compare, differences_are_told_in_standard_errors) {
    results a = sample(), b = sample();
    b.manifest.seed = 7;
    b.rows[0].price += 0.1;  // call, errors: 0.1 / hypot(0.03125, 0.03125) = 2.26
    b.rows[1].price += 100;  // swap, errors: 5.66
    b.rows.push_back(priced("new", "USD", 1, 0.1));
    a.rows.push_back(priced("old", "USD", 1, 0.1));
    const comparison c = compare(a, b);
    ASSERT_EQ(c.rows.size(), 6U);
    EXPECT_NEAR(c.rows[0].difference, 0.1, 1e-12);
    EXPECT_NEAR(c.rows[0].error, 0.0441941738, 1e-9);
    EXPECT_NEAR(c.rows[0].z, 2.2627417, 1e-6);
    EXPECT_TRUE(c.rows[0].within(4.5));
    EXPECT_FALSE(c.rows[0].within(2));
    EXPECT_FALSE(c.rows[1].within(4.5));
    EXPECT_EQ(c.rows[2].found, price_difference::finding::failed_both);
    EXPECT_TRUE(c.rows[2].within(0));
    EXPECT_TRUE(c.rows[3].same_bits);
    EXPECT_TRUE(c.rows[3].within(0));
    EXPECT_EQ(c.rows[4].found, price_difference::finding::only_first);
    EXPECT_EQ(c.rows[4].trade, "old");
    EXPECT_EQ(c.rows[5].found, price_difference::finding::only_second);
    EXPECT_EQ(c.differing(), 3U);
    EXPECT_EQ(c.differing({2.0, {}}), 4U);
    EXPECT_FALSE(c.common_random_numbers);
}

TEST(report_compare, the_same_bits_are_those_of_price_and_error) {
    const auto same_bits = [](double price, double error) {
        results a, b;
        a.rows = {priced("call", "USD", 10, 0.5)};
        b.rows = {priced("call", "USD", price, error)};
        return compare(a, b).rows.at(0).same_bits;
    };
    EXPECT_TRUE(same_bits(10, 0.5));
    EXPECT_FALSE(same_bits(10, 0.5 + 1e-15));
    EXPECT_FALSE(same_bits(10, no_figure));
    EXPECT_FALSE(same_bits(10 + 1e-14, 0.5));
    results none;
    none.rows = {priced("call", "USD", 10, no_figure)};
    EXPECT_TRUE(compare(none, none).rows.at(0).same_bits);
}

TEST(report_compare, falls_are_differences_too) {
    for (const double sign : {1.0, -1.0}) {
        results a = sample(), b = sample();
        a.rows.resize(1);
        b.rows.resize(1);
        b.rows[0].price += sign * 0.5;  // 11.3 standard errors
        EXPECT_EQ(compare(a, b).differing(), 1U) << "common random numbers";
        EXPECT_EQ(compare(a, b).differing({default_limit, price_tolerance{0.4, false}}), 1U);
        EXPECT_EQ(compare(a, b).differing({default_limit, price_tolerance{0.6, false}}), 0U);
        b.manifest.seed = 1;
        EXPECT_EQ(compare(a, b).differing(), 1U);
        EXPECT_EQ(compare(a, b).differing({12, {}}), 0U);
        EXPECT_FALSE(compare(a, b).rows[0].within(4.5));
        EXPECT_FALSE(compare(a, b).rows[0].within_amount(0.4));
    }
}

// Versions that assigned random numbers otherwise share none with this one, even with equal seed and paths.
// Their files lack the entry `numbered_by`.
TEST(report_compare, runs_that_number_otherwise_are_independent) {
    const results ours = sample();
    std::string text = written(ours, output_format::json);
    const std::string said = "    \"numbered_by\": \"name\",\n";
    ASSERT_NE(text.find(said), std::string::npos);
    text.erase(text.find(said), said.size());
    const results earlier = read_results(text, "earlier.json");
    EXPECT_EQ(earlier.manifest.numbered_by, "place");
    EXPECT_FALSE(compare(earlier, ours).common_random_numbers);
    EXPECT_TRUE(compare(earlier, earlier).common_random_numbers);
    std::ostringstream out;
    write(out, compare(earlier, ours));
    EXPECT_NE(
        out.str().find("the numbering of random numbers differs, so the runs have different random numbers"),
        std::string::npos)
        << out.str();
}

// Under common random numbers any change of a price is a difference, however small beside the error.
TEST(report_compare, common_random_numbers_leave_nothing_to_chance) {
    results a = sample(), b = sample();
    b.rows[0].price += 1e-9;  // 3e-8 standard errors
    b.rows[1].price *= 1 + 0.9e-4;
    const comparison c = compare(a, b);
    ASSERT_TRUE(c.common_random_numbers);
    EXPECT_EQ(c.differing(), 2U);
    EXPECT_EQ(c.differing({1e9, {}}), 2U) << "a limit in errors is for chance";
    EXPECT_EQ(c.differing({default_limit, price_tolerance{1e-8, false}}), 1U);
    EXPECT_EQ(c.differing({default_limit, price_tolerance{1e-4, true}}), 0U) << "1bp of each price";
    EXPECT_EQ(c.differing({default_limit, price_tolerance{0.5e-4, true}}), 1U);
    const auto said = [&](const difference_rule& by) {
        std::ostringstream out;
        write(out, c, by);
        return out.str();
    };
    EXPECT_NE(said({}).find("\ncall   differs         USD"), std::string::npos) << said({});
    EXPECT_NE(said({}).find("\nrule: the same random numbers, so prices must be equal"), std::string::npos)
        << said({});
    EXPECT_NE(said({default_limit, price_tolerance{1e-4, true}})
                  .find("\nrule: prices of one unit may differ by 1bp of the first price\n"),
              std::string::npos)
        << said({default_limit, price_tolerance{1e-4, true}});
    EXPECT_NE(said({default_limit, price_tolerance{0.01, false}})
                  .find("may differ by 0.01 in the trade's currency"),
              std::string::npos);
    b.manifest.seed = 1;
    EXPECT_EQ(compare(a, b).differing(), 0U);
    std::ostringstream out;
    write(out, compare(a, b));
    EXPECT_NE(
        out.str().find("\nrule: independent random numbers, so prices may differ by 4.5 standard errors\n"),
        std::string::npos)
        << out.str();
}

// Differences of parts alternate between 0.1 - d and 0.1 + d: their mean is 0.1 with the error d / sqrt(15).
// Student's t of 15 degrees exceeds 4.0728 as rarely as a normal exceeds 3.2905, with probability 0.0005.
TEST(report_compare, an_error_of_few_parts_says_as_much_as_they_do) {
    for (const double sign : {1.0, -1.0}) {
        const double d = 0.1 * std::sqrt(15.0) / 4.0728;
        results a = sample(), b = sample();
        for (results* r : {&a, &b}) {
            r->rows.resize(1);
            r->manifest.part_paths = r->manifest.paths / 16;
            r->rows[0].randomisations = 16;
        }
        for (int part = 0; part < 16; ++part) {
            a.rows[0].part_means.push_back(10 + 0.3 * part);
            b.rows[0].part_means.push_back(10 + 0.3 * part + sign * 0.1 + (part % 2 == 0 ? d : -d));
        }
        b.rows[0].price = a.rows[0].price + sign * 0.1;
        const price_difference of_points = compare(a, b).rows.at(0);
        EXPECT_TRUE(of_points.error_of_parts);
        EXPECT_NEAR(of_points.error, d / std::sqrt(15.0), 1e-12);
        EXPECT_NEAR(of_points.z, sign * 3.2905, 3e-3 * 3.2905);
        a.rows[0].randomisations = b.rows[0].randomisations = 0;
        EXPECT_NEAR(compare(a, b).rows.at(0).z, sign * 4.0728, 1e-9);
    }
}

// If pilots chose different constructions for a trade, only this trade's prices are compared by their errors.
TEST(report_compare, trades_whose_pilots_chose_otherwise_go_by_their_errors) {
    results a = sample(), b = sample();
    for (results* r : {&a, &b}) {
        r->rows[0].randomisations = r->rows[1].randomisations = 16;
        r->rows[0].construction = r->rows[1].construction = "bridge";
    }
    b.rows[0].price += 1e-3;
    b.rows[1].price += 1e-3;
    EXPECT_EQ(compare(a, b).differing(), 2U);
    b.rows[0].construction = "principal";
    EXPECT_EQ(compare(a, b).differing(), 1U);
    std::ostringstream out;
    write(out, compare(a, b));
    EXPECT_NE(out.str().find("pilots chose other random numbers for 1 trade, which may differ by 4.5 "
                             "standard errors: call\n"),
              std::string::npos)
        << out.str();
    b.rows[1].randomisations = 0;
    b.rows[1].construction = "";
    EXPECT_EQ(compare(a, b).differing(), 0U);
    EXPECT_EQ(compare(a, b).differing({default_limit, price_tolerance{1e-4, false}}), 2U);
    // A construction that the settings ask for makes the whole runs independent.
    b.manifest.settings.construction = construction::principal;
    EXPECT_FALSE(compare(a, b).common_random_numbers);
}

// A trade on another grid builds other steps from the same points, and a control of another grid can't be
// used. Neither counts as a pilot's choice, but in both cases the difference may be chance.
TEST(report_compare, other_grids_and_other_controls_are_causes_of_their_own) {
    const auto said = [](const results& a, const results& b) {
        std::ostringstream out;
        write(out, compare(a, b));
        return out.str();
    };
    const auto has = [](const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    results a = sample(), b = sample();
    for (results* r : {&a, &b}) r->rows[0].decisions = "{\"control\":{}}";
    EXPECT_FALSE(has(said(a, b), "no difference is chance")) << said(a, b);
    EXPECT_FALSE(has(said(a, b), "it comes from")) << said(a, b);
    b.rows[0].price += 1e-3;
    EXPECT_TRUE(has(said(a, b),
                    "\nthe runs share random numbers, so no difference is chance: it comes from "
                    "the inputs or the version\n"))
        << said(a, b);
    b.rows[0].decisions = "";
    EXPECT_EQ(compare(a, b).differing(), 0U) << "it goes by its errors";
    EXPECT_FALSE(has(said(a, b), "pilots chose")) << said(a, b);
    EXPECT_TRUE(
        has(said(a, b),
            "\nthe runs have different control variates, for example because the time grids differ, for "
            "1 trade, which may differ by 4.5 standard errors: call\n"))
        << said(a, b);
    b.rows[0].decisions = a.rows[0].decisions;
    a.manifest.path_steps = 3 * a.manifest.paths;
    b.manifest.path_steps = 4 * b.manifest.paths;
    EXPECT_FALSE(has(said(a, b), "no difference is chance")) << said(a, b);
    EXPECT_TRUE(has(said(a, b),
                    "\nthe time grids differ, in all 3 and 4 steps a path: a trade whose grid "
                    "differs has other random numbers, so its difference may be chance; other "
                    "differences come from the inputs or the version\n"))
        << said(a, b);
}

TEST(report_compare, prices_without_an_error_and_of_any_size) {
    results a = sample(), b = sample();
    for (results* r : {&a, &b}) {
        r->rows.resize(2);
        r->rows[0].standard_error = r->rows[0].low = r->rows[0].high = no_figure;
        r->rows[1].quantity = 1e-300;
    }
    b.manifest.seed = 1;
    EXPECT_TRUE(compare(a, b).rows[0].same_bits);
    EXPECT_EQ(compare(a, b).differing(), 0U);
    b.rows[0].price += 1e-9;
    EXPECT_EQ(compare(a, b).differing(), 1U) << "no error excuses it";
    a.rows[1].price = 1.5e308, b.rows[1].price = -1.5e308;
    a.rows[1].standard_error = b.rows[1].standard_error = 1.5e308;
    EXPECT_EQ(compare(a, b).differing(), 2U);
    std::ostringstream out;
    write(out, compare(a, b));
    EXPECT_EQ(out.str().find("nan"), std::string::npos) << out.str();
    b.rows[0].quantity = 2;
    out.str("");
    write(out, compare(a, b));
    EXPECT_NE(out.str().find("the quantity of 1 trade differs; prices of one unit don't show it: call\n"),
              std::string::npos)
        << out.str();
}

TEST(report_compare, edges) {
    results a, b;
    a.rows = {priced("certain", "USD", 1, 0), priced("zero", "USD", 0.0, 0), priced("other", "USD", 1, 1),
              priced("broke", "USD", 1, 1), failed("mended")};
    b.rows = {priced("mended", "USD", 1, 1), failed("broke"), priced("other", "EUR", 1, 1),
              priced("zero", "USD", -0.0, 0), priced("certain", "USD", 1 + 1e-15, 0)};
    const comparison c = compare(a, b);
    ASSERT_EQ(c.rows.size(), 5U);
    EXPECT_TRUE(c.common_random_numbers);
    EXPECT_TRUE(std::isinf(c.rows[0].z)) << "certain prices may not differ";
    EXPECT_FALSE(c.rows[0].within(1e300));
    EXPECT_EQ(c.rows[1].z, 0);
    EXPECT_FALSE(c.rows[1].same_bits) << "0 and -0 are other bits";
    EXPECT_EQ(c.rows[2].found, price_difference::finding::other_currency);
    EXPECT_EQ(c.rows[3].found, price_difference::finding::failed_second);
    EXPECT_EQ(c.rows[4].found, price_difference::finding::failed_first);
    EXPECT_EQ(c.differing(), 4U);
    EXPECT_EQ(compare(results{}, results{}).rows.size(), 0U);
}

TEST(report_compare, trades_of_one_id_are_matched_in_order) {
    results a, b;
    a.rows = {priced("twin", "USD", 1, 1), priced("twin", "USD", 2, 1)};
    b.rows = {priced("twin", "USD", 1, 1), priced("twin", "USD", 2, 1), priced("twin", "USD", 3, 1)};
    const comparison c = compare(a, b);
    ASSERT_EQ(c.rows.size(), 3U);
    EXPECT_TRUE(c.rows[0].same_bits);
    EXPECT_TRUE(c.rows[1].same_bits);
    EXPECT_EQ(c.rows[2].found, price_difference::finding::only_second);
}

TEST(report_compare, table_is_word_for_word) {
    results a = sample(), b = sample();
    b.rows[0].price += 0.25;
    b.manifest.inputs[1].hash = "5678";
    b.rows.pop_back();
    std::ostringstream out;
    write(out, compare(a, b));
    EXPECT_EQ(
        out.str(),
        R"(first:  tilewalk 0.1.0, 131072 paths, seed 18446744073709551615, double precision, as of 2026-01-15
second: tilewalk 0.1.0, 131072 paths, seed 18446744073709551615, double precision, as of 2026-01-15
inputs new or changed in the second run: market.yaml

trade  verdict         currency       first      second  difference  in bp
-----  --------------  --------  ----------  ----------  ----------  -----
call   differs         USD          10.4506     10.7006        0.25    239
swap   same bits       EUR       -1234.5     -1234.5              0      0
bad    failed in both
far    ONLY IN FIRST   USD

4 trades: 2 priced in both, 1 to the same bits; 2 with other prices, missing or failed in one
rule: the same random numbers, so prices must be equal; --tolerance allows differences
the runs share random numbers, so no difference is chance: it comes from the inputs or the version
)");
}

TEST(report_compare, table_of_independent_runs_is_word_for_word) {
    results a = sample(), b = sample();
    b.rows[0].price += 0.25;
    b.rows[1].price -= 20;
    b.rows.pop_back();
    b.manifest.seed = 7;
    std::ostringstream out;
    write(out, compare(a, b));
    EXPECT_EQ(out.str().substr(out.str().find("\n\n") + 2),
              R"(trade  verdict         currency       first      second  difference  std error  in errors
-----  --------------  --------  ----------  ----------  ----------  ---------  ---------
call   BEYOND          USD          10.4506     10.7006        0.25     0.0442       5.66
swap   within          EUR       -1234.5     -1254.5            -20       17.7      -1.13
bad    failed in both
far    ONLY IN FIRST   USD

4 trades: 2 priced in both, 0 to the same bits; 2 beyond 4.5 standard errors, missing or failed in one
rule: independent random numbers, so prices may differ by 4.5 standard errors
seed differs, so the runs have different random numbers and are treated as independent
)");
}

TEST(report_compare, says_which_settings_differ_and_what_follows) {
    const struct {
        void (*change)(run_manifest&);
        bool common;
        const char* said;
    } cases[] = {
        {[](run_manifest&) {}, true, "it comes from the inputs or the version\n"},
        {[](run_manifest& m) { m.seed = 1; }, false,
         "\nseed differs, so the runs have different random numbers"},
        {[](run_manifest& m) { m.seed = 1, m.paths = 64; }, false,
         "\npaths and seed differ, so the runs have"},
        {[](run_manifest& m) { m.precision = "single"; }, false, "\nprecision differs, so the runs have"},
        {[](run_manifest& m) { m.random = "curand_xorwow"; }, false, "\nrandom differs, so the runs have"},
        {[](run_manifest& m) { m.settings.replay = "x.npy"; }, false, "\nreplay differs, so the runs have"},
        {[](run_manifest& m) { m.devices = {"NVIDIA L4"}; }, true,
         "the inputs or the version\ndevice differs; no price depends on it\n"},
        {[](run_manifest& m) { m.settings.prefetch = "none", m.settings.distance = 4; }, true,
         "the inputs or the version\nprefetch and distance differ; no price depends on them\n"},
        {[](run_manifest& m) { m.devices = {"NVIDIA L4"}, m.settings.reduction = "last_block"; }, true,
         "the inputs or the version\ndevice and reduction differ; no price depends on them\n"},
        {[](run_manifest& m) { m.devices = {"NVIDIA L4"}, m.settings.reduction = "atomic"; }, true,
         "it comes from the reduction, the inputs or the version\n"},
        {[](run_manifest& m) { m.settings.prefetch = "auto", m.settings.threads = 0; }, true,
         "the inputs or the version\n"},
    };
    for (const auto& c : cases) {
        results second = sample();
        second.rows[0].price += 1e-9;
        c.change(second.manifest);
        const comparison got = compare(sample(), second);
        std::ostringstream out;
        write(out, got);
        EXPECT_EQ(got.common_random_numbers, c.common) << out.str();
        EXPECT_NE(out.str().find(c.said), std::string::npos) << c.said << "\n" << out.str();
    }
    // Runs in single and mixed share shocks. In single_fast the CPU and GPUs approximate differently.
    results fast = sample(), mixed = sample(), on_gpu = sample();
    fast.manifest.precision = on_gpu.manifest.precision = "single_fast";
    on_gpu.manifest.devices = {"NVIDIA L4"};
    mixed.manifest.precision = "mixed";
    mixed.rows[0].price += 1e-9;
    on_gpu.rows[0].price += 1e-9;
    std::ostringstream out;
    write(out, compare(fast, mixed));
    EXPECT_NE(out.str().find("it comes from the precision, the inputs or the version\n"), std::string::npos)
        << out.str();
    EXPECT_NE(out.str().find("single_fast precision"), std::string::npos) << out.str();
    out.str("");
    write(out, compare(fast, on_gpu));
    EXPECT_NE(out.str().find("it comes from the device, the inputs or the version\n"), std::string::npos)
        << out.str();
    EXPECT_NE(out.str().find(", on NVIDIA L4\n"), std::string::npos) << out.str();
    EXPECT_EQ(out.str().find("no price depends"), std::string::npos) << out.str();
    // warp_atomic adds up in the order of arrival, so even identical runs differ.
    on_gpu.manifest.precision = "double";
    on_gpu.manifest.settings.reduction = "warp_atomic";
    out.str("");
    results again = on_gpu;
    again.rows[0].price += 1e-9;
    write(out, compare(on_gpu, again));
    EXPECT_NE(out.str().find("it comes from the reduction, the inputs or the version\n"), std::string::npos)
        << out.str();
}

TEST(report_product_report, page_and_list_in_every_form) {
    const product_page page{
        "digital",
        "options",
        "Cash or nothing.",
        "Pays, or not.",
        "max(S - K, 0) at T",
        {{"strike", "amount", "> 0", "", "The level."}, {"option", "choice", "call | put", "call", "Side."}},
        "on maturity:\n    pay 1\n",
        "{strike: 1}\n"};
    const auto text = [&](const auto& what, output_format format) {
        std::ostringstream out;
        write(out, what, format);
        return out.str();
    };
    EXPECT_EQ(text(page, output_format::table), R"(digital
=======

Cash or nothing.

Pays, or not.

pays
    max(S - K, 0) at T

parameter  type    range       default   meaning
---------  ------  ----------  --------  ----------
strike     amount  > 0         required  The level.
option     choice  call | put  call      Side.

script
    on maturity:
        pay 1

example trade
    {strike: 1}
)");
    EXPECT_EQ(text(page, output_format::csv),
              "parameter,type,range,default,help\nstrike,amount,> 0,,The level.\noption,choice,call | "
              "put,call,Side.\n");
    const std::string json = R"({
  "product": "digital",
  "group": "options",
  "summary": "Cash or nothing.",
  "description": "Pays, or not.",
  "formula": "max(S - K, 0) at T",
  "parameters": [
    {"name": "strike", "type": "amount", "range": "> 0", "default": "", "help": "The level."},
    {"name": "option", "type": "choice", "range": "call | put", "default": "call", "help": "Side."}
  ],
  "script": "on maturity:\n    pay 1\n",
  "example": "{strike: 1}\n"
}
)";
    EXPECT_EQ(text(page, output_format::json), json);
    const std::vector<product_page> pages{page};
    EXPECT_EQ(text(pages, output_format::csv), "product,group,summary\ndigital,options,Cash or nothing.\n");
    EXPECT_EQ(text(pages, output_format::table),
              "options\n\nproduct  summary\n-------  ----------------\ndigital  Cash or nothing.\n");
    std::vector<product_page> more{page, page, page};
    more[0].group = "swaps";
    more[1].group = "";
    EXPECT_EQ(text(more, output_format::table),
              "product  summary\n-------  ----------------\ndigital  Cash or nothing.\n\n"
              "options\n\nproduct  summary\n-------  ----------------\ndigital  Cash or nothing.\n\n"
              "swaps\n\nproduct  summary\n-------  ----------------\ndigital  Cash or nothing.\n");
    EXPECT_EQ(text(std::vector<product_page>{}, output_format::json), "[]\n");
}

TEST(report_product_report, a_page_says_what_its_example_is_worth) {
    product_page page{"digital", "options", "Cash or nothing.",          "",
                      "",        {},        "on maturity:\n    pay 1\n", "{strike: 1}\n"};
    price_row row;
    row.currency = "EUR";
    row.price = 12.3456;
    row.standard_error = 0.0212;
    row.paths = 65536;
    page.worth = row;
    page.worth_as_of = "2026-01-15";
    std::ostringstream table, json;
    write(table, page, output_format::table);
    EXPECT_TRUE(
        table.str().ends_with("example trade\n    {strike: 1}\n\nworth\n    12.3456 EUR, standard error "
                              "0.0212 over 65536 paths, in the "
                              "market of configs/markets/demo.yaml as of 2026-01-15\n"))
        << table.str();
    write(json, page, output_format::json);
    EXPECT_NE(
        json.str().find(
            R"(  "worth": {"price": 12.3456, "standard_error": 0.0212, "currency": "EUR", "paths": 65536, "as_of": "2026-01-15"}
})"),
        std::string::npos)
        << json.str();
}

TEST(report_product_pages, every_example_has_a_price) {
    run_options how;
    how.overrides.paths = 4096;
    how.overrides.device = "cpu";
    const engine on;
    for (const auto& page : product_pages()) {
        const results priced = on.price(example_book(page), how);
        ASSERT_EQ(priced.rows.size(), 1U);
        EXPECT_EQ(priced.rows[0].status, trade_status::priced) << page.name << ": " << priced.rows[0].message;
        EXPECT_GT(std::abs(priced.rows[0].price), 0) << page.name;
        EXPECT_EQ(priced.rows[0].product, page.name);
    }
}

TEST(report_product_pages, the_library_describes_itself) {
    const auto pages = product_pages();
    ASSERT_GE(pages.size(), 6U);
    for (const auto& page : pages) {
        EXPECT_FALSE(page.summary.empty() || page.script.empty() || page.example.empty() ||
                     page.parameters.empty())
            << page.name;
        for (const auto& p : page.parameters)
            EXPECT_FALSE(p.type.empty() || p.help.empty()) << page.name << "." << p.name;
    }
    const auto european =
        std::find_if(pages.begin(), pages.end(), [](const auto& p) { return p.name == "european"; });
    ASSERT_NE(european, pages.end());
    ASSERT_EQ(european->parameters.size(), 4U);
    EXPECT_EQ(european->parameters[1].range, "call | put");
    EXPECT_EQ(european->parameters[1].default_value, "call");
    EXPECT_EQ(european->parameters[2].range, ">= 0");
    EXPECT_EQ(european->parameters[2].default_value, "");
    EXPECT_EQ(nearest_name("europaen", {"asian", "european"}), "european");
    EXPECT_EQ(nearest_name("zzz", {"asian", "european"}), "");
}

TEST(report, table_names_the_first_of_many_failures_and_counts_the_rest) {
    results many;
    for (int i = 0; i < 25; ++i) {
        price_row row;
        row.trade = "t" + std::to_string(i);
        row.message = "no market " + std::to_string(i);
        many.rows.push_back(row);
    }
    std::ostringstream out;
    write(out, many, output_format::table);
    EXPECT_NE(out.str().find("25 trades failed:\n"), std::string::npos) << out.str();
    EXPECT_NE(out.str().find("\n  t19: no market 19\n"), std::string::npos) << out.str();
    EXPECT_EQ(out.str().find("\n  t20: no market 20\n"), std::string::npos) << out.str();
    EXPECT_NE(out.str().find("  and 5 more; csv and json output have them all\n"), std::string::npos)
        << out.str();
}

TEST(report, table_tells_once_of_trades_that_fail_alike) {
    results many;
    for (int i = 0; i < 146; ++i) {
        price_row row;
        row.trade = "N" + std::to_string(i);
        row.message = i % 50 == 49 ? "no asset" : i == 7 ? "no strike" : "no market";
        row.where = {"b.yaml", i + 1, 3};
        many.rows.push_back(row);
    }
    std::ostringstream out;
    write(out, many, output_format::table);
    const std::string text = out.str();
    EXPECT_NE(text.find("146 trades failed:\n"
                        "  143 trades: b.yaml:1:3: no market (N0, N1, N2, N3, N4, ...)\n"
                        "  N7: b.yaml:8:3: no strike\n"
                        "  N49: b.yaml:50:3: no asset\n"
                        "  N99: b.yaml:100:3: no asset\n"),
              std::string::npos)
        << text;
}

TEST(report, a_short_trade_that_is_worth_nothing_has_no_sign) {
    price_row row;
    row.quantity = -1;
    row.price = 0;
    EXPECT_FALSE(std::signbit(row.value()));
    EXPECT_FALSE(std::signbit(row.value_in_totals()));
}

TEST(report, greeks_of_too_few_parts_say_how_many_paths_would_do) {
    results r = sample_of_greeks();
    const std::string enough = written_greeks(r, output_format::table);
    EXPECT_EQ(enough.find("no standard errors"), std::string::npos) << enough;
    EXPECT_EQ(remark_on_few_parts(r), "");
    r.manifest.paths = 4096;
    r.manifest.part_paths = 1024;
    for (greek_row& row : r.greeks) {
        row.part_means.resize(std::min<std::size_t>(row.part_means.size(), 4));
        row.standard_error = no_figure;
    }
    r.greeks[0].value = 288.3158778;
    const std::string few =
        "no standard errors: 4096 paths make 4 parts of the run, and an error needs 16; use "
        "16384 paths";
    EXPECT_EQ(remark_on_few_parts(r), few);
    const std::string table = written_greeks(r, output_format::table);
    EXPECT_TRUE(table.ends_with("\n" + few + "\n")) << table;
    EXPECT_NE(table.find(" 288 "), std::string::npos) << table;
    EXPECT_EQ(table.find("288.3"), std::string::npos) << table;
    const std::string json = written_greeks(r, output_format::json);
    EXPECT_NE(json.find("\"value\": 288.3158778, \"standard_error\": null"), std::string::npos) << json;
    EXPECT_NE(json.find("\"remarks\": [\"" + few + "\"]"), std::string::npos) << json;
    EXPECT_EQ(read_results(json, "r.json").greeks.size(), 5u);
    r.rows[0].randomisations = 9;
    r.manifest.paths = 9 * 1024;
    EXPECT_EQ(
        remark_on_few_parts(r),
        "no standard errors: the run has 9 randomisations, and an error needs 16; use 16 randomisations");
}

// Keys are never cut, because people copy them into --shift.
TEST(report, keys_of_greeks_are_whole_on_any_terminal) {
    results r = sample_of_greeks();
    const std::string key = "A_LONG_NAME_OF_AN_ASSET.dividend_yield@2026-12-18";
    r.greeks[0].key = key;
    for (const std::size_t columns : {40u, 80u, 105u}) {
        std::ostringstream out;
        write_greeks(out, r, output_format::table, {.columns = columns});
        for (std::size_t at = 0, n = 0; n < 2; ++n) {
            at = out.str().find(key, at + 1);
            EXPECT_NE(at, std::string::npos) << out.str();
        }
    }
}

TEST(report, the_account_below_greeks_goes_on_two_columns_in) {
    std::ostringstream out;
    write_greeks(out, sample_of_greeks(), output_format::table, {.columns = 40});
    const std::string text = out.str();
    const std::size_t account = text.find(" paths, seed");
    ASSERT_NE(account, std::string::npos) << text;
    const std::size_t next = text.find('\n', account) + 1;
    EXPECT_EQ(text.find_first_not_of(' ', next), next + 2) << text;
}

TEST(report_product_report, choices_are_whole_on_any_terminal) {
    const product_page page{"note",
                            "notes",
                            "A note.",
                            "",
                            "",
                            {{"watched", "choice", "at_maturity | on_dates | continuous", "at_maturity",
                              "When the protection can break, which is at the end, on dates, or always."},
                             {"rebate", "amount per observations", ">= 0", "", "Paid."}},
                            "on maturity:\n    pay 1\n",
                            "{}\n"};
    for (const std::size_t columns : {60u, 80u, 105u, 200u}) {
        std::ostringstream out;
        write(out, page, output_format::table, {.columns = columns});
        for (const char* const whole : {"at_maturity | on_dates | continuous", "amount per observations"})
            EXPECT_NE(out.str().find(whole), std::string::npos) << columns << "\n" << out.str();
    }
    std::ostringstream narrow;
    write(narrow, page, output_format::table, {.columns = 80});
    EXPECT_NE(
        narrow.str().find("parameters\n"
                          "watched: choice, at_maturity | on_dates | continuous, default at_maturity\n"
                          "    When the protection can break, which is at the end, on dates, or always.\n"
                          "rebate: amount per observations, >= 0, required\n"
                          "    Paid.\n"),
        std::string::npos)
        << narrow.str();
}

}  // namespace
}  // namespace tilewalk::report_test
