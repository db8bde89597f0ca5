// SPDX-License-Identifier: Apache-2.0
// The ledger of bits: tests/data/bits.txt holds the price and the standard error of every product, every
// model and every example book, to the last bit, from independent paths and from points. Whoever changes a
// price changes that file, by `make bits`, and so says which.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/device.h"
#include "tests/every_model.h"
#include "tests/made_book.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::bits_test {
namespace {

// Five tiles, the last of them not full; points take eight. Fewer paths than those with controls have no
// pilot.
constexpr std::uint64_t paths = 4500, paths_with_controls = 8192;

const std::filesystem::path source = TILEWALK_SOURCE_DIR;
const std::filesystem::path file = source / "tests/data/bits.txt";
const std::string heading =
    "# Price and standard error of 4,500 paths, or of 8,192 points or paths with controls, to the last bit.\n"
    "# Written by `make bits`; a change of this file says which prices a change of the source changed.\n"
    "# book [sobol construction] [controls] precision trade price standard_error\n";

std::string bits_text(double x) {
    if (std::isnan(x)) return "none";
    char text[40];
    std::snprintf(text, sizeof text, "%a", x);
    return text;
}

std::vector<std::pair<std::string, book>> books() {
    std::vector<std::pair<std::string, book>> all;
    all.emplace_back("products", book_of_every_kind());
    all.emplace_back("models", book::parse(book_of_every_model(), "models"));
    std::vector<std::filesystem::path> examples;
    for (const auto& entry : std::filesystem::directory_iterator(source / "configs/books"))
        examples.push_back(entry.path());
    std::ranges::sort(examples);
    for (const auto& example : examples) all.emplace_back(example.filename(), book::load(example));
    return all;
}

// "demo.yaml double acme_call" to "0x1.2p+3 0x1.8p-4", in the order of the books.
using ledger = std::vector<std::pair<std::string, std::string>>;

// How a book is priced, and what the ledger calls that.
struct way {
    std::string random, construction, precision, controls = "none";
    bool has_controls() const { return controls != "none"; }
    std::string name() const {
        return (random == "philox" ? "" : random + " " + construction + " ") +
               (has_controls() ? "controls " : "") + precision;
    }
};
const std::vector<way> ways{
    {"philox", "bridge", "double"},        {"philox", "bridge", "single"},
    {"philox", "bridge", "mixed"},         {"sobol", "bridge", "double"},
    {"sobol", "bridge", "single"},         {"sobol", "steps", "double"},
    {"sobol", "principal", "double"},      {"philox", "bridge", "double", "auto"},
    {"sobol", "bridge", "double", "auto"},
};

ledger priced_on(const std::string& device) {
    const engine pricer;
    ledger out;
    for (const auto& [name, trades] : books()) {
        for (const way& by : ways) {
            run_options options;
            options.overrides.device = device;
            options.overrides.precision = by.precision;
            options.overrides.paths = by.has_controls() ? paths_with_controls : paths;
            options.overrides.random = by.random;
            options.overrides.construction = by.construction;
            options.overrides.randomisations = by.has_controls() ? 16 : 8;
            options.overrides.controls = by.controls;
            for (const price_row& row : pricer.price(trades, options).rows) {
                EXPECT_EQ(row.status, trade_status::priced)
                    << name << ": " << row.trade << ": " << row.message;
                out.emplace_back(name + " " + by.name() + " " + row.trade,
                                 bits_text(row.price) + " " + bits_text(row.standard_error));
            }
        }
    }
    return out;
}

std::map<std::string, std::string> kept() {
    std::ifstream in(file);
    std::map<std::string, std::string> out;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        const auto error = line.rfind(' '), price = line.rfind(' ', error - 1);
        if (!out.emplace(line.substr(0, price), line.substr(price + 1)).second)
            ADD_FAILURE() << "twice in the ledger: " << line;
    }
    return out;
}

// The entries that differ, at most twenty lines.
std::string differences(const ledger& priced, std::map<std::string, std::string> left) {
    std::string out;
    std::size_t count = 0;
    const auto say = [&](const std::string& line) {
        if (++count <= 20) out += line + '\n';
    };
    for (const auto& [trade, bits] : priced) {
        const auto known = left.find(trade);
        if (known == left.end()) {
            say(trade + ": not in the ledger, now " + bits);
            continue;
        }
        if (known->second != bits) say(trade + ": was " + known->second + ", now " + bits);
        left.erase(known);
    }
    for (const auto& [trade, bits] : left) say(trade + ": was " + bits + ", now not priced");
    return count > 20 ? out + "and " + std::to_string(count - 20) + " more\n" : out;
}

TEST(bits, are_those_of_the_ledger) {
    const ledger priced = priced_on("cpu");
    if (std::getenv("TILEWALK_WRITE_BITS") != nullptr) {
        std::ofstream out(file);
        out << heading;
        for (const auto& [trade, bits] : priced) out << trade << ' ' << bits << '\n';
        ASSERT_TRUE(out.flush());
    }
    EXPECT_EQ(differences(priced, kept()), "") << "if these prices are meant to change: make bits";
}

TEST(bits, are_those_of_the_ledger_on_a_gpu) {
    const auto survey = cuda::survey_devices();
    const bool has_gpu =
        std::ranges::any_of(survey.devices, [](const auto& found) { return found.why_not.empty(); });
    const char* said = std::getenv("TILEWALK_REQUIRE_GPU");
    if (!has_gpu && (said == nullptr || std::string(said) != "1"))
        GTEST_SKIP() << "no GPU: " << survey.why_none;
    EXPECT_EQ(differences(priced_on("cuda"), kept()), "");
}

TEST(bits, a_ledger_that_differs_is_told) {
    const ledger priced{{"b double t", "0x1p+0 0x1p-9"}, {"b double u", "0x1p+1 none"}};
    const std::map<std::string, std::string> same(priced.begin(), priced.end());
    EXPECT_EQ(differences(priced, same), "");
    auto other = same;
    other["b double t"] = "0x1.0000000000001p+0 0x1p-9";
    EXPECT_EQ(differences(priced, other), "b double t: was 0x1.0000000000001p+0 0x1p-9, now 0x1p+0 0x1p-9\n");
    other = same;
    other.erase("b double u");
    EXPECT_EQ(differences(priced, other), "b double u: not in the ledger, now 0x1p+1 none\n");
    other = same;
    other["b double w"] = "0x1p+2 0x1p-8";
    EXPECT_EQ(differences(priced, other), "b double w: was 0x1p+2 0x1p-8, now not priced\n");
}

}  // namespace
}  // namespace tilewalk::bits_test
