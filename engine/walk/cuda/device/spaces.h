// SPDX-License-Identifier: Apache-2.0
// The catalogue of memory spaces for arrays that kernels read. A new space is a line in spaces.cpp and, if it
// is read in a new way, a struct in kernels/ptx.h or in a header that the line names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::cuda {

enum class residence {
    memory,             // device memory
    persisting_memory,  // device memory that stays in the second-level cache as far as it fits
    mapped_memory,      // page-locked host memory, read across the bus
    constant_variable,  // the module's constant variable `tilewalk_rows`
    texture_object,     // a texture of device memory
};

struct space_entry {
    std::string_view name;
    std::string_view summary;
    residence lives_in;
    std::string_view type;        // the type's name in tilewalk::kernels::spaces
    std::string_view header;      // the header that defines `type`
    bool has_addresses;           // whether copies and prefetches can read from it by address
    bool holds_paths;             // whether it can hold arrays with a number for each path
    bool holds_rows;              // whether it can hold numbers that all paths share
    std::uint64_t most_bytes;     // of an array; 0: no limit
    std::uint64_t most_elements;  // of an array; 0: no limit
};

std::span<const space_entry> spaces();

// Throws tilewalk::error (usage), listing the known names and the nearest one.
const space_entry& space_named(std::string_view name);

template <class predicate>
std::vector<std::string> names_of_spaces(const predicate& fits) {
    std::vector<std::string> names;
    for (const space_entry& space : spaces()) {
        if (fits(space)) names.emplace_back(space.name);
    }
    return names;
}

// Throws tilewalk::error (usage), listing spaces that can hold the array, if this one can't.
void check_fits(const space_entry& space, std::uint64_t elements, int element_bytes);

}  // namespace tilewalk::cuda
