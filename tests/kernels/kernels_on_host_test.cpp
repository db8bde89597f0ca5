// SPDX-License-Identifier: Apache-2.0
// Path kernels run on the host (tests/host_kernel.h): those of the library's products and of hand-made books
// are built with the host's compiler, and each tile has the bits of the CPU's walk. Feeds with asynchronous
// copies are left to feeds_test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/numerics/quasi/directions.h"
#include "engine/numerics/quasi/normal_tables.h"
#include "engine/numerics/quasi/order.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/arrays/shock_file.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cpu/lane_program.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/paths/packed_trades.h"
#include "kernels/draws.h"
#include "kernels/tile.h"
#include "products/program/integrate.h"
#include "products/program/mirror.h"
#include "tests/host_kernel.h"
#include "tests/many_blocks.h"
#include "tests/scenario_file.h"
#include "tests/surface_program.h"
#include "tests/whole.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::kernels_on_host_test {

namespace {

using cuda::kernel_decision;
using cuda::kernel_wish;
using kernels::word64;
using program::precision;

using tests::host_kernel;
using tests::replaced_once;

const char* const market_text = R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.2, dividend_yield: 0.01}
    B: {currency: USD, spot: 50, volatility: 0.3}
    C: {currency: USD, spot: 10, volatility: 0.25}
    S: {currency: USD, spot: 100, volatility: {scenarios: FILE, times: [0.2, 0.7, 2.5]}}
    J: {currency: USD, spot: 100, model: {cgmy: {C: 0.3, G: 8, M: 16, Y: 0.9}}}
  correlations: [[A, B, 0.5], [A, C, 0.3], [B, C, -0.2], [A, S, 0.4], [A, J, 0.5]]
products:
)";

struct walked_trade {
    std::string name, text;
};
const tests::many_blocks& many() {
    static const tests::many_blocks one = tests::of_many_blocks(40, "A");
    return one;
}
const std::vector<walked_trade>& trades() {
    static const std::vector<walked_trade> all = {
        {"many_blocks", many().trades.substr(4)},
        {"european", "{id: t, product: european, underlying: A, strike: 105, maturity: 1.0}"},
        {"digital", "{id: t, product: digital, underlying: A, strike: 105, maturity: 1.0}"},
        // Dates on which kernels group steps: full groups, the remainder of a group, and dates too sparse for
        // a group.
        {"asian_12",
         "{id: t, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: "
         "12}}"},
        {"asian_7",
         "{id: t, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: "
         "7}}"},
        {"worst_of_with_jumps",
         "{id: t, product: worst_of, basket: [A, J], initial_level: [100, 100], option: put, strike: 1, "
         "notional: 1000, maturity: 1.0}"},
        {"asian_with_jumps",
         "{id: t, product: asian, underlying: J, strike: 100, averaging_dates: {start: 0, end: 1, count: "
         "7}}"},
        {"barrier",
         "{id: t, product: barrier, underlying: A, strike: 100, maturity: 1.0, direction: down, barrier: 85, "
         "rebate: 2, rebate_paid: at_hit}"},
        {"autocallable",
         "{id: t, product: autocallable, basket: [A, B, C], initial_level: [100, 50, 10], "
         "observations: {start: 0, end: 2, count: 9}, coupon: 0.1, protection: 0.6, notional: 1000}"},
        {"variance_swap",
         "{id: t, product: variance_swap, underlying: A, fixings: {start: 0, end: 1, count: 6}, strike: "
         "0.2, notional: 100}"},
        {"asian_on_a_mean",
         "{id: t, product: asian, underlying: A, mean: geometric, averaging_dates: [0.5, 1.0], weights: [1, "
         "3], "
         "strike_dates: [0.1, 0.2, 0.3], strike_weights: [1, 2, 1]}"},
        {"gap_option",
         "{id: t, product: gap_option, underlying: A, strike: 105, trigger: 95, maturity: 1.0}"},
        {"partial_barrier",
         "{id: t, product: partial_barrier, underlying: A, watched: B, strike: 100, maturity: 1.0, "
         "direction: either, "
         "barrier: 48, monitoring_start: 0.25, monitoring_end: 0.75, rebate: 2}"},
        {"barrier_digital",
         "{id: t, product: barrier_digital, underlying: A, strike: 100, pays: asset, maturity: 1.0, "
         "direction: up, "
         "kind: knock_in, barrier: 110}"},
        {"soft_barrier",
         "{id: t, product: soft_barrier, underlying: A, strike: 100, maturity: 1.0, lower: 80, upper: 95}"},
        {"parisian",
         "{id: t, product: parisian, underlying: A, strike: 100, maturity: 1.0, direction: down, barrier: "
         "97, "
         "window: 0.2, elapsed: 0.05, rebate: 2}"},
        {"cumulative_parisian",
         "{id: t, product: cumulative_parisian, underlying: A, strike: 100, maturity: 1.0, direction: up, "
         "kind: knock_in, barrier: 105, window: 0.3}"},
        {"step_option",
         "{id: t, product: step_option, underlying: A, strike: 100, maturity: 1.0, direction: down, barrier: "
         "97, knock_out_rate: 3, longest_step: 0.1}"},
        {"corridor_accrual",
         "{id: t, product: corridor_accrual, underlying: A, lower: 90, upper: 110, maturity: 1.0, coupon: "
         "0.1}"},
        {"continuous_asian",
         "{id: t, product: continuous_asian, underlying: A, strike: 100, maturity: 1.0, longest_step: 0.1}"},
        {"double_barrier",
         "{id: t, product: double_barrier, underlying: A, strike: 100, maturity: 1.0, lower: 80, upper: 120, "
         "rebate: 5, "
         "rebate_paid: at_hit, longest_step: 0.1}"},
        {"one_touch",
         "{id: t, product: one_touch, underlying: A, direction: up, barrier: 110, pays: asset, paid: at_hit, "
         "maturity: 1.0}"},
        {"double_touch",
         "{id: t, product: double_touch, underlying: A, lower: 80, upper: 120, maturity: 1.0}"},
        {"lookback",
         "{id: t, product: lookback, underlying: A, strike_factor: 1.05, monitoring_end: 0.5, maturity: "
         "1.0}"},
        {"forward_start",
         "{id: t, product: forward_start, underlying: A, strike_date: 0.5, pays: performance, maturity: "
         "1.0}"},
        {"cliquet",
         "{id: t, product: cliquet, underlying: A, fixings: {start: 0, end: 1, count: 4, include_start: "
         "true}, "
         "local_floor: -0.05, local_cap: 0.1, global_floor: 0, global_cap: 0.3}"},
        {"chooser", "{id: t, product: chooser, underlying: A, strike: 100, choice_date: 0.5, maturity: 1.0}"},
        {"complex_chooser",
         "{id: t, product: complex_chooser, underlying: A, choice_date: 0.5, call_strike: 105, "
         "call_maturity: 1.0, "
         "put_strike: 95}"},
        {"compound",
         "{id: t, product: compound, underlying: A, option: put, strike: 8, maturity: 0.5, "
         "underlying_strike: 100, "
         "underlying_maturity: 1.0}"},
        {"extensible_option",
         "{id: t, product: extensible_option, underlying: A, extended_by: writer, strike: 105, maturity: "
         "0.5, "
         "extended_maturity: 1.0}"},
        {"asian_by_path",
         "{id: t, product: asian, underlying: S, strike: 100, averaging_dates: {start: 0, end: 1, count: "
         "7}}"},
        {"autocallable_by_path",
         "{id: t, product: autocallable, basket: [S, A], initial_level: 100, observations: {start: 0, end: "
         "2, "
         "count: 5}, coupon: 0.1, protection: 0.6, notional: 1000}"},
    };
    return all;
}

struct planned_trade {
    book of;  // the book, whose market holds the scenarios
    plan::trade_program program;
    std::vector<arrays::shock_cube> scenarios;
};

const planned_trade& planned(const std::string& name) {
    static const tests::scenario_file file(3, 4 * kernels::paths_per_tile);
    static std::map<std::string, planned_trade> known;
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    for (const walked_trade& t : trades()) {
        if (t.name != name) continue;
        const std::string market = replaced_once(market_text, "FILE", file.name());
        book b = book::parse(market + many().products + "trades:\n  - " + t.text + "\n");
        const auto& trade = state_of(b).trades.at(0);
        if (trade.failure) throw *trade.failure;
        const auto& state = state_of(*b.market());
        plan::trade_program p = plan::plan_trade(trade, state);
        auto scenarios = state.scenario_cubes();
        return known.emplace(name, planned_trade{std::move(b), std::move(p), std::move(scenarios)})
            .first->second;
    }
    throw std::logic_error("no trade " + name);
}

constexpr word64 seed = 7;
constexpr std::uint64_t paths = 2 * kernels::paths_per_tile + 300;  // the last tile is partial

// A cube of shocks as fill kernels leave it: `rows_before` rows of other trades, here NaN, then a row for
// each slot of each step.
template <class draws>
std::vector<typename draws::shock> cube(std::size_t rows_before, std::size_t steps, int per_step,
                                        const std::vector<std::uint32_t>& streams,
                                        const std::vector<program::stream_name>& names, bool normal,
                                        std::uint64_t pitch) {
    using shock = typename draws::shock;
    constexpr std::size_t per_block = draws::per_block;
    const auto slots = program::places_in_streams(streams, per_step);
    std::vector<shock> out(rows_before * pitch, kernels::format<shock>::nan);
    out.reserve((rows_before + steps * slots.size()) * pitch);
    for (std::size_t step = 0; step < steps; ++step) {
        for (const program::place_in_stream& p : slots) {
            const std::size_t number = step * p.dimensions + p.dimension;
            const auto block = static_cast<kernels::word32>(number / per_block);
            const kernels::stream_key key = kernels::stream_key_of(program::key_of(names, p.stream));
            for (std::uint64_t path = 0; path < pitch; ++path) {
                const auto got =
                    normal ? draws::normals(seed, path, block, key) : draws::uniforms(seed, path, block, key);
                out.push_back(got.x[number % per_block]);
            }
        }
    }
    return out;
}

struct walked_program {
    const program::path_program& code;
    const program::path_data& data;
    const program::timeline& when;
    const std::vector<arrays::shock_cube>& scenarios;
};

template <class shock>
struct made_points {
    std::vector<kernels::made_point> all;
    std::vector<kernels::word32> directions;

    explicit made_points(const quasi::order& of) : all(kernels::points_of_trade) {
        for (std::size_t n = 0; n < of.steps() * of.normals(); ++n) {
            const std::size_t slot = n % of.normals();
            all.at(n) = {of.normal_slots()[slot].key, of.dimension_of_normal(n / of.normals(), slot), 0};
        }
        const auto of_all = quasi::directions(kernels::points_of_trade);
        directions.assign(of_all.begin(), of_all.end());
    }
    void point(kernels::path_arguments& a) const {
        a.made_points = all.data();
        a.directions = directions.data();
        a.normals_of_points = &quasi::normal_table<shock>();
        a.paths_of_randomisation = paths_of_randomisation;
    }
    static constexpr std::uint64_t paths_of_randomisation = kernels::paths_per_tile;
};

// Compares each tile of a host kernel with the CPU's walk. Given `points`, shocks are quasi-random.
template <class draws>
void expect_bits(const walked_program& t, const kernel_decision& how, const quasi::order* points) {
    const run::job job{&t.code, &t.data, &t.when};
    auto packed = cuda::pack({&job, 1}, program::real_type(how.precision));
    ASSERT_FALSE(packed.failures[0]);
    // Memory aligned to 16 bytes, as on a device.
    std::vector<kernels::neighbours<kernels::word32, 4>> numbers(packed.numbers.size() / 16 + 1),
        words(packed.words.size() / 4 + 1);
    std::memcpy(numbers.data(), packed.numbers.data(), packed.numbers.size());
    std::memcpy(words.data(), packed.words.data(), packed.words.size() * sizeof(kernels::word32));
    const std::uint64_t tiles = kernels::tiles_of(paths), pitch = tiles * kernels::paths_per_tile;
    const int n = t.code.normals_per_step, u = t.code.uniforms_per_step;
    const bool from_arrays = how.feed != "inline";
    const std::size_t steps = from_arrays ? t.when.steps() : 0;
    packed.records[0].normal_row = 3;
    packed.records[0].uniform_row = 2;
    const auto normals = cube<draws>(3, steps, n, t.code.normal_streams, t.data.normal_names, true, pitch);
    const auto uniforms =
        cube<draws>(2, steps, u, t.code.uniform_streams, t.data.uniform_names, false, pitch);
    std::vector<typename draws::shock> scenarios(packed.scenarios.size() * pitch);
    for (std::size_t r = 0; r < packed.scenarios.size(); ++r) {
        const auto& [array, row] = packed.scenarios[r];
        arrays::copy_row(t.scenarios[array], row, 0, 0, paths, scenarios.data() + r * pitch);
    }
    const std::size_t outputs = t.code.results();
    std::vector<kernels::tile_result> results(outputs * tiles), merged(outputs);
    std::vector<kernels::word32> finished(outputs);
    kernels::path_arguments a{};
    a.trades = packed.records.data();
    a.numbers = numbers.data();
    a.words = words[0].x;
    a.results = results.data();
    a.merged = merged.data();
    a.finished = finished.data();
    a.seed = seed;
    a.keys = kernels::schedule_of(seed);
    a.paths = paths;
    a.trade_count = 1;
    a.tiles = static_cast<kernels::word32>(tiles);
    a.part_tiles = a.tiles;
    a.normal.first = normals.data();
    a.normal.step_stride = static_cast<word64>(n) * pitch;
    a.normal.slot_stride = pitch;
    a.uniform.first = uniforms.data();
    a.uniform.step_stride = static_cast<word64>(u) * pitch;
    a.uniform.slot_stride = pitch;
    a.scenario.first = scenarios.data();
    a.scenario.step_stride = a.scenario.slot_stride = pitch;
    std::optional<made_points<typename draws::shock>> made;
    if (points != nullptr) {
        made.emplace(*points);
        made->point(a);
        packed.records[0].normal_row = 0;
    }
    host_kernel(cuda::path_kernel_text(t.code, how))
        .run("walk", static_cast<unsigned>(tiles), static_cast<unsigned>(how[cuda::knobs::block]), a);

    const cpu::lane_program code = cpu::compile(t.code);
    std::vector<cpu::path_job> jobs{{&code, &t.data, &t.when, seed, paths, how.precision}};
    jobs[0].scenarios = t.scenarios;
    if (points != nullptr) jobs[0].points = {points, made->paths_of_randomisation};
    const run::tally walked =
        cpu::walk_all(jobs, *cpu::runnable_instruction_sets().sets[0], 1, nullptr, {}).at(0);
    for (std::size_t o = 0; o < outputs; ++o) {
        SCOPED_TRACE("row " + std::to_string(o) + " of the results");
        const kernels::tile_result expected = walked.whole(o);
        const kernels::tile_result* r = results.data() + o * tiles;
        // Tiles merge along the fixed tree, in which the first two of three tiles are a subtree.
        const bool is_merged = cuda::reduction_named(how.reduction).merges_tiles;
        const kernels::tile_result got =
            is_merged ? merged[o] : kernels::merge(kernels::merge(r[0], r[1]), r[2]);
        EXPECT_TRUE(o > 0 || expected.not_finite > 0 || expected.moments.m2 > 0)
            << "paths that all pay the same would show nothing";
        EXPECT_EQ(got.not_finite, expected.not_finite);
        if (expected.not_finite > 0) {
            EXPECT_EQ(got.first_not_finite, expected.first_not_finite);
        }
        for (const auto part :
             {&kernels::moments::mean, &kernels::moments::m2, &kernels::moments::m3, &kernels::moments::m4}) {
            EXPECT_EQ(std::bit_cast<std::uint64_t>(got.moments.*part),
                      std::bit_cast<std::uint64_t>(expected.moments.*part));
        }
    }
}

void expect_bits(const walked_program& t, const kernel_decision& how, const quasi::order* points = nullptr) {
    how.precision == precision::double_ ? expect_bits<kernels::double_draws>(t, how, points)
                                        : expect_bits<kernels::single_draws>(t, how, points);
}

void expect_bits_of(const std::string& trade, const kernel_decision& how) {
    SCOPED_TRACE(fmt::format("{}, {}, feed {}, width {}, block {}, rows in {}", trade,
                             program::name_of(how.precision), how.feed, how[cuda::knobs::width],
                             how[cuda::knobs::block], how.row_space));
    const planned_trade& t = planned(trade);
    expect_bits({t.program.code, t.program.data, t.program.when, t.scenarios}, how);
}

// The kernel of a run that sets only the precision, but with blocks of two warps, so that few threads start.
kernel_decision usual(const program::path_program& code, precision in) {
    kernel_wish asked;
    asked.precision = in;
    asked[cuda::knobs::block] = 64;
    return cuda::decide(asked, code, [](const kernel_decision&, int) { return true; });
}
kernel_decision usual(const std::string& trade, precision in) {
    return usual(planned(trade).program.code, in);
}

// The words of a packed trade, read by kernels/arguments.h alone, list what follows each step of its path.
TEST(kernels_on_host_packed_trades, list_the_events_of_many_blocks) {
    for (const int blocks : {40, 100}) {
        const tests::many_blocks many = tests::of_many_blocks(blocks, "A");
        const tests::scenario_file file(3, kernels::paths_per_tile);
        const book b = book::parse(replaced_once(market_text, "FILE", file.name()) + many.products +
                                   "trades:\n" + many.trades);
        const plan::trade_program p = plan::plan_trade(state_of(b).trades.at(0), state_of(*b.market()));
        ASSERT_EQ(p.code.sections.size(), static_cast<std::size_t>(blocks) + 1);
        const run::job job{&p.code, &p.data, &p.when};
        const auto packed = cuda::pack({&job, 1}, program::number_type::double_);
        ASSERT_FALSE(packed.failures[0]);
        constexpr std::size_t piece = 4;
        const auto pieces = [](std::size_t words) { return (words + piece - 1) / piece * piece; };
        ASSERT_EQ(p.code.scenarios_per_step, 0);
        const std::size_t keys =
            (p.code.normals_per_step > 0 ? 2u : 0u) + (p.code.uniforms_per_step > 0 ? 2u : 0u);
        const auto word =
            packed.words.begin() + static_cast<std::ptrdiff_t>(pieces(keys) + pieces(p.code.sections.size()));
        std::vector<double> numbers(packed.numbers.size() / sizeof(double));
        std::memcpy(numbers.data(), packed.numbers.data(), numbers.size() * sizeof(double));
        std::size_t listed = 0, on_every_step = 0, together = 0;
        for (std::size_t step = 0; step < p.when.steps(); ++step) {
            std::size_t of_step = 0;
            for (const program::event& e : p.when.events_after(step)) {
                if (p.code.sections[e.section].is_on_every_step) {
                    ++on_every_step;
                    continue;
                }
                const auto at = word + static_cast<std::ptrdiff_t>(piece * listed++);
                EXPECT_EQ(at[0], step);
                EXPECT_EQ(at[1], e.section);
                EXPECT_EQ(at[2], e.row);
                const std::size_t width = p.data.widths[e.section];
                for (std::size_t i = 0; i < width; ++i)
                    EXPECT_EQ(numbers.at(at[3] + i), p.data.rows[e.section][e.row * width + i]);
                together += of_step++ > 0 ? 1u : 0u;
            }
        }
        EXPECT_EQ(word[static_cast<std::ptrdiff_t>(piece * listed)], kernels::no_step);
        EXPECT_EQ(on_every_step, p.when.steps());
        EXPECT_EQ(listed, static_cast<std::size_t>(blocks) - 2 + 3)
            << "a block of three dates, others of one";
        EXPECT_GT(together, 5u);
    }
}

class kernels_on_host : public testing::TestWithParam<std::string> {};

TEST_P(kernels_on_host, give_the_bits_of_the_cpu_in_every_precision) {
    for (const precision in : {precision::double_, precision::single, precision::mixed}) {
        expect_bits_of(GetParam(), usual(GetParam(), in));
    }
}

std::vector<std::string> names_of_trades() {
    std::vector<std::string> names;
    for (const auto& t : trades()) names.push_back(t.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(all, kernels_on_host, testing::ValuesIn(names_of_trades()),
                         [](const auto& at) { return at.param; });

// Every feed without asynchronous copies, with other widths and blocks, and with numbers in every memory
// space.
TEST(kernels_on_host_of_feeds, give_the_bits_of_the_cpu) {
    int n = 0;
    for (const char* feed :
         {"none", "unroll", "register_batched", "register_rolling", "smem_batched", "smem_rolling"}) {
        kernel_wish how;
        how.feed = feed;
        how[cuda::knobs::distance] = 5;
        how.precision = n % 2 == 0 ? precision::double_ : precision::single;
        how[cuda::knobs::width] = n % 3 == 0 ? 1 : n % 3 == 1 ? 2 : 4;
        how[cuda::knobs::block] = n % 2 == 0 ? 64 : 128;
        how.row_space = n % 2 == 0 ? "read_only" : "global";
        how[cuda::knobs::layout] =
            static_cast<int>(n % 2 == 0 ? kernels::ring_layout::padded : kernels::ring_layout::transposed);
        expect_bits_of(n % 2 == 0 ? "barrier" : "asian_by_path", cuda::with_presets(how));
        ++n;
    }
    for (const int width : {1, 2}) {
        kernel_decision how;
        how[cuda::knobs::width] = width;
        expect_bits_of("asian_7", how);
    }
    for (const auto precision : {precision::double_, precision::single}) {
        kernel_wish how;
        how.feed = precision == precision::double_ ? "unroll" : "smem_rolling";
        how.precision = precision;
        expect_bits_of("autocallable", cuda::with_presets(how));
    }
}

TEST(kernels_on_host_of_integration, give_the_bits_of_the_cpu) {
    const planned_trade& t = planned("autocallable");
    const auto made = program::integrated(t.program.code, t.program.data, t.program.when);
    ASSERT_TRUE(made);
    for (const precision in : {precision::double_, precision::single, precision::mixed}) {
        SCOPED_TRACE(program::name_of(in));
        expect_bits({made->code, made->data, made->when, t.scenarios}, usual(made->code, in));
    }
}

TEST(kernels_on_host_of_pairs, give_the_bits_of_the_cpu) {
    for (const char* trade :
         {"european", "barrier", "autocallable", "worst_of_with_jumps", "asian_by_path"}) {
        const planned_trade& t = planned(trade);
        const program::whole_program both = program::mirror(t.program.code, t.program.data, t.program.when);
        for (const precision in : {precision::double_, precision::single, precision::mixed}) {
            SCOPED_TRACE(fmt::format("{} in {}", trade, program::name_of(in)));
            expect_bits({both.code, both.data, both.when, t.scenarios}, usual(both.code, in));
        }
    }
}

// Paths on which an operation leaves its domain, in the taken branch or the other, fail as on the CPU.
TEST(kernels_on_host_with_flaws, fail_the_paths_of_the_cpu) {
    const book b = book::parse(R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03}}
  assets: {A: {currency: USD, spot: 100, volatility: 0.2}}
products:
  - product: roots
    summary: Roots and a quotient.
    parameters:
      u: {type: asset, help: The asset.}
      level: {type: amount, help: Where they break.}
      dates: {type: schedule, help: The dates.}
    example: {u: A, level: 100, dates: [0.5, 1.0]}
    script: |
      on dates:
          if spot(u) > level:
              pay min(1 / (spot(u) - level), 1)
          elif sqrt(level - spot(u)) > 3:
              pay max(sqrt(log(spot(u) / 60)), 0)
trades:
  - {id: some, product: roots, u: A, level: 100, dates: [0.5, 1.0]}
  - {id: none, product: roots, u: A, level: 62, dates: [0.5, 1.0]}
)");
    for (const std::size_t trade : {0U, 1U}) {
        const plan::trade_program p = plan::plan_trade(state_of(b).trades.at(trade), state_of(*b.market()));
        EXPECT_EQ(p.checked.size(), 3U);
        const std::vector<arrays::shock_cube> no_scenarios;
        for (const precision in : {precision::double_, precision::single, precision::mixed}) {
            SCOPED_TRACE(fmt::format("trade {} in {}", trade, program::name_of(in)));
            expect_bits({p.code, p.data, p.when, no_scenarios}, usual(p.code, in));
        }
    }
}

// A program whose outputs are all its states in reverse order, with cross moments of two pairs. Each output
// has its own row of results.
TEST(kernels_on_host_of_several_outputs, give_the_bits_of_the_cpu) {
    for (const precision in : {precision::double_, precision::single, precision::mixed}) {
        const planned_trade& t = planned("autocallable");
        program::path_program code = t.program.code;
        ASSERT_GE(code.states.size(), 2u);
        for (std::uint32_t s = static_cast<std::uint32_t>(code.states.size()); s-- > 0;)
            code.outputs.push_back(s);
        code.crossed = {{0, 2}, {1, 2}};
        kernel_decision how = usual(code, in);
        expect_bits({code, t.program.data, t.program.when, t.scenarios}, how);
        how.reduction = "last_block";  // reuses an output's memory for the next
        how[cuda::knobs::width] = 1;
        expect_bits({code, t.program.data, t.program.when, t.scenarios}, how);
    }
}

// Points for one date, for twelve, and for nine dates of three assets; each tile has its own randomisation.
TEST(kernels_on_host_that_make_points, give_the_bits_of_the_cpu) {
    int n = 0;
    for (const char* const trade : {"european", "asian_12", "autocallable"}) {
        const planned_trade& t = planned(trade);
        const quasi::points in_steps{quasi::construction::steps};
        ASSERT_TRUE(quasi::are_few(in_steps, t.program.code, t.program.when));
        quasi::order_maker maker;
        const quasi::order order = maker.made_for(t.program.code, t.program.data, t.program.when, in_steps);
        for (const precision in : {precision::double_, precision::single, precision::mixed}) {
            kernel_wish asked;
            asked.precision = in;
            asked.reads_shocks = true;
            asked.points = cuda::point_way::made;
            asked[cuda::knobs::block] = 64;
            asked[cuda::knobs::width] = 1 << n++ % 3;
            const kernel_decision how = cuda::with_presets(asked);
            SCOPED_TRACE(fmt::format("{}, {}", trade, cuda::described(how)));
            ASSERT_NE(cuda::path_kernel_text(t.program.code, how).find("draws_of_points"), std::string::npos);
            expect_bits({t.program.code, t.program.data, t.program.when, t.scenarios}, how, &order);
        }
    }
}

// Tables as large as a surface's, and some small enough for a group's rows to stay in registers. Payments
// follow each step, which is then walked in groups, or every second step.
TEST(kernels_on_host_with_tables, give_the_bits_of_the_cpu) {
    int n = 0;
    for (const std::size_t size : {2u, 3u, 40u}) {
        for (const std::size_t every : {1u, 2u}) {
            const tests::surface_program p(11, size, every);
            for (const precision in : {precision::double_, precision::single, precision::mixed}) {
                kernel_decision how = usual(p.code, in);
                how.row_space = ++n % 2 == 0 ? "read_only" : "global";
                SCOPED_TRACE(fmt::format("{}, {} numbers, a payment after {} steps, width {}",
                                         program::name_of(in), size, every, how[cuda::knobs::width]));
                expect_bits({p.code, p.data, p.when, {}}, how);
            }
        }
    }
    const tests::surface_program p(11, 40, 2);
    for (const char* feed : {"unroll", "register_batched", "smem_rolling"}) {
        kernel_wish how;
        how.feed = feed;
        how[cuda::knobs::distance] = 4;
        how[cuda::knobs::block] = 64;
        how.precision = feed[0] == 'u' ? precision::single : precision::double_;
        SCOPED_TRACE(feed);
        expect_bits({p.code, p.data, p.when, {}}, cuda::with_presets(how));
    }
}

// host_kernel refuses a text that is no kernel and one that does not compile.
TEST(kernels_on_host_of_feeds, tell_a_wrong_kernel) {
    EXPECT_THROW(host_kernel("no text of a kernel"), std::logic_error);
    const auto& t = planned("european");
    const std::string text = cuda::path_kernel_text(t.program.code, usual("european", precision::double_));
    EXPECT_THROW(host_kernel(replaced_once(text, "math::exp(", "math::no_such(")), std::runtime_error);
}

}  // namespace

namespace {

// Each thread leaves its number in shared memory, runs the code `meets`, and sums the numbers of its warp.
std::vector<unsigned> sums_on_host(const std::string& meets, unsigned threads) {
    const host_kernel of(R"(#include "kernels/ptx.h"
extern __shared__ __align__(128) char shared[];
extern "C" __global__ void sum(unsigned* const to) {
    unsigned* const numbers = reinterpret_cast<unsigned*>(shared);
    numbers[threadIdx.x] = 0;
    __syncthreads();
    numbers[threadIdx.x] = threadIdx.x;
    )" + meets + R"(
    unsigned sum = 0;
    for (unsigned i = 0; i < 32; ++i) sum += numbers[threadIdx.x / 32 * 32 + i];
    to[threadIdx.x] = sum;
}
)");
    std::vector<unsigned> out(threads);
    of.run("sum", 1, threads, out.data());
    return out;
}

}  // namespace

TEST(kernels_on_host_of_blocks, wait_where_the_kernel_does) {
    std::vector<unsigned> expected;
    for (unsigned t = 0; t < 96; ++t) expected.push_back(t / 32 * 32 * 32 + 31 * 16);
    EXPECT_EQ(sums_on_host("__syncthreads();", 96), expected);
    EXPECT_EQ(sums_on_host("__syncwarp();", 96), expected);
    EXPECT_NE(sums_on_host("", 96), expected);
}

TEST(kernels_on_host_of_blocks, do_not_wait_forever) {
    EXPECT_THROW(sums_on_host("if (threadIdx.x < 3) __syncthreads();", 96), std::runtime_error);
}

}  // namespace tilewalk::kernels_on_host_test
