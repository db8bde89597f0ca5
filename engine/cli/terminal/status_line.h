// SPDX-License-Identifier: Apache-2.0
// A line on standard error that says what is going on, on a terminal alone; wiped off at the end.
#pragma once

#include <string>

namespace tilewalk::cli {

class status_line {
  public:
    status_line();
    ~status_line() { wipe(); }
    status_line(const status_line&) = delete;
    status_line& operator=(const status_line&) = delete;

    void say(const std::string& text);
    void wipe();

  private:
    bool shown_, drawn_ = false;
};

}  // namespace tilewalk::cli
