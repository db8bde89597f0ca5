// SPDX-License-Identifier: Apache-2.0
// An attempt to measure one row of a suite: its failure must not end the others.
#pragma once

#include <functional>

#include "bench/measure/row.h"
#include "bench/measure/suites.h"

namespace tilewalk::bench {

// Makes the row and passes it on. An error becomes the row's `wrong`, a lack of memory its `skipped`. A run
// that is stopped, and a device that is lost, end the suite.
void attempt(row r, const sink& to, const std::function<void(row&)>& make);

// Passes on a row that can't be measured here.
void skip(row r, const sink& to, std::string why);

}  // namespace tilewalk::bench
