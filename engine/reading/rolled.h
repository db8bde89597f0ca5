// SPDX-License-Identifier: Apache-2.0
// Rolled trades: as they stand when some days have passed.
#pragma once

#include "engine/reading/book_state.h"

namespace tilewalk::books {

// Times in years are so many days less; a time that has passed is below 0.
trade rolled(trade t, int days);

}  // namespace tilewalk::books
