// SPDX-License-Identifier: Apache-2.0
// Names of error kinds, the same in exceptions, rows and files.
#pragma once

#include "tilewalk/error.h"

namespace tilewalk::python {

const char* word_of(error_kind kind);

}  // namespace tilewalk::python
