// SPDX-License-Identifier: Apache-2.0
// Scenarios: the book is priced in its market, which decides all there is to decide, and then in blocks of
// others. A gain is the difference of two prices part by part, so that its error is that of the difference.
#pragma once

#include "engine/verbs/price.h"
#include "tilewalk/scenarios.h"

namespace tilewalk {

// See engine::scenarios.
scenario_results scenarios_of_book(const engine_settings& settings, cuda::backend& gpus, const book& trades,
                                   const market& in, const scenario_list& asked, const run_options& options);

}  // namespace tilewalk
