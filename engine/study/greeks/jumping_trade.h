// SPDX-License-Identifier: Apache-2.0
// Trades whose payoffs jump as the market moves; a pilot chooses a way to each number's derivative.
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
    std::vector<std::optional<choice>> choices{};  // by number; empty: it moves no jump
    double control = 0;                            // subtracted from the payoff for likelihood ratios
    bool takes_points = false;
    bool is_decided = false;  // no pilot chooses

    bool any_can(bool choice::*so) const;
    // Takes decisions. A number without one calls for a pilot.
    void take(const decide::treated_jumps& jumps);
    std::shared_ptr<const decide::treated_jumps> decisions() const;

    // Adds to the plan what finds derivatives by this treatment.
    void add_derivatives(planned& to, treatment by) const;
    // In the first walk, which also prices: the widest smoothing of any number, or the usual one.
    treatment first() const;
    // With twice the widths of smoothing, for a bias.
    std::set<treatment> needed(bool states_bias) const;
};
using jumping_trades = std::map<std::size_t, jumping_trade>;  // by place in the book

// Returns the tries of the pilot in walks of the whole run.
double walks_of_pilot(const greek_run& run, const jumping_trades& trades);
// Minimises the mean square error by a pilot, in double on every device. Returns its path-steps.
std::uint64_t choose_treatments(greek_run& run, jumping_trades& trades, const decide::decided_by_trade& held);

struct found_so {
    std::vector<std::vector<double>> means;  // of derivatives, by number and part
    std::uint64_t walk = 0;                  // price_row::walk of their paths
    double price = 0;
};
using found_by_treatment = std::map<treatment, found_so>;
using found_by_trade = std::map<std::size_t, found_by_treatment>;  // without walks that failed
// Finds derivatives by all treatments that numbers need; `first` has those of the first walk.
found_by_trade find_by_treatments(greek_run& run, const jumping_trades& trades,
                                  const std::vector<std::vector<std::vector<double>>>& first, results& to,
                                  const stages& by);

}  // namespace tilewalk::verbs
