// SPDX-License-Identifier: Apache-2.0
#include "engine/tell/page/markup.h"

#include <fmt/core.h>

#include <algorithm>

namespace tilewalk::page {

std::string element(std::string_view name, std::string_view markup, std::string_view attributes) {
    std::string out = "<" + std::string(name);
    if (!attributes.empty()) out += " " + std::string(attributes);
    return out + ">" + std::string(markup) + "</" + std::string(name) + ">\n";
}

std::string paragraph(std::string_view text) {
    return element("p", escaped(text));
}

std::string folded(std::string_view line, std::string_view markup, bool is_open) {
    return element("details", element("summary", escaped(line)) + std::string(markup),
                   is_open ? "open=\"open\"" : "");
}

namespace {

std::string_view class_of(table::of what) {
    switch (what) {
        case table::of::text:
            return " class=\"t\"";
        case table::of::pictures:
            return " class=\"p\"";
        default:
            return {};
    }
}

constexpr int no_number = -1;

// Width of a number from its point on, in halves of a digit; no_number if the cell is not a number.
int behind_point(std::string_view cell) {
    if (cell.starts_with('-')) cell.remove_prefix(1);
    const std::size_t whole = std::min(cell.find_first_not_of("0123456789"), cell.size());
    if (whole == 0) return no_number;
    cell.remove_prefix(whole);
    int room = 0;
    for (const char c : cell) {
        if ((c < '0' || c > '9') && c != '.' && c != 'e' && c != '-') return no_number;
        room += c == '.' || c == '-' ? 1 : 2;
    }
    return room;
}

}  // namespace

std::string rules_of_room() {
    std::string out;
    for (int room = 1; room <= most_room; ++room)
        out += fmt::format(".r{}{{padding-right:calc(.65rem + {}ch)}}\n", room, 0.5 * room);
    return out;
}

void table::add(const std::vector<std::string>& cells, std::string_view kind) {
    rows_.push_back({cells, std::string(kind)});
}

std::string table::text() const {
    std::string titles, rows;
    for (const auto& [title, what] : heads_)
        titles += "<th scope=\"col\"" + std::string(class_of(what)) + ">" + escaped(title) + "</th>";
    std::vector<int> widest(heads_.size());  // by column: the widest behind_point() of its cells
    for (const row& one : rows_)
        for (std::size_t i = 0; i < one.cells.size(); ++i)
            if (heads_[i].what == of::numbers) widest[i] = std::max(widest[i], behind_point(one.cells[i]));
    for (const row& one : rows_) {
        rows += one.kind.empty() ? "<tr>" : "<tr class=\"" + one.kind + "\">";
        for (std::size_t i = 0; i < one.cells.size(); ++i) {
            const int behind = heads_[i].what == of::numbers ? behind_point(one.cells[i]) : no_number;
            const int room = behind == no_number ? 0 : std::min(widest[i] - behind, most_room);
            if (i == 0)
                rows += "<th scope=\"row\">" + one.cells[i] + "</th>";
            else
                rows += "<td" +
                        (room > 0 ? " class=\"r" + std::to_string(room) + "\""
                                  : std::string(class_of(heads_[i].what))) +
                        ">" + one.cells[i] + "</td>";
        }
        rows += "</tr>\n";
    }
    return element("div",
                   element("table", "<thead><tr>" + titles + "</tr></thead>\n<tbody>\n" + rows + "</tbody>"),
                   "class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"" + escaped(name_) + "\"");
}

}  // namespace tilewalk::page
