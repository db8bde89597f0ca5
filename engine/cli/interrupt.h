// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and a polite kill: the run is asked to stop and cleans up; a second one ends the process at once.
#pragma once

#include <atomic>

namespace tilewalk::cli {

// From here on SIGINT and SIGTERM end the process with exit code 130. A signal that the caller of the process
// has switched off stays so.
void exit_on_interrupt();

// While one lives, the signals set its flag instead, and only a second one ends the process.
class interrupt {
  public:
    interrupt();
    ~interrupt();
    interrupt(const interrupt&) = delete;
    interrupt& operator=(const interrupt&) = delete;

    const std::atomic<bool>* flag() const;
    // Throws tilewalk::error (cancelled) if the flag is set.
    void check() const;
};

}  // namespace tilewalk::cli
