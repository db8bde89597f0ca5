// SPDX-License-Identifier: Apache-2.0
// The library's products as text for people, in the words of their YAML files.
#include <algorithm>
#include <charconv>

#include "engine/base/wording.h"
#include "engine/reading/library.h"
#include "products/dates/date.h"
#include "products/language/product.h"
#include "tilewalk/products.h"

namespace tilewalk {

namespace {

using language::parameter;

std::string text_of(double x) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}
std::string text_of(bool x) {
    return x ? "true" : "false";
}
std::string text_of(const std::string& x) {
    return x;
}
std::string text_of(const dates::time_point& t) {
    const double* years = std::get_if<double>(&t.when);
    return years ? text_of(*years) : dates::to_string(t);
}
template <class Item>
std::string text_of(const std::vector<Item>& items) {
    std::string out;
    for (const auto& item : items) out += (out.empty() ? "" : ", ") + text_of(item);
    return "[" + out + "]";
}
std::string text_of(const dates::schedule& s) {
    return text_of(s.times);
}

std::string type_text(const parameter& p) {
    const std::string type(language::to_string(p.type));
    return p.per.empty() ? type : type + " per " + p.per;
}

std::string range_text(const parameter& p) {
    std::string out;
    const auto add = [&](const std::string& part, const char* between) {
        out += (out.empty() ? "" : between) + part;
    };
    for (const auto& choice : p.choices) add(choice, " | ");
    const auto bound = [&](const char* sign, const std::optional<double>& at) {
        if (at) add(sign + text_of(*at), ", ");
    };
    bound("> ", p.above);
    bound(">= ", p.minimum);
    bound("< ", p.below);
    bound("<= ", p.maximum);
    return out;
}

product_parameter text_of(const parameter& p) {
    std::string left_out = p.optional ? "optional" : p.same_as;
    if (p.fallback) left_out = std::visit([](const auto& value) { return text_of(value); }, *p.fallback);
    return {p.name, type_text(p), range_text(p), std::move(left_out), p.help};
}

product_page text_of(const language::product& p) {
    product_page page;
    page.name = p.name;
    page.group = p.group;
    page.summary = p.summary;
    page.description = p.description;
    page.formula = p.formula;
    std::ranges::transform(p.parameters, std::back_inserter(page.parameters),
                           [](const parameter& of) { return text_of(of); });
    page.script = p.payoff.source();
    page.example = p.example;
    return page;
}

}  // namespace

std::vector<product_page> product_pages() {
    std::vector<product_page> pages;
    for (const auto& product : books::read_library()) pages.push_back(text_of(*product));
    std::ranges::sort(pages, {}, &product_page::name);
    return pages;
}

product_page load_product_page(const std::filesystem::path& file) {
    return text_of(*books::read_product(config::read_document(file).root));
}

product_page read_product_page(std::string_view yaml, const std::string& name) {
    return text_of(*books::read_product(config::read_document(yaml, name).root));
}

book example_book(const product_page& page) {
    const books::library_file& market = books::example_markets().front();
    std::string yaml = "trades:\n  - " + page.example + "\nmarket:\n";
    std::string_view lines = market.text;
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        if (lines.substr(0, end) == "...") break;  // the last line of the example market
        yaml += "  " + std::string(lines.substr(0, end)) + "\n";
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    return book::parse(yaml, "the example of " + page.name);
}

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known) {
    return language::nearest(wrong, known);
}

std::string joined(const std::vector<std::string>& words) {
    return config::joined(words);
}

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known) {
    return config::suggestion(wrong, known);
}

std::string alternatives(std::string_view wrong, const std::string& what,
                         const std::vector<std::string>& known) {
    return config::alternatives(wrong, what, known);
}

}  // namespace tilewalk
