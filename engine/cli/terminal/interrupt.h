// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and a polite kill end the process at once, except where there is something to put in order first.
#pragma once

#include <atomic>

namespace tilewalk::cli {

// From here on SIGINT and SIGTERM end the process, with a line on standard error and 128 + the signal as its
// exit code. A signal that the caller of the process has switched off stays so.
void exit_on_interrupt();

// While one lives, the signals set its flag instead, and only a second one ends the process. One may live
// inside another.
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
    // Acknowledges the flag: from here on a signal is a first one again.
    void take_back() const;
};

// 128 + the signal that asked to stop.
int code_of_interrupt();

// The message of an interruption: that nothing was written, if nobody has called note_written(), or that
// nothing is lost, after note_kept().
const char* words_of_interrupt();
void note_written();
void note_kept();

}  // namespace tilewalk::cli
