// SPDX-License-Identifier: Apache-2.0
// Runs the command in a folder of its own, as a user does, and collects output and exit code.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/own_folder.h"
#include "tests/texts.h"

namespace tilewalk::tests {

using arguments = std::vector<std::string>;

struct finished {
    int code = -1;  // exit code, or 128 plus the signal that ended the process
    std::string out, err;
};

struct surroundings {
    std::map<std::string, std::string> variables;
    int out = -1, err = -1;  // descriptors for its output; negative: collected
    bool close_stdout = false;
    rlim_t largest_file = RLIM_INFINITY;
    int in = -1;  // descriptor for its input; negative: the test's own
    std::string program = TILEWALK_CLI;
};

class running {
  public:
    running(const arguments& with, const std::filesystem::path& folder, const surroundings& in)
        : out_(::memfd_create("out", MFD_CLOEXEC)), err_(::memfd_create("err", MFD_CLOEXEC)) {
        std::vector<std::string> words{in.program};
        words.insert(words.end(), with.begin(), with.end());
        std::vector<std::string> variables;
        for (char** entry = environ; *entry != nullptr; ++entry)
            if (const std::string_view one = *entry;
                !one.starts_with("TILEWALK_") && !one.starts_with("COLUMNS="))
                variables.emplace_back(*entry);
        for (const auto& [name, value] : in.variables) variables.push_back(name + "=" + value);
        const auto pointers = [](std::vector<std::string>& texts) {
            std::vector<char*> list;
            for (auto& text : texts) list.push_back(text.data());
            list.push_back(nullptr);
            return list;
        };
        auto argv = pointers(words), envp = pointers(variables);
        pid_ = ::fork();
        if (pid_ != 0) return;
        // The command must not inherit an ignored SIGINT from a test that runs as a shell's background job.
        for (const int number : {SIGINT, SIGTERM, SIGPIPE}) std::signal(number, SIG_DFL);
        const rlimit limit{in.largest_file, in.largest_file};
        const bool ready = ::chdir(folder.c_str()) == 0 &&
                           ::dup2(in.out >= 0 ? in.out : out_, STDOUT_FILENO) >= 0 &&
                           ::dup2(in.err >= 0 ? in.err : err_, STDERR_FILENO) >= 0 &&
                           (in.in < 0 || ::dup2(in.in, STDIN_FILENO) >= 0) &&
                           (in.largest_file == RLIM_INFINITY || ::setrlimit(RLIMIT_FSIZE, &limit) == 0);
        if (in.close_stdout) ::close(STDOUT_FILENO);
        if (ready) ::execve(argv[0], argv.data(), envp.data());
        ::_exit(99);
    }
    ~running() {
        if (pid_ > 0) wait();
        ::close(out_);
        ::close(err_);
    }
    running(const running&) = delete;
    running& operator=(const running&) = delete;

    void send(int number) const { ::kill(pid_, number); }
    std::string said_on_stderr() const { return contents(err_); }

    void wait_until_at_work() const {
        for (int i = 0; i < 2000; ++i) {
            std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
            std::string word, mask;
            while (status >> word)
                if (word == "SigCgt:") status >> mask;
            if (!mask.empty() && (std::stoull(mask, nullptr, 16) >> (SIGINT - 1) & 1U) != 0) break;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(400));
    }

    finished wait() {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(out_),
                contents(err_)};
    }

  private:
    static std::string contents(int descriptor) {
        std::string text;
        char block[4096];
        for (ssize_t n = 0, at = 0; (n = ::pread(descriptor, block, sizeof block, at)) > 0; at += n)
            text.append(block, static_cast<std::size_t>(n));
        return text;
    }

    int out_, err_;
    pid_t pid_ = -1;
};

inline std::string shown(const arguments& with, const finished& got) {
    std::string text = "tilewalk";
    for (const auto& word : with) text += " " + word;
    return text + "\nexit code " + std::to_string(got.code) + "\nstdout:\n" + got.out + "\nstderr:\n" +
           got.err;
}

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class command_test : public testing::Test {
  protected:
    void put(const std::string& name, const std::string& text) const { own.write(name, text); }
    finished run(const arguments& with, const surroundings& in = {}) const {
        return running(with, folder, in).wait();
    }
    void expect(const arguments& with, int code, const std::string& said_on_stderr,
                const surroundings& in = {}) const {
        const finished got = run(with, in);
        EXPECT_EQ(got.code, code) << shown(with, got);
        EXPECT_TRUE(has(got.err, said_on_stderr)) << "expected '" << said_on_stderr << "'\n"
                                                  << shown(with, got);
        EXPECT_TRUE(code != 2 || got.out.empty()) << shown(with, got);
    }
    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            names.insert(entry.path().filename().string());
        return names;
    }

    own_folder own;
    std::filesystem::path folder = own.path();
};

}  // namespace tilewalk::tests
