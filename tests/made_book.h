// SPDX-License-Identifier: Apache-2.0
// Books of many trades, made by bench/make_book.py.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>

#include "tilewalk/book.h"

namespace tilewalk {

inline book made_book(const std::string& arguments) {
    const std::string command =
        "python3 -B " + std::string(TILEWALK_SOURCE_DIR) + "/bench/make_book.py " + arguments;
    std::FILE* from = popen(command.c_str(), "r");
    if (from == nullptr) throw std::runtime_error("could not run " + command);
    std::string text;
    char piece[1 << 16];
    for (std::size_t got; (got = std::fread(piece, 1, sizeof piece, from)) > 0;) text.append(piece, got);
    if (pclose(from) != 0) throw std::runtime_error(command + " failed");
    return book::parse(text, "made");
}

// Every product of the library, with each choice that its payoff can make, also paid in a currency other than
// its asset's.
inline book book_of_every_kind() {
    return made_book("--library --each-kind --command '" TILEWALK_CLI "'");
}

}  // namespace tilewalk
