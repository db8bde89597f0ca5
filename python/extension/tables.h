// SPDX-License-Identifier: Apache-2.0
// Tables of columns, each one array in memory that Python, NumPy and Arrow look at without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "python/extension/module.h"

namespace tilewalk::python {

// Texts one behind another; that of row i ends at ends[i + 1].
struct texts {
    std::vector<std::int64_t> ends{0};
    std::string bytes;

    void add(std::string_view text) {
        bytes += text;
        ends.push_back(static_cast<std::int64_t>(bytes.size()));
    }
    std::string_view at(std::size_t row) const {
        const auto begin = static_cast<std::size_t>(ends[row]);
        return std::string_view(bytes).substr(begin, static_cast<std::size_t>(ends[row + 1]) - begin);
    }
};

// Texts of which there are few, by their numbers in a list of words.
class coded_texts {
  public:
    void add(std::string_view text);
    // Makes the codes as narrow as they can be; nothing is added after that.
    void finish();

    using codes =
        std::variant<std::vector<std::int32_t>, std::vector<std::int8_t>, std::vector<std::int16_t>>;
    const codes& of() const { return codes_; }
    const std::vector<std::string>& words() const { return words_; }

  private:
    codes codes_;
    std::vector<std::string> words_;
    std::unordered_map<std::string, std::int32_t> numbers_;
};

// In figures NaN stands for none; counts and flags can't say it, and their column does.
using figures = std::vector<double>;
using counts = std::vector<std::int64_t>;
using flags = std::vector<std::uint8_t>;

struct column {
    std::string name;
    std::variant<figures, counts, flags, texts, coded_texts> data;
    std::vector<std::uint8_t> absent{};  // 1 for each row without a count or a flag; empty if all have one
};

// Immutable once it is made.
struct table {
    std::vector<column> columns;
    std::size_t rows = 0;
};

// Fills a column of each row in turn: `get(row)` is a number, a truth or a text.
template <class Column, class Rows, class Get>
column column_of(std::string name, const Rows& rows, Get get) {
    Column data;
    if constexpr (requires { data.add(std::string_view()); }) {
        for (const auto& row : rows) data.add(get(row));
    } else {
        data.reserve(rows.size());
        for (const auto& row : rows) data.push_back(static_cast<typename Column::value_type>(get(row)));
    }
    if constexpr (requires { data.finish(); }) data.finish();
    return {std::move(name), std::move(data), {}};
}

nb::any object_of(std::shared_ptr<const table> made);

}  // namespace tilewalk::python
