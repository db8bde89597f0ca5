// SPDX-License-Identifier: Apache-2.0
// Reads from docs/files.md which columns each file has.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/texts.h"

namespace tilewalk::tests {

inline std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> out;
    std::istringstream in(line);
    for (std::string one; std::getline(in, one, ',');) out.push_back(one);
    return out;
}

// The columns of a file in its table of the page: the table stands under a heading with the file's name, and
// has a line per column. A name that ends in a star stands for all columns that begin so.
inline std::vector<std::string> documented_columns(std::string_view name) {
    static const std::string page = own_text("docs/files.md");
    std::vector<std::string> out;
    const std::size_t head = page.find("### `" + std::string(name) + "`");
    if (head == page.npos) return out;
    std::istringstream lines(page.substr(head));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line) && !line.starts_with("#")) {
        if (!line.starts_with("| `")) continue;
        const std::size_t end = line.find('`', 3);
        out.push_back(line.substr(3, end - 3));
        std::size_t bars = 0;
        for (const char c : line) bars += c == '|' ? 1U : 0U;
        EXPECT_EQ(bars, 4U) << name << " has no unit or no meaning: " << line;
    }
    return out;
}

inline void expect_documented(std::string_view name, const std::string& file) {
    const std::string head = file.substr(0, file.find('\n'));
    const std::vector<std::string> columns = split(head), known = documented_columns(name);
    ASSERT_FALSE(known.empty()) << "docs/files.md has no table of " << name;
    std::size_t at = 0;
    for (std::size_t k = 0; k < known.size(); ++k) {
        const std::size_t star = known[k].find('*');
        if (star == std::string::npos) {
            ASSERT_LT(at, columns.size()) << name << ": " << known[k] << " is not written: " << head;
            ASSERT_EQ(columns[at++], known[k]) << name << ": " << head;
            continue;
        }
        const std::string begin = known[k].substr(0, star);
        const std::string next = k + 1 < known.size() ? known[k + 1] : "";
        const std::size_t first = at;
        while (at < columns.size() && columns[at].starts_with(begin) && columns[at] != next) ++at;
        ASSERT_LT(first, at) << name << ": no column begins with " << begin << ": " << head;
    }
    EXPECT_EQ(at, columns.size()) << name << " has columns that no table tells of: " << head;
}

}  // namespace tilewalk::tests
