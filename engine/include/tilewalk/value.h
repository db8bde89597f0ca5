// SPDX-License-Identifier: Apache-2.0
// YAML values in memory, for programs that build, read and change markets and books.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewalk {

// A YAML value. Mappings keep the order of their keys. A scalar is text; numbers become their shortest exact
// decimal.
class value {
  public:
    enum class shape : std::uint8_t { nothing, scalar, list, mapping };
    struct member;

    value();
    value(const value&);
    value(value&&) noexcept;
    value& operator=(const value&);
    value& operator=(value&&) noexcept;
    ~value();
    value(bool truth);
    value(double number);
    template <std::integral Integer>
    value(Integer number);
    value(std::string text);
    value(const char* text);

    static value list();
    static value list(std::vector<value> items);
    static value mapping();
    static value mapping(std::vector<member> members);
    // A scalar as a file has it. A quoted scalar is text, even if it looks like a number.
    static value scalar(std::string text, bool is_quoted);

    shape kind() const { return kind_; }
    bool is_nothing() const { return kind_ == shape::nothing; }
    bool is_scalar() const { return kind_ == shape::scalar; }
    bool is_list() const { return kind_ == shape::list; }
    bool is_mapping() const { return kind_ == shape::mapping; }
    bool is_quoted() const { return is_quoted_; }  // true for text that looks like another type

    // Accessors throw tilewalk::error (usage) if the value has another shape.
    const std::string& text() const;
    double number() const;
    const std::vector<value>& items() const;
    std::vector<value>& items();
    const std::vector<member>& members() const;
    std::vector<member>& members();
    const value* find(std::string_view key) const;  // null if there is none
    const value& at(std::string_view key) const;    // throws, naming the nearest key
    // Inserts a missing key at the end. A value without content becomes a mapping.
    value& operator[](std::string_view key);
    void erase(std::string_view key);

    bool operator==(const value&) const;

    // YAML of a list or mapping, which parse() reads back as the same value.
    std::string yaml() const;
    // Reads YAML by the rules and limits of files. `name` stands for the file in error messages.
    static value parse(std::string_view yaml, const std::string& name = "text");

  private:
    value(std::string text, bool is_quoted);

    shape kind_ = shape::nothing;
    bool is_quoted_ = false;
    std::string text_;
    std::vector<value> items_;
    std::vector<member> members_;
};

struct value::member {
    std::string key;
    value held;

    bool operator==(const member&) const;
};

template <std::integral Integer>
value::value(Integer number) : value(std::to_string(number), false) {}

}  // namespace tilewalk
