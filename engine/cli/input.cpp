// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/input.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "tilewalk/bounds.h"
#include "tilewalk/error.h"

namespace tilewalk::cli {

namespace {

constexpr std::uintmax_t most_bytes = bounds::results_bytes;

}  // namespace

std::string text_of_file(const std::string& file, const std::string& what) {
    std::error_code failed;
    if (std::filesystem::is_directory(file, failed))
        throw error(error_kind::io, "found a folder, expected a file", {file});
    std::ifstream in(file, std::ios::binary);
    if (!in) throw error(error_kind::io, "can't read: " + std::generic_category().message(errno), {file});
    std::string text;
    std::string block(std::size_t{1} << 16, '\0');
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
        text.append(block, 0, static_cast<std::size_t>(in.gcount()));
        if (text.size() > most_bytes)
            throw error(error_kind::input, "larger than 1 GiB: this is not " + what, {file});
    }
    if (in.bad()) throw error(error_kind::io, "can't read to the end", {file});
    return text;
}

std::string text_of_standard_input(const std::string& what) {
    std::string text, block(std::size_t{1} << 16, '\0');
    for (;;) {
        const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw error(error_kind::io, "can't read: " + std::generic_category().message(errno),
                        {"<stdin>", 0, 0});
        if (got == 0) return text;
        text.append(block, 0, static_cast<std::size_t>(got));
        if (text.size() > most_bytes)
            throw error(error_kind::input, "larger than 1 GiB: this is not " + what, {"<stdin>", 0, 0});
    }
}

}  // namespace tilewalk::cli
