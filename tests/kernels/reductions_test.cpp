// SPDX-License-Identifier: Apache-2.0
// label: alone (has names of CUDA at the top)
// Reductions, the ways in which a block sums its paths: each of the catalogue runs on a model of a block made
// of the host's threads, is compiled at run time, and runs on a GPU.
//
// GPU tests are skipped without a GPU, unless TILEWALK_REQUIRE_GPU=1.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/kernel_headers.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "kernels/reduce_stored.h"
#include "tests/fake_device.h"
#include "tests/known_kernels.h"
#include "tilewalk/tilewalk.h"

namespace {

struct model_block {
    explicit model_block(int threads) : all(threads), exchanged(static_cast<std::size_t>(threads)) {
        for (int i = 0; i < threads / 32; ++i) warps.push_back(std::make_unique<std::barrier<>>(32));
    }
    std::barrier<> all;
    std::vector<std::unique_ptr<std::barrier<>>> warps;
    std::vector<double> exchanged;
    std::atomic<bool> any{false};
};

thread_local struct { unsigned x = 0; } threadIdx, blockIdx;
thread_local model_block* here = nullptr;

void __syncthreads() {
    here->all.arrive_and_wait();
}
int __syncthreads_or(int said) {
    if (said != 0) here->any = true;
    __syncthreads();
    const bool any = here->any;
    __syncthreads();
    here->any = false;
    __syncthreads();
    return any ? 1 : 0;
}
double __shfl_xor_sync(unsigned, double value, int with) {
    auto& warp = *here->warps[threadIdx.x / 32];
    here->exchanged[threadIdx.x] = value;
    warp.arrive_and_wait();
    const double got = here->exchanged[threadIdx.x ^ static_cast<unsigned>(with)];
    warp.arrive_and_wait();
    return got;
}
template <class number>
number atomicAdd(number* to, number value) {
    return std::atomic_ref(*to).fetch_add(value);
}
int atomicMin(int* to, int value) {
    std::atomic_ref at(*to);
    int was = at.load();
    while (value < was && !at.compare_exchange_weak(was, value)) {
    }
    return was;
}
// Atomics of the model are fully ordered, so a fence does nothing; a missing fence shows on a GPU alone.
void __threadfence() {}

}  // namespace

#include "kernels/merge_kernel.h"
#include "kernels/reductions/atomic.h"
#include "kernels/reductions/last_block.h"
#include "kernels/reductions/store.h"
#include "kernels/reductions/tree.h"
#include "kernels/reductions/warp_atomic.h"

namespace tilewalk {
namespace {

using kernels::tile_result;
using kernels::word32;
using kernels::word64;

constexpr std::size_t tile_paths = kernels::paths_per_tile;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> some_payoffs(std::size_t paths) {
    std::mt19937_64 random(11);
    std::vector<double> x(paths);
    for (double& p : x) {
        const double u = static_cast<double>(random() >> 11) * 0x1p-53;
        p = u < 0.4 ? 0 : 120 * u * u + 1e-9 * u;
    }
    return x;
}

struct played {
    std::vector<tile_result> results;
    std::vector<tile_result> merged;  // merged tiles, by part
    std::vector<word32> finished;
    std::vector<double> payoffs;  // payoffs that the reduction stored
};

// Runs the blocks of a trade in `order`, one tile each. With part_tiles 0 all tiles are one part.
template <template <int> class reduction, int threads>
played play(const std::vector<double>& payoffs, const std::vector<word32>& order, word32 part_tiles = 0) {
    played out;
    out.results.resize(order.size());
    const auto tiles = static_cast<word32>(order.size());
    if (part_tiles == 0) part_tiles = tiles;
    out.merged.resize(kernels::parts_of(tiles, part_tiles), {{}, 12345, 0});
    out.finished.resize(out.merged.size());
    out.payoffs.resize(order.size() * tile_paths, -1);
    std::vector<double> tile(tile_paths);
    std::vector<double> shared(reduction<threads>::shared_bytes() / sizeof(double), nan);
    model_block block(threads);
    const auto work = [&](unsigned thread) {
        threadIdx.x = thread;
        here = &block;
        for (const word32 at : order) {
            const std::size_t first = at * tile_paths, count = std::min(payoffs.size() - first, tile_paths);
            for (std::size_t i = thread; i < tile_paths; i += threads)
                tile[i] = i < count ? payoffs[first + i] : nan;
            __syncthreads();
            reduction<threads>::finish(tile.data(), static_cast<int>(count),
                                       {at, at, tiles, part_tiles, out.results.data(), out.merged.data(),
                                        out.finished.data(), out.payoffs.data()},
                                       reinterpret_cast<char*>(shared.data()));
            __syncthreads();
        }
    };
    std::vector<std::jthread> others;
    for (unsigned t = 0; t < threads; ++t) others.emplace_back(work, t);
    others.clear();
    return out;
}

std::vector<word32> in_order(std::size_t tiles) {
    std::vector<word32> order(tiles);
    std::iota(order.begin(), order.end(), word32{0});
    return order;
}

using words = std::array<std::uint64_t, 7>;
words bits(const tile_result& r) {
    return std::bit_cast<words>(r);
}

tile_result expected_of(const std::vector<double>& payoffs, std::size_t tile) {
    const std::size_t first = tile * tile_paths;
    tile_result r;
    r.moments = kernels::tile_moments(payoffs.data() + first,
                                      static_cast<int>(std::min(payoffs.size() - first, tile_paths)));
    return r;
}

bool is_near(double got, double expected, double scale) {
    return std::abs(got - expected) <= 1e-12 * std::max(std::abs(expected), scale);
}

// Expects equality up to the order of additions, relative to the size of the terms, also for odd powers.
void expect_near(const tile_result& got, const tile_result& expected, const std::string& what) {
    const auto &g = got.moments, &e = expected.moments;
    EXPECT_EQ(g.count, e.count) << what;
    EXPECT_TRUE(is_near(g.mean, e.mean, 0)) << what << ": " << g.mean << " is not " << e.mean;
    EXPECT_TRUE(is_near(g.m2, e.m2, 0)) << what << ": " << g.m2 << " is not " << e.m2;
    EXPECT_TRUE(is_near(g.m3, e.m3, std::sqrt(e.m2 * e.m4))) << what << ": " << g.m3 << " is not " << e.m3;
    EXPECT_TRUE(is_near(g.m4, e.m4, 0)) << what << ": " << g.m4 << " is not " << e.m4;
    EXPECT_EQ(got.not_finite, expected.not_finite) << what;
    EXPECT_EQ(got.first_not_finite, expected.first_not_finite) << what;
}

template <template <int> class reduction, int threads>
void expect_same_bits(std::size_t paths) {
    const auto payoffs = some_payoffs(paths);
    const auto got = play<reduction, threads>(payoffs, {0});
    EXPECT_EQ(bits(got.results[0]), bits(expected_of(payoffs, 0))) << threads << " threads, " << paths;
}

template <template <int> class reduction, int threads>
void expect_same_numbers(const std::string& name) {
    for (const std::size_t paths : {1u, 33u, 1000u, 1024u}) {
        const auto payoffs = some_payoffs(paths);
        expect_near(play<reduction, threads>(payoffs, {0}).results[0], expected_of(payoffs, 0),
                    name + ", " + std::to_string(threads) + " threads, " + std::to_string(paths) + " paths");
    }
    // Equal payoffs have no spread, whatever the order of additions, because the mean is corrected.
    const auto same = play<reduction, threads>(std::vector<double>(1000, 0.1), {0}).results[0].moments;
    EXPECT_EQ(same.mean, 0.1) << name;
    EXPECT_EQ(same.m2, 0) << name;
}

template <template <int> class reduction>
void expect_found_bad(const std::string& name) {
    auto payoffs = some_payoffs(2000);
    payoffs[1500] = nan;
    payoffs[1999] = -std::numeric_limits<double>::infinity();
    const auto got = play<reduction, 64>(payoffs, {1, 0}).results;
    EXPECT_EQ(got[0].not_finite, 0u) << name;
    EXPECT_EQ(bits(got[1]), bits({{0, 0, 0, 0, 0}, 2, 1500})) << name;
}

}  // namespace

TEST(reductions, a_catalogue_of_headers_and_settings) {
    std::set<std::string> names, settings, headers;
    for (const auto& header : cuda::kernel_headers()) headers.emplace(header.name);
    for (const auto& r : cuda::reductions()) {
        EXPECT_TRUE(names.emplace(r.name).second) << r.name;
        EXPECT_FALSE(r.summary.empty()) << r.name;
        EXPECT_TRUE(headers.contains(r.header())) << r.header();
        EXPECT_EQ(&cuda::reduction_named(r.name), &r);
        EXPECT_LE(r.merges_tiles, r.keeps_bits) << r.name << " merges in the one fixed tree";
    }
    EXPECT_TRUE(cuda::reduction_named("tree").keeps_bits);
    EXPECT_FALSE(cuda::reduction_named("atomic").keeps_bits);
    for (const auto& known : setting_table()) {
        if (known.name != "reduction") continue;
        settings.insert(known.choices.begin(), known.choices.end());
        EXPECT_TRUE(known.decides_bits);
        EXPECT_NE(known.meaning.find("vary"), std::string::npos) << known.meaning;
    }
    EXPECT_EQ(settings, names);
    try {
        cuda::reduction_named("last_blok");
        FAIL() << "there is no such reduction";
    } catch (const error& e) {
        EXPECT_NE(std::string(e.what()).find("last_block"), std::string::npos) << e.what();
        EXPECT_EQ(e.kind(), error_kind::usage);
    }
}

TEST(reductions, ask_for_the_memory_that_the_catalogue_gives) {
    using namespace kernels::reductions;
    const auto gives = [](std::string_view name) { return cuda::reduction_named(name).shared_bytes; };
    EXPECT_EQ(gives("tree"), tree<256>::shared_bytes());
    EXPECT_EQ(gives("last_block"), last_block<256>::shared_bytes());
    EXPECT_EQ(gives("warp_atomic"), warp_atomic<256>::shared_bytes());
    EXPECT_EQ(gives("atomic"), atomic<256>::shared_bytes());
    EXPECT_EQ(gives("store"), store<256>::shared_bytes());
    EXPECT_LE(tree<64>::shared_bytes(), gives("tree"));
}

TEST(reductions, tree_gives_the_bits_of_the_cpu_with_any_number_of_threads) {
    using kernels::reductions::tree;
    for (const std::size_t paths : {1u, 255u, 257u, 1024u}) expect_same_bits<tree, 64>(paths);
    expect_same_bits<tree, 128>(1023);
    expect_same_bits<tree, 256>(1023);
}

TEST(reductions, atomics_change_the_last_bits_alone) {
    using namespace kernels::reductions;
    expect_same_numbers<atomic, 64>("atomic");
    expect_same_numbers<atomic, 256>("atomic");
    expect_same_numbers<warp_atomic, 64>("warp_atomic");
    expect_same_numbers<warp_atomic, 256>("warp_atomic");
}

TEST(reductions, find_payoffs_that_are_no_numbers) {
    using namespace kernels::reductions;
    expect_found_bad<tree>("tree");
    expect_found_bad<atomic>("atomic");
    expect_found_bad<warp_atomic>("warp_atomic");
}

TEST(reductions, last_block_merges_in_the_fixed_tree) {
    using kernels::reductions::last_block;
    std::mt19937 dice(3);
    for (const std::size_t tiles : {1u, 2u, 3u, 5u, 8u, 150u}) {
        const auto payoffs = some_payoffs(tiles * tile_paths - 700);
        std::vector<kernels::moments> all;
        for (std::size_t t = 0; t < tiles; ++t) all.push_back(expected_of(payoffs, t).moments);
        const tile_result expected{kernels::merge_tiles(all.data(), all.size())};
        auto order = in_order(tiles);
        for (int turn = 0; turn < (tiles < 10 ? 3 : 1); ++turn) {
            std::shuffle(order.begin(), order.end(), dice);
            const auto got = play<last_block, 64>(payoffs, order);
            EXPECT_EQ(got.finished.at(0), tiles);
            EXPECT_EQ(bits(got.merged.at(0)), bits(expected))
                << tiles << " tiles, the last is " << order.back();
        }
        for (const word32 part : {1u, 2u, 4u}) {
            const auto got = play<last_block, 64>(payoffs, order, part);
            for (std::size_t p = 0; p < got.merged.size(); ++p) {
                const std::size_t first = p * part, count = std::min<std::size_t>(part, tiles - first);
                std::vector<kernels::moments> of_part;
                for (std::size_t t = first; t < first + count; ++t)
                    of_part.push_back(expected_of(payoffs, t).moments);
                const tile_result whole{kernels::merge_tiles(of_part.data(), count)};
                EXPECT_EQ(got.finished[p], count);
                EXPECT_EQ(bits(got.merged[p]), bits(whole)) << "part " << p << " of " << tiles << " tiles";
            }
        }
    }
    auto payoffs = some_payoffs(3 * tile_paths);
    payoffs[2500] = nan;
    const auto bad = play<last_block, 64>(payoffs, {2, 0, 1});
    EXPECT_EQ(bad.merged.at(0).not_finite, 1u);
    EXPECT_EQ(bad.merged.at(0).first_not_finite, 2500u);
}

// Each block of the merge kernel merges the tiles of one part of one trade; the last part may be shorter.
TEST(reductions, merge_kernel_merges_parts) {
    constexpr word32 trades = 3;
    for (const word32 tiles : {1u, 5u, 8u, 150u}) {
        for (const word32 part : {1u, 2u, 4u, tiles}) {
            const auto payoffs = some_payoffs(std::size_t{trades} * tiles * tile_paths);
            std::vector<tile_result> all;
            for (word32 t = 0; t < trades * tiles; ++t) all.push_back(expected_of(payoffs, t));
            const word32 parts = kernels::parts_of(tiles, part);
            std::vector<tile_result> used_up = all, merged(std::size_t{trades} * parts);
            for (word32 b = 0; b < trades * parts; ++b) {
                model_block block(64);
                const auto work = [&](unsigned thread) {
                    threadIdx.x = thread;
                    blockIdx.x = b;
                    here = &block;
                    kernels::merge_tiles_of_trade<64>({used_up.data(), merged.data(), tiles, part});
                };
                std::vector<std::jthread> threads;
                for (unsigned t = 0; t < 64; ++t) threads.emplace_back(work, t);
            }
            for (word32 trade = 0; trade < trades; ++trade) {
                for (word32 p = 0; p < parts; ++p) {
                    std::vector<kernels::moments> of_part;
                    for (word32 t = p * part; t < std::min(tiles, (p + 1) * part); ++t)
                        of_part.push_back(all[trade * tiles + t].moments);
                    const tile_result expected{kernels::merge_tiles(of_part.data(), of_part.size())};
                    EXPECT_EQ(bits(merged[trade * parts + p]), bits(expected))
                        << "trade " << trade << ", part " << p << " of " << tiles << " tiles";
                }
            }
        }
    }
}

TEST(reductions, store_leaves_the_payoffs_in_their_places) {
    using kernels::reductions::store;
    const auto payoffs = some_payoffs(2 * tile_paths + 300);
    for (const auto& got : {play<store, 64>(payoffs, {2, 0, 1}), play<store, 256>(payoffs, {1, 2, 0})}) {
        for (std::size_t i = 0; i < 3 * tile_paths; ++i)
            ASSERT_EQ(got.payoffs[i], i < payoffs.size() ? payoffs[i] : -1) << i;
        for (const tile_result& r : got.results) EXPECT_EQ(bits(r), bits({}));
    }
}

namespace {

constexpr const char* three_trades = R"(
market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {A: {currency: USD, spot: 100, volatility: 0.2}}}
trades:
  - {id: call, product: european, underlying: A, option: call, strike: 105, maturity: 1.0}
  - {id: put, product: european, underlying: A, option: put, strike: 105, maturity: 1.0}
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
)";
constexpr std::size_t jobs_in_all = 3;

double made_up_payoff(word32 trade, word64 path) {
    static const auto some = some_payoffs(1 << 14);
    if (trade == 2 && (path == 2047 || path == 2100)) return nan;
    return some[(path * 7 + trade * 1000) % some.size()];
}

void store_made_up(const cuda::launch& how, const kernels::path_arguments& a) {
    for (word32 block = 0; block < how.blocks; ++block) {
        const word32 inner = a.trades_first != 0 ? a.trade_count : a.tiles;
        const word32 of_list = a.trades_first != 0 ? block % inner : block / inner;
        const word32 tile = a.trades_first != 0 ? block / inner : block % inner;
        const word32 trade = a.trades[of_list].result;
        double* to = a.payoffs + (word64{trade} * a.tiles + tile) * tile_paths;
        const word64 first = (a.first_tile + tile) * tile_paths;
        for (int i = 0; i < kernels::paths_in_tile(a.paths, a.first_tile + tile); ++i)
            to[i] = made_up_payoff(trade, first + static_cast<word64>(i));
    }
}

void merge_on_host(const cuda::launch& how, const kernels::merge_arguments& a) {
    const word32 parts = kernels::parts_of(a.tiles_per_trade, a.part_tiles);
    for (word32 block = 0; block < how.blocks; ++block) {
        const word32 first = block % parts * a.part_tiles;
        const word32 end = std::min(first + a.part_tiles, a.tiles_per_trade);
        const tile_result* of_trade = a.tiles + word64{block / parts} * a.tiles_per_trade;
        std::vector<tile_result> m(of_trade + first, of_trade + end);
        while (m.size() > 1) {
            std::vector<tile_result> next;
            for (std::size_t i = 0; i < m.size(); i += 2)
                next.push_back(i + 1 < m.size() ? kernels::merge(m[i], m[i + 1]) : m[i]);
            m = next;
        }
        a.merged[block] = m[0];
    }
}

class run_of_store {
  public:
    run_of_store() : book_(book::parse(three_trades)) {
        for (const auto& t : state_of(book_).trades)
            plans_.push_back(plan::plan_trade(t, state_of(*book_.market())));
        for (const auto& p : plans_) jobs_.push_back({&p.code, &p.data, &p.when});
        gpu->kernel = [](const std::string& text, const std::string&, const cuda::launch& l,
                         std::span<void*> arguments) -> cuda::fake_gpu::work {
            if (text == cuda::merge_kernel_text())
                return
                    [l, a = *static_cast<kernels::merge_arguments*>(arguments[0])] { merge_on_host(l, a); };
            return [l, a = *static_cast<kernels::path_arguments*>(arguments[0])] { store_made_up(l, a); };
        };
    }

    cuda::gpu_outcome walk() {
        cuda::gpu_outcome got;
        {
            cuda::gpu_run run;
            run.jobs = jobs_;
            run.how.reduction = "store";
            run.paths = paths;
            run.memory_bytes = memory_bytes;
            cuda::text_compiler compiler;
            cuda::kernel_store kernels(compiler, {});
            const auto on = std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu));
            got = cuda::launcher({on}, kernels).walk_all(run);
        }
        EXPECT_EQ(gpu->report(), "");
        return got;
    }

    tile_result expected(word32 trade) const {
        std::vector<kernels::moments> tiles;
        tile_result all;
        for (word64 first = 0; first < paths; first += tile_paths) {
            std::vector<double> x;
            for (word64 path = first; path < std::min<word64>(first + tile_paths, paths); ++path) {
                x.push_back(made_up_payoff(trade, path));
                if (std::isfinite(x.back())) continue;
                all.first_not_finite = std::min(all.first_not_finite, path);
                ++all.not_finite;
            }
            const auto count = static_cast<int>(x.size());
            x.resize(tile_paths);
            tiles.push_back(kernels::tile_moments(x.data(), count));
        }
        all.moments = kernels::merge_tiles(tiles.data(), tiles.size());
        return all;
    }

    std::uint64_t paths = 5000, memory_bytes = 0;
    std::shared_ptr<cuda::fake_gpu> gpu = std::make_shared<cuda::fake_gpu>();

  private:
    book book_;
    std::vector<plan::trade_program> plans_;
    std::vector<run::job> jobs_;
};

std::string failures_of(const cuda::gpu_outcome& got) {
    std::string out;
    for (const auto& f : got.failures) out += f ? std::string(f->what()) + "\n" : "";
    return out;
}

}  // namespace

TEST(reductions_by_a_device, give_the_numbers_of_the_tree_in_any_chunks) {
    using schedule = cuda::fake_gpu::schedule;
    std::set<words> all_bits;
    std::set<int> reduced;
    for (const auto when : {schedule::at_once, schedule::late, schedule::by_dice}) {
        for (const std::uint64_t memory_bytes : {0u, 120000u, 1u}) {
            run_of_store run;
            run.memory_bytes = memory_bytes;
            run.gpu->when = when;
            const auto got = run.walk();
            ASSERT_EQ(failures_of(got), "");
            const std::string what = std::to_string(memory_bytes) + " bytes";
            for (word32 trade = 0; trade + 1 < jobs_in_all; ++trade)
                expect_near(got.tallies[trade].whole(), run.expected(trade), what);
            EXPECT_EQ(got.tallies[2].whole().not_finite, 2u);
            EXPECT_EQ(got.tallies[2].whole().first_not_finite, 2047u);
            EXPECT_TRUE(memory_bytes <= 1 || run.gpu->most_bytes <= memory_bytes) << run.gpu->most_bytes;
            all_bits.insert(bits(got.tallies[0].whole()));
            reduced.insert(run.gpu->calls["reduce_stored"]);
        }
    }
    EXPECT_EQ(all_bits.size(), 1u) << "tiles are reduced one by one, and merged in the one fixed tree";
    EXPECT_EQ(reduced, (std::set<int>{1, 2, 5})) << "chunks";
}

TEST(reductions_by_a_device, miss_no_path) {
    run_of_store run;
    run.gpu->kernel = [walks = run.gpu->kernel](const std::string& text, const std::string& name,
                                                const cuda::launch& l,
                                                std::span<void*> arguments) -> cuda::fake_gpu::work {
        if (text == cuda::merge_kernel_text()) return walks(text, name, l, arguments);
        auto& a = *static_cast<kernels::path_arguments*>(arguments[0]);
        return [l, a] {
            const double kept = a.payoffs[tile_paths + 5];
            store_made_up(l, a);
            a.payoffs[tile_paths + 5] = kept;
        };
    };
    const auto got = run.walk();
    EXPECT_EQ(got.tallies[0].whole().not_finite, 1u);
    EXPECT_EQ(got.tallies[0].whole().first_not_finite, tile_paths + 5);
}

TEST(reductions_by_a_device, fail_with_its_error) {
    using cuda::device_failure;
    for (const auto failure : {device_failure::illegal_address, device_failure::lost, device_failure::refused,
                               device_failure::other}) {
        for (const int nth : {1, 3}) {
            run_of_store run;
            run.memory_bytes = 1;
            run.gpu->failures = {{"reduce_stored", nth, failure}};
            const auto got = run.walk();
            for (const auto& f : got.failures) {
                ASSERT_TRUE(f) << nth;
                EXPECT_EQ(f->kind(), error_kind::device);
                EXPECT_EQ(f->message(), "reduce_stored: failed as planned");
            }
        }
    }
    run_of_store run;
    run.gpu->failures = {{"reduce_stored", 1, device_failure::out_of_memory}};
    const auto got = run.walk();
    EXPECT_EQ(failures_of(got), "");
    expect_near(got.tallies[0].whole(), run.expected(0), "after memory was out");
    EXPECT_GT(run.gpu->calls["reduce_stored"], 2);
}

TEST(reductions_by_a_device, are_refused_where_the_build_has_no_cub) {
    run_of_store run;
    run.gpu->properties.reduces_stored = false;
    const auto got = run.walk();
    for (const auto& f : got.failures) {
        ASSERT_TRUE(f);
        EXPECT_EQ(f->kind(), error_kind::usage);
        for (const char* said : {"store", "nvcc", "tree, last_block, warp_atomic, atomic"})
            EXPECT_NE(f->message().find(said), std::string::npos) << f->message();
    }
    EXPECT_EQ(run.gpu->calls["run"], 0);
}

TEST(reductions_by_a_device, give_an_error_without_one) {
    if (kernels::can_reduce_stored() && !cuda::survey_devices().devices.empty())
        GTEST_SKIP() << "here it works";
    std::array<std::byte, 256> scratch{};
    word64 bytes = scratch.size();
    const std::vector<double> payoffs(tile_paths);
    tile_result result;
    EXPECT_NE(kernels::reduce_stored({payoffs.data(), &result, 1, 1, 0, 1}, scratch.data(), bytes, nullptr),
              0);
}

namespace {

constexpr const char* small_book = R"(
market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {A: {currency: USD, spot: 100, volatility: 0.2}}}
trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
)";

// Numbers of atomic additions and fences that the PTX of a reduction must have.
struct promise {
    std::string_view reduction;
    int sums_by_atomics, fences;
};
constexpr std::array promises{promise{"tree", 0, 0}, promise{"last_block", 0, 2},
                              promise{"warp_atomic", 5, 0}, promise{"atomic", 5, 0}, promise{"store", 0, 0}};

}  // namespace

TEST(reductions, compile_without_spills) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    const book b = book::parse(small_book);
    const auto planned = plan::plan_trade(state_of(b).trades[0], state_of(*b.market()));
    ASSERT_EQ(promises.size(), cuda::reductions().size());
    for (const auto& r : cuda::reductions()) {
        const auto promised = std::ranges::find(promises, r.name, &promise::reduction);
        ASSERT_NE(promised, promises.end()) << r.name;
        for (const auto& [architecture, threads] :
             {std::pair{"sm_80", 64}, {"sm_80", 256}, {"sm_90", 128}, {"sm_90", 256}}) {
            cuda::kernel_decision how;
            how.reduction = r.name;
            how[cuda::knobs::block] = threads;
            const auto got =
                tests::facts_of({cuda::path_kernel_text(planned.code, how), architecture},
                                {".shared.add.f64", "membar.gl", "fence.acq_rel.gpu", "fence.sc.gpu"});
            const std::string words =
                std::string(r.name) + " on " + architecture + ", " + std::to_string(threads) + " threads";
            EXPECT_EQ(got.warnings, 0) << words << '\n' << got;
            EXPECT_TRUE(got.is_in_registers()) << words << '\n' << got;
            EXPECT_EQ(got.words.at(0), promised->sums_by_atomics) << words;
            EXPECT_EQ(got.words.at(1) + got.words.at(2) + got.words.at(3), promised->fences) << words;
        }
    }
}

namespace {

const std::string priced_book = "market: " TILEWALK_SOURCE_DIR R"(/configs/markets/demo.yaml
trades:
  - {id: european, product: european, underlying: CASHCOW, option: put, strike: 80, maturity: 1.5, currency: EUR}
  - {id: digital, product: digital, underlying: INDEX, strike: 7000, payout: 100, maturity: 0.5}
  - {id: first, product: asian, underlying: ACME, strike: 100, averaging_dates: {start: 0, end: 1, count: 37}}
  - {id: second, product: asian, underlying: BETA, strike: 50, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: watched, product: barrier, underlying: ACME, strike: 100, maturity: 1.0, direction: down, barrier: 85,
     rebate: 2, rebate_paid: at_hit}
)";

constexpr const char* lost_book = R"(
market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {A: {currency: USD, spot: 100, volatility: 0.2}}}
products:
  - product: lost
    summary: The logarithm of what may be below zero.
    parameters: {underlying: {type: asset, help: The asset.}, maturity: {type: date, help: Day of payment.}}
    example: {underlying: A, maturity: 1.0}
    script: |
      on maturity:
          pay log(spot(underlying) - 60)
trades:
  - {id: lost, product: lost, underlying: A, maturity: 1.0}
)";

class reductions_on_gpu : public testing::Test {
  protected:
    void SetUp() override {
        const auto survey = cuda::survey_devices();
        std::string why_none = survey.why_none;
        for (const auto& found : survey.devices) {
            if (found.why_not.empty()) {
                if (device_.empty()) device_ = std::to_string(found.properties.index);
            } else {
                why_none = found.why_not;
            }
        }
        if (!device_.empty()) return;
        const char* said = std::getenv("TILEWALK_REQUIRE_GPU");
        ASSERT_FALSE(said != nullptr && std::string(said) == "1")
            << "TILEWALK_REQUIRE_GPU is set: " << why_none;
        GTEST_SKIP() << "no GPU: " << why_none;
    }

    results price(std::string_view reduction, std::uint64_t paths, int block,
                  std::uint64_t memory_bytes = 0) const {
        run_options options;
        options.overrides.device = device_;
        options.overrides.paths = paths;
        options.overrides.random = "philox";
        options.overrides.block = block;
        options.overrides.memory_bytes = memory_bytes;
        options.overrides.reduction = std::string(reduction);
        return engine().price(book::parse(priced_book, "priced"), options);
    }

    std::string device_;
};

void expect_alike(const results& got, const results& expected, bool same_bits, const std::string& what) {
    ASSERT_EQ(got.rows.size(), expected.rows.size()) << what;
    for (std::size_t i = 0; i < got.rows.size(); ++i) {
        const price_row &g = got.rows[i], &e = expected.rows[i];
        ASSERT_EQ(g.status, trade_status::priced) << what << ", " << g.trade << ": " << g.message;
        ASSERT_EQ(e.status, trade_status::priced) << what << ", " << e.trade << ": " << e.message;
        const auto fits = [&](double a, double b) {
            return same_bits ? std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b)
                             : is_near(a, b, 0);
        };
        EXPECT_TRUE(fits(g.price, e.price))
            << what << ", " << g.trade << ": " << g.price << " is not " << e.price;
        EXPECT_TRUE(fits(g.standard_error, e.standard_error))
            << what << ", " << g.trade << ": " << g.standard_error << " is not " << e.standard_error;
    }
}

}  // namespace

TEST_F(reductions_on_gpu, give_the_prices_of_the_tree) {
    for (const std::uint64_t paths : {700u, 4500u, 1000000u}) {
        for (const int block : {64, 256}) {
            const results expected = price("tree", paths, block);
            for (const auto& r : cuda::reductions()) {
                if (r.stores_payoffs && !kernels::can_reduce_stored()) continue;  // a run would refuse it
                const std::string what = std::string(r.name) + ", " + std::to_string(paths) +
                                         " paths, block " + std::to_string(block);
                expect_alike(price(r.name, paths, block), expected, r.keeps_bits, what);
                expect_alike(price(r.name, paths, block, 100000), expected, r.keeps_bits,
                             what + ", in chunks");
            }
        }
    }
}

// Chance decides which block finishes last, but the bits are the same in every run.
TEST_F(reductions_on_gpu, last_block_gives_the_same_bits_every_time) {
    const results expected = price("tree", 300000, 64);
    for (int turn = 0; turn < 50; ++turn)
        expect_alike(price("last_block", 300000, 64), expected, true, "turn " + std::to_string(turn));
}

// CUB merges the paths of a tile in a fixed order, and tiles are merged in the fixed tree.
TEST_F(reductions_on_gpu, store_gives_the_same_bits_every_time) {
    if (!kernels::can_reduce_stored()) GTEST_SKIP() << "built without nvcc";
    const results expected = price("store", 300000, 64);
    for (int turn = 0; turn < 5; ++turn)
        expect_alike(price("store", 300000, 64), expected, true, "turn " + std::to_string(turn));
    expect_alike(price("store", 300000, 256, 1000000), expected, true, "in chunks");
}

TEST_F(reductions_on_gpu, find_payoffs_that_are_no_numbers) {
    const auto message_of = [&](std::string_view reduction, std::uint64_t memory_bytes) {
        run_options options;
        options.overrides.device = device_;
        options.overrides.paths = 5000;
        options.overrides.memory_bytes = memory_bytes;
        options.overrides.reduction = std::string(reduction);
        const results got = engine().price(book::parse(lost_book), options);
        EXPECT_EQ(got.rows[0].status, trade_status::failed);
        return got.rows[0].message;
    };
    const std::string expected = message_of("tree", 0);
    EXPECT_NE(expected.find("the first is path"), std::string::npos) << expected;
    for (const auto& r : cuda::reductions()) {
        if (r.stores_payoffs && !kernels::can_reduce_stored()) continue;
        for (const std::uint64_t memory_bytes : {0u, 1u})
            EXPECT_EQ(message_of(r.name, memory_bytes), expected) << r.name << ", " << memory_bytes;
    }
}

}  // namespace tilewalk
