// SPDX-License-Identifier: Apache-2.0
// Benchmark of the CPU's arithmetic loops over 256 paths: results a second on a core, by instruction set.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>

#include "engine/walk/cpu/lane_operations.h"

namespace {

using tilewalk::cpu::lane_draw;
using tilewalk::cpu::lane_draws;
using tilewalk::cpu::lane_functions;
using tilewalk::cpu::lane_operations;
namespace program = tilewalk::program;

template <class real>
struct alignas(64) lane_array {
    real of[tilewalk::cpu::lanes];
};

void count(benchmark::State& state, int results) {
    state.SetItemsProcessed(state.iterations() * results * tilewalk::cpu::lanes);
}

template <class real>
void run_loop(benchmark::State& state, const lane_functions<real>& set, program::operation code) {
    lane_array<real> a, b, c, out;
    for (int i = 0; i < tilewalk::cpu::lanes; ++i) {
        a.of[i] = (real(i) + real(0.5)) / tilewalk::cpu::lanes;  // inputs in the domain of every operation
        b.of[i] = real(1.5) - a.of[i];
        c.of[i] = real(0.25) + a.of[i];
    }
    const auto loop = set.loops[static_cast<std::size_t>(code)][0];
    for (auto _ : state) {
        loop(out.of, a.of, b.of, c.of);
        benchmark::DoNotOptimize(out);
        benchmark::ClobberMemory();
    }
    count(state, 1);
}

template <class shock>
void run_shocks(benchmark::State& state, lane_draw<shock> draw, int per_block) {
    lane_array<shock> out[4];
    std::uint32_t block = 0;
    for (auto _ : state) {
        draw(&out[0].of, 42, 0, block++, {});
        benchmark::DoNotOptimize(out);
        benchmark::ClobberMemory();
    }
    count(state, per_block);
}

template <class real>
void register_loops(const std::string& prefix, const lane_functions<real>& set) {
    for (const auto& entry : program::operations) {
        if (program::is_leaf(entry.code)) continue;
        const auto run = [&set, code = entry.code](benchmark::State& state) { run_loop(state, set, code); };
        benchmark::RegisterBenchmark((prefix + std::string(entry.name)).c_str(), run);
    }
}

template <class shock>
void register_draws(const std::string& prefix, const lane_draws<shock>& draws, int per_block) {
    for (const auto& [name, draw] : {std::pair{"normals", draws.normals}, {"uniforms", draws.uniforms}}) {
        const auto run = [draw = draw, per_block](benchmark::State& state) {
            run_shocks(state, draw, per_block);
        };
        benchmark::RegisterBenchmark((prefix + name).c_str(), run);
    }
}

void register_all() {
    const auto list = tilewalk::cpu::runnable_instruction_sets();
    for (int s = 0; s < list.count; ++s) {
        const lane_operations& set = *list.sets[static_cast<std::size_t>(s)];
        const std::string prefix = std::string(set.name) + "/";
        register_loops(prefix, set.in_double);
        register_draws(prefix, set.double_draws, 2);
        register_loops(prefix + "single/", set.in_single);
        register_draws(prefix + "single/", set.single_draws, 4);
        register_draws(prefix + "mixed/", set.widened_draws, 4);
    }
}

const bool registered = (register_all(), true);

}  // namespace
