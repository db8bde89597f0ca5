// SPDX-License-Identifier: Apache-2.0
// Controls as JSON, by which a later run needs no pilot.
#pragma once

#include <string>
#include <string_view>

#include "engine/decide/controls/control.h"

namespace tilewalk::controls {

// Begins remarks on controls.
inline constexpr std::string_view begin_of_remark = "control variate ";

std::string written(const control& what);
// Reads the same bits. Throws tilewalk::error (input) for malformed text.
control control_written_as(const std::string& json);

std::string written(const drift& what);
drift drift_written_as(const std::string& json);

}  // namespace tilewalk::controls
