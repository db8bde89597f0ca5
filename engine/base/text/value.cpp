// SPDX-License-Identifier: Apache-2.0
#include "tilewalk/value.h"

#include <algorithm>
#include <array>

#include "engine/base/numbers.h"
#include "engine/base/text/document.h"
#include "engine/base/text/tree_value.h"
#include "engine/base/text/written.h"
#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk {
namespace {

std::string shown(const value& v) {
    switch (v.kind()) {
        case value::shape::nothing:
            return "nothing";
        case value::shape::list:
            return "a list";
        case value::shape::mapping:
            return "a mapping";
        case value::shape::scalar:
            break;
    }
    return config::shown(v.text());
}

[[noreturn]] void refuse(const value& found, const char* expected) {
    throw error(error_kind::usage, "found " + shown(found) + ", expected " + expected);
}

// True if the text would read back from a file as a number, null or a truth, unless it is quoted.
bool looks_like_more(const std::string& text) {
    static constexpr std::array<std::string_view, 7> words{"true", "false", "null", "Null", "NULL", "~", ""};
    return config::plain_number(text).has_value() || std::ranges::find(words, text) != words.end();
}

}  // namespace

value::value() = default;
value::value(const value&) = default;
value::value(value&&) noexcept = default;
value& value::operator=(const value&) = default;
value& value::operator=(value&&) noexcept = default;
value::~value() = default;

value::value(bool truth) : value(truth ? "true" : "false", false) {}

value::value(const char* text) : value(std::string(text)) {}

value::value(double number) : value(config::shown(number), false) {}

value::value(std::string text) : value(std::move(text), true) {}

value::value(std::string text, bool is_quoted)
    : kind_(shape::scalar), is_quoted_(is_quoted && looks_like_more(text)), text_(std::move(text)) {}

value value::scalar(std::string text, bool is_quoted) {
    return {std::move(text), is_quoted};
}

value value::list() {
    return list(std::vector<value>());
}

value value::mapping() {
    return mapping(std::vector<member>());
}

value value::list(std::vector<value> items) {
    value made;
    made.kind_ = shape::list;
    made.items_ = std::move(items);
    return made;
}

value value::mapping(std::vector<member> members) {
    value made;
    made.kind_ = shape::mapping;
    made.members_ = std::move(members);
    return made;
}

const std::string& value::text() const {
    if (kind_ != shape::scalar) refuse(*this, "a text");
    return text_;
}

double value::number() const {
    if (kind_ == shape::scalar && !is_quoted_) {
        if (const auto number = config::plain_number(text_)) return *number;
    }
    refuse(*this, "a number");
}

const std::vector<value>& value::items() const {
    if (kind_ != shape::list) refuse(*this, "a list");
    return items_;
}

std::vector<value>& value::items() {
    if (kind_ != shape::list) refuse(*this, "a list");
    return items_;
}

const std::vector<value::member>& value::members() const {
    if (kind_ != shape::mapping) refuse(*this, "a mapping");
    return members_;
}

std::vector<value::member>& value::members() {
    if (kind_ != shape::mapping) refuse(*this, "a mapping");
    return members_;
}

const value* value::find(std::string_view key) const {
    const auto at = std::ranges::find(members(), key, &member::key);
    return at == members_.end() ? nullptr : &at->held;
}

const value& value::at(std::string_view key) const {
    if (const value* found = find(key)) return *found;
    std::vector<std::string> known;
    for (const member& m : members_) known.push_back(m.key);
    throw error(error_kind::usage, "no key " + config::shown(key) +
                                       (known.empty() ? " in an empty mapping"
                                                      : config::alternatives(key, "known keys:", known)));
}

value& value::operator[](std::string_view key) {
    if (kind_ == shape::nothing) kind_ = shape::mapping;
    const auto at = std::ranges::find(members(), key, &member::key);
    if (at != members_.end()) return at->held;
    return members_.emplace_back(member{std::string(key), value()}).held;
}

void value::erase(std::string_view key) {
    std::erase_if(members(), [&](const member& m) { return m.key == key; });
}

bool value::operator==(const value& other) const {
    return kind_ == other.kind_ && is_quoted_ == other.is_quoted_ && text_ == other.text_ &&
           items_ == other.items_ && members_ == other.members_;
}

bool value::member::operator==(const member& other) const {
    return key == other.key && held == other.held;
}

std::string value::yaml() const {
    return config::written(*this);
}

value value::parse(std::string_view yaml, const std::string& name) {
    return config::value_of(config::parse(yaml, name));
}

value config::value_of(const node& root) {
    switch (root.kind()) {
        case node::shape::null:
            break;
        case node::shape::scalar:
            return value::scalar(root.text(), root.is_quoted());
        case node::shape::sequence: {
            std::vector<value> items;
            for (const node& item : root.items()) items.push_back(value_of(item));
            return value::list(std::move(items));
        }
        case node::shape::mapping: {
            std::vector<value::member> members;
            for (const node::member& m : root.members()) members.push_back({m.key, value_of(m.value)});
            return value::mapping(std::move(members));
        }
    }
    return {};
}

}  // namespace tilewalk
