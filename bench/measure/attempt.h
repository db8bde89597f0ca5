// SPDX-License-Identifier: Apache-2.0
// An attempt to measure one row of a suite, whose failure does not end the others.
#pragma once

#include <functional>

#include "bench/measure/row.h"
#include "bench/measure/suites.h"

namespace tilewalk::bench {

// Fills the row by `make` and passes it on. An error becomes the row's `wrong`, lack of memory its `skipped`.
// Cancellation and a lost device are thrown on and end the suite.
void attempt(row r, const sink& to, const std::function<void(row&)>& make);

void skip(row r, const sink& to, std::string why);

}  // namespace tilewalk::bench
