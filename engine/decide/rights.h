// SPDX-License-Identifier: Apache-2.0
// Rights to end a trade early: finds the policy of a planned trade, and adds its bounds to results.
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

namespace tilewalk::studies {

// Changes to how policies are found, such as the plants of `verify`.
struct policy_stages {
    std::function<void(markets::market_state&)> change_market{};  // changes the market of training and walks
    std::function<void(exercise::policy&)> change{};              // changes a policy that was found
    bool on_priced_paths = false;                                 // trains on the very paths of prices
    bool keeps = false;                                           // saves policies with plans
};

struct policy_search {
    const settled& run;
    const cpu::lane_operations& operations;
    shape_store& shapes;
    const std::atomic<bool>* cancel;
    bool wants_bound;
    const sources& from;
    const policy_stages* stages = nullptr;  // null: no changes
    bool keeps = false;                     // saves policies with their plans
    bool finds_bound = true;                // and the gain by steps

    bool is_on_priced_paths() const { return stages != nullptr && stages->on_priced_paths; }
    std::uint64_t paths() const { return is_on_priced_paths() ? run.paths : run.training_paths; }
    std::uint64_t seed() const;  // seed of the training paths
};

// The search for one trade's policy. All calls may throw tilewalk::error.
class policy_of_trade {
  public:
    policy_of_trade(const books::trade& t, const markets::market_state& in, const policy_search& by);

    // Takes a policy that was decided on before. Else plans the training, on at most `most_paths` paths.
    void prepare(std::uint64_t most_paths = ~std::uint64_t{0});
    // Takes the policy that `by` keeps. If it has none, and may not train, drops the training.
    void take_known(const kept::work& by);
    // Keeps the policy if take_known looked for it in vain.
    void keep_in(const kept::work& to) const;
    // Returns the training that is still to be done; null if there is none.
    const exercise::untrained* to_find() const { return untrained_ ? &*untrained_ : nullptr; }
    void set_policy(exercise::policy found);
    void add_remark(const std::string& text);
    void find(int threads);
    // The policy taken so far; after the search empty if no right is left.
    const std::optional<exercise::policy>& policy() const { return policy_; }
    const std::string& remark() const { return remark_; }  // origin of the policy; may be empty
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

void follow(planned& p, const books::trade& t, const policy_of_trade& of, const policy_search& by,
            std::uint32_t first_scenario);

// The outcome of walking a bound's paths, or why there is none.
struct found_bound {
    std::optional<walked_trade> walked;
    std::optional<error> failure;
};

// Adds the bounds to the row's early exercise. If one is missing, the row's message says why.
void add_rights(price_row& row, const ready_rights& of, const found_bound& bound);

}  // namespace tilewalk::studies
