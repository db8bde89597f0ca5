// SPDX-License-Identifier: Apache-2.0
#include "engine/page/markup.h"

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

}  // namespace

void table::add(const std::vector<std::string>& cells, std::string_view kind) {
    rows_ += kind.empty() ? "<tr>" : "<tr class=\"" + std::string(kind) + "\">";
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i == 0)
            rows_ += "<th scope=\"row\">" + cells[i] + "</th>";
        else
            rows_ += "<td" + std::string(class_of(heads_[i].what)) + ">" + cells[i] + "</td>";
    }
    rows_ += "</tr>\n";
}

std::string table::text() const {
    std::string titles;
    for (const auto& [title, what] : heads_)
        titles += "<th scope=\"col\"" + std::string(class_of(what)) + ">" + escaped(title) + "</th>";
    return element("div",
                   element("table", "<thead><tr>" + titles + "</tr></thead>\n<tbody>\n" + rows_ + "</tbody>"),
                   "class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"" + escaped(name_) + "\"");
}

}  // namespace tilewalk::page
