// SPDX-License-Identifier: Apache-2.0
// Tallies merge to the bits of one fixed tree, in any order, from any pieces of a run, and through files.
// Totals over trades have errors by the parts that trades share.
#include "engine/walk/tally.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <sstream>
#include <vector>

#include "engine/numerics/black.h"
#include "engine/plan/trade_program.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/units.h"
#include "kernels/moments.h"
#include "tests/plain_paths.h"
#include "tilewalk/book.h"
#include "tilewalk/compare.h"
#include "tilewalk/engine.h"
#include "tilewalk/error.h"
#include "tilewalk/write.h"

namespace tilewalk::run::tally_test {
namespace {

using kernels::tile_result;
using kernels::word64;

std::vector<tile_result> some_tiles(word64 count, unsigned seed) {
    std::mt19937_64 dice(seed);
    std::normal_distribution<double> normal(100, 30);
    std::vector<tile_result> out;
    for (word64 t = 0; t < count; ++t) {
        std::vector<double> x(t + 1 == count ? 700 : kernels::paths_per_tile);
        for (double& one : x) one = std::max(normal(dice), 0.0);
        out.push_back({kernels::tile_moments(x.data(), static_cast<int>(x.size()))});
    }
    return out;
}

tally tally_of(const std::vector<tile_result>& tiles, const tile_range& range, word64 part_tiles) {
    tally out(tiles.size(), part_tiles);
    std::vector<tile_range> pieces;
    cut({0, tiles.size()}, range, 1, pieces);
    for (const tile_range& r : pieces) out.add(r, tiles[r.first]);
    return out;
}

tile_result by_the_tree(const std::vector<tile_result>& tiles) {
    std::vector<kernels::moments> m;
    for (const tile_result& t : tiles) m.push_back(t.moments);
    return {kernels::merge_tiles(m.data(), m.size())};
}

std::vector<std::uint64_t> bits(const tile_result& r) {
    const kernels::moments& m = r.moments;
    std::vector<std::uint64_t> out{r.not_finite, r.first_not_finite};
    for (const double x : {m.count, m.mean, m.m2, m.m3, m.m4}) out.push_back(std::bit_cast<std::uint64_t>(x));
    return out;
}

const std::vector<word64> sizes{1, 2, 3, 5, 7, 8, 31, 64, 65, 100, 127, 513};

// A device merges tiles in groups of a part. Ranges are cut so that each group is a subtree of the run.
TEST(tally_tile_ranges, of_parts_and_rests_are_merged_as_the_tree_does) {
    for (const word64 run_tiles : {1U, 5U, 16U, 61U, 64U}) {
        for (const word64 part : {1U, 4U, 8U}) {
            for (word64 first = 0; first < run_tiles; ++first) {
                for (word64 end = first + 1; end <= run_tiles; ++end) {
                    const tile_range asked{first, end - first};
                    word64 next = first;
                    for (const tile_range& r : parts_and_rests(asked, run_tiles, part)) {
                        EXPECT_EQ(r.first, next);
                        next = r.end();
                        for (word64 at = r.first; at < r.end(); at += part) {
                            const tile_range merged{at, std::min(part, r.end() - at)};
                            EXPECT_TRUE(merged.is_subtree_of(run_tiles))
                                << "tiles " << at << " to " << merged.end() << " of " << first << " to "
                                << end << ", a run of " << run_tiles << " in parts of " << part;
                            EXPECT_EQ(at / part, (merged.end() - 1) / part);
                        }
                    }
                    EXPECT_EQ(next, end);
                }
            }
        }
    }
}

TEST(tally, any_pieces_in_any_order_give_the_bits_of_the_tree) {
    std::mt19937 dice(11);
    for (const word64 tiles : sizes) {
        const auto all = some_tiles(tiles, static_cast<unsigned>(tiles));
        const auto expected = bits(by_the_tree(all));
        for (const word64 part : {part_tiles_of(tiles), std::bit_ceil(tiles), word64{1}}) {
            for (int turn = 0; turn < 4; ++turn) {
                std::vector<word64> ends{0, tiles};
                for (int i = 0; i < turn * 2; ++i) ends.push_back(dice() % tiles);
                std::ranges::sort(ends);
                std::vector<tally> pieces;
                for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
                    if (ends[i] == ends[i + 1]) continue;
                    pieces.push_back(tally_of(all, {ends[i], ends[i + 1] - ends[i]}, part));
                }
                std::ranges::shuffle(pieces, dice);
                tally merged(tiles, part);
                for (const tally& p : pieces) {
                    EXPECT_FALSE(merged.is_complete());
                    merged.add(p);
                }
                ASSERT_TRUE(merged.is_complete());
                EXPECT_EQ(bits(merged.whole()), expected) << tiles << " tiles, parts of " << part;
                EXPECT_EQ(merged.known().size(), (tiles + part - 1) / part);
                EXPECT_TRUE(merged == tally_of(all, {0, tiles}, part));
            }
        }
    }
}

// Two shares may have walked the same tiles, and may hold them in different subtrees.
TEST(tally, that_learns_from_others_knows_all_that_any_of_them_does) {
    std::mt19937 dice(5);
    for (const word64 tiles : sizes) {
        const auto all = some_tiles(tiles, static_cast<unsigned>(tiles));
        for (const word64 part : {part_tiles_of(tiles), std::bit_ceil(tiles)}) {
            for (int turn = 0; turn < 12; ++turn) {
                const auto some = [&] {
                    const word64 a = dice() % tiles, b = dice() % tiles;
                    return tally_of(all, {std::min(a, b), std::max(a, b) - std::min(a, b) + 1}, part);
                };
                const word64 first = dice() % tiles;
                std::vector<tally> shares{tally_of(all, {0, first + 1}, part),
                                          tally_of(all, {first, tiles - first}, part)};
                for (int i = 0; i < turn % 4; ++i) shares.push_back(some());
                std::ranges::shuffle(shares, dice);
                tally merged(tiles, part);
                for (const tally& s : shares) merged.add_unknown(s);
                ASSERT_TRUE(merged == tally_of(all, {0, tiles}, part))
                    << tiles << " tiles, parts of " << part;
                merged.add_unknown(some());
                EXPECT_TRUE(merged == tally_of(all, {0, tiles}, part));
            }
        }
    }
}

TEST(tally, derivatives_are_the_sums_of_their_tiles) {
    std::mt19937_64 dice(7);
    for (const word64 tiles : sizes) {
        const auto all = some_tiles(tiles, 5);
        const word64 part = part_tiles_of(tiles);
        std::vector<std::vector<double>> of_tile(tiles, std::vector<double>(3));
        for (auto& d : of_tile)
            for (double& x : d) x = std::normal_distribution<double>()(dice);
        std::vector<tile_range> order;
        cut({0, tiles}, {0, tiles}, 1, order);
        const auto sums = [&] {
            std::ranges::shuffle(order, dice);
            tally out(tiles, part, 1, {}, 3);
            for (const tile_range& r : order) out.add(r, {&all[r.first], 1}, of_tile[r.first]);
            return out;
        };
        const tally first = sums();
        EXPECT_TRUE(first == sums());
        const auto parts = first.derivatives_of_parts();
        ASSERT_EQ(parts.size(), (tiles + part - 1) / part);
        for (std::size_t p = 0; p < parts.size(); ++p) {
            ASSERT_EQ(parts[p].size(), 3u);
            for (std::size_t d = 0; d < 3; ++d) {
                double sum = 0;
                for (word64 t = p * part; t < std::min((p + 1) * part, tiles); ++t) sum += of_tile[t][d];
                EXPECT_NEAR(parts[p][d], sum, 1e-12 * static_cast<double>(part)) << tiles;
            }
        }
        std::stringstream file;
        write(file, {&first, 1});
        EXPECT_TRUE(read_tallies(file, "file").at(0) == first);
    }
    tally without(4, 4, 1, {}, 2);
    EXPECT_THROW(without.add({0, 1}, some_tiles(1, 1)[0]), error);
}

TEST(tally, parts_are_equal_and_few) {
    for (word64 tiles = 1; tiles < 3000; ++tiles) {
        const word64 part = part_tiles_of(tiles), parts = (tiles + part - 1) / part;
        EXPECT_LE(parts, most_parts);
        if (tiles > most_parts)
            EXPECT_GT(parts, most_parts / 2) << tiles;
        else
            EXPECT_EQ(part, 1u);
    }
}

TEST(tally, keeps_its_bits_over_a_file) {
    std::vector<tally> all;
    for (const word64 tiles : sizes)
        all.push_back(tally_of(some_tiles(tiles, 3), {tiles / 3, tiles - tiles / 3}, part_tiles_of(tiles)));
    tally two(4, 2, 2);
    const std::vector<tile_result> found{{{1024, -0.0, 1e-310, 5, 6}, 0, ~word64{0}},
                                         {{0, 0, 0, 0, 0}, 3, 77}};
    two.add({2, 1}, found);
    all.push_back(two);
    std::stringstream file;
    write(file, all);
    const auto back = read_tallies(file, "file");
    ASSERT_EQ(back.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(back[i] == all[i]) << i;

    const std::string whole = file.str();
    std::size_t refused = 0, tried = 0;
    const auto is_refused = [&](const std::string& text) {
        std::istringstream in(text);
        try {
            read_tallies(in, "bad.tally");
            return false;
        } catch (const error& e) {
            return e.kind() == error_kind::input && e.where().file == "bad.tally";
        }
    };
    for (std::size_t at = 0; at < whole.size(); at += 37) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 4);
        for (const std::string& text : {whole.substr(0, at), changed}) refused += is_refused(text) ? 1u : 0u;
        tried += 2;
    }
    EXPECT_EQ(refused, tried);
    EXPECT_TRUE(is_refused(whole + "x"));
}

TEST(tally, refuses_what_is_there_already_or_of_another_run) {
    const auto all = some_tiles(9, 1);
    tally t = tally_of(all, {2, 5}, 4);
    const auto refuses = [](const auto& what) { EXPECT_THROW(what(), error); };
    refuses([&] { t.add({4, 2}, all[4]); });  // has this tile
    refuses([&] { t.add({1, 2}, all[1]); });  // not a subtree
    refuses([&] { t.add({8, 2}, all[8]); });  // past the run's end
    refuses([&] { t.add({0, 8}, all[0]); });  // larger than a part
    refuses([&] { t.add(tally_of(all, {6, 2}, 4)); });
    refuses([&] { t.add(tally_of(all, {7, 2}, 8)); });
    refuses([&] { t.add(tally_of(some_tiles(10, 1), {8, 2}, 4)); });
    refuses([&] { (void)t.whole(); });
    refuses([&] { (void)t.parts(); });
}

TEST(tally, ranges_walked_alone_merge_to_the_run) {
    const book trades = book::parse(
        "market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {A: {currency: USD, spot: 100, "
        "volatility: 0.2}}}\ntrades:\n  - {id: a, product: asian, underlying: A, strike: 100, "
        "averaging_dates: {start: 0, end: 1, count: 4}}\n");
    const auto planned = plan::plan_trade(state_of(trades).trades.at(0), state_of(*trades.market()));
    const cpu::lane_program lanes = cpu::compile(planned.code);
    const auto& operations = *cpu::runnable_instruction_sets().sets[0];
    const auto walked = [&](std::uint64_t paths, tile_range range) {
        cpu::path_job job{&lanes, &planned.data, &planned.when, 42, paths};
        job.range = range;
        return cpu::walk_all({&job, 1}, operations, 2, nullptr, {}).at(0);
    };
    for (const std::uint64_t paths : {5 * 1024ull + 3, 200 * 1024ull, 131 * 1024ull + 1}) {
        const word64 tiles = kernels::tiles_of(paths);
        const tally all = walked(paths, {});
        for (const word64 at : {word64{1}, tiles / 3, tiles - 1}) {
            tally back = walked(paths, {at, tiles - at});
            EXPECT_FALSE(back.is_complete());
            back.add(walked(paths, {0, at}));
            EXPECT_TRUE(back == all) << paths << " paths, cut at tile " << at;
            EXPECT_EQ(bits(back.whole()), bits(all.whole()));
        }
        EXPECT_THROW(walked(paths, {tiles, 1}), error);
    }
}

const std::string market_text =
    "market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {A: {currency: USD, spot: 100, "
    "volatility: 0.2}, B: {currency: USD, spot: 100, volatility: 0.3}}, correlations: [[A, B, "
    "0]]}\ntrades:\n";

std::string option(const std::string& id, const std::string& asset, const std::string& right,
                   double quantity) {
    return "  - {id: " + id + ", product: european, underlying: " + asset + ", option: " + right +
           ", strike: 100, maturity: 1, quantity: " + std::to_string(quantity) + "}\n";
}

currency_total total_of(const std::string& trades, std::uint64_t paths, std::uint64_t seed) {
    run_options options = tests::plain_paths();
    options.overrides.paths = paths;
    options.overrides.seed = seed;
    options.overrides.device = "cpu";
    options.overrides.threads = 2;
    options.overrides.random = "philox";
    return engine().price(book::parse(market_text + trades), options).totals().at(0);
}

double black(double volatility, analytics::right right) {
    const double discount = std::exp(-0.03);
    return discount * analytics::black_price(right, 100 / discount, 100, volatility);
}

// Totals of hedged, independent and equal positions: 95 % intervals hold the truth in 95 of 100 runs, and
// stated errors are as large as the spread over runs. An interval may miss in 8 to 56 of 600 runs, which a
// right one exceeds four times in a million (binomial, 5 %).
TEST(tally_totals, intervals_cover) {
    const double call_a = black(0.2, analytics::right::call), put_a = black(0.2, analytics::right::put);
    const double call_b = black(0.3, analytics::right::call);
    struct position {
        std::string name, trades;
        double truth;
    };
    const std::vector<position> positions{
        {"a call less a put less half a call",
         option("c", "A", "call", 1000) + option("p", "A", "put", -1000) + option("h", "A", "call", -500),
         500 * call_a - 1000 * put_a},
        {"calls on two assets with nothing in common",
         option("a", "A", "call", 1) + option("b", "B", "call", 1), call_a + call_b},
        {"the same call twice", option("a", "A", "call", 1) + option("b", "A", "call", 1), 2 * call_a}};
    for (const position& p : positions) {
        SCOPED_TRACE(p.name);
        constexpr int runs = 600;
        int missed = 0;
        double sum = 0, squares = 0, told = 0, at_most = 0;
        for (int run = 0; run < runs; ++run) {
            const currency_total t = total_of(p.trades, 16 * 1024, 1000 + static_cast<std::uint64_t>(run));
            ASSERT_TRUE(is_figure(t.error));
            missed += p.truth < t.low || t.high < p.truth;
            sum += t.value - p.truth;
            squares += (t.value - p.truth) * (t.value - p.truth);
            told += t.error * t.error / runs;
            at_most += t.error_at_most / runs;
            EXPECT_LE(t.error, t.error_at_most);
        }
        EXPECT_GE(missed, 8);
        EXPECT_LE(missed, 56);
        // Both variances have at least 600 degrees of freedom; capping errors at their plain sum takes up to
        // a tenth.
        EXPECT_NEAR(told / (squares / runs), 1, 0.3);
        EXPECT_NEAR(sum / runs, 0, 5 * std::sqrt(squares / runs / runs));
        EXPECT_GE(at_most * 1.02, std::sqrt(squares / runs));
    }
}

// Parts of 2, 2 and 1 paths with the means 1, 4 and 7 weigh 0.4, 0.4 and 0.2, so that the mean is 3.4. The
// variance of the mean is the sum of squares of 0.96, 0.24 and 0.72 over 1 - 0.36.
TEST(tally_totals, last_part_counts_for_its_paths) {
    const std::vector<double> means{1, 4, 7};
    EXPECT_NEAR(error_of_parts(means, 2, 5), std::sqrt((0.96 * 0.96 + 0.24 * 0.24 + 0.72 * 0.72) / 0.64),
                1e-14);
    EXPECT_NEAR(error_of_parts(means, 2, 6), std::sqrt(18.0 / 2 / 3), 1e-14);
}

TEST(tally_totals, say_at_most_below_sixteen_parts) {
    const std::string trades = option("c", "A", "call", 10) + option("p", "A", "put", -10);
    const currency_total few = total_of(trades, 15 * 1024, 1), enough = total_of(trades, 15 * 1024 + 1, 1);
    EXPECT_FALSE(is_figure(few.error) || is_figure(few.low) || is_figure(few.high));
    EXPECT_TRUE(is_figure(few.error_at_most));
    EXPECT_TRUE(is_figure(enough.error) && is_figure(enough.low) && is_figure(enough.high));
    // For the small remainder of a hedge, ends of the interval are by Student's t with 15 degrees of freedom.
    const currency_total hedged =
        total_of(option("c", "A", "call", 10) + option("d", "A", "call", -9.9), 16 * 1024, 1);
    EXPECT_NEAR((hedged.high - hedged.value) / hedged.error, 2.13145, 1e-4);
    EXPECT_NEAR((hedged.value - hedged.low) / hedged.error, 2.13145, 1e-4);
    // The error of a single trade's total is that of its paths.
    const currency_total one = total_of(option("c", "A", "call", 10), 2048, 1);
    EXPECT_EQ(one.error, one.error_at_most);
    EXPECT_NEAR(one.high - one.value, 1.959963984540054 * one.error, 1e-12 * one.value);
}

TEST(tally_totals, parts_of_a_trade_are_its_own) {
    run_options options;
    options.overrides.paths = 100 * 1024 + 5;
    options.overrides.device = "cpu";
    options.overrides.random = "philox";
    const std::string trade = option("c", "A", "call", 1);
    const results alone = engine().price(book::parse(market_text + trade), options);
    const results among =
        engine().price(book::parse(market_text + option("b", "B", "put", 1) + trade), options);
    ASSERT_EQ(alone.rows.at(0).part_means.size(), 51u);
    EXPECT_EQ(alone.manifest.part_paths, 2048u);
    EXPECT_EQ(alone.rows.at(0).part_means, among.rows.at(1).part_means);
    double sum = 0;
    for (std::size_t p = 0; p < 50; ++p) sum += alone.rows[0].part_means[p] * 2048;
    sum += alone.rows[0].part_means[50] * 5;
    EXPECT_NEAR(sum / (100 * 1024 + 5), alone.rows[0].price, 1e-12);

    std::ostringstream with, without;
    write(with, alone, output_format::json, {.parts = true});
    write(without, alone, output_format::json);
    const results back = read_results(with.str(), "with");
    EXPECT_EQ(back.rows.at(0).part_means, alone.rows[0].part_means);
    EXPECT_EQ(back.manifest.part_paths, 2048u);
    EXPECT_EQ(without.str().find("part_"), std::string::npos);
    EXPECT_TRUE(read_results(without.str(), "without").rows.at(0).part_means.empty());
}

TEST(tally_totals, differences_of_one_seed_have_their_own_error) {
    run_options options = tests::plain_paths();
    options.overrides.paths = 64 * 1024;
    options.overrides.device = "cpu";
    std::vector<double> differences;
    double told = 0;
    constexpr int runs = 200;
    for (int run = 0; run < runs; ++run) {
        options.overrides.seed = static_cast<std::uint64_t>(run + 1);
        const auto priced = [&](const char* volatility) {
            std::string text = market_text + option("c", "A", "call", 1);
            text.replace(text.find("0.2}"), 3, volatility);
            return engine().price(book::parse(text), options);
        };
        const comparison c = compare(priced("0.20"), priced("0.21"));
        ASSERT_TRUE(c.rows.at(0).error_of_parts);
        differences.push_back(c.rows[0].difference);
        told += c.rows[0].error * c.rows[0].error / runs;
    }
    const double truth = black(0.21, analytics::right::call) - black(0.2, analytics::right::call);
    double squares = 0;
    for (const double d : differences) squares += (d - truth) * (d - truth) / runs;
    // With 200 degrees of freedom the ratio is beyond 0.6 to 1.6 once in a million times.
    EXPECT_GT(told / squares, 0.6);
    EXPECT_LT(told / squares, 1.6);
}

}  // namespace
}  // namespace tilewalk::run::tally_test
