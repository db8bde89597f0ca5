// SPDX-License-Identifier: Apache-2.0
// The base market of gains: the book is priced there with controls, for gains by small moves, and without
// them for other gains. Decisions are made there, so that gains are differences on like paths.
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

namespace tilewalk::studies {

struct gains_request {
    const resources& with;
    const book& trades;
    const market& in;
    const scenario_list& asked;
    const inner_options& options;
    const settled run = settle(options, state_of(trades), {&in, 1});

    const std::vector<books::trade>& all_trades() const { return state_of(trades).trades; }
    // True if this process walks the scenario. Sensitivities that explain gains count as one more scenario.
    bool has_share_of(std::size_t scenario) const {
        return !options.work || options.work->has_market(scenario + 1);
    }
    // True if moves are together no larger than those of sensitivities; a policy is then still near the best.
    bool has_small_moves(const scenario& of) const;
    // True if the gain is found with controls. They move with the market and leave almost no variance in a
    // small gain. For a large one, points that suit the payoff leave less; control jumps would move off the
    // paths.
    bool is_near(const scenario& of) const { return of.days == 0 && has_small_moves(of); }
    // Randomisations show an error even if they are few; independent paths need more parts.
    studies::run_parts parts(std::uint64_t part_paths) const {
        return {part_paths, run.paths, run.unit_paths > 0 ? run::least_randomisations : least_parts};
    }
};

// The base market and the book, some days later.
struct base_of_day {
    std::optional<market> in{};
    std::optional<book> trades{};
    std::string why_not{};                     // empty if the market can be that much older
    decide::decided_by_trade small_decided{};  // decisions for small moves
};

struct base_of_gains {
    results result;
    std::vector<markets::market_reads> reads;  // by trade
    std::vector<std::size_t> bytes{};          // by trade: of the plan's numbers
    std::unique_ptr<moving_controls> controls;
    // Values of positions by trade: as near gains need them, with controls, and as far gains do, without.
    std::vector<studies::estimate> near{}, far{};
    decide::decided_by_trade near_decided{}, far_decided{};
    std::map<int, base_of_day> days{};  // by days from the base market, 0 included
};
base_of_gains price_base(const gains_request& r, progress_of_blocks& reporter);

inline stages stages_of_gains() {
    return {.wants_quarters = true, .wants_bounds = false};
}
inline studies::estimate worth_of_position(const price_row& row, const studies::run_parts& parts) {
    return row.quantity * studies::estimate(row, parts);
}

}  // namespace tilewalk::studies
