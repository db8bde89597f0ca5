// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/extension/module.h"
#include "tilewalk/differences.h"

namespace tilewalk::python {

nb::any object_of(difference_results of);

}  // namespace tilewalk::python
