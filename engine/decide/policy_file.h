// SPDX-License-Identifier: Apache-2.0
// Files of policies: JSON with one line for each date, whose numbers read back to the same bits.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/decide/exercise/saved_policy.h"

namespace tilewalk::report {

inline constexpr std::string_view policy_format_name = "tilewalk-policies-1";

std::string policies_json(std::span<const exercise::saved_policy> all);

// Keeps the file's order. Throws tilewalk::error (input) for malformed text or a second policy of a trade.
std::vector<exercise::saved_policy> read_policies(const std::string& text, const std::string& name);
// Reads a file as read_policies does. Throws tilewalk::error (io) if it can't be read.
std::vector<exercise::saved_policy> load_policies(const std::string& file);

}  // namespace tilewalk::report
