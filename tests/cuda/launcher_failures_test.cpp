// SPDX-License-Identifier: Apache-2.0
// The host's part of a GPU run, without a GPU: books are packed, cut into chunks, launched, merged and taken
// back when devices fail. Kernels of the fake device read packed data as real ones do. Whatever fails, a
// price has the CPU's bits or is an error.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/compile/row_layout.h"
#include "engine/walk/cuda/device/spaces.h"
#include "engine/walk/cuda/paths/launch_sizes.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "kernels/arguments.h"
#include "kernels/draws.h"
#include "kernels/tile_result.h"
#include "products/program/cost.h"
#include "products/program/evaluate.h"
#include "tests/fake_device.h"
#include "tests/paths_as_a_gpu.h"
#include "tests/surface_program.h"
#include "tests/whole.h"
#include "tests/wish_for.h"
#include "tilewalk/book.h"

namespace tilewalk::cuda::launcher_failures_test {

namespace {

using kernels::word32;
using kernels::word64;
using tests::for_each_block;
using tests::merge_row;
using tests::run_merge;
using tests::run_walk;

// Trades on one to three assets, with and without uniform shocks, on one and many dates; one fails on some
// paths.
constexpr const char* book_text = R"(
market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.2}
    B: {currency: USD, spot: 50, volatility: 0.3, dividend_yield: 0.02}
    C: {currency: USD, spot: 10, volatility: 0.4}
  correlations: [[A, B, 0.5], [A, C, 0.3], [B, C, -0.2]]
products:
  - product: worst
    summary: The worst performer of a basket.
    parameters:
      basket: {type: asset_list, help: The assets.}
      maturity: {type: date, help: Day of payment.}
    example: {basket: [A, B], maturity: 1.0}
    script: |
      on maturity:
          pay worst(spot(a) for a in basket)
  - product: lost
    summary: The logarithm of what may be below zero.
    parameters:
      underlying: {type: asset, help: The asset.}
      strike: {type: amount, help: Where it is lost.}
      maturity: {type: date, help: Day of payment.}
    example: {underlying: A, strike: 100, maturity: 1.0}
    script: |
      on maturity:
          pay log(spot(underlying) - strike)
trades:
  - {id: call, product: european, underlying: A, option: call, strike: 105, maturity: 1.0}
  - {id: put, product: european, underlying: B, option: put, strike: 55, maturity: 2.0}
  - {id: three, product: asian, underlying: A, strike: 100, averaging_dates: [0.3, 0.6, 1.0]}
  - {id: five, product: asian, underlying: C, strike: 10, averaging_dates: [0.1, 0.2, 0.4, 0.8, 1.6]}
  - {id: barrier, product: barrier, underlying: A, option: call, strike: 100, maturity: 1.0, direction: down,
     barrier: 85, rebate: 2, rebate_paid: at_hit}
  - {id: worst_of_two, product: worst, basket: [A, B], maturity: 1.0}
  - {id: worst_of_three, product: worst, basket: [A, B, C], maturity: 0.5}
  - {id: lost, product: lost, underlying: A, strike: 60, maturity: 1.0}
)";
constexpr std::size_t jobs_in_all = 8;

class planned_book {
  public:
    planned_book() {
        const book b = book::parse(book_text);
        for (const auto& t : state_of(b).trades) plans_.push_back(plan::plan_trade(t, state_of(*b.market())));
        for (auto& p : plans_) {
            const auto& code = by_shape_.try_emplace(program::shape_of(p.code), &p.code).first->second;
            jobs_.push_back({code, &p.data, &p.when});
        }
    }

    const std::vector<run::job>& jobs() const { return jobs_; }
    std::size_t shapes() const { return by_shape_.size(); }

    const std::vector<kernels::tile_result>& on_cpu(std::uint64_t paths, std::uint64_t seed,
                                                    precision in = precision::double_) {
        auto& known = on_cpu_[{paths, seed, in}];
        if (known.empty()) {
            std::vector<cpu::lane_program> code;
            for (const auto& job : jobs_) code.push_back(cpu::compile(*job.code));
            std::vector<cpu::path_job> walks;
            for (std::size_t j = 0; j < jobs_.size(); ++j)
                walks.push_back({&code[j], jobs_[j].data, jobs_[j].when, seed, paths, in});
            for (const auto& r : tests::whole(
                     cpu::walk_all(walks, *cpu::runnable_instruction_sets().sets[0], 1, nullptr, {})))
                known.push_back({r.moments, r.not_finite, r.first_not_finite});
        }
        return known;
    }

  private:
    std::vector<plan::trade_program> plans_;
    std::map<std::string, const program::path_program*> by_shape_;
    std::vector<run::job> jobs_;
    std::map<std::tuple<std::uint64_t, std::uint64_t, precision>, std::vector<kernels::tile_result>> on_cpu_;
};

planned_book& the_book() {
    static planned_book one;
    return one;
}

template <class value>
fake_gpu::work with_arguments(std::span<void*> arguments, const std::function<void(const value&)>& use) {
    return [copy = *static_cast<const value*>(arguments[0]), use] { use(copy); };
}

std::shared_ptr<fake_gpu> new_gpu(const kernel_decision& how) {
    auto gpu = std::make_shared<fake_gpu>();
    gpu->kernel = [how](const std::string& cubin, const std::string& name, const launch& l,
                        std::span<void*> arguments) -> fake_gpu::work {
        if (name == "merge_tiles") {
            EXPECT_EQ(cubin, merge_kernel_text());
            return with_arguments<kernels::merge_arguments>(arguments,
                                                            [l](const auto& a) { run_merge(l, a); });
        }
        EXPECT_EQ(name, "walk");
        for (const run::job& job : the_book().jobs()) {
            if (path_kernel_text(*job.code, how) != cubin) continue;
            return with_arguments<kernels::path_arguments>(
                arguments,
                [l, code = job.code, in = how.precision](const auto& a) { run_walk(*code, in, l, a); });
        }
        ADD_FAILURE() << "a kernel of no trade:\n" << cubin;
        return {};
    };
    return gpu;
}

constexpr std::array every_schedule{fake_gpu::schedule::at_once, fake_gpu::schedule::late,
                                    fake_gpu::schedule::by_dice};

struct run_of_book {
    std::uint64_t paths = 2500;
    std::uint64_t seed = 7;
    kernel_decision how;
    run::tile_range tiles{};
    std::uint64_t memory_bytes = 0;
    const std::atomic<bool>* cancel = nullptr;
    std::function<void(const run::progress&)> on_progress;

    gpu_run asked() const {
        gpu_run run;
        run.jobs = the_book().jobs();
        run.how = tests::wish_for(how);
        run.seed = seed;
        run.paths = paths;
        run.tiles = tiles;
        run.memory_bytes = memory_bytes;
        run.cancel = cancel;
        run.on_progress = on_progress;
        return run;
    }
};

std::uint64_t steps_in_all(const run_of_book& what) {
    std::uint64_t steps = 0;
    for (const run::job& job : the_book().jobs()) steps += job.when->steps();
    return steps * what.paths;
}
std::shared_ptr<std::uint64_t> last_told(run_of_book& what) {
    const auto last = std::make_shared<std::uint64_t>(0);
    what.on_progress = [last](const run::progress& p) {
        EXPECT_GE(p.path_steps_done, *last);
        *last = p.path_steps_done;
    };
    return last;
}

// Limits that keep no resources between runs, so that each fake GPU sees all freed.
constexpr idle_limits keeps_nothing{0, 0, 0, 0};

class fake_machine {
  public:
    explicit fake_machine(const std::vector<std::shared_ptr<fake_gpu>>& gpus) : gpus_(gpus) {
        for (const auto& g : gpus_)
            devices_.push_back(
                std::make_shared<loaded_device>(std::make_unique<fake_device>(g), keeps_nothing));
    }

    gpu_outcome walk(const run_of_book& what) { return launcher(devices_, kernels_).walk_all(what.asked()); }
    text_compiler& compiler() { return compiler_; }
    kernel_store& kernels() { return kernels_; }

    std::string report() {
        devices_.clear();
        std::string out;
        for (const auto& g : gpus_) out += g->report();
        return out;
    }

  private:
    std::vector<std::shared_ptr<fake_gpu>> gpus_;
    text_compiler compiler_;
    kernel_store kernels_{compiler_, {}};
    std::vector<std::shared_ptr<loaded_device>> devices_;
};

std::array<std::uint64_t, 7> bits(const kernels::tile_result& r) {
    const auto of = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    return {of(r.moments.count), of(r.moments.mean), of(r.moments.m2),  of(r.moments.m3),
            of(r.moments.m4),    r.not_finite,       r.first_not_finite};
}

std::size_t priced(const gpu_outcome& got, const run_of_book& what) {
    const auto& expected = the_book().on_cpu(what.paths, what.seed, what.how.precision);
    EXPECT_EQ(got.failures.size(), expected.size());
    std::size_t count = 0;
    for (std::size_t j = 0; j < got.failures.size(); ++j) {
        if (got.failures[j]) continue;
        count += 1;
        EXPECT_EQ(bits(got.tallies[j].whole()), bits(expected[j]))
            << "job " << j << ": " << got.tallies[j].whole().moments.mean << " on the GPU, "
            << expected[j].moments.mean << " on the CPU, " << what.paths << " paths";
    }
    return count;
}

std::string failures_of(const gpu_outcome& got) {
    std::string out;
    for (const auto& f : got.failures) out += f ? std::string(f->what()) + "\n" : "";
    return out;
}

TEST(launcher_failures, is_a_back_end) {
    run_of_book what;
    const auto gpu = new_gpu(what.how);
    fake_machine machine({gpu});
    const gpu_outcome expected = machine.walk(what);
    text_compiler compiler;
    kernel_store kernels(compiler, {});
    const auto device = std::make_shared<loaded_device>(std::make_unique<fake_device>(new_gpu(what.how)));
    launcher with_settings({device}, kernels, {.how = tests::wish_for(what.how)});
    run::back_end& any = with_settings;
    const gpu_run asked = what.asked();
    const run::outcome got = any.walk_all(static_cast<const run::walk&>(asked));
    ASSERT_EQ(got.tallies.size(), jobs_in_all);
    for (std::size_t j = 0; j < jobs_in_all; ++j) EXPECT_TRUE(got.tallies[j] == expected.tallies[j]) << j;
}

TEST(launcher_failures, walks_ranges_of_tiles_alone) {
    for (const std::string reduction : {"tree", "last_block"}) {
        run_of_book what;
        what.paths = 66 * kernels::paths_per_tile - 5;  // a tally's parts have two tiles each
        what.how.reduction = reduction;
        const auto walked = [&](const run::tile_range& tiles, std::size_t devices) {
            std::vector<std::shared_ptr<fake_gpu>> gpus;
            for (std::size_t d = 0; d < devices; ++d) gpus.push_back(new_gpu(what.how));
            fake_machine machine(gpus);
            what.tiles = tiles;
            gpu_outcome got = machine.walk(what);
            EXPECT_EQ(failures_of(got), "");
            EXPECT_EQ(machine.report(), "");
            return got;
        };
        const gpu_outcome all = walked({}, 1);
        EXPECT_EQ(priced(all, what), jobs_in_all);
        gpu_outcome pieces = walked({13, 53}, 2);
        const gpu_outcome first = walked({0, 13}, 1);
        for (std::size_t j = 0; j < jobs_in_all; ++j) {
            EXPECT_FALSE(pieces.tallies[j].is_complete());
            pieces.tallies[j].add(first.tallies[j]);
            EXPECT_TRUE(pieces.tallies[j] == all.tallies[j]) << "job " << j;
            EXPECT_EQ(all.tallies[j].known().size(), 33u);
        }
    }
}

// If constant memory can't hold the numbers of a single trade, the refusal names a space that can.
TEST(launcher_failures, refuses_rows_that_constant_memory_does_not_hold) {
    const tests::surface_program p(252, 100, 2);
    const std::vector<run::job> jobs{{&p.code, &p.data, &p.when}};
    const auto gpu = std::make_shared<fake_gpu>();
    gpu->variables["tilewalk_rows"] = space_named("constant").most_bytes;
    gpu->kernel = [](const std::string&, const std::string&, const launch&, std::span<void*>) {
        return fake_gpu::work([] {});
    };
    gpu_run run;
    run.jobs = jobs;
    run.how.row_space = "constant";
    run.paths = 2000;
    text_compiler compiler;
    kernel_store kernels(compiler, {});
    gpu_outcome got;
    {
        const auto device = std::make_shared<loaded_device>(std::make_unique<fake_device>(gpu));
        got = launcher({device}, kernels).walk_all(run);
    }
    EXPECT_EQ(gpu->report(), "");
    ASSERT_TRUE(got.failures[0]);
    EXPECT_EQ(static_cast<int>(got.failures[0]->kind()), static_cast<int>(error_kind::usage));
    EXPECT_NE(got.failures[0]->message().find("is too large for space constant, which holds 7680"),
              std::string::npos)
        << got.failures[0]->message();
    EXPECT_NE(got.failures[0]->message().find("these hold it: global, read_only"), std::string::npos)
        << got.failures[0]->message();
    EXPECT_EQ(gpu->calls["run"], 0);
}

TEST(launcher_failures, gives_the_bits_of_the_cpu) {
    const std::size_t shapes = the_book().shapes();
    EXPECT_LT(shapes, jobs_in_all) << "no two trades share a kernel";
    for (const auto when : every_schedule) {
        for (const std::uint64_t paths : {1u, 1023u, 1024u, 1025u, 5000u, 7u * 1024}) {
            for (std::uint32_t dice = 0; dice < (when == fake_gpu::schedule::by_dice ? 20u : 1u); ++dice) {
                run_of_book what;
                what.paths = paths;
                const auto gpu = new_gpu(what.how);
                gpu->when = when;
                gpu->dice = dice;
                fake_machine machine({gpu});
                const auto got = machine.walk(what);
                EXPECT_EQ(priced(got, what), jobs_in_all) << failures_of(got);
                EXPECT_EQ(got.kernels_compiled, shapes + 1) << "those that walk, and the one that merges";
                EXPECT_EQ(machine.report(), "")
                    << paths << " paths, schedule " << static_cast<int>(when) << ", dice " << dice;
            }
        }
    }
    const auto& cpu = the_book().on_cpu(5000, 7);
    EXPECT_GT(cpu.back().not_finite, 0u) << "no path was lost, which the test is to show";
    EXPECT_GT(cpu.front().moments.mean, 0);
}

TEST(launcher_failures, gives_the_bits_of_the_cpu_from_single_shocks) {
    run_of_book what;
    what.how.precision = precision::mixed;
    const auto gpu = new_gpu(what.how);
    fake_machine machine({gpu});
    EXPECT_EQ(priced(machine.walk(what), what), jobs_in_all);
    EXPECT_NE(the_book().on_cpu(what.paths, what.seed)[0].moments.mean,
              the_book().on_cpu(what.paths, what.seed, precision::mixed)[0].moments.mean);
    EXPECT_EQ(machine.report(), "");
}

// Counts of finished blocks, by which a kernel knows the last one, restart with each chunk.
TEST(launcher_failures, leaves_the_merging_to_a_reduction_that_does_it) {
    run_of_book what;
    what.how.reduction = "last_block";
    for (const auto when : every_schedule) {
        for (const std::uint64_t memory_bytes : {0u, 1u}) {
            what.memory_bytes = memory_bytes;
            const auto gpu = new_gpu(what.how);
            gpu->when = when;
            const auto walks = gpu->kernel;
            gpu->kernel = [&](const auto& cubin, const auto& name, const launch& l,
                              std::span<void*> arguments) {
                EXPECT_NE(name, "merge_tiles");
                return walks(cubin, name, l, arguments);
            };
            fake_machine machine({gpu});
            for (int turn = 0; turn < 2; ++turn) EXPECT_EQ(priced(machine.walk(what), what), jobs_in_all);
            EXPECT_EQ(machine.report(), "") << memory_bytes << ", schedule " << static_cast<int>(when);
        }
    }
}

TEST(launcher_failures, loads_a_kernel_once_for_many_runs) {
    run_of_book what;
    const auto gpu = new_gpu(what.how);
    fake_machine machine({gpu});
    for (what.seed = 1; what.seed < 4; ++what.seed) EXPECT_EQ(priced(machine.walk(what), what), jobs_in_all);
    EXPECT_EQ(gpu->calls.at("load"), static_cast<int>(the_book().shapes()) + 1);
    EXPECT_EQ(machine.report(), "");
}

TEST(launcher_failures, counts_the_kernels_of_its_own_run) {
    run_of_book what;
    what.paths = 8 * 1024;
    what.memory_bytes = 1;
    const auto gpu = new_gpu(what.how), other = new_gpu(what.how);
    other->properties.minor = 1;
    std::atomic<int> launches{0};
    fake_machine machine({gpu, other});
    const auto walks = gpu->kernel;
    gpu->kernel = other->kernel = [&](const auto& cubin, const auto& name, const launch& l,
                                      std::span<void*> arguments) {
        machine.kernels().cubin({"of another run " + std::to_string(launches++), "sm_90"});
        return walks(cubin, name, l, arguments);
    };
    const std::size_t all = 2 * (the_book().shapes() + 1);  // each text, for two architectures
    for (const std::size_t compiled : {all, std::size_t{0}}) {
        const auto got = machine.walk(what);
        EXPECT_EQ(priced(got, what), jobs_in_all) << failures_of(got);
        EXPECT_EQ(got.kernels_compiled, compiled);
        EXPECT_EQ(got.kernels_from_cache, all - compiled);
    }
    EXPECT_GT(launches, 0);
    EXPECT_EQ(machine.report(), "");
}

TEST(launcher_failures, gives_the_same_bits_in_any_chunks_on_any_devices) {
    run_of_book what;
    what.paths = 13 * 1024 + 5;
    const std::uint64_t fixed = [&] {
        const auto gpu = new_gpu(what.how);
        fake_machine machine({gpu});
        what.memory_bytes = 1;  // so little that one tile is walked at a time
        EXPECT_EQ(priced(machine.walk(what), what), jobs_in_all);
        return gpu->most_bytes;
    }();
    std::set<std::size_t> launches;
    for (std::uint64_t tiles = 1; tiles < 16; ++tiles) {
        what.memory_bytes = fixed + tiles * jobs_in_all * sizeof(kernels::tile_result);
        for (const std::size_t devices : {1u, 2u, 3u}) {
            std::vector<std::shared_ptr<fake_gpu>> gpus;
            for (std::size_t d = 0; d < devices; ++d) {
                gpus.push_back(new_gpu(what.how));
                gpus.back()->when = every_schedule[(d + tiles) % 3];
                gpus.back()->dice = static_cast<std::uint32_t>(tiles);
                gpus.back()->dice = static_cast<std::uint32_t>(tiles);
            }
            fake_machine machine(gpus);
            const auto got = machine.walk(what);
            EXPECT_EQ(priced(got, what), jobs_in_all) << failures_of(got);
            for (const auto& g : gpus) EXPECT_LE(g->most_bytes, what.memory_bytes);
            EXPECT_EQ(machine.report(), "") << tiles << " tiles a chunk on " << devices << " devices";
            if (devices == 1) launches.insert(got.launches);
        }
    }
    EXPECT_GE(launches.size(), 4u) << "the runs were not cut differently";
}

TEST(launcher_failures, takes_smaller_chunks_when_memory_is_out) {
    run_of_book what;
    what.paths = 16 * 1024;
    for (const auto when : every_schedule) {
        std::size_t all = 0;
        {
            const auto gpu = new_gpu(what.how);
            fake_machine machine({gpu});
            EXPECT_EQ(priced(machine.walk(what), what), jobs_in_all);
            all = gpu->most_bytes;
        }
        std::size_t right = 0, failed = 0;
        for (std::size_t memory = 64; memory <= all; memory += 64) {
            const auto gpu = new_gpu(what.how);
            gpu->when = when;
            gpu->said_free = std::size_t{1} << 40;
            gpu->memory_bytes = memory;
            fake_machine machine({gpu});
            run_of_book told = what;
            const auto last = last_told(told);
            const auto got = machine.walk(told);
            const std::size_t count = priced(got, what);
            if (count == jobs_in_all) {
                EXPECT_EQ(*last, steps_in_all(what)) << "with " << memory << " bytes";
            }
            EXPECT_TRUE(count == 0 || count == jobs_in_all) << count;
            (count == 0 ? failed : right) += 1;
            if (count == 0) {
                EXPECT_EQ(got.failures[0]->kind(), error_kind::device);
            }
            EXPECT_EQ(machine.report(), "") << "with " << memory << " bytes";
        }
        EXPECT_GT(right, 10u);
        EXPECT_GT(failed, 10u);
    }
}

constexpr std::array every_failure{device_failure::out_of_memory, device_failure::illegal_address,
                                   device_failure::lost, device_failure::refused, device_failure::other};

TEST(launcher_failures, survives_every_call_of_the_device_that_fails) {
    run_of_book what;
    what.memory_bytes = 1;  // too little for one chunk
    for (const auto when : {fake_gpu::schedule::late, fake_gpu::schedule::by_dice}) {
        std::map<std::string, int> calls;
        {
            const auto gpu = new_gpu(what.how);
            gpu->when = when;
            fake_machine machine({gpu});
            EXPECT_EQ(priced(machine.walk(what), what), jobs_in_all);
            calls = gpu->calls;
        }
        EXPECT_GE(calls.size(), 13u);
        std::map<std::size_t, int> outcomes;
        for (const auto& [call, count] : calls) {
            for (int nth = 1; nth <= count; ++nth) {
                for (const auto failure : every_failure) {
                    // The first five calls fail in every way, later calls in one way each.
                    if (nth > 5 && nth % static_cast<int>(every_failure.size()) != static_cast<int>(failure))
                        continue;
                    SCOPED_TRACE(testing::Message()
                                 << call << " number " << nth << " fails with " << static_cast<int>(failure)
                                 << ", schedule " << static_cast<int>(when));
                    const auto gpu = new_gpu(what.how);
                    gpu->when = when;
                    gpu->dice = static_cast<std::uint32_t>(nth);
                    gpu->failures = {{call, nth, failure}};
                    fake_machine machine({gpu});
                    run_of_book told = what;
                    const auto last = last_told(told);
                    const auto got = machine.walk(told);
                    const std::size_t right = priced(got, what);
                    outcomes[right] += 1;
                    if (right == jobs_in_all) {
                        EXPECT_EQ(*last, steps_in_all(what));
                    }
                    for (const auto& f : got.failures) {
                        if (f) {
                            EXPECT_EQ(f->kind(), error_kind::device) << f->what();
                        }
                    }
                    const bool is_final =
                        failure == device_failure::illegal_address || failure == device_failure::lost;
                    if (!is_final && gpu->calls[call] >= nth) {
                        *last = 0;
                        const auto again = machine.walk(told);
                        EXPECT_EQ(priced(again, what), jobs_in_all)
                            << "the run after the failed one: " << failures_of(again);
                    }
                    EXPECT_EQ(machine.report(), "");
                }
            }
        }
        EXPECT_GT(outcomes[0], 0);
        EXPECT_GT(outcomes[jobs_in_all], 0);
        EXPECT_GT(outcomes[jobs_in_all - 1] + outcomes[jobs_in_all - 2], 0)
            << "a refused launch fails its own";
    }
}

run_of_book run_on_many() {
    run_of_book what;
    what.paths = 8 * 1024 + 5;
    what.memory_bytes = 1;  // several chunks in a piece of a device's work
    return what;
}

void wait_before_launches(fake_gpu& gpu, std::atomic<bool>& is_so) {
    gpu.kernel = [walks = gpu.kernel, &is_so](const auto& cubin, const auto& name, const launch& l,
                                              std::span<void*> arguments) {
        is_so.wait(false);
        return walks(cubin, name, l, arguments);
    };
}

void fail_at_launch(fake_gpu& gpu, int nth, device_failure what, const std::string& said) {
    gpu.kernel = [walks = gpu.kernel, nth, what, said, launches = std::make_shared<int>(0)](
                     const auto& cubin, const auto& name, const launch& l,
                     std::span<void*> arguments) -> fake_gpu::work {
        if (++*launches != nth) return walks(cubin, name, l, arguments);
        return [what, said] { throw device_error(what, said); };
    };
}

TEST(launcher_failures, goes_on_without_a_device_that_is_lost) {
    for (const auto when : every_schedule) {
        for (const auto failure : {device_failure::illegal_address, device_failure::lost,
                                   device_failure::other, device_failure::out_of_memory}) {
            for (const char* call : {"open_stream", "allocate", "upload", "run", "record", "load"}) {
                run_of_book what = run_on_many();
                const auto good = new_gpu(what.how), bad = new_gpu(what.how);
                good->when = bad->when = when;
                for (int nth = 1; nth < 9; ++nth) bad->failures.push_back({call, nth, failure});
                wait_before_launches(*good, bad->has_failed);
                fake_machine machine({good, bad});
                SCOPED_TRACE(testing::Message() << call << " fails with " << static_cast<int>(failure)
                                                << ", schedule " << static_cast<int>(when));
                const auto got = machine.walk(what);
                EXPECT_EQ(priced(got, what), jobs_in_all) << failures_of(got);
                ASSERT_EQ(got.shares.size(), 2u);
                EXPECT_TRUE(got.shares[0].has_walked);
                EXPECT_FALSE(got.shares[0].lost);
                EXPECT_FALSE(got.shares[1].has_walked);
                ASSERT_TRUE(got.shares[1].lost);
                EXPECT_EQ(got.shares[1].lost->message(), std::string(call) + ": failed as planned");
                EXPECT_EQ(machine.report(), "");
            }
        }
    }
}

// A device fails last of all, when the others have finished and only wait for pieces to take over.
TEST(launcher_failures, takes_back_what_the_last_device_at_work_could_not_finish) {
    for (const std::size_t good : {1u, 3u}) {
        run_of_book what = run_on_many();
        const auto last = last_told(what);
        std::atomic<word32> walked{0};  // tiles walked by the other devices
        std::vector<std::shared_ptr<fake_gpu>> gpus;
        const auto tiles = static_cast<word32>(kernels::tiles_of(what.paths));
        std::atomic<bool> of_bad{false};  // the failing device has taken a piece
        for (std::size_t d = 0; d <= good; ++d) {
            gpus.push_back(new_gpu(what.how));
            gpus.back()->when = every_schedule[d % 3];
            auto& gpu = *gpus.back();
            const bool is_bad = d == good;
            gpu.kernel = [&, is_bad, walks = gpu.kernel, launches = std::make_shared<int>(0)](
                             const auto& cubin, const auto& name, const launch& l,
                             std::span<void*> arguments) -> fake_gpu::work {
                if (!is_bad) {
                    of_bad.wait(false);
                    if (name == "merge_tiles") {
                        walked += static_cast<const kernels::merge_arguments*>(arguments[0])->tiles_per_trade;
                        walked.notify_all();
                    }
                    return walks(cubin, name, l, arguments);
                }
                of_bad = true;
                of_bad.notify_all();
                // The failing device's piece is half of the tiles if there are two devices, else two tiles.
                const word32 held = good == 1 ? tiles / 2 : 2;
                for (word32 w = walked; w + held + 1 < tiles; w = walked) walked.wait(w);
                if (++*launches < 6) return walks(cubin, name, l, arguments);
                return [] { throw device_error(device_failure::lost, "fell off the bus"); };
            };
        }
        fake_machine machine(gpus);
        const auto got = machine.walk(what);
        EXPECT_EQ(priced(got, what), jobs_in_all) << failures_of(got);
        EXPECT_FALSE(got.shares[good].has_walked);
        ASSERT_TRUE(got.shares[good].lost);
        EXPECT_STREQ(got.shares[good].lost->what(), "fell off the bus");
        EXPECT_EQ(*last, steps_in_all(what)) << "what was walked twice is counted once";
        EXPECT_EQ(machine.report(), "");
    }
}

TEST(launcher_failures, fails_when_all_devices_are_lost) {
    for (const std::size_t devices : {1u, 2u, 3u}) {
        run_of_book what = run_on_many();
        std::vector<std::shared_ptr<fake_gpu>> gpus;
        for (std::size_t d = 0; d < devices; ++d) {
            gpus.push_back(new_gpu(what.how));
            gpus.back()->when = every_schedule[d];
            fail_at_launch(*gpus.back(), 3, device_failure::illegal_address,
                           "astray on " + std::to_string(d));
        }
        fake_machine machine(gpus);
        const auto got = machine.walk(what);
        EXPECT_EQ(priced(got, what), 0u);
        std::set<std::string> said, known;
        for (const auto& f : got.failures) said.insert(f ? f->message() : "nothing");
        for (const auto& share : got.shares) known.insert(share.lost ? share.lost->message() : "not lost");
        EXPECT_EQ(said.size(), 1u) << "whichever was the last";
        EXPECT_EQ(known.size(), devices);
        EXPECT_TRUE(known.contains(*said.begin())) << *said.begin();
        EXPECT_EQ(machine.report(), "");
    }
}

TEST(launcher_failures, ends_the_run_where_the_failure_is_not_of_the_device) {
    run_of_book what = run_on_many();
    const auto good = new_gpu(what.how), bad = new_gpu(what.how);
    std::atomic<bool> has_failed{false};
    wait_before_launches(*good, has_failed);
    bad->kernel = [&](const auto&, const auto&, const launch&, std::span<void*>) -> fake_gpu::work {
        has_failed = true;
        has_failed.notify_all();
        throw std::logic_error("a defect");
    };
    fake_machine machine({good, bad});
    const auto got = machine.walk(what);
    EXPECT_EQ(priced(got, what), 0u);
    for (const auto& f : got.failures) {
        ASSERT_TRUE(f);
        EXPECT_EQ(f->kind(), error_kind::internal);
        EXPECT_EQ(f->message(), "a defect");
    }
    for (const auto& share : got.shares) EXPECT_FALSE(share.lost);
    EXPECT_EQ(machine.report(), "");
}

TEST(launcher_failures, survives_the_loss_of_one_of_two_devices_at_any_call) {
    run_of_book what = run_on_many();
    std::map<std::string, int> calls;
    {
        const auto gpu = new_gpu(what.how);
        fake_machine machine({gpu});
        machine.walk(what);
        calls = gpu->calls;
    }
    std::size_t lost = 0;
    for (const auto& [call, count] : calls) {
        for (int nth = 1; nth <= count; nth += 1 + count / 12) {
            const auto good = new_gpu(what.how), bad = new_gpu(what.how);
            good->when = fake_gpu::schedule::by_dice;
            bad->when = every_schedule[static_cast<std::size_t>(nth % 3)];
            bad->failures = {{call, nth, device_failure::lost}};
            fake_machine machine({good, bad});
            const auto last = last_told(what);
            const auto got = machine.walk(what);
            SCOPED_TRACE(testing::Message() << call << " number " << nth);
            EXPECT_EQ(priced(got, what), jobs_in_all) << failures_of(got);
            EXPECT_EQ(*last, steps_in_all(what));
            EXPECT_FALSE(got.shares[0].lost);
            EXPECT_EQ(machine.report(), "");
            lost += got.shares[1].lost.has_value();
        }
    }
    EXPECT_GT(lost, 10u);
}

TEST(launcher_failures, reports_a_kernel_that_goes_astray) {
    run_of_book what;
    for (const auto when : every_schedule) {
        const auto gpu = new_gpu(what.how);
        gpu->when = when;
        const auto sound = gpu->kernel;
        int launches = 0;
        gpu->kernel = [&](const auto& cubin, const auto& name, const launch& l,
                          std::span<void*> arguments) -> fake_gpu::work {
            if (launches++ != 2) return sound(cubin, name, l, arguments);
            return [] { throw device_error(device_failure::illegal_address, "a wild address"); };
        };
        fake_machine machine({gpu});
        const auto got = machine.walk(what);
        EXPECT_EQ(priced(got, what), 0u);
        EXPECT_NE(failures_of(got).find("a wild address"), std::string::npos);
        EXPECT_EQ(machine.report(), "");
    }
}

TEST(launcher_failures, fails_only_the_trades_whose_kernel_does_not_compile) {
    run_of_book what;
    for (const run::job& bad : the_book().jobs()) {
        const auto gpu = new_gpu(what.how);
        fake_machine machine({gpu});
        machine.compiler().refuses = [bad_text = path_kernel_text(*bad.code, what.how)](
                                         const std::string& text) { return text == bad_text; };
        const auto got = machine.walk(what);
        std::size_t of_bad = 0;
        for (std::size_t j = 0; j < jobs_in_all; ++j) {
            const bool is_bad = the_book().jobs()[j].code == bad.code;
            of_bad += is_bad;
            ASSERT_EQ(got.failures[j].has_value(), is_bad) << "job " << j;
            if (is_bad) {
                EXPECT_EQ(got.failures[j]->kind(), error_kind::compile);
            }
        }
        EXPECT_EQ(priced(got, what), jobs_in_all - of_bad);
        EXPECT_EQ(machine.report(), "");
    }
    const auto gpu = new_gpu(what.how);
    fake_machine machine({gpu});
    machine.compiler().refuses = [bad_text = merge_kernel_text()](const std::string& text) {
        return text == bad_text;
    };
    EXPECT_EQ(priced(machine.walk(what), what), 0u);
    machine.compiler().refuses = nullptr;
    EXPECT_EQ(priced(machine.walk(what), what), jobs_in_all) << "a later run compiles again";
    EXPECT_EQ(machine.report(), "");
}

TEST(launcher_failures, stops_when_it_is_told_to) {
    run_of_book what;
    what.paths = 32 * 1024;
    what.memory_bytes = 1;
    for (const auto when : every_schedule) {
        for (const int after : {0, 1, 20, 100}) {
            std::atomic<bool> cancel = after == 0;
            const auto gpu = new_gpu(what.how);
            gpu->when = when;
            const auto sound = gpu->kernel;
            int launches = 0;
            gpu->kernel = [&](const auto& cubin, const auto& name, const launch& l,
                              std::span<void*> arguments) {
                if (++launches == after) cancel = true;
                return sound(cubin, name, l, arguments);
            };
            what.cancel = &cancel;
            fake_machine machine({gpu});
            try {
                machine.walk(what);
                ADD_FAILURE() << "the run went on";
            } catch (const error& e) {
                EXPECT_EQ(e.kind(), error_kind::cancelled);
            }
            EXPECT_LT(launches, after + 40) << "it was told after " << after;
            EXPECT_EQ(machine.report(), "") << after << ", schedule " << static_cast<int>(when);
        }
    }
}

// A long trade, for a fake GPU that marks tiles as walked instead of walking them.
class long_run {
  public:
    explicit long_run(std::size_t jobs) {
        const book b = book::parse(
            "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n  assets:\n"
            "    A: {currency: USD, spot: 100, volatility: 0.2}\ntrades:\n  - {id: daily, product: asian, "
            "underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 252}}\n");
        plan_ = plan::plan_trade(state_of(b).trades.at(0), state_of(*b.market()));
        jobs_.assign(jobs, {&plan_.code, &plan_.data, &plan_.when});
        asked.jobs = jobs_;
        gpu->when = fake_gpu::schedule::late;
        gpu->kernel = [this](const std::string&, const std::string& name, const launch& l,
                             std::span<void*> arguments) -> fake_gpu::work {
            if (name == "merge_tiles") {
                return with_arguments<kernels::merge_arguments>(arguments,
                                                                [l](const auto& a) { run_merge(l, a); });
            }
            if (name != "walk") return {};
            blocks.push_back(l.blocks);
            under_way += l.blocks;
            most_under_way = std::max(most_under_way, under_way);
            if (on_launch) on_launch();
            return with_arguments<kernels::path_arguments>(arguments, [this, l](const auto& a) {
                under_way -= l.blocks;
                for_each_block(l, a, [&](const kernels::trade_record& r, word32 tile) {
                    kernels::tile_result& to = a.results[word64{r.result} * a.tiles + tile];
                    EXPECT_EQ(to.moments.count, 0) << "walked twice";
                    to = marked(r.result, a.first_tile + tile);
                });
            });
        };
    }

    kernels::tile_result marked(word64 result, word64 tile) const {
        kernels::tile_result r{};
        r.moments.count = kernels::paths_in_tile(asked.paths, tile);
        r.moments.mean = static_cast<double>(result) + 1e-6 * static_cast<double>(tile);
        return r;
    }
    gpu_outcome walked() {
        const auto device = std::make_shared<loaded_device>(std::make_unique<fake_device>(gpu));
        return launcher({device}, kernels_).walk_all(asked);
    }
    double most_blocks() const {
        double work = 12.0 * plan_.code.normals_per_step;
        for (const auto& section : plan_.code.sections) {
            for (const program::node& n : section.nodes) work += program::cost(n.code);
        }
        const auto steps = static_cast<double>(plan_.when.steps());
        return most_work_under_way / (work * steps * kernels::paths_per_tile);
    }

    gpu_run asked;
    const std::shared_ptr<fake_gpu> gpu = std::make_shared<fake_gpu>();
    std::function<void()> on_launch;
    std::vector<std::uint64_t> blocks;  // number of blocks, by launch that walks
    std::uint64_t under_way = 0, most_under_way = 0;

  private:
    plan::trade_program plan_;
    std::vector<run::job> jobs_;
    text_compiler compiler_;
    kernel_store kernels_{compiler_, {}};
};

TEST(launcher_failures, walks_each_tile_once_in_short_launches) {
    struct walked_as {
        const char* feed;
        std::size_t jobs;
        word64 tiles, memory_bytes;
    };
    for (const auto& as : {walked_as{"inline", 3, 20000, 0}, {"none", 500, 23, 40 << 20}}) {
        SCOPED_TRACE(as.feed);
        long_run run(as.jobs);
        run.asked.how.feed = as.feed;
        run.asked.paths = as.tiles * kernels::paths_per_tile - 5;
        run.asked.memory_bytes = as.memory_bytes;
        const gpu_outcome got = run.walked();
        EXPECT_EQ(failures_of(got), "");
        EXPECT_EQ(run.gpu->report(), "");
        for (std::size_t j = 0; j < as.jobs; ++j) {
            std::vector<kernels::tile_result> tiles;
            for (word64 t = 0; t < as.tiles; ++t) tiles.push_back(run.marked(j, t));
            merge_row(tiles.data(), static_cast<word32>(as.tiles));
            ASSERT_EQ(bits(got.tallies[j].whole()), bits(tiles[0])) << "job " << j;
        }
        EXPECT_GT(run.blocks.size(), static_cast<double>(as.jobs * as.tiles) / run.most_blocks());
        EXPECT_LE(*std::ranges::max_element(run.blocks), run.most_blocks() / 4);
        EXPECT_LE(run.most_under_way, run.most_blocks());
        EXPECT_GT(run.most_under_way, run.most_blocks() / 2) << "the device waits for its next launch";
    }
}

TEST(launcher_failures, launches_nothing_after_it_is_told_to_stop) {
    for (const std::size_t after : {1u, 3u, 6u}) {
        long_run run(3);
        run.asked.paths = 20000 * kernels::paths_per_tile;
        std::atomic<bool> cancel{false};
        run.asked.cancel = &cancel;
        run.on_launch = [&] { cancel = run.blocks.size() == after; };
        try {
            run.walked();
            ADD_FAILURE() << "the run went on";
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::cancelled);
        }
        EXPECT_EQ(run.blocks.size(), after);
        EXPECT_EQ(run.gpu->report(), "");
    }
}

TEST(launcher_failures, says_how_far_it_is) {
    run_of_book what;
    what.memory_bytes = 1;
    const auto last = last_told(what);
    const auto gpu = new_gpu(what.how);
    fake_machine machine({gpu});
    EXPECT_EQ(priced(machine.walk(what), what), jobs_in_all);
    EXPECT_EQ(*last, steps_in_all(what));
    EXPECT_EQ(machine.report(), "");
}

}  // namespace

}  // namespace tilewalk::cuda::launcher_failures_test
