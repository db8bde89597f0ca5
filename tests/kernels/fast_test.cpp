// SPDX-License-Identifier: Apache-2.0
// Precision single_fast. Without a GPU: its functions and whole path kernels compile to the intended
// instructions. On a GPU: its functions and shocks keep their error bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/memory.h"
#include "kernels/math.h"
#include "kernels/shocks.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::fast_test {
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

// Counts `of` in a kernel's code, which comes after the constants of its headers.
int occurrences(const std::string& ptx, const std::string& of) {
    const std::string text = ptx.substr(ptx.find(".entry"));
    int count = 0;
    for (auto at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++count;
    return count;
}

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
                 {"math::div(x, y)", "rcp.approx.ftz.f32"},
                 {"math::min(x, y)", "min.NaN.ftz.f32"},
                 {"math::max(x, y)", "max.NaN.ftz.f32"},
                 {"math::pow(x, y)", "ex2.approx.ftz.f32"},
                 {"math::norm_cdf(x)", "rcp.approx.ftz.f32"},
                 {"math::normal_to_exponential(x)", "fma.rn.f32"},
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

// Four normals take two logarithms, two roots, two sines and two cosines, all approximate. They also take two
// conversions of integers, which another unit of the GPU does from compute capability 8.6 on.
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
    EXPECT_EQ(occurrences(got.ptx, "cvt.rn.f32"), 2) << got.ptx;
}

TEST_F(fast, path_kernels_of_the_demo_book_compile) {
    const book trades = book::load(TILEWALK_SOURCE_DIR "/configs/books/demo.yaml");
    std::set<std::string> texts;
    for (const auto& t : state_of(trades).trades) {
        const auto made = plan::plan_trade(t, state_of(*trades.market()));
        const auto contracted = program::contract(made.code);
        cuda::kernel_decision how;
        how.precision = program::precision::single_fast;
        const std::string text = cuda::path_kernel_text(contracted, how);
        if (!texts.insert(text).second) continue;
        SCOPED_TRACE(t.id);
        const auto got = compile(text);
        EXPECT_GT(occurrences(got.ptx, "lg2.approx"), 0);
        const bool has_exponentials = std::ranges::any_of(made.code.sections, [](const auto& s) {
            return std::ranges::count(s.nodes, program::operation::exp, &program::node::code) > 0;
        });
        EXPECT_EQ(occurrences(got.ptx, "ex2.approx") > 0, has_exponentials);
        EXPECT_EQ(occurrences(got.ptx, "div.rn.f32"), 0);
    }
    EXPECT_GT(texts.size(), 3U);
}

// On a GPU: how far functions and shocks are from the double-precision kernels on the CPU.
class fast_on_gpu : public fast {
  protected:
    void SetUp() override {
        fast::SetUp();
        if (IsSkipped()) return;
        const cuda::device_survey survey = cuda::survey_devices();
        std::string why_none = survey.why_none;
        for (const auto& d : survey.devices) {
            why_none += d.why_not;
            if (on_ == nullptr && d.why_not.empty()) on_ = cuda::open_device(d.properties.index);
        }
        if (on_ == nullptr) GTEST_SKIP() << why_none;
    }

    std::vector<float> run(const std::string& text, const std::vector<float>& inputs, std::size_t outputs) {
        cuda::device& d = *on_;
        const auto cubin = compile(text, d.properties().architecture()).cubin;
        const cuda::owned_module code(d, d.load(cubin));
        cuda::device_memory in(d, inputs.size() * sizeof(float)), out(d, outputs * sizeof(float));
        const cuda::owned_stream s = cuda::new_stream(d);
        const cuda::in_flight guard(d, {s.get()});
        d.upload(in.as<void>(), inputs.data(), inputs.size() * sizeof(float), s.get());
        float* to = out.as<float>();
        const float* from = in.as<float>();
        void* arguments[] = {&to, &from};
        const auto blocks = static_cast<std::uint32_t>(inputs.size() / 256);
        d.run(d.find(code.get(), "kernel"), {blocks, 256, 0, nullptr, 0}, arguments, s.get());
        std::vector<float> result(outputs);
        d.download(result.data(), to, outputs * sizeof(float), s.get());
        d.wait(s.get());
        return result;
    }

  private:
    std::unique_ptr<cuda::device> on_;
};

TEST_F(fast_on_gpu, functions_keep_their_bounds) {
    const double ulp = 0x1p-23;  // ulp of 1; times any number, at least an ulp of it
    const struct {
        std::string expression;
        double low, high;
        std::function<double(double)> truth;
        std::function<double(double x, double truth)> bound;
    } cases[] = {
        {"exp(x)", -80, 80, [](double x) { return kernels::exp(x); },
         [=](double x, double t) { return (2 + 1.2 * std::abs(x)) * ulp * t; }},
        {"log(x)", 0.5, 2, [](double x) { return kernels::log(x); }, [](double, double) { return 0x1p-21; }},
        {"log(x)", 2, 1e30, [](double x) { return kernels::log(x); },
         [](double, double t) { return 0x1p-21 * std::abs(t); }},
        {"sin(x)", -1000, 1000, [](double x) { return kernels::sin(x); },
         [](double, double) { return 0x1p-20; }},
        {"cos(x)", -1000, 1000, [](double x) { return kernels::cos(x); },
         [](double, double) { return 0x1p-20; }},
        {"sqrt(x)", 0, 1e6, [](double x) { return std::sqrt(x); },
         [](double, double t) { return 0x1p-23 * t; }},
        {"div(7.0f, x)", 0.01, 1e6, [](double x) { return 7.0 / x; },
         [=](double, double t) { return 2 * ulp * t; }},
        {"pow(x, 3.5f)", 0.001, 1000, [](double x) { return kernels::pow(x, 3.5); },
         [](double x, double t) { return (4.5 + 3.5 * std::abs(std::log2(x))) * 0x1p-22 * t; }},
        {"pow(x, 3.0f)", -1000, -0.001, [](double x) { return kernels::pow(x, 3.0); },
         [](double x, double t) { return (4 + 3 * std::abs(std::log2(-x))) * 0x1p-22 * std::abs(t); }},
        {"norm_cdf(x)", -12.5, 0, [](double x) { return kernels::norm_cdf(x); },
         [](double x, double t) { return (8 + x * x) * 0x1p-23 * t; }},
        {"norm_cdf(x)", 0, 10, [](double x) { return kernels::norm_cdf(x); },
         [](double, double) { return 0x1p-21; }},
        {"normal_to_exponential(x)", -0.85, 7, [](double x) { return kernels::normal_to_exponential(x); },
         [](double, double) { return 0x1p-13; }},
        {"max(tilewalk::kernels::fast::normal_to_exponential(x), "
         "tilewalk::kernels::fast::normal_to_exponential(-0.85f))",
         -11, -0.85, [](double) { return kernels::normal_to_exponential(-0.85); },
         [](double, double) { return 0x1p-13; }},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.expression);
        std::vector<float> inputs(1 << 18);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const double part = (static_cast<double>(i) + 0.5) / static_cast<double>(inputs.size());
            inputs[i] = static_cast<float>(c.low + (c.high - c.low) * part);
        }
        const auto got =
            run("#include \"kernels/fast.h\"\n"
                "extern \"C\" __global__ void kernel(float* out, const float* in) {\n"
                "    const unsigned i = blockIdx.x * 256 + threadIdx.x;\n"
                "    const float x = in[i];\n"
                "    out[i] = tilewalk::kernels::fast::" +
                    c.expression + ";\n}\n",
                inputs, inputs.size());
        double worst = 0;
        std::size_t at = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
            const auto x = static_cast<double>(inputs[i]);
            const double truth = c.truth(x);
            const double ratio = std::abs(static_cast<double>(got[i]) - truth) / c.bound(x, truth);
            // True for a NaN, too.
            if (!(ratio <= worst)) {
                worst = ratio;
                at = i;
            }
        }
        EXPECT_LE(worst, 1) << "at " << inputs[at] << ": got " << got[at];
    }
}

TEST_F(fast_on_gpu, extremes_keep_what_is_no_number) {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const float special[] = {1.0f, -1.0f, 2.5f, inf, -inf, nan};
    std::vector<float> inputs(256, 1.0f);
    std::size_t n = 0;
    for (const float x : special) {
        for (const float y : special) inputs[n++] = x, inputs[n++] = y;
    }
    for (const std::string name : {"min", "max"}) {
        const auto got =
            run("#include \"kernels/fast.h\"\n"
                "extern \"C\" __global__ void kernel(float* out, const float* in) {\n"
                "    const unsigned i = threadIdx.x / 2;\n"
                "    out[i] = tilewalk::kernels::fast::" +
                    name + "(in[2 * i], in[2 * i + 1]);\n}\n",
                inputs, 128);
        for (std::size_t i = 0; i < got.size(); ++i) {
            const float x = inputs[2 * i], y = inputs[2 * i + 1];
            const float expected = std::isnan(x) || std::isnan(y) ? nan
                                   : name == "min"                ? std::min(x, y)
                                                                  : std::max(x, y);
            if (std::isnan(expected)) {
                EXPECT_TRUE(std::isnan(got[i])) << name << ' ' << x << ' ' << y << " is " << got[i];
            } else {
                EXPECT_EQ(got[i], expected) << name << ' ' << x << ' ' << y;
            }
        }
    }
}

TEST_F(fast_on_gpu, powers_have_the_special_values_of_c) {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> inputs(256, 1.0f);
    const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 0.5f, -2.5f, 3.0f, inf, -inf, nan};
    std::size_t n = 0;
    for (const float x : special) {
        for (const float y : special) inputs[n++] = x, inputs[n++] = y;
        if (n + 2 * std::size(special) > inputs.size()) break;
    }
    const auto got =
        run("#include \"kernels/fast.h\"\n"
            "extern \"C\" __global__ void kernel(float* out, const float* in) {\n"
            "    const unsigned i = threadIdx.x / 2;\n"
            "    out[i] = tilewalk::kernels::fast::pow(in[2 * i], in[2 * i + 1]);\n}\n",
            inputs, 128);
    for (std::size_t i = 0; i < got.size(); ++i) {
        const float expected = kernels::pow(inputs[2 * i], inputs[2 * i + 1]);
        if (std::isnan(expected)) {
            EXPECT_TRUE(std::isnan(got[i]))
                << inputs[2 * i] << " ^ " << inputs[2 * i + 1] << " is " << got[i];
        } else {
            EXPECT_FLOAT_EQ(got[i], expected) << inputs[2 * i] << " ^ " << inputs[2 * i + 1];
        }
    }
}

TEST_F(fast_on_gpu, normals_are_near_the_exact_ones) {
    std::vector<float> inputs(1 << 18);
    const auto got =
        run("#include \"kernels/fast.h\"\n"
            "extern \"C\" __global__ void kernel(float* out, const float*) {\n"
            "    const unsigned i = blockIdx.x * 256 + threadIdx.x;\n"
            "    const auto z = tilewalk::kernels::fast_draws::normals(42, i, 3);\n"
            "    for (int k = 0; k < 4; ++k) out[4 * i + k] = z.x[k];\n}\n",
            inputs, 4 * inputs.size());
    double worst = 0;
    for (std::size_t path = 0; path < inputs.size(); ++path) {
        const auto z = kernels::single_normals(42, path, 3);
        for (std::size_t k = 0; k < 4; ++k) {
            const double radius = std::hypot(z.x[k & 2], z.x[(k & 2) + 1]);
            const double off = std::abs(static_cast<double>(got[4 * path + k]) - static_cast<double>(z.x[k]));
            const double ratio = off / (0x1p-16 + 0x1p-22 / radius);
            if (!(ratio <= worst)) worst = ratio;
        }
    }
    EXPECT_LE(worst, 1);
}

}  // namespace tilewalk::fast_test
