// SPDX-License-Identifier: Apache-2.0
// Decisions of an earlier run, which hold in the place of pilots': its results say which points each trade
// took, its control and its shifts, and the number of its paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/quasi/order.h"
#include "tilewalk/results.h"

namespace tilewalk::verbs {

// Throws tilewalk::error (input, io) for a file that is no results as JSON.
results load_decisions(const std::string& file);

// Each throws tilewalk::error (input) for a trade that the run did not price.
std::optional<quasi::points> decided_points(const results& by, const std::string& trade);
const price_row& decided_row(const results& by, const std::string& trade);
// The decision of this name, as JSON, that a row keeps beside these; none: the trade had none.
std::optional<std::string> decision(const results& by, const std::string& trade, const std::string& name);

// The decisions of a row with another one.
std::string with_decision(const std::string& so_far, const std::string& name, const std::string& what);

}  // namespace tilewalk::verbs
