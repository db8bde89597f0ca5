// SPDX-License-Identifier: Apache-2.0
// Figures from samples of times: medians and quantiles against hand calculations, the coverage of the noise
// interval, and the rule when to stop sampling.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "bench/measure/timing.h"
#include "tests/made_run.h"

namespace tilewalk::bench::bench_statistics_test {
namespace {

TEST(bench_statistics, median_and_quantiles_are_those_of_the_order) {
    const summary odd = summarise({5, 1, 4, 2, 3});
    EXPECT_EQ(odd.samples, 5U);
    EXPECT_EQ(odd.median, 3);
    EXPECT_EQ(odd.p10, 1);
    EXPECT_EQ(odd.p90, 5);
    const summary even = summarise({4, 1, 3, 2});
    EXPECT_EQ(even.median, 2.5);
    const summary one = summarise({7});
    EXPECT_EQ(one.samples, 1U);
    EXPECT_EQ(one.median, 7);
    EXPECT_EQ(one.p10, 7);
    EXPECT_EQ(one.p90, 7);
    std::vector<double> hundred(100);
    for (int i = 0; i < 100; ++i) hundred[static_cast<std::size_t>(i)] = 99 - i;
    EXPECT_EQ(summarise(hundred).p10, 10);
    EXPECT_EQ(summarise(hundred).p90, 89);
}

TEST(bench_statistics, quantiles_of_the_mirrored_samples_are_mirrored) {
    for (int n = 1; n <= 60; ++n) {
        std::vector<double> samples, mirrored;
        for (int i = 0; i < n; ++i) {
            samples.push_back(i * i + 1.0);
            mirrored.push_back(10000.0 - samples.back());
        }
        const summary s = summarise(samples), m = summarise(mirrored);
        EXPECT_EQ(s.p10, 10000 - m.p90) << n << " samples";
        EXPECT_EQ(s.p90, 10000 - m.p10) << n << " samples";
        EXPECT_EQ(s.median, 10000 - m.median) << n << " samples";
    }
}

// Expected ranks are from published tables of the 95 % confidence interval of a median.
TEST(bench_statistics, noise_is_half_the_interval_of_the_tables) {
    struct known {
        int samples, low, high;  // ranks from 1
    };
    for (const known& k : {known{6, 1, 6}, known{8, 1, 8}, known{9, 2, 8}, known{11, 2, 10}, known{20, 6, 15},
                           known{50, 18, 33}, known{100, 40, 61}}) {
        std::vector<double> samples;
        for (int i = 1; i <= k.samples; ++i) samples.push_back(1000 + std::sqrt(i));
        const summary s = summarise(samples);
        EXPECT_NEAR(s.noise, 0.5 * (std::sqrt(k.high) - std::sqrt(k.low)) / s.median, 1e-12) << k.samples;
    }
    EXPECT_EQ(summarise({1, 1, 1, 1, 1}).noise, 1) << "five samples hold no interval of 95 %";
    EXPECT_EQ(summarise({1, 1, 1, 1, 1, 1}).noise, 0);
}

// From 1075 samples on, 2^-n underflows in double, and the normal law takes over.
TEST(bench_statistics, noise_of_very_many_samples_is_that_of_the_normal_law) {
    for (const int n : {900, 1100, 20000}) {
        std::vector<double> samples;
        for (int i = 0; i < n; ++i) samples.push_back(1 + (i + 0.5) / n);
        const double expected = 1.96 * 0.5 / std::sqrt(n) / 1.5;
        EXPECT_NEAR(summarise(samples).noise, expected, 0.05 * expected) << n << " samples";
    }
}

// Samples are from a skewed law with some late ones; its median is found from 400,001 samples.
constexpr double law_noise = 0.02;
double true_median() {
    tests::made_samples made(99, law_noise);
    std::vector<double> many(400001);
    for (double& x : many) x = made(1);
    return summarise(many).median;
}

// Coverage of at least 95 %: of 4000 intervals at most 6.4 % may miss the median, which is 5 % plus four
// standard deviations of the count. At a true 5 % that holds with probability 0.99997.
TEST(bench_statistics, noise_interval_misses_the_median_in_one_of_twenty_at_most) {
    const double truth = true_median();
    tests::made_samples made(7, law_noise);
    for (const int n : {6, 7, 8, 11, 15, 23, 50, 101, 201}) {
        constexpr int trials = 4000;
        int missed = 0;
        for (int t = 0; t < trials; ++t) {
            std::vector<double> samples(static_cast<std::size_t>(n));
            for (double& x : samples) x = made(1);
            const summary s = summarise(samples);
            missed += std::abs(s.median - truth) > s.noise * s.median;
        }
        EXPECT_LE(missed, 0.064 * trials) << n << " samples";
        EXPECT_GE(missed, 0.0005 * trials) << n << " samples: so wide an interval says nothing";
    }
}

// Stopping at the first narrow interval costs coverage; bench/measure/baseline.h allows a tenth of the
// intervals to miss.
TEST(bench_statistics, stopping_at_a_narrow_interval_misses_in_one_of_ten_at_most) {
    const double truth = true_median();
    for (const double noise : {0.005, 0.01, 0.02, 0.04}) {
        tests::made_samples made(8, noise);
        const double scaled = 1 + (truth - 1) * noise / law_noise;
        constexpr int trials = 2000;
        int missed = 0;
        for (int t = 0; t < trials; ++t) {
            const summary s = made.measured(1);
            missed += std::abs(s.median - scaled) > s.noise * s.median;
        }
        EXPECT_LE(missed, 0.1 * trials) << "samples that vary by " << noise;
    }
}

struct script {
    std::vector<std::optional<double>> samples;
    double step = 0;
    std::size_t taken = 0, looks = 0;

    std::optional<measurement> run(const stop_rule& until) {
        return measure([&] { return samples[taken++ % samples.size()]; }, until,
                       [&] { return step * static_cast<double>(looks++); });
    }
};

TEST(bench_statistics, measuring_stops_by_noise_at_the_fewest) {
    script s{{1.0}};
    const auto got = s.run({0.01, 11, 201, 0.5});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->why_stopped, "noise");
    EXPECT_EQ(got->of.samples, 11U);
    EXPECT_EQ(s.taken, 11U);
    EXPECT_EQ(got->dropped, 0U);
    EXPECT_EQ(s.run({0, 1, 201, 0.5})->of.samples, 6U) << "as few as hold an interval, which is of one point";
}

TEST(bench_statistics, measuring_goes_on_while_it_is_noisy) {
    script s{{1.0, 2.0}};
    const auto got = s.run({0.01, 11, 201, 0.5});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->why_stopped, "count");
    EXPECT_EQ(got->of.samples, 201U);
    EXPECT_GT(got->of.noise, 0.01);
}

TEST(bench_statistics, measuring_stops_by_time_and_not_before_the_fewest) {
    script noisy{{1.0, 2.0}, 0.1};
    const auto got = noisy.run({0.01, 11, 201, 0.5});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->why_stopped, "time");
    EXPECT_EQ(got->of.samples, 16U) << "the first look after the eleventh sample, then one each";
    script slow{{1.0, 2.0}, 100};
    EXPECT_EQ(slow.run({0.01, 11, 201, 0.5})->of.samples, 11U);
}

TEST(bench_statistics, throttled_samples_do_not_count) {
    script s{{std::nullopt, 3.0, std::nullopt, 3.0}};
    const auto got = s.run({0.01, 11, 201, 0.5});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->of.samples, 11U);
    EXPECT_EQ(got->of.median, 3.0);
    EXPECT_EQ(got->dropped, 11U);
    EXPECT_EQ(got->why_stopped, "noise");
}

TEST(bench_statistics, a_clock_that_is_throttled_throughout_gives_nothing) {
    script s{{std::nullopt}};
    EXPECT_FALSE(s.run({0.01, 11, 201, 0.5}));
    EXPECT_EQ(s.taken, 201U);
    script none{{std::nullopt, 2.0}};
    EXPECT_EQ(none.run({0.01, 0, 201, 0.5})->of.median, 2.0);
}

TEST(bench_statistics, a_clock_that_becomes_throttled_keeps_what_it_has) {
    std::vector<std::optional<double>> samples(300);
    samples[0] = 1.0;
    samples[1] = 2.0;
    samples[2] = 3.0;
    script s{samples};
    const auto got = s.run({0.01, 11, 201, 0.5});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->why_stopped, "throttled");
    EXPECT_EQ(got->of.median, 2.0);
    EXPECT_EQ(got->of.noise, 1) << "three samples hold no interval";
    EXPECT_EQ(got->dropped, 201U);
}

}  // namespace
}  // namespace tilewalk::bench::bench_statistics_test
