// SPDX-License-Identifier: Apache-2.0
#include "engine/tell/page/figures.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "engine/base/shown_numbers.h"
#include "tilewalk/rows.h"

namespace tilewalk::page {

namespace {

// Numbers from 10^least_power up to, but not including, 10^large_power are written without a power of ten.
constexpr int least_power = -6, large_power = 9, largest_power = 15;

// The decimal exponent of x once rounded to `digits` digits: -1 for 0.0996 and two digits (0.10).
int power_of(double x, int digits) {
    std::array<char, 32> text;
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::scientific, digits - 1)
            .ptr;
    const std::string_view all(text.data(), static_cast<std::size_t>(end - text.data()));
    const std::size_t from = all.find('e') + (all[all.find('e') + 1] == '+' ? 2 : 1);
    int power = 0;
    std::from_chars(all.data() + from, all.data() + all.size(), power);
    return power;
}

bool is_plain(int power) {
    return power >= least_power && power < large_power;
}

std::string scientific(double x, int digits) {
    std::array<char, 64> text;
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::scientific, digits - 1)
            .ptr;
    const std::string all(text.data(), end);
    return all.substr(0, all.find('e') + 1) + std::to_string(power_of(x, digits));
}

}  // namespace

std::string value_text(double x, double error) {
    if (!std::isfinite(x) || std::isinf(error)) return report::shortest(x);
    if (error == 0) return rounded(x, 10);
    if (!(error > 0)) {
        const std::string text = report::significant(x, report::digits_without_error);
        double few = x;
        std::from_chars(text.data(), text.data() + text.size(), few);
        return rounded(few, report::digits_without_error);
    }
    constexpr int most_digits = 12;
    const int decimals = 1 - power_of(error, 2);
    if (x == 0) return decimals > most_digits ? "0" : report::fixed(x, std::max(0, decimals));
    const int power = power_of(x, most_digits);
    const int digits = std::clamp(power + 1 + decimals, 1, most_digits);
    const bool is_small = power < least_power && decimals > 2 - least_power;
    if (is_small || power >= largest_power) return scientific(x, digits);
    return report::fixed(x, std::max(0, std::min(decimals, most_digits - 1 - power)));
}

std::string error_text(double error) {
    if (!is_figure(error)) return {};
    if (error == 0 || !std::isfinite(error)) return report::shortest(error);
    const int power = power_of(error, 2);
    return is_plain(power) ? report::fixed(error, std::max(0, 1 - power)) : scientific(error, 2);
}

std::string interval_text(double low, double high, double error) {
    if (!is_figure(low) || !is_figure(high)) return {};
    return value_text(low, error) + " .. " + value_text(high, error);
}

std::string rounded(double x, int digits) {
    const std::string text = report::significant(x, digits);
    if (x == 0 || !std::isfinite(x) || !is_plain(power_of(x, digits))) return text;
    if (text.find('e') == std::string::npos) return text;
    std::string plain = report::fixed(x, std::max(0, digits - 1 - power_of(x, digits)));
    if (plain.find('.') != std::string::npos) {
        plain.erase(plain.find_last_not_of('0') + 1);
        if (plain.back() == '.') plain.pop_back();
    }
    return plain;
}

std::string exact(double x) {
    if (x == 0 || !std::isfinite(x) || !is_plain(power_of(x, 17))) return report::shortest(x);
    std::array<char, 64> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::fixed).ptr;
    return {text.data(), end};
}

}  // namespace tilewalk::page
