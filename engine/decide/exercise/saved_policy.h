// SPDX-License-Identifier: Apache-2.0
// A policy saved for another day or market. Names instead of indices show whether it fits a trade.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/decide/exercise/policy.h"
#include "engine/decide/exercise/training.h"
#include "engine/market/market_view.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"

namespace tilewalk::exercise {

struct saved_policy {
    std::string trade, product;
    std::string script;  // SHA-256 of the product's script
    std::string as_of;   // date of the market that it was trained in
    std::vector<std::string> features;
    std::size_t functions = 0, normals = 0;
    std::uint64_t training_paths = 0;
    std::optional<bool> is_used_today;  // empty: no right could be used that day
    std::vector<double> first_slopes;
    std::vector<std::vector<double>> first_slopes_by_uses;  // see policy; for a right of several uses
    std::optional<double> gain_of_step;                     // see policy
    double error_of_gain = 0;
    struct date {
        double years = 0;            // since as_of
        std::string label;           // the date as the book wrote it
        std::vector<double> levels;  // see policy_to_find::date
        decision_date found;
    };
    std::vector<date> dates;
};

using saved_policies = std::map<std::string, std::shared_ptr<const saved_policy>, std::less<>>;  // by trade

// Empty if training took no paths: there is nothing to save.
std::optional<saved_policy> saved_of(const books::trade& t, const markets::market_view& in, const policy& by,
                                     const plan::poll& often);

// Returns a policy that follows on each date the nearest saved date of the same right; empty if no right is
// left. Throws tilewalk::error (input) if the saved policy does not fit the trade, and as untrained_of does.
std::optional<policy> policy_as_saved(const books::trade& t, const markets::market_view& in,
                                      const saved_policy& saved, const plan::poll& often);

}  // namespace tilewalk::exercise
