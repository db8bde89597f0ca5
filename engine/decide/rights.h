// SPDX-License-Identifier: Apache-2.0
// Rights to end a trade early: the policy of a planned trade, and the figures that come of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/decide/exercise/saved_policy.h"
#include "engine/decide/exercise/training.h"
#include "engine/decide/planned.h"
#include "engine/decide/sources.h"
#include "engine/decide/walked_trade.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/kept/work.h"
#include "tilewalk/error.h"
#include "tilewalk/rows.h"

namespace tilewalk::verbs {

// How policies of trades with rights are found.
struct policy_stages {
    std::function<void(markets::market_state&)> change_market{};  // that they are found and followed in
    std::function<void(exercise::policy&)> change{};              // what was found
    bool on_priced_paths = false;                                 // on those that prices are from
    bool keeps = false;                                           // with plans
};

// How policies are found.
struct policy_search {
    const settled& run;
    const cpu::lane_operations& operations;
    shape_store& shapes;
    const std::atomic<bool>* cancel;
    bool wants_bound;
    const sources& from;
    const policy_stages* stages = nullptr;  // null: as usual
    bool keeps = false;                     // with the plan
    bool finds_bound = true;                // and what steps gain

    bool is_on_priced_paths() const { return stages != nullptr && stages->on_priced_paths; }
    std::uint64_t paths() const { return is_on_priced_paths() ? run.paths : run.training_paths; }
    std::uint64_t seed() const;  // of these paths
};

// A trade with rights, on its way to a policy. Each call throws tilewalk::error.
class policy_of_trade {
  public:
    policy_of_trade(const books::trade& t, const markets::market_state& in, const policy_search& by);

    // Takes the policy that was decided on before, or plans the paths that one is found from; at most so
    // many.
    void prepare(std::uint64_t most_paths = ~std::uint64_t{0});
    // Takes the policy that is known already; or none, where the work trains none.
    void take_known(const kept::work& by);
    // Keeps what was found, of what take_known did not know.
    void keep_in(const kept::work& to) const;
    // The paths that a policy is to be found from; null if there is none to find.
    const exercise::untrained* to_find() const { return untrained_ ? &*untrained_ : nullptr; }
    void take(exercise::policy found);
    void add_remark(const std::string& text);
    // Finds what is to be found on so many threads of the CPU.
    void find(int threads);
    // None where no right is left.
    const std::optional<exercise::policy>& policy() const { return policy_; }
    const std::string& remark() const { return remark_; }  // on where it is from, or empty
    const markets::market_state& market() const { return changed_ ? *changed_ : in_; }

  private:
    bool takes_decided(const plan::poll& often);

    const books::trade& trade_;
    const markets::market_state& in_;
    const policy_search& by_;
    std::shared_ptr<const markets::market_state> changed_;
    std::optional<exercise::untrained> untrained_;
    std::optional<exercise::policy> policy_;
    std::string remark_;
    std::optional<kept::key> to_be_kept_;
};

// Plans a trade to follow its policy, and its bound.
void follow(planned& p, const books::trade& t, const policy_of_trade& of, const policy_search& by,
            std::uint32_t first_scenario);

// The walk of a trade's bound, or why there is none.
struct found_bound {
    std::optional<walked_trade> walked;
    std::optional<error> failure;
};

// Adds the bounds to the row of a trade that follows its policy. The row says why, if one is missing.
void add_rights(price_row& row, const ready_rights& of, const found_bound& bound);

}  // namespace tilewalk::verbs
