// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/decisions.h"
#include "tilewalk/manifest.h"
#include "tilewalk/rows.h"

namespace tilewalk::report {

inline constexpr std::string_view decision_format_name = "tilewalk-decisions-1";

// Throws tilewalk::error (input) that names `file` for two rows of one trade, or unknown points.
decisions decisions_of(const run_manifest& told, const std::vector<price_row>& rows,
                       const std::string& policies, const std::string& file);

struct loaded_decisions {
    decisions what;
    std::string digest;  // of the file
};
std::string policies_json(const decisions& what);
// Throws tilewalk::error (io, input).
loaded_decisions load_decisions(const std::string& file);

}  // namespace tilewalk::report
