// SPDX-License-Identifier: Apache-2.0
// A planned trade with its adjoint for every number of its program (after training, if it can be ended early,
// so that it follows a policy); and the market of the library's examples.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "engine/decide/exercise/training.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/job.h"
#include "products/program/adjoint.h"
#include "tilewalk/market.h"

namespace tilewalk::tests {

inline const market& demo_market() {
    static const market one = market::load(TILEWALK_SOURCE_DIR "/configs/markets/demo.yaml");
    return one;
}

inline plan::trade_program plan_as_walked(const books::trade& t, const market& in, program::precision to) {
    constexpr std::uint64_t training_paths = 2048, seed = 7;
    std::optional<exercise::untrained> of;
    if (plan::has_rights(t)) of = exercise::untrained_of(t, state_of(in), training_paths, {});
    if (!of || of->is_certain) return plan::plan_trade(t, state_of(in), to);
    const exercise::policy by = exercise::trained(
        *std::move(of), {seed, cpu::runnable_instruction_sets().sets[0], 2, {}, {}, nullptr});
    return exercise::following_plan(t, state_of(in), by, to, {});
}

struct both_ways {
    plan::trade_program made;
    program::adjoint_program back;
    program::path_data data_of_back;

    both_ways(const books::trade& t, const market& in, program::precision to = program::precision::double_)
        : made(plan_as_walked(t, in, to)),
          back(program::adjoint(made.code, program::all_numbers_of(made.code))),
          data_of_back(program::data_of_back(back, made.data)) {}
    both_ways(const both_ways&) = delete;
    both_ways& operator=(const both_ways&) = delete;

    run::job job() const { return {&made.code, &made.data, &made.when, {&back, &data_of_back}}; }
};

}  // namespace tilewalk::tests
