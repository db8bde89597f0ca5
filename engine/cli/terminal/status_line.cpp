// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/terminal/status_line.h"

#include <unistd.h>

#include <string_view>

#include "engine/cli/output.h"

namespace tilewalk::cli {

status_line::status_line() : shown_(!is_quiet() && is_terminal(STDERR_FILENO)) {}

void status_line::say(const std::string& text) {
    if (!shown_) return;
    wipe();
    constexpr std::size_t most = 78;
    const std::string line = text.substr(0, most);
    drawn_ = ::write(STDERR_FILENO, line.data(), line.size()) >= 0;
}

void status_line::wipe() {
    static constexpr std::string_view clear = "\r\033[K";
    if (drawn_ && ::write(STDERR_FILENO, clear.data(), clear.size()) >= 0) drawn_ = false;
}

}  // namespace tilewalk::cli
