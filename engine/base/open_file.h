// SPDX-License-Identifier: Apache-2.0
// Opens the input files that people name.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tilewalk::config {

class open_file {
  public:
    // Opens a file. Throws tilewalk::error (io) if it is missing, unreadable or not a regular file, or if its
    // path after links lies outside of `inside` (empty: anywhere). Safe if links are changed meanwhile.
    explicit open_file(const std::filesystem::path& file, const std::filesystem::path& inside = {});
    ~open_file();
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;

    int descriptor() const { return descriptor_; }
    std::uintmax_t stated_bytes() const { return stated_bytes_; }

  private:
    int descriptor_ = -1;
    std::uintmax_t stated_bytes_ = 0;
};

// Follows links of a path that need not exist. Throws tilewalk::error (io) if not below `inside`.
std::filesystem::path resolved_inside(const std::filesystem::path& file, const std::filesystem::path& inside);

}  // namespace tilewalk::config
