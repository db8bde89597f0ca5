// SPDX-License-Identifier: Apache-2.0
// The list of products, and the description of a single product, for people and for programs.
#include <algorithm>
#include <map>
#include <ostream>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/written_json.h"
#include "engine/tell/formats.h"
#include "tilewalk/printable.h"
#include "tilewalk/products.h"

namespace tilewalk {

namespace {

std::string indented(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const std::string line = printable(text.substr(0, end));
        out += (line.empty() ? "" : "    " + line) + '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

// Parameters as a table if `page_width` has room for all its cells, otherwise a paragraph for each.
std::string parameters_text(const std::vector<product_parameter>& parameters, std::size_t page_width) {
    report::columns table({{"parameter"}, {"type"}, {"range"}, {"default"}, {"meaning"}});
    std::string paragraphs;
    for (const auto& p : parameters) {
        const std::string starts = p.default_value.empty() ? "required" : printable(p.default_value);
        table.add({printable(p.name), printable(p.type), printable(p.range), starts, printable(p.help)});
        paragraphs += report::hanging(printable(p.name) + ": " + printable(p.type) +
                                          (p.range.empty() ? "" : ", " + printable(p.range)) +
                                          (p.default_value.empty() ? ", required" : ", default " + starts),
                                      page_width, 4) +
                      report::wrapped(printable(p.help), page_width, 4);
    }
    const std::string lines = table.text(page_width);
    for (std::size_t at = 0, end = 0; (end = lines.find('\n', at)) != std::string::npos; at = end + 1)
        if (report::width(std::string_view(lines).substr(at, end - at)) > page_width)
            return "parameters\n" + paragraphs;
    return lines;
}

std::string page_table(const product_page& page, const text_form& form) {
    const std::size_t page_width = report::page_width(form);
    std::string out = printable(page.name) + "\n" + std::string(report::width(page.name), '=') + "\n\n" +
                      report::wrapped(page.summary, page_width, 0);
    if (!page.description.empty()) out += "\n" + report::wrapped(page.description, page_width, 0);
    if (!page.formula.empty()) out += "\npays\n" + indented(page.formula);
    out += "\n" + parameters_text(page.parameters, page_width);
    out += "\nscript\n" + indented(page.script);
    if (!page.example.empty()) out += "\nexample trade\n" + indented(page.example);
    if (page.worth) {
        const price_row& of = *page.worth;
        out += "\nworth\n" +
               indented(report::justified(of.price, of.standard_error) + " " + of.currency + ", " +
                        (of.has_error() ? "standard error " + report::significant(of.standard_error, 3)
                                        : "no standard error") +
                        " over " + std::to_string(of.paths) +
                        " paths, in the market of configs/markets/demo.yaml as of " + page.worth_as_of);
    }
    return out;
}

std::string page_csv(const product_page& page, const text_form& form) {
    std::string out = "parameter,type,range,default,help\n";
    for (const auto& p : page.parameters)
        out += report::csv_field(p.name, form) + ',' + report::csv_field(p.type, form) + ',' +
               report::csv_field(p.range, form) + ',' + report::csv_field(p.default_value, form) + ',' +
               report::csv_field(p.help, form) + '\n';
    return out;
}

std::string worth_json(const product_page& page, const std::string& line) {
    if (!page.worth) return "";
    const price_row& of = *page.worth;
    return line + "\"worth\": {\"price\": " + report::json_number(of.price) +
           ", \"standard_error\": " + report::json_number(of.standard_error) +
           ", \"currency\": " + report::json_string(of.currency) +
           ", \"paths\": " + std::to_string(of.paths) +
           ", \"as_of\": " + report::json_string(page.worth_as_of) + "}";
}

std::string page_json(const product_page& page, const std::string& indent) {
    const auto member = [&](const char* name, const std::string& text, const char* gap) {
        return gap + ("\"" + std::string(name) + "\": ") + report::json_string(text);
    };
    const std::string line = ",\n" + indent + "  ";
    std::string parameters;
    for (const auto& p : page.parameters)
        parameters += (parameters.empty() ? "\n" : ",\n") + indent + "    {" + member("name", p.name, "") +
                      member("type", p.type, ", ") + member("range", p.range, ", ") +
                      member("default", p.default_value, ", ") + member("help", p.help, ", ") + "}";
    return "{\n" + indent + "  " + member("product", page.name, "") + line + member("group", page.group, "") +
           line + member("summary", page.summary, "") + line + member("description", page.description, "") +
           line + member("formula", page.formula, "") + line + "\"parameters\": [" + parameters +
           (parameters.empty() ? "]" : "\n" + indent + "  ]") + line + member("script", page.script, "") +
           line + member("example", page.example, "") + worth_json(page, line) + "\n" + indent + "}";
}

std::string list_table(const std::vector<product_page>& pages, const text_form& form) {
    std::map<std::string, report::columns> groups;
    for (const auto& page : pages) {
        const auto at = groups.try_emplace(page.group, report::columns({{"product"}, {"summary"}})).first;
        at->second.add({printable(page.name), printable(page.summary)});
    }
    std::string out;
    for (const auto& [group, table] : groups)
        out += (out.empty() ? "" : "\n") + (group.empty() ? "" : printable(group) + "\n\n") +
               table.text(form.columns);
    return out;
}

std::string list_csv(const std::vector<product_page>& pages, const text_form& form) {
    std::string out = "product,group,summary\n";
    for (const auto& page : pages)
        out += report::csv_field(page.name, form) + ',' + report::csv_field(page.group, form) + ',' +
               report::csv_field(page.summary, form) + '\n';
    return out;
}

std::string list_json(const std::vector<product_page>& pages) {
    std::string out;
    for (const auto& page : pages) out += (out.empty() ? "[\n  " : ",\n  ") + page_json(page, "  ");
    return out.empty() ? "[]" : out + "\n]";
}

}  // namespace

void write(std::ostream& out, const std::vector<product_page>& pages, output_format format,
           const text_form& form) {
    switch (format) {
        case output_format::table:
            out << list_table(pages, form);
            return;
        case output_format::csv:
            out << list_csv(pages, form);
            return;
        case output_format::json:
            out << list_json(pages) << '\n';
            return;
    }
}

void write(std::ostream& out, const product_page& page, output_format format, const text_form& form) {
    switch (format) {
        case output_format::table:
            out << page_table(page, form);
            return;
        case output_format::csv:
            out << page_csv(page, form);
            return;
        case output_format::json:
            out << page_json(page, "") << '\n';
            return;
    }
}

}  // namespace tilewalk
