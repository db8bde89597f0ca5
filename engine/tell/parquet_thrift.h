// SPDX-License-Identifier: Apache-2.0
// The part of Thrift's compact protocol that a Parquet file uses in its page headers and footer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tilewalk::report {

// Appends n with seven bits in each byte, the lowest bits first.
inline void add_varint(std::string& to, std::uint64_t n) {
    for (; n >= 128; n >>= 7) to += static_cast<char>((n & 127) | 128);
    to += static_cast<char>(n);
}

// Writes a struct of Thrift. Fields must be added in the order of their numbers; bytes() ends the struct.
class thrift_struct {
  public:
    thrift_struct& i32(int field, std::int64_t n) { return number(field, 5, n); }
    thrift_struct& i64(int field, std::int64_t n) { return number(field, 6, n); }
    thrift_struct& text(int field, std::string_view text) {
        head(field, 8);
        add_text(text);
        return *this;
    }
    thrift_struct& within(int field, thrift_struct&& inner) {
        head(field, 12);
        bytes_ += std::move(inner).bytes();
        return *this;
    }
    // Fields that are lists: of structs, each made of an item; of texts; of 32-bit integers.
    template <class Items, class Make>
    thrift_struct& structs(int field, const Items& items, Make make) {
        list(field, 12, items.size());
        for (const auto& item : items) bytes_ += make(item).bytes();
        return *this;
    }
    template <class Items>
    thrift_struct& texts(int field, const Items& items) {
        list(field, 8, items.size());
        for (const auto& item : items) add_text(item);
        return *this;
    }
    template <class Items>
    thrift_struct& numbers(int field, const Items& items) {
        list(field, 5, items.size());
        for (const auto& item : items) add_zigzag(static_cast<std::int64_t>(item));
        return *this;
    }
    std::string bytes() && {
        bytes_ += '\0';
        return std::move(bytes_);
    }

  private:
    void head(int field, int type) {
        bytes_ += static_cast<char>((field - last_) << 4 | type);  // field numbers rise by less than 16
        last_ = field;
    }
    void list(int field, int type, std::size_t items) {
        head(field, 9);
        bytes_ += static_cast<char>((items < 15 ? items : 15) << 4 | static_cast<unsigned>(type));
        if (items >= 15) add_varint(bytes_, items);
    }
    thrift_struct& number(int field, int type, std::int64_t n) {
        head(field, type);
        add_zigzag(n);
        return *this;
    }
    void add_zigzag(std::int64_t n) {
        add_varint(bytes_, (static_cast<std::uint64_t>(n) << 1) ^ static_cast<std::uint64_t>(n >> 63));
    }
    void add_text(std::string_view text) {
        add_varint(bytes_, text.size());
        bytes_ += text;
    }

    std::string bytes_;
    int last_ = 0;
};

}  // namespace tilewalk::report
