// SPDX-License-Identifier: Apache-2.0
// Where results go: a file that appears whole or not at all, or standard output.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tilewalk::cli {

class output {
  public:
    // "-" is standard output. Refuses at once what could not be written later; throws tilewalk::error (io).
    explicit output(std::string destination);

    // Writes the whole text, once. A file is written under another name in its folder and then renamed; until
    // that moment the old file stands. Devices and pipes are written to directly. Throws tilewalk::error
    // (io).
    void write(std::string_view text) const;

    bool is_stdout() const { return destination_ == "-"; }

  private:
    void replace_file(std::string_view text) const;

    std::string destination_;
    std::filesystem::path target_;  // links followed
    bool direct_ = false;           // not a regular file
};

// A line on standard error, with control characters spelt out; a message that can't be shown is dropped.
void complain(std::string_view message);
bool is_terminal(int descriptor);
// Makes sure that descriptors 0, 1 and 2 are open, so that no file of ours takes the place of a closed one,
// and that a file size limit is an error like any other.
void guard_standard_streams();

}  // namespace tilewalk::cli
