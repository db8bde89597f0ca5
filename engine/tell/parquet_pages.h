// SPDX-License-Identifier: Apache-2.0
// The values of a column of Parquet in some rows, as the pages of a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tilewalk/columns.h"

namespace tilewalk::report {

// Numbers of the format.
namespace parquet {
enum class physical { boolean = 0, int32 = 1, int64 = 2, real64 = 5, byte_array = 6 };
enum class encoding { plain = 0, rle = 3, rle_dictionary = 8 };
}  // namespace parquet

parquet::physical physical_of(column_kind kind);

// A chunk of a column, as it stands in the file.
struct column_chunk {
    std::string bytes;  // a page of words, if it has one, and then pages of values
    std::size_t dictionary_bytes = 0;
    std::size_t absent = 0;  // values that are none
    // The least and the greatest value as statistics have them; none where there is no value, and where one
    // of them is a long text.
    std::optional<std::string> least{}, greatest{};
};

// Texts of which most come again are numbers of words; all else stands as it is.
column_chunk chunk_of(const column_table& table, std::size_t column, std::size_t first, std::size_t rows);

}  // namespace tilewalk::report
