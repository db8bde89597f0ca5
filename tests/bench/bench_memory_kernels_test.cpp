// SPDX-License-Identifier: Apache-2.0
// label: alone (has names of CUDA at the top)
// The kernels of the suite memory, run on the host by 256 threads that meet at a block's barriers: each must
// read the places that its expected sum counts. Kernels with loads and copies that only a GPU has are checked
// there, before they are timed.
#include <gtest/gtest.h>

#include <barrier>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/suites/memory_study.h"

// CUDA's keywords and types for these kernels. One block runs at a time, so shared memory can be static.
#define __shared__ static
struct uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

namespace {

struct index_of {
    unsigned x;
};
thread_local index_of threadIdx{0};
thread_local index_of blockIdx{0};
constexpr index_of blockDim{256};

std::barrier<> block_barrier(256);
struct warp {
    std::barrier<> meets{32};
    unsigned values[32] = {};
};
warp warps[8];
const unsigned* texture_words = nullptr;

void __syncthreads() {
    block_barrier.arrive_and_wait();
}
unsigned __shfl_xor_sync(unsigned, unsigned mine, int other) {
    warp& w = warps[threadIdx.x / 32];
    const unsigned lane = threadIdx.x % 32;
    w.values[lane] = mine;
    w.meets.arrive_and_wait();
    const unsigned got = w.values[lane ^ static_cast<unsigned>(other)];
    w.meets.arrive_and_wait();
    return got;
}
template <class value>
value __ldg(const value* from) {
    return *from;
}
template <class value>
value tex1Dfetch(unsigned long long, int);
template <>
[[maybe_unused]] float tex1Dfetch<float>(unsigned long long, int) {
    return 0;
}
template <>
uint2 tex1Dfetch<uint2>(unsigned long long, int i) {
    return {texture_words[2 * i], texture_words[2 * i + 1]};
}
std::size_t __cvta_generic_to_shared(const void* at) {
    return reinterpret_cast<std::size_t>(at);
}
[[maybe_unused]] std::size_t __cvta_generic_to_global(const void* at) {
    return reinterpret_cast<std::size_t>(at);
}

}  // namespace

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels/studies/constant.h"
#pragma GCC diagnostic pop

namespace tilewalk {
namespace {

using bench::memory::sum_of_content;
using kernels::word32;
using kernels::word64;
namespace studies = kernels::studies;
using studies::memory_job;

constexpr word64 all_words = word64{1} << 20;
constexpr word32 reads = 32;
constexpr word32 of_block = 256 * reads;

studies::table<256> numbers_of_constant = studies::table_of_content<256>();
studies::table<4096> constant_chase = studies::table_to_chase<4096>();

class bench_memory_kernels : public ::testing::Test {
  protected:
    bench_memory_kernels() : numbers_(all_words) {
        for (word64 i = 0; i < all_words; ++i) numbers_[i] = studies::content(i);
        texture_words = numbers_.data();
    }

    memory_job job() const {
        memory_job j{};
        j.from = numbers_.data();
        j.reads = reads;
        j.stride = 1;
        return j;
    }

    template <class kernel>
    static word32 sum_of(const kernel& play, memory_job j, word64 blocks) {
        std::vector<word32> sums(blocks);
        j.sums = sums.data();
        std::vector<std::jthread> threads;
        for (unsigned t = 0; t < 256; ++t) {
            threads.emplace_back([&, t] {
                threadIdx.x = t;
                for (unsigned b = 0; b < blocks; ++b) {
                    blockIdx.x = b;
                    play(j);
                    block_barrier.arrive_and_wait();
                }
            });
        }
        threads.clear();
        word32 sum = 0;
        for (const word32 s : sums) sum += s;
        return sum;
    }

    std::vector<word32> numbers_;
};

template <int words>
using global = studies::addressed<kernels::spaces::global, words>;
template <int words>
using read_only = studies::addressed<kernels::spaces::read_only, words>;

TEST_F(bench_memory_kernels, a_footprint_is_read_again_and_again) {
    memory_job j = job();
    j.count = 1024;
    EXPECT_EQ(sum_of(studies::sum_again<global<4>>, j, 4), sum_of_content(0, 4096) * (4 * of_block / 1024));
    j.count = 16384;
    EXPECT_EQ(sum_of(studies::sum_again<read_only<2>>, j, 4), sum_of_content(0, 32768) * 2);
    EXPECT_EQ(sum_of(studies::sum_again<studies::texels>, j, 4), sum_of_content(0, 32768) * 2);
}

TEST_F(bench_memory_kernels, strides_and_offsets) {
    memory_job j = job();
    j.stride = 32;
    EXPECT_EQ(sum_of(studies::sum_strided<global<1>>, j, 4), sum_of_content(0, 4 * of_block, 32));
    j.stride = 1;
    j.offset = 5;
    EXPECT_EQ(sum_of(studies::sum_strided<global<1>>, j, 4), sum_of_content(5, 4 * of_block));
    EXPECT_NE(sum_of(studies::sum_strided<global<1>>, j, 4), sum_of_content(4, 4 * of_block));
}

TEST_F(bench_memory_kernels, patches) {
    memory_job j = job();
    j.width = 8192;
    EXPECT_EQ(sum_of(studies::sum_patches<studies::texels>, j, 8), sum_of_content(0, 16 * of_block));
    EXPECT_EQ(sum_of(studies::sum_patches<global<2>>, j, 8), sum_of_content(0, 16 * of_block));
}

TEST_F(bench_memory_kernels, tables) {
    for (const word32 addresses : {1U, 4U, 32U}) {
        memory_job j = job();
        j.addresses = addresses;
        word32 of_warp = 0;
        for (word32 lane = 0; lane < 32; ++lane) {
            for (word32 n = 0; n < reads; ++n)
                of_warp += studies::content(studies::table_place(lane, n, addresses));
        }
        EXPECT_EQ(sum_of(studies::sum_table<read_only<1>>, j, 2), of_warp * 16);
        EXPECT_EQ(sum_of(studies::sum_table<studies::constant<numbers_of_constant>>, j, 2), of_warp * 16);
    }
}

TEST_F(bench_memory_kernels, arrays_of_threads) {
    memory_job j = job();
    j.reads = 64;
    j.stride = 5;
    const word32 expected = sum_of_content(0, 2 * 256 * studies::array_words) * 2;
    EXPECT_EQ(sum_of(studies::sum_local, j, 2), expected);
    EXPECT_EQ(sum_of(studies::sum_array_in_shared, j, 2), expected);
}

TEST_F(bench_memory_kernels, records) {
    memory_job j = job();
    j.count = 4 * of_block;
    word32 apart = 0, packed = 0;
    for (word32 field = 0; field < 3; ++field) {
        apart += (2 * field + 1) * sum_of_content(field * j.count, j.count);
        packed += (2 * field + 1) * sum_of_content(field, j.count, 3);
    }
    EXPECT_EQ(sum_of(studies::sum_records<studies::arrays_of_fields>, j, 4), apart);
    EXPECT_EQ(sum_of(studies::sum_records<studies::packed_records>, j, 4), packed);
}

TEST_F(bench_memory_kernels, rows) {
    for (const word32 width : {33U, 1001U}) {
        for (const word64 pitch : {word64{width}, word64{(width + 31) / 32 * 32}}) {
            memory_job j = job();
            j.count = 23;
            j.width = width;
            j.stride = pitch;
            word32 expected = 0;
            for (word64 row = 0; row < j.count; ++row) expected += sum_of_content(row * pitch, width);
            EXPECT_EQ(sum_of(studies::sum_rows, j, 3), expected) << width << " words, pitch " << pitch;
        }
    }
}

TEST_F(bench_memory_kernels, through_shared_memory) {
    EXPECT_EQ(sum_of(studies::sum_through_shared<1, false>, job(), 4), sum_of_content(0, 4 * of_block));
    EXPECT_EQ(sum_of(studies::sum_through_shared<4, false>, job(), 4), sum_of_content(0, 16 * of_block));
}

TEST_F(bench_memory_kernels, what_is_kept_is_read_in_turn) {
    constexpr word64 kept_reads = all_words / 16, first_kept = all_words / 16 * 3;
    for (const word64 count : {word64{256}, word64{1000}, kept_reads / 2 + 3}) {
        memory_job j = job();
        j.kept = numbers_.data() + first_kept * 4;
        j.count = count;
        j.reads = 8;
        const word32 expected =
            sum_of_content(0, first_kept * 4) +
            static_cast<word32>(kept_reads / count) * sum_of_content(first_kept * 4, count * 4) +
            sum_of_content(first_kept * 4, kept_reads % count * 4);
        EXPECT_EQ(sum_of(studies::sum_kept, j, kept_reads / (256 * 8)), expected) << count;
    }
}

TEST_F(bench_memory_kernels, chases) {
    constexpr word32 nodes = 1024, steps = 777;
    std::vector<word32> table(nodes * studies::line_words);
    for (blockIdx.x = 0; blockIdx.x < 5; ++blockIdx.x) {
        for (threadIdx.x = 0; threadIdx.x < 256; ++threadIdx.x) studies::fill_with_chase(table.data(), nodes);
    }
    blockIdx.x = threadIdx.x = 0;
    texture_words = table.data();
    const auto end_of = [](word32 of) {
        word32 node = 0;
        for (word32 n = 0; n < steps; ++n) node = studies::next_node(node, of);
        return node;
    };
    memory_job j = job();
    j.from = table.data();
    j.reads = steps;
    const auto end = [&](void (*chase)(const memory_job&)) {
        word32 at = 0;
        j.sums = &at;
        chase(j);
        return at;
    };
    EXPECT_EQ(end(studies::chase<global<1>>), end_of(nodes) * studies::line_words);
    EXPECT_EQ(end(studies::chase<studies::texels>), end_of(nodes) * studies::line_words);
    EXPECT_EQ(end(studies::chase_in_shared), end_of(studies::shared_words));
    EXPECT_EQ(end(studies::chase<studies::constant<constant_chase>>),
              end_of(4096 / studies::constant_node_words) * studies::constant_node_words);
}

}  // namespace
}  // namespace tilewalk
