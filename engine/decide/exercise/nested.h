// SPDX-License-Identifier: Apache-2.0
// The nested bound (Andersen and Broadie, 2004) of a trade whose rights are all the holder's or all the
// issuer's. Outer paths use no right. From each date of an outer path, inner paths start and follow the
// policy; their mean is the policy's value there. The martingale part of these values gives a dual bound. The
// fitted martingale is not used, so that the two bounds check each other.
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

// Returns the outer paths for a run of `paths` paths. Each starts a tile of inner paths on each date.
std::uint64_t outer_paths_for(std::uint64_t paths);

// The program of outer and inner paths; a state tells which kind a path is.
struct nested_program {
    plan::trade_program made;  // walks in double, and outputs the value
    struct places {            // indices of states
        std::uint32_t is_inner = 0;
        std::uint32_t goes_on = 0;       // 0: the trade has ended
        std::uint32_t worth = 0;         // all payments if the right at hand is used
        std::uint32_t uses = 0;          // 1 if the policy uses the right at hand
        std::uint32_t value_at_end = 0;  // all payments if no right is used
    } at;
    // A decision: event number `events`, from 1, after step `step`. It runs `section` with its row `run`.
    struct decision {
        std::size_t section = 0, run = 0;
        std::size_t step = 0, events = 0;
    };
    std::vector<decision> decisions;  // in order of time
    bool has_holder = false;
    std::optional<double> today;  // payment for using a right today

    std::uint64_t path_steps(std::uint64_t outer_paths) const;
};

// Returns why there is no nested bound for a policy, or for the trade that follows it; empty if there is one.
std::string why_not_nested(const policy& by);
std::string why_not_nested(const nested_program& of);
// Plans a nested bound. `by` must be a policy that why_not_nested accepts.
nested_program nested_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                           const plan::poll& often);

struct nested_walk {
    std::uint64_t seed = 0;  // of outer paths; inner paths take the next seeds
    std::uint64_t outer_paths = 0;
    const cpu::lane_operations* operations = nullptr;
    int threads = 1;
    const std::atomic<bool>* cancel = nullptr;
    // Called about ten times a second with the path-steps walked so far; may be empty.
    std::function<void(std::uint64_t path_steps)> on_progress{};
};
// Returns a tally of the outer paths' bounds. Their mean bounds the price from above (from below for issuer's
// rights), for any policy and number of inner paths. Throws tilewalk::error (cancelled).
run::tally nested_bound(const nested_program& of, const nested_walk& by);
kept::key fingerprint_of(const nested_program& of, const nested_walk& by);

}  // namespace tilewalk::exercise
