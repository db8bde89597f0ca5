// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (mistakes that take millions of paths to notice)
// Every mistake of the catalogue, made on purpose, is noticed in a short run; what is no mistake is not.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "engine/verify/judgement.h"
#include "engine/verify/plants.h"
#include "tilewalk/verify.h"

namespace tilewalk {
namespace {

// The engine as it is fails for one seed in 10,000.
TEST(verify_plants_long, every_mistake_is_caught) {
    verify_request asked;
    asked.trades = 3000;
    asked.settings.paths = 5000;
    asked.plant = "all";
    const verification made = verify_prices(asked);
    EXPECT_TRUE(made.holds()) << made.text(output_format::table);
    const verify::outcome& o = made.state();
    EXPECT_TRUE(o.of_engine.holds());
    EXPECT_GE(o.mistakes.size(), 20U);
    std::set<std::string> names;
    for (const auto& m : o.mistakes) {
        EXPECT_TRUE(m.is_caught()) << m.name;
        EXPECT_TRUE(names.insert(m.name).second) << m.name;
        // A mistake shows in prices, not in trades that fail.
        EXPECT_EQ(m.of.failed, 0U) << m.name;
    }
}

// A run of seconds catches most; these are too small for it.
TEST(verify_plants, most_mistakes_are_caught_at_once) {
    const std::set<std::string> small{
        "spot",          "ito",         "rate_ito",        "day_count",    "weak_bridge",
        "mirrored",      "normal_mean", "normal_variance", "normal_tails", "shared_by_paths",
        "merge_weights", "error_small", "error_large",     "foresight"};
    verify_request asked;
    asked.trades = 400;
    asked.settings.paths = 3000;
    asked.plant = "all";
    const verification made = verify_prices(asked);
    const verify::outcome& o = made.state();
    EXPECT_TRUE(o.of_engine.holds()) << made.text(output_format::table);
    std::size_t known = 0;
    for (const auto& m : o.mistakes) {
        known += small.count(m.name);
        EXPECT_TRUE(small.contains(m.name) || m.is_caught()) << m.name;
        EXPECT_EQ(m.of.failed, 0U) << m.name;
    }
    EXPECT_EQ(known, small.size());
    EXPECT_GE(o.mistakes.size(), 37U);
}

// If a mistake has nothing to be wrong about, the prices are those of the engine as it is, to the bit: a
// plant changes what it says and nothing else.
TEST(verify_plants, what_a_mistake_does_not_touch_stays) {
    const auto trades_of = [](const std::string& product) {
        verify_request asked;
        asked.trades = 24;
        asked.products = {product};
        asked.settings.paths = 3000;
        asked.plant = "all";
        return verify_prices(asked);
    };
    const auto changed = [](const verification& made, const std::string& mistake) {
        const verify::outcome& o = made.state();
        for (const auto& m : o.mistakes) {
            if (m.name != mistake) continue;
            std::size_t count = 0;
            for (std::size_t i = 0; i < o.prices.size(); ++i) {
                count += m.prices[i].price != o.prices[i].price ||
                         m.prices[i].standard_error != o.prices[i].standard_error;
            }
            return count;
        }
        throw std::out_of_range(mistake);
    };
    const verification digital = trades_of("digital");
    for (const std::string none : {"correlation_sign", "correlation_ignored", "quanto_sign", "quanto_ignored",
                                   "no_bridge", "weak_bridge", "touch_side", "fixing_late", "fixing_early",
                                   "count", "shared_by_assets", "shared_by_dates", "floor"})
        EXPECT_EQ(changed(digital, none), 0U) << none;
    for (const std::string every : {"discount_curve", "discount_late", "tile_lost", "tile_twice", "lane_lost",
                                    "empty_lanes", "error_small", "error_large"})
        EXPECT_EQ(changed(digital, every), 24U) << every;
    const verification barrier = trades_of("barrier");
    EXPECT_GT(changed(barrier, "no_bridge"), 0U);
    EXPECT_LT(changed(barrier, "no_bridge"), 24U) << "those watched on dates have no bridge";
}

TEST(verify_plants, what_is_no_mistake_is_not_caught) {
    const auto trades = verify::draw_sample({400, 3000, 5, "double", {0, 1, 2}, 2});
    cuda::backend gpus;
    const auto priced = [&](const stages& by) {
        const auto got = verify::price_sample(trades, {"cpu", 2, nullptr, by}, gpus);
        return verify::judge(trades, got, verify::truths_of(trades));
    };
    stages by_hand;
    by_hand.on_cpu = [](const auto&... with) { return std::make_unique<cpu::back_end>(with...); };
    EXPECT_TRUE(priced(by_hand).holds());
    class too_sure : public cpu::back_end {
      public:
        using back_end::back_end;
        run::outcome walk_all(const run::walk& of) override {
            run::outcome out = back_end::walk_all(of);
            for (run::tally& t : out.tallies) {
                kernels::tile_result whole = t.whole();
                whole.moments.m2 *= 0.25;
                const kernels::word64 tiles = t.run_tiles();
                t = run::tally(tiles, std::bit_ceil(tiles));
                t.add({0, tiles}, whole);
            }
            return out;
        }
    };
    stages with_small_errors;
    with_small_errors.on_cpu = [](const auto&... with) { return std::make_unique<too_sure>(with...); };
    EXPECT_FALSE(priced(with_small_errors).holds());
}

}  // namespace
}  // namespace tilewalk
