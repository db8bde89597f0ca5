// SPDX-License-Identifier: Apache-2.0
// Encodes the values of a column in some rows as the pages of a Parquet column chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tilewalk/columns.h"

namespace tilewalk::report {

// Enumerators have the numbers of the format.
namespace parquet {
enum class physical { boolean = 0, int32 = 1, int64 = 2, real64 = 5, byte_array = 6 };
enum class encoding { plain = 0, rle = 3, rle_dictionary = 8 };
}  // namespace parquet

parquet::physical physical_of(column_kind kind);

struct column_chunk {
    std::string bytes;  // a dictionary page, if there is one, then pages of values
    std::size_t dictionary_bytes = 0;
    std::size_t absent = 0;  // null values
    // Statistics: minimum and maximum. Empty without values, or if one of them is a long text.
    std::optional<std::string> least{}, greatest{};
};

// Texts that mostly repeat are dictionary-encoded; everything else is plain.
column_chunk chunk_of(const column_table& table, std::size_t column, std::size_t first, std::size_t rows);

}  // namespace tilewalk::report
