// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/elsewhere.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "tilewalk/error.h"

namespace tilewalk::cli {

void become(const command& asked, const std::vector<std::string>& arguments) {
    std::error_code not_said;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", not_said);
    const std::filesystem::path program = self.parent_path() / asked.program;
    std::string path = program.string();
    std::vector<char*> words{path.data()};
    std::vector<std::string> copies = arguments;
    for (std::string& word : copies) words.push_back(word.data());
    words.push_back(nullptr);
    ::execv(path.c_str(), words.data());
    throw error(
        error_kind::usage,
        fmt::format("tilewalk {} is a program of its own, {}, which is not there; make commands builds it",
                    asked.app->get_name(), path));
}

command add_bench_program(CLI::App& to) {
    CLI::App* app = to.add_subcommand("bench", "Measure a GPU: feeds, memory, reductions, generators");
    return {app->group("Commands"), {}, "tilewalk-bench"};
}

command add_verify_program(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("verify", "Hold prices of random trades against those known without simulation");
    return {app->group("Commands"), {}, "tilewalk-verify"};
}

}  // namespace tilewalk::cli
