// SPDX-License-Identifier: Apache-2.0
// Shocks taken from arrays. With our own random numbers in an array a walk has the same bits, numbers of
// another type are converted as the precision requires, and an array that is too small is refused.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/walk/arrays/shock_file.h"
#include "engine/walk/arrays/shock_writer.h"
#include "engine/walk/cpu/tile_pool.h"
#include "tests/own_folder.h"
#include "tests/plain_walk.h"
#include "tests/whole.h"
#include "tilewalk/error.h"

namespace tilewalk::replay_walk_test {
namespace {

using program::precision;

constexpr std::uint64_t seed = 11;
constexpr std::size_t steps = 5;

// Shocks by step, slot and path, with gaps between slots and steps, and only for the paths that are walked.
template <class element>
class cube {
  public:
    cube(std::uint64_t slots, std::uint64_t paths)
        : slots_(slots),
          paths_(paths),
          numbers_(slots == 0 ? 0 : (steps - 1) * step_stride() + (slots - 1) * slot_stride() + paths) {}

    template <class shock>
    void fill(const shock& number_of) {
        for (std::uint64_t step = 0; step < steps; ++step) {
            for (std::uint64_t slot = 0; slot < slots_; ++slot) {
                for (std::uint64_t path = 0; path < paths_; ++path) {
                    numbers_[step * step_stride() + slot * slot_stride() + path] =
                        static_cast<element>(number_of(step * slots_ + slot, path));
                }
            }
        }
    }
    const element& at(std::uint64_t number, std::uint64_t path) const {
        return numbers_[number / slots_ * step_stride() + number % slots_ * slot_stride() + path];
    }
    arrays::shock_cube view() const {
        return {numbers_.data(), step_stride(), slot_stride(), steps, slots_, paths_};
    }

  private:
    static constexpr std::uint64_t margin = 3;
    std::uint64_t slot_stride() const { return paths_ + margin; }
    std::uint64_t step_stride() const { return slots_ * slot_stride() + 2 * margin; }

    std::uint64_t slots_, paths_;
    std::vector<element> numbers_;
};

template <class element>
struct cubes {
    cube<element> normals, uniforms;
};

template <class element, class draws>
cubes<element> cubes_of(const tests::shocked_program& p, std::uint64_t paths) {
    constexpr auto per_block = static_cast<std::uint64_t>(draws::per_block);
    cubes<element> out{{static_cast<std::uint64_t>(p.code.normals_per_step), paths},
                       {static_cast<std::uint64_t>(p.code.uniforms_per_step), paths}};
    out.normals.fill([](std::uint64_t number, std::uint64_t path) {
        return draws::normals(seed, path, static_cast<std::uint32_t>(number / per_block))
            .x[number % per_block];
    });
    out.uniforms.fill([](std::uint64_t number, std::uint64_t path) {
        return draws::uniforms(seed, path, static_cast<std::uint32_t>(number / per_block))
            .x[number % per_block];
    });
    return out;
}

kernels::moments walked(cpu::path_job job, const arrays::shock_cube& normals,
                        const arrays::shock_cube& uniforms, int threads = 1) {
    job.normals = normals;
    job.uniforms = uniforms;
    return tests::whole(
               cpu::walk_all({&job, 1}, *cpu::runnable_instruction_sets().sets[0], threads, nullptr, {}))
        .at(0)
        .moments;
}

void expect_same_bits(const kernels::moments& got, const kernels::moments& expected) {
    for (const auto of : {&kernels::moments::count, &kernels::moments::mean, &kernels::moments::m2,
                          &kernels::moments::m3, &kernels::moments::m4}) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(got.*of), std::bit_cast<std::uint64_t>(expected.*of))
            << got.*of << " and " << expected.*of;
    }
}

template <class element, class draws>
void expect_the_bits_of_random_numbers(precision in) {
    for (const auto& [normals, uniforms] : {std::pair{1, 0}, {2, 1}, {3, 2}, {0, 3}, {5, 1}}) {
        const tests::shocked_program p(normals, uniforms, steps);
        for (const std::uint64_t paths : {std::uint64_t{1}, std::uint64_t{255}, std::uint64_t{256},
                                          std::uint64_t{1024}, std::uint64_t{1281}}) {
            SCOPED_TRACE(testing::Message() << program::name_of(in) << ", " << normals << " normals, "
                                            << uniforms << " uniforms, " << paths << " paths");
            const auto job = p.job(in, seed, paths);
            const auto wide = cubes_of<element, draws>(p, paths);
            const auto expected = walked(job, {}, {});
            expect_same_bits(walked(job, wide.normals.view(), wide.uniforms.view(), 3), expected);
            expect_same_bits(walked(job, wide.normals.view(), {}), expected);
            expect_same_bits(walked(job, {}, wide.uniforms.view()), expected);
            if (testing::Test::HasFailure()) return;
        }
    }
}

}  // namespace

TEST(replay_walk, our_own_shocks_give_the_bits_of_random_numbers) {
    expect_the_bits_of_random_numbers<double, kernels::double_draws>(precision::double_);
    expect_the_bits_of_random_numbers<float, kernels::single_draws>(precision::single);
    expect_the_bits_of_random_numbers<float, kernels::single_draws>(precision::mixed);
    // A double that holds a float is the same number.
    expect_the_bits_of_random_numbers<double, kernels::single_draws>(precision::single);
    expect_the_bits_of_random_numbers<double, kernels::single_draws>(precision::mixed);
}

TEST(replay_walk, elements_become_what_the_precision_walks) {
    const tests::shocked_program p(3, 2, steps);
    constexpr std::uint64_t paths = 300;
    const auto wide = cubes_of<double, kernels::double_draws>(p, paths);
    const auto narrow = cubes_of<float, kernels::double_draws>(p, paths);
    const auto normal = [&](std::uint64_t path, auto as) {
        return [&, path](std::uint64_t n) { return static_cast<decltype(as)>(wide.normals.at(n, path)); };
    };
    const auto uniform = [&](std::uint64_t path, auto as) {
        return [&, path](std::uint64_t n) { return static_cast<decltype(as)>(wide.uniforms.at(n, path)); };
    };
    const auto in_single = tests::plain_moments(paths, [&](std::uint64_t path) {
        return tests::plain_walk<float>(p.code, p.data, p.when, normal(path, 0.0f), uniform(path, 0.0f));
    });
    const auto in_mixed = tests::plain_moments(paths, [&](std::uint64_t path) {
        return tests::plain_walk<double>(p.code, p.data, p.when, normal(path, 0.0f), uniform(path, 0.0f));
    });
    // Doubles in an array are rounded to float once, in single and in mixed precision alike.
    expect_same_bits(walked(p.job(precision::single, 0, paths), wide.normals.view(), wide.uniforms.view()),
                     in_single);
    expect_same_bits(walked(p.job(precision::mixed, 0, paths), wide.normals.view(), wide.uniforms.view()),
                     in_mixed);
    // Floats in an array are taken as they are, in double precision, too.
    expect_same_bits(
        walked(p.job(precision::single, 0, paths), narrow.normals.view(), narrow.uniforms.view()), in_single);
    expect_same_bits(
        walked(p.job(precision::double_, 0, paths), narrow.normals.view(), narrow.uniforms.view()), in_mixed);
}

TEST(replay_walk, an_array_too_small_is_refused_before_the_walk) {
    const tests::shocked_program p(3, 2, steps);
    const auto wide = cubes_of<double, kernels::double_draws>(p, 100);
    const auto refused = [&](std::uint64_t paths, arrays::shock_cube normals, arrays::shock_cube uniforms) {
        try {
            walked(p.job(precision::double_, 0, paths), normals, uniforms);
            ADD_FAILURE() << "walked";
            return std::string();
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input);
            return e.message();
        }
    };
    EXPECT_EQ(
        refused(101, wide.normals.view(), {}),
        "the trade takes 5 steps of 3 on 101 paths from the array of normals, which has 5 steps of 3 on "
        "100 paths");
    auto few_steps = wide.normals.view();
    few_steps.steps = 4;
    EXPECT_NE(refused(100, few_steps, {}), "");
    auto few_slots = wide.uniforms.view();
    few_slots.slots = 1;
    EXPECT_NE(refused(100, wide.normals.view(), few_slots).find("uniforms"), std::string::npos);
    walked(p.job(precision::double_, 0, 99), wide.normals.view(), wide.uniforms.view());
}

TEST(replay_walk, a_file_of_our_own_shocks_gives_the_bits_of_random_numbers) {
    const tests::shocked_program p(3, 1, steps);
    constexpr std::uint64_t paths = 1030;
    std::vector<float> normals, uniforms;
    for (std::uint64_t number = 0; number < 3 * steps; ++number) {
        for (std::uint64_t path = 0; path < paths; ++path) {
            const auto block = static_cast<std::uint32_t>(number / 4);
            normals.push_back(kernels::single_normals(seed, path, block).x[number % 4]);
            if (number < steps) uniforms.push_back(kernels::single_uniforms(seed, path, block).x[number % 4]);
        }
    }
    const tests::own_folder folder;
    const auto file = folder / "shocks";
    arrays::write_shocks<float>(file, {steps, 3, 1, paths, normals, uniforms});
    for (const precision in : {precision::single, precision::mixed}) {
        const arrays::shock_file shocks(file, arrays::element::single_);
        const auto job = p.job(in, seed, paths);
        expect_same_bits(walked(job, shocks.normals(), shocks.uniforms(), 2), walked(job, {}, {}));
    }
}

}  // namespace tilewalk::replay_walk_test
