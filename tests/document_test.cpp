// SPDX-License-Identifier: Apache-2.0
// The YAML reader: what it reads, and that everything it refuses is refused at its place and in words that
// help.
#include "engine/config/document.h"
#include "tests/own_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <clocale>
#include <filesystem>
#include <fstream>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::config {
namespace {

std::string repeated(std::string_view text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

template <class action>
std::optional<error> error_of(action&& act) {
    try {
        act();
    } catch (const error& e) {
        return e;
    }
    return {};
}

struct refusal {
    const char* title;
    std::string text;
    int line, column;
    std::string key_path;
    std::string words;  // part of the message
};

void expect_refused(const refusal& wanted, const limits& within = {}) {
    const std::string shown_text = wanted.text.substr(0, 200);
    const auto e = error_of([&] { parse(wanted.text, "book.yaml", within); });
    ASSERT_TRUE(e) << wanted.title << ": accepted\n" << shown_text;
    EXPECT_EQ(e->kind(), error_kind::input) << wanted.title << ": " << e->what();
    EXPECT_EQ(to_string(e->where()), to_string(location{"book.yaml", wanted.line, wanted.column}))
        << wanted.title << ": " << e->what() << "\n"
        << shown_text;
    EXPECT_EQ(e->key_path(), wanted.key_path) << wanted.title << ": " << e->what();
    EXPECT_NE(e->message().find(wanted.words), std::string::npos) << wanted.title << ": " << e->what();
}

TEST(document, error_has_place_path_and_sentence) {
    const error e(error_kind::input, "found 'x', expected a number", {"b.yaml", 3, 7}, "trades[0].strike");
    EXPECT_STREQ(e.what(), "b.yaml:3:7: trades[0].strike: found 'x', expected a number");
    EXPECT_EQ(e.message(), "found 'x', expected a number");
    EXPECT_STREQ(error(error_kind::usage, "no market").what(), "no market");
    EXPECT_STREQ(error(error_kind::io, "there is no such file", {"b.yaml"}).what(),
                 "b.yaml: there is no such file");
    EXPECT_EQ(to_string(location{"f", 12, 7}), "f:12:7");
    EXPECT_EQ(to_string(location{"f", 12, 0}), "f:12");
    EXPECT_EQ(to_string(location{}), "");
}

TEST(document, keeps_place_and_path_of_every_value) {
    const node root = parse(
        "market: m.yaml\n"
        "trades:\n"
        "  - {id: a, strike: 100, levels: [1, 2]}\n"
        "  - id: 'b'\n"
        "    strike: 90.5\n"
        "empty:\n",
        "book.yaml");
    ASSERT_TRUE(root.is_mapping());
    EXPECT_EQ(root.key_path(), "");
    EXPECT_EQ(to_string(root.where()), "book.yaml:1:1");
    const auto& trades = root.at("trades").items();
    ASSERT_EQ(trades.size(), 2U);
    EXPECT_EQ(trades[1].at("strike").key_path(), "trades[1].strike");
    EXPECT_EQ(to_string(trades[1].at("strike").where()), "book.yaml:5:13");
    EXPECT_EQ(trades[0].at("levels").items()[1].key_path(), "trades[0].levels[1]");
    EXPECT_EQ(to_string(trades[0].at("levels").items()[1].where()), "book.yaml:3:38");
    EXPECT_EQ(trades[1].at("strike").number(), 90.5);
    EXPECT_TRUE(trades[1].at("id").is_quoted());
    EXPECT_FALSE(trades[0].at("id").is_quoted());
    EXPECT_EQ(to_string(trades[1].members()[1].where()), "book.yaml:5:5");
    EXPECT_EQ(root.at("empty").kind(), node::shape::null);
    EXPECT_EQ(to_string(root.at("empty").where()), "book.yaml:6:1");
    EXPECT_EQ(root.find("nothing"), nullptr);
}

TEST(document, nodes_outlive_the_tree_they_came_from) {
    node kept;
    {
        const node root = parse("a: [{b: 5}]", "f");
        kept = root.at("a").items()[0].at("b");
    }
    EXPECT_EQ(kept.key_path(), "a[0].b");
    EXPECT_EQ(to_string(kept.where()), "f:1:9");
    EXPECT_EQ(kept.integer(), 5);
}

TEST(document, reads_a_document_whatever_its_dress) {
    for (const char* text :
         {"a: 1", "a: 1\n...\n", "---\na: 1\n",
          "\xef\xbb\xbf"
          "a: 1\n",
          "a: 1\r\n", "{a: 1}", "%YAML 1.2\n---\na: 1\n", "a: 1  # one\n\t\n", "a: 1\n\t# a comment\n"}) {
        const auto e = error_of([&] { EXPECT_EQ(parse(text, "f").at("a").number(), 1) << text; });
        const bool is_indented_by_tab = std::string_view(text).find("\t#") != std::string_view::npos;
        EXPECT_EQ(e.has_value(), is_indented_by_tab) << text << ": " << (e ? e->what() : "");
    }
    EXPECT_EQ(to_string(parse("\xef\xbb\xbf"
                              "a: 1\n",
                              "f")
                            .at("a")
                            .where()),
              "f:1:4");
    for (const char* text : {"", "\n", "# nothing\n", "---\n", "~", "null"}) {
        const node root = parse(text, "f");
        EXPECT_EQ(root.kind(), node::shape::null) << text;
        EXPECT_EQ(to_string(root.where()).substr(0, 2), "f:") << text;
    }
}

TEST(document, refuses_what_a_book_must_not_contain) {
    const refusal cases[] = {
        {"duplicate key", "a: 1\nb: 2\na: 3\n", 3, 1, "", "duplicate key 'a'; it was first given on line 1"},
        {"duplicate key, quoted", "a: {x: 1,\n  'x': 2}\n", 2, 3, "a", "it was first given on line 1"},
        {"anchor", "a: &x 1\n", 1, 4, "a", "anchor"},
        {"anchor on a list", "a: &x [1]\n", 1, 4, "a", "anchor"},
        {"anchor on a key", "&x a: 1\n", 1, 1, "", "anchor"},
        {"alias", "a: 1\nb: *x\n", 2, 4, "b", "alias"},
        {"alias to itself", "a: &a {b: *a}\n", 1, 4, "a", "anchor"},
        {"alias bomb", "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n", 1, 4, "a", "anchor"},
        {"merge key", "a: 1\n<<: *x\n", 2, 5, "<<", "alias"},
        {"tag", "a: !!float 5\n", 1, 4, "a", "tag"},
        {"own tag", "a: !mine {x: 1}\n", 1, 4, "a", "tag"},
        {"lone tag", "a: ! 5\n", 1, 4, "a", "tag"},
        {"tag on nothing", "a: !!str null\n", 1, 4, "a", "tag"},
        {"tag on a key", "!!str a: 1\n", 1, 1, "", "tag"},
        {"second document", "a: 1\n---\nb: 2\n", 2, 1, "", "second document"},
        {"second document after the end", "a: 1\n...\nb: 2\n", 3, 1, "", "second document"},
        {"rest of a document", "  a: 1\n b: 2\n", 2, 2, "", "check the indentation"},
        {"rest after a list", "- a\nb: 1\n", 2, 1, "", "check the indentation"},
        {"list as key", "[a]: 1\n", 1, 1, "", "found a list, expected a key"},
        {"mapping as key", "? {a: 1}\n: 5\n", 1, 3, "", "found a mapping, expected a key"},
        {"no key", ": 6\n", 1, 1, "", "expected a key"},
        {"null as key", "null: 6\n", 1, 1, "", "expected a key"},
        {"tab as indentation", "a:\n\tb: 1\n", 2, 1, "", "tab"},
        {"tab after spaces", "a:\n  \tb: 1\n", 2, 3, "", "tab"},
        {"tab in a script", "s: |\n  on m:\n  \tpay 1\n", 3, 3, "", "tab"},
        {"invalid UTF-8", "a: 1\nb: x\xff\n", 2, 5, "", "0xFF"},
        {"overlong UTF-8", "a: \xc0\xaf\n", 1, 4, "", "0xC0"},
        {"overlong in three bytes", "a: \xe0\x80\xaf\n", 1, 4, "", "0xE0"},
        {"surrogate", "a: \xed\xa0\x80\n", 1, 4, "", "0xED"},
        {"beyond Unicode", "a: \xf4\x90\x80\x80\n", 1, 4, "", "0xF4"},
        {"cut character", "a: \xc3", 1, 4, "", "0xC3"},
        {"UTF-16",
         std::string("\xff\xfe"
                     "a\0",
                     4),
         1, 1, "", "0xFF"},
        {"NUL", std::string("a: x\0y\n", 7), 1, 5, "", "U+0000"},
        {"end of transmission", "a: x\x04\nb: 2\n", 1, 5, "", "U+0004"},
        {"DEL", "a: x\x7f\n", 1, 5, "", "U+007F"},
        {"byte order mark inside",
         "a: \xef\xbb\xbf"
         "1\n",
         1, 4, "", "U+FEFF"},
        {"lone carriage return", "a: 1\rb: 2\n", 1, 5, "", "carriage return"},
        {"escaped NUL", "a: \"x\\0\"\n", 1, 4, "a", "control character"},
        {"double quote without end", "a: 1\nb: \"x\n", 2, 4, "b", "closing quote"},
        {"single quote without end", "a: 'it''s\n\n", 1, 4, "a", "closing quote"},
        {"escaped quote is no end", "a: \"x\\\"\n", 1, 4, "a", "closing quote"},
        {"quoted key without end", "? \"x\n", 1, 3, "", "closing quote"},
        {"list not closed", "a: [1, 2\nb: 3\n", 2, 2, "a", "a '[' has no ']'"},
        {"list in a mapping", "a: 1\n- b\n", 2, 1, "", "check the indentation"},
        {"colon in a text", "a: b: c\n", 1, 5, "", "needs quotes"},
    };
    for (const auto& wanted : cases) expect_refused(wanted);
}

TEST(document, bounds_depth_before_any_stack_overflows) {
    expect_refused(
        {"lists", repeated("[", 200) + repeated("]", 200), 1, 65, repeated("[0]", 63), "64 levels"});
    expect_refused({"blocks", repeated("- ", 100'000), 1, 129, repeated("[0]", 63), "64 levels"});
    for (const char* opening : {"[", "{", "- ", "? ", "[a: ", "{a: ", "{a: [", "- a: ", "{? "}) {
        const auto e = error_of([&] { parse(repeated(opening, 100'000), "f"); });
        ASSERT_TRUE(e) << opening;
        EXPECT_EQ(e->kind(), error_kind::input) << opening << ": " << e->what();
        EXPECT_LT(std::string(e->what()).size(), 1000U) << opening;
    }
    // At the limit is within it.
    EXPECT_NO_THROW(parse(repeated("[", 64) + repeated("]", 64), "f", {.depth = 64}));
    EXPECT_NO_THROW(parse(repeated("- ", 64) + "x", "f", {.depth = 64}));
    EXPECT_TRUE(error_of([] { parse(repeated("[", 65) + repeated("]", 65), "f", {.depth = 64}); }));
}

TEST(document, bounds_bytes_and_values) {
    expect_refused({"bytes", "a: 12345\n", 0, 0, "", "found 9 bytes, expected at most 8"}, {.bytes = 8});
    EXPECT_NO_THROW(parse("a: 12345\n", "f", {.bytes = 9}));
    // The mapping, the list and its items.
    expect_refused({"values", "a: [1, 2, 3]\n", 1, 11, "a", "more than 4 values"}, {.nodes = 4});
    EXPECT_NO_THROW(parse("a: [1, 2, 3]\n", "f", {.nodes = 5}));
}

TEST(document, finds_a_duplicate_among_many_keys) {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += "k" + std::to_string(i) + ": 1\n";
    EXPECT_EQ(parse(text, "f").members().size(), 5000U);
    for (const int again : {0, 1, 22, 23, 24, 25, 26, 2500, 4999}) {
        expect_refused({"duplicate", text + "k" + std::to_string(again) + ": 2\n", 5001, 1, "",
                        "it was first given on line " + std::to_string(again + 1)});
    }
}

TEST(document, numbers) {
    const std::pair<const char*, double> good[] = {
        {"0", 0},        {"100", 100},
        {"-1.5", -1.5},  {"+2.5", 2.5},
        {".5", 0.5},     {"5.", 5},
        {"1e5", 1e5},    {"1E-3", 1e-3},
        {"-.25e2", -25}, {"1.7976931348623157e308", 1.7976931348623157e308},
        {"0.1", 0.1},    {"007", 7},
        {"-0", -0.0},    {"4.9e-324", 4.9e-324},
    };
    for (const auto& c : good) {
        const auto e = error_of([&] { EXPECT_EQ(parse(c.first, "f").number(), c.second) << c.first; });
        EXPECT_FALSE(e) << c.first << ": " << (e ? e->what() : "");
    }
    const std::pair<const char*, const char*> bad[] = {
        {"20%", "found '20%', expected a number; write 0.2"},
        {"5.35%", "found '5.35%', expected a number; write 0.0535"},
        {"-7 %", "found '-7 %', expected a number; write -0.07"},
        {"0,2", "found '0,2', expected a number; write 0.2"},
        {"1,000", "found '1,000', expected a number; write 1.000 or 1000"},
        {"1,000,000", "found '1,000,000', expected a number; write 1000000"},
        {"1,234.5", "found '1,234.5', expected a number; write 1234.5"},
        {"1_000", "found '1_000', expected a number; write 1000"},
        {"'5'", "found the quoted text '5', expected a number; write 5"},
        {"\"5%\"", "found the quoted text '5%', expected a number; write 0.05"},
        {"nan", "found 'nan', expected a number"},
        {".nan", "found '.nan', expected a number"},
        {"inf", "found 'inf', expected a number"},
        {"-inf", "found '-inf', expected a number"},
        {".inf", "found '.inf', expected a number"},
        {"infinity", "found 'infinity', expected a number"},
        {"0x10", "found '0x10', expected a number"},
        {"1e400", "found '1e400', expected a number"},
        {"-1e400", "found '-1e400', expected a number"},
        {"1:30", "found '1:30', expected a number"},
        {"+-5", "found '+-5', expected a number"},
        {"++5", "found '++5', expected a number"},
        {"1.2.3", "found '1.2.3', expected a number"},
        {"5 6", "found '5 6', expected a number"},
        {"+", "found '+', expected a number"},
        {".", "found '.', expected a number"},
        {"1e", "found '1e', expected a number"},
        {"100USD", "found '100USD', expected a number"},
        {"true", "found 'true', expected a number"},
        {"~", "found nothing, expected a number"},
        {"[1]", "found a list, expected a number"},
        {"{a: 1}", "found a mapping, expected a number"},
    };
    for (const auto& [text, words] : bad) {
        const std::string file = "v: " + std::string(text) + "\n";
        const node root = parse(file, "f");
        const auto e = error_of([&] { root.at("v").number(); });
        ASSERT_TRUE(e) << text;
        EXPECT_EQ(e->message(), words) << text;
        EXPECT_EQ(to_string(e->where()), "f:1:4") << text;
        EXPECT_EQ(e->key_path(), "v") << text;
    }
}

// A locale for C++ streams that needs no installed one.
class decimal_comma : public std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

void expect_numbers_with_a_point() {
    EXPECT_EQ(parse("a: 1234.5", "f").at("a").number(), 1234.5);
    const auto e = error_of([] { parse("a: 1234,5", "f").at("a").number(); });
    ASSERT_TRUE(e);
    EXPECT_EQ(e->message(), "found '1234,5', expected a number; write 1234.5");
    EXPECT_EQ(shown(1234.5), "1234.5");
}

TEST(document, numbers_do_not_depend_on_the_locale_of_streams) {
    const std::locale before = std::locale::global(std::locale(std::locale::classic(), new decimal_comma));
    std::ostringstream probe;
    probe << 1234.5;
    EXPECT_EQ(probe.str(), "1.234,5") << "the locale is not in effect";
    expect_numbers_with_a_point();
    std::locale::global(before);
}

TEST(document, numbers_do_not_depend_on_the_locale_of_the_c_library) {
    const std::string before = std::setlocale(LC_ALL, nullptr);
    bool found = false;
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "nl_NL.UTF-8"}) {
        found = found || std::setlocale(LC_ALL, name) != nullptr;
    }
    if (!found) GTEST_SKIP() << "no locale with a decimal comma is installed";
    EXPECT_STREQ(std::localeconv()->decimal_point, ",");
    expect_numbers_with_a_point();
    std::setlocale(LC_ALL, before.c_str());
}

TEST(document, whole_numbers_and_truth_values) {
    const std::pair<const char*, std::int64_t> good[] = {
        {"0", 0},         {"-3", -3}, {"131072", 131072}, {"9223372036854775807", 9223372036854775807},
        {"1e6", 1000000}, {"+5", 5},  {"2.0", 2},
    };
    for (const auto& [text, value] : good) EXPECT_EQ(parse(text, "f").integer(), value) << text;
    for (const char* text :
         {"1.5", "9223372036854775808", "1e300", "'5'", "five", "[1]", "", "0x10", "1e-1"}) {
        const auto e = error_of([&] { parse(text, "f").integer(); });
        ASSERT_TRUE(e) << text;
        EXPECT_NE(e->message().find("expected a whole number"), std::string::npos)
            << text << ": " << e->what();
    }
    EXPECT_TRUE(parse("true", "f").boolean());
    EXPECT_FALSE(parse("false", "f").boolean());
    for (const char* text : {"True", "yes", "on", "1", "'true'", "", "[true]"}) {
        const auto e = error_of([&] { parse(text, "f").boolean(); });
        ASSERT_TRUE(e) << text;
        EXPECT_NE(e->message().find("expected true or false"), std::string::npos)
            << text << ": " << e->what();
    }
}

TEST(document, accessors_say_what_they_found) {
    const node root = parse("a: [1]\nb: {c: 1}\nd: x\n", "f");
    const auto message = [](auto&& act) {
        const auto e = error_of(act);
        return e ? std::string(e->what()) : "nothing was refused";
    };
    EXPECT_EQ(message([&] { root.at("a").text(); }), "f:1:4: a: found a list, expected a text");
    EXPECT_EQ(message([&] { root.at("b").items(); }), "f:2:4: b: found a mapping, expected a list");
    EXPECT_EQ(message([&] { root.at("d").members(); }),
              "f:3:4: d: found 'x', expected a mapping of keys to values");
    EXPECT_EQ(message([&] { root.at("b").at("e"); }), "f:2:4: b: missing key 'e'");
    EXPECT_EQ(message([&] {
                  root.only({"a", "bb", "d"});
              }),
              "f:2:1: b: unknown key 'b'; known keys: a, bb, d; did you mean 'bb'?");
    EXPECT_EQ(message([&] { root.at("b").only({"strike"}); }),
              "f:2:5: b.c: unknown key 'c'; known keys: strike");
    EXPECT_NO_THROW(root.only({"a", "b", "d", "e"}));
}

TEST(document, shows_hostile_texts_short_and_clean) {
    EXPECT_EQ(shown("abc"), "'abc'");
    EXPECT_EQ(shown("a\nb\tc\r\x01"), "'a\\nb\\tc\\r?'");
    EXPECT_EQ(shown(std::string(1000, 'x')), "'" + std::string(60, 'x') + "...'");
    // A character is not cut in the middle.
    EXPECT_EQ(shown(std::string(59, 'x') + "\xc3\xa9y"), "'" + std::string(59, 'x') + "\xc3\xa9...'");
}

TEST(document, script_text_begins_where_its_first_line_does) {
    struct where_case {
        const char* text;
        int line, column;
        const char* content;
    };
    const where_case cases[] = {
        {"script: |\n  on maturity:\n      pay 1\n", 2, 3, "on maturity:\n    pay 1\n"},
        {"a: 1\nscript: |  # the payoff\n    pay 1\n", 3, 5, "pay 1\n"},
        {"script: |\n\n\n  pay 1\n", 2, 3, "\n\npay 1\n"},
        {"script: |2\n    pay 1\n  stop\n", 2, 3, "  pay 1\nstop\n"},
        {"script: |-\n pay 1\n", 2, 2, "pay 1"},
        {"script: |\r\n   pay 1\r\n   stop\r\n", 2, 4, "pay 1\nstop\n"},
        {"script: pay 1\n", 1, 9, "pay 1"},
        {"script: 'pay 1'\n", 1, 10, "pay 1"},
        {"script:\n    \"pay 1\"\n", 2, 6, "pay 1"},
    };
    for (const auto& c : cases) {
        const node root = parse(c.text, "f");
        const node& script = root.at("script");
        EXPECT_EQ(to_string(script.content_start()), to_string(location{"f", c.line, c.column})) << c.text;
        EXPECT_EQ(script.text(), c.content) << c.text;
        EXPECT_EQ(script.is_literal(), std::string_view(c.text).find('|') != std::string_view::npos)
            << c.text;
    }
    EXPECT_FALSE(parse("script: >\n  pay 1\n", "f").at("script").is_literal());
    // In a list of mappings, as an inline product of a book has it.
    const node inline_product = parse("products:\n  - product: p\n    script: |\n      pay 1\n", "f");
    EXPECT_EQ(to_string(inline_product.at("products").items()[0].at("script").content_start()), "f:4:7");
}

class document_files : public ::testing::Test {
  protected:
    void expect_io_error(const std::filesystem::path& file, const std::string& words) {
        const auto e = error_of([&] { load(file); });
        ASSERT_TRUE(e) << file;
        EXPECT_EQ(e->kind(), error_kind::io) << e->what();
        EXPECT_EQ(e->where().file, file.string());
        EXPECT_NE(e->message().find(words), std::string::npos) << e->what();
    }

    tests::own_folder own_;
    std::filesystem::path folder_ = own_.path();
};

TEST_F(document_files, reads_a_file_and_names_it) {
    const auto file = folder_ / "book.yaml";
    std::ofstream(file) << "a: [1, x]\n";
    const node root = load(file);
    EXPECT_EQ(root.at("a").items()[0].number(), 1);
    const auto e = error_of([&] { root.at("a").items()[1].number(); });
    ASSERT_TRUE(e);
    EXPECT_EQ(std::string(e->what()), file.string() + ":1:8: a[1]: found 'x', expected a number");
    EXPECT_EQ(read_file(file, 10), "a: [1, x]\n");
    EXPECT_TRUE(error_of([&] { read_file(file, 9); }));
}

TEST_F(document_files, refuses_what_is_no_file) {
    expect_io_error(folder_ / "none.yaml", "there is no such file");
    expect_io_error(folder_, "this is a directory");
    expect_io_error("/dev/null", "this is a device");
    const auto pipe = folder_ / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    expect_io_error(pipe, "this is a pipe");
}

}  // namespace
}  // namespace tilewalk::config
