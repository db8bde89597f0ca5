// SPDX-License-Identifier: Apache-2.0
// Functions of the Brownian bridge against other closed forms, quadrature and simulation on a fine grid.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "products/language/bridge.h"
#include "tests/played_path.h"

namespace tilewalk::language::bridge_test {
namespace {

using program::recorder;
using program::value;

class plain {
  public:
    plain() : into_(&tests::plain_arithmetic) { into_.set_eager(true); }
    value operator()(double x) { return into_.constant(x); }

  private:
    recorder into_;
};

double touch(double at_start, double at_end, double variance) {
    plain n;
    return touch_probability(n(at_start), n(at_end), n(variance)).constant();
}

// The probability that a bridge leaves the channel between 0 and `width`.
double leave(double from, double to, double width, double variance) {
    plain n;
    return exit_probability({n(from), n(to), n(width - from), n(width - to)}, n(variance)).constant();
}

double touched_at(double at_start, double at_end, double variance, double normal, double uniform) {
    plain n;
    return sampled_touch(n(at_start), n(at_end), n(variance), n(normal), n(uniform)).constant();
}

TEST(bridge, touch_probability_at_its_edges) {
    EXPECT_EQ(touch(0, 1, 0.1), 1);
    EXPECT_EQ(touch(1, 0, 0.1), 1);
    EXPECT_EQ(touch(-1, 1, 0.1), 1);
    EXPECT_EQ(touch(1, -1, 0.1), 1);
    EXPECT_EQ(touch(1, 1, 0), 0);
    EXPECT_EQ(touch(0, 0, 0), 1);
    EXPECT_DOUBLE_EQ(touch(0.1, 0.2, 0.04), std::exp(-1));
}

// Probabilities that a bridge from a to b with variance v stays between 0 and d, by both series (images and
// waves) with as many terms as long double can use.
long double survival_by_many_images(long double a, long double b, long double d, long double v) {
    long double sum = 0;
    for (int k = -60; k <= 60; ++k) {
        sum += std::exp(-2 * k * d * (k * d + b - a) / v) - std::exp(-2 * (a + k * d) * (b + k * d) / v);
    }
    return sum;
}
long double survival_by_many_waves(long double a, long double b, long double d, long double v) {
    constexpr auto pi = std::numbers::pi_v<long double>;
    long double sum = 0;
    for (int n = 1; n <= 400; ++n) {
        sum += std::sin(n * pi * a / d) * std::sin(n * pi * b / d) *
               std::exp(-n * n * pi * pi * v / (2 * d * d));
    }
    return 2 / d * sum * std::sqrt(2 * pi * v) * std::exp((b - a) * (b - a) / (2 * v));
}

TEST(bridge, channel_agrees_with_long_series) {
    const double d = 0.7;
    for (const double q : {0.003, 0.02, 0.1, 0.25, 0.2999999, 0.3, 0.3000001, 0.4, 0.6, 1.0, 3.0, 10.0}) {
        for (const double from : {1e-6, 0.01, 0.2, 0.5, 0.9, 0.999}) {
            for (const double to : {1e-6, 0.1, 0.5, 0.7, 0.99}) {
                const double a = from * d, b = to * d, v = q * d * d;
                const long double images = survival_by_many_images(a, b, d, v);
                const long double waves = survival_by_many_waves(a, b, d, v);
                const long double truth = q < 0.2 ? images : waves;
                if (q > 0.05) {
                    ASSERT_NEAR(static_cast<double>(images), static_cast<double>(waves), 1e-15);
                }
                EXPECT_NEAR(1 - leave(a, b, d, v), static_cast<double>(truth), 2e-14)
                    << "from " << from << " to " << to << " of the channel, variance " << q
                    << " of its square";
            }
        }
    }
}

TEST(bridge, channel_at_its_edges) {
    EXPECT_EQ(leave(0, 0.5, 1, 0.1), 1);
    EXPECT_EQ(leave(0.5, 1, 1, 0.1), 1);
    EXPECT_EQ(leave(-0.1, 0.5, 1, 0.1), 1);
    EXPECT_EQ(leave(0.5, 1.1, 1, 0.1), 1);
    EXPECT_EQ(leave(0.5, 0.5, -1, 0.1), 1) << "the upper line below the lower one";
    EXPECT_EQ(leave(0.5, 0.6, 1, 0), 0);
    EXPECT_EQ(leave(0.5, 0.6, 1, 1e-12), 0);
    EXPECT_EQ(leave(0.5, 0.6, 1, 1e6), 1);
    EXPECT_NEAR(leave(0.1, 0.2, 1e6, 0.04), touch(0.1, 0.2, 0.04), 1e-15);
}

// Compares the probabilities for one line and for a channel with 40,000 bridges on 256 points. Moving the
// lines by 0.5826 deviations of a step makes up for the time between points (Broadie, Glasserman and Kou), to
// within 0.002. The bound adds 4.5 standard errors: a false alarm has probability 7e-6 for each number.
TEST(bridge, simulation_on_a_fine_grid_agrees) {
    constexpr int paths = 40000, points = 256;
    const double a = 0.12, b = 0.2, width = 0.35, v = 0.04;
    std::mt19937_64 random(20260115);
    std::normal_distribution<double> normal;
    const double step = v / points, moved = 0.5826 * std::sqrt(step);
    int below = 0, outside = 0;
    for (int p = 0; p < paths; ++p) {
        double x = a, lowest = a, highest = a;
        for (int i = 0; i + 1 < points; ++i) {
            const double left = points - i;
            x += (b - x) / left + std::sqrt(step * (left - 1) / left) * normal(random);
            lowest = std::min(lowest, x);
            highest = std::max(highest, x);
        }
        below += lowest <= moved;
        outside += lowest <= moved || highest >= width - moved;
    }
    const auto bound = [&](double p) { return 0.002 + 4.5 * std::sqrt(p * (1 - p) / paths); };
    const double touched = touch(a, b, v), left = leave(a, b, width, v);
    EXPECT_NEAR(below / static_cast<double>(paths), touched, bound(touched));
    EXPECT_NEAR(outside / static_cast<double>(paths), left, bound(left));
}

// The probability that a bridge goes below its sampled minimum is the uniform number that made the minimum.
TEST(bridge, extremes_invert_the_touch_probability) {
    for (const double start : {-0.1, 0.0, 2.0}) {
        for (const double end : {-0.3, 0.0, 2.1}) {
            for (const double v : {1e-6, 0.04, 9.0}) {
                for (const double u : {1e-12, 0.01, 0.5, 0.99, 1 - 1e-9}) {
                    plain n;
                    const double low = sampled_lowest(n(start), n(end), n(v), n(u)).constant();
                    const double high = sampled_highest(n(start), n(end), n(v), n(u)).constant();
                    const double room = 1e-15 * (std::abs(start) + std::abs(end));
                    EXPECT_LE(low, std::min(start, end) + room);
                    EXPECT_GE(high, std::max(start, end) - room);
                    // The distances are differences of rounded numbers. Their error moves the probability
                    // more, the smaller v is.
                    const double error = 1e-12 + 8e-16 * (1 + std::abs(start - end)) / v * 10;
                    EXPECT_NEAR(touch(start - low, end - low, v), u, error)
                        << start << " " << end << " " << v;
                    EXPECT_NEAR(touch(high - start, high - end, v), u, error)
                        << start << " " << end << " " << v;
                }
            }
        }
    }
}

// The probability that a bridge touches 0 before the fraction t of its time. At t the bridge is at a normally
// distributed point, and a bridge leads there: a quadrature over the point, independent of the sampler.
double touched_by(double t, double at_start, double at_end, double variance) {
    const double mean = at_start + (at_end - at_start) * t, deviation = std::sqrt(variance * t * (1 - t));
    constexpr int intervals = 20000;
    double sum = 0;
    for (int i = 0; i <= intervals; ++i) {
        const double z = -9 + 18.0 * i / intervals, x = mean + deviation * z;
        const double touched = x <= 0 ? 1 : std::exp(-2 * at_start * x / (variance * t));
        sum += (i == 0 || i == intervals ? 0.5 : 1) * touched * std::exp(-0.5 * z * z);
    }
    const double by_then = sum * 18 / intervals / std::sqrt(2 * std::numbers::pi);
    const double at_all = at_end <= 0 ? 1 : std::exp(-2 * at_start * at_end / variance);
    return by_then / at_all;
}

// Draws 20,000 touch times in each of seven cases. The largest difference of sampled and true distribution,
// times the root of 20,000, stays below 2.4. A right sampler exceeds it with probability 2e-5 a case.
TEST(bridge, touch_times_have_their_distribution) {
    struct example {
        double at_start, at_end, variance;
    };
    constexpr int samples = 20000;
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (const example& e : {example{0.1, 0.2, 0.04}, example{0.1, -0.2, 0.04}, example{0.3, 0.02, 0.04},
                             example{0.3, 0.0, 0.04}, example{0.01, 0.3, 0.04}, example{1.0, -0.5, 0.25},
                             example{0.05, -0.01, 4.0}}) {
        std::vector<double> times;
        for (int i = 0; i < samples; ++i) {
            times.push_back(
                touched_at(e.at_start, e.at_end, e.variance, normal(random), 1 - uniform(random)));
        }
        std::sort(times.begin(), times.end());
        EXPECT_GT(times.front(), 0);
        EXPECT_LE(times.back(), 1);
        // Compares at 100 of the sorted samples: between two of them both distributions only increase.
        double farthest = 0;
        for (int i = 0; i < samples; i += samples / 100) {
            const double truth =
                touched_by(times[static_cast<std::size_t>(i)], e.at_start, e.at_end, e.variance);
            farthest = std::max(farthest, std::abs(truth - i / static_cast<double>(samples)));
        }
        EXPECT_LT(farthest * std::sqrt(samples), 2.4) << e.at_start << " " << e.at_end << " " << e.variance;
    }
}

double last_touched_at(double at_start, double at_end, double variance, double first, double normal,
                       double uniform) {
    plain n;
    return sampled_last_touch(n(at_start), n(at_end), n(variance), n(first), n(normal), n(uniform))
        .constant();
}
double share(double at_start, double at_end, double variance);

// The last touch is the first touch of the reversed bridge: 20,000 samples in each case. First and last touch
// are dependent: between them the path is a bridge from the line to the line, which spends half of its time
// on either side. The mean time beyond the line is therefore half of the mean time between the touches. Ten
// comparisons, each with a false alarm of at most 2e-5.
TEST(bridge, last_touches_have_their_distribution_and_belong_to_the_first) {
    struct example {
        double at_start, at_end, variance;
    };
    constexpr int samples = 20000;
    std::mt19937_64 random(8);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (const example& e : {example{0.1, 0.2, 0.04}, example{-0.1, 0.2, 0.04}, example{0.3, 0.02, 0.04},
                             example{0.0, 0.3, 0.04}, example{-0.5, 1.0, 0.25}, example{0.05, 0.01, 4.0}}) {
        std::vector<double> times;
        double between = 0, squares = 0;
        for (int i = 0; i < samples; ++i) {
            const double normal_of_first = normal(random), uniform_of_first = 1 - uniform(random);
            const double first =
                touched_at(e.at_start, e.at_end, e.variance, normal_of_first, uniform_of_first);
            const double normal_of_last = normal(random);
            const double last =
                last_touched_at(e.at_start, e.at_end, e.variance, first, normal_of_last, 1 - uniform(random));
            ASSERT_GE(last, first);
            times.push_back(last);
            between += (last - first) / samples;
            squares += (last - first) * (last - first) / samples;
        }
        std::sort(times.begin(), times.end());
        EXPECT_GE(times.front(), 0);
        EXPECT_LT(times.back(), 1);
        double farthest = 0;
        for (int i = 0; i < samples; i += samples / 100) {
            const double truth =
                1 - touched_by(1 - times[static_cast<std::size_t>(i)], e.at_end, e.at_start, e.variance);
            farthest = std::max(farthest, std::abs(truth - i / static_cast<double>(samples)));
        }
        EXPECT_LT(farthest * std::sqrt(samples), 2.4) << e.at_start << " " << e.at_end << " " << e.variance;
        if (e.at_start <= 0) continue;
        const double error = std::sqrt((squares - between * between) / samples);
        const double likely = touch(e.at_start, e.at_end, e.variance);
        EXPECT_NEAR(0.5 * between * likely, 1 - share(e.at_start, e.at_end, e.variance),
                    4.5 * 0.5 * likely * error)
            << e.at_start << " " << e.at_end << " " << e.variance;
    }
    EXPECT_EQ(last_touched_at(1, 0, 0.04, 0.25, 0.5, 0.5), 1) << "ends on the line";
    EXPECT_EQ(last_touched_at(1, -1, 0.04, 0.25, 0.5, 0.5), 1) << "ends beyond it";
    EXPECT_DOUBLE_EQ(last_touched_at(-1, 3, 0, 0, 0.5, 0.5), 0.25) << "a straight path";
}

TEST(bridge, touch_times_at_their_edges) {
    EXPECT_EQ(touched_at(0, 1, 0.04, 0.5, 0.5), 0);
    EXPECT_EQ(touched_at(-1, 1, 0.04, 0.5, 0.5), 0);
    EXPECT_EQ(touched_at(1, 0, 0.04, 0, 0.5), 1);
    for (const double at_start : {1e-300, 1e-12, 0.1, 50.0}) {
        for (const double at_end : {-50.0, -1e-12, 0.0, 1e-300, 0.1, 50.0}) {
            for (const double v : {0.0, 1e-300, 1e-12, 0.04, 100.0}) {
                for (const double z : {-6.0, 0.0, 1e-9, 6.0}) {
                    for (const double u : {1e-16, 0.5, 1 - 1e-16}) {
                        const double t = touched_at(at_start, at_end, v, z, u);
                        EXPECT_TRUE(t >= 0 && t <= 1)
                            << at_start << " " << at_end << " " << v << " " << z << " " << u << " gave " << t;
                    }
                }
            }
        }
    }
}

// The mean of `at_fraction` over the interval [0, 1], by Simpson's rule with a substitution that removes
// square roots at both ends.
template <class F>
double over_the_interval(const F& at_fraction, int parts) {
    double sum = 0;
    for (int i = 0; i <= parts; ++i) {
        const double z = static_cast<double>(i) / parts;
        const double u = z * z * z * (10 - 15 * z + 6 * z * z), du = 30 * z * z * (1 - z) * (1 - z);
        const double weight = i == 0 || i == parts ? 1 : i % 2 == 1 ? 4 : 2;
        if (du > 0) sum += weight * du * at_fraction(u);
    }
    return sum / (3 * parts);
}

double normal_cdf(double x) {
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double share(double at_start, double at_end, double variance) {
    plain n;
    return share_above(n(at_start), n(at_end), n(variance)).constant();
}

TEST(bridge, share_of_the_time_above_a_line_agrees_with_quadrature) {
    for (const double v : {1e-4, 0.01, 0.3, 2.0}) {
        const double sd = std::sqrt(v);
        for (const double a : {-6.0, -3.49, -1.0, -0.1, 0.0, 0.2, 1.0, 2.6, 4.9, 5.1}) {
            for (const double b : {-5.0, -2.3, -0.4, -1e-6, 0.0, 0.3, 1.4, 3.0}) {
                const double by_quadrature = over_the_interval(
                    [&](double u) { return normal_cdf((a + (b - a) * u) / std::sqrt(u * (1 - u))); }, 1000);
                const double here = share(a * sd, b * sd, v);
                EXPECT_NEAR(here, by_quadrature, 2e-10) << a << ' ' << b << ' ' << v;
                // The shares above and below the line add up to 1, and a reversed bridge has the same share.
                EXPECT_NEAR(here + share(-a * sd, -b * sd, v), 1, 1e-15) << a << ' ' << b << ' ' << v;
                EXPECT_NEAR(here, share(b * sd, a * sd, v), 1e-15) << a << ' ' << b << ' ' << v;
            }
        }
    }
}

double variance_of_share(double at_start, double at_end, double variance) {
    plain n;
    return variance_of_share_above(n(at_start), n(at_end), n(variance)).constant();
}

// By quadrature: the mean square of the share of time above is twice the mean, over moments at which the path
// is above, of the time above after the moment. From each such moment on the path is a bridge again.
TEST(bridge, variance_of_the_time_above_a_line_agrees_with_quadrature) {
    for (const auto& [a, b] :
         {std::pair{0.0, 0.0}, {0.4, 0.2}, {-0.4, -0.9}, {0.7, -0.3}, {-1.5, 1.0}, {1.3, 0.0}}) {
        const double square = over_the_interval(
            [&](double u) {
                const double mean = a + (b - a) * u, sd = std::sqrt(u * (1 - u));
                const double below = normal_cdf(-mean / sd), reach = 8;
                if (below > 1 - 1e-14) return 0.0;
                const double low = std::max(-mean / sd, -reach);
                double sum = 0;
                constexpr int parts = 200;
                for (int i = 0; i <= parts; ++i) {
                    const double z = low + (reach - low) * i / parts;
                    const double weight = i == 0 || i == parts ? 1 : i % 2 == 1 ? 4 : 2;
                    sum += weight * std::exp(-0.5 * z * z) * share(mean + sd * z, b, 1 - u);
                }
                return 2 * (1 - u) * sum * (reach - low) / (3 * parts) / std::sqrt(2 * std::numbers::pi);
            },
            200);
        const double mean = share(a, b, 1);
        for (const double v : {1.0, 0.01}) {
            const double sd = std::sqrt(v), here = variance_of_share(a * sd, b * sd, v);
            EXPECT_NEAR(here, square - mean * mean, 1e-6) << a << ' ' << b;
            EXPECT_NEAR(variance_of_share(-a * sd, -b * sd, v), here, 1e-15) << a << ' ' << b;
            EXPECT_NEAR(variance_of_share(b * sd, a * sd, v), here, 1e-15) << a << ' ' << b;
        }
    }
    EXPECT_NEAR(variance_of_share(0, 0, 0.04), 1.0 / 12, 1e-15) << "uniform";
    EXPECT_NEAR(variance_of_share(0, 0, 0), 1.0 / 12, 1e-15);
    for (const double far : {-700.0, -3.0, 3.0, 1e15}) {
        EXPECT_NEAR(variance_of_share(far, far, 1e-2), 0, 1e-12);
        EXPECT_NEAR(variance_of_share(far, -far, 1e-8), 0, 1e-9);
        EXPECT_GE(variance_of_share(far, -far, 1e-2), 0);
    }
    const double x = 3.5 * std::numbers::sqrt2;
    EXPECT_NEAR(variance_of_share(0, x * (1 - 1e-13), 1), variance_of_share(0, x * (1 + 1e-13), 1), 1e-9);
}

TEST(bridge, share_of_the_time_above_a_line_at_its_edges) {
    EXPECT_EQ(share(0, 0, 0.04), 0.5);
    EXPECT_EQ(share(0, 0, 0), 0.5);
    EXPECT_DOUBLE_EQ(share(1, -3, 0), 0.25);
    EXPECT_EQ(share(1, 2, 0), 1);
    EXPECT_EQ(share(-1, -2, 0), 0);
    EXPECT_EQ(share(-700, -700, 1e-5), 0);
    EXPECT_EQ(share(1e15, 1e15, 0.01), 1);
    // For a small variance v, a bridge from the line to the distance 1 is above for 1 - v / 2 (1 - 3 v).
    EXPECT_NEAR(share(0, 1, 1e-4), 1 - 0.5e-4 * (1 - 3e-4), 1e-11);
    // The formulas of the remainder below and above x = 3.5 agree there to within their error bounds.
    const double x = 3.5 * std::numbers::sqrt2;
    EXPECT_NEAR(share(0, x * (1 - 1e-13), 1), share(0, x * (1 + 1e-13), 1), 1.5e-12);
}

// Sampled shares of the time above a line have the right mean, and are uniform for a bridge from the line to
// the line. Six comparisons at 4.5 standard errors and one of a distribution: one false alarm in 15,000.
TEST(bridge, drawn_shares_of_the_time_above_a_line) {
    constexpr int samples = 40000;
    std::mt19937_64 random(9);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    const auto draw = [&](double at_start, double at_end, double variance) {
        plain n;
        const double first = normal(random), last = normal(random);
        const double touch_by = 1 - uniform(random), first_by = 1 - uniform(random),
                     between = 1 - uniform(random);
        return sampled_share_above(n(at_start), n(at_end), n(variance),
                                   {n(touch_by), n(first), n(first_by), n(last), n(between)})
            .constant();
    };
    struct example {
        double at_start, at_end, variance;
    };
    for (const example& e : {example{0.1, 0.2, 0.04}, example{-0.1, 0.2, 0.04}, example{0.3, -0.02, 0.04},
                             example{-0.1, -0.05, 0.04}, example{0.0, 0.3, 0.04}, example{0.05, 0.01, 4.0}}) {
        double mean = 0, squares = 0;
        for (int i = 0; i < samples; ++i) {
            const double x = draw(e.at_start, e.at_end, e.variance);
            ASSERT_TRUE(x >= 0 && x <= 1) << x;
            mean += x / samples;
            squares += x * x / samples;
        }
        EXPECT_NEAR(mean, share(e.at_start, e.at_end, e.variance),
                    4.5 * std::sqrt((squares - mean * mean) / samples))
            << e.at_start << " " << e.at_end << " " << e.variance;
    }
    std::vector<double> shares;
    for (int i = 0; i < samples; ++i) shares.push_back(draw(1e-9, -1e-9, 0.04));
    std::sort(shares.begin(), shares.end());
    double farthest = 0;
    for (int i = 0; i < samples; ++i)
        farthest = std::max(farthest, std::abs(shares[static_cast<std::size_t>(i)] - (i + 0.5) / samples));
    EXPECT_LT(farthest * std::sqrt(samples), 2.4);
    for (const auto& [from, to, above] : {std::array{-1.0, 3.0, 0.75},
                                          {3.0, -1.0, 0.75},
                                          {1.0, 2.0, 1.0},
                                          {-1.0, -2.0, 0.0},
                                          {0.0, 1.0, 1.0}})
        EXPECT_DOUBLE_EQ(draw(from, to, 0), above) << from << " " << to;
}

TEST(bridge, mean_of_a_lognormal_bridge_agrees_with_quadrature) {
    struct bound {
        double move, variance, relative;
    };
    for (const bound c : {bound{0.3, 0.3, 1e-12},
                          {-0.3, 0.3, 1e-12},
                          {0.3, 1e-6, 1e-12},
                          {0, 0, 1e-13},
                          {1, 1, 4e-8},
                          {-1, 1, 4e-8},
                          {1, 0, 1e-11}}) {
        plain n;
        const double mean =
            mean_between(n(4.6), n(4.6 + c.move), n(c.variance), [](double, value m, value v) {
                return exp(m + 0.5 * v);
            }).constant();
        const double truth = over_the_interval(
            [&](double u) { return std::exp(4.6 + c.move * u + 0.5 * c.variance * u * (1 - u)); }, 4000);
        EXPECT_NEAR(mean / truth, 1, c.relative) << c.move << ' ' << c.variance;
    }
}

// By quadrature: the variance is the covariance of the exponentials at two moments, integrated over both.
TEST(bridge, variance_of_the_mean_of_a_lognormal_bridge_agrees_with_quadrature) {
    for (const double move : {0.0, 0.01, -0.3, 0.3, 0.6}) {
        for (const double v : {1e-4, 0.01, 0.1, 0.3}) {
            plain n;
            const auto mean = [&](double u) { return std::exp(1.5 + move * u + 0.5 * v * u * (1 - u)); };
            const double truth = over_the_interval(
                [&](double late) {
                    return 2 * late * mean(late) *
                           over_the_interval(
                               [&](double part) {
                                   return mean(part * late) * std::expm1(part * late * (1 - late) * v);
                               },
                               200);
                },
                200);
            const double got = variance_of_mean_exponential(n(1.5), n(1.5 + move), n(v)).constant();
            const double terms = v + move * move;
            EXPECT_NEAR(got / truth, 1, 0.1 * terms * terms + 2e-5) << move << ' ' << v;
        }
    }
    plain n;
    EXPECT_EQ(variance_of_mean_exponential(n(1), n(2), n(0)).constant(), 0);
    EXPECT_DOUBLE_EQ(variance_of_mean(n(0.6)).constant(), 0.05);
}

}  // namespace
}  // namespace tilewalk::language::bridge_test
