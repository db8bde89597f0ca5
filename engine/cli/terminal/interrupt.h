// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM end the process at once, except while an interrupt object lives.
#pragma once

#include <atomic>

namespace tilewalk::cli {

// From now on SIGINT and SIGTERM end the process, with a line on standard error and exit code 128 + signal. A
// signal that the parent process ignores stays ignored.
void exit_on_interrupt();

// While an object lives, a signal sets its flag instead, and only a second signal ends the process. Objects
// may be nested.
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

// 128 + the signal that was caught.
int code_of_interrupt();

// The message of an interruption: nothing was written, unless note_written() was called; nothing is lost,
// after note_kept().
const char* words_of_interrupt();
void note_written();
void note_kept();

}  // namespace tilewalk::cli
