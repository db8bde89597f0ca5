// SPDX-License-Identifier: Apache-2.0
// The YAML reader: what it accepts, and that each refusal names the place and how to mend it.
#include "engine/base/text/document.h"
#include "tests/own_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/digest.h"
#include "tests/comma_locale.h"
#include "tests/refusal.h"
#include "tests/texts.h"

namespace tilewalk::config::document_test {
namespace {

using tests::error_of;
using tests::repeated;
using tests::texts;

struct refusal {
    const char* title;
    std::string text;
    int line, column;
    std::string key_path;
    std::string words;
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
        {"right to left", "a: x\xe2\x80\xaey\n", 1, 5, "", "U+202E"},
        {"line separator", "a: x\xe2\x80\xa8y\n", 1, 5, "", "U+2028"},
        {"next line", "a: x\xc2\x85y\n", 1, 5, "", "U+0085"},
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
        {"word for a key", "a:\n  - b: 1\n    c\n  - {d: 1}\n", 3, 5, "a[0]",
         "found 'c' with no ':' after it"},
        {"word in a mapping", "{a: 1, b}\n", 1, 8, "", "found 'b' with no ':' after it"},
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
    EXPECT_NO_THROW(parse(repeated("[", 64) + repeated("]", 64), "f", {.depth = 64}));
    EXPECT_NO_THROW(parse(repeated("- ", 64) + "x", "f", {.depth = 64}));
    EXPECT_TRUE(error_of([] { parse(repeated("[", 65) + repeated("]", 65), "f", {.depth = 64}); }));
}

TEST(document, bounds_bytes_and_values) {
    expect_refused({"bytes", "a: 12345\n", 0, 0, "", "found 9 bytes, expected at most 8"}, {.bytes = 8});
    EXPECT_NO_THROW(parse("a: 12345\n", "f", {.bytes = 9}));
    expect_refused({"values", "a: [1, 2, 3]\n", 1, 11, "a", "more than 4 values"}, {.nodes = 4});
    EXPECT_NO_THROW(parse("a: [1, 2, 3]\n", "f", {.nodes = 5}));
}

TEST(document, bounds_lines_texts_and_keys) {
    expect_refused({"line", "a: 1\nb: 345678\n", 2, 9, "", "a line of more than 8 bytes"}, {.line_bytes = 8});
    EXPECT_NO_THROW(parse("a: 1\nb: 34567\n", "f", {.line_bytes = 8}));
    // The reader gives up at the limit, before it looks for the end of the line.
    expect_refused({"line without end", "a: " + std::string(300'000, 'x'), 1, 1001, "", "1000 bytes"},
                   {.line_bytes = 1000});
    expect_refused({"text", "a: [12345]\n", 1, 5, "a", "found a text of 5 bytes, expected at most 4"},
                   {.scalar_bytes = 4});
    expect_refused({"block", "a: |\n  12\n  34\n", 1, 4, "a", "found a text of 6 bytes, expected at most 5"},
                   {.scalar_bytes = 5});
    expect_refused({"key", "a: {abc: 1}\n", 1, 5, "a", "found a key of 3 bytes, expected at most 2"},
                   {.key_bytes = 2});
}

TEST(document, bounds_what_is_read_without_a_value) {
    std::string lines;
    for (int i = 0; i < 3000; ++i) lines += "  line " + std::to_string(i) + "\n";
    const limits close{.gap_bytes = 10'000, .gap_signs = 3000};
    expect_refused(
        {"comments", "a: 1\n" + repeated("# nothing\n", 3000), 1, 4, "", "no value ends within 10000"},
        close);
    expect_refused({"block", "a: 1\nb: |\n" + lines, 1, 4, "b", "no value ends within 10000 bytes"}, close);
    expect_refused({"quoted", "a: 1\nb: \"\n" + lines, 1, 4, "b", "is a quote or a bracket left open?"},
                   close);
    expect_refused({"brackets", "a: 1\nb:\n [" + repeated("1, ", 8000) + "\n", 1, 4, "b",
                    "no value ends within 3000 signs"},
                   close);
    // The limit on lengths is for keys; a list on the line of its key is not part of the key.
    EXPECT_EQ(parse("b: [" + repeated("1, ", 8000) + "2]\n", "f", close).at("b").items().size(), 8001U);
    // A mapping in brackets that is the whole document, as programs write it, is not taken for a key.
    const std::string json = "{\n \"b\": [" + repeated("{\"a\": 1}, ", 2000) + "{\"a\": 2}],\n \"c\": 3}\n";
    const node root = parse(json, "f", close);
    ASSERT_EQ(root.at("b").items().size(), 2001U);
    EXPECT_EQ(to_string(root.where()), "f:1:1");
    EXPECT_EQ(to_string(root.at("b").items()[1].at("a").where()), "f:2:24");
    EXPECT_EQ(to_string(root.at("c").where()), "f:3:7");
    EXPECT_EQ(to_string(parse("{a: 1}", "f").at("a").where()), "f:1:5");
}

TEST(document, bounds_the_parts_of_a_file) {
    const limits small{.entries = 3, .part_nodes = 4};
    EXPECT_NO_THROW(parse("t: [[1, 2, 3], [1, 2, 3], 3]\n", "f", small));
    expect_refused(
        {"part", "t: [[1, 2, 3], [1, 2, 3, 4]]\n", 1, 26, "t[1]", "more than 4 values in one part"}, small);
    expect_refused({"entries", "t: [1, 2, 3, 4]\n", 1, 14, "t", "more than 3 entries"}, small);
    EXPECT_NO_THROW(parse("t: [1, 2, 3]\nu: [1, 2, 3]\n", "f", small));
}

std::string written(const node& value) {
    std::string out;
    const auto write = [&out](const auto& again, const node& n) -> void {
        out += to_string(n.where()) + " " + n.key_path() + " ";
        switch (n.kind()) {
            case node::shape::null:
                out += "~";
                break;
            case node::shape::scalar:
                out += (n.is_quoted() ? "'" : "") + n.text();
                break;
            case node::shape::sequence:
                for (const auto& item : n.items()) again(again, item);
                break;
            case node::shape::mapping:
                for (const auto& m : n.members()) {
                    out += to_string(m.where()) + " ";
                    again(again, m.value);
                }
                break;
        }
        out += "\n";
    };
    write(write, value);
    return out;
}

// List entries in one line, which our own reader parses, give the same nodes as by yaml-cpp.
TEST(document, plain_entries_are_read_as_any_other) {
    const char* const entries[] = {
        "{a: 1}",
        "{}",
        "{ }",
        "{a: []}",
        "{a: [ 1,2 , -3 ], b: {c: d, e: [f]}}",
        "{ a: -5.5e-3 }  ",
        "{a: x, b: +1, c: ., d: _}",
        "{a: 2026-01-15}",
        "{a: a.b-c}",
        "{a: null}",
        "{a: ~}",
        "{a: }",
        "{a: 'x'}",
        "{a: b c}",
        "{a: 1,}",
        "{'a': 1}",
        "{a: 1} # c",
        "{a: [[[[1]]]]}",
        "{a: 20%}",
        "{a: {b: {c: {d: 1}}}}",
        "[1]",
        "x",
    };
    const auto read = [&](const std::string& of, bool reads_entries) {
        try {
            return written(parse(of, "f", {.reads_entries = reads_entries}));
        } catch (const error& e) {
            return "refused: " + std::string(e.what());
        }
    };
    for (const char* entry : entries) {
        for (const char* before : {"t:\n  - ", "- ", "t:\n-   ", "u: 1\nt:\n  - {z: 1}\n  - "}) {
            const std::string text = std::string(before) + entry + "\n";
            EXPECT_EQ(read(text, true), read(text, false)) << text;
            EXPECT_FALSE(read(text, true).starts_with("refused")) << text << read(text, true);
        }
    }
    for (const char* entry :
         {"{a: 1, a: 2}", "{a: {b: 1, c: 2, b: 3}}", "{a: [1, 2}", "{a: 1", "{a 1}", "{a: 1}}", "{a:1}",
          "{a: -}", "{a: -, b: 1}", "{a: 1} x", "{a: [1]]}", "{a: b: c}", "{,}", "{a: 1,, b: 2}"}) {
        const std::string text = "t:\n  - " + std::string(entry) + "\n  - {z: 1}\n";
        EXPECT_EQ(read(text, true), read(text, false)) << text;
    }
    // Consecutive lines form one list only if their indentation agrees.
    for (const char* text :
         {"t:\n  - {a: 1}\n - {b: 2}\n", "t:\n  - {a: 1}\n    - {b: 2}\n", "t:\n  - {a: 1}\n- {b: 2}\n",
          "t:\n- {a: 1}\n- {b: 2}\nu: 1\n", "t:\n  - {a: 1}\n  - {b: 2}\n    c\n",
          "t:\n  - {a: 1}\n  - {b: 2}\n   # c\n  - {c: 3}\n",
          "t:\n  - {a: 1}\n  - {b: 2}\n\n  - {c: 3}\n  - d: 1\n  - {e: 4}\n",
          "t: [\n  - {a: 1}\n  - {b: 2}\n]\n", "s: |\n  - {a: 1}\n  - {b: 2}\nt:\n  - {a: 1}\n",
          "t:\n  -\n    - {a: 1}\n    - {b: 2}\n  - {c: 3}\n  - {d: 4}\n"})
        EXPECT_EQ(read(text, true), read(text, false)) << text;
    // A line that looks like a list entry but lies within a text or a comment stays part of it.
    EXPECT_EQ(parse("s: |\n  - {a: 1}\n  - {b: 2}\n", "f").at("s").text(), "- {a: 1}\n- {b: 2}\n");
    EXPECT_EQ(parse("s: 'x\n  - {a: 1}\n  y'\n", "f").at("s").text(), "x - {a: 1} y");
    EXPECT_EQ(parse("s: x\n  - {}\nt:\n  - {b: 2}\n", "f").at("s").text(), "x - {}");
    EXPECT_EQ(parse("# x\n# - {a: 1}\nt:\n  - .\n  - {b: 2}\n", "f").at("t").items()[0].text(), ".");
    const node mixed = parse("t:\n  - {a: 1}\n  - b: |\n      - {c: 1}\n  - {d: 2}\n", "f");
    EXPECT_EQ(mixed.at("t").items()[1].at("b").text(), "- {c: 1}\n");
    EXPECT_EQ(mixed.at("t").items()[2].at("d").integer(), 2);
    expect_refused({"inside of a text", "s: |\n  - {a: 1}\nt: [\n", 4, 1, "t", "a '[' has no ']'"});
    expect_refused(
        {"duplicate in an entry", "t:\n  - {a: 1, b: 2, a: 3}\n", 2, 18, "t[0]", "duplicate key 'a'"});
}

TEST(document, a_long_list_is_read_by_several_threads_as_by_none) {
    const auto list = [](int entries, int other) {
        std::string text = "t:\n";
        for (int i = 0; i < entries; ++i) {
            const std::string n = std::to_string(i);
            text += i == other
                        ? "  - a: 'x'\n    b: [1]\n"
                        : "  - {id: e" + n + ", dates: [0.5, {at: 1, k" + n + ": []}], strike: " + n + "}\n";
        }
        return text;
    };
    const auto read = [](const std::string& of, limits within) {
        try {
            const document all = read_document(std::string_view(of), "f", within);
            return written(all.root) + (all.root.may_be_cut() ? "may be cut" : "") + to_string(all.end);
        } catch (const error& e) {
            return "refused: " + std::string(e.what());
        }
    };
    const auto expect_alike = [&](const std::string& text, limits within, bool is_refused) {
        within.reads_entries = false;
        const std::string slowly = read(text, within);
        within.reads_entries = true;
        for (const int threads : {1, 3, 8}) {
            within.threads = threads;
            EXPECT_EQ(read(text, within), slowly) << threads << " threads";
        }
        EXPECT_EQ(slowly.starts_with("refused"), is_refused) << slowly.substr(0, 200);
    };
    for (const char* end : {"", "u: 1\n", "...\n"}) expect_alike(list(1500, 700) + end, {}, false);
    // Of several faults the first in the file is reported, whichever of the two readers would find it.
    const std::string twice = "  - {a: 1, b: 2, a: 3}\n", nested = "  - {a: {b: 1, b: 2}}\n";
    expect_alike(list(900, -1) + twice + list(900, 3).substr(3) + nested, {}, true);
    expect_alike(list(900, -1) + nested + list(900, 3).substr(3) + twice, {}, true);
    expect_alike(list(900, -1) + twice + "  - [\n", {}, true);
    expect_alike(list(900, -1) + twice + "  - b: 1\n    b: 2\n", {}, true);
    expect_alike(list(900, -1) + "  - b: 1\n    b: 2\n" + twice, {}, true);
    expect_alike(list(900, -1) + twice + list(3000, -1).substr(3) + "  - \x01\n", {}, true);
    expect_alike(list(900, -1), {.nodes = 4000}, true);
    expect_alike(list(900, -1), {.entries = 600}, true);
    expect_alike(list(900, -1), {.part_nodes = 6}, true);
    expect_alike(list(900, -1), {.depth = 5}, true);
    expect_alike(list(900, -1), {.depth = 6}, false);
    expect_alike(list(900, -1), {.scalar_bytes = 3}, true);
    expect_alike(list(900, -1), {.key_bytes = 5}, true);
}

TEST(document, reads_json_as_yaml) {
    const auto read = [](const std::string& of, bool reads_directly) {
        try {
            const document made = read_document(std::string_view(of), "f", {.reads_entries = reads_directly});
            return written(made.root) + (made.has_end_marker ? " ended" : "") + to_string(made.end);
        } catch (const error& e) {
            return "refused: " + std::string(e.what());
        }
    };
    const std::vector<std::string> good{
        "{}",
        "{ }\n",
        "{\"a\": 1}",
        "{\"a\":1,\"b\":[true,false,null],\"c\":{\"d\":-0.5e-3}}",
        "{\"a\" : [ ] ,\"b\": [[], {}, [1, [2]]]}\n\n",
        "{\n  \"a\": null,\n  \"b\":\n    null,\n  \"c\": [\n    1,\n    null\n  ]\n}\n",
        "{\r\n\"a\": \"b\"\r\n}\r\n",
        R"({"a": "\"\\\/\n\t x", "e": "", "null": "null", "b": "\u00e9\u20AC\ud83d\ude00 \\ud83d"})",
        R"({"a": "'", "b": "# c", "c": "- d: e", "d": " e ", "e": ". ", "f": ["."]})",
        R"({"b": NaN, "c": [Infinity, -Infinity], "d": 0, "e": -0, "f": 1E+5, "g": 1.50})",
        "{\"a\": \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\", \"\xc3\xa9\": 1, \"b\": 2}",
        "{\"a\": 1}\n...\n",
        "{\"a\": 1}\n... # more\n",
        "{\"a\": 1}\n... ",
        "{\"a\": 1} # c\n",
        "{\"a\": b, c: \"d\"}\n",
        "{\"a\": .5, \"b\": 01, \"c\": +1, \"d\": 1., \"e\": nullx, \"f\": truefalse}",
        "{\"a\": 'b'}",
        "{\"a\": 1,}",
        "{\"a\": x}\n# long\n",
    };
    for (const std::string& text : good) {
        EXPECT_EQ(read(text, true), read(text, false)) << text;
        EXPECT_FALSE(read(text, true).starts_with("refused")) << text << read(text, true);
    }
    for (const std::string& bad :
         texts("{", "{\"\": 1}", "{\"a\"", "{\"a\":", "{\"a\": ", "{\"a\": 1", "{\"a\": \"b", "{\"a\": \"b\\",
               "{\"a\": [1, 2", "{\"a\": 1} x", "{\"a\": 1} {}", "{\"a\": 1}\n---\n{}",
               "{\"a\": 1}\n...\nb: 1", "{\"a\": 1, \"a\": 2}", "{\"a\": \"\\ud83d\"}",
               "{\"a\": \"\\udc00x\"}", "{\"a\": \"\\u00\"}", "{\"a\": \"\\u0000\"}", "{\"a\": \"\\u202e\"}",
               "{\"a\": \"\\q\"}", "{\"a\": *b}", "{\"a\": &b 1}", "{\"a\": !b 1}", "{[1]: 2}", "{{}: 2}",
               "{\"a\": ]}", "{\"a\": [}", "{\"a\" 1}", "{, }"))
        EXPECT_EQ(read(bad, true), read(bad, false)) << bad;
    // Files are read in blocks; a character, an escape, a word or a number may be cut at the end of a block.
    constexpr std::size_t block = std::size_t{64} << 10;
    const std::string rest = R"(", "b": [true, -12.5e3, "\ud83d\ude00\n", null, -Infinity, ")"
                             "\xc3\xa9\xf0\x9f\x98\x80\"], \"c\": {}}";
    for (std::size_t before = block - rest.size() - 8; before <= block; ++before) {
        const std::string text = "{\"a\": \"" + std::string(before - 7, 'x') + rest;
        EXPECT_EQ(read(text, true), read(text, false)) << before;
        EXPECT_FALSE(read(text, true).starts_with("refused")) << before;
    }
}

// JSON may stand in a single line as long as the file. The place of an error is then its column.
TEST(document, reads_json_in_one_line) {
    const limits within{.line_bytes = 1000};
    std::string head = "{\"t\": [{\"a\": 1, \"b\": \"x\"}";
    for (int i = 0; i < 500; ++i) head += ", {\"a\": 1, \"b\": \"\xc3\xa9\"}";
    const auto column = static_cast<int>(head.size()) + 1;
    const node root = parse(head + "], \"u\": {\"v\": 2}}", "f", within);
    EXPECT_EQ(root.at("t").items().size(), 501U);
    EXPECT_EQ(to_string(root.at("u").at("v").where()), "f:1:" + std::to_string(column + 14));
    EXPECT_TRUE(read_document(std::string_view(head + "]}\n...\n"), "f", within).has_end_marker);
    EXPECT_EQ(to_string(parse("{\"s\": 1,\n" + head.substr(1) + "]}", "f", within).at("t").where()), "f:2:6");

    struct mistake {
        std::string text;
        int at;
        std::string path, words;
    };
    const std::string cut =
        "the file may be cut short; a file with a line of more than 1000 bytes must be JSON";
    for (const auto& [text, at, path, words] : std::vector<mistake>{
             {"", 0, "t",
              "this is not valid JSON: found the end of the file, expected a ',' or a ']'; " + cut},
             {", {\"a\": 1", 9, "t[501]", "found the end of the file, expected a ',' or a '}'"},
             {", \"a", 4, "t", "found the end of the file, expected a closing quote; " + cut},
             {", {\"a\": 1, \"a\": 2}]}", 11, "t[501]", "duplicate key 'a'"},
             {", {\"a\": 1; \"b\": 2}]}", 9, "t[501]", "found ';', expected a ',' or a '}'"},
             {", {\"a\": 1, b: 2}]}", 11, "t[501]", "found 'b', expected a key in double quotes"},
             {", {\"a\": 1, }]}", 11, "t[501]", "found '}', expected a key in double quotes"},
             {", {\"a\": x}]}", 8, "t[501].a", "found 'x', expected a value"},
             {", {\"a\": truth}]}", 8, "t[501].a", "found 't', expected a value"},
             {", {\"a\": -}]}", 9, "t[501].a", "found '}', expected a value"},
             {", {\"a\": 01}]}", 8, "t[501].a", "a number that begins with 0"},
             {", {\"a\": 1.}]}", 10, "t[501].a", "found '}', expected a digit"},
             {", {\"a\": 1e}]}", 10, "t[501].a", "found '}', expected a digit"},
             {", {\"a\" 1}]}", 7, "t[501].a", "found '1', expected a ':'"},
             {", \"\\ud83d\"]}", 3, "t", "one half of a pair of surrogates"},
             {", \"\\ud83d\\u0041\"]}", 3, "t", "one half of a pair of surrogates"},
             {", \"\\x41\"]}", 3, "t", "found '\\', expected an escape that JSON has"},
             {", \"\\u12g4\"]}", 3, "t", "expected \\u and four hexadecimal digits"},
             {", \"a\nb\"]}", 4, "t", "found a line break or a tab in a text"},
             {", \"\\u202e\"]}", 2, "t", "the escaped invisible character U+202E"},
             {", *a]}", 2, "t", "found '*', expected a value"},
             {"]} x", 3, "", "found 'x', expected the end of the file"},
             {"]} \xc3\xa9", 3, "", "found '\xc3\xa9', expected the end of the file"},
         })
        expect_refused({"one line", head + text, 1, column + at, path, words}, within);

    // The limit on lines still holds for YAML in brackets, and the message says how to avoid it.
    const limits wider{.line_bytes = 100'000};
    const std::string words =
        "a line of more than 100000 bytes, which is the limit for all but JSON; break it into several lines";
    expect_refused({"YAML in brackets", "{a: [" + repeated("1, ", 50'000) + "1]}", 1, 100'001, "",
                    words + ", such as by indent=1 of Python's json.dump"},
                   wider);
    expect_refused({"YAML", "a: [" + repeated("1, ", 50'000) + "1]", 1, 100'001, "", words}, wider);
    for (const std::size_t length : {100'000U, 100'001U}) {
        const auto filled = [&](const std::string& begin) {
            return begin + std::string(length - begin.size() - 2, 'x') + "\"}";
        };
        EXPECT_EQ(parse(filled("{\"a\": \""), "f", wider).at("a").text().size(), length - 9);
        EXPECT_EQ(error_of([&] { parse(filled("{a: \""), "f", wider); }).has_value(), length > 100'000);
    }
    const std::string empty = "{\"a\": [" + repeated("{}, ", 50'000) + "[]]}";
    EXPECT_EQ(parse(empty, "f", {.line_bytes = 1000, .gap_bytes = 10'000}).at("a").items().size(), 50'001U);
    // Reading stops at the limit on bytes without a complete value, and at the limit on depth.
    for (const char filler : {' ', 'x'}) {
        const std::string text = head + ", \"" + (filler == ' ' ? "\"" : "") + std::string(300'000, filler);
        const auto e = error_of([&] { parse(text, "f", {.line_bytes = 1000, .gap_bytes = 10'000}); });
        ASSERT_TRUE(e);
        EXPECT_NE(e->message().find("no value ends within 10000 bytes"), std::string::npos) << e->what();
        EXPECT_LT(e->where().column, 200'000);
    }
    expect_refused({"deep", "{\"a\":" + repeated("[", 2000) + repeated("]", 2000) + "}", 1, 69,
                    "a" + repeated("[0]", 62), "64 levels"},
                   within);
}

TEST(document, knows_whether_it_is_ended) {
    for (const char* text : {"a: 1\n...\n", "a: 1\n...", "a: |\n  x\n...\n", "a: 'x'\n... # end\n",
                             "a: 1\n\n# c\n...\n# d\n", "t:\n  - {a: 1}\n...\n", "a: 1\r\n...\r\n"})
        EXPECT_TRUE(read_document(std::string_view(text), "f").has_end_marker) << text;
    for (const char* text : {"a: 1\n", "a: ...\n", "a: |\n  ...\n", "a: 1\n# ...\n", "a:\n  x\n  ...\n", ""})
        EXPECT_FALSE(read_document(std::string_view(text), "f").has_end_marker) << text;
    EXPECT_EQ(to_string(read_document(std::string_view("a: 1\nb: 2"), "f").end), "f:2:5");
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
        {"0.1", 0.1},    {"4.9e-324", 4.9e-324},
        {"-0", -0.0},
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
        {"1 000", "found '1 000', expected a number; write 1000"},
        {"1'000", "found '1'000', expected a number; write 1000"},
        {"nan", "found 'nan', expected a number; it has to be finite"},
        {".nan", "found '.nan', expected a number; it has to be finite"},
        {".NaN", "found '.NaN', expected a number; it has to be finite"},
        {"inf", "found 'inf', expected a number; it has to be finite"},
        {"-inf", "found '-inf', expected a number; it has to be finite"},
        {".inf", "found '.inf', expected a number; it has to be finite"},
        {"-.INF", "found '-.INF', expected a number; it has to be finite"},
        {"infinity", "found 'infinity', expected a number; it has to be finite"},
        {"0x10", "found '0x10', expected a number; write 16"},
        {"-0X1f", "found '-0X1f', expected a number; write -31"},
        {"0o17", "found '0o17', expected a number; write 15"},
        {"0b101", "found '0b101', expected a number; write 5"},
        {"007", "found '007', expected a number; write 7"},
        {"010", "found '010', expected a number; write 10, or 8 if it is in base 8"},
        {"-0100.5", "found '-0100.5', expected a number; write -100.5"},
        {"1e400", "found '1e400', expected a number; numbers go up to 1.797e308"},
        {"-1e400", "found '-1e400', expected a number; numbers go up to 1.797e308"},
        {"1e-400", "found '1e-400', expected a number; it is too near to 0; write 0"},
        {"1:30", "found '1:30', expected a number; write 90 if it is in base 60"},
        {"1:30:00", "found '1:30:00', expected a number; write 5400 if it is in base 60"},
        {"25bp", "found '25bp', expected a number; write 0.0025"},
        {"5k", "found '5k', expected a number; write 5000"},
        {"2.5M", "found '2.5M', expected a number; write 2500000"},
        {"1/4", "found '1/4', expected a number; write 0.25"},
        {"1/0", "found '1/0', expected a number"},
        {"\xe2\x88\x92"
         "5",
         "found '\xe2\x88\x92"
         "5', expected a number; write -5"},
        {"+-5", "found '+-5', expected a number"},
        {"++5", "found '++5', expected a number"},
        {"1.2.3", "found '1.2.3', expected a number"},
        {"5 6", "found '5 6', expected a number"},
        {"+", "found '+', expected a number"},
        {".", "found '.', expected a number"},
        {"1e", "found '1e', expected a number"},
        {"100USD", "found '100USD', expected a number; write 100"},
        {"$2.50", "found '$2.50', expected a number; write 2.50"},
        {"True", "found 'True', expected a number; a word for true or false is no number"},
        {"yes", "found 'yes', expected a number; a word for true or false is no number"},
        {"on", "found 'on', expected a number; a word for true or false is no number"},
        {"true", "found 'true', expected a number; a word for true or false is no number"},
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

// C++ numeric format with a decimal comma, to imbue without a locale being installed.
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
    const tests::comma_locale comma;
    if (!comma.is_set()) GTEST_SKIP() << "no locale with a decimal comma can be made";
    expect_numbers_with_a_point();
}

TEST(document, whole_numbers_and_truth_values) {
    const std::pair<const char*, std::int64_t> good[] = {
        {"0", 0},         {"-3", -3}, {"131072", 131072}, {"9223372036854775807", 9223372036854775807},
        {"1e6", 1000000}, {"+5", 5},  {"2.0", 2},
    };
    for (const auto& [text, value] : good) EXPECT_EQ(parse(text, "f").integer(), value) << text;
    for (const char* text :
         {"1.5", "9223372036854775808", "1e300", "'5'", "five", "[1]", "", "0x10", "010", "1e-1"}) {
        const auto e = error_of([&] { parse(text, "f").integer(); });
        ASSERT_TRUE(e) << text;
        EXPECT_NE(e->message().find("expected a whole number"), std::string::npos)
            << text << ": " << e->what();
    }
    for (const auto& [text, words] : {std::pair{"0x10", "; write 16"},
                                      {"010", "; write 10, or 8"},
                                      {"1_000", "; write 1000"},
                                      {"'5'", "; write 5"}}) {
        const auto e = error_of([&] { parse(text, "f").integer(); });
        ASSERT_TRUE(e) << text;
        EXPECT_NE(e->message().find(words), std::string::npos) << text << ": " << e->what();
    }
    EXPECT_TRUE(parse("true", "f").boolean());
    EXPECT_FALSE(parse("false", "f").boolean());
    for (const auto& [text, hint] : {std::pair{"True", "; write true"},
                                     {"yes", "; write true"},
                                     {"on", "; write true"},
                                     {"1", "; write true"},
                                     {"'true'", "; write true"},
                                     {"FALSE", "; write false"},
                                     {"off", "; write false"},
                                     {"maybe", ""},
                                     {"", ""},
                                     {"[true]", ""}}) {
        const auto e = error_of([&] { parse(text, "f").boolean(); });
        ASSERT_TRUE(e) << text;
        EXPECT_TRUE(e->message().ends_with("expected true or false" + std::string(hint)))
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
              "f:2:1: b: unknown key 'b'; did you mean 'bb'? known keys: a, bb, d");
    EXPECT_EQ(message([&] { root.at("b").only({"strike"}); }),
              "f:2:5: b.c: unknown key 'c'; known keys: strike");
    EXPECT_NO_THROW(root.only({"a", "b", "d", "e"}));
}

TEST(document, shows_hostile_texts_short_and_clean) {
    EXPECT_EQ(shown("abc"), "'abc'");
    EXPECT_EQ(shown("a\nb\tc\r\x01"), "'a\\nb\\tc\\r?'");
    EXPECT_EQ(shown(std::string(1000, 'x')), "'" + std::string(60, 'x') + "...'");
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
    EXPECT_EQ(read_document(file).hash, sha256("a: [1, x]\n"));
    EXPECT_NO_THROW(load(file, {.bytes = 10}));
    EXPECT_TRUE(error_of([&] { load(file, {.bytes = 9}); }));
}

TEST_F(document_files, refuses_what_is_no_file) {
    expect_io_error(folder_ / "none.yaml", "there is no such file");
    expect_io_error(folder_, "found a directory");
    expect_io_error("/dev/null", "found a device");
    const auto pipe = folder_ / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    expect_io_error(pipe, "found a pipe");
}

}  // namespace
}  // namespace tilewalk::config::document_test
