// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text/time_reader.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/base/numbers.h"
#include "engine/base/wording.h"
#include "tilewalk/bounds.h"

namespace tilewalk::config {
namespace {

// Limit on times, longer than any curve or trade. Keeps out mistyped amounts, and dates as serial numbers.
constexpr double most_years = bounds::years;

[[noreturn]] void fail(const std::string& message) {
    throw error(error_kind::input, message);
}

// True for three groups of digits with a point, dash or slash between them: a date is meant.
bool looks_like_date(std::string_view text) {
    const auto separators = std::count_if(text.begin() + (text.empty() ? 0 : 1), text.end(),
                                          [](char c) { return c == '-' || c == '/' || c == '.'; });
    const bool only_date_characters = std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || c == '-' || c == '/' || c == '.';
    });
    return separators == 2 && only_date_characters;
}

bool has_iso_form(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
    return std::count_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) == 8;
}

[[noreturn]] void fail_as_date(const std::string& text) {
    if (has_iso_form(text)) fail("there is no day " + shown(text) + " between 1900-01-01 and 2299-12-31");
    fail("found " + shown(text) + ", expected a date as YYYY-MM-DD, such as 2026-03-31");
}

// Calls a reader of text, and throws its complaint again at the value's place. Readers themselves get no
// place, because finding it takes longer than reading a time.
template <class Placed, class Read>
auto told_by(const Placed& value, Read&& reads) {
    try {
        return reads();
    } catch (const error& e) {
        value.fail(e.message());
    }
}

// Returns a hint that says 6m or 1Y in years; empty for other texts.
std::string period_hint(std::string_view text) {
    if (text.empty()) return "";
    const auto count = plain_number(text.substr(0, text.size() - 1));
    if (!count) return "";
    for (const auto& [letters, a_year] :
         {std::pair<std::string_view, double>{"dD", 365}, {"wW", 365.0 / 7}, {"mM", 12}, {"yY", 1}}) {
        if (letters.find(text.back()) != std::string_view::npos) return "; write " + shown(*count / a_year);
    }
    return "";
}

}  // namespace

dates::date read_date(const std::string& text) {
    if (const auto day = dates::parse_date(text)) return *day;
    fail_as_date(text);
}

dates::time_point read_time_point(const std::string& text) {
    if (const auto day = dates::parse_date(text)) return {*day};
    if (looks_like_date(text)) fail_as_date(text);
    const std::optional<double> years = plain_number(text);
    if (!years) {
        const std::string period = period_hint(text);
        fail("found " + shown(text) +
             ", expected a date as YYYY-MM-DD or a number of years, such as 2026-03-31 or 0.25" +
             (period.empty() ? number_hint(text) : period));
    }
    if (std::abs(*years) > most_years) {
        fail("found " + shown(text) + ", a number of years must be between " + shown(-most_years) + " and " +
             shown(most_years) + "; a date is written YYYY-MM-DD");
    }
    return {*years};
}

dates::time_point read_time_point(const node& value) {
    if (!value.is_scalar()) {
        value.fail("found " + value.found() +
                   ", expected a date as YYYY-MM-DD or a number of years, such as 2026-03-31 or 0.25");
    }
    if (value.is_quoted()) return {read_date(value)};
    return told_by(value, [&] { return read_time_point(value.text()); });
}

dates::date read_date(const node& value) {
    if (!value.is_scalar()) {
        value.fail("found " + value.found() + ", expected a date as YYYY-MM-DD, such as 2026-03-31");
    }
    return told_by(value, [&] { return read_date(value.text()); });
}

dates::time_point read_time_point(const node::member& of) {
    return told_by(of, [&] { return read_time_point(of.key); });
}

dates::date read_date(const node::member& of) {
    return told_by(of, [&] { return read_date(of.key); });
}

}  // namespace tilewalk::config
