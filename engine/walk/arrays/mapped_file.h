// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, mapped into memory for reading.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace tilewalk::arrays {

struct mapped_file {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> keeps;  // owns the mapping
};

// Throws tilewalk::error (io). The file must be in `inside` or below it (empty: anywhere).
mapped_file map_file(const std::filesystem::path& file, const std::filesystem::path& inside = {});

// The name to show. A file in memory, whose path is only a descriptor's, shows the name given to it.
std::string name_of(const std::filesystem::path& file);

}  // namespace tilewalk::arrays
