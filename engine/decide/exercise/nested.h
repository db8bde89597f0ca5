// SPDX-License-Identifier: Apache-2.0
// The nested bound (Andersen and Broadie, 2004) of a trade whose rights one side has. On outer paths nobody
// uses a right. On each date inner paths start from the states that an outer one has there and follow the
// policy; their mean is what it is worth, and the martingale of these values bounds what any policy is.
// Nothing here knows the martingale that the policy comes with: each bound is a check of the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/decide/exercise/policy.h"
#include "engine/market/market_view.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/kept/fingerprint.h"
#include "engine/walk/tally.h"

namespace tilewalk::exercise {

// Outer paths for a run of so many paths. Each has a tile of inner paths on each date, whose walk finds their
// mean.
std::uint64_t outer_paths_for(std::uint64_t paths);

// A program whose paths are outer or inner ones, as a state of theirs says.
struct nested_program {
    plan::trade_program made;  // its output is the value; in double
    struct places {            // of states
        std::uint32_t is_inner = 0;
        std::uint32_t goes_on = 0;       // 0: the trade has ended
        std::uint32_t worth = 0;         // all that is paid if the right at hand is used
        std::uint32_t uses = 0;          // whether the policy does
        std::uint32_t value_at_end = 0;  // all that is paid if no right is
    } at;
    // A decision stands behind so many events after a step.
    struct decision {
        std::size_t section = 0, run = 0;
        std::size_t step = 0, events = 0;
    };
    std::vector<decision> decisions;  // in order of time
    bool has_holder = false;
    std::optional<double> today;  // what using a right of today pays

    std::uint64_t path_steps(std::uint64_t outer_paths) const;
};

// Why a policy, or the trade that follows it, has no nested bound; empty if it has one.
std::string why_not_nested(const policy& by);
std::string why_not_nested(const nested_program& of);
// The policy is one that may have a nested bound.
nested_program nested_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                           const plan::poll& often);

struct nested_walk {
    std::uint64_t seed = 0;  // of the outer paths; those that follow it are of inner ones
    std::uint64_t outer_paths = 0;
    const cpu::lane_operations* operations = nullptr;
    int threads = 1;
    const std::atomic<bool>* cancel = nullptr;
    // Told about ten times a second how many path-steps are done; empty: nobody listens.
    std::function<void(std::uint64_t path_steps)> on_progress{};
};
// The bound on each outer path: its mean bounds the price from above, or, if the right is the issuer's, from
// below, whatever the policy and however few the inner paths. Does not depend on the number of threads.
// Throws tilewalk::error (cancelled).
run::tally nested_bound(const nested_program& of, const nested_walk& by);
// The fingerprint of all that the bound follows from.
kept::key fingerprint_of(const nested_program& of, const nested_walk& by);

}  // namespace tilewalk::exercise
