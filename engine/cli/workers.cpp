// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/workers.h"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <system_error>

#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"
#include "engine/cli/program.h"
#include "engine/cli/terminal/interrupt.h"
#include "engine/cli/terminal/status_line.h"
#include "tilewalk/error.h"

namespace tilewalk::cli {

namespace {

constexpr int most_replacements = 2;  // of a shard's process
constexpr useconds_t pause_microseconds = 10'000;

pid_t start(const std::vector<std::string>& arguments) {
    std::vector<std::string> copies = words_that_start_it();
    copies.insert(copies.end(), arguments.begin(), arguments.end());
    std::vector<char*> words;
    for (std::string& word : copies) words.push_back(word.data());
    words.push_back(nullptr);
    pid_t out = 0;
    const int failed = ::posix_spawn(&out, words.front(), nullptr, nullptr, words.data(), environ);
    if (failed != 0)
        throw machine_failure(
            error_kind::io, std::string("can't start a worker: ") + std::generic_category().message(failed));
    return out;
}

class workers_at_work {
  public:
    workers_at_work() = default;
    ~workers_at_work() {
        for (const auto& [process, shard] : shards_) ::kill(process, SIGTERM);
        for (const auto& [process, shard] : shards_) ::waitpid(process, nullptr, 0);
    }
    workers_at_work(const workers_at_work&) = delete;
    workers_at_work& operator=(const workers_at_work&) = delete;

    std::size_t count() const { return shards_.size(); }
    void add(pid_t process, std::size_t shard) { shards_.emplace(process, shard); }
    // The shard of a process that has ended, and its status from waitpid(); empty if none has.
    struct ended {
        std::size_t shard;
        int status;
    };
    std::optional<ended> next() {
        for (const auto& [process, shard] : shards_) {
            int status = 0;
            if (::waitpid(process, &status, WNOHANG) != process) continue;
            const ended out{shard, status};
            shards_.erase(process);
            return out;
        }
        return std::nullopt;
    }

  private:
    std::map<pid_t, std::size_t> shards_;
};

}  // namespace

int run_in_workers(const shards& plan, const std::filesystem::path& folder, shards::stage of,
                   std::size_t workers, const std::vector<std::string>& arguments) {
    const interrupt listening;
    std::deque<std::size_t> waiting;
    for (std::size_t number = 1; number <= plan.count(); ++number) waiting.push_back(number);
    std::map<std::size_t, int> replaced;
    std::size_t done = 0;
    status_line status;
    std::string shown;
    workers_at_work at_work;
    while (done < plan.count()) {
        listening.check();
        while (!waiting.empty() && at_work.count() < workers) {
            const std::size_t number = waiting.front();
            std::vector<std::string> words{"run", folder.string(), "--shard",
                                           fmt::format("{}/{}", number, plan.count()), "--quiet"};
            if (of == shards::stage::training) words.insert(words.end(), {"--stage", "training"});
            words.insert(words.end(), arguments.begin(), arguments.end());
            at_work.add(start(words), number);
            waiting.pop_front();
        }
        const auto ended = at_work.next();
        if (!ended) {
            const std::string text =
                fmt::format("{} of {} shards done, {} at work", done, plan.count(), at_work.count());
            if (text != shown) status.say(text);
            shown = text;
            ::usleep(pause_microseconds);
            continue;
        }
        const bool was_killed = WIFSIGNALED(ended->status);
        const int code = was_killed ? 0 : WEXITSTATUS(ended->status);
        if (!was_killed && code == all_well) {
            ++done;
            continue;
        }
        listening.check();  // Ctrl-C at a terminal reaches workers, too
        const std::string how = was_killed ? fmt::format("was killed by signal {}", WTERMSIG(ended->status))
                                           : fmt::format("ended with exit code {}", code);
        const bool may_be_replaced = was_killed || code == try_again || code > 128;
        if (!may_be_replaced) return code;
        if (++replaced[ended->shard] > most_replacements) {
            throw machine_failure(
                error_kind::io,
                fmt::format("the worker for shard {} {}, for the third time", ended->shard, how));
        }
        status.wipe();
        remark(
            fmt::format("tilewalk: warning: the worker for shard {} {}, and is replaced", ended->shard, how));
        waiting.push_front(ended->shard);
    }
    return all_well;
}

passing_folder::passing_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tilewalk-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) fail_to_write({name}, errno);
    at_ = name;
}

passing_folder::~passing_folder() {
    std::error_code unimportant;  // temporary files are cleaned up anyway
    std::filesystem::remove_all(at_, unimportant);
}

}  // namespace tilewalk::cli
