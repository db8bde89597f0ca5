// SPDX-License-Identifier: Apache-2.0
// Walks a path program one path and one operation at a time, in any precision; the lane machine must have the
// same bits. Also makes programs with any number of shocks a step.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/walk/cpu/lane_machine.h"
#include "kernels/draws.h"
#include "kernels/moments.h"
#include "products/program/apply.h"
#include "products/program/evaluate.h"
#include "products/program/passes.h"
#include "products/program/recorder.h"
#include "products/program/timeline.h"

namespace tilewalk::tests {

template <class real>
real apply_any(program::operation code, real a, real b, real c) {
    using function = real (*)(real, real, real);
    static constexpr auto table = []<std::size_t... i>(std::index_sequence<i...>) {
        constexpr auto one = []<std::size_t at>() -> function {
            constexpr auto code_at = static_cast<program::operation>(at);
            if constexpr (!program::is_function(code_at)) {
                return nullptr;
            } else {
                return &program::apply<code_at, real>;
            }
        };
        return std::array<function, sizeof...(i)>{one.template operator()<i>()...};
    }
    (std::make_index_sequence<program::operations.size()>{});
    return table[static_cast<std::size_t>(code)](a, b, c);
}

// Interpolates a table as documented in products/program/program.h.
template <class real>
real plain_interpolate(const double* table, std::size_t size, real position) {
    if (std::isnan(position)) return position;
    const real last = static_cast<real>(size - 1);
    const real at = position < 0 ? real(0) : position > last ? last : position;
    const std::size_t i = std::min(static_cast<std::size_t>(std::floor(at)), size - 2);
    const real first = static_cast<real>(table[i]), second = static_cast<real>(table[i + 1]);
    return std::fma(at - static_cast<real>(i), second - first, first);
}

// Returns the payoff of a path with states of type `real`. The functions `normal`, `uniform` and `scenario`
// give its shocks and scenario numbers.
template <class real>
double plain_walk(const program::path_program& code, const program::path_data& data,
                  const program::timeline& when, const std::function<real(std::uint64_t)>& normal,
                  const std::function<real(std::uint64_t)>& uniform,
                  const std::function<real(std::size_t, std::size_t)>& scenario = {}) {
    using program::operation;
    std::vector<real> states(data.initial_states.begin(), data.initial_states.end());
    const auto run = [&](std::size_t section, std::size_t row, std::size_t step) {
        const auto& of = code.sections[section];
        std::vector<real> v(of.nodes.size());
        for (std::size_t i = 0; i < v.size(); ++i) {
            const program::node& n = of.nodes[i];
            const std::size_t slot = n.args[0];
            switch (n.code) {
                case operation::constant:
                    v[i] = static_cast<real>(n.number);
                    break;
                case operation::term:
                    v[i] = static_cast<real>(data.terms[slot]);
                    break;
                case operation::row:
                    v[i] = static_cast<real>(data.rows[section][row * data.widths[section] + slot]);
                    break;
                case operation::state:
                    v[i] = states[slot];
                    break;
                case operation::normal:
                    v[i] = normal(step * static_cast<std::size_t>(code.normals_per_step) + slot);
                    break;
                case operation::uniform:
                    v[i] = uniform(step * static_cast<std::size_t>(code.uniforms_per_step) + slot);
                    break;
                case operation::scenario:
                    v[i] = scenario(step, slot);
                    break;
                case operation::interpolate:
                    v[i] = plain_interpolate<real>(
                        data.rows[section].data() + row * data.widths[section] + of.place_of_table(n.args[1]),
                        of.tables[n.args[1]].size, v[slot]);
                    break;
                default: {
                    std::array<real, 3> x{};
                    for (std::size_t a = 0; a < static_cast<std::size_t>(program::entry_of(n.code).arity);
                         ++a)
                        x[a] = v[n.args[a]];
                    v[i] = apply_any<real>(n.code, x[0], x[1], x[2]);
                }
            }
        }
        for (const auto& w : of.writes) states[w.state] = v[w.node];
    };
    for (std::size_t step = 0; step < when.steps(); ++step) {
        run(0, step, step);
        for (const program::event& e : when.events_after(step)) run(e.section, e.row, step);
    }
    return static_cast<double>(states[code.outputs.at(0)]);
}

// Returns the payoff of a path whose shocks are the random numbers of `draws` (kernels/draws.h).
template <class real, class draws>
double plain_random_walk(const program::path_program& code, const program::path_data& data,
                         const program::timeline& when, std::uint64_t seed, std::uint64_t path) {
    constexpr auto per_block = static_cast<std::uint64_t>(draws::per_block);
    // Shock n belongs to step n / per_step and slot n % per_step, and is drawn from the stream of that slot.
    const auto number_of = [&](std::uint64_t n, const std::vector<std::uint32_t>& streams, int per_step,
                               const std::vector<program::stream_name>& names, auto draw) {
        const auto slots = static_cast<std::uint64_t>(per_step);
        const auto place = program::places_in_streams(streams, per_step)[n % slots];
        const std::uint64_t number = n / slots * place.dimensions + place.dimension;
        const auto key = kernels::stream_key_of(program::key_of(names, place.stream));
        return static_cast<real>(
            draw(seed, path, static_cast<std::uint32_t>(number / per_block), key).x[number % per_block]);
    };
    const auto normal = [&](std::uint64_t n) {
        return number_of(n, code.normal_streams, code.normals_per_step, data.normal_names,
                         [](auto... at) { return draws::normals(at...); });
    };
    const auto uniform = [&](std::uint64_t n) {
        return number_of(n, code.uniform_streams, code.uniforms_per_step, data.uniform_names,
                         [](auto... at) { return draws::uniforms(at...); });
    };
    return plain_walk<real>(code, data, when, normal, uniform);
}

// The moments of payoff(path) over `paths` paths, summed in tiles and merged in the fixed order of a run.
inline kernels::moments plain_moments(std::uint64_t paths,
                                      const std::function<double(std::uint64_t)>& payoff) {
    std::vector<kernels::moments> tiles;
    for (std::uint64_t first = 0; first < paths; first += kernels::paths_per_tile) {
        std::vector<double> x(kernels::paths_per_tile);
        int count = 0;
        for (; count < kernels::paths_per_tile && first + static_cast<std::uint64_t>(count) < paths; ++count)
            x[static_cast<std::size_t>(count)] = payoff(first + static_cast<std::uint64_t>(count));
        tiles.push_back(kernels::tile_moments(x.data(), count));
    }
    return kernels::merge_tiles(tiles.data(), tiles.size());
}

// A program whose payoff depends on every shock, and which observes the state every second step.
struct shocked_program {
    program::path_program code;
    program::path_data data;
    cpu::lane_program lanes;
    program::timeline when;

    shocked_program(int normals, int uniforms, std::size_t steps) {
        program::recorder into;
        const auto x = into.state("x", 0.1);
        const auto sum = into.state("sum", 0.7);
        into.output(sum);
        std::vector<double> drift;
        for (std::size_t i = 0; i < steps; ++i) drift.push_back(0.01 / (1.0 + static_cast<double>(i)));
        into.open_section(0, "step", steps);
        auto moved = into.read(x) * 0.9 + into.row("drift", drift);
        for (int n = 0; n < normals; ++n) {
            const auto weight = into.term("weight" + std::to_string(n), 0.3 / (1.0 + n));
            moved = moved + weight * into.normal();
        }
        for (int n = 0; n < uniforms; ++n) {
            moved = moved + log(into.uniform()) * into.term("slope" + std::to_string(n), 0.05 * (1.0 + n));
        }
        into.write(x, moved);
        std::vector<double> level;
        for (std::size_t i = 1; i < steps; i += 2) level.push_back(0.2 + 0.1 * static_cast<double>(i));
        into.open_section(1, "watch", level.size());
        const auto seen = exp(into.read(x)) - into.row("level", level);
        into.write(sum, into.read(sum) + max(seen, 0.0) / 3.0);
        const auto recorded = std::move(into).finish();
        code = program::hoist(program::optimise(recorded.code));
        data = program::bind(code, recorded.data);
        lanes = cpu::compile(code);
        for (std::size_t i = 0; i < steps; ++i) {
            if (i % 2 == 1) when.add({1, static_cast<std::uint32_t>(i / 2)});
            when.times.push_back(static_cast<double>(i + 1));
            when.close_step();
        }
    }

    cpu::path_job job(program::precision precision, std::uint64_t seed, std::uint64_t paths) const {
        return {&lanes, &data, &when, seed, paths, precision, {}, {}};
    }
};

}  // namespace tilewalk::tests
