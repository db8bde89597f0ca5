// SPDX-License-Identifier: Apache-2.0
// The fields of a trade in ORE's XML. They are asked for by name, and what nobody asked for is refused in the
// end: a field that is not known here may change the value of the trade.
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

// The elements and attributes of a trade that were read.
struct read_parts {
    std::string file;
    std::unordered_set<const void*> seen;   // elements and attributes
    std::unordered_set<const void*> whole;  // elements with all that is in them
};

class fields {
  public:
    fields(const config::xml_element& of, read_parts& read) : of_(&of), read_(&read) {
        read.seen.insert(&of);
    }

    const std::string& name() const { return of_->name; }
    location where() const { return {read_->file, of_->line, of_->column}; }
    bool has(std::string_view name) const;

    // The only child of this name. One that is empty is there for find(), and not for the others.
    std::optional<fields> find(std::string_view name) const;
    fields at(std::string_view name) const;
    std::vector<fields> all(std::string_view name) const;
    std::optional<std::string> attribute(std::string_view name) const;

    // This element, read.
    const std::string& text() const;
    double number() const;
    dates::date date() const;

    // A child, read; std::nullopt where there is none, or an empty one.
    std::optional<std::string> word(std::string_view name) const;
    std::optional<double> number(std::string_view name) const;
    std::optional<dates::date> date(std::string_view name) const;
    bool truth(std::string_view name, bool otherwise) const;
    // The same where there has to be one.
    std::string need_word(std::string_view name) const;
    double need_number(std::string_view name) const;
    dates::date need_date(std::string_view name) const;
    // The meaning of a child's word.
    using meanings = std::initializer_list<std::pair<std::string_view, std::string_view>>;
    std::string one_of(std::string_view name, meanings known) const;
    std::string one_of(std::string_view name, meanings known, std::string_view otherwise) const;

    // Children that change no value.
    void ignore(std::initializer_list<std::string_view> names) const;
    // Throws for the first part of this element that nobody read.
    void expect_all_read() const;

    [[noreturn]] void fail(const std::string& message) const;
    // "found <Style> 'Asian', expected ..."
    [[noreturn]] void fail_found(const std::string& expected) const;

  private:
    const config::xml_element* of_;
    read_parts* read_;
};

}  // namespace tilewalk::reading::ore
