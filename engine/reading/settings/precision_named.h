// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "tilewalk/choices.h"

namespace tilewalk {

// Throws tilewalk::error (usage) for an unknown name, with the known names and the nearest of them.
precision precision_named(std::string_view name);

}  // namespace tilewalk
