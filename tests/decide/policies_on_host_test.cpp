// SPDX-License-Identifier: Apache-2.0
// Policies trained without a GPU by the kernels of a GPU, whose text is built for the host: they equal the
// CPU back end's bit for bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/policies/policy_kernels.h"
#include "kernels/exercise/backward_arguments.h"
#include "kernels/exercise/leaving_arguments.h"
#include "tests/fake_device.h"
#include "tests/host_kernel.h"
#include "tests/many_blocks.h"
#include "tests/policies_as_found.h"
#include "tests/product_sums.h"
#include "tests/scenario_file.h"

namespace tilewalk::policies_on_host_test {
namespace {

std::shared_ptr<cuda::fake_gpu> gpu_of_host() {
    auto gpu = std::make_shared<cuda::fake_gpu>();
    gpu->attributes.blocks_per_multiprocessor = 0;
    gpu->kernel = [all = tests::host_kernels()](const std::string& cubin, const std::string& kernel,
                                                const cuda::launch& how, std::span<void*> arguments) {
        return kernel == "leave" ? all.launched<kernels::leaving_arguments>(cubin, kernel, how.blocks,
                                                                            how.threads, arguments)
                                 : all.launched<kernels::backward_arguments>(cubin, kernel, how.blocks,
                                                                             how.threads, arguments);
    };
    return gpu;
}

const market& assets() {
    static const tests::scenario_file scenarios(3, 2000);
    static const market in = market::parse(R"(as_of: 2026-01-15
currencies: {USD: {rate: 0.04}}
assets:
  A: {currency: USD, spot: 95, volatility: 0.25}
  B: {currency: USD, spot: 105, volatility: 0.3, dividend_yield: 0.02}
  C: {currency: USD, spot: 100, volatility: 0.2}
  D: {currency: USD, spot: 100, volatility: {scenarios: )" +
                                           scenarios.name() + R"(, times: [0.25, 0.5, 1.0]}}
correlations: [[A, B, 0.4], [A, C, 0], [B, C, 0.2], [A, D, 0], [B, D, 0], [C, D, 0]]
)");
    return in;
}

template <class body>
void with_policies_on(const std::shared_ptr<cuda::fake_gpu>& gpu, const body& of,
                      kernels::path_reads reads = kernels::path_reads::register_rolling,
                      std::uint64_t memory_bytes = 0) {
    cuda::text_compiler compiler;
    cuda::kernel_store kernels(compiler, {});
    {
        const std::vector<std::shared_ptr<cuda::loaded_device>> on{
            std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu))};
        cuda::policies by(on, kernels, memory_bytes, 1, reads);
        of(by);
    }
    EXPECT_EQ(gpu->faults.size(), 0u) << gpu->report();
}

void compare(const std::string& trades, std::uint64_t paths,
             kernels::path_reads reads = kernels::path_reads::register_rolling) {
    with_policies_on(
        gpu_of_host(),
        [&](cuda::policies& by) {
            tests::expect_policies_of_the_cpu(tests::untrained_of(book::parse(trades), assets(), paths), by,
                                              state_of(assets()).scenario_cubes());
        },
        reads);
}

// The host has no matrix instruction: a chain of fma stands for it.
TEST(policies_on_host, have_sums_of_products_of_the_cpu) {
    const tests::host_kernel kernel(tests::text_of_product_sums);
    tests::expect_product_sums_of_the_cpu(
        [&](const std::vector<double>& columns, int rows, int cols, bool is_lower, std::vector<double> into) {
            kernel.run(
                "sum_products", 1, kernels::paths_of_block,
                tests::product_sums_arguments{columns.data(), rows, cols, is_lower ? 1u : 0u, into.data()});
            return into;
        });
}

constexpr const char* put = "trades:\n  - {id: put, product: american, underlying: A, strike: 100, ";

// Paths of one whole tile and a part of another. Both fits, for using the right and for waiting, have many
// functions, and slopes.
TEST(policies_on_host, are_those_of_the_cpu) {
    compare(std::string(put) + "maturity: 1, exercise_step: 0.4}\n", 1100);
}

TEST(policies_on_host, are_those_of_the_cpu_on_three_paths) {
    compare(std::string(put) + "maturity: 1, exercise_step: 0.2}\n", 3);
}

// Scenario runs train policies without an upper bound, which must give the same decisions: with one right and
// with several uses. Where assets are ranked, derived numbers replace the normals.
TEST(policies_on_host, without_a_bound_decide_as_with_one) {
    const book all = book::parse(std::string(put) + R"(maturity: 1, exercise_step: 0.25}
  - {id: best, product: bermudan_basket, basket: [A, B], price: maximum, strike: 100, exercise_dates: [0.5, 1.0]}
  - {id: few, product: swing, underlying: A, strike: 100, rights: 2, exercise_dates: [0.3, 0.6, 1.0]}
)");
    const auto with = tests::untrained_of(all, assets(), 1100),
               without = tests::untrained_of(all, assets(), 1100, exercise::found_beside::nothing);
    with_policies_on(gpu_of_host(), [&](cuda::policies& by) {
        tests::expect_policies_of_the_cpu(without, by, state_of(assets()).scenario_cubes());
    });
    ASSERT_EQ(without.size(), with.size());
    for (std::size_t i = 0; i < with.size(); ++i) {
        const exercise::training how{7, cpu::runnable_instruction_sets().sets[0], 2};
        const exercise::policy a = exercise::trained(with[i].second, how),
                               b = exercise::trained(without[i].second, how);
        ASSERT_EQ(a.dates.size(), b.dates.size());
        EXPECT_LT(without[i].second.rows, with[i].second.rows) << with[i].first;
        EXPECT_TRUE(a.has_bound());
        EXPECT_FALSE(b.has_bound() || b.gain_of_step) << with[i].first;
        for (std::size_t d = 0; d < a.dates.size(); ++d) {
            EXPECT_EQ(a.dates[d].paid.coefficients, b.dates[d].paid.coefficients) << with[i].first;
            EXPECT_EQ(a.dates[d].unpaid.coefficients, b.dates[d].unpaid.coefficients) << with[i].first;
            ASSERT_EQ(a.dates[d].levels.size(), b.dates[d].levels.size());
            for (std::size_t l = 0; l < a.dates[d].levels.size(); ++l)
                EXPECT_EQ(a.dates[d].levels[l].paid.coefficients, b.dates[d].levels[l].paid.coefficients)
                    << with[i].first;
        }
    }
}

TEST(policies_on_host, are_those_of_the_cpu_for_many_blocks) {
    const tests::many_blocks many = tests::of_many_blocks(4, "A", 33);
    const std::string called = many.trades.substr(many.trades.find("  - {id: called"));
    compare("products:\n" + many.products + "trades:\n" + called, 300);
}

TEST(policies_on_host, are_those_of_the_cpu_with_two_assets) {
    compare(R"(trades:
  - {id: most, product: bermudan_basket, basket: [A, B], price: maximum, strike: 100, exercise_dates: [0.5, 1.0]}
  - {id: few, product: bermudan_basket, basket: [A, B], price: maximum, strike: 90, exercise_dates: [1.0]}
)",
            300);
}

// Limits of uses: the number left on a date depends on earlier and later dates, today's right counts as a
// use, and some uses are mandatory.
TEST(policies_on_host, are_those_of_the_cpu_for_several_uses) {
    compare(R"(trades:
  - {id: few, product: swing, underlying: A, strike: 100, rights: 2, exercise_dates: [0.3, 0.6, 1.0]}
)",
            1030);
    compare(R"(trades:
  - {id: most, product: swing, underlying: A, strike: 95, rights: 3, exercise_dates: [0.5, 1.0]}
  - {id: today, product: swing, underlying: A, strike: 90, rights: 2, exercise_dates: [0, 0.5, 1.0]}
  - {id: least, product: swing, underlying: A, strike: 100, rights: 2, minimum_rights: 1, exercise_dates: [0.5, 0.75, 1.0]}
)",
            300);
}

// Payments after a notice lie between dates and after the last. Beside the right with notice stands one
// without, or one of the other party, which leaves no martingale to fit.
TEST(policies_on_host, are_those_of_the_cpu_with_notice) {
    const auto compare_rights = [](const std::string& rights) {
        compare(R"(products:
  - product: noticed
    summary: A test.
    parameters: {underlying: {type: asset, help: It.}, dates: {type: schedule, help: It.}, early: {type: schedule, help: It.}}
    example: {underlying: A, dates: [0.5, 1.0], early: [0.6]}
    script: |
)" + rights + R"(trades:
  - {id: t, product: noticed, underlying: A, dates: [0.5, 0.75, 1.0], early: [0.6, 0.8]}
)",
                300);
    };
    const std::string pays = ": receive max(100 - spot(underlying), 0)\n";
    compare_rights("      exercise on dates with notice 0.3" + pays + "      exercise on early" + pays);
    compare_rights("      exercise on dates with notice 0.3" + pays + "      call on early: pay 10\n");
}

TEST(policies_on_host, are_those_of_the_cpu_on_given_volatilities) {
    compare(R"(trades:
  - {id: put, product: american, underlying: D, strike: 100, maturity: 1, exercise_step: 0.5}
)",
            1030);
}

TEST(policies_on_host, are_left_to_the_cpu_where_given_volatilities_lack_paths) {
    const auto trades = tests::untrained_of(
        book::parse("trades:\n  - {id: put, product: american, underlying: D, strike: 100, maturity: 1, "
                    "exercise_step: 0.5}\n"),
        assets(), 2001);
    const auto scenarios = state_of(assets()).scenario_cubes();
    const cuda::wanted_policy wanted{&trades.at(0).second, scenarios};
    with_policies_on(gpu_of_host(), [&](cuda::policies& by) {
        const auto found = by.find({&wanted, 1}, 7, nullptr);
        EXPECT_FALSE(found.at(0).by);
        EXPECT_FALSE(found.at(0).failure);
        EXPECT_EQ(found.at(0).why_left, "an array of the market lacks paths or times that they read");
    });
}

// Both ways to sum, with each way to read paths: a put sums by lanes, a basket by columns.
TEST(policies_on_host, are_those_of_the_cpu_however_paths_are_read) {
    for (const auto reads : {kernels::path_reads::none, kernels::path_reads::l2_prefetch,
                             kernels::path_reads::smem_rolling_async}) {
        compare(fmt::format("{}maturity: 1, exercise_step: 0.5}}\n", put), 600, reads);
        compare(R"(trades:
  - {id: average, product: bermudan_basket, basket: [A, B, C], price: mean, strike: 100, exercise_dates: [1.0]}
)",
                300, reads);
    }
}

TEST(policies_on_host, are_those_of_the_cpu_with_many_functions) {
    compare(R"(trades:
  - {id: average, product: bermudan_basket, basket: [A, B, C], price: mean, strike: 100, exercise_dates: [0.5, 1.0]}
)",
            300);
}

// A trade's launch must fit in half of the memory, because two are prepared at once; else the CPU trains.
TEST(policies_on_host, are_left_to_the_cpu_where_memory_is_short) {
    const auto trades = tests::untrained_of(
        book::parse(std::string(put) + "maturity: 1, exercise_step: 0.1}\n"), assets(), 4096);
    const cuda::wanted_policy wanted{&trades.at(0).second};
    with_policies_on(
        gpu_of_host(),
        [&](cuda::policies& by) {
            const auto found = by.find({&wanted, 1}, 7, nullptr);
            EXPECT_FALSE(found.at(0).by);
            ASSERT_TRUE(found.at(0).failure);
            EXPECT_EQ(found.at(0).why_left, "a GPU's memory has no room for their training");
            EXPECT_EQ(found.at(0).failure->message(),
                      "its training takes 3 MB of a GPU's memory, expected at most 2");
        },
        kernels::path_reads::register_rolling, 4 << 20);
}

TEST(policies_on_host, read_paths_ahead_in_registers_where_shared_memory_is_short) {
    const auto trades = tests::untrained_of(
        book::parse(std::string(put) + "maturity: 1, exercise_step: 0.4}\n"), assets(), 300);
    const cuda::wanted_policy wanted{&trades.at(0).second};
    constexpr auto asked = kernels::path_reads::smem_rolling_async;
    const std::uint32_t needed = cuda::policy_kernels_of(*wanted.of, asked).most_bytes(1);
    for (const bool has_room : {true, false}) {
        const auto gpu = std::make_shared<cuda::fake_gpu>();
        gpu->attributes.blocks_per_multiprocessor = 0;
        gpu->properties.shared_bytes_per_block = has_room ? needed : needed - 1;
        int in_shared_memory = 0, in_registers = 0;
        gpu->kernel = [&](const std::string& text, const std::string&, const cuda::launch&,
                          std::span<void*>) -> cuda::fake_gpu::work {
            in_shared_memory += text.find("reads = path_reads::smem_rolling_async") != text.npos;
            in_registers += text.find("reads = path_reads::register_rolling") != text.npos;
            return [] {};
        };
        with_policies_on(
            gpu,
            [&](cuda::policies& by) {
                EXPECT_TRUE(by.find({&wanted, 1}, 7, nullptr).at(0).by);
            },
            asked);
        EXPECT_EQ(in_shared_memory > 0, has_room);
        EXPECT_EQ(in_registers > 0, !has_room);
    }
}

}  // namespace
}  // namespace tilewalk::policies_on_host_test
