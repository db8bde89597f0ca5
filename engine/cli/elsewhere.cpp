// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/elsewhere.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tilewalk/error.h"

namespace tilewalk::cli {

namespace {

class call {
  public:
    call(const command& asked, const std::vector<std::string>& arguments) : copies_(arguments) {
        const auto self = std::filesystem::read_symlink("/proc/self/exe");
        path_ = (self.parent_path() / asked.program).string();
        words_.push_back(path_.data());
        for (std::string& word : copies_) words_.push_back(word.data());
        words_.push_back(nullptr);
    }
    call(const call&) = delete;
    call& operator=(const call&) = delete;

    const std::string& path() const { return path_; }
    char* const* words() const { return words_.data(); }

  private:
    std::string path_;
    std::vector<std::string> copies_;
    std::vector<char*> words_;
};

}  // namespace

void become(const command& asked, const std::vector<std::string>& arguments) {
    const call to(asked, arguments);
    ::execv(to.path().c_str(), to.words());
    if (errno != ENOENT) throw error(error_kind::io, std::strerror(errno), {to.path()});
    throw error(
        error_kind::usage,
        fmt::format("tilewalk {} is a program of its own, {}, which is missing; 'make commands' builds it",
                    asked.app->get_name(), to.path()));
}

std::string text_from(const command& asked, const std::vector<std::string>& arguments) {
    const call to(asked, arguments);
    if (!std::filesystem::exists(to.path())) return {};
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw error(error_kind::io, std::strerror(errno), {to.path()});
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pid_t process = 0;
    const int failed = ::posix_spawn(&process, to.path().c_str(), &actions, nullptr, to.words(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string out;
    std::array<char, 4096> block{};
    for (ssize_t got = 1; failed == 0 && (got > 0 || (got < 0 && errno == EINTR));) {
        got = ::read(ends[0], block.data(), block.size());
        if (got > 0) out.append(block.data(), static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    int status = 0;
    if (failed == 0) ::waitpid(process, &status, 0);
    if (failed != 0 || status != 0)
        throw error(error_kind::io,
                    failed != 0 ? std::strerror(failed) : "the program failed when asked to describe itself",
                    {to.path()});
    return out;
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
