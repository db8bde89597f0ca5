// SPDX-License-Identifier: Apache-2.0
// The only reader of CSV (RFC 4180), with a header line. A last line "..." shows that the table is complete.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewalk/error.h"

namespace tilewalk::config {

// Reads a text whose bytes were checked (see checked_source), row by row.
class csv_reader {
  public:
    struct cell {
        std::string text;  // without quotes around it
        int line = 0, column = 0;
        bool is_quoted = false;
    };

    // `name` names the text in messages. Ignores a "#" before the first name of the header.
    csv_reader(std::string_view text, std::string name);

    const std::vector<cell>& header() const { return header_; }
    static constexpr std::size_t no_column = static_cast<std::size_t>(-1);
    std::size_t find(std::string_view column) const;

    // Reads the next row; false at the end. Skips empty lines.
    bool next();
    // Reads the next row as next() does, but allows it more or fewer cells than the header.
    bool next_of_any_length();
    const std::vector<cell>& row() const { return row_; }
    std::vector<cell> take_row() { return std::move(row_); }
    std::size_t rows() const { return rows_; }  // rows read so far

    // True if the line "..." ends the table. Valid once next() has returned false.
    bool has_end_marker() const { return has_end_marker_; }
    bool ends_in_line() const { return !text_.empty() && text_.back() != '\n'; }

    location where(const cell& of) const { return {name_, of.line, of.column}; }
    location here() const;  // place after the last byte read
    // Throw tilewalk::error (input) at a name of the header, at a cell of the current row, or at the row.
    [[noreturn]] void fail_header(std::size_t column, const std::string& message) const;
    [[noreturn]] void fail(std::size_t column, const std::string& message) const;
    [[noreturn]] void fail_row(const std::string& message) const;

  private:
    bool read_line(std::vector<cell>& into, std::size_t most_cells);
    void read_cell(cell& into);
    bool takes_line_end();
    void step(std::size_t bytes);
    std::string hint() const;  // "may be cut short" on an unfinished last line, else empty
    [[noreturn]] void refuse(const std::string& message) const;

    std::string_view text_;
    std::string name_;
    std::size_t at_ = 0, line_start_ = 0;
    int line_ = 1;
    std::vector<cell> header_, row_;
    std::size_t rows_ = 0;
    bool has_end_marker_ = false;
};

}  // namespace tilewalk::config
