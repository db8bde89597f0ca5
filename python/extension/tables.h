// SPDX-License-Identifier: Apache-2.0
// Tables of columns, each one array that Python, NumPy and Arrow share without a copy.
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

// Concatenated texts; the text of row i ends at ends[i + 1].
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

// Texts with few distinct values, as codes into a list of words.
class coded_texts {
  public:
    void add(std::string_view text);
    // Stores the codes in the narrowest type; add() may not be called afterwards.
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

// Missing figures are NaN; missing counts and flags are marked in column::absent.
using figures = std::vector<double>;
using counts = std::vector<std::int64_t>;
using flags = std::vector<std::uint8_t>;

struct column {
    std::string name;
    std::variant<figures, counts, flags, texts, coded_texts> data;
    std::vector<std::uint8_t> absent{};  // 1 for a missing count or flag; empty if none is missing
};

struct table {
    std::vector<column> columns;
    std::size_t rows = 0;
};

// Fills a column row by row; `get(row)` returns a number, truth or text.
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
