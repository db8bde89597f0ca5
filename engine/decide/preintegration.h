// SPDX-License-Identifier: Apache-2.0
// Pre-integration along a direction of the step before a date (see products/program/integrate.h), if a pilot
// shows a gain. Without a control: paths that go on below a barrier have another law than a control's.
#pragma once

#include <memory>

#include "engine/decide/controls/controls.h"
#include "engine/decide/planned.h"
#include "engine/reading/book_state.h"

namespace tilewalk::verbs {

// Null if nothing can be integrated, and for trades with rights or scenarios.
std::shared_ptr<const ready_trade> integrated(const books::trade& t, const planned& p,
                                              program::precision walked_in, shape_store& shapes);

// Always true over points if no jump is left; else if a pilot shows that integration saves time.
bool pays(const ready_trade& plain, const ready_trade& integrated, const pilot_of_controls& by);

}  // namespace tilewalk::verbs
