// SPDX-License-Identifier: Apache-2.0
// Hand-written baselines of the generated kernels: memory rates, the Asian with cuRAND's device API, and the
// Asian, the autocallable and the Asian with normals from memory by our headers. Compares prices before
// timing. Built and run by bench/gpu_check.sh; prints one JSON object a line, the device's facts first.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/gpu_baselines.h"
#include "kernels/draws.h"
#include "kernels/operations.h"

namespace tilewalk::bench {

namespace {

using kernels::word32;
using kernels::word64;

constexpr word64 seed = 42;
constexpr unsigned threads = 256;

void must(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

// Styles of arithmetic: the type of a kernel's numbers, and its functions for normals and exponentials.
struct in_double : kernels::double_draws {
    using real = double;
    static constexpr double unit = 1;  // factor for arguments of exp
    static constexpr double exp(double x) { return kernels::exp(x); }
};
struct in_single : kernels::single_draws {
    using real = float;
    static constexpr double unit = 1;
    static constexpr float exp(float x) { return kernels::exp(x); }
};
struct in_mixed : kernels::single_draws {
    using real = double;
    static constexpr double unit = 1;
    static constexpr double exp(double x) { return kernels::exp(x); }
};

// Style with the hardware's approximate functions, on the same random bits. Uniform numbers are the upper 23
// bits as a mantissa: converting an integer would use the same GPU unit as the approximations.
struct in_fast_single {
    using real = float;
    using shock = float;
    using block = kernels::four_shocks;
    static constexpr int per_block = 4;
    static constexpr double unit = 1.4426950408889634;  // exp is computed as a power of 2

    static __device__ float exp(float x) {
        float y;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
        return y;
    }
    static __device__ float2 normals_of_bits(word32 w0, word32 w1) {
        float log2_of_uniform, radius;
        asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log2_of_uniform) : "f"(kernels::uniform_of_bits(w0)));
        asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(radius) : "f"(log2_of_uniform * -1.3862943611198906f));
        constexpr float two_pi = 6.283185307179586f;
        const float mantissa = kernels::from_bits((w1 >> 9) | kernels::to_bits(1.0f));
        const float angle = __fmaf_rn(mantissa, two_pi, -1.5f * two_pi);
        return {radius * __cosf(angle), radius * __sinf(angle)};
    }
    static __device__ block normals(word64 key, word64 path, word32 number) {
        const auto bits = kernels::path_block(key, path, number, kernels::normal_stream);
        const float2 a = normals_of_bits(bits.x0, bits.x1), b = normals_of_bits(bits.x2, bits.x3);
        return {{a.x, a.y, b.x, b.y}};
    }
};

__device__ word64 path_of_thread() {
    return word64(blockIdx.x) * blockDim.x + threadIdx.x;
}

// The discounted payoff of the Asian; `total` is the sum of all fixings, each divided by the initial spot.
template <class real>
__device__ double asian_payoff(const asian_terms& terms, real total) {
    const real average = total * real(terms.spot / steps_in_all);
    return terms.discount * double(kernels::max(average - real(terms.strike), real(0)));
}

template <class style>
__global__ void __launch_bounds__(threads) asian(asian_terms terms, block_sums* out) {
    using real = typename style::real;
    const real drift = real(terms.drift * style::unit), volatility = real(terms.volatility * style::unit);
    const word64 path = path_of_thread();
    real x = 0, total = 0;
#pragma unroll 1
    for (int block = 0; block < steps_in_all / style::per_block; ++block) {
        const auto z = style::normals(seed, path, word32(block));
#pragma unroll
        for (int k = 0; k < style::per_block; ++k) {
            x = x + kernels::fma(real(z.x[k]), volatility, drift);
            total = total + style::exp(x);
        }
    }
    hand_in(asian_payoff(terms, total), out);
}

// The Asian with normals from memory, a cube [step][path], loaded where they are used, in a loop not
// unrolled.
template <class style>
__global__ void __launch_bounds__(threads)
    streamed_asian(asian_terms terms, const typename style::shock* cube, word64 pitch, block_sums* out) {
    using real = typename style::real;
    const real drift = real(terms.drift * style::unit), volatility = real(terms.volatility * style::unit);
    const auto* z = cube + path_of_thread();
    real x = 0, total = 0;
#pragma unroll 1
    for (int step = 0; step < steps_in_all; ++step) {
        x = x + kernels::fma(real(z[word64(step) * pitch]), volatility, drift);
        total = total + style::exp(x);
    }
    hand_in(asian_payoff(terms, total), out);
}

template <class style>
__global__ void fill_cube(typename style::shock* cube, word64 pitch) {
    const word64 path = path_of_thread();
    for (int block = 0; block < steps_in_all / style::per_block; ++block) {
        const auto z = style::normals(seed, path, word32(block));
        for (int k = 0; k < style::per_block; ++k) {
            cube[word64(block * style::per_block + k) * pitch + path] = z.x[k];
        }
    }
}

constexpr int assets = 5;

// Terms of an autocallable note on the worst of five assets, all of which start at their reference level.
struct autocallable_terms {
    double drift[assets];
    double root[assets * (assets + 1) / 2];  // lower triangular root of a step's covariance, row by row
    double log_call_level, protection, redemption;  // redemption: the discounted notional
    const double* payments;                         // by observation date, discounted
};

// The note, observed after every `every` steps. Log performances need one exponential a path, at the end.
template <class style, int every>
__global__ void __launch_bounds__(threads)
    autocallable(const __grid_constant__ autocallable_terms terms, block_sums* out) {
    using real = typename style::real;
    constexpr int per_block = style::per_block;  // steps of a group, which use up whole blocks of normals
    real drift[assets], root[assets * (assets + 1) / 2], x[assets] = {};
    for (int i = 0; i < assets; ++i) drift[i] = real(terms.drift[i] * style::unit);
    for (int i = 0; i < assets * (assets + 1) / 2; ++i) root[i] = real(terms.root[i] * style::unit);
    const real call_level = real(terms.log_call_level * style::unit);
    const word64 path = path_of_thread();
    real paid = 0;
    bool called = false;
    int since = 0, observation = 0;
#pragma unroll 1
    for (int group = 0; group < steps_in_all / per_block; ++group) {
        typename style::block z[assets];
#pragma unroll
        for (int b = 0; b < assets; ++b) z[b] = style::normals(seed, path, word32(group * assets + b));
#pragma unroll
        for (int k = 0; k < per_block; ++k) {
#pragma unroll
            for (int i = 0; i < assets; ++i) {
                real move = drift[i];
#pragma unroll
                for (int j = 0; j <= i; ++j) {
                    const int n = k * assets + j;
                    move = kernels::fma(real(z[n / per_block].x[n % per_block]), root[i * (i + 1) / 2 + j],
                                        move);
                }
                x[i] = x[i] + move;
            }
            if (++since < every) continue;
            since = 0;
            real worst = x[0];
#pragma unroll
            for (int i = 1; i < assets; ++i) worst = kernels::min(worst, x[i]);
            const bool now = worst >= call_level && !called;
            if (now) paid = real(__ldg(terms.payments + observation));
            called = called || now;
            ++observation;
        }
    }
    if (!called) {
        real worst = x[0];
        for (int i = 1; i < assets; ++i) worst = kernels::min(worst, x[i]);
        const real performance = style::exp(worst);
        paid = real(terms.redemption) * (performance >= real(terms.protection) ? real(1) : performance);
    }
    hand_in(double(paid), out);
}

__global__ void copy(const uint4* from, uint4* to, word64 count) {
    const word64 i = path_of_thread();
    if (i < count) to[i] = from[i];
}

__global__ void read(const uint4* from, word64 count, word32* out) {
    word32 all = 0;
    for (word64 i = path_of_thread(); i < count; i += word64(gridDim.x) * blockDim.x) {
        const uint4 x = __ldcs(from + i);
        all ^= x.x ^ x.y ^ x.z ^ x.w;
    }
    // Never true for this data. The compiler can't know, so it keeps the loads.
    if (all == 0x12345678u) *out = all;
}

struct measured {
    double median, p10, p90;  // milliseconds
};

measured time(const std::function<void()>& launch) {
    constexpr int warm_up = 5, repetitions = 31;
    cudaEvent_t begin, end;
    must(cudaEventCreate(&begin), "cudaEventCreate");
    must(cudaEventCreate(&end), "cudaEventCreate");
    for (int i = 0; i < warm_up; ++i) launch();
    std::vector<float> milliseconds(repetitions);
    for (float& one : milliseconds) {
        must(cudaEventRecord(begin), "cudaEventRecord");
        launch();
        must(cudaEventRecord(end), "cudaEventRecord");
        must(cudaEventSynchronize(end), "a kernel");
        must(cudaEventElapsedTime(&one, begin, end), "cudaEventElapsedTime");
    }
    must(cudaGetLastError(), "a launch");
    std::sort(milliseconds.begin(), milliseconds.end());
    must(cudaEventDestroy(begin), "cudaEventDestroy");
    must(cudaEventDestroy(end), "cudaEventDestroy");
    return {milliseconds[repetitions / 2], milliseconds[repetitions / 10],
            milliseconds[repetitions - 1 - repetitions / 10]};
}

void print(const std::string& name, double amount, const char* unit, const measured& m,
           const std::string& rest) {
    std::printf(
        "{\"name\": \"%s\", \"rate\": %.4g, \"unit\": \"%s\", \"milliseconds\": %.4f, \"p10\": %.4f, "
        "\"p90\": %.4f%s}\n",
        name.c_str(), amount / (m.median * 1e-3), unit, m.median, m.p10, m.p90, rest.c_str());
    std::fflush(stdout);
}

struct estimate {
    double price, standard_error;
};

struct pricing_kernel {
    std::string name;
    std::string payoff;  // name of the payoff: kernels with equal names must agree on the price
    word64 paths;
    std::function<void(block_sums*)> launch;
    std::string rest;  // further members of the JSON line
    double bytes = 0;  // bytes read from memory; 0: rates are in path-steps instead
};

estimate run(const pricing_kernel& k, block_sums* out) {
    const std::size_t blocks = k.paths / 32;  // upper limit; sums that no thread block writes stay 0
    k.launch(out);
    must(cudaGetLastError(), k.name.c_str());
    std::vector<block_sums> sums(blocks);
    must(cudaMemcpy(sums.data(), out, blocks * sizeof(block_sums), cudaMemcpyDeviceToHost), k.name.c_str());
    block_sums all{0, 0};
    for (const auto& s : sums) {
        all.sum += s.sum;
        all.squares += s.squares;
    }
    const double n = double(k.paths), mean = all.sum / n;
    return {mean, std::sqrt((all.squares / n - mean * mean) / (n - 1))};
}

template <class value>
value* allocate(std::size_t count) {
    void* at = nullptr;
    must(cudaMalloc(&at, count * sizeof(value)), "cudaMalloc");
    return static_cast<value*>(at);
}

void print_context() {
    cudaDeviceProp device{};
    must(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
    int driver = 0, runtime = 0, clock_khz = 0, memory_khz = 0;
    must(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    must(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    must(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0), "cudaDeviceGetAttribute");
    must(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, 0), "cudaDeviceGetAttribute");
    char date[16];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    const char* commit = std::getenv("COMMIT");
    std::printf(
        "{\"context\": {\"device\": \"%s\", \"capability\": \"%d.%d\", \"multiprocessors\": %d, "
        "\"clock_mhz\": %d, \"memory_mhz\": %d, \"driver_cuda\": %d, \"runtime\": %d, \"date\": \"%s\", "
        "\"commit\": \"%s\"}}\n",
        device.name, device.major, device.minor, device.multiProcessorCount, clock_khz / 1000,
        memory_khz / 1000, driver, runtime, date, commit ? commit : "unknown");
}

void measure_memory() {
    constexpr std::size_t bytes = std::size_t{2} << 30, count = bytes / sizeof(uint4);
    uint4 *from = allocate<uint4>(count), *to = allocate<uint4>(count);
    word32* out = allocate<word32>(1);
    must(cudaMemset(from, 1, bytes), "cudaMemset");
    const unsigned blocks = unsigned(count / threads);
    print("copy", 2.0 * bytes, "bytes/s", time([&] { copy<<<blocks, threads>>>(from, to, count); }), "");
    print("copy_by_driver", 2.0 * bytes, "bytes/s",
          time([&] { must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync"); }),
          "");
    int multiprocessors = 0;
    must(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0),
         "cudaDeviceGetAttribute");
    const unsigned resident = unsigned(multiprocessors) * 2048 / threads;
    print("read", double(bytes), "bytes/s", time([&] { read<<<resident, threads>>>(from, count, out); }), "");
    must(cudaFree(from), "cudaFree");
    must(cudaFree(to), "cudaFree");
    must(cudaFree(out), "cudaFree");
}

// Dynamic shared memory with which exactly `blocks` blocks fit a multiprocessor; negative if there is none.
template <class kernel>
int shared_bytes_for(kernel k, int blocks) {
    int most = 0;
    must(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), "cudaDeviceGetAttribute");
    cudaFuncAttributes own{};
    must(cudaFuncGetAttributes(&own, k), "cudaFuncGetAttributes");
    most -= int(own.sharedSizeBytes);
    must(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, most), "cudaFuncSetAttribute");
    for (int bytes = 0; bytes <= most; bytes += 1024) {
        int resident = 0;
        must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, k, int(threads), std::size_t(bytes)),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        if (resident == blocks) return bytes;
        if (resident < blocks) return -1;
    }
    return -1;
}

template <class style>
void add_streamed(const char* precision, const asian_terms& terms, word64 paths,
                  std::vector<pricing_kernel>& to) {
    auto* cube = allocate<typename style::shock>(paths * steps_in_all);
    fill_cube<style><<<unsigned(paths / threads), threads>>>(cube, paths);
    must(cudaDeviceSynchronize(), "fill_cube");
    for (const int warps : {64, 32, 16, 8}) {
        const int shared = shared_bytes_for(streamed_asian<style>, warps * 32 / int(threads));
        if (shared < 0) continue;
        to.push_back({std::string("streamed_none_") + precision + "_" + std::to_string(warps) + "_warps",
                      "asian", paths,
                      [=](block_sums* out) {
                          streamed_asian<style><<<unsigned(paths / threads), threads, std::size_t(shared)>>>(
                              terms, cube, paths, out);
                      },
                      ", \"warps_per_multiprocessor\": " + std::to_string(warps),
                      double(paths) * steps_in_all * sizeof(typename style::shock)});
    }
}

// Five assets with these volatilities; every pair has correlation one half.
autocallable_terms make_autocallable(int every) {
    constexpr double volatilities[assets] = {0.20, 0.25, 0.30, 0.22, 0.28};
    constexpr double rate = 0.03, correlation = 0.5, notional = 100, step_years = 1.0 / steps_in_all;
    autocallable_terms t{};
    double root[assets][assets] = {};
    for (int i = 0; i < assets; ++i) {
        t.drift[i] = (rate - 0.5 * volatilities[i] * volatilities[i]) * step_years;
        for (int j = 0; j <= i; ++j) {
            double sum = (i == j ? 1.0 : correlation) * volatilities[i] * volatilities[j] * step_years;
            for (int k = 0; k < j; ++k) sum -= root[i][k] * root[j][k];
            root[i][j] = i == j ? std::sqrt(sum) : sum / root[j][j];
            t.root[i * (i + 1) / 2 + j] = root[i][j];
        }
    }
    t.log_call_level = 0;
    t.protection = 0.6;
    t.redemption = notional * std::exp(-rate);
    std::vector<double> payments;
    for (int step = every; step <= steps_in_all; step += every) {
        const double years = step * step_years;
        payments.push_back(notional * (1 + 0.1 * years) * std::exp(-rate * years));
    }
    double* at = allocate<double>(payments.size());
    must(cudaMemcpy(at, payments.data(), payments.size() * sizeof(double), cudaMemcpyHostToDevice),
         "cudaMemcpy");
    t.payments = at;
    return t;
}

template <class style, int every>
pricing_kernel autocallable_kernel(const char* precision, word64 paths) {
    const autocallable_terms terms = make_autocallable(every);
    const std::string when = every == 1 ? "daily" : "monthly";
    return {"autocallable_by_hand_" + when + "_" + precision, "autocallable " + when, paths,
            [=](block_sums* out) {
                autocallable<style, every><<<unsigned(paths / threads), threads>>>(terms, out);
            },
            ", \"assets\": 5"};
}

template <class style>
pricing_kernel asian_kernel(const char* precision, const asian_terms& terms, word64 paths) {
    return {std::string("asian_by_hand_") + precision, "asian", paths,
            [=](block_sums* out) { asian<style><<<unsigned(paths / threads), threads>>>(terms, out); }, ""};
}

int measure() {
    constexpr word64 paths = word64{1} << 20, autocallable_paths = word64{1} << 18;
    constexpr double rate = 0.05, volatility = 0.2, step_years = 1.0 / steps_in_all;
    const asian_terms terms{100, (rate - 0.5 * volatility * volatility) * step_years,
                            volatility * std::sqrt(step_years), 100, std::exp(-rate)};
    std::vector<pricing_kernel> all;
    for (const unsigned each : {128u, 256u}) {
        const unsigned blocks = unsigned(paths / each);
        const std::string shape = "_" + std::to_string(each) + "_threads";
        all.push_back({"asian_curand_single_fast" + shape, "asian", paths,
                       [=](block_sums* out) { curand_asian_single(terms, seed, blocks, each, out); }, ""});
        all.push_back({"asian_curand_double" + shape, "asian", paths,
                       [=](block_sums* out) { curand_asian_double(terms, seed, blocks, each, out); }, ""});
    }
    all.push_back(asian_kernel<in_fast_single>("single_fast", terms, paths));
    all.push_back(asian_kernel<in_single>("single", terms, paths));
    all.push_back(asian_kernel<in_mixed>("mixed", terms, paths));
    all.push_back(asian_kernel<in_double>("double", terms, paths));
    all.push_back(autocallable_kernel<in_fast_single, 21>("single_fast", autocallable_paths));
    all.push_back(autocallable_kernel<in_fast_single, 1>("single_fast", autocallable_paths));
    all.push_back(autocallable_kernel<in_single, 21>("single", autocallable_paths));
    all.push_back(autocallable_kernel<in_single, 1>("single", autocallable_paths));
    all.push_back(autocallable_kernel<in_double, 21>("double", autocallable_paths));
    all.push_back(autocallable_kernel<in_double, 1>("double", autocallable_paths));
    add_streamed<in_fast_single>("single", terms, paths, all);
    add_streamed<in_double>("double", terms, paths, all);

    block_sums* out = allocate<block_sums>(paths / 32);
    std::vector<estimate> estimates;
    std::map<std::string, std::size_t> first_of_payoff;
    bool agree = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
        must(cudaMemset(out, 0, paths / 32 * sizeof(block_sums)), "cudaMemset");
        estimates.push_back(run(all[i], out));
        const std::size_t other = first_of_payoff.emplace(all[i].payoff, i).first->second;
        const double limit = 4.5 * std::hypot(estimates[i].standard_error, estimates[other].standard_error);
        if (std::abs(estimates[i].price - estimates[other].price) <= limit && estimates[i].price > 0)
            continue;
        std::fprintf(stderr, "%s gives %.6f, %s gives %.6f: more than %.6f apart\n", all[i].name.c_str(),
                     estimates[i].price, all[other].name.c_str(), estimates[other].price, limit);
        agree = false;
    }
    if (!agree) return 1;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const pricing_kernel& k = all[i];
        const measured m = time([&] { k.launch(out); });
        char prices[160];
        std::snprintf(prices, sizeof prices, ", \"price\": %.6f, \"standard_error\": %.6f, \"paths\": %llu",
                      estimates[i].price, estimates[i].standard_error, k.paths);
        const double path_steps = double(k.paths) * steps_in_all;
        std::string rest = prices + k.rest;
        if (k.bytes > 0) {
            char rate_text[64];
            std::snprintf(rate_text, sizeof rate_text, ", \"bytes_per_second\": %.4g",
                          k.bytes / (m.median * 1e-3));
            rest += rate_text;
        }
        print(k.name, path_steps, "path-steps/s", m, rest);
    }
    return 0;
}

}  // namespace

}  // namespace tilewalk::bench

int main() {
    tilewalk::bench::print_context();
    tilewalk::bench::measure_memory();
    return tilewalk::bench::measure();
}
