// SPDX-License-Identifier: Apache-2.0
// Precision single_fast as far as it can be seen without a GPU: its functions and whole path kernels compile,
// and into the instructions that they are meant to be.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "engine/book/book_state.h"
#include "engine/cuda/compiler.h"
#include "engine/cuda/kernel_text.h"
#include "engine/plan/trade_program.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk {
namespace {

class fast : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    }
    cuda::compiled compile(const std::string& text, const std::string& architecture = "sm_90") const {
        auto got = cuda::nvrtc_compiler().compile({text, architecture}, true);
        EXPECT_EQ(got.log.find("warning"), std::string::npos) << got.log;
        EXPECT_NE(got.log.find("0 bytes stack frame, 0 bytes spill stores"), std::string::npos) << got.log;
        return got;
    }
};

// In the code, leaving out the constants of the headers.
int occurrences(const std::string& ptx, const std::string& of) {
    const std::string text = ptx.substr(ptx.find(".entry"));
    int count = 0;
    for (auto at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++count;
    return count;
}

// A kernel that returns this expression of x, y and z.
std::string kernel_of(const std::string& expression) {
    return "#include \"kernels/fast.h\"\n"
           "namespace math = tilewalk::kernels::fast;\n"
           "extern \"C\" __global__ void kernel(float* out, float x, float y, float z) {\n"
           "    out[0] = " +
           expression + ";\n}\n";
}

}  // namespace

TEST_F(fast, each_function_is_its_instruction) {
    const struct {
        std::string expression, instruction;
    } cases[] = {{"math::exp(x)", "ex2.approx.ftz.f32"},
                 {"math::log(x)", "lg2.approx.ftz.f32"},
                 {"math::sin(x)", "sin.approx.ftz.f32"},
                 {"math::cos(x)", "cos.approx.ftz.f32"},
                 {"math::sqrt(x)", "sqrt.approx.ftz.f32"},
                 {"math::div(x, y)", "div.approx.ftz.f32"},
                 {"math::pow(x, y)", "ex2.approx.ftz.f32"},
                 {"math::norm_cdf(x)", "rcp.approx.ftz.f32"},
                 // The others are the exact ones.
                 {"math::norm_inv(x)", "div.rn.f32"},
                 {"math::fma(x, y, z)", "fma.rn.f32"},
                 {"math::add(x, y) + math::floor(z)", "add.rn.f32"},
                 {"math::select(math::less(x, y), math::max(x, z), math::abs(y))", "setp"}};
    for (const auto& c : cases) {
        SCOPED_TRACE(c.expression);
        const auto got = compile(kernel_of(c.expression));
        EXPECT_GT(occurrences(got.ptx, c.instruction), 0) << got.ptx;
        EXPECT_EQ(occurrences(got.ptx, ".f64"), 0) << got.ptx;
        EXPECT_EQ(occurrences(got.ptx, "call"), 0) << got.ptx;
    }
}

// Four normals: two logarithms, two roots, two sines and two cosines, and no conversion of an integer, which
// would wait for the same unit.
TEST_F(fast, normals_take_two_approximations_each) {
    const auto got = compile(
        "#include \"kernels/fast.h\"\n"
        "extern \"C\" __global__ void kernel(tilewalk::kernels::four_shocks* out, unsigned long long seed) "
        "{\n"
        "    out[threadIdx.x] = tilewalk::kernels::fast_draws::normals(seed, threadIdx.x, 5);\n}\n");
    for (const char* instruction : {"lg2.approx", "sqrt.approx", "sin.approx", "cos.approx"}) {
        EXPECT_EQ(occurrences(got.ptx, instruction), 2) << instruction << '\n' << got.ptx;
    }
    EXPECT_EQ(occurrences(got.ptx, ".approx"), 8);
    EXPECT_EQ(occurrences(got.ptx, "cvt.rn.f32"), 0) << got.ptx;
}

TEST_F(fast, path_kernels_of_the_demo_book_compile) {
    const book trades = book::load(TILEWALK_SOURCE_DIR "/configs/books/demo.yaml");
    std::set<std::string> texts;
    for (const auto& t : trades.state().trades) {
        const auto made = plan::plan_trade(t, trades.market()->state());
        const auto contracted = program::contract(made.code);
        cuda::kernel_choice how;
        how.precision = plan::precision::single_fast;
        const std::string text = cuda::path_kernel_text(contracted, how);
        if (!texts.insert(text).second) continue;
        SCOPED_TRACE(t.id);
        const auto got = compile(text);
        EXPECT_GT(occurrences(got.ptx, "lg2.approx"), 0);
        EXPECT_GT(occurrences(got.ptx, "ex2.approx"), 0);
        EXPECT_EQ(occurrences(got.ptx, "div.rn.f32"), 0);
    }
    EXPECT_GT(texts.size(), 3U);
}

}  // namespace tilewalk
