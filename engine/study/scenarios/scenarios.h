// SPDX-License-Identifier: Apache-2.0
// Scenarios: the base market decides, others are priced in blocks; gains are differences part by part.
#pragma once

#include "engine/decide/inner_options.h"
#include "engine/study/price.h"
#include "tilewalk/combinations.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::verbs {

// See engine::scenarios. Explained gains are a study of their own.
scenario_results scenarios_as_asked(const resources& with, const book& trades, const market& in,
                                    const scenario_list& asked, const inner_options& options,
                                    study of = study::scenarios);

}  // namespace tilewalk::verbs
