// SPDX-License-Identifier: Apache-2.0
// Sums within a tile and across tiles: the same bits for every grouping of lanes, exact for constants, and as
// accurate as a sum in long double.
#include "kernels/moments.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

namespace moments_test {
namespace {

namespace kernels = tilewalk::kernels;

const std::vector<int> sizes = {1, 2, 31, 32, 33, 255, 256, 257, 511, 1023, 1024, 1025, 2048, 5000, 7169};

bool same_bits(const kernels::moments& a, const kernels::moments& b) {
    return std::bit_cast<std::array<std::uint64_t, 5>>(a) == std::bit_cast<std::array<std::uint64_t, 5>>(b);
}

// The payoffs, followed by NaN up to a whole number of tiles: sums must not read these.
std::vector<double> padded(const std::vector<double>& payoffs) {
    std::vector<double> x = payoffs;
    const auto tiles = kernels::tiles_of(payoffs.size());
    x.resize(tiles * kernels::paths_per_tile, std::numeric_limits<double>::quiet_NaN());
    return x;
}

kernels::moments moments_of(const std::vector<double>& payoffs) {
    const auto x = padded(payoffs);
    const auto tiles = kernels::tiles_of(payoffs.size());
    std::vector<kernels::moments> parts;
    for (std::uint64_t tile = 0; tile < tiles; ++tile) {
        parts.push_back(kernels::tile_moments(x.data() + tile * kernels::paths_per_tile,
                                              kernels::paths_in_tile(payoffs.size(), tile)));
    }
    return kernels::merge_tiles(parts.data(), parts.size());
}

// A tile's sum as a block makes it whose threads hold `group` neighbouring lanes each: each thread sums its
// own lanes first, then the tree sums over threads.
template <typename lane_value>
double grouped_sum(int group, lane_value value) {
    const int threads = kernels::lanes_per_tile / group;
    std::vector<double> of_thread;
    for (int thread = 0; thread < threads; ++thread) {
        std::vector<double> own;
        for (int i = 0; i < group; ++i) own.push_back(value(thread * group + i));
        kernels::sum_neighbours(own.data(), group);
        of_thread.push_back(own[0]);
    }
    kernels::sum_neighbours(of_thread.data(), threads);
    return of_thread[0];
}

kernels::moments grouped_moments(const double* x, int paths, int group) {
    const double guess =
        grouped_sum(group, [&](int lane) { return kernels::lane_sum(x + lane, lane, paths); }) / paths;
    const double correction =
        grouped_sum(group, [&](int lane) { return kernels::lane_deviation(x + lane, lane, paths, guess); }) /
        paths;
    const double mean = guess + correction;
    const auto power = [&](double kernels::central_sums::*member) {
        return grouped_sum(
            group, [&](int lane) { return kernels::lane_central_sums(x + lane, lane, paths, mean).*member; });
    };
    return {static_cast<double>(paths), mean, power(&kernels::central_sums::m2),
            power(&kernels::central_sums::m3), power(&kernels::central_sums::m4)};
}

std::vector<double> payoffs(int count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> heavy(2.0, 1.5);
    std::vector<double> x;
    for (int i = 0; i < count; ++i) x.push_back(random() % 3 == 0 ? 0.0 : heavy(random) - 5.0);
    return x;
}

}  // namespace

TEST(moments_tile, paths_and_tiles) {
    EXPECT_EQ(kernels::paths_per_tile, 1024);
    EXPECT_EQ(kernels::path_of(0, 0, 0), 0u);
    EXPECT_EQ(kernels::path_of(0, 1, 0), 256u);
    EXPECT_EQ(kernels::path_of(2, 3, 255), 3071u);
    EXPECT_EQ(kernels::tiles_of(0), 0u);
    EXPECT_EQ(kernels::tiles_of(1), 1u);
    EXPECT_EQ(kernels::tiles_of(1024), 1u);
    EXPECT_EQ(kernels::tiles_of(1025), 2u);
    EXPECT_EQ(kernels::paths_in_tile(1025, 0), 1024);
    EXPECT_EQ(kernels::paths_in_tile(1025, 1), 1);
    EXPECT_EQ(kernels::paths_in_tile(2048, 1), 1024);
}

TEST(moments, same_bits_in_every_grouping_of_lanes) {
    for (const int size : sizes) {
        if (size > kernels::paths_per_tile) continue;
        const auto x = padded(payoffs(size, 100 + static_cast<std::uint64_t>(size)));
        const auto expected = kernels::tile_moments(x.data(), size);
        for (const int group : {1, 2, 4, 8}) {
            const auto got = grouped_moments(x.data(), size, group);
            EXPECT_TRUE(same_bits(got, expected))
                << size << " paths, " << group << " lanes a thread: mean " << got.mean << " and "
                << expected.mean << ", m4 " << got.m4 << " and " << expected.m4;
        }
    }
}

TEST(moments, another_order_gives_other_bits) {
    // Shows that the test above can fail: plain summation gives other bits than the tree.
    const auto x = padded(payoffs(1024, 5));
    double plain = 0;
    for (const double v : x) plain += v;
    EXPECT_NE(plain / 1024, grouped_sum(1, [&](int lane) {
                                return kernels::lane_sum(x.data() + lane, lane, 1024);
                            }) / 1024);
}

TEST(moments, agree_with_long_double) {
    for (const int size : sizes) {
        const auto x = payoffs(size, 200 + static_cast<std::uint64_t>(size));
        long double sum = 0;
        for (const double v : x) sum += v;
        const long double mean = sum / size;
        long double m2 = 0, m3 = 0, m4 = 0, absolute3 = 0;
        for (const double v : x) {
            const long double d = v - mean;
            m2 += d * d;
            m3 += d * d * d;
            m4 += d * d * d * d;
            absolute3 += std::abs(d * d * d);
        }
        const auto got = moments_of(x);
        EXPECT_EQ(got.count, size);
        const auto close = [&](double a, long double b, long double scale, const char* what) {
            EXPECT_LE(std::abs(a - b), 1e-14L * scale + 1e-300L)
                << what << " of " << size << " paths: " << a << ", expected " << b;
        };
        const long double scale = std::abs(mean) + std::sqrt(m2 / size);
        close(got.mean, mean, scale, "mean");
        close(got.m2, m2, m2, "m2");
        close(got.m3, m3, absolute3, "m3");
        close(got.m4, m4, m4, "m4");
    }
}

TEST(moments, constants_are_exact) {
    const std::vector<double> constants = {0.0,
                                           1.0,
                                           0.1,
                                           -1.0 / 3,
                                           7.3e-5,
                                           1e300,
                                           -1e-300,
                                           99.99999999999999,
                                           0x1.fffffffffffffp0,
                                           0x1.5555555555555p10,
                                           std::numeric_limits<double>::denorm_min(),
                                           0x1.8p-1070,
                                           3.0,
                                           1e16 + 2};
    for (const double c : constants) {
        for (const int size : sizes) {
            const auto got = moments_of(std::vector<double>(static_cast<std::size_t>(size), c));
            EXPECT_EQ(got.count, size);
            EXPECT_EQ(got.mean, c) << size << " paths";
            EXPECT_EQ(got.m2, 0.0) << size << " paths of " << c;
            EXPECT_EQ(got.m3, 0.0) << size << " paths of " << c;
            EXPECT_EQ(got.m4, 0.0) << size << " paths of " << c;
        }
    }
    std::mt19937_64 random(3);
    for (int i = 0; i < 2000; ++i) {
        const double c =
            std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 60) - 80);
        const int size = 1 + static_cast<int>(random() % 1024);
        const auto got = moments_of(std::vector<double>(static_cast<std::size_t>(size), c));
        ASSERT_EQ(got.mean, c) << size;
        ASSERT_EQ(got.m2, 0.0) << size << " paths of " << c;
    }
}

TEST(moments, merge_follows_the_pairwise_formulas) {
    const auto x = payoffs(700, 9);
    const auto y = payoffs(300, 10);
    std::vector<double> both = x;
    both.insert(both.end(), y.begin(), y.end());
    const auto merged = kernels::merge(moments_of(x), moments_of(y));
    const auto expected = moments_of(both);
    EXPECT_EQ(merged.count, 1000);
    EXPECT_NEAR(merged.mean, expected.mean, 1e-13 * std::abs(expected.mean));
    EXPECT_NEAR(merged.m2, expected.m2, 1e-12 * expected.m2);
    EXPECT_NEAR(merged.m3, expected.m3, 1e-12 * std::abs(expected.m3));
    EXPECT_NEAR(merged.m4, expected.m4, 1e-12 * expected.m4);
}

TEST(moments, an_empty_set_changes_nothing) {
    const auto x = moments_of(payoffs(100, 11));
    const kernels::moments empty{0, 0, 0, 0, 0};
    EXPECT_TRUE(same_bits(kernels::merge(x, empty), x));
    EXPECT_TRUE(same_bits(kernels::merge(empty, x), x));
    EXPECT_TRUE(same_bits(kernels::merge_tiles(nullptr, 0), empty));
}

TEST(moments, the_tree_of_tiles_takes_neighbours_first_and_carries_an_odd_last_one_up) {
    std::vector<kernels::moments> tiles;
    for (int i = 0; i < 7; ++i) tiles.push_back(moments_of(payoffs(1000 + i, static_cast<std::uint64_t>(i))));
    const auto m = tiles;
    const auto merge = [](const kernels::moments& a, const kernels::moments& b) {
        return kernels::merge(a, b);
    };
    const auto expected = merge(merge(merge(m[0], m[1]), merge(m[2], m[3])), merge(merge(m[4], m[5]), m[6]));
    EXPECT_TRUE(same_bits(kernels::merge_tiles(tiles.data(), 7), expected));
    tiles = m;
    EXPECT_TRUE(same_bits(kernels::merge_tiles(tiles.data(), 5),
                          merge(merge(merge(m[0], m[1]), merge(m[2], m[3])), m[4])));
    tiles = m;
    EXPECT_TRUE(same_bits(kernels::merge_tiles(tiles.data(), 1), m[0]));
    tiles = m;
    EXPECT_TRUE(same_bits(kernels::merge_tiles(tiles.data(), 3), merge(merge(m[0], m[1]), m[2])));
}

}  // namespace moments_test
