// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/elsewhere.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tilewalk/error.h"

namespace tilewalk::cli {

void become(const command& asked, const std::vector<std::string>& arguments) {
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    std::string path = (self.parent_path() / asked.program).string();
    std::vector<char*> words{path.data()};
    std::vector<std::string> copies = arguments;
    for (std::string& word : copies) words.push_back(word.data());
    words.push_back(nullptr);
    ::execv(path.c_str(), words.data());
    if (errno != ENOENT) throw error(error_kind::io, std::strerror(errno), {path});
    throw error(
        error_kind::usage,
        fmt::format("tilewalk {} is a program of its own, {}, which is not there; make commands builds it",
                    asked.app->get_name(), path));
}

command add_bench_program(CLI::App& to) {
    CLI::App* app = to.add_subcommand("bench", bench_summary);
    return {app->group("Commands"), {}, "tilewalk-bench"};
}

command add_verify_program(CLI::App& to) {
    CLI::App* app = to.add_subcommand("verify", verify_summary);
    return {app->group("Commands"), {}, "tilewalk-verify"};
}

}  // namespace tilewalk::cli
