// SPDX-License-Identifier: Apache-2.0
// Rights to end a trade early: the policy of a planned trade, and the figures that come of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/book/book_state.h"
#include "engine/cpu/lane_operations.h"
#include "engine/exercise/saved_policy.h"
#include "engine/verbs/planned.h"
#include "engine/verbs/price.h"
#include "engine/verbs/walks.h"
#include "tilewalk/error.h"
#include "tilewalk/results.h"

namespace tilewalk::verbs {

// Bounds are found on other paths than policies are followed on, and both on others than those that policies
// are found from.
std::uint64_t seed_of_bounds(std::uint64_t seed);

// The policies of the file that a run names; nothing if it names none. Throws tilewalk::error (io, input).
std::optional<std::vector<exercise::saved_policy>> policies_in(const settled& run);

// How policies are found.
struct policy_search {
    const settled& run;
    const cpu::lane_operations& operations;
    int threads;
    shape_store& shapes;
    const std::atomic<bool>* cancel;
    bool wants_bound;
    const policy_stages* by = nullptr;                           // null: as usual
    const std::vector<exercise::saved_policy>* saved = nullptr;  // that are followed where there is one
    bool keeps = false;                                          // with the plan, to be saved
    std::uint64_t most_training = ~std::uint64_t{0};             // paths
};

// The policy of a trade: that of the file, or a new one. None where no right is left. Throws tilewalk::error.
struct found_policy {
    std::optional<exercise::policy> by;
    std::string remark;  // on where it is from, or empty
};
found_policy policy_for(const books::trade& t, const markets::market_state& in, const policy_search& by);

// Plans the trade anew to follow a policy. What fails stays with the trade.
void find_policy(planned& p, const books::trade& t, const markets::market_state& in, const policy_search& by,
                 std::uint32_t first_scenario);

// The walk of a trade's bound, or why there is none.
struct found_bound {
    std::optional<walked_trade> walked;
    std::optional<error> failure;
};

// Adds the bounds to the row of a trade that follows its policy. Where one is missing, the row says why.
void add_rights(price_row& row, const ready_rights& of, const found_bound& bound);

}  // namespace tilewalk::verbs
