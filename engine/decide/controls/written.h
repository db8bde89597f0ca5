// SPDX-License-Identifier: Apache-2.0
// A control as JSON, by which a later run takes it without a pilot.
#pragma once

#include <string>
#include <string_view>

#include "engine/decide/controls/control.h"

namespace tilewalk::controls {

// Remarks on controls begin so.
inline constexpr std::string_view begin_of_remark = "a control ";

std::string written(const control& what);
// To the same bits. Throws tilewalk::error (input) for what is none.
control control_written_as(const std::string& json);

// The same of a drift.
std::string written(const drift& what);
drift drift_written_as(const std::string& json);

}  // namespace tilewalk::controls
