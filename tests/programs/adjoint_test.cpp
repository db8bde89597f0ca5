// SPDX-License-Identifier: Apache-2.0
// The adjoint of a program against its tangents: along any direction, derivatives times direction add up to
// the tangent. Checked on every operation, the whole library, every model, and random programs.
#include "products/program/adjoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/reading/book_state.h"
#include "tests/both_ways.h"
#include "tests/every_model.h"
#include "tests/made_book.h"
#include "tests/recorded_paths.h"
#include "tilewalk/book.h"

namespace tilewalk::adjoint_test {
namespace {

using namespace tests;

constexpr double most_error = 1e-12;  // relative to the sum of the sizes of the tangent's terms

enum class finding { compared, not_finite, no_derivative };

// Compares adjoint and tangent on one path, unless its values or its adjoint are not finite.
finding compare_on(const recorded_path& of, const program::adjoint_program& back,
                   const program::wanted_numbers& wanted, std::uint64_t path, const std::string& what,
                   const program::smoothing& widths = {}) {
    const noise_of_path noise = noise_of(path);
    const number_vector direction = direction_for(of, path + 1);
    const tangent t =
        tangent_along(of.code, of.data, of.when, noise, wanted, direction, {back.smoothed, widths});
    if (!std::isfinite(t.derivative) || !std::isfinite(t.size) || !is_finite(of, noise))
        return finding::not_finite;
    const double got = product_of(gradient_along(back, of.data, of.when, noise, widths), direction);
    if (!std::isfinite(got)) return finding::no_derivative;
    EXPECT_LE(std::abs(got - t.derivative), most_error * t.size)
        << what << ", path " << path << ": the way back gives " << got << ", the tangent is " << t.derivative
        << " of terms of " << t.size;
    return finding::compared;
}

std::size_t compare_trades_of(const book& b, const market& in, std::uint64_t paths) {
    std::size_t compared = 0;
    for (const books::trade& t : state_of(b).trades) {
        if (t.failure) throw *t.failure;
        const recorded_path of = planned(t, in);
        const auto wanted = program::all_numbers_of(of.code);
        const auto back = program::adjoint(of.code, wanted);
        EXPECT_EQ(program::fault_of(back.back), "") << t.id;
        EXPECT_EQ(program::fault_of(back.again), "") << t.id;
        for (std::uint64_t p = 0; p < paths; ++p)
            EXPECT_EQ(compare_on(of, back, wanted, p, t.id), finding::compared) << t.id;
        ++compared;
    }
    return compared;
}

}  // namespace

TEST(adjoint, of_every_operation_is_its_derivative) {
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
            const auto wanted = program::all_numbers_of(of.code);
            const auto back = program::adjoint(of.code, wanted);
            EXPECT_EQ(compare_on(of, back, wanted, 0, std::string(entry.name)), finding::compared)
                << entry.name;
            ++compared;
            // The adjoint also matches finite differences.
            if (entry.result == program::result_type::truth) continue;
            const auto gradient = gradient_along(back, of.data, of.when, noise_of(0));
            const std::vector<double> at{x, y, z};
            for (std::size_t k = 0; k < static_cast<std::size_t>(entry.arity); ++k) {
                if (entry.code == operation::select && k == 0) continue;
                auto up = at, down = at;
                const double h = 1e-6;
                up[k] += h;
                down[k] -= h;
                const auto f = [&](const std::vector<double>& v) {
                    return program::evaluate(entry.code, v[0], v[1], v[2]);
                };
                const double difference = (f(up) - f(down)) / (2 * h);
                EXPECT_NEAR(gradient.initial_states[1 + k], difference, 1e-7 * (1 + std::abs(difference)))
                    << entry.name << " at " << x << ", " << y << ", " << z << " to operand " << k;
            }
        }
    }
    EXPECT_EQ(compared, 50 * 27);
}

TEST(adjoint, of_what_a_path_does_not_take_is_nothing) {
    const auto gradient = [](double x, double y, const auto& record) {
        const auto of = of_three_rows(x, y, 0, record);
        const auto back = program::adjoint(of.code, program::all_numbers_of(of.code));
        return gradient_along(back, of.data, of.when, noise_of(0)).initial_states;
    };
    const auto where = [](number x, number taken, number otherwise) {
        return program::select(program::equal(x, x.home()->constant(0)), otherwise, taken);
    };
    using list = std::vector<double>;
    EXPECT_EQ(gradient(0, 3, [&](auto&, number a, number b, number) { return where(a, b / a, b); }),
              (list{0, 0, 1, 0}));
    EXPECT_EQ(gradient(0, 3, [&](auto&, number a, number b, number) { return where(a, b * log(a), b); }),
              (list{0, 0, 1, 0}));
    EXPECT_EQ(gradient(0, 3, [&](auto&, number a, number b, number) { return where(a, b * (b / a), b); }),
              (list{0, 0, 1, 0}));
    EXPECT_EQ(gradient(0, -0.5, [&](auto&, number a, number b, number) { return where(a, pow(a, b), b); }),
              (list{0, 0, 1, 0}));
    EXPECT_EQ(gradient(0, 3, [&](auto&, number a, number b, number) { return sqrt(max(a, 0.0)) * b; }),
              (list{0, 0, 0, 0}));
    EXPECT_EQ(gradient(2, 2, [&](auto&, number a, number b, number) { return max(a, b); }),
              (list{0, 1, 0, 0}));
    EXPECT_EQ(gradient(2, 2, [&](auto&, number a, number b, number) { return min(a, b); }),
              (list{0, 1, 0, 0}));
}

TEST(adjoint, of_the_library_is_its_tangent) {
    EXPECT_GE(compare_trades_of(book_of_every_kind(), demo_market(), 2), 300u);
}

TEST(adjoint, of_every_model_is_its_tangent) {
    const book all = book::parse(book_of_every_model());
    EXPECT_GE(compare_trades_of(all, *all.market(), 2), 57u);
}

// A smoothed comparison has derivatives with respect to the compared numbers, and so has all that it decides.
TEST(adjoint, of_smoothed_comparisons_is_their_tangent) {
    std::size_t compared = 0, moved = 0;
    const book all = book_of_every_kind();
    for (const books::trade& t : state_of(all).trades) {
        const recorded_path of = planned(t, demo_market());
        const std::vector<program::jump> comparisons = comparisons_of(of.code);
        if (comparisons.empty()) continue;
        const program::smoothing widths = widths_of(of, comparisons);
        const auto wanted = program::all_numbers_of(of.code);
        const auto back = program::adjoint(of.code, wanted, comparisons);
        EXPECT_EQ(program::fault_of(back.back), "") << t.id;
        EXPECT_EQ(compare_on(of, back, wanted, 0, t.id, widths), finding::compared) << t.id;
        ++compared;
        const auto direction = direction_for(of, 1);
        const auto along = [&](const tests::smoothed_comparisons& smoothed) {
            return tangent_along(of.code, of.data, of.when, noise_of(0), wanted, direction, smoothed)
                .derivative;
        };
        moved += along({comparisons, widths}) != along({});
    }
    EXPECT_GE(compared, 180u);
    EXPECT_GE(moved, 100u);
}

TEST(adjoint, of_smoothed_programs_made_at_random_is_their_tangent) {
    std::map<finding, int> found;
    for (int i = 0; i < 10000 && !::testing::Test::HasFailure(); ++i) {
        const recorded_path of = generator(static_cast<std::uint64_t>(i)).make();
        const std::vector<program::jump> comparisons = comparisons_of(of.code);
        if (comparisons.empty()) continue;
        const auto wanted = program::all_numbers_of(of.code);
        const auto back = program::adjoint(of.code, wanted, comparisons);
        ASSERT_EQ(program::fault_of(back.back), "") << i;
        ++found[compare_on(of, back, wanted, 0, "program " + std::to_string(i), widths_of(of, comparisons))];
    }
    EXPECT_GE(found[finding::compared], 1000);
}

TEST(adjoint, of_programs_made_at_random_is_their_tangent) {
    constexpr int programs = 10000;
    std::map<finding, int> found;
    for (int i = 0; i < programs && !::testing::Test::HasFailure(); ++i) {
        const recorded_path of = generator(static_cast<std::uint64_t>(i)).make();
        const auto wanted = program::all_numbers_of(of.code);
        const auto back = program::adjoint(of.code, wanted);
        ASSERT_EQ(program::fault_of(back.back), "") << i;
        ASSERT_EQ(program::fault_of(back.again), "") << i;
        ++found[compare_on(of, back, wanted, 0, "program " + std::to_string(i))];
    }
    EXPECT_GE(found[finding::compared], programs * 65 / 100);
    // Some programs take a power of 0, whose slope is infinite.
    EXPECT_LE(found[finding::no_derivative], programs * 5 / 1000);
}

TEST(adjoint, is_of_the_wanted_numbers_alone) {
    const book one = book::parse(
        "trades:\n  - {id: a, product: asian, underlying: ACME, strike: 100, averaging_dates: "
        "{start: 0, end: 1, count: 12}}\n");
    const recorded_path of = planned(state_of(one).trades.at(0), demo_market());
    const auto all = program::adjoint(of.code, program::all_numbers_of(of.code));
    auto wanted = program::no_number_of(of.code);
    wanted.initial_states.flip();
    const auto few = program::adjoint(of.code, wanted);
    const auto nodes = [](const program::path_program& p) {
        std::size_t n = 0;
        for (const auto& s : p.sections) n += s.nodes.size();
        return n;
    };
    EXPECT_LT(nodes(few.back), nodes(all.back));
    for (const auto& s : few.sections) EXPECT_TRUE(s.rows.empty() && s.tables.empty() && s.scenarios.empty());
    EXPECT_TRUE(few.terms.empty());
    const auto none = program::adjoint(of.code, program::no_number_of(of.code));
    EXPECT_EQ(nodes(none.back), 0u);
    EXPECT_EQ(nodes(none.again), 0u);
    // The program `again` recomputes the logarithm of the price for the adjoint, but not its running sum.
    EXPECT_LT(nodes(all.again), nodes(of.code));
    for (std::uint64_t path = 0; path < 20; ++path) {
        const auto noise = noise_of(path);
        EXPECT_EQ(gradient_along(few, of.data, of.when, noise).initial_states,
                  gradient_along(all, of.data, of.when, noise).initial_states);
    }
}

}  // namespace tilewalk::adjoint_test
