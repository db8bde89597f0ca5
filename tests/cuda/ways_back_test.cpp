// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (kernels through the run-time compiler)
// On a GPU, walks forward and back (adjoint) have the CPU's bits in prices and derivatives. Their kernels
// compile without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/crew.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/back_end.h"
#include "engine/walk/cuda/back/ways_back.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/compile/way_back_text.h"
#include "engine/walk/cuda/device/backend.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/units.h"
#include "products/program/row_names.h"
#include "tests/both_ways.h"
#include "tests/every_model.h"
#include "tests/known_kernels.h"
#include "tests/made_book.h"
#include "tests/many_blocks.h"
#include "tests/own_folder.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::ways_back_test {
namespace {

using program::precision;

class ways_back_on_a_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        const bool is_required = std::getenv("TILEWALK_REQUIRE_GPU") != nullptr;
        try {
            chosen_ = gpus_.choose(is_required ? "0" : "auto");
        } catch (const error& e) {
            if (is_required) throw;
        }
        if (chosen_.devices.empty()) GTEST_SKIP() << "no GPU";
    }
    void compare(const book& all, const market& in, precision to, std::size_t every, std::uint64_t paths,
                 std::size_t least, std::optional<bool> keeps_shocks = {},
                 std::optional<quasi::points> points = {}) {
        const auto& best = *cpu::runnable_instruction_sets().sets[0];
        std::vector<std::unique_ptr<tests::both_ways>> trades;
        std::vector<std::string> ids;
        for (std::size_t i = 0; i < state_of(all).trades.size(); i += every) {
            auto of = std::make_unique<tests::both_ways>(state_of(all).trades[i], in, to);
            if (of->made.is_certain() || !cuda::ways_back::can_walk(of->job())) continue;
            trades.push_back(std::move(of));
            ids.push_back(state_of(all).trades[i].id);
        }
        const auto how = [&](const run::job& j) {
            cuda::way_back_decision out =
                cuda::best_way_back(to, kernels::philox_rounds, *j.code, *j.back.code);
            out.keeps_shocks = keeps_shocks.value_or(out.keeps_shocks);
            return points ? cuda::for_arrays(out) : out;
        };
        const std::string architecture = chosen_.devices[0]->get().properties().architecture();
        threads::for_each(
            trades.size(), 12, nullptr,
            [&](int, std::uint64_t i) {
                const run::job j = trades[i]->job();
                gpus_.kernels().cubin(
                    {cuda::way_back_kernel_of(*j.code, *j.back.code, how(j)).text, architecture, {}});
            },
            {});
        std::size_t numbers = 0;
        for (std::size_t i = 0; i < trades.size(); ++i) {
            const run::job j = trades[i]->job();
            run::walk walk;
            walk.jobs = {&j, 1};
            walk.seed = 20260115;
            walk.paths = paths;
            take_points(walk, points);
            cpu::back_end on_cpu(best, 12, to);
            const run::tally expected = on_cpu.walk_all(walk).tallies.at(0);
            const run::tally got = found(walk, how).at(0);
            EXPECT_TRUE(got == expected) << ids[i] << told(got, expected);
            numbers += got.derivatives();
        }
        const std::size_t compared = trades.size();
        EXPECT_GE(compared, least);
        std::printf("%zu trades compared, %zu derivatives\n", compared, numbers);
    }

    static void take_points(run::walk& to, const std::optional<quasi::points>& points) {
        to.points = points;
        if (points) to.unit_paths = kernels::paths_per_tile;
    }

    std::vector<run::tally> found(const run::walk& walk, const cuda::ways_back::decider& how,
                                  std::uint64_t memory_bytes = 0,
                                  const random::catalogue_entry& source = random::catalogue().front()) {
        cuda::ways_back walks(chosen_.devices, gpus_.kernels(), how, memory_bytes, 12, source);
        std::vector<std::optional<run::tally>> by_job(walk.jobs.size());
        const auto failures = walks.walk(walk, [&](std::size_t j, const run::tally& t) { by_job[j] = t; });
        std::vector<run::tally> out;
        for (std::size_t j = 0; j < by_job.size(); ++j) {
            if (failures[j]) throw error(*failures[j]);
            out.push_back(by_job[j].value());
        }
        return out;
    }
    kernels::moments forth(run::walk walk, run::job j, precision to, const random::catalogue_entry& source) {
        j.back = {};
        walk.jobs = {&j, 1};
        cuda::gpu_settings with;
        with.how.precision = to;
        with.how.reads_shocks = true;
        with.source = &source;
        const run::outcome got = cuda::launcher(chosen_.devices, gpus_.kernels(), with).walk_all(walk);
        if (got.failures[0]) throw error(*got.failures[0]);
        return got.tallies[0].whole().moments;
    }
    const cuda::backend::choice& chosen() const { return chosen_; }

  private:
    static std::string told(const run::tally& got, const run::tally& expected) {
        const auto a = got.derivatives_of_parts(), b = expected.derivatives_of_parts();
        std::size_t differ = 0;
        std::string first;
        for (std::size_t p = 0; p < a.size(); ++p) {
            for (std::size_t d = 0; d < a[p].size(); ++d) {
                if (a[p][d] == b[p][d]) continue;
                if (differ++ == 0)
                    first = ", first number " + std::to_string(d) + " of part " + std::to_string(p) + ": " +
                            std::to_string(a[p][d]) + " and " + std::to_string(b[p][d]);
            }
        }
        return ": " + std::to_string(differ) + " of " + std::to_string(a.size() * got.derivatives()) +
               " differ" + first;
    }
    cuda::backend gpus_;
    cuda::backend::choice chosen_;
};

constexpr const char* asian_of_61_dates =
    "trades:\n  - {id: a, product: asian, underlying: ACME, strike: 100, "
    "averaging_dates: {start: 0, end: 1, count: 61}}\n";

void expect_no_stack(const cuda::way_back_kernel& kernel, const std::string& architecture,
                     const std::string& what) {
    const tests::kernel_facts made = tests::facts_of({kernel.text, architecture});
    EXPECT_EQ(made.kernels, 2) << what << "\n" << made;
    EXPECT_TRUE(made.is_in_registers()) << what << " for " << architecture << "\n" << made;
}

std::vector<cuda::way_back_decision> by_every_feed(precision to) {
    std::vector<cuda::way_back_decision> out;
    for (const cuda::feed_entry& feed : cuda::feeds()) {
        if (!feed.makes_use_of(cuda::feed_entry::array)) continue;
        cuda::way_back_decision& how = out.emplace_back();
        how.precision = to;
        how.keeps_shocks = true;
        how.reads.feed = feed.name;
        how.reads.space = "global";
        how.reads[cuda::knobs::width] = 2;
        how.reads[cuda::knobs::block] = 128;
        how.reads[cuda::knobs::distance] = 4;
    }
    return out;
}

}  // namespace

TEST(ways_back_kernels, compile_without_a_gpu) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    const book all = book::parse(book_of_every_model());
    std::size_t compiled = 0;
    for (const precision to :
         {precision::double_, precision::single, precision::single_fast, precision::mixed}) {
        for (const books::trade& t : state_of(all).trades) {
            const bool has_tables = t.id == "stochastic_local_volatility_asian";
            if (t.id != "black_scholes_paid_in_eur" && t.id != "heston_asian" && t.id != "rates_g2_barrier" &&
                !(has_tables && to == precision::double_))
                continue;
            const tests::both_ways of(t, *all.market(), to);
            ASSERT_TRUE(cuda::ways_back::can_walk(of.job())) << t.id;
            const bool keeps_shocks = compiled % 4 < 2;
            cuda::way_back_decision how =
                cuda::best_way_back(to, kernels::philox_rounds, of.made.code, of.back);
            how.keeps_shocks = keeps_shocks;
            if (compiled % 3 == 2) how = cuda::for_arrays(how);
            const auto kernel = cuda::way_back_kernel_of(of.made.code, of.back, how);
            const std::string architecture = ++compiled % 2 == 0 ? "sm_80" : "sm_90";
            expect_no_stack(kernel, architecture, t.id);
        }
    }
    EXPECT_EQ(compiled, 13u);
}

TEST(ways_back_kernels, of_policies_compile_without_a_gpu) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    std::size_t compiled = 0;
    for (const std::string name : {"american", "american_barrier", "bermudan_swaption", "shout"}) {
        const auto pages = product_pages();
        const auto page = std::ranges::find(pages, name, [](const auto& p) { return p.name; });
        ASSERT_NE(page, pages.end());
        const book one = book::parse("trades:\n  - " + page->example + '\n');
        const precision to = compiled % 2 == 0 ? precision::double_ : precision::single;
        const tests::both_ways of(state_of(one).trades.at(0), tests::demo_market(), to);
        program::wanted_numbers wanted = program::all_numbers_of(of.made.code);
        for (std::size_t s = 0; s < wanted.rows.size(); ++s) {
            for (std::size_t column = 0; column < wanted.rows[s].size(); ++column) {
                const std::string row = program::name_of_row(of.made.code, s, column);
                if (program::row_names::is_of_a_decision(row) || row.find("of feature") != row.npos)
                    wanted.rows[s][column] = false;
            }
        }
        const program::adjoint_program back = program::adjoint(of.made.code, wanted);
        const auto kernel = cuda::way_back_kernel_of(
            of.made.code, back, cuda::best_way_back(to, kernels::philox_rounds, of.made.code, back));
        expect_no_stack(kernel, ++compiled % 2 == 0 ? "sm_80" : "sm_90", name);
    }
}

// More sections than a mask has bits. For code so long, a stack frame is accepted.
TEST(ways_back_kernels_long, of_many_blocks_compile_without_a_gpu) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    const tests::many_blocks many = tests::of_many_blocks(40, "ACME", 39);
    const book all = book::parse("products:\n" + many.products + "trades:\n" + many.trades);
    for (const precision to : {precision::double_, precision::single}) {
        for (const books::trade& t : state_of(all).trades) {
            const tests::both_ways of(t, tests::demo_market(), to);
            ASSERT_TRUE(cuda::ways_back::can_walk(of.job())) << t.id;
            const auto kernel = cuda::way_back_kernel_of(
                of.made.code, of.back,
                cuda::best_way_back(to, kernels::philox_rounds, of.made.code, of.back));
            EXPECT_FALSE(cuda::nvrtc_compiler().compile({kernel.text, "sm_90", {}}).cubin.empty()) << t.id;
            cuda::kernel_decision forth;
            forth.precision = to;
            const std::string text = cuda::path_kernel_text(of.made.code, forth);
            EXPECT_FALSE(cuda::nvrtc_compiler().compile({text, "sm_90", {}}).cubin.empty()) << t.id;
        }
    }
}

TEST(ways_back_kernels, are_built_as_was_measured_where_no_bit_depends_on_it) {
    const tests::own_folder folder;
    cuda::tuned_choices choices(folder.path());
    cuda::device_properties on;
    on.name = "some GPU";
    const book one = book::parse(asian_of_61_dates);
    for (const precision to : {precision::double_, precision::single_fast}) {
        const tests::both_ways of(state_of(one).trades.at(0), tests::demo_market(), to);
        const run::job j = of.job();
        const auto by_rules = cuda::ways_back::as_suits(to, kernels::philox_rounds)(j);
        for (const int width : {by_rules.width(), 1}) {
            cuda::kernel_decision other = by_rules.reads;
            other.feed = "smem_rolling_async";
            other[cuda::knobs::width] = width;
            choices.remember(on, of.back.back, cuda::open_wish_of(by_rules), {other, 1, 2, "2026-01-01"});
            const auto measured =
                cuda::ways_back::as_suits(to, kernels::philox_rounds, cuda::tuned_device{choices, on})(j);
            const bool has_other_bits = program::is_fast(to) && width != by_rules.width();
            EXPECT_EQ(measured.reads, has_other_bits ? by_rules.reads : other) << width;
            EXPECT_EQ(measured.keeps_shocks, has_other_bits ? by_rules.keeps_shocks : true) << width;
        }
    }
}

TEST(ways_back_kernels, read_shocks_back_by_every_feed) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    const book one = book::parse(asian_of_61_dates);
    const tests::both_ways of(state_of(one).trades.at(0), tests::demo_market());
    std::size_t compiled = 0;
    for (const cuda::way_back_decision& how : by_every_feed(precision::double_)) {
        expect_no_stack(cuda::way_back_kernel_of(of.made.code, of.back, how), "sm_90", how.reads.feed);
        expect_no_stack(cuda::way_back_kernel_of(of.made.code, of.back, cuda::for_arrays(how)), "sm_90",
                        how.reads.feed + " from arrays");
        ++compiled;
    }
    EXPECT_EQ(compiled, 10u);
}

TEST_F(ways_back_on_a_gpu, have_the_bits_of_the_cpu_for_the_library) {
    compare(book_of_every_kind(), tests::demo_market(), precision::double_, 5, 3000, 40);
}

TEST_F(ways_back_on_a_gpu, have_the_bits_of_the_cpu_for_every_model) {
    const book all = book::parse(book_of_every_model());
    compare(all, *all.market(), precision::double_, 1, 5000, 40);
    for (const precision to : {precision::single, precision::mixed})
        compare(all, *all.market(), to, 4, 3000, 10);
}

TEST_F(ways_back_on_a_gpu, have_the_bits_of_the_cpu_for_many_blocks) {
    for (const int blocks : {40, 70}) {
        const tests::many_blocks many = tests::of_many_blocks(blocks, "ACME", 39);
        const book all = book::parse("products:\n" + many.products + "trades:\n" + many.trades);
        for (const precision to : {precision::double_, precision::single})
            compare(all, tests::demo_market(), to, 1, 3000, 2);
    }
}

TEST_F(ways_back_on_a_gpu, have_the_bits_of_the_cpu_over_many_parts) {
    const book one = book::parse(asian_of_61_dates);
    for (const precision to : {precision::double_, precision::single, precision::mixed})
        for (const bool keeps_shocks : {false, true})
            compare(one, tests::demo_market(), to, 1, 300 * 1024 + 77, 1, keeps_shocks);
}

TEST_F(ways_back_on_a_gpu, have_the_bits_of_the_cpu_over_points) {
    using quasi::construction;
    compare(book_of_every_kind(), tests::demo_market(), precision::double_, 7, 3 * 1024, 20, {},
            quasi::points{construction::bridge});
    const book all = book::parse(book_of_every_model());
    int number = 0;
    for (const precision to : {precision::double_, precision::single, precision::mixed}) {
        compare(all, *all.market(), to, to == precision::double_ ? 1 : 4, 3 * 1024, 10, {},
                quasi::points{static_cast<construction>(number++ % 4)});
    }
    const book one = book::parse(asian_of_61_dates);
    for (const construction how :
         {construction::steps, construction::bridge, construction::principal, construction::coarse})
        compare(one, tests::demo_market(), precision::double_, 1, 64 * 1024, 1, {}, quasi::points{how});
}

TEST_F(ways_back_on_a_gpu, walk_many_trades_at_once_with_the_bits_of_each_alone) {
    std::string text = "trades:\n";
    for (int i = 0; i < 40; ++i) {
        text += "  - {id: t" + std::to_string(i) +
                ", product: asian, underlying: ACME, strike: " + std::to_string(80 + i) +
                ", averaging_dates: {start: 0, end: 1, count: " + std::to_string(11 + i % 3) + "}}\n";
    }
    const book all = book::parse(text);
    std::vector<std::unique_ptr<tests::both_ways>> trades;
    for (const books::trade& t : state_of(all).trades)
        trades.push_back(std::make_unique<tests::both_ways>(t, tests::demo_market()));
    std::vector<run::job> jobs;
    for (const auto& t : trades) {
        run::job j = t->job();
        j.code = &trades.front()->made.code;
        j.back.code = &trades.front()->back;
        jobs.push_back(j);
    }
    run::walk walk;
    walk.seed = 7;
    walk.paths = 100 * 1024 + 5;
    const auto usual = cuda::ways_back::as_suits(precision::double_, kernels::philox_rounds);
    for (int points = 0; points < 3; ++points) {
        if (points > 0) {
            walk.paths = 96 * 1024;
            walk.unit_paths = 4 * 1024;
            for (std::size_t j = 0; j < jobs.size(); j += points == 1 ? 1 : 2)
                jobs[j].points = quasi::points{quasi::construction::bridge};
            if (points == 2)
                for (std::size_t j = 1; j < jobs.size(); j += 2) jobs[j].points.reset();
        }
        std::vector<run::tally> alone;
        for (const run::job& j : jobs) {
            walk.jobs = {&j, 1};
            alone.push_back(found(walk, usual).at(0));
        }
        walk.jobs = jobs;
        for (const std::uint64_t memory :
             {std::uint64_t{0}, std::uint64_t{64} << 20, std::uint64_t{1} << 20}) {
            const std::vector<run::tally> together = found(walk, usual, memory);
            for (std::size_t j = 0; j < jobs.size(); ++j)
                EXPECT_TRUE(together[j] == alone[j]) << "trade " << j << ", memory " << memory;
        }
    }
}

TEST_F(ways_back_on_a_gpu, over_curand_have_the_prices_and_the_bits_of_any_chunks) {
    const book one = book::parse(asian_of_61_dates);
    for (const precision to : {precision::double_, precision::single, precision::single_fast}) {
        const tests::both_ways of(state_of(one).trades.at(0), tests::demo_market(), to);
        const run::job j = of.job();
        const auto usual = cuda::ways_back::as_suits(to, kernels::philox_rounds);
        for (const random::catalogue_entry& source : random::catalogue()) {
            if (source.is_keyed) continue;
            SCOPED_TRACE(std::string(source.name) + ", " + std::string(program::name_of(to)));
            run::walk walk;
            walk.jobs = {&j, 1};
            walk.paths = 150 * 1024 + 5;
            if (source.is_quasi) walk.unit_paths = run::quasi_unit_paths(walk.paths);
            const run::tally expected = found(walk, usual, 0, source).at(0);
            for (const std::uint64_t mebibytes : {80U, 1U})
                EXPECT_TRUE(found(walk, usual, mebibytes << 20, source).at(0) == expected) << mebibytes;
            const kernels::moments both_ways = expected.whole().moments, alone = forth(walk, j, to, source);
            EXPECT_EQ(both_ways.count, alone.count);
            EXPECT_EQ(both_ways.mean, alone.mean);
            EXPECT_EQ(both_ways.m2, alone.m2);
        }
    }
}

TEST_F(ways_back_on_a_gpu, have_the_same_bits_by_every_feed) {
    const book one = book::parse(asian_of_61_dates);
    for (const precision to : {precision::double_, precision::single, precision::single_fast}) {
        const tests::both_ways of(state_of(one).trades.at(0), tests::demo_market(), to);
        const run::job j = of.job();
        const auto by_rules = cuda::ways_back::as_suits(to, kernels::philox_rounds);
        run::walk walk;
        walk.jobs = {&j, 1};
        walk.paths = 40 * 1024 + 3;
        for (const bool has_points : {false, true}) {
            if (has_points) {
                walk.paths = 40 * 1024;
                take_points(walk, quasi::points{});
            }
            const run::tally expected = found(walk, by_rules).at(0);
            for (cuda::way_back_decision how : by_every_feed(to)) {
                for (const int width : {1, 2, 4}) {
                    how.reads[cuda::knobs::width] = width;
                    if (how.reads.feed == "bulk_async" && chosen().devices[0]->get().properties().major < 9)
                        continue;
                    if (!cuda::have_same_bits(how, by_rules(j))) continue;
                    const auto as_told = [&](const run::job&) { return how; };
                    EXPECT_TRUE(found(walk, as_told).at(0) == expected)
                        << how.reads.feed << ", width " << width << (has_points ? ", points" : "");
                }
            }
        }
    }
}

}  // namespace tilewalk::ways_back_test
