// SPDX-License-Identifier: Apache-2.0
// Each precision walks shocks and arithmetic of its own, with the same bits on every instruction set and
// number of threads. Single differs from double by rounding alone.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/reading/settings/precision_named.h"
#include "engine/walk/cpu/shadow.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/units.h"
#include "products/program/evaluate.h"
#include "products/program/precision.h"
#include "tests/market_text.h"
#include "tests/plain_walk.h"
#include "tests/whole.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::precision_test {
namespace {

using program::precision;
using tests::dollar_market;
using tests::in_book;

constexpr precision cpu_precisions[] = {precision::double_, precision::single, precision::mixed};

// All NaNs count as equal: sign and payload follow from the order of operands.
std::uint32_t bits(float x) {
    return std::bit_cast<std::uint32_t>(std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : x);
}
std::uint64_t bits(double x) {
    return std::bit_cast<std::uint64_t>(std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : x);
}

void expect_same_bits(const kernels::moments& got, const kernels::moments& expected) {
    for (const auto of : {&kernels::moments::count, &kernels::moments::mean, &kernels::moments::m2,
                          &kernels::moments::m3, &kernels::moments::m4}) {
        EXPECT_EQ(bits(got.*of), bits(expected.*of)) << got.*of << " and " << expected.*of;
    }
}

std::vector<const cpu::lane_operations*> instruction_sets() {
    const auto list = cpu::runnable_instruction_sets();
    return {list.sets.begin(), list.sets.begin() + list.count};
}

double plain_payoff(const tests::shocked_program& p, precision in, std::uint64_t seed, std::uint64_t path) {
    switch (in) {
        case precision::double_:
            return tests::plain_random_walk<double, kernels::double_draws>(p.code, p.data, p.when, seed,
                                                                           path);
        case precision::mixed:
            return tests::plain_random_walk<double, kernels::single_draws>(p.code, p.data, p.when, seed,
                                                                           path);
        default:
            return tests::plain_random_walk<float, kernels::single_draws>(p.code, p.data, p.when, seed, path);
    }
}

}  // namespace

TEST(precision, names_are_read_back_and_misspelt_ones_answered) {
    const auto names = program::precision_names();
    ASSERT_EQ(names.size(), 4U);
    for (std::size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(program::name_of(static_cast<precision>(i)), names[i]);
        EXPECT_EQ(precision_named(names[i]), static_cast<precision>(i));
    }
    for (const auto& [wrong, hint] : {std::pair<std::string, std::string>{"singel", "did you mean 'single'?"},
                                      {"Double", "did you mean 'double'?"},
                                      {"float", "known: double, single, single_fast, mixed"}}) {
        try {
            precision_named(wrong);
            ADD_FAILURE() << wrong;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::usage);
            EXPECT_NE(e.message().find(hint), std::string::npos) << e.message();
        }
    }
}

TEST(precision_single_lanes, equal_one_operation_at_a_time) {
    std::mt19937 random(1);
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> special{0.0f,   -0.0f,   1.0f,          -1.0f,     2.0f,        -2.5f,
                                     inf,    -inf,    std::nanf(""), 0x1p-149f, 0x1p-126f,   0x1.fffffep127f,
                                     88.72f, -103.9f, 0x1p20f,       0x1p24f,   0.99999994f, 1.0000001f};
    const auto next = [&]() -> float {
        const float unit = std::ldexp(static_cast<float>(random() >> 8), -24);
        switch (random() % 6) {
            case 0:
                return special[random() % special.size()];
            case 1:
                return std::bit_cast<float>(static_cast<std::uint32_t>(random()));
            case 2:
                return unit;
            case 3:
                return std::floor(unit * 10) - 5;
            case 4:
                return unit * 200 - 100;
            default:
                return unit * 20 - 10;
        }
    };
    for (const auto* set : instruction_sets()) {
        for (const auto& entry : program::operations) {
            for (int mode = 0; mode < 8; ++mode) {
                const auto loop =
                    set->in_single
                        .loops[static_cast<std::size_t>(entry.code)][static_cast<std::size_t>(mode)];
                ASSERT_EQ(loop != nullptr, program::is_function(entry.code) && mode < (1 << entry.arity) - 1)
                    << entry.name;
                if (loop == nullptr) continue;
                for (int round = 0; round < 20; ++round) {
                    alignas(64) float x[3][cpu::lanes], out[cpu::lanes];
                    for (auto& operand : x) {
                        for (float& number : operand) number = next();
                    }
                    loop(out, x[0], x[1], x[2]);
                    for (int lane = 0; lane < cpu::lanes; ++lane) {
                        const float a = x[0][(mode & 1) != 0 ? 0 : lane];
                        const float b = x[1][(mode & 2) != 0 ? 0 : lane];
                        const float c = x[2][(mode & 4) != 0 ? 0 : lane];
                        const float expected = tests::apply_any<float>(entry.code, a, b, c);
                        ASSERT_EQ(bits(out[lane]), bits(expected))
                            << set->name << ' ' << entry.name << " mode " << mode << std::hexfloat << " ("
                            << a << ", " << b << ", " << c << "): got " << out[lane] << ", expected "
                            << expected;
                    }
                }
            }
        }
    }
}

TEST(precision_single_lanes, shocks_equal_the_kernel_headers) {
    std::mt19937_64 random(2);
    for (const auto* set : instruction_sets()) {
        for (int round = 0; round < 100; ++round) {
            const std::uint64_t seed = random();
            // Every fourth round, path numbers cross a multiple of 2^32.
            const std::uint64_t first = round % 4 == 0 ? (random() << 32) - random() % 300 : random();
            const auto block = static_cast<std::uint32_t>(random());
            const kernels::stream_key name = kernels::stream_key_of(random());
            alignas(64) float normals[4][cpu::lanes], uniforms[4][cpu::lanes];
            alignas(64) double wide_normals[4][cpu::lanes], wide_uniforms[4][cpu::lanes];
            set->single_draws.normals(normals, seed, first, block, name);
            set->single_draws.uniforms(uniforms, seed, first, block, name);
            set->widened_draws.normals(wide_normals, seed, first, block, name);
            set->widened_draws.uniforms(wide_uniforms, seed, first, block, name);
            for (std::size_t lane = 0; lane < cpu::lanes; ++lane) {
                const auto z = kernels::single_normals(seed, first + lane, block, name);
                const auto u = kernels::single_uniforms(seed, first + lane, block, name);
                for (int i = 0; i < 4; ++i) {
                    ASSERT_EQ(bits(normals[i][lane]), bits(z.x[i])) << set->name << ' ' << lane << ' ' << i;
                    ASSERT_EQ(bits(uniforms[i][lane]), bits(u.x[i])) << set->name << ' ' << lane << ' ' << i;
                    ASSERT_EQ(wide_normals[i][lane], static_cast<double>(z.x[i]));
                    ASSERT_EQ(wide_uniforms[i][lane], static_cast<double>(u.x[i]));
                }
            }
        }
    }
}

// A hash (FNV-1a) of every operation in single precision and of its shocks. Whoever changes it changes
// prices, and must announce it.
TEST(precision_single_lanes, have_the_bits_of_every_other_build) {
    for (const auto* set : instruction_sets()) {
        std::uint64_t hash = 0xcbf29ce484222325u;
        const auto add = [&](const float(&numbers)[cpu::lanes]) {
            for (const float x : numbers) {
                for (int byte = 0; byte < 4; ++byte)
                    hash = (hash ^ ((bits(x) >> (8 * byte)) & 0xff)) * 0x100000001b3u;
            }
        };
        alignas(64) float z[4][cpu::lanes], u[4][cpu::lanes], out[cpu::lanes];
        for (std::uint32_t block = 0; block < 50; ++block) {
            set->single_draws.normals(z, 42, 1000 * std::uint64_t{block}, block, {});
            set->single_draws.uniforms(u, 42, 1000 * std::uint64_t{block}, block, {});
            for (const auto& shocks : z) add(shocks);
            for (const auto& shocks : u) add(shocks);
            for (const auto& entry : program::operations) {
                if (!program::is_function(entry.code)) continue;
                set->in_single.loops[static_cast<std::size_t>(entry.code)][0](out, z[block % 4], u[0], z[3]);
                add(out);
            }
        }
        EXPECT_EQ(hash, 0xf57263f27e2a673u) << std::hex << set->name << ": 0x" << hash;
    }
}

TEST(precision, walks_equal_one_path_at_a_time) {
    constexpr std::uint64_t seed = 77;
    // Numbers of shocks such that a step may begin at any place within a block of random numbers.
    for (int normals = 0; normals <= 6; ++normals) {
        for (int uniforms = normals == 0 ? 1 : 0; uniforms <= 5; uniforms += normals < 4 ? 1 : 3) {
            const tests::shocked_program p(normals, uniforms, 7);
            for (const precision in : cpu_precisions) {
                for (const std::uint64_t paths :
                     {std::uint64_t{1}, std::uint64_t{257}, std::uint64_t{1100}}) {
                    SCOPED_TRACE(testing::Message() << program::name_of(in) << ", " << normals << " normals, "
                                                    << uniforms << " uniforms, " << paths << " paths");
                    const auto expected = tests::plain_moments(
                        paths, [&](std::uint64_t path) { return plain_payoff(p, in, seed, path); });
                    ASSERT_TRUE(std::isfinite(expected.mean));
                    const std::vector<cpu::path_job> jobs{p.job(in, seed, paths)};
                    for (const auto* set : instruction_sets()) {
                        SCOPED_TRACE(set->name);
                        const auto got = tests::whole(cpu::walk_all(jobs, *set, 1, nullptr, {})).at(0);
                        EXPECT_EQ(got.not_finite, 0U);
                        expect_same_bits(got.moments, expected);
                    }
                    if (HasFailure()) return;
                }
            }
        }
    }
}

// A path takes more than 65,536 blocks of random numbers, and each normal adds to the sum.
TEST(precision, walks_of_long_paths_equal_one_path_at_a_time) {
    constexpr std::uint64_t seed = 78;
    constexpr int normals = 1200;
    for (const precision in : {precision::double_, precision::single}) {
        const bool is_double = in == precision::double_;
        const std::size_t per_block = is_double ? 2 : 4, steps = 66'000 * per_block / normals + 1;
        program::recorder into;
        const auto sum = into.state("sum", 0);
        into.output(sum);
        into.open_section(0, "step", steps);
        auto next = into.read(sum);
        for (int n = 0; n < normals; ++n) next = next + into.normal();
        into.write(sum, next);
        const auto recorded = std::move(into).finish();
        const auto code = program::hoist(program::optimise(recorded.code));
        const auto data = program::bind(code, recorded.data);
        const cpu::lane_program lanes = cpu::compile(code);
        program::timeline when;
        for (std::size_t i = 0; i < steps; ++i) {
            when.times.push_back(static_cast<double>(i + 1));
            when.close_step();
        }
        const auto expected = tests::plain_moments(1, [&](std::uint64_t path) {
            return is_double
                       ? tests::plain_random_walk<double, kernels::double_draws>(code, data, when, seed, path)
                       : tests::plain_random_walk<float, kernels::single_draws>(code, data, when, seed, path);
        });
        const std::vector<cpu::path_job> jobs{{&lanes, &data, &when, seed, 1, in, {}, {}}};
        const auto got = tests::whole(cpu::walk_all(jobs, *instruction_sets().front(), 1, nullptr, {})).at(0);
        EXPECT_NE(expected.mean, 0);
        expect_same_bits(got.moments, expected);
    }
}

TEST(precision, neighbours_and_threads_change_no_bit) {
    const tests::shocked_program one(3, 1, 9), other(1, 2, 4);
    std::vector<cpu::path_job> book;
    for (const precision in : cpu_precisions) {
        book.push_back(one.job(in, 5, 3000));
        book.push_back(other.job(in, 6, 1030));
    }
    const auto sets = instruction_sets();
    const auto together = tests::whole(cpu::walk_all(book, *sets.at(0), 3, nullptr, {}));
    for (std::size_t j = 0; j < book.size(); ++j) {
        SCOPED_TRACE(j);
        const auto alone = tests::whole(cpu::walk_all({&book[j], 1}, *sets.back(), 1, nullptr, {})).at(0);
        expect_same_bits(together.at(j).moments, alone.moments);
    }
    EXPECT_NE(bits(together[0].moments.mean), bits(together[2].moments.mean));
    EXPECT_NE(bits(together[2].moments.mean), bits(together[4].moments.mean));
    EXPECT_NE(bits(together[0].moments.mean), bits(together[4].moments.mean));
}

TEST(precision, single_fast_needs_a_gpu) {
    const tests::shocked_program p(1, 0, 1);
    const std::vector<cpu::path_job> jobs{p.job(precision::single_fast, 1, 10)};
    try {
        tests::whole(cpu::walk_all(jobs, *instruction_sets().at(0), 1, nullptr, {}));
        FAIL();
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        EXPECT_NE(e.message().find("precision single "), std::string::npos) << e.message();
    }
}

TEST(precision, is_a_setting_of_a_run) {
    const book trades =
        book::parse(in_book(dollar_market(0.05, {{"ACME", "spot: 100, volatility: 0.2"}})) +
                    "trades:\n"
                    "  - {id: one, product: european, underlying: ACME, strike: 105, maturity: 1.0}\n");
    const auto made = plan::plan_trade(state_of(trades).trades.at(0), state_of(*trades.market()));
    const auto code = cpu::compile(made.code);
    run_options options;
    options.overrides.device = "cpu";
    options.overrides.paths = 5000;
    for (const precision in : cpu_precisions) {
        options.overrides.precision = in;
        const results r = engine().price(trades, options);
        const cpu::path_job job{&code, &made.data, &made.when, default_seed, 5000, in, {}, {}};
        const auto walked =
            tests::whole(cpu::walk_all({&job, 1}, *instruction_sets().at(0), 1, nullptr, {})).at(0);
        EXPECT_EQ(bits(r.rows.at(0).price), bits(walked.moments.mean)) << r.rows.at(0).message;
        EXPECT_EQ(r.manifest.precision, program::name_of(in));
    }
    for (const precision wrong : {precision::single_fast, static_cast<precision>(7)}) {
        options.overrides.precision = wrong;
        try {
            engine().price(trades, options);
            ADD_FAILURE() << static_cast<int>(wrong);
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::usage) << e.what();
        }
    }
}

// Every trade of the demo book has three prices that agree: in single, in mixed (double arithmetic on the
// shocks of single), and in double.
TEST(precision, demo_book_agrees_with_double) {
    const book trades = book::load(TILEWALK_SOURCE_DIR "/configs/books/demo.yaml");
    constexpr std::uint64_t paths = 16384;
    for (const auto& t : state_of(trades).trades) {
        SCOPED_TRACE(t.id);
        const auto made = plan::plan_trade(t, state_of(*trades.market()));
        const auto code = cpu::compile(made.code);
        std::vector<cpu::path_job> jobs;
        for (const precision in : cpu_precisions)
            jobs.push_back({&code, &made.data, &made.when, 42, paths, in, {}, {}});
        const auto r = tests::whole(cpu::walk_all(jobs, *instruction_sets().at(0), 2, nullptr, {}));
        const auto standard_error = [&](int i) {
            return run::standard_error_of(r[static_cast<std::size_t>(i)].moments);
        };
        for (const auto& one : r) ASSERT_EQ(one.not_finite, 0U);
        // Single and mixed have the same shocks on each path, so they differ by rounding alone, a few 2^-24 a
        // step. (A path that rounding takes across a digital's strike would add more; there is none here.)
        const double size = std::abs(r[2].moments.mean) + standard_error(2) * std::sqrt(double(paths));
        const double steps = static_cast<double>(made.when.steps());
        EXPECT_LE(std::abs(r[1].moments.mean - r[2].moments.mean), (steps + 4) * 0x1p-24 * size);
        EXPECT_NE(bits(r[1].moments.mean), bits(r[2].moments.mean));
        const double both = std::hypot(standard_error(0), standard_error(2));
        EXPECT_LE(std::abs(r[2].moments.mean - r[0].moments.mean), 4.5 * both);
    }
}

// The bridge divides by numbers that are tiny if nothing moves or a path begins on the barrier. Single
// precision may not round these to 0.
TEST(precision, bridges_stay_finite_without_variance) {
    for (const std::string volatility : {"0.0", "1.0e-9", "0.3"}) {
        for (const std::string barrier : {"100.0", "99.0", "120.0"}) {
            for (const std::string kind : {"knock_out", "knock_in"}) {
                const std::string direction = barrier == "120.0" ? "up" : "down";
                const std::string text =
                    in_book(dollar_market(0.05,
                                          {{"ACME", std::string("spot: 100, volatility: ") + volatility}})) +
                    "trades:\n  - {id: one, product: barrier, underlying: ACME, strike: 90, maturity: 1.0, "
                    "direction: " +
                    direction + ", kind: " + kind + ", barrier: " + barrier +
                    ", rebate: 2, rebate_paid: at_hit}\n";
                SCOPED_TRACE(text);
                const book trades = book::parse(text);
                const auto made = plan::plan_trade(state_of(trades).trades.at(0), state_of(*trades.market()));
                if (made.is_certain()) continue;
                const auto code = cpu::compile(made.code);
                std::vector<cpu::path_job> jobs;
                for (const precision in : cpu_precisions)
                    jobs.push_back({&code, &made.data, &made.when, 42, 2048, in, {}, {}});
                const auto r = tests::whole(cpu::walk_all(jobs, *instruction_sets().at(0), 1, nullptr, {}));
                for (const auto& one : r) EXPECT_EQ(one.not_finite, 0U);
                EXPECT_NEAR(r[1].moments.mean, r[2].moments.mean, 1e-3);
            }
        }
    }
}

template <class function>
cpu::path_job one_step(const function& record, tests::shocked_program& into) {
    program::recorder made;
    made.output(made.state("payoff", 0.0));
    made.open_section(0, "step", 1);
    made.write(0, record(made.normal()));
    const auto recorded = std::move(made).finish();
    into.code = program::hoist(recorded.code);
    into.data = program::bind(into.code, recorded.data);
    into.lanes = cpu::compile(into.code);
    into.when = {};
    into.when.times.push_back(1);
    into.when.close_step();
    return into.job(precision::single, 3, 10000);
}

cpu::shadow shadow_on_cpu(const cpu::path_job& run) {
    cpu::path_job sample = run;
    sample.paths = cpu::shadow_paths(run.paths);
    cpu::path_job shadow = sample;
    shadow.precision = cpu::shadow_precision(run.precision);
    const std::vector<cpu::path_job> jobs{sample, shadow, run};
    const auto r = tests::whole(cpu::walk_all(jobs, *instruction_sets().at(0), 1, nullptr, {}));
    return cpu::compare(r[0], r[1], r[2]);
}

TEST(precision_shadow, tells_the_rounding_of_single_and_nothing_else) {
    const tests::shocked_program p(2, 1, 6);
    for (const std::uint64_t paths :
         {std::uint64_t{1}, std::uint64_t{700}, std::uint64_t{4096}, std::uint64_t{9000}}) {
        SCOPED_TRACE(paths);
        const auto single = shadow_on_cpu(p.job(precision::single, 8, paths));
        EXPECT_NE(single.difference, 0);
        EXPECT_LT(std::abs(single.difference), 1e-6);
        const std::uint64_t both = std::min<std::uint64_t>(paths, 4096);
        double sum = 0;
        for (std::uint64_t path = 0; path < both; ++path) {
            sum += plain_payoff(p, precision::single, 8, path) - plain_payoff(p, precision::mixed, 8, path);
        }
        EXPECT_NEAR(single.difference, sum / static_cast<double>(both), 1e-14);
        for (const precision in : {precision::double_, precision::mixed}) {
            const auto exact = shadow_on_cpu(p.job(in, 8, paths));
            EXPECT_EQ(exact.difference, 0);
            EXPECT_EQ(exact.in_standard_errors, 0);
        }
    }
    // The CPU walks only a shadow sample of a GPU's run in single_fast.
    EXPECT_EQ(cpu::shadow_precision(precision::single_fast), precision::mixed);
    EXPECT_EQ(cpu::shadow_paths(9000), 4096U);
}

TEST(precision_shadow, shows_where_single_is_too_small) {
    tests::shocked_program p(0, 1, 1);
    const auto cancelling =
        shadow_on_cpu(one_step([](program::value z) { return (z + 3e8) - 3e8 + max(z, 0.0); }, p));
    EXPECT_GT(std::abs(cancelling.in_standard_errors), 0.5);
    const auto overflowing = shadow_on_cpu(one_step([](program::value z) { return exp(z * 40.0); }, p));
    EXPECT_EQ(std::abs(overflowing.difference), std::numeric_limits<double>::infinity());
    EXPECT_EQ(std::abs(overflowing.in_standard_errors), std::numeric_limits<double>::infinity());
    const auto harmless = shadow_on_cpu(one_step([](program::value z) { return max(z, 0.0); }, p));
    EXPECT_EQ(harmless.difference, 0);
}

}  // namespace tilewalk::precision_test
