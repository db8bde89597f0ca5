// SPDX-License-Identifier: Apache-2.0
// NVRTC, which has no standard library, compiles a kernel that uses all kernel headers.
#include <gtest/gtest.h>

#if defined(TILEWALK_HAVE_NVRTC)
#include <nvrtc.h>

#include <string>
#include <vector>
#endif

namespace kernel_headers_test {

#if defined(TILEWALK_HAVE_NVRTC)
namespace {

constexpr const char* source = R"(
#include "kernels/arithmetic.h"
#include "kernels/exponential.h"
#include "kernels/math.h"
#include "kernels/moments.h"
#include "kernels/normal_distribution.h"
#include "kernels/operations.h"
#include "kernels/philox.h"
#include "kernels/shocks.h"
#include "kernels/tile.h"
#include "kernels/trigonometric.h"

using namespace tilewalk;

template <typename real>
__device__ real every_function(real a, real b, real c) {
    const auto both = kernels::sincos(a);
    real sum = kernels::neg(a) + kernels::abs(b) + kernels::sqrt(c) + kernels::exp(a) + kernels::log(b);
    sum += kernels::sin(a) + kernels::cos(b) + kernels::floor(c) + kernels::norm_cdf(a) + kernels::norm_inv(b);
    sum += kernels::normal_to_exponential(a);
    sum += kernels::add(a, b) + kernels::sub(a, b) + kernels::mul(a, b) + kernels::div(a, b);
    sum += kernels::min(a, b) + kernels::max(a, b) + kernels::pow(a, b) + kernels::fma(a, b, c);
    sum += kernels::less(a, b) + kernels::less_equal(a, b) + kernels::equal(a, b) + kernels::logical_not(a);
    sum += kernels::logical_and(a, b) + kernels::logical_or(a, b) + kernels::select(a, b, c);
    return sum + both.sine * both.cosine;
}

extern "C" __global__ void use_everything(double* out, float* single, const double* payoffs, unsigned long long seed) {
    const unsigned long long path = kernels::path_of(blockIdx.x, 0, int(threadIdx.x));
    const auto normal = kernels::normals(seed, path, 1);
    const auto uniform = kernels::uniforms(seed, path, 1);
    out[path] = every_function(normal.first, uniform.first, normal.second) + uniform.second;
    const auto normal4 = kernels::single_normals(seed, path, 1);
    const auto uniform4 = kernels::single_uniforms(seed, path, 1);
    single[path] = every_function(normal4.x[0], uniform4.x[1], normal4.x[2]) + normal4.x[3] + uniform4.x[3];
    if (path == 0) {
        kernels::moments two[2] = {kernels::tile_moments(payoffs, 1024), kernels::tile_moments(payoffs + 1024, 7)};
        out[0] = kernels::merge_tiles(two, 2).m4;
    }
}
)";

struct compiled {
    nvrtcResult result = NVRTC_SUCCESS;
    std::string log;
    std::string ptx;
};

compiled compile(const std::string& architecture) {
    const std::vector<std::string> options = {"--gpu-architecture=" + architecture, "-default-device",
                                              "-std=c++20", "--fmad=false", "-I" TILEWALK_SOURCE_DIR};
    std::vector<const char*> pointers;
    for (const auto& option : options) pointers.push_back(option.c_str());
    compiled out;
    nvrtcProgram program = nullptr;
    out.result = nvrtcCreateProgram(&program, source, "use_everything.cu", 0, nullptr, nullptr);
    if (out.result != NVRTC_SUCCESS) return out;
    out.result = nvrtcCompileProgram(program, static_cast<int>(pointers.size()), pointers.data());
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    out.log.resize(size);
    nvrtcGetProgramLog(program, out.log.data());
    if (out.result == NVRTC_SUCCESS) {
        nvrtcGetPTXSize(program, &size);
        out.ptx.resize(size);
        nvrtcGetPTX(program, out.ptx.data());
    }
    nvrtcDestroyProgram(&program);
    return out;
}

}  // namespace

TEST(kernel_headers, compile_with_nvrtc) {
    for (const std::string architecture : {"sm_80", "sm_90"}) {
        const auto got = compile(architecture);
        ASSERT_EQ(got.result, NVRTC_SUCCESS)
            << architecture << ": " << nvrtcGetErrorString(got.result) << '\n'
            << got.log;
        EXPECT_EQ(got.log.find("warning"), std::string::npos) << architecture << '\n' << got.log;
        EXPECT_NE(got.ptx.find("use_everything"), std::string::npos);
        // The PTX is IEEE arithmetic: fma where written, no approximate root or division, no call left.
        EXPECT_NE(got.ptx.find("fma.rn.f64"), std::string::npos);
        EXPECT_NE(got.ptx.find("sqrt.rn.f64"), std::string::npos);
        EXPECT_NE(got.ptx.find("div.rn.f32"), std::string::npos);
        // An approximate rsqrt is allowed: sqrt_of_middle_range starts from it, then rounds correctly.
        std::string ptx = got.ptx;
        for (const std::string guess : {"rsqrt.approx.ftz.f64", "rsqrt.approx.ftz.f32"}) {
            for (auto at = ptx.find(guess); at != std::string::npos; at = ptx.find(guess))
                ptx.erase(at, guess.size());
        }
        for (const char* inexact : {"approx", "ftz", "fma.rz", "mad.f"}) {
            EXPECT_EQ(ptx.find(inexact), std::string::npos) << architecture << ": " << inexact;
        }
    }
}

#else

TEST(kernel_headers, compile_with_nvrtc) {
    GTEST_SKIP() << "built without NVRTC";
}

#endif

}  // namespace kernel_headers_test
