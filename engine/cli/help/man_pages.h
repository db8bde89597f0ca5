// SPDX-License-Identifier: Apache-2.0
// Manual pages, from what --help tells.
#pragma once

#include <string>
#include <vector>

#include "engine/cli/help/described.h"

namespace tilewalk::cli {

struct man_page {
    std::string file;  // "tilewalk-price.1"
    std::string text;  // in the macros of man(7)
};

// A chapter of the page of the program that no command has, such as "EXIT STATUS".
struct man_chapter {
    std::string title, text;
    bool is_list = false;  // each line is a word and its meaning
};

// The page of the program, and one for each command.
std::vector<man_page> man_pages(const described_program& of, const std::string& version,
                                const std::vector<man_chapter>& chapters);

}  // namespace tilewalk::cli
