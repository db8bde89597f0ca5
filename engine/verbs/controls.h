// SPDX-License-Identifier: Apache-2.0
// Controls of trades: a pilot of each trade fits one, and where that shows a gain the trade's paths subtract
// it. A choice depends on the trade, its market, the seed and the number of paths, and on no device.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/controls/control.h"
#include "engine/verbs/price.h"

namespace tilewalk::verbs {

// All that the control of a trade depends on, beside the trade and its market.
struct pilot_of_controls {
    const settled& run;
    const cpu::lane_operations& operations;
    const std::atomic<bool>* cancel;
};
// None where it would not pay, or where the trade can have none.
std::optional<controls::control> choose_control(const books::trade& t, const markets::market_state& in,
                                                std::span<const arrays::shock_cube> scenarios,
                                                const pilot_of_controls& by);

// The trade's plan with a control. None in a market where its paths have other moves than the control is of.
// `first_scenario`: see plan_one.
struct controlled_plan {
    plan::trade_program made;  // with a remark on the control
    double mean = 0;           // of what is subtracted
};
std::optional<controlled_plan> plan_with(const controls::control& what, const books::trade& t,
                                         const markets::market_state& in, const pilot_of_controls& by,
                                         std::uint32_t first_scenario = 0);

// For people: "a control with the correlation 0.9997 leaves 0.06 % of the variance, as 2048 pilot paths
// show".
std::string evidence(const controls::control& of);

// Plans trades with the controls that pilots in the first market choose. Trades with rights, trades that need
// no path, and those of a run that replays shocks have none.
void choose_controls(planned_run& r, const teller& tells);

// Throws tilewalk::error (usage) where a command takes neither controls nor importance sampling and the
// settings ask for one.
void refuse_controls(const settled& run, const std::string& command);

}  // namespace tilewalk::verbs
