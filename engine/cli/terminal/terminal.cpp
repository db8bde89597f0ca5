// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tilewalk::cli {

namespace {

// Returns the width of the terminal; 0 if unknown.
std::size_t columns_of_stdout() {
    if (const char* said = std::getenv("COLUMNS"); said != nullptr) {
        const std::string_view text = said;
        std::size_t columns = 0;
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), columns);
        if (code == std::errc() && end == text.data() + text.size() && columns > 0) return columns;
    }
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

text_form form_of_stdout() {
    text_form form;
    const std::size_t columns = columns_of_stdout();
    form.columns = columns == 0 ? widest_columns : std::clamp(columns, narrowest_columns, widest_columns);
    return form;
}

}  // namespace tilewalk::cli
