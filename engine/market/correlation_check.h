// SPDX-License-Identifier: Apache-2.0
// Whether the correlations of a market can be those of factors at once, and the nearest ones that can.
#pragma once

#include <optional>
#include <string>

#include "engine/market/market_state.h"

namespace tilewalk::markets {

// The complaint about a market whose correlation matrix has a negative eigenvalue: how negative, which
// factors are most involved, and the nearest valid correlations. Nothing for one that is sound. Factors that
// no correlation links are independent, so each linked group stands for itself.
std::optional<std::string> fault_of_correlations(const market_state& market);

}  // namespace tilewalk::markets
