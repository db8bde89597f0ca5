// SPDX-License-Identifier: Apache-2.0
// Ids of trades: visible and distinguishable texts pass, and books in JSON may use characters beyond U+FFFF.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/base/text/unicode.h"
#include "engine/reading/book_state.h"
#include "tilewalk/error.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::ids_test {
namespace {

using config::decode;

const std::string nothing = "nothing was refused";
const std::string trade = ", product: european, underlying: ACME, strike: 1, maturity: 1}\n";

std::string utf8(std::initializer_list<std::uint32_t> characters) {
    std::string text;
    for (const std::uint32_t c : characters) config::append_utf8(c, text);
    return text;
}

std::string refusal_of_id(const std::string& id) {
    const book read = book::parse("trades:\n  - {id: \"" + id + "\"" + trade + "...\n");
    const auto& failure = state_of(read).trades.at(0).failure;
    return failure ? failure->message() : nothing;
}

TEST(ids, what_people_see_is_an_id) {
    for (const std::string& id : std::vector<std::string>{
             std::string("a"), std::string("a b"), std::string("=1+1"), utf8({0xe9}), utf8({0x5d0}),
             utf8({0xd55c, 0xae00}), utf8({0x915, 0x94d, 0x937}),  // Hangul; letters with a virama
             utf8({0xe01, 0xe39, 0xe49}),                          // two marks in canonical order
             utf8({0x1f600}), utf8({0x2764, 0xfe0f}),              // an emoji; a heart as one
             utf8({0x1f468, 0x200d, 0x1f469}),                     // two emoji joined
             utf8({0x1f3f4, 0xe0067, 0xe007f}), std::string(256, 'x')}) {
        EXPECT_EQ(refusal_of_id(id), nothing) << id;
    }
}

TEST(ids, what_nobody_sees_is_none) {
    for (const std::string& id : std::vector<std::string>{
             std::string(" "), std::string("   "), std::string("\\t"), utf8({0xa0}), utf8({0x2003}),
             utf8({0x3000}), utf8({0x200d}), utf8({0x200c, 0x20}), utf8({0xad}), utf8({0x2800}),
             utf8({0x3164}), utf8({0xfe0f}), utf8({0xe0020}), utf8({0x115f})}) {
        EXPECT_NE(refusal_of_id(id).find("in which there is nothing to see, expected an id"),
                  std::string::npos)
            << id << ": " << refusal_of_id(id);
    }
    EXPECT_NE(refusal_of_id(""), nothing);
    for (const std::string& id :
         std::vector<std::string>{std::string(" a"), std::string("a "), "a" + utf8({0xa0}),
                                  utf8({0x3000}) + "a", "a" + utf8({0x200d}), "a\\t"}) {
        EXPECT_NE(refusal_of_id(id).find("with a blank at an end, expected the id without it"),
                  std::string::npos)
            << id << ": " << refusal_of_id(id);
    }
    EXPECT_EQ(refusal_of_id(std::string(257, 'x')), "found an id of 257 bytes, expected at most 256");
}

// Of two ids that Unicode treats as equal, only one may pass: the one in the normal form NFC.
TEST(ids, one_spelling_of_each) {
    struct spelling {
        std::vector<std::uint32_t> composed, other;
        const char* names;  // the character that the refusal names
    };
    const std::vector<spelling> spellings{
        {{0xe9}, {'e', 0x301}, "U+0301"},        // e acute
        {{0xc5}, {0x212b}, "U+212B"},            // A with ring; the Angstrom sign
        {{0x3a9}, {0x2126}, "U+2126"},           // Omega; the Ohm sign
        {{0xac00}, {0x1100, 0x1161}, "U+1161"},  // a Hangul syllable; its letters
        {{0x304c}, {0x304b, 0x3099}, "U+3099"},  // hiragana ga; ka with its mark
        {{'q', 0x323, 0x307},
         {'q', 0x307, 0x323},
         "U+03"},  // a mark below and one above, which do not compose
        {{0x5d0, 0x5b8, 0x5bc}, {0x5d0, 0x5bc, 0x5b8}, "U+05B8"},  // Hebrew points in another order
        {{0x8c48}, {0xf900}, "U+F900"},                            // an ideograph; its compatibility form
        {{0x915, 0x93c}, {0x958}, "U+09"},                 // Devanagari qa: NFC is the decomposed form
        {{0x2329 - 0x2329 + 0x3008}, {0x2329}, "U+2329"},  // angle brackets
    };
    for (const auto& [composed, other, names] : spellings) {
        std::string one, two;
        for (const std::uint32_t c : composed) config::append_utf8(c, one);
        for (const std::uint32_t c : other) config::append_utf8(c, two);
        const std::string a = refusal_of_id(one), b = refusal_of_id(two);
        // `other` is refused; `composed` passes, unless it has several characters itself.
        EXPECT_NE(b, nothing) << two;
        EXPECT_NE(b.find("Unicode's form NFC"), std::string::npos) << b;
        EXPECT_TRUE(a == nothing || composed.size() > 1) << one << ": " << a;
    }
    EXPECT_NE(refusal_of_id("e" + utf8({0x301})).find("with the character U+0301"), std::string::npos);
    EXPECT_EQ(config::not_composed("plain"), config::not_a_code_point);
}

TEST(ids_surrogates, pairs_are_the_character) {
    const std::string face = utf8({0x1f600}), flag = utf8({0x1f1eb, 0x1f1f7});
    const auto text = [](const std::string& yaml) { return config::parse(yaml, "f").at("a").text(); };
    EXPECT_EQ(text(R"({"a": "\ud83d\ude00"})"), face);
    EXPECT_EQ(text(R"({"a": "\uD83D\uDE00"})"), face);
    EXPECT_EQ(text(R"({"a": "\U0001f600"})"), face);
    EXPECT_EQ(text(R"({"a": "x\ud83d\ude00y\ud83c\uddeb\ud83c\uddf7"})"), "x" + face + "y" + flag);
    EXPECT_EQ(text("b: \"\\ud83d\\ude00\"\na: \"\\ud83d\\ude00\"\n"), face);
    EXPECT_EQ(text("a: \"one\n  \\ud83d\\ude00\n  two\"\n"), "one " + face + " two");
    EXPECT_EQ(text(R"({"\ud83d\ude00": 1, "a": "\u00e9\ud800\udc00\udbff\udfff"})"),
              utf8({0xe9, 0x10000, 0x10ffff}));
    const config::node keyed = config::parse(R"({"\ud83d\ude00": 1})", "f");
    EXPECT_EQ(keyed.members().front().key, face);
    const config::node placed = config::parse(R"({"a": "\ud83d\ude00", "b": 1})", "f");
    EXPECT_EQ(placed.at("b").where(), (location{"f", 1, 28}));
    // Also in a book so long that the reader takes many blocks, and beside lines read without yaml-cpp.
    std::string book = "{\"trades\": [\n", want;
    for (int i = 0; i < 5000; ++i)
        book += std::string(i > 0 ? ",\n" : "") + R"({"id": "\ud83d\ude00)" + std::to_string(i) + "\"}";
    const config::node read = config::parse(book + "\n]}\n", "f");
    for (int i = 0; i < 5000; ++i)
        ASSERT_EQ(read.at("trades").items()[static_cast<std::size_t>(i)].at("id").text(),
                  face + std::to_string(i));
    const config::node mixed =
        config::parse("x: \"\\ud83d\\ude00\"\nt:\n  - {a: 1, b: 2}\n  - {a: 3, b: 4}\n", "f");
    EXPECT_EQ(mixed.at("t").items()[1].at("b").number(), 4);
    EXPECT_EQ(mixed.at("x").text(), face);
}

TEST(ids_surrogates, elsewhere_they_are_what_they_seem) {
    const std::string other = "p: \"\\ud83d\\ude00\"\n", raw = R"(\ud83d\ude00)", odd = R"(\ufffe\uffff)";
    const auto text = [&](const std::string& value) {
        return config::parse(other + "a: " + value + "\n", "f").at("a").text();
    };
    EXPECT_EQ(text(raw), raw);
    EXPECT_EQ(text("'" + raw + "'"), raw);
    EXPECT_EQ(text("|\n  x " + raw + "\n  " + odd), "x " + raw + "\n" + odd + "\n");
    EXPECT_EQ(text(odd + raw + odd), odd + raw + odd);
    EXPECT_EQ(text(R"("\\ud83d\\ude00")"), raw);
    EXPECT_EQ(text(R"("\\\ud83d\ude00")"), "\\" + utf8({0x1f600}));
    EXPECT_EQ(config::parse(other + "# " + raw + "\na: 1\n", "f").at("a").number(), 1);
}

TEST(ids_surrogates, halves_are_refused) {
    for (const char* half :
         {R"(\ud83d)", R"(\ude00)", R"(\ud83dx)", R"(\ud83d\u0041)", R"(\ude00\ud83d)", R"(\ud83d\\ude00)",
          R"(\ud83d\ud83d\ude00)", R"(\ufffe\uffff)", R"(\ud83d\ude00\uffff)", R"(\u202e)", R"(\u200b)",
          R"(\ufeff)", R"(\U00110000)"}) {
        std::string said = nothing;
        try {
            config::parse("{\"a\": \"" + std::string(half) + "\"}", "f");
        } catch (const error& e) {
            said = e.what();
            EXPECT_EQ(e.where().line, 1) << half;
        }
        EXPECT_NE(said, nothing) << half;
        EXPECT_TRUE(said.find("pair of surrogates") != std::string::npos ||
                    said.find("escaped invisible character U+") != std::string::npos)
            << half << ": " << said;
    }
}

}  // namespace
}  // namespace tilewalk::ids_test
