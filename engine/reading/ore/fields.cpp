// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/ore/fields.h"

#include <algorithm>

#include "engine/base/numbers.h"
#include "engine/base/wording.h"

namespace tilewalk::reading::ore {

using config::shown;
using config::xml_element;

namespace {

std::string tag(std::string_view name) {
    return "<" + config::shortened(name) + ">";
}

bool is_empty(const xml_element& of) {
    return of.text.empty() && of.children.empty() && of.attributes.empty();
}

}  // namespace

bool fields::has(std::string_view name) const {
    return std::ranges::any_of(of_->children,
                               [&](const xml_element& c) { return c.name == name && !is_empty(c); });
}

std::optional<fields> fields::find(std::string_view name) const {
    const xml_element* found = nullptr;
    for (const xml_element& child : of_->children) {
        if (child.name != name) continue;
        if (found != nullptr) fields(child, *read_).fail("found a second " + tag(name) + ", expected one");
        found = &child;
    }
    return found == nullptr ? std::nullopt : std::optional<fields>(fields(*found, *read_));
}

fields fields::at(std::string_view name) const {
    if (const auto found = find(name)) return *found;
    std::vector<std::string> there;
    for (const xml_element& child : of_->children) there.push_back(child.name);
    fail("found no " + tag(name) + " in " + tag(this->name()) + config::suggestion(name, there));
}

std::vector<fields> fields::all(std::string_view name) const {
    std::vector<fields> out;
    for (const xml_element& child : of_->children)
        if (child.name == name) out.emplace_back(child, *read_);
    return out;
}

std::optional<std::string> fields::attribute(std::string_view name) const {
    for (const auto& one : of_->attributes) {
        if (one.name != name) continue;
        read_->seen.insert(&one);
        return one.value;
    }
    return std::nullopt;
}

const std::string& fields::text() const {
    if (!of_->children.empty()) fail("found elements in " + tag(name()) + ", expected a text");
    return of_->text;
}

double fields::number() const {
    const auto read = config::plain_number(text());
    if (!read) fail_found("a number" + config::number_hint(text()));
    return *read;
}

dates::date fields::date() const {
    std::string iso = text();
    // ORE also accepts dates without hyphens, such as 20260115.
    if (iso.size() == 8 && std::ranges::all_of(iso, [](char c) { return c >= '0' && c <= '9'; }))
        iso = iso.substr(0, 4) + "-" + iso.substr(4, 2) + "-" + iso.substr(6);
    const auto read = dates::parse_date(iso);
    if (!read) fail_found("a date, such as 2026-01-15");
    return *read;
}

std::optional<std::string> fields::word(std::string_view name) const {
    const auto found = find(name);
    if (!found || found->text().empty()) return std::nullopt;
    return found->text();
}

std::optional<double> fields::number(std::string_view name) const {
    const auto found = find(name);
    if (!found || found->text().empty()) return std::nullopt;
    return found->number();
}

std::optional<dates::date> fields::date(std::string_view name) const {
    const auto found = find(name);
    if (!found || found->text().empty()) return std::nullopt;
    return found->date();
}

bool fields::truth(std::string_view name, bool otherwise) const {
    const auto found = find(name);
    if (!found || found->text().empty()) return otherwise;
    for (const std::string_view yes : {"true", "True", "TRUE", "Y", "Yes", "YES", "1"})
        if (found->text() == yes) return true;
    for (const std::string_view no : {"false", "False", "FALSE", "N", "No", "NO", "0"})
        if (found->text() == no) return false;
    found->fail_found("true or false");
}

std::string fields::need_word(std::string_view name) const {
    const fields found = at(name);
    if (found.text().empty()) found.fail_found("a text");
    return found.text();
}

double fields::need_number(std::string_view name) const {
    return at(name).number();
}

dates::date fields::need_date(std::string_view name) const {
    return at(name).date();
}

std::string fields::one_of(std::string_view name, meanings known) const {
    const fields found = at(name);
    std::vector<std::string> words;
    for (const auto& [word, meaning] : known) {
        if (found.text() == word) return std::string(meaning);
        words.emplace_back(word);
    }
    found.fail_found("one of " + config::joined(words) + config::suggestion(found.text(), words));
}

std::string fields::one_of(std::string_view name, meanings known, std::string_view otherwise) const {
    return has(name) ? one_of(name, known) : std::string(otherwise);
}

void fields::ignore(std::initializer_list<std::string_view> names) const {
    for (const xml_element& child : of_->children)
        if (std::ranges::find(names, child.name) != names.end()) read_->whole.insert(&child);
}

void fields::expect_all_read() const {
    for (const auto& attribute : of_->attributes) {
        if (read_->seen.contains(&attribute)) continue;
        throw error(error_kind::input,
                    "found the attribute " + shown(attribute.name) + " of " + tag(name()) +
                        ", which is not supported for this trade and may change its value",
                    {read_->file, attribute.line, attribute.column});
    }
    for (const xml_element& child : of_->children) {
        if (read_->whole.contains(&child) || is_empty(child)) continue;
        if (read_->seen.contains(&child)) {
            fields(child, *read_).expect_all_read();
            continue;
        }
        throw error(error_kind::input,
                    "found " + tag(child.name) + (child.text.empty() ? "" : " " + shown(child.text)) +
                        " in " + tag(name()) +
                        ", which is not supported for this trade and may change its value",
                    {read_->file, child.line, child.column});
    }
}

void fields::fail(const std::string& message) const {
    throw error(error_kind::input, message, where());
}

void fields::fail_found(const std::string& expected) const {
    fail("found " + tag(name()) + " " + (of_->text.empty() ? "with nothing in it" : shown(of_->text)) +
         ", expected " + expected);
}

}  // namespace tilewalk::reading::ore
