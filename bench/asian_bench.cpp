// SPDX-License-Identifier: Apache-2.0
// Benchmark of the engine on the Asian case: path-steps a second by instruction set on one core, and on
// several.
#include <thread>

#include "bench/asian_case.h"

namespace {

using tilewalk::bench::asian_case;

void register_all() {
    constexpr std::uint64_t paths = 1 << 18;
    for (const auto& set : tilewalk::engine::instruction_sets()) {
        benchmark::RegisterBenchmark(("asian_252/one_core/" + set).c_str(),
                                     [set](benchmark::State& state) {
                                         tilewalk::bench::price_repeatedly(state, asian_case{}.book(), set,
                                                                           paths, 1);
                                     })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
    }
    for (unsigned threads = 1; threads <= std::thread::hardware_concurrency(); threads *= 2) {
        benchmark::RegisterBenchmark(("asian_252/cores:" + std::to_string(threads)).c_str(),
                                     [threads](benchmark::State& state) {
                                         tilewalk::bench::price_repeatedly(state, asian_case{}.book(), "auto",
                                                                           paths, static_cast<int>(threads));
                                     })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
    }
}

const bool registered = (register_all(), true);

}  // namespace
