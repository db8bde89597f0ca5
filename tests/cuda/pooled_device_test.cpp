// SPDX-License-Identifier: Apache-2.0
// Resources that runs give back to the pool are reused, never by two runs at once, and no more are kept than
// allowed.
#include "engine/walk/cuda/device/pooled_device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/walk/cuda/device/loaded_device.h"
#include "engine/walk/cuda/device/memory.h"
#include "tests/fake_device.h"

namespace tilewalk::cuda::pooled_device_test {
namespace {

struct pooled {
    const std::shared_ptr<fake_gpu> gpu = std::make_shared<fake_gpu>();
    std::unique_ptr<pooled_device> on;

    explicit pooled(const idle_limits& most = {})
        : on(std::make_unique<pooled_device>(std::make_unique<fake_device>(gpu), most)) {}
    int calls(const std::string& name) const {
        const auto at = gpu->calls.find(name);
        return at == gpu->calls.end() ? 0 : at->second;
    }
    std::string report() {
        on.reset();
        return gpu->report();
    }
};

TEST(pooled_device, hands_out_again_what_came_back) {
    pooled p;
    for (int run = 0; run < 100; ++run) {
        const owned_stream a = new_stream(*p.on), b = new_stream(*p.on);
        EXPECT_NE(a.get(), b.get());
        const owned_event e = new_event(*p.on, a.get()), f = new_event(*p.on, b.get());
        EXPECT_NE(e.get(), f.get());
        const pinned_memory m(*p.on, 1000), n(*p.on, 900), large(*p.on, 100000);
        EXPECT_NE(m.as<void>(), n.as<void>());
        p.on->wait(a.get());
        p.on->wait(b.get());
    }
    EXPECT_EQ(p.calls("open_stream"), 2);
    EXPECT_EQ(p.calls("open_event"), 2);
    EXPECT_EQ(p.calls("allocate_pinned"), 3);
    EXPECT_EQ(p.report(), "");
}

TEST(pooled_device, keeps_no_more_than_it_may) {
    pooled p({.streams = 1, .events = 2, .pinned_blocks = 3, .pinned_bytes = 40 << 10});
    {
        std::vector<owned_stream> streams;
        std::vector<owned_event> events;
        std::vector<pinned_memory> blocks;
        for (int i = 0; i < 5; ++i) {
            streams.push_back(new_stream(*p.on));
            events.push_back(new_event(*p.on, streams.back().get()));
            blocks.emplace_back(*p.on, 16 << 10);
            blocks.emplace_back(*p.on, 64 << 10);  // larger than the pool keeps
        }
        for (const owned_stream& s : streams) p.on->wait(s.get());
    }
    std::vector<owned_stream> streams;
    std::vector<owned_event> events;
    std::vector<pinned_memory> blocks;
    for (int i = 0; i < 5; ++i) {
        streams.push_back(new_stream(*p.on));
        events.push_back(new_event(*p.on, streams.back().get()));
        blocks.emplace_back(*p.on, 16 << 10);
        p.on->wait(streams.back().get());
    }
    EXPECT_EQ(p.calls("open_stream"), 5 + 4);
    EXPECT_EQ(p.calls("open_event"), 5 + 3);
    EXPECT_EQ(p.calls("allocate_pinned"), 10 + 3) << "two of 16 KiB are within 40";
    streams.clear();
    events.clear();
    blocks.clear();
    EXPECT_EQ(p.report(), "");
}

TEST(pooled_device, gives_no_run_a_stream_that_another_could_not_wait_for) {
    pooled p;
    p.gpu->failures = {{"wait", 1, device_failure::other}};
    stream doubtful{};
    {
        const owned_stream s = new_stream(*p.on);
        doubtful = s.get();
        EXPECT_THROW(p.on->wait(s.get()), device_error);
    }
    const owned_stream next = new_stream(*p.on);
    EXPECT_NE(next.get(), doubtful);
    EXPECT_EQ(p.calls("open_stream"), 2);
}

TEST(pooled_device, gives_many_threads_each_their_own) {
    pooled p;
    std::mutex lock;
    std::set<stream> streams;
    std::set<void*> blocks;
    std::atomic<int> shared{0};
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 8; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 500; ++i) {
                    const owned_stream s = new_stream(*p.on);
                    const pinned_memory m(*p.on, 100);
                    {
                        const std::lock_guard guard(lock);
                        shared += !streams.insert(s.get()).second;
                        shared += !blocks.insert(m.as<void>()).second;
                    }
                    std::this_thread::yield();
                    const std::lock_guard guard(lock);
                    streams.erase(s.get());
                    blocks.erase(m.as<void>());
                }
            });
        }
    }
    EXPECT_EQ(shared, 0);
    EXPECT_LE(p.calls("open_stream"), 8);
    EXPECT_LE(p.calls("allocate_pinned"), 8);
    EXPECT_EQ(p.report(), "");
}

TEST(pooled_device_loaded_device, finds_a_kernel_once) {
    const auto gpu = std::make_shared<fake_gpu>();
    {
        loaded_device on(std::make_unique<fake_device>(gpu));
        const auto one = std::make_shared<const std::string>("one"),
                   other = std::make_shared<const std::string>("other");
        const kernel first = on.find(one, "walk");
        for (int i = 0; i < 10; ++i) {
            EXPECT_EQ(on.find(one, "walk"), first);
            EXPECT_NE(on.find(one, "merge_tiles"), first);
            EXPECT_NE(on.find(other, "walk"), first);
        }
    }
    EXPECT_EQ(gpu->calls["find"], 3);
    EXPECT_EQ(gpu->calls["load"], 2);
    EXPECT_EQ(gpu->report(), "");
}

}  // namespace
}  // namespace tilewalk::cuda::pooled_device_test
