// SPDX-License-Identifier: Apache-2.0
// Rights to end a trade early: the policy of a planned trade, and the figures that come of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "engine/book/book_state.h"
#include "engine/cpu/lane_operations.h"
#include "engine/exercise/training.h"
#include "engine/verbs/planned.h"
#include "engine/verbs/walks.h"
#include "tilewalk/error.h"
#include "tilewalk/results.h"

namespace tilewalk::verbs {

// Bounds are found on other paths than policies are followed on, and both on others than those that policies
// are found from.
std::uint64_t seed_of_bounds(std::uint64_t seed);

// How policies are found.
struct policy_search {
    const settled& run;
    const cpu::lane_operations& operations;
    shape_store& shapes;
    const std::atomic<bool>* cancel;
    bool wants_bound;
};

// A planned trade with rights, on its way to a plan that follows a policy. What fails stays with the trade.
class policy_of_trade {
  public:
    policy_of_trade(planned& p, const books::trade& t, const markets::market_state& in,
                    std::uint32_t first_scenario)
        : planned_(p), trade_(t), in_(in), first_scenario_(first_scenario) {}

    // Plans the paths that the policy is found from.
    void prepare(const policy_search& by);
    // What a policy is to be found from; null if there is none to find.
    const exercise::untrained* to_find() const { return untrained_ ? &*untrained_ : nullptr; }
    void take(exercise::policy found) { policy_ = std::move(found); }
    bool is_found() const { return !untrained_ || policy_.has_value(); }
    // Finds it on so many threads of the CPU.
    void find(const policy_search& by, int threads);
    // Plans the trade to follow its policy, and its bound.
    void follow(const policy_search& by);

  private:
    template <class work>
    void attempt(const work& of);

    planned& planned_;
    const books::trade& trade_;
    const markets::market_state& in_;
    std::uint32_t first_scenario_;
    std::optional<exercise::untrained> untrained_;
    std::optional<exercise::policy> policy_;
};

// The seed of the paths that policies are found from.
std::uint64_t seed_of_training(std::uint64_t seed);

// The walk of a trade's bound, or why there is none.
struct found_bound {
    std::optional<walked_trade> walked;
    std::optional<error> failure;
};

// Adds the bounds to the row of a trade that follows its policy. Where one is missing, the row says why.
void add_rights(price_row& row, const ready_rights& of, const found_bound& bound);

}  // namespace tilewalk::verbs
