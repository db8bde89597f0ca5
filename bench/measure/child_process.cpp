// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>

#include "tilewalk/error.h"

extern char** environ;

namespace tilewalk::bench {

namespace {

constexpr std::size_t most_of_error = 4096;

// Both ends of a pipe, closed by the destructor; child processes started elsewhere do not inherit them.
class pipe_ends {
  public:
    pipe_ends() {
        if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
            throw error(error_kind::io, std::string("no pipe to a program: ") + std::strerror(errno));
        }
    }
    ~pipe_ends() {
        close_one(0);
        close_one(1);
    }
    pipe_ends(const pipe_ends&) = delete;
    pipe_ends& operator=(const pipe_ends&) = delete;

    int to_read() const { return ends_[0]; }
    int to_write() const { return ends_[1]; }
    void close_writing() { close_one(1); }
    void close_reading() { close_one(0); }

  private:
    void close_one(std::size_t i) {
        if (ends_[i] >= 0) ::close(ends_[i]);
        ends_[i] = -1;
    }
    std::array<int, 2> ends_{-1, -1};
};

// A running child process and all processes that it started; the destructor kills them if they still run.
class process {
  public:
    explicit process(pid_t id) : id_(id) {}
    ~process() {
        if (!has_ended_) {
            kill_all();
            wait();
        }
    }
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    void kill_all() const { ::kill(-id_, SIGKILL); }
    // Waits for the end. Returns the exit code or signal in words; empty if the program ended well.
    std::string wait() {
        int status = 0;
        while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
        }
        has_ended_ = true;
        if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
        return "ended with exit code " + std::to_string(WEXITSTATUS(status));
    }

  private:
    pid_t id_;
    bool has_ended_ = false;
};

int spawn(const std::vector<std::string>& command, const pipe_ends& output, const pipe_ends& errors,
          pid_t& id) {
    std::vector<char*> arguments;
    for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output.to_write(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, errors.to_write(), 2);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    const int failed =
        ::posix_spawnp(&id, command.at(0).c_str(), &actions, &attributes, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    return failed;
}

std::string last_line(const std::string& text) {
    const std::size_t end = text.find_last_not_of(" \n\r\t");
    if (end == std::string::npos) return {};
    const std::size_t begin = text.find_last_of('\n', end);
    return text.substr(begin == std::string::npos ? 0 : begin + 1,
                       end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace

child_outcome run_child(const std::vector<std::string>& command, double seconds, std::size_t most_output,
                        const std::atomic<bool>* cancel) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::duration<double>(seconds);
    pipe_ends output, errors;
    pid_t id = 0;
    child_outcome out;
    if (const int failed = spawn(command, output, errors, id); failed != 0) {
        out.has_started = false;
        out.why_not = "can't run " + command.at(0) + ": " + std::strerror(failed);
        return out;
    }
    process child(id);
    output.close_writing();
    errors.close_writing();
    std::string said;
    const auto stop = [&](const std::string& why) {
        child.kill_all();
        child.wait();
        out.why_not = why;
    };
    while (out.why_not.empty() && (output.to_read() >= 0 || errors.to_read() >= 0)) {
        if (cancel != nullptr && *cancel) throw error(error_kind::cancelled, "stopped");
        if (clock::now() > end) {
            stop("was still at work after " + std::to_string(static_cast<int>(seconds)) + " s");
            break;
        }
        std::array<pollfd, 2> ends{{{output.to_read(), POLLIN, 0}, {errors.to_read(), POLLIN, 0}}};
        if (::poll(ends.data(), ends.size(), 100) <= 0) continue;
        std::array<char, 4096> piece{};
        const auto read_from = [&](std::size_t i, pipe_ends& from) -> std::string_view {
            if (from.to_read() < 0 || ends[i].revents == 0) return {};
            const ssize_t got = ::read(from.to_read(), piece.data(), piece.size());
            if (got > 0) return {piece.data(), static_cast<std::size_t>(got)};
            if (got == 0 || errno != EINTR) from.close_reading();
            return {};
        };
        out.output += read_from(0, output);
        said += read_from(1, errors);
        if (said.size() > 2 * most_of_error) said.erase(0, said.size() - most_of_error);
        if (out.output.size() > most_output) stop("wrote more than is read");
    }
    out.last_error = last_line(said);
    if (out.why_not.empty()) out.why_not = child.wait();
    return out;
}

}  // namespace tilewalk::bench
