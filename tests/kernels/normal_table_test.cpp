// SPDX-License-Identifier: Apache-2.0
// Normals of random bits from a table, against norm_inv at the same probability.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ios>
#include <random>

#include "engine/numerics/quasi/normal_tables.h"
#include "kernels/normal_distribution.h"
#include "kernels/normal_table.h"

namespace tilewalk::normal_table_test {
namespace {

using kernels::word32;
using kernels::word64;

double in_table(word64 w) {
    return kernels::normal_of(quasi::normal_table<double>(), kernels::place_in_normals(w));
}
float in_table(word32 w) {
    return kernels::normal_of(quasi::normal_table<float>(), kernels::place_in_normals(w));
}
double truth(word64 w) {
    const bool is_upper = w >> 63 != 0;
    const double x = kernels::norm_inv((static_cast<double>((is_upper ? ~w : w) >> 11) + 0.5) * 0x1p-53);
    return is_upper ? -x : x;
}
double truth(word32 w) {
    const bool is_upper = w >> 31 != 0;
    const double x = kernels::norm_inv((static_cast<double>(is_upper ? ~w : w) + 0.5) * 0x1p-32);
    return is_upper ? -x : x;
}

template <class word, class body>
void for_bits(const body& of) {
    std::mt19937_64 dice(17);
    constexpr int width = 8 * static_cast<int>(sizeof(word));
    for (int i = 0; i < 400'000; ++i) {
        const auto w = static_cast<word>(static_cast<word>(dice()) >> (i % (width - 2)));
        of(w);
        of(static_cast<word>(~w));
    }
    const word middle = word{1} << (width - 1);
    for (const word w : {word{0}, static_cast<word>(middle - 1), middle, static_cast<word>(~word{0})}) of(w);
}

}  // namespace

TEST(normal_table, is_near_the_inverse_in_double) {
    for_bits<word64>([](word64 w) { ASSERT_NEAR(in_table(w), truth(w), 4e-12) << std::hex << w; });
}

TEST(normal_table, is_near_the_inverse_in_single) {
    for_bits<word32>([](word32 w) {
        ASSERT_NEAR(in_table(w), truth(w), 4e-7 * std::max(1.0, std::abs(truth(w)))) << std::hex << w;
    });
}

TEST(normal_table, mirrors_the_halves) {
    for_bits<word64>([](word64 w) { ASSERT_EQ(in_table(w), -in_table(~w)); });
    for_bits<word32>([](word32 w) { ASSERT_EQ(in_table(w), -in_table(~w)); });
}

}  // namespace tilewalk::normal_table_test
