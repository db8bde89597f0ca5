// SPDX-License-Identifier: Apache-2.0
// Pre-integration: trades whose decisions on dates are integrated along a direction of the step before (see
// products/program/integrate.h). A pilot shows whether a trade gains by that. Such a trade has no control:
// paths that go on below a barrier have another law than those whose mean a control knows.
#pragma once

#include <memory>

#include "engine/decide/controls/controls.h"
#include "engine/decide/planned.h"
#include "engine/reading/book_state.h"

namespace tilewalk::verbs {

// The trade with what can be integrated; null: nothing can. Trades with rights and those that take scenarios
// are left as they are.
std::shared_ptr<const ready_trade> integrated(const books::trade& t, const planned& p,
                                              program::precision walked_in, shape_store& shapes);

// Whether that takes less time for the same error than the trade without a control: over points where no jump
// is left, and where a pilot shows it.
bool pays(const ready_trade& plain, const ready_trade& integrated, const pilot_of_controls& by);

}  // namespace tilewalk::verbs
