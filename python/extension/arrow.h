// SPDX-License-Identifier: Apache-2.0
// Tables as Arrow streams, by Arrow's C interface without an Arrow library.
#pragma once

#include <memory>

#include "python/extension/tables.h"

namespace tilewalk::python {

// Returns a capsule "arrow_array_stream" with one batch that shares the table's arrays.
nb::object arrow_stream(std::shared_ptr<const table> of);

}  // namespace tilewalk::python
