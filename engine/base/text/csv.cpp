// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text/csv.h"

#include <algorithm>
#include <utility>

#include "engine/base/wording.h"

namespace tilewalk::config {

namespace {

std::string cells(std::size_t number) {
    return std::to_string(number) + (number == 1 ? " cell" : " cells");
}

}  // namespace

csv_reader::csv_reader(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {
    if (text_.starts_with('#')) step(1);
    if (!read_line(header_, text_.size() + 1)) refuse("found nothing, expected a header line");
    const std::string& first = header_.front().text;
    if (header_.size() > 1) return;
    if (first.find(';') != first.npos || first.find('\t') != first.npos)
        fail_header(0, "found one name, expected several with commas between them");
}

std::size_t csv_reader::find(std::string_view column) const {
    const auto found = std::ranges::find(header_, column, &cell::text);
    return found == header_.end() ? no_column : static_cast<std::size_t>(found - header_.begin());
}

bool csv_reader::next() {
    if (!read_line(row_, header_.size())) return false;
    if (row_.size() < header_.size()) {
        throw error(error_kind::input,
                    "found " + cells(row_.size()) + ", expected " + std::to_string(header_.size()) +
                        ", one for each name of the header" + hint(),
                    here());
    }
    ++rows_;
    return true;
}

bool csv_reader::next_of_any_length() {
    if (!read_line(row_, text_.size() + 1)) return false;
    ++rows_;
    return true;
}

// Reads a line's cells, but not the end of the line. Returns false at the end of the text.
bool csv_reader::read_line(std::vector<cell>& into, std::size_t most_cells) {
    while (at_ < text_.size() && takes_line_end()) {
    }
    if (at_ == text_.size()) return false;
    const std::string_view line = text_.substr(at_, text_.find('\n', at_) - at_);
    if (line == "..." || line == "...\r") {
        has_end_marker_ = true;
        step(3);
        while (at_ < text_.size())
            if (!takes_line_end()) refuse("found text after the line '...', which ends the table");
        return false;
    }
    std::size_t read = 0;
    do {
        if (read == most_cells) {
            refuse("found more than " + cells(most_cells) + ", expected one for each name of the header" +
                   hint());
        }
        if (read == into.size()) into.emplace_back();
        read_cell(into[read++]);
        if (at_ == text_.size() || text_[at_] != ',') break;
        step(1);
    } while (true);
    into.resize(read);
    return true;
}

void csv_reader::read_cell(cell& into) {
    into.line = line_;
    into.column = here().column;
    into.text.clear();
    into.is_quoted = false;
    if (at_ == text_.size() || text_[at_] != '"') {
        const std::size_t end = std::min(text_.find_first_of(",\r\n\"", at_), text_.size());
        if (end < text_.size() && text_[end] == '"') {
            step(end - at_);
            refuse(
                "found a quote inside a cell, expected quotes around the whole cell and each quote inside it "
                "doubled");
        }
        into.text = text_.substr(at_, end - at_);
        step(end - at_);
        return;
    }
    into.is_quoted = true;
    step(1);
    while (true) {
        const std::size_t quote = text_.find('"', at_);
        if (quote == std::string_view::npos) {
            throw error(error_kind::input,
                        "found a cell in quotes that does not end, expected a closing quote" +
                            std::string(may_be_cut_short),
                        where(into));
        }
        into.text += text_.substr(at_, quote - at_);
        step(quote + 1 - at_);
        if (at_ == text_.size() || text_[at_] != '"') break;
        into.text += '"';
        step(1);
    }
    if (at_ < text_.size() && text_.find_first_of(",\r\n", at_) != at_)
        refuse("found text after a closing quote, expected a comma or the end of the line");
}

bool csv_reader::takes_line_end() {
    const std::size_t bytes = text_.substr(at_, 2) == "\r\n" ? 2 : text_.substr(at_, 1) == "\n" ? 1 : 0;
    step(bytes);
    return bytes > 0;
}

void csv_reader::step(std::size_t bytes) {
    for (const std::size_t end = at_ + bytes; at_ < end; ++at_) {
        if (text_[at_] != '\n') continue;
        ++line_;
        line_start_ = at_ + 1;
    }
}

location csv_reader::here() const {
    return {name_, line_, static_cast<int>(at_ - line_start_) + 1};
}

std::string csv_reader::hint() const {
    return text_.find('\n', at_) == std::string_view::npos ? std::string(may_be_cut_short) : "";
}

void csv_reader::refuse(const std::string& message) const {
    throw error(error_kind::input, message, here());
}

void csv_reader::fail_header(std::size_t column, const std::string& message) const {
    throw error(error_kind::input, message, where(header_[column]));
}

void csv_reader::fail(std::size_t column, const std::string& message) const {
    throw error(error_kind::input, message + hint(), where(row_[column]), shortened(header_[column].text));
}

void csv_reader::fail_row(const std::string& message) const {
    throw error(error_kind::input, message, where(row_.front()));
}

}  // namespace tilewalk::config
