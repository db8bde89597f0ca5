// SPDX-License-Identifier: Apache-2.0
// Pictures of trades: their paths are those that price the trade, and whatever texts a book has, the file is
// well-formed and harmless.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/ledger.h"
#include "tests/plain_paths.h"
#include "tests/xml_check.h"
#include "tilewalk/page.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::picture_test {
namespace {

const std::string source = TILEWALK_SOURCE_DIR;

book book_of(const std::string& trades) {
    return book::parse("market: " + source + "/configs/markets/demo.yaml\ntrades:\n" + trades, "book.yaml",
                       ".");
}

double mean(const std::vector<double>& of) {
    return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
}

// The payoffs of the pictured paths, one tile, have the mean of the run's first part, so they are the run's
// paths. This holds for independent paths and points, monitoring on dates and between, and correlated assets.
// In models with steps between dates, observing every step would change the order of the points' dimensions.
TEST(picture, paths_are_those_that_price_the_trade) {
    const engine by;
    std::size_t held = 0;
    const std::vector<std::pair<std::string, std::string>> runs{
        {"demo", "philox"}, {"demo", "sobol"}, {"demo", "auto"}, {"smiles", "sobol"}};
    for (const auto& [name, random] : runs) {
        const book all = book::load(source + "/configs/books/" + name + ".yaml");
        run_options how = tests::plain_paths();
        how.overrides.paths = 16384;
        how.overrides.random = random;
        if (random == "sobol") how.overrides.construction = construction::bridge;
        const results priced = by.price(all, how);
        ASSERT_EQ(priced.manifest.part_paths, 1024U);
        for (const price_row& row : priced.rows) {
            if (row.early) continue;
            const trade_paths paths = paths_of(by, all, *all.market(), row.trade, how, 1024);
            ASSERT_EQ(paths.paths(), 1024U) << row.trade;
            std::vector<double> payoffs;
            for (const auto& of_path : paths.paid) payoffs.push_back(of_path.back());
            ASSERT_FALSE(row.part_means.empty()) << row.trade;
            EXPECT_NEAR(mean(payoffs), row.part_means.front(), 1e-11 * (1 + std::abs(row.price)))
                << row.trade << " by " << random << ", " << paths.random;
            ++held;
        }
    }
    EXPECT_GE(held, 3U * 12 + 3);
}

TEST(picture, spots_have_the_forward_price_as_their_mean) {
    const book demo = book::load(source + "/configs/books/demo.yaml");
    const engine by;
    run_options how = tests::plain_paths();
    how.overrides.paths = 16384;
    how.overrides.random = "philox";
    for (const trade_plan& plan :
         by.explain(demo.only({"acme_call", "autocall", "asian_eur"}), *demo.market(), how)) {
        const trade_paths paths = paths_of(by, demo, *demo.market(), plan.trade, how, 1024);
        ASSERT_EQ(paths.assets, plan.assets);
        for (std::size_t a = 0; a < paths.assets.size(); ++a) {
            EXPECT_EQ(paths.spots_today[a], plan.asset_list[a].spot);
            for (std::size_t s = 0; s < paths.years.size(); ++s) {
                const auto at = std::ranges::find_if(
                    plan.years, [&](double t) { return std::abs(t - paths.years[s]) < 1e-9; });
                if (at == plan.years.end()) continue;
                const auto& numbers = plan.asset_list[a];
                const auto k = static_cast<std::size_t>(at - plan.years.begin());
                if (!numbers.quanto_forwards.empty()) continue;
                std::vector<double> seen;
                for (const auto& path : paths.spots[a]) seen.push_back(path[s]);
                double squares = 0;
                for (const double x : seen) squares += (x - mean(seen)) * (x - mean(seen));
                const double error = std::sqrt(squares / 1023 / 1024);
                EXPECT_NEAR(mean(seen), numbers.forwards[k], 4.5 * error + 1e-9)
                    << plan.trade << " " << paths.assets[a] << " at " << paths.years[s];
            }
        }
    }
}

TEST(picture, what_is_known_to_be_paid_ends_as_the_payoff_without_assets_too) {
    const book rates = book::load(source + "/configs/books/rates.yaml");
    const engine by;
    run_options how = tests::plain_paths();
    how.overrides.paths = 16384;
    how.overrides.random = "philox";
    const results priced = by.price(rates, how);
    for (const price_row& row : priced.rows) {
        if (row.part_means.empty() || row.early) continue;
        const trade_paths paths = paths_of(by, rates, *rates.market(), row.trade, how, 1024);
        std::vector<double> payoffs;
        for (const auto& of_path : paths.paid) payoffs.push_back(of_path.back());
        EXPECT_NEAR(mean(payoffs), row.part_means.front(), 1e-9 * (1 + std::abs(row.price))) << row.trade;
    }
}

// The ledger has digests of pictures, to catch changes that other tests miss.
TEST(picture, every_trade_of_the_shipped_books_has_that_of_the_ledger) {
    const engine by;
    tests::kept_words made;
    run_options how;
    how.overrides.paths = 4096;
    for (const char* name : {"demo", "early", "jumps", "notes", "rates", "smiles"}) {
        const book all = book::load(source + "/configs/books/" + name + ".yaml");
        for (const trade_plan& plan : by.explain(all, *all.market(), how)) {
            const trade_paths paths = paths_of(by, all, *all.market(), plan.trade, how);
            const std::string drawn = picture_of(plan, paths);
            EXPECT_EQ(tests::xml_check::fault(drawn), "") << plan.trade;
            for (const std::string& asset : paths.assets)
                EXPECT_NE(drawn.find(asset + ", "), std::string::npos) << plan.trade << " " << asset;
            EXPECT_NE(drawn.find("paths 0 to 9 of seed"), std::string::npos) << plan.trade;
            EXPECT_EQ(drawn.find("nan"), std::string::npos) << plan.trade;
            tests::add_text(made, std::string(name) + " " + plan.trade, drawn);
        }
    }
    tests::expect_as_kept(made, source + "/tests/data/pictures.txt",
                          "# Digests and sizes of pictures of trades. Written by `make bits`.\n");
}

TEST(picture, names_of_a_book_are_harmless) {
    const engine by;
    for (const std::string evil : {"<script>alert(1)</script>", "a & b", "]]>", "\"quoted\"", "it''s"}) {
        const book made =
            book_of("  - {id: '" + evil +
                    "', product: european, underlying: ACME, option: call, strike: 100, maturity: 1.0}\n");
        const trade_plan plan = by.explain(made, *made.market()).front();
        const std::string drawn = picture_of(plan, paths_of(by, made, *made.market(), plan.trade));
        EXPECT_EQ(tests::xml_check::fault(drawn), "") << drawn.substr(0, 400);
        EXPECT_EQ(drawn.find("<script"), std::string::npos);
    }
}

TEST(picture, a_trade_that_is_not_there_or_cannot_be_planned_says_so) {
    const engine by;
    const book made = book_of(
        "  - {id: call, product: european, underlying: ACME, option: call, strike: 100, maturity: 1.0}\n"
        "  - {id: lost, product: european, underlying: ACMEE, option: call, strike: 100, maturity: 1.0}\n");
    const auto said = [&](const std::string& trade) {
        try {
            paths_of(by, made, *made.market(), trade);
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string("nothing");
    };
    EXPECT_NE(said("cal").find("did you mean 'call'"), std::string::npos) << said("cal");
    EXPECT_NE(said("lost").find("ACMEE"), std::string::npos) << said("lost");
}

}  // namespace
}  // namespace tilewalk::picture_test
