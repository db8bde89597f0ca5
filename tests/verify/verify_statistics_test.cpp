// SPDX-License-Identifier: Apache-2.0
// The statistics by which verify judges prices accept samples of their laws, and reject others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "engine/verify/dice.h"
#include "engine/verify/sample.h"
#include "engine/verify/statistics.h"
#include "engine/walk/units.h"

namespace tilewalk::verify::verify_statistics_test {
namespace {

double normal(dice& d) {
    const double u = d.between(0, 1), turn = d.between(0, 2 * std::numbers::pi);
    return std::sqrt(-2 * std::log(1 - u)) * std::cos(turn);
}

std::vector<scored_trade> normals(dice& d, std::size_t count, double mean = 0, double deviation = 1) {
    std::vector<scored_trade> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back({mean + deviation * normal(d), d.coin() ? 1.0 : -1.0});
    return out;
}

std::vector<std::string> missed(const std::vector<statistic>& all) {
    std::vector<std::string> names;
    for (const statistic& s : all) {
        if (!s.holds()) names.push_back(s.name);
        EXPECT_EQ(s.holds(), s.reach() <= 1) << s.name << " " << s.value;
    }
    return names;
}

using names = std::vector<std::string>;

// t of 40,000 means of 200 exponential payoffs with skewness 2, a = 2 / sqrt(200). The mean of t is -a/2 =
// -0.071, its third cumulant -2a = -0.28; their errors are 0.005 and, for a normal t, 0.019. Corrected for
// skewness both are 0 up to order a^2 = 0.02: the mean is tested within 4.5 errors, the cumulant within 4.5
// errors plus that.
TEST(verify_statistics, skew_of_payoffs_is_taken_out) {
    constexpr std::size_t samples = 40000, n = 200;
    dice d(7);
    double plain = 0, plain_cube = 0, corrected = 0, corrected_cube = 0;
    for (std::size_t k = 0; k < samples; ++k) {
        double x[n], mean = 0, m2 = 0, m3 = 0;
        for (double& one : x) mean += (one = -std::log(1 - d.between(0, 1))) / n;
        for (const double one : x) {
            const double off = one - mean;
            m2 += off * off;
            m3 += off * off * off;
        }
        const double t = (mean - 1) / std::sqrt(m2 / (n - 1) / n);
        const double z = without_skew(t, m3 / (m2 * std::sqrt(m2)));
        plain += t / samples;
        plain_cube += t * t * t / samples;
        corrected += z / samples;
        corrected_cube += z * z * z / samples;
    }
    const double a = 2 / std::sqrt(double(n));
    // Third cumulants are computed from third moments as if variances were 1, which they nearly are.
    EXPECT_NEAR(plain, -a / 2, 0.0225 + a * a / 2);
    EXPECT_LT(plain, -0.04);
    EXPECT_LT(plain_cube - 3 * plain, -0.15);
    EXPECT_NEAR(corrected, 0, 0.0225);
    EXPECT_NEAR(corrected_cube - 3 * corrected, 0, 0.086 + a * a);
}

TEST(verify_statistics, a_larger_error_never_looks_smaller) {
    for (const double a : {-0.5, -0.1, -1e-3, 0.0, 1e-3, 0.1, 0.5}) {
        double last = -std::numeric_limits<double>::infinity();
        for (double t = -60; t <= 60; t += 0.25) {
            const double z = without_skew(t, a);
            EXPECT_GE(z, last) << t << " " << a;
            last = z;
        }
    }
    EXPECT_EQ(without_skew(1.5, 0), 1.5);
}

TEST(verify_statistics, quantiles_are_those_of_the_tables) {
    EXPECT_NEAR(normal_bound(0.05), 1.959963984540054, 1e-12);
    EXPECT_NEAR(normal_bound(0.0027), 2.99998, 1e-4);
    EXPECT_NEAR(normal_bound(1e-5), 4.417173413469024, 1e-9);
    const struct {
        std::size_t n;
        double low, high;
    } tables[] = {{1, 0.000982069, 5.023886}, {10, 3.246973, 20.483177}, {100, 74.221927, 129.561197}};
    for (const auto& t : tables) {
        const interval got = mean_square_bounds(t.n, 0.05);
        EXPECT_NEAR(got.low * double(t.n), t.low, 1e-5);
        EXPECT_NEAR(got.high * double(t.n), t.high, 1e-5);
    }
    const interval many = mean_square_bounds(100000, 1e-5);
    EXPECT_NEAR(many.low, 1 - 4.417 * std::sqrt(2e-5), 2e-4);
    EXPECT_NEAR(many.high, 1 + 4.417 * std::sqrt(2e-5), 2e-4);
}

// 4,000 samples of 60 normals, against bounds that one in twenty should miss: 3.4 % to 6.6 % do (4.5 standard
// deviations of that share). Massart's bound is slightly too wide, and may be missed less often.
TEST(verify_statistics, bounds_are_missed_as_often_as_they_say) {
    constexpr std::size_t samples = 4000, n = 60;
    constexpr double chance = 0.05;
    dice d(11);
    double mean_out = 0, square_out = 0, distance_out = 0;
    const interval square_bounds = mean_square_bounds(n, chance);
    for (std::size_t k = 0; k < samples; ++k) {
        double mean = 0, square = 0;
        std::vector<double> z;
        for (std::size_t i = 0; i < n; ++i) {
            z.push_back(normal(d));
            mean += z.back() / n;
            square += z.back() * z.back() / n;
        }
        mean_out += std::abs(mean) > normal_bound(chance) / std::sqrt(double(n));
        square_out += square < square_bounds.low || square > square_bounds.high;
        distance_out += kolmogorov_distance(z) > std::sqrt(std::log(2 / chance) / (2 * n));
    }
    EXPECT_NEAR(mean_out / samples, chance, 0.016);
    EXPECT_NEAR(square_out / samples, chance, 0.016);
    EXPECT_LE(distance_out / samples, chance + 0.016);
    EXPECT_GE(distance_out / samples, 0.02);
}

TEST(verify_statistics, distance_between_distributions) {
    EXPECT_DOUBLE_EQ(kolmogorov_distance({0}), 0.5);
    EXPECT_NEAR(kolmogorov_distance({50, 50}), 1, 1e-12);
    EXPECT_NEAR(kolmogorov_distance({-50, 50}), 0.5, 1e-12);
    EXPECT_NEAR(kolmogorov_distance(
                    {-1.1503493803760079, -0.31863936396437514, 0.31863936396437514, 1.1503493803760079}),
                0.125, 1e-12);
}

TEST(verify_statistics, samples_by_the_rules_hold) {
    for (const std::size_t n : std::vector<std::size_t>{1, 7, 60, 3000}) {
        dice d(3 + n);
        const auto z = normals(d, n);
        EXPECT_EQ(missed(judge_all(z)), names()) << n;
        EXPECT_EQ(missed(judge_row(z, 8)), names()) << n;
    }
}

TEST(verify_statistics, each_statistic_can_fail) {
    dice d(5);
    const auto fails = [](const std::vector<scored_trade>& z, const std::string& name) {
        const auto out = missed(judge_all(z));
        return std::ranges::find(out, name) != out.end();
    };
    auto one_out = normals(d, 1000);
    one_out[500].z = 6.5;
    EXPECT_EQ(missed(judge_all(one_out)), names{"largest |z|"});

    const auto shifted = normals(d, 1000, -0.2);
    EXPECT_TRUE(fails(shifted, "mean z"));
    EXPECT_EQ(missed(judge_row(shifted, 8)), names{"mean z"});

    auto leaning = normals(d, 1000);
    for (scored_trade& t : leaning) t.z += 0.2 * t.lean;
    EXPECT_EQ(missed(judge_all(leaning)), names{"leaning z"});
    EXPECT_EQ(missed(judge_row(leaning, 8)), names{"leaning z"});

    for (const double deviation : {0.85, 1.15}) {
        const auto scaled = normals(d, 2000, 0, deviation);
        EXPECT_EQ(missed(judge_all(scaled)), names{"mean z squared"}) << deviation;
        EXPECT_EQ(missed(judge_row(scaled, 8)), names{"mean z squared"}) << deviation;
    }

    std::vector<scored_trade> two_points;
    for (int i = 0; i < 1000; ++i) two_points.push_back({i % 2 == 0 ? 1.0 : -1.0, i % 4 < 2 ? 1.0 : -1.0});
    EXPECT_EQ(missed(judge_all(two_points)), names{"Kolmogorov-Smirnov"});

    const statistic no_number{"mean z", std::numeric_limits<double>::quiet_NaN(), 0, -1, 1, 1e-5};
    EXPECT_FALSE(no_number.holds());
}

// Lower and upper bounds slightly apart, as a sound engine's: each may be beyond the truth by chance.
TEST(verify_statistics, bounds_of_prices_are_judged_from_one_side) {
    dice d(31);
    std::vector<scored_bounds> sound;
    for (std::size_t i = 0; i < 400; ++i)
        sound.push_back({normal(d) - 0.3, normal(d) - 1, 1, 0.01, 0.03, 0.01, 0.01});
    EXPECT_EQ(missed(judge_all_bounds(sound)), names());
    EXPECT_EQ(missed(judge_row_of_bounds(sound, 8)), names());
    const auto changed = [&](const auto& change) {
        std::vector<scored_bounds> out = sound;
        for (scored_bounds& s : out) change(s);
        return out;
    };
    const auto foresight = changed([](scored_bounds& s) { s.lower_z += 0.8; });
    EXPECT_EQ(missed(judge_all_bounds(foresight)), names{"mean z of lower bounds"});
    EXPECT_EQ(missed(judge_row_of_bounds(foresight, 8)), names{"mean z of lower bounds"});
    const auto no_bound = changed([](scored_bounds& s) { s.upper_z += 1.5; });
    EXPECT_EQ(missed(judge_row_of_bounds(no_bound, 8)), names{"mean z of upper bounds"});
    const auto poor_policy = changed([](scored_bounds& s) { s.given_away += 0.02; });
    EXPECT_EQ(missed(judge_row_of_bounds(poor_policy, 8)), names{"given away"});
    const auto no_martingale = changed([](scored_bounds& s) { s.left_open += 0.1; });
    EXPECT_EQ(missed(judge_row_of_bounds(no_martingale, 8)), names{"left open"});
    std::vector<scored_bounds> one_out = sound;
    one_out[7].upper_z = 6;
    EXPECT_EQ(missed(judge_all_bounds(one_out)), names{"largest z of a bound"});
    one_out[7] = {};
    EXPECT_FALSE(missed(judge_all_bounds(one_out)).empty());
}

TEST(verify_statistics, bounds_are_scored_on_the_side_where_they_are_wrong) {
    const drawn_trade t{0, "", book::parse("trades: []\n"), 10, -1, 10.1, 100};
    priced_trade got{10, 0.5, 0, "", "CPU", 0};
    EXPECT_EQ(score_bounds(t, got, 10).lower_z, farthest_z) << "it has none";
    got.early = early_exercise{9.5, 0.25, 9.5, 0.25, 12, 0.5};
    const scored_bounds between = score_bounds(t, got, 10);
    EXPECT_EQ(between.lower_z, -2);
    EXPECT_EQ(between.upper_z, -4);
    EXPECT_DOUBLE_EQ(between.given_away, 0.005);
    EXPECT_DOUBLE_EQ(between.left_open, 0.02);
    EXPECT_DOUBLE_EQ(between.lower_error, 0.0025);
    EXPECT_DOUBLE_EQ(between.upper_error, 0.005);
    EXPECT_EQ(score_bounds(t, got, 9).lower_z, 2);
    EXPECT_NEAR(score_bounds(t, got, 14).upper_z, 4, 0.01);
    got.early->lower_error = 0;
    EXPECT_EQ(score_bounds(t, got, 9.5).lower_z, 0);
    EXPECT_EQ(score_bounds(t, got, 9).lower_z, farthest_z);
    got.early->upper_bound = no_figure;
    EXPECT_EQ(score_bounds(t, got, 10).lower_z, farthest_z);
    got.failure = "no number";
    EXPECT_EQ(score_bounds(t, got, 10).upper_z, farthest_z);
}

// Tail probabilities of Student's t are computed by quadrature over u, x = t + u / (1 - u).
TEST(verify_statistics, a_number_of_students_law_is_as_likely_as_its_normal_one) {
    const auto tail = [](double t, double degrees) {
        constexpr int points = 20000;
        const double scale = std::exp(std::lgamma(0.5 * (degrees + 1)) - std::lgamma(0.5 * degrees)) /
                             std::sqrt(degrees * std::numbers::pi);
        double sum = 0;
        for (int i = 0; i < points; ++i) {
            const double u = (i + 0.5) / points, x = t + u / (1 - u);
            sum += std::pow(1 + x * x / degrees, -0.5 * (degrees + 1)) / ((1 - u) * (1 - u)) / points;
        }
        return scale * sum;
    };
    for (const auto& [degrees, off] : {std::pair(15.0, 3e-3), std::pair(63.0, 2e-4)}) {
        for (const double t : {0.3, 1.0, 2.0, 3.0, 5.0, 7.0}) {
            const double right = normal_bound(2 * tail(t, degrees));
            EXPECT_NEAR(run::normal_of_student(t, degrees), right, off * right) << t << " " << degrees;
            EXPECT_EQ(run::normal_of_student(-t, degrees), -run::normal_of_student(t, degrees));
            EXPECT_LT(run::normal_of_student(t, degrees), t) << "a few parts say less";
        }
    }
}

// The error of a mean of 16 randomisations, over its estimate, has a mean square of 15/13. As a normal
// quantile it has 1, up to an approximation error of 6e-3. Standard deviations of one square are 1.84 and
// 1.41; 4.5 of these over the root of 40,000 are allowed.
TEST(verify_statistics, prices_from_randomisations_have_the_mean_square_of_normals) {
    constexpr std::size_t samples = 40000, units = 16;
    dice d(41);
    const drawn_trade t{0, "", book::parse("trades: []\n"), 10, -1, 10.1, 100};
    double plain = 0, scored = 0, lower = 0, upper = 0;
    for (std::size_t k = 0; k < samples; ++k) {
        std::vector<kernels::moments> means;
        for (std::size_t u = 0; u < units; ++u) means.push_back({1024, 10 + normal(d), 0, 0, 0});
        const run::estimate of = run::estimate_of_units(means);
        priced_trade got{of.mean, of.standard_error, 0.3, "", "CPU", 0};
        got.degrees_of_freedom = units - 1;
        got.early.emplace();
        got.early->lower_bound = got.early->upper_bound = of.mean;
        got.early->lower_error = got.early->upper_error = of.standard_error;
        const auto square_of = [](double z) { return z * z / samples; };
        plain += square_of((of.mean - 10) / of.standard_error);
        scored += square_of(score(t, got, 10).z);
        lower += square_of(score_bounds(t, got, 10).lower_z);
        upper += square_of(score_bounds(t, got, 10).upper_z);
    }
    EXPECT_NEAR(plain, 15.0 / 13, 4.5 * 1.84 / 200);
    EXPECT_NEAR(scored, 1, 4.5 * 1.42 / 200 + 6e-3);
    EXPECT_NEAR(lower, 1, 4.5 * 1.42 / 200 + 6e-3);
    // The upper bound has an allowance of 1e-4 of the truth, less than 0.01 of its error.
    EXPECT_NEAR(upper, 1, 4.5 * 1.42 / 200 + 1.5e-2);
}

// A sound engine fails in 5 of 100,000 samples.
TEST(verify_statistics, sensitivities_are_judged_by_what_each_can_show) {
    dice d(23);
    const auto drawn = normals(d, 1000);
    std::vector<double> any, small;
    for (const scored_trade& t : normals(d, 9000)) any.push_back(t.z);
    for (const scored_trade& t : normals(d, 500, 0, 0.5)) small.push_back(t.z);
    const auto of = judge_all_sensitivities(drawn, any, small);
    EXPECT_EQ(missed(of), names{});
    ASSERT_EQ(of.size(), 6U);
    // Two mistakes are noticed: a single outlier, and errors beside a bias that are a quarter too large.
    any[4321] = -7;
    EXPECT_EQ(missed(judge_all_sensitivities(drawn, any, small)), names{"largest |z|"});
    for (double& z : small) z *= 2.5;
    EXPECT_EQ(missed(judge_all_sensitivities(drawn, any, small)),
              (names{"largest |z|", "mean z squared beyond bias"}));
    EXPECT_EQ(judge_all_sensitivities({}, any, {}).size(), 1U) << "no mean of nothing";
}

// A trade worth 10, of scale 100, with known derivatives with respect to a spot and a rate.
TEST(verify_statistics, a_sensitivity_is_scored_in_the_unit_that_it_says) {
    using kind = scored_sensitivity::judged_as;
    const drawn_trade t{0,
                        "",
                        book::parse("trades: []\n"),
                        10,
                        -1,
                        10.1,
                        100,
                        {{"A.spot", 0.1, 0.5}, {"USD.rate", 1e-4, -40.0}},
                        0};
    const auto scored = [&](const found_sensitivity& spot, const found_sensitivity& rate,
                            const std::string& failure = "") {
        priced_trade got;
        got.failure = failure;
        got.sensitivities = {spot, rate};
        return score_sensitivities(t, got);
    };
    const found_sensitivity spot{0.51, 0.01, 0, "pathwise", "USD per 1 USD of A", 64, ""};
    const found_sensitivity rate{-0.0041, 0.0001, 0, "pathwise", "USD per 1 bp", 64, ""};
    const auto right = scored(spot, rate);
    EXPECT_EQ(right[0].is, kind::chance);
    EXPECT_NEAR(right[0].z, 1, 0.01);
    EXPECT_EQ(right[0].lean, 1);
    EXPECT_DOUBLE_EQ(right[1].truth, -0.004);
    EXPECT_NEAR(right[1].z, -1, 0.01);
    EXPECT_EQ(right[1].lean, -1);
    found_sensitivity other = rate;
    other.unit = "USD per 1 % of volatility";
    EXPECT_GT(scored(spot, other)[1].z, 25);
    // A stated bias excuses a part of the difference, unless the bias is small beside chance.
    found_sensitivity biased = spot;
    biased.value = 0.54;
    biased.bias = 0.02;
    EXPECT_EQ(scored(biased, rate)[0].is, kind::biased);
    EXPECT_NEAR(scored(biased, rate)[0].z, 2, 0.05);
    biased.bias = 0.05;
    EXPECT_EQ(scored(biased, rate)[0].z, 0);
    biased.bias = 1e-4;
    EXPECT_EQ(scored(biased, rate)[0].is, kind::chance);
    EXPECT_GT(scored(biased, rate)[0].z, 3.5);
    EXPECT_EQ(scored({0.5, 0, 0, "pathwise", "USD per 1 USD of A", 0, ""}, rate)[0].z, 0);
    EXPECT_EQ(scored({0.501, 0, 0, "pathwise", "USD per 1 USD of A", 0, ""}, rate)[0].z, farthest_z);
    EXPECT_EQ(scored({}, rate)[0].z, farthest_z);
    EXPECT_EQ(scored({}, rate)[0].is, kind::exact);
    const double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(scored({0.5, none, 0, "smoothed", "USD per 1 USD of A", 64, ""}, rate)[0].z, farthest_z);
    EXPECT_EQ(scored({none, 0.01, 0, "pathwise", "USD per 1 USD of A", 64, "why"}, rate)[0].z, farthest_z);
    EXPECT_EQ(scored(spot, rate, "not priced")[0].z, farthest_z);
    EXPECT_EQ(score_sensitivities(t, {})[0].z, farthest_z) << "no sensitivities at all";
}

TEST(verify_statistics, what_has_no_error_or_no_price_is_far_out) {
    const drawn_trade t{0, "", book::parse("trades: []\n"), 10, -1, 10.1, 100};
    EXPECT_DOUBLE_EQ(score(t, {10.5, 0.5, 0, "", "", 0}, 10).z, 1);
    EXPECT_EQ(score(t, {10.5, 0.5, 0, "", "", 0}, 10).lean, -1);
    EXPECT_GT(score(t, {10.5, 0.5, 0.1, "", "", 0}, 10).z, 1);
    EXPECT_EQ(score(t, {10, 0, 0, "", "", 0}, 10).z, 0);
    EXPECT_EQ(score(t, {10.01, 0, 0, "", "", 0}, 10).z, farthest_z);
    EXPECT_EQ(score(t, {10, 0.5, 0, "no number", "", 0}, 10).z, farthest_z);
    EXPECT_EQ(score(t, {std::nan(""), 0.5, 0, "", "", 0}, 10).z, farthest_z);
    EXPECT_EQ(score(t, {-1e300, 0.5, 0, "", "", 0}, 10).z, -farthest_z);
}

}  // namespace
}  // namespace tilewalk::verify::verify_statistics_test
