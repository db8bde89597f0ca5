// SPDX-License-Identifier: Apache-2.0
// Where market arrays live: the catalogue of spaces. A new one is a line in spaces.cpp and, if threads read
// it in a way of its own, a struct in kernels/ptx.h or in a header that the line names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::cuda {

// What the launch has to make of an array.
enum class residence {
    memory,             // of the device
    persisting_memory,  // of the device, kept in the second-level cache as far as the launch is allowed
    mapped_memory,      // page-locked, of the host, at its address in the device
    constant_variable,  // the module's variable `tilewalk_rows`
    texture_object,     // over memory of the device
};

struct space_entry {
    std::string_view name;
    std::string_view summary;
    residence lives_in;
    std::string_view type;        // in the kernel, below tilewalk::kernels::spaces
    std::string_view header;      // that defines it
    bool has_addresses;           // copies and prefetches can start from it
    bool holds_paths;             // arrays with a number for each path
    bool holds_rows;              // arrays with one number for all paths
    std::uint64_t most_bytes;     // of an array; 0: what memory holds
    std::uint64_t most_elements;  // likewise
};

std::span<const space_entry> spaces();

// Throws tilewalk::error (usage) with the known names and the nearest.
const space_entry& space_named(std::string_view name);

// Names of the spaces that `fits` holds for.
template <class predicate>
std::vector<std::string> names_of_spaces(const predicate& fits) {
    std::vector<std::string> names;
    for (const space_entry& space : spaces()) {
        if (fits(space)) names.emplace_back(space.name);
    }
    return names;
}

// Throws tilewalk::error (usage), which says what would hold it, if the space does not hold an array of so
// many elements.
void check_fits(const space_entry& space, std::uint64_t elements, int element_bytes);

}  // namespace tilewalk::cuda
