// SPDX-License-Identifier: Apache-2.0
#include "engine/base/shown_numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tilewalk::report {

namespace {

// Has room for every double in fixed notation with as many decimals as are asked for here.
using buffer = std::array<char, 512>;

template <class... Form>
std::string written(double x, Form... form) {
    buffer text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), x, form...).ptr;
    return {text.data(), end};
}

std::string with_short_exponent(std::string text) {
    const auto e = text.find('e');
    if (e == std::string::npos) return text;
    const bool negative = text[e + 1] == '-';
    const auto first = text.find_first_not_of("+-0", e + 1);
    if (first == std::string::npos) return text.substr(0, e);
    return text.substr(0, e + 1) + (negative ? "-" : "") + text.substr(first);
}

int leading_power(double x) {
    return static_cast<int>(std::floor(std::log10(std::abs(x))));
}

}  // namespace

std::string shortest(double x) {
    return written(x);
}

std::string fixed(double x, int decimals) {
    return written(x, std::chars_format::fixed, decimals);
}

std::string significant(double x, int digits) {
    return with_short_exponent(written(x, std::chars_format::general, digits));
}

std::string justified(double x, double error) {
    if (!std::isfinite(x) || std::isinf(error)) return written(x);
    if (!(error > 0)) return significant(x, error == 0 ? 10 : digits_without_error);
    constexpr int most_digits = 12;
    const int decimals = 2 - leading_power(error);
    if (x != 0 && leading_power(x) + decimals >= most_digits) return significant(x, most_digits);
    if (decimals <= 10 && std::abs(x) < 1e15) return fixed(x, std::max(0, decimals));
    const int digits = x == 0 ? 0 : leading_power(x) + decimals;
    return with_short_exponent(written(x, std::chars_format::scientific, std::clamp(digits, 0, 16)));
}

std::string duration(double seconds) {
    if (seconds < 0.0995) return significant(seconds * 1e3, 2) + " ms";
    if (seconds < 0.9995) return fixed(seconds * 1e3, 0) + " ms";
    if (seconds < 59.95) return fixed(seconds, seconds < 9.995 ? 2 : 1) + " s";
    const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
    if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

std::string rate(double per_second) {
    return with_short_exponent(written(per_second, std::chars_format::scientific, 2));
}

std::string counted(std::uint64_t n, const std::string& noun) {
    return counted(n, noun, noun + "s");
}

std::string counted(std::uint64_t n, const std::string& one, const std::string& many) {
    return std::to_string(n) + " " + (n == 1 ? one : many);
}

}  // namespace tilewalk::report
