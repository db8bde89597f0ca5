// SPDX-License-Identifier: Apache-2.0
// The destination of results: standard output, or a file that appears whole or not at all.
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
    // Standard output is "-". Throws tilewalk::error (io) at once if the destination can't be written.
    // `option` names the option in messages.
    explicit output(std::string destination, std::string option = "--output");

    // Writes the whole text, once. A regular file is written under another name in its folder and renamed;
    // until then the old file stays. Devices and pipes are written directly. Throws machine_failure, or
    // tilewalk::error (io) if the user should choose another place.
    void write(std::string_view text) const;

    bool is_stdout() const { return destination_ == "-"; }
    std::string name() const { return is_stdout() ? "standard output" : destination_; }
    const std::string& option() const { return option_; }
    const std::filesystem::path& target() const { return target_; }

  private:
    void replace_file(std::string_view text) const;

    std::string destination_, option_;
    std::filesystem::path target_;  // destination_ with links resolved
    bool direct_ = false;           // true for a device or a pipe
};

// Throws tilewalk::error (usage) if an output is also an input, by whatever name or link, or if two outputs
// are the same file. Standard output and /dev/stdin count if they are redirected to files. Call this before
// the command writes anything.
void keep_apart(const std::vector<const output*>& outputs, const std::vector<std::filesystem::path>& inputs);

// Prints a line on standard error, with control characters escaped. A failure to print is ignored.
void complain(std::string_view message);
// Prints a remark on standard error, unless be_quiet() was called. A remark is no failure.
void remark(std::string_view message);
void be_quiet();
bool is_quiet();
bool is_terminal(int descriptor);
// Opens descriptors 0, 1 and 2 if they are closed, so that no file of ours gets their numbers. Makes
// exceeding the file size limit an ordinary error instead of a signal.
void guard_standard_streams();

}  // namespace tilewalk::cli
