// SPDX-License-Identifier: Apache-2.0
// Writes long files field by field into one buffer, without allocating a string for each number.
#pragma once

#include <array>
#include <cstddef>
#include <iosfwd>
#include <string_view>

namespace tilewalk::report {

class line_writer {
  public:
    explicit line_writer(std::ostream& out, std::string_view absent = {}) : out_(out), absent_(absent) {}
    line_writer(const line_writer&) = delete;
    line_writer& operator=(const line_writer&) = delete;
    ~line_writer() { flush(); }

    // Writes the text as it is: the caller must have quoted it if the format needs that.
    line_writer& text(std::string_view text);
    // Writes a field of CSV, after a comma unless it is the first of its line.
    line_writer& field(std::string_view quoted);
    line_writer& field(double x);                // shortest text that reads back with the same bits
    line_writer& field(double x, int decimals);  // writes 0 for -0
    line_writer& field(std::size_t n);
    void end_line();

    // Writes a number of JSON, always with a point or an exponent; null for an absent figure.
    line_writer& json(double x);

  private:
    static constexpr std::size_t room = std::size_t{1} << 16, longest_number = 400;

    char* begin(std::size_t bytes);
    void separate();
    void flush();

    std::ostream& out_;
    std::string_view absent_;
    std::array<char, room> buffer_;
    std::size_t used_ = 0;
    bool is_first_ = true;
};

}  // namespace tilewalk::report
