// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (hundreds of millions of moves)
// Trades whose correlated moves are computed ahead of their paths have the bits of the product taken on the
// path: on a fake GPU, whose kernels read and write a run's arrays as real ones do, and on a GPU.
#include "engine/walk/cuda/paths/moves_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/plan/unite.h"
#include "engine/reading/book_state.h"
#include "engine/walk/arrays/shock_writer.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/compile/row_layout.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "engine/walk/cuda/random/fill_kernels.h"
#include "kernels/draws.h"
#include "kernels/fill_kernel.h"
#include "tests/fake_device.h"
#include "tests/named_choice.h"
#include "tests/own_folder.h"
#include "tests/plain_walk.h"
#include "tests/scenario_file.h"
#include "tests/whole.h"
#include "tests/wish_for.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::cuda::moves_walk_test {
namespace {

using kernels::word32;
using kernels::word64;

constexpr std::uint64_t scenario_paths = 9 * kernels::paths_per_tile;
constexpr std::uint64_t scenario_times = 4;

// With `scenarios`, two assets read one file of volatilities at different times, so trades map steps to rows
// differently.
std::string volatility_of(int asset, bool scenarios) {
    if (!scenarios || asset > 1) return "0." + std::to_string(20 + asset % 30);
    static const tests::scenario_file file(scenario_times, scenario_paths);
    return "{scenarios: " + file.name() +
           ", times: " + (asset == 0 ? "[0.1, 0.4, 0.6, 1.5]" : "[0.3, 0.7, 1.0, 2.0]") + "}";
}

// A book of two baskets for each size in `sizes`, one on a single date and one on several. Two trades follow:
// a basket that also takes uniform random numbers, and a barrier. The barrier's time of touch takes a random
// number that moves no asset; the asset moves of such a trade can't be computed before the path kernel.
std::string book_of(const std::vector<int>& sizes, bool scenarios = false) {
    const int most = *std::max_element(sizes.begin(), sizes.end());
    const auto name = [](int i) { return "A" + std::to_string(i); };
    std::string assets, correlations;
    for (int i = 0; i < most; ++i) {
        assets += "    " + name(i) + ": {currency: USD, spot: " + std::to_string(50 + i) +
                  ", volatility: " + volatility_of(i, scenarios) + "}\n";
        for (int j = 0; j < i; ++j) {
            correlations += std::string(correlations.empty() ? "" : ", ") + "[" + name(j) + ", " + name(i) +
                            ", 0.3" + std::to_string(10 + (i * 7 + j) % 9) + "]";
        }
    }
    std::string trades;
    for (const int size : sizes) {
        std::string basket;
        for (int i = 0; i < size; ++i) basket += (i > 0 ? ", " : "") + name(i);
        for (const char* dates : {"[0.5]", "[0.1, 0.3, 0.7]"}) {
            const std::string id = "basket_" + std::to_string(size) + (dates[4] == ']' ? "" : "_more");
            trades +=
                "  - {id: " + id + ", product: sum_of_all, basket: [" + basket + "], dates: " + dates + "}\n";
        }
    }
    return R"(
market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03}}
  assets:
)" + assets +
           "  correlations: [" + correlations + R"(]
products:
  - product: sum_of_all
    summary: The sum of all assets on each date.
    parameters:
      basket: {type: asset_list, help: The assets.}
      dates: {type: schedule, help: Days of payment.}
    example: {basket: [A0, A1], dates: [1.0]}
    script: |
      on dates:
          pay sum(spot(a) for a in basket)
  - product: worst_ever
    summary: The lowest price of any asset at any time.
    parameters:
      basket: {type: asset_list, help: The assets.}
      maturity: {type: date, help: Day of payment.}
      since: {type: date, default: 0.0, help: Since when it is watched.}
    example: {basket: [A0, A1], maturity: 1.0}
    script: |
      between since and maturity:
          pay worst(lowest(a) for a in basket)
trades:
)" + trades +
           R"(
  - {id: lowest, product: worst_ever, basket: [A0, A1], maturity: 1.0}
  - {id: watched, product: barrier, underlying: A0, option: call, strike: 50, maturity: 1.0, direction: down,
     barrier: 40, rebate: 2, rebate_paid: at_hit}
)";
}

class planned_book {
  public:
    explicit planned_book(const std::vector<int>& sizes, bool scenarios = false)
        : book_(book::parse(book_of(sizes, scenarios))),
          scenarios_(state_of(*book_.market()).scenario_cubes()) {
        const book& b = book_;
        for (const auto& t : state_of(b).trades) plans_.push_back(plan::plan_trade(t, state_of(*b.market())));
        std::vector<const program::path_program*> shapes;
        for (const auto& p : plans_) shapes.push_back(&p.code);
        programs_ = plan::unite(shapes);
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            const plan::seat& seat = programs_.seats[i];
            const auto& code = programs_.programs[seat.program];
            data_.push_back(plan::seated(plans_[i].data, seat, code));
            when_.push_back(plan::seated(plans_[i].when, seat));
            jobs_.push_back({&code, &data_.back(), &when_.back()});
        }
    }
    planned_book(const planned_book&) = delete;
    planned_book& operator=(const planned_book&) = delete;

    const std::vector<run::job>& jobs() const { return jobs_; }
    std::span<const arrays::shock_cube> scenarios() const { return scenarios_; }

    std::vector<kernels::tile_result> on_cpu(const gpu_run& run) const {
        std::vector<cpu::lane_program> code;
        for (const auto& p : plans_) code.push_back(cpu::compile(p.code));
        std::vector<cpu::path_job> walks;
        for (std::size_t j = 0; j < plans_.size(); ++j) {
            walks.push_back(
                {&code[j], &plans_[j].data, &plans_[j].when, run.seed, run.paths, run.how.precision});
            walks.back().scenarios = scenarios_;
            if (run.replay == nullptr) continue;
            walks.back().normals = run.replay->normals();
            walks.back().uniforms = run.replay->uniforms();
        }
        return tests::whole(cpu::walk_all(walks, *cpu::runnable_instruction_sets().sets[0], 1, nullptr, {}));
    }

  private:
    book book_;
    std::vector<arrays::shock_cube> scenarios_;
    std::deque<plan::trade_program> plans_;
    plan::united_programs programs_;
    std::deque<program::path_data> data_;
    std::deque<program::timeline> when_;
    std::vector<run::job> jobs_;
};

const planned_book& the_book() {
    static const planned_book one({2, 5, 24, 64});
    return one;
}
constexpr std::size_t large_jobs = 2;  // with correlation_crossover() factors or more

// A trade's 32-bit words for the kernel that follow the keys of its streams.
const word32* words_of_sections(const program::path_program& code, const kernels::path_arguments& a,
                                const kernels::trade_record& r) {
    const auto streams_of = [](const std::vector<std::uint32_t>& streams, int slots) {
        if (streams.empty()) return slots > 0 ? 1u : 0u;
        return *std::ranges::max_element(streams) + 1;
    };
    const word32 keys = 2 * (streams_of(code.normal_streams, code.normals_per_step) +
                             streams_of(code.uniform_streams, code.uniforms_per_step));
    return a.words + r.words_at + kernels::whole_pieces(keys, sizeof(word32));
}

// Reads a trade's numbers and times back from a kernel's arguments, as laid out in kernels/arguments.h.
template <class real>
program::path_data data_in_memory(const program::path_program& code, const kernels::path_arguments& a,
                                  const kernels::trade_record& r, program::timeline& when) {
    const real* at = static_cast<const real*>(a.numbers) + r.numbers_at;
    const word32* words = words_of_sections(code, a, r);
    program::path_data out;
    const std::size_t terms = code.per_trade.columns.size();
    out.terms.assign(at, at + terms);
    const real* initial = at + kernels::whole_pieces(static_cast<word32>(terms), sizeof(real));
    out.initial_states.assign(initial, initial + code.states.size());
    const auto sections = static_cast<word32>(code.sections.size());
    const word32* event =
        words + kernels::event_place(sections, r.steps * static_cast<word32>(code.scenarios_per_step));
    std::vector<word32> runs(code.sections.size(), 0);
    runs[0] = r.steps;
    for (word32 step = 0; step < r.steps; ++step) {
        const bool has_event = event[0] == step;
        for (word32 k = 1; k < sections; ++k) {
            if (code.sections[k].is_on_every_step || (has_event && (event[1] >> k & 1) != 0))
                when.add({k, runs[k]++});
        }
        if (has_event) event += 2;
        when.times.push_back(step + 1.0);
        when.close_step();
    }
    const row_layout layout = layout_of_rows(code);
    for (std::size_t k = 0; k < code.sections.size(); ++k) {
        const std::size_t width = code.sections[k].row_width();
        out.runs.push_back(runs[k]);
        out.widths.push_back(width);
        auto& rows = out.rows.emplace_back();
        const bool is_in_step = code.sections[k].is_on_every_step;
        const auto pitch = static_cast<word32>(layout.widths[is_in_step ? 0 : k]);
        for (std::size_t i = 0; i < runs[k]; ++i) {
            const real* row = at + words[is_in_step ? 0 : k] + layout.places[k] +
                              i * kernels::row_pitch(pitch, sizeof(real));
            rows.insert(rows.end(), row, row + width);
        }
    }
    return out;
}

// A trade's words that say which row of a scenario slot to read on each step.
const word32* scenario_rows_of(const program::path_program& code, const kernels::path_arguments& a,
                               const kernels::trade_record& r) {
    return words_of_sections(code, a, r) + kernels::scenario_place(static_cast<word32>(code.sections.size()));
}

template <class real, class draws>
void walk(const program::path_program& code, bool from_arrays, const launch& how,
          const kernels::path_arguments& a) {
    using shock = typename draws::shock;
    ASSERT_EQ(how.blocks, a.trade_count * a.tiles);
    const auto read = [](const kernels::array_argument& from, word32 first_row, word64 number, int per_step,
                         word64 path) {
        const word64 at = number / static_cast<word64>(per_step) * from.step_stride +
                          (number % static_cast<word64>(per_step) + first_row) * from.slot_stride + path;
        EXPECT_LT(path, from.slot_stride);
        return static_cast<real>(static_cast<const shock*>(from.first)[at]);
    };
    constexpr word64 per_block = draws::per_block;
    const auto normals = program::places_in_streams(code.normal_streams, code.normals_per_step);
    const auto uniforms = program::places_in_streams(code.uniform_streams, code.uniforms_per_step);
    // Shock n, of slot n % slots on step n / slots, as a block of its stream and a number within the block.
    const auto place_of = [](const std::vector<program::place_in_stream>& slots, word64 n) {
        const program::place_in_stream& p = slots[n % slots.size()];
        const word64 number = n / slots.size() * p.dimensions + p.dimension;
        return std::pair(static_cast<word32>(number / per_block), number % per_block);
    };
    for (word32 t = 0; t < a.trade_count; ++t) {
        // Keys of the streams of normals come first, then keys for uniforms, of two words each.
        const word32* keys_of_normals = a.words + a.trades[t].words_at;
        const word32* keys_of_uniforms = keys_of_normals;
        for (const auto& p : normals) keys_of_uniforms += p.dimension == 0 ? 2 : 0;
        const auto normal = [&](word64 path, word64 n) {
            const auto [block, in_block] = place_of(normals, n);
            const word32* key = keys_of_normals + 2 * normals[n % normals.size()].stream;
            return static_cast<real>(draws::normals(a.seed, path, block, {key[0], key[1]}).x[in_block]);
        };
        const auto uniform = [&](word64 path, word64 n) {
            const auto [block, in_block] = place_of(uniforms, n);
            const word32* key = keys_of_uniforms + 2 * uniforms[n % uniforms.size()].stream;
            return static_cast<real>(draws::uniforms(a.seed, path, block, {key[0], key[1]}).x[in_block]);
        };
        program::timeline when;
        const program::path_data data = data_in_memory<real>(code, a, a.trades[t], when);
        const word32* rows = scenario_rows_of(code, a, a.trades[t]);
        const auto slots = static_cast<std::size_t>(code.scenarios_per_step);
        const auto scenario = [&](word64 path, std::size_t step, std::size_t slot) {
            EXPECT_LT(path - a.first_path, a.scenario.step_stride);
            const word64 at = rows[step * slots + slot] * a.scenario.step_stride + path - a.first_path;
            return static_cast<real>(static_cast<const shock*>(a.scenario.first)[at]);
        };
        for (word32 tile = 0; tile < a.tiles; ++tile) {
            std::array<double, kernels::paths_per_tile> x{};
            const word64 first = (a.first_tile + tile) * kernels::paths_per_tile;
            const int count = kernels::paths_in_tile(a.paths, a.first_tile + tile);
            for (int i = 0; i < count; ++i) {
                const word64 path = first + static_cast<word64>(i);
                x[static_cast<std::size_t>(i)] = tests::plain_walk<real>(
                    code, data, when,
                    [&](word64 n) {
                        return from_arrays ? read(a.normal, a.trades[t].normal_row, n, code.normals_per_step,
                                                  path - a.first_path)
                                           : normal(path, n);
                    },
                    [&](word64 n) {
                        return from_arrays ? read(a.uniform, a.trades[t].uniform_row, n,
                                                  code.uniforms_per_step, path - a.first_path)
                                           : uniform(path, n);
                    },
                    [&](std::size_t step, std::size_t slot) { return scenario(path, step, slot); });
            }
            kernels::tile_result r;
            r.moments = kernels::tile_moments(x.data(), count);
            a.results[word64{a.trades[t].result} * a.tiles + tile] = r;
        }
    }
}

void merge(const launch& how, const kernels::merge_arguments& a) {
    const word32 parts = kernels::parts_of(a.tiles_per_trade, a.part_tiles);
    for (word32 block = 0; block < how.blocks; ++block) {
        const word32 first = block % parts * a.part_tiles;
        kernels::tile_result* m = a.tiles + word64{block / parts} * a.tiles_per_trade + first;
        for (word32 count = std::min(a.part_tiles, a.tiles_per_trade - first); count > 1;
             count = (count + 1) / 2) {
            for (word32 i = 0; i < (count + 1) / 2; ++i)
                m[i] = 2 * i + 1 < count ? kernels::merge(m[2 * i], m[2 * i + 1]) : m[2 * i];
        }
        a.merged[block] = m[0];
    }
}

template <class shock, class real>
void correlate(const correlation_variant& v, const launch& how, const kernels::correlation::arguments& a) {
    namespace correlation = kernels::correlation;
    ASSERT_EQ(how.threads, v.threads);
    for (word32 block = 0; block < how.blocks; ++block) {
        const auto task = correlation::task_of(a, block, v.rows, v.paths);
        const auto in = correlation::step_arrays<shock, real>::of(a, task.step);
        for (int i = task.first_row; i < std::min(task.first_row + v.rows, static_cast<int>(a.factors));
             ++i) {
            const auto end = std::min(task.first_path + static_cast<word64>(v.paths), a.paths);
            for (word64 p = task.first_path; p < end; ++p) {
                real sum = in.drifts[i];
                for (int j = 0; j <= i; ++j) {
                    sum = std::fma(static_cast<real>(in.shocks[static_cast<word64>(j) * a.shock_pitch + p]),
                                   in.root(i, j), sum);
                }
                in.moves[static_cast<word64>(i) * a.move_pitch + p] = sum;
            }
        }
    }
}

struct host_stores {
    template <class shock, int count>
    static void store(shock* to, const kernels::neighbours<shock, count>& x) {
        std::memcpy(to, x.x, sizeof x);
    }
};

template <class draws, random::shock_kind kind>
void fill(const launch& how, const kernels::draws_arguments& a) {
    for (word32 block = 0; block < how.blocks; ++block) {
        for (int thread = 0; thread < static_cast<int>(how.threads); ++thread)
            kernels::draw_shocks<draws, kind, host_stores>(a, block, thread);
    }
}

using host_kernel = std::function<fake_gpu::work(const launch&, std::span<void*>)>;

template <class value>
host_kernel takes(std::function<void(const launch&, const value&)> use) {
    return [use](const launch& how, std::span<void*> arguments) -> fake_gpu::work {
        return [use, how, copy = *static_cast<const value*>(arguments[0])] { use(how, copy); };
    };
}

template <class real, class draws>
host_kernel walk_of(const program::path_program& code, const kernel_decision& how) {
    const bool from_arrays = feed_named(how.feed).makes_use_of(feed_entry::array);
    return takes<kernels::path_arguments>(
        [&code, from_arrays](const launch& l, const auto& a) { walk<real, draws>(code, from_arrays, l, a); });
}

host_kernel walk_of(const program::path_program& code, const kernel_decision& how) {
    switch (how.precision) {
        case precision::double_:
            return walk_of<double, kernels::double_draws>(code, how);
        case precision::mixed:
            return walk_of<double, kernels::single_draws>(code, how);
        default:
            return walk_of<float, kernels::single_draws>(code, how);
    }
}

host_kernel correlate_of(const correlation_variant& v, precision p) {
    using arguments = kernels::correlation::arguments;
    switch (p) {
        case precision::double_:
            return takes<arguments>(
                [&v](const auto& l, const auto& a) { correlate<double, double>(v, l, a); });
        case precision::mixed:
            return takes<arguments>(
                [&v](const auto& l, const auto& a) { correlate<float, double>(v, l, a); });
        default:
            return takes<arguments>([&v](const auto& l, const auto& a) { correlate<float, float>(v, l, a); });
    }
}

std::map<std::string, host_kernel> kernels_of_run(const gpu_run& run, const separated_jobs& separated) {
    using random::shock_kind;
    std::map<std::string, host_kernel> all;
    all[merge_kernel_text()] = takes<kernels::merge_arguments>(&merge);
    using arguments = kernels::draws_arguments;
    const auto add_fills = [&]<class draws>(draws, arrays::element of) {
        all[random::draw_text(of, shock_kind::normal)] = takes<arguments>(&fill<draws, shock_kind::normal>);
        all[random::draw_text(of, shock_kind::uniform)] = takes<arguments>(&fill<draws, shock_kind::uniform>);
    };
    add_fills(kernels::double_draws{}, arrays::element::double_);
    add_fills(kernels::single_draws{}, arrays::element::single_);
    for (std::size_t j = 0; j < run.jobs.size(); ++j) {
        const auto& code = *separated.jobs()[j].code;
        kernel_wish wish = run.how;
        if (separated.is_separated(j)) {
            wish = wish_that_reads_moves(wish, code.slots_per_step());
            const auto& v = best_correlation_variant(static_cast<std::size_t>(code.normals_per_step));
            all[correlation_text(v, run.how.precision)] = correlate_of(v, run.how.precision);
        }
        const kernel_decision how = with_presets(wish);
        all[path_kernel_text(code, how)] = walk_of(code, how);
    }
    return all;
}

class fake_run {
  public:
    explicit fake_run(gpu_run asked)
        : run(std::move(asked)), separated(run.jobs, run.correlation, run.how.precision) {
        gpu->kernel = [this](const std::string& text, const std::string& name, const launch& l,
                             std::span<void*> arguments) -> fake_gpu::work {
            const std::lock_guard guard(lock_);
            launches[name] += 1;
            const auto found = kernels_.find(text);
            if (found != kernels_.end()) return found->second(l, arguments);
            ADD_FAILURE() << "a kernel of no job:\n" << text;
            return {};
        };
    }

    gpu_outcome walk(std::size_t count = 1) {
        kernels_ = kernels_of_run(run, separated);
        std::vector<std::shared_ptr<fake_gpu>> gpus{gpu};
        while (gpus.size() < count) {
            gpus.push_back(std::make_shared<fake_gpu>());
            gpus.back()->kernel = gpu->kernel;
        }
        gpu_outcome got;
        {
            kernel_store store(compiler, {});
            std::vector<std::shared_ptr<loaded_device>> devices;
            for (const auto& g : gpus)
                devices.push_back(std::make_shared<loaded_device>(std::make_unique<fake_device>(g)));
            got = launcher(devices, store).walk_all(run);
            // The kernels that fill cubes and that correlate are counted as well.
            EXPECT_EQ(got.kernels_compiled, store.so_far().compiled);
        }
        for (const auto& g : gpus) EXPECT_EQ(g->report(), "");
        return got;
    }
    std::size_t separated_count() const {
        std::size_t count = 0;
        for (std::size_t j = 0; j < run.jobs.size(); ++j) count += separated.is_separated(j);
        return count;
    }

    gpu_run run;
    separated_jobs separated;
    text_compiler compiler;
    std::shared_ptr<fake_gpu> gpu = std::make_shared<fake_gpu>();
    std::map<std::string, int> launches;  // by name of the kernel

  private:
    std::mutex lock_;  // guards `launches`
    std::map<std::string, host_kernel> kernels_;
};

gpu_run run_of(const planned_book& of, const char* correlation, precision p = precision::double_,
               const char* feed = "inline") {
    gpu_run run;
    run.jobs = of.jobs();
    run.scenarios = of.scenarios();
    run.how = tests::wish_for({});
    run.how.precision = p;
    run.how.feed = feed;
    run.correlation = correlation;
    run.seed = 11;
    run.paths = 2 * kernels::paths_per_tile + 100;
    return run;
}

std::array<std::uint64_t, 7> bits(const kernels::tile_result& r) {
    const auto of = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    return {of(r.moments.count), of(r.moments.mean), of(r.moments.m2),  of(r.moments.m3),
            of(r.moments.m4),    r.not_finite,       r.first_not_finite};
}

// Expects that each job with a result has the CPU's bits. Returns how many have one.
std::size_t priced(const gpu_outcome& got, const std::vector<kernels::tile_result>& expected) {
    EXPECT_EQ(got.failures.size(), expected.size());
    std::size_t count = 0;
    for (std::size_t j = 0; j < got.failures.size(); ++j) {
        if (got.failures[j]) continue;
        ++count;
        EXPECT_EQ(bits(got.tallies[j].whole()), bits(expected[j]))
            << "job " << j << ": " << got.tallies[j].whole().moments.mean << " on the GPU, "
            << expected[j].moments.mean << " on the CPU";
    }
    return count;
}

TEST(moves_walk, gives_the_bits_of_the_cpu) {
    const std::size_t jobs = the_book().jobs().size();
    for (const auto p : {precision::double_, precision::single, precision::mixed}) {
        const auto expected = the_book().on_cpu(run_of(the_book(), "auto", p));
        for (const char* setting : {"kernel", "auto", "matrix"}) {
            for (const char* feed : {"inline", "unroll"}) {
                SCOPED_TRACE(testing::Message() << static_cast<int>(p) << ", " << setting << ", " << feed);
                fake_run fake(run_of(the_book(), setting, p, feed));
                fake.gpu->when = fake_gpu::schedule::late;
                const auto got = fake.walk();
                EXPECT_EQ(priced(got, expected), jobs);
                // In mixed precision the basket with uniforms is left out too: its shocks have two types.
                const std::size_t of_matrix = p == precision::mixed ? jobs - 2 : jobs - 1;
                const std::string_view said = setting;
                const std::size_t ahead = said == "kernel" ? 0 : said == "auto" ? large_jobs : of_matrix;
                EXPECT_EQ(fake.separated_count(), ahead);
                EXPECT_EQ(fake.launches["correlate"], static_cast<int>(ahead));
                EXPECT_EQ(got.launches, static_cast<std::size_t>(fake.launches["walk"]));
            }
        }
    }
}

TEST(moves_walk, keeps_moves_until_they_are_read) {
    static const planned_book small({2, 3, 4});
    gpu_run run = run_of(small, "matrix");
    run.paths = 5 * kernels::paths_per_tile;
    const auto expected = small.on_cpu(run);
    for (std::uint32_t dice = 1; dice < 30; ++dice) {
        fake_run fake(run);
        fake.run.memory_bytes = 50000 + dice % 5 * 600000;
        fake.gpu->when = fake_gpu::schedule::by_dice;
        fake.gpu->dice = dice;
        EXPECT_EQ(priced(fake.walk(), expected), small.jobs().size()) << dice;
    }
}

const planned_book& book_with_scenarios() {
    static const planned_book one({1, 2, 5, 24}, true);
    return one;
}

TEST(moves_walk_of_scenarios, gives_the_bits_of_the_cpu) {
    const auto& all = book_with_scenarios();
    for (const auto p : {precision::double_, precision::single, precision::mixed}) {
        const auto expected = all.on_cpu(run_of(all, "auto", p));
        for (const char* setting : {"kernel", "auto", "matrix"}) {
            for (const char* feed : {"inline", "unroll"}) {
                SCOPED_TRACE(testing::Message() << static_cast<int>(p) << ", " << setting << ", " << feed);
                fake_run fake(run_of(all, setting, p, feed));
                fake.gpu->when = fake_gpu::schedule::late;
                EXPECT_EQ(priced(fake.walk(), expected), all.jobs().size());
                // If moves can have the type of scenarios, they are computed ahead for all trades but the
                // barrier.
                const bool is_matrix = std::string_view(setting) == "matrix";
                if (is_matrix && p != precision::mixed) {
                    EXPECT_EQ(fake.separated_count(), all.jobs().size() - 1);
                }
                if (p == precision::mixed) {
                    EXPECT_EQ(fake.separated_count(), 0U);
                }
            }
        }
    }
}

TEST(moves_walk_of_scenarios, gives_the_same_bits_in_any_chunks_on_any_devices) {
    static const planned_book small({1, 2}, true);
    gpu_run run = run_of(small, "kernel");
    run.paths = scenario_paths - 5;
    const auto expected = small.on_cpu(run);
    run.memory_bytes = 1;
    std::size_t of_one_tile = 0;
    {
        fake_run fake(run);
        EXPECT_EQ(priced(fake.walk(), expected), small.jobs().size());
        of_one_tile = fake.gpu->most_bytes;
    }
    std::set<int> launches;
    for (const std::size_t tiles : {1u, 2u, 3u, 5u, 9u}) {
        fake_run fake(run);
        fake.run.memory_bytes = tiles * of_one_tile;
        fake.gpu->when = fake_gpu::schedule::by_dice;
        fake.gpu->dice = static_cast<std::uint32_t>(tiles);
        EXPECT_EQ(priced(fake.walk(), expected), small.jobs().size());
        EXPECT_LE(fake.gpu->most_bytes, fake.run.memory_bytes);
        launches.insert(fake.launches["walk"]);
    }
    EXPECT_GE(launches.size(), 3u) << "the runs were not cut differently";
    for (const std::size_t devices : {2u, 3u}) {
        fake_run fake(run);
        EXPECT_EQ(priced(fake.walk(devices), expected), small.jobs().size());
    }
}

TEST(moves_walk_of_scenarios, rows_are_shared_by_trades) {
    const auto& all = book_with_scenarios();
    const packed_trades packed = pack(all.jobs(), number_type::double_);
    std::set<scenario_row> rows(packed.scenarios.begin(), packed.scenarios.end());
    EXPECT_EQ(rows.size(), packed.scenarios.size());
    EXPECT_EQ(all.scenarios().size(), 1u) << "two assets have one file";
    EXPECT_LE(rows.size(), scenario_times);
    EXPECT_GE(rows.size(), 3u);
}

TEST(moves_walk_of_scenarios, threads_pack_what_one_packs) {
    const auto& all = book_with_scenarios();
    std::vector<run::job> many;
    while (many.size() < 700) many.push_back(all.jobs()[many.size() * many.size() % all.jobs().size()]);
    const auto same_record = [](const kernels::trade_record& a, const kernels::trade_record& b) {
        return a.numbers_at == b.numbers_at && a.words_at == b.words_at && a.steps == b.steps &&
               a.result == b.result;
    };
    for (const number_type type : {number_type::double_, number_type::single_}) {
        const packed_trades alone = pack(many, type), together = pack(many, type, 5);
        EXPECT_EQ(together.numbers, alone.numbers);
        EXPECT_EQ(together.words, alone.words);
        EXPECT_EQ(together.scenarios, alone.scenarios);
        EXPECT_EQ(together.results, alone.results);
        EXPECT_TRUE(std::ranges::equal(together.records, alone.records, same_record));
        for (std::size_t j = 0; j < many.size(); ++j) {
            const packed_trades one = pack({&many[j], 1}, type);
            const auto own = together.numbers_of(j);
            EXPECT_TRUE(
                std::ranges::equal(own.first(std::min(own.size(), one.numbers.size())),
                                   std::span(one.numbers).first(std::min(own.size(), one.numbers.size()))))
                << j;
        }
    }
}

TEST(moves_walk, stays_within_its_memory) {
    static const planned_book small({2, 6});
    gpu_run run = run_of(small, "matrix");
    run.paths = 9 * kernels::paths_per_tile;
    const auto expected = small.on_cpu(run);
    run.memory_bytes = 1;
    std::size_t of_one_tile = 0;
    {
        fake_run fake(run);
        EXPECT_EQ(priced(fake.walk(), expected), small.jobs().size());
        of_one_tile = fake.gpu->most_bytes;
    }
    std::set<int> fills;
    for (const std::size_t tiles : {1u, 2u, 3u, 5u, 9u}) {
        fake_run fake(run);
        fake.run.memory_bytes = tiles * of_one_tile;
        EXPECT_EQ(priced(fake.walk(), expected), small.jobs().size());
        EXPECT_LE(fake.gpu->most_bytes, fake.run.memory_bytes);
        fills.insert(fake.launches["fill"]);
    }
    EXPECT_GE(fills.size(), 3u) << "the runs were not cut differently";
    // A device that has less memory than it says is free.
    for (std::size_t memory = of_one_tile; memory < 10 * of_one_tile; memory += of_one_tile / 2) {
        fake_run fake(run);
        fake.run.memory_bytes = 0;
        fake.gpu->said_free = std::size_t{1} << 40;
        fake.gpu->memory_bytes = memory;
        EXPECT_EQ(priced(fake.walk(), expected), small.jobs().size()) << memory;
    }
}

TEST(moves_walk, a_kernel_that_does_not_compile_fails_its_own_trades) {
    static const planned_book small({2, 20});
    const gpu_run run = run_of(small, "matrix");
    const auto expected = small.on_cpu(run);
    fake_run fake(run);
    fake.compiler.refuses = [bad_text = correlation_text(best_correlation_variant(20), precision::double_)](
                                const std::string& text) { return text == bad_text; };
    const auto got = fake.walk();
    EXPECT_EQ(priced(got, expected), small.jobs().size() - 2);
    for (const std::size_t j : {2u, 3u}) {
        ASSERT_TRUE(got.failures[j]);
        EXPECT_EQ(got.failures[j]->kind(), error_kind::compile);
    }
}

void expect_to_survive_every_failure(const planned_book& small, const char* correlation) {
    gpu_run run = run_of(small, correlation);
    run.memory_bytes = 1;
    const auto expected = small.on_cpu(run);
    std::map<std::string, int> calls;
    {
        fake_run fake(run);
        fake.walk();
        calls = fake.gpu->calls;
    }
    std::map<std::size_t, int> outcomes;
    for (const auto& [call, count] : calls) {
        for (int nth = 1; nth <= count; ++nth) {
            for (const auto failure :
                 {device_failure::out_of_memory, device_failure::lost, device_failure::refused}) {
                SCOPED_TRACE(testing::Message()
                             << call << " number " << nth << " fails with " << static_cast<int>(failure));
                fake_run fake(run);
                fake.gpu->when = fake_gpu::schedule::late;
                fake.gpu->failures = {{call, nth, failure}};
                const auto got = fake.walk();
                outcomes[priced(got, expected)] += 1;
                for (const auto& f : got.failures) {
                    if (f) {
                        EXPECT_EQ(f->kind(), error_kind::device) << f->what();
                    }
                }
            }
        }
    }
    EXPECT_GT(outcomes[0], 0);
    EXPECT_GT(outcomes[small.jobs().size()], 0);
}

TEST(moves_walk, survives_every_call_of_the_device_that_fails) {
    expect_to_survive_every_failure(planned_book({2, 3}), "matrix");
}

TEST(moves_walk_of_scenarios, survives_every_call_of_the_device_that_fails) {
    expect_to_survive_every_failure(planned_book({1, 2}, true), "kernel");
}

// A replayed file has more shocks a step than a trade takes.
TEST(moves_walk, takes_the_shocks_of_a_file) {
    static const planned_book small({2, 5});
    gpu_run run = run_of(small, "matrix", precision::double_, "none");
    constexpr std::uint64_t steps = 4, slots = 7, uniform_slots = 3;
    std::vector<double> normals(steps * slots * run.paths), uniforms(steps * uniform_slots * run.paths);
    for (std::size_t i = 0; i < normals.size(); ++i) normals[i] = std::sin(static_cast<double>(i));
    for (std::size_t i = 0; i < uniforms.size(); ++i)
        uniforms[i] = 0.5 + 0.49 * std::sin(static_cast<double>(i));
    const tests::own_folder folder;
    const auto file = folder / "shocks";
    arrays::write_shocks<double>(file, {steps, slots, uniform_slots, run.paths, normals, uniforms});
    {
        const arrays::shock_file shocks(file, arrays::element::double_);
        run.replay = &shocks;
        fake_run fake(run);
        EXPECT_EQ(priced(fake.walk(), small.on_cpu(run)), small.jobs().size());
        EXPECT_GT(fake.launches["correlate"], static_cast<int>(small.jobs().size()));
    }
}

TEST(moves_walk, kernels_ahead_of_a_run_are_those_of_the_run) {
    const auto& jobs = the_book().jobs();
    for (const char* setting : {"auto", "matrix", "kernel"}) {
        fake_run fake(run_of(the_book(), setting));
        std::set<std::string> names, warmed;
        for (const auto& needed : kernels_of(jobs, fake.run.how, setting)) {
            EXPECT_TRUE(names.insert(needed.name).second) << needed.name;
            warmed.insert(needed.text);
        }
        for (const auto& [text, does] : kernels_of_run(fake.run, fake.separated)) {
            if (text.find("draw_shocks") == std::string::npos) {
                EXPECT_TRUE(warmed.erase(text)) << text;
            }
        }
        EXPECT_TRUE(warmed.empty());
    }
}

// Moves of few factors are read through a ring in shared memory, moves of many without; an explicit setting
// is kept.
TEST(moves_walk, reads_moves_through_the_feed_of_the_run) {
    kernel_wish how;
    EXPECT_EQ(feed_of(wish_that_reads_moves(how, 2)).name, "smem_rolling_async");
    EXPECT_TRUE(wish_that_reads_moves(how, 2).is_open());
    EXPECT_EQ(wish_that_reads_moves(how, 40).feed, "none");
    how.feed = "inline";  // as if a user had set it
    EXPECT_EQ(wish_that_reads_moves(how, 2).feed, "smem_rolling_async");
    EXPECT_FALSE(wish_that_reads_moves(how, 2).is_open());
    EXPECT_EQ(wish_that_reads_moves(how, 40).feed, "none");
    how.feed = "register_rolling";
    EXPECT_EQ(wish_that_reads_moves(how, 40), how);
    how.precision = precision::mixed;
    how.space = "mapped";
    EXPECT_EQ(wish_that_reads_moves(how, 40).precision, precision::double_);
    EXPECT_EQ(wish_that_reads_moves(how, 40).space, "read_only");
}

// A run whose shocks come from arrays too large for memory, so that it is walked in chunks.
gpu_run run_in_chunks(const planned_book& of, const char* correlation) {
    gpu_run run = run_of(of, correlation, precision::double_, "unroll");
    run.paths = 7 * kernels::paths_per_tile + 5;
    return run;
}

// Notes before each `fill` kernel how many downloads there were, and so the chunk: each ends with a download.
void note_fills(fake_run& fake, std::vector<int>& downloads) {
    fake.gpu->kernel = [&fake, &downloads, does = fake.gpu->kernel](const std::string& text,
                                                                    const std::string& name, const launch& l,
                                                                    std::span<void*> arguments) {
        if (name == "fill") downloads.push_back(fake.gpu->calls["download"]);
        return does(text, name, l, arguments);
    };
}

// How many `fill` kernels a chunk takes: one for each stream, shared by trades with equal streams and slots.
std::size_t fills_of_chunk(const planned_book& of) {
    using shocks = std::tuple<bool, std::vector<std::uint32_t>, std::vector<std::string>>;
    std::set<shocks> all;
    for (const run::job& j : of.jobs()) {
        const auto names = [](const std::vector<program::stream_name>& streams) {
            std::vector<std::string> out;
            for (const auto& s : streams) out.push_back(s.text);
            return out;
        };
        all.emplace(true, j.code->normal_streams, names(j.data->normal_names));
        all.emplace(false, j.code->uniform_streams, names(j.data->uniform_names));
    }
    std::size_t out = 0;
    for (const auto& [is_normal, slots, names] : all) out += names.size();
    return out;
}

std::size_t bytes_at_once(const gpu_run& run, std::vector<int>& downloads) {
    fake_run fake(run);
    note_fills(fake, downloads);
    fake.walk();
    return fake.gpu->most_bytes;
}

// The fake GPU does work in any order that streams and events permit, so a cube that is filled while a chunk
// reads it, or read before it is filled, would show.
TEST(moves_walk_shocks_made_ahead, are_there_when_they_are_read_and_not_before) {
    static const planned_book small({2, 3});
    const std::size_t fills = fills_of_chunk(small);
    for (const char* correlation : {"kernel", "matrix"}) {
        const gpu_run run = run_in_chunks(small, correlation);
        const auto expected = small.on_cpu(run);
        std::vector<int> downloads;
        const std::size_t all = bytes_at_once(run, downloads);
        EXPECT_EQ(*std::max_element(downloads.begin(), downloads.end()), 0) << "one chunk";
        int most_chunks = 0;
        for (std::uint32_t dice = 0; dice < 24; ++dice) {
            fake_run fake(run);
            fake.run.memory_bytes = all * (3 + dice % 5) / 10;
            fake.gpu->when = dice < 4 ? fake_gpu::schedule::late : fake_gpu::schedule::by_dice;
            fake.gpu->dice = dice;
            downloads.clear();
            note_fills(fake, downloads);
            EXPECT_EQ(priced(fake.walk(), expected), small.jobs().size()) << dice;
            EXPECT_LE(fake.gpu->most_bytes, fake.run.memory_bytes) << dice;
            const int chunks = fake.gpu->calls["download"];
            ASSERT_EQ(downloads.size(), fills * static_cast<std::size_t>(chunks));
            most_chunks = std::max(most_chunks, chunks);
            for (std::size_t f = 0; f < downloads.size(); ++f)
                EXPECT_EQ(downloads[f], std::max(0, static_cast<int>(f / fills) - 1)) << dice;
        }
        EXPECT_GE(most_chunks, 4);
    }
}

TEST(moves_walk_shocks_made_ahead, take_memory_only_where_there_are_chunks) {
    static const planned_book small({2, 3});
    gpu_run run = run_in_chunks(small, "kernel");
    const auto expected = small.on_cpu(run);
    std::vector<int> downloads;
    run.memory_bytes = 1;
    const std::size_t of_one_tile = bytes_at_once(run, downloads);
    const std::size_t fills = fills_of_chunk(small);
    EXPECT_EQ(downloads.size(), fills * kernels::tiles_of(run.paths));
    for (std::size_t f = 0; f < downloads.size(); ++f) {
        EXPECT_EQ(downloads[f], static_cast<int>(f / fills))
            << "a tile at a time has no room for a second set";
    }
    run.memory_bytes = 0;
    const std::size_t all = bytes_at_once(run, downloads);
    EXPECT_LE(all, 8 * of_one_tile);
    // A device that has less memory than it says is free.
    for (std::size_t memory = of_one_tile; memory < all; memory += all / 8) {
        fake_run fake(run);
        fake.gpu->said_free = all * 4 / 5;
        fake.gpu->memory_bytes = memory;
        EXPECT_EQ(priced(fake.walk(), expected), small.jobs().size()) << memory;
    }
}

TEST(moves_walk_shocks_made_ahead, survive_every_call_of_the_device_that_fails) {
    static const planned_book small({2, 3});
    gpu_run run = run_in_chunks(small, "kernel");
    const auto expected = small.on_cpu(run);
    std::vector<int> downloads;
    run.memory_bytes = bytes_at_once(run, downloads) / 2;
    std::map<std::string, int> calls;
    {
        fake_run fake(run);
        fake.walk();
        calls = fake.gpu->calls;
    }
    std::map<std::size_t, int> outcomes;
    for (const auto& [call, count] : calls) {
        for (int nth = 1; nth <= count; nth += 1 + count / 25) {
            for (const auto failure : {device_failure::out_of_memory, device_failure::lost}) {
                SCOPED_TRACE(testing::Message()
                             << call << " number " << nth << " fails with " << static_cast<int>(failure));
                fake_run fake(run);
                fake.gpu->when = fake_gpu::schedule::late;
                fake.gpu->failures = {{call, nth, failure}};
                outcomes[priced(fake.walk(), expected)] += 1;
            }
        }
    }
    EXPECT_GT(outcomes[0], 0);
    EXPECT_GT(outcomes[small.jobs().size()], 0);
}

TEST(moves_walk_shocks_made_ahead, come_from_a_file_too) {
    static const planned_book small({2, 3});
    gpu_run run = run_in_chunks(small, "kernel");
    constexpr std::uint64_t steps = 4, slots = 3, uniform_slots = 2;
    std::vector<double> normals(steps * slots * run.paths), uniforms(steps * uniform_slots * run.paths);
    for (std::size_t i = 0; i < normals.size(); ++i) normals[i] = std::sin(static_cast<double>(i));
    for (std::size_t i = 0; i < uniforms.size(); ++i)
        uniforms[i] = 0.5 + 0.49 * std::sin(static_cast<double>(i));
    const tests::own_folder folder;
    const auto file = folder / "shocks";
    arrays::write_shocks<double>(file, {steps, slots, uniform_slots, run.paths, normals, uniforms});
    {
        const arrays::shock_file shocks(file, arrays::element::double_);
        run.replay = &shocks;
        const auto expected = small.on_cpu(run);
        std::vector<int> downloads;
        const std::size_t all = bytes_at_once(run, downloads);
        for (const char* space : {"global", "mapped"}) {
            for (std::uint32_t dice = 0; dice < 20; ++dice) {
                fake_run fake(run);
                fake.run.how.space = space;
                fake.run.memory_bytes = all / 2;
                fake.gpu->when = dice == 0 ? fake_gpu::schedule::late : fake_gpu::schedule::by_dice;
                fake.gpu->dice = dice;
                EXPECT_EQ(priced(fake.walk(), expected), small.jobs().size()) << space << ", " << dice;
                EXPECT_GE(fake.gpu->calls["download"], 3);
            }
        }
    }
}

TEST(moves_walk, the_same_bits_on_a_gpu) {
    const device_survey survey = survey_devices();
    std::string device, why = survey.why_none;
    for (const auto& d : survey.devices) {
        if (d.why_not.empty()) device = std::to_string(d.properties.index);
        why += d.why_not;
    }
    if (device.empty()) {
        ASSERT_EQ(std::getenv("TILEWALK_REQUIRE_GPU"), nullptr) << why;
        GTEST_SKIP() << "no GPU: " << why;
    }
    const engine pricer;
    const book small = book::parse(book_of({2, 3, 7, 16, 20})), large = book::parse(book_of({24, 33, 40}));
    std::size_t compared = 0;
    const auto compare = [&](const book& of, run_settings with) {
        run_options options;
        options.overrides = with;
        options.overrides.paths = 20 * kernels::paths_per_tile + 77;
        options.overrides.device = "cpu";
        const results expected = pricer.price(of, options);
        for (const char* setting : {"kernel", "matrix"}) {
            // Only in double precision: kernels with the product of many factors take minutes to compile.
            if (&of == &large && std::string_view(setting) == "kernel" &&
                with.precision != precision::double_)
                continue;
            for (const char* memory : {"0", "64MiB"}) {
                options.overrides.device = device;
                options.overrides.correlation = setting;
                options.overrides.memory_bytes = *memory == '0' ? 0 : std::uint64_t{64} << 20;
                const results got = pricer.price(of, options);
                ASSERT_EQ(got.manifest.devices.size(), 1u);
                for (std::size_t i = 0; i < got.rows.size(); ++i) {
                    const auto &a = expected.rows[i], &b = got.rows[i];
                    ++compared;
                    ASSERT_EQ(b.status, trade_status::priced) << b.trade << ": " << b.message;
                    EXPECT_EQ(std::bit_cast<word64>(a.price), std::bit_cast<word64>(b.price)) << b.trade;
                    EXPECT_EQ(std::bit_cast<word64>(a.standard_error),
                              std::bit_cast<word64>(b.standard_error))
                        << b.trade;
                }
            }
        }
    };
    for (const char* precision : {"double", "single", "mixed"}) {
        run_settings with;
        with.precision = tests::named{precision};
        for (const char* feed : {"inline", "smem_rolling_async", "none"}) {
            with.prefetch = feed;
            with.distance = 2;  // steps ahead: its ring has room for 20 shocks
            compare(small, with);
        }
        with.prefetch = "auto";
        compare(large, with);
    }
    std::printf("%zu prices and standard errors compared\n", compared);
}

}  // namespace
}  // namespace tilewalk::cuda::moves_walk_test
