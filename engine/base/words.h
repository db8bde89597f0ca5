// SPDX-License-Identifier: Apache-2.0
// Words that files have for formats, statuses and kinds of errors, in one place for writers and readers.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "engine/base/word_table.h"
#include "tilewalk/rows.h"

namespace tilewalk::report {

// The format that is written, and an older one that can still be read.
inline constexpr std::string_view json_format_name = "tilewalk-results-3";
inline constexpr std::string_view older_json_format_name = "tilewalk-results-2";

enum class told_status { priced, tolerance_not_met, failed };
inline constexpr std::array<std::pair<told_status, std::string_view>, 3> status_words{{
    {told_status::priced, "priced"},
    {told_status::tolerance_not_met, "tolerance not met"},
    {told_status::failed, "failed"},
}};
inline bool priced(const price_row& row) {
    return row.status == trade_status::priced;
}
inline told_status status_of(const price_row& row) {
    if (row.status == trade_status::failed) return told_status::failed;
    return row.misses_tolerance ? told_status::tolerance_not_met : told_status::priced;
}

inline std::string_view yes_or_no(bool is) {
    return is ? "true" : "false";
}

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

}  // namespace tilewalk::report
