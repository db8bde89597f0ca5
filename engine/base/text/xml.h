// SPDX-License-Identifier: Apache-2.0
// The only reader of XML. Elements know their places, and are read one child of the root at a time. Strict,
// because files may come from anybody: no document type, only the five standard entities and numeric
// references, no text beside elements, limits on sizes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/error.h"

namespace tilewalk::config {

struct xml_element {
    struct attribute {
        std::string name, value;
        int line = 0, column = 0;
    };

    std::string name;
    std::string text;  // without blanks around it; empty if there are children
    int line = 0, column = 0;
    std::vector<attribute> attributes;
    std::vector<xml_element> children;
};

// Reads a text, which must outlive the reader.
class xml_reader {
  public:
    // Reads up to the root's start tag. `name` names the text in messages.
    xml_reader(std::string_view text, std::string name);

    // The root's name and attributes, without content.
    const xml_element& root() const { return root_; }
    // Reads the root's next child with all its content; false at the end of the document.
    bool next(xml_element& into);

    const std::string& file() const { return name_; }
    [[noreturn]] void fail(const xml_element& at, const std::string& message) const;

  private:
    struct position {
        int line = 1, column = 1;
    };

    void check_characters() const;
    bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }
    void step(std::size_t bytes);
    void spaces();
    void between_elements();
    void skip_past(std::string_view end, const char* what);
    std::string name();
    bool start_tag(xml_element& into);
    void content(xml_element& into, int depth);
    void end_tag(const xml_element& of);
    void append_text(std::string_view raw, std::string& to, std::size_t begin);
    std::size_t reference(std::string_view raw, std::string& to, std::size_t at) const;
    position here() const;
    position place_of(std::size_t at) const;
    [[noreturn]] void refuse(const std::string& message) const;
    [[noreturn]] void refuse_at(position where, const std::string& message) const;

    std::string_view text_;
    std::string name_;
    std::size_t at_ = 0, line_start_ = 0;
    int line_ = 1;
    xml_element root_;
    bool is_at_end_ = false;
    std::size_t children_ = 0;
    std::size_t values_ = 0;  // elements in the root's current child
};

}  // namespace tilewalk::config
