// SPDX-License-Identifier: Apache-2.0
// Correlated lognormal assets and exchange rates with deterministic term structures, under the trade
// currency's risk-neutral measure. Steps are exact for any length, so a path stops only at dates that matter.
#pragma once

#include <memory>

#include "engine/models/model.h"

namespace tilewalk::models {

std::unique_ptr<model> make_black_scholes(const request& from);

}  // namespace tilewalk::models
