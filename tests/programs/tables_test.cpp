// SPDX-License-Identifier: Apache-2.0
// Tables and their interpolation: values, the lane machine, what a recorder accepts and refuses, the passes,
// and payoffs against the same paths walked plainly.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/plan/unite.h"
#include "engine/walk/cpu/lane_program.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/cuda/compile/program_text.h"
#include "kernels/operations.h"
#include "products/program/evaluate.h"
#include "products/program/moves.h"
#include "tests/plain_walk.h"
#include "tests/surface_program.h"
#include "tests/whole.h"
#include "tilewalk/error.h"

namespace tilewalk::tables_test {
namespace {

using program::operation;
using program::precision;
using program::recorder;
using program::tabulated;
using program::value;

constexpr precision cpu_precisions[] = {precision::double_, precision::single, precision::mixed};

template <class real>
constexpr real infinity = std::numeric_limits<real>::infinity();
template <class real>
constexpr real nan = std::numeric_limits<real>::quiet_NaN();

// All NaNs count as equal: sign and payload follow from the order of operands.
template <class real>
auto bits(real x) {
    using word = typename kernels::format<real>::word;
    return std::bit_cast<word>(std::isnan(x) ? nan<real> : x);
}

std::vector<const cpu::lane_operations*> instruction_sets() {
    const auto list = cpu::runnable_instruction_sets();
    return {list.sets.begin(), list.sets.begin() + list.count};
}

template <class real>
const cpu::lane_functions<real>& functions_of(const cpu::lane_operations& set) {
    if constexpr (std::is_same_v<real, double>) {
        return set.in_double;
    } else {
        return set.in_single;
    }
}

// A table that throws if it is read beyond its ends.
template <class real>
struct guarded_table {
    const std::vector<real>& numbers;
    real operator[](int i) const { return numbers.at(static_cast<std::size_t>(i)); }
};

template <class real>
real interpolated(const std::vector<real>& numbers, real position) {
    return kernels::interpolate(guarded_table<real>{numbers}, static_cast<int>(numbers.size()), position);
}

template <class real>
class tables_interpolation : public testing::Test {};
using both = testing::Types<double, float>;
TYPED_TEST_SUITE(tables_interpolation, both);

TYPED_TEST(tables_interpolation, is_linear_between_the_numbers_and_flat_beyond) {
    using real = TypeParam;
    const std::vector<real> three{10, 20, 50};
    const struct {
        real position, expected;
    } cases[] = {{0, 10},
                 {real(-0.0), 10},
                 {real(0.5), 15},
                 {1, 20},
                 {real(1.25), real(27.5)},
                 {2, 50},
                 {-1, 10},
                 {real(2.5), 50},
                 {-infinity<real>, 10},
                 {infinity<real>, 50},
                 {std::numeric_limits<real>::max(), 50},
                 {std::numeric_limits<real>::lowest(), 10},
                 {-std::numeric_limits<real>::denorm_min(), 10},
                 {std::nextafter(real(2), real(0)), real(50) - 30 * (2 - std::nextafter(real(2), real(0)))}};
    for (const auto& c : cases) EXPECT_EQ(interpolated(three, c.position), c.expected) << c.position;
    const std::vector<real> two{3, -1};
    EXPECT_EQ(interpolated(two, real(-5)), 3);
    EXPECT_EQ(interpolated(two, real(0.25)), 2);
    EXPECT_EQ(interpolated(two, real(1)), -1);
    EXPECT_EQ(interpolated(two, real(9)), -1);
}

TYPED_TEST(tables_interpolation, of_nan_is_nan_and_reads_nothing_outside) {
    using real = TypeParam;
    for (const std::size_t size : {2u, 3u, 16384u}) {
        const std::vector<real> numbers(size, real(1));
        EXPECT_TRUE(std::isnan(interpolated(numbers, nan<real>))) << size;
        EXPECT_TRUE(std::isnan(interpolated(numbers, -nan<real>))) << size;
    }
    EXPECT_THROW((guarded_table<real>{{1, 2}}[2]), std::out_of_range);
    EXPECT_THROW((guarded_table<real>{{1, 2}}[-1]), std::out_of_range);
}

template <class real>
std::vector<real> positions(std::uint64_t seed, std::size_t size) {
    std::mt19937_64 random(seed);
    const auto last = static_cast<real>(size - 1);
    const std::vector<real> special{real(0),
                                    real(-0.0),
                                    last,
                                    std::nextafter(last, real(0)),
                                    std::nextafter(last, infinity<real>),
                                    last - 1,
                                    real(1),
                                    std::nextafter(real(1), real(0)),
                                    infinity<real>,
                                    -infinity<real>,
                                    nan<real>,
                                    std::numeric_limits<real>::denorm_min(),
                                    std::numeric_limits<real>::max(),
                                    real(-1)};
    std::vector<real> out;
    for (int lane = 0; lane < cpu::lanes; ++lane) {
        const real unit = static_cast<real>(random() >> 40) / static_cast<real>(std::uint64_t{1} << 24);
        switch (random() % 4) {
            case 0:
                out.push_back(special[random() % special.size()]);
                break;
            case 1:
                out.push_back(
                    std::bit_cast<real>(static_cast<typename kernels::format<real>::word>(random())));
                break;
            case 2:
                out.push_back(std::floor(unit * last));
                break;
            default:
                out.push_back((unit * 2 - real(0.5)) * last);
        }
    }
    return out;
}

template <class real>
std::vector<real> numbers_of_table(std::uint64_t seed, std::size_t size) {
    std::mt19937_64 random(seed);
    std::vector<real> out;
    for (std::size_t i = 0; i < size; ++i)
        out.push_back(static_cast<real>(static_cast<double>(random() >> 11) * 0x1p-53 - 0.25));
    return out;
}

TYPED_TEST(tables_interpolation, on_lanes_has_the_bits_of_one_at_a_time) {
    using real = TypeParam;
    for (const auto* set : instruction_sets()) {
        const auto& loops = functions_of<real>(*set).interpolate;
        for (const std::size_t size : {2u, 3u, 7u, 100u, 4097u, 16384u}) {
            const auto in_double = numbers_of_table<double>(size, size);
            const std::vector<real> table(in_double.begin(), in_double.end());
            for (std::uint64_t round = 0; round < 50; ++round) {
                alignas(64) real at[cpu::lanes], out[cpu::lanes];
                const auto drawn = positions<real>(round, size);
                std::copy(drawn.begin(), drawn.end(), at);
                loops[0](out, at, in_double.data(), static_cast<int>(size));
                for (int lane = 0; lane < cpu::lanes; ++lane) {
                    const real expected = interpolated(table, at[lane]);
                    ASSERT_EQ(bits(out[lane]), bits(expected))
                        << set->name << std::hexfloat << ' ' << at[lane];
                    const real plain = tests::plain_interpolate<real>(in_double.data(), size, at[lane]);
                    ASSERT_EQ(bits(expected), bits(plain)) << set->name << std::hexfloat << ' ' << at[lane];
                }
                loops[1](out, at, in_double.data(), static_cast<int>(size));
                for (const real x : out) ASSERT_EQ(bits(x), bits(interpolated(table, at[0])));
                loops[0](at, at, in_double.data(), static_cast<int>(size));
                for (std::size_t lane = 0; lane < drawn.size(); ++lane)
                    ASSERT_EQ(bits(at[lane]), bits(interpolated(table, drawn[lane]))) << "in place";
            }
        }
    }
}

// A hash (FNV-1a) of interpolated values, the same for every compiler, optimisation level and instruction
// set. Whoever changes it changes prices, and must announce it.
TYPED_TEST(tables_interpolation, has_the_bits_of_every_other_build) {
    using real = TypeParam;
    for (const auto* set : instruction_sets()) {
        std::uint64_t hash = 0xcbf29ce484222325u;
        for (const std::size_t size : {2u, 100u, 4097u}) {
            const auto in_double = numbers_of_table<double>(size, size);
            alignas(64) real at[cpu::lanes];
            const auto drawn = positions<real>(size, size);
            std::copy(drawn.begin(), drawn.end(), at);
            functions_of<real>(*set).interpolate[0](at, at, in_double.data(), static_cast<int>(size));
            for (const real x : at) {
                for (std::size_t byte = 0; byte < sizeof x; ++byte)
                    hash = (hash ^ ((bits(x) >> (8 * byte)) & 0xff)) * 0x100000001b3u;
            }
        }
        constexpr std::uint64_t expected =
            std::is_same_v<real, double> ? 0xccff5f05f678a2d0u : 0xda308f8b6d4f6a93u;
        EXPECT_EQ(hash, expected) << std::hex << set->name << ": 0x" << hash;
    }
}

std::string defect(const std::function<void(recorder&)>& record) {
    recorder into;
    into.state("s", 0.0);
    try {
        record(into);
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::internal);
        return e.message();
    }
    return "accepted";
}

using numbers = std::vector<double>;

TEST(tables, are_recorded_by_name_and_run_by_run) {
    recorder into;
    into.output(into.state("s", 0.0));
    into.open_section(1, "one", 1);
    into.write(0, into.interpolate(into.table("b", numbers{5, 6, 7}, 3), into.read(0)));
    into.open_section(0, "step", 2);
    const tabulated a = into.table("a", numbers{1, 2, 3, 4}, 2), b = into.table("b", numbers{1, 2, 3, 4}, 2);
    const tabulated a_again = into.table("a", numbers{1, 2, 3, 4}, 2);
    const value x = into.normal();
    into.interpolate(b, x);
    into.interpolate(a_again, x);
    into.write(0, into.interpolate(a, x));
    const auto made = std::move(into).finish();
    ASSERT_EQ(made.code.sections[0].tables.size(), 2u);
    EXPECT_EQ(made.code.sections[0].tables[0].name, "a");
    EXPECT_EQ(made.code.sections[0].tables[0].size, 2u);
    ASSERT_EQ(made.code.sections[1].tables.size(), 1u) << "a name is a section's own";
    EXPECT_EQ(made.code.sections[1].tables[0].size, 3u);
    EXPECT_EQ(made.data.tables[0][0], (numbers{1, 2, 3, 4}));
    EXPECT_EQ(made.data.tables[1][0], (numbers{5, 6, 7}));
    const auto& nodes = made.code.sections[0].nodes;
    EXPECT_EQ(nodes[1], (program::node{operation::interpolate, {0, 1, 0}, 0}));
    EXPECT_EQ(nodes[2], (program::node{operation::interpolate, {0, 0, 0}, 0}));
}

TEST(tables, that_fit_nothing_are_refused) {
    const auto in_step = [](const std::function<void(recorder&)>& record) {
        return defect([&](recorder& r) {
            r.open_section(0, "step", 2);
            record(r);
        });
    };
    EXPECT_EQ(in_step([](recorder& r) {
                  r.table("t", numbers{1, 2}, 1);
              }),
              "recording: table 't' has 1 numbers in a row, not 2 to 16384");
    EXPECT_EQ(in_step([](recorder& r) { r.table("t", numbers(2 * 16385), 16385); }),
              "recording: table 't' has 16385 numbers in a row, not 2 to 16384");
    EXPECT_EQ(in_step([](recorder& r) { r.table("t", numbers(2 * 16384), 16384); }), "accepted");
    EXPECT_EQ(in_step([](recorder& r) {
                  r.table("t", numbers{1, 2, 3}, 2);
              }),
              "recording: table 't' does not have one row a run");
    const std::string twice = "recording: table 't' is given twice";
    const auto again = [&](const numbers& second, std::size_t size) {
        return in_step([&](recorder& r) {
            r.table("t", numbers{0, 1, 2, 3}, 2);
            r.table("t", second, size);
        });
    };
    EXPECT_EQ(again({0, 1, 2, 3}, 2), "accepted");
    EXPECT_EQ(again({0, 1, 2, 4}, 2), twice);
    EXPECT_EQ(again({-0.0, 1, 2, 3}, 2), twice) << "bits, not numbers";
    EXPECT_EQ(again({0, 1, 2, 3, 4, 5}, 3), twice);

    const std::string other = "recording: a table belongs to another section or recorder";
    EXPECT_EQ(in_step([](recorder& r) { r.interpolate({}, r.normal()); }), other);
    EXPECT_EQ(in_step([](recorder& r) {
                  const tabulated t = r.table("t", numbers{0, 1, 2, 3}, 2);
                  r.open_section(1, "one", 1);
                  r.interpolate(t, r.normal());
              }),
              other);
    EXPECT_EQ(in_step([](recorder& r) {
                  recorder foreign;
                  foreign.open_section(0, "step", 1);
                  r.interpolate(foreign.table("t", numbers{0, 1}, 2), r.normal());
              }),
              other);
    const std::string position = "recording: the position in a table belongs to another section or recorder";
    EXPECT_EQ(in_step([](recorder& r) {
                  const value x = r.normal();
                  r.open_section(1, "one", 1);
                  r.interpolate(r.table("t", numbers{0, 1}, 2), x);
              }),
              position);
    EXPECT_EQ(in_step([](recorder& r) {
                  r.interpolate(r.table("t", numbers{0, 1, 2, 3}, 2), {});
              }),
              position);
    EXPECT_EQ(in_step([](recorder& r) { r.apply(operation::interpolate, r.normal()); }),
              "recording: an operand of 'interpolate' is a table");
    EXPECT_EQ(defect([](recorder& r) { r.table("t", numbers{0, 1}, 2); }), "recording: no section is open");
    EXPECT_EQ(defect([](recorder& r) {
                  r.set_eager(true);
                  r.table("t", numbers{0, 1, 2, 3}, 2);
              }),
              "recording: table 't' is eager and has not one row");
    EXPECT_EQ(defect([](recorder& r) {
                  r.set_eager(true);
                  const tabulated t = r.table("t", numbers{0, 1}, 2);
                  r.set_eager(false);
                  r.open_section(0, "step", 1);
                  r.interpolate(t, r.normal());
              }),
              other);
}

TEST(tables, in_the_past_give_what_a_path_would_read) {
    for (const std::size_t size : {2u, 3u, 100u}) {
        const auto table = numbers_of_table<double>(size, size);
        recorder into;
        into.set_eager(true);
        for (const double position : positions<double>(1, size)) {
            const value got = into.interpolate(into.table("t", table, size), into.constant(position));
            ASSERT_TRUE(got.is_constant());
            ASSERT_EQ(bits(got.constant()), bits(interpolated(table, position))) << std::hexfloat << position;
        }
    }
}

TEST(tables, read_twice_at_one_place_are_read_once) {
    recorder into;
    into.output(into.state("s", 0.0));
    into.open_section(0, "step", 1);
    const tabulated unused = into.table("unused", numbers{9, 9, 9}, 3), a = into.table("a", numbers{1, 2}, 2),
                    b = into.table("b", numbers{3, 4, 5}, 3);
    into.interpolate(unused, into.normal());
    const value x = into.normal();
    const value first = into.interpolate(b, x), second = into.interpolate(b, x),
                other = into.interpolate(a, x);
    // Interpolation at a constant position is no constant: the numbers of the table are data.
    const value constant = into.interpolate(a, into.constant(0.5));
    into.write(0, first * second + other * x + constant);
    const auto made = std::move(into).finish();
    const auto optimised = program::optimise(made.code);
    const auto count = [](const auto& nodes) {
        return std::ranges::count(nodes, operation::interpolate, &program::node::code);
    };
    EXPECT_EQ(count(made.code.sections[0].nodes), 5);
    EXPECT_EQ(count(optimised.sections[0].nodes), 3);
    EXPECT_EQ(optimised.sections[0].tables.size(), 3u) << "slots stay as they were";

    const auto code = program::hoist(optimised);
    const auto& step = code.sections[0];
    ASSERT_EQ(step.tables.size(), 2u) << "what no path reads is gone for the back ends";
    EXPECT_EQ(step.tables[0].source, 2u);
    EXPECT_EQ(step.tables[0].size, 3u);
    EXPECT_EQ(step.tables[1].source, 1u);
    EXPECT_EQ(step.tables[1].size, 2u);
    EXPECT_EQ(step.row_width(), 5u);
    const auto data = program::bind(code, made.data);
    EXPECT_EQ(data.widths, std::vector<std::size_t>{5});
    EXPECT_EQ(data.rows[0], (numbers{3, 4, 5, 1, 2}));
}

TEST(tables, stand_behind_the_columns_of_each_run) {
    recorder into;
    into.output(into.state("s", 0.0));
    into.open_section(0, "step", 2);
    const tabulated t = into.table("t", numbers{1, 2, 3, 4}, 2);
    into.write(0, into.interpolate(t, into.normal()) * into.row("r", numbers{7, 8}));
    const auto made = std::move(into).finish();
    const auto code = program::hoist(made.code);
    EXPECT_EQ(program::bind(code, made.data).rows[0], (numbers{7, 1, 2, 8, 3, 4}));
    EXPECT_EQ(program::print(code),
              "step, once for each run:\n"
              "    u0 = row[0], r\n"
              "    row[0] = u0\n"
              "step, on every path:\n"
              "    table[0] of 2 numbers, a row for each run\n"
              "    v0 = normal[0]\n"
              "    v1 = interpolate(v0, table[0])\n"
              "    v2 = row[0], r\n"
              "    v3 = mul(v1, v2)\n"
              "    s <- v3\n");
    const std::string text = cuda::program_text(code, "program");
    for (const char* part : {"int widths[] = {3};", "static constexpr bool step_has_tables = true;",
                             "const real v1 = math::interpolate(row.table(1), 2, v0);"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
    }
}

program::path_program reads(std::size_t size, bool second, double number) {
    recorder into;
    into.output(into.state("s", 0.0));
    into.open_section(0, "step", 1);
    const tabulated a = into.table("a", numbers(size, number), size),
                    b = into.table("b", numbers(size, 2.0), size);
    const value x = into.normal();
    into.write(0, into.interpolate(second ? b : a, x) - into.interpolate(second ? a : b, x));
    return program::hoist(std::move(into).finish().code);
}

TEST(tables, sizes_are_structure_and_numbers_are_not) {
    const auto shape = [](std::size_t size, bool second, double number) {
        return program::shape_of(reads(size, second, number));
    };
    EXPECT_EQ(shape(3, false, 1), shape(3, false, 7));
    EXPECT_NE(shape(3, false, 1), shape(4, false, 1));
    EXPECT_NE(shape(3, false, 1), shape(3, true, 1)) << "the data goes to another place";
    EXPECT_EQ(cuda::program_text(reads(3, false, 1), "p"), cuda::program_text(reads(3, true, 1), "p"));
    EXPECT_NE(cuda::program_text(reads(3, false, 1), "p"), cuda::program_text(reads(4, false, 1), "p"));
    EXPECT_EQ(cuda::program_text(program::path_program{{}, {{}}, {"s"}, {0}, {0}}, "p").find("tables"),
              std::string::npos);
}

double plain_payoff(const program::path_program& code, const program::path_data& data,
                    const program::timeline& when, precision in, std::uint64_t seed, std::uint64_t path) {
    switch (in) {
        case precision::double_:
            return tests::plain_random_walk<double, kernels::double_draws>(code, data, when, seed, path);
        case precision::mixed:
            return tests::plain_random_walk<double, kernels::single_draws>(code, data, when, seed, path);
        default:
            return tests::plain_random_walk<float, kernels::single_draws>(code, data, when, seed, path);
    }
}

void expect_same_bits(const kernels::moments& got, const kernels::moments& expected) {
    for (const auto of : {&kernels::moments::count, &kernels::moments::mean, &kernels::moments::m2,
                          &kernels::moments::m3, &kernels::moments::m4}) {
        EXPECT_EQ(bits(got.*of), bits(expected.*of)) << got.*of << " and " << expected.*of;
    }
}

TEST(tables, give_paths_the_bits_of_one_path_at_a_time) {
    constexpr std::uint64_t seed = 3, paths = 1100;
    for (const std::size_t size : {2u, 3u, 100u}) {
        const tests::surface_program p(7, size, 2);
        const auto lanes = cpu::compile(p.code);
        for (const precision in : cpu_precisions) {
            const auto expected = tests::plain_moments(paths, [&](std::uint64_t path) {
                return plain_payoff(p.code, p.data, p.when, in, seed, path);
            });
            ASSERT_GT(expected.m2, 0);
            const std::vector<cpu::path_job> jobs{{&lanes, &p.data, &p.when, seed, paths, in, {}, {}}};
            for (const auto* set : instruction_sets()) {
                SCOPED_TRACE(testing::Message()
                             << program::name_of(in) << ", tables of " << size << ", " << set->name);
                const auto got = tests::whole(cpu::walk_all(jobs, *set, 1, nullptr, {})).at(0);
                EXPECT_EQ(got.not_finite, 0u);
                expect_same_bits(got.moments, expected);
            }
        }
    }
}

TEST(tables, are_read_everywhere) {
    const tests::surface_program p(7, 100, 2);
    int below = 0, within = 0, above = 0, nowhere = 0;
    program::path_program watched = p.code;
    for (const std::size_t section : {std::size_t{0}, std::size_t{1}}) {
        for (const auto& n : p.code.sections[section].nodes) {
            if (n.code != operation::interpolate) continue;
            watched = p.code;
            watched.sections[section].writes.push_back({watched.outputs[0], n.args[0]});
            const double last = p.code.sections[section].tables[n.args[1]].size - 1.0;
            for (std::uint64_t path = 0; path < 300; ++path) {
                const double at = plain_payoff(watched, p.data, p.when, precision::double_, 3, path);
                ++(std::isnan(at) ? nowhere : at < 0 ? below : at > last ? above : within);
            }
        }
    }
    EXPECT_GT(below, 50);
    EXPECT_GT(within, 200);
    EXPECT_GT(above, 20);
    EXPECT_GT(nowhere, 50);
}

TEST(tables, move_with_the_programs_that_are_united) {
    const tests::surface_program p(6, 9, 2), q(6, 9, 3), other(6, 10, 2);
    program::path_program negative = q.code;
    for (auto& n : negative.sections[1].nodes) {
        if (n.code == operation::exp) n.code = operation::cos;
    }
    const std::vector<const program::path_program*> shapes{&p.code, &negative, &other.code};
    const auto united = plan::unite(shapes);
    EXPECT_EQ(united.programs.size(), 2u);
    EXPECT_EQ(united.seats[0].program, united.seats[1].program);
    EXPECT_NE(united.seats[0].program, united.seats[2].program);
    const std::vector<const tests::surface_program*> from{&p, &q, &other};
    for (std::size_t i = 0; i < from.size(); ++i) {
        const auto& seat = united.seats[i];
        const auto& into = united.programs[seat.program];
        const auto data = plan::seated(from[i]->data, seat, into);
        const auto when = plan::seated(from[i]->when, seat);
        for (std::uint64_t path = 0; path < 50; ++path) {
            EXPECT_EQ(
                bits(plain_payoff(into, data, when, precision::double_, 1, path)),
                bits(plain_payoff(*shapes[i], from[i]->data, from[i]->when, precision::double_, 1, path)));
        }
    }
}

// If correlated moves are computed ahead of paths, columns that only they read leave the row; tables move up.
TEST(tables, stay_where_moves_are_taken_out) {
    recorder into;
    const auto x = into.state("x", 1.0), y = into.state("y", 2.0);
    into.output(x);
    into.open_section(0, "step", 3);
    const value z = into.normal(), w = into.normal();
    const value root = into.row("root", numbers{0.3, 0.4, 0.5}), scale = into.row("scale", numbers{2, 3, 5});
    const value first = fma(z, root, into.term("drift", 0.1));
    const value second =
        fma(w, into.term("own", 0.7), fma(z, into.term("shared", 0.2), into.term("drift", 0.1)));
    const tabulated t = into.table("t", numbers{1, 4, 2, 3, 5, 7, 8, 6, 9}, 3);
    into.write(x, into.read(x) + into.interpolate(t, into.read(y)) * first * scale);
    into.write(y, into.read(y) + second);
    const auto made = std::move(into).finish();
    const auto code = program::hoist(made.code);
    const auto data = program::bind(code, made.data);
    program::timeline when;
    for (int step = 0; step < 3; ++step) {
        when.times.push_back(step + 1.0);
        when.close_step();
    }
    const auto shock = [](std::uint64_t n) { return std::sin(static_cast<double>(7 * n + 1)); };
    const double expected = tests::plain_walk<double>(code, data, when, shock, shock);

    program::path_program united = code;
    united.sections[0].per_run.nodes.clear();
    for (const auto* from : std::array<const program::path_program*, 2>{&code, &united}) {
        const auto separated = program::separate_moves(*from);
        ASSERT_TRUE(separated);
        const auto& step = separated->code.sections[0];
        EXPECT_EQ(step.per_run.columns.size(), 1u) << "the root is gone";
        EXPECT_EQ(step.row_width(), 4u);
        const auto own = program::data_of_code(*separated, data);
        EXPECT_EQ(own.rows[0], (numbers{2, 1, 4, 2, 3, 3, 5, 7, 5, 8, 6, 9}));
        const auto moves = program::numbers_of_moves(*separated, data);
        const auto move = [&](std::uint64_t n) {
            const std::uint64_t at = n / 2 * 2;
            const double* roots = moves.roots.data() + n / 2 * moves.roots_per_step();
            if (n % 2 == 0) return std::fma(shock(at), roots[0], moves.drifts[n]);
            return std::fma(shock(at + 1), roots[2], std::fma(shock(at), roots[1], moves.drifts[n]));
        };
        EXPECT_EQ(bits(tests::plain_walk<double>(separated->code, own, when, move, move)), bits(expected));
    }
}

}  // namespace
}  // namespace tilewalk::tables_test
