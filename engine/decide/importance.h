// SPDX-License-Identifier: Apache-2.0
// Importance sampling: a pilot looks for shifts of a rare payoff's normals, and a run takes them if they
// gain. A choice depends on the trade, its market, the seed and the number of paths alone, not on a device.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/decide/controls/controls.h"
#include "engine/decide/decided.h"
#include "engine/walk/job.h"

namespace tilewalk::studies {

struct plan_to_shift {
    run::job job;
    double control_mean = 0;
};
using decide::chosen_shifts;
// Returns shifts; empty if they would not pay, or the trade can have none. With paths enough for two pilots,
// a trade with a control is also tried without: the control may leave a residual that is harder to shift.
std::optional<chosen_shifts> choose_shifts(const books::trade& t, const plan_to_shift& plan,
                                           const std::optional<plan_to_shift>& without_control,
                                           const pilot_of_controls& by);

// Shifts a trade, and drops its control if `by` says so. Does nothing if its paths take other normals.
void shift(planned& p, const std::shared_ptr<const chosen_shifts>& by, shape_store& shapes);

// Returns a remark, "importance sampling with 2 shifts of the shocks leaves 0.31 % of the variance, ...".
std::string evidence(const importance::found_shifts& of);

std::shared_ptr<const chosen_shifts> shifts_for(const books::trade& t, const planned& p,
                                                const pilot_of_controls& by, const sources& from);
}  // namespace tilewalk::studies
