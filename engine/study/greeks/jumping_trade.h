// SPDX-License-Identifier: Apache-2.0
// Trades whose payoffs jump as the market moves. A pilot chooses how each number's derivative is found.
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

namespace tilewalk::studies {

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
    std::shared_ptr<const program::tangent_program> smoothed_forth{};  // null if the adjoint costs less
    std::shared_ptr<const program::scored_adjoint> scored{};           // null if impossible
    program::path_data scored_data{};
    std::vector<program::path_data> moves{};
    program::smoothing usual{};
    std::vector<std::string> keys{};               // of the market's numbers
    std::vector<std::optional<choice>> choices{};  // by number; empty if no jump moves
    double control = 0;                            // subtracted from payoffs under likelihood ratios
    bool takes_points = false;
    bool is_decided = false;  // true if no pilot is needed

    bool any_can(bool choice::*so) const;
    // Takes earlier decisions. A number without one that fits still needs a pilot.
    void take_decisions(const decide::treated_jumps& jumps);
    std::shared_ptr<const decide::treated_jumps> decisions() const;

    // Adds to the plan the programs that find derivatives by this treatment.
    void add_derivatives(planned& to, treatment by) const;
    // Returns the treatment of the first walk: the widest smoothing chosen, else the usual one.
    treatment first() const;
    // Returns the treatments of all numbers; if biases are stated, also smoothing at twice each width.
    std::set<treatment> needed(bool states_bias) const;
};
using jumping_trades = std::map<std::size_t, jumping_trade>;  // by the trade's place in the book

// Returns the cost of the pilot in walks of the run.
double walks_of_pilot(const greek_run& run, const jumping_trades& trades);
// Chooses treatments of least mean square error by a pilot, in double. Returns the pilot's path-steps.
std::uint64_t choose_treatments(greek_run& run, jumping_trades& trades, const decide::decided_by_trade& held);

struct found_so {
    std::vector<std::vector<double>> means;  // derivatives, by number and part
    std::uint64_t walk = 0;                  // see price_row::walk
    double price = 0;
};
using found_by_treatment = std::map<treatment, found_so>;
using found_by_trade = std::map<std::size_t, found_by_treatment>;  // lacks failed walks
// Finds derivatives by every treatment that numbers need. `first` has those of the first walk.
found_by_trade find_by_treatments(greek_run& run, const jumping_trades& trades,
                                  const std::vector<std::vector<std::vector<double>>>& first, results& to,
                                  const stages& by);

}  // namespace tilewalk::studies
