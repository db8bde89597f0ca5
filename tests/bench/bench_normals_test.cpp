// SPDX-License-Identifier: Apache-2.0
// label: alone (has names of CUDA at the top)
// The kernels around cuRAND's device generators, run on the host thread by thread with our own generator in
// place of cuRAND's: every piece is written once, states continue, the Asian's price is the engine's on the
// same paths, and the suite `random` tells right rows from wrong ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/suites/curand_device.h"
#include "bench/suites/random.h"
#include "kernels/arguments.h"
#include "kernels/draws.h"
#include "products/program/streams.h"
#include "tests/fake_device.h"
#include "tests/own_folder.h"
#include "tilewalk/tilewalk.h"

namespace {

struct index_of {
    unsigned x;
};
index_of threadIdx{0}, blockIdx{0}, gridDim{1};

void __syncthreads() {}

}  // namespace

// Declarations that headers of reductions need; no test here runs such a reduction.
int __syncthreads_or(int);
double __shfl_xor_sync(unsigned, double, int);
template <class number>
number atomicAdd(number*, number);
int atomicMin(int*, int);

#include "kernels/studies/normals.h"

namespace tilewalk::bench {
namespace {

using kernels::tile_result;
using kernels::word32;
using kernels::word64;
namespace studies = kernels::studies;

constexpr word64 threads = studies::normals_threads;

struct plain_stores {
    template <class element, int count>
    static void store(element* to, const kernels::neighbours<element, count>& x) {
        std::memcpy(to, x.x, sizeof x.x);
    }
};

template <class kernel>
void play(unsigned blocks, const kernel& of_thread) {
    gridDim.x = blocks;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) of_thread();
    }
}

template <bool keeps>
struct counting_generator {
    using real = double;
    struct state {
        double sequence, asked;
    };
    static constexpr bool keeps_state = keeps;
    static state started(word64 seed, word64 sequence) {
        return {static_cast<double>(seed * 1000000 + sequence), 0};
    }
    static kernels::neighbours<double, 2> next(state& s) { return {{s.sequence, ++s.asked}}; }
};

// In place of a cuRAND generator: the normals of the engine's own paths, a sequence each, plus `shift`.
template <class draws, bool keeps>
struct own_generator {
    using real = typename draws::shock;
    struct state {
        word64 seed, path;
        word32 number;
    };
    static constexpr bool keeps_state = keeps;
    inline static real shift = 0;
    inline static const kernels::stream_key name = kernels::stream_key_of(program::stream_name("A").key);

    static state started(word64 seed, word64 sequence) { return {seed, sequence, 0}; }
    static kernels::neighbours<real, draws::per_block> next(state& s) {
        const auto made = draws::normals(s.seed, s.path, s.number++, name);
        kernels::neighbours<real, draws::per_block> out{};
        for (int k = 0; k < draws::per_block; ++k) out.x[k] = made.x[k] + shift;
        return out;
    }
    static real exp(real x) { return std::exp(x); }
};

// The last thread of a block sums the payoffs of the block.
struct last_thread_sums {
    static void finish(const double* payoffs, int count, const kernels::tile_site& site, char*) {
        if (threadIdx.x + 1 == threads) site.result().moments = kernels::tile_moments(payoffs, count);
    }
};

template <class generator>
void play_asian(unsigned blocks, const studies::asian_job& job) {
    std::vector<char> shared(kernels::paths_per_tile * sizeof(double));
    play(blocks, [&] { studies::walk_asian<generator, last_thread_sums>(job, shared.data()); });
}

tile_result merged(std::vector<tile_result> tiles) {
    std::vector<kernels::moments> all;
    for (const auto& t : tiles) all.push_back(t.moments);
    return {kernels::merge_tiles(all.data(), all.size()), 0, ~word64{0}};
}

TEST(bench_normals, fill_every_piece_once) {
    constexpr unsigned blocks = 3;
    for (const word64 pieces :
         {word64{1}, threads * blocks - 1, threads * blocks, threads * blocks * 4 + 77}) {
        std::vector<double> memory(2 * pieces + 2, -1);
        studies::fill_job job{memory.data(), pieces, nullptr, 7};
        play(blocks, [&] { studies::fill_with_normals<counting_generator<false>, plain_stores>(job); });
        std::set<std::pair<double, double>> seen;
        for (word64 i = 0; i < pieces; ++i) {
            EXPECT_EQ(memory[2 * i], 7e6 + static_cast<double>(i % (threads * blocks)));
            EXPECT_TRUE(seen.emplace(memory[2 * i], memory[2 * i + 1]).second) << i;
        }
        EXPECT_EQ(memory[2 * pieces], -1) << "beyond the end";
    }
}

TEST(bench_normals, go_on_from_states_that_are_kept) {
    using generator = counting_generator<true>;
    constexpr unsigned blocks = 2;
    constexpr word64 pieces = threads * blocks * 2;
    std::vector<double> memory(2 * pieces);
    std::vector<generator::state> states(threads * blocks);
    studies::fill_job job{memory.data(), pieces, states.data(), 3};
    play(blocks, [&] { studies::set_up_states<generator>(job); });
    std::set<std::pair<double, double>> seen;
    for (int launch = 0; launch < 3; ++launch) {
        play(blocks, [&] { studies::fill_with_normals<generator, plain_stores>(job); });
        for (word64 i = 0; i < pieces; ++i)
            EXPECT_TRUE(seen.emplace(memory[2 * i], memory[2 * i + 1]).second) << launch << ' ' << i;
    }
    for (const auto& s : states) EXPECT_EQ(s.asked, 6);
}

// On the same paths prices differ by rounding alone: of exp, of sums, of 252 steps in the exponent.
TEST(bench_normals, price_the_asian_as_the_engine_does) {
    constexpr unsigned blocks = 8;
    std::vector<tile_result> results(blocks);
    auto job = normals::asian_terms();
    job.blocks = blocks;
    job.results = results.data();
    play_asian<own_generator<kernels::double_draws, false>>(blocks, job);
    const auto got = estimate_of(merged(results));

    run_options options;
    options.overrides.paths = threads * blocks;
    options.overrides.seed = timed_walk::seed;
    options.overrides.device = "cpu";
    const auto priced = engine().price(book::parse(normals::asian_book, "test"), options);
    ASSERT_EQ(priced.rows.at(0).status, trade_status::priced) << priced.rows.at(0).message;
    EXPECT_NEAR(got.price, priced.rows[0].price, 1e-11 * got.price);
    EXPECT_NEAR(got.standard_error, priced.rows[0].standard_error, 1e-11 * got.standard_error);
}

TEST(bench_normals, let_no_payoff_hide_that_it_is_no_number) {
    using generator = own_generator<kernels::double_draws, false>;
    generator::shift = std::nan("");
    EXPECT_TRUE(std::isnan(studies::asian_payoff<generator>(normals::asian_terms(), 0)));
    generator::shift = -10;
    EXPECT_EQ(studies::asian_payoff<generator>(normals::asian_terms(), 0), 0);
    generator::shift = 0;
}

template <class job>
job argument(std::span<void*> arguments) {
    job out;
    std::memcpy(&out, arguments[0], sizeof out);
    return out;
}

template <class draws>
cuda::fake_gpu::work played(const std::string& text, const std::string& name, unsigned blocks,
                            std::span<void*> arguments) {
    if (name == "walk") {
        const auto job = argument<studies::asian_job>(arguments);
        return [=] { play_asian<own_generator<draws, false>>(blocks, job); };
    }
    const auto job = argument<studies::fill_job>(arguments);
    const bool keeps = text.find(", true>") != std::string::npos;
    if (name == "set_up")
        return [=] { play(blocks, [&] { studies::set_up_states<own_generator<draws, true>>(job); }); };
    return [=] {
        play(blocks, [&] {
            if (keeps) {
                studies::fill_with_normals<own_generator<draws, true>, plain_stores>(job);
            } else {
                studies::fill_with_normals<own_generator<draws, false>, plain_stores>(job);
            }
        });
    };
}

cuda::fake_gpu::work kernel_of(const std::string& text, const std::string& name, const cuda::launch& how,
                               std::span<void*> arguments) {
    if (name == "merge_tiles") {
        const auto job = argument<kernels::merge_arguments>(arguments);
        const std::uint32_t blocks = how.blocks;
        return [=] {
            for (std::uint32_t part = 0; part < blocks; ++part) {
                const std::uint32_t first = part * job.part_tiles;
                const std::uint32_t end = std::min(first + job.part_tiles, job.tiles_per_trade);
                job.merged[part] = merged({job.tiles + first, job.tiles + end});
            }
        };
    }
    if (text.find("curand_generator<double") != std::string::npos)
        return played<kernels::double_draws>(text, name, how.blocks, arguments);
    if (text.find("curand_generator<float") != std::string::npos)
        return played<kernels::single_draws>(text, name, how.blocks, arguments);
    return [] {};
}

struct header_folder : tests::own_folder {
    header_folder() {
        std::filesystem::create_directories(*this / "nv");
        std::filesystem::create_directories(*this / "cuda/std");
        for (const char* name : {"curand_kernel.h", "nv/target", "cuda/std/type_traits"}) write(name, "");
    }
};

std::map<std::string, row> rows_with(const std::vector<std::string>& folders,
                                     const std::set<std::string>& refused = {}) {
    const auto gpu = std::make_shared<cuda::fake_gpu>();
    gpu->memory_bytes = std::size_t{16} << 20;
    gpu->properties.l2_bytes = 0;
    gpu->properties.multiprocessors = 2;
    gpu->kernel = kernel_of;
    cuda::text_compiler compiler;
    compiler.refuses = [&](const std::string& text) { return refused.contains(text); };
    cuda::kernel_store store(compiler, {});
    gpu_timer on(std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu)), store,
                 open_clocks(""), {1.0, 1, 1, 0});
    std::map<std::string, row> out;
    normals::measure(on, folders, [&](row r) {
        const std::string name = r.axes.value("source", r.axes.value("shocks", ""));
        if (name.starts_with("curand_device"))
            out[r.axes.at("kind").get<std::string>() + ' ' + name + ' ' +
                r.axes.at("precision").get<std::string>()] = r;
    });
    EXPECT_EQ(gpu->faults, std::vector<std::string>{});
    EXPECT_EQ(out.size(), 2 * normals::device_generators().size() + 2);
    return out;
}

TEST(bench_normals, rows_are_results_where_the_numbers_are_right) {
    const header_folder headers;
    for (const auto& [name, r] : rows_with({headers.path().string()})) {
        EXPECT_TRUE(r.is_result()) << name << r.wrong << r.skipped;
        const bool has_states =
            name.find("xorwow") != std::string::npos || name.find("mrg") != std::string::npos;
        EXPECT_EQ(r.figures.contains("set_up_milliseconds"), has_states) << name;
        EXPECT_EQ(r.figures.contains("normals_per_second"), name.starts_with("fill")) << name;
        EXPECT_EQ(r.figures.contains("path_steps_per_second"), name.starts_with("asian")) << name;
    }
}

TEST(bench_normals, rows_are_wrong_where_the_numbers_are) {
    const header_folder headers;
    const auto shifted = [](double by) {
        own_generator<kernels::double_draws, false>::shift =
            own_generator<kernels::double_draws, true>::shift = by;
        own_generator<kernels::single_draws, false>::shift =
            own_generator<kernels::single_draws, true>::shift = static_cast<float>(by);
    };
    shifted(0.2);
    const auto rows = rows_with({headers.path().string()});
    shifted(0);
    for (const auto& [name, r] : rows) EXPECT_FALSE(r.wrong.empty()) << name;
}

TEST(bench_normals, a_kernel_that_does_not_compile_is_a_wrong_row_alone) {
    const header_folder headers;
    const auto& philox = normals::device_generators().front();
    for (const auto& [name, r] :
         rows_with({headers.path().string()}, {normals::fill_text(philox, arrays::element::single_)})) {
        const bool is_it = name == "fill " + std::string(philox.name) + " single";
        EXPECT_EQ(r.wrong, is_it ? "refused as planned" : "") << name;
        EXPECT_EQ(r.is_result(), !is_it) << name;
    }
}

TEST(bench_normals, rows_are_skipped_without_the_headers) {
    const tests::own_folder empty;
    for (const auto& [name, r] : rows_with({"/nowhere", empty.path().string()})) {
        EXPECT_NE(r.skipped.find("<curand_kernel.h>"), std::string::npos) << name;
        EXPECT_NE(r.skipped.find("looked in /nowhere, " + empty.path().string()), std::string::npos) << name;
    }
}

}  // namespace
}  // namespace tilewalk::bench
