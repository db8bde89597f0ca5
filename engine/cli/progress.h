// SPDX-License-Identifier: Apache-2.0
// A bar on the terminal while a book is priced.
#pragma once

#include <chrono>
#include <string>

#include "tilewalk/engine.h"

namespace tilewalk::cli {

// Draws on standard error if that is a terminal, else does nothing; wipes itself off at the end.
class progress_bar {
  public:
    progress_bar();
    ~progress_bar();
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    bool is_shown() const { return shown_; }
    void update(const progress& now);

  private:
    using clock = std::chrono::steady_clock;
    bool shown_ = false, drawn_ = false;
    clock::time_point start_ = clock::now(), next_ = start_ + std::chrono::milliseconds(300);
};

// The line for a bar on a terminal of this many columns.
std::string progress_line(const progress& now, double seconds, int columns);

}  // namespace tilewalk::cli
