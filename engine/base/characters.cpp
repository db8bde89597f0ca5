// SPDX-License-Identifier: Apache-2.0
#include "engine/base/characters.h"

#include <algorithm>
#include <array>

#include "engine/base/columns.h"

namespace tilewalk::report {

namespace {

struct range {
    char32_t first, last;
};

// Characters that take no column: combining marks, joiners, variation selectors, vowels and finals of Hangul
// written in parts, skin tones.
constexpr std::array combining{
    range{0x0300, 0x036F},   range{0x0483, 0x0489},   range{0x0591, 0x05BD},   range{0x05BF, 0x05BF},
    range{0x05C1, 0x05C2},   range{0x05C4, 0x05C5},   range{0x05C7, 0x05C7},   range{0x0610, 0x061A},
    range{0x064B, 0x065F},   range{0x0670, 0x0670},   range{0x06D6, 0x06DC},   range{0x06DF, 0x06E4},
    range{0x06E7, 0x06E8},   range{0x06EA, 0x06ED},   range{0x0711, 0x0711},   range{0x0730, 0x074A},
    range{0x07A6, 0x07B0},   range{0x07EB, 0x07F3},   range{0x0816, 0x0819},   range{0x081B, 0x0823},
    range{0x0825, 0x0827},   range{0x0829, 0x082D},   range{0x0859, 0x085B},   range{0x08D3, 0x08E1},
    range{0x08E3, 0x0902},   range{0x093A, 0x093A},   range{0x093C, 0x093C},   range{0x0941, 0x0948},
    range{0x094D, 0x094D},   range{0x0951, 0x0957},   range{0x0962, 0x0963},   range{0x0981, 0x0981},
    range{0x09BC, 0x09BC},   range{0x09C1, 0x09C4},   range{0x09CD, 0x09CD},   range{0x09E2, 0x09E3},
    range{0x0A01, 0x0A02},   range{0x0A3C, 0x0A3C},   range{0x0A41, 0x0A51},   range{0x0A70, 0x0A71},
    range{0x0A81, 0x0A82},   range{0x0ABC, 0x0ABC},   range{0x0AC1, 0x0AC8},   range{0x0ACD, 0x0ACD},
    range{0x0B01, 0x0B01},   range{0x0B3C, 0x0B3C},   range{0x0B3F, 0x0B3F},   range{0x0B41, 0x0B44},
    range{0x0B4D, 0x0B56},   range{0x0B82, 0x0B82},   range{0x0BC0, 0x0BC0},   range{0x0BCD, 0x0BCD},
    range{0x0C3E, 0x0C40},   range{0x0C46, 0x0C56},   range{0x0CBC, 0x0CBC},   range{0x0CCC, 0x0CCD},
    range{0x0D41, 0x0D44},   range{0x0D4D, 0x0D4D},   range{0x0DCA, 0x0DCA},   range{0x0DD2, 0x0DD6},
    range{0x0E31, 0x0E31},   range{0x0E34, 0x0E3A},   range{0x0E47, 0x0E4E},   range{0x0EB1, 0x0EB1},
    range{0x0EB4, 0x0EBC},   range{0x0EC8, 0x0ECE},   range{0x0F18, 0x0F19},   range{0x0F35, 0x0F35},
    range{0x0F37, 0x0F37},   range{0x0F39, 0x0F39},   range{0x0F71, 0x0F7E},   range{0x0F80, 0x0F84},
    range{0x0F86, 0x0F87},   range{0x0F8D, 0x0FBC},   range{0x102D, 0x1030},   range{0x1032, 0x1037},
    range{0x1039, 0x103A},   range{0x103D, 0x103E},   range{0x1058, 0x1059},   range{0x1160, 0x11FF},
    range{0x135D, 0x135F},   range{0x1712, 0x1714},   range{0x17B4, 0x17B5},   range{0x17B7, 0x17BD},
    range{0x17C6, 0x17C6},   range{0x17C9, 0x17D3},   range{0x180B, 0x180E},   range{0x1AB0, 0x1AFF},
    range{0x1DC0, 0x1DFF},   range{0x200B, 0x200F},   range{0x2060, 0x2064},   range{0x20D0, 0x20F0},
    range{0x302A, 0x302D},   range{0x3099, 0x309A},   range{0xA66F, 0xA672},   range{0xA674, 0xA67D},
    range{0xA69E, 0xA69F},   range{0xA6F0, 0xA6F1},   range{0xA8C4, 0xA8C5},   range{0xA8E0, 0xA8F1},
    range{0xD7B0, 0xD7FB},   range{0xFB1E, 0xFB1E},   range{0xFE00, 0xFE0F},   range{0xFE20, 0xFE2F},
    range{0xFEFF, 0xFEFF},   range{0x1D167, 0x1D169}, range{0x1D17B, 0x1D182}, range{0x1F3FB, 0x1F3FF},
    range{0xE0001, 0xE007F}, range{0xE0100, 0xE01EF},
};

// Characters that take two columns: wide or full-width by UAX #11, and emoji shown as pictures.
constexpr std::array wide{
    range{0x1100, 0x115F},   range{0x231A, 0x231B},   range{0x2329, 0x232A},   range{0x23E9, 0x23EC},
    range{0x23F0, 0x23F0},   range{0x23F3, 0x23F3},   range{0x25FD, 0x25FE},   range{0x2614, 0x2615},
    range{0x2648, 0x2653},   range{0x267F, 0x267F},   range{0x2693, 0x2693},   range{0x26A1, 0x26A1},
    range{0x26AA, 0x26AB},   range{0x26BD, 0x26BE},   range{0x26C4, 0x26C5},   range{0x26CE, 0x26CE},
    range{0x26D4, 0x26D4},   range{0x26EA, 0x26EA},   range{0x26F2, 0x26F3},   range{0x26F5, 0x26F5},
    range{0x26FA, 0x26FA},   range{0x26FD, 0x26FD},   range{0x2705, 0x2705},   range{0x270A, 0x270B},
    range{0x2728, 0x2728},   range{0x274C, 0x274C},   range{0x274E, 0x274E},   range{0x2753, 0x2755},
    range{0x2757, 0x2757},   range{0x2795, 0x2797},   range{0x27B0, 0x27B0},   range{0x27BF, 0x27BF},
    range{0x2B1B, 0x2B1C},   range{0x2B50, 0x2B50},   range{0x2B55, 0x2B55},   range{0x2E80, 0x303E},
    range{0x3041, 0x3247},   range{0x3250, 0x4DBF},   range{0x4E00, 0xA4C6},   range{0xA960, 0xA97C},
    range{0xAC00, 0xD7A3},   range{0xF900, 0xFAFF},   range{0xFE10, 0xFE19},   range{0xFE30, 0xFE6B},
    range{0xFF01, 0xFF60},   range{0xFFE0, 0xFFE6},   range{0x16FE0, 0x18CFF}, range{0x1AFF0, 0x1B2FF},
    range{0x1F004, 0x1F004}, range{0x1F0CF, 0x1F0CF}, range{0x1F18E, 0x1F18E}, range{0x1F191, 0x1F19A},
    range{0x1F200, 0x1F202}, range{0x1F210, 0x1F23B}, range{0x1F240, 0x1F248}, range{0x1F250, 0x1F251},
    range{0x1F260, 0x1F265}, range{0x1F300, 0x1F320}, range{0x1F32D, 0x1F335}, range{0x1F337, 0x1F37C},
    range{0x1F37E, 0x1F393}, range{0x1F3A0, 0x1F3CA}, range{0x1F3CF, 0x1F3D3}, range{0x1F3E0, 0x1F3F0},
    range{0x1F3F4, 0x1F3F4}, range{0x1F3F8, 0x1F43E}, range{0x1F440, 0x1F440}, range{0x1F442, 0x1F4FC},
    range{0x1F4FF, 0x1F53D}, range{0x1F54B, 0x1F54E}, range{0x1F550, 0x1F567}, range{0x1F57A, 0x1F57A},
    range{0x1F595, 0x1F596}, range{0x1F5A4, 0x1F5A4}, range{0x1F5FB, 0x1F64F}, range{0x1F680, 0x1F6C5},
    range{0x1F6CC, 0x1F6CC}, range{0x1F6D0, 0x1F6D2}, range{0x1F6D5, 0x1F6D7}, range{0x1F6DC, 0x1F6DF},
    range{0x1F6EB, 0x1F6EC}, range{0x1F6F4, 0x1F6FC}, range{0x1F7E0, 0x1F7EB}, range{0x1F7F0, 0x1F7F0},
    range{0x1F90C, 0x1F93A}, range{0x1F93C, 0x1F945}, range{0x1F947, 0x1F9FF}, range{0x1FA70, 0x1FAFF},
    range{0x20000, 0x2FFFD}, range{0x30000, 0x3FFFD},
};

constexpr char32_t joiner = 0x200D, picture_selector = 0xFE0F;
constexpr range flag_letters{0x1F1E6, 0x1F1FF};

template <std::size_t count>
constexpr bool is_sorted(const std::array<range, count>& ranges) {
    for (std::size_t i = 0; i < count; ++i) {
        if (ranges[i].first > ranges[i].last) return false;
        if (i > 0 && ranges[i - 1].last >= ranges[i].first) return false;
    }
    return true;
}
static_assert(is_sorted(combining) && is_sorted(wide));

template <std::size_t count>
bool is_in(const std::array<range, count>& ranges, char32_t c) {
    const auto after = std::ranges::upper_bound(ranges, c, {}, &range::first);
    return after != ranges.begin() && c <= std::prev(after)->last;
}

bool is_flag_letter(char32_t c) {
    return flag_letters.first <= c && c <= flag_letters.last;
}

struct character {
    char32_t code = 0;
    std::size_t bytes = 1;
};

character first_of(std::string_view utf8) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(utf8[i]); };
    const unsigned lead = byte(0);
    const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (bytes == 1 || bytes > utf8.size()) return {lead, 1};
    char32_t code = lead & (0xFFU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return {lead, 1};
        code = code << 6U | (byte(i) & 0x3FU);
    }
    return {code, bytes};
}

}  // namespace

std::vector<std::string_view> clusters(std::string_view utf8) {
    std::vector<std::string_view> out;
    char32_t before = 0;
    bool is_half_flag = false;  // the first of a flag's two letters was read
    for (std::size_t at = 0; at < utf8.size();) {
        const character c = first_of(utf8.substr(at));
        const bool ends_flag = is_half_flag && is_flag_letter(c.code);
        if (!out.empty() && (before == joiner || ends_flag || is_in(combining, c.code))) {
            out.back() = {out.back().data(), out.back().size() + c.bytes};
        } else {
            out.push_back(utf8.substr(at, c.bytes));
        }
        is_half_flag = !ends_flag && is_flag_letter(c.code);
        before = c.code;
        at += c.bytes;
    }
    return out;
}

std::size_t cluster_width(std::string_view cluster) {
    const character first = first_of(cluster);
    if (is_in(combining, first.code)) return 0;
    if (is_in(wide, first.code)) return 2;
    if (is_flag_letter(first.code)) return cluster.size() > first.bytes ? 2 : 1;
    // The variation selector for pictures makes a narrow character two columns wide.
    for (std::size_t at = first.bytes; at < cluster.size();) {
        const character c = first_of(cluster.substr(at));
        if (c.code == picture_selector) return 2;
        at += c.bytes;
    }
    return 1;
}

std::size_t width(std::string_view utf8) {
    const bool is_plain =
        std::ranges::all_of(utf8, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (is_plain) return utf8.size();
    std::size_t columns = 0;
    for (const std::string_view cluster : clusters(utf8)) columns += cluster_width(cluster);
    return columns;
}

}  // namespace tilewalk::report
