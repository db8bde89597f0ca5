// SPDX-License-Identifier: Apache-2.0
// A file's bytes, mapped into memory for reading.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace tilewalk::arrays {

struct mapped_file {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> keeps;  // owns the mapping of `bytes`
};

// Maps `file`, which must lie in the folder `inside` or below it, unless `inside` is empty. Throws
// tilewalk::error (io).
mapped_file map_file(const std::filesystem::path& file, const std::filesystem::path& inside = {});

// The file's name for messages. A file in memory (memfd), whose path names only a descriptor, has the name
// that it was created with.
std::string name_of(const std::filesystem::path& file);

}  // namespace tilewalk::arrays
