// SPDX-License-Identifier: Apache-2.0
// Decisions of an earlier run, which hold in the place of pilots': its results say which points each trade
// took, its control, and the number of its paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/controls/control.h"
#include "engine/quasi/order.h"
#include "tilewalk/results.h"

namespace tilewalk::verbs {

// Throws tilewalk::error (input, io) for a file that is no results as JSON.
results load_decisions(const std::string& file);

// Each throws tilewalk::error (input) for a trade that the run did not price.
std::optional<quasi::points> decided_points(const results& by, const std::string& trade);
std::optional<controls::control> decided_control(const results& by, const std::string& trade);
std::uint64_t decided_paths(const results& by, const std::string& trade);

// The decisions on a trade beside its points, as its row keeps them; empty: none.
std::string written_decisions(const std::optional<controls::control>& control);

}  // namespace tilewalk::verbs
