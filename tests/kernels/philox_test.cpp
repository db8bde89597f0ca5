// SPDX-License-Identifier: Apache-2.0
// The random numbers: Philox against published vectors and Random123, the map from bits to uniforms and
// normals, and their moments and correlations.
#include "kernels/philox.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "kernels/draws.h"
#include "kernels/fill_kernel.h"
#include "kernels/shocks.h"

namespace philox_test {
namespace {

namespace kernels = tilewalk::kernels;
using block = std::array<std::uint32_t, 4>;

template <int rounds = kernels::philox_rounds>
block philox(const block& c, const std::array<std::uint32_t, 2>& key) {
    const auto b = kernels::philox<rounds>({c[0], c[1], c[2], c[3]}, {key[0], key[1]});
    return {b.x0, b.x1, b.x2, b.x3};
}

// Averages over many draws must lie within 5 standard errors: each check fails for one seed in 1.7 million.
// The seeds are fixed, so a failure means that the numbers changed.
constexpr double allowed_errors = 5.0;

class average {
  public:
    void add(double x) {
        ++count_;
        sum_ += x;
    }
    // The distance of the average from the expected value in standard errors, given the variance of one term.
    double z(double expected, double variance) const {
        const auto n = static_cast<double>(count_);
        return (sum_ / n - expected) / std::sqrt(variance / n);
    }

  private:
    std::uint64_t count_ = 0;
    double sum_ = 0;
};

}  // namespace

TEST(philox, known_answers) {
    struct known {
        block counter;
        std::array<std::uint32_t, 2> key;
        block answer;
    };
    // Test vectors of the algorithm's authors, from their file kat_vectors.
    const std::vector<known> cases = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (const auto& known : cases)
        EXPECT_EQ(philox(known.counter, known.key), known.answer) << std::hex << known.key[0];
}

namespace {

template <int rounds>
void expect_random123() {
    std::mt19937_64 random(1);
    r123::Philox4x32_R<unsigned{rounds}> reference;
    for (int i = 0; i < 1000000; ++i) {
        const std::uint64_t a = random();
        const std::uint64_t b = random();
        const std::uint64_t k = random();
        const block counter = {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32),
                               static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32)};
        const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(k),
                                                  static_cast<std::uint32_t>(k >> 32)};
        const auto expected =
            reference({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
        const block got = philox<rounds>(counter, key);
        for (std::size_t j = 0; j < 4; ++j) {
            ASSERT_EQ(got[j], expected[j])
                << "word " << j << " of counter " << std::hex << a << ' ' << b << ", key " << k;
        }
    }
}

}  // namespace

TEST(philox, equals_random123) {
    expect_random123<kernels::philox_rounds>();
    expect_random123<7>();
}

// The Philox counter holds 40 bits of the path, 24 of the block, 2 of the kind and 62 of the stream's name.
TEST(philox, counter_is_path_block_kind_and_name) {
    constexpr std::uint64_t name = 0x2bcdef0123456789;
    const auto got =
        kernels::path_block(0x0123456789abcdefu, 0xa876543210u, 77, 1, kernels::stream_key_of(name));
    const block expected = philox(
        {0x76543210u, 0xa8u % 4 | (name % (1u << 30) << 2), 77 | 1u << 24 | 0xa8u / 4 << 26, name >> 30},
        {0x89abcdefu, 0x01234567u});
    EXPECT_EQ((block{got.x0, got.x1, got.x2, got.x3}), expected);
    EXPECT_EQ(kernels::low_word(got), got.x0 + (kernels::word64{got.x1} << 32));
    EXPECT_EQ(kernels::high_word(got), got.x2 + (kernels::word64{got.x3} << 32));
}

namespace {

template <int rounds>
void expect_blocks_of_paths() {
    std::mt19937_64 random(3);
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t seed = random(), first = random() & ~std::uint64_t{3};
        const auto keys = kernels::schedule_of(seed);
        const auto number = static_cast<std::uint32_t>(random());
        const kernels::stream_key name = kernels::stream_key_of(random());
        for (std::uint32_t w = 0; w < 4; ++w) {
            const kernels::path_stream<1, rounds> plain(keys, first, w, name);
            const kernels::prepared_path_stream<1, rounds> prepared(keys, first, w, name);
            const auto expected = kernels::path_block<rounds>(seed, first + w, number, 1, name);
            for (const auto& got : {plain[number], prepared[number]}) {
                ASSERT_EQ((block{got.x0, got.x1, got.x2, got.x3}),
                          (block{expected.x0, expected.x1, expected.x2, expected.x3}));
            }
        }
    }
}

}  // namespace

TEST(philox, streams_of_a_path_give_its_blocks) {
    expect_blocks_of_paths<kernels::philox_rounds>();
    expect_blocks_of_paths<7>();
}

namespace {

// Tests draws whose block number needs all its 24 bits, as on paths of many steps and shocks. Compares both
// ways of each kind of draw with Philox at the counter itself.
template <class draws>
void expect_blocks_by_all_bits() {
    constexpr kernels::word64 seed = 0x0123456789abcdefu, path = 0x7776543210u;
    constexpr kernels::stream_key name = kernels::stream_key_of(0x3456789abcdef012);
    constexpr auto keys = kernels::schedule_of(seed);
    const auto drawn_from = [&](std::uint32_t number, std::uint32_t stream) {
        const block made =
            philox({0x76543210u, 0x77u % 4 | name.low, number | stream << 24 | 0x77u / 4 << 26, name.high},
                   {0x89abcdefu, 0x01234567u});
        return kernels::philox_block{made[0], made[1], made[2], made[3]};
    };
    for (const std::uint32_t number :
         {0u, 1u, 255u, 256u, 65'535u, 65'536u, 65'539u, 1u << 23, 0x800005u, (1u << 24) - 1}) {
        const auto of_normals = drawn_from(number, kernels::normal_stream),
                   of_uniforms = drawn_from(number, kernels::uniform_stream);
        const typename draws::template path_bits<kernels::normal_stream> normal(keys, path, 0, name);
        const typename draws::template path_bits<kernels::uniform_stream> uniform(keys, path, 0, name);
        const auto by_path = draws::normals(seed, path, number, name),
                   by_bits = draws::normals(normal, number);
        const auto level = draws::uniforms(seed, path, number, name),
                   level_by_bits = draws::uniforms(uniform, number);
        for (int i = 0; i < draws::per_block; ++i) {
            double z = 0, u = 0;
            if constexpr (draws::per_block == 2) {
                const auto two = kernels::normals_of_block(of_normals);
                const auto levels = kernels::uniforms_of_block(of_uniforms);
                z = i == 0 ? two.first : two.second;
                u = i == 0 ? levels.first : levels.second;
            } else {
                z = static_cast<double>(kernels::single_normals_of_block(of_normals).x[i]);
                u = static_cast<double>(kernels::single_uniforms_of_block(of_uniforms).x[i]);
            }
            for (const auto& got : {by_path, by_bits}) EXPECT_EQ(static_cast<double>(got.x[i]), z) << number;
            for (const auto& got : {level, level_by_bits})
                EXPECT_EQ(static_cast<double>(got.x[i]), u) << number;
        }
    }
}

}  // namespace

TEST(philox_shocks, come_from_the_block_by_all_bits_of_its_number) {
    expect_blocks_by_all_bits<kernels::double_draws>();
    expect_blocks_by_all_bits<kernels::single_draws>();
}

namespace {

template <class shock>
struct kept_stores {
    static inline std::vector<shock> got;
    static void store(const shock*, const kernels::neighbours<shock, kernels::fill_width<shock>>& x) {
        got.insert(got.end(), std::begin(x.x), std::end(x.x));
    }
};

template <class draws>
void expect_cubes_by_all_bits() {
    using shock = typename draws::shock;
    constexpr int width = kernels::fill_width<shock>;
    constexpr kernels::word64 seed = 5, first_path = 1024, number = 70'003, thread = 3;
    std::array<shock, 1> nowhere{};
    const kernels::draws_arguments a{
        {nowhere.data(), 0, (number + 1) * draws::per_block, kernels::word64{kernels::fill_threads} * width},
        seed,
        first_path,
        (number + 1) * draws::per_block,
        {},
        1,
        1,
        nullptr};
    kept_stores<shock>::got.clear();
    kernels::draw_shocks<draws, kernels::shock_kind::normal, kept_stores<shock>>(a, number, thread);
    kernels::draw_shocks<draws, kernels::shock_kind::uniform, kept_stores<shock>>(a, number, thread);
    std::vector<shock> expected;
    for (const bool is_normal : {true, false}) {
        for (int i = 0; i < draws::per_block; ++i) {
            for (int w = 0; w < width; ++w) {
                const kernels::word64 path = first_path + thread * width + static_cast<kernels::word64>(w);
                const auto at = static_cast<std::uint32_t>(number);
                expected.push_back(
                    (is_normal ? draws::normals(seed, path, at) : draws::uniforms(seed, path, at)).x[i]);
            }
        }
    }
    EXPECT_EQ(kept_stores<shock>::got, expected);
}

}  // namespace

TEST(philox_shocks, fill_cubes_of_more_than_65536_blocks) {
    expect_cubes_by_all_bits<kernels::double_draws>();
    expect_cubes_by_all_bits<kernels::single_draws>();
}

TEST(philox_shocks, uniforms_lie_strictly_inside) {
    EXPECT_EQ(kernels::uniform_of_bits(kernels::word64{0}), 0x1p-53);
    EXPECT_EQ(kernels::uniform_of_bits(~kernels::word64{0}), 1.0 - 0x1p-53);
    EXPECT_EQ(kernels::uniform_of_bits(kernels::word64{1} << 63), 0.5 + 0x1p-53);
    EXPECT_EQ(kernels::uniform_of_bits(kernels::word32{0}), 0x1p-24f);
    EXPECT_EQ(kernels::uniform_of_bits(~kernels::word32{0}), 1.0f - 0x1p-24f);
    std::mt19937_64 random(2);
    for (int i = 0; i < 100000; ++i) {
        const std::uint64_t w = random();
        ASSERT_EQ(kernels::uniform_of_bits(static_cast<kernels::word64>(w)),
                  (static_cast<double>(w >> 12) + 0.5) * 0x1p-52)
            << w;
        const auto s = static_cast<std::uint32_t>(w);
        ASSERT_EQ(kernels::uniform_of_bits(s), (static_cast<float>(s >> 9) + 0.5f) * 0x1p-23f) << s;
    }
}

TEST(philox_shocks, normals_are_box_muller) {
    for (std::uint64_t path = 0; path < 100000; ++path) {
        const auto bits = kernels::path_block(42, path, 3, kernels::normal_stream);
        const double u = (static_cast<double>(kernels::low_word(bits) >> 12) + 0.5) * 0x1p-52;
        const double angle =
            2 * 3.141592653589793 * std::ldexp(static_cast<double>(kernels::high_word(bits)), -64);
        const double radius = std::sqrt(-2 * std::log(u));
        const auto got = kernels::normals(42, path, 3);
        ASSERT_NEAR(got.first, radius * std::cos(angle), 1e-14) << path;
        ASSERT_NEAR(got.second, radius * std::sin(angle), 1e-14) << path;

        const auto single = kernels::single_normals(42, path, 3);
        const float expected[4] = {static_cast<float>(std::sqrt(-2 * std::log((bits.x0 + 0.5) * 0x1p-32)) *
                                                      std::cos(bits.x1 * 0x1p-31 * M_PI)),
                                   static_cast<float>(std::sqrt(-2 * std::log((bits.x0 + 0.5) * 0x1p-32)) *
                                                      std::sin(bits.x1 * 0x1p-31 * M_PI)),
                                   static_cast<float>(std::sqrt(-2 * std::log((bits.x2 + 0.5) * 0x1p-32)) *
                                                      std::cos(bits.x3 * 0x1p-31 * M_PI)),
                                   static_cast<float>(std::sqrt(-2 * std::log((bits.x2 + 0.5) * 0x1p-32)) *
                                                      std::sin(bits.x3 * 0x1p-31 * M_PI))};
        // Near u = 1, rounding u moves the radius by up to the root of the rounding error.
        for (int i = 0; i < 4; ++i) ASSERT_NEAR(single.x[i], expected[i], 4e-4f) << path << ' ' << i;
    }
    const auto largest = kernels::normals_of_bits(kernels::word64{0}, kernels::word64{0});
    EXPECT_NEAR(largest.first, 8.5717, 1e-4);
    EXPECT_EQ(largest.second, 0.0);
    const auto largest_single = kernels::normals_of_bits(kernels::word32{0}, kernels::word32{0});
    EXPECT_NEAR(largest_single.cosine, 6.7637f, 1e-3f);
    const auto least_single = kernels::normals_of_bits(~kernels::word32{0}, kernels::word32{0});
    EXPECT_NEAR(least_single.cosine, 0.0f, 1e-3f);
}

TEST(philox_shocks, moments_and_correlations_of_normals) {
    constexpr int paths = 4096;
    constexpr std::uint32_t blocks = 256;  // times 4096 paths: 2 million normals
    average m1, m2, m3, m4, tail, pair, pair_of_squares, next_block, next_path, other_seed;
    std::vector<double> previous(blocks, 0.0);
    for (std::uint64_t path = 0; path < paths; ++path) {
        double before = 0;
        for (std::uint32_t b = 0; b < blocks; ++b) {
            const auto x = kernels::normals(7, path, b);
            for (const double v : {x.first, x.second}) {
                m1.add(v);
                m2.add(v * v);
                m3.add(v * v * v);
                m4.add(v * v * v * v);
                tail.add(std::abs(v) > 3 ? 1 : 0);
            }
            pair.add(x.first * x.second);
            pair_of_squares.add((x.first * x.first - 1) * (x.second * x.second - 1));
            if (b > 0) next_block.add(before * x.first);
            before = x.first;
            if (path > 0) next_path.add(previous[b] * x.first);
            previous[b] = x.first;
            other_seed.add(x.first * kernels::normals(8, path, b).first);
        }
    }
    EXPECT_LT(std::abs(m1.z(0, 1)), allowed_errors);
    EXPECT_LT(std::abs(m2.z(1, 2)), allowed_errors);
    EXPECT_LT(std::abs(m3.z(0, 15)), allowed_errors);
    EXPECT_LT(std::abs(m4.z(3, 96)), allowed_errors);
    const double beyond = std::erfc(3 / std::sqrt(2.0));
    EXPECT_LT(std::abs(tail.z(beyond, beyond * (1 - beyond))), allowed_errors);
    EXPECT_LT(std::abs(pair.z(0, 1)), allowed_errors);
    EXPECT_LT(std::abs(pair_of_squares.z(0, 4)), allowed_errors);
    EXPECT_LT(std::abs(next_block.z(0, 1)), allowed_errors);
    EXPECT_LT(std::abs(next_path.z(0, 1)), allowed_errors);
    EXPECT_LT(std::abs(other_seed.z(0, 1)), allowed_errors);
    EXPECT_GT(std::abs(m1.z(0.01, 1)), allowed_errors);
}

TEST(philox_shocks, moments_and_cells_of_uniforms) {
    constexpr int cells = 256;
    std::vector<double> count(cells, 0.0);
    average m1, pair, against_normal;
    constexpr int paths = 500000;
    for (std::uint64_t path = 0; path < paths; ++path) {
        const auto u = kernels::uniforms(7, path, 5);
        for (const double v : {u.first, u.second}) {
            m1.add(v);
            count[static_cast<std::size_t>(v * cells)] += 1;
        }
        pair.add((u.first - 0.5) * (u.second - 0.5));
        against_normal.add((u.first - 0.5) * kernels::normals(7, path, 5).first);
    }
    EXPECT_LT(std::abs(m1.z(0.5, 1.0 / 12)), allowed_errors);
    EXPECT_LT(std::abs(pair.z(0, 1.0 / 144)), allowed_errors);
    EXPECT_LT(std::abs(against_normal.z(0, 1.0 / 12)), allowed_errors);
    double chi_square = 0;
    const double expected = 2.0 * paths / cells;
    for (const double n : count) chi_square += (n - expected) * (n - expected) / expected;
    // The statistic is chi-squared with 255 degrees of freedom: mean 255, standard deviation 22.6.
    EXPECT_LT(std::abs(chi_square - 255) / 22.6, allowed_errors) << chi_square;
}

TEST(philox_shocks, single_normals_and_uniforms_have_their_moments) {
    average m1, m2, m4, pair, u1;
    for (std::uint64_t path = 0; path < 300000; ++path) {
        const auto x = kernels::single_normals(9, path, 0);
        const auto u = kernels::single_uniforms(9, path, 0);
        for (int i = 0; i < 4; ++i) {
            const auto v = static_cast<double>(x.x[i]);
            m1.add(v);
            m2.add(v * v);
            m4.add(v * v * v * v);
            pair.add(v * static_cast<double>(x.x[(i + 1) % 4]));
            ASSERT_GT(u.x[i], 0.0f);
            ASSERT_LT(u.x[i], 1.0f);
            u1.add(static_cast<double>(u.x[i]));
        }
    }
    EXPECT_LT(std::abs(m1.z(0, 1)), allowed_errors);
    EXPECT_LT(std::abs(m2.z(1, 2)), allowed_errors);
    EXPECT_LT(std::abs(m4.z(3, 96)), allowed_errors);
    EXPECT_LT(std::abs(pair.z(0, 1)), allowed_errors);
    EXPECT_LT(std::abs(u1.z(0.5, 1.0 / 12)), allowed_errors);
}

}  // namespace philox_test
