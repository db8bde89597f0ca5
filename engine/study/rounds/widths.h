// SPDX-License-Identifier: Apache-2.0
// Confidence intervals compared with tolerances, and the paths that should make them narrow enough.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/settled.h"
#include "engine/reading/book_state.h"
#include "tilewalk/results.h"

namespace tilewalk::studies {

// Returns a trade's tolerance in its currency; 0 if it has none of its own. Throws tilewalk::error (input) if
// basis points of the trade refer to no amount.
double tolerance_of(const books::trade& t, const market& in, const wanted_accuracy& to);

// A figure for one unit of a trade, with what the width of its interval depends on.
struct figure_of_unit {
    double value = 0, error = 0;
    std::uint64_t paths = 0;
    bool is_of_points = false;
    double degrees_of_freedom = 1e300, lean = 0;
    double least_hits = 0, hits = 0;  // paths that carry the error: at least `least_hits` are needed

    figure_of_unit(const price_row& row);  // NOLINT(google-explicit-constructor)
    figure_of_unit(const greek_row& row, const price_row& of_trade);
};

struct width_of_figure {
    double half_width = 0, tolerance = 0;
    bool is_met = true, shows_error = true;
    // The present paths doubled until they should do; 0 if the tolerance is met.
    std::uint64_t paths_needed = 0;
};
width_of_figure width_of(const figure_of_unit& figure, double tolerance, double confidence);

// `name` is "the vega to A.volatility", say; empty for the price.
std::string text_of_miss(const figure_of_unit& figure, const width_of_figure& is, const wanted_accuracy& to,
                         const std::string& name);
void add_miss(price_row& row, const std::string& text);

// Number of paths for the next round of figures that share their paths. Figures out of reach are ignored.
class paths_of_next_round {
  public:
    explicit paths_of_next_round(const wanted_accuracy& to) : to_(to) {}
    // `may_stay_unseen`: no more paths are asked for if many have shown no error.
    void add(const figure_of_unit& figure, double tolerance, bool may_stay_unseen);
    // Returns 0 if no round is needed. With a budget alone, paths are doubled as long as there is an error.
    std::uint64_t paths(std::uint64_t now) const {
        const bool goes_on = is_met_ && has_error_ && to_.seconds && !to_.of_run;
        return goes_on ? std::max(paths_, 2 * now) : paths_;
    }
    bool is_met() const { return is_met_; }
    // Returns the largest half-width over its tolerance, of figures that miss it.
    double widest() const { return widest_; }

  private:
    const wanted_accuracy& to_;
    std::uint64_t paths_ = 0;
    bool is_met_ = true, has_error_ = false;
    double widest_ = 0;
};

// Returns paths for totals. Doublings go, one by one, to the trade that removes most of a total's variance
// per cost. `steps` has the steps of a path, by trade. `gives_up` leaves out totals that are out of reach.
struct more_paths {
    std::size_t trade = 0;
    std::uint64_t paths = 0;
};
std::vector<more_paths> paths_for_totals(const results& so_far, std::span<const std::uint64_t> steps,
                                         double tolerance, double confidence, std::uint64_t most_paths,
                                         bool gives_up = false);

}  // namespace tilewalk::studies
