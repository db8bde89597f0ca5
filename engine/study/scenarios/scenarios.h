// SPDX-License-Identifier: Apache-2.0
// Scenarios: the book is priced in its market, which decides all there is to decide, and then in blocks of
// others. A gain is the difference of two prices part by part, so that its error is that of the difference.
#pragma once

#include "engine/study/price.h"
#include "tilewalk/combinations.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::verbs {

// See engine::scenarios. Gains that are explained are a study of their own.
scenario_results scenarios_as_asked(const resources& with, const book& trades, const market& in,
                                    const scenario_list& asked, const run_options& options,
                                    study of = study::scenarios);

}  // namespace tilewalk::verbs
