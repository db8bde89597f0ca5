// SPDX-License-Identifier: Apache-2.0
// Files of policies: JSON, one line a date, whose numbers read back to the same bits.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/decide/exercise/saved_policy.h"

namespace tilewalk::report {

inline constexpr std::string_view policy_format_name = "tilewalk-policies-1";

std::string policies_json(std::span<const exercise::saved_policy> all);

// In the order of the file. Throws tilewalk::error (input) for malformed text, or a trade twice.
std::vector<exercise::saved_policy> read_policies(const std::string& text, const std::string& name);
// Reads a file likewise. Throws (io) if it can't be read.
std::vector<exercise::saved_policy> load_policies(const std::string& file);

}  // namespace tilewalk::report
