// SPDX-License-Identifier: Apache-2.0
// The error type of Tilewalk: its kind, its place, and a sentence that a person can act on.
#pragma once

#include <stdexcept>
#include <string>

namespace tilewalk {

enum class error_kind {
    usage,      // the caller asked for something that does not exist
    input,      // a book, market, product, script or other input is wrong
    numeric,    // a path produced a number that is not finite
    io,         // a file could not be read or written
    cancelled,  // the caller asked to stop
    device,     // a GPU, its driver or its memory failed or is missing
    compile,    // the run-time compiler refused a kernel
    internal,   // a defect of Tilewalk
};

// A place in a file. Lines and columns count from 1; 0 means unknown.
struct location {
    std::string file;
    int line = 0;
    int column = 0;

    friend bool operator==(const location&, const location&) = default;
};

// Returns "file:12:7", "file:12", "file" or "".
std::string to_string(const location& where);

class error : public std::runtime_error {
  public:
    // `message` says what was found and what was expected; `key_path` is such as "trades[3].strike".
    error(error_kind kind, const std::string& message, location where = {}, std::string key_path = {});

    error_kind kind() const noexcept { return kind_; }
    const location& where() const noexcept { return where_; }
    const std::string& key_path() const noexcept { return key_path_; }
    // The message alone; what() prefixes it with place and key path.
    const std::string& message() const noexcept { return message_; }

  private:
    error_kind kind_;
    location where_;
    std::string key_path_;
    std::string message_;
};

// A failure of the machine, not of the input: a retry may succeed.
class machine_failure : public error {
  public:
    using error::error;
};

// Throws for a failed write with errno `number`: tilewalk::error (io) if the user has to choose another
// place, else machine_failure. The message is such as "can't write: No space left on device".
[[noreturn]] void fail_to_write(const location& where, int number);

}  // namespace tilewalk
