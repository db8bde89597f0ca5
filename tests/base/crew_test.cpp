// SPDX-License-Identifier: Apache-2.0
// A crew of threads does each piece of work once, and is ready again after a failure or a stop.
#include "engine/base/crew.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tilewalk/devices.h"
#include "tilewalk/error.h"

namespace tilewalk::threads::crew_test {
namespace {

void expect_each_once(crew& of, std::uint64_t count, const std::function<void()>& watch) {
    std::vector<std::atomic<int>> times(count);
    std::mutex lock;
    std::set<int> numbers;
    of.for_each(
        count, nullptr,
        [&](int thread, std::uint64_t i) {
            ++times[i];
            const std::lock_guard guard(lock);
            numbers.insert(thread);
        },
        watch);
    for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(times[i], 1) << i << " of " << count;
    for (const int n : numbers) EXPECT_TRUE(n >= 0 && n < of.threads()) << n;
}

TEST(crew, does_each_piece_once_round_after_round) {
    for (const int threads : {1, 2, 5}) {
        crew of(threads);
        for (int round = 0; round < 200; ++round) {
            const auto count = static_cast<std::uint64_t>(round % 7);
            expect_each_once(of, count, {});
            expect_each_once(of, count, [] {});
        }
        EXPECT_LE(of.started(), static_cast<std::size_t>(threads));
        expect_each_once(of, 1000, {});
    }
}

TEST(crew, has_a_thread_for_each_core_that_the_process_may_use) {
    std::thread([] {
        const int at = sched_getcpu();
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(at), &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        EXPECT_EQ(usable_cores(), 1);
        EXPECT_EQ(asked_or_cores(0), 1);
        EXPECT_EQ(asked_or_cores(3), 3);
        EXPECT_EQ(describe_devices().processor.threads, 1);
    }).join();
    EXPECT_GE(usable_cores(), 1);
}

TEST(crew, without_a_watch_the_caller_works_and_one_thread_needs_no_other) {
    crew alone(1);
    std::set<std::thread::id> who;
    alone.for_each(10, nullptr, [&](int, std::uint64_t) { who.insert(std::this_thread::get_id()); }, {});
    EXPECT_EQ(who, std::set{std::this_thread::get_id()});
    EXPECT_EQ(alone.started(), 0U);
}

TEST(crew, keeps_its_threads) {
    crew of(3);
    for (int round = 0; round < 50; ++round) expect_each_once(of, 20, {});
    EXPECT_EQ(of.started(), 2U) << "beside the caller";
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Limits the address space to `bytes` more than is in use, while it lives, to imitate a shortage of memory.
class little_memory {
  public:
    explicit little_memory(::rlim_t bytes) {
        std::ifstream sizes("/proc/self/statm");
        ::rlim_t pages = 0;
        sizes >> pages;
        if (::getrlimit(RLIMIT_AS, &before_) != 0) ADD_FAILURE();
        ::rlimit small = before_;
        small.rlim_cur = pages * static_cast<::rlim_t>(::sysconf(_SC_PAGESIZE)) + bytes;
        if (::setrlimit(RLIMIT_AS, &small) != 0) ADD_FAILURE();
    }
    ~little_memory() { ::setrlimit(RLIMIT_AS, &before_); }
    little_memory(const little_memory&) = delete;
    little_memory& operator=(const little_memory&) = delete;

  private:
    ::rlimit before_{};
};

TEST(crew, does_all_the_work_with_the_threads_that_the_system_gives) {
    crew of(400);
    expect_each_once(of, 41, [] {});  // starts threads that then wait; some must go below
    {
        const little_memory at_hand(100 << 20);
        expect_each_once(of, 1000, [] {});
    }
    const std::size_t given = of.started();
    EXPECT_GT(given, 0U);
    EXPECT_LT(given, 100U);
    expect_each_once(of, 1000, [] {});
    EXPECT_EQ(of.started(), given) << "no more are asked for";
}
#endif

TEST(crew, first_failure_comes_back_and_the_next_round_is_whole) {
    for (const bool is_watched : {false, true}) {
        crew of(4);
        const auto watch = is_watched ? std::function<void()>([] {}) : std::function<void()>();
        for (int round = 0; round < 20; ++round) {
            EXPECT_THROW(of.for_each(
                             100, nullptr,
                             [](int, std::uint64_t i) {
                                 if (i % 10 == 3) throw std::runtime_error("three");
                             },
                             watch),
                         std::runtime_error);
            expect_each_once(of, 100, watch);
        }
    }
}

TEST(crew, stops_when_it_is_told_to) {
    crew of(3);
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> done{0}, begun_late{0};
    try {
        of.for_each(1'000'000'000, &stop,
                    [&](int, std::uint64_t) {
                        if (stop) ++begun_late;
                        if (++done == 50) stop = true;
                    },
                    {});
        ADD_FAILURE() << "it went on";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::cancelled);
    }
    EXPECT_LE(begun_late, 3U) << "each thread ends the piece that it has";
    EXPECT_THROW(of.for_each(0, &stop, {}, {}), error) << "also where there is nothing to do";
    expect_each_once(of, 100, {});
}

TEST(crew, short_tasks_are_done_once_each) {
    for (const std::uint64_t count : {0U, 1U, 31U, 32U, 33U, 511U, 512U, 513U, 5000U}) {
        for (const int threads : {1, 2, 5}) {
            std::vector<std::atomic<int>> times(count);
            std::atomic<int> most{0};
            for_each_short(count, threads, [&](int thread, std::uint64_t i) {
                ++times[i];
                if (thread > most) most = thread;
            });
            for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(times[i], 1) << i << " of " << count;
            EXPECT_LT(most, count < 512 ? 1 : threads) << count;
        }
    }
    EXPECT_THROW(for_each_short(1000, 3, [](int, std::uint64_t) { throw std::runtime_error("task"); }),
                 std::runtime_error);
}

TEST(crew, threads_are_those_asked_for_or_one_a_core) {
    EXPECT_EQ(asked_or_cores(3), 3);
    EXPECT_GE(asked_or_cores(0), 1);
}

TEST(crew, a_watch_that_throws_ends_the_round) {
    crew of(2);
    std::atomic<bool> is_over{false};
    EXPECT_THROW(of.for_each(
                     2, nullptr,
                     [&](int, std::uint64_t) {
                         while (!is_over) std::this_thread::yield();
                     },
                     [&] {
                         is_over = true;
                         throw std::runtime_error("watch");
                     }),
                 std::runtime_error);
    expect_each_once(of, 100, {});
    std::atomic<int> begun{0};
    EXPECT_THROW(of.for_each(
                     100000, nullptr,
                     [&](int, std::uint64_t) {
                         ++begun;
                         std::this_thread::sleep_for(std::chrono::milliseconds(1));
                     },
                     [] { throw std::runtime_error("watch"); }),
                 std::runtime_error);
    EXPECT_LT(begun, 50000);
}

}  // namespace
}  // namespace tilewalk::threads::crew_test
