// SPDX-License-Identifier: Apache-2.0
// The likelihood ratio, path by path, against its formula evaluated with finite differences, independent of
// symbolic derivatives and of the adjoint. Also tests which programs it leaves unchanged.
#include "products/program/likelihood_ratio.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/trade_program.h"
#include "engine/plan/ways_back.h"
#include "engine/reading/book_state.h"
#include "kernels/shocks.h"
#include "products/program/jumps.h"
#include "products/program/recorder.h"
#include "tests/both_ways.h"
#include "tests/made_book.h"
#include "tests/plain_gradient.h"
#include "tilewalk/book.h"

namespace tilewalk::likelihood_ratio_test {
namespace {

struct planned_path {
    program::path_program code;
    program::path_data data;
    program::timeline when;
};

struct moved_noise {
    std::uint64_t path;
    std::size_t step = 0, slot = 0;
    double by = 0;

    tests::noise_of_path noise() const {
        const auto place = [](std::size_t s, std::size_t n) {
            return static_cast<std::uint32_t>(s * 64 + n);
        };
        return {[*this, place](std::size_t s, std::size_t n) {
                    const double z = kernels::normals(20260115, path, place(s, n)).first;
                    return s == step && n == slot ? z + by : z;
                },
                [*this, place](std::size_t s, std::size_t n) {
                    return kernels::uniforms(20260115, path, place(s, n)).first;
                },
                [](std::size_t, std::size_t) { return 1.0; }};
    }
};

struct tangent_path {
    const planned_path& of;
    const tests::number_vector& direction;
    const std::vector<program::jump>& jumps;
    double control = 0;  // subtracted from the output

    program::path_data moved(double by) const {
        program::path_data out = of.data;
        const auto move = [by](std::vector<double>& x, const std::vector<double>& along) {
            for (std::size_t i = 0; i < x.size(); ++i)
                if (along[i] != 0) x[i] += by * along[i];
        };
        move(out.terms, direction.terms);
        for (std::size_t s = 0; s < out.rows.size(); ++s) move(out.rows[s], direction.rows[s]);
        return out;
    }

    // Runs step `step` and the sections after it. `apart` becomes the difference of the last compared
    // numbers.
    std::vector<double> after_step(std::size_t step, std::vector<double> states,
                                   const program::path_data& numbers, const tests::noise_of_path& noise,
                                   std::optional<double>& apart, std::vector<bool>& truths) const {
        apart.reset();
        truths.clear();
        const auto run = [&](std::size_t section, std::size_t row) {
            const std::vector<double> v =
                tests::values_of(of.code, numbers, {section, row, step}, states, noise);
            for (const program::jump& j : jumps) {
                if (j.section != section) continue;
                const program::node& n = of.code.sections[section].nodes[j.node];
                apart = v[n.args[1]] - v[n.args[0]];
            }
            const std::vector<program::node>& nodes = of.code.sections[section].nodes;
            for (std::size_t i = 0; i < v.size(); ++i)
                if (program::entry_of(nodes[i].code).result == program::result_type::truth)
                    truths.push_back(v[i] != 0);
            tests::write_states(of.code.sections[section], v, states);
        };
        run(0, step);
        for (const program::event& e : of.when.events_after(step)) run(e.section, e.row);
        return states;
    }
};

struct estimate {
    double derivative = 0, size = 0;
};

// Evaluates the formula of likelihood_ratio.h along one path and direction, by finite differences in the
// direction and in the normal of each step. Empty if a difference crosses a jump or a kink near the path.
std::optional<estimate> by_the_formula(const tangent_path& on, std::uint64_t path, std::size_t slot) {
    constexpr double h = 1e-4, k = 1e-3;  // steps of the differences
    std::vector<double> states = on.of.data.initial_states, tangent = on.direction.initial_states;
    estimate out;
    double weight = 0, weights = 0;
    for (std::size_t step = 0; step < on.of.when.steps(); ++step) {
        std::optional<double> apart;
        std::vector<bool> truths, truths_here;
        bool has_crossed = false;
        on.after_step(step, states, on.of.data, moved_noise{path}.noise(), apart, truths_here);
        const auto at = [&](double along, double by) {
            std::vector<double> moved = states;
            for (std::size_t s = 0; s < moved.size(); ++s)
                if (tangent[s] != 0) moved[s] += along * tangent[s];
            auto after = on.after_step(step, std::move(moved), on.moved(along),
                                       moved_noise{path, step, slot, by}.noise(), apart, truths);
            has_crossed = has_crossed || truths != truths_here;
            return after;
        };
        const auto compared_at = [&](double along, double by) {
            at(along, by);
            return *apart;
        };
        const std::vector<double> up = at(h, 0), down = at(-h, 0), right = at(0, h), left = at(0, -h);
        const std::vector<double> here = at(0, 0);
        double u = 0;
        if (apart) {
            const double c = (compared_at(h, 0) - compared_at(-h, 0)) / (2 * h);
            const double slope = (compared_at(0, k) - compared_at(0, -k)) / (2 * k);
            const double curvature =
                (compared_at(0, k) - 2 * compared_at(0, 0) + compared_at(0, -k)) / (k * k);
            const double cross =
                (compared_at(h, k) - compared_at(h, -k) - compared_at(-h, k) + compared_at(-h, -k)) /
                (4 * h * k);
            u = c / slope;
            const double z = moved_noise{path}.noise().normal(step, slot);
            const double change = cross / slope - c * curvature / (slope * slope);
            weight += z * u - change;
            weights += std::abs(z * u) + std::abs(change);
        }
        for (std::size_t s = 0; s < states.size(); ++s) {
            const double forth = (up[s] - down[s]) / (2 * h), along = (right[s] - left[s]) / (2 * h);
            // A state of a branch not taken may be infinite, and its differences NaN.
            tangent[s] = std::isfinite(forth) ? forth - u * along : 0;
        }
        if (has_crossed) return std::nullopt;
        states = here;
    }
    const std::size_t output = on.of.code.outputs[0];
    const double f = states[output] - on.control;
    out.derivative = tangent[output] + f * weight;
    out.size = std::abs(tangent[output]) + std::abs(f) * weights;
    return out;
}

// A direction that moves initial states and the rows of the step, as a move of the market does. The level of
// a jump itself does not move.
tests::number_vector direction_for(const planned_path& of, std::uint64_t seed) {
    tests::number_vector out(of.code, of.data, of.when);
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> normal;
    const auto fill = [&](std::vector<double>& to, const std::vector<double>& numbers) {
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = std::isfinite(numbers[i]) ? normal(bits) * std::max(std::abs(numbers[i]), 0.01) / 16 : 0;
    };
    fill(out.initial_states, of.data.initial_states);
    fill(out.rows[0], of.data.rows[0]);
    return out;
}

TEST(likelihood_ratio, ways_back_are_kept_for_each_set_of_numbers) {
    const book all = book_of_every_kind();
    std::size_t kept = 0;
    for (const books::trade& t : state_of(all).trades) {
        const auto made = plan::plan_trade(t, state_of(tests::demo_market()));
        if (made.is_certain()) continue;
        const auto code = std::make_shared<const program::path_program>(made.code);
        greeks::adjoint_store store;
        const auto& scored = store.scored_of(code, made.data, made.when);
        if (!scored) continue;
        program::wanted_numbers states = program::no_number_of(*code);
        states.initial_states.flip();
        const program::wanted_numbers numbers = program::all_numbers_of(*code);
        const auto of_states = store.scored_adjoint_of(code, *scored, states);
        const auto of_numbers = store.scored_adjoint_of(code, *scored, numbers);
        EXPECT_NE(of_states, of_numbers) << t.id;
        EXPECT_EQ(store.scored_adjoint_of(code, *scored, states), of_states) << t.id;
        EXPECT_EQ(store.scored_adjoint_of(code, *scored, numbers), of_numbers) << t.id;
        ++kept;
    }
    EXPECT_GT(kept, 3U);
}

}  // namespace

TEST(likelihood_ratio, along_a_path_is_that_of_its_formula) {
    constexpr double most_error = 1e-5;  // relative to the sum of the terms' sizes; differences are no better
    constexpr double control = 0.25;
    std::size_t compared = 0, crossed = 0, with_curvature = 0, together = 0;
    const book all = book_of_every_kind();
    for (const books::trade& t : state_of(all).trades) {
        auto made = plan::plan_trade(t, state_of(tests::demo_market()));
        if (made.is_certain()) continue;
        const planned_path of{std::move(made.code), std::move(made.data), std::move(made.when)};
        const auto jumps = program::jumps_of(of.code, of.data, of.when);
        if (jumps.empty()) continue;
        const auto scored = program::scored(of.code, of.data, of.when, jumps);
        if (!scored) continue;
        const tests::number_vector direction = direction_for(of, 1);
        program::path_data move = of.data;
        move.initial_states = direction.initial_states;
        move.terms = direction.terms;
        move.rows = direction.rows;
        if (!program::stand_still_together(*scored, of.data, of.when, move)) continue;
        EXPECT_EQ(program::fault_of(scored->code), "") << t.id;
        const auto both = program::adjoint(*scored, program::all_numbers_of(of.code));
        EXPECT_EQ(program::fault_of(both.code.back), "") << t.id;
        EXPECT_EQ(program::fault_of(both.code.again), "") << t.id;
        EXPECT_EQ(program::fault_of(both.forth), "") << t.id;
        const program::path_data data = program::data_of_scored(*scored, of.data);
        for (std::uint64_t path = 0; path < 3; ++path) {
            const auto truth = by_the_formula({of, direction, jumps, control}, path, scored->normal);
            crossed += !truth;
            if (!truth) continue;
            tests::number_vector along(scored->code, data, of.when);
            std::ranges::copy(direction.initial_states, along.initial_states.begin());
            along.rows = direction.rows;
            const double got = tests::product_of(
                tests::gradient_along(both.code, data, of.when, moved_noise{path}.noise(), {}, control),
                along);
            EXPECT_LE(std::abs(got - truth->derivative), most_error * truth->size)
                << t.id << ", path " << path << ": the way back gives " << got << ", the formula "
                << truth->derivative << " of terms of " << truth->size;
        }
        ++compared;
        const auto is_curved = [](const program::scored_jump& j) { return j.curvature != program::no_slope; };
        with_curvature += std::ranges::any_of(scored->jumps, is_curved);
        together += scored->jumps.size() > 1;
    }
    EXPECT_GE(compared, 80u);
    EXPECT_GE(with_curvature, 20u);
    EXPECT_GE(together, 15u);
    EXPECT_LE(crossed, compared / 20);
}

}  // namespace tilewalk::likelihood_ratio_test
