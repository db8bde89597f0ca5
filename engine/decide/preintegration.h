// SPDX-License-Identifier: Apache-2.0
// Pre-integration: averages a payoff analytically along one direction of the normals before a date (see
// products/program/integrate.h), if a pilot shows a gain. Such trades have no control: paths that must stay
// below a barrier have another law than the control's mean assumes.
#pragma once

#include <memory>

#include "engine/decide/controls/controls.h"
#include "engine/decide/planned.h"
#include "engine/reading/book_state.h"

namespace tilewalk::studies {

// Returns the pre-integrated trade; null if nothing can be integrated, or the trade has rights or scenarios.
std::shared_ptr<const ready_trade> integrated(const books::trade& t, const planned& p,
                                              program::precision walked_in, shape_store& shapes);

// True if integration saves time: over points always if no jump is left, else if a pilot shows it.
bool pays(const ready_trade& plain, const ready_trade& integrated, const pilot_of_controls& by);

}  // namespace tilewalk::studies
