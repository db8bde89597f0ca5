// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/reading/book_state.h"

namespace tilewalk::books {

// The trade as seen `days` later: its times in years decrease by as much, so past times become negative.
trade rolled(trade t, int days);

}  // namespace tilewalk::books
