// SPDX-License-Identifier: Apache-2.0
// Turns a tree of nodes into a public value, which has no places.
#pragma once

#include "engine/base/text/document.h"
#include "tilewalk/value.h"

namespace tilewalk::config {

value value_of(const node& root);

}  // namespace tilewalk::config
