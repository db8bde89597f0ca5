// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/curand_device.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bench/measure/walk.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/random/fill_kernels.h"
#include "kernels/arguments.h"
#include "kernels/tile.h"

namespace tilewalk::bench::normals {

namespace {

using arrays::element;
using kernels::tile_result;

constexpr std::uint32_t threads = kernels::studies::normals_threads;

constexpr std::array<device_generator, 3> generators{{
    {"curand_device_philox", "curandStatePhilox4_32_10_t", false},
    {"curand_device_xorwow", "curandStateXORWOW_t", true},
    {"curand_device_mrg32k3a", "curandStateMRG32k3a_t", true},
}};

// Source text of a kernel that makes one call of a function of kernels/studies/normals.h.
std::string kernel_text(const char* name, const device_generator& from, element of, const char* job,
                        const std::string& shared, const char* call) {
    return fmt::format(R"(#include "kernels/ptx.h"
#include "kernels/reductions/tree.h"
#include "kernels/studies/curand.h"
#include "kernels/studies/normals.h"

extern "C" __global__ void __launch_bounds__({threads}) {name}(const __grid_constant__ tilewalk::kernels::studies::{job} a) {{
    using namespace tilewalk::kernels;
    using generator = studies::curand_generator<{real}, {state}, {keeps}>;
{shared}    studies::{call};
}}
)",
                       fmt::arg("threads", threads), fmt::arg("name", name), fmt::arg("job", job),
                       fmt::arg("real", of == element::double_ ? "double" : "float"),
                       fmt::arg("state", from.state), fmt::arg("keeps", from.keeps_state),
                       fmt::arg("shared", shared), fmt::arg("call", call));
}

}  // namespace

std::span<const device_generator> device_generators() {
    return generators;
}

cuda::toolkit_headers curand_headers(std::span<const std::string> folders) {
    // curand_kernel.h includes the other two, which a package of their own installs (the CUDA C++ library).
    constexpr std::string_view names[] = {"curand_kernel.h", "nv/target", "cuda/std/type_traits"};
    return cuda::find_toolkit_headers(names, folders);
}

std::string set_up_text(const device_generator& of) {
    return kernel_text("set_up", of, element::single_, "fill_job", "", "set_up_states<generator>(a)");
}

std::string fill_text(const device_generator& from, element of) {
    return kernel_text("fill", from, of, "fill_job", "", "fill_with_normals<generator, wide_stores>(a)");
}

std::string curand_asian_text(element of) {
    return kernel_text(
        "walk", generators.front(), of, "asian_job", "    extern __shared__ __align__(128) char shared[];\n",
        fmt::format("walk_asian<generator, reductions::tree<{}>>(a, shared)", threads).c_str());
}

std::vector<std::string> curand_texts() {
    std::vector<std::string> out;
    for (const device_generator& g : generators) {
        if (g.keeps_state) out.push_back(set_up_text(g));
        for (const element of : {element::single_, element::double_}) out.push_back(fill_text(g, of));
    }
    for (const element of : {element::single_, element::double_}) out.push_back(curand_asian_text(of));
    return out;
}

kernels::studies::asian_job asian_terms() {
    constexpr double rate = 0.05, volatility = 0.2;
    kernels::studies::asian_job out{};
    out.spot = out.strike = 100;
    out.steps = 252;
    out.drift = (rate - volatility * volatility / 2) / out.steps;
    out.volatility = volatility / std::sqrt(static_cast<double>(out.steps));
    out.discount = std::exp(-rate);
    out.seed = timed_walk::seed;
    return out;
}

device_fill::device_fill(gpu_timer& on, const cuda::toolkit_headers& with, const device_generator& from,
                         element of, void* to, std::size_t bytes)
    : on_(on),
      set_up_(from.keeps_state ? std::optional(on.find(set_up_text(from), "set_up", with)) : std::nullopt),
      fill_(on.find(fill_text(from, of), "fill", with)),
      // As many threads as the device holds at once: each starts a generator state, and more would queue.
      how_{static_cast<std::uint32_t>(random::resident_blocks(on.device(), fill_, {1, threads, 0})), threads,
           0},
      states_(on.device(),
              from.keeps_state ? std::size_t{how_.blocks} * threads * kernels::studies::state_bytes : 0),
      job_{to, bytes / 16, states_.as<void>(), timed_walk::seed},
      waits_(on.device(), {on.stream()}) {}

void device_fill::set_up() {
    launch(*set_up_);
}

void device_fill::run() {
    launch(fill_);
}

void device_fill::launch(cuda::kernel k) {
    void* arguments[] = {&job_};
    on_.run(k, how_, arguments);
}

device_asian::device_asian(gpu_timer& on, const cuda::toolkit_headers& with, element of, std::uint64_t paths)
    : on_(on),
      walk_(on.find(curand_asian_text(of), "walk", with)),
      merge_(on.find(cuda::merge_kernel_text(), "merge_tiles")),
      how_{static_cast<std::uint32_t>(paths / threads), threads,
           static_cast<std::uint32_t>(kernels::paths_per_tile * sizeof(double) +
                                      cuda::reduction_named("tree").shared_bytes)},
      results_(on.device(), how_.blocks * sizeof(tile_result)),
      merged_(on.device(), sizeof(tile_result)),
      job_(asian_terms()),
      waits_(on.device(), {on.stream()}) {
    job_.blocks = how_.blocks;
    job_.results = results_.as<tile_result>();
    // Results are filled with NaN first, to detect a kernel that writes none.
    on.device().fill(results_.as<void>(), 0xff, results_.bytes(), on.stream());
    on.device().fill(merged_.as<void>(), 0xff, merged_.bytes(), on.stream());
}

void device_asian::run() {
    void* of_walk[] = {&job_};
    on_.run(walk_, how_, of_walk);
    kernels::merge_arguments merge{job_.results, merged_.as<tile_result>(), job_.blocks, job_.blocks};
    void* of_merge[] = {&merge};
    cuda::launch how;
    how.threads = 256;  // the number that the merging kernel's text fixes
    on_.run(merge_, how, of_merge);
}

tile_result device_asian::result() {
    return on_.downloaded<tile_result>(merged_.as<void>(), 1).at(0);
}

}  // namespace tilewalk::bench::normals
