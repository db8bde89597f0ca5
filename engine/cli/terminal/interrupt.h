// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM end the process at once, except while an interrupt object lives.
#pragma once

#include <atomic>

namespace tilewalk::cli {

// Makes SIGINT and SIGTERM end the process, with a line on standard error and exit code 128 + signal. A
// signal that the parent process has set to be ignored stays ignored.
void exit_on_interrupt();

// While an object lives, the first signal sets the flag instead, and only a second one ends the process.
// Objects may be nested; all share one flag.
class interrupt {
  public:
    interrupt();
    ~interrupt();
    interrupt(const interrupt&) = delete;
    interrupt& operator=(const interrupt&) = delete;

    const std::atomic<bool>* flag() const;
    bool is_asked() const { return *flag(); }
    // Throws tilewalk::error (cancelled) if the flag is set.
    void check() const;
    // Clears the flag: the next signal counts as a first one again.
    void take_back() const;
};

// Returns 128 + the signal that was caught.
int code_of_interrupt();

// Returns the message of an interrupted command: that it can resume, after note_kept(); else that nothing was
// written, unless note_written() was called.
const char* words_of_interrupt();
void note_written();
void note_kept();

}  // namespace tilewalk::cli
