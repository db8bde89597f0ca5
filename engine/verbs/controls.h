// SPDX-License-Identifier: Apache-2.0
// Controls of trades: a pilot of each trade fits one, and where that shows a gain the trade's paths subtract
// it. A choice depends on the trade, its market, the seed and the number of paths, and on no device.
#pragma once

#include <string>

#include "engine/controls/control.h"
#include "engine/verbs/price.h"

namespace tilewalk::verbs {

// For people: "a control leaves 1/850 of the variance, as 2048 pilot paths show".
std::string evidence(const controls::control& of);

// Plans trades with the controls that pilots in the first market choose. Trades with rights, trades that need
// no path, and those of a run that replays shocks have none.
void choose_controls(planned_run& r, const teller& tells);

// Throws tilewalk::error (usage) where a command takes no controls and the settings ask for them.
void refuse_controls(const settled& run, const std::string& command);

}  // namespace tilewalk::verbs
