// SPDX-License-Identifier: Apache-2.0
#include "engine/config/accuracy.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace tilewalk::config {

namespace {

struct number_with_unit {
    double number = 0;
    std::string_view unit;
};

// A finite number above 0, and what stands behind it.
std::optional<number_with_unit> read(std::string_view text) {
    number_with_unit out;
    const char* const last = text.data() + text.size();
    const auto [end, code] = std::from_chars(text.data(), last, out.number);
    if (code != std::errc() || !std::isfinite(out.number) || out.number <= 0) return std::nullopt;
    out.unit = {end, static_cast<std::size_t>(last - end)};
    return out;
}

}  // namespace

std::optional<accuracy> accuracy_of(std::string_view text) {
    const auto found = read(text);
    if (!found) return std::nullopt;
    if (found->unit.empty()) return accuracy{found->number, false, false};
    if (found->unit == "bp") return accuracy{found->number, true, false};
    if (found->unit == " total") return accuracy{found->number, false, true};
    return std::nullopt;
}

std::optional<double> share_of(std::string_view text) {
    const auto found = read(text);
    if (!found || !found->unit.empty() || found->number <= 0.5 || found->number >= 1) return std::nullopt;
    return found->number;
}

std::optional<double> seconds_of(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, double>, 4> units{
        {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}}};
    const auto found = read(text);
    if (!found) return std::nullopt;
    for (const auto& [name, size] : units)
        if (found->unit == name) return found->number * size;
    return std::nullopt;
}

}  // namespace tilewalk::config
