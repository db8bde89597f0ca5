// SPDX-License-Identifier: Apache-2.0
// Files that many processes share, kept from one run to the next.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tilewalk::kept {

enum class reading { done, absent, damaged };

// A file larger than the limit counts as damaged, and so does anything that is not a regular file.
reading read_file(const std::filesystem::path& path, std::uint64_t most_bytes, std::string& bytes);

// The file appears whole or not at all, also to other processes and after a crash. Throws as fail_to_write
// does.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace tilewalk::kept
