// SPDX-License-Identifier: Apache-2.0
// Files named by an untrusted book: under confinement no file outside of the book's folder is opened, and
// messages never quote text from a file of the wrong kind.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/base/open_file.h"
#include "engine/walk/arrays/shock_writer.h"
#include "tests/market_text.h"
#include "tests/own_folder.h"
#include "tests/refusal.h"
#include "tilewalk/calibration.h"
#include "tilewalk/error.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::confine_test {
namespace {

namespace fs = std::filesystem;
using tests::dollar_market;
using tests::in_book;
using tests::nothing_refused;
using tests::refusal;

const std::string outside =
    "found a file outside the folder of the file that names it, expected one inside it, as files are "
    "confined "
    "to it";
const load_options confined{.confine = true};

const std::string market_text = dollar_market(0.03, {{"ACME", "spot: 100"}});
const std::string calendar_text = "holidays: [2026-12-25]\n";
const std::string product_text =
    "product: mine\nsummary: s\nparameters:\n  m: {type: date, help: h}\nexample: {m: 1}\nscript: |\n  on "
    "m:\n"
    "      pay 1\n";

class confine : public testing::Test {
  protected:
    confine() {
        fs::create_directories(own / "books/below");
        for (const char* folder : {"", "books", "books/below"}) {
            own.write(fs::path(folder) / "market.yaml", market_text);
            own.write(fs::path(folder) / "calendar.yaml", calendar_text);
            own.write(fs::path(folder) / "product.yaml", product_text);
        }
    }

    std::string of(const std::string& text, const load_options& options = confined) const {
        return refusal([&] { book::parse(text, "book.yaml", own / "books", options); });
    }

    tests::own_folder own;
};

TEST_F(confine, every_kind_of_file_that_a_book_names) {
    const std::vector<std::string> books{"market: %\ntrades: []\n", "products: [%]\ntrades: []\n",
                                         "calendars: {c: %}\ntrades: []\n"};
    const std::vector<std::string> files{"market.yaml", "product.yaml", "calendar.yaml"};
    fs::create_directory_symlink(own / "books/below", own / "books/inward");
    fs::create_directory_symlink(own.path(), own / "books/outward");
    for (std::size_t i = 0; i < books.size(); ++i) {
        const auto naming = [&](const std::string& name) {
            std::string text = books[i];
            return text.replace(text.find('%'), 1, name);
        };
        fs::create_symlink(own / files[i], own / ("books/link_out_" + files[i]));
        fs::create_symlink("below/" + files[i], own / ("books/link_in_" + files[i]));
        for (const std::string& name : std::vector<std::string>{
                 files[i], "below/" + files[i], "./" + files[i], "below/../" + files[i], "inward/" + files[i],
                 "link_in_" + files[i], (own / "books" / files[i]).string(), "../books/" + files[i]}) {
            EXPECT_EQ(of(naming(name)), nothing_refused) << name;
        }
        for (const std::string& name : std::vector<std::string>{
                 "../" + files[i], "below/../../" + files[i], "outward/" + files[i], "link_out_" + files[i],
                 (own / files[i]).string(), "outward/none.yaml", "../none.yaml", "../books_none/x.yaml",
                 std::string("/etc/passwd"), std::string("/etc/none")}) {
            const std::string said = of(naming(name));
            EXPECT_NE(said.find(outside), std::string::npos) << name << ": " << said;
            EXPECT_EQ(said.find("book.yaml:1:"), 0U) << said;
        }
        for (const std::string& name : std::vector<std::string>{"../" + files[i], "link_out_" + files[i]})
            EXPECT_EQ(of(naming(name), {}), nothing_refused) << name;
    }
    EXPECT_NE(of("market: none.yaml\ntrades: []\n").find("there is no such file"), std::string::npos);
    EXPECT_NE(of("settings: {replay: ../x.npy}\ntrades: []\n").find(outside), std::string::npos);
    EXPECT_EQ(of("settings: {replay: below/x.npy}\ntrades: []\n"), nothing_refused);
    // A folder is outside even if its name begins with the name of the book's folder.
    fs::create_directory(own / "books_too");
    own.write("books_too/market.yaml", market_text);
    EXPECT_NE(of("market: ../books_too/market.yaml\ntrades: []\n").find(outside), std::string::npos);
}

// A path that resolves to a folder is refused, even inside of the confining folder.
TEST_F(confine, a_folder_is_no_file_in_itself) {
    const fs::path folder = own / "books";
    EXPECT_EQ(config::resolved_inside(folder / "below/../market.yaml", folder),
              fs::canonical(folder / "market.yaml"));
    for (const fs::path& no_file : {folder, folder / "below/..", folder / ".."})
        EXPECT_NE(refusal([&] { config::resolved_inside(no_file, folder); }).find(outside), std::string::npos)
            << no_file;
}

// A market names files too: a market inside a book, beside it, in a folder below it, and read alone.
TEST_F(confine, scenarios_of_a_market) {
    const std::vector<double> numbers(8, 0.2);
    for (const char* folder : {"", "books", "books/below"})
        arrays::write_shocks<double>(own / folder / "vols", {2, 1, 0, 4, numbers, {}});
    const auto with = [](const std::string& name) {
        return "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets: {ACME: {currency: USD, spot: "
               "100, "
               "volatility: {scenarios: " +
               name + ", times: [0.5, 1.0]}}}\n";
    };
    const auto in_book = [&](const std::string& name) {
        std::string text = "market:\n", market = with(name);
        for (std::size_t at = 0; at < market.size();) {
            const std::size_t end = market.find('\n', at) + 1;
            text += "  " + market.substr(at, end - at);
            at = end;
        }
        own.write("books/book.yaml", text + "trades: []\n");
        return refusal([&] { book::load(own / "books/book.yaml", confined); });
    };
    EXPECT_EQ(in_book("vols"), nothing_refused);
    EXPECT_EQ(in_book("below/vols"), nothing_refused);
    EXPECT_NE(in_book("../vols").find(outside), std::string::npos) << in_book("../vols");
    own.write("books/below/market.yaml", with("../vols"));
    // The scenarios ../vols of this market lie in the folder of the book that names the market.
    EXPECT_EQ(of("market: below/market.yaml\ntrades: []\n"), nothing_refused);
    EXPECT_NE(refusal([&] { market::load(own / "books/below/market.yaml", confined); }).find(outside),
              std::string::npos);
    EXPECT_EQ(refusal([&] { market::load(own / "books/below/market.yaml"); }), nothing_refused);
    own.write("books/below/market.yaml", with("../../vols"));
    EXPECT_NE(of("market: below/market.yaml\ntrades: []\n").find(outside), std::string::npos);
    own.write("books/quotes.yaml", with("../vols") +
                                       "calibrate: {USD: {hull_white: {swaptions: [{expiry: 2, tenor: 1, "
                                       "volatility: 0.01, type: normal}, {expiry: 1, tenor: 1, "
                                       "volatility: 0.01, type: normal}]}}}\n");
    EXPECT_NE(refusal([&] { market_quotes::load(own / "books/quotes.yaml", confined); }).find(outside),
              std::string::npos);
    EXPECT_EQ(refusal([&] { market_quotes::load(own / "books/quotes.yaml"); }), nothing_refused);
}

TEST_F(confine, the_file_that_was_looked_at_is_opened) {
    fs::create_symlink(own / "none.yaml", own / "books/dangling.yaml");
    EXPECT_NE(of("market: dangling.yaml\ntrades: []\n"), nothing_refused);
    own.write("none.yaml", market_text);
    EXPECT_NE(of("market: dangling.yaml\ntrades: []\n").find(outside), std::string::npos);
    const config::open_file through(own / "books/below/market.yaml", own / "books");
    struct stat seen {
    }, wanted{};
    ASSERT_EQ(::fstat(through.descriptor(), &seen), 0);
    ASSERT_EQ(::stat((own / "books/below/market.yaml").c_str(), &wanted), 0);
    EXPECT_EQ(seen.st_ino, wanted.st_ino);
    EXPECT_EQ(config::resolved_inside(own / "books/../books/x", own / "books"),
              fs::canonical(own / "books") / "x");
}

TEST_F(confine, no_word_of_another_file) {
    const std::string secret = "hunter2";
    const std::vector<std::string> texts{
        "root:" + secret + ":0:0:root:/root:/bin/bash\nbin:x:1:1::/bin:/bin/false\n",
        secret + ":*:20228:0:99999:7:::\nbin:*:20228:0:99999:7:::\n",
        secret + ": 1\nother: 2\n",
        secret + "\n",
        "'" + secret + "'\n",
        "# a comment\n" + secret,
        "- " + secret + "\n",
        "[section]\nkey = " + secret + "\n",
        "|\n  " + secret + "\n",
        "-----BEGIN KEY-----\n" + secret + "\n-----END KEY-----\n",
        "{\"a\": " + secret,
        "\"" + secret,
    };
    for (const std::string& text : texts) {
        own.write("books/other", text);
        for (const char* book : {"market: other\ntrades: []\n", "products: [other]\ntrades: []\n",
                                 "calendars: {c: other}\ntrades: []\n"}) {
            const std::string said = of(book);
            EXPECT_NE(said, nothing_refused) << text;
            EXPECT_EQ(said.find(secret), std::string::npos) << said;
        }
        for (const std::string& said :
             std::vector<std::string>{refusal([&] { market::load(own / "books/other"); }),
                                      refusal([&] { market_quotes::load(own / "books/other"); }),
                                      refusal([&] { read_results(text, "other"); })}) {
            EXPECT_NE(said, nothing_refused) << text;
            EXPECT_EQ(said.find(secret), std::string::npos) << said;
        }
    }
    own.write("books/other", texts.front());
    EXPECT_NE(of("market: other\ntrades: []\n").find("found a text, expected a market"), std::string::npos);
}

}  // namespace
}  // namespace tilewalk::confine_test
