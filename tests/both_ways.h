// SPDX-License-Identifier: Apache-2.0
// A trade with its way back, to every number of its program; and the market that the library's examples are
// for.
#pragma once

#include "engine/book/book_state.h"
#include "engine/plan/trade_program.h"
#include "engine/run/job.h"
#include "products/program/adjoint.h"
#include "tilewalk/market.h"

namespace tilewalk::tests {

inline const market& demo_market() {
    static const market one = market::load(TILEWALK_SOURCE_DIR "/configs/markets/demo.yaml");
    return one;
}

struct both_ways {
    plan::trade_program made;
    program::adjoint_program back;
    program::path_data data_of_back;

    both_ways(const books::trade& t, const market& in, program::precision to = program::precision::double_)
        : made(plan::plan_trade(t, in.state(), to)),
          back(program::adjoint(made.code, program::all_numbers_of(made.code))),
          data_of_back(program::data_of_back(back, made.data)) {}
    both_ways(const both_ways&) = delete;
    both_ways& operator=(const both_ways&) = delete;

    run::job job() const { return {&made.code, &made.data, &made.when, {&back, &data_of_back}}; }
};

}  // namespace tilewalk::tests
