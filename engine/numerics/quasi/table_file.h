// SPDX-License-Identifier: Apache-2.0
// The table joe_kuo.txt of direction numbers, embedded in the library.
#pragma once

#include <span>
#include <string_view>

namespace tilewalk::quasi {

struct table_file {
    std::string_view name, text;
};
std::span<const table_file> table_files();

}  // namespace tilewalk::quasi
