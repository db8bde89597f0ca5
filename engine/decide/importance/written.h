// SPDX-License-Identifier: Apache-2.0
// Importance shifts as JSON, so that a later run can take them without a pilot.
#pragma once

#include <string>

#include "engine/decide/importance/search.h"

namespace tilewalk::importance {

std::string written(const found_shifts& what);
// Reads what written() returned, bit for bit. Throws tilewalk::error (input) for malformed text.
found_shifts shifts_written_as(const std::string& json);

}  // namespace tilewalk::importance
