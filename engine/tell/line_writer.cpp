// SPDX-License-Identifier: Apache-2.0
#include "engine/tell/line_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

#include "tilewalk/rows.h"

namespace tilewalk::report {

void line_writer::flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(used_));
    used_ = 0;
}

// Returns room for `bytes` more bytes. The caller adds the number of bytes that it writes to `used_`.
char* line_writer::begin(std::size_t bytes) {
    if (room - used_ < bytes) flush();
    return buffer_.data() + used_;
}

void line_writer::separate() {
    if (!is_first_) text(",");
    is_first_ = false;
}

line_writer& line_writer::text(std::string_view text) {
    while (!text.empty()) {
        const std::size_t some = std::min(text.size(), room);
        std::copy_n(text.data(), some, begin(some));
        used_ += some;
        text.remove_prefix(some);
    }
    return *this;
}

line_writer& line_writer::field(std::string_view quoted) {
    separate();
    return text(quoted);
}

line_writer& line_writer::field(double x) {
    separate();
    if (!is_figure(x)) return text(absent_);
    char* const at = begin(longest_number);
    used_ += static_cast<std::size_t>(std::to_chars(at, at + longest_number, x).ptr - at);
    return *this;
}

line_writer& line_writer::field(double x, int decimals) {
    separate();
    if (!is_figure(x)) return text(absent_);
    char* const at = begin(longest_number);
    char* end = std::to_chars(at, at + longest_number, x, std::chars_format::fixed, decimals).ptr;
    if (*at == '-' && std::all_of(at + 1, end, [](char c) { return c == '0' || c == '.'; }))
        end = std::copy(at + 1, end, at);
    used_ += static_cast<std::size_t>(end - at);
    return *this;
}

line_writer& line_writer::field(std::size_t n) {
    separate();
    char* const at = begin(longest_number);
    used_ += static_cast<std::size_t>(std::to_chars(at, at + longest_number, n).ptr - at);
    return *this;
}

void line_writer::end_line() {
    text("\n");
    is_first_ = true;
}

line_writer& line_writer::json(double x) {
    if (!std::isfinite(x)) return text("null");
    char* const at = begin(longest_number);
    char* end = std::to_chars(at, at + longest_number, x).ptr;
    if (std::none_of(at, end, [](char c) { return c == '.' || c == 'e'; })) {
        *end++ = '.';
        *end++ = '0';
    }
    used_ += static_cast<std::size_t>(end - at);
    return *this;
}

}  // namespace tilewalk::report
