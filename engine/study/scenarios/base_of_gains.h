// SPDX-License-Identifier: Apache-2.0
// The base market of gains: the book is priced there with controls, for gains by small moves, and without,
// for all others. Decisions are made there once, so that gains are differences on paths of one kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/decide/controls/moving_controls.h"
#include "engine/decide/decided.h"
#include "engine/decide/inner_options.h"
#include "engine/market/market_view.h"
#include "engine/study/estimate.h"
#include "engine/study/price.h"
#include "engine/study/session/progress_of_walks.h"
#include "engine/walk/kept/work.h"
#include "engine/walk/units.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::verbs {

struct gains_request {
    const resources& with;
    const book& trades;
    const market& in;
    const scenario_list& asked;
    const inner_options& options;
    const settled run = settle(options, state_of(trades), {&in, 1});

    const std::vector<books::trade>& all_trades() const { return state_of(trades).trades; }
    // A share of the work may lack scenarios. The sensitivities that explain gains count as the last.
    bool has_share_of(std::size_t scenario) const {
        return !options.work || options.work->has_market(scenario + 1);
    }
    // True if moves are no larger than those of sensitivities, which leave a policy near the best.
    bool has_small_moves(const scenario& of) const;
    // A control that moves with the market leaves next to nothing of a small gain; of larger ones, points
    // that suit the payoff alone leave less. Jumps of controls would move to where no path comes.
    bool is_near(const scenario& of) const { return of.days == 0 && has_small_moves(of); }
    // Randomisations are independent by design and may be few; few parts of independent paths say too little.
    studies::run_parts parts(std::uint64_t part_paths) const {
        return {part_paths, run.paths, run.unit_paths > 0 ? run::least_randomisations : least_parts};
    }
};

// The base market some days later, with the book as of then.
struct base_of_day {
    std::optional<market> in{};
    std::optional<book> trades{};
    std::string why_not{};                     // empty if there is such a market
    decide::decided_by_trade small_decided{};  // of small moves
};

struct base_of_gains {
    results told;
    std::vector<markets::market_reads> reads;  // by trade
    std::vector<std::size_t> bytes{};          // likewise, of the plans' numbers
    std::unique_ptr<moving_controls> controls;
    // By trade: on the paths of near gains, with controls, and of far ones, without.
    std::vector<studies::estimate> near{}, far{};
    decide::decided_by_trade near_decided{}, far_decided{};
    std::map<int, base_of_day> days{};  // those of scenarios, and day 0
};
base_of_gains price_base(const gains_request& r, progress_of_blocks& tells);

inline stages stages_of_gains() {
    return {.wants_quarters = true, .wants_bounds = false};
}
inline studies::estimate worth_of_position(const price_row& row, const studies::run_parts& parts) {
    return row.quantity * studies::estimate(row, parts);
}

}  // namespace tilewalk::verbs
