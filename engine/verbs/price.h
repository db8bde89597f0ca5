// SPDX-License-Identifier: Apache-2.0
// The pricing of a book, stage by stage. Each stage is a function: the engine hands in its own, and whoever
// wants to know whether a wrong one would be noticed hands in that.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/book/book_state.h"
#include "engine/cpu/back_end.h"
#include "engine/cuda/backend.h"
#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "kernels/moments.h"
#include "tilewalk/engine.h"

namespace tilewalk {

struct stages {
    // From a trade and a market to a program and its numbers.
    std::function<plan::trade_program(const books::trade&, const markets::market_state&, program::precision,
                                      const plan::poll&)>
        plan = [](const books::trade& t, const markets::market_state& in, program::precision p,
                  const plan::poll& often) { return plan::plan_trade(t, in, p, {}, often); };
    // The back end that walks what no GPU does.
    std::function<std::unique_ptr<run::back_end>(const cpu::lane_operations&, int threads,
                                                 program::precision)>
        on_cpu = [](const cpu::lane_operations& operations, int threads, program::precision in) {
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
