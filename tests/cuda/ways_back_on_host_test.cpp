// SPDX-License-Identifier: Apache-2.0
// Adjoint walks without a GPU: the kernel text is built for the host. Prices and derivatives must have the
// bits of the CPU back end's own walk.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"
#include "engine/walk/arrays/shock_file.h"
#include "engine/walk/arrays/shock_writer.h"
#include "engine/walk/cpu/back_end.h"
#include "engine/walk/cuda/back/ways_back.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "kernels/way_back/arguments.h"
#include "tests/both_ways.h"
#include "tests/every_model.h"
#include "tests/fake_device.h"
#include "tests/host_kernel.h"
#include "tests/many_blocks.h"
#include "tests/merge_as_a_gpu.h"
#include "tests/own_folder.h"
#include "tests/scenario_file.h"
#include "tests/surface_program.h"
#include "tilewalk/book.h"

namespace tilewalk::ways_back_on_host_test {
namespace {

using program::precision;

std::shared_ptr<cuda::fake_gpu> gpu_of_host() {
    auto gpu = std::make_shared<cuda::fake_gpu>();
    gpu->kernel = [all = tests::host_kernels()](const std::string& cubin, const std::string& kernel,
                                                const cuda::launch& how,
                                                std::span<void*> arguments) -> cuda::fake_gpu::work {
        if (kernel == "merge_tiles") {
            const auto a = *static_cast<const kernels::merge_arguments*>(arguments[0]);
            return [how, a] { merge_as_a_gpu(how, a); };
        }
        return kernel == "merge_derivatives" ? all.launched<kernels::derivative_merge_arguments>(
                                                   cubin, kernel, how.blocks, how.threads, arguments)
                                             : all.launched<kernels::way_back_arguments>(
                                                   cubin, kernel, how.blocks, how.threads, arguments);
    };
    return gpu;
}

constexpr std::uint64_t paths = 2 * kernels::paths_per_tile + 77;

struct outcome {
    std::vector<std::optional<error>> failures;
    std::map<std::size_t, run::tally> tallies{};  // by number of the job
};
outcome walked_on_host(const run::walk& walk, const cuda::ways_back::decider& how, std::uint64_t memory_bytes,
                       const random::catalogue_entry& source = random::catalogue().front()) {
    cuda::text_compiler compiler;
    cuda::kernel_store kernels(compiler, {});
    const auto gpu = gpu_of_host();
    outcome out;
    {
        const std::vector<std::shared_ptr<cuda::loaded_device>> on{
            std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu))};
        cuda::ways_back walks(on, kernels, how, memory_bytes, 1, source);
        out.failures =
            walks.walk(walk, [&](std::size_t j, const run::tally& t) { out.tallies.emplace(j, t); });
    }
    EXPECT_EQ(gpu->faults.size(), 0u) << gpu->report();
    return out;
}

run::tally on_host(const run::walk& walk, const cuda::way_back_decision& how, std::uint64_t memory_bytes,
                   const random::catalogue_entry& source = random::catalogue().front()) {
    const outcome got = walked_on_host(
        walk, [&](const run::job&) { return how; }, memory_bytes, source);
    if (got.failures.at(0)) throw error(*got.failures[0]);
    return got.tallies.at(0);
}

cuda::way_back_decision decided(const run::job& j, precision to, bool keeps_shocks) {
    cuda::way_back_decision how = cuda::best_way_back(to, kernels::philox_rounds, *j.code, *j.back.code);
    how.keeps_shocks = keeps_shocks;
    how.reads.feed = "none";
    how.reads[cuda::knobs::block] = 64;  // two warps, so that few threads start
    return how;
}

void expect_bits(const run::tally& got, const run::tally& expected) {
    EXPECT_TRUE(got == expected);
    const auto a = got.derivatives_of_parts(), b = expected.derivatives_of_parts();
    ASSERT_EQ(a.size(), b.size());
    std::size_t differ = 0, not_zero = 0;
    for (std::size_t p = 0; p < a.size(); ++p) {
        for (std::size_t d = 0; d < a[p].size(); ++d) {
            differ += a[p][d] != b[p][d];
            not_zero += b[p][d] != 0;
        }
    }
    EXPECT_EQ(differ, 0u) << "of " << a.size() * got.derivatives();
    EXPECT_GT(not_zero, 0u);
}

void expect_bits(const run::job& j, precision to, bool keeps_shocks,
                 std::span<const arrays::shock_cube> scenarios = {}, std::uint64_t memory_bytes = 0) {
    ASSERT_TRUE(cuda::ways_back::can_walk(j));
    run::walk walk;
    walk.jobs = {&j, 1};
    walk.paths = paths;
    walk.scenarios = scenarios;
    cpu::back_end on_cpu(*cpu::runnable_instruction_sets().sets[0], 2, to);
    expect_bits(on_host(walk, decided(j, to, keeps_shocks), memory_bytes),
                on_cpu.walk_all(walk).tallies.at(0));
}

class ways_back_on_host : public testing::TestWithParam<std::string> {};

TEST_P(ways_back_on_host, have_the_bits_of_the_cpu) {
    const book all = book::parse(book_of_every_model());
    const auto& trades = state_of(all).trades;
    const auto t = std::ranges::find(trades, GetParam(), &books::trade::id);
    ASSERT_NE(t, trades.end());
    for (const precision to : {precision::double_, precision::single, precision::mixed}) {
        SCOPED_TRACE(program::name_of(to));
        const tests::both_ways of(*t, *all.market(), to);
        expect_bits(of.job(), to, to != precision::single);
    }
}

INSTANTIATE_TEST_SUITE_P(all, ways_back_on_host,
                         testing::Values("black_scholes_paid_in_eur", "heston_barrier",
                                         "local_volatility_asian", "stochastic_local_volatility_paid_in_eur",
                                         "cgmy_asian", "rates_hull_white_barrier"),
                         [](const auto& at) { return at.param; });

// Trades that a policy ends early: their derivatives stop where their paths do.
TEST(ways_back_on_host_of_policies, have_the_bits_of_the_cpu) {
    const book all = book::parse(
        "trades:\n"
        "  - {id: put, product: american, underlying: ACME, strike: 100, maturity: 1, exercise_step: 0.25}\n"
        "  - {id: barrier, product: american_barrier, underlying: ACME, option: put, strike: 100, maturity: "
        "1, "
        "direction: up, barrier: 120, exercise_step: 0.5}\n"
        "  - {id: swing, product: swing, underlying: ACME, strike: 100, exercise_dates: [0.5, 1.0], rights: "
        "2}\n");
    for (const books::trade& t : state_of(all).trades) {
        for (const precision to : {precision::double_, precision::single}) {
            SCOPED_TRACE(t.id + ", " + std::string(program::name_of(to)));
            expect_bits(tests::both_ways(t, tests::demo_market(), to).job(), to, true);
        }
    }
}

// A trade with more sections than a mask has bits, some of them after the same step, and as many rights.
TEST(ways_back_on_host_of_many_blocks, have_the_bits_of_the_cpu) {
    const tests::many_blocks many = tests::of_many_blocks(36, "ACME", 34);
    const book all = book::parse("products:\n" + many.products + "trades:\n" + many.trades);
    for (const books::trade& t : state_of(all).trades) {
        SCOPED_TRACE(t.id);
        const precision to = t.id == "many" ? precision::double_ : precision::single;
        const tests::both_ways of(t, tests::demo_market(), to);
        ASSERT_GT(of.made.code.sections.size(), std::size_t{kernels::most_sections_of_masks});
        expect_bits(of.job(), to, to == precision::double_);
    }
}

// Derivatives with respect to numbers in tables: one looked-up number or several, alone or beside rows, read
// after each step and after some.
TEST(ways_back_on_host_with_tables, have_the_bits_of_the_cpu) {
    for (const std::size_t size : {2u, 40u}) {
        for (const std::size_t every : {1u, 2u}) {
            const tests::surface_program p(11, size, every);
            const program::adjoint_program back = program::adjoint(p.code, program::all_numbers_of(p.code));
            const program::path_data of_back = program::data_of_back(back, p.data);
            for (const precision to : {precision::double_, precision::single}) {
                SCOPED_TRACE(std::string(program::name_of(to)) + ", " + std::to_string(size) +
                             " numbers, a payment after " + std::to_string(every) + " steps");
                expect_bits({&p.code, &p.data, &p.when, {&back, &of_back}}, to, size == 2);
            }
        }
    }
}

// Volatilities by path (scenarios) are read from arrays forward and back, and have derivatives of their own.
TEST(ways_back_on_host_with_scenarios, have_the_bits_of_the_cpu) {
    const tests::scenario_file file(3, 3 * kernels::paths_per_tile);
    const book one = book::parse(
        "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n  assets:\n"
        "    S: {currency: USD, spot: 100, volatility: {scenarios: " +
        file.name() +
        ", times: [0.2, 0.7, 2.5]}}\ntrades:\n"
        "  - {id: a, product: asian, underlying: S, strike: 100, averaging_dates: {start: 0, end: 1, count: "
        "7}}\n");
    for (const precision to : {precision::double_, precision::single, precision::mixed}) {
        for (const bool keeps_shocks : {false, true}) {
            SCOPED_TRACE(std::string(program::name_of(to)) + (keeps_shocks ? ", kept" : ", made again"));
            const tests::both_ways of(state_of(one).trades.at(0), *one.market(), to);
            ASSERT_GT(of.made.code.scenarios_per_step, 0);
            const std::uint64_t memory = keeps_shocks ? 0 : 1;
            expect_bits(of.job(), to, keeps_shocks, state_of(*one.market()).scenario_cubes(), memory);
        }
    }
}

// A file of shocks for a job, and a source of random numbers without stream names that returns them.
class shocks_of_file {
  public:
    explicit shocks_of_file(const run::job& j, std::size_t left_out_steps = 0) {
        const std::size_t steps = j.when->steps() - left_out_steps;
        const auto slots = [](int per_step) { return static_cast<std::size_t>(per_step); };
        const std::size_t normals = slots(j.code->normals_per_step),
                          uniforms = slots(j.code->uniforms_per_step);
        std::mt19937_64 dice(5);
        std::normal_distribution<double> normal;
        std::uniform_real_distribution<double> uniform;
        std::vector<double> of_normals(steps * normals * paths), of_uniforms(steps * uniforms * paths);
        std::ranges::generate(of_normals, [&] { return normal(dice); });
        std::ranges::generate(of_uniforms, [&] { return uniform(dice); });
        arrays::write_shocks<double>(folder_ / "shocks",
                                     {steps, normals, uniforms, paths, of_normals, of_uniforms});
    }
    arrays::shock_file open(precision to) const {
        return arrays::shock_file((folder_ / "shocks").string(), program::shock_type(to));
    }

  private:
    tests::own_folder folder_;
};

const arrays::shock_file* numbers_of_source = nullptr;

class source_of_file final : public random::random_source {
  public:
    explicit source_of_file(arrays::element of) : of_(of) {}
    void fill(const random::cube& into, std::uint64_t first_path, std::uint64_t count,
              cuda::stream) override {
        const arrays::shock_cube& from = into.kind == random::shock_kind::normal
                                             ? numbers_of_source->normals()
                                             : numbers_of_source->uniforms();
        const auto fill_as = [&]<class shock>(shock) {
            for (std::uint64_t row = 0; row < into.rows; ++row)
                arrays::copy_row(from, row / from.slots, row % from.slots, first_path, count,
                                 static_cast<shock*>(into.first) + row * into.pitch);
        };
        of_ == arrays::element::double_ ? fill_as(double{}) : fill_as(float{});
    }
    std::uint64_t unit_paths() const override { return kernels::paths_per_tile; }

  private:
    arrays::element of_;
};

constexpr random::catalogue_entry of_file{
    .name = "file",
    .summary = "",
    .scratch_bytes = [](std::uint64_t) { return std::size_t{1}; },
    .open = [](const random::opening& from) -> std::unique_ptr<random::random_source> {
        return std::make_unique<source_of_file>(from.of);
    }};

TEST(ways_back_on_host_over_arrays, have_the_bits_of_the_cpu) {
    const book all = book::parse(book_of_every_model());
    const auto& trades = state_of(all).trades;
    for (const char* const id : {"heston_barrier", "cgmy_asian"}) {
        const auto t = std::ranges::find(trades, id, &books::trade::id);
        for (const precision to : {precision::double_, precision::single}) {
            SCOPED_TRACE(std::string(id) + ", " + std::string(program::name_of(to)));
            const tests::both_ways of(*t, *all.market(), to);
            const run::job j = of.job();
            const shocks_of_file made(j);
            const arrays::shock_file file = made.open(to);
            numbers_of_source = &file;
            run::walk drawn;
            drawn.jobs = {&j, 1};
            drawn.paths = paths;
            run::walk replayed = drawn;
            replayed.replay = &file;
            cpu::back_end on_cpu(*cpu::runnable_instruction_sets().sets[0], 2, to);
            const run::tally expected = on_cpu.walk_all(replayed).tallies.at(0);
            const cuda::way_back_decision how = decided(j, to, to != precision::single);
            expect_bits(on_host(replayed, how, 0), expected);
            for (const std::uint64_t memory : {0U, 1U})
                expect_bits(on_host(drawn, how, memory, of_file), expected);
        }
    }
}

TEST(ways_back_on_host_over_arrays, fail_a_trade_that_takes_more_than_there_is) {
    const book all = book::parse(book_of_every_model());
    const auto both_ways_of = [&](const char* id) {
        const auto& trades = state_of(all).trades;
        return std::make_unique<tests::both_ways>(*std::ranges::find(trades, id, &books::trade::id),
                                                  *all.market());
    };
    const auto of_long = both_ways_of("heston_barrier"), of_short = both_ways_of("black_scholes_paid_in_eur");
    const std::vector<run::job> jobs{of_long->job(), of_short->job()};
    const shocks_of_file made(jobs[0], 1);
    const arrays::shock_file file = made.open(precision::double_);
    random::catalogue_entry few = of_file;
    few.most_normals = jobs[1].when->steps() * static_cast<std::uint64_t>(jobs[1].code->normals_per_step);
    numbers_of_source = &file;
    run::walk walk;
    walk.jobs = jobs;
    walk.paths = paths;
    const auto how = [](const run::job& j) { return decided(j, precision::double_, true); };
    const outcome drawn = walked_on_host(walk, how, 0, few);
    walk.replay = &file;
    const outcome replayed = walked_on_host(walk, how, 0);
    cpu::back_end on_cpu(*cpu::runnable_instruction_sets().sets[0], 2, precision::double_);
    walk.jobs = {&jobs[1], 1};
    expect_bits(replayed.tallies.at(1), on_cpu.walk_all(walk).tallies.at(0));
    for (const outcome& o : {drawn, replayed}) {
        EXPECT_TRUE(o.failures[0]);
        EXPECT_FALSE(o.failures[1]);
        EXPECT_EQ(o.tallies.count(1), 1U);
    }
    EXPECT_NE(drawn.failures[0]->message().find(" normal random numbers a path"), std::string::npos);
    EXPECT_NE(replayed.failures[0]->message().find(" steps"), std::string::npos)
        << replayed.failures[0]->message();
}

}  // namespace
}  // namespace tilewalk::ways_back_on_host_test
