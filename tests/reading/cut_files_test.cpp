// SPDX-License-Identifier: Apache-2.0
// Truncated files: under strict reading a file is refused wherever it is cut. Otherwise a file that ends
// inside of something is refused, with a hint that it may be cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/reading/book_state.h"
#include "engine/reading/library.h"
#include "tests/own_folder.h"
#include "tests/refusal.h"
#include "tests/texts.h"
#include "tilewalk/calibration.h"
#include "tilewalk/error.h"
#include "tilewalk/scenarios.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::cut_files_test {
namespace {

namespace fs = std::filesystem;
using tests::nothing_refused;
using tests::own_text;
using tests::refusal;
using tests::text_of;

// A shipped file; `refusal_of` reads another text strictly in its place and returns the complaint.
struct shipped {
    fs::path file;
    std::string text;
    std::function<std::string(const std::string&)> refusal_of;
};

std::vector<shipped> shipped_files() {
    const fs::path top = TILEWALK_SOURCE_DIR;
    const load_options strictly{.strict = true};
    std::vector<shipped> all;
    const auto add = [&](const fs::path& folder,
                         const std::function<void(const std::string&, const fs::path&)>& reads) {
        for (const auto& entry : fs::directory_iterator(top / folder)) {
            const fs::path file = entry.path();
            if (file.extension() != ".yaml") continue;
            all.push_back({file, text_of(file), [reads, file](const std::string& text) {
                               return refusal([&] { reads(text, file); });
                           }});
        }
    };
    // Files that a book names are read through a small, complete book that names "named.yaml".
    static const tests::own_folder own;
    const auto named_by = [&](const std::string& book) {
        return [=](const std::string& text, const fs::path&) {
            own.write("named.yaml", text);
            book::parse(book, "book.yaml", own.path(), strictly);
        };
    };
    add("configs/markets", named_by("market: named.yaml\ntrades: []\n...\n"));
    add("configs/calendars", named_by("calendars: {here: named.yaml}\ntrades: []\n...\n"));
    add("configs/products", named_by("products: [named.yaml]\ntrades: []\n...\n"));
    // A library product is read under another name, because the library has its own.
    add("products/library", [=](const std::string& text, const fs::path& file) {
        std::string renamed = text;
        const std::string name = "product: " + file.stem().string() + "\n";
        if (const auto at = renamed.find(name); at != std::string::npos)
            renamed.insert(at + name.size() - 1, "_x");
        own.write("named.yaml", renamed);
        book::parse("products: [named.yaml]\ntrades: []\n...\n", "book.yaml", own.path(), strictly);
    });
    add("configs/books", [=](const std::string& text, const fs::path& file) {
        book::parse(text, file.string(), file.parent_path(), strictly);
    });
    add("configs/calibration", [=](const std::string& text, const fs::path& file) {
        market_quotes::parse(text, file.string(), strictly);
    });
    static const market demo = market::load(top / "configs/markets/demo.yaml");
    add("configs/scenarios", [](const std::string& text, const fs::path& file) {
        scenario_list::parse(text, file.string(), demo, file.parent_path(), {.strict = true});
    });
    std::ranges::sort(all, {}, &shipped::file);
    return all;
}

void expect_that_none_passes(std::size_t stride, std::size_t near_the_end) {
    const std::vector<shipped> all = shipped_files();
    ASSERT_GE(all.size(), 50U);
    for (const shipped& one : all) {
        EXPECT_EQ(one.refusal_of(one.text), nothing_refused) << one.file;
        const std::size_t whole = one.text.size() - 1;
        EXPECT_EQ(one.refusal_of(one.text.substr(0, whole)), nothing_refused) << one.file;
        for (std::size_t bytes = 0; bytes < whole;) {
            ASSERT_NE(one.refusal_of(one.text.substr(0, bytes)), nothing_refused)
                << one.file << " passes when cut after byte " << bytes << ": ..."
                << one.text.substr(bytes < 60 ? 0 : bytes - 60, std::min<std::size_t>(bytes, 60));
            bytes += bytes + near_the_end < whole ? std::min(stride, whole - near_the_end - bytes) : 1;
        }
    }
}

TEST(cut_files, no_shipped_file_passes_where_it_is_read_strictly) {
    expect_that_none_passes(67, 8);
}

TEST(cut_files_long, no_shipped_file_passes_cut_after_any_byte) {
    expect_that_none_passes(1, 0);
}

TEST(cut_files, a_market_by_itself) {
    const tests::own_folder own;
    const std::string demo = own_text("configs/markets/demo.yaml");
    const std::string cut = demo.substr(0, demo.find("  - [EURUSD, USDJPY"));
    const fs::path file = own.write("market.yaml", cut);
    EXPECT_EQ(refusal([&] { market::load(file); }), nothing_refused);  // the cut leaves a whole market
    const std::string expected =
        ":" + std::to_string(std::ranges::count(cut, '\n') + 1) +
        ":1: found no last line '...', expected one where files are read strictly; the file may be cut "
        "short";
    EXPECT_EQ(refusal([&] { market::load(file, {.strict = true}); }), file.string() + expected);
    EXPECT_EQ(refusal([&] { market::parse(cut, "m", {.strict = true}); }), "m" + expected);
    EXPECT_EQ(refusal([&] { market::parse(demo, "m", {.strict = true}); }), nothing_refused);
    EXPECT_EQ(refusal([&] { market::load(own.write("market.yaml", demo), {.strict = true}); }),
              nothing_refused);
}

TEST(cut_files, a_count_guards_trades_alone) {
    const std::string market =
        "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n"
        "  assets: {A: {currency: USD, spot: 1, volatility: 0.2}, B: {currency: USD, spot: 1, volatility: "
        "0.2}}\n"
        "  correlations:\n    - [A, B, 0.5]\n";
    const std::string trades = "trade_count: 0\ntrades: []\n";
    const auto strictly = [](const std::string& yaml) {
        return refusal([&] { book::parse(yaml, "b", ".", {.strict = true}); });
    };
    EXPECT_EQ(strictly(market + trades), nothing_refused);
    EXPECT_EQ(strictly(trades + market),
              "b:9:1: found 'market' after the trades, where trade_count can't show that nothing is cut off, "
              "expected a last line '...' where a book is read strictly; the file may be cut short");
    EXPECT_EQ(strictly(trades + market + "...\n"), nothing_refused);
    EXPECT_EQ(strictly("trades: []\ntrade_count: 0\n"), nothing_refused);
}

TEST(cut_files, the_embedded_library) {
    for (const books::library_file& file : books::library_files())
        EXPECT_TRUE(std::string_view(file.text).ends_with("\n...\n")) << file.name;
    for (const books::library_file& file : books::example_markets())
        EXPECT_TRUE(std::string_view(file.text).ends_with("\n...\n")) << file.name;
}

TEST(cut_files, what_ends_inside_is_refused_and_says_so) {
    const tests::own_folder own;
    const std::string market = "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\n";
    const auto of_market = [&](const std::string& text) {
        return refusal([&] { market::parse(text, "m"); });
    };
    const auto of_calendar = [&](const std::string& text) {
        own.write("c.yaml", text);
        return refusal([&] { book::parse("calendars: {c: c.yaml}\ntrades: []\n", "b", own.path()); });
    };
    const auto of_product = [&](const std::string& text) {
        own.write("p.yaml", text);
        return refusal([&] { book::parse("products: [p.yaml]\ntrades: []\n", "b", own.path()); });
    };
    const std::string product =
        "product: p\nsummary: s\nparameters:\n  m: {type: date, help: h}\nexample: {m: 1}\n";
    const std::string hint = "the file may be cut short";
    const std::vector<std::pair<std::string, std::string>> cases{
        {of_market("as_of: 2026-01-15\n"), "missing key 'currencies'"},
        {of_market("as_of: 2026-01-15\ncurrencies:\n"), "found nothing"},
        {of_market("as_of: 2026-01-15\ncurr"), "with no ':' after it"},
        {of_market("# a market\nas_of: 2026-01-1"), "2026-01-1"},
        {of_market("# a market\nas_of:"), "found nothing"},
        {of_market(market + "assets:\n  ACME:\n    currency: USD\n"), "assets.ACME: missing key 'spot'"},
        {of_market(market + "assets:\n  ACME:\n    currency: USD\n    spot:\n"), "found nothing"},
        {of_market(market + "assets:\n  ACME:\n    currency: US"), "unknown currency 'US'"},
        {of_market(market + "assets:\n  ACME: {currency: USD, spot: 1"), "'}'"},
        {of_market(market + "assets:\n  ACME: {currency: USD, spot: 1}\ncorrelations:\n  - [ACME, "), "']'"},
        {of_market(market +
                   "assets:\n  ACME:\n    currency: USD\n    spot: 1\n    dividends:\n      - date: 1\n"),
         "expected"},
        {of_market("as_of: \"2026-01"), "does not end"},
        {of_market("as_of: '2026-01"), "does not end"},
        {of_calendar("weekend: [friday]\n"), "missing key 'holidays'"},
        {of_calendar("weekend: [friday]\nholidays:\n"), "found nothing"},
        {of_calendar("holidays:\n  - 2026-12-25\n  - 2026-1"), "2026-1"},
        {of_calendar("holidays:\n  - 2026-12-25\n  -"), "found nothing"},
        {of_product("product: p\nsummary: s\n"), "missing key 'parameters'"},
        {of_product("product: p\nsummary: s\nparameters:\n  m:\n    type: date\n"), "missing key 'help'"},
        {of_product(product), "missing key 'script'"},
        {of_product(product + "script:"), "found nothing"},
        {of_product(product + "script: |\n"), "expected"},
        {of_product(product + "script: |\n  on m:\n"), ""},
        {of_product(product + "script: |\n  on m:\n      pay max(1, "), ""},
    };
    for (const auto& [got, said] : cases) {
        EXPECT_NE(got.find(hint), std::string::npos) << got << "\nwanted: " << said;
        EXPECT_NE(got.find(said), std::string::npos) << got << "\nwanted: " << said;
    }
    // No hint at a cut if more text follows, if a closed bracket lacks a key, or if the end marker is there.
    for (const std::string& got :
         {of_market("currencies: {USD: {rate: 0.03}}\nassets: {}\n...\n"),
          of_market(market + "assets: {ACME: {currency: USD}}\n"), of_market(market + "assets:\n  A:\n...\n"),
          of_market(market + "assets:\n  A:\n    currency: USD\nfixings: {}\n"),
          of_market("as_of: 2026-13-01\n"),
          of_product(product + "script: |\n  on m:\n      pay 1 +\n  on m:\n      pay 1\n")}) {
        EXPECT_NE(got, nothing_refused);
        EXPECT_EQ(got.find(hint), std::string::npos) << got;
    }
}

TEST(cut_files, the_last_trade_of_a_book) {
    const std::string head =
        "trades:\n  - {id: a, product: european, underlying: ACME, strike: 1, maturity: 1}\n";
    const auto failure_of_last = [&](const std::string& end) {
        const book read = book::parse(head + end, "b", ".");
        const auto& failure = state_of(read).trades.back().failure;
        return failure ? std::string(failure->what()) : nothing_refused;
    };
    const std::string open = "  - id: b\n    product: european\n    underlying: ACME\n";
    EXPECT_EQ(failure_of_last("  - id: b\n"),
              "b:3:5: trades[1]: missing key 'product'; the file may be cut short");
    EXPECT_TRUE(failure_of_last(open).ends_with("; the file may be cut short")) << failure_of_last(open);
    EXPECT_TRUE(failure_of_last(open + "    strike:\n").ends_with("; the file may be cut short"));
    EXPECT_TRUE(failure_of_last("  -\n").ends_with("; the file may be cut short"))
        << failure_of_last("  -\n");
    EXPECT_EQ(failure_of_last(open + "...\n").find("cut short"), std::string::npos);
    EXPECT_EQ(failure_of_last("  - {id: b}\n").find("cut short"), std::string::npos);
}

TEST(cut_files, quotes) {
    const std::string svi = own_text("configs/calibration/svi.yaml");
    const std::string cut = svi.substr(0, svi.rfind("        2.0:"));
    EXPECT_EQ(refusal([&] { market_quotes::parse(cut); }), nothing_refused);
    EXPECT_NE(
        refusal([&] { market_quotes::parse(cut, "q", {.strict = true}); }).find("found no last line '...'"),
        std::string::npos);
}

}  // namespace
}  // namespace tilewalk::cut_files_test
