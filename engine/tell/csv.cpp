// SPDX-License-Identifier: Apache-2.0
// Writes tables of columns as comma-separated values.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/crew.h"
#include "engine/base/shown_numbers.h"
#include "engine/tell/formats.h"

namespace tilewalk::report {

namespace {

void add_field(std::string& to, std::string_view text, const text_form& form) {
    // Spreadsheets run a text that begins with one of these characters as a formula, unless an apostrophe is
    // before it. A text that begins with an apostrophe gets one more, so that different texts stay different.
    const bool needs_apostrophe = form.spreadsheet_safe && !text.empty() &&
                                  std::string_view("=+-@\t\r'").find(text.front()) != std::string_view::npos;
    const bool padded = !text.empty() && ((!needs_apostrophe && text.front() == ' ') || text.back() == ' ');
    const std::string_view apostrophe = needs_apostrophe ? "'" : "";
    if (!padded && text.find_first_of(",\"\r\n") == std::string_view::npos) {
        to += apostrophe;
        to += text;
        return;
    }
    to += '"';
    to += apostrophe;
    for (const char c : text) {
        if (c == '"') to += '"';
        to += c;
    }
    to += '"';
}

}  // namespace

std::string csv_field(std::string_view text, const text_form& form) {
    std::string out;
    add_field(out, text, form);
    return out;
}

std::string csv_number(double x) {
    return is_figure(x) ? shortest(x) : "";
}

namespace {

class line_of_cell {
  public:
    line_of_cell(std::string& to, const text_form& form) : to_(to), form_(form) {}

    void operator()(std::monostate) const {}
    void operator()(std::string_view text) const { add_field(to_, text, form_); }
    void operator()(double x) const { add(x); }
    void operator()(std::int64_t n) const { add(n); }
    void operator()(bool is) const { to_ += is ? "true" : "false"; }

  private:
    template <class Number>
    void add(Number x) const {
        std::array<char, 32> text;
        to_.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), x).ptr);
    }

    std::string& to_;
    const text_form& form_;
};

std::string lines_of(const column_table& table, std::span<const std::size_t> columns, std::size_t first,
                     std::size_t rows, const text_form& form) {
    std::string out;
    const line_of_cell add(out, form);
    for (std::size_t row = first; row < first + rows; ++row) {
        for (const std::size_t column : columns) {
            if (column != columns.front()) out += ',';
            std::visit(add, table.at(row, column));
        }
        out += '\n';
    }
    return out;
}

}  // namespace

void csv(std::ostream& out, const column_table& table, const text_form& form) {
    std::vector<std::size_t> columns;
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
        if (!table.columns[k].is_in_csv) continue;
        out << (columns.empty() ? "" : ",") << table.columns[k].name;
        columns.push_back(k);
    }
    out << '\n';
    constexpr std::size_t rows_at_once = 256, pieces_at_once = 256, worth_threads = 4;
    for (std::size_t first = 0; first < table.rows; first += rows_at_once * pieces_at_once) {
        const std::size_t left = table.rows - first;
        std::vector<std::string> pieces(std::min(pieces_at_once, (left + rows_at_once - 1) / rows_at_once));
        const int threads = pieces.size() < worth_threads ? 1 : threads::asked_or_cores(form.threads);
        const auto write_piece = [&](int, std::uint64_t piece) {
            const std::size_t begin = piece * rows_at_once;
            pieces[piece] =
                lines_of(table, columns, first + begin, std::min(rows_at_once, left - begin), form);
        };
        threads::for_each(pieces.size(), threads, nullptr, write_piece, {});
        for (const std::string& piece : pieces) out << piece;
    }
}

}  // namespace tilewalk::report
