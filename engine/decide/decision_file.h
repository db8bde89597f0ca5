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

// Extracts the decisions from a run's results. `policies` is JSON of its policies, or empty. Throws
// tilewalk::error (input), which names `file`, if a trade has two rows, or its points are unknown.
decisions decisions_of(const run_manifest& manifest, const std::vector<price_row>& rows,
                       const std::string& policies, const std::string& file);

struct loaded_decisions {
    decisions what;
    std::string digest;  // SHA-256 of the file
};
std::string policies_json(const decisions& what);
// Throws tilewalk::error (io) if the file can't be read, or (input) if it is malformed.
loaded_decisions load_decisions(const std::string& file);

}  // namespace tilewalk::report
