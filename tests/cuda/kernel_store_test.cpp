// SPDX-License-Identifier: Apache-2.0
// The store of compiled kernels under all that disks, processes and threads may do to it. A fake compiler
// counts what it compiles.
#include "engine/walk/cuda/compile/kernel_store.h"
#include "tests/own_folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace kernel_store_test {
namespace {

namespace fs = std::filesystem;
using tilewalk::error;
using tilewalk::error_kind;
using tilewalk::cuda::compile_request;
using tilewalk::cuda::kernel_store;

// A cubin of the fake compiler: has all byte values, and is so long that a file takes several writes.
std::string cubin_of(const compile_request& what, const std::string& version) {
    std::string cubin =
        "\x7f"
        "ELF " +
        what.architecture + ' ' + version + ' ' + what.text + '\0';
    for (int i = 0; i < 20'000; ++i) cubin += static_cast<char>(i * 7 + static_cast<int>(what.text.size()));
    return cubin;
}

class counting_compiler : public tilewalk::cuda::compiler {
  public:
    tilewalk::cuda::compiled compile(const compile_request& what, bool) override {
        ++calls;
        at_work(what);
        return {cubin_of(what, version), "", ""};
    }
    std::string fingerprint() const override { return version; }

    virtual void at_work(const compile_request&) {}

    std::string version = "fake 1";
    std::atomic<int> calls = 0;
};

struct folder {
    fs::path only(const std::string& extension) const {
        std::vector<fs::path> found;
        for (const auto& file : fs::directory_iterator(path)) {
            if (file.path().extension() == extension) found.push_back(file.path());
        }
        EXPECT_EQ(found.size(), 1u) << extension;
        return found.empty() ? fs::path{} : found.front();
    }
    std::set<std::string> extensions() const {
        std::set<std::string> all;
        for (const auto& file : fs::directory_iterator(path)) all.insert(file.path().extension().string());
        return all;
    }

    tilewalk::tests::own_folder own;
    fs::path path = own.path();
};

std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

const compile_request request = {"extern \"C\" __global__ void f() {}\n", "sm_90"};

}  // namespace

TEST(kernel_store, keeps_a_kernel_for_the_next_run) {
    const folder at;
    counting_compiler builds;
    {
        kernel_store store(builds, at.path / "not" / "yet" / "there");
        const auto first = store.cubin(request);
        EXPECT_EQ(*first, cubin_of(request, "fake 1"));
        EXPECT_EQ(store.cubin(request), first);  // pointer to the same object
        EXPECT_EQ(store.so_far().compiled, 1u);
        EXPECT_EQ(store.so_far().from_memory, 1u);
        EXPECT_EQ(store.so_far().from_disk, 0u);
        EXPECT_EQ(store.why_not_kept(), "");
        EXPECT_EQ(store.folder(), at.path / "not" / "yet" / "there");
    }
    kernel_store next(builds, at.path / "not" / "yet" / "there");
    EXPECT_EQ(*next.cubin(request), cubin_of(request, "fake 1"));
    EXPECT_EQ(next.so_far().from_disk, 1u);
    EXPECT_EQ(next.so_far().compiled, 0u);
    EXPECT_EQ(builds.calls, 1);
}

TEST(kernel_store, keeps_the_text_beside_it_and_nothing_else) {
    const folder at;
    counting_compiler builds;
    kernel_store store(builds, at.path);
    store.cubin(request);
    EXPECT_EQ(at.extensions(), (std::set<std::string>{".cu", ".cubin"}));
    EXPECT_EQ(at.only(".cu").stem(), at.only(".cubin").stem());
    EXPECT_EQ(read(at.only(".cu")), "// For sm_90 by fake 1\n" + request.text);
}

TEST(kernel_store, tells_text_architecture_and_compiler_apart) {
    const folder at;
    counting_compiler builds;
    kernel_store store(builds, at.path);
    const std::vector<compile_request> all = {request,
                                              {request.text, "sm_80"},
                                              {request.text + ' ', "sm_90"},
                                              {request.text + "sm_90", ""},
                                              {"", request.text + "sm_90"},
                                              {request.text, "sm_90", {{"/toolkit"}, "its digest"}},
                                              {request.text, "sm_90", {{"/toolkit"}, "another"}}};
    for (int round = 0; round < 2; ++round) {
        for (const auto& one : all) EXPECT_EQ(*store.cubin(one), cubin_of(one, "fake 1"));
    }
    EXPECT_EQ(builds.calls, 7);
    builds.version = "fake 2";
    kernel_store newer(builds, at.path);
    for (const auto& one : all) EXPECT_EQ(*newer.cubin(one), cubin_of(one, "fake 2"));
    EXPECT_EQ(newer.so_far().from_disk, 0u);
    EXPECT_EQ(newer.so_far().damaged, 0u);
}

TEST(kernel_store, works_in_memory_alone) {
    counting_compiler builds;
    kernel_store store(builds, {});
    store.cubin(request);
    store.cubin(request);
    EXPECT_EQ(builds.calls, 1);
    EXPECT_NE(store.why_not_kept(), "");
    EXPECT_EQ(store.folder(), "");
}

TEST(kernel_store, builds_a_truncated_entry_again) {
    const folder at;
    counting_compiler builds;
    kernel_store(builds, at.path).cubin(request);
    const fs::path entry = at.only(".cubin");
    const std::string whole = read(entry);
    const std::size_t head = whole.size() - cubin_of(request, "fake 1").size();
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{1}, std::size_t{17}, std::size_t{18}, head - 66, head - 65, head - 1,
          head, head + 1, whole.size() / 2, whole.size() - 4096, whole.size() - 1}) {
        write(entry, whole.substr(0, length));
        kernel_store store(builds, at.path);
        EXPECT_EQ(*store.cubin(request), cubin_of(request, "fake 1")) << length;
        EXPECT_EQ(store.so_far().damaged, 1u) << length;
        EXPECT_EQ(store.so_far().compiled, 1u) << length;
        EXPECT_EQ(read(entry), whole) << length;
    }
    write(entry, whole + '\0');
    kernel_store store(builds, at.path);
    EXPECT_EQ(*store.cubin(request), cubin_of(request, "fake 1"));
    EXPECT_EQ(store.so_far().damaged, 1u);
}

TEST(kernel_store, builds_an_entry_with_a_wrong_bit_again) {
    const folder at;
    counting_compiler builds;
    kernel_store(builds, at.path).cubin(request);
    const fs::path entry = at.only(".cubin");
    const std::string whole = read(entry);
    const std::size_t head = whole.size() - cubin_of(request, "fake 1").size();
    std::vector<std::size_t> places = {head, head + 1, whole.size() / 2, whole.size() - 1};
    for (std::size_t i = 0; i < head; i += 5) places.push_back(i);
    for (const std::size_t place : places) {
        std::string changed = whole;
        changed[place] = static_cast<char>(changed[place] ^ (1 << place % 8));
        write(entry, changed);
        kernel_store store(builds, at.path);
        EXPECT_EQ(*store.cubin(request), cubin_of(request, "fake 1")) << place;
        EXPECT_EQ(store.so_far().damaged, 1u) << place;
        EXPECT_EQ(read(entry), whole) << place;
    }
}

TEST(kernel_store, refuses_the_entry_of_another_kernel) {
    const folder at;
    counting_compiler builds;
    kernel_store(builds, at.path).cubin(request);
    const fs::path entry = at.only(".cubin");
    const compile_request other = {request.text + "// other", "sm_90"};
    std::string other_entry;
    {
        const folder elsewhere;
        kernel_store(builds, elsewhere.path).cubin(other);
        other_entry = read(elsewhere.only(".cubin"));
    }
    write(entry, other_entry);
    kernel_store store(builds, at.path);
    EXPECT_EQ(*store.cubin(request), cubin_of(request, "fake 1"));
    EXPECT_EQ(store.so_far().damaged, 1u);
}

TEST(kernel_store, takes_no_pipe_and_no_folder_for_an_entry) {
    const folder at;
    counting_compiler builds;
    kernel_store(builds, at.path).cubin(request);
    const fs::path entry = at.only(".cubin");
    fs::remove(entry);
    ASSERT_EQ(::mkfifo(entry.c_str(), 0600), 0);
    {
        kernel_store store(builds, at.path);
        EXPECT_EQ(*store.cubin(request), cubin_of(request, "fake 1"));
        EXPECT_EQ(store.so_far().damaged, 1u);
        EXPECT_EQ(store.why_not_kept(), "");
        EXPECT_TRUE(fs::is_regular_file(entry));
    }
    fs::remove(entry);
    fs::create_directories(entry / "in_the_way");
    kernel_store store(builds, at.path);
    EXPECT_EQ(*store.cubin(request), cubin_of(request, "fake 1"));
    EXPECT_EQ(store.so_far().damaged, 1u);
    EXPECT_NE(store.why_not_kept().find(entry.string()), std::string::npos) << store.why_not_kept();
    EXPECT_FALSE(at.extensions().contains(".tmp"));
}

TEST(kernel_store, says_why_a_folder_that_is_a_file_keeps_nothing) {
    const folder at;
    write(at.path / "file", "precious");
    counting_compiler builds;
    for (const fs::path& place : {at.path / "file", at.path / "file" / "below"}) {
        kernel_store store(builds, place);
        EXPECT_EQ(*store.cubin(request), cubin_of(request, "fake 1"));
        EXPECT_EQ(*store.cubin(request), cubin_of(request, "fake 1"));
        EXPECT_EQ(store.so_far().compiled, 1u);
        EXPECT_NE(store.why_not_kept().find(place.string()), std::string::npos) << store.why_not_kept();
        EXPECT_NE(store.why_not_kept().find("Not a directory"), std::string::npos) << store.why_not_kept();
    }
    EXPECT_EQ(read(at.path / "file"), "precious");
}

TEST(kernel_store, reads_a_folder_that_it_must_not_write) {
    const folder at;
    counting_compiler builds;
    kernel_store(builds, at.path).cubin(request);
    // Root may write in spite of file permissions, so a child without privileges uses the store.
    fs::permissions(at.path, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::group_read |
                                 fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec);
    const ::pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
        kernel_store store(builds, at.path);
        if (*store.cubin(request) != cubin_of(request, "fake 1")) ::_exit(2);
        if (store.so_far().from_disk != 1 || !store.why_not_kept().empty()) ::_exit(3);
        const compile_request other = {"other", "sm_80"};
        if (*store.cubin(other) != cubin_of(other, "fake 1")) ::_exit(4);
        if (*store.cubin(other) != cubin_of(other, "fake 1")) ::_exit(5);
        if (store.so_far().compiled != 1 || store.so_far().from_memory != 1) ::_exit(6);
        if (store.why_not_kept().find("Permission denied") == std::string::npos) ::_exit(7);
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(kernel_store, leaves_no_half_entry_on_a_full_disk) {
    const folder at;
    counting_compiler builds;
    // A limit on file size acts as a full disk: one write stops short, the next one fails.
    const ::pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const ::rlimit small = {5'000, RLIM_INFINITY};
        if (::setrlimit(RLIMIT_FSIZE, &small) != 0) ::_exit(1);
        kernel_store store(builds, at.path);
        if (*store.cubin(request) != cubin_of(request, "fake 1")) ::_exit(2);
        if (*store.cubin(request) != cubin_of(request, "fake 1")) ::_exit(3);
        if (store.so_far().compiled != 1) ::_exit(4);
        if (store.why_not_kept().find("File too large") == std::string::npos) ::_exit(5);
        const ::rlimit enough = {RLIM_INFINITY, RLIM_INFINITY};
        if (::setrlimit(RLIMIT_FSIZE, &enough) != 0) ::_exit(6);
        store.cubin({"next", "sm_90"});
        ::_exit(store.why_not_kept().empty() ? 0 : 7);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_FALSE(at.extensions().contains(".tmp"));
    kernel_store store(builds, at.path);
    store.cubin({"next", "sm_90"});
    EXPECT_EQ(store.so_far().from_disk, 1u);
    store.cubin(request);
    EXPECT_EQ(store.so_far().damaged, 0u);
    EXPECT_EQ(store.so_far().compiled, 1u);
}

TEST(kernel_store, many_processes_share_a_folder) {
    constexpr int processes = 8, texts = 6, rounds = 5;
    const folder at;
    std::vector<::pid_t> children;
    for (int p = 0; p < processes; ++p) {
        const ::pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            for (int round = 0; round < rounds; ++round) {
                counting_compiler builds;
                kernel_store store(builds, at.path);
                for (int t = 0; t < texts; ++t) {
                    const compile_request what = {"text " + std::to_string((t + p) % texts), "sm_90"};
                    if (*store.cubin(what) != cubin_of(what, "fake 1")) ::_exit(1);
                }
                if (store.so_far().damaged != 0) ::_exit(2);
                if (!store.why_not_kept().empty()) ::_exit(3);
                // Removes entries while other processes use them, so that every round is a race.
                if (round + 1 < rounds) {
                    std::error_code ignored;
                    for (const auto& file : fs::directory_iterator(at.path, ignored)) {
                        if (file.path().extension() == ".cubin") fs::remove(file.path(), ignored);
                    }
                }
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (const ::pid_t child : children) {
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    EXPECT_FALSE(at.extensions().contains(".tmp"));
}

namespace {

class meeting_compiler : public counting_compiler {
  public:
    explicit meeting_compiler(int together) : meet_(together) {}
    void at_work(const compile_request&) override { meet_.arrive_and_wait(); }

  private:
    std::latch meet_;
};

}  // namespace

TEST(kernel_store, different_texts_build_in_parallel) {
    constexpr int threads = 4;
    meeting_compiler builds(threads);  // each waits for the others: hangs unless they build in parallel
    kernel_store store(builds, {});
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t) {
        all.emplace_back([&, t] { store.cubin({"text " + std::to_string(t), "sm_90"}); });
    }
    all.clear();
    EXPECT_EQ(store.so_far().compiled, 4u);
}

TEST(kernel_store, one_text_is_built_once) {
    constexpr int threads = 8, texts = 20;
    const folder at;
    counting_compiler builds;
    kernel_store store(builds, at.path);
    std::latch start(threads);
    std::vector<std::jthread> all;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < threads; ++t) {
        all.emplace_back([&] {
            start.arrive_and_wait();
            for (int i = 0; i < texts; ++i) {
                const compile_request what = {"text " + std::to_string(i), "sm_90"};
                if (*store.cubin(what) != cubin_of(what, "fake 1")) ++wrong;
            }
        });
    }
    all.clear();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(builds.calls, texts);
    EXPECT_EQ(store.so_far().compiled, 20u);
    EXPECT_EQ(store.so_far().from_memory, 140u);
}

namespace {

class failing_compiler : public counting_compiler {
  public:
    void at_work(const compile_request&) override {
        if (calls > 1) return;
        started.count_down();
        std::unique_lock lock(guard_);
        changed_.wait(lock, [&] { return let_go_; });
        throw error(error_kind::compile, "no such thing");
    }
    void let_go() {
        const std::lock_guard lock(guard_);
        let_go_ = true;
        changed_.notify_all();
    }
    std::latch started{1};

  private:
    std::mutex guard_;
    std::condition_variable changed_;
    bool let_go_ = false;
};

}  // namespace

TEST(kernel_store, a_failure_reaches_all_who_wait_and_is_forgotten) {
    const folder at;
    failing_compiler builds;
    kernel_store store(builds, at.path);
    std::atomic<int> told = 0, served = 0;
    const auto ask = [&] {
        try {
            store.cubin(request);
            ++served;
        } catch (const error& e) {
            told += e.kind() == error_kind::compile && e.message() == "no such thing";
        }
    };
    std::vector<std::jthread> all;
    all.emplace_back(ask);
    builds.started.wait();
    // Each caller finds the build under way and its failure, or comes later and builds with success.
    for (int t = 0; t < 3; ++t) all.emplace_back(ask);
    builds.let_go();
    all.clear();
    EXPECT_GE(told, 1);
    EXPECT_EQ(told + served, 4);
    EXPECT_EQ(*store.cubin(request), cubin_of(request, "fake 1"));
    EXPECT_EQ(builds.calls, 2);
    EXPECT_EQ(store.so_far().compiled, 1u);
    EXPECT_EQ(store.so_far().damaged, 0u);
}

TEST(kernel_store, a_relative_folder_stays_where_it_was) {
    const folder at;
    const fs::path before = fs::current_path();
    fs::current_path(at.path);
    counting_compiler builds;
    kernel_store store(builds, "kernels");
    fs::current_path(before);
    store.cubin(request);
    EXPECT_TRUE(fs::exists(at.path / "kernels"));
}

TEST(kernel_store, the_usual_folder_follows_the_environment) {
    const std::vector<const char*> names = {"TILEWALK_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
    struct kept {
        const char* name;
        bool was_set;
        std::string value;
    };
    std::vector<kept> before;
    for (const char* name : names) {
        const char* value = std::getenv(name);
        before.push_back({name, value != nullptr, value != nullptr ? value : ""});
    }
    struct {
        const char *tilewalk, *xdg, *home, *expected;
    } const cases[] = {
        {"/a", "/b", "/c", "/a"},
        {"a", "/b", "/c", "a"},
        {nullptr, "/b", "/c", "/b/tilewalk"},
        {"", "/b", "/c", "/b/tilewalk"},
        {nullptr, "b", "/c", "/c/.cache/tilewalk"},
        {nullptr, "", "/c", "/c/.cache/tilewalk"},
        {nullptr, nullptr, "/c", "/c/.cache/tilewalk"},
        {nullptr, nullptr, "", ""},
        {nullptr, nullptr, nullptr, ""},
    };
    const auto set = [](const char* name, const char* value) {
        if (value != nullptr) {
            ::setenv(name, value, 1);
        } else {
            ::unsetenv(name);
        }
    };
    for (const auto& one : cases) {
        set("TILEWALK_CACHE_DIR", one.tilewalk);
        set("XDG_CACHE_HOME", one.xdg);
        set("HOME", one.home);
        EXPECT_EQ(tilewalk::cuda::default_cache_folder(), one.expected) << one.expected;
    }
    for (const auto& one : before) set(one.name, one.was_set ? one.value.c_str() : nullptr);
}

// Somebody else may have written what lies in a folder or an entry that is not this user's alone.
TEST(kernel_store, uses_nothing_that_somebody_else_may_have_written) {
    const folder at;
    counting_compiler builds;
    const fs::path cache = at.path / "cache";
    const auto compiled = [&](const std::string& why, const std::string& kept) {
        kernel_store store(builds, cache);
        EXPECT_EQ(*store.cubin(request), cubin_of(request, "fake 1"));
        EXPECT_EQ(store.why_foreign(), why);
        EXPECT_EQ(store.why_not_kept(), kept);
        EXPECT_EQ(store.so_far().damaged, 0u);
        return store.so_far().compiled == 1;
    };
    EXPECT_TRUE(compiled("", ""));
    struct stat made {};
    ASSERT_EQ(::stat(cache.c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0777, 0700u) << "a new cache is for its owner alone";
    EXPECT_FALSE(compiled("", ""));
    fs::path entry;
    for (const auto& file : fs::directory_iterator(cache))
        if (file.path().extension() == ".cubin") entry = file.path();
    ASSERT_EQ(::stat(entry.c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 022, 0u);

    for (const ::mode_t others : {020U, 002U}) {
        ASSERT_EQ(::chmod(entry.c_str(), 0644U | others), 0);
        EXPECT_TRUE(compiled(entry.string() + " may be written by others", "")) << "an entry";
        EXPECT_FALSE(compiled("", "")) << "replaced by one of our own";
        ASSERT_EQ(::chmod(cache.c_str(), 0755U | others), 0);
        const std::string why = cache.string() + " may be written by others";
        EXPECT_TRUE(compiled(why, why)) << "a folder";
        EXPECT_EQ(tilewalk::cuda::why_not_kept_in(cache), why);
        ASSERT_EQ(::chmod(cache.c_str(), 0755), 0);
        EXPECT_FALSE(compiled("", "")) << "others may read it";
    }
    if (::geteuid() != 0) return;  // only root can give files away
    ASSERT_EQ(::chown(entry.c_str(), 54321, 54321), 0);
    EXPECT_TRUE(compiled(entry.string() + " belongs to user 54321", ""));
    ASSERT_EQ(::chown(cache.c_str(), 54321, 54321), 0);
    const std::string why = cache.string() + " belongs to user 54321";
    EXPECT_TRUE(compiled(why, why));
    // A process of that user takes entries of root's.
    ASSERT_EQ(::chmod(at.path.c_str(), 0755), 0);
    const ::pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        if (::setuid(54321) != 0) ::_exit(2);
        kernel_store store(builds, cache);
        ::_exit(*store.cubin(request) == cubin_of(request, "fake 1") && store.so_far().from_disk == 1 &&
                        store.why_foreign().empty()
                    ? 0
                    : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST(kernel_store, says_of_a_folder_why_it_keeps_nothing) {
    using tilewalk::cuda::why_not_kept_in;
    const tilewalk::tests::own_folder folder;
    EXPECT_EQ(why_not_kept_in(folder.path()), "");
    EXPECT_EQ(why_not_kept_in(folder / "made" / "later"), "");
    EXPECT_FALSE(std::filesystem::exists(folder / "made")) << "looking makes nothing";
    EXPECT_NE(why_not_kept_in({}).find("HOME"), std::string::npos);
    const std::string file = folder.write("file", "").string();
    EXPECT_EQ(why_not_kept_in(file), file + " is no folder");
    EXPECT_EQ(why_not_kept_in(file + "/below"), file + " is no folder");
    if (::geteuid() == 0) return;  // permissions don't stop root
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read);
    EXPECT_EQ(why_not_kept_in(folder.path()), folder.path().string() + ": Permission denied");
}

}  // namespace kernel_store_test
