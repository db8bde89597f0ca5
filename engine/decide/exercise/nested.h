// SPDX-License-Identifier: Apache-2.0
// The nested bound (Andersen and Broadie, 2004) of a trade whose rights one side has. Outer paths use no
// right. On each date, inner paths start from the states of an outer one and follow the policy; their mean is
// its value, and the martingale of these values bounds every policy. The policy's own martingale is not used,
// so that each bound checks the other.
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

// Returns the outer paths for a run of so many paths, each with a tile of inner paths on each date.
std::uint64_t outer_paths_for(std::uint64_t paths);

// A program of outer and inner paths, as a state says.
struct nested_program {
    plan::trade_program made;  // in double; its output is the value
    struct places {            // of states
        std::uint32_t is_inner = 0;
        std::uint32_t goes_on = 0;       // 0: the trade has ended
        std::uint32_t worth = 0;         // all that is paid if the right at hand is used
        std::uint32_t uses = 0;          // 1 if the policy does
        std::uint32_t value_at_end = 0;  // all that is paid if no right is used
    } at;
    // A decision comes behind so many events after a step.
    struct decision {
        std::size_t section = 0, run = 0;
        std::size_t step = 0, events = 0;
    };
    std::vector<decision> decisions;  // in order of time
    bool has_holder = false;
    std::optional<double> today;  // payment for using a right today

    std::uint64_t path_steps(std::uint64_t outer_paths) const;
};

// Returns why a policy, or the trade that follows it, has no nested bound; empty if it has one.
std::string why_not_nested(const policy& by);
std::string why_not_nested(const nested_program& of);
// Takes a policy that why_not_nested accepts.
nested_program nested_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                           const plan::poll& often);

struct nested_walk {
    std::uint64_t seed = 0;  // of the outer paths; inner ones take the seeds behind it
    std::uint64_t outer_paths = 0;
    const cpu::lane_operations* operations = nullptr;
    int threads = 1;
    const std::atomic<bool>* cancel = nullptr;
    // Called about ten times a second with the path-steps done; may be empty.
    std::function<void(std::uint64_t path_steps)> on_progress{};
};
// Returns the bound on each outer path. The mean bounds the price from above (below for the issuer's right),
// for any policy and number of inner paths. Throws tilewalk::error (cancelled).
run::tally nested_bound(const nested_program& of, const nested_walk& by);
kept::key fingerprint_of(const nested_program& of, const nested_walk& by);

}  // namespace tilewalk::exercise
