// SPDX-License-Identifier: Apache-2.0
// Portfolios in ORE's XML: refusals of the XML reader, conversion of trades, and no field silently ignored.
// tests/ore_import_test.py compares values, schedules and ORE's own reading.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/text/xml.h"
#include "engine/reading/book_state.h"
#include "tests/own_folder.h"
#include "tests/refusal.h"
#include "tests/texts.h"
#include "tilewalk/bounds.h"
#include "tilewalk/import.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::import_test {
namespace {

using config::xml_element;
using config::xml_reader;
using tests::nothing_refused;
using tests::refusal;
using tests::text_of;

const std::filesystem::path source = TILEWALK_SOURCE_DIR;

void write(const xml_element& of, std::string& to) {
    to += of.name + "@" + std::to_string(of.line) + ":" + std::to_string(of.column);
    for (const auto& a : of.attributes)
        to += " " + a.name + "@" + std::to_string(a.line) + ":" + std::to_string(a.column) + "=" + a.value;
    if (!of.text.empty()) to += " '" + of.text + "'";
    for (const xml_element& child : of.children) {
        to += " (";
        write(child, to);
        to += ")";
    }
}

std::string read(const std::string& text) {
    xml_reader reader(text, "f");
    std::string out;
    write(reader.root(), out);
    xml_element child;
    while (reader.next(child)) {
        out += "; ";
        write(child, out);
    }
    return out;
}

std::string refused_xml(const std::string& text) {
    return refusal([&] { read(text); });
}

TEST(import_xml, has_elements_with_their_places) {
    EXPECT_EQ(read("<?xml version='1.0' encoding='UTF-8'?>\n<!-- c -->\n<a x=\"1\">\n  <b y='&lt;2&gt;'  "
                   "z=\"\"/>\n\t<c>t &amp;\n u</c>\n</a>\n"),
              "a@3:1 x@3:4=1; b@4:3 y@4:6=<2> z@4:21=; c@5:2 't &\n u'");
    EXPECT_EQ(read("<a/>"), "a@1:1");
    EXPECT_EQ(read("\xef\xbb\xbf<a></a >"), "a@1:1");
    EXPECT_EQ(read("<a><b><c>1</c><!-- x --><d><![CDATA[<&]]></d><?p i?></b></a>"),
              "a@1:1; b@1:4 (c@1:7 '1') (d@1:25 '<&')");
    EXPECT_EQ(read("<a><b>&#233;&#x20AC;&quot;&apos;</b></a>"), "a@1:1; b@1:4 '\xc3\xa9\xe2\x82\xac\"\x27'");
    EXPECT_EQ(read("<a><b> \n one two\t \n</b></a>"), "a@1:1; b@1:4 'one two'");
    EXPECT_EQ(read("<n:a\r\n>\r\n<b/></n:a>"), "n:a@1:1; b@3:1");
}

TEST(import_xml, refuses_what_is_not_plain) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "f:1:1: found nothing, expected an element of XML"},
        {"text", "f:1:1: found a text, expected an element of XML"},
        {"<!DOCTYPE a><a/>",
         "f:1:1: found a document type or a section, expected elements; entities and document types are not "
         "supported"},
        {"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
         "f:1:1: found a document type or a section, expected elements; entities and document types are not "
         "supported"},
        {"<a><b>&c;</b></a>",
         "f:1:7: found an entity that this reader does not take, expected one of &amp; &lt; &gt; &quot; "
         "&apos; or a number, "
         "such as &#233;"},
        {"<a><b>&#0;</b></a>",
         "f:1:7: found an entity that this reader does not take, expected one of &amp; &lt; &gt; &quot; "
         "&apos; or a number, "
         "such as &#233;"},
        {"<a><b>&#xD800;</b></a>",
         "f:1:7: found an entity that this reader does not take, expected one of &amp; &lt; &gt; &quot; "
         "&apos; or a number, "
         "such as &#233;"},
        {"<a>\n <b>1</c></a>",
         "f:2:6: found </c>, expected </b>, the end of the element that begins on line 2"},
        {"<a><b>", "f:1:7: found the end of the file, expected </b>; the file may be cut short"},
        {"<a><b/>\n", "f:2:1: found the end of the file, expected </a>; the file may be cut short"},
        {"<a><b", "f:1:6: found a tag <b that does not end, expected >; the file may be cut short"},
        {"<a x='1' x='2'/>", "f:1:10: found a second attribute 'x'"},
        {"<a x/>", "f:1:5: found an attribute without a value, expected ="},
        {"<a x=1/>", "f:1:6: found an attribute's value without quotes"},
        {"<a x='<'/>", "f:1:7: found < in a value, expected &lt;"},
        {"<a x='1'y='2'/>", "f:1:9: found a tag <a that does not end, expected >"},
        {"<a>text</a>", "f:1:4: found text beside elements, expected only elements"},
        {"<a><b>text<c/></b></a>", "f:1:7: found text beside elements, expected only elements"},
        {"<a/><b/>", "f:1:5: found text after the end of the document"},
        {"<a></a>\nmore", "f:2:1: found text after the end of the document"},
        {"<a><b><!-- </b></a>", "f:1:7: found a comment that does not end; the file may be cut short"},
        {"<a><1/></a>", "f:1:5: found no name, expected one, as in <Trade>"},
        {"<?xml version='1.0' encoding='ISO-8859-1'?><a/>",
         "f:1:1: found another encoding than UTF-8, expected a file in UTF-8"},
        {"<a>\n\xff</a>", "f:2:1: found a byte that is no UTF-8, expected a file in UTF-8"},
        {"<a>\x01</a>", "f:1:4: found the character U+0001, which no text may have"},
    };
    for (const auto& [text, message] : cases) EXPECT_EQ(refused_xml(text), message) << text;
}

TEST(import_xml, has_bounds) {
    const auto nested = [](int levels) {
        std::string text;
        for (int i = 0; i < levels; ++i) text += "<a>";
        for (int i = 0; i < levels; ++i) text += "</a>";
        return text;
    };
    EXPECT_EQ(refused_xml(nested(bounds::nesting)), nothing_refused);
    EXPECT_EQ(refused_xml(nested(bounds::nesting + 1)),
              "f:1:196: found more than 64 levels of nesting, which is the limit");
    EXPECT_NE(refused_xml(nested(1'000'000)), nothing_refused);
    std::string many = "<a><b>";
    for (std::size_t i = 0; i < bounds::part_values; ++i) many += "<c/>";
    EXPECT_NE(refused_xml(many + "</b></a>").find("more than 200000 values"), std::string::npos);
    std::string children = "<a>";
    for (std::size_t i = 0; i <= bounds::entries; ++i) children += "<b/>";
    EXPECT_NE(refused_xml(children + "</a>").find("more than 500000 elements"), std::string::npos);
    EXPECT_NE(refused_xml("<a><b>" + std::string(bounds::text_bytes + 1, 'x') + "</b></a>")
                  .find("more than 262144 bytes"),
              std::string::npos);
    std::string attributes = "<a";
    for (int i = 0; i < 200; ++i) attributes += " x" + std::to_string(i) + "=''";
    EXPECT_NE(refused_xml(attributes + "/>").find("more than 100 attributes"), std::string::npos);
    EXPECT_NE(refused_xml("<" + std::string(2000, 'x') + "/>").find("a name of 2000 bytes"),
              std::string::npos);
}

class import_of_ore : public testing::Test {
  protected:
    import_of_ore() { own.write("names.yaml", "assets: {RIC:.IDX: INDEX}\n"); }
    imported_portfolio of(const std::string& xml) const {
        return import_ore_text(xml, "p.xml", own / "names.yaml");
    }
    // The test portfolio, with the text `old` of one trade replaced. The text must be there.
    static std::string with(const std::string& trade, const std::string& old, const std::string& text) {
        std::string xml = whole();
        const std::size_t begin = xml.find("<Trade id=\"" + trade + "\">"), at = xml.find(old, begin);
        EXPECT_NE(begin, xml.npos) << trade;
        EXPECT_LT(at, xml.find("</Trade>", begin)) << trade << ": " << old;
        return xml.replace(at, old.size(), text);
    }
    static const std::string& whole() {
        static const std::string text = text_of(source / "tests/data/ore/portfolio.xml");
        return text;
    }
    static const value& row_of(const imported_portfolio& read, const std::string& id) {
        for (const value& row : read.book.at("trades").items())
            if (row.at("id").text() == id) return row;
        throw error(error_kind::internal, "found no row " + id);
    }
    std::string refused(const std::string& trade, const std::string& old, const std::string& text) const {
        const imported_portfolio read = of(with(trade, old, text));
        if (read.refused.empty()) return nothing_refused;
        EXPECT_EQ(read.refused.size(), 1u);
        EXPECT_EQ(read.imported, read.found - 1);
        EXPECT_EQ(read.refused.front().trade, trade);
        return read.refused.front().reason;
    }

    tests::own_folder own;
};  // namespace

TEST_F(import_of_ore, every_kind_is_in_the_portfolio_and_on_its_page) {
    const imported_portfolio read = of(whole());
    EXPECT_EQ(read.found, 34u);
    EXPECT_EQ(read.imported, 34u);
    for (const auto& r : read.refused) ADD_FAILURE() << r.trade << ": " << r.reason;
    const std::string page = text_of(source / "docs/import.md");
    std::set<std::string> products;
    for (const product_page& p : product_pages()) products.insert(p.name);
    for (const value& added : read.book.at("products").items()) products.insert(added.at("product").text());
    for (const known_trade& known : known_ore_trades()) {
        EXPECT_NE(page.find("`" + known.name + "`"), std::string::npos) << known.name;
        for (std::size_t at = 0; at < known.products.size();) {
            const std::size_t end = std::min(known.products.find(", ", at), known.products.size());
            const std::string product = known.products.substr(at, end - at);
            EXPECT_TRUE(products.contains(product)) << product;
            EXPECT_NE(page.find("`" + product + "`"), std::string::npos) << product;
            at = end + 2;
        }
        // Kinds that differ only in their asset, equity or exchange rate, are represented by one of the two.
        const std::string pair = known.name.starts_with("Fx")       ? "Equity" + known.name.substr(2)
                                 : known.name.starts_with("Equity") ? "Fx" + known.name.substr(6)
                                                                    : known.name;
        EXPECT_TRUE(whole().find("<TradeType>" + known.name + "<") != std::string::npos ||
                    whole().find("<TradeType>" + pair + "<") != std::string::npos)
            << known.name;
    }
    const book made = book::from_value(read.book);
    for (const auto& row : read.book.at("trades").items()) EXPECT_EQ(row.at("portfolio").text(), "desk");
    EXPECT_EQ(made.size(), 36u);  // premiums and a collar's floor have their own
    for (const auto& problem :
         engine().validate(made, market::parse("as_of: 2026-01-15\n"
                                               "currencies: {USD: {rate: 0.04}, EUR: {rate: 0.025}}\n"
                                               "assets:\n"
                                               "  ACME: {currency: USD, spot: 100, volatility: 0.2}\n"
                                               "  INDEX: {currency: USD, spot: 5000, volatility: 0.2}\n"
                                               "  EUR_USD: {currency: USD, spot: 1.1, volatility: 0.1}\n")))
        ADD_FAILURE() << problem.trade << ": " << problem.failure;
}

TEST_F(import_of_ore, any_field_that_is_not_known_is_refused) {
    const std::string& xml = whole();
    std::size_t tried = 0;
    std::vector<std::string> open;
    for (std::size_t at = xml.find("<Trade "); (at = xml.find('<', at)) != std::string::npos; ++at) {
        if (xml[at + 1] != '/') {
            const std::size_t end = xml.find_first_of(" >", at);
            open.push_back(xml.substr(at + 1, end - at - 1));
            continue;
        }
        const std::string name = open.empty() ? "Portfolio" : open.back();
        if (!open.empty()) open.pop_back();
        const bool has_children = xml[xml.find_last_not_of(" \n", at - 1)] == '>';
        const bool is_free = name == "AdditionalFields" || name == "Portfolio";
        if (!has_children || is_free) continue;
        const imported_portfolio read = of(std::string(xml).insert(at, "<Surprise>1</Surprise>"));
        ASSERT_EQ(read.refused.size(), 1u) << name << " at " << at;
        const auto line = std::count(xml.begin(), xml.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
        EXPECT_EQ(read.refused.front().where.line, line);
        EXPECT_EQ(read.refused.front().reason.find("found <Surprise> '1' in <" + name +
                                                   ">, which is not supported"),
                  0u)
            << read.refused.front().reason;
        ++tried;
    }
    EXPECT_GT(tried, 300u);
}

TEST_F(import_of_ore, attributes_that_are_not_known_are_refused) {
    EXPECT_EQ(refused("eq_call", "<Strike>", "<Strike unit=\"percent\">"),
              "found the attribute 'unit' of <Strike>, which is not supported for this trade and may change "
              "its value");
    EXPECT_EQ(
        refused("swap", "<Rate>0.03</Rate>", "<Rate>0.03</Rate><Rate startDate=\"2028-01-15\">0.04</Rate>"),
        "found <Rate> '0.04', expected the same number for the whole leg, '0.03'");
    EXPECT_EQ(
        refused("swap", "<Rate>0.03</Rate>", "<Rate>0.03</Rate><Rate startDate=\"2028-01-15\">0.03</Rate>"),
        nothing_refused);
}

TEST_F(import_of_ore, what_no_book_takes_is_refused) {
    const auto renamed = [&](const std::string& id) {
        std::string xml = whole();
        const std::string old = "<Trade id=\"eq_call\">";
        xml.replace(xml.find(old), old.size(), "<Trade id=\"" + id + "\">");
        const imported_portfolio read = of(xml);
        EXPECT_EQ(read.imported, read.found - 1) << id;
        return read.refused.size() == 1 ? read.refused.front().reason : std::string();
    };
    EXPECT_EQ(renamed(std::string(300, 'x')),
              "found a trade that a book can't hold: id: found an id of 300 bytes, expected at most 256");
    EXPECT_EQ(renamed(" eq_call"),
              "found a trade that a book can't hold: id: found the quoted text ' eq_call' with a blank at an "
              "end, expected the id without it");
    EXPECT_EQ(renamed("eq&#10;call"),
              "found a trade that a book can't hold: id: found the quoted text 'eq\\ncall', expected one "
              "line of text");
    EXPECT_EQ(refused("eq_call", "<Strike>100<", "<Strike>-7000<"),
              "found a trade that a book can't hold: strike: found '-7000', expected a number at least 0");
    const book taken = book::from_value(of(whole()).book, "book");
    for (const books::trade& t : state_of(taken).trades) EXPECT_FALSE(t.failure) << t.failure->what();
}

TEST_F(import_of_ore, known_types_come_in_one_order) {
    const std::string a = refused("eq_call", "<TradeType>EquityOption<", "<TradeType>Zebra<"),
                      b = refused("eq_call", "<TradeType>EquityOption<", "<TradeType>Aardvark<");
    const std::string list = "known types: Autocallable_01, Bond, CapFloor, EquityAccumulator, ";
    EXPECT_NE(a.find(list), std::string::npos) << a;
    ASSERT_NE(b.find(list), std::string::npos) << b;
    EXPECT_EQ(a.substr(a.find(list)), b.substr(b.find(list)));
}

TEST_F(import_of_ore, what_changes_a_value_is_refused_or_read) {
    struct change {
        std::string trade, old, text, said;
    };
    const std::vector<change> changes{
        {"eq_call", "<TradeType>EquityOption<", "<TradeType>EquityOptoin<",
         "unknown trade type 'EquityOptoin'; did you mean 'EquityOption'? known types: "},
        {"eq_call", "<Style>European<", "<Style>Asian<",
         "found <Style> 'Asian', expected one of European, American, Bermudan"},
        {"eq_call", "<LongShort>Long<", "<LongShort>Lang<",
         "found <LongShort> 'Lang', expected Long or Short"},
        {"eq_call", "<OptionType>Call<", "<OptionType>Cal<",
         "found <OptionType> 'Cal', expected one of Call, Put, C, P"},
        {"eq_call", "<Strike>100<", "<Strike>100%<", "found <Strike> '100%', expected a number; write 1"},
        {"eq_call", "<Quantity>1000</Quantity>", "", "found no <Quantity> in <EquityOptionData>"},
        {"eq_call", "<ExerciseDate>2027-01-15<", "<ExerciseDate>2027-02-30<",
         "found <ExerciseDate> '2027-02-30', expected a date"},
        {"eq_call", "<Name>ACME</Name>", "<Name>ACME</Name><Name>BETA</Name>",
         "found a second <Name>, expected one"},
        {"eq_call", "<ExerciseDates>", "<NoticePeriod>5D</NoticePeriod><ExerciseDates>",
         "found <NoticePeriod> '5D' in <OptionData>"},
        {"eq_call", "<ExerciseDates>",
         "<PaymentData><Dates><Date>2027-01-19</Date></Dates></PaymentData><ExerciseDates>",
         "found <Date> '2027-01-19', expected the day of exercise"},
        {"eq_underlying", "<Currency>USD</Currency>\n      </StrikeData>",
         "<Currency>EUR</Currency>\n      </StrikeData>",
         "found <Currency> 'EUR', expected 'USD', the currency that the trade pays"},
        {"eq_american", "<PayOffAtExpiry>false<", "<PayOffAtExpiry>true<",
         "found <PayOffAtExpiry> 'true', expected false"},
        {"eq_up_out", "<Type>UpAndOut<", "<Type>KnockOut<",
         "found <Type> 'KnockOut', expected one of DownAndIn, DownAndOut"},
        {"eq_up_out", "<Levels>", "<Style>European</Style><Levels>",
         "found <Style> 'European', expected one of American"},
        {"eq_up_out", "<Level>130</Level>", "<Level>130</Level><Level>140</Level>",
         "found 2 levels, expected 1"},
        {"eq_double", "<Level>75</Level>", "<Level>145</Level>", "found levels that do not increase"},
        {"eq_double", "      </BarrierData>", "      <Rebate>1</Rebate></BarrierData>",
         "found <Rebate> '1', expected 0"},
        {"fx_digital", "<PayoffCurrency>USD<", "<PayoffCurrency>GBP<",
         "found <PayoffCurrency> 'GBP', expected 'USD' or 'EUR'"},
        {"eq_asian", "<Settlement>2027-01-15<", "<Settlement>2027-01-19<",
         "found <Settlement> '2027-01-19', expected the day"},
        {"eq_asian", "<Calendar>WeekendsOnly<", "<Calendar>US<",
         "found the calendar 'US', whose holidays are not known"},
        {"eq_asian", "<Rule>Forward<", "<Rule>CDS<",
         "found <Rule> 'CDS', expected one of Forward, Backward, Zero"},
        {"eq_asian", "<Tenor>1M<", "<Tenor>monthly<",
         "found <Tenor> 'monthly', expected a period, such as 1D, 2W, 6M or 1Y"},
        {"eq_variance", "<MomentType>Variance<", "<MomentType>Volatility<",
         "found <MomentType> 'Volatility', expected one of Variance"},
        {"eq_cliquet", "<SettlementDays>0<", "<SettlementDays>2<", "found <SettlementDays> '2', expected 0"},
        {"fx_tarf", "<Strike>1.08</Strike>",
         "<SettlementCalendar>TARGET</SettlementCalendar><Strike>1.08</Strike>",
         "found the calendar 'TARGET', whose holidays are not known"},
        {"eq_cliquet", "<Moneyness>1.0<", "<Moneyness>0.9<", "found <Moneyness> '0.9', expected 1"},
        {"eq_cliquet", "<SettlementDays>", "<Premium>0.01</Premium><SettlementDays>",
         "found <Premium> '0.01', expected none"},
        {"fx_tarf", "<RangeTo>1.08<", "<RangeTo>1.05<", "found <RangeTo> '1.05', expected the strike"},
        {"fx_tarf", "<TargetAmount>80000<", "<TargetAmount>90000<",
         "found <TargetAmount> '90000', expected the cap of the gains"},
        {"fx_tarf", "<Leverage>1<", "<Leverage>3<", "found the leverage 3 above the strike, expected 1"},
        {"fx_tarf", "<Type>CumulatedProfitCap<", "<Type>FixingCap<",
         "found <Type> 'FixingCap', expected one of CumulatedProfitCap"},
        {"eq_accumulator", "<Type>UpAndOut<", "<Type>DownAndOut<",
         "found <Type> 'DownAndOut', expected one of UpAndOut"},
        {"eq_accumulator", "<StartDate>", "<NakedOption>true</NakedOption><StartDate>",
         "found <NakedOption> 'true', expected false"},
        {"swap", "<LegType>Floating<", "<LegType>CMS<",
         "found <LegType> 'CMS', expected one of Fixed, Floating"},
        {"swap", "<Index>EUR-EURIBOR-6M<", "<Index>EUR-EURIBOR-3M<",
         "found <Index> 'EUR-EURIBOR-3M', expected the tenor of the leg, 6M"},
        {"swap", "<Index>EUR-EURIBOR-6M<", "<Index>USD-LIBOR-6M<",
         "found <Index> 'USD-LIBOR-6M', expected an index of EUR"},
        {"swap", "<IsInArrears>false<", "<IsInArrears>true<", "found <IsInArrears> 'true', expected false"},
        {"swap", "<Notional>10000000<", "<Notional>20000000<",
         "found the notionals 2e+07 and 1e+07, expected one"},
        {"swap", "<DayCounter>30/360<", "<DayCounter>BUS/252<",
         "found <DayCounter> 'BUS/252', expected one of "},
        {"swap", "<PaymentConvention>MF</PaymentConvention>",
         "<PaymentConvention>MF</PaymentConvention><PaymentLag>2</PaymentLag>",
         "found <PaymentLag> '2', expected 0"},
        {"swap", "<Convention>MF<", "<Convention>U<", ""},
        {"swap", "<Payer>true<", "<Payer>false<", "found two legs with the same <Payer>"},
        {"swaption", "<ExerciseDate>2027-01-15<", "<ExerciseDate>2027-02-15<",
         "found a swap that begins before the day of exercise"},
        {"swaption", "<Settlement>Physical<", "<Settlement>Cash<",
         "found cash settlement without <SettlementMethod>"},
        {"swaption", "<Settlement>Physical<",
         "<SettlementMethod>ParYieldCurve</SettlementMethod><Settlement>Cash<",
         "found <SettlementMethod> 'ParYieldCurve', expected one of PhysicalOTC"},
        {"swaption_bermudan", "<ExerciseDate>2028-01-17<", "<ExerciseDate>2028-01-13<",
         "found an exercise on 2028-01-13, on which no fixed period begins"},
        {"bond", "<SecurityId>", "<CreditCurveId>CPTY_B</CreditCurveId><SecurityId>",
         "found the credit curve 'CPTY_B', but trades here"},
        {"bond", "<Convention>Unadjusted<", "<Convention>MF<", ""},
        {"swap", "<DayCounter>A360<", "<DayCounter>A365<",
         "found <DayCounter> 'A365', expected A360, by which EUR-EURIBOR-6M is counted"},
        {"swaption", "<DayCounter>A360<", "<DayCounter>30/360 (Bond Basis)<",
         "found <DayCounter> '30/360 (Bond Basis)', expected A360"},
        {"cap", "<DayCounter>A360<", "<DayCounter>A365F<", "found <DayCounter> 'A365F', expected A360"},
        {"swap", "<Index>EUR-EURIBOR-6M<", "<Index>EUR-ESTER<",
         "found <IsInArrears> 'false', expected true: an overnight rate is compounded over the period"},
        {"cap", "<Index>EUR-EURIBOR-6M</Index>\n          <IsInArrears>false</IsInArrears>",
         "<Index>EUR-ESTER</Index>", "found <Index> 'EUR-ESTER', expected an index with a tenor"},
        {"swaption", "<Settlement>Physical</Settlement>", "", "found no <Settlement> in <OptionData>"},
        {"eq_touch", "<ExerciseDates>", "<ExerciseDates><ExerciseDate>2026-12-15</ExerciseDate>",
         "found several days of exercise, expected one"},
        {"fx_double_touch", "<PayOffAtExpiry>true<", "<PayOffAtExpiry>false<",
         "found <PayOffAtExpiry> 'false', expected true: without a touch it pays at the end"},
        {"fx_no_touch", "<PayOffAtExpiry>true<", "<PayOffAtExpiry>false<",
         "found <PayOffAtExpiry> 'false', expected true: without a touch"},
        {"fx_double_touch", "</Levels>", "</Levels><Rebate>5</Rebate>", "found <Rebate> '5', expected 0"},
        {"eq_digital", "<Name>ACME</Name>",
         "<Underlying><Type>Equity</Type><Name>BETA</Name><Currency>EUR</Currency></Underlying>",
         "found <Currency> 'EUR', expected 'USD', the currency that the trade pays"},
        {"eq_put_short", "<Currency>USD<", "<Currency>EUR<",
         "found <Currency> 'EUR', expected 'USD', in which another trade on ACME pays"},
        {"fx_tarf", "<Currency>USD<", "<Currency>EUR<",
         "found <Currency> 'EUR', expected 'USD', in which ECB-EUR-USD is quoted"},
        {"eq_decumulator", "<StartDate>2026-01-15<", "<StartDate>2026-03-15<",
         "found <StartDate> '2026-03-15', expected a day that is not after the first"},
        {"eq_asian", "<StartDate>2026-02-15<", "<EndOfMonth>true</EndOfMonth><StartDate>2026-01-30<",
         "found <EndOfMonth> 'true', expected false where the dates are counted from the end of a month"},
    };
    for (const change& c : changes) {
        const std::string said = refused(c.trade, c.old, c.text);
        EXPECT_NE(said, nothing_refused) << c.trade << ": " << c.text;
        EXPECT_EQ(said.substr(0, c.said.size()), c.said) << c.trade << ": " << c.text;
    }
}

// The import states what it assumes of an index: fixings on accrual days, and the day count of its legs.
TEST_F(import_of_ore, overnight_rates_are_compounded_over_their_period) {
    const auto taken = [&](const std::string& leg) {
        const imported_portfolio read = of(with(
            "swap",
            "<Index>EUR-EURIBOR-6M</Index>\n          <Spreads>\n            <Spread>0.001</Spread>\n        "
            "  "
            "</Spreads>\n          <IsInArrears>false</IsInArrears>\n          <FixingDays>2</FixingDays>",
            leg));
        EXPECT_TRUE(read.refused.empty()) << leg << ": " << read.refused.front().reason;
        return read.taken;
    };
    const std::string lag = "EUR-ESTER is fixed on the days on which it accrues, none of them earlier",
                      count = " is counted as its legs are";
    const auto says = [](const std::vector<std::string>& all, const std::string& line) {
        return std::ranges::find(all, line) != all.end();
    };
    EXPECT_FALSE(says(taken("<Index>EUR-ESTER</Index>"), lag));
    EXPECT_FALSE(says(taken("<Index>EUR-ESTER</Index><IsInArrears>true</IsInArrears>"), lag));
    EXPECT_TRUE(says(taken("<Index>EUR-ESTER</Index><FixingDays>2</FixingDays>"), lag));
    EXPECT_FALSE(says(taken("<Index>EUR-ESTER</Index>"), "EUR-ESTER" + count));
    EXPECT_TRUE(says(taken("<Index>EUR-NEW-6M</Index>"), "EUR-NEW-6M" + count));
    const std::string xml = whole();
    std::string dollars = xml.substr(xml.find("<Trade id=\"swap\">"));
    dollars.resize(dollars.find("</Trade>") + 8);
    for (std::size_t at = 0; (at = dollars.find(">EUR<", at)) != std::string::npos;)
        dollars.replace(at, 5, ">USD<");
    dollars.replace(dollars.find("EUR-EURIBOR-6M"), 14, "USD-SIFMA");
    const imported_portfolio read = of("<Portfolio>" + dollars + "</Portfolio>");
    ASSERT_EQ(read.refused.size(), 1u);
    EXPECT_EQ(read.refused[0].reason,
              "found <Index> 'USD-SIFMA', expected a rate that compounds over its period: averages and "
              "rates by business days are not supported");
}

TEST_F(import_of_ore, nothing_is_said_of_a_trade_that_is_left_out) {
    const auto alone = [&](const std::string& day) {
        std::string trade = whole().substr(whole().find("<Trade id=\"eq_asian\">"));
        trade.resize(trade.find("</Trade>") + 8);
        const std::string paid = "<Settlement>2027-01-15<";
        trade.replace(trade.find(paid), paid.size(), "<Settlement>" + day + "<");
        return of("<Portfolio>" + trade + "</Portfolio>");
    };
    const imported_portfolio known = alone("2027-01-15"), unknown = alone("2027-01-19");
    EXPECT_EQ(known.imported, 1u);
    EXPECT_EQ(known.taken,
              std::vector<std::string>{"an asset is quoted in the currency in which the trades on it pay"});
    EXPECT_EQ(unknown.refused.size(), 1u);
    EXPECT_EQ(unknown.taken, std::vector<std::string>{});
}

TEST_F(import_of_ore, a_tenor_may_be_written_in_two_ways) {
    const std::string& xml = whole();
    const auto with_tenors = [&](const std::string& index, const std::string& leg) {
        std::string out = xml;
        const std::size_t floating = out.find("<LegType>Floating<", out.find("<Trade id=\"swap\">"));
        out.replace(out.find("<Tenor>6M<", floating), 10, "<Tenor>" + leg + "<");
        out.replace(out.find("EURIBOR-6M", floating), 10, "EURIBOR-" + index);
        return of(out).refused.size();
    };
    EXPECT_EQ(with_tenors("12M", "1Y"), 0u);
    EXPECT_EQ(with_tenors("4W", "28D"), 0u);
    EXPECT_EQ(with_tenors("1Y", "1M"), 1u);
    EXPECT_EQ(with_tenors("30D", "1M"), 1u);
}

TEST_F(import_of_ore, periods_that_are_listed_are_told_of) {
    const std::string xml = whole();
    const std::size_t floating = xml.find("<LegType>Floating<", xml.find("<Trade id=\"swap\">")),
                      begin = xml.find("<Rules>", floating), end = xml.find("</Rules>", begin) + 8;
    const imported_portfolio read =
        of(std::string(xml).replace(begin, end - begin,
                                    "<Dates><Dates><Date>2026-01-15</Date><Date>2026-04-15</Date>"
                                    "<Date>2026-07-15</Date></Dates></Dates>"));
    EXPECT_TRUE(read.refused.empty()) << read.refused.front().reason;
    EXPECT_NE(std::ranges::find(read.taken,
                                "EUR-EURIBOR-6M is paid for periods that are listed, whatever its tenor is"),
              read.taken.end());
}

TEST_F(import_of_ore, a_bermudan_begins_both_legs_anew) {
    const std::string xml = whole();
    const std::size_t begin = xml.find("<Trade id=\"swaption_bermudan\">"),
                      floating = xml.find("<LegType>Floating<", begin),
                      tenor = xml.find("<Tenor>6M<", floating);
    ASSERT_NE(tenor, xml.npos);
    std::string yearly = xml, index = "EUR-EURIBOR-6M";
    yearly.replace(tenor, 10, "<Tenor>2Y<");
    yearly.replace(yearly.find(index, floating), index.size(), "EUR-EURIBOR-2Y");
    const imported_portfolio read = of(yearly);
    ASSERT_EQ(read.refused.size(), 1u);
    EXPECT_EQ(
        read.refused[0].reason,
        "found an exercise on 2028-01-17, on which no floating period begins, expected the first day of "
        "one");
}

// ORE ignores a monitoring start in the future. A start in the past matters only if a level was touched
// since.
TEST_F(import_of_ore, barriers_are_watched_from_as_of_on) {
    for (const char* const day : {"2025-06-16", "2026-06-15"}) {
        const imported_portfolio read =
            of(with("eq_up_out", "<Name>ACME</Name>",
                    "<Name>ACME</Name><StartDate>" + std::string(day) + "</StartDate>"));
        ASSERT_TRUE(read.refused.empty()) << read.refused.front().reason;
        for (const value& row : read.book.at("trades").items())
            EXPECT_EQ(row.find("monitoring_start"), nullptr) << row.at("id").text();
        EXPECT_NE(std::ranges::find(read.taken,
                                    "levels are watched from as_of on: none of them was touched before"),
                  read.taken.end());
    }
}

TEST_F(import_of_ore, a_touch_pays_when_it_comes_or_at_the_end) {
    const std::string& xml = whole();
    std::string at_hit = xml;
    const std::size_t begin = xml.find("<Trade id=\"fx_no_touch\">");
    at_hit.replace(at_hit.find("<Type>DownAndOut<", begin), 17, "<Type>DownAndIn<");
    at_hit.replace(at_hit.find("<PayOffAtExpiry>true<", begin), 21, "<PayOffAtExpiry>false<");
    const imported_portfolio read = of(at_hit);
    EXPECT_TRUE(read.refused.empty()) << read.refused.front().reason;
    EXPECT_NE(std::ranges::find(
                  read.taken, "a touch of an exchange rate pays when it comes, where ORE waits for the end"),
              read.taken.end());
    for (const value& row : read.book.at("trades").items()) {
        if (row.at("id").text() != "fx_no_touch") continue;
        EXPECT_EQ(row.at("paid").text(), "at_hit");
        EXPECT_EQ(row.at("kind").text(), "one_touch");
    }
}

TEST_F(import_of_ore, observations_are_paid_on_their_day) {
    const auto said = [&](const std::string& first, const std::string& settlement) {
        std::string xml = whole();
        const std::size_t begin = xml.find("<Trade id=\"fx_tarf\">");
        xml.replace(xml.find("2026-02-16", begin), 10, first);
        xml.insert(xml.find("<Strike>", begin), settlement);
        const imported_portfolio read = of(xml);
        return read.refused.empty() ? nothing_refused : read.refused.front().reason;
    };
    const std::string calendar = "<SettlementCalendar>WeekendsOnly</SettlementCalendar>";
    EXPECT_EQ(said("2026-02-15", ""), nothing_refused);
    EXPECT_EQ(said("2026-02-16", calendar), nothing_refused);
    EXPECT_EQ(
        said("2026-02-15", calendar),
        "found an observation on 2026-02-15 that is paid on 2026-02-16, expected payment on the day itself");
    EXPECT_EQ(said("2026-02-15", calendar + "<SettlementConvention>U</SettlementConvention>"),
              nothing_refused);
    EXPECT_EQ(
        said("2026-02-15", calendar + "<SettlementConvention>P</SettlementConvention>"),
        "found an observation on 2026-02-15 that is paid on 2026-02-13, expected payment on the day itself");
}

TEST_F(import_of_ore, rows_of_two_trades_have_different_ids) {
    const imported_portfolio read = of(with("eq_put_short", "eq_put_short", "eq_call_premium"));
    ASSERT_EQ(read.refused.size(), 1u);
    EXPECT_EQ(read.refused[0].reason,
              "found a trade with a row named 'eq_call_premium', like one of another trade, expected "
              "different ids");
    EXPECT_EQ(read.imported, 33u);
}

// The file states a rebate for the whole trade, long or short, and the book for one unit. A knock-out pays it
// at the touch; a knock-in that was never touched pays it at the end.
TEST_F(import_of_ore, a_rebate_is_shared_by_the_units_of_its_trade) {
    const auto rebate = [&](const std::string& trade, const std::string& old, const std::string& text) {
        const imported_portfolio read = of(with(trade, old, text));
        const value& row = row_of(read, trade);
        const value* const paid = row.find("rebate_paid");
        EXPECT_EQ(paid != nullptr && paid->text() == "at_hit", row.at("kind").text() == "knock_out");
        return row.at("rebate").number() * std::abs(row.at("quantity").number());
    };
    EXPECT_DOUBLE_EQ(rebate("eq_rebate", "<LongShort>Long<", "<LongShort>Short<"), 3000);
    EXPECT_DOUBLE_EQ(rebate("eq_rebate", "<Quantity>1000<", "<Quantity>40<"), 3000);
    EXPECT_DOUBLE_EQ(rebate("eq_rebate", "<Type>DownAndOut<", "<Type>DownAndIn<"), 3000);
    EXPECT_DOUBLE_EQ(rebate("fx_up_in", "</Levels>", "</Levels><Rebate>20000</Rebate>"), 20000);
}

TEST_F(import_of_ore, a_digital_without_a_quantity_is_of_one) {
    const auto row = [&](const std::string& old, const std::string& text) {
        return row_of(of(with("eq_digital", old, text)), "eq_digital");
    };
    EXPECT_EQ(row("<Quantity>50</Quantity>", ""), row("<Quantity>50<", "<Quantity>1<"));
    EXPECT_NE(row("<Quantity>50</Quantity>", ""), row("<Quantity>50<", "<Quantity>2<"));
}

TEST_F(import_of_ore, a_fixing_of_half_a_unit_is_one) {
    const value half = row_of(of(with("fx_tarf", "<FixingAmount>1000000<", "<FixingAmount>0.5<")), "fx_tarf");
    const value two = row_of(of(with("fx_tarf", "<FixingAmount>1000000<", "<FixingAmount>2<")), "fx_tarf");
    EXPECT_DOUBLE_EQ(4 * half.at("units").number(), two.at("units").number());
}

// 2030-09-15 is a Sunday. The last date, 2031-03-15, is a Saturday, and rolls by the end's convention.
TEST_F(import_of_ore, the_last_date_of_a_schedule_rolls_by_its_own_convention) {
    const auto payments = [&](const std::string& conventions) {
        std::string xml = with("cap", "<PaymentConvention>MF<", "<PaymentConvention>U<");
        const std::size_t begin = xml.find("<StartDate>", xml.find("<Trade id=\"cap\">")),
                          end = xml.find("<Rule>", begin);
        xml.replace(begin, end - begin,
                    "<StartDate>2030-03-15</StartDate><EndDate>2031-03-15</EndDate><Tenor>6M</Tenor>"
                    "<Calendar>WeekendsOnly</Calendar>" +
                        conventions);
        const imported_portfolio read = of(xml);
        EXPECT_TRUE(read.refused.empty()) << read.refused.front().reason;
        std::string out;
        for (const value& day : row_of(read, "cap").at("payments").items()) out += day.text() + " ";
        return out;
    };
    EXPECT_EQ(payments("<Convention>F</Convention>"), "2030-09-16 2031-03-17 ");
    EXPECT_EQ(payments("<Convention>F</Convention><TermConvention>P</TermConvention>"),
              "2030-09-16 2031-03-14 ");
    EXPECT_EQ(payments("<Convention>P</Convention><TermConvention>F</TermConvention>"),
              "2030-09-13 2031-03-17 ");
    EXPECT_EQ(payments("<Convention>F</Convention><TermConvention>U</TermConvention>"),
              "2030-09-16 2031-03-15 ");
    EXPECT_EQ(payments("<Convention>U</Convention><TermConvention>F</TermConvention>"),
              "2030-09-15 2031-03-17 ");
}

// A collar becomes a cap less a floor on the same rates. A floor alone stays a floor.
TEST_F(import_of_ore, a_collar_is_a_cap_less_a_floor) {
    const auto quantity_of = [](const value& row) {
        const value* const given = row.find("quantity");
        return given == nullptr ? 1.0 : given->number();
    };
    for (const auto& [position, sign] :
         {std::pair(std::string("Long"), 1.0), std::pair(std::string("Short"), -1.0)}) {
        const imported_portfolio read =
            of(with("collar", "<LongShort>Short<", "<LongShort>" + position + "<"));
        value cap = row_of(read, "collar"), floor = row_of(read, "collar_floor");
        EXPECT_EQ(cap.at("option").text(), "caplets");
        EXPECT_EQ(floor.at("option").text(), "floorlets");
        EXPECT_EQ(quantity_of(cap), sign);
        EXPECT_EQ(quantity_of(floor), -sign);
        for (value* const row : {&cap, &floor})
            for (const char* const own_key : {"id", "option", "quantity"}) row->erase(own_key);
        EXPECT_EQ(cap, floor) << cap.yaml() << floor.yaml();
        std::string alone = with("cap", "<LongShort>Long<", "<LongShort>" + position + "<");
        const std::size_t begin = alone.find("<Caps>", alone.find("<Trade id=\"cap\">")),
                          end = alone.find("</Caps>", begin) + 7;
        alone.replace(begin, end - begin, "<Floors><Floor>0.02</Floor></Floors>");
        const imported_portfolio of_floor = of(alone);
        EXPECT_EQ(row_of(of_floor, "cap").at("option").text(), "floorlets");
        EXPECT_EQ(quantity_of(row_of(of_floor, "cap")), sign);
    }
}

TEST_F(import_of_ore, payments_that_move_are_refused) {
    const std::string said =
        refused("swap", "<Convention>MF</Convention>\n            <TermConvention>MF</TermConvention>",
                "<Convention>U</Convention>\n            <TermConvention>U</TermConvention>");
    EXPECT_EQ(said,
              "found a period that ends on 2028-01-15 and is paid on 2028-01-17, expected payments on the "
              "day on which their "
              "period ends");
}

TEST_F(import_of_ore, names_lead_to_assets_calendars_and_credit) {
    own.write("target.yaml", "holidays: [2026-12-25]\n");
    own.write(
        "all.yaml",
        "assets: {ACME: acme, EURUSD: euro, RIC:.IDX: index}\ncalendars: {TARGET: target.yaml, US: weekends, "
        "'TARGET,US': {holidays: [2026-06-15]}}\nwithout_credit: [CPTY_B]\n");
    const auto read =
        import_ore_text(with("bond", "<SecurityId>", "<CreditCurveId>CPTY_B</CreditCurveId><SecurityId>"),
                        "p", own / "all.yaml");
    EXPECT_TRUE(read.refused.empty());
    const auto has = [&](const std::string& line) {
        EXPECT_NE(std::ranges::find(read.taken, line), read.taken.end()) << line;
    };
    has("ACME is the asset acme of the market");
    has("CPTY_B is taken as if it could not default");
    has("SECURITY_1 is discounted without a spread of its own");
    has("an asset is quoted in the currency in which the trades on it pay");
    has("a variance swap counts 252 returns a year, on the days of its own calendar");
    has("the exchange rate EURUSD is the asset euro, whose dividend_yield is the interest rate of EUR");
    EXPECT_EQ(read.files, (std::vector<std::filesystem::path>{own / "all.yaml", own / "target.yaml"}));
    const auto fixings_by = [&](const std::string& calendar) {
        const auto made =
            import_ore_text(with("eq_asian", "<Calendar>WeekendsOnly<", "<Calendar>" + calendar + "<"), "p",
                            own / "all.yaml");
        for (const value& row : made.book.at("trades").items())
            if (row.at("id").text() == "eq_asian") return row.at("averaging_dates").items().at(4).text();
        return std::string("none");
    };
    EXPECT_EQ(fixings_by("US,TARGET"), "2026-06-15");
    EXPECT_EQ(fixings_by("TARGET,US"), "2026-06-16");
    own.write("wrong.yaml", "calendar: {}\n");
    EXPECT_NE(
        refusal([&] { import_ore_text(whole(), "p", own / "wrong.yaml"); }).find("did you mean 'calendars'?"),
        std::string::npos);
}

// A few bytes of XML may stand for many dates, and a book with too many of them could not be read.
TEST_F(import_of_ore, a_portfolio_of_too_many_dates_is_refused) {
    std::string xml = "<Portfolio>";
    for (int i = 0; i < 60; ++i) {
        xml += "<Trade id='t" + std::to_string(i) +
               "'><TradeType>EquityCliquetOption</TradeType><EquityCliquetOptionData><Name>A</"
               "Name><Currency>USD</Currency>"
               "<Notional>1</Notional><LongShort>Long</LongShort><OptionType>Call</OptionType><Moneyness>1</"
               "Moneyness>"
               "<ScheduleData><Rules><StartDate>2026-01-01</StartDate><EndDate>2299-01-01</"
               "EndDate><Tenor>1D</Tenor>"
               "</Rules></ScheduleData></EquityCliquetOptionData></Trade>\n";
    }
    const std::string said = refusal([&] { of(xml + "</Portfolio>"); });
    EXPECT_NE(said.find("found trades of more than 5000000 values"), std::string::npos) << said;
}

TEST_F(import_of_ore, a_file_that_is_no_portfolio_is_refused) {
    EXPECT_EQ(refusal([&] { of("<ORE/>"); }),
              "p.xml:1:1: found <ORE>, expected a portfolio: an element <Portfolio> with a <Trade> for each");
    EXPECT_EQ(refusal([&] { of("<Portfolio><Trad/></Portfolio>"); }),
              "p.xml:1:12: found <Trad>, expected <Trade>");
    EXPECT_EQ(of("<Portfolio/>").found, 0u);
    const auto twice = of("<Portfolio><Trade id='a'/><Trade id='a'/><Trade/></Portfolio>");
    ASSERT_EQ(twice.refused.size(), 3u);
    EXPECT_EQ(twice.refused[0].reason, "found no <TradeType> in <Trade>");
    EXPECT_EQ(twice.refused[1].reason, "found a second trade 'a', expected different ids");
    EXPECT_EQ(twice.refused[2].reason, "found a <Trade> without an id");
    EXPECT_EQ(twice.refused[2].trade, "#3");
    EXPECT_NE(refusal([&] { import_ore(own / "absent.xml"); }), nothing_refused);
}

}  // namespace
}  // namespace tilewalk::import_test
