// SPDX-License-Identifier: Apache-2.0
// A text that is read and checked only as far as asked, so that little is read of a file after a bad byte.
#pragma once

#include <cstddef>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/open_file.h"
#include "engine/base/text/byte_check.h"

namespace tilewalk::config {

struct limits;

class checked_source {
  public:
    // The text must outlive the source. A file must be a regular one (see open_file).
    checked_source(std::string_view text, std::string name, const limits& within);
    checked_source(const std::filesystem::path& file, const limits& within,
                   const std::filesystem::path& inside);

    const std::string& name() const { return name_; }
    // The part checked so far, without a byte order mark. Valid until the next grow().
    std::string_view text() const { return bytes().substr(mark_bytes_, check_.checked()); }
    // Reads and checks another block; false at the end. Throws tilewalk::error for a bad byte.
    bool grow();
    bool has_long_line() const { return check_.has_long_line(); }
    void refuse_long_lines() { check_.refuse_long_lines(); }
    // All bytes read so far, byte order mark included; complete once grow() has returned false.
    std::string_view bytes() const { return file_ ? std::string_view(read_) : given_.substr(0, shown_); }
    // Return, at the end, the SHA-256 of all bytes and the text. Long texts are hashed while they are parsed.
    std::string hash();
    std::string take_text();

  private:
    bool fetch();
    void begin_hash();

    std::string name_;
    std::size_t most_bytes_;
    byte_check check_;
    std::string_view given_;
    std::size_t shown_ = 0;
    std::unique_ptr<open_file> file_;
    std::string read_;
    std::size_t mark_bytes_ = 0;
    bool at_end_ = false;
    std::future<std::string> hash_;  // declared last: destroyed before the bytes that it reads
};

}  // namespace tilewalk::config
