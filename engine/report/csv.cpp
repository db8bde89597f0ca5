// SPDX-License-Identifier: Apache-2.0
// Results as comma-separated values: one header line, one line a trade, every number with all its bits.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/report/formats.h"
#include "engine/report/numbers.h"
#include "engine/report/row_fields.h"
#include "engine/threads/crew.h"

namespace tilewalk::report {

std::string csv_field(std::string_view text, const text_form& form) {
    std::string field(text);
    // Spreadsheets run what begins like this; a leading apostrophe makes it text. One that stands there
    // already gets another, so that no two texts become one.
    if (form.spreadsheet_safe && !field.empty() &&
        std::string_view("=+-@\t\r'").find(field.front()) != std::string_view::npos)
        field.insert(0, 1, '\'');
    const bool padded = !field.empty() && (field.front() == ' ' || field.back() == ' ');
    if (field.find_first_of(",\"\r\n") == std::string::npos && !padded) return field;
    std::string quoted = "\"";
    for (const char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
}

std::string csv_number(double x) {
    return is_figure(x) ? shortest(x) : "";
}

namespace {

void add(std::string& line, std::string_view field, bool& is_first) {
    if (!is_first) line += ',';
    is_first = false;
    line += field;
}

void add_line(std::string& to, const price_row& row, const text_form& form) {
    bool is_first = true;
    for (const row_field& field : row_fields())
        if (field.csv_text != nullptr) add(to, field.csv_text(row, form), is_first);
    to += '\n';
}

}  // namespace

std::string csv(const results& r, const text_form& form) {
    std::string out;
    bool is_first = true;
    for (const row_field& field : row_fields())
        if (field.csv_text != nullptr) add(out, field.csv, is_first);
    out += '\n';
    constexpr std::size_t rows_at_once = 256, worth_threads = 4;
    std::vector<std::string> pieces((r.rows.size() + rows_at_once - 1) / rows_at_once);
    const int threads = pieces.size() < worth_threads ? 1 : threads::asked_or_cores(form.threads);
    const auto write_piece = [&](int, std::uint64_t piece) {
        const std::size_t first = piece * rows_at_once;
        for (const price_row& row :
             std::span(r.rows).subspan(first).first(std::min(rows_at_once, r.rows.size() - first)))
            add_line(pieces[piece], row, form);
    };
    threads::for_each(pieces.size(), threads, nullptr, write_piece, {});
    std::size_t bytes = out.size();
    for (const std::string& piece : pieces) bytes += piece.size();
    out.reserve(bytes);
    for (const std::string& piece : pieces) out += piece;
    return out;
}

std::string greeks_csv(const results& r, const text_form& form) {
    std::string out;
    bool is_first = true;
    for (const greek_field& field : greek_fields())
        if (field.csv_text != nullptr) add(out, field.name, is_first);
    out += '\n';
    const auto add_row = [&](const greek_row& row) {
        is_first = true;
        for (const greek_field& field : greek_fields())
            if (field.csv_text != nullptr) add(out, field.csv_text(row, form), is_first);
        out += '\n';
    };
    std::ranges::for_each(r.greeks, add_row);
    std::ranges::for_each(r.greek_totals(), add_row);
    return out;
}

std::string totals_csv(const results& r, const text_form& form) {
    std::string out;
    bool is_first = true;
    for (const total_field& field : total_fields()) add(out, field.name, is_first);
    out += '\n';
    for (const auto& total : r.totals()) {
        is_first = true;
        for (const total_field& field : total_fields()) add(out, field.csv_text(total, form), is_first);
        out += '\n';
    }
    return out;
}

}  // namespace tilewalk::report
