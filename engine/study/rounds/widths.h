// SPDX-License-Identifier: Apache-2.0
// Intervals of figures beside their tolerances, and the paths that should make them narrow enough.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/settled.h"
#include "engine/reading/book_state.h"
#include "tilewalk/results.h"

namespace tilewalk::verbs {

// The tolerance of figures of a trade, in its currency; 0: it has none of its own. Throws tilewalk::error
// (input) for basis points of a trade that they are of nothing for.
double tolerance_of(const books::trade& t, const market& in, const wanted_accuracy& to);

// A figure of a trade as rounds see it: of one unit of the trade.
struct figure_of_unit {
    double value = 0, error = 0;
    std::uint64_t paths = 0;
    bool is_of_points = false;
    double degrees_of_freedom = 1e300, lean = 0;
    double least_hits = 0, hits = 0;  // paths that carry the error, of which fewer are never enough

    figure_of_unit(const price_row& row);  // NOLINT(google-explicit-constructor)
    figure_of_unit(const greek_row& row, const price_row& of_trade);
};

// How wide an interval is, by how much too wide, and what it takes to narrow it.
struct width_of_figure {
    double half_width = 0, tolerance = 0;
    bool is_met = true, shows_error = true;
    // The number of paths that should do, where it is not met; doublings of those it has.
    std::uint64_t paths_needed = 0;
};
width_of_figure width_of(const figure_of_unit& figure, double tolerance, double confidence);

// The sentence on a figure that is too wide, with what would cure it. `name`: "the vega to A.volatility";
// empty: the price.
std::string text_of_miss(const figure_of_unit& figure, const width_of_figure& is, const wanted_accuracy& to,
                         const std::string& name);
void add_miss(price_row& row, const std::string& text);

// The paths of the next round for figures that walk together. Figures out of reach are no reason for one.
class paths_of_next_round {
  public:
    explicit paths_of_next_round(const wanted_accuracy& to) : to_(to) {}
    // `may_stay_unseen`: a figure that many paths do not show needs no more.
    void add(const figure_of_unit& figure, double tolerance, bool may_stay_unseen);
    // After a round of so many, which a budget alone doubles as long as there is an error. 0: there is no
    // need.
    std::uint64_t paths(std::uint64_t now) const {
        const bool goes_on = is_met_ && has_error_ && to_.seconds && !to_.of_run;
        return goes_on ? std::max(paths_, 2 * now) : paths_;
    }
    bool is_met() const { return is_met_; }
    double widest() const { return widest_; }  // over the tolerance, of those that are not met

  private:
    const wanted_accuracy& to_;
    std::uint64_t paths_ = 0;
    bool is_met_ = true, has_error_ = false;
    double widest_ = 0;
};

// The trades of a round for totals, with the paths that they are to have: doublings go, one after the other,
// to the trade that takes most of a total's variance for what the doubling costs, until they should do.
// `steps`: of a path, by trade. `gives_up`: a total that the most paths do not bring within its tolerance
// gets none.
struct more_paths {
    std::size_t trade = 0;
    std::uint64_t paths = 0;
};
std::vector<more_paths> paths_for_totals(const results& so_far, std::span<const std::uint64_t> steps,
                                         double tolerance, double confidence, std::uint64_t most_paths,
                                         bool gives_up = false);

}  // namespace tilewalk::verbs
