// SPDX-License-Identifier: Apache-2.0
// The words that files use for statuses and kinds of error, in one place for writing and reading.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "tilewalk/results.h"

namespace tilewalk::report {

inline constexpr std::array<std::pair<trade_status, std::string_view>, 2> status_words{{
    {trade_status::priced, "priced"},
    {trade_status::failed, "failed"},
}};

inline constexpr std::array<std::pair<error_kind, std::string_view>, 8> kind_words{{
    {error_kind::usage, "usage"},
    {error_kind::input, "input"},
    {error_kind::numeric, "numeric"},
    {error_kind::io, "io"},
    {error_kind::cancelled, "cancelled"},
    {error_kind::device, "device"},
    {error_kind::compile, "compile"},
    {error_kind::internal, "internal"},
}};

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
