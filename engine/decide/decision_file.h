// SPDX-License-Identifier: Apache-2.0
// A file of decisions, or of results that tell some.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/decisions.h"
#include "tilewalk/manifest.h"
#include "tilewalk/rows.h"

namespace tilewalk::report {

inline constexpr std::string_view decision_format_name = "tilewalk-decisions-1";

// The decisions of a run that tells these rows, with the policies that it kept, if it did. Throws
// tilewalk::error (input) that names `file` for rows that say two things of a trade, or name points that
// nobody can make.
decisions decisions_of(const run_manifest& told, const std::vector<price_row>& rows,
                       const std::string& policies, const std::string& file);

struct loaded_decisions {
    decisions what;
    std::string digest;  // of the file
};
// The file of the policies among decisions.
std::string policies_json(const decisions& what);
// Throws tilewalk::error (io, input).
loaded_decisions load_decisions(const std::string& file);

}  // namespace tilewalk::report
