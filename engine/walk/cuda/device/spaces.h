// SPDX-License-Identifier: Apache-2.0
// The catalogue of spaces, in which arrays live. A new one is a line in spaces.cpp and, if threads read it in
// a way of its own, a struct in kernels/ptx.h or in a header that the line names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::cuda {

enum class residence {
    memory,             // device memory
    persisting_memory,  // device memory, kept in the second-level cache as far as the launch is allowed
    mapped_memory,      // page-locked memory of the host, at its address in the device
    constant_variable,  // the module's variable `tilewalk_rows`
    texture_object,     // over device memory
};

struct space_entry {
    std::string_view name;
    std::string_view summary;
    residence lives_in;
    std::string_view type;        // in the kernel, below tilewalk::kernels::spaces
    std::string_view header;      // the header that defines it
    bool has_addresses;           // copies and prefetches can start from it
    bool holds_paths;             // arrays with a number for each path
    bool holds_rows;              // arrays with one number for all paths
    std::uint64_t most_bytes;     // an array's; 0: no limit
    std::uint64_t most_elements;  // an array's; 0: no limit
};

std::span<const space_entry> spaces();

// Throws tilewalk::error (usage) with the known names and the nearest.
const space_entry& space_named(std::string_view name);

template <class predicate>
std::vector<std::string> names_of_spaces(const predicate& fits) {
    std::vector<std::string> names;
    for (const space_entry& space : spaces()) {
        if (fits(space)) names.emplace_back(space.name);
    }
    return names;
}

// Throws tilewalk::error (usage) with the spaces that hold such an array, if this one does not.
void check_fits(const space_entry& space, std::uint64_t elements, int element_bytes);

}  // namespace tilewalk::cuda
