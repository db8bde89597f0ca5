// SPDX-License-Identifier: Apache-2.0
// Encodes some rows of a column as the pages of a Parquet column chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tilewalk/columns.h"

namespace tilewalk::report {

// Types and encodings, with the numbers that the format gives them.
namespace parquet {
enum class physical { boolean = 0, int32 = 1, int64 = 2, real64 = 5, byte_array = 6 };
enum class encoding { plain = 0, rle = 3, rle_dictionary = 8 };
}  // namespace parquet

parquet::physical physical_of(column_kind kind);

struct column_chunk {
    std::string bytes;  // the dictionary page, if any, and then the pages of values
    std::size_t dictionary_bytes = 0;
    std::size_t absent = 0;  // number of null values
    // Least and greatest value, for statistics. Empty if all values are null, or if a text is too long.
    std::optional<std::string> least{}, greatest{};
};

// Encodes texts that mostly repeat by a dictionary, everything else as plain values.
column_chunk chunk_of(const column_table& table, std::size_t column, std::size_t first, std::size_t rows);

}  // namespace tilewalk::report
