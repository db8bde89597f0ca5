// SPDX-License-Identifier: Apache-2.0
// The catalogue of reductions: each on a model of a block whose threads are the host's, each through the
// run-time compiler, and each on a GPU.
//
// What asks for a GPU is skipped where there is none, unless TILEWALK_REQUIRE_GPU=1 says that there must be
// one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/book/book_state.h"
#include "engine/cuda/compiler.h"
#include "engine/cuda/device.h"
#include "engine/cuda/kernel_headers.h"
#include "engine/cuda/kernel_text.h"
#include "engine/cuda/reductions.h"
#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "tilewalk/tilewalk.h"

// ---- what the reductions take from CUDA, for a block of threads of the host ------------------------------

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

thread_local struct { unsigned x = 0; } threadIdx;
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
// The model's atomics order everything already: what fences are for shows on a GPU alone.
void __threadfence() {}

}  // namespace

#include "kernels/reductions/atomic.h"
#include "kernels/reductions/last_block.h"
#include "kernels/reductions/tree.h"
#include "kernels/reductions/warp_atomic.h"

namespace tilewalk {
namespace {

using kernels::tile_result;
using kernels::word32;
using kernels::word64;

constexpr std::size_t tile_paths = kernels::paths_per_tile;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Payoffs of every size, many of them zero.
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
    tile_result merged;
    word32 finished = 0;
};

// The blocks of a trade, one after the other in `order`.
template <template <int> class reduction, int threads>
played play(const std::vector<double>& payoffs, const std::vector<word32>& order) {
    played out;
    out.results.resize(order.size());
    out.merged.not_finite = 12345;
    std::vector<double> tile(tile_paths);
    // Exactly what the reduction asks for.
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
            reduction<threads>::finish(
                tile.data(), static_cast<int>(count),
                {at, at, static_cast<word32>(order.size()), out.results.data(), &out.merged, &out.finished},
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

// The same but for the order of additions; the scale of odd powers is that of their terms.
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
    // Equal payoffs have no spread, whatever the order: the mean is corrected.
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

// Whichever block comes last, it merges all tiles, once, in the tree of merge_tiles.
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
            EXPECT_EQ(got.finished, tiles);
            EXPECT_EQ(bits(got.merged), bits(expected)) << tiles << " tiles, the last is " << order.back();
        }
    }
    // What is no number is counted through the merge.
    auto payoffs = some_payoffs(3 * tile_paths);
    payoffs[2500] = nan;
    const auto bad = play<last_block, 64>(payoffs, {2, 0, 1});
    EXPECT_EQ(bad.merged.not_finite, 1u);
    EXPECT_EQ(bad.merged.first_not_finite, 2500u);
}

// ---- through the run-time compiler -----------------------------------------------------------------------

namespace {

constexpr const char* small_book = R"(
market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {A: {currency: USD, spot: 100, volatility: 0.2}}}
trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
)";

int count(std::string_view text, std::string_view what) {
    int found = 0;
    for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1))
        ++found;
    return found;
}

// What the PTX of a reduction holds and what not.
struct promise {
    std::string_view reduction;
    int sums_by_atomics, fences;
};
constexpr std::array promises{promise{"tree", 0, 0}, promise{"last_block", 0, 2},
                              promise{"warp_atomic", 5, 0}, promise{"atomic", 5, 0}};

}  // namespace

TEST(reductions, compile_without_spills) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    const book b = book::parse(small_book);
    const auto planned = plan::plan_trade(b.state().trades[0], b.market()->state());
    ASSERT_EQ(promises.size(), cuda::reductions().size());
    for (const auto& r : cuda::reductions()) {
        const auto promised = std::ranges::find(promises, r.name, &promise::reduction);
        ASSERT_NE(promised, promises.end()) << r.name;
        for (const auto& [architecture, threads] :
             {std::pair{"sm_80", 64}, {"sm_80", 256}, {"sm_90", 128}, {"sm_90", 256}}) {
            cuda::kernel_choice how;
            how.reduction = r.name;
            how.threads = threads;
            const auto got = cuda::nvrtc_compiler().compile(
                {cuda::path_kernel_text(planned.code, how), architecture}, true);
            const std::string words =
                std::string(r.name) + " on " + architecture + ", " + std::to_string(threads) + " threads";
            EXPECT_EQ(count(got.log, "warning"), 0) << words << '\n' << got.log;
            EXPECT_GE(count(got.log, "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"), 1)
                << words << '\n'
                << got.log;
            EXPECT_EQ(count(got.log, " bytes stack frame"), count(got.log, " 0 bytes stack frame"))
                << words << '\n'
                << got.log;
            EXPECT_EQ(count(got.ptx, ".shared.add.f64"), promised->sums_by_atomics) << words;
            EXPECT_EQ(count(got.ptx, "membar.gl") + count(got.ptx, "fence.acq_rel.gpu") +
                          count(got.ptx, "fence.sc.gpu"),
                      promised->fences)
                << words;
        }
    }
}

// ---- on a GPU --------------------------------------------------------------------------------------------

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

    // In several chunks where `memory_bytes` is small.
    results price(std::string_view reduction, std::uint64_t paths, int block,
                  std::uint64_t memory_bytes = 0) const {
        run_options options;
        options.overrides.device = device_;
        options.overrides.paths = paths;
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
                const std::string what = std::string(r.name) + ", " + std::to_string(paths) +
                                         " paths, block " + std::to_string(block);
                expect_alike(price(r.name, paths, block), expected, r.keeps_bits, what);
                expect_alike(price(r.name, paths, block, 100000), expected, r.keeps_bits,
                             what + ", in chunks");
            }
        }
    }
}

// Who is last is chance: many runs, always the same bits.
TEST_F(reductions_on_gpu, last_block_gives_the_same_bits_every_time) {
    const results expected = price("tree", 300000, 64);
    for (int turn = 0; turn < 50; ++turn)
        expect_alike(price("last_block", 300000, 64), expected, true, "turn " + std::to_string(turn));
}

}  // namespace tilewalk
