// SPDX-License-Identifier: Apache-2.0
// The command `tilewalk import`, and commands on books that are tables: output and exit codes.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/command.h"

namespace import_cli_test {
namespace {

using tilewalk::tests::finished;
using tilewalk::tests::text_of;

std::string trade(const std::string& id, const std::string& type, const std::string& style) {
    return "<Trade id=\"" + id + "\"><TradeType>" + type + "</TradeType><" + type +
           "Data>\n<OptionData><LongShort>Long</LongShort><OptionType>Call</OptionType><Style>" + style +
           "</Style><ExerciseDates><ExerciseDate>2027-01-15</ExerciseDate></ExerciseDates></"
           "OptionData><Name>ACME</Name>"
           "<Currency>USD</Currency><Strike>100</Strike><Quantity>3</Quantity></" +
           type + "Data></Trade>\n";
}

class import_cli : public tilewalk::tests::command_test {
  protected:
    import_cli() {
        put("market.yaml",
            "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets: {ACME: {currency: USD, spot: 100, "
            "volatility: 0.2}}\n");
        put("good.xml", "<Portfolio>\n" + trade("a", "EquityOption", "European") + "</Portfolio>\n");
        put("bad.xml", "<Portfolio>\n" + trade("a", "EquityOption", "European") +
                           trade("b", "EquityOption", "Asian") + "</Portfolio>\n");
    }
};

TEST_F(import_cli, makes_a_book_that_is_priced) {
    std::filesystem::create_directory(folder / "below");
    const finished got = run({"import", "good.xml", "--market", "market.yaml", "-o", "below/book.yaml"});
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(got.out, "");
    EXPECT_EQ(got.err, "tilewalk: 1 of 1 trade imported\n");
    EXPECT_EQ(text_of(folder / "below/book.yaml"),
              "# 1 of 1 trades of good.xml\n"
              "# taken: an asset is quoted in the currency in which the trades on it pay\n"
              "market: ../market.yaml\n"
              "trades:\n"
              "  - {id: a, product: european, underlying: ACME, option: call, strike: 100, maturity: "
              "2027-01-15, quantity: 3,\n"
              "      currency: USD}\n"
              "...\n");
    const finished priced = run({"price", "below/book.yaml", "--paths", "1024", "--format", "csv"});
    EXPECT_EQ(priced.code, 0) << priced.err;
    EXPECT_NE(priced.out.find("a,european,USD,priced,3,"), std::string::npos) << priced.out;
}

TEST_F(import_cli, tells_which_trades_it_left_out) {
    const finished got = run({"import", "bad.xml"});
    EXPECT_EQ(got.code, 3);
    const std::string said =
        "bad.xml:5:69: trade b: found <Style> 'Asian', expected one of European, American, Bermudan\n";
    EXPECT_EQ(got.err.substr(got.err.find("trade b") - 14), said + "tilewalk: 1 of 2 trades imported\n")
        << got.err;
    EXPECT_NE(got.out.find("# left out: bad.xml:"), std::string::npos) << got.out;
    EXPECT_NE(got.out.find("{id: a, "), std::string::npos);
    EXPECT_EQ(run({"import", "bad.xml", "--quiet"}).err.find("imported"), std::string::npos);
}

TEST_F(import_cli, refuses_what_it_cannot_read_or_must_not_write) {
    expect({"import", "absent.xml"}, 2, "absent.xml");
    expect({"import", "market.yaml"}, 2, "market.yaml:1:1: found a text, expected an element of XML");
    expect({"import", "good.xml", "-o", "good.xml"}, 2, "good.xml");
    expect({"import", "good.xml", "--names", "absent.yaml"}, 2, "absent.yaml");
    expect({"import"}, 2, "PORTFOLIO");
    expect({"import", "good.xml", "--nmaes", "x"}, 2, "did you mean '--names'?");
}

TEST_F(import_cli, a_table_is_a_book) {
    put("trades.csv",
        "id,product,underlying,strike,maturity\na,european,ACME,100,1.0\nb,european,ACME,1o0,1.0\n");
    const finished got =
        run({"price", "trades.csv", "--market", "market.yaml", "--paths", "1024", "--format", "csv"});
    EXPECT_EQ(got.code, 3) << got.err;
    EXPECT_NE(got.out.find("a,european,USD,priced,1,"), std::string::npos) << got.out;
    EXPECT_NE(got.err.find("trades.csv:3:17: trade b: trades[1].strike: found '1o0', expected a number"),
              std::string::npos)
        << got.err;
    expect({"price", "trades.csv"}, 2, "the book names no market");
    put("market.csv", "id\n");
    expect({"validate", "market.csv", "--market", "market.yaml"}, 2,
           "market.csv:1:1: found no column 'product'");
}

}  // namespace

}  // namespace import_cli_test
