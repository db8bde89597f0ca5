// SPDX-License-Identifier: Apache-2.0
// A policy kept for another day or market. Names stand in for places, to show whether it fits.
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
    std::string script;  // SHA-256 of the product's
    std::string as_of;   // of the market of its training
    std::vector<std::string> features;
    std::size_t functions = 0, normals = 0;
    std::uint64_t training_paths = 0;
    std::optional<bool> is_used_today;  // empty: no right was there on that day
    std::vector<double> first_slopes;
    std::vector<std::vector<double>> first_slopes_by_uses;  // of a right of several uses, see policy
    std::optional<double> gain_of_step;                     // see policy
    double error_of_gain = 0;
    struct date {
        double years = 0;            // from as_of
        std::string label;           // as the book wrote it
        std::vector<double> levels;  // see policy_to_find
        decision_date found;
    };
    std::vector<date> dates;
};

using saved_policies = std::map<std::string, std::shared_ptr<const saved_policy>, std::less<>>;  // by trade

// Empty if no path was needed: such a policy costs nothing to find again.
std::optional<saved_policy> saved_of(const books::trade& t, const markets::market_view& in, const policy& by,
                                     const plan::poll& often);

// Follows each date by the nearest saved one of the same right. Empty if no right is left. Throws
// tilewalk::error (input) if the policy does not fit the trade, and as untrained_of does.
std::optional<policy> policy_as_saved(const books::trade& t, const markets::market_view& in,
                                      const saved_policy& saved, const plan::poll& often);

}  // namespace tilewalk::exercise
