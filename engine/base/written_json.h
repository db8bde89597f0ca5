// SPDX-License-Identifier: Apache-2.0
// Writes texts, numbers and lists as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::report {

std::string json_string(std::string_view text);
// Writes a number with a point or an exponent, so that -0.0 keeps its sign; null if it is not finite.
std::string json_number(double x);
std::string json_list(const std::vector<std::string>& texts);
std::string json_list(const std::vector<double>& numbers);

}  // namespace tilewalk::report
