// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/knobs.h"

#include <charconv>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "tilewalk/error.h"

namespace tilewalk::cuda {

std::string text_of(const knob& of, int value) {
    if (of.values.names.empty()) return std::to_string(value);
    return std::string(of.values.names[static_cast<std::size_t>(value)]);
}

std::optional<int> value_of(const knob& of, std::string_view text) {
    const auto& names = of.values.names;
    if (!names.empty()) {
        const auto found = std::ranges::find(names, text);
        if (found == names.end()) return std::nullopt;
        return static_cast<int>(found - names.begin());
    }
    int value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || !of.values.has(value)) return std::nullopt;
    return value;
}

std::vector<std::string> value_names(const knob& of) {
    std::vector<std::string> names(of.values.names.begin(), of.values.names.end());
    for (const int value : of.values.list) names.push_back(std::to_string(value));
    return names;
}

std::vector<std::string> knob_names() {
    std::vector<std::string> names;
    for (const knob& of : knob_table) names.emplace_back(of.name);
    return names;
}

std::optional<int> asked_value(const knob& of, const run_settings& settings) {
    return std::visit(
        [&](const auto member) -> std::optional<int> {
            const auto& said = settings.*member;
            if (!said) return std::nullopt;
            if constexpr (std::is_same_v<decltype(said), const std::optional<std::string>&>)
                return value_of(of, *said);  // empty for "auto"
            else
                return *said;
        },
        of.setting);
}

std::string own_arguments(std::span<const knob> table, const knob_set& of_feed, std::span<const int> values) {
    std::string out;
    for (std::size_t i = 0; i < table.size(); ++i)
        if (table[i].of == knob::part::feed && of_feed.has({i})) out += ", " + std::to_string(values[i]);
    return out;
}

void check(const knob& of, int value) {
    if (of.values.has(value)) return;
    throw error(error_kind::usage, of.values.is_range()
                                       ? fmt::format("{}: found {}, expected a number from {} to {}", of.name,
                                                     value, of.values.least, of.values.most)
                                       : fmt::format("{}: found {}, expected one of {}", of.name, value,
                                                     fmt::join(value_names(of), ", ")));
}

}  // namespace tilewalk::cuda
