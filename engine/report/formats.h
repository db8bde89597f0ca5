// SPDX-License-Identifier: Apache-2.0
// The three forms in which results leave, and the pieces of CSV and JSON that other reports share.
#pragma once

#include <string>
#include <string_view>

#include "tilewalk/results.h"

namespace tilewalk::report {

std::string table(const results& r);
std::string csv(const results& r);
std::string json(const results& r);
inline constexpr std::string_view json_format_name = "tilewalk-results-2";

// A text field: quoted where RFC 4180 asks for it, and never taken for a formula by a spreadsheet.
std::string csv_field(std::string_view text);
std::string json_string(std::string_view text);
std::string json_number(double x);  // always with a point or an exponent, so that -0.0 keeps its sign

}  // namespace tilewalk::report
