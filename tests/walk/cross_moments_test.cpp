// SPDX-License-Identifier: Apache-2.0
// Cross moments of the outputs of paths, and a control variate whose coefficient comes from them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <vector>

#include "engine/numerics/black.h"
#include "engine/walk/cpu/back_end.h"
#include "engine/walk/units.h"
#include "kernels/tile.h"
#include "tests/regressed_call.h"
#include "tilewalk/error.h"

namespace tilewalk::run::cross_moments_test {
namespace {

using kernels::word64;

// A pilot run gives the control's coefficient. Subtracting the control reduces the error as the pilot's
// correlation predicts, and the price is Black's within 4.5 errors, missed by chance 7 times in a million.
TEST(cross_moments, tell_how_much_of_a_control_to_take_off) {
    const tests::regressed_call call;
    constexpr std::uint64_t paths = 200 * 1024;
    cpu::back_end on(*cpu::runnable_instruction_sets().sets[0], 2, program::precision::double_);
    const tally pilot = call.walked(on, 41, 32 * 1024, 0);
    const tally found = call.walked(on, 42, paths, call.beta_of(pilot));
    const double truth =
        analytics::black_price(analytics::right::call, call.spot, call.strike, call.volatility);
    const kernels::moments price = found.whole().moments;
    EXPECT_EQ(price.count, static_cast<double>(paths));
    EXPECT_NEAR(price.mean, truth, 4.5 * standard_error_of(price));

    const kernels::moments raw = pilot.whole(0).moments, control = pilot.whole(1).moments;
    const double correlation = *pilot.cross(0, 1) / std::sqrt(raw.m2 * control.m2);
    EXPECT_GT(correlation, 0.8);
    // Variances of 32,768 and 204,800 samples with kurtoses of at most 40: 5 standard deviations are 20 %.
    for (const kernels::moments& m : {raw, price}) EXPECT_LT(m.count * m.m4 / (m.m2 * m.m2), 40);
    EXPECT_NEAR(price.m2 / price.count, raw.m2 / raw.count * (1 - correlation * correlation),
                0.2 * price.m2 / price.count);
    // The controlled price has no correlation with the control, but for the pilot's error, a correlation with
    // the standard deviation 0.0055 for normals on 32,768 paths.
    const kernels::moments left = found.whole(1).moments;
    EXPECT_LT(std::fabs(*found.cross(0, 1)) / std::sqrt(price.m2 * left.m2), 0.03);
}

std::vector<kernels::tile_result> tile_of(const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<double> sum(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] = x[i] + y[i];
    const auto moments = [](const std::vector<double>& of) {
        return kernels::tile_result{kernels::tile_moments(of.data(), static_cast<int>(of.size()))};
    };
    return {moments(x), moments(y), moments(sum)};
}

// Compared with sums of products about the exact means in extended precision: for means far larger than the
// variation, different scales, and outputs that hedge each other, too.
TEST(cross_moments, are_those_of_the_paths) {
    struct made {
        double mean_x, scale_x, mean_y, scale_y, correlation, tolerance;
    };
    for (const made& of :
         {made{1, 1, 1, 1, 0.5, 1e-13}, made{1e6, 1, -3e5, 1, -0.7, 1e-9},
          made{100, 30, 1e-3, 1e-4, 0.9, 1e-9}, made{10, 2, 10, 2, -1, 1e-13}, made{0, 1, 0, 1, 0, 1e-13}}) {
        std::mt19937_64 dice(9);
        std::normal_distribution<double> normal;
        constexpr word64 tiles = 5;
        tally all(tiles, 2, 2, {{0, 1}});
        std::vector<double> x, y;
        for (word64 t = 0; t < tiles; ++t) {
            std::vector<double> a(t + 1 == tiles ? 600 : kernels::paths_per_tile), b(a.size());
            for (std::size_t i = 0; i < a.size(); ++i) {
                const double z = normal(dice), w = normal(dice);
                const double other = std::sqrt(1 - of.correlation * of.correlation);
                a[i] = of.mean_x + of.scale_x * z;
                b[i] = of.mean_y + of.scale_y * (of.correlation * z + other * w);
            }
            all.add({t, 1}, tile_of(a, b));
            x.insert(x.end(), a.begin(), a.end());
            y.insert(y.end(), b.begin(), b.end());
        }
        long double mean_x = 0, mean_y = 0, cross = 0;
        for (const double v : x) mean_x += v;
        for (const double v : y) mean_y += v;
        mean_x /= static_cast<long double>(x.size());
        mean_y /= static_cast<long double>(y.size());
        for (std::size_t i = 0; i < x.size(); ++i) cross += (x[i] - mean_x) * (y[i] - mean_y);
        const double size = std::sqrt(all.whole(0).moments.m2 * all.whole(1).moments.m2);
        EXPECT_NEAR(*all.cross(0, 1) / size, static_cast<double>(cross) / size, of.tolerance);
        EXPECT_EQ(*all.cross(0, 1), *all.cross(1, 0));
    }
}

TEST(cross_moments, survive_files_and_merging) {
    tally all(3, 1, 2, {{0, 1}}), rest = all;
    all.add({1, 1}, tile_of({1, 2, 3}, {1, 2, 3}));
    rest.add({2, 1}, tile_of({4, 5, 7}, {2, 2, 3}));
    rest.add({0, 1}, tile_of({0, 2, 3}, {9, 2, 1}));
    std::stringstream file;
    write(file, {&rest, 1});
    const auto back = read_tallies(file, "file");
    ASSERT_TRUE(back.at(0) == rest);
    all.add(back[0]);
    EXPECT_NEAR(*all.cross(0, 1), -15, 1e-12);  // of the nine pairs in all three tiles
    EXPECT_THROW(static_cast<void>(all.cross(0, 0)), error);
    tally without(3, 1, 2);
    EXPECT_THROW(all.add(without), error);
    EXPECT_FALSE(tally(3, 1, 2) == tally(3, 1, 2, {{0, 1}}));
    EXPECT_THROW(tally(3, 1, 2, {{0, 2}}), error);
}

TEST(cross_moments, of_paths_that_gave_no_number_are_none) {
    tally all(1, 1, 2, {{0, 1}});
    std::vector<kernels::tile_result> tile = tile_of({1, 2, 3}, {1, 2, 3});
    tile[1] = {{0, 0, 0, 0, 0}, 1, 2};
    tile[2] = tile[1];
    all.add({0, 1}, tile);
    EXPECT_FALSE(all.cross(0, 1));
}

}  // namespace
}  // namespace tilewalk::run::cross_moments_test
