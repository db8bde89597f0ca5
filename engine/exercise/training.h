// SPDX-License-Identifier: Apache-2.0
// The policy of a trade with rights, from paths of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/arrays/shock_cube.h"
#include "engine/book/book_state.h"
#include "engine/cpu/lane_operations.h"
#include "engine/exercise/policy.h"
#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"

namespace tilewalk::exercise {

struct training {
    std::uint64_t seed = 0, paths = 0;
    const cpu::lane_operations* operations = nullptr;
    int threads = 1;
    std::span<const arrays::shock_cube> scenarios{};
    plan::poll often{};
    const std::atomic<bool>* cancel = nullptr;
};

// A policy before its paths: by what it will decide, and when.
struct policy_to_find {
    policy by;                       // with all that follows from the trade
    std::vector<std::string> known;  // names of the features; what using the right pays is known, too
    bool is_certain = false;         // nothing moves; there are no features
    // A date of a policy as the trade has it.
    struct date {
        double years = 0;
        std::string label;  // as the book wrote it
        // By feature: what its number and this give together is a number of the market that can be looked at:
        // the logarithm of a price or a short rate as the sum, and a price as the product. Else 0.
        std::vector<double> levels;
    };
    std::vector<date> dates;         // of by.dates
    std::vector<bool> are_products;  // by feature
};
// Nothing where no right is left. Throws as policy_of does.
std::optional<policy_to_find> policy_to_find_of(const books::trade& t, const markets::market_view& in,
                                                const plan::poll& often);

// Nothing where no right is left. Throws tilewalk::error: input, where the decision depends on too much;
// numeric, where a path has no finite number.
std::optional<policy> policy_of(const books::trade& t, const markets::market_view& in, const training& by);

// The programs that follow a policy and that bound what any can be worth; of the second the first output is
// the bound.
plan::trade_program following_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                   program::precision to, const plan::poll& often);
plan::trade_program bounding_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                  program::precision to, const plan::poll& often);

}  // namespace tilewalk::exercise
