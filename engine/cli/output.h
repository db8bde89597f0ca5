// SPDX-License-Identifier: Apache-2.0
// The destination of results: a file that appears whole or not at all, or standard output.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace tilewalk::cli {

class output {
  public:
    // "-" is standard output. Refuses at once what could not be written later; throws tilewalk::error (io).
    // `option` is the name of the option, for messages.
    explicit output(std::string destination, std::string option = "--output");

    // Writes the whole text, once. A file is written under another name in its folder and then renamed; until
    // that moment the old file stands. Devices and pipes are written to directly. Throws machine_failure,
    // or tilewalk::error (io) where another place is to be named.
    void write(std::string_view text) const;

    bool is_stdout() const { return destination_ == "-"; }
    // For messages.
    std::string name() const { return is_stdout() ? "standard output" : destination_; }
    const std::string& option() const { return option_; }
    const std::filesystem::path& target() const { return target_; }

  private:
    void replace_file(std::string_view text) const;

    std::string destination_, option_;
    std::filesystem::path target_;  // links followed
    bool direct_ = false;           // not a regular file
};

// Before a command writes anything: throws tilewalk::error (usage) if one of its outputs is one of the files
// it reads, by whatever name or link, or two outputs are one file. Standard output counts where it is a file,
// and so does /dev/stdin.
void keep_apart(const std::vector<const output*>& outputs, const std::vector<std::filesystem::path>& inputs);

// A line on standard error, with control characters spelt out; a message that can't be shown is dropped.
void complain(std::string_view message);
// The same for remarks, which are no failures; prints nothing after be_quiet().
void remark(std::string_view message);
void be_quiet();
bool is_quiet();
bool is_terminal(int descriptor);
// Makes sure that descriptors 0, 1 and 2 are open, so that no file of ours takes the place of a closed one,
// and that a file size limit is an error like any other.
void guard_standard_streams();

}  // namespace tilewalk::cli
