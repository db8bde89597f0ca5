// SPDX-License-Identifier: Apache-2.0
// Programs written by hand that read tables: a price whose volatility is from a table over its logarithm, and
// a payment from another table. Positions lie in a table, beyond either end, and at NaN, each on many paths.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "products/program/evaluate.h"
#include "products/program/passes.h"
#include "products/program/recorder.h"
#include "products/program/timeline.h"

namespace tilewalk::tests {

struct surface_program {
    program::recorder::recorded made;
    program::path_program code;
    program::path_data data;
    program::timeline when;

    // A program of `steps` steps, whose table has `size` numbers, with a payment after every `every`th step.
    surface_program(std::size_t steps, std::size_t size, std::size_t every) {
        program::recorder into;
        const auto x = into.state("x", 0.02), paid = into.state("paid", 0.0);
        into.output(paid);
        std::vector<double> drift, surface;
        for (std::size_t s = 0; s < steps; ++s) {
            drift.push_back(0.03 / static_cast<double>(s + 2));
            for (std::size_t i = 0; i < size; ++i) {
                const double at = static_cast<double>(i) / static_cast<double>(size - 1) - 0.6;
                surface.push_back(0.2 + 0.4 * at * at + 0.01 * static_cast<double>(s % 5));
            }
        }
        into.open_section(0, "step", steps);
        // Programs of size 2 have no row but the table.
        const auto drift_of_step = size == 2 ? into.term("drift", 0.01) : into.row("drift", drift);
        const auto position = fma(into.read(x), into.term("per_unit", 1.5 * static_cast<double>(size - 1)),
                                  into.term("at_zero", 0.5 * static_cast<double>(size - 1)));
        const auto volatility = into.interpolate(into.table("surface", surface, size), position);
        into.write(x, fma(volatility, into.normal() * 0.6,
                          drift_of_step - volatility * volatility * into.constant(0.18) + into.read(x)));

        const std::size_t payments = steps / every;
        std::vector<double> level, scale;
        for (std::size_t p = 0; p < payments; ++p) {
            for (int i = 0; i < 5; ++i) level.push_back(std::sin(static_cast<double>(p) + 1.7 * i));
            for (int i = 0; i < 2; ++i) scale.push_back(1.0 + i + 0.1 * static_cast<double>(p));
        }
        into.open_section(1, "pay", payments);
        const auto levels = into.table("level", level, 5);
        const auto of_nan = into.interpolate(levels, log(into.read(x)));
        const auto pays = select(equal(of_nan, of_nan), of_nan, into.constant(0.375)) +
                          into.interpolate(levels, exp(into.read(x)) * 2.0) *
                              into.interpolate(into.table("scale", scale, 2), into.read(x)) +
                          into.interpolate(levels, into.term("fixed", 2.25));
        into.write(paid, into.read(paid) + pays);
        made = std::move(into).finish();
        code = program::hoist(program::optimise(made.code));
        data = program::bind(code, made.data);
        for (std::size_t s = 0; s < steps; ++s) {
            if ((s + 1) % every == 0) when.add({1, static_cast<std::uint32_t>(s / every)});
            when.times.push_back(static_cast<double>(s + 1));
            when.close_step();
        }
    }
};

}  // namespace tilewalk::tests
