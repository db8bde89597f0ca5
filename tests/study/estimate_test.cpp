// SPDX-License-Identifier: Apache-2.0
// Sums, differences and multiples of estimates: values, and errors that allow for common noise.
#include "engine/study/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "engine/study/rounds/sum_of_rounds.h"

namespace tilewalk::estimate_test {
namespace {

using studies::estimate;
using studies::run_parts;

const run_parts run(100, 1600);

estimate certain(double value) {
    estimate out;
    out.value = value;
    return out;
}

std::vector<double> waves(double height, std::size_t parts = 16) {
    std::vector<double> out;
    for (std::size_t p = 0; p < parts; ++p)
        out.push_back(height * std::cos(1.0 + 2.3 * static_cast<double>(p)));
    return out;
}

double error_of_mean(const std::vector<double>& means) {
    const auto n = static_cast<double>(means.size());
    double mean = 0, squares = 0;
    for (const double m : means) mean += m / n;
    for (const double m : means) squares += (m - mean) * (m - mean);
    return std::sqrt(squares / (n * (n - 1)));
}

price_row priced(double price, double error, std::vector<double> means) {
    price_row row;
    row.price = price;
    row.standard_error = error;
    row.part_means = std::move(means);
    return row;
}

TEST(estimate, has_the_mean_and_the_error_of_its_parts) {
    const estimate e(waves(2), run);
    double sum = 0;
    for (const double m : waves(2)) sum += m;
    EXPECT_NEAR(e.value, sum / 16, 1e-15);
    EXPECT_NEAR(e.error(), error_of_mean(waves(2)), 1e-15);
}

TEST(estimate, of_parts_counts_each_by_its_paths) {
    std::vector<double> means(16, 1.0);
    means.back() = 5;
    // The last part has 20 of the run's 1,520 paths.
    EXPECT_NEAR(estimate(means, run_parts(100, 1520)).value, (1500 * 1.0 + 20 * 5.0) / 1520, 1e-15);
}

TEST(estimate, less_itself_is_known_exactly) {
    const estimate e(priced(3, 0.1, waves(0.4)), run);
    const estimate none = e - e;
    EXPECT_EQ(none.value, 0);
    EXPECT_EQ(none.error(), 0);
}

TEST(estimate, sums_and_multiples_are_those_of_each_part) {
    const estimate a(waves(2), run), b(waves(-3), run);
    estimate sum = 2 * a + b;
    sum *= -1;
    sum /= 4;
    EXPECT_NEAR(sum.value, -(2 * a.value + b.value) / 4, 1e-15);
    EXPECT_NEAR(sum.error(), error_of_mean(waves((2 * 2 - 3) / 4.0)), 1e-15);
    EXPECT_LT((a + b).error(), a.error());  // the noises of a and b cancel
    EXPECT_GT((a - b).error(), b.error());
}

TEST(estimate, with_a_certain_term_has_it_in_each_part) {
    const estimate random(waves(2), run);
    for (const estimate& sum : {certain(7) + random, random + certain(7)}) {
        EXPECT_NEAR(sum.value, 7 + random.value, 1e-15);
        EXPECT_NEAR(sum.mean_of_parts(), sum.value, 1e-14);
        EXPECT_NEAR(sum.error(), random.error(), 1e-15);
    }
    EXPECT_EQ((certain(7) - certain(3)).error(), 0);
    EXPECT_EQ((certain(7) - certain(3)).value, 4);
}

TEST(estimate, keeps_an_error_that_parts_do_not_show) {
    const std::vector<double> flat(16, 3.0);
    const estimate a(priced(3, 0.03, flat), run), b(priced(3, 0.04, flat), run);
    EXPECT_NEAR(a.error(), 0.03, 1e-15);
    EXPECT_NEAR((a - b).error(), 0.05, 1e-15);
    EXPECT_NEAR((-2 * a).error(), 0.06, 1e-15);
    // A stated error near that of the parts is replaced by the error of the parts.
    const double shown = error_of_mean(waves(2));
    EXPECT_NEAR(estimate(priced(3, 1.5 * shown, waves(2)), run).error(), shown, 1e-15);
}

TEST(estimate, of_a_trade_that_can_be_ended_early_is_that_of_its_policy) {
    price_row row = priced(5, 0.5, waves(9));
    row.early.emplace();
    row.early->policy_value = 4;
    row.early->policy_error = 0.2;
    row.early->part_means = waves(1);
    const estimate e(row, run);
    EXPECT_EQ(e.value, 4);
    EXPECT_EQ(e.means, waves(1));
}

TEST(estimate, of_few_parts_shows_no_error) {
    EXPECT_FALSE(is_figure(estimate(waves(1, 15), run_parts(100, 1500)).error()));
    EXPECT_TRUE(is_figure(estimate(waves(1, 8), run_parts(100, 800, 8)).error()));
}

TEST(estimate, divided_and_multiplied_has_all_of_its_error_so) {
    estimate e(waves(1), run), twice = e;
    e.beside = twice.beside = 0.5;
    twice *= -2;
    EXPECT_DOUBLE_EQ(twice.error(), 2 * e.error());
    twice /= -2;
    EXPECT_DOUBLE_EQ(twice.error(), e.error());
    EXPECT_EQ(twice.value, e.value);
}

// Runs of 1,600 and of 6,400 paths share the first 1,600, a quarter of the longer run.
TEST(estimate, of_rounds_that_share_paths_errs_by_what_they_share) {
    const std::vector<double> of_one = waves(1), of_other = waves(0.5);
    studies::sum_of_rounds alike(run);
    alike.add(estimate(of_one, run), 1, 1600, false);
    alike.add(estimate(of_other, run), 1, 6400, false);
    const double one = error_of_mean(of_one), other = error_of_mean(of_other);
    // On shared paths the two are perfectly correlated: the covariance there is the product of the errors.
    EXPECT_NEAR(alike.error(), std::sqrt(one * one + other * other / 4 + 2 * one * other / 4), 1e-14);
    studies::sum_of_rounds against(run);
    against.add(estimate(of_one, run), 1, 1600, false);
    against.add(estimate(of_other, run), -1, 6400, false);
    EXPECT_NEAR(against.error(), std::sqrt(one * one + other * other / 4 - 2 * one * other / 4), 1e-14);
    EXPECT_FALSE(alike.is_of_one_round());
}

TEST(estimate, of_runs_with_other_parts_has_no_error) {
    const estimate sixteen(waves(1), run), twenty(waves(1, 20), run_parts(100, 2000));
    EXPECT_FALSE(is_figure((sixteen + twenty).error()));
    EXPECT_EQ((sixteen + twenty).value, sixteen.value + twenty.value);
}

TEST(estimate, of_a_sensitivity_with_an_error_and_no_parts_has_an_unknown_one) {
    greek_row row;
    row.value = 2;
    row.standard_error = 0.1;
    EXPECT_FALSE(is_figure(estimate(row, run).error()));
    row.standard_error = 0;
    EXPECT_EQ(estimate(row, run).error(), 0);
}

}  // namespace
}  // namespace tilewalk::estimate_test
