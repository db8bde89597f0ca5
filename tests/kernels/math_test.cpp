// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (arithmetic over millions of points)
// Elementary functions against MPFR (double) and the C library in double (float): the error bounds stated in
// the headers, on log-uniform points, points of the whole range and edges; and special values.
#include "kernels/math.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/shocks.h"

namespace math_test {
namespace {

namespace kernels = tilewalk::kernels;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest_normal = std::numeric_limits<double>::min();

class exact {
  public:
    exact() { mpfr_init2(number_, 128); }
    exact(const exact&) = delete;
    exact& operator=(const exact&) = delete;
    ~exact() { mpfr_clear(number_); }
    mpfr_ptr get() { return number_; }

  private:
    mpfr_t number_;
};

// The distance between neighbouring numbers of the type `real` at x.
template <typename real>
double spacing(double x) {
    constexpr int lowest = std::numeric_limits<real>::min_exponent;
    const int exponent = x == 0 ? lowest : std::max(lowest, std::ilogb(x) + 1);
    return std::ldexp(1.0, exponent - std::numeric_limits<real>::digits);
}

// The largest error of a function so far, in ulp, with its arguments and results.
class worst_case {
  public:
    void add(double error, double x, double y, double got, double expected) {
        ++points_;
        if (error <= error_) return;  // false for NaN, worse than any error
        error_ = std::isnan(error) ? inf : error;
        x_ = x;
        y_ = y;
        got_ = got;
        expected_ = expected;
    }

    void check(const std::string& name, double bound, long points = 1) const {
        std::ostringstream text;
        text << name << ": worst error " << std::setprecision(3) << error_ << " ulp over " << points_
             << " points, at x = " << std::setprecision(17) << x_ << " (" << std::hexfloat << x_
             << "), y = " << y_ << ": got " << got_ << ", expected " << expected_;
        std::cout << text.str() << '\n';
        EXPECT_LT(error_, bound) << text.str();
        EXPECT_GE(points_, points) << text.str();
    }

  private:
    double error_ = -1;
    double x_ = 0;
    double y_ = 0;
    double got_ = 0;
    double expected_ = 0;
    long points_ = 0;
};

bool same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

void compare(worst_case& worst, double x, double y, double got, exact& truth) {
    const double expected = mpfr_get_d(truth.get(), MPFR_RNDN);
    double error = same(got, expected) ? 0 : inf;
    if (std::isfinite(expected) && std::isfinite(got)) {
        mpfr_sub_d(truth.get(), truth.get(), got, MPFR_RNDN);
        error = std::abs(mpfr_get_d(truth.get(), MPFR_RNDN)) / spacing<double>(expected);
    }
    worst.add(error, x, y, got, expected);
}

// Adds a float result's error to `worst`. The truth is a double, whose own error is 2^-29 ulp of a float.
void compare_single(worst_case& worst, float x, float y, float got, double truth) {
    const float expected = static_cast<float>(truth);
    double error = same(static_cast<double>(got), static_cast<double>(expected)) ? 0 : inf;
    if (std::isfinite(expected) && std::isfinite(got)) {
        error = std::abs(truth - static_cast<double>(got)) / spacing<float>(static_cast<double>(expected));
    }
    worst.add(error, static_cast<double>(x), static_cast<double>(y), static_cast<double>(got), truth);
}

// Arguments of a test: random points of several kinds, and edges with their neighbours.
class arguments {
  public:
    explicit arguments(std::uint64_t seed) : random_(seed) {}

    double unit() { return std::ldexp(static_cast<double>(random_() >> 11), -53); }
    double between(double low, double high) { return low + (high - low) * unit(); }
    double log_between(double low, double high) {
        return std::exp2(between(std::log2(low), std::log2(high)));
    }
    double sign() { return (random_() & 1) != 0 ? 1.0 : -1.0; }
    double positive() { return std::bit_cast<double>(random_() % std::bit_cast<std::uint64_t>(inf)); }
    float single_positive() {
        return std::bit_cast<float>(static_cast<std::uint32_t>(random_() % 0x7f800000u));
    }

    static std::vector<double> around(std::initializer_list<double> edges) {
        std::vector<double> list;
        for (const double edge : edges) {
            double below = edge;
            double above = edge;
            list.push_back(edge);
            for (int i = 0; i < 50; ++i) {
                below = std::nextafter(below, -inf);
                above = std::nextafter(above, inf);
                list.push_back(below);
                list.push_back(above);
            }
        }
        return list;
    }

  private:
    std::mt19937_64 random_;
};

using mpfr_function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

int exact_norm_cdf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
    exact root;
    mpfr_sqrt_ui(root.get(), 2, mode);
    mpfr_div(result, x, root.get(), mode);
    mpfr_neg(result, result, mode);
    mpfr_erfc(result, result, mode);
    return mpfr_div_2ui(result, result, 1, mode);
}

class double_check {
  public:
    double_check(double (*ours)(double), mpfr_function truth) : ours_(ours), truth_(truth) {}

    void at(double x) {
        mpfr_set_d(value_.get(), x, MPFR_RNDN);
        truth_(value_.get(), value_.get(), MPFR_RNDN);
        compare(worst_, x, 0, ours_(x), value_);
    }
    void at(const std::vector<double>& list) {
        for (const double x : list) at(x);
    }
    const worst_case& worst() const { return worst_; }

  private:
    double (*ours_)(double);
    mpfr_function truth_;
    exact value_;
    worst_case worst_;
};

}  // namespace

TEST(math_exp_double, error_bound) {
    double_check check(&kernels::exp, &mpfr_exp);
    arguments random(1);
    for (int i = 0; i < 300000; ++i) check.at(random.between(-745.2, 709.8));
    for (int i = 0; i < 300000; ++i) check.at(random.sign() * random.log_between(1e-20, 740.0));
    for (int i = 0; i < 50000; ++i) check.at(random.between(-745.2, -708.0));
    check.at(arguments::around({0.0, 1.0, -1.0, 709.782712893384, -708.3964185322641, -745.1332191019411,
                                -746.0, 710.0, 0.34657359027997264, -0.34657359027997264, 1e300, -1e300,
                                smallest, inf, -inf}));
    check.worst().check("exp", 1.1, 600000);
}

TEST(math_exp_double, special_values) {
    EXPECT_EQ(kernels::exp(inf), inf);
    EXPECT_EQ(kernels::exp(710.0), inf);
    EXPECT_EQ(kernels::exp(-inf), 0.0);
    EXPECT_EQ(kernels::exp(-745.14), 0.0);
    EXPECT_EQ(kernels::exp(-745.13), smallest);
    EXPECT_EQ(kernels::exp(0.0), 1.0);
    EXPECT_EQ(kernels::exp(-0.0), 1.0);
    EXPECT_TRUE(std::isnan(kernels::exp(quiet_nan)));
}

TEST(math_log_double, error_bound) {
    double_check check(&kernels::log, &mpfr_log);
    arguments random(2);
    for (int i = 0; i < 200000; ++i) check.at(random.positive());
    for (int i = 0; i < 300000; ++i) check.at(random.log_between(0.25, 4.0));
    for (int i = 0; i < 100000; ++i) check.at(1.0 + random.sign() * random.log_between(1e-16, 0.5));
    for (int i = 0; i < 50000; ++i) check.at(random.log_between(smallest, smallest_normal));
    check.at(arguments::around({1.0, 2.0, 0.5, 0.70710678118654752, 1.4142135623730951, 2.8284271247461903,
                                smallest_normal, largest, 0.0}));
    check.worst().check("log", 0.9, 600000);
}

TEST(math_log_double, special_values) {
    EXPECT_EQ(kernels::log(0.0), -inf);
    EXPECT_EQ(kernels::log(-0.0), -inf);
    EXPECT_EQ(kernels::log(inf), inf);
    EXPECT_EQ(kernels::log(1.0), 0.0);
    EXPECT_TRUE(std::isnan(kernels::log(-1.0)));
    EXPECT_TRUE(std::isnan(kernels::log(-smallest)));
    EXPECT_TRUE(std::isnan(kernels::log(-inf)));
    EXPECT_TRUE(std::isnan(kernels::log(quiet_nan)));
}

TEST(math_log_of_normal_range_single, equals_log) {
    arguments random(3);
    for (int i = 0; i < 200000; ++i) {
        const float single = static_cast<float>(random.log_between(1.2e-38, 3.4e38));
        ASSERT_EQ(kernels::log_of_normal_range(single), kernels::log(single)) << std::hexfloat << single;
    }
}

TEST(math_minus_two_log_double, error_bound) {
    const auto truth = [](mpfr_t y, const mpfr_t x, mpfr_rnd_t round) {
        mpfr_log(y, x, round);
        return mpfr_mul_si(y, y, -2, round);
    };
    double_check check([](double x) { return kernels::minus_two_log(x); }, truth);
    arguments random(31);
    std::mt19937_64 bits(32);
    // Uniforms of random bits first, as paths draw them; then log-uniform sizes, numbers near 1, and both
    // sides of each boundary between the table's intervals.
    for (int i = 0; i < 300000; ++i) check.at(kernels::uniform_of_bits(kernels::word64(bits())));
    for (int i = 0; i < 200000; ++i) check.at(random.log_between(0x1p-53, 1.0));
    for (int i = 0; i < 100000; ++i) check.at(1.0 - random.log_between(0x1p-53, 0.1));
    // The error is largest just below the table's interval around 1.
    for (int i = 0; i < 300000; ++i) check.at(random.between(0.98, 0.985));
    const auto step = std::uint64_t{1} << (52 - kernels::uniform_log_table::bits);
    for (std::uint64_t i = 0; i <= kernels::uniform_log_table::entries; ++i) {
        const auto at = kernels::to_bits(kernels::uniform_log_table::lowest) + i * step;
        for (std::uint64_t near = 0; near < 2000; ++near) {
            const double x = kernels::from_bits(kernels::word64(at + near - 1000));
            for (int exponent = -3; exponent <= 0; ++exponent) {
                if (const double y = std::ldexp(x, exponent); y < 1) check.at(y);
            }
        }
    }
    check.worst().check("minus_two_log", 1.6, 950000);
}

TEST(math_minus_two_log_double, table_is_of_logarithms) {
    using table = kernels::uniform_log_table;
    exact value;
    for (int i = 0; i < table::entries; ++i) {
        mpfr_set_d(value.get(), -0.5 * table::inverse[i], MPFR_RNDN);
        mpfr_log(value.get(), value.get(), MPFR_RNDN);
        mpfr_mul_si(value.get(), value.get(), 2, MPFR_RNDN);
        mpfr_sub_d(value.get(), value.get(), table::logarithm[i], MPFR_RNDN);
        EXPECT_LT(std::abs(mpfr_get_d(value.get(), MPFR_RNDN)), 0x1p-60) << i;
        // A logarithm of the table is a multiple of 2^-45 below 2^7 (52 bits), so that adding the part of any
        // exponent is exact.
        const double scaled = std::ldexp(table::logarithm[i], 45);
        EXPECT_EQ(scaled, std::floor(scaled)) << i;
    }
    EXPECT_EQ(table::inverse[9], -2.0);
    EXPECT_EQ(table::logarithm[9], 0.0);
}

TEST(math_sin_cos_double, error_bound) {
    double_check sine(&kernels::sin, &mpfr_sin);
    double_check cosine(&kernels::cos, &mpfr_cos);
    const auto both = [&](double x) {
        sine.at(x);
        cosine.at(x);
    };
    arguments random(4);
    for (int i = 0; i < 200000; ++i) both(random.between(-10.0, 10.0));
    for (int i = 0; i < 200000; ++i) both(random.sign() * random.log_between(1e-20, 0x1p20));
    // Doubles near multiples of pi / 2, where the argument reduction cancels most.
    for (int i = 0; i < 600000; i += 7) both(i * 1.5707963267948966);
    for (const double x : arguments::around(
             {0.0, 0.78539816339744831, 1.5707963267948966, 3.1415926535897931, 1048570.0, 1e-300}))
        both(x);
    sine.worst().check("sin", 1.6, 400000);
    cosine.worst().check("cos", 1.6, 400000);
}

TEST(math_sin_cos_double, special_values) {
    for (const double x : {inf, -inf, quiet_nan, 0x1.0000000000001p20, -1e300}) {
        EXPECT_TRUE(std::isnan(kernels::sin(x))) << x;
        EXPECT_TRUE(std::isnan(kernels::cos(x))) << x;
    }
    EXPECT_EQ(kernels::cos(0.0), 1.0);
    EXPECT_EQ(kernels::sin(0.0), 0.0);
    EXPECT_TRUE(std::signbit(kernels::sin(-0.0)));
    EXPECT_EQ(kernels::sin(smallest), smallest);
    EXPECT_FALSE(std::isnan(kernels::sin(0x1p20)));
}

TEST(math_sincos_of_turn_double, error_bound) {
    worst_case worst;
    exact angle;
    exact value;
    std::mt19937_64 random(5);
    std::vector<std::uint64_t> turns;
    for (int i = 0; i < 150000; ++i) turns.push_back(random());
    for (std::uint64_t eighth = 0; eighth < 8; ++eighth) {
        for (std::uint64_t i = 0; i < 40; ++i) turns.push_back((eighth << 61) + (i - 20) * 1024);
    }
    for (const std::uint64_t turn : turns) {
        const auto got = kernels::sincos_of_turn(static_cast<kernels::word64>(turn));
        mpfr_const_pi(angle.get(), MPFR_RNDN);
        mpfr_mul_ui(angle.get(), angle.get(), turn & ~std::uint64_t{0x3ff}, MPFR_RNDN);
        mpfr_div_2ui(angle.get(), angle.get(), 63, MPFR_RNDN);
        const double x = std::ldexp(static_cast<double>(turn), -64);
        // Skips multiples of a quarter turn: there the kernel is exact, while the truth is limited by the
        // precision of its pi.
        if ((turn >> 10) % (std::uint64_t{1} << 52) != 0) {
            mpfr_sin(value.get(), angle.get(), MPFR_RNDN);
            compare(worst, x, 0, got.sine, value);
            mpfr_cos(value.get(), angle.get(), MPFR_RNDN);
            compare(worst, x, 1, got.cosine, value);
        }
    }
    worst.check("sincos_of_turn (y = 1 for cos)", 1.6, 300000);
    const auto quarter = kernels::sincos_of_turn(kernels::word64{1} << 62);
    EXPECT_EQ(quarter.sine, 1.0);
    EXPECT_EQ(quarter.cosine, 0.0);
    const auto half = kernels::sincos_of_turn(kernels::word64{1} << 63);
    EXPECT_EQ(half.sine, 0.0);
    EXPECT_EQ(half.cosine, -1.0);
}

TEST(math_sqrt_floor_double, are_those_of_ieee) {
    arguments random(6);
    for (int i = 0; i < 200000; ++i) {
        const double x = random.positive();
        ASSERT_EQ(kernels::sqrt(x), std::sqrt(x)) << std::hexfloat << x;
        const double y = random.sign() * random.log_between(1e-3, 1e17);
        ASSERT_EQ(kernels::floor(y), std::floor(y)) << std::hexfloat << y;
    }
    EXPECT_TRUE(std::isnan(kernels::sqrt(-1.0)));
    EXPECT_TRUE(std::signbit(kernels::sqrt(-0.0)));
}

namespace {

class pow_check {
  public:
    void at(double x, double y) {
        mpfr_set_d(x_.get(), x, MPFR_RNDN);
        mpfr_set_d(y_.get(), y, MPFR_RNDN);
        mpfr_pow(value_.get(), x_.get(), y_.get(), MPFR_RNDN);
        compare(worst_, x, y, kernels::pow(x, y), value_);
    }
    const worst_case& worst() const { return worst_; }

  private:
    exact x_;
    exact y_;
    exact value_;
    worst_case worst_;
};

}  // namespace

TEST(math_pow_double, error_bound) {
    pow_check check;
    arguments random(7);
    for (int i = 0; i < 100000; ++i) check.at(random.log_between(1e-3, 1e3), random.between(-30.0, 30.0));
    for (int i = 0; i < 60000; ++i)
        check.at(random.positive(), random.sign() * random.log_between(1e-4, 10.0));
    // Draws the result first, of any size: y = log(result) / log(x), where the logarithm matters most.
    for (int i = 0; i < 150000; ++i) {
        const double x = i % 2 == 0 ? random.log_between(0.5, 2.0) : random.positive();
        check.at(x, random.between(-745.5, 710.0) / std::log(x));
    }
    for (int i = 0; i < 20000; ++i)
        check.at(1.0 + random.sign() * random.log_between(2e-16, 1e-2), random.log_between(1.0, 1e18));
    for (int i = 0; i < 10000; ++i)
        check.at(-random.log_between(1e-3, 1e3), std::floor(random.between(-30.0, 30.0)));
    check.worst().check("pow", 1.4, 300000);
}

TEST(math_pow_double, special_values) {
    const std::vector<double> special = {
        0.0, -0.0, 1.0,   -1.0,   2.0,      -2.0,      0.5,       -0.5,   3.0,        -3.0,    2.5,     -2.5,
        inf, -inf, 1e300, -1e300, smallest, -smallest, quiet_nan, 0x1p53, 0x1p52 + 1, largest, -largest};
    for (const double x : special) {
        for (const double y : special) {
            exact a;
            exact b;
            mpfr_set_d(a.get(), x, MPFR_RNDN);
            mpfr_set_d(b.get(), y, MPFR_RNDN);
            mpfr_pow(a.get(), a.get(), b.get(), MPFR_RNDN);
            const double expected = mpfr_get_d(a.get(), MPFR_RNDN);
            const double got = kernels::pow(x, y);
            if (std::isnan(expected)) {
                EXPECT_TRUE(std::isnan(got)) << "pow(" << x << ", " << y << ") = " << got;
            } else {
                EXPECT_DOUBLE_EQ(got, expected) << "pow(" << x << ", " << y << ")";
                EXPECT_EQ(std::signbit(got), std::signbit(expected)) << "pow(" << x << ", " << y << ")";
            }
            const float single = kernels::pow(static_cast<float>(x), static_cast<float>(y));
            const float truth = std::pow(static_cast<float>(x), static_cast<float>(y));
            EXPECT_TRUE(same(static_cast<double>(single), static_cast<double>(truth)) ||
                        std::abs(single / truth - 1.0f) < 1e-6f)
                << "single pow(" << x << ", " << y << ") = " << single << ", expected " << truth;
        }
    }
}

TEST(math_norm_cdf_double, error_bound) {
    double_check check(&kernels::norm_cdf, &exact_norm_cdf);
    arguments random(8);
    for (int i = 0; i < 30000; ++i) check.at(random.between(-38.5, 0.0));
    for (int i = 0; i < 30000; ++i) check.at(random.between(-8.0, 8.5));
    for (int i = 0; i < 20000; ++i) check.at(random.sign() * random.log_between(1e-20, 8.0));
    for (int i = 0; i < 10000; ++i) check.at(random.between(-38.6, -37.4));
    check.at(arguments::around({0.0, -1.0, 1.0, -5.0, 5.0, -37.0, -37.5, -38.4, 8.3}));
    check.worst().check("norm_cdf", 2.2, 80000);
}

TEST(math_norm_cdf_double, special_values) {
    EXPECT_EQ(kernels::norm_cdf(0.0), 0.5);
    EXPECT_EQ(kernels::norm_cdf(-0.0), 0.5);
    EXPECT_EQ(kernels::norm_cdf(inf), 1.0);
    EXPECT_EQ(kernels::norm_cdf(1e300), 1.0);
    EXPECT_EQ(kernels::norm_cdf(-inf), 0.0);
    EXPECT_EQ(kernels::norm_cdf(-39.0), 0.0);
    EXPECT_EQ(kernels::norm_cdf(-1e300), 0.0);
    EXPECT_GT(kernels::norm_cdf(-38.0), 0.0);
    EXPECT_TRUE(std::isnan(kernels::norm_cdf(quiet_nan)));
}

TEST(math_normal_to_exponential, error_bounds) {
    mpfr_t exact;
    mpfr_init2(exact, 200);
    // -log of the normal distribution's upper tail, norm_cdf(-x), which keeps its digits.
    const auto truth = [&](double x) {
        mpfr_set_d(exact, -x, MPFR_RNDN);
        exact_norm_cdf(exact, exact, MPFR_RNDN);
        mpfr_log(exact, exact, MPFR_RNDN);
        return -mpfr_get_d(exact, MPFR_RNDN);
    };
    arguments random(12);
    double worst = 0, worst_single = 0;
    for (int i = 0; i < 40000; ++i) {
        const double x = i < 2 ? 10.0 * i - 1 : random.between(-1.0, 9.0);
        worst = std::max(worst, std::abs(kernels::normal_to_exponential(x) - truth(x)));
        const auto s = static_cast<float>(i < 2 ? 8.0 * i - 1 : random.between(-1.0, 7.0));
        worst_single = std::max(worst_single,
                                std::abs(static_cast<double>(kernels::normal_to_exponential(s)) - truth(s)));
    }
    mpfr_clear(exact);
    EXPECT_LT(worst, 0x1p-45);
    EXPECT_LT(worst_single, 0x1p-18);
    EXPECT_GT(worst, 0x1p-50);
    EXPECT_GT(worst_single, 0x1p-21);
}

TEST(math_normal_to_exponential, is_flat_beyond_its_ends) {
    EXPECT_EQ(kernels::normal_to_exponential(-inf), kernels::normal_to_exponential(-1.0));
    EXPECT_EQ(kernels::normal_to_exponential(inf), kernels::normal_to_exponential(9.0));
    EXPECT_EQ(kernels::normal_to_exponential(-40.0f), kernels::normal_to_exponential(-1.0f));
    EXPECT_EQ(kernels::normal_to_exponential(40.0f), kernels::normal_to_exponential(7.0f));
}

namespace {

// The error of x = norm_inv(p) in ulp: the distance of norm_cdf(x) from p, over the density and the spacing
// at x. First order is enough for a few ulp. The upper half uses 1 - p, which is exact there.
class norm_inv_check {
  public:
    void at(double p) {
        const double x = kernels::norm_inv(p);
        const bool upper = p > 0.5;
        mpfr_set_d(value_.get(), upper ? -x : x, MPFR_RNDN);
        exact_norm_cdf(value_.get(), value_.get(), MPFR_RNDN);
        mpfr_sub_d(value_.get(), value_.get(), upper ? 1.0 - p : p, MPFR_RNDN);
        // One over the density, sqrt(2 pi) e^(x^2 / 2), which fits the wide exponents of MPFR.
        mpfr_set_d(density_.get(), x, MPFR_RNDN);
        mpfr_sqr(density_.get(), density_.get(), MPFR_RNDN);
        mpfr_div_2ui(density_.get(), density_.get(), 1, MPFR_RNDN);
        mpfr_exp(density_.get(), density_.get(), MPFR_RNDN);
        mpfr_mul_d(density_.get(), density_.get(), 2.5066282746310002, MPFR_RNDN);
        mpfr_mul(value_.get(), value_.get(), density_.get(), MPFR_RNDN);
        worst_.add(std::abs(mpfr_get_d(value_.get(), MPFR_RNDN)) / spacing<double>(x), p, 0, x, x);
    }
    const worst_case& worst() const { return worst_; }

  private:
    exact value_;
    exact density_;
    worst_case worst_;
};

}  // namespace

TEST(math_norm_inv_double, error_bound) {
    norm_inv_check check;
    arguments random(9);
    for (int i = 0; i < 30000; ++i) check.at(random.between(1e-9, 1.0));
    for (int i = 0; i < 20000; ++i) check.at(random.log_between(smallest, 0.5));
    for (int i = 0; i < 10000; ++i) check.at(1.0 - random.log_between(0x1p-52, 0.5));
    for (int i = 0; i < 15000; ++i) check.at(0.5 + random.sign() * random.log_between(0x1p-52, 0.5));
    for (const double p : arguments::around({0.02098, 0.97902, smallest_normal, 0.25, 0.75})) check.at(p);
    check.worst().check("norm_inv", 3.0, 70000);
}

TEST(math_norm_inv_double, special_values) {
    EXPECT_EQ(kernels::norm_inv(0.5), 0.0);
    EXPECT_EQ(kernels::norm_inv(0.0), -inf);
    EXPECT_EQ(kernels::norm_inv(1.0), inf);
    EXPECT_NEAR(kernels::norm_inv(smallest), -38.467405617144344, 1e-13);
    for (const double p : {-smallest, -1.0, 1.0000000000000002, 2.0, inf, -inf, quiet_nan}) {
        EXPECT_TRUE(std::isnan(kernels::norm_inv(p))) << p;
    }
}

TEST(math_single_precision, error_bounds) {
    worst_case exp;
    worst_case log;
    worst_case sine;
    worst_case cosine;
    worst_case pow;
    worst_case cdf;
    arguments random(10);
    for (int i = 0; i < 700000; ++i) {
        const float a = static_cast<float>(random.between(-104.0, 89.0));
        compare_single(exp, a, 0, kernels::exp(a), std::exp(static_cast<double>(a)));
        const float b =
            i % 2 == 0 ? random.single_positive() : static_cast<float>(random.log_between(0.25, 4.0));
        compare_single(log, b, 0, kernels::log(b), std::log(static_cast<double>(b)));
        const float c = static_cast<float>(random.sign() * random.log_between(1e-6, 0x1p20));
        compare_single(sine, c, 0, kernels::sin(c), std::sin(static_cast<double>(c)));
        compare_single(cosine, c, 0, kernels::cos(c), std::cos(static_cast<double>(c)));
        const float y = static_cast<float>(random.between(-104.0, 89.0) / std::log(static_cast<double>(b)));
        compare_single(pow, b, y, kernels::pow(b, y),
                       std::pow(static_cast<double>(b), static_cast<double>(y)));
        const float e = static_cast<float>(i % 2 == 0 ? random.between(-14.3, 0.0)
                                                      : random.sign() * random.log_between(1e-6, 6.0));
        compare_single(cdf, e, 0, kernels::norm_cdf(e),
                       0.5 * std::erfc(-static_cast<double>(e) * 0.70710678118654752));
    }
    exp.check("single exp", 1.1);
    log.check("single log", 0.9);
    sine.check("single sin", 1.6);
    cosine.check("single cos", 1.6);
    pow.check("single pow", 1.4);
    cdf.check("single norm_cdf", 2.6);
}

TEST(math_single_precision, norm_inv_error_bound) {
    worst_case worst;
    arguments random(11);
    for (int i = 0; i < 500000; ++i) {
        const float p = static_cast<float>(i % 2 == 0 ? random.unit() : random.log_between(1e-45, 0.5));
        if (!(p > 0.0f && p < 1.0f)) continue;
        compare_single(worst, p, 0, kernels::norm_inv(p), kernels::norm_inv(static_cast<double>(p)));
    }
    worst.check("single norm_inv", 3.0, 400000);
}

TEST(math_single_precision, special_values) {
    constexpr float single_inf = std::numeric_limits<float>::infinity();
    constexpr float single_nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(kernels::exp(single_inf), single_inf);
    EXPECT_EQ(kernels::exp(-single_inf), 0.0f);
    EXPECT_EQ(kernels::log(0.0f), -single_inf);
    EXPECT_EQ(kernels::log(single_inf), single_inf);
    EXPECT_TRUE(std::isnan(kernels::log(-1.0f)));
    EXPECT_TRUE(std::isnan(kernels::sin(single_inf)));
    EXPECT_TRUE(std::isnan(kernels::cos(0x1.000002p20f)));
    EXPECT_EQ(kernels::norm_cdf(single_inf), 1.0f);
    EXPECT_EQ(kernels::norm_cdf(-single_inf), 0.0f);
    EXPECT_EQ(kernels::norm_inv(0.0f), -single_inf);
    EXPECT_EQ(kernels::norm_inv(1.0f), single_inf);
    EXPECT_EQ(kernels::norm_inv(0.5f), 0.0f);
    for (const float got : {kernels::exp(single_nan), kernels::log(single_nan), kernels::sin(single_nan),
                            kernels::norm_cdf(single_nan), kernels::norm_inv(single_nan)}) {
        EXPECT_TRUE(std::isnan(got));
    }
}

TEST(math_order, min_and_max_of_nan_and_zeros) {
    EXPECT_EQ(kernels::min(1.0, 2.0), 1.0);
    EXPECT_EQ(kernels::max(1.0, 2.0), 2.0);
    EXPECT_EQ(kernels::min(quiet_nan, 2.0), 2.0);
    EXPECT_TRUE(std::isnan(kernels::min(2.0, quiet_nan)));
    EXPECT_EQ(kernels::max(quiet_nan, 2.0), 2.0);
    EXPECT_TRUE(std::isnan(kernels::max(2.0, quiet_nan)));
    EXPECT_TRUE(std::signbit(kernels::min(0.0, -0.0)));
    EXPECT_FALSE(std::signbit(kernels::min(-0.0, 0.0)));
    EXPECT_FALSE(std::signbit(kernels::abs(-0.0)));
    EXPECT_TRUE(std::isnan(kernels::clamp(quiet_nan, 0.0, 1.0)));
}

}  // namespace math_test
