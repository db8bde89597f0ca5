// SPDX-License-Identifier: Apache-2.0
// Data pages of version 1 of Parquet's format, which every reader supports.
#include "engine/tell/parquet_pages.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/text/unicode.h"
#include "engine/tell/parquet_thrift.h"

namespace tilewalk::report {

namespace {

using parquet::encoding;

constexpr int data_page = 0, dictionary_page = 2;
constexpr std::size_t most_rows_of_page = 16384, most_bytes_of_page = std::size_t{1} << 20;
constexpr std::size_t most_bytes_of_words = std::size_t{1} << 20;

template <class Number>
void add_little_endian(std::string& to, Number n) {
    static_assert(std::endian::native == std::endian::little);
    to.append(reinterpret_cast<const char*>(&n), sizeof n);
}

bool is_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 128; });
}

// The least and greatest value of a column, in the order of its type. Texts are ordered by their bytes.
class range_of_values {
  public:
    void add(std::string_view text) { widen(texts_, text); }
    void add(double number) { widen(numbers_, number); }
    void add(std::int64_t count) { widen(counts_, count); }

    void tell(column_kind kind, column_chunk& to) const {
        constexpr std::size_t longest = 256;
        if (texts_ && texts_->least.size() <= longest && texts_->greatest.size() <= longest) {
            to.least = texts_->least;
            to.greatest = texts_->greatest;
        }
        // Readers may tell 0 from -0, so a range that ends at either has to contain both.
        if (numbers_) {
            to.least = plain(numbers_->least == 0 ? -0.0 : numbers_->least);
            to.greatest = plain(numbers_->greatest == 0 ? 0.0 : numbers_->greatest);
        }
        if (counts_) {
            to.least = plain(counts_->least, kind);
            to.greatest = plain(counts_->greatest, kind);
        }
    }

  private:
    template <class T>
    struct range {
        T least, greatest;
    };
    template <class T, class Value>
    static void widen(std::optional<range<T>>& in, const Value& by) {
        if (!in) in = range<T>{T(by), T(by)};
        if (by < in->least) in->least = by;
        if (by > in->greatest) in->greatest = by;
    }
    static std::string plain(double number) {
        std::string out;
        add_little_endian(out, number);
        return out;
    }
    static std::string plain(std::int64_t count, column_kind kind) {
        std::string out;
        if (kind == column_kind::date)
            add_little_endian(out, static_cast<std::int32_t>(count));
        else if (kind == column_kind::truth)
            add_little_endian(out, static_cast<std::uint8_t>(count));
        else
            add_little_endian(out, count);
        return out;
    }

    std::optional<range<std::string>> texts_;
    std::optional<range<double>> numbers_;
    std::optional<range<std::int64_t>> counts_;
};

void add_text(std::string& to, range_of_values& range, std::string_view text) {
    const std::string valid = is_ascii(text) ? std::string() : config::valid_utf8(text);
    if (!valid.empty()) text = valid;
    add_little_endian(to, static_cast<std::uint32_t>(text.size()));
    to += text;
    range.add(text);
}

std::string_view text_of(const cell& of) {
    const auto* own = std::get_if<std::string>(&of);
    return own != nullptr ? std::string_view(*own) : std::get<std::string_view>(of);
}

std::size_t equal_from(std::span<const std::uint32_t> values, std::size_t at, std::size_t most) {
    std::size_t end = at + 1;
    while (end < values.size() && end - at < most && values[end] == values[at]) ++end;
    return end - at;
}

// Appends numbers in Parquet's RLE / bit-packing hybrid: runs of equal numbers, and between them packed
// groups of eight.
void add_hybrid(std::string& to, std::span<const std::uint32_t> values, unsigned bits) {
    constexpr std::size_t group = 8;
    for (std::size_t at = 0; at < values.size();) {
        const std::size_t equal = equal_from(values, at, values.size());
        if (equal >= group || at + equal == values.size()) {
            add_varint(to, equal << 1);
            for (unsigned bit = 0; bit < bits; bit += 8) to += static_cast<char>(values[at] >> bit & 255);
            at += equal;
            continue;
        }
        std::size_t end = at;
        do end = std::min(end + group, values.size());
        while (end < values.size() && equal_from(values, end, group) < group);
        const std::size_t groups = (end - at + group - 1) / group;
        add_varint(to, groups << 1 | 1);
        std::uint64_t waiting = 0;
        unsigned used = 0;
        for (std::size_t k = at; k < at + groups * group; ++k) {
            waiting |= std::uint64_t{k < end ? values[k] : 0} << used;
            for (used += bits; used >= 8; used -= 8, waiting >>= 8) to += static_cast<char>(waiting & 255);
        }
        at = end;
    }
}

void add_page(std::string& to, int type, int head_field, thrift_struct&& head, std::string_view body) {
    const auto bytes = static_cast<std::int64_t>(body.size());
    thrift_struct page;
    page.i32(1, type).i32(2, bytes).i32(3, bytes).within(head_field, std::move(head));
    to += std::move(page).bytes();
    to += body;
}

class pages {
  public:
    pages(column_chunk& to, encoding as) : to_(to), as_(as) {}

    std::string& begin_value() {
        levels_.push_back(1);
        return values_;
    }
    void add_truth(bool is) {
        if (truths_ % 8 == 0) values_ += '\0';
        if (is) values_.back() = static_cast<char>(values_.back() | 1 << truths_ % 8);
        ++truths_;
        levels_.push_back(1);
    }
    void add_word(std::uint32_t number) {
        words_.push_back(number);
        levels_.push_back(1);
    }
    void add_none() {
        levels_.push_back(0);
        ++to_.absent;
    }
    void end_row(unsigned bits_of_words) {
        if (levels_.size() >= most_rows_of_page || values_.size() >= most_bytes_of_page) end(bits_of_words);
    }
    void end(unsigned bits_of_words) {
        if (levels_.empty()) return;
        std::string levels, body;
        add_hybrid(levels, levels_, 1);
        add_little_endian(body, static_cast<std::uint32_t>(levels.size()));
        body += levels;
        if (as_ == encoding::rle_dictionary) {
            body += static_cast<char>(bits_of_words);
            add_hybrid(body, words_, bits_of_words);
        } else {
            body += values_;
        }
        thrift_struct head;
        head.i32(1, static_cast<std::int64_t>(levels_.size()));
        head.i32(2, static_cast<int>(as_));
        head.i32(3, static_cast<int>(encoding::rle)).i32(4, static_cast<int>(encoding::rle));
        add_page(to_.bytes, data_page, 5, std::move(head), body);
        levels_.clear();
        words_.clear();
        values_.clear();
        truths_ = 0;
    }

  private:
    column_chunk& to_;
    encoding as_;
    std::vector<std::uint32_t> levels_, words_;
    std::string values_;
    std::size_t truths_ = 0;
};

struct rows_of_column {
    const column_table& table;
    std::size_t column, first, rows;

    template <class F>
    void for_each(F f) const {
        for (std::size_t row = first; row < first + rows; ++row) f(table.at(row, column));
    }
};

struct hash_of_text {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// A dictionary of a column's texts, and by row the index of its text; size() is 0 if it would not save space.
class word_list {
  public:
    static constexpr std::uint32_t none = 0xffffffff;

    explicit word_list(const rows_of_column& of) {
        bool are_few = true;
        by_row.reserve(of.rows);
        of.for_each([&](const cell& value) {
            if (!are_few) return;
            by_row.push_back(std::holds_alternative<std::monostate>(value) ? none
                                                                           : number_of(text_of(value)));
            are_few = page.size() <= most_bytes_of_words && numbers_.size() <= of.rows / 2 + 1;
        });
        if (!are_few) numbers_.clear();
    }
    std::size_t size() const { return numbers_.size(); }
    unsigned bits() const { return std::max(1U, static_cast<unsigned>(std::bit_width(size() - 1))); }

    std::vector<std::uint32_t> by_row;
    std::string page;
    range_of_values range;

  private:
    std::uint32_t number_of(std::string_view text) {
        const auto found = numbers_.find(text);
        if (found != numbers_.end()) return found->second;
        add_text(page, range, text);
        const auto next = static_cast<std::uint32_t>(numbers_.size());
        return numbers_.emplace(text, next).first->second;
    }

    std::unordered_map<std::string, std::uint32_t, hash_of_text, std::equal_to<>> numbers_;
};

void add_words(const word_list& words, column_chunk& to) {
    thrift_struct head;
    head.i32(1, static_cast<std::int64_t>(words.size())).i32(2, static_cast<int>(encoding::plain));
    add_page(to.bytes, dictionary_page, 7, std::move(head), words.page);
    to.dictionary_bytes = to.bytes.size();
    pages out(to, encoding::rle_dictionary);
    for (const std::uint32_t number : words.by_row) {
        if (number == word_list::none) {
            out.add_none();
        } else {
            out.add_word(number);
        }
        out.end_row(words.bits());
    }
    out.end(words.bits());
    words.range.tell(column_kind::text, to);
}

void add_plain(const rows_of_column& of, column_kind kind, column_chunk& to) {
    pages out(to, encoding::plain);
    range_of_values range;
    const auto add = [&](auto number) { add_little_endian(out.begin_value(), number); };
    of.for_each([&](const cell& value) {
        if (std::holds_alternative<std::monostate>(value)) {
            out.add_none();
        } else {
            switch (kind) {
                case column_kind::text:
                    add_text(out.begin_value(), range, text_of(value));
                    break;
                case column_kind::number:
                    add(std::get<double>(value));
                    range.add(std::get<double>(value));
                    break;
                case column_kind::count:
                    add(std::get<std::int64_t>(value));
                    range.add(std::get<std::int64_t>(value));
                    break;
                case column_kind::date:
                    add(static_cast<std::int32_t>(std::get<std::int64_t>(value)));
                    range.add(std::get<std::int64_t>(value));
                    break;
                case column_kind::truth:
                    out.add_truth(std::get<bool>(value));
                    range.add(std::int64_t{std::get<bool>(value)});
                    break;
            }
        }
        out.end_row(0);
    });
    out.end(0);
    range.tell(kind, to);
}

}  // namespace

parquet::physical physical_of(column_kind kind) {
    switch (kind) {
        case column_kind::text:
            return parquet::physical::byte_array;
        case column_kind::number:
            return parquet::physical::real64;
        case column_kind::count:
            return parquet::physical::int64;
        case column_kind::truth:
            return parquet::physical::boolean;
        case column_kind::date:
            return parquet::physical::int32;
    }
    return parquet::physical::byte_array;
}

column_chunk chunk_of(const column_table& table, std::size_t column, std::size_t first, std::size_t rows) {
    const rows_of_column of{table, column, first, rows};
    const column_kind kind = table.columns[column].kind;
    column_chunk out;
    if (kind == column_kind::text) {
        if (const word_list words(of); words.size() > 0) {
            add_words(words, out);
            return out;
        }
    }
    add_plain(of, kind, out);
    return out;
}

}  // namespace tilewalk::report
