// SPDX-License-Identifier: Apache-2.0
// Results as columns, and the bytes of Parquet files. The files are read by a reader of this test's own,
// written from the specification of the format alone.
#include "tilewalk/columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/results.h"
#include "tilewalk/rows.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::columns_test {
namespace {

// A value in Thrift's compact protocol: number, text, list, or struct with fields by number.
struct thrift {
    std::int64_t number = 0;
    std::string text{};
    std::vector<thrift> items{};
    std::map<int, thrift> fields{};

    const thrift& at(int field) const { return fields.at(field); }
    bool has(int field) const { return fields.contains(field); }
};

class bytes_reader {
  public:
    explicit bytes_reader(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}

    std::size_t at() const { return at_; }
    unsigned byte() { return static_cast<unsigned char>(bytes_.at(at_++)); }
    std::uint64_t varint() {
        std::uint64_t out = 0;
        for (unsigned shift = 0;; shift += 7) {
            const unsigned next = byte();
            out |= std::uint64_t{next & 127} << shift;
            if (next < 128) return out;
        }
    }
    std::string_view take(std::size_t count) {
        if (count > bytes_.size() - at_) throw std::out_of_range("bytes");
        at_ += count;
        return bytes_.substr(at_ - count, count);
    }
    template <class Number>
    Number little_endian() {
        Number out{};
        std::memcpy(&out, take(sizeof out).data(), sizeof out);
        return out;
    }
    thrift structure() {
        thrift out;
        int field = 0;
        for (unsigned head = byte(); head != 0; head = byte()) {
            field = (head >> 4) != 0 ? field + static_cast<int>(head >> 4) : static_cast<int>(zigzag());
            out.fields.emplace(field, value(head & 15));
        }
        return out;
    }
    std::vector<std::uint32_t> hybrid(std::size_t count, unsigned bits) {
        std::vector<std::uint32_t> out;
        while (out.size() < count) {
            const std::uint64_t head = varint();
            if ((head & 1) == 0) {
                std::uint32_t value = 0;
                for (unsigned bit = 0; bit < bits; bit += 8) value |= byte() << bit;
                out.insert(out.end(), head >> 1, value);
                continue;
            }
            std::vector<bool> all;
            for (std::uint64_t k = 0; k < (head >> 1) * bits; ++k) {
                const unsigned next = byte();
                for (unsigned bit = 0; bit < 8; ++bit) all.push_back((next >> bit & 1) != 0);
            }
            for (std::size_t k = 0; k < (head >> 1) * 8; ++k) {
                std::uint32_t value = 0;
                for (unsigned bit = 0; bit < bits; ++bit) value |= std::uint32_t{all[k * bits + bit]} << bit;
                out.push_back(value);
            }
        }
        EXPECT_LT(out.size(), count + 8);
        out.resize(count);
        return out;
    }

  private:
    std::int64_t zigzag() {
        const std::uint64_t n = varint();
        return static_cast<std::int64_t>(n >> 1) ^ -static_cast<std::int64_t>(n & 1);
    }
    thrift value(unsigned type) {
        thrift out;
        if (type == 5 || type == 6) {
            out.number = zigzag();
        } else if (type == 8) {
            out.text = take(varint());
        } else if (type == 9) {
            const unsigned head = byte();
            const std::uint64_t count = (head >> 4) < 15 ? head >> 4 : varint();
            for (std::uint64_t k = 0; k < count; ++k) out.items.push_back(value(head & 15));
        } else if (type == 12) {
            return structure();
        } else {
            throw std::runtime_error("a type that the writer has no use for: " + std::to_string(type));
        }
        return out;
    }

    std::string_view bytes_;
    std::size_t at_;
};

constexpr int boolean = 0, int32 = 1, int64 = 2, real64 = 5, byte_array = 6;

cell plain_value(bytes_reader& from, std::int64_t type) {
    if (type == real64) return from.little_endian<double>();
    if (type == int64) return from.little_endian<std::int64_t>();
    if (type == int32) return std::int64_t{from.little_endian<std::int32_t>()};
    return std::string(from.take(from.little_endian<std::uint32_t>()));
}

// Expects the least and the greatest of `values` in the statistics; texts are ordered by their bytes.
void expect_range(const thrift& statistics, std::int64_t type, std::span<const cell> values) {
    std::vector<cell> there;
    for (const cell& value : values)
        if (!std::holds_alternative<std::monostate>(value)) there.push_back(value);
    std::ranges::sort(there);  // values of one type
    const auto is_long = [](const cell& value) {
        const auto* text = std::get_if<std::string>(&value);
        return text != nullptr && text->size() > 256;
    };
    if (there.empty() || is_long(there.front()) || is_long(there.back())) {
        EXPECT_FALSE(statistics.has(5) || statistics.has(6));
        return;
    }
    ASSERT_TRUE(statistics.has(5) && statistics.has(6));
    for (const auto& [field, wanted] : {std::pair{6, there.front()}, {5, there.back()}}) {
        const std::string& bytes = statistics.at(field).text;
        bytes_reader from(bytes);
        if (type == byte_array) {
            EXPECT_EQ(bytes, std::get<std::string>(wanted));
        } else if (type == boolean) {
            EXPECT_EQ(from.byte(), std::get<bool>(wanted) ? 1U : 0U);
        } else {
            EXPECT_EQ(plain_value(from, type), wanted);
        }
        if (type != byte_array) {
            EXPECT_EQ(from.at(), bytes.size());
        }
    }
}

// Reads a column chunk, appends its values to `out`, and returns its number of pages.
std::size_t read_chunk(std::string_view file, const thrift& of, std::vector<cell>& out) {
    const std::int64_t type = of.at(1).number, count = of.at(5).number;
    const std::size_t before = out.size();
    const bool has_words = of.has(11);
    // Encodings of Parquet: levels by 3 (runs and groups), values and dictionary by 0 (plain), indices by 8.
    std::set<std::int64_t> encodings;
    for (const thrift& encoding : of.at(2).items) encodings.insert(encoding.number);
    EXPECT_EQ(encodings, (has_words ? std::set<std::int64_t>{0, 3, 8} : std::set<std::int64_t>{0, 3}));
    const auto begin = static_cast<std::size_t>(has_words ? of.at(11).number : of.at(9).number);
    bytes_reader at(file, begin);
    std::vector<cell> words;
    if (has_words) {
        const thrift head = at.structure();
        EXPECT_EQ(head.at(1).number, 2);
        const std::size_t end = at.at() + static_cast<std::size_t>(head.at(3).number);
        for (std::int64_t k = 0; k < head.at(7).at(1).number; ++k) words.push_back(plain_value(at, type));
        EXPECT_EQ(at.at(), end);
        EXPECT_EQ(at.at(), static_cast<std::size_t>(of.at(9).number));
    }
    std::size_t pages = 0;
    std::int64_t absent = 0;
    for (std::int64_t seen = 0; seen < count; ++pages) {
        const thrift head = at.structure();
        EXPECT_EQ(head.at(1).number, 0);
        EXPECT_EQ(head.at(2).number, head.at(3).number);
        const std::size_t end = at.at() + static_cast<std::size_t>(head.at(3).number);
        const auto rows = static_cast<std::size_t>(head.at(5).at(1).number);
        const std::int64_t encoding = head.at(5).at(2).number;
        EXPECT_EQ(encoding, has_words ? 8 : 0);
        const std::size_t end_of_levels = at.little_endian<std::uint32_t>() + at.at();
        const auto levels = at.hybrid(rows, 1);
        EXPECT_EQ(at.at(), end_of_levels);
        const auto there = static_cast<std::size_t>(std::count(levels.begin(), levels.end(), 1U));
        std::vector<std::uint32_t> numbers;
        if (has_words) {
            const unsigned bits = at.byte();
            numbers = at.hybrid(there, bits);
        }
        std::size_t next = 0;
        unsigned truths = 0;
        for (const std::uint32_t level : levels) {
            if (level == 0) {
                out.emplace_back();
                ++absent;
            } else if (has_words) {
                out.push_back(words.at(numbers[next++]));
            } else if (type == boolean) {
                if (next % 8 == 0) truths = at.byte();
                out.emplace_back((truths >> next++ % 8 & 1) != 0);
            } else {
                out.push_back(plain_value(at, type));
            }
        }
        EXPECT_EQ(at.at(), end);
        seen += static_cast<std::int64_t>(rows);
    }
    EXPECT_EQ(at.at() - begin, static_cast<std::size_t>(of.at(7).number));
    EXPECT_EQ(of.at(12).at(3).number, absent);
    expect_range(of.at(12), type, std::span(out).subspan(before));
    return pages;
}

struct read_file {
    thrift footer;
    std::vector<std::string> names;
    std::vector<std::vector<cell>> columns;
    std::size_t most_pages = 0;
};

read_file read(const std::string& file) {
    EXPECT_TRUE(file.starts_with("PAR1") && file.ends_with("PAR1"));
    const std::size_t bytes = bytes_reader(file, file.size() - 8).little_endian<std::uint32_t>();
    bytes_reader at(file, file.size() - 8 - bytes);
    read_file out{at.structure(), {}, {}};
    EXPECT_EQ(at.at(), file.size() - 8);
    const auto& schema = out.footer.at(2).items;
    EXPECT_EQ(schema.at(0).at(5).number, static_cast<std::int64_t>(schema.size()) - 1);
    for (std::size_t k = 1; k < schema.size(); ++k) {
        EXPECT_EQ(schema[k].at(3).number, 1) << "each may be absent";
        const std::int64_t type = schema[k].at(1).number;
        EXPECT_EQ(schema[k].has(6), type == byte_array || type == int32);
        if (type == byte_array) {
            EXPECT_TRUE(schema[k].at(6).number == 0 && schema[k].at(10).has(1));
        }
        if (type == int32) {
            EXPECT_TRUE(schema[k].at(6).number == 6 && schema[k].at(10).has(6));
        }
        out.names.push_back(schema[k].at(4).text);
    }
    out.columns.resize(out.names.size());
    std::int64_t rows = 0;
    for (const thrift& group : out.footer.at(4).items) {
        for (std::size_t k = 0; k < out.names.size(); ++k) {
            const thrift& chunk = group.at(1).items.at(k).at(3);
            EXPECT_EQ(chunk.at(3).items.at(0).text, out.names[k]);
            EXPECT_EQ(chunk.at(1).number, schema[k + 1].at(1).number);
            EXPECT_EQ(chunk.at(5).number, group.at(3).number);
            out.most_pages = std::max(out.most_pages, read_chunk(file, chunk, out.columns[k]));
        }
        rows += group.at(3).number;
    }
    EXPECT_EQ(out.footer.at(3).number, rows);
    return out;
}

std::string text_of(const cell& of) {
    if (const auto* own = std::get_if<std::string>(&of)) return *own;
    return std::string(std::get<std::string_view>(of));
}

bool same(const cell& a, const cell& b) {
    if (std::holds_alternative<double>(a) && std::holds_alternative<double>(b))
        return std::bit_cast<std::uint64_t>(std::get<double>(a)) ==
               std::bit_cast<std::uint64_t>(std::get<double>(b));
    const auto is_text = [](const cell& c) {
        return std::holds_alternative<std::string>(c) || std::holds_alternative<std::string_view>(c);
    };
    if (is_text(a) || is_text(b)) return is_text(a) && is_text(b) && text_of(a) == text_of(b);
    return a == b;
}

read_file checked(const column_table& table) {
    std::ostringstream out;
    write_parquet(out, table);
    read_file got = read(out.str());
    EXPECT_EQ(got.names.size(), table.columns.size());
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
        EXPECT_EQ(got.names[k], table.columns[k].name);
        EXPECT_EQ(got.columns[k].size(), table.rows);
        std::size_t wrong = 0;
        for (std::size_t row = 0; row < std::min(table.rows, got.columns[k].size()); ++row)
            wrong += same(got.columns[k][row], table.at(row, k)) ? 0u : 1u;
        EXPECT_EQ(wrong, 0u) << table.columns[k].name;
    }
    return got;
}

column_table made(std::size_t rows, std::function<cell(std::size_t, std::size_t)> at) {
    column_table out;
    out.columns = {{"text", column_kind::text},
                   {"number", column_kind::number},
                   {"count", column_kind::count},
                   {"truth", column_kind::truth},
                   {"date", column_kind::date}};
    out.rows = rows;
    out.at = std::move(at);
    return out;
}

// Random values and nulls, in runs of equal ones, with at most `words` different texts.
column_table random_table(std::size_t rows, unsigned seed, std::size_t words) {
    auto cells = std::make_shared<std::vector<cell>>();
    std::mt19937 draw(seed);
    std::vector<cell> last(5);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t k = 0; k < 5; ++k) {
            if (row == 0 || draw() % 3 != 0) {
                const auto n = static_cast<std::int64_t>(draw());
                const cell values[] = {
                    "w" + std::to_string(static_cast<std::size_t>(n) % words),
                    std::bit_cast<double>((std::uint64_t{draw()} << 32 | draw()) & ~(std::uint64_t{1} << 62)),
                    n - (std::int64_t{1} << 31), n % 2 == 0, n % 40000 - 20000};
                last[k] = draw() % 5 == 0 ? cell() : values[k];
            }
            cells->push_back(last[k]);
        }
    }
    return made(rows, [cells](std::size_t row, std::size_t k) { return (*cells)[row * 5 + k]; });
}

TEST(columns, are_read_back_from_parquet_to_the_bit) {
    // Numbers of rows around the sizes of a group of eight, a page and a row group.
    constexpr std::size_t sizes[] = {0, 1, 7, 8, 9, 16383, 16384, 16385, 131071, 131072, 131073, 300000};
    for (const std::size_t rows : sizes) {
        for (const std::size_t words :
             {std::size_t{1}, std::size_t{2}, std::size_t{300}, std::size_t{1} << 30}) {
            if (rows > 20000 && words == 2) continue;
            SCOPED_TRACE(testing::Message() << rows << " rows, " << words << " words");
            const read_file got = checked(random_table(rows, static_cast<unsigned>(rows + words), words));
            EXPECT_EQ(got.footer.at(4).items.size(), (rows + 131071) / 131072);
            EXPECT_GE(got.most_pages, std::min<std::size_t>(rows, 131072) / 16384);
        }
    }
}

TEST(columns, of_one_value_or_none_are_read_back) {
    const cell values[][5] = {{cell(), cell(), cell(), cell(), cell()},
                              {std::string_view(), -0.0, std::int64_t{0}, false, std::int64_t{0}},
                              {std::string(300, 'x'), std::numeric_limits<double>::denorm_min(),
                               std::numeric_limits<std::int64_t>::min(), true, std::int64_t{-719162}}};
    for (const auto& row : values) checked(made(1000, [&row](std::size_t, std::size_t k) { return row[k]; }));
}

TEST(columns, that_hold_long_texts_have_pages_of_bounded_size) {
    const std::string filler(3000, 'y');
    const read_file got = checked(made(2000, [&](std::size_t row, std::size_t k) -> cell {
        return k == 0 ? cell(filler + std::to_string(row)) : cell();
    }));
    EXPECT_GE(got.most_pages, 5u);
}

TEST(columns, hold_no_text_that_is_no_utf8) {
    std::ostringstream out;
    write_parquet(out, made(1, [](std::size_t, std::size_t k) -> cell {
                      return k == 0 ? cell(std::string_view("a\xc3\xa9\xff\xc3")) : cell();
                  }));
    EXPECT_EQ(text_of(read(out.str()).columns[0][0]), "a\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
}

price_row priced(const std::string& trade) {
    price_row row;
    row.trade = trade;
    row.currency = "USD";
    row.status = trade_status::priced;
    row.price = 0.1 + 0.2;
    row.paths = std::uint64_t{1} << 40;
    return row;
}

cell value(const column_table& of, std::size_t row, std::string_view name) {
    for (std::size_t k = 0; k < of.columns.size(); ++k)
        if (of.columns[k].name == name) return of.at(row, k);
    ADD_FAILURE() << "no column " << name;
    return {};
}

TEST(columns, of_results_have_none_where_there_is_no_figure) {
    results r;
    r.manifest.seed = 7;
    r.rows = {priced("a"), {}};
    r.rows[0].standard_error = no_figure;
    r.rows[0].remarks = {"one", "two"};
    r.rows[1].trade = "b";
    r.rows[1].message = "why";
    const column_table prices = price_columns(r);
    checked(prices);
    EXPECT_EQ(std::get<double>(value(prices, 0, "price")), 0.1 + 0.2);
    EXPECT_EQ(std::get<std::int64_t>(value(prices, 0, "paths")), std::int64_t{1} << 40);
    EXPECT_EQ(text_of(value(prices, 0, "remark")), "one; two");
    EXPECT_EQ(text_of(value(prices, 1, "message")), "why");
    for (const char* name : {"price", "value", "paths", "thin", "error_from", "effective_hits"})
        EXPECT_TRUE(std::holds_alternative<std::monostate>(value(prices, 1, name))) << name;
    EXPECT_TRUE(std::holds_alternative<std::monostate>(value(prices, 0, "standard_error")));
    EXPECT_EQ(nlohmann::json::parse(prices.manifest)["manifest"]["seed"], 7);
    EXPECT_EQ(total_columns(r).rows, 1u);

    r.greeks.resize(1);
    r.greeks[0].message = "why";
    const column_table greeks = greek_columns(r);
    checked(greeks);
    EXPECT_EQ(text_of(value(greeks, 0, "message")), "why");
    EXPECT_FALSE(greeks.columns.back().is_in_csv);

    r.rows[0].price = std::numeric_limits<double>::infinity();
    EXPECT_THROW(price_columns(r), error);
}

TEST(columns, of_gains_have_the_days_of_the_market) {
    scenario_results r;
    r.base.rows = {priced("a"), priced("b")};
    r.scenarios = {{"history", "d1", {}, 0, "1970-01-02", "2026-11-28"}, {"stress", "up"}};
    r.gains = {1, no_figure, -0.0, 4};
    r.errors = {0, no_figure, 0.5, 0};
    r.failures = {{0, 1, "late", error_kind::numeric}};
    const column_table gains = gain_columns(r);
    checked(gains);
    ASSERT_EQ(gains.rows, 4u);
    EXPECT_EQ(std::get<std::int64_t>(value(gains, 0, "first_day")), 1);
    EXPECT_EQ(std::get<std::int64_t>(value(gains, 1, "last_day")), 20785);
    EXPECT_TRUE(std::holds_alternative<std::monostate>(value(gains, 2, "first_day")));
    EXPECT_TRUE(std::holds_alternative<std::monostate>(value(gains, 1, "gain")));
    EXPECT_EQ(text_of(value(gains, 1, "message")), "late");
    EXPECT_EQ(text_of(value(gains, 3, "trade")), "b");
    EXPECT_EQ(text_of(value(gains, 3, "scenario")), "up");
}

}  // namespace
}  // namespace tilewalk::columns_test
