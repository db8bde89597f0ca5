// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (mistakes that take millions of paths to notice)
// A short run of `verify` notices every planted mistake of the catalogue, and accepts the sound engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/verify/judgement.h"
#include "engine/verify/plants.h"
#include "tilewalk/verify.h"

namespace tilewalk::verify_plants_test {
namespace {

// The sound engine fails for one seed in 10,000.
TEST(verify_plants_long, every_mistake_is_caught) {
    verify_request asked;
    asked.trades = 3000;
    asked.settings.paths = 5000;
    asked.plant = "all";
    const verification made = verify_prices(asked);
    EXPECT_TRUE(made.holds()) << made.text(output_format::table);
    const verify::outcome& o = state_of(made);
    EXPECT_TRUE(o.of_engine.holds());
    EXPECT_GE(o.mistakes.size(), 20U);
    std::set<std::string> names;
    for (const auto& m : o.mistakes) {
        EXPECT_TRUE(m.is_caught()) << m.name;
        EXPECT_TRUE(names.insert(m.name).second) << m.name;
        EXPECT_EQ(m.of.failed, 0U) << m.name;
    }
}

verify_request of_points(std::uint64_t trades, const std::string& plant,
                         const std::vector<std::string>& products = {}) {
    verify_request asked;
    asked.trades = trades;
    asked.products = products;
    asked.plant = plant;
    asked.settings.random = "sobol";
    asked.settings.construction = construction::bridge;
    return asked;
}

// The sound engine fails for one seed in 10,000, in four samples. Trades are cheap, as some mistakes need
// many.
TEST(verify_plants_long, every_mistake_of_points_is_caught) {
    const std::set<std::string> small{"error_small", "error_large", "scrambles_shared"};
    const verification made = verify_prices(of_points(800, "all"));
    const verify::outcome& o = state_of(made);
    EXPECT_TRUE(o.of_engine.holds()) << made.text(output_format::table);
    EXPECT_EQ(o.mistakes.size(),
              static_cast<std::size_t>(std::ranges::count_if(verify::plants(), [](const verify::plant& p) {
                  return !p.is_of_sensitivities() && p.can_be_made(true);
              })));
    for (const auto& m : o.mistakes) {
        EXPECT_TRUE(small.contains(m.name) || m.is_caught()) << m.name;
        EXPECT_EQ(m.of.failed, 0U) << m.name;
    }
    for (const char* error : {"error_small", "error_large"}) {
        // Means over randomisations are nearly normal for these products. A digital states a larger error,
        // for one path more or less, and a European option is too skewed for so few randomisations.
        const verification by =
            verify_prices(of_points(6000, error, {"cliquet", "range_accrual", "variance_swap"}));
        EXPECT_TRUE(by.holds()) << by.text(output_format::table);
    }
    const verification by = verify_prices(
        of_points(1200, "scrambles_shared", {"asian", "cliquet", "range_accrual", "variance_swap"}));
    EXPECT_TRUE(by.holds()) << by.text(output_format::table);
}

// The sound engine fails for one seed in 10,000, in three samples.
TEST(verify_plants, mistakes_of_points_are_caught_at_once) {
    for (const char* mistake : {"points_independent", "randomisations_repeated", "bridge_deviation"}) {
        const verification made = verify_prices(of_points(150, mistake, {"asian", "cliquet", "european"}));
        EXPECT_TRUE(made.holds()) << made.text(output_format::table);
        EXPECT_EQ(state_of(made).mistakes.at(0).of.failed, 0U) << mistake;
    }
}

TEST(verify_plants, what_has_nothing_to_be_wrong_about_is_left_out) {
    const auto names = [](const verification& made) {
        std::set<std::string> out;
        for (const auto& m : state_of(made).mistakes) out.insert(m.name);
        return out;
    };
    const std::set<std::string> of_points_alone{"points_independent", "randomisations_repeated",
                                                "scrambles_shared", "bridge_deviation"};
    for (const char* random : {"philox", "sobol"}) {
        verify_request asked = of_points(4, "all", {"zero_coupon_bond"});
        asked.settings.random = random;
        asked.settings.paths = 2000;
        const verification made = verify_prices(asked);
        const bool is_philox = asked.settings.random == "philox";
        for (const std::string& name : of_points_alone)
            EXPECT_NE(names(made).contains(name), is_philox) << random << " " << name;
        EXPECT_EQ(names(made).contains("mirrored"), is_philox);
        const std::string text = made.text(output_format::table);
        EXPECT_NE(text.find(is_philox ? "; with --random sobol also points_independent, "
                                      : "; without --random sobol also shared_by_paths, mirrored, "),
                  std::string::npos)
            << text;
        asked.plant = is_philox ? "bridge_deviation" : "mirrored";
        try {
            verify_prices(asked);
            ADD_FAILURE() << "nothing was refused";
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::usage);
            EXPECT_NE(e.message().find("--random sobol"), std::string::npos) << e.message();
        }
    }
}

// A run of seconds catches most mistakes; the ones listed here are too small for it.
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
    const verify::outcome& o = state_of(made);
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
        const verify::outcome& o = state_of(made);
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
}  // namespace tilewalk::verify_plants_test
