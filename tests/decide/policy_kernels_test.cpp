// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (kernels through the run-time compiler)
// Exercise policies trained on a GPU equal the CPU's bit for bit. Their kernels compile without a GPU,
// without spills and, except for two named ones, without a stack frame.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/decide/policies/policy_kernels.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "tests/known_kernels.h"
#include "tests/on_a_gpu.h"
#include "tests/policies_as_found.h"
#include "tests/scenario_file.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::policy_kernels_test {
namespace {

const market& demo_market() {
    static const market m = market::load(std::string(TILEWALK_SOURCE_DIR) + "/configs/markets/demo.yaml");
    return m;
}

book trades_with_rights() {
    std::string text =
        "products:\n"
        "  - product: own_put\n    summary: A put.\n    parameters:\n"
        "      basket: {type: asset_list, help: It.}\n      dates: {type: schedule, help: It.}\n"
        "    example: {basket: [ACME], dates: [0.5, 1.0]}\n"
        "    script: |\n"
        "      exercise on dates: receive max(100 - best(spot(a) for a in basket), 0)\n"
        "      call on dates: pay 40\n"
        "  - product: noticed\n    summary: A put.\n    parameters:\n"
        "      basket: {type: asset_list, help: It.}\n      dates: {type: schedule, help: It.}\n"
        "    example: {basket: [ACME], dates: [0.5, 1.0]}\n"
        "    script: |\n"
        "      exercise on dates with notice 0.3: receive max(100 - best(spot(a) for a in basket), 0)\n"
        "trades:\n"
        "  - {id: both_sides, product: own_put, basket: [ACME], dates: [0.5, 1.0]}\n"
        "  - {id: noticed, product: noticed, basket: [ACME, BETA], dates: [0.5, 0.75, 1.0]}\n"
        "  - {id: swing_of_many, product: swing, underlying: ACME, strike: 100, rights: 20, minimum_rights: "
        "3, "
        "exercise_dates: {start: 0, end: 1, count: 40}}\n";
    for (const auto& page : product_pages()) {
        const book one = book::parse("trades:\n  - " + page.example + '\n');
        if (!plan::has_rights(state_of(one).trades.at(0))) continue;
        text += "  - {id: " + page.name + page.example.substr(page.example.find(',')) + '\n';
    }
    return book::parse(text + "...\n");
}

using tests::untrained_of;

// Stack bytes of two kernels whose states the compiler keeps in memory on any architecture: it unrolls their
// loops too late.
const std::map<std::string, int> known_frames{{"shout, leaving", 208}, {"convertible_bond, leaving", 224}};

void expect_nothing_spilled(const std::map<std::string, std::string>& texts) {
    std::size_t turn = 0;
    for (const auto& [text, name] : texts) {
        const std::string architecture = turn++ % 2 == 0 ? "sm_90" : "sm_80";
        const tests::kernel_facts got = tests::facts_of({text, architecture});
        const auto known = known_frames.find(name);
        EXPECT_GT(got.kernels, 0) << name << ", " << architecture << got;
        EXPECT_EQ(got.spill_stores + got.spill_loads, 0) << name << ", " << architecture << got;
        EXPECT_LE(got.stack_bytes, known != known_frames.end() ? known->second : 0)
            << name << ", " << architecture << got;
    }
}

TEST(policy_kernels, spill_nothing) {
    std::map<std::string, std::string> texts;
    for (const auto& [id, of] : untrained_of(trades_with_rights(), demo_market(), 4096)) {
        const cuda::policy_kernels k = cuda::policy_kernels_of(of);
        texts.emplace(k.leaving.text, id + ", leaving");
        texts.emplace(k.of_dates.text, id + ", dates");
        texts.emplace(k.of_sums.text, id + ", sums");
        texts.emplace(k.of_sweep.text, id + ", sweep");
    }
    ASSERT_GE(texts.size(), 12u);
    expect_nothing_spilled(texts);
}

// Kernels with each way to read paths, and both ways to sum: by lanes for few functions, by columns for many.
TEST(policy_kernels, spill_nothing_however_they_read) {
    const book all = book::parse(R"(trades:
  - {id: put, product: american, underlying: ACME, strike: 100, maturity: 1, exercise_step: 0.1}
  - {id: best, product: bermudan_basket, basket: [ACME, BETA], strike: 100, exercise_dates: [0.5, 1.0]}
  - {id: mean, product: bermudan_basket, basket: [ACME, BETA, GAMMA], price: mean, strike: 100, exercise_dates: [0.5, 1.0]}
)");
    std::map<std::string, std::string> texts;
    for (const auto& [id, of] : untrained_of(all, demo_market(), 4096)) {
        for (const std::string feed : {"none", "l2_prefetch", "smem_rolling_async"}) {
            cuda::kernel_wish how;
            how.feed = feed;
            const cuda::policy_kernels k = cuda::policy_kernels_of(of, cuda::path_reads_of(how));
            texts.emplace(k.of_dates.text, id + ", dates, " + feed);
            texts.emplace(k.of_sums.text, id + ", sums, " + feed);
            texts.emplace(k.of_sweep.text, id + ", sweep, " + feed);
        }
    }
    ASSERT_EQ(texts.size(), 27u);
    expect_nothing_spilled(texts);
}

TEST(policy_kernels, read_paths_as_every_feed_or_the_nearest_of_its_kind) {
    using kernels::path_reads;
    const auto reads = [](const std::string& feed) {
        cuda::kernel_wish how;
        how.feed = feed;
        return cuda::path_reads_of(how);
    };
    EXPECT_EQ(cuda::path_reads_of({}), path_reads::register_rolling);
    for (const cuda::feed_entry& feed : cuda::feeds()) {
        const std::string name(feed.name);
        const path_reads expected = name == "none" || name == "unroll" ? path_reads::none
                                    : name.starts_with("l2_")          ? path_reads::l2_prefetch
                                    : name.starts_with("register_") || name == "inline"
                                        ? path_reads::register_rolling
                                        : path_reads::smem_rolling_async;
        EXPECT_EQ(reads(name), expected) << name;
    }
}

// Texts depend on no trained number, so kernels can be compiled before policies are trained.
TEST(policy_kernels, do_not_depend_on_what_is_found) {
    const book all = trades_with_rights();
    const markets::market_state& in = state_of(demo_market());
    std::size_t compared = 0;
    for (const books::trade& t : state_of(all).trades) {
        const auto forms = [&](std::uint64_t paths) {
            std::vector<std::string> out;
            std::optional<exercise::untrained> of = exercise::untrained_of(t, in, paths, {});
            if (!of || of->is_certain) return out;
            const cuda::policy_kernels k = cuda::policy_kernels_of(*of);
            for (const cuda::built_kernel* one : k.all()) out.push_back(one->text);
            const exercise::policy found = exercise::trained(
                std::move(*of), {paths, cpu::runnable_instruction_sets().sets[0], 2, {}, {}, nullptr});
            const auto shape = [](const plan::trade_program& made) { return program::shape_of(made.code); };
            constexpr auto precision = program::precision::double_;
            out.push_back(shape(exercise::following_plan(t, in, found, precision, {})));
            if (found.has_bound()) out.push_back(shape(exercise::bounding_plan(t, in, found, precision, {})));
            return out;
        };
        const std::vector<std::string> few = forms(64);
        EXPECT_EQ(few, forms(2048)) << t.id;
        compared += few.size();
    }
    EXPECT_GT(compared, 40u);
}

TEST(policy_kernels, are_compiled_ahead) {
    const book one = book::parse(
        "trades:\n  - {id: t, product: american, underlying: ACME, strike: 100, maturity: 1, exercise_step: "
        "0.1}\n");
    std::vector<std::string> names;
    for (const warmed_kernel& k : engine().warm(one, demo_market(), {}, {"sm_90"})) {
        EXPECT_EQ(k.failure, "") << k.name;
        EXPECT_EQ(k.products, std::vector<std::string>{"american"}) << k.name;
        names.push_back(k.name);
    }
    const auto count = [&](const std::string& in_name) {
        return std::ranges::count_if(names, [&](const std::string& n) { return n.find(in_name) != n.npos; });
    };
    EXPECT_EQ(count("policy"), 4);
    EXPECT_EQ(count("walk"), 2);
    EXPECT_EQ(count("of_bounds"), 1);
}

class policy_kernels_on_a_gpu : public tests::on_a_gpu {
  protected:
    void compare(const book& all, const market& in, std::uint64_t paths) {
        cuda::policies by(chosen_.devices, gpus_.kernels(), 0, 4);
        tests::expect_policies_of_the_cpu(untrained_of(all, in, paths), by, state_of(in).scenario_cubes());
    }
};

TEST_F(policy_kernels_on_a_gpu, are_those_of_the_cpu) {
    compare(trades_with_rights(), demo_market(), 20000);
}

TEST_F(policy_kernels_on_a_gpu, are_those_of_the_cpu_on_few_paths) {
    for (const std::uint64_t paths : {1u, 3u, 1025u}) compare(trades_with_rights(), demo_market(), paths);
}

TEST_F(policy_kernels_on_a_gpu, are_those_of_the_cpu_on_given_volatilities) {
    const tests::scenario_file scenarios(3, 3000);
    const market in = market::parse(
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.04}}\nassets:\n  A: {currency: USD, spot: 100, "
        "volatility: {scenarios: " +
        scenarios.name() + ", times: [0.25, 0.5, 1.0]}}\ncorrelations: []\n");
    const book all = book::parse(
        "trades:\n  - {id: put, product: american, underlying: A, strike: 100, maturity: 1, exercise_step: "
        "0.1}\n"
        "  - {id: swing, product: swing, underlying: A, strike: 100, rights: 3, exercise_dates: {start: 0, "
        "end: "
        "1, count: 9}}\n");
    for (const std::uint64_t paths : {1025u, 3000u}) compare(all, in, paths);
}

// More trades than the device has multiprocessors, which makes each block train one trade.
TEST_F(policy_kernels_on_a_gpu, are_those_of_the_cpu_for_many_trades) {
    std::string text = "trades:\n";
    for (int i = 0; i < 300; ++i)
        text += "  - {id: put_" + std::to_string(i) +
                ", product: american, underlying: ACME, strike: " + std::to_string(80 + i % 40) +
                ", maturity: 1, exercise_step: 0.1}\n";
    compare(book::parse(text + "...\n"), demo_market(), 5000);
}

}  // namespace
}  // namespace tilewalk::policy_kernels_test
