// SPDX-License-Identifier: Apache-2.0
// Sobol points, their scrambling, and the order in which a trade uses dimensions: by their definitions, and
// against a scrambling that draws each random digit by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "engine/numerics/jacobi.h"
#include "engine/numerics/quasi/directions.h"
#include "engine/numerics/quasi/order.h"
#include "kernels/bridge.h"
#include "kernels/sobol.h"
#include "tests/quasi_orders.h"
#include "tilewalk/error.h"

namespace tilewalk::sobol_test {
namespace {

using kernels::reversed;
using kernels::word32;
using tests::order_of;
using tests::trade_of;
using tests::uneven_times;

// Lines of the file new-joe-kuo-6.21201: dimension, degree, the inner coefficients of the polynomial, and m.
struct published_line {
    std::uint32_t dimension;
    int degree;
    word32 inner;
    std::vector<word32> m;
};
const std::vector<published_line>& published() {
    static const std::vector<published_line> lines{
        {2, 1, 0, {1}},
        {3, 2, 1, {1, 3}},
        {4, 3, 1, {1, 3, 1}},
        {5, 3, 2, {1, 1, 1}},
        {6, 4, 1, {1, 1, 3, 3}},
        {7, 4, 4, {1, 3, 5, 13}},
        {8, 5, 2, {1, 1, 5, 5, 17}},
        {21201,
         18,
         131059,
         {1, 1, 7, 11, 15, 7, 37, 239, 337, 245, 1557, 3681, 7357, 9639, 27367, 26869, 114603, 86317}},
    };
    return lines;
}

TEST(sobol, has_the_directions_that_are_published) {
    for (int bit = 0; bit < 32; ++bit) EXPECT_EQ(reversed(quasi::directions_of(0)[bit]), 0x80000000u >> bit);
    for (const published_line& line : published()) {
        std::vector<word32> v;
        const int s = line.degree;
        for (int i = 0; i < 32; ++i) {
            if (i < s) {
                v.push_back(line.m[static_cast<std::size_t>(i)] << (31 - i));
                continue;
            }
            const auto back = [&](int k) { return v[static_cast<std::size_t>(i - k)]; };
            word32 x = back(s) ^ back(s) >> s;
            for (int k = 1; k < s; ++k)
                if ((line.inner >> (s - 1 - k) & 1) != 0) x ^= back(k);
            v.push_back(x);
        }
        for (int bit = 0; bit < 32; ++bit) {
            EXPECT_EQ(reversed(quasi::directions_of(line.dimension - 1)[bit]),
                      v[static_cast<std::size_t>(bit)])
                << line.dimension << " " << bit;
        }
    }
    EXPECT_EQ(quasi::directions(quasi::most_dimensions).size(), std::size_t{quasi::most_dimensions} * 32);
    EXPECT_THROW(quasi::directions(quasi::most_dimensions + 1), error);
}

word32 digits(std::uint32_t dimension, word32 index, const kernels::scramble& by) {
    return kernels::digits_of(kernels::point_of(quasi::directions_of(dimension), index), by, float{});
}

TEST(sobol, every_dimension_has_one_point_in_each_part_of_the_line) {
    constexpr int bits = 10;
    for (std::uint32_t d = 0; d < quasi::most_dimensions; d += d < 64 ? 1 : 331) {
        const kernels::scramble by = kernels::scramble_of(5, 3, d, {});
        std::set<word32> parts;
        for (word32 i = 0; i < 1 << bits; ++i) parts.insert(digits(d, i, by) >> (32 - bits));
        EXPECT_EQ(parts.size(), std::size_t{1} << bits) << d;
    }
}

TEST(sobol, the_first_two_dimensions_have_one_point_in_each_box) {
    constexpr int bits = 10;
    const kernels::scramble x = kernels::scramble_of(5, 3, 0, {}), y = kernels::scramble_of(5, 3, 1, {});
    for (int across = 0; across <= bits; ++across) {
        std::set<std::pair<word32, word32>> boxes;
        for (word32 i = 0; i < 1 << bits; ++i)
            boxes.emplace(across == 0 ? 0 : digits(0, i, x) >> (32 - across),
                          across == bits ? 0 : digits(1, i, y) >> (32 - (bits - across)));
        EXPECT_EQ(boxes.size(), std::size_t{1} << bits) << across;
    }
}

TEST(sobol, a_scramble_flips_a_digit_as_those_before_it_tell) {
    const kernels::scramble by = kernels::scramble_of(7, 1, 4, {12, 34});
    for (word32 x = 1; x < 2000; x = x * 3 + 7) {
        for (int bit = 0; bit < 32; ++bit) {
            const word32 change = kernels::scrambled(x, by) ^ kernels::scrambled(x ^ word32{1} << bit, by);
            EXPECT_EQ(change & ((word32{2} << bit) - 1), word32{1} << bit) << x << " " << bit;
        }
    }
}

// Scrambles 24 digits of a point, drawing the coin that may flip each digit by itself from Philox.
word32 scrambled_coin_by_coin(word32 point, std::uint64_t key) {
    word32 out = 0;
    for (int bit = 0; bit < 24; ++bit) {
        const word32 before = point & ((word32{1} << bit) - 1);
        const auto coin =
            kernels::path_block(key, before, static_cast<word32>(bit), kernels::seed_stream).x0 & 1;
        out |= ((point >> bit & 1) ^ coin) << bit;
    }
    return out;
}

// Means over scrambled points, of a smooth function and of one with jumps, have the same variance as with
// separate coins. With 1,500 randomisations each, the log ratio of two sample variances has a standard
// deviation of about sqrt(2 * 2 / 1500) = 0.052 for a kurtosis of 3; 5 of these for six ratios give one false
// alarm in 300,000 seeds.
TEST(sobol, scrambles_have_the_variance_of_coins) {
    constexpr int randomisations = 1500;
    constexpr word32 points = 256;
    for (const std::uint32_t dimensions : {1u, 2u, 4u}) {
        std::array<std::array<double, 2>, 2> sums{}, squares{};
        for (std::uint32_t r = 0; r < randomisations; ++r) {
            for (std::size_t how = 0; how < 2; ++how) {
                double smooth = 0, jumps = 0;
                for (word32 i = 0; i < points; ++i) {
                    double product = 1, sum = 0;
                    for (std::uint32_t d = 0; d < dimensions; ++d) {
                        const word32 point = kernels::point_of(quasi::directions_of(d), i);
                        const word32 x = how == 0
                                             ? kernels::scrambled(point, kernels::scramble_of(99, r, d, {}))
                                             : scrambled_coin_by_coin(point, r * 8 + d);
                        const double u = (reversed(x) + 0.5) * 0x1p-32;
                        product *= 0.5 + 1.5 * u * u;
                        sum += u;
                    }
                    smooth += product / points;
                    jumps += (sum > 0.53 * dimensions ? 1.0 : 0.0) / points;
                }
                sums[how][0] += smooth;
                sums[how][1] += jumps;
                squares[how][0] += smooth * smooth;
                squares[how][1] += jumps * jumps;
            }
        }
        for (std::size_t f = 0; f < 2; ++f) {
            const auto variance = [&](std::size_t how) {
                const double mean = sums[how][f] / randomisations;
                return squares[how][f] / randomisations - mean * mean;
            };
            EXPECT_NEAR(std::log(variance(0) / variance(1)), 0, 5 * 0.052) << dimensions << " " << f;
        }
    }
}

TEST(sobol, further_digits_tell_neighbours_apart) {
    const kernels::scramble by = kernels::scramble_of(7, 1, 4, {});
    std::set<word32> seen;
    double mean = 0;
    constexpr int count = 4096;
    for (word32 x = 0; x < count; ++x) {
        const word32 rest = kernels::further_digits(x, by);
        seen.insert(rest);
        mean += rest * 0x1p-32 / count;
    }
    EXPECT_EQ(seen.size(), std::size_t{count});
    // Five standard deviations of the mean: one false alarm in 1.7 million seeds.
    EXPECT_NEAR(mean, 0.5, 5 / std::sqrt(12.0 * count));
}

// For each step, the weights by which the normals of all nodes make the step's normal move.
std::vector<std::vector<double>> moves_of(const quasi::order& of) {
    const std::size_t n = of.steps();
    std::vector<std::vector<double>> places(n, std::vector<double>(n)), out = places;
    for (std::size_t k = 0; k < n; ++k) {
        const kernels::bridge_node& node = of.nodes()[k];
        const auto at = [&](int step, std::size_t j) {
            return step < 0 ? 0.0 : places[static_cast<std::size_t>(step)][j];
        };
        for (std::size_t j = 0; j < n; ++j) {
            if (k < of.components()) {
                places[static_cast<std::size_t>(node.step)][j] =
                    j < of.components() ? of.loadings()[k * of.components() + j] : 0.0;
                continue;
            }
            places[static_cast<std::size_t>(node.step)][j] =
                kernels::place_between(node.by_left, at(node.left, j), node.by_right, at(node.right, j),
                                       node.deviation, j == k ? 1.0 : 0.0);
        }
    }
    for (std::size_t s = 0; s < n; ++s)
        for (std::size_t j = 0; j < n; ++j)
            out[s][j] =
                kernels::move_between(s == 0 ? 0.0 : places[s - 1][j], places[s][j], of.inverse_roots()[s]);
    return out;
}

TEST(sobol_orders, every_construction_makes_moves_that_are_independent) {
    using quasi::construction;
    for (const construction how : {construction::bridge, construction::principal, construction::coarse}) {
        for (const int steps : {2, 3, 7, 12, 50, 253}) {
            for (const std::set<std::size_t>& events :
                 {std::set<std::size_t>{}, std::set<std::size_t>{0, 1}, std::set<std::size_t>{1, 2, 5, 40}}) {
                const quasi::order of = order_of(trade_of(1, 0, uneven_times(steps), events), how);
                ASSERT_TRUE(of.is_bridged());
                const auto moves = moves_of(of);
                double worst = 0;
                for (std::size_t a = 0; a < moves.size(); ++a) {
                    for (std::size_t b = 0; b <= a; ++b) {
                        double product = 0;
                        for (std::size_t j = 0; j < moves.size(); ++j) product += moves[a][j] * moves[b][j];
                        worst = std::max(worst, std::abs(product - (a == b ? 1 : 0)));
                    }
                }
                EXPECT_LT(worst, 1e-11) << quasi::name_of(how) << " " << steps;
            }
        }
    }
}

TEST(sobol_orders, the_first_dimensions_go_to_dates_that_a_payoff_looks_at) {
    const quasi::order of = order_of(trade_of(2, 0, uneven_times(40), {9, 19, 29, 39}));
    std::vector<int> steps;
    for (const kernels::bridge_node& n : of.nodes()) steps.push_back(n.step);
    EXPECT_EQ(steps.front(), 39) << "where the path ends comes first";
    EXPECT_EQ(std::set(steps.begin(), steps.begin() + 4), (std::set{9, 19, 29, 39}));
    std::ranges::sort(steps);
    for (int s = 0; s < 40; ++s) EXPECT_EQ(steps[static_cast<std::size_t>(s)], s) << "each once";
    EXPECT_EQ(of.dimension_of_normal(0, 1), 1u) << "neighbours are of the factors of one node";
    EXPECT_EQ(of.dimension_of_normal(1, 0), 2u);
}

TEST(sobol_orders, uniforms_are_points_where_they_are_few) {
    const quasi::order few = order_of(trade_of(1, 1, uneven_times(12), {11}));
    ASSERT_TRUE(few.has_quasi_uniforms());
    std::set<std::uint32_t> taken;
    for (std::size_t k = 0; k < 12; ++k) {
        taken.insert(few.dimension_of_normal(k, 0));
        taken.insert(few.dimension_of_uniform(k, 0));
    }
    EXPECT_EQ(taken.size(), 24u);
    EXPECT_EQ(*taken.rbegin(), 23u);
    EXPECT_FALSE(order_of(trade_of(1, 1, uneven_times(65), {64})).has_quasi_uniforms());
}

TEST(sobol_orders, nodes_without_a_dimension_are_no_points) {
    const quasi::order of = order_of(trade_of(200, 0, uneven_times(120), {119}));
    EXPECT_LT(of.dimension_of_normal(105, 199), quasi::most_dimensions);
    EXPECT_EQ(of.dimension_of_normal(106, 0), kernels::no_dimension);
    const quasi::order principal =
        order_of(trade_of(200, 0, uneven_times(120), {119}), quasi::construction::principal);
    std::size_t with_none = 0;
    for (const std::uint32_t d : principal.dimensions_of_normals())
        with_none += d == kernels::no_dimension ? 1 : 0;
    EXPECT_EQ(with_none, 200u * 120u - quasi::most_dimensions);
}

TEST(sobol_orders, a_coarse_bridge_has_points_on_few_dates_and_goes_on_in_time) {
    std::set<std::size_t> looked_at;
    for (std::size_t s = 1; s < 200; s += 2) looked_at.insert(s);
    const quasi::order of =
        order_of(trade_of(2, 0, uneven_times(200), looked_at), quasi::construction::coarse);
    int before = -1;
    for (std::size_t n = 0; n < of.steps(); ++n) {
        const bool has_point = of.dimension_of_normal(n, 1) != kernels::no_dimension;
        EXPECT_EQ(has_point, n < 32) << n;
        if (has_point) {
            EXPECT_TRUE(looked_at.contains(static_cast<std::size_t>(of.nodes()[n].step)));
        } else {
            EXPECT_EQ(of.nodes()[n].left, of.nodes()[n].step - 1);
            EXPECT_LT(before, of.nodes()[n].step);
            before = of.nodes()[n].step;
        }
    }
}

// The largest components of Brownian motion on even dates have known variances.
TEST(sobol_orders, principal_components_have_the_variances_of_brownian_motion) {
    constexpr int n = 24;
    constexpr double pi = 3.14159265358979323846;
    std::vector<double> times;
    std::set<std::size_t> events;
    for (int i = 0; i < n; ++i) times.push_back(0.25 * (i + 1)), events.insert(static_cast<std::size_t>(i));
    const quasi::order of = order_of(trade_of(1, 0, times, events), quasi::construction::principal);
    ASSERT_EQ(of.components(), static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
        double variance = 0;
        for (int k = 0; k < n; ++k) {
            const double x = of.loadings()[static_cast<std::size_t>(k * n + i)];
            variance += x * x;
        }
        const double s = 2 * std::sin((2 * i + 1) * pi / (2 * (2 * n + 1)));
        EXPECT_NEAR(variance, 0.25 / (s * s), 1e-11 / (s * s)) << i;
        EXPECT_EQ(of.dimension_of_normal(static_cast<std::size_t>(i), 0), static_cast<std::uint32_t>(i));
    }
}

// Compares with an eigenvalue solver by Jacobi's rotations, which is slower.
TEST(sobol_orders, principal_components_are_those_of_the_covariance) {
    const std::vector<double> times = uneven_times(40);
    std::vector<double> covariance;
    std::vector<double> from_one(times.begin() + 1, times.end());
    for (double& t : from_one) t -= times.front();
    for (const double a : from_one)
        for (const double b : from_one) covariance.push_back(std::min(a, b));
    const auto found = quasi::axes_of_brownian_path(from_one);
    const auto known = analytics::eigen_pairs(covariance, from_one.size());
    const std::size_t n = from_one.size();
    for (std::size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(found.variances[i], known[i].value, 1e-12 * known[i].value + 1e-14 * known[0].value) << i;
        double inner = 0;
        for (std::size_t k = 0; k < n; ++k) inner += found.directions[k * n + i] * known[i].vector[k];
        EXPECT_NEAR(std::abs(inner), 1, 1e-9) << i;
    }
}

TEST(sobol_orders, numbers_that_build_no_path_stay_with_their_steps) {
    const tests::made_trade without = trade_of(2, 0, uneven_times(20), {9, 19});
    tests::made_trade with = without;
    with.code.lone_normals = {1};
    quasi::order_maker maker;
    const auto made = [&](const tests::made_trade& t) { return maker.made_for(t.code, t.data, t.when, {}); };
    EXPECT_FALSE(made(with).normal_slots()[0].is_lone);
    EXPECT_TRUE(made(with).normal_slots()[1].is_lone);
    EXPECT_NE(made(with).identity(), made(without).identity());
}

// Rotated slots reproduce the covariance of the moves, in the order of how much they move the assets.
TEST(sobol_orders, rotations_find_what_moves_correlated_assets_most) {
    constexpr std::size_t n = 3;
    constexpr double root[n][n] = {{0.2, 0, 0}, {0.15, 0.2, 0}, {0.1, -0.05, 0.3}};
    const tests::made_trade t = tests::correlated_trade_of({{0.2}, {0.15, 0.2}, {0.1, -0.05, 0.3}}, 4);
    const quasi::rotated_slots by = quasi::rotated_by_covariance(t.code, t.data);
    ASSERT_EQ(by.slots, (std::vector<std::uint32_t>{0, 1, 2}));
    double moved[n][n] = {}, trace = 0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t k = 0; k < n; ++k) moved[i][j] += root[i][k] * by.rotation[k * n + j];
            trace += root[i][j] * root[i][j];
        }
    }
    for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b) {
            double inner = 0, moves = 0;
            for (std::size_t k = 0; k < n; ++k) {
                inner += by.rotation[k * n + a] * by.rotation[k * n + b];
                moves += moved[k][a] * moved[k][b];
            }
            EXPECT_NEAR(inner, a == b ? 1 : 0, 1e-14);
            EXPECT_NEAR(moves, a == b ? by.variances[a] * trace / n : 0, 1e-14);
        }
    }
    EXPECT_GT(by.variances[0], by.variances[1]);
    EXPECT_GT(by.variances[1], by.variances[2]);
    EXPECT_TRUE(quasi::rotated_by_covariance(tests::correlated_trade_of({{0.2}, {0, 0.3}}, 4).code,
                                             tests::correlated_trade_of({{0.2}, {0, 0.3}}, 4).data)
                    .slots.empty())
        << "nothing moves together";
    tests::made_trade lone = t;
    lone.code.lone_normals = {0, 1, 2};
    EXPECT_TRUE(quasi::rotated_by_covariance(lone.code, lone.data).slots.empty());
}

// Each step moves the asset by its own rows, and the second normal enters with a minus.
TEST(sobol_orders, rotations_are_of_what_each_step_moves) {
    using program::operation;
    tests::made_trade t = tests::trade_of(2, 0, {1, 2}, {1});
    t.code.states = {"x"};
    program::lane_section step;
    step.nodes = {{operation::normal, {0}, 0},    {operation::normal, {1}, 0},   {operation::neg, {1}, 0},
                  {operation::row, {1}, 0},       {operation::row, {2}, 0},      {operation::state, {0}, 0},
                  {operation::fma, {0, 3, 5}, 0}, {operation::fma, {2, 4, 6}, 0}};
    step.writes = {{0, 7}};
    t.code.sections = {step};
    t.data.rows = {{7, 0.2, 0.1, 7, 0.1, 0.4}};
    t.data.runs = {2};
    t.data.widths = {3};
    // The products of the factors (0.2, -0.1) and (0.1, -0.4), summed over both steps.
    constexpr double products[2][2] = {{0.05, -0.06}, {-0.06, 0.17}}, trace = 0.22;
    const quasi::rotated_slots by = quasi::rotated_by_covariance(t.code, t.data);
    ASSERT_EQ(by.slots, (std::vector<std::uint32_t>{0, 1}));
    for (std::size_t a = 0; a < 2; ++a) {
        for (std::size_t b = 0; b < 2; ++b) {
            double made = 0;
            for (std::size_t k = 0; k < 2; ++k)
                made += by.rotation[a * 2 + k] * by.rotation[b * 2 + k] * by.variances[k] * trace / 2;
            EXPECT_NEAR(made, products[a][b], 1e-15) << a << ", " << b;
        }
    }
}

TEST(sobol_orders, steps_of_no_time_are_as_long_as_one_another) {
    const quasi::order made = tests::order_of(tests::trade_of(1, 0, {0, 0, 0, 0}, {3}));
    ASSERT_EQ(made.inverse_roots().size(), 4U);
    for (const double root : made.inverse_roots()) EXPECT_EQ(root, 1);
    ASSERT_EQ(made.nodes().size(), 4U);
    EXPECT_EQ(made.nodes()[0].deviation, 2) << "the last of four";
    EXPECT_EQ(made.nodes()[1].deviation, 1) << "between two and two";
}

TEST(sobol_orders, of_one_maker_have_their_steps_in_common_whatever_thread_asks) {
    constexpr std::size_t threads = 4, sizes = 24;
    constexpr std::array hows{quasi::construction::steps, quasi::construction::bridge,
                              quasi::construction::principal, quasi::construction::coarse};
    const auto order_by = [&](quasi::order_maker& maker, std::size_t i) {
        const std::size_t last = i % sizes;
        const tests::made_trade t = trade_of(2, 0, uneven_times(static_cast<int>(last) + 1), {last});
        return maker.made_for(t.code, t.data, t.when, {hows[i / sizes]});
    };
    quasi::order_maker shared;
    std::vector<std::vector<quasi::order>> made(threads);
    {
        std::vector<std::jthread> at_work;
        for (std::vector<quasi::order>& to : made) {
            at_work.emplace_back([&] {
                for (std::size_t i = 0; i < sizes * hows.size(); ++i) to.push_back(order_by(shared, i));
            });
        }
    }
    for (std::size_t i = 0; i < sizes * hows.size(); ++i) {
        quasi::order_maker own;
        for (const std::vector<quasi::order>& of : made) {
            EXPECT_EQ(of[i].identity(), made[0][i].identity()) << i;
            EXPECT_TRUE(of[i].makes_the_numbers_of(order_by(own, i))) << i;
        }
    }
}

TEST(sobol_orders, are_told_apart_where_they_make_other_numbers) {
    quasi::order_maker maker;
    const auto identity = [&](const tests::made_trade& t,
                              quasi::construction how = quasi::construction::bridge) {
        return maker.made_for(t.code, t.data, t.when, {how}).identity();
    };
    const tests::made_trade t = trade_of(2, 0, uneven_times(9), {8});
    EXPECT_EQ(identity(t), identity(t));
    EXPECT_EQ(identity(t), identity(trade_of(2, 0, uneven_times(9), {8})));
    EXPECT_NE(identity(t), identity(t, quasi::construction::steps));
    EXPECT_NE(identity(t), identity(t, quasi::construction::principal));
    EXPECT_NE(identity(trade_of(2, 0, uneven_times(40), {39})),
              identity(trade_of(2, 0, uneven_times(40), {39}), quasi::construction::coarse));
    EXPECT_NE(identity(t), identity(trade_of(2, 0, uneven_times(9), {3, 8})));
    tests::made_trade other = t;
    other.data.normal_names[1] = program::stream_name("another");
    EXPECT_NE(identity(t), identity(other));
}

}  // namespace
}  // namespace tilewalk::sobol_test
