// SPDX-License-Identifier: Apache-2.0
// A status line on standard error, shown only on a terminal. The destructor wipes the line.
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
