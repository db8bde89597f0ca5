// SPDX-License-Identifier: Apache-2.0
// Walks that begin on the processor and end on a GPU have the processor's bits: every product of the library,
// trades with exercise, and sensitivities by adjoint, wherever they meet.
//
// Skipped without a GPU, unless TILEWALK_REQUIRE_GPU=1.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/study/session/engine_state.h"
#include "engine/walk/cuda/device/backend.h"
#include "tests/made_book.h"
#include "tests/on_a_gpu.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::handover_on_a_gpu_test {
namespace {

// Enough for quasi-random points.
constexpr std::uint64_t paths = 16384;

run_options with(const std::string& device, precision in = precision::double_) {
    run_options o;
    o.overrides.paths = paths;
    o.overrides.device = device;
    o.overrides.precision = in;
    return o;
}

engine that_hands_over(std::optional<std::uint64_t> after) {
    cuda::gpu_machine on;
    on.tiles_before_gpus = after;
    return studies::engine_on(std::make_shared<cuda::backend>(on));
}

std::uint64_t bits(double x) {
    return std::bit_cast<std::uint64_t>(x);
}

void expect_same(const results& got, const results& truth, const std::string& what) {
    ASSERT_EQ(got.rows.size(), truth.rows.size());
    for (std::size_t i = 0; i < got.rows.size(); ++i) {
        const price_row &is = got.rows[i], &should = truth.rows[i];
        const std::string here = what + ", " + is.trade;
        EXPECT_EQ(is.status, should.status) << here << ": " << is.message;
        EXPECT_EQ(is.message, should.message) << here;
        EXPECT_EQ(bits(is.price), bits(should.price)) << here;
        EXPECT_EQ(bits(is.standard_error), bits(should.standard_error)) << here;
        EXPECT_EQ(is.part_means, should.part_means) << here;
    }
    ASSERT_EQ(got.greeks.size(), truth.greeks.size());
    for (std::size_t i = 0; i < got.greeks.size(); ++i) {
        const greek_row &is = got.greeks[i], &should = truth.greeks[i];
        const std::string here = what + ", " + is.trade + " " + is.measure + " " + is.key;
        EXPECT_EQ(bits(is.value), bits(should.value)) << here;
        EXPECT_EQ(bits(is.standard_error), bits(should.standard_error)) << here;
    }
}

using handover_on_a_gpu = tests::on_a_gpu;

TEST_F(handover_on_a_gpu, prices_the_library_as_the_processor_does) {
    const book library = book_of_every_kind();
    const results truth = engine().price(library, with("cpu"));
    for (const std::uint64_t first : {1U, 37U, 1000U}) {
        const results got = that_hands_over(first).price(library, with("auto"));
        expect_same(got, truth, std::to_string(first) + " tiles first");
        EXPECT_GT(got.manifest.path_steps_on_gpus, 0U);
        EXPECT_LT(got.manifest.path_steps_on_gpus, got.manifest.path_steps);
    }
    expect_same(that_hands_over({}).price(library, with("auto")), truth, "as it pays");
}

TEST_F(handover_on_a_gpu, finds_bounds_and_sensitivities_as_the_processor_does) {
    const book early = book::load(TILEWALK_SOURCE_DIR "/configs/books/early.yaml");
    const book demo = book::load(TILEWALK_SOURCE_DIR "/configs/books/demo.yaml");
    for (const precision in : {precision::double_, precision::mixed}) {
        const results of_early = engine().price(early, with("cpu", in));
        const results of_demo = engine().greeks(demo, *demo.market(), {}, with("cpu", in));
        for (const auto first : std::initializer_list<std::optional<std::uint64_t>>{3, 50, std::nullopt}) {
            const std::string what = first ? std::to_string(*first) + " tiles first" : "as it pays";
            expect_same(that_hands_over(first).price(early, with("auto", in)), of_early, what);
            expect_same(that_hands_over(first).greeks(demo, *demo.market(), {}, with("auto", in)), of_demo,
                        what);
        }
    }
}

TEST_F(handover_on_a_gpu, takes_a_session_s_later_calls_to_the_gpu) {
    const book demo = book::load(TILEWALK_SOURCE_DIR "/configs/books/demo.yaml");
    const results truth = engine().price(demo, with("cpu"));
    const engine by = that_hands_over(5);
    const session open = by.open(demo);
    expect_same(open.price(*demo.market(), with("auto")), truth, "first call");
    const results later = open.price(*demo.market(), with("auto"));
    expect_same(later, truth, "second call");
    EXPECT_GT(later.manifest.path_steps_on_gpus, 0U);
    EXPECT_EQ(later.manifest.kernels_compiled, 0U);
}

}  // namespace
}  // namespace tilewalk::handover_on_a_gpu_test
