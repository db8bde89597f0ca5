// SPDX-License-Identifier: Apache-2.0
// A trade on a GPU with a kernel of its own, for suites that time path kernels.
#pragma once

#include <cstdint>
#include <string>

#include "bench/measure/timing.h"
#include "engine/plan/trade_program.h"
#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/chunk.h"
#include "engine/walk/cuda/paths/packed_trades.h"
#include "kernels/arguments.h"
#include "kernels/tile_result.h"

namespace tilewalk::bench {

// A planned trade and all settings of its kernel, decided before anything is compiled.
struct planned_walk {
    plan::trade_program trade;
    program::path_program code;  // the trade's program; contracted for single_fast
    cuda::kernel_decision how;

    std::string text() const;
};
// Plans the first trade of a book, given as YAML text. Throws tilewalk::error as reading and planning do.
planned_walk plan_walk(const std::string& book, const cuda::kernel_wish& how);

struct estimate {
    double price = 0, standard_error = 0;
};
estimate estimate_of(const kernels::tile_result& all);

class timed_walk {
  public:
    static constexpr std::uint64_t seed = 42;

    timed_walk(gpu_timer& on, const planned_walk& of, std::uint64_t paths);

    // Enqueues all kernels from paths to one result. `normals` are the shocks for a feed that reads memory.
    void run(const kernels::array_argument& normals = {});
    kernels::tile_result result();

    // The payoff of every path (device memory, whole tiles), if the reduction stores payoffs.
    const double* payoffs() const { return results_.payoffs(); }

  private:
    timed_walk(gpu_timer& on, const planned_walk& of, std::uint64_t paths, const cuda::packed_trades& packed);

    gpu_timer& on_;
    cuda::kernel walk_, merge_;
    cuda::launch how_;
    cuda::device_memory numbers_, words_, record_;
    cuda::chunk_memory results_;
    kernels::path_arguments arguments_{};
    cuda::in_flight waits_;
};

}  // namespace tilewalk::bench
