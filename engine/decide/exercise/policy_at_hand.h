// SPDX-License-Identifier: Apache-2.0
// A policy within a program: rows of a right's section, and functions of what the path knows there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/exercise/policy.h"
#include "products/language/payoff.h"
#include "products/program/recorder.h"

namespace tilewalk::exercise {

// No product reaches this number, which is finite in single, too.
inline constexpr double never = 1e37;

// Returns "name#2".
std::string numbered(const std::string& name, std::size_t number);

program::value product(const std::vector<program::value>& a, const std::vector<program::value>& b);

// Returns a normal of the step, as it counts in sums over steps.
program::value weighted_normal(std::uint32_t slot, bool weighs_steps, std::span<const double> stops,
                               program::recorder& into);

// Rows of a right's section, from the policy's numbers by date.
class rows_of_policy {
  public:
    rows_of_policy(const policy& by, const language::right_at_hand& right, program::recorder& into);

    program::value row(const std::string& name,
                       const std::function<double(const decision_date&)>& number) const;
    std::vector<program::value> rows(
        const std::string& name, std::size_t count,
        const std::function<double(const decision_date&, std::size_t)>& number) const;

  private:
    program::recorder& into_;
    std::vector<const decision_date*> dates_;
};

// Keeps where the compared assets stood when the interval began.
class kept_ranks {
  public:
    // Until the first date they are in the order of their list.
    void open(const policy& by, program::recorder& into);
    void close() { states_.clear(); }
    bool is_open() const { return !states_.empty(); }
    // Returns the assets' own normals by rank, from those that steps draw.
    std::vector<program::value> in_order(const std::vector<program::value>& drawn,
                                         program::recorder& into) const;
    // Begins an interval on the date at hand.
    void keep(const language::right_at_hand& right, program::recorder& into);

  private:
    std::vector<double> rotation_;
    std::vector<std::uint32_t> states_;  // what is compared, by asset
};

// Returns the numbers by which a right's features look ahead, as the policy has them; see language::decider.
std::vector<double> numbers_ahead_of(const policy& by, const language::right_at_hand& right,
                                     std::size_t before, std::vector<double> in_the_market);

std::vector<program::value> made_features_at_hand(const std::vector<made_feature>& made,
                                                  const language::right_at_hand& right,
                                                  program::recorder& into);

// The basis on the date at hand, and the payment of the right in units paid then.
struct basis_at_hand {
    program::value paid;
    std::vector<program::value> functions;

    basis_at_hand(const policy& by, const language::right_at_hand& right, const rows_of_policy& rows,
                  program::recorder& into);

    // Returns the continuation value of one side, in the case that `when` names.
    program::value to_come(const rows_of_policy& rows, const std::string& when,
                           const std::function<const fitted_side&(const decision_date&)>& side) const;
};

}  // namespace tilewalk::exercise
