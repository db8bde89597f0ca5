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

// Throws tilewalk::error (io). If `inside` is a folder, the file has to be in it or below it.
mapped_file map_file(const std::filesystem::path& file, const std::filesystem::path& inside = {});

// The file's name for people. A file in memory has no path but that of a descriptor, which tells nobody
// anything: it goes by the name that it was made with.
std::string name_of(const std::filesystem::path& file);

}  // namespace tilewalk::arrays
