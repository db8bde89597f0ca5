// SPDX-License-Identifier: Apache-2.0
#include "engine/market/wording.h"

#include <charconv>
#include <system_error>

#include "engine/base/wording.h"

namespace tilewalk::markets {

std::string rounded(double value) {
    char text[32];
    const auto [end, status] = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6);
    return {text, status == std::errc{} ? end : text};
}

std::string unknown_name(std::string_view what, const std::string& name,
                         const std::vector<std::string>& known) {
    return "unknown " + std::string(what) + " " + config::shown(name) +
           (known.empty() ? "; none is known" : config::alternatives(name, "known:", known));
}

}  // namespace tilewalk::markets
