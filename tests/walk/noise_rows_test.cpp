// SPDX-License-Identifier: Apache-2.0
// Rows of shocks, shared by trades whose streams have the same names: which trades share, where the rows
// begin, and what a random source is asked to fill.
#include "engine/walk/cuda/paths/noise_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/fake_device.h"

namespace tilewalk::cuda::noise_rows_test {
namespace {

using kernels::word32;

constexpr auto standard = stream::standard;

std::vector<program::stream_name> names(const std::vector<std::string>& all) {
    return {all.begin(), all.end()};
}

struct gpu_of_host {
    std::shared_ptr<fake_gpu> gpu = std::make_shared<fake_gpu>();
    fake_device it{gpu};
};

struct number_of_name {
    std::uint64_t key, number;
    friend auto operator<=>(const number_of_name&, const number_of_name&) = default;
};

std::vector<std::vector<number_of_name>> told(device& on, const noise_rows& rows) {
    std::vector<device_memory> memory;
    std::vector<std::vector<number_of_name>> out(rows.rows());
    for (const random::keyed_rows& of : rows.keyed(on, memory, standard)) {
        const std::uint64_t key = of.key.low >> 2 | std::uint64_t{of.key.high} << 30;
        for (std::uint64_t n = 0; n < of.numbers; ++n) {
            const std::uint64_t row =
                of.first_row + n / of.dimensions * of.per_step + of.slots[n % of.dimensions];
            if (row >= out.size()) {
                ADD_FAILURE() << "row " << row << " of " << out.size();
                continue;
            }
            out[row].push_back({key, n});
        }
    }
    return out;
}

TEST(noise_rows, are_shared_by_trades_with_the_same_streams) {
    noise_rows rows;
    const std::vector<std::uint32_t> two{0, 1};
    const std::size_t a = rows.add(two, 2, names({"A", "B"}), 5);
    EXPECT_EQ(rows.add(two, 2, names({"A", "B"}), 5), a);
    EXPECT_EQ(rows.rows(), 10u);
    std::set<std::size_t> shares{a};
    // Trades don't share if names, their order, the number of slots, or the slots' streams differ.
    EXPECT_TRUE(shares.insert(rows.add(two, 2, names({"A", "C"}), 5)).second);
    EXPECT_TRUE(shares.insert(rows.add(two, 2, names({"B", "A"}), 5)).second);
    EXPECT_TRUE(shares.insert(rows.add(std::vector<std::uint32_t>{0}, 1, names({"A"}), 5)).second);
    EXPECT_TRUE(shares.insert(rows.add(std::vector<std::uint32_t>{0, 0}, 2, names({"A"}), 5)).second);
    const std::vector<std::uint32_t> first_twice{0, 0, 1}, in_turn{0, 1, 0}, second_twice{0, 1, 1};
    for (const auto& slots : {first_twice, in_turn, second_twice})
        EXPECT_TRUE(shares.insert(rows.add(slots, 3, names({"A", "B"}), 5)).second);
    // Without names all slots belong to the stream with key 0, whether the list of streams is empty or not.
    const std::size_t nameless = rows.add({}, 2, {}, 5);
    EXPECT_TRUE(shares.insert(nameless).second);
    EXPECT_EQ(rows.add(std::vector<std::uint32_t>{0, 0}, 2, {}, 5), nameless);
    EXPECT_EQ(*shares.begin(), 0u);
    EXPECT_EQ(*shares.rbegin(), shares.size() - 1);
    std::uint64_t next = 0;
    for (const std::uint64_t of : {10u, 10u, 10u, 5u, 10u, 15u, 15u, 15u, 10u}) {
        EXPECT_EQ(rows.first_row(a), 0u);
        EXPECT_EQ(rows.first_row(*shares.begin()), next) << *shares.begin();
        shares.erase(shares.begin());
        next += of;
    }
    EXPECT_TRUE(shares.empty());
    EXPECT_EQ(rows.rows(), next);
}

TEST(noise_rows, grow_with_the_steps_of_the_longest_trade) {
    noise_rows rows;
    const std::vector<std::uint32_t> one{0};
    const std::size_t a = rows.add(one, 1, names({"A"}), 5);
    const std::size_t b = rows.add(one, 1, names({"B"}), 4);
    EXPECT_EQ(rows.first_row(b), 5u);
    EXPECT_EQ(rows.add(one, 1, names({"A"}), 12), a);
    EXPECT_EQ(rows.add(one, 1, names({"A"}), 7), a);
    EXPECT_EQ(rows.first_row(a), 0u);
    EXPECT_EQ(rows.first_row(b), 12u);
    EXPECT_EQ(rows.rows(), 16u);
    gpu_of_host gpu;
    const auto got = told(gpu.it, rows);
    for (std::uint64_t r = 0; r < rows.rows(); ++r) {
        const std::string name = r < 12 ? "A" : "B";
        EXPECT_EQ(got[r],
                  (std::vector<number_of_name>{{program::stream_name(name).key, r < 12 ? r : r - 12}}))
            << r;
    }
}

TEST(noise_rows, may_be_none) {
    gpu_of_host gpu;
    noise_rows rows;
    std::vector<device_memory> memory;
    EXPECT_EQ(rows.rows(), 0u);
    EXPECT_EQ(rows.add({}, 0, {}, 5), 0u);
    EXPECT_EQ(rows.rows(), 0u);
    EXPECT_EQ(rows.bytes(), 0u);
    EXPECT_TRUE(rows.keyed(gpu.it, memory, standard).empty());
    EXPECT_EQ(gpu.gpu->most_bytes, 0u);
    const std::size_t a = rows.add({}, 2, {}, 5), none = rows.add({}, 0, {}, 9);
    EXPECT_EQ(rows.first_row(a), 0u);
    EXPECT_NE(a, none);
    EXPECT_EQ(rows.rows(), 10u);
}

// A source gets each row once, with the number that the row's slot takes in its stream, for any slots.
TEST(noise_rows, tell_a_source_the_number_of_every_row_once) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        gpu_of_host gpu;
        noise_rows rows;
        struct trade {
            std::vector<std::uint32_t> streams;
            std::vector<program::stream_name> names;
            std::uint64_t steps;
            std::size_t share;
        };
        std::vector<trade> trades;
        for (int t = 0; t < 12; ++t) {
            trade one;
            // Streams are numbered from 0 by their first slots.
            std::uint32_t streams = 0;
            for (auto slots = random() % 7; slots > 0; --slots) {
                const auto stream = static_cast<std::uint32_t>(random() % (streams + 1));
                streams = std::max(streams, stream + 1);
                one.streams.push_back(stream);
            }
            for (std::uint32_t s = 0; s < streams; ++s)
                one.names.emplace_back("N" + std::to_string(s) + std::to_string(random() % 2));
            one.steps = random() % 9;
            one.share = rows.add(one.streams, static_cast<int>(one.streams.size()), one.names, one.steps);
            trades.push_back(std::move(one));
        }
        const auto got = told(gpu.it, rows);
        for (std::size_t r = 0; r < got.size(); ++r) EXPECT_EQ(got[r].size(), 1u) << r;
        for (const trade& t : trades) {
            const std::size_t slots = t.streams.size();
            for (std::uint64_t step = 0; step < t.steps; ++step) {
                for (std::size_t slot = 0; slot < slots; ++slot) {
                    const std::uint32_t stream = t.streams[slot];
                    const auto end = t.streams.begin() + static_cast<std::ptrdiff_t>(slot);
                    const auto dimensions = std::ranges::count(t.streams, stream);
                    const auto dimension = std::count(t.streams.begin(), end, stream);
                    const std::uint64_t number =
                        step * static_cast<std::uint64_t>(dimensions) + static_cast<std::uint64_t>(dimension);
                    const std::uint64_t row = rows.first_row(t.share) + step * slots + slot;
                    ASSERT_LT(row, got.size());
                    ASSERT_EQ(got[row], (std::vector<number_of_name>{{t.names[stream].key, number}}));
                }
            }
        }
        EXPECT_EQ(gpu.gpu->most_bytes, rows.bytes());
        EXPECT_EQ(gpu.gpu->report(), "");
    }
}

TEST(noise_rows, leave_nothing_under_way_when_a_call_fails) {
    noise_rows rows;
    rows.add({}, 3, {}, 4);
    for (const char* call : {"allocate", "upload", "wait"}) {
        for (const auto failure : {device_failure::out_of_memory, device_failure::refused}) {
            const auto gpu = std::make_shared<fake_gpu>();
            gpu->when = fake_gpu::schedule::late;
            gpu->failures = {{call, 1, failure}};
            {
                fake_device on(gpu);
                std::vector<device_memory> memory;
                EXPECT_THROW(rows.keyed(on, memory, standard), device_error) << call;
            }
            EXPECT_EQ(gpu->report(), "") << call;
        }
    }
}

}  // namespace
}  // namespace tilewalk::cuda::noise_rows_test
