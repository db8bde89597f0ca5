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

// Throws tilewalk::error (io). The file must be in the folder `inside` or below it, unless that is empty.
mapped_file map_file(const std::filesystem::path& file, const std::filesystem::path& inside = {});

// The file's name for messages. For a file in memory (memfd) this is the name given when it was created.
std::string name_of(const std::filesystem::path& file);

}  // namespace tilewalk::arrays
