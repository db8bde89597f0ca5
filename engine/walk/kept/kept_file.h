// SPDX-License-Identifier: Apache-2.0
// Files kept from run to run and shared by processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tilewalk::kept {

enum class reading { done, absent, damaged };

// A file counts as damaged if it is larger than the limit or not regular.
reading read_file(const std::filesystem::path& path, std::uint64_t most_bytes, std::string& bytes);

// The file appears whole or not at all, even after a crash. Throws as fail_to_write does.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace tilewalk::kept
