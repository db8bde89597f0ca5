// SPDX-License-Identifier: Apache-2.0
// Trees of nodes as public values, without places.
#pragma once

#include "engine/base/text/document.h"
#include "tilewalk/value.h"

namespace tilewalk::config {

value value_of(const node& root);

}  // namespace tilewalk::config
