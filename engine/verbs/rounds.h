// SPDX-License-Identifier: Apache-2.0
// Runs to a tolerance: paths are added in rounds until the interval of each figure, or of each total, is as
// narrow as was asked for. Decisions of pilots are made once, for the first round.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/verbs/price.h"
#include "tilewalk/decisions.h"

namespace tilewalk::verbs {

// Walks these trades with so many paths each, of a seed: results by market.
using round_of_paths = std::function<std::vector<priced_book>(std::span<const std::size_t> trades,
                                                              std::uint64_t paths, std::uint64_t seed)>;

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

// Whether not even the most paths of a run should narrow the interval to the tolerance.
bool is_out_of_reach(const figure_of_unit& figure, const width_of_figure& is, const wanted_accuracy& to);
// The cure of a figure that is too wide, in words.
std::string cure_of(const figure_of_unit& figure, const width_of_figure& is, const wanted_accuracy& to,
                    std::string_view name = "figure");

// The paths of the next round for figures that walk together. Figures out of reach are no reason for one.
class paths_of_next_round {
  public:
    explicit paths_of_next_round(const wanted_accuracy& to) : to_(to) {}
    // `may_stay_unseen`: a figure that many paths do not show needs no more.
    void add(const figure_of_unit& figure, double tolerance, bool may_stay_unseen);
    void add(std::uint64_t paths_needed) { paths_ = std::max(paths_, paths_needed); }
    // 0: there is no need.
    std::uint64_t paths() const { return paths_; }
    bool is_met() const { return is_met_; }
    double widest() const { return widest_; }  // over the tolerance, of those that are not met

  private:
    const wanted_accuracy& to_;
    std::uint64_t paths_ = 0;
    bool is_met_ = true;
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

// A run that is walked in rounds: until it is as accurate as was asked for, or as the decisions that it
// follows have it.
struct run_in_rounds {
    const settled& run;  // the first round's
    std::span<const books::trade> trades;
    std::span<const market> in;
    const std::vector<std::uint64_t>& steps;  // of a path, by trade; known when the first round is walked
    std::chrono::steady_clock::time_point begin;
    bool is_of_sensitivities = false;  // these are to be narrow; else prices are
};
// Its results by market. A trade whose tolerance can't be measured, or whose decided paths can't be followed,
// fails.
std::vector<priced_book> walked_in_rounds(const run_in_rounds& r, const round_of_paths& walk, teller& tells);
// The walks that trades are to have next, in one market; those that they have, where figures are as narrow as
// was asked for, or get no narrower. Rows say which are too wide.
std::vector<walk_of_round> judge(const run_in_rounds& r, results& so_far);
// Decisions of a run's first round, for a walk of a later one.
void follow_on(trade_decisions& of, const settled& run, const walk_of_round& next);

// Finds sensitivities of trades in one market. The stages see the walk of their prices.
using finder_of_greeks =
    std::function<results(const book& trades, const run_options& options, const stages& by)>;
// The same in the rounds that the run asks for, each of which finds those of some of the trades.
results greeks_in_rounds(const book& trades, const market& in, const run_options& options,
                         const finder_of_greeks& find);

}  // namespace tilewalk::verbs
