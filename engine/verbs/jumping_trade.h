// SPDX-License-Identifier: Apache-2.0
// Trades whose payoffs jump where numbers of the market move them: how derivatives to these numbers are
// found, and by which way for each number, as a pilot shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/decide/decided.h"
#include "engine/greeks/ways_back.h"
#include "engine/verbs/price.h"

namespace tilewalk::verbs {

using decide::treatment;
inline constexpr treatment likelihood_ratio{}, usual_smoothing{1};

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
    std::vector<std::optional<choice>> choices{};  // by number; none: it moves no jump
    double control = 0;                            // is taken from the payoff for likelihood ratios
    bool takes_points = false;                     // quasi-random ones
    bool is_decided = false;                       // no pilot chooses
    struct found_so {
        std::vector<std::vector<double>> means;  // of derivatives, by number and part
        std::uint64_t walk = 0;                  // price_row::walk of their paths
    };
    std::map<treatment, found_so> found{};

    // Adds to the plan of the trade what finds derivatives so.
    void add_derivatives(planned& to, treatment by) const;
    // The treatment in the first walk, which also finds the price: the widest smoothing that a number takes.
    // Jumps stand still for it where none does.
    treatment first() const;
    // All that numbers need, those for a bias from twice the width with them.
    std::set<treatment> needed(bool states_bias) const;
};

// Walks trades, each with jumps treated in one way; told as well how many walks of a trade in the whole run
// take as long.
using walk_treated = std::function<priced_book(const std::vector<std::pair<std::size_t, treatment>>&,
                                               double walks, const run_options&)>;
// The walks of all tries of a pilot, told likewise.
double walks_of_pilot(const std::map<std::size_t, jumping_trade>& trades, const settled& run);

// Chooses for each number the treatment with the least mean square error, by a pilot: other paths, in double,
// so that no device decides otherwise. Returns the steps that its paths took.
std::uint64_t choose_treatments(std::map<std::size_t, jumping_trade>& trades, const settled& run,
                                const run_options& options, const walk_treated& walk);

}  // namespace tilewalk::verbs
