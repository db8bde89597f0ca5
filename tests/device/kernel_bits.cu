// SPDX-License-Identifier: Apache-2.0
// The kernel headers on a GPU against the same headers on the CPU: every function, shock and tile moment must
// have the same bits. Built and run by bench/gpu_check.sh; exit code 0 only if nothing differs.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/math.h"
#include "kernels/moments.h"
#include "kernels/operations.h"
#include "kernels/shocks.h"

namespace {

using namespace tilewalk;

constexpr int results_each = 18;
constexpr const char* names[results_each] = {"exp",           "log",
                                             "sin",           "cos",
                                             "sqrt",          "pow",
                                             "norm_cdf",      "norm_inv",
                                             "floor",         "fma",
                                             "div",           "exp single",
                                             "log single",    "norm_cdf single",
                                             "first normal",  "second normal",
                                             "first uniform", "first single normal"};

__host__ __device__ void compute(double a, double b, unsigned long long i, double* out) {
    const auto normals = kernels::normals(42, i * 0x9e3779b97f4a7c15ull, static_cast<unsigned>(i));
    out[0] = kernels::exp(a);
    out[1] = kernels::log(a);
    out[2] = kernels::sin(a);
    out[3] = kernels::cos(a);
    out[4] = kernels::sqrt(a);
    out[5] = kernels::pow(a, b);
    out[6] = kernels::norm_cdf(a);
    out[7] = kernels::norm_inv(a);
    out[8] = kernels::floor(a);
    out[9] = kernels::fma(a, b, a);
    out[10] = kernels::div(a, b);
    out[11] = kernels::exp(static_cast<float>(a));
    out[12] = kernels::log(static_cast<float>(a));
    out[13] = kernels::norm_cdf(static_cast<float>(a));
    out[14] = normals.first;
    out[15] = normals.second;
    out[16] = kernels::uniforms(7, i, 3).first;
    out[17] = kernels::single_normals(42, i, 5).x[0];
}

__global__ void compute_all(const double* a, const double* b, unsigned long long count, double* out) {
    for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x) {
        compute(a[i], b[i], i, out + i * results_each);
    }
}

__global__ void moments_of_tile(const double* x, int paths, kernels::moments* out) {
    *out = kernels::tile_moments(x, paths);
}

void must(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
    std::exit(1);
}

template <typename T>
T* on_device(const std::vector<T>& host) {
    T* device = nullptr;
    must(cudaMalloc(&device, host.size() * sizeof(T)));
    must(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

// A nan may have any sign and payload; nothing else may differ.
bool same(double x, double y) {
    return (std::isnan(x) && std::isnan(y)) || std::memcmp(&x, &y, sizeof x) == 0;
}

}  // namespace

int main() {
    cudaDeviceProp properties{};
    must(cudaGetDeviceProperties(&properties, 0));
    std::mt19937_64 random(1);
    constexpr std::size_t count = 1 << 21;
    std::vector<double> a(count), b(count), device_results(count * results_each);
    std::uniform_real_distribution<double> unit(0, 1), wide(-40, 40);
    for (std::size_t i = 0; i < count; ++i) {
        const auto bits = random();
        double any;
        std::memcpy(&any, &bits, sizeof any);  // any double at all: subnormal, infinite, not a number
        a[i] = i % 4 == 0 ? any : i % 4 == 1 ? unit(random) : wide(random);
        b[i] = wide(random);
    }
    double *da = on_device(a), *db = on_device(b), *dr = on_device(device_results);
    compute_all<<<1024, 256>>>(da, db, count, dr);
    must(cudaGetLastError());
    must(cudaMemcpy(device_results.data(), dr, device_results.size() * sizeof(double),
                    cudaMemcpyDeviceToHost));
    unsigned long long different[results_each] = {};
    for (std::size_t i = 0; i < count; ++i) {
        double host[results_each];
        compute(a[i], b[i], i, host);
        for (int r = 0; r < results_each; ++r) {
            const double got = device_results[i * results_each + static_cast<std::size_t>(r)];
            if (same(host[r], got)) continue;
            if (different[r]++ == 0) {
                std::printf("%s of %a, %a: %a on the CPU, %a on the GPU\n", names[r], a[i], b[i], host[r],
                            got);
            }
        }
    }
    unsigned long long all = 0;
    std::printf("device: %s, compute capability %d.%d\n", properties.name, properties.major,
                properties.minor);
    for (int r = 0; r < results_each; ++r) {
        std::printf("%-20s %llu of %zu differ\n", names[r], different[r], count);
        all += different[r];
    }
    kernels::moments* moments = on_device(std::vector<kernels::moments>(1));
    for (const int paths : {1, 31, 256, 257, 1023, 1024}) {
        moments_of_tile<<<1, 1>>>(db, paths, moments);
        kernels::moments got{};
        must(cudaMemcpy(&got, moments, sizeof got, cudaMemcpyDeviceToHost));
        const auto expected = kernels::tile_moments(b.data(), paths);
        const bool equal = std::memcmp(&got, &expected, sizeof got) == 0;
        std::printf("moments of %4d paths: %s\n", paths, equal ? "same bits" : "DIFFERENT");
        all += !equal;
    }
    return all == 0 ? 0 : 1;
}
