// SPDX-License-Identifier: Apache-2.0
// Differences of values for shifts of a market, as Python holds them.
#pragma once

#include "python/extension/module.h"
#include "tilewalk/differences.h"

namespace tilewalk::python {

nb::any object_of(difference_results of);

}  // namespace tilewalk::python
