// SPDX-License-Identifier: Apache-2.0
// Ways back on a device that fails: each call in turn, with work done at once or as late as the rules allow.
// The error comes out, and no rule of the device is broken: no memory goes while work uses it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/ways_back.h"
#include "tests/both_ways.h"
#include "tests/fake_device.h"
#include "tilewalk/book.h"

namespace tilewalk {
namespace {

using cuda::fake_gpu;

struct attempt {
    std::shared_ptr<fake_gpu> gpu = std::make_shared<fake_gpu>();
    std::string error;  // empty: it went well

    attempt(const tests::both_ways& of, fake_gpu::schedule when,
            const std::vector<fake_gpu::planned_failure>& failures, std::uint64_t memory_bytes = 0,
            bool compiles_ahead = false) {
        gpu->when = when;
        gpu->failures = failures;
        cuda::text_compiler compiler;
        cuda::kernel_store kernels(compiler, {});
        try {
            cuda::loaded_device on(std::make_unique<cuda::fake_device>(gpu));
            const run::job j = of.job();
            run::walk walk;
            walk.jobs = {&j, 1};
            walk.paths = 100 * 1024;
            cuda::counted_kernels counted(kernels);
            cuda::ways_back walks(on, counted, {}, memory_bytes);
            if (compiles_ahead) walks.compile({&j, 1}, walk, 2);
            const run::tally got = walks.walk(j, walk);
            EXPECT_TRUE(got.is_complete());
            EXPECT_EQ(counted.compiled(), 2u);
        } catch (const cuda::device_error& e) {
            error = e.message();
        }
        EXPECT_EQ(gpu->faults.size(), 0u) << gpu->report();
    }
};

const tests::both_ways& asian() {
    static const book one = book::parse(
        "trades:\n  - {id: a, product: asian, underlying: ACME, strike: 100, "
        "averaging_dates: {start: 0, end: 1, count: 12}}\n");
    static const tests::both_ways made(one.state().trades.at(0), tests::demo_market());
    return made;
}

}  // namespace

TEST(ways_back_failures, leave_no_work_behind) {
    std::size_t failed = 0;
    for (const auto when :
         {fake_gpu::schedule::at_once, fake_gpu::schedule::late, fake_gpu::schedule::by_dice}) {
        // Little memory: several chunks.
        constexpr std::uint64_t little = std::uint64_t{1} << 20;
        const attempt well(asian(), when, {}, little);
        EXPECT_EQ(well.error, "");
        EXPECT_GT(well.gpu->calls.at("run"), 3);
        for (const auto& [call, times] : well.gpu->calls) {
            for (int nth = 1; nth <= times; ++nth) {
                const attempt bad(asian(), when, {{call, nth}}, little);
                if (!bad.gpu->has_failed) continue;  // a call that can't fail
                EXPECT_NE(bad.error, "") << call << " number " << nth;
                ++failed;
            }
        }
    }
    EXPECT_GT(failed, 60u);
}

// Compiling ahead takes no trade's walk away, whatever fails meanwhile.
TEST(ways_back_failures, ahead_of_a_walk_are_left_to_it) {
    const attempt well(asian(), fake_gpu::schedule::at_once, {}, 0, true);
    EXPECT_EQ(well.error, "");
    const attempt other(asian(), fake_gpu::schedule::at_once, {{"free_bytes", 1}}, 0, true);
    EXPECT_TRUE(other.gpu->has_failed);
    EXPECT_EQ(other.error, "");
    const attempt lost(asian(), fake_gpu::schedule::at_once, {{"free_bytes", 1, cuda::device_failure::lost}},
                       0, true);
    EXPECT_NE(lost.error, "") << "of the walk, which its caller catches trade by trade";
}

}  // namespace tilewalk
