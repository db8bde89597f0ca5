// SPDX-License-Identifier: Apache-2.0
// The adjoint of a program against tangents carried forth through the same program: along any direction, the
// sum of derivatives times the direction is the tangent. On every operation, on the whole library, on every
// model, and on programs made at random.
#include "products/program/adjoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/book/book_state.h"
#include "engine/plan/trade_program.h"
#include "kernels/shocks.h"
#include "products/program/recorder.h"
#include "tests/both_ways.h"
#include "tests/every_model.h"
#include "tests/made_book.h"
#include "tests/plain_gradient.h"
#include "tilewalk/book.h"

namespace tilewalk {
namespace {

using program::operation;
using number = program::value;

constexpr double most_error = 1e-12;  // of the sum of the sizes of what the tangent is a sum of

// A path program, made without passes so that every recorded operation stays, and its numbers.
struct recorded_path {
    program::path_program code;
    program::path_data data;
    program::timeline when;
};

tests::noise_of_path noise_of(std::uint64_t path) {
    const auto place = [path](std::size_t step, std::size_t slot) {
        return static_cast<std::uint32_t>(step * 64 + slot);
    };
    return {[=](std::size_t step, std::size_t slot) {
                return kernels::normals(20260115, path, place(step, slot)).first;
            },
            [=](std::size_t step, std::size_t slot) {
                return kernels::uniforms(20260115, path, place(step, slot)).first;
            },
            [=](std::size_t step, std::size_t slot) {
                return 1 + kernels::normals(7, path, place(step, slot)).first / 8;
            }};
}

// A direction in which every number moves by something like its size.
tests::number_vector direction_for(const recorded_path& of, std::uint64_t seed) {
    tests::number_vector out(of.code, of.data, of.when);
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> normal;
    out.for_each([&](double& x) { x = normal(bits); });
    const auto sized = [](std::vector<double>& direction, const std::vector<double>& numbers) {
        for (std::size_t i = 0; i < direction.size(); ++i)
            direction[i] *= std::isfinite(numbers[i]) ? std::max(std::abs(numbers[i]), 0.01) : 0;
    };
    sized(out.initial_states, of.data.initial_states);
    sized(out.terms, of.data.terms);
    for (std::size_t s = 0; s < out.rows.size(); ++s) sized(out.rows[s], of.data.rows[s]);
    return out;
}

// Whether all states stay finite on the way.
bool is_finite(const recorded_path& of, const tests::noise_of_path& noise) {
    std::vector<double> states = of.data.initial_states;
    for (const tests::section_run& at : tests::runs_of(of.when)) {
        tests::write_states(of.code.sections[at.section],
                            tests::values_of(of.code, of.data, at, states, noise), states);
        if (!std::ranges::all_of(states, [](double x) { return std::isfinite(x); })) return false;
    }
    return true;
}

enum class finding { compared, not_finite, no_derivative };

// One path, if it gives finite numbers and the way back does.
finding compare_on(const recorded_path& of, const program::adjoint_program& back,
                   const program::wanted_numbers& wanted, std::uint64_t path, const std::string& what,
                   const program::smoothing& widths = {}) {
    const tests::noise_of_path noise = noise_of(path);
    const tests::number_vector direction = direction_for(of, path + 1);
    const tests::tangent t =
        tests::tangent_along(of.code, of.data, of.when, noise, wanted, direction, {back.smoothed, widths});
    if (!std::isfinite(t.derivative) || !std::isfinite(t.size) || !is_finite(of, noise))
        return finding::not_finite;
    const double got =
        tests::product_of(tests::gradient_along(back, of.data, of.when, noise, widths), direction);
    if (!std::isfinite(got)) return finding::no_derivative;
    EXPECT_LE(std::abs(got - t.derivative), most_error * t.size)
        << what << ", path " << path << ": the way back gives " << got << ", the tangent is " << t.derivative
        << " of terms of " << t.size;
    return finding::compared;
}

recorded_path planned(const books::trade& t, const market& in) {
    plan::trade_program made = plan::plan_trade(t, in.state());
    return {std::move(made.code), std::move(made.data), std::move(made.when)};
}

// How many trades were compared.
std::size_t compare_trades_of(const book& b, const market& in, std::uint64_t paths) {
    std::size_t compared = 0;
    for (const books::trade& t : b.state().trades) {
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

// Every comparison of a program, each run with a width of its own, so wide that many paths are within.
program::smoothing widths_of(const recorded_path& of, const std::vector<program::jump>& all) {
    program::smoothing out;
    for (std::size_t j = 0; j < all.size(); ++j) {
        std::vector<double>& widths = out.emplace_back();
        for (std::size_t run = 0; run < of.data.runs[all[j].section]; ++run)
            widths.push_back(0.5 + 0.25 * static_cast<double>(j % 3) + 0.125 * static_cast<double>(run % 5));
    }
    return out;
}
std::vector<program::jump> comparisons_of(const program::path_program& p) {
    std::vector<program::jump> out;
    for (std::uint32_t s = 0; s < p.sections.size(); ++s) {
        for (std::uint32_t i = 0; i < p.sections[s].nodes.size(); ++i) {
            const operation code = p.sections[s].nodes[i].code;
            if (code == operation::less || code == operation::less_equal) out.push_back({s, i});
        }
    }
    return out;
}

// One step that writes what `record` makes of three rows.
recorded_path of_three_rows(double x, double y, double z, const auto& record) {
    program::recorder into;
    into.output(into.state("out", 0.0));
    into.open_section(0, "step", 1);
    // Numbers that paths alone know: no operation is computed ahead of them.
    const auto held = [&](const char* name, double at) {
        const auto state = into.state(name, at);
        return into.read(state);
    };
    const number a = held("x", x), b = held("y", y), c = held("z", z);
    into.write(0, record(into, a, b, c));
    auto made = std::move(into).finish();
    recorded_path out;
    out.code = program::hoist(made.code);
    out.data = program::bind(out.code, made.data);
    out.when.times.push_back(1);
    out.when.close_step();
    return out;
}

// Programs of sections, states, tables and every operation, in numbers that stay moderate for a while.
class generator {
  public:
    explicit generator(std::uint64_t seed) : bits_(seed) {}

    recorded_path make() {
        program::recorder into;
        const std::size_t states = 1 + below(4), sections = 1 + below(3);
        steps_ = 1 + below(4);
        for (std::size_t s = 0; s < states; ++s) into.state("s" + std::to_string(s), any());
        for (double& t : terms_) t = any();
        recorded_path out;
        for (std::size_t k = 0; k < sections; ++k) {
            into.open_section(k, "section " + std::to_string(k), steps_);
            record(into, static_cast<std::uint32_t>(states));
        }
        into.output(0);
        for (std::size_t i = 0; i < steps_; ++i) {
            for (std::size_t k = 1; k < sections; ++k)
                out.when.add({static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(i)});
            out.when.times.push_back(static_cast<double>(i + 1));
            out.when.close_step();
        }
        auto made = std::move(into).finish();
        out.code = program::hoist(program::optimise(made.code));
        out.data = program::bind(out.code, made.data);
        return out;
    }

  private:
    std::size_t below(std::size_t n) { return bits_() % n; }
    double any() { return std::normal_distribution<double>()(bits_); }
    std::vector<double> many(std::size_t n) {
        std::vector<double> out(n);
        for (double& x : out) x = any();
        return out;
    }

    number leaf(program::recorder& into, std::uint32_t states) {
        switch (below(7)) {
            case 0:
                return into.constant(any());
            case 1: {
                const std::size_t t = below(std::size(terms_));
                return into.term("t" + std::to_string(t), terms_[t]);
            }
            case 2:
                return into.row("r" + std::to_string(rows_++), many(steps_));
            case 3:
                return below(2) == 0 ? into.normal() : into.uniform();
            case 4:
                return into.scenario("z" + std::to_string(below(2)),
                                     {0, std::vector<std::uint32_t>(steps_, 0)});
            default:
                return into.read(static_cast<std::uint32_t>(below(states)));
        }
    }

    void record(program::recorder& into, std::uint32_t states) {
        std::vector<number> pool;
        for (std::size_t i = 0, n = 3 + below(6); i < n; ++i) pool.push_back(leaf(into, states));
        const auto one_of = [&] {
            return pool[pool.size() - 1 - below(std::min<std::size_t>(pool.size(), 6))];
        };
        constexpr auto first = static_cast<std::size_t>(operation::neg);
        for (std::size_t i = 0, n = 2 + below(16); i < n; ++i) {
            const auto code = static_cast<operation>(first + below(program::operations.size() - first));
            if (program::is_ahead_of_paths(code)) continue;
            if (program::reads_table(code)) {
                const std::size_t size = 2 + below(4);
                const auto table = into.table("table" + std::to_string(rows_++), many(steps_ * size), size);
                pool.push_back(into.interpolate(table, one_of()));
                continue;
            }
            const number a = one_of(), b = one_of(), c = one_of();
            pool.push_back(into.apply(code, a, b, c));
        }
        for (std::uint32_t s = 0; s < states; ++s) {
            if (s == 0 || below(3) != 0) into.write(s, below(2) == 0 ? into.read(s) + one_of() : one_of());
        }
    }

    std::mt19937_64 bits_;
    double terms_[3] = {};
    std::size_t steps_ = 0, rows_ = 0;
};

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
            // The tangents, too, are what a small difference gives.
            if (entry.result == program::result_type::truth) continue;
            const auto gradient = tests::gradient_along(back, of.data, of.when, noise_of(0));
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
    EXPECT_EQ(compared, 50 * 26);
}

// A number that is infinite on the side of a condition that a path does not take has no part in it.
TEST(adjoint, of_what_a_path_does_not_take_is_nothing) {
    const auto gradient = [](double x, double y, const auto& record) {
        const auto of = of_three_rows(x, y, 0, record);
        const auto back = program::adjoint(of.code, program::all_numbers_of(of.code));
        return tests::gradient_along(back, of.data, of.when, noise_of(0)).initial_states;
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
    // A tie belongs to the first.
    EXPECT_EQ(gradient(2, 2, [&](auto&, number a, number b, number) { return max(a, b); }),
              (list{0, 1, 0, 0}));
    EXPECT_EQ(gradient(2, 2, [&](auto&, number a, number b, number) { return min(a, b); }),
              (list{0, 1, 0, 0}));
}

TEST(adjoint, of_the_library_is_its_tangent) {
    EXPECT_GE(compare_trades_of(book_of_every_kind(), tests::demo_market(), 2), 300u);
}

TEST(adjoint, of_every_model_is_its_tangent) {
    const book all = book::parse(book_of_every_model());
    EXPECT_GE(compare_trades_of(all, *all.market(), 2), 57u);
}

// Smoothed comparisons move with what they compare, and all that their truths decide moves with them.
TEST(adjoint, of_smoothed_comparisons_is_their_tangent) {
    std::size_t compared = 0, moved = 0;
    const book all = book_of_every_kind();
    for (const books::trade& t : all.state().trades) {
        const recorded_path of = planned(t, tests::demo_market());
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
            return tests::tangent_along(of.code, of.data, of.when, noise_of(0), wanted, direction, smoothed)
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
    // Some take a power of 0, which rises infinitely fast.
    EXPECT_LE(found[finding::no_derivative], programs * 5 / 1000);
}

// Numbers that nobody wants cost nothing, and change nothing.
TEST(adjoint, is_of_the_wanted_numbers_alone) {
    const book one = book::parse(
        "trades:\n  - {id: a, product: asian, underlying: ACME, strike: 100, averaging_dates: "
        "{start: 0, end: 1, count: 12}}\n");
    const recorded_path of = planned(one.state().trades.at(0), tests::demo_market());
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
    // The way back needs the logarithm of the price, not its sum so far.
    EXPECT_LT(nodes(all.again), nodes(of.code));
    for (std::uint64_t path = 0; path < 20; ++path) {
        const auto noise = noise_of(path);
        EXPECT_EQ(tests::gradient_along(few, of.data, of.when, noise).initial_states,
                  tests::gradient_along(all, of.data, of.when, noise).initial_states);
    }
}

}  // namespace tilewalk
