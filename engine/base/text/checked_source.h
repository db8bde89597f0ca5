// SPDX-License-Identifier: Apache-2.0
// A text that is read as far as somebody wants to see it, so that a bad file costs what lies before its first
// bad byte and no more.
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
    // Reads a text that stays where it is, or a regular file (see open_file).
    checked_source(std::string_view text, std::string name, const limits& within);
    checked_source(const std::filesystem::path& file, const limits& within,
                   const std::filesystem::path& inside);

    const std::string& name() const { return name_; }
    // The part that is there so far and known to be good, without a byte order mark. A view lasts until
    // grow().
    std::string_view text() const { return bytes().substr(mark_bytes_, check_.checked()); }
    // Adds a block; false at the end. Throws tilewalk::error for a byte that does not belong there.
    bool grow();
    // Lines of a text that begins with "{" may be of any length, until it is known to be no JSON.
    bool has_long_line() const { return check_.has_long_line(); }
    void refuse_long_lines() { check_.refuse_long_lines(); }
    // All bytes, as they are; once grow() has said that there are no more.
    std::string_view bytes() const { return file_ ? std::string_view(read_) : given_.substr(0, shown_); }
    // At the end: the SHA-256 of all bytes, which those of a long text are summed to while it is parsed; and
    // the text itself, after which there is none.
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
    std::future<std::string> hash_;  // goes before the bytes do
};

}  // namespace tilewalk::config
