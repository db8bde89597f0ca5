// SPDX-License-Identifier: Apache-2.0
// Kernel headers built for a GPU as priced kernels are, against the same headers on the CPU: every function,
// shock and tile moment has the same bits. Branches of kernels/ that only NVRTC compiles run nowhere else
// with arguments that priced paths don't reach.
//
// Without a GPU the texts are still compiled and the rest is skipped, unless TILEWALK_REQUIRE_GPU=1.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/memory.h"
#include "kernels/math.h"
#include "kernels/operations.h"
#include "kernels/shocks.h"
#include "kernels/tile_result.h"

namespace tilewalk::kernel_bits_test {
namespace {

using kernels::word32;
using kernels::word64;

constexpr std::uint32_t threads_per_block = 256;

template <typename real>
std::string name_of() {
    return sizeof(real) == sizeof(double) ? "double" : "float";
}

// True for the same bits, and for two NaNs, which may differ in sign and payload.
template <typename number>
bool same(number a, number b) {
    if constexpr (std::is_floating_point_v<number>) {
        return (std::isnan(a) && std::isnan(b)) || kernels::to_bits(a) == kernels::to_bits(b);
    } else {
        return a == b;
    }
}

template <typename number>
std::string in_hexadecimal(number x) {
    char text[64];
    if constexpr (std::is_floating_point_v<number>) {
        std::snprintf(text, sizeof text, "%a", static_cast<double>(x));
    } else {
        std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(x));
    }
    return text;
}

class comparison {
  public:
    explicit comparison(std::string what) : what_(std::move(what)) {}

    template <typename number, class words>
    void add(number on_cpu, number on_gpu, const words& where) {
        ++compared_;
        if (same(on_cpu, on_gpu)) return;
        if (different_++ == 0) {
            first_ = where() + ": " + in_hexadecimal(on_cpu) + " on the CPU, " + in_hexadecimal(on_gpu) +
                     " on the GPU";
        }
    }

    void check(std::size_t at_least) const {
        std::printf("%s: %zu values compared, %zu different\n", what_.c_str(), compared_, different_);
        EXPECT_EQ(different_, 0U) << what_ << ", first of " << first_;
        EXPECT_GE(compared_, at_least) << what_;
    }

  private:
    std::string what_, first_;
    std::size_t compared_ = 0, different_ = 0;
};

template <typename real>
struct function {
    const char* expression;  // CUDA text of the function of x, y and z
    real (*on_cpu)(real x, real y, real z);
};

template <typename real>
std::vector<function<real>> functions() {
    return {
        {"neg(x)", [](real x, real, real) { return kernels::neg(x); }},
        {"add(x, y)", [](real x, real y, real) { return kernels::add(x, y); }},
        {"sub(x, y)", [](real x, real y, real) { return kernels::sub(x, y); }},
        {"mul(x, y)", [](real x, real y, real) { return kernels::mul(x, y); }},
        {"div(x, y)", [](real x, real y, real) { return kernels::div(x, y); }},
        {"fma(x, y, z)", [](real x, real y, real z) { return kernels::fma(x, y, z); }},
        // A product and a sum must round twice: the compiler must not contract them into one fma.
        {"x * y + z", [](real x, real y, real z) { return x * y + z; }},
        {"less(x, y)", [](real x, real y, real) { return kernels::less(x, y); }},
        {"less_equal(x, y)", [](real x, real y, real) { return kernels::less_equal(x, y); }},
        {"equal(x, y)", [](real x, real y, real) { return kernels::equal(x, y); }},
        {"logical_not(x)", [](real x, real, real) { return kernels::logical_not(x); }},
        {"logical_and(x, y)", [](real x, real y, real) { return kernels::logical_and(x, y); }},
        {"logical_or(x, y)", [](real x, real y, real) { return kernels::logical_or(x, y); }},
        {"select(x, y, z)", [](real x, real y, real z) { return kernels::select(x, y, z); }},
        {"abs(x)", [](real x, real, real) { return kernels::abs(x); }},
        {"min(x, y)", [](real x, real y, real) { return kernels::min(x, y); }},
        {"max(x, y)", [](real x, real y, real) { return kernels::max(x, y); }},
        {"clamp(x, y, z)", [](real x, real y, real z) { return kernels::clamp(x, y, z); }},
        {"floor(x)", [](real x, real, real) { return kernels::floor(x); }},
        {"find_place(9, x).i", [](real x, real, real) { return real(kernels::find_place(9, x).i); }},
        {"find_place(9, x).on", [](real x, real, real) { return kernels::find_place(9, x).on; }},
        {"between(x, y, z)", [](real x, real y, real z) { return kernels::between(x, y, z); }},
        {"sqrt(x)", [](real x, real, real) { return kernels::sqrt(x); }},
        {"exp(x)", [](real x, real, real) { return kernels::exp(x); }},
        {"log(x)", [](real x, real, real) { return kernels::log(x); }},
        {"pow(x, y)", [](real x, real y, real) { return kernels::pow(x, y); }},
        {"sin(x)", [](real x, real, real) { return kernels::sin(x); }},
        {"cos(x)", [](real x, real, real) { return kernels::cos(x); }},
        {"norm_cdf(x)", [](real x, real, real) { return kernels::norm_cdf(x); }},
        {"norm_inv(x)", [](real x, real, real) { return kernels::norm_inv(x); }},
        {"normal_to_exponential(x)", [](real x, real, real) { return kernels::normal_to_exponential(x); }}};
}

// Text of a kernel: out[k * points + i] becomes function k of point i. The kernel stands in the namespace,
// whose functions hide CUDA's of the same names.
template <typename real>
std::string functions_text() {
    const std::string name = name_of<real>();
    std::string text =
        "#include \"kernels/operations.h\"\n"
        "namespace tilewalk::kernels {\n"
        "extern \"C\" __global__ void functions(const " +
        name + "* xs, const " + name + "* ys, const " + name + "* zs, " + name +
        "* out) {\n"
        "    const unsigned points = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    const " +
        name + " x = xs[i], y = ys[i], z = zs[i];\n";
    std::size_t k = 0;
    for (const auto& f : functions<real>()) {
        text += "    out[" + std::to_string(k++) + " * points + i] = " + std::string(f.expression) + ";\n";
    }
    return text + "}\n}\n";
}

template <typename real>
std::string roots_text() {
    const std::string name = name_of<real>();
    return "#include \"kernels/arithmetic.h\"\n"
           "extern \"C\" __global__ void roots(const " +
           name + "* x, " + name +
           "* out) {\n"
           "    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    out[i] = tilewalk::kernels::sqrt_of_middle_range(x[i]);\n}\n";
}

// Paths, blocks and names of test points, far apart from point to point.
word64 path_of_point(std::size_t i) {
    return i * 0x9e3779b97f4a7c15ULL;
}
word32 block_of_point(std::size_t i) {
    return static_cast<word32>(i * 0x85ebca6bU);
}
kernels::stream_key name_of_point(std::size_t i) {
    return i % 4 == 0 ? kernels::stream_key{} : kernels::stream_key_of(i * 0xc2b2ae3d27d4eb4fULL >> 2);
}

// Ways to draw a block: by the seed; by the bits of a path that has only one stream; by those of a path with
// several.
enum class way { by_seed, by_stream, by_one_of_several };
constexpr std::array ways{way::by_seed, way::by_stream, way::by_one_of_several};
const char* name_of(way how) {
    return how == way::by_seed     ? "by seed"
           : how == way::by_stream ? "by stream"
                                   : "by one of several streams";
}

// Text of a kernel: pairs[4 * i] begins two normals and two uniforms of point i, fours[8 * i] four of each.
std::string shocks_text(way how) {
    const std::string keys = how == way::by_seed ? "word64" : "philox_schedule";
    const auto drawn = [&](const std::string& draws, const std::string& kind) {
        const std::string several = how == way::by_one_of_several ? "true" : "false";
        const std::string from = how == way::by_seed
                                     ? "keys, path, block, name"
                                     : draws + "::path_bits<" + kind + "_stream, " + several +
                                           ">{keys, path & ~3ull, word32(path & 3), name}, block";
        return draws + "::" + kind + "s(" + from + ")";
    };
    return "#include \"kernels/draws.h\"\n"
           "namespace tilewalk::kernels {\n"
           "extern \"C\" __global__ void shocks(const __grid_constant__ " +
           keys +
           " keys, double* pairs, float* fours) {\n"
           "    const word64 i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    const word64 path = i * 0x9e3779b97f4a7c15ull;\n"
           "    const word32 block = word32(i * 0x85ebca6bu);\n"
           "    const stream_key name =\n"
           "        i % 4 == 0 ? stream_key{} : stream_key_of(i * 0xc2b2ae3d27d4eb4full >> 2);\n"
           "    const auto z = " +
           drawn("double_draws", "normal") + ";\n    const auto u = " + drawn("double_draws", "uniform") +
           ";\n"
           "    pairs[4 * i] = z.x[0], pairs[4 * i + 1] = z.x[1];\n"
           "    pairs[4 * i + 2] = u.x[0], pairs[4 * i + 3] = u.x[1];\n"
           "    const auto w = " +
           drawn("single_draws", "normal") + ";\n    const auto v = " + drawn("single_draws", "uniform") +
           ";\n"
           "    for (int k = 0; k < 4; ++k) fours[8 * i + k] = w.x[k], fours[8 * i + 4 + k] = "
           "v.x[k];\n}\n}\n";
}

// Text of a kernel: each block computes the moments of a tile in its shared memory, as a path kernel does.
std::string moments_text(std::uint32_t threads) {
    const std::string count = std::to_string(threads);
    return "#include \"kernels/reductions/tree.h\"\n"
           "namespace tilewalk::kernels {\n"
           "extern \"C\" __global__ void __launch_bounds__(" +
           count +
           ") moments_of_tiles(const double* payoffs, const int* counts, tile_result* out) {\n"
           "    extern __shared__ double shared[];\n"
           "    for (int path = int(threadIdx.x); path < paths_per_tile; path += " +
           count +
           ") {\n"
           "        shared[path] = payoffs[blockIdx.x * paths_per_tile + path];\n"
           "    }\n"
           "    __syncthreads();\n"
           "    reductions::tree<" +
           count +
           ">::finish(shared, counts[blockIdx.x],\n"
           "        {blockIdx.x, blockIdx.x, gridDim.x, gridDim.x, out, nullptr, nullptr, nullptr},\n"
           "        reinterpret_cast<char*>(shared + paths_per_tile));\n}\n}\n";
}
constexpr std::uint32_t moments_shared_bytes = (kernels::paths_per_tile + 64) * sizeof(double);

std::vector<std::string> all_texts() {
    std::vector<std::string> all = {functions_text<double>(), functions_text<float>(), roots_text<double>(),
                                    roots_text<float>()};
    for (const way how : ways) all.push_back(shocks_text(how));
    for (const std::uint32_t threads : {64U, 128U, 256U}) all.push_back(moments_text(threads));
    return all;
}

template <typename real>
struct edges;
template <>
struct edges<double> {
    static constexpr double exp_low[] = {-746.5, -700}, exp_high[] = {700, 710.5}, exp_middle[] = {-700, 700},
                            power_low[] = {-1080, -1015}, power_high[] = {1015, 1030}, tail[] = {-39, -35},
                            sine_end = 0x1p20;
    static constexpr int lowest_root = -500, highest_root = 500;
};
template <>
struct edges<float> {
    static constexpr float exp_low[] = {-104.5f, -85}, exp_high[] = {85, 89.5f}, exp_middle[] = {-85, 85},
                           power_low[] = {-155, -120}, power_high[] = {120, 130}, tail[] = {-14.5f, -11},
                           sine_end = 0x1p20f;
    static constexpr int lowest_root = -60, highest_root = 60;
};

template <typename real>
class numbers {
  public:
    using word = typename kernels::format<real>::word;
    static constexpr int mantissa_bits = kernels::format<real>::mantissa_bits;

    explicit numbers(std::uint64_t seed) : random_(seed) {
        const real infinity = kernels::format<real>::infinity;
        const real largest = std::numeric_limits<real>::max();
        const real smallest = std::numeric_limits<real>::denorm_min();
        const real normal = kernels::format<real>::smallest_normal;
        for (const real x : {real(0),
                             real(0.5),
                             real(1),
                             real(2),
                             real(3),
                             real(10),
                             smallest,
                             normal,
                             normal - smallest,
                             largest,
                             infinity,
                             std::nextafter(real(1), real(0)),
                             std::nextafter(real(1), real(2)),
                             std::nextafter(real(0.5), real(0)),
                             std::nextafter(real(0.5), real(1)),
                             real(1.5),
                             real(2.5),
                             real(16777217),
                             real(0x1p52),
                             real(0x1p53),
                             real(0x1.fffffffffffffp52),
                             edges<real>::sine_end,
                             std::nextafter(edges<real>::sine_end, infinity),
                             edges<real>::exp_low[0],
                             edges<real>::exp_high[1],
                             edges<real>::tail[0]}) {
            special_.push_back(x);
            special_.push_back(-x);
        }
        special_.push_back(kernels::format<real>::nan);
    }

    word bits() { return static_cast<word>(random_()); }
    int whole(int low, int high) {
        return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    real between(real low, real high) {
        const auto part = static_cast<real>(bits() >> (8 * sizeof(word) - mantissa_bits)) /
                          static_cast<real>(word{1} << mantissa_bits);
        return low + (high - low) * part;
    }
    real between(const real (&ends)[2]) { return between(ends[0], ends[1]); }
    real with_sign(real x) { return random_() % 2 == 0 ? x : -x; }
    real special() { return special_[random_() % special_.size()]; }
    real log_uniform(int low, int high) { return std::ldexp(between(real(1), real(2)), whole(low, high)); }

    static constexpr int kinds = 14;
    static const char* name(int kind) {
        constexpr std::array<const char*, kinds> names = {"any bits",
                                                          "special values",
                                                          "subnormal",
                                                          "in the unit interval",
                                                          "moderate",
                                                          "of any exponent",
                                                          "at the low end of exp",
                                                          "at the high end of exp",
                                                          "within the ends of exp",
                                                          "near 1",
                                                          "large angles",
                                                          "whole and half numbers",
                                                          "in the tail of the normal",
                                                          "of any kind"};
        return names[static_cast<std::size_t>(kind)];
    }
    real of(int kind) {
        const int bias = kernels::format<real>::exponent_bias;
        switch (kind) {
            case 0:
                return kernels::from_bits(bits());
            case 1:
                return special();
            case 2:
                return with_sign(kernels::from_bits(bits() >> (8 * sizeof(word) - mantissa_bits)));
            case 3:
                return between(real(0), real(1));
            case 4:
                return between(real(-40), real(40));
            case 5:
                return with_sign(log_uniform(1 - bias, bias));
            case 6:
                return between(edges<real>::exp_low);
            case 7:
                return between(edges<real>::exp_high);
            case 8:
                return between(edges<real>::exp_middle);
            case 9:
                return real(1) + with_sign(log_uniform(-mantissa_bits - 1, -1));
            case 10:
                return with_sign(whole(0, 1) == 0
                                     ? log_uniform(3, 21)
                                     : static_cast<real>(whole(1, 600000)) * real(1.5707963267948966));
            case 11:
                return static_cast<real>(whole(-400, 400)) / 2;
            case 12:
                return between(edges<real>::tail);
            default:
                return of(whole(0, kinds - 2));
        }
    }
    // An exponent y for which pow(x, y) is near an end of its range.
    real power_to_the_end(real x) {
        const real low = between(edges<real>::power_low), high = between(edges<real>::power_high);
        return (whole(0, 1) == 0 ? low : high) / std::log2(kernels::abs(x));
    }

  private:
    std::mt19937_64 random_;
    std::vector<real> special_;
};

class kernel_bits : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = cuda::why_no_compiler(); !why.empty()) skip(why);
    }

    // Skips the test, or fails it with TILEWALK_REQUIRE_GPU=1.
    static void skip(const std::string& why) {
        const char* said = std::getenv("TILEWALK_REQUIRE_GPU");
        if (said != nullptr && std::string(said) == "1") FAIL() << why;
        GTEST_SKIP() << why;
    }

    static std::string compile(const std::string& text, const std::string& architecture) {
        const auto got = cuda::nvrtc_compiler().compile({text, architecture});
        EXPECT_EQ(got.log.find("warning"), std::string::npos) << text << got.log;
        return got.cubin;
    }
};

class kernel_bits_on_a_gpu : public kernel_bits {
  protected:
    void SetUp() override {
        kernel_bits::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        const cuda::device_survey survey = cuda::survey_devices();
        std::string why_none = survey.why_none;
        for (const auto& d : survey.devices) {
            why_none += d.why_not;
            if (device_ == nullptr && d.why_not.empty()) device_ = cuda::open_device(d.properties.index);
        }
        if (device_ == nullptr) return skip(why_none);
        stream_.emplace(cuda::new_stream(*device_));
    }
    void TearDown() override {
        module_.reset();
        stream_.reset();
    }

    void load(const std::string& text, const char* kernel) {
        module_.emplace(*device_, device_->load(compile(text, device_->properties().architecture())));
        kernel_ = device_->find(module_->get(), kernel);
    }

    template <typename number>
    cuda::device_memory on_gpu(const std::vector<number>& values) {
        cuda::device_memory memory(*device_, values.size() * sizeof(number));
        device_->upload(memory.as<void>(), values.data(), memory.bytes(), stream_->get());
        return memory;
    }
    template <typename number>
    cuda::device_memory room_for(std::size_t count) {
        cuda::device_memory memory(*device_, count * sizeof(number));
        device_->fill(memory.as<void>(), 0x5a, memory.bytes(), stream_->get());
        return memory;
    }
    template <typename number>
    void fetch(std::vector<number>& to, const cuda::device_memory& from) {
        device_->download(to.data(), from.as<void>(), to.size() * sizeof(number), stream_->get());
        device_->wait(stream_->get());
    }
    void run(const cuda::launch& how, std::vector<void*> arguments) {
        const cuda::in_flight guard(*device_, {stream_->get()});
        device_->run(kernel_, how, arguments, stream_->get());
    }
    static cuda::launch one_thread_each(std::size_t points) {
        return {static_cast<std::uint32_t>(points / threads_per_block), threads_per_block, 0, nullptr, 0};
    }

    template <typename real>
    void compare_functions();
    template <typename real>
    void compare_roots(const std::vector<real>& x, comparison& all);
    template <typename key>
    void compare_shocks(way how, word64 seed, const key& keys);

  private:
    std::unique_ptr<cuda::device> device_;
    std::optional<cuda::owned_stream> stream_;
    std::optional<cuda::owned_module> module_;
    cuda::kernel kernel_{};
};

}  // namespace

TEST_F(kernel_bits, texts_compile) {
    for (const std::string architecture : {"sm_80", "sm_90"}) {
        SCOPED_TRACE(architecture);
        for (const auto& text : all_texts()) EXPECT_FALSE(compile(text, architecture).empty()) << text;
    }
}

template <typename real>
void kernel_bits_on_a_gpu::compare_functions() {
    const auto all = functions<real>();
    load(functions_text<real>(), "functions");
    constexpr std::size_t points = 1 << 18;
    std::vector<comparison> results;
    for (const auto& f : all) results.emplace_back(name_of<real>() + " " + f.expression);
    numbers<real> number(1);
    std::vector<real> x(points), y(points), z(points), out(points * all.size());
    const auto gpu_out = room_for<real>(out.size());
    for (int kind = 0; kind < numbers<real>::kinds; ++kind) {
        for (std::size_t i = 0; i < points; ++i) {
            x[i] = number.of(kind);
            y[i] = i % 4 == 0   ? number.power_to_the_end(x[i])
                   : i % 4 == 1 ? number.of(4)
                                : number.of(number.whole(0, numbers<real>::kinds - 1));
            z[i] = number.of(number.whole(0, numbers<real>::kinds - 1));
        }
        const auto gpu_x = on_gpu(x), gpu_y = on_gpu(y), gpu_z = on_gpu(z);
        real *px = gpu_x.template as<real>(), *py = gpu_y.template as<real>(),
             *pz = gpu_z.template as<real>(), *to = gpu_out.template as<real>();
        run(one_thread_each(points), {&px, &py, &pz, &to});
        fetch(out, gpu_out);
        for (std::size_t k = 0; k < all.size(); ++k) {
            for (std::size_t i = 0; i < points; ++i) {
                results[k].add(all[k].on_cpu(x[i], y[i], z[i]), out[k * points + i], [&] {
                    return "x " + in_hexadecimal(x[i]) + " (" + numbers<real>::name(kind) + "), y " +
                           in_hexadecimal(y[i]) + ", z " + in_hexadecimal(z[i]);
                });
            }
        }
    }
    for (const auto& r : results) r.check(std::size_t{1} << 21);
}

TEST_F(kernel_bits_on_a_gpu, functions_of_double) {
    compare_functions<double>();
}

TEST_F(kernel_bits_on_a_gpu, functions_of_float) {
    compare_functions<float>();
}

template <typename real>
void kernel_bits_on_a_gpu::compare_roots(const std::vector<real>& x, comparison& all) {
    std::vector<real> out(x.size());
    const auto gpu_x = on_gpu(x), gpu_out = room_for<real>(x.size());
    real *px = gpu_x.template as<real>(), *to = gpu_out.template as<real>();
    run(one_thread_each(x.size()), {&px, &to});
    fetch(out, gpu_out);
    for (std::size_t i = 0; i < x.size(); ++i) {
        all.add(std::sqrt(x[i]), out[i], [&] { return "x " + in_hexadecimal(x[i]); });
    }
}

// Tests all floats of two neighbouring binades. Apart from the exponent, a root sees no others.
TEST_F(kernel_bits_on_a_gpu, roots_of_float) {
    load(roots_text<float>(), "roots");
    comparison all("float sqrt_of_middle_range");
    std::vector<float> x(1 << 20);
    word32 bits = kernels::to_bits(1.0f);
    for (int chunk = 0; chunk < 16; ++chunk) {
        for (float& value : x) value = kernels::from_bits(bits++);
        compare_roots(x, all);
    }
    EXPECT_EQ(kernels::from_bits(bits), 4.0f);
    numbers<float> number(2);
    for (int chunk = 0; chunk < 4; ++chunk) {
        for (float& value : x) value = number.log_uniform(-60, 59);
        if (chunk == 0) {
            std::size_t i = 0;
            x[i++] = 0;
            for (int e = -60; e <= 60; ++e) {
                const float power = std::ldexp(1.0f, e);
                x[i++] = power;
                if (e > -60) x[i++] = std::nextafter(power, 0.0f);
                if (e < 60) x[i++] = std::nextafter(power, 0x1p61f);
            }
        }
        compare_roots(x, all);
    }
    all.check(20U << 20);
}

TEST_F(kernel_bits_on_a_gpu, roots_of_double) {
    load(roots_text<double>(), "roots");
    comparison all("double sqrt_of_middle_range");
    numbers<double> number(3);
    std::vector<double> x(1 << 20);
    for (int chunk = 0; chunk < 16; ++chunk) {
        for (double& value : x) value = number.log_uniform(-500, 499);
        if (chunk == 0) {
            std::size_t i = 0;
            for (int e = -500; e <= 500; ++e) {
                const double power = std::ldexp(1.0, e);
                x[i++] = power;
                if (e > -500) x[i++] = std::nextafter(power, 0.0);
                if (e < 500) x[i++] = std::nextafter(power, 0x1p501);
            }
        }
        compare_roots(x, all);
    }
    // A root is hard to round if it lies next to a double or to the middle of two. Tests the neighbours of
    // squares of both, for roots of every length in bits.
    for (int chunk = 0; chunk < 16; ++chunk) {
        for (double& value : x) {
            const int length = number.whole(1, 52);
            const double unit = std::ldexp(1.0, -length);
            const double root = 1.0 + unit * std::floor(number.between(0.0, 1.0) / unit);
            const double middle = chunk % 2 == 0 ? 0.0 : 0x1p-53;
            double square = std::fma(root, root, 2 * root * middle);
            const int steps = number.whole(-3, 3);
            square = kernels::from_bits(kernels::to_bits(square) + static_cast<word64>(steps));
            value = std::ldexp(square, 2 * number.whole(-249, 248));
        }
        compare_roots(x, all);
    }
    all.check(32U << 20);
}

template <typename key>
void kernel_bits_on_a_gpu::compare_shocks(way how, word64 seed, const key& keys) {
    load(shocks_text(how), "shocks");
    constexpr std::size_t points = 1 << 21;
    std::vector<double> pairs(4 * points);
    std::vector<float> fours(8 * points);
    const auto gpu_pairs = room_for<double>(pairs.size()), gpu_fours = room_for<float>(fours.size());
    double* to_pairs = gpu_pairs.template as<double>();
    float* to_fours = gpu_fours.template as<float>();
    key argument = keys;
    run(one_thread_each(points), {&argument, &to_pairs, &to_fours});
    fetch(pairs, gpu_pairs);
    fetch(fours, gpu_fours);
    const std::string of_seed = " of seed " + in_hexadecimal(seed) + ' ' + name_of(how);
    comparison normals("normals" + of_seed), uniforms("uniforms" + of_seed),
        single_normals("single_normals" + of_seed), single_uniforms("single_uniforms" + of_seed);
    for (std::size_t i = 0; i < points; ++i) {
        const auto where = [&] { return "point " + std::to_string(i); };
        const word64 path = path_of_point(i);
        const word32 block = block_of_point(i);
        const kernels::stream_key name = name_of_point(i);
        const auto z = kernels::normals(seed, path, block, name);
        normals.add(z.first, pairs[4 * i], where);
        normals.add(z.second, pairs[4 * i + 1], where);
        const auto u = kernels::uniforms(seed, path, block, name);
        uniforms.add(u.first, pairs[4 * i + 2], where);
        uniforms.add(u.second, pairs[4 * i + 3], where);
        const auto w = kernels::single_normals(seed, path, block, name);
        const auto v = kernels::single_uniforms(seed, path, block, name);
        for (std::size_t k = 0; k < 4; ++k) {
            single_normals.add(w.x[k], fours[8 * i + k], where);
            single_uniforms.add(v.x[k], fours[8 * i + 4 + k], where);
        }
    }
    for (const auto* all : {&normals, &uniforms}) all->check(2 * points);
    for (const auto* all : {&single_normals, &single_uniforms}) all->check(4 * points);
}

TEST_F(kernel_bits_on_a_gpu, shocks) {
    for (const word64 seed : {word64{42}, ~word64{0}, word64{0x0123456789abcdef}}) {
        compare_shocks(way::by_seed, seed, seed);
        compare_shocks(way::by_stream, seed, kernels::schedule_of(seed));
        compare_shocks(way::by_one_of_several, seed, kernels::schedule_of(seed));
    }
}

TEST_F(kernel_bits_on_a_gpu, moments_of_tiles) {
    constexpr auto per_tile = static_cast<std::size_t>(kernels::paths_per_tile);
    constexpr std::size_t kinds = 8, tiles = kinds * per_tile;
    numbers<double> number(4);
    std::vector<double> payoffs(tiles * per_tile);
    std::vector<int> counts(tiles);
    std::vector<kernels::tile_result> expected(tiles);
    for (std::size_t t = 0; t < tiles; ++t) {
        const std::size_t kind = t % kinds, count = t / kinds + 1;
        counts[t] = static_cast<int>(count);
        const std::span<double> x(payoffs.data() + t * per_tile, per_tile);
        const double level = number.between(-100, 100);
        for (double& value : x) {
            switch (kind) {
                case 0:  // payoffs of an option
                    value = std::max(0.0, 100 * std::exp(number.between(-0.5, 0.5)) - 100);
                    break;
                case 1:
                    value = level;
                    break;
                case 2:
                    value = number.with_sign(0.0);
                    break;
                case 3:
                    value = number.of(2);
                    break;
                case 4:  // numbers whose moments overflow
                    value = number.with_sign(number.log_uniform(1000, 1023));
                    break;
                case 5:
                    value = number.of(5);
                    break;
                default:
                    value = number.between(-40.0, 40.0);
            }
        }
        const auto any_path = [&] { return static_cast<std::size_t>(number.whole(0, counts[t] - 1)); };
        const double bad[] = {kernels::format<double>::nan, kernels::format<double>::infinity,
                              -kernels::format<double>::infinity};
        if (kind == 6) x[any_path()] = bad[count % 3];
        if (kind == 7) {
            for (int i = number.whole(2, 1500); i > 0; --i) x[any_path()] = bad[number.whole(0, 2)];
        }
        // Bad numbers after the tile's paths: a kernel that reads them gives other moments.
        for (std::size_t path = count; path < per_tile; ++path) x[path] = bad[path % 3];

        kernels::tile_result& e = expected[t];
        for (std::size_t path = 0; path < count; ++path) {
            if (std::isfinite(x[path])) continue;
            if (e.not_finite++ == 0) e.first_not_finite = t * per_tile + path;
        }
        if (e.not_finite == 0) e.moments = kernels::tile_moments(x.data(), counts[t]);
    }
    const auto gpu_payoffs = on_gpu(payoffs), gpu_counts = on_gpu(counts);
    const auto gpu_out = room_for<kernels::tile_result>(tiles);
    for (const std::uint32_t threads : {64U, 128U, 256U}) {
        load(moments_text(threads), "moments_of_tiles");
        double* from = gpu_payoffs.as<double>();
        int* numbers_of_paths = gpu_counts.as<int>();
        auto* to = gpu_out.as<kernels::tile_result>();
        run({static_cast<std::uint32_t>(tiles), threads, moments_shared_bytes, nullptr, 0},
            {&from, &numbers_of_paths, &to});
        std::vector<kernels::tile_result> got(tiles);
        fetch(got, gpu_out);
        comparison all("moments of tiles by " + std::to_string(threads) + " threads");
        for (std::size_t t = 0; t < tiles; ++t) {
            const auto compare = [&](auto on_cpu, auto on_gpu, const char* what) {
                all.add(on_cpu, on_gpu, [&] {
                    return std::string(what) + " of " + std::to_string(counts[t]) + " paths of kind " +
                           std::to_string(t % kinds);
                });
            };
            const kernels::moments &a = expected[t].moments, &b = got[t].moments;
            compare(a.count, b.count, "count");
            compare(a.mean, b.mean, "mean");
            compare(a.m2, b.m2, "m2");
            compare(a.m3, b.m3, "m3");
            compare(a.m4, b.m4, "m4");
            compare(expected[t].not_finite, got[t].not_finite, "not_finite");
            compare(expected[t].first_not_finite, got[t].first_not_finite, "first_not_finite");
        }
        all.check(7 * tiles);
    }
}

}  // namespace tilewalk::kernel_bits_test
