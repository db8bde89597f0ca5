// SPDX-License-Identifier: Apache-2.0
// Differences for the usual shifts of a market's numbers, which risk systems read.
#pragma once

#include "engine/verbs/resources.h"
#include "tilewalk/differences.h"

namespace tilewalk::verbs {

// See tilewalk/differences.h. The trades are those of the book that is open.
difference_results differences_as_asked(const resources& with, const book& trades, const market& in,
                                        const difference_options& wanted, const run_options& options);

}  // namespace tilewalk::verbs
