// SPDX-License-Identifier: Apache-2.0
// Looks up values and their words, as files have them, in tables of pairs.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace tilewalk::report {

template <class Value, std::size_t count>
constexpr std::string_view word_of(const std::array<std::pair<Value, std::string_view>, count>& words,
                                   Value value) {
    for (const auto& [known, word] : words)
        if (known == value) return word;
    return {};
}

template <class Value, std::size_t count>
constexpr std::optional<Value> meaning_of(const std::array<std::pair<Value, std::string_view>, count>& words,
                                          std::string_view word) {
    for (const auto& [value, known] : words)
        if (known == word) return value;
    return {};
}

}  // namespace tilewalk::report
