// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, mapped into memory for reading.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace tilewalk::replay {

struct mapped_file {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> keeps;  // the mapping, as long as it lives
};

// Throws tilewalk::error (io).
mapped_file map_file(const std::filesystem::path& file);

}  // namespace tilewalk::replay
