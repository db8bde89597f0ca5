// SPDX-License-Identifier: Apache-2.0
// Trains the policy of a trade with rights, on paths of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/decide/exercise/policy.h"
#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/arrays/shock_cube.h"
#include "engine/walk/cpu/lane_machine.h"
#include "engine/walk/cpu/lane_operations.h"

namespace tilewalk::exercise {

// First words of the names of features that are volatilities of assets.
inline constexpr std::string_view name_of_volatility = "the volatility of number ";

// A policy before its training: features and dates.
struct policy_to_find {
    policy by;                       // filled but for what training finds
    std::vector<std::string> known;  // names of the features but for the payment
    // Features that the product names, but the market's models do not know: each with the reason.
    std::vector<std::string> left_out;
    bool is_certain = false;  // nothing is random; there are no features
    struct date {
        double years = 0;
        std::string label;  // the date as the book wrote it
        // By feature: the number that turns it into a quoted price or rate. Added to it, it gives the price's
        // logarithm or the short rate; if are_products, multiplied by it, the price. 0 if there is none.
        std::vector<double> levels;
    };
    std::vector<date> dates;         // dates[i] is of by.dates[i]
    std::vector<bool> are_products;  // by feature: how its level applies, see levels
};
// Returns the policy to train; empty if no right is left. `tells_volatilities` says whether a saved policy
// has volatilities as features; if empty, unlike assets get them. Throws as untrained_of does.
std::optional<policy_to_find> policy_to_find_of(const books::trade& t, const markets::market_view& in,
                                                const plan::poll& often,
                                                std::optional<bool> tells_volatilities = {});

// A trade whose policy is to be trained, with a program whose paths leave the training data.
struct untrained {
    policy by;  // its dates are still missing
    plan::trade_program made;
    // Layout of the rows of training data: by section, the states that paths leave there.
    std::vector<cpu::left_numbers::of_section> leaves;
    std::size_t rows = 0, end_row = 0;  // end_row: the value at a path's end; then its sums of normals
    // A date on which a right is used, or its notice is given.
    struct date {
        std::size_t step = 0;
        // First of the date's rows, which are: gives, offered, unit, alive, value, features, sums of normals.
        std::size_t first_row = 0;
        int index = 0;  // number in the block's schedule, from 1
        bool is_notice = false, has_notice = false;
        std::optional<std::size_t> other;  // index of a notice's payment, or a payment's notice
        decision_date found;

        bool decides() const { return is_notice || !has_notice; }
    };
    std::vector<date> dates;
    std::uint64_t paths = 0;   // training paths to walk
    bool is_certain = false;   // no training is needed; there is no program
    bool is_of_steps = false;  // all dates stand for rights at any time, by equal steps

    static constexpr std::size_t row_of_features = 5;
    std::size_t row_of_sums() const { return row_of_features + by.functions.features() - 1; }
    // True if training finds the gain of all dates over every second date, counted from the last.
    bool has_gain() const { return is_of_steps && dates.size() >= 4; }
    std::vector<std::size_t> every_second_date() const;
};
// Extras that are most of the work of training: the dual bound's martingale, and gain_of_step.
enum class found_beside : std::uint8_t { nothing, bound_and_gain };
// Plans the training; empty if no right is left. Throws tilewalk::error (input) for too many features.
std::optional<untrained> untrained_of(const books::trade& t, const markets::market_view& in,
                                      std::uint64_t paths, const plan::poll& often,
                                      found_beside wanted = found_beside::bound_and_gain);

// Rough cost of training: operations of the processor, as run::operations_of counts.
double operations_of(const untrained& of);

struct training {
    std::uint64_t seed = 0;
    const cpu::lane_operations* operations = nullptr;
    int threads = 1;
    std::span<const arrays::shock_cube> scenarios{};
    plan::poll often{};
    const std::atomic<bool>* cancel = nullptr;
    fitting fits = fitting::usual;  // only `usual` finds gain_of_step
};
// Walks the training paths on the CPU. Throws tilewalk::error (numeric) if a path has no finite number.
policy trained(untrained of, const training& by);

// Returns a decider that follows `by`, which must outlive it.
std::unique_ptr<language::decider> follower_of(const policy& by);
// Plans that follow a policy, and that bound every policy. The latter's first output is the bound.
plan::trade_program following_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                   program::precision to, const plan::poll& often,
                                   plan::controller* controls = nullptr);
plan::trade_program bounding_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                  program::precision to, const plan::poll& often);

}  // namespace tilewalk::exercise
