// SPDX-License-Identifier: Apache-2.0
// Trades as rows of CSV, compared with the same trades in YAML; every complaint names the cell.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/digest.h"
#include "engine/reading/book_state.h"
#include "tests/own_folder.h"
#include "tests/refusal.h"
#include "tilewalk/bounds.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::trade_table_test {
namespace {

using tests::refusal;

const std::string market_text =
    "as_of: 2026-01-15\n"
    "currencies: {USD: {rate: 0.03}, EUR: {rate: 0.02}}\n"
    "assets:\n"
    "  ACME: {currency: USD, spot: 100, volatility: 0.2}\n"
    "  BETA: {currency: USD, spot: 50, volatility: 0.3}\n"
    "correlations: [[ACME, BETA, 0.5]]\n";

class trade_table : public testing::Test {
  protected:
    book of(const std::string& rows, const std::string& more = "", const load_options& with = {}) const {
        own.write("trades.csv", rows);
        own.write("book.yaml", "trades: {csv: trades.csv" + more + "}\n");
        return book::load(own / "book.yaml", with);
    }
    std::string failure(const std::string& rows, const std::string& more = "") const {
        const book read = of(rows, more);
        std::string all;
        for (const auto& t : state_of(read).trades)
            if (t.failure) all += (all.empty() ? "" : "\n") + t.id + " " + without_folder(t.failure->what());
        return all;
    }
    std::string refused(const std::string& rows, const std::string& more = "",
                        const load_options& with = {}) const {
        return without_folder(refusal([&] { of(rows, more, with); }));
    }
    std::string without_folder(std::string text) const {
        const std::string folder = own.path().string() + "/";
        for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;)
            text.erase(at, folder.size());
        return text;
    }

    tests::own_folder own;
};

void expect_same_trades(const book& a, const book& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto &x = state_of(a).trades[i], &y = state_of(b).trades[i];
        EXPECT_FALSE(x.failure) << x.failure->what();
        EXPECT_FALSE(y.failure) << y.failure->what();
        EXPECT_EQ(x.id, y.id);
        EXPECT_EQ(x.product_name, y.product_name) << x.id;
        EXPECT_EQ(x.args, y.args) << x.id;
        EXPECT_EQ(x.is_said, y.is_said) << x.id;
        EXPECT_EQ(x.rules, y.rules) << x.id;
        EXPECT_EQ(x.currency, y.currency) << x.id;
        EXPECT_EQ(x.quantity, y.quantity) << x.id;
        EXPECT_EQ(x.portfolio, y.portfolio) << x.id;
        EXPECT_EQ(x.report.has_value(), y.report.has_value()) << x.id;
        EXPECT_EQ(x.tolerance.has_value(), y.tolerance.has_value()) << x.id;
    }
}

const std::string rows_of_all_forms =
    "id,product,underlying,option,strike,maturity,averaging_dates,basket,initial_level,weights,quantity,"
    "currency,"
    "portfolio,tolerance,report\n"
    "a,european,ACME,put,101.5,2027-01-15,,,,,-3,EUR,desk 1,0.01,implied_volatility\n"
    "\"with, comma\",european,ACME,,100,1.0,,,,,,,,,\n"
    "\"quote \"\"in\"\" it\",asian,ACME,,100,,\"{start: 0, end: 1, count: 4}\",,,1;2;3;4,,,,,\n"
    "d,asian,ACME,,100,,0.25; 0.5 ;1.0,,,\"[1, 2, 3]\",,,,,\r\n"
    " e , asian , ACME ,, 100 ,,0.25,,,,,,,,\n"
    "f,worst_of,,put,1,1.0,,ACME;BETA,100;50,,,,,,\"{fair: strike, price: 0.1}\"\n"
    "g,worst_of,,put,1,\"{date: 2026-12-26, calendar: weekends, roll: following}\",,ACME,100,,,,,,\n"
    "h,worst_of,,put,1,1.0,,\"[ACME, BETA]\",50,,,,,,\n"
    "i,worst_of,,put,1,1.0,,\"['ACME', \"\"BETA\"\"]\",50,,,,,,\n";
const std::string same_in_yaml =
    "trades:\n"
    "  - {id: a, product: european, underlying: ACME, option: put, strike: 101.5, maturity: 2027-01-15,\n"
    "     quantity: -3, currency: EUR, portfolio: desk 1, tolerance: 0.01, report: implied_volatility}\n"
    "  - {id: 'with, comma', product: european, underlying: ACME, strike: 100, maturity: 1.0}\n"
    "  - {id: 'quote \"in\" it', product: asian, underlying: ACME, strike: 100,\n"
    "     averaging_dates: {start: 0, end: 1, count: 4}, weights: [1, 2, 3, 4]}\n"
    "  - {id: d, product: asian, underlying: ACME, strike: 100, averaging_dates: [0.25, 0.5, 1.0], weights: "
    "[1, 2, 3]}\n"
    "  - {id: e, product: asian, underlying: ACME, strike: 100, averaging_dates: [0.25]}\n"
    "  - {id: f, product: worst_of, basket: [ACME, BETA], initial_level: [100, 50], option: put, strike: 1,\n"
    "     maturity: 1.0, report: {fair: strike, price: 0.1}}\n"
    "  - {id: g, product: worst_of, basket: [ACME], initial_level: 100, option: put, strike: 1,\n"
    "     maturity: {date: 2026-12-26, calendar: weekends, roll: following}}\n"
    "  - {id: h, product: worst_of, basket: [ACME, BETA], initial_level: 50, option: put, strike: 1, "
    "maturity: 1.0}\n"
    "  - {id: i, product: worst_of, basket: [ACME, BETA], initial_level: 50, option: put, strike: 1, "
    "maturity: 1.0}\n";

TEST_F(trade_table, says_what_the_same_trades_say_in_yaml) {
    const std::string one_unit = ", default_quantity: 1";
    const book table = of(rows_of_all_forms, one_unit), yaml = book::parse(same_in_yaml);
    expect_same_trades(table, yaml);
    expect_same_trades(of("\xef\xbb\xbf" + rows_of_all_forms, one_unit), yaml);
    const market in = market::parse(market_text);
    run_options few;
    few.overrides.paths = 2048;
    const auto a = engine().price(table, in, few), b = engine().price(yaml, in, few);
    ASSERT_EQ(a.rows.size(), b.rows.size());
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        EXPECT_EQ(a.rows[i].message, b.rows[i].message);
        EXPECT_EQ(a.rows[i].price, b.rows[i].price) << a.rows[i].trade;
        EXPECT_EQ(a.rows[i].value(), b.rows[i].value()) << a.rows[i].trade;
    }
}

TEST_F(trade_table, any_number_of_threads_reads_the_same) {
    std::string rows = "id,strike,maturity,underlying\n", yaml = "trades:\n";
    for (int i = 0; i < 20'000; ++i) {  // more rows than one batch
        const std::string id = "t" + std::to_string(i), strike = std::to_string(50 + i % 100);
        rows += id + "," + strike + ",1.0,ACME\n";
        yaml += "  - {id: " + id + ", product: european, strike: " + strike +
                ", maturity: 1.0, underlying: ACME}\n";
    }
    const book expected = book::parse(yaml);
    for (const int threads : {1, 2, 7}) {
        const book read = of(rows, ", product: european", {.threads = threads});
        expect_same_trades(read, expected);
        EXPECT_EQ(state_of(read).trades[12'345].where.line, 12'347);
    }
}

TEST_F(trade_table, files_of_one_product_each_and_of_several) {
    own.write("calls.csv", "id,underlying,strike,maturity\na,ACME,100,1\nb,ACME,90,1\n");
    own.write("more.csv",
              "id,product,basket,initial_level,strike,maturity,option\nc,worst_of,ACME;BETA,1,1,1,put\n");
    own.write("mixed.csv", "id,product,underlying,strike,maturity\nd,,ACME,100,1\ne,american,ACME,100,1\n");
    const auto load = [&](const std::string& trades) {
        own.write("book.yaml", "trades: " + trades + "\n");
        return book::load(own / "book.yaml");
    };
    const book all =
        load("{csv: [{file: calls.csv, product: european}, more.csv, {file: mixed.csv}], product: european}");
    ASSERT_EQ(all.size(), 5u);
    const std::vector<std::string> products{"european", "european", "worst_of", "european", "american"};
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_FALSE(state_of(all).trades[i].failure) << state_of(all).trades[i].failure->what();
        EXPECT_EQ(state_of(all).trades[i].product_name, products[i]);
    }
    own.write("again.csv", "id,underlying,strike,maturity\nz,ACME,100,1\na,ACME,100,1\n");
    const book twice = load("{csv: [calls.csv, again.csv], product: european}");
    EXPECT_EQ(without_folder(state_of(twice).trades[3].failure->what()),
              "again.csv:3:1: trades[3].id: duplicate id 'a'; it was first given at calls.csv:2:1");
    EXPECT_EQ(without_folder(refusal([&] { load("{csv: [], product: european}"); })),
              "book.yaml:1:15: trades.csv: found an empty list, expected the name of a file");
    EXPECT_EQ(without_folder(refusal([&] { load("{csv: nothing.csv}"); })),
              "book.yaml:1:15: trades.csv: 'nothing.csv': there is no such file");
    EXPECT_EQ(without_folder(refusal([&] { load("{csv: calls.csv, product: europian}"); })).substr(0, 88),
              "book.yaml:1:35: trades.product: unknown product 'europian'; did you mean 'european'? kno");
    EXPECT_EQ(without_folder(refusal([&] { load("{cvs: calls.csv}"); })),
              "book.yaml:1:10: trades.cvs: unknown key 'cvs'; did you mean 'csv'? known keys: csv, product, "
              "default_quantity");
    EXPECT_EQ(without_folder(refusal([&] { load("{id: a, product: european}"); })),
              "book.yaml:1:9: trades: found a mapping with the keys of a trade, expected a list of trades; "
              "begin each with '- '");
    EXPECT_EQ(
        without_folder(refusal([&] { load("calls.csv"); })),
        "book.yaml:1:9: trades: found 'calls.csv', expected a list of trades, or a table of them, as in "
        "{csv: trades.csv}");
}

// Outer joins leave empty cells. Taking one for one unit would silently make a wrong position.
TEST_F(trade_table, an_empty_quantity_fails_its_row) {
    const std::string head = "id,underlying,strike,maturity,quantity\n", european = ", product: european";
    const std::string rows = head + "a,ACME,100,1,500\nb,ACME,100,1,\nc,ACME,100,1,  \n";
    const std::string nothing =
        "found nothing, expected a number of units; to set one for all empty cells, write {csv: trades.csv, "
        "default_quantity: 1}, or default_quantity=1 in Python";
    EXPECT_EQ(failure(rows, european), "b trades.csv:3:14: trades[1].quantity: " + nothing +
                                           "\nc trades.csv:4:14: trades[2].quantity: " + nothing);
    const book read = of(rows, european);
    EXPECT_EQ(state_of(read).trades[0].quantity, 500);
    EXPECT_FALSE(is_figure(state_of(read).trades[1].quantity));
    // The book written out again fails for the same trades, and takes no empty cell for one unit.
    const book again = book::from_value(read.written(), "again", own.path());
    EXPECT_TRUE(state_of(again).trades[1].failure && state_of(again).trades[2].failure);

    const auto quantities = [&](const std::string& table, const std::string& more) {
        std::vector<double> out;
        const book taken = of(table, more);
        for (const auto& t : state_of(taken).trades) {
            EXPECT_FALSE(t.failure) << t.failure->what();
            out.push_back(t.quantity);
        }
        return out;
    };
    EXPECT_EQ(quantities(rows, european + ", default_quantity: -2.5"),
              (std::vector<double>{500, -2.5, -2.5}));
    const std::string bare = "id,underlying,strike,maturity\na,ACME,100,1\n";
    EXPECT_EQ(quantities(bare, european), std::vector<double>{1});
    EXPECT_EQ(quantities(bare, european + ", default_quantity: 7"), std::vector<double>{7});
    EXPECT_EQ(refused(bare, european + ", default_quantity: many"),
              "book.yaml:1:64: trades.default_quantity: found 'many', expected a number");
    own.write("two.csv", rows);
    own.write("book.yaml",
              "trades: {csv: [{file: two.csv, default_quantity: 3}, trades.csv], product: european, "
              "default_quantity: 4}\n");
    own.write("trades.csv", head + "d,ACME,100,1,\n");
    const book both = book::load(own / "book.yaml");
    EXPECT_EQ(state_of(both).trades[1].quantity, 3);
    EXPECT_EQ(state_of(both).trades[3].quantity, 4);
}

TEST_F(trade_table, a_failed_row_has_the_quantity_of_the_book) {
    const std::string head = "id,underlying,strike,maturity,averaging_dates,quantity,product\n";
    const book read =
        of(head +
           "a,ACME,x,1,,500,european\nb,ACME,100,1,,-7,europan\nc,ACME,100,1,,many,european\n"
           "d,ACME,100,1,,5,6,european\ne,ACME,100,,\"{start: 0\",8,asian\na,ACME,100,1,,9,european\n");
    const auto& trades = state_of(read).trades;
    const std::vector<double> expected{500, -7, no_figure, no_figure, 8, 9};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_TRUE(trades[i].failure) << i;
        if (is_figure(expected[i]))
            EXPECT_EQ(trades[i].quantity, expected[i]) << trades[i].id;
        else
            EXPECT_FALSE(is_figure(trades[i].quantity)) << trades[i].id;
    }
    EXPECT_EQ(trades[4].id, "e") << "a bad cell behind the id leaves it";
    const results r = engine().price(read, market::parse(market_text));
    std::ostringstream csv, json;
    write(csv, r, output_format::csv);
    write(json, r, output_format::json);
    EXPECT_NE(csv.str().find("\na,european,,failed,500,,"), std::string::npos) << csv.str();
    EXPECT_NE(csv.str().find("\nc,european,,failed,,,"), std::string::npos) << csv.str();
    EXPECT_NE(json.str().find("\"quantity\": null"), std::string::npos) << json.str();
    const results back = read_results(json.str(), "back");
    EXPECT_EQ(back.rows[1].quantity, -7);
    EXPECT_FALSE(is_figure(back.rows[2].quantity));
    std::ostringstream table;
    write(table, r, output_format::table);
    EXPECT_NE(table.str().find("500"), std::string::npos) << table.str();
}

TEST_F(trade_table, a_column_of_empty_cells_is_left_out) {
    const std::string head = "id,product,underlying,strike,maturity,barrier,direction\n";
    EXPECT_EQ(failure(head + "a,european,ACME,100,1,,\nb,european,ACME,90,1, ,\n"), "");
    EXPECT_EQ(refused(head + "a,european,ACME,100,1,,\nb,european,ACME,90,1,80,\n").substr(0, 41),
              "trades.csv:1:39: unknown column 'barrier'");
}

TEST_F(trade_table, of_a_book_with_products_of_its_own) {
    own.write("mine.yaml",
              "product: mine\nsummary: s\nparameters:\n  days: {type: schedule, help: h}\n  by: {type: "
              "amount, per: "
              "days, help: h}\nexample: {days: [1], by: 1}\nscript: |\n  on days:\n      pay by\n");
    own.write("trades.csv", "id,product,days,by,currency\na,mine,1.0;2.0,3;4,USD\nb,mine,1.0,3,USD\n");
    own.write("book.yaml", "products: [mine.yaml]\ntrades: {csv: trades.csv}\n");
    const book read = book::load(own / "book.yaml");
    for (const auto& t : state_of(read).trades) EXPECT_FALSE(t.failure) << t.failure->what();
    EXPECT_EQ(std::get<std::vector<double>>(state_of(read).trades[0].args.at("by")),
              (std::vector<double>{3, 4}));
    EXPECT_EQ(book::from_value(read.only({"a"}).written(), "again", own.path()).size(), 1u);
}

TEST_F(trade_table, a_wrong_row_fails_alone) {
    const std::string head = "id,underlying,strike,maturity,option\n", good = "good,ACME,100,1,call\n";
    const auto one = [&](const std::string& row) {
        return failure(head + good + row + "\n", ", product: european");
    };
    EXPECT_EQ(one("a,ACME,20%,1,call"),
              "a trades.csv:3:8: trades[1].strike: found '20%', expected a number; write 0.2");
    EXPECT_EQ(one("a, ACME ,\"x\",1,call"),
              "a trades.csv:3:11: trades[1].strike: found 'x', expected a number");
    EXPECT_EQ(
        one("a,ACME,100,1,coll"),
        "a trades.csv:3:14: trades[1].option: found 'coll'; did you mean 'call'? expected one of call, put");
    EXPECT_EQ(
        one("a,ACME,,1,call"),
        "a trades.csv:3:1: trades[1]: missing key 'strike' (Price at which the holder may buy or sell)");
    EXPECT_EQ(one(",ACME,100,1,call"), "#2 trades.csv:3:1: trades[1]: missing key 'id'");
    EXPECT_EQ(one("a,ACME,100,1"),
              "a trades.csv:3:1: found 4 cells, expected 5, one for each name of the header; a cell with a "
              "comma in it "
              "needs quotes");
    EXPECT_EQ(one("a,ACME,100,1,call,,"),
              "a trades.csv:3:1: found 7 cells, expected 5, one for each name of the header; a cell with a "
              "comma in it "
              "needs quotes");
    EXPECT_EQ(one("good,ACME,100,1,call"),
              "good trades.csv:3:1: trades[1].id: duplicate id 'good'; it was first given on line 2");
    EXPECT_EQ(one("a,ACME,1;2,1,call"), "a trades.csv:3:8: trades[1].strike: found '1;2', expected a number");
    EXPECT_EQ(failure(head + good + "a,ACME,10", ", product: european"),
              "a trades.csv:3:1: found 3 cells, expected 5, one for each name of the header; a cell with a "
              "comma in it "
              "needs quotes; the file may be cut short");
    EXPECT_EQ(
        failure("id,product,underlying,averaging_dates,strike\na,asian,ACME,1;;2,3\n"),
        "a trades.csv:2:14: found nothing between two signs ';', expected one value for each of a list");
    EXPECT_EQ(
        failure(
            "id,product,underlying,averaging_dates,strike\na,asian,ACME,\"{start: 0, end: 1, cont: 4}\",3\n"),
        "a trades.csv:2:34: trades[0].averaging_dates.cont: unknown key 'cont'; did you mean 'count'? known "
        "keys: "
        "start, end, every, count, calendar, roll, include_start");
    // The place of a mapping with quoted words is its opening brace, also if it is nested.
    EXPECT_EQ(failure("id,product,underlying,averaging_dates,strike\n"
                      "a,asian,ACME,\"{'start': 0, count: 4}\",3\n"),
              "a trades.csv:2:15: trades[0].averaging_dates: missing key 'end'");
    const std::string inside = "a trades.csv:2:25: trades[0].averaging_dates.start: ";
    EXPECT_EQ(failure("id,product,underlying,averaging_dates,strike\n"
                      "a,asian,ACME,\"{'start': {years: 1}, end: 2}\",3\n")
                  .substr(0, inside.size()),
              inside);
    EXPECT_EQ(failure("id,product,underlying,averaging_dates,strike\na,asian,ACME,0.5],3\n").substr(0, 17),
              "a trades.csv:2:14");
    EXPECT_EQ(failure("id,product,underlying,averaging_dates,strike\na,asian,ACME,\"{start: 0\",3\n"),
              "a trades.csv:2:15: this is not valid YAML: end of map flow not found; a '{' has no '}'");
    EXPECT_EQ(failure("id,product,underlying,averaging_dates,strike\na,asian,ACME,\"[1.0,\n *x]\",3\n")
                  .substr(0, 18),
              "a trades.csv:3:2: ");
    const std::string both = "id,product,underlying,strike,maturity,exercise_step\nb,american,ACME,1,1,0.1\n";
    EXPECT_EQ(failure(both + "a,european,ACME,1,1,\n"), "");
    EXPECT_EQ(failure(both + "a,european,ACME,1,1,0.1\n").substr(0, 71),
              "a trades.csv:3:21: trades[1].exercise_step: unknown key 'exercise_step'");
    EXPECT_EQ(failure(both + "a,eropean,ACME,1,1,0.1\n").substr(0, 88),
              "a trades.csv:3:3: trades[1].product: unknown product 'eropean'; did you mean 'european'?");
}

TEST_F(trade_table, a_wrong_header_is_refused) {
    const std::string row = "\na,ACME,100,1\n", european = ", product: european";
    EXPECT_EQ(refused("id,underlying,strik,maturity" + row, european),
              "trades.csv:1:15: unknown column 'strik'; did you mean 'strike'? known columns: currency, id, "
              "maturity, "
              "option, portfolio, product, quantity, report, strike, tolerance, underlying");
    EXPECT_EQ(refused("id,underlying,strike,strike" + row, european),
              "trades.csv:1:22: found a second column 'strike', expected one");
    EXPECT_EQ(refused("id,underlying,strike," + row, european),
              "trades.csv:1:22: found a column without a name, expected the name of a parameter");
    EXPECT_EQ(refused("name,underlying,strike,maturity" + row, european),
              "trades.csv:1:1: found no column 'id', expected one with the names of the trades");
    EXPECT_EQ(refused("id,underlying,strike,maturity" + row),
              "trades.csv:1:1: found no column 'product', expected one, or the product of all rows in the "
              "book, as in "
              "{csv: trades.csv, product: european}");
    EXPECT_EQ(refused("id;underlying;strike;maturity\n", european),
              "trades.csv:1:1: found one name, expected several with commas between them");
    EXPECT_EQ(refused("", european), "trades.csv:1:1: found nothing, expected a header line");
    EXPECT_EQ(refused("id,underlying,strike,maturity\na,ACME,100,\"1\n", european),
              "trades.csv:2:12: found a cell in quotes that does not end, expected a closing quote; the file "
              "may be cut "
              "short");
    EXPECT_EQ(refused("id,underlying,strike,maturity\na,AC\xff,100,1\n", european).substr(0, 15),
              "trades.csv:2:5:");
}

TEST_F(trade_table, a_strict_reader_demands_an_end_or_a_count) {
    const std::string rows = "id,product,underlying,strike,maturity\na,european,ACME,100,1\n";
    const load_options strict{.strict = true};
    const auto load = [&](const std::string& table, const std::string& text) {
        own.write("trades.csv", table);
        own.write("book.yaml", text);
        return without_folder(refusal([&] { book::load(own / "book.yaml", strict); }));
    };
    EXPECT_EQ(load(rows, "trades: {csv: trades.csv}\n...\n"),
              "trades.csv:3:1: found no last line '...', expected one, or a trade_count in the book, where "
              "files are "
              "read strictly; the file may be cut short");
    EXPECT_EQ(load(rows + "...\n", "trades: {csv: trades.csv}\n...\n"), tests::nothing_refused);
    EXPECT_EQ(load(rows, "trade_count: 1\ntrades: {csv: trades.csv}\n"), tests::nothing_refused);
    EXPECT_EQ(load(rows, "trade_count: 2\ntrades: {csv: trades.csv}\n"),
              "book.yaml:1:14: trade_count: found '2' beside 1 trade, expected the number of trades; the "
              "file may be cut "
              "short");
}

TEST_F(trade_table, a_confined_reader_stays_in_the_folder) {
    own.write("trades.csv", "id,product,underlying,strike,maturity\n");
    std::filesystem::create_directory(own / "below");
    own.write("below/book.yaml", "trades: {csv: ../trades.csv}\n");
    EXPECT_NE(refusal([&] { book::load(own / "below/book.yaml", {.confine = true}); }).find("confined"),
              std::string::npos);
    EXPECT_EQ(book::load(own / "below/book.yaml").size(), 0u);
}

TEST_F(trade_table, is_an_input_and_can_be_written_and_cut_down) {
    const std::string rows =
        "id,product,underlying,strike,maturity,exercise_step\na,european,ACME,100,1,\nb,american,ACME,100,1,"
        "0.5\n#,";
    const book read = of(rows);
    const auto& inputs = state_of(read).inputs;
    ASSERT_EQ(inputs.size(), 2u);
    EXPECT_EQ(inputs[1].file, (own / "trades.csv").string());
    EXPECT_EQ(inputs[1].hash, config::sha256(rows));
    const auto files = read.files();
    EXPECT_NE(std::ranges::find(files, own / "trades.csv"), files.end());
    EXPECT_EQ(read.only({"a"}).written().yaml(),
              "trades:\n  - {id: a, product: european, underlying: ACME, strike: 100, maturity: 1}\n");
    EXPECT_EQ(read.only({"b"}).size(), 1u);
    const value whole = read.written();
    EXPECT_EQ(whole.at("trades").items().size(), 3u);
    const book again = book::from_value(read.only({"a", "b"}).written());
    expect_same_trades(again, read.only({"a", "b"}));
}

TEST_F(trade_table, is_a_book_by_itself) {
    const auto file =
        own.write("alone.csv", "id,product,underlying,strike,maturity\na,european,ACME,100,1\n");
    const book read = book::load(file);
    expect_same_trades(
        read,
        book::parse("trades: [{id: a, product: european, underlying: ACME, strike: 100, maturity: 1}]"));
    EXPECT_FALSE(read.market());
    EXPECT_EQ(read.files(), std::vector<std::filesystem::path>{file});
    EXPECT_EQ(read.written().at("trades").items().size(), 1u);
    EXPECT_NE(refusal([&] { book::load(file, {.strict = true}); }), tests::nothing_refused);
    EXPECT_EQ(book::parse("id,product\n", "none.csv").size(), 0u);
}

TEST_F(trade_table, has_bounds) {
    const std::string head = "id,product,underlying,strike,maturity\n";
    std::string rows = head;
    for (std::size_t i = 0; i <= bounds::entries; ++i) rows += "a\n";
    EXPECT_EQ(refused(rows), "trades.csv:500002:1: found more than 500000 trades, which is the limit");
    EXPECT_EQ(failure(head + "a,european,\"" + std::string(bounds::text_bytes + 1, 'x') + "\",1,1\n"),
              "a trades.csv:2:13: found a text of 262145 bytes, expected at most 262144");
    EXPECT_EQ(failure(head + "a,european,\"" + std::string(bounds::text_bytes, 'x') + "\",1,1\n")
                  .find("found a text of"),
              std::string::npos);
    EXPECT_NE(failure("id,product,averaging_dates\na,asian," + std::string(100, '[') + "\n"), "");
    std::string names = "id,product";
    const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    for (std::size_t i = 0; i < 200'000; ++i)
        names += {',', letters[i / 3844], letters[i / 62 % 62], letters[i % 62]};
    EXPECT_NE(refused(names + "\n").find("found more than 200000 columns"), std::string::npos);
}

}  // namespace
}  // namespace tilewalk::trade_table_test
