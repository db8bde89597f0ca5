// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/reading/book_state.h"

namespace tilewalk::books {

// The trade some days later: times in years decrease, past ones become negative.
trade rolled(trade t, int days);

}  // namespace tilewalk::books
