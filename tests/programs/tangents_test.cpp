// SPDX-License-Identifier: Apache-2.0
// Tangents of a program against the rules of calculus and the adjoint: on every operation, the whole library,
// every model, and random programs. The program's own results keep their bits.
#include "products/program/tangents.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/both_ways.h"
#include "tests/every_model.h"
#include "tests/made_book.h"
#include "tests/recorded_paths.h"
#include "tilewalk/book.h"

namespace tilewalk::tangents_test {
namespace {

using namespace tests;

constexpr double most_error = 1e-12;  // relative to the sum of the sizes of the tangent's terms

program::path_data as_data(const recorded_path& of, const number_vector& numbers) {
    program::path_data out = of.data;
    out.initial_states = numbers.initial_states;
    out.terms = numbers.terms;
    out.rows = numbers.rows;
    return out;
}

program::wanted_numbers some_numbers_of(const program::path_program& p, std::uint64_t seed) {
    program::wanted_numbers out = program::all_numbers_of(p);
    std::mt19937_64 bits(seed);
    const auto some = [&](std::vector<bool>& marks) {
        for (std::size_t i = 0; i < marks.size(); ++i) marks[i] = bits() % 2 == 0;
    };
    some(out.initial_states);
    some(out.terms);
    for (auto& r : out.rows) some(r);
    for (auto& t : out.tables) some(t);
    out.scenarios.assign(out.scenarios.size(), false);
    return out;
}

struct carried {
    std::vector<program::wanted_numbers> along;
    program::tangent_program forth;
    program::adjoint_program back;

    carried(const recorded_path& of, std::uint64_t seed, const std::vector<program::jump>& smoothed = {})
        : along(3, program::no_number_of(of.code)) {
        along[0] = program::all_numbers_of(of.code);
        along[0].scenarios.assign(along[0].scenarios.size(), false);
        along[1] = some_numbers_of(of.code, seed);
        along[2].initial_states.flip();
        forth = program::tangents(of.code, along, smoothed);
        back = program::adjoint(of.code, along[0], smoothed);
        EXPECT_EQ(program::fault_of(forth.code), "");
    }
};

enum class finding { compared, not_finite, no_derivative };

finding compare_on(const recorded_path& of, const carried& by, std::uint64_t path, const std::string& what,
                   const program::smoothing& widths = {}) {
    const noise_of_path noise = noise_of(path);
    std::vector<number_vector> directions;
    std::vector<program::path_data> numbers;
    for (std::size_t d = 0; d < by.along.size(); ++d) {
        directions.push_back(direction_for(of, path + 10 * d + 1));
        numbers.push_back(as_data(of, directions.back()));
    }
    const program::path_data data = program::data_of_tangents(by.forth, of.code, of.data, numbers, widths);
    std::vector<double> states = data.initial_states, alone = of.data.initial_states;
    for (const section_run& at : runs_of(of.when)) {
        write_states(by.forth.code.sections[at.section], values_of(by.forth.code, data, at, states, noise),
                     states);
        write_states(of.code.sections[at.section], values_of(of.code, of.data, at, alone, noise), alone);
    }
    const std::size_t outputs = of.code.outputs.size();
    for (std::size_t o = 0; o < outputs; ++o)
        EXPECT_EQ(std::bit_cast<std::uint64_t>(states[by.forth.code.outputs[o]]),
                  std::bit_cast<std::uint64_t>(alone[of.code.outputs[o]]))
            << what;
    const number_vector gradient = gradient_along(by.back, of.data, of.when, noise, widths);
    finding out = finding::compared;
    for (std::size_t d = 0; d < by.along.size(); ++d) {
        const tangent expected = tangent_along(of.code, of.data, of.when, noise, by.along[d], directions[d],
                                               {by.forth.smoothed, widths});
        if (!std::isfinite(expected.derivative) || !std::isfinite(expected.size) || !is_finite(of, noise))
            return finding::not_finite;
        const double got = states[by.forth.code.outputs[outputs + d]];
        const double back = d == 0 ? product_of(gradient, directions[0]) : expected.derivative;
        EXPECT_TRUE(std::isfinite(got) || d > 0 || !std::isfinite(back)) << what << ", path " << path;
        if (!std::isfinite(got) || !std::isfinite(back)) {
            out = finding::no_derivative;
            continue;
        }
        EXPECT_LE(std::abs(got - expected.derivative), most_error * expected.size)
            << what << ", path " << path << ", direction " << d << ": found " << got << ", expected "
            << expected.derivative << " of terms of " << expected.size;
        EXPECT_LE(std::abs(got - back), most_error * expected.size)
            << what << ", path " << path << ": found " << got << ", the way back gives " << back
            << " of terms of " << expected.size;
    }
    return out;
}

std::size_t compare_trades_of(const book& b, const market& in, std::uint64_t paths) {
    std::size_t compared = 0;
    for (const books::trade& t : state_of(b).trades) {
        if (t.failure) throw *t.failure;
        const recorded_path of = planned(t, in);
        const carried by(of, compared);
        for (std::uint64_t p = 0; p < paths; ++p)
            EXPECT_EQ(compare_on(of, by, p, t.id), finding::compared) << t.id;
        ++compared;
    }
    return compared;
}

std::size_t nodes_of(const program::path_program& p) {
    std::size_t n = 0;
    for (const auto& s : p.sections) n += s.nodes.size();
    return n;
}

recorded_path asian() {
    static const book one = book::parse(
        "trades:\n  - {id: a, product: asian, underlying: ACME, strike: 100, averaging_dates: "
        "{start: 0, end: 1, count: 12}}\n");
    return planned(state_of(one).trades.at(0), demo_market());
}

}  // namespace

TEST(tangents, of_every_operation_are_those_of_calculus) {
    std::mt19937_64 bits(1);
    std::uniform_real_distribution<double> uniform(0.05, 0.95);
    int compared = 0;
    for (const program::operation_entry& entry : program::operations) {
        if (!program::is_function(entry.code)) continue;
        for (int i = 0; i < 50; ++i) {
            const bool is_signed = entry.code != operation::sqrt && entry.code != operation::log &&
                                   entry.code != operation::pow && entry.code != operation::norm_inv;
            const auto any = [&] { return is_signed && i % 2 == 1 ? -uniform(bits) : uniform(bits); };
            const double x = any(), y = any(), z = any();
            const auto of = of_three_rows(x, y, z, [&](auto& into, number a, number b, number c) {
                return into.apply(entry.code, a, b, c);
            });
            EXPECT_EQ(compare_on(of, carried(of, 1), 0, std::string(entry.name)), finding::compared)
                << entry.name;
            ++compared;
        }
    }
    EXPECT_EQ(compared, 50 * 27);
}

TEST(tangents, of_what_a_path_does_not_take_are_nothing) {
    const auto along = [](double x, double y, const auto& record) {
        const auto of = of_three_rows(x, y, 0, record);
        std::vector<double> out;
        for (std::size_t k = 1; k <= 2; ++k) {
            auto moved = program::no_number_of(of.code);
            moved.initial_states[k] = true;
            const auto t = program::tangents(of.code, {moved});
            program::path_data ones = of.data;
            for (double& one : ones.initial_states) one = 1;
            const auto data = program::data_of_tangents(t, of.code, of.data, {ones});
            std::vector<double> states = data.initial_states;
            for (const section_run& at : runs_of(of.when))
                write_states(t.code.sections[at.section], values_of(t.code, data, at, states, noise_of(0)),
                             states);
            out.push_back(states[t.code.outputs[1]]);
        }
        return out;
    };
    const auto where = [](number x, number taken, number otherwise) {
        return program::select(program::equal(x, x.home()->constant(0)), otherwise, taken);
    };
    using list = std::vector<double>;
    EXPECT_EQ(along(0, 3, [&](auto&, number a, number b, number) { return where(a, b / a, b); }),
              (list{0, 1}));
    EXPECT_EQ(along(0, 3, [&](auto&, number a, number b, number) { return where(a, b * log(a), b); }),
              (list{0, 1}));
    EXPECT_EQ(along(0, -0.5, [&](auto&, number a, number b, number) { return where(a, pow(a, b), b); }),
              (list{0, 1}));
    EXPECT_EQ(along(0, 3, [&](auto&, number a, number b, number) { return sqrt(max(a, 0.0)) * b; }),
              (list{0, 0}));
    EXPECT_EQ(along(0, 3,
                    [&](auto& into, number a, number b, number) {
                        return exp(log(a)) * 0.0 + pow(a, into.constant(0.5)) * 0.0 + b;
                    }),
              (list{0, 1}));
    EXPECT_EQ(along(-1, 3,
                    [&](auto& into, number a, number b, number) {
                        return pow(max(a, 0.0), into.constant(0.5)) + b;
                    }),
              (list{0, 1}));
    EXPECT_EQ(along(2, 2, [&](auto&, number a, number b, number) { return max(a, b); }), (list{1, 0}));
    EXPECT_EQ(along(2, 2, [&](auto&, number a, number b, number) { return min(a, b); }), (list{1, 0}));
}

TEST(tangents, of_the_library_are_those_of_the_way_back) {
    EXPECT_GE(compare_trades_of(book_of_every_kind(), demo_market(), 2), 300u);
}

TEST(tangents, of_every_model_are_those_of_the_way_back) {
    const book all = book::parse(book_of_every_model());
    EXPECT_GE(compare_trades_of(all, *all.market(), 2), 57u);
}

TEST(tangents, of_smoothed_comparisons_are_those_of_the_way_back) {
    std::size_t compared = 0;
    const book all = book_of_every_kind();
    for (const books::trade& t : state_of(all).trades) {
        const recorded_path of = planned(t, demo_market());
        const std::vector<program::jump> comparisons = comparisons_of(of.code);
        if (comparisons.empty()) continue;
        EXPECT_EQ(compare_on(of, carried(of, 1, comparisons), 0, t.id, widths_of(of, comparisons)),
                  finding::compared)
            << t.id;
        ++compared;
    }
    EXPECT_GE(compared, 180u);
}

TEST(tangents, of_programs_made_at_random_are_those_of_the_way_back) {
    constexpr int programs = 10000;
    std::map<finding, int> found, smoothed;
    for (int i = 0; i < programs && !::testing::Test::HasFailure(); ++i) {
        // Without flaws, which the test of every operation covers: in one program with a `flaw` a branch not
        // taken has the root of 0, where the adjoint has a derivative and tangents have none.
        const recorded_path of = generator(static_cast<std::uint64_t>(i), false).make();
        const std::string what = "program " + std::to_string(i);
        ++found[compare_on(of, carried(of, static_cast<std::uint64_t>(i)), 0, what)];
        const std::vector<program::jump> comparisons = comparisons_of(of.code);
        if (comparisons.empty()) continue;
        ++smoothed[compare_on(of, carried(of, static_cast<std::uint64_t>(i), comparisons), 0, what,
                              widths_of(of, comparisons))];
    }
    EXPECT_GE(found[finding::compared], programs * 65 / 100);
    EXPECT_GE(smoothed[finding::compared], 1000);
    // Some programs take a power of 0, whose slope is infinite.
    EXPECT_LE(found[finding::no_derivative], programs * 5 / 1000);
}

TEST(tangents, cost_what_their_directions_move) {
    const recorded_path of = asian();
    const auto none = program::no_number_of(of.code);
    EXPECT_EQ(nodes_of(program::tangents(of.code, {}).code), nodes_of(of.code));
    EXPECT_EQ(nodes_of(program::tangents(of.code, {none, none}).code), nodes_of(of.code));
    auto start = none;
    start.initial_states.flip();
    // The initial logarithm of the price moves all later ones alike, so no step computes a tangent for it.
    const program::tangent_program delta = program::tangents(of.code, {start});
    EXPECT_EQ(delta.code.sections[0].nodes.size(), of.code.sections[0].nodes.size());
    EXPECT_LT(nodes_of(delta.code),
              nodes_of(program::tangents(of.code, {program::all_numbers_of(of.code)}).code));
    const program::adjoint_program back = program::adjoint(of.code, start);
    EXPECT_TRUE(program::costs_less(delta, of.code, back));
    const std::vector<program::wanted_numbers> many(40, program::all_numbers_of(of.code));
    EXPECT_FALSE(
        program::costs_less(program::tangents(of.code, many), of.code, program::adjoint(of.code, many[0])));
}

}  // namespace tilewalk::tangents_test
