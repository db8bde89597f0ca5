// SPDX-License-Identifier: Apache-2.0
// Cuts and escapes the texts in messages, so that no input makes a message long or unreadable.
#include "engine/base/wording.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace tilewalk::config {

std::string shown(std::string_view text) {
    return "'" + shortened(text) + "'";
}

std::string shortened(std::string_view text) {
    constexpr std::size_t most = 60;
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
        if (i >= most && starts_character) {
            out += "...";
            break;
        }
        if (text[i] == '\n')
            out += "\\n";
        else if (text[i] == '\t')
            out += "\\t";
        else if (text[i] == '\r')
            out += "\\r";
        else if (static_cast<unsigned char>(text[i]) < 0x20 || text[i] == 0x7f)
            out += '?';
        else
            out += text[i];
    }
    return out;
}

std::string about(double number) {
    return number >= 1000 ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
}

std::string shown(double number) {
    std::array<char, 40> text{};
    const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), number);
    return std::string(text.data(), end);
}

}  // namespace tilewalk::config
