// SPDX-License-Identifier: Apache-2.0
// Results as text or bytes in the format asked for.
#pragma once

#include <string>

#include "engine/cli/settings.h"
#include "tilewalk/results.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::cli {

std::string written_prices(const results& r, result_format as, const text_form& form);
std::string written_greeks(const results& r, result_format as, const text_form& form);
std::string written_gains(const scenario_results& r, result_format as, const text_form& form);
// Writes totals in the format of the file's ending, or CSV if it names none.
std::string written_totals(const results& r, const std::string& file, const text_form& form);

}  // namespace tilewalk::cli
