// SPDX-License-Identifier: Apache-2.0
// The suite memory: its kernels compile without spills, its formulas name the places that kernels read, and a
// kernel that reads other places gives no result.
#include "bench/suites/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "bench/measure/suites.h"
#include "bench/suites/memory_study.h"
#include "kernels/studies/memory_job.h"
#include "tests/benched.h"

namespace tilewalk::bench_memory_test {
namespace {

namespace memory = bench::memory;
namespace studies = kernels::studies;
using kernels::word32;
using kernels::word64;

TEST(bench_memory, every_kernel_compiles_without_spills) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    const auto texts = memory::texts();
    EXPECT_GT(texts.size(), 20u);
    for (const std::string& text : texts) {
        const bool is_local = text.find("sum_local(") != std::string::npos;
        for (const std::string architecture : {"sm_80", "sm_90"})
            expect_clean(text, architecture, is_local ? static_cast<int>(4 * studies::array_words) : 0);
    }
}

TEST(bench_memory, passes_are_the_most_words_in_one_bank) {
    for (word32 stride = 1; stride <= 33; ++stride) {
        for (const word32 n : {0u, 1u, 63u, 64u, 4095u}) {
            std::map<word32, std::set<word32>> words_of_bank;
            for (word32 lane = 0; lane < 32; ++lane) {
                const word32 place = studies::shared_place(lane, n, stride);
                EXPECT_LT(place, studies::shared_words);
                words_of_bank[place % 32].insert(place);
            }
            std::size_t passes = 0;
            for (const auto& [bank, words] : words_of_bank) passes = std::max(passes, words.size());
            EXPECT_EQ(static_cast<int>(passes), memory::predicted_passes(static_cast<int>(stride)))
                << "stride " << stride << ", read " << n;
        }
    }
    EXPECT_EQ(memory::predicted_passes(32), 32);
    EXPECT_EQ(memory::predicted_passes(33), 1);
    EXPECT_EQ(memory::predicted_passes(12), 4);
}

// The kernel computes every 16th place and adds 32 a read for the next 15: the formula must agree.
TEST(bench_memory, reads_of_shared_memory_go_on_by_rows) {
    for (word32 n = 0; n < 4096; n += 16) {
        for (word32 i = 0; i < 16; ++i)
            EXPECT_EQ(studies::shared_place(31, n + i, 33), studies::shared_place(31, n, 33) + 32 * i);
    }
}

TEST(bench_memory, a_warp_reads_as_many_addresses_of_a_table_as_it_says) {
    for (word32 addresses = 1; addresses <= 32; addresses *= 2) {
        for (word32 n = 0; n < 600; ++n) {
            std::set<word32> places;
            for (word32 lane = 0; lane < 32; ++lane) places.insert(studies::table_place(lane, n, addresses));
            EXPECT_EQ(places.size(), addresses);
            EXPECT_LT(*places.rbegin(), studies::table_words);
        }
    }
}

TEST(bench_memory, a_chase_goes_through_every_node) {
    for (word32 nodes = 16; nodes <= 1 << 20; nodes *= 4) {
        std::vector<bool> seen(nodes);
        word32 at = 0;
        for (word32 n = 0; n < nodes; ++n) {
            EXPECT_FALSE(seen[at]);
            seen[at] = true;
            at = studies::next_node(at, nodes);
            ASSERT_LT(at, nodes);
        }
        EXPECT_EQ(at, 0u);
    }
}

TEST(bench_memory, patches_cover_an_image_and_are_patches) {
    constexpr word64 width = 64, height = 16;
    std::vector<int> seen(width * height);
    for (word64 i = 0; i < width * height; ++i) ++seen.at(studies::patch_place(i, width));
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<long>(width * height));
    for (word64 warp = 0; warp < width * height / 32; ++warp) {
        std::set<word64> rows, columns;
        for (word64 lane = 0; lane < 32; ++lane) {
            const word64 at = studies::patch_place(warp * 32 + lane, width);
            rows.insert(at / width);
            columns.insert(at % width);
        }
        EXPECT_EQ(rows.size(), 4u);
        EXPECT_EQ(columns.size(), 8u);
        EXPECT_EQ(*columns.begin() % 8, 0u);
    }
}

TEST(bench_memory, an_array_is_read_evenly) {
    std::array<int, studies::array_words> times{};
    for (word32 n = 0; n < 1024; ++n) ++times.at(studies::array_place(n, 5));
    for (const int t : times) EXPECT_EQ(t, 32);
}

TEST(bench_memory, sums_of_content_are_those_of_its_numbers) {
    EXPECT_EQ(memory::sum_of_content(5, 0), 0u);
    word32 sum = 0;
    for (word64 i = 7; i < 7 + 3 * 1000; i += 3) sum += studies::content(i);
    EXPECT_EQ(memory::sum_of_content(7, 1000, 3), sum);
    std::set<word32> sums;
    for (word64 first = 0; first < 10000; ++first) sums.insert(memory::sum_of_content(first, 32));
    EXPECT_EQ(sums.size(), 10000u);
}

TEST(bench_memory, a_device_that_computes_nothing_gives_no_result) {
    const auto gpu = std::make_shared<cuda::fake_gpu>();
    gpu->said_free = std::size_t{64} << 20;
    std::set<std::string> compiled;
    const auto rows = rows_on_fake(bench::suite_named("memory").run, gpu, &compiled);
    EXPECT_EQ(gpu->report(), "");
    const auto texts = memory::texts();
    EXPECT_EQ(compiled, std::set<std::string>(texts.begin(), texts.end()));
    std::set<std::string> keys;
    for (const auto& r : rows) {
        EXPECT_TRUE(keys.insert(bench::key_of(r)).second) << bench::key_of(r);
        const bool is_copy = r.axes["kind"] == "copy" || r.axes["kind"] == "copy_in_pieces";
        EXPECT_EQ(r.is_result(), is_copy) << bench::key_of(r) << r.wrong << r.skipped;
        EXPECT_EQ(r.figures.contains("milliseconds"), is_copy) << bench::key_of(r) << r.figures.dump();
        EXPECT_EQ(r.axes.begin().key(), "kind");
        if (!r.over.is_null()) {
            EXPECT_EQ(r.over["kind"], r.axes["kind"]);
        }
    }
    EXPECT_GT(rows.size(), 100u);
}

TEST(bench_memory, one_failure_spoils_one_row) {
    const auto fresh = [] {
        auto gpu = std::make_shared<cuda::fake_gpu>();
        gpu->said_free = std::size_t{64} << 20;
        gpu->when = cuda::fake_gpu::schedule::late;
        return gpu;
    };
    const std::size_t all = rows_on_fake(bench::suite_named("memory").run, fresh()).size();
    for (const std::string call : {"run", "allocate", "allocate_pinned", "open_texture"}) {
        auto gpu = fresh();
        gpu->failures.push_back({call, 4, cuda::device_failure::out_of_memory});
        const auto rows = rows_on_fake(bench::suite_named("memory").run, gpu);
        EXPECT_EQ(rows.size(), all) << call;
        EXPECT_EQ(std::count_if(rows.begin(), rows.end(),
                                [&](const auto& r) { return r.skipped == call + ": failed as planned"; }),
                  1)
            << call;
        EXPECT_EQ(gpu->report(), "") << call;

        gpu = fresh();
        gpu->failures.push_back({call, 4, cuda::device_failure::lost});
        EXPECT_THROW(rows_on_fake(bench::suite_named("memory").run, gpu), cuda::device_error) << call;
    }
}

TEST(bench_memory, every_row_is_right_on_a_gpu) {
    auto gpu = some_gpu();
    if (gpu == nullptr) GTEST_SKIP() << "no GPU";
    std::size_t results = 0;
    for (const auto& r : rows_of(bench::suite_named("memory").run, std::move(gpu), cuda::nvrtc_compiler())) {
        EXPECT_EQ(r.wrong, "") << bench::key_of(r);
        results += r.is_result();
    }
    EXPECT_GT(results, 100u);
}

}  // namespace
}  // namespace tilewalk::bench_memory_test
