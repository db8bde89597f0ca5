// SPDX-License-Identifier: Apache-2.0
// The thread pool merges blocks of tiles as they come, to the result of one tree over all tiles.
#include "engine/walk/cpu/tile_pool.h"
#include "products/program/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <vector>

#include "engine/base/crew.h"
#include "kernels/tile.h"
#include "products/program/recorder.h"
#include "tests/whole.h"
#include "tilewalk/error.h"

namespace tilewalk::cpu::tile_pool_test {
namespace {

// Pays the square of a normal, drawn on the last of `steps` steps. Each step is a single operation.
struct square_of_normal {
    lane_program code;
    program::path_data data;
    program::timeline when;

    explicit square_of_normal(std::size_t steps = 1) {
        program::recorder into;
        into.set_eager(true);
        const auto state = into.state("value", 0.0);
        into.output(state);
        into.set_eager(false);
        into.open_section(0, "step", steps);
        const program::value z = into.normal();
        into.write(state, z * z);
        const auto recorded = std::move(into).finish();
        const auto path = program::hoist(program::optimise(recorded.code));
        data = program::bind(path, recorded.data);
        code = compile(path);
        for (std::size_t i = 1; i <= steps; ++i) {
            when.times.push_back(static_cast<double>(i));
            when.close_step();
        }
    }
    path_job job(std::uint64_t paths) const { return {&code, &data, &when, 42, paths}; }
};

void expect_same_bits(const kernels::moments& a, const kernels::moments& b) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a.mean), std::bit_cast<std::uint64_t>(b.mean));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a.m2), std::bit_cast<std::uint64_t>(b.m2));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a.m3), std::bit_cast<std::uint64_t>(b.m3));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a.m4), std::bit_cast<std::uint64_t>(b.m4));
    EXPECT_EQ(a.count, b.count);
}

kernels::moments merged_at_once(const path_job& job, const lane_operations& operations) {
    lane_machine machine(operations);
    std::vector<kernels::moments> all;
    std::vector<tile_result> result(1);
    for (std::uint64_t tile = 0; tile < job.tiles(); ++tile) {
        machine.walk(job, tile, result);
        all.push_back(result[0].moments);
    }
    return kernels::merge_tiles(all.data(), all.size());
}

TEST(tile_pool, blocks_of_tiles_give_the_bits_of_one_tree) {
    const square_of_normal trade;
    const auto& operations = *runnable_instruction_sets().sets[0];
    const std::uint64_t block = 1024 * std::uint64_t{kernels::paths_per_tile};
    // Paths below, at and above a block; an incomplete tree of three blocks; five blocks with an odd rest.
    std::vector<path_job> jobs;
    for (const std::uint64_t paths :
         {std::uint64_t{1}, block - 1, block, block + 1, 3 * block, 5 * block + 7 * 1024 + 3}) {
        jobs.push_back(trade.job(paths));
    }
    for (const int threads : {1, 3}) {
        const auto pooled = tests::whole(walk_all(jobs, operations, threads, nullptr, {}));
        ASSERT_EQ(pooled.size(), jobs.size());
        for (std::size_t j = 0; j < jobs.size(); ++j) {
            SCOPED_TRACE(testing::Message() << jobs[j].paths << " paths on " << threads << " threads");
            expect_same_bits(pooled[j].moments, merged_at_once(jobs[j], operations));
        }
    }
}

// An instruction set that counts its draws of normals, and sets the flag `cancel` at draw number `last`.
struct counted_draws {
    static inline std::atomic<int> made{0};
    static inline std::atomic<bool> cancel{false};
    static inline int last = 0;

    static void draw(double (*out)[lanes], std::uint64_t, std::uint64_t, std::uint32_t, kernels::stream_key) {
        if (++made == last) cancel = true;
        std::fill_n(out[0], lanes, 0.25);
        std::fill_n(out[1], lanes, 0.5);
    }
    static lane_operations operations(int last_draw) {
        made = 0;
        cancel = false;
        last = last_draw;
        lane_operations out = *runnable_instruction_sets().sets[0];
        out.double_draws.normals = draw;
        return out;
    }
};

void expect_cancelled(const std::function<void()>& call) {
    try {
        call();
        ADD_FAILURE() << "it went on";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::cancelled) << e.what();
        EXPECT_EQ(e.message(), "the run was stopped");
    }
}

// One draw serves 256 paths for two steps.
TEST(tile_pool, tile_ends_at_the_step_at_which_it_is_told_to_stop) {
    const square_of_normal trade(1000);
    const lane_operations operations = counted_draws::operations(10);
    const std::vector<path_job> jobs{trade.job(kernels::paths_per_tile)};
    expect_cancelled([&] { walk_all(jobs, operations, 1, &counted_draws::cancel, {}); });
    EXPECT_EQ(counted_draws::made, 10);
}

TEST(tile_pool, no_tile_begins_after_it_is_told_to_stop) {
    constexpr int threads = 3;
    const square_of_normal trade;
    const lane_operations operations = counted_draws::operations(10);
    const std::vector<path_job> jobs{trade.job(100 * std::uint64_t{kernels::paths_per_tile})};
    expect_cancelled([&] { walk_all(jobs, operations, threads, &counted_draws::cancel, {}); });
    EXPECT_LE(counted_draws::made, 10 + threads);
}

TEST(tile_pool, no_task_begins_after_it_is_told_to_stop) {
    constexpr int threads = 3;
    std::atomic<bool> cancel{false};
    std::atomic<int> begun{0};
    const auto task = [&](int, std::uint64_t) {
        if (++begun == 10) cancel = true;
    };
    expect_cancelled([&] { threads::for_each(100000, threads, &cancel, task, [] {}); });
    EXPECT_LT(begun, 10 + threads);
}

}  // namespace
}  // namespace tilewalk::cpu::tile_pool_test
