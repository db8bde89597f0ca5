// SPDX-License-Identifier: Apache-2.0
// Opens the files that people name as their input.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tilewalk::config {

// An open regular file; closed at the end.
class open_file {
  public:
    // Throws error of the kind io, with the file's name, for what is not there, can't be opened or is not a
    // regular file. The same for a file that is not in `inside` or below it, where that is a folder, once
    // symbolic links are followed; the file that is opened then is the one that was looked at, however links
    // change meanwhile.
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

// The path of a file once symbolic links are followed, whether it exists or not. Throws error (io) if that is
// not in the folder `inside` or below it.
std::filesystem::path resolved_inside(const std::filesystem::path& file, const std::filesystem::path& inside);

}  // namespace tilewalk::config
