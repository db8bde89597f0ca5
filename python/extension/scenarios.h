// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/extension/tables.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::python {

nb::any object_of(scenario_results of);

}  // namespace tilewalk::python
