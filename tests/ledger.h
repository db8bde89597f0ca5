// SPDX-License-Identifier: Apache-2.0
// Compares results with a file under tests/data, so that every change of a result is noticed and must be
// intended. A line of the file is a name and two words.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/digest.h"

namespace tilewalk::tests {

using kept_words = std::vector<std::pair<std::string, std::string>>;  // names, each with its two words

inline void add_text(kept_words& to, const std::string& name, std::string text) {
    const std::string root = TILEWALK_SOURCE_DIR "/";
    for (auto at = text.find(root); at != text.npos; at = text.find(root, at)) text.erase(at, root.size());
    to.emplace_back(name, config::sha256(text).substr(0, 16) + " " + std::to_string(text.size()));
}

inline std::map<std::string, std::string> kept(const std::filesystem::path& in_file) {
    std::ifstream in(in_file);
    std::map<std::string, std::string> out;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        const auto second = line.rfind(' '), first = line.rfind(' ', second - 1);
        if (!out.emplace(line.substr(0, first), line.substr(first + 1)).second)
            ADD_FAILURE() << "twice in the ledger: " << line;
    }
    return out;
}

inline std::string different(const kept_words& priced, std::map<std::string, std::string> left) {
    std::string out;
    std::size_t count = 0;
    const auto say = [&](const std::string& line) {
        if (++count <= 20) out += line + '\n';
    };
    for (const auto& [trade, bits] : priced) {
        const auto known = left.find(trade);
        if (known == left.end()) {
            say(trade + ": not in the ledger, now " + bits);
            continue;
        }
        if (known->second != bits) say(trade + ": was " + known->second + ", now " + bits);
        left.erase(known);
    }
    for (const auto& [trade, bits] : left) say(trade + ": was " + bits + ", now not priced");
    return count > 20 ? out + "and " + std::to_string(count - 20) + " more\n" : out;
}

inline void expect_as_kept(const kept_words& made, const std::filesystem::path& in_file,
                           const std::string& head) {
    if (std::getenv("TILEWALK_WRITE_BITS") != nullptr) {
        std::ofstream out(in_file);
        out << head;
        for (const auto& [name, bits] : made) out << name << ' ' << bits << '\n';
        ASSERT_TRUE(out.flush());
    }
    EXPECT_EQ(different(made, kept(in_file)), "") << "if these figures are meant to change: make bits";
}

}  // namespace tilewalk::tests
