// SPDX-License-Identifier: Apache-2.0
// A file of decisions, or of results that tell some.
#pragma once

#include <string>
#include <string_view>

#include "tilewalk/decisions.h"

namespace tilewalk::report {

inline constexpr std::string_view decision_format_name = "tilewalk-decisions-1";

struct loaded_decisions {
    decisions what;
    std::string digest;  // of the file
};
// The file of the policies among decisions.
std::string policies_json(const decisions& what);
// Throws tilewalk::error (io, input).
loaded_decisions load_decisions(const std::string& file);

}  // namespace tilewalk::report
