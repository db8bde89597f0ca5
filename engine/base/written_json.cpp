// SPDX-License-Identifier: Apache-2.0
#include "engine/base/written_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/shown_numbers.h"

namespace tilewalk::report {

std::string json_string(std::string_view text) {
    // Take a fast path, because nearly all texts need no escapes.
    const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    if (std::ranges::all_of(text, is_plain)) {
        std::string out;
        out.reserve(text.size() + 2);
        return out.append(1, '"').append(text).append(1, '"');
    }
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_number(double x) {
    if (!std::isfinite(x)) return "null";
    std::string text = shortest(x);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

std::string json_list(const std::vector<std::string>& texts) {
    std::string out;
    for (const auto& text : texts) out += (out.empty() ? "" : ", ") + json_string(text);
    return "[" + out + "]";
}

std::string json_list(const std::vector<double>& numbers) {
    std::string out;
    for (const double x : numbers) out += (out.empty() ? "" : ", ") + json_number(x);
    return "[" + out + "]";
}

}  // namespace tilewalk::report
