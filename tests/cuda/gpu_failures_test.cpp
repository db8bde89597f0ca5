// SPDX-License-Identifier: Apache-2.0
// GPUs that fail while the engine uses them (fakes, whose kernels leave made-up results). A GPU's error is
// always told, whoever prices the trade in the end.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/study/session/engine_state.h"
#include "engine/walk/arrays/shock_writer.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/device/backend.h"
#include "kernels/arguments.h"
#include "tests/fake_device.h"
#include "tests/merge_as_a_gpu.h"
#include "tests/own_folder.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/shards.h"

namespace tilewalk::gpu_failures_test {

namespace {

using cuda::device_failure;
using cuda::fake_gpu;
using kernels::word32;
using kernels::word64;

constexpr const char* book_text = R"(
market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.2}
    B: {currency: USD, spot: 50, volatility: 0.3}
products:
  - product: lost
    summary: The logarithm of what may be below zero.
    parameters:
      underlying: {type: asset, help: The asset.}
      maturity: {type: date, help: Day of payment.}
    example: {underlying: A, maturity: 1.0}
    script: |
      on maturity:
          pay log(spot(underlying) - 100)
trades:
  - {id: call, product: european, underlying: A, option: call, strike: 105, maturity: 1.0}
  - {id: barrier, product: barrier, underlying: A, option: call, strike: 100, maturity: 1.0, direction: down,
     barrier: 85}
  - {id: lost, product: lost, underlying: B, maturity: 1.0}
)";
constexpr double made_up_price = 4711;

void walk(const cuda::launch& how, const kernels::path_arguments& a) {
    for (word32 block = 0; block < how.blocks; ++block) {
        const word32 inner = a.trades_first != 0 ? a.trade_count : a.tiles;
        const word32 trade = a.trades_first != 0 ? block % inner : block / inner;
        const word32 tile = a.trades_first != 0 ? block / inner : block % inner;
        const double n = kernels::paths_in_tile(a.paths, a.first_tile + tile);
        a.results[word64{a.trades[trade].result} * a.tiles + tile] = {{n, made_up_price, n, 0, n}};
    }
}

class fake_machine {
  public:
    explicit fake_machine(std::size_t gpus = 1) {
        for (std::size_t i = 0; i < gpus; ++i) {
            auto& gpu = *gpus_.emplace_back(std::make_shared<fake_gpu>());
            gpu.properties.index = static_cast<int>(i);
            gpu.properties.name = "fake " + std::to_string(i);
            gpu.kernel = [](const std::string& text, const std::string&, const cuda::launch& l,
                            std::span<void*> arguments) -> fake_gpu::work {
                if (text == cuda::merge_kernel_text())
                    return [l, a = *static_cast<kernels::merge_arguments*>(arguments[0])] {
                        merge_as_a_gpu(l, a);
                    };
                return [l, a = *static_cast<kernels::path_arguments*>(arguments[0])] { walk(l, a); };
            };
        }
    }

    fake_gpu& gpu(std::size_t i = 0) { return *gpus_[i]; }
    fake_machine& that_computes_nothing() {
        gpu().kernel = [](const std::string&, const std::string&, const cuda::launch&,
                          std::span<void*>) -> fake_gpu::work { return [] {}; };
        return *this;
    }

    results price(const std::string& device, run_settings with = {}) {
        return asked(device, with, [](const engine& of, const run_options& options) {
            return of.price(book::parse(book_text), options);
        });
    }
    results delta(const std::string& device) {
        return asked(device, {}, [](const engine& of, const run_options& options) {
            const std::string text = book_text;
            const book call = book::parse(text.substr(0, text.find("  - {id: barrier")));
            return of.greeks(call, *call.market(), {{"delta"}}, options);
        });
    }

    int not_opened = -1;
    cuda::text_compiler compiler;
    std::function<void(const progress&)> on_progress;

    results price(const std::string& of_book, const std::string& device, const run_settings& with) {
        return asked(device, with, [&](const engine& of, const run_options& options) {
            return of.price(book::parse(of_book), options);
        });
    }
    results greeks(const std::string& of_book, const std::string& device, const run_settings& with) {
        return asked(device, with, [&](const engine& of, const run_options& options) {
            const book b = book::parse(of_book);
            return of.greeks(b, *b.market(), {}, options);
        });
    }
    results merged(std::size_t count, const std::string& device, const run_settings& with) {
        return asked(device, with, [&](const engine& of, const run_options& options) {
            const tests::own_folder folder;
            sharded_request what;
            what.book = folder.write("book.yaml", book_text);
            what.settings = options.overrides;
            const shards all = shards::plan(of, what, count, folder / "plan", 60, options);
            for (std::size_t n = 1; n <= all.count(); ++n) all.run(of, n, shards::stage::pricing, options);
            return all.merge(of, options);
        });
    }

  private:
    results asked(const std::string& device, const run_settings& with,
                  const std::function<results(const engine&, const run_options&)>& use) {
        cuda::gpu_machine machine;
        machine.survey = [this] {
            cuda::device_survey found;
            for (const auto& gpu : gpus_) found.devices.push_back({gpu->properties, ""});
            return found;
        };
        machine.open = [this](int i) -> std::unique_ptr<cuda::device> {
            if (i == not_opened) throw cuda::device_error(device_failure::lost, "open: failed as planned");
            return std::make_unique<cuda::fake_device>(gpus_[static_cast<std::size_t>(i)]);
        };
        machine.why_no_compiler = [] { return std::string(); };
        machine.compiler = [this]() -> cuda::compiler& { return compiler; };
        machine.kernel_folder.clear();
        machine.tiles_before_gpus = 0;
        run_options options;
        options.overrides = with;
        if (!with.paths) options.overrides.paths = 5000;
        options.overrides.threads = 1;
        options.overrides.device = device;
        options.on_progress = on_progress;
        results out;
        {
            const engine pricer = studies::engine_on(std::make_shared<cuda::backend>(machine));
            out = use(pricer, options);
        }
        for (const auto& gpu : gpus_) EXPECT_EQ(gpu->report(), "") << gpu->properties.name;
        return out;
    }

    std::vector<std::shared_ptr<fake_gpu>> gpus_;
};

std::uint64_t bits(double x) {
    return std::bit_cast<std::uint64_t>(x);
}

bool says(const price_row& row, const std::string& what) {
    return row.message.find(what) != std::string::npos;
}

TEST(gpu_failures, the_cpu_prices_what_a_gpu_did_not_and_says_so) {
    const results expected = fake_machine().price("cpu");
    for (const auto failure :
         {device_failure::lost, device_failure::illegal_address, device_failure::other}) {
        for (const char* call : {"allocate", "run", "wait"}) {
            fake_machine machine;
            machine.gpu().failures = {{call, 1, failure}};
            const results got = machine.price("auto");
            ASSERT_EQ(got.rows.size(), 3u);
            for (std::size_t i = 0; i < 2; ++i) {
                const price_row &g = got.rows[i], &e = expected.rows[i];
                ASSERT_EQ(g.status, trade_status::priced) << g.message;
                EXPECT_EQ(bits(g.price), bits(e.price)) << g.trade;
                EXPECT_EQ(bits(g.standard_error), bits(e.standard_error)) << g.trade;
                EXPECT_EQ(e.message, "");
                EXPECT_EQ(g.message, "priced on the CPU, because the GPU failed: " + std::string(call) +
                                         ": failed as planned");
            }
            EXPECT_EQ(got.rows[2].status, trade_status::failed);
            EXPECT_EQ(got.rows[2].message, expected.rows[2].message +
                                               "; tried on the CPU, because the GPU failed: " + call +
                                               ": failed as planned");
        }
    }
}

TEST(gpu_failures, derivatives_of_an_ordinary_walk_are_taken_and_made_good) {
    constexpr double made_up_delta = 0.25;
    std::vector<std::string> texts;
    const auto keep_texts = [&](fake_machine& machine) {
        machine.compiler.refuses = [&](const std::string& text) {
            texts.push_back(text);
            return false;
        };
    };
    fake_machine sound;
    keep_texts(sound);
    sound.gpu().kernel = [does = sound.gpu().kernel](const std::string& text, const std::string& name,
                                                     const cuda::launch& l, std::span<void*> arguments) {
        if (text == cuda::merge_kernel_text()) return does(text, name, l, arguments);
        return fake_gpu::work([l, a = *static_cast<kernels::path_arguments*>(arguments[0])] {
            walk(l, a);
            for (word32 tile = 0; tile < a.tiles; ++tile) {
                const double n = kernels::paths_in_tile(a.paths, a.first_tile + tile);
                a.results[word64{a.trades[0].result + 1} * a.tiles + tile] = {{n, made_up_delta, n, 0, n}};
            }
        });
    };
    const results got = sound.delta("cuda");
    ASSERT_EQ(got.greeks.size(), 1u);
    EXPECT_EQ(got.rows[0].price, made_up_price);
    EXPECT_EQ(got.greeks[0].value, made_up_delta);
    EXPECT_EQ(got.greeks[0].method, "pathwise");
    EXPECT_EQ(got.manifest.devices, std::vector<std::string>{"fake 0"});
    const results expected = fake_machine().delta("cpu");
    for (const char* call : {"allocate", "run", "wait"}) {
        fake_machine machine;
        keep_texts(machine);
        machine.gpu().failures = {{call, 1, device_failure::lost}};
        const results by_cpu = machine.delta("auto");
        EXPECT_EQ(bits(by_cpu.rows[0].price), bits(expected.rows[0].price));
        EXPECT_EQ(bits(by_cpu.greeks.at(0).value), bits(expected.greeks.at(0).value));
        EXPECT_EQ(by_cpu.rows[0].message,
                  "priced on the CPU, because the GPU failed: " + std::string(call) + ": failed as planned");
    }
    EXPECT_GE(texts.size(), 2u);
    for (const std::string& text : texts) EXPECT_EQ(text.find("walk_both_ways"), std::string::npos) << text;
}

TEST(gpu_failures, what_else_there_is_to_say_is_said_first) {
    fake_machine machine;
    machine.gpu().failures = {{"upload", 1, device_failure::lost}};
    run_settings few;
    few.paths = 50;
    const results got = machine.price("auto", few), expected = fake_machine().price("cpu", few);
    EXPECT_TRUE(says(expected.rows[0], "paths carry the variance")) << expected.rows[0].message;
    EXPECT_EQ(
        got.rows[0].message,
        expected.rows[0].message + "; priced on the CPU, because the GPU failed: upload: failed as planned");
}

TEST(gpu_failures, only_the_trades_that_it_failed_say_so) {
    fake_machine machine;
    bool is_first = true;
    machine.compiler.refuses = [&](const std::string& text) {
        return text != cuda::merge_kernel_text() && std::exchange(is_first, false);
    };
    const results got = machine.price("auto");
    // Any kernel may be the first that is compiled; two trades have paths that all pay a number.
    int failed = 0;
    for (const price_row& row : std::span(got.rows).first(2)) {
        const bool has_failed = says(row, "priced on the CPU, because the GPU failed: refused as planned");
        failed += has_failed ? 1 : 0;
        EXPECT_EQ(row.message.empty(), !has_failed) << row.message;
        EXPECT_EQ(row.price == made_up_price, !has_failed) << row.trade;
    }
    EXPECT_EQ(failed + (says(got.rows[2], "refused as planned") ? 1 : 0), 1);
}

const std::string market_of_a =
    "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n  assets:\n"
    "    A: {currency: USD, spot: 100, volatility: 0.2}\n";

TEST(gpu_failures_work_left_to_the_processor, is_named_once_by_reason) {
    const std::string puts = market_of_a +
                             "trades:\n"
                             "  - {id: one, product: american, underlying: A, strike: 100, maturity: 1, "
                             "exercise_step: 0.25}\n"
                             "  - {id: two, product: american, underlying: A, strike: 90, maturity: 1, "
                             "exercise_step: 0.25}\n"
                             "  - {id: call, product: european, underlying: A, strike: 105, maturity: 1}\n";
    run_settings with;
    with.paths = 2048;
    with.controls = technique::none;
    with.upper = upper_bound::nested;
    with.memory_bytes = 1 << 20;
    const results got = fake_machine().price(puts, "auto", with);
    EXPECT_EQ(got.failed(), 0u);
    EXPECT_EQ(got.manifest.devices, std::vector<std::string>{"fake 0"});
    EXPECT_EQ(got.manifest.left_to_processor,
              (std::vector<left_work>{
                  {"policies", 2, "a GPU's memory has no room for their training"},
                  {"nested bounds", 2, "they are walked in double on the processor, wherever prices are"}}));
    EXPECT_EQ(got.manifest.left_to_processor.at(1).text(),
              "nested bounds of 2 trades: they are walked in double on the processor, wherever prices are");
    EXPECT_TRUE(fake_machine().price(puts, "cpu", with).manifest.left_to_processor.empty());
}

// The GPU has memory to train the single put's policy, and not to train the others'.
TEST(gpu_failures, only_the_policies_that_it_failed_say_so) {
    const std::string puts = market_of_a +
                             "trades:\n"
                             "  - {id: many, product: american, option: put, underlying: A, strike: 100, "
                             "maturity: 1, exercise_step: 0.02}\n"
                             "  - {id: few, product: american, option: put, underlying: A, strike: 100, "
                             "maturity: 1, exercise_step: 0.5}\n";
    fake_machine machine;
    machine.gpu().kernel = [does = machine.gpu().kernel](const std::string& text, const std::string& name,
                                                         const cuda::launch& l,
                                                         std::span<void*> arguments) -> fake_gpu::work {
        if (name == "walk" || text == cuda::merge_kernel_text()) return does(text, name, l, arguments);
        return [] {};  // kernels that train a policy do nothing
    };
    run_settings with;
    with.paths = 4096;
    with.controls = technique::none;
    with.random = "philox";
    with.training_paths = 4096;
    with.memory_bytes = 6 << 20;
    const results got = machine.price(puts, "auto", with);
    EXPECT_TRUE(says(got.rows.at(0), "no GPU found its policy: its training takes ")) << got.rows[0].message;
    EXPECT_FALSE(says(got.rows.at(1), "no GPU found its policy")) << got.rows[1].message;
    EXPECT_EQ(got.manifest.left_to_processor,
              (std::vector<left_work>{{"policies", 1, "a GPU's memory has no room for their training"}}));
}

// With so many assets, derivatives by the adjoint (backward) cost less than by tangents (forward).
constexpr std::size_t assets_of_worst = 8;
std::string worst_of_all() {
    std::string market = "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n  assets:\n",
                basket;
    for (std::size_t i = 0; i < assets_of_worst; ++i) {
        const std::string name = "A" + std::to_string(i);
        market += "    " + name + ": {currency: USD, spot: 100, volatility: 0.2}\n";
        basket += (i == 0 ? "" : ", ") + name;
    }
    return market + "  correlations: []\ntrades:\n  - {id: worst, product: worst_of, basket: [" + basket +
           "], initial_level: 100, option: put, strike: 1, notional: 1000, maturity: 1}\n";
}

TEST(gpu_failures, ways_back_tell_how_far_they_are) {
    fake_machine machine;
    machine.that_computes_nothing();
    bool is_told_on_the_way = false;
    std::uint64_t done = 0, all = 0;
    machine.on_progress = [&](const progress& now) {
        EXPECT_GE(now.path_steps_done, done);
        done = now.path_steps_done;
        all = now.path_steps;
        is_told_on_the_way = is_told_on_the_way || (done > 0 && done < all);
    };
    run_settings with;
    with.paths = 4096;
    with.controls = technique::none;
    with.random = "philox";
    const results got = machine.greeks(worst_of_all(), "cuda", with);
    EXPECT_EQ(got.manifest.devices, std::vector<std::string>{"fake 0"});
    EXPECT_TRUE(is_told_on_the_way) << "the walk itself, before what follows it";
    EXPECT_EQ(done, all);
    EXPECT_GT(done, 0u);
}

TEST(gpu_failures_work_left_to_the_processor, has_no_ways_back_of_replayed_shocks) {
    const tests::own_folder folder;
    constexpr std::size_t paths = 2048;
    const std::vector<double> shocks(assets_of_worst * paths, 0.25);
    const std::string file = (folder / "shocks.npy").string();
    arrays::write_numpy<double>(file, {1, assets_of_worst, 0, paths, shocks, {}});
    run_settings with;
    with.paths = paths;
    with.controls = technique::none;
    with.replay = file;
    const results got = fake_machine().that_computes_nothing().greeks(worst_of_all(), "auto", with);
    EXPECT_EQ(got.manifest.devices, std::vector<std::string>{"fake 0"});
    EXPECT_EQ(got.manifest.left_to_processor, std::vector<left_work>{});
}

// How jumps are smoothed is decided in double, from random numbers that any device has.
TEST(gpu_failures, jumps_are_treated_whatever_the_source) {
    const std::string digital =
        market_of_a +
        "trades:\n  - {id: jump, product: digital, underlying: A, strike: 105, payout: "
        "10, maturity: 1}\n";
    run_settings with;
    with.paths = 4096;
    with.controls = technique::none;
    with.precision = precision::single_fast;
    with.random = "philox_7";
    const results got = fake_machine().that_computes_nothing().greeks(digital, "cuda", with);
    EXPECT_EQ(got.manifest.devices, std::vector<std::string>{"fake 0"});
}

// cuRAND is missing beside the fake GPU, or finds no GPU.
TEST(gpu_failures, derivatives_that_no_source_has_numbers_for_fail_by_trade) {
    run_settings with;
    with.paths = 4096;
    with.controls = technique::none;
    with.random = "curand_philox";
    const results got = fake_machine().greeks(worst_of_all(), "auto", with);
    EXPECT_EQ(got.rows.at(0).status, trade_status::failed);
    EXPECT_EQ(got.rows[0].kind, error_kind::device);
    EXPECT_NE(got.rows[0].message.find("cuRAND"), std::string::npos) << got.rows[0].message;
}

TEST(gpu_failures, who_asked_for_a_gpu_gets_its_error) {
    fake_machine machine;
    machine.gpu().failures = {{"run", 1, device_failure::lost}};
    for (const price_row& row : machine.price("cuda").rows) {
        EXPECT_EQ(row.status, trade_status::failed);
        EXPECT_EQ(row.kind, error_kind::device);
        EXPECT_EQ(row.message, "run: failed as planned");
    }
}

// A fallback to the CPU is impossible: it has neither cuRAND's numbers nor the arithmetic of single_fast.
TEST(gpu_failures, what_the_cpu_cannot_do_fails_with_the_error_of_the_gpu) {
    run_settings curand, fast;
    curand.random = "curand_philox";
    fast.precision = precision::single_fast;
    for (const run_settings& with : {curand, fast}) {
        fake_machine machine;
        machine.gpu().failures = {{"allocate", 1, device_failure::lost}};
        for (const price_row& row : machine.price("auto", with).rows) {
            EXPECT_EQ(row.status, trade_status::failed);
            EXPECT_EQ(row.message, "allocate: failed as planned");
        }
    }
}

TEST(gpu_failures, a_price_that_is_not_compared_with_double_says_so) {
    run_settings fast;
    fast.precision = precision::single_fast;
    fake_machine sound;
    const results expected = sound.price("auto", fast);
    EXPECT_TRUE(expected.rows[0].shadow_difference);
    fake_machine machine;
    machine.gpu().failures = {{"free_bytes", 2, device_failure::other}};  // fails the sample in double
    const results got = machine.price("auto", fast);
    EXPECT_EQ(got.rows[0].status, trade_status::priced);
    EXPECT_EQ(got.rows[0].price, made_up_price);
    EXPECT_FALSE(got.rows[0].shadow_difference);
    EXPECT_EQ(got.rows[0].message,
              "not compared with double, because the GPU failed: free_bytes: failed as planned");
}

TEST(gpu_failures, a_share_that_compares_nothing_is_walked) {
    run_settings fast;
    fast.precision = precision::single_fast;
    fake_machine one, several;
    const results expected = one.price("auto", fast), got = several.merged(3, "auto", fast);
    ASSERT_EQ(got.rows.size(), expected.rows.size());
    for (std::size_t i = 0; i < got.rows.size(); ++i) {
        EXPECT_EQ(got.rows[i].price, made_up_price);
        EXPECT_EQ(got.rows[i].shadow_difference, expected.rows[i].shadow_difference);
    }
}

TEST(gpu_failures, a_gpu_that_is_lost_is_named_and_the_others_price) {
    fake_machine machine(2);
    machine.gpu(1).failures = {{"open_stream", 1, device_failure::lost}};
    for (const char* device : {"auto", "cuda", "0,1"}) {
        const results got = machine.price(device);
        for (const price_row& row : got.rows) {
            EXPECT_EQ(row.price, made_up_price);
            EXPECT_EQ(row.message, "");
        }
        EXPECT_EQ(got.manifest.devices, std::vector<std::string>{"fake 0"});
        EXPECT_EQ(got.manifest.lost_devices,
                  std::vector<std::string>{"fake 1: open_stream: failed as planned"});
        machine.gpu(1).calls.clear();
    }
}

TEST(gpu_failures, the_others_take_over_at_any_launch) {
    std::size_t lost = 0;
    for (int nth = 2; nth < 40; nth += 3) {
        fake_machine machine(3);
        machine.gpu(1).failures = {{"run", nth, device_failure::lost}};
        machine.gpu(2).when = fake_gpu::schedule::by_dice;
        // The other GPUs begin only when GPU 1 has, so that it has work that fails.
        std::atomic<bool> has_begun{false};
        for (const std::size_t i : {0u, 1u, 2u}) {
            machine.gpu(i).kernel = [&has_begun, i, does = machine.gpu(i).kernel](
                                        const std::string& text, const std::string& name,
                                        const cuda::launch& l, std::span<void*> arguments) {
                if (i == 1) {
                    has_begun = true;
                    has_begun.notify_all();
                }
                has_begun.wait(false);
                return does(text, name, l, arguments);
            };
        }
        run_settings chunks;
        chunks.paths = 20000;
        chunks.random = "philox";
        chunks.memory_bytes = 1;
        const results got = machine.price("cuda", chunks);
        for (const price_row& row : got.rows) EXPECT_EQ(row.price, made_up_price) << row.message;
        lost += got.manifest.lost_devices.size();
    }
    EXPECT_GT(lost, 0u);
}

TEST(gpu_failures, a_gpu_that_does_not_open_is_named) {
    for (const std::size_t gpus : {1u, 2u}) {
        fake_machine machine(gpus);
        machine.not_opened = 0;
        const results got = machine.price("auto");
        EXPECT_EQ(got.rows[0].price == made_up_price, gpus == 2);
        EXPECT_EQ(got.manifest.devices,
                  gpus == 2 ? std::vector<std::string>{"fake 1"} : std::vector<std::string>{});
        EXPECT_EQ(got.manifest.lost_devices, std::vector<std::string>{"fake 0: open: failed as planned"});
    }
}

TEST(gpu_failures, when_all_are_lost_the_cpu_walked) {
    fake_machine machine(2);
    machine.gpu(0).failures = machine.gpu(1).failures = {{"wait", 2, device_failure::lost}};
    const results got = machine.price("auto");
    EXPECT_TRUE(got.manifest.devices.empty());
    EXPECT_EQ(got.manifest.lost_devices, (std::vector<std::string>{"fake 0: wait: failed as planned",
                                                                   "fake 1: wait: failed as planned"}));
    EXPECT_TRUE(says(got.rows[0], "priced on the CPU")) << got.rows[0].message;
}

}  // namespace

}  // namespace tilewalk::gpu_failures_test
