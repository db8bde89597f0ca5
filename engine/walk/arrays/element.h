// SPDX-License-Identifier: Apache-2.0
// The type in which a shock is stored: that of the precision's shocks (products/program/precision.h).
#pragma once

#include "products/program/precision.h"

namespace tilewalk::arrays {

using element = program::number_type;
using program::bytes_of;

}  // namespace tilewalk::arrays
