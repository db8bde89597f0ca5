// SPDX-License-Identifier: Apache-2.0
// Reads and writes files that are kept from run to run and shared by processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tilewalk::kept {

enum class reading { done, absent, damaged };

// A file that is larger than `most_bytes`, or not a regular file, counts as damaged.
reading read_file(const std::filesystem::path& path, std::uint64_t most_bytes, std::string& bytes);

// Writes the whole file or none of it, even if the machine crashes. Throws what fail_to_write throws.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace tilewalk::kept
