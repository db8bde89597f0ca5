// SPDX-License-Identifier: Apache-2.0
// Manual pages, made from the descriptions of commands.
#pragma once

#include <string>
#include <vector>

#include "engine/cli/help/described.h"

namespace tilewalk::cli {

struct man_page {
    std::string file;  // "tilewalk-price.1"
    std::string text;  // in the macros of man(7)
};

// A chapter of the program's page beside the commands, such as "EXIT STATUS".
struct man_chapter {
    std::string title, text;
    bool is_list = false;  // each line is a word and its meaning
};

std::vector<man_page> man_pages(const described_program& of, const std::string& version,
                                const std::vector<man_chapter>& chapters);

}  // namespace tilewalk::cli
