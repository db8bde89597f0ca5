// SPDX-License-Identifier: Apache-2.0
// Tables as Arrow streams, by Arrow's C interface, which needs no library of Arrow.
#pragma once

#include <memory>

#include "python/extension/tables.h"

namespace tilewalk::python {

// A capsule "arrow_array_stream" with one batch, whose arrays are those of the table.
nb::object arrow_stream(std::shared_ptr<const table> of);

}  // namespace tilewalk::python
