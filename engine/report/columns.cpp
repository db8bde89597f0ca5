// SPDX-License-Identifier: Apache-2.0
// Setting cells in columns, and paragraphs in lines.
#include "engine/report/columns.h"

#include <algorithm>

namespace tilewalk::report {

namespace {

void strip_end(std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
}

}  // namespace

std::size_t width(std::string_view utf8) {
    return static_cast<std::size_t>(
        std::ranges::count_if(utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void align_points(std::vector<std::string>& cells) {
    const auto after_point = [](const std::string& cell) {
        const auto point = cell.find_first_of(".e");
        return point == std::string::npos ? 0 : cell.size() - point;
    };
    std::size_t before = 0, after = 0;
    for (const auto& cell : cells) {
        before = std::max(before, cell.size() - after_point(cell));
        after = std::max(after, after_point(cell));
    }
    for (auto& cell : cells) {
        const std::size_t tail = after_point(cell);
        cell.insert(0, before - (cell.size() - tail), ' ');
        cell.append(after - tail, ' ');
    }
}

std::string columns::text(std::size_t most) const {
    std::vector<std::vector<std::string>> by_column(heads_.size());
    for (std::size_t c = 0; c < heads_.size(); ++c) {
        for (const auto& row : rows_) by_column[c].push_back(row[c]);
        if (heads_[c].to == align::point) align_points(by_column[c]);
    }
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < heads_.size(); ++c) {
        widths.push_back(width(heads_[c].title));
        for (const auto& cell : by_column[c]) widths.back() = std::max(widths.back(), width(cell));
    }
    // What stands left of the last column, and what is left for that one.
    std::size_t indent = 0;
    for (std::size_t c = 0; c + 1 < heads_.size(); ++c) indent += widths[c] + 2;
    if (most > 0 && indent + widths.back() > most)
        widths.back() = std::max<std::size_t>(24, most - std::min(most, indent));
    std::string out;
    const auto set_line = [&](const auto& cell_of) {
        std::string line;
        for (std::size_t c = 0; c < heads_.size(); ++c) {
            if (c > 0) line += "  ";
            const std::string& cell = cell_of(c);
            if (width(cell) > widths[c]) {
                line += wrapped(cell, indent + widths[c], indent).substr(indent);
                line.pop_back();
                continue;
            }
            const std::string gap(widths[c] - width(cell), ' ');
            line += heads_[c].to == align::left ? cell + gap : gap + cell;
        }
        strip_end(line);
        out += line + '\n';
    };
    set_line([&](std::size_t c) -> const std::string& { return heads_[c].title; });
    std::vector<std::string> rules;
    for (const std::size_t w : widths) rules.emplace_back(w, '-');
    set_line([&](std::size_t c) -> const std::string& { return rules[c]; });
    for (std::size_t r = 0; r < rows_.size(); ++r)
        set_line([&](std::size_t c) -> const std::string& { return by_column[c][r]; });
    return out;
}

std::string wrapped(std::string_view text, std::size_t most, std::size_t indent) {
    std::string out;
    std::string line;
    const auto flush = [&] {
        out += (line.empty() ? "" : std::string(indent, ' ') + line) + '\n';
        line.clear();
    };
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(" \n"), text.size());
        const std::string_view word = text.substr(0, end);
        if (!line.empty() && indent + width(line) + 1 + width(word) > most) flush();
        if (!word.empty()) line += (line.empty() ? "" : " ") + std::string(word);
        if (end < text.size() && text[end] == '\n') flush();
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!line.empty()) flush();
    return out;
}

}  // namespace tilewalk::report
