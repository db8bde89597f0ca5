// SPDX-License-Identifier: Apache-2.0
// Reads and writes files that are kept from run to run and shared by processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tilewalk::kept {

enum class reading { done, absent, damaged, foreign };

// A file that is larger than `most_bytes`, or not a regular file, counts as damaged.
reading read_file(const std::filesystem::path& path, std::uint64_t most_bytes, std::string& bytes);

// Reads as read_file does, for a file that no user named. Returns `foreign`, and reads nothing, where
// why_foreign() gives a reason.
reading read_own_file(const std::filesystem::path& path, std::uint64_t most_bytes, std::string& bytes);

// Why somebody else may have written a file or folder: its owner is neither root nor this user, or others may
// write it. Empty if nobody else may have, and if nothing lies there.
std::string why_foreign(const std::filesystem::path& path);

// Makes the folder, if it is missing, for this user alone. Throws tilewalk::error (io).
void make_own_folder(const std::filesystem::path& path);

// Writes the whole file or none of it, even if the machine crashes. Only this user may write it later. Throws
// what fail_to_write throws.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace tilewalk::kept
