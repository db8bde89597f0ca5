// SPDX-License-Identifier: Apache-2.0
// Fields of a trade in ORE's XML, by name. A field that is not read throws, since it may change the value.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/text/xml.h"
#include "products/dates/date.h"
#include "tilewalk/error.h"

namespace tilewalk::reading::ore {

struct read_parts {
    std::string file;
    std::unordered_set<const void*> seen;
    std::unordered_set<const void*> whole;  // elements whose whole contents count as seen
};

class fields {
  public:
    fields(const config::xml_element& of, read_parts& read) : of_(&of), read_(&read) {
        read.seen.insert(&of);
    }

    const std::string& name() const { return of_->name; }
    location where() const { return {read_->file, of_->line, of_->column}; }
    bool has(std::string_view name) const;

    // The only child of this name. find() also returns an empty child; other functions treat it as missing.
    std::optional<fields> find(std::string_view name) const;
    fields at(std::string_view name) const;
    std::vector<fields> all(std::string_view name) const;
    std::optional<std::string> attribute(std::string_view name) const;

    const std::string& text() const;
    double number() const;
    dates::date date() const;

    // The value of a child; empty if the child is missing or has no text.
    std::optional<std::string> word(std::string_view name) const;
    std::optional<double> number(std::string_view name) const;
    std::optional<dates::date> date(std::string_view name) const;
    bool truth(std::string_view name, bool otherwise) const;
    // The value of a child that must be there: throws if it is missing or has no text.
    std::string need_word(std::string_view name) const;
    double need_number(std::string_view name) const;
    dates::date need_date(std::string_view name) const;
    using meanings = std::initializer_list<std::pair<std::string_view, std::string_view>>;
    std::string one_of(std::string_view name, meanings known) const;
    std::string one_of(std::string_view name, meanings known, std::string_view otherwise) const;

    // Counts these children as read, because they affect no value.
    void ignore(std::initializer_list<std::string_view> names) const;
    void expect_all_read() const;

    [[noreturn]] void fail(const std::string& message) const;
    // Throws "found <Style> 'Asian', expected ...".
    [[noreturn]] void fail_found(const std::string& expected) const;

  private:
    const config::xml_element* of_;
    read_parts* read_;
};

}  // namespace tilewalk::reading::ore
