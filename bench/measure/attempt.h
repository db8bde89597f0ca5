// SPDX-License-Identifier: Apache-2.0
// One row of a suite: what goes wrong with it alone must not end the others.
#pragma once

#include <functional>

#include "bench/measure/row.h"
#include "bench/measure/suites.h"

namespace tilewalk::bench {

// Has the row made, and hands it in. An error becomes the row's `wrong`, want of memory its `skipped`; a run
// that is stopped, and a device that is lost, end the suite.
void attempt(row r, const sink& to, const std::function<void(row&)>& make);

// Hands in a row that can't be measured here.
void skip(row r, const sink& to, std::string why);

}  // namespace tilewalk::bench
