// SPDX-License-Identifier: Apache-2.0
// Helpers of tests for texts: lists, repetitions, replacements, and the contents of files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::tests {

// Makes a list of texts. A braced list would be longer, because clang-format gives each item a line.
template <class list = std::vector<std::string>, class... text>
list texts(const text&... of) {
    return list{std::string(of)...};
}

inline std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    all.reserve(text.size() * times);
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

// Replaces the first occurrence of `from`. Throws std::logic_error if there is none.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) throw std::logic_error("no '" + std::string(from) + "' to replace");
    return text.replace(at, from.size(), to);
}

// Contents of a file; empty if there is no such file.
inline std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Contents of a file of this repository, such as docs/models.md.
inline std::string own_text(const std::filesystem::path& file) {
    return text_of(std::filesystem::path(TILEWALK_SOURCE_DIR) / file);
}

}  // namespace tilewalk::tests
