// SPDX-License-Identifier: Apache-2.0
// Scenarios: the base market decides, the others are priced in blocks. A gain is a difference, part by part.
#pragma once

#include "engine/decide/inner_options.h"
#include "engine/study/price.h"
#include "tilewalk/combinations.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::studies {

// Implements engine::scenarios. Explained gains are checked as a study of their own, whatever `of` is.
scenario_results scenarios_as_asked(const resources& with, const book& trades, const market& in,
                                    const scenario_list& asked, const inner_options& options,
                                    study of = study::scenarios);

}  // namespace tilewalk::studies
