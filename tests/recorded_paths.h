// SPDX-License-Identifier: Apache-2.0
// Path programs with their numbers and noise, for tests of derivatives: of trades, of one operation, and
// random.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "kernels/shocks.h"
#include "products/program/recorder.h"
#include "tests/plain_gradient.h"
#include "tilewalk/market.h"

namespace tilewalk::tests {

using program::operation;
using number = program::value;

// A path program with its numbers and its timeline.
struct recorded_path {
    program::path_program code;
    program::path_data data;
    program::timeline when;
};

inline noise_of_path noise_of(std::uint64_t path) {
    const auto place = [](std::size_t step, std::size_t slot) {
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

// A random direction that moves every number by about its own size.
inline number_vector direction_for(const recorded_path& of, std::uint64_t seed) {
    number_vector out(of.code, of.data, of.when);
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

inline bool is_finite(const recorded_path& of, const noise_of_path& noise) {
    std::vector<double> states = of.data.initial_states;
    for (const section_run& at : runs_of(of.when)) {
        write_states(of.code.sections[at.section], values_of(of.code, of.data, at, states, noise), states);
        if (!std::ranges::all_of(states, [](double x) { return std::isfinite(x); })) return false;
    }
    return true;
}

inline recorded_path planned(const books::trade& t, const market& in) {
    plan::trade_program made = plan::plan_trade(t, state_of(in));
    return {std::move(made.code), std::move(made.data), std::move(made.when)};
}

// Smoothing widths for every comparison, another one for each run, so wide that they matter on many paths.
inline program::smoothing widths_of(const recorded_path& of, const std::vector<program::jump>& all) {
    program::smoothing out;
    for (std::size_t j = 0; j < all.size(); ++j) {
        std::vector<double>& widths = out.emplace_back();
        for (std::size_t run = 0; run < of.data.runs[all[j].section]; ++run)
            widths.push_back(0.5 + 0.25 * static_cast<double>(j % 3) + 0.125 * static_cast<double>(run % 5));
    }
    return out;
}
inline std::vector<program::jump> comparisons_of(const program::path_program& p) {
    std::vector<program::jump> out;
    for (std::uint32_t s = 0; s < p.sections.size(); ++s) {
        for (std::uint32_t i = 0; i < p.sections[s].nodes.size(); ++i) {
            const operation code = p.sections[s].nodes[i].code;
            if (code == operation::less || code == operation::less_equal) out.push_back({s, i});
        }
    }
    return out;
}

// A program of one step that writes `record`(x, y, z) to its output.
inline recorded_path of_three_rows(double x, double y, double z, const auto& record) {
    program::recorder into;
    into.output(into.state("out", 0.0));
    into.open_section(0, "step", 1);
    // Reads x, y and z from states, because operations on constants or rows would be hoisted off the paths.
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

// Random programs with sections, states, tables and every operation (`flaw` only if `has_flaws`), with
// numbers that stay moderate for a while.
class generator {
  public:
    explicit generator(std::uint64_t seed, bool has_flaws = true) : bits_(seed), has_flaws_(has_flaws) {}

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
            const auto flaw = static_cast<std::size_t>(operation::flaw);
            std::size_t drawn = first + below(program::operations.size() - first - (has_flaws_ ? 0 : 1));
            if (!has_flaws_ && drawn >= flaw) ++drawn;
            const auto code = static_cast<operation>(drawn);
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
    bool has_flaws_ = true;
    double terms_[3] = {};
    std::size_t steps_ = 0, rows_ = 0;
};

}  // namespace tilewalk::tests
