// SPDX-License-Identifier: Apache-2.0
#include "engine/base/accuracy.h"

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

std::optional<number_with_unit> read(std::string_view text) {
    number_with_unit out;
    const char* const last = text.data() + text.size();
    const auto [end, code] = std::from_chars(text.data(), last, out.number);
    if (code != std::errc() || !std::isfinite(out.number) || out.number <= 0) return std::nullopt;
    out.unit = {end, static_cast<std::size_t>(last - end)};
    return out;
}

constexpr std::array<std::pair<std::string_view, double>, 4> units_of_time{
    {{"s", 1}, {"m", 60}, {"h", 3600}, {"", 1}}};

}  // namespace

std::optional<accuracy> accuracy_of(std::string_view text) {
    const auto found = read(text);
    if (!found) return std::nullopt;
    if (found->unit.empty()) return accuracy::amount(found->number);
    if (found->unit == "bp") return accuracy::basis_points(found->number);
    if (found->unit == " total") return accuracy::of_totals(found->number);
    return std::nullopt;
}

std::optional<double> share_of(std::string_view text) {
    const auto found = read(text);
    if (!found || !found->unit.empty() || found->number <= 0.5 || found->number >= 1) return std::nullopt;
    return found->number;
}

std::optional<std::chrono::duration<double>> duration_of(std::string_view text) {
    const auto found = read(text);
    if (!found) return std::nullopt;
    for (const auto& [name, size] : units_of_time)
        if (found->unit == name) return std::chrono::duration<double>(found->number * size);
    return std::nullopt;
}

std::string text_of(const accuracy& of) {
    return text_of(of.size) + (of.is_in_basis_points ? "bp" : "") + (of.is_of_totals ? " total" : "");
}

std::string text_of(double share) {
    std::array<char, 40> text{};
    const auto form = share >= 1e-6 && share < 1e15 ? std::chars_format::fixed : std::chars_format::general;
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), share, form).ptr};
}

std::string text_of(std::chrono::duration<double> time) {
    std::string out = text_of(time.count()) + "s";
    for (const auto& [name, size] : units_of_time) {
        const std::string text = text_of(time.count() / size) + std::string(name);
        if (!name.empty() && text.size() < out.size() && duration_of(text) == time) out = text;
    }
    return out;
}

}  // namespace tilewalk::config
