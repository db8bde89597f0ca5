// SPDX-License-Identifier: Apache-2.0
// Writes a Parquet file: groups of rows, with a chunk for each column, then a footer with the chunks' places.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "engine/tell/parquet_pages.h"
#include "engine/tell/parquet_thrift.h"
#include "tilewalk/columns.h"
#include "tilewalk/version.h"

namespace tilewalk {

namespace {

using report::thrift_struct;

constexpr std::string_view mark = "PAR1", manifest_key = "tilewalk";
// A reader's threads each take a group of rows; DuckDB prefers groups of at least 122,880 rows.
constexpr std::size_t rows_of_group = std::size_t{1} << 17;
constexpr int optional = 1, uncompressed = 0, format_version = 1;

struct written_chunk {
    const column& of;
    std::int64_t begin = 0, bytes = 0, dictionary_bytes = 0, values = 0, absent = 0;
    std::optional<std::string> least{}, greatest{};
};

struct written_group {
    std::vector<written_chunk> chunks;
    std::int64_t rows = 0;
};

thrift_struct schema_of(const column& of) {
    thrift_struct out;
    out.i32(1, static_cast<int>(report::physical_of(of.kind))).i32(3, optional).text(4, of.name);
    constexpr int utf8 = 0, date = 6;  // "converted types" of the format, for older readers
    // Newer readers use the logical type: in the format, a union whose member is an empty struct.
    const auto logical = [&](int converted, int member) {
        out.i32(6, converted).within(10, std::move(thrift_struct().within(member, thrift_struct())));
    };
    if (of.kind == column_kind::text) logical(utf8, 1);
    if (of.kind == column_kind::date) logical(date, 6);
    return out;
}

thrift_struct metadata_of(const written_chunk& c) {
    using parquet = report::parquet::encoding;
    const bool has_words = c.dictionary_bytes > 0;
    std::vector<parquet> encodings{parquet::rle, parquet::plain};
    if (has_words) encodings.push_back(parquet::rle_dictionary);
    thrift_struct out;
    out.i32(1, static_cast<int>(report::physical_of(c.of.kind))).numbers(2, encodings);
    out.texts(3, std::array{c.of.name}).i32(4, uncompressed).i64(5, c.values);
    out.i64(6, c.bytes).i64(7, c.bytes).i64(9, c.begin + c.dictionary_bytes);
    if (has_words) out.i64(11, c.begin);
    thrift_struct statistics;
    statistics.i64(3, c.absent);
    if (c.least && c.greatest) statistics.text(5, *c.greatest).text(6, *c.least);
    out.within(12, std::move(statistics));
    return out;
}

thrift_struct group_of(const written_group& g) {
    std::int64_t bytes = 0;
    for (const written_chunk& c : g.chunks) bytes += c.bytes;
    thrift_struct out;
    out.structs(1, g.chunks, [](const written_chunk& c) {
        return std::move(thrift_struct().i64(2, c.begin).within(3, metadata_of(c)));
    });
    out.i64(2, bytes).i64(3, g.rows);
    return out;
}

std::string footer_of(const column_table& table, const std::vector<written_group>& groups) {
    std::string schema;
    thrift_struct out;
    out.i32(1, format_version);
    std::vector<const column*> elements{nullptr};  // null stands for the table itself
    for (const column& c : table.columns) elements.push_back(&c);
    out.structs(2, elements, [&](const column* c) {
        if (c != nullptr) return schema_of(*c);
        return std::move(
            thrift_struct().text(4, "schema").i32(5, static_cast<std::int64_t>(table.columns.size())));
    });
    out.i64(3, static_cast<std::int64_t>(table.rows)).structs(4, groups, group_of);
    out.structs(5, std::array{&table.manifest}, [](const std::string* manifest) {
        return std::move(thrift_struct().text(1, manifest_key).text(2, *manifest));
    });
    out.text(6, "tilewalk version " + std::string(version()));
    // Declares for each column that minima and maxima follow the usual order of its type.
    out.structs(7, table.columns,
                [](const column&) { return std::move(thrift_struct().within(1, thrift_struct())); });
    return std::move(out).bytes();
}

}  // namespace

void write_parquet(std::ostream& out, const column_table& table) {
    std::int64_t at = 0;
    const auto write = [&](std::string_view bytes) {
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        at += static_cast<std::int64_t>(bytes.size());
    };
    write(mark);
    std::vector<written_group> groups;
    for (std::size_t first = 0; first < table.rows; first += rows_of_group) {
        const std::size_t rows = std::min(rows_of_group, table.rows - first);
        written_group& group = groups.emplace_back();
        group.rows = static_cast<std::int64_t>(rows);
        for (std::size_t k = 0; k < table.columns.size(); ++k) {
            const report::column_chunk chunk = report::chunk_of(table, k, first, rows);
            group.chunks.push_back({table.columns[k], at, static_cast<std::int64_t>(chunk.bytes.size()),
                                    static_cast<std::int64_t>(chunk.dictionary_bytes), group.rows,
                                    static_cast<std::int64_t>(chunk.absent), chunk.least, chunk.greatest});
            write(chunk.bytes);
        }
    }
    const std::string footer = footer_of(table, groups);
    write(footer);
    const auto size = static_cast<std::uint32_t>(footer.size());
    std::string end;
    for (int bit = 0; bit < 32; bit += 8) end += static_cast<char>(size >> bit & 255);
    write(end);
    write(mark);
}

}  // namespace tilewalk
