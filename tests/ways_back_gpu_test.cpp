// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (kernels through the run-time compiler)
// Prices and derivatives of walks both ways, on a GPU and on the CPU: not a bit may differ. And kernels of
// both ways compile without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/book/book_state.h"
#include "engine/cpu/back_end.h"
#include "engine/cpu/crew.h"
#include "engine/cuda/backend.h"
#include "engine/cuda/compiler.h"
#include "engine/cuda/way_back_text.h"
#include "engine/cuda/ways_back.h"
#include "engine/plan/trade_program.h"
#include "tests/both_ways.h"
#include "tests/every_model.h"
#include "tests/made_book.h"
#include "tilewalk/book.h"

namespace tilewalk {
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
                 std::size_t least, std::optional<bool> keeps_shocks = {}) {
        const auto& best = *cpu::runnable_instruction_sets().sets[0];
        std::vector<std::unique_ptr<tests::both_ways>> trades;
        std::vector<std::string> ids;
        for (std::size_t i = 0; i < all.state().trades.size(); i += every) {
            auto of = std::make_unique<tests::both_ways>(all.state().trades[i], in, to);
            if (of->made.is_certain() || !cuda::ways_back::can_walk(of->job())) continue;
            trades.push_back(std::move(of));
            ids.push_back(all.state().trades[i].id);
        }
        cuda::way_back_decision how{.precision = to};
        how.keeps_shocks = keeps_shocks.value_or(how.keeps_shocks);
        const std::string architecture = chosen_.devices[0]->get().properties().architecture();
        // The kernels are there when they are asked for.
        cpu::for_each(trades.size(), 12, nullptr,
                      [&](int, std::uint64_t i) {
                          const std::string text =
                              cuda::way_back_kernel_text(trades[i]->made.code, trades[i]->back, how);
                          gpus_.kernels().cubin({text, architecture, {}});
                      },
                      {});
        std::size_t numbers = 0;
        for (std::size_t i = 0; i < trades.size(); ++i) {
            const run::job j = trades[i]->job();
            run::walk walk;
            walk.jobs = {&j, 1};
            walk.seed = 20260115;
            walk.paths = paths;
            cpu::back_end on_cpu(best, 12, to);
            const run::tally expected = on_cpu.walk_all(walk).tallies.at(0);
            cuda::counted_kernels kernels(gpus_.kernels());
            const run::tally got = cuda::ways_back(*chosen_.devices[0], kernels, how, 0).walk(j, walk);
            EXPECT_TRUE(got == expected) << ids[i] << told(got, expected);
            numbers += got.derivatives();
        }
        const std::size_t compared = trades.size();
        EXPECT_GE(compared, least);
        std::printf("%zu trades compared, %zu derivatives\n", compared, numbers);
    }

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

}  // namespace

// Ways back of a few shapes, in every precision, on each architecture in turn.
TEST(ways_back_kernels, compile_without_a_gpu) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    const book all = book::parse(book_of_every_model());
    std::size_t compiled = 0;
    for (const precision to :
         {precision::double_, precision::single, precision::single_fast, precision::mixed}) {
        for (const books::trade& t : all.state().trades) {
            if (t.id != "black_scholes_paid_in_eur" && t.id != "heston_asian" && t.id != "rates_g2_barrier")
                continue;
            const tests::both_ways of(t, *all.market(), to);
            ASSERT_TRUE(cuda::ways_back::can_walk(of.job())) << t.id;
            const bool keeps_shocks = compiled % 4 < 2;
            const std::string text = cuda::way_back_kernel_text(
                of.made.code, of.back, {.precision = to, .keeps_shocks = keeps_shocks});
            const std::string architecture = ++compiled % 2 == 0 ? "sm_80" : "sm_90";
            EXPECT_FALSE(cuda::nvrtc_compiler().compile({text, architecture, {}}).cubin.empty()) << t.id;
        }
    }
    EXPECT_EQ(compiled, 12u);
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

TEST_F(ways_back_on_a_gpu, have_the_bits_of_the_cpu_over_many_parts) {
    const book one = book::parse(
        "trades:\n  - {id: a, product: asian, underlying: ACME, strike: 100, "
        "averaging_dates: {start: 0, end: 1, count: 61}}\n");
    for (const precision to : {precision::double_, precision::single, precision::mixed})
        for (const bool keeps_shocks : {false, true})
            compare(one, tests::demo_market(), to, 1, 300 * 1024 + 77, 1, keeps_shocks);
}

}  // namespace tilewalk
