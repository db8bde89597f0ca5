// SPDX-License-Identifier: Apache-2.0
#include "engine/base/columns.h"

#include <algorithm>

#include "engine/base/characters.h"
#include "engine/base/wording.h"
#include "tilewalk/printable.h"

namespace tilewalk::report {

namespace {

void strip_end(std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
}

// Returns the bytes of the clusters that fit into `most` columns; at least one cluster counts.
std::size_t bytes_within(std::string_view utf8, std::size_t most) {
    std::size_t bytes = 0, taken = 0;
    for (const std::string_view cluster : clusters(utf8)) {
        taken += width(cluster);
        if (taken > most && bytes > 0) break;
        bytes += cluster.size();
    }
    return bytes;
}

}  // namespace

std::string shortened(std::string_view utf8, std::size_t most) {
    constexpr std::string_view dots = "...";
    if (width(utf8) <= most) return std::string(utf8);
    // Two fifths of the columns show the end of the text, because numbered names differ there.
    const std::size_t room = most > dots.size() ? most - dots.size() : 0;
    const std::size_t behind = room * 2 / 5;
    const std::vector<std::string_view> all = clusters(utf8);
    std::size_t first = 0, last = all.size();
    std::size_t before = 0, after = 0;
    while (first < all.size() && before + width(all[first]) <= room - behind) before += width(all[first++]);
    while (last > first && after + width(all[last - 1]) <= behind) after += width(all[--last]);
    std::string out;
    for (std::size_t i = 0; i < first; ++i) out += all[i];
    out += dots.substr(0, std::min(most, dots.size()));
    for (std::size_t i = last; i < all.size(); ++i) out += all[i];
    return out;
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

std::size_t columns::width_of(std::size_t column) const {
    std::vector<std::string> cells;
    for (const auto& row : rows_) cells.push_back(row[column]);
    if (heads_[column].to == align::point) align_points(cells);
    std::size_t most = width(heads_[column].title);
    for (const auto& cell : cells) most = std::max(most, width(cell));
    return most;
}

std::vector<std::string> columns::fit(std::size_t most, const std::vector<measure>& measures,
                                      std::size_t last) {
    std::vector<std::string> left_out;
    std::vector<std::size_t> widths;
    std::size_t all = 0;
    for (std::size_t c = 0; c < heads_.size(); ++c) {
        widths.push_back(width_of(c));
        if (c + 1 == heads_.size()) widths.back() = std::min(widths.back(), last);
        all += widths.back() + (c == 0 ? 0 : 2);
    }
    for (const measure& m : measures) {
        if (all <= most) break;
        const auto found = std::ranges::find(heads_, m.title, &columns::head::title);
        if (found == heads_.end()) continue;
        const auto at = found - heads_.begin();
        const auto c = static_cast<std::size_t>(at);
        if (m.least > 0) {
            const std::size_t least = std::max(m.least, width(found->title));
            if (widths[c] <= least) continue;
            const std::size_t to = std::max(least, widths[c] - std::min(widths[c], all - most));
            for (auto& row : rows_) row[c] = shortened(row[c], to);
            all -= widths[c] - to;
            widths[c] = to;
            continue;
        }
        left_out.push_back(m.title);
        all -= widths[c] + 2;
        heads_.erase(found);
        widths.erase(widths.begin() + at);
        for (auto& row : rows_) row.erase(row.begin() + at);
    }
    return left_out;
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
    std::size_t indent = 0;
    for (std::size_t c = 0; c + 1 < heads_.size(); ++c) indent += widths[c] + 2;
    if (most > 0 && indent + widths.back() > most)
        widths.back() = std::max(least_last, most - std::min(most, indent));
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
        std::string_view word = text.substr(0, end);
        if (!line.empty() && indent + width(line) + 1 + width(word) > most) flush();
        while (indent + width(word) > most && indent + 1 < most) {
            const std::size_t bytes = bytes_within(word, most - indent);
            line = word.substr(0, bytes);
            word.remove_prefix(bytes);
            flush();
        }
        if (!word.empty()) line += (line.empty() ? "" : " ") + std::string(word);
        if (end < text.size() && text[end] == '\n') flush();
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!line.empty()) flush();
    return out;
}

std::string hanging(std::string_view text, std::size_t most, std::size_t indent) {
    if (width(text) <= most) return std::string(text) + '\n';
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const std::string lines = wrapped(text.substr(begin), most, indent);
    return std::string(begin, ' ') + lines.substr(std::min(indent, lines.size()));
}

std::string fitted(columns& table, std::size_t most, const std::vector<columns::measure>& measures) {
    const std::vector<std::string> left_out = table.fit(most, measures);
    std::string out = table.text();
    if (!left_out.empty())
        out +=
            hanging("left out in " + std::to_string(most) + " columns: " + config::joined(left_out), most, 2);
    return out;
}

}  // namespace tilewalk::report

namespace tilewalk {

std::string folded(std::string_view text, std::size_t columns) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
        std::size_t cut = line.size();
        if (report::width(line) > columns) {
            // Break at the last space that fits. Spaces before it are kept, because they may align columns.
            cut = line.rfind(' ', report::bytes_within(line, columns));
            if (cut == std::string_view::npos || cut < begin) cut = report::bytes_within(line, columns);
        }
        const std::size_t kept = line.substr(0, cut).find_last_not_of(' ') + 1;
        out += std::string(line.substr(0, cut == line.size() ? cut : kept)) + '\n';
        const std::string_view rest = line.substr(cut);
        out += report::wrapped(rest.substr(std::min(rest.find_first_not_of(' '), rest.size())), columns,
                               begin + 4);
    }
    return out;
}

}  // namespace tilewalk
