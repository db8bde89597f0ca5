// SPDX-License-Identifier: Apache-2.0
// The pricing of a book, stage by stage. Each stage is a function: the engine hands in its own, and whoever
// wants to know whether a wrong one would be noticed hands in that.
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/back_end.h"
#include "engine/cuda/backend.h"
#include "engine/verbs/planned.h"
#include "engine/verbs/walks.h"
#include "kernels/moments.h"
#include "tilewalk/engine.h"

namespace tilewalk {

struct stages {
    // From a trade and a market to a program and its numbers.
    verbs::planner plan = verbs::usual_planner();
    // The back end that walks what no GPU does.
    verbs::cpu_maker on_cpu = [](const cpu::lane_operations& operations, int threads, program::precision in) {
        return std::make_unique<cpu::back_end>(operations, threads, in);
    };
};

struct priced_book {
    results told;
    std::vector<kernels::moments> moments;  // by row; empty where no path was walked
};

priced_book price_book(const engine_settings& settings, cuda::backend& gpus, const book& trades,
                       const market& in, const run_options& options, const stages& by = {});

}  // namespace tilewalk
