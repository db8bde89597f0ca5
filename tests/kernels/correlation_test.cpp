// SPDX-License-Identifier: Apache-2.0
// Kernels that correlate the shocks of assets, against a plain triple loop, bit for bit: on the host, thread
// by thread with poisoned shared memory, and on a GPU if there is one. All compile for GPUs without spills.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/correlation.h"
#include "engine/walk/cuda/compile/kernel_store.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "kernels/correlation/blocked.h"
#include "kernels/correlation/tiled.h"
#include "kernels/correlation/untiled.h"
#include "products/program/precision.h"
#include "tests/known_kernels.h"
#include "tilewalk/error.h"

namespace tilewalk::correlation_test {
namespace {

namespace correlation = kernels::correlation;
using kernels::word32;
using kernels::word64;

template <class real>
real poison() {
    return std::numeric_limits<real>::quiet_NaN();
}
template <class real>
bool same_bits(real a, real b) {
    return std::memcmp(&a, &b, sizeof(real)) == 0;
}

// Arguments of the kernels for some steps. Moves, and the gaps between the rows of a cube, start as poison.
template <class shock, class real>
struct example {
    static constexpr std::size_t beyond = 4096;  // elements after each array, where stray writes show

    std::size_t factors, steps, paths, shock_pitch, move_pitch;
    std::vector<real> numbers, moves;
    std::vector<shock> shocks;

    example(std::size_t factors_, std::size_t steps_, std::size_t paths_)
        : factors(factors_),
          steps(steps_),
          paths(paths_),
          shock_pitch(paths + 3),
          move_pitch(paths + 5),
          numbers(steps * correlation::numbers_per_step(factors)),
          moves(steps * factors * move_pitch + beyond, poison<real>()),
          shocks(steps * factors * shock_pitch, poison<shock>()) {
        std::mt19937_64 bits(factors * 1000 + steps * 100 + paths);
        const auto draw = [&] { return static_cast<double>(static_cast<std::int64_t>(bits())) * 0x1p-62; };
        for (real& x : numbers) x = static_cast<real>(draw());
        // Every third asset stands still, with a drift of -0: adding a shock too many, even times 0, makes it
        // +0.
        for (std::size_t step = 0; step < steps; ++step) {
            real* drifts = numbers.data() + step * correlation::numbers_per_step(factors);
            for (std::size_t i = 0; i < factors; i += 3) {
                drifts[i] = real(-0.0);
                std::fill_n(drifts + factors + correlation::roots_before(i), i + 1, real(0));
            }
        }
        for (std::size_t row = 0; row < steps * factors; ++row) {
            for (std::size_t p = 0; p < paths; ++p)
                shocks[row * shock_pitch + p] = static_cast<shock>(draw());
        }
    }

    cuda::correlation_job job() {
        return {numbers.data(), shocks.data(), moves.data(), shock_pitch, move_pitch, paths, factors, steps};
    }
    correlation::arguments arguments() {
        return {numbers.data(),
                shocks.data(),
                moves.data(),
                shock_pitch,
                move_pitch,
                paths,
                static_cast<word32>(factors),
                0};
    }

    std::vector<real> expected() const {
        std::vector<real> out(moves.size(), poison<real>());
        for (std::size_t step = 0; step < steps; ++step) {
            const real* drifts = numbers.data() + step * correlation::numbers_per_step(factors);
            const real* root = drifts + factors;
            for (std::size_t i = 0; i < factors; ++i) {
                for (std::size_t p = 0; p < paths; ++p) {
                    real sum = drifts[i];
                    for (std::size_t j = 0; j <= i; ++j) {
                        sum = std::fma(static_cast<real>(shocks[(step * factors + j) * shock_pitch + p]),
                                       root[j], sum);
                    }
                    out[(step * factors + i) * move_pitch + p] = sum;
                }
                root += i + 1;
            }
        }
        return out;
    }

    std::string text() const {
        return std::to_string(factors) + " factors, " + std::to_string(steps) + " steps, " +
               std::to_string(paths) + " paths";
    }
};

template <class real>
::testing::AssertionResult same_moves(const std::vector<real>& got, const std::vector<real>& expected,
                                      std::size_t pitch) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (same_bits(got[i], expected[i])) continue;
        return ::testing::AssertionFailure() << "row " << i / pitch << ", place " << i % pitch << ": got "
                                             << got[i] << ", expected " << expected[i];
    }
    return ::testing::AssertionSuccess();
}

// Runs all blocks of a launch. Each block's threads run in random order between two barriers. Shared memory
// is poisoned before each stage, so a thread reads a number only in the stage that wrote it.
template <class variant>
void run_on_host(const cuda::correlation_launch& l) {
    ASSERT_EQ(l.how.threads, static_cast<word32>(variant::threads));
    ASSERT_EQ(l.how.shared_bytes, variant::shared_bytes);
    std::mt19937 order_bits(7);
    std::vector<int> order(variant::threads);
    std::iota(order.begin(), order.end(), 0);
    for (word32 block = 0; block < l.how.blocks; ++block) {
        std::vector<variant> threads;
        for (int t = 0; t < variant::threads; ++t) threads.emplace_back(l.arguments, block, t);
        const auto all = [&](const auto& act) {
            std::shuffle(order.begin(), order.end(), order_bits);
            for (const int t : order) act(threads[static_cast<std::size_t>(t)]);
        };
        const int stages = threads[0].stages();
        all([&](const variant& t) { ASSERT_EQ(t.stages(), stages); });
        for (int stage = 0; stage < stages; ++stage) {
            typename variant::shared shared;
            std::memset(static_cast<void*>(&shared), 0xff, sizeof shared);
            all([&](variant& t) { t.fetch(stage, shared); });
            all([&](variant& t) { t.use(stage, shared); });
        }
        all([](const variant& t) { t.finish(); });
    }
}

template <class shock_type, class real_type>
struct precision_of {
    using shock = shock_type;
    using real = real_type;
};

template <class types>
constexpr cuda::precision name_of = std::is_same_v<typename types::shock, double>  ? cuda::precision::double_
                                    : std::is_same_v<typename types::real, double> ? cuda::precision::mixed
                                                                                   : cuda::precision::single;

template <class types>
class correlation_kernels : public ::testing::Test {
  public:
    using shock = typename types::shock;
    using real = typename types::real;

    // Checks the variant called `name`, launched for all steps at once and for two steps at a time.
    template <class variant>
    void check(const char* name) {
        const auto& v = cuda::find_correlation_variant(name);
        checked_.insert(v.name);
        for (std::size_t factors = 1; factors <= 70; ++factors) {
            const std::size_t all_paths[] = {1, 3, 31, 33, 129, 257, 37};
            example<shock, real> e(factors, 1 + factors % 4, all_paths[factors % 7]);
            const auto job = e.job();
            const auto blocks = correlation::blocks_per_step(e.arguments(), v.rows, v.paths);
            const auto launches =
                correlation_launches(job, v, name_of<types>, factors % 2 == 0 ? 3 * blocks - 1 : 1u << 20);
            ASSERT_EQ(launches.size(), factors % 2 == 0 ? (e.steps + 1) / 2 : 1) << name << ": " << e.text();
            for (const auto& l : launches) run_on_host<variant>(l);
            ASSERT_TRUE(same_moves(e.moves, e.expected(), e.move_pitch)) << name << ": " << e.text();
        }
    }

    void check_all_of(std::string_view kind) const {
        for (const auto& v : cuda::correlation_variants()) {
            EXPECT_EQ(checked_.count(v.name), v.kind == kind ? 1u : 0u) << v.name;
        }
    }

  private:
    std::set<std::string_view> checked_;
};

using precisions =
    ::testing::Types<precision_of<double, double>, precision_of<float, float>, precision_of<float, double>>;
TYPED_TEST_SUITE(correlation_kernels, precisions);

TYPED_TEST(correlation_kernels, untiled) {
    using s = typename TypeParam::shock;
    using r = typename TypeParam::real;
    this->template check<correlation::untiled<s, r, 1>>("untiled");
    this->template check<correlation::untiled<s, r, 8>>("untiled_unrolled");
    this->check_all_of("untiled");
}

TYPED_TEST(correlation_kernels, tiled) {
    using s = typename TypeParam::shock;
    using r = typename TypeParam::real;
    this->template check<correlation::tiled<s, r, 4, false>>("tiled_4");
    this->template check<correlation::tiled<s, r, 4, true>>("tiled_4_unrolled");
    this->template check<correlation::tiled<s, r, 8, false>>("tiled_8");
    this->template check<correlation::tiled<s, r, 8, true>>("tiled_8_unrolled");
    this->template check<correlation::tiled<s, r, 12, false>>("tiled_12");
    this->template check<correlation::tiled<s, r, 12, true>>("tiled_12_unrolled");
    this->template check<correlation::tiled<s, r, 16, false>>("tiled_16");
    this->template check<correlation::tiled<s, r, 16, true>>("tiled_16_unrolled");
    this->template check<correlation::tiled<s, r, 32, false>>("tiled_32");
    this->template check<correlation::tiled<s, r, 32, true>>("tiled_32_unrolled");
    this->check_all_of("tiled");
}

TYPED_TEST(correlation_kernels, blocked) {
    using s = typename TypeParam::shock;
    using r = typename TypeParam::real;
    this->template check<correlation::blocked<s, r, 2>>("blocked_16");
    this->template check<correlation::blocked<s, r, 4>>("blocked_32");
    this->template check<correlation::blocked<s, r, 8>>("blocked_64");
    this->check_all_of("blocked");
}

TEST(correlation, many_factors_take_the_largest_block) {
    for (const std::size_t factors : {1u, 2u, 16u, 17u, 32u, 33u, 64u, 65u, 4096u}) {
        const auto& v = cuda::best_correlation_variant(factors);
        EXPECT_EQ(v.kind, "blocked");
        EXPECT_GE(static_cast<std::size_t>(v.rows), std::min<std::size_t>(factors, 64));
    }
}

TEST(correlation, the_setting_decides) {
    using program::precision;
    for (const program::precision_traits& of : program::precision_table) {
        const std::size_t crossover = cuda::correlation_crossover(of.is);
        EXPECT_FALSE(cuda::makes_moves_ahead("auto", crossover - 1, of.is));
        EXPECT_TRUE(cuda::makes_moves_ahead("auto", crossover, of.is));
        EXPECT_TRUE(cuda::makes_moves_ahead("matrix", 2, of.is));
        EXPECT_FALSE(cuda::makes_moves_ahead("kernel", 4096, of.is));
    }
    EXPECT_LT(cuda::correlation_crossover(precision::double_), cuda::correlation_crossover(precision::single))
        << "numbers of twice the size leave registers earlier";
    for (const char* unknown : {"", "Auto", "tiled"}) {
        try {
            cuda::makes_moves_ahead(unknown, 8, precision::double_);
            ADD_FAILURE() << "no error for '" << unknown << "'";
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::usage);
            EXPECT_NE(e.message().find("'auto', 'kernel' or 'matrix'"), std::string::npos) << e.message();
        }
    }
}

TEST(correlation, an_unknown_variant_is_an_error_that_names_those_there_are) {
    try {
        cuda::find_correlation_variant("tiled_5");
        ADD_FAILURE() << "no error";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        for (const auto& v : cuda::correlation_variants()) {
            EXPECT_NE(e.message().find(v.name), std::string::npos) << e.message();
        }
    }
}

TEST(correlation, numbers_go_step_by_step_rounded_once) {
    program::move_numbers of;
    of.factors = 2;
    of.steps = 2;
    of.drifts = {0.1, 0.2, 0.3, 0.4};
    of.roots = {1.1, 1.2, 1.3, 1.4, 1.5, 1.6};
    const std::vector<double> expected{0.1, 0.2, 1.1, 1.2, 1.3, 0.3, 0.4, 1.4, 1.5, 1.6};
    for (const auto p : {cuda::precision::double_, cuda::precision::mixed, cuda::precision::single,
                         cuda::precision::single_fast}) {
        const bool single = p == cuda::precision::single || p == cuda::precision::single_fast;
        const auto got = cuda::correlation_numbers(of, p);
        ASSERT_EQ(got.size(), expected.size() * (single ? sizeof(float) : sizeof(double)));
        EXPECT_EQ(got.size(), cuda::correlation_numbers_bytes(2, 2, p));
        for (std::size_t i = 0; i < expected.size(); ++i) {
            float f = 0;
            double d = 0;
            if (single) {
                std::memcpy(&f, got.data() + i * sizeof f, sizeof f);
                EXPECT_EQ(f, static_cast<float>(expected[i])) << i;
            } else {
                std::memcpy(&d, got.data() + i * sizeof d, sizeof d);
                EXPECT_EQ(d, expected[i]) << i;
            }
        }
    }
}

TEST(correlation, launches_end_where_the_work_ends) {
    cuda::correlation_job job;
    const auto& v = cuda::find_correlation_variant("blocked_64");
    EXPECT_TRUE(correlation_launches(job, v, cuda::precision::double_).empty());
    job.factors = 130;
    job.paths = 1025;
    EXPECT_TRUE(correlation_launches(job, v, cuda::precision::double_).empty());
    job.steps = 10;
    const auto launches = correlation_launches(job, v, cuda::precision::double_);
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_EQ(launches[0].how.blocks, 10u * 3 * 9);
    EXPECT_THROW(correlation_launches(job, v, cuda::precision::double_, 26), error);
    job.move_pitch = 2048;
    EXPECT_EQ(correlation_moves_bytes(job, cuda::precision::double_), 10u * 130 * 2048 * 8);
    EXPECT_EQ(correlation_moves_bytes(job, cuda::precision::mixed), 10u * 130 * 2048 * 8);
    EXPECT_EQ(correlation_moves_bytes(job, cuda::precision::single), 10u * 130 * 2048 * 4);
}

std::string text_of(cuda::precision p) {
    switch (p) {
        case cuda::precision::double_:
            return "double";
        case cuda::precision::single:
            return "single";
        case cuda::precision::single_fast:
            return "single_fast";
        case cuda::precision::mixed:
            return "mixed";
    }
    return "";
}

TEST(correlation, every_variant_compiles_without_spills) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    std::vector<std::string> texts;
    for (const auto& v : cuda::correlation_variants()) {
        for (const auto p : {cuda::precision::double_, cuda::precision::single, cuda::precision::mixed}) {
            const std::string text = correlation_text(v, p);
            EXPECT_EQ(std::count(texts.begin(), texts.end(), text), 0);
            texts.push_back(text);
            for (const std::string architecture : {"sm_80", "sm_90"}) {
                // Kernels that runs use are compiled for both architectures; the others, studies on the way
                // to them, for sm_90 alone.
                const bool rung = v.kind != "blocked";
                if (rung && (architecture == "sm_80" || p == cuda::precision::mixed)) continue;
                const std::string what = std::string(v.name) + " " + text_of(p) + " " + architecture;
                const auto got = tests::facts_of({text, architecture}, {"fma.rn.f"});
                EXPECT_TRUE(got.is_in_registers()) << what << '\n' << got;
                EXPECT_EQ(got.warnings, 0) << what << '\n' << got;
                EXPECT_GT(got.words.at(0), 0) << what << '\n' << got;
            }
        }
    }
    // Texts for single and single_fast are equal: the kernels contain nothing to approximate.
    for (const auto& v : cuda::correlation_variants()) {
        EXPECT_EQ(correlation_text(v, cuda::precision::single),
                  correlation_text(v, cuda::precision::single_fast));
    }
}

// A GPU, or null if there is none. With TILEWALK_REQUIRE_GPU set, having none is a failure.
std::unique_ptr<cuda::loaded_device> some_gpu() {
    const cuda::device_survey survey = cuda::survey_devices();
    std::string why = survey.why_none;
    for (const auto& d : survey.devices) {
        if (d.why_not.empty())
            return std::make_unique<cuda::loaded_device>(cuda::open_device(d.properties.index));
        why += d.why_not + "\n";
    }
    EXPECT_EQ(std::getenv("TILEWALK_REQUIRE_GPU"), nullptr) << why;
    return nullptr;
}

template <class shock, class real>
void run_on_gpu(cuda::loaded_device& gpu, cuda::kernel_store& store, const cuda::correlation_variant& v,
                cuda::precision p, example<shock, real>& e) {
    cuda::device& on = gpu.get();
    const cuda::kernel k =
        gpu.find(store.cubin({correlation_text(v, p), on.properties().architecture()}), "correlate");
    const cuda::device_memory numbers(on, e.numbers.size() * sizeof(real));
    const cuda::device_memory shocks(on, e.shocks.size() * sizeof(shock));
    const cuda::device_memory moves(on, e.moves.size() * sizeof(real));
    const cuda::stream s = cuda::stream::standard;
    on.upload(numbers.as<void>(), e.numbers.data(), numbers.bytes(), s);
    on.upload(shocks.as<void>(), e.shocks.data(), shocks.bytes(), s);
    on.upload(moves.as<void>(), e.moves.data(), moves.bytes(), s);
    cuda::correlation_job job = e.job();
    job.numbers = numbers.as<void>();
    job.shocks = shocks.as<void>();
    job.moves = moves.as<void>();
    make_moves(on, k, v, p, job, s);
    on.download(e.moves.data(), moves.as<void>(), moves.bytes(), s);
    on.wait(s);
}

TYPED_TEST(correlation_kernels, the_same_bits_on_a_gpu) {
    const auto gpu = some_gpu();
    if (gpu == nullptr) GTEST_SKIP() << "no GPU";
    cuda::kernel_store store(cuda::nvrtc_compiler(), {});
    std::size_t compared = 0;
    for (const auto& v : cuda::correlation_variants()) {
        for (const std::size_t factors : {1u, 2u, 7u, 8u, 9u, 31u, 33u, 64u, 65u, 70u, 128u, 200u}) {
            for (const std::size_t paths : {1u, 33u, 1000u, 2048u}) {
                example<typename TypeParam::shock, typename TypeParam::real> e(factors, 3, paths);
                run_on_gpu(*gpu, store, v, name_of<TypeParam>, e);
                ASSERT_TRUE(same_moves(e.moves, e.expected(), e.move_pitch)) << v.name << ": " << e.text();
                compared += factors * 3 * paths;
            }
        }
    }
    std::cout << compared << " moves compared on " << gpu->get().properties().name << "\n";
}

}  // namespace
}  // namespace tilewalk::correlation_test
