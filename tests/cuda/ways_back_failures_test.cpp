// SPDX-License-Identifier: Apache-2.0
// Adjoint walks on a device that fails in each of its calls in turn, with work done at once or as late as
// allowed. The error is reported, and no memory is freed that work still uses.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/walk/cuda/back/ways_back.h"
#include "tests/both_ways.h"
#include "tests/fake_device.h"
#include "tilewalk/book.h"

namespace tilewalk::ways_back_failures_test {
namespace {

using cuda::fake_gpu;

struct attempt {
    std::vector<std::shared_ptr<fake_gpu>> gpus;
    std::string error;              // message of the failure; empty on success
    std::vector<std::string> lost;  // message by device; empty on success
    std::size_t compiled = 0;

    attempt(const tests::both_ways& of, fake_gpu::schedule when,
            const std::vector<fake_gpu::planned_failure>& failures, std::uint64_t memory_bytes = 0,
            std::size_t devices = 1) {
        cuda::text_compiler compiler;
        cuda::kernel_store kernels(compiler, {});
        {
            std::vector<std::shared_ptr<cuda::loaded_device>> on;
            for (std::size_t d = 0; d < devices; ++d) {
                gpus.push_back(std::make_shared<fake_gpu>());
                gpus.back()->when = when;
                if (d == 0) gpus.back()->failures = failures;
                on.push_back(
                    std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpus.back())));
            }
            const run::job j = of.job();
            run::walk walk;
            walk.jobs = {&j, 1};
            walk.paths = 100 * 1024;
            cuda::ways_back walks(
                on, kernels, cuda::ways_back::as_suits(program::precision::double_, kernels::philox_rounds),
                memory_bytes, 2);
            bool is_found = false;
            const auto why = walks.walk(walk, [&](std::size_t, const run::tally& got) {
                is_found = true;
                EXPECT_TRUE(got.is_complete());
            });
            if (why.at(0)) error = why[0]->message();
            EXPECT_NE(is_found, why[0].has_value());
            for (const auto& share : walks.facts().shares)
                lost.push_back(share.lost ? share.lost->message() : "");
            compiled = walks.facts().kernels_compiled;
        }
        for (const auto& gpu : gpus) EXPECT_EQ(gpu->faults.size(), 0u) << gpu->report();
    }
};

const tests::both_ways& asian() {
    static const book one = book::parse(
        "trades:\n  - {id: a, product: asian, underlying: ACME, strike: 100, "
        "averaging_dates: {start: 0, end: 1, count: 12}}\n");
    static const tests::both_ways made(state_of(one).trades.at(0), tests::demo_market());
    return made;
}

}  // namespace

TEST(ways_back_failures, leave_no_work_behind) {
    std::size_t failed = 0;
    for (const auto when :
         {fake_gpu::schedule::at_once, fake_gpu::schedule::late, fake_gpu::schedule::by_dice}) {
        constexpr std::uint64_t little = std::uint64_t{1} << 20;
        const attempt well(asian(), when, {}, little);
        EXPECT_EQ(well.error, "");
        EXPECT_EQ(well.compiled, 2u) << "the one that walks both ways, and the one that merges";
        const auto& calls = well.gpus[0]->calls;
        EXPECT_GT(calls.at("run"), 3);
        for (const auto& [call, times] : calls) {
            for (int nth = 1; nth <= times; ++nth) {
                const attempt bad(asian(), when, {{call, nth}}, little);
                if (!bad.gpus[0]->has_failed) continue;  // this call is not allowed to fail
                EXPECT_NE(bad.error, "") << call << " number " << nth;
                ++failed;
            }
        }
    }
    EXPECT_GT(failed, 60u);
}

TEST(ways_back_failures, of_a_lost_device_are_made_good_by_the_other) {
    constexpr std::uint64_t little = std::uint64_t{1} << 20;
    for (const int nth : {1, 2, 4}) {
        const attempt one(asian(), fake_gpu::schedule::at_once, {{"run", nth, cuda::device_failure::lost}},
                          little, 2);
        EXPECT_EQ(one.error, "");
        EXPECT_EQ(one.gpus[0]->has_failed, !one.lost[0].empty());
        EXPECT_EQ(one.lost[1], "");
        const attempt alone(asian(), fake_gpu::schedule::at_once, {{"run", nth, cuda::device_failure::lost}},
                            little);
        EXPECT_NE(alone.error, "");
        EXPECT_EQ(alone.error, alone.lost[0]);
    }
}

TEST(ways_back_failures, of_one_trade_leave_the_others_to_the_device) {
    const program::timeline& when = asian().made.when;
    program::timeline odd;
    odd.times = when.times;
    for (std::size_t step = 0; step < when.steps(); ++step) {
        for (program::event e : when.events_after(step)) {
            ++e.row;
            odd.add(e);
        }
        odd.close_step();
    }
    std::vector<run::job> jobs(3, asian().job());
    jobs[1].when = &odd;
    run::walk walk;
    walk.jobs = jobs;
    walk.paths = 4 * 1024;
    const auto gpu = std::make_shared<fake_gpu>();
    {
        cuda::text_compiler compiler;
        cuda::kernel_store kernels(compiler, {});
        const std::vector<std::shared_ptr<cuda::loaded_device>> on{
            std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu))};
        cuda::ways_back walks(on, kernels,
                              cuda::ways_back::as_suits(program::precision::double_, kernels::philox_rounds),
                              0, 2);
        std::vector<std::size_t> found;
        const auto why = walks.walk(walk, [&](std::size_t j, const run::tally& got) {
            found.push_back(j);
            EXPECT_TRUE(got.is_complete()) << j;
        });
        EXPECT_EQ(found, (std::vector<std::size_t>{0, 2}));
        ASSERT_EQ(why.size(), 3u);
        EXPECT_FALSE(why[0] || why[2]);
        ASSERT_TRUE(why[1]);
        EXPECT_NE(why[1]->message().find("two dates of one block"), std::string::npos) << why[1]->message();
    }
    EXPECT_EQ(gpu->report(), "");
}

}  // namespace tilewalk::ways_back_failures_test
