// SPDX-License-Identifier: Apache-2.0
// Shifts as JSON, by which a later run takes them without a pilot.
#pragma once

#include <string>

#include "engine/decide/importance/search.h"

namespace tilewalk::importance {

std::string written(const found_shifts& what);
// To the same bits. Throws tilewalk::error (input) for what is none.
found_shifts shifts_written_as(const std::string& json);

}  // namespace tilewalk::importance
