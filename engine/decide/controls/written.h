// SPDX-License-Identifier: Apache-2.0
// Controls as JSON, so that a later run can take them without a pilot.
#pragma once

#include <string>
#include <string_view>

#include "engine/decide/controls/control.h"

namespace tilewalk::controls {

// First words of a remark that a control was subtracted.
inline constexpr std::string_view begin_of_remark = "control variate ";

std::string written(const control& what);
// Reads what written() returned, bit for bit. Throws tilewalk::error (input) for malformed text.
control control_written_as(const std::string& json);

std::string written(const drift& what);
drift drift_written_as(const std::string& json);

}  // namespace tilewalk::controls
