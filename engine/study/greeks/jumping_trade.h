// SPDX-License-Identifier: Apache-2.0
// Trades whose payoffs jump where numbers of the market move them: how derivatives to these numbers are
// found, and by which way for each number, as a pilot shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/decide/decided.h"
#include "engine/plan/ways_back.h"
#include "engine/study/price.h"

namespace tilewalk::verbs {

struct greek_run;

using decide::treatment;
inline constexpr treatment by_likelihood_ratio{}, usual_smoothing{1};

struct jumping_trade {
    // The treatment of a number that moves a jump.
    struct choice {
        bool can_be_smoothed = false, can_be_scored = false;
        treatment by{};
    };
    std::shared_ptr<const ready_trade> ready;
    std::shared_ptr<const program::adjoint_program> smoothed;
    std::shared_ptr<const program::tangent_program> smoothed_forth{};  // null: the way back costs less
    std::shared_ptr<const program::scored_adjoint> scored{};           // null: there are no likelihood ratios
    program::path_data scored_data{};
    std::vector<program::path_data> moves{};
    program::smoothing usual{};
    std::vector<std::string> keys{};               // of the numbers in the market
    std::vector<std::optional<choice>> choices{};  // by number; none: it moves no jump
    double control = 0;                            // is taken from the payoff for likelihood ratios
    bool takes_points = false;                     // quasi-random ones
    bool is_decided = false;                       // no pilot chooses

    bool any_can(bool choice::*so) const;
    // Takes what is decided. A number about which nothing is takes a pilot for the trade.
    void take(const decide::treated_jumps& jumps);
    std::shared_ptr<const decide::treated_jumps> decisions() const;

    // Adds to the plan of the trade what finds derivatives so.
    void add_derivatives(planned& to, treatment by) const;
    // The treatment in the first walk, which also finds the price: the widest smoothing that a number takes.
    // Jumps stand still for it where none does.
    treatment first() const;
    // All that numbers need, those for a bias from twice the width with them.
    std::set<treatment> needed(bool states_bias) const;
};
using jumping_trades = std::map<std::size_t, jumping_trade>;  // by place in the book

// The walks of a trade in the whole run that take as long as all tries of the pilot.
double walks_of_pilot(const greek_run& run, const jumping_trades& trades);
// Chooses for each number the treatment with the least mean square error, by a pilot: other paths, in double,
// so that no device decides otherwise. Returns the steps that its paths took.
std::uint64_t choose_treatments(greek_run& run, jumping_trades& trades, const decide::decided_by_trade& held);

struct found_so {
    std::vector<std::vector<double>> means;  // of derivatives, by number and part
    std::uint64_t walk = 0;                  // price_row::walk of their paths
    double price = 0;
};
using found_by_treatment = std::map<treatment, found_so>;
using found_by_trade = std::map<std::size_t, found_by_treatment>;  // without walks that failed
// The derivatives of these trades with jumps treated in all ways that numbers need, from what the first walk
// found in one way.
found_by_trade find_by_treatments(greek_run& run, const jumping_trades& trades,
                                  const std::vector<std::vector<std::vector<double>>>& first, results& to,
                                  const stages& by);

}  // namespace tilewalk::verbs
