// SPDX-License-Identifier: Apache-2.0
// Manual pages, made from the descriptions of commands.
#pragma once

#include <string>
#include <vector>

#include "engine/cli/help/described.h"

namespace tilewalk::cli {

struct man_page {
    std::string file;  // such as "tilewalk-price.1"
    std::string text;  // source in the man(7) macros
};

// A chapter of the program's own page, besides its commands, such as "EXIT STATUS".
struct man_chapter {
    std::string title, text;
    bool is_list = false;  // true if each line is a word and its meaning
};

std::vector<man_page> man_pages(const described_program& of, const std::string& version,
                                const std::vector<man_chapter>& chapters);

}  // namespace tilewalk::cli
