// SPDX-License-Identifier: Apache-2.0
// Shifts as JSON, by which a later run needs no pilot.
#pragma once

#include <string>

#include "engine/decide/importance/search.h"

namespace tilewalk::importance {

std::string written(const found_shifts& what);
// Reads the same bits. Throws tilewalk::error (input) for malformed text.
found_shifts shifts_written_as(const std::string& json);

}  // namespace tilewalk::importance
