// SPDX-License-Identifier: Apache-2.0
// The number type in which arrays of shocks are stored (products/program/precision.h).
#pragma once

#include "products/program/precision.h"

namespace tilewalk::arrays {

using element = program::number_type;
using program::bytes_of;

}  // namespace tilewalk::arrays
