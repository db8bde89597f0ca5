// SPDX-License-Identifier: Apache-2.0
// Every lane loop of every instruction set that this machine has gives the same bits as its operation on
// single numbers; shocks have the bits of the kernel headers.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "engine/walk/cpu/lane_operations.h"
#include "kernels/shocks.h"
#include "products/program/evaluate.h"

namespace lanes_test {
namespace {

namespace cpu = tilewalk::cpu;
namespace kernels = tilewalk::kernels;
namespace program = tilewalk::program;

struct alignas(64) lane_vector {
    std::array<double, cpu::lanes> x{};
};
struct alignas(64) lane_block {
    double x[2][cpu::lanes];
};

// The bits of a number, the same for all NaNs: a NaN's sign and payload follow from the order of operands,
// which compilers may exchange.
std::uint64_t bits(double x) {
    return std::isnan(x) ? std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN())
                         : std::bit_cast<std::uint64_t>(x);
}

std::vector<double> special_numbers() {
    const double inf = std::numeric_limits<double>::infinity();
    return {0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            2.0,
            -2.5,
            3.0,
            inf,
            -inf,
            std::numeric_limits<double>::quiet_NaN(),
            std::numeric_limits<double>::denorm_min(),
            -std::numeric_limits<double>::denorm_min(),
            std::numeric_limits<double>::min(),
            std::numeric_limits<double>::max(),
            -std::numeric_limits<double>::max(),
            709.78271289338397,
            709.7827128933841,
            -745.13321910194122,
            -708.5,
            0x1p20,
            0x1.0000000000001p20,
            0x1p52,
            0x1p53,
            1e-300,
            0.99999999999999989,
            1.0000000000000002,
            -38.0,
            8.3};
}

// Numbers in the interesting ranges of the operations, any bit pattern, and special values.
class number_source {
  public:
    explicit number_source(std::uint64_t seed) : random_(seed), special_(special_numbers()) {}

    double next() {
        const double unit = std::ldexp(static_cast<double>(random_() >> 11), -53);
        switch (random_() % 8) {
            case 0:
                return special_[random_() % special_.size()];
            case 1:
                return std::bit_cast<double>(random_());
            case 2:
                return unit;
            case 3:
                return std::floor(unit * 10) - 5;
            case 4:
                return unit * 1500 - 750;
            case 5:
                return std::ldexp(unit + 1, static_cast<int>(random_() % 40) - 20) *
                       ((random_() & 1) != 0 ? 1.0 : -1.0);
            default:
                return unit * 20 - 10;
        }
    }
    lane_vector next_vector() {
        lane_vector v;
        for (double& x : v.x) x = next();
        return v;
    }
    std::uint64_t word() { return random_(); }

  private:
    std::mt19937_64 random_;
    std::vector<double> special_;
};

class lanes : public testing::TestWithParam<int> {
  protected:
    void SetUp() override {
        const auto list = cpu::runnable_instruction_sets();
        if (GetParam() >= list.count)
            GTEST_SKIP() << "this machine runs " << list.count << " instruction sets";
        set_ = list.sets[static_cast<std::size_t>(GetParam())];
    }
    const cpu::lane_operations& set() const { return *set_; }

  private:
    const cpu::lane_operations* set_ = nullptr;
};

}  // namespace

TEST(lanes_instruction_sets, are_listed_best_first_with_names) {
    const auto list = cpu::runnable_instruction_sets();
    ASSERT_LE(list.count, static_cast<int>(list.sets.size()));
    for (int i = 0; i < list.count; ++i) {
        ASSERT_NE(list.sets[static_cast<std::size_t>(i)], nullptr);
        EXPECT_FALSE(list.sets[static_cast<std::size_t>(i)]->name.empty());
    }
    if (list.count == 2) {
        EXPECT_EQ(list.sets[0]->name, "x86-64-v4");
        EXPECT_EQ(list.sets[1]->name, "x86-64-v3");
    }
}

#if defined(__x86_64__)
// A machine with AVX-512 lists AVX2 as well, so that the bits of both are compared.
TEST(lanes_instruction_sets, of_avx_512_stand_beside_that_of_avx2) {
    __builtin_cpu_init();
    const auto list = cpu::runnable_instruction_sets();
    ASSERT_EQ(list.count > 0, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    for (int i = 0; i < list.count; ++i) {
        const bool is_last = i + 1 == list.count;
        EXPECT_EQ(list.sets[static_cast<std::size_t>(i)]->name, is_last ? "x86-64-v3" : "x86-64-v4");
    }
}
#endif

TEST_P(lanes, have_a_loop_for_each_operation_and_mode) {
    for (const auto& entry : program::operations) {
        for (int mode = 0; mode < 8; ++mode) {
            const bool expected = program::is_function(entry.code) && mode < (1 << entry.arity) - 1;
            const auto loop =
                set().in_double.loops[static_cast<std::size_t>(entry.code)][static_cast<std::size_t>(mode)];
            EXPECT_EQ(loop != nullptr, expected) << set().name << ' ' << entry.name << " mode " << mode;
        }
    }
}

TEST_P(lanes, equal_evaluate_bit_for_bit) {
    number_source source(1);
    for (const auto& entry : program::operations) {
        for (int mode = 0; mode < 8; ++mode) {
            const auto loop =
                set().in_double.loops[static_cast<std::size_t>(entry.code)][static_cast<std::size_t>(mode)];
            if (loop == nullptr) continue;
            for (int round = 0; round < 40; ++round) {
                const lane_vector a = source.next_vector();
                const lane_vector b = source.next_vector();
                const lane_vector c = source.next_vector();
                lane_vector out;
                loop(out.x.data(), a.x.data(), b.x.data(), c.x.data());
                for (std::size_t lane = 0; lane < out.x.size(); ++lane) {
                    const double x = a.x[(mode & 1) != 0 ? 0 : lane];
                    const double y = b.x[(mode & 2) != 0 ? 0 : lane];
                    const double z = c.x[(mode & 4) != 0 ? 0 : lane];
                    const double expected = program::evaluate(entry.code, x, y, z);
                    ASSERT_EQ(bits(out.x[lane]), bits(expected))
                        << set().name << ' ' << entry.name << " mode " << mode << " lane " << lane
                        << std::hexfloat << " (" << x << ", " << y << ", " << z << "): got " << out.x[lane]
                        << ", expected " << expected;
                }
                // The result may overwrite any operand that is a vector.
                for (int place = 0; place < entry.arity; ++place) {
                    if ((mode & (1 << place)) != 0) continue;
                    std::array<lane_vector, 3> operands{a, b, c};
                    double* target = operands[static_cast<std::size_t>(place)].x.data();
                    loop(target, operands[0].x.data(), operands[1].x.data(), operands[2].x.data());
                    for (std::size_t lane = 0; lane < out.x.size(); ++lane) {
                        ASSERT_EQ(bits(target[lane]), bits(out.x[lane]))
                            << set().name << ' ' << entry.name << " mode " << mode << " in place of operand "
                            << place;
                    }
                }
            }
        }
    }
}

TEST_P(lanes, fill_and_copy) {
    number_source source(2);
    const lane_vector from = source.next_vector();
    lane_vector out;
    set().in_double.copy(out.x.data(), from.x.data());
    for (std::size_t lane = 0; lane < out.x.size(); ++lane) ASSERT_EQ(bits(out.x[lane]), bits(from.x[lane]));
    set().in_double.fill(out.x.data(), -2.5);
    for (const double x : out.x) ASSERT_EQ(x, -2.5);
}

TEST_P(lanes, shocks_equal_the_kernel_headers) {
    number_source source(3);
    struct origin {
        std::uint64_t seed;
        std::uint64_t first_path;
        std::uint32_t block;
        kernels::stream_key name{};
    };
    std::vector<origin> origins = {
        {0, 0, 0, {}},
        {~std::uint64_t{0}, ~std::uint64_t{0} - 100, ~std::uint32_t{0}, {~0u, ~0u}},
        {42, (std::uint64_t{1} << 32) - 128, 7, kernels::stream_key_of(7)},
        {0x9E3779B97F4A7C15u, (std::uint64_t{5} << 32) - 1, 1, {}}};
    for (int i = 0; i < 400; ++i) {
        origins.push_back({source.word(), source.word(), static_cast<std::uint32_t>(source.word()),
                           kernels::stream_key_of(source.word())});
    }
    for (const auto& at : origins) {
        lane_block normals, uniforms;
        set().double_draws.normals(normals.x, at.seed, at.first_path, at.block, at.name);
        set().double_draws.uniforms(uniforms.x, at.seed, at.first_path, at.block, at.name);
        for (std::size_t lane = 0; lane < cpu::lanes; ++lane) {
            const auto normal = kernels::normals(at.seed, at.first_path + lane, at.block, at.name);
            const auto uniform = kernels::uniforms(at.seed, at.first_path + lane, at.block, at.name);
            ASSERT_EQ(bits(normals.x[0][lane]), bits(normal.first))
                << set().name << ' ' << at.seed << ' ' << at.first_path << ' ' << lane;
            ASSERT_EQ(bits(normals.x[1][lane]), bits(normal.second))
                << set().name << ' ' << at.seed << ' ' << at.first_path << ' ' << lane;
            ASSERT_EQ(bits(uniforms.x[0][lane]), bits(uniform.first))
                << set().name << ' ' << at.seed << ' ' << at.first_path << ' ' << lane;
            ASSERT_EQ(bits(uniforms.x[1][lane]), bits(uniform.second))
                << set().name << ' ' << at.seed << ' ' << at.first_path << ' ' << lane;
        }
    }
}

// A hash (FNV-1a) over 256 lanes of every operation and of shocks. It is the same for every compiler,
// optimisation level and instruction set. If it changes, prices change, which must be announced.
TEST_P(lanes, have_the_bits_of_every_other_build) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    const auto add = [&](const auto& numbers) {
        for (const double x : numbers) {
            for (int byte = 0; byte < 8; ++byte)
                hash = (hash ^ ((bits(x) >> (8 * byte)) & 0xff)) * 0x100000001b3u;
        }
    };
    number_source source(4);
    for (const auto& entry : program::operations) {
        if (!program::is_function(entry.code)) continue;
        for (int round = 0; round < 20; ++round) {
            const lane_vector a = source.next_vector();
            const lane_vector b = source.next_vector();
            const lane_vector c = source.next_vector();
            lane_vector out;
            set().in_double.loops[static_cast<std::size_t>(entry.code)][0](out.x.data(), a.x.data(),
                                                                           b.x.data(), c.x.data());
            add(out.x);
        }
    }
    for (std::uint32_t block = 0; block < 50; ++block) {
        lane_block drawn;
        set().double_draws.normals(drawn.x, 42, 1000 * std::uint64_t{block}, block, {});
        for (const auto& shocks : drawn.x) add(shocks);
        set().double_draws.uniforms(drawn.x, 42, 1000 * std::uint64_t{block}, block, {});
        for (const auto& shocks : drawn.x) add(shocks);
    }
    EXPECT_EQ(hash, 0xf5734ac61cb2ffadu) << std::hex << set().name << ": 0x" << hash;
}

INSTANTIATE_TEST_SUITE_P(instruction_sets, lanes, testing::Values(0, 1),
                         [](const auto& set) { return set.param == 0 ? "best" : "second"; });

TEST(lanes_evaluate, small_cases) {
    using program::operation;
    if (cpu::runnable_instruction_sets().count == 0) GTEST_SKIP() << "no instruction set with fma";
    EXPECT_EQ(program::evaluate(operation::add, 1, 2, 0), 3);
    EXPECT_EQ(program::evaluate(operation::sub, 1, 2, 0), -1);
    EXPECT_EQ(program::evaluate(operation::mul, 3, 2, 0), 6);
    EXPECT_EQ(program::evaluate(operation::div, 3, 2, 0), 1.5);
    EXPECT_EQ(program::evaluate(operation::fma, 3, 2, 1), 7);
    EXPECT_EQ(program::evaluate(operation::neg, 3, 0, 0), -3);
    EXPECT_EQ(program::evaluate(operation::floor, -2.5, 0, 0), -3);
    EXPECT_EQ(program::evaluate(operation::select, 1, 5, 7), 5);
    EXPECT_EQ(program::evaluate(operation::select, 0, 5, 7), 7);
    EXPECT_EQ(program::evaluate(operation::less, 1, 2, 0), 1);
    EXPECT_EQ(program::evaluate(operation::less, 2, 2, 0), 0);
    EXPECT_EQ(program::evaluate(operation::less_equal, 2, 2, 0), 1);
    EXPECT_EQ(program::evaluate(operation::equal, 2, 2, 0), 1);
    EXPECT_EQ(program::evaluate(operation::logical_not, 0, 0, 0), 1);
    EXPECT_EQ(program::evaluate(operation::logical_and, 1, 0, 0), 0);
    EXPECT_EQ(program::evaluate(operation::logical_or, 1, 0, 0), 1);
    EXPECT_EQ(program::evaluate(operation::pow, 2, 10, 0), 1024);
    EXPECT_EQ(program::evaluate(operation::sqrt, 9, 0, 0), 3);
    EXPECT_EQ(program::evaluate(operation::exp, 0, 0, 0), 1);
    EXPECT_EQ(program::evaluate(operation::min, 2, 1, 0), 1);
    EXPECT_EQ(program::evaluate(operation::max, 2, 1, 0), 2);
    EXPECT_EQ(program::evaluate(operation::abs, -2, 0, 0), 2);
}

}  // namespace lanes_test
