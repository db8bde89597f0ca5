// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "engine/market/market_state.h"

namespace tilewalk::markets {

// Returns the complaint about a correlation matrix with a negative eigenvalue: its size, the factors most
// involved, and the nearest valid correlations. Empty for a valid matrix. Factors that no correlation links
// are independent, so each linked group is checked alone.
std::optional<std::string> fault_of_correlations(const market_state& market);

}  // namespace tilewalk::markets
