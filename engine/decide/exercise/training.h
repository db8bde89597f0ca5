// SPDX-License-Identifier: Apache-2.0
// The policy of a trade with rights, from paths of its own.
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

// The name of features that are volatilities of assets.
inline constexpr std::string_view name_of_volatility = "the volatility of number ";

// A policy before its paths: by what it will decide, and when.
struct policy_to_find {
    policy by;                       // with all that follows from the trade
    std::vector<std::string> known;  // names of the features; what using the right pays is known, too
    // Features that the product names beside the states, and of which the models know no number: name and
    // reason.
    std::vector<std::string> left_out;
    bool is_certain = false;  // nothing moves; there are no features
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
// Nothing where no right is left. A policy that is there says whether it tells assets apart by volatilities;
// one that is to be found does where they are unlike. Throws as untrained_of does.
std::optional<policy_to_find> policy_to_find_of(const books::trade& t, const markets::market_view& in,
                                                const plan::poll& often,
                                                std::optional<bool> tells_volatilities = {});

// A trade whose policy is still to be found: a program whose paths leave what it is found from.
struct untrained {
    policy by;  // with no dates
    plan::trade_program made;
    // Rows of numbers that paths leave, as they are laid out: by section the states that leave some.
    std::vector<cpu::left_numbers::of_section> leaves;
    std::size_t rows = 0, end_row = 0;  // the end's: the value, then the sums of normals
    // A date on which a right is there: the right's own, or that of its notice.
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
    bool is_certain = false;   // nothing has to be found, and there is no program
    bool is_of_steps = false;  // all dates are those of a right that is there every so many years

    static constexpr std::size_t row_of_features = 5;
    std::size_t row_of_sums() const { return row_of_features + by.functions.features() - 1; }
    // Whether it is found what all dates gain over every second of them, counted from the last.
    bool has_gain() const { return is_of_steps && dates.size() >= 4; }
    std::vector<std::size_t> every_second_date() const;
};
// Extra fits of a training: the martingale of the dual bound, and the gain of exercise at any time. They take
// most of the time.
enum class found_beside : std::uint8_t { nothing, bound_and_gain };
// Nothing where no right is left. Throws tilewalk::error (input) where the decision depends on too much.
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
    fitting fits = fitting::usual;  // else it is not found what steps gain
};
// The policy, found on the CPU. Throws tilewalk::error (numeric) where a path has no finite number.
policy trained(untrained of, const training& by);

// Decides as the policy says, which outlives it.
std::unique_ptr<language::decider> follower_of(const policy& by);
// The programs that follow a policy and that bound what any can be worth; of the second the first output is
// the bound.
plan::trade_program following_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                   program::precision to, const plan::poll& often,
                                   plan::controller* controls = nullptr);
plan::trade_program bounding_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                  program::precision to, const plan::poll& often);

}  // namespace tilewalk::exercise
