// SPDX-License-Identifier: Apache-2.0
// Kernels compiled beside a walk: on as many threads as allowed, each once, and none after the end.
#include "engine/walk/cuda/compile/kernels_ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tilewalk/error.h"

namespace tilewalk::cuda::kernels_ahead_test {
namespace {

class watched_compiler final : public compiler {
  public:
    compiled compile(const compile_request& what, bool) override {
        ++begun;
        {
            const std::lock_guard guard(lock_);
            ++count_[what.text];
        }
        gate.wait();
        if (what.text == "wrong") throw error(error_kind::compile, "refused as planned");
        return {what.text, "", ""};
    }
    std::string fingerprint() const override { return "watched"; }
    void open() { door_.set_value(); }
    std::map<std::string, int> count() {
        const std::lock_guard guard(lock_);
        return count_;
    }

    std::atomic<int> begun = 0;

  private:
    std::promise<void> door_;
    std::shared_future<void> gate = door_.get_future().share();
    std::mutex lock_;
    std::map<std::string, int> count_;
};

void wait_until(const std::function<bool()>& is_so) {
    while (!is_so()) std::this_thread::yield();
}

TEST(kernels_ahead, are_compiled_on_as_many_threads_as_allowed) {
    watched_compiler by;
    kernel_store store(by, {});
    std::atomic<int> done = 0, failed = 0;
    kernels_ahead ahead(store);
    for (const char* const text : {"a", "b", "wrong", "d", "e"})
        EXPECT_TRUE(ahead.want({text, "sm_90", {}}, 2, [&](const std::optional<error>& why) {
            ++done;
            if (why) ++failed;
        }));
    wait_until([&] { return by.begun == 2; });
    EXPECT_EQ(ahead.at_work(), 2);
    by.open();
    wait_until([&] { return done == 5 && ahead.at_work() == 0; });
    EXPECT_EQ(failed, 1);
    EXPECT_NE(store.known({"e", "sm_90", {}}), nullptr);
    EXPECT_EQ(store.known({"wrong", "sm_90", {}}), nullptr);
    EXPECT_EQ(store.known({"e", "sm_80", {}}), nullptr) << "of another architecture";
}

TEST(kernels_ahead, of_later_walks_are_compiled_one_by_one_and_once) {
    watched_compiler by;
    kernel_store store(by, {});
    kernels_ahead ahead(store);
    for (int turn = 0; turn < 3; ++turn)
        for (const char* const text : {"a", "b", "c"}) ahead.want_later({text, "sm_90", {}});
    wait_until([&] { return by.begun == 1; });
    EXPECT_EQ(ahead.at_work(), 0) << "no walk waits for them";
    by.open();
    wait_until([&] { return store.known({"c", "sm_90", {}}) != nullptr; });
    EXPECT_EQ(by.count(), (std::map<std::string, int>{{"a", 1}, {"b", 1}, {"c", 1}}));
}

TEST(kernels_ahead, are_dropped_at_the_end) {
    watched_compiler by;
    kernel_store store(by, {});
    std::atomic<int> done = 0;
    std::jthread opener;
    {
        kernels_ahead ahead(store);
        for (const char* const text : {"a", "b", "c"})
            ahead.want({text, "sm_90", {}}, 1, [&](const std::optional<error>&) { ++done; });
        wait_until([&] { return by.begun == 1; });
        opener = std::jthread([&] {
            // Long enough for the end to begin, which then waits for the kernel that is being compiled.
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
            by.open();
        });
    }
    EXPECT_LE(by.begun, 2);
    EXPECT_EQ(done, by.begun);
}

TEST(kernels_ahead, cost_what_was_measured) {
    watched_compiler by;
    by.open();
    kernel_store store(by, {});
    kernels_ahead ahead(store);
    const double guess = ahead.seconds_of_kernel();
    EXPECT_GT(guess, 0.1);
    std::atomic<int> done = 0;
    for (int k = 0; k < 50; ++k)
        ahead.want({std::to_string(k), "sm_90", {}}, 1, [&](const std::optional<error>&) { ++done; });
    wait_until([&] { return done == 50 && ahead.at_work() == 0; });
    EXPECT_LT(ahead.seconds_of_kernel(), guess / 10) << "kernels of no work";
    EXPECT_EQ(ahead.missed("7"), 0);
    ahead.add_missed("7", 2);
    ahead.add_missed("7", 3);
    EXPECT_EQ(ahead.missed("7"), 5);
}

}  // namespace
}  // namespace tilewalk::cuda::kernels_ahead_test
