// SPDX-License-Identifier: Apache-2.0
// Refuses spellings that other YAML readers take for numbers, and suggests the number meant.
#include "engine/base/numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include "engine/base/wording.h"

namespace tilewalk::config {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string in_small_letters(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

struct scanned {
    double value = 0;
    std::errc status = std::errc::invalid_argument;
};

scanned scan(std::string_view text) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) return {};
    }
    // Refuse the words "inf" and "nan", which from_chars would take.
    const std::size_t first = text.starts_with('-') ? 1 : 0;
    if (first >= text.size() || !(text[first] == '.' || is_digit(text[first]))) return {};
    scanned read;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), read.value);
    if (end == text.data() + text.size()) read.status = status;
    return read;
}

// Returns position and count of needless zeros: to some readers 010 is ten, to others eight.
std::pair<std::size_t, std::size_t> leading_zeros(std::string_view text) {
    const std::size_t first = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    std::size_t zeros = 0;
    while (first + zeros + 1 < text.size() && text[first + zeros] == '0' && is_digit(text[first + zeros + 1]))
        ++zeros;
    return {first, zeros};
}

std::optional<std::int64_t> whole_in_base(std::string_view digits, int base) {
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    constexpr std::int64_t most = std::int64_t{1} << 53;
    if (status != std::errc{} || end != digits.data() + digits.size() || value < 0 || value > most) return {};
    return value;
}

// Returns 0x1F, 0o17 or 0b101 in decimal; empty for other texts.
std::string in_other_base(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) text.remove_prefix(1);
    for (const auto& [prefix, base] : {std::pair<std::string_view, int>{"0x", 16}, {"0o", 8}, {"0b", 2}}) {
        if (!in_small_letters(text.substr(0, 2)).starts_with(prefix)) continue;
        const auto value = whole_in_base(text.substr(2), base);
        if (value) return (is_negative ? "-" : "") + std::to_string(*value);
    }
    return "";
}

// Returns the number that YAML 1.1 reads 1:30:00 as, in base 60; empty for other texts.
std::string in_base_60(std::string_view text) {
    if (text.find(':') == std::string_view::npos) return "";
    double value = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t colon = rest.find(':');
        const std::string_view part = rest.substr(0, colon);
        const bool is_digits =
            !part.empty() && part.size() <= 6 && std::all_of(part.begin(), part.end(), is_digit);
        if (!is_digits) return "";
        value = 60 * value + static_cast<double>(*whole_in_base(part, 10));
        if (colon == std::string_view::npos) return shown(value);
        rest.remove_prefix(colon + 1);
    }
    return "";
}

// Returns the number without thousands separators, or with a decimal point for a comma; may be empty.
std::string without_separators(std::string_view text) {
    std::string bare;
    for (const char c : text) {
        if (c != '_' && c != ',' && c != ' ' && c != '\'') bare += c;
    }
    if (bare == text || scan(bare).status != std::errc{}) return "";
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos || comma != text.rfind(',') ||
        text.find('.') != std::string_view::npos) {
        const bool in_groups = text.find(' ') == std::string_view::npos || text.size() - text.rfind(' ') == 4;
        return in_groups ? bare : "";  // "5 6" is two numbers: no hint
    }
    std::string with_point(text);
    with_point[comma] = '.';
    if (!plain_number(with_point)) return bare;
    const bool could_be_thousands = text.size() - comma == 4;
    return could_be_thousands ? with_point + " or " + bare : with_point;
}

// Returns 20%, 25bp or 5k as a plain number. Shifts the exponent: 5.35% must be exactly the double 0.0535.
std::string without_unit(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, const char*>, 6> units{
        {{"%", "e-2"}, {"bps", "e-4"}, {"bp", "e-4"}, {"k", "e3"}, {"K", "e3"}, {"M", "e6"}}};
    for (const auto& [unit, power] : units) {
        if (!text.ends_with(unit)) continue;
        std::string_view bare = text.substr(0, text.size() - unit.size());
        while (bare.ends_with(' ')) bare.remove_suffix(1);
        const auto value = plain_number(std::string(bare) + power);
        if (value) return shown(*value);
    }
    return "";
}

// Returns the number in $100, 100USD or EUR 100; empty for other texts.
std::string without_currency(std::string_view text) {
    const auto bare = [](std::string_view rest) {
        while (rest.starts_with(' ')) rest.remove_prefix(1);
        while (rest.ends_with(' ')) rest.remove_suffix(1);
        return plain_number(rest) ? std::string(rest) : "";
    };
    for (const std::string_view sign : {"$", "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5"}) {
        if (text.starts_with(sign)) return bare(text.substr(sign.size()));
        if (text.ends_with(sign)) return bare(text.substr(0, text.size() - sign.size()));
    }
    const auto is_code = [](std::string_view code) {
        return code.size() == 3 &&
               std::all_of(code.begin(), code.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    };
    if (text.size() <= 3) return "";
    if (is_code(text.substr(0, 3))) return bare(text.substr(3));
    if (is_code(text.substr(text.size() - 3))) return bare(text.substr(0, text.size() - 3));
    return "";
}

// Returns a fraction such as 1/4, or a number with the minus sign of word processors, as a plain number.
std::string in_plain_signs(std::string_view text) {
    constexpr std::string_view minus = "\xe2\x88\x92";
    if (text.starts_with(minus)) {
        const std::string plain = "-" + std::string(text.substr(minus.size()));
        return plain_number(plain) ? plain : "";
    }
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return "";
    const auto above = plain_number(text.substr(0, slash)), below = plain_number(text.substr(slash + 1));
    if (!above || !below || !std::isfinite(*above / *below)) return "";
    return shown(*above / *below);
}

}  // namespace

std::optional<double> plain_number(std::string_view text) {
    const scanned read = scan(text);
    if (read.status != std::errc{} || leading_zeros(text).second > 0) return {};
    return read.value;
}

std::string number_hint(std::string_view text) {
    constexpr std::size_t longest = 100;
    if (text.empty() || text.size() > longest) return "";
    if (plain_number(text)) return "; write " + std::string(text);

    std::string word = in_small_letters(text);
    word.erase(0, word.find_first_not_of("+-."));
    if (word == "nan" || word == "inf" || word == "infinity") return "; it has to be finite";
    for (const char* truth : {"true", "false", "yes", "no", "on", "off", "y", "n"}) {
        if (word == truth) return "; a word for true or false is no number";
    }
    const scanned read = scan(text);
    if (read.status == std::errc::result_out_of_range) {
        const bool is_tiny = word.find("e-") != std::string::npos ||
                             (word.find('e') == std::string::npos && word.find_first_not_of("0.") > 300);
        return is_tiny ? "; it is too near to 0; write 0" : "; numbers go up to 1.797e308";
    }
    if (const auto [first, zeros] = leading_zeros(text); zeros > 0 && read.status == std::errc{}) {
        const std::string bare = std::string(text.substr(0, first)) + std::string(text.substr(first + zeros));
        const auto octal = whole_in_base(text.substr(first + zeros), 8);
        const bool is_ambiguous =
            octal && plain_number(bare) && static_cast<double>(*octal) != std::abs(*plain_number(bare));
        return "; write " + bare +
               (is_ambiguous ? ", or " + std::to_string(*octal) + " if it is in base 8" : "");
    }
    if (const std::string value = in_base_60(text); !value.empty())
        return "; write " + value + " if it is in base 60";
    for (const auto& meant : {in_other_base(text), without_unit(text), without_separators(text),
                              without_currency(text), in_plain_signs(text)}) {
        if (!meant.empty()) return "; write " + meant;
    }
    return "";
}

std::string boolean_hint(std::string_view text) {
    const std::string word = in_small_letters(text);
    for (const char* yes : {"true", "yes", "on", "y", "1"}) {
        if (word == yes) return "; write true";
    }
    for (const char* no : {"false", "no", "off", "n", "0"}) {
        if (word == no) return "; write false";
    }
    return "";
}

}  // namespace tilewalk::config
