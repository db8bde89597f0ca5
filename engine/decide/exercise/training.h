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

// Begins the names of features that are volatilities of assets.
inline constexpr std::string_view name_of_volatility = "the volatility of number ";

// A policy before training: its features and dates.
struct policy_to_find {
    policy by;                       // with all that follows from the trade
    std::vector<std::string> known;  // names of the features, without the payment
    // Features that the product names beside the states, and that models do not know: name and reason.
    std::vector<std::string> left_out;
    bool is_certain = false;  // nothing moves; there are no features
    struct date {
        double years = 0;
        std::string label;  // as the book wrote it
        // By feature: a number that makes an observable of it: the logarithm of a price or a short rate as
        // their sum, a price as their product. Else 0.
        std::vector<double> levels;
    };
    std::vector<date> dates;         // of by.dates
    std::vector<bool> are_products;  // by feature
};
// Empty if no right is left. `tells_volatilities`: whether a saved policy tells assets apart by volatilities;
// empty: if they are unlike. Throws as untrained_of does.
std::optional<policy_to_find> policy_to_find_of(const books::trade& t, const markets::market_view& in,
                                                const plan::poll& often,
                                                std::optional<bool> tells_volatilities = {});

// A trade whose policy is to be trained: a program whose paths leave what it is trained on.
struct untrained {
    policy by;  // without dates
    plan::trade_program made;
    // Layout of the rows that paths leave: by section the states that leave some.
    std::vector<cpu::left_numbers::of_section> leaves;
    std::size_t rows = 0, end_row = 0;  // the end's: the value, then the sums of normals
    // A date of a right, or of its notice.
    struct date {
        std::size_t step = 0;
        // Rows: gives, offered, unit, alive, value, features, sums of normals.
        std::size_t first_row = 0;
        int index = 0;  // in the schedule, from 1
        bool is_notice = false, has_notice = false;
        std::optional<std::size_t> other;  // the payment of a notice, or the notice of a payment
        decision_date found;

        bool decides() const { return is_notice || !has_notice; }
    };
    std::vector<date> dates;
    std::uint64_t paths = 0;   // to be walked
    bool is_certain = false;   // nothing has to be found; there is no program
    bool is_of_steps = false;  // all dates are those of a right at equal steps

    static constexpr std::size_t row_of_features = 5;
    std::size_t row_of_sums() const { return row_of_features + by.functions.features() - 1; }
    // True if training finds the gain of all dates over every second of them, counted from the last.
    bool has_gain() const { return is_of_steps && dates.size() >= 4; }
    std::vector<std::size_t> every_second_date() const;
};
// Extras that take most of training: the dual bound's martingale, and the gain of exercise at any time.
enum class found_beside : std::uint8_t { nothing, bound_and_gain };
// Empty if no right is left. Throws tilewalk::error (input) if the decision depends on too much.
std::optional<untrained> untrained_of(const books::trade& t, const markets::market_view& in,
                                      std::uint64_t paths, const plan::poll& often,
                                      found_beside wanted = found_beside::bound_and_gain);

struct training {
    std::uint64_t seed = 0;
    const cpu::lane_operations* operations = nullptr;
    int threads = 1;
    std::span<const arrays::shock_cube> scenarios{};
    plan::poll often{};
    const std::atomic<bool>* cancel = nullptr;
    fitting fits = fitting::usual;  // only usual finds what steps gain
};
// Trains on the CPU. Throws tilewalk::error (numeric) if a path has no finite number.
policy trained(untrained of, const training& by);

// The policy must outlive the decider.
std::unique_ptr<language::decider> follower_of(const policy& by);
// Plans that follow a policy, and that bound every policy. The first output of the latter is the bound.
plan::trade_program following_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                   program::precision to, const plan::poll& often,
                                   plan::controller* controls = nullptr);
plan::trade_program bounding_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                  program::precision to, const plan::poll& often);

}  // namespace tilewalk::exercise
