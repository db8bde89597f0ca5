// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (arithmetic over hundreds of millions of points)
// The pass that compares logarithms instead of exponentials: the exponential is monotone, the least
// logarithms that pass a level are exact, and programs decide as before.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/math.h"
#include "products/program/evaluate.h"
#include "products/program/passes.h"
#include "products/program/recorder.h"
#include "tests/plain_walk.h"

namespace tilewalk::compare_logarithms_test {
namespace {

using program::least_logarithm;
using program::number_type;
using program::operation;
using program::recorder;
using program::value;

template <class real>
constexpr real infinity = std::numeric_limits<real>::infinity();

template <class real>
int falls_near(real x, int neighbours) {
    int falls = 0;
    for (int i = 0; i < neighbours; ++i) x = std::nextafter(x, -infinity<real>);
    real before = kernels::exp(x);
    for (int i = 0; i < 2 * neighbours; ++i) {
        x = std::nextafter(x, infinity<real>);
        const real now = kernels::exp(x);
        if (!(now >= before)) ++falls;
        before = now;
    }
    return falls;
}

// `exp` reduces its argument to r by a multiple of ln 2. While the multiple is the same, the result never
// falls: r is exact except for one rounding of a sum with a constant. From one r to the next, u away, r + r^2
// t(r) gains at least 0.7 u, while the errors of r^2 and t together move it by at most 0.3 u for |r| <= 0.347
// (they shrink with the square of r, and u with r). Rounding preserves monotonicity. The exponential can
// therefore decrease only where the multiple changes, and each of these places is checked.
TEST(compare_logarithms_exponential, never_falls_where_the_multiple_of_ln_2_changes) {
    constexpr double ln2 = 0.693147180559945309417;
    int falls = 0;
    for (int n = -1080; n <= 1030; ++n) falls += falls_near((n + 0.5) * ln2, 400);
    EXPECT_EQ(falls, 0);
}

TEST(compare_logarithms_exponential, never_falls_between_neighbours_anywhere) {
    std::mt19937_64 random(7);
    int falls = 0;
    for (int i = 0; i < 400'000; ++i) {
        const double x = std::uniform_real_distribution<double>(-746, 711)(random);
        falls += falls_near(x, 8);
        falls += falls_near(std::ldexp(x, -static_cast<int>(random() % 60)), 8);
    }
    for (const double x : {-infinity<double>, -746.0, -745.2, -708.4, 0.0, 709.78, 710.0})
        falls += falls_near(x, 64);
    EXPECT_EQ(falls, 0);
    EXPECT_EQ(kernels::exp(infinity<double>), infinity<double>);
}

// Goes through every float with an absolute value of at least 2^-26; nearer to 0 the exponential is 1.
TEST(compare_logarithms_exponential, never_falls_from_float_to_float) {
    const auto first = std::bit_cast<std::uint32_t>(0x1p-26f);
    for (const float sign : {1.0f, -1.0f}) {
        const auto last = std::bit_cast<std::uint32_t>(sign > 0 ? 89.5f : 104.5f);
        std::int64_t falls = 0;
        float before = 1;
        for (std::uint32_t bits = first; bits <= last; ++bits) {
            const float now = kernels::exp(sign * std::bit_cast<float>(bits));
            falls += sign > 0 ? !(now >= before) : !(now <= before);
            before = now;
        }
        EXPECT_EQ(falls, 0);
        EXPECT_EQ(before, sign > 0 ? infinity<float> : 0.0f);
    }
}

template <class real>
bool decides(operation code, real level, real scale, real divisor, real x) {
    const real value = scale * kernels::exp(x) / divisor;
    return code == operation::least_log_above ? value > level : value >= level;
}

template <class real>
void expect_the_least(number_type type, double level, double scale, double divisor) {
    const auto l = static_cast<real>(level), s = static_cast<real>(scale), d = static_cast<real>(divisor);
    for (const operation code : {operation::least_log_reaching, operation::least_log_above}) {
        const double found = least_logarithm(code, type, level, scale, divisor);
        const auto x = static_cast<real>(found);
        ASSERT_EQ(static_cast<double>(x), found);
        ASSERT_TRUE(decides(code, l, s, d, x)) << level << ' ' << scale << ' ' << divisor << ": " << found;
        if (x == -infinity<real>) continue;
        ASSERT_FALSE(decides(code, l, s, d, std::nextafter(x, -infinity<real>)))
            << level << ' ' << scale << ' ' << divisor << ": " << found;
    }
}

TEST(compare_logarithms_least_logarithm, is_the_least) {
    std::mt19937_64 random(11);
    const auto size = [&](double most) {
        return std::exp2(std::uniform_real_distribution<double>(-most, most)(random));
    };
    for (int i = 0; i < 20'000; ++i) {
        const double most = i % 3 == 0 ? 1e-3 : i % 3 == 1 ? 5 : 30;
        const double level = size(most), scale = size(most), divisor = size(most);
        expect_the_least<double>(number_type::double_, level, scale, divisor);
        expect_the_least<float>(number_type::single_, level, scale, divisor);
    }
    for (const double level : {1e300, 1.7e308, 1e-300, 5e-324, 1.0})
        for (const double scale : {1e-200, 1.0, 1e200})
            expect_the_least<double>(number_type::double_, level, scale, 1);
    for (const double level : {1.0, 100.0, 0.999999999999})
        expect_the_least<double>(number_type::double_, level, level, 1);
}

TEST(compare_logarithms_least_logarithm, levels_that_everything_reaches) {
    for (const number_type type : {number_type::double_, number_type::single_}) {
        EXPECT_EQ(least_logarithm(operation::least_log_reaching, type, 0, 1, 1), -infinity<double>);
        EXPECT_EQ(least_logarithm(operation::least_log_above, type, -1, 1, 1), -infinity<double>);
        // The exponential of a very negative number is 0, which is not above 0.
        EXPECT_LT(least_logarithm(operation::least_log_above, type, 0, 1, 1), -100);
        EXPECT_GT(least_logarithm(operation::least_log_above, type, 0, 1, 1), -800);
    }
}

TEST(compare_logarithms_least_logarithm, is_not_a_number_where_it_decides_nothing) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = infinity<double>;
    const std::array<std::array<double, 3>, 9> cases{{{nan, 1, 1},
                                                      {inf, 1, 1},
                                                      {-inf, 1, 1},
                                                      {1, 0, 1},
                                                      {1, -1, 1},
                                                      {1, nan, 1},
                                                      {1, 1, 0},
                                                      {1, 1, -2},
                                                      {1, inf, 1}}};
    for (const auto& [level, scale, divisor] : cases)
        for (const number_type type : {number_type::double_, number_type::single_})
            EXPECT_TRUE(
                std::isnan(least_logarithm(operation::least_log_reaching, type, level, scale, divisor)));
}

struct form {
    operation code;  // less or less_equal
    bool level_is_first;
    operation tree;  // min or max
    int curves;
};

struct example {
    recorder::recorded made;
    program::timeline when;
};

// The payoff adds up the weights of the steps on which a comparison holds, each step with its own weight. The
// compared logarithms are rows of data, so that the test can choose them freely.
template <class real>
example example_of(const form& f, bool also_pays, double sign = 1) {
    std::mt19937_64 random(3);
    constexpr std::size_t steps = 400;
    const auto curves = static_cast<std::size_t>(f.curves);
    recorder into;
    for (std::size_t i = 0; i < curves; ++i) into.state("x" + std::to_string(i), 0.0);
    const auto count = into.state("count", 0.0);
    into.output(count);
    std::vector<double> levels(steps), weights(steps);
    std::vector<std::vector<double>> scales(curves, std::vector<double>(steps)), x = scales;
    std::vector<double> divisors;
    for (std::size_t i = 0; i < curves; ++i) divisors.push_back(50.0 + 10.0 * static_cast<double>(i));
    const number_type type = sizeof(real) == 8 ? number_type::double_ : number_type::single_;
    for (std::size_t s = 0; s < steps; ++s) {
        levels[s] = 0.9 + 0.001 * static_cast<double>(random() % 200);
        weights[s] = static_cast<double>(s + 1);
        for (std::size_t i = 0; i < curves; ++i) {
            scales[i][s] = sign * (40.0 + static_cast<double>(random() % 30));
            auto at = static_cast<real>(least_logarithm(operation::least_log_reaching, type, levels[s],
                                                        std::abs(scales[i][s]), divisors[i]));
            const int off = static_cast<int>(random() % 9) - 4;
            for (int k = 0; k < std::abs(off); ++k) at = std::nextafter(at, off > 0 ? real(9) : real(-9));
            x[i][s] = random() % 4 == 0 ? static_cast<double>(at) + (off > 0 ? 0.1 : -0.1)
                                        : static_cast<double>(at);
        }
    }
    into.open_section(1, "compare", steps);
    value tree;
    for (std::size_t i = 0; i < curves; ++i) {
        const value one = into.row("scale" + std::to_string(i), scales[i]) *
                          exp(into.read(static_cast<std::uint32_t>(i))) /
                          into.term("divisor" + std::to_string(i), divisors[i]);
        tree = i == 0 ? one : into.apply(f.tree, tree, one, one);
    }
    const value level = into.row("level", levels);
    const value holds =
        f.level_is_first ? into.apply(f.code, level, tree, tree) : into.apply(f.code, tree, level, level);
    value paid = select(holds, into.row("weight", weights), into.constant(0.0));
    if (also_pays) paid = paid + tree;
    into.write(count, into.read(count) + paid);
    into.open_section(0, "step", steps);
    for (std::size_t i = 0; i < curves; ++i)
        into.write(static_cast<std::uint32_t>(i), into.row("x" + std::to_string(i), x[i]));
    example out{std::move(into).finish(), {}};
    for (std::uint32_t s = 0; s < steps; ++s) {
        out.when.add({1, s});
        out.when.times.push_back(s + 1.0);
        out.when.close_step();
    }
    return out;
}

std::size_t exponentials(const program::path_program& p) {
    std::size_t n = 0;
    for (const auto& s : p.sections)
        n += static_cast<std::size_t>(std::ranges::count(s.nodes, operation::exp, &program::node::code));
    return n;
}

template <class real>
double walked(const program::path_program& code, const program::path_data& data,
              const program::timeline& when) {
    const auto none = [](std::uint64_t) { return real(0); };
    return tests::plain_walk<real>(code, data, when, none, none);
}

template <class real>
void expect_same_decisions(const form& f) {
    const example e = example_of<real>(f, false);
    const number_type type = sizeof(real) == 8 ? number_type::double_ : number_type::single_;
    const auto plain = program::optimise(e.made.code);
    const auto before = program::hoist(plain), after = program::hoist(program::compare_logarithms(plain));
    EXPECT_EQ(exponentials(before), static_cast<std::size_t>(f.curves));
    EXPECT_EQ(exponentials(after), 0u);
    EXPECT_EQ(program::fault_of(after), "");
    const auto data = program::bind(after, e.made.data, type);
    EXPECT_TRUE(program::has_all_logarithms(after, data));
    const double expected = walked<real>(before, program::bind(before, e.made.data), e.when);
    EXPECT_EQ(walked<real>(after, data, e.when), expected);
    EXPECT_GT(expected, 0);
    EXPECT_LT(expected, 400 * 401 / 2);
}

TEST(compare_logarithms, decides_as_the_exponentials_did) {
    for (const operation code : {operation::less, operation::less_equal}) {
        for (const bool level_is_first : {true, false}) {
            for (const operation tree : {operation::min, operation::max}) {
                for (const int curves : {1, 2, 3}) {
                    SCOPED_TRACE(std::string(program::entry_of(code).name) +
                                 (level_is_first ? ", level first, " : ", level last, ") +
                                 std::string(program::entry_of(tree).name) + " of " + std::to_string(curves));
                    expect_same_decisions<double>({code, level_is_first, tree, curves});
                    expect_same_decisions<float>({code, level_is_first, tree, curves});
                }
            }
        }
    }
}

TEST(compare_logarithms, leaves_an_exponential_that_is_paid) {
    const example e = example_of<double>({operation::less_equal, true, operation::min, 2}, true);
    const auto plain = program::optimise(e.made.code);
    EXPECT_EQ(program::shape_of(program::hoist(program::compare_logarithms(plain))),
              program::shape_of(program::hoist(plain)));
}

// A minimum of a value with itself, nested 40 times, has 2^40 operands if each is counted.
TEST(compare_logarithms, gives_up_on_a_least_of_itself) {
    recorder into;
    const auto x = into.state("x", 0.0), paid = into.state("paid", 0.0);
    into.output(paid);
    into.open_section(1, "compare", 1);
    value least = exp(into.read(x));
    for (int i = 0; i < 40; ++i) least = into.apply(operation::min, least, least, least);
    into.write(paid, into.apply(operation::less_equal, into.term("level", 1.0), least, least));
    into.open_section(0, "step", 1);
    into.write(x, into.read(x) + into.normal());
    const auto plain = program::optimise(std::move(into).finish().code);
    EXPECT_EQ(program::shape_of(program::hoist(program::compare_logarithms(plain))),
              program::shape_of(program::hoist(plain)));
}

TEST(compare_logarithms, tells_of_a_factor_below_zero) {
    const example e = example_of<double>({operation::less_equal, true, operation::min, 2}, false, -1);
    const auto code = program::hoist(program::compare_logarithms(program::optimise(e.made.code)));
    EXPECT_FALSE(program::has_all_logarithms(code, program::bind(code, e.made.data)));
}

// A program of a step and four sections after it, of which number 3 writes no state.
program::path_program four_sections() {
    program::path_program p;
    p.sections.resize(5);
    for (const std::size_t k : {0u, 1u, 2u, 4u}) p.sections[k].writes.push_back({0, 0});
    return p;
}

program::timeline times(const std::vector<std::vector<program::event>>& after) {
    program::timeline out;
    for (const auto& events : after) {
        for (const auto& e : events) out.add(e);
        out.times.push_back(out.times.back() + 1);
        out.close_step();
    }
    return out;
}

std::vector<std::size_t> marked(const std::vector<std::vector<program::event>>& after) {
    program::path_program p = four_sections();
    program::mark_every_step(p, times(after));
    std::vector<std::size_t> out;
    for (std::size_t k = 0; k < p.sections.size(); ++k)
        if (p.sections[k].is_on_every_step) out.push_back(k);
    return out;
}

TEST(compare_logarithms_every_step, marks_the_sections_that_lead_each_step) {
    using list = std::vector<std::size_t>;
    EXPECT_EQ(marked({{{1, 0}}, {{1, 1}, {4, 0}}}), list{1});
    EXPECT_EQ(marked({{{1, 0}, {2, 0}, {4, 0}}, {{1, 1}, {2, 1}, {4, 1}}}), (list{1, 2, 4}));
    EXPECT_EQ(marked({{{2, 0}}, {{1, 0}, {2, 1}}}), list{}) << "another section comes first";
    EXPECT_EQ(marked({{{1, 0}}, {}}), list{});
    EXPECT_EQ(marked({{{1, 1}}, {{1, 0}}}), list{}) << "rows out of turn";
    EXPECT_EQ(marked({{{1, 0}}}), list{}) << "a single step";
    program::path_program p = four_sections();
    program::mark_every_step(p, times({{{1, 0}, {2, 0}}}), {false, true, false});
    EXPECT_TRUE(p.sections[1].is_on_every_step) << "a single step, and the section is its own";
    EXPECT_FALSE(p.sections[2].is_on_every_step);
}

}  // namespace
}  // namespace tilewalk::compare_logarithms_test
