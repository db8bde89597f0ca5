// SPDX-License-Identifier: Apache-2.0
// A control as JSON, by which a later run takes it without a pilot.
#pragma once

#include <string>

#include "engine/controls/control.h"

namespace tilewalk::controls {

std::string written(const control& what);
// To the same bits. Throws tilewalk::error (input) for what is none.
control control_written_as(const std::string& json);

}  // namespace tilewalk::controls
