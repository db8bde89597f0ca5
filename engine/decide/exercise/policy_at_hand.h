// SPDX-License-Identifier: Apache-2.0
// A policy as nodes of a program: rows of a right's section, and basis functions of what a path knows there.
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

// Stands for an amount that is not there; no payoff is as large. Finite in single precision, too.
inline constexpr double never = 1e37;

// Returns "name#2".
std::string numbered(const std::string& name, std::size_t number);

program::value product(const std::vector<program::value>& a, const std::vector<program::value>& b);

// Returns a normal of the step with the weight that it has in sums over steps.
program::value weighted_normal(std::uint32_t slot, bool weighs_steps, std::span<const double> stops,
                               program::recorder& into);

// Records numbers that the policy has by date as rows of a right's section.
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

// Keeps in states the numbers by which assets were ranked when the interval began.
class kept_ranks {
  public:
    // Opens the states. Until the first date assets rank in the order of the script's list.
    void open(const policy& by, program::recorder& into);
    void close() { states_.clear(); }
    bool is_open() const { return !states_.empty(); }
    // Returns the assets' own normals by rank, made of the normals that steps draw.
    std::vector<program::value> in_order(const std::vector<program::value>& drawn,
                                         program::recorder& into) const;
    // Takes the numbers compared on the date at hand, where an interval begins.
    void keep(const language::right_at_hand& right, program::recorder& into);

  private:
    std::vector<double> rotation_;
    std::vector<std::uint32_t> states_;  // by asset: the compared number
};

// Returns the numbers by which features look ahead (see language::decider): on the policy's dates its own,
// else `in_the_market`.
std::vector<double> numbers_ahead_of(const policy& by, const language::right_at_hand& right,
                                     std::size_t before, std::vector<double> in_the_market);

std::vector<program::value> made_features_at_hand(const std::vector<made_feature>& made,
                                                  const language::right_at_hand& right,
                                                  program::recorder& into);

// The basis functions on the date at hand, and the right's payment in units of that date.
struct basis_at_hand {
    program::value paid;
    std::vector<program::value> functions;

    basis_at_hand(const policy& by, const language::right_at_hand& right, const rows_of_policy& rows,
                  program::recorder& into);

    // Returns the continuation value of the side that `side` takes from a date. `when` names its rows.
    program::value to_come(const rows_of_policy& rows, const std::string& when,
                           const std::function<const fitted_side&(const decision_date&)>& side) const;
};

}  // namespace tilewalk::exercise
