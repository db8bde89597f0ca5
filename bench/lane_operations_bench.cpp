// SPDX-License-Identifier: Apache-2.0
// Results a second of every loop of the lane machine on one core, by instruction set.
#include <benchmark/benchmark.h>

#include <string>

#include "engine/cpu/lane_operations.h"

namespace {

using tilewalk::cpu::lane_operations;
namespace program = tilewalk::program;

struct alignas(64) lane_array {
    double of[tilewalk::cpu::lanes];
};

void count(benchmark::State& state, int results) {
    state.SetItemsProcessed(state.iterations() * results * tilewalk::cpu::lanes);
}

void run_loop(benchmark::State& state, const lane_operations* set, program::operation code) {
    lane_array a, b, c, out;
    for (int i = 0; i < tilewalk::cpu::lanes; ++i) {
        a.of[i] = (i + 0.5) / tilewalk::cpu::lanes;  // inside every operation's range
        b.of[i] = 1.5 - a.of[i];
        c.of[i] = 0.25 + a.of[i];
    }
    const auto loop = set->loops[static_cast<std::size_t>(code)][0];
    for (auto _ : state) {
        loop(out.of, a.of, b.of, c.of);
        benchmark::DoNotOptimize(out);
        benchmark::ClobberMemory();
    }
    count(state, 1);
}

void run_shocks(benchmark::State& state, decltype(lane_operations::normals) draw) {
    lane_array first, second;
    std::uint32_t block = 0;
    for (auto _ : state) {
        draw(first.of, second.of, 42, 0, block++);
        benchmark::DoNotOptimize(first);
        benchmark::DoNotOptimize(second);
        benchmark::ClobberMemory();
    }
    count(state, 2);
}

void register_all() {
    const auto list = tilewalk::cpu::runnable_instruction_sets();
    for (int s = 0; s < list.count; ++s) {
        const lane_operations* set = list.sets[static_cast<std::size_t>(s)];
        const std::string prefix = std::string(set->name) + "/";
        for (const auto& entry : program::operations) {
            if (program::is_leaf(entry.code)) continue;
            benchmark::RegisterBenchmark((prefix + std::string(entry.name)).c_str(), run_loop, set,
                                         entry.code);
        }
        benchmark::RegisterBenchmark((prefix + "normals").c_str(), run_shocks, set->normals);
        benchmark::RegisterBenchmark((prefix + "uniforms").c_str(), run_shocks, set->uniforms);
    }
}

const bool registered = (register_all(), true);

}  // namespace
