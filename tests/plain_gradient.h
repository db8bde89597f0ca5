// SPDX-License-Identifier: Apache-2.0
// Derivatives along one path, computed one operation at a time: by the adjoint, whose bits every back end
// must have, and independently by tangents.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "products/program/activity.h"
#include "products/program/adjoint.h"
#include "products/program/evaluate.h"
#include "products/program/timeline.h"

namespace tilewalk::tests {

struct noise_of_path {
    std::function<double(std::size_t step, std::size_t slot)> normal, uniform, scenario;
};

// A number for each input of a program (initial states, terms, rows, scenarios): a derivative or a direction.
struct number_vector {
    std::vector<double> initial_states, terms;
    std::vector<std::vector<double>> rows;       // by section, laid out as in path_data, with tables
    std::vector<std::vector<double>> scenarios;  // by step and slot

    explicit number_vector(const program::path_program& p, const program::path_data& data,
                           const program::timeline& when)
        : initial_states(data.initial_states.size()),
          terms(data.terms.size()),
          scenarios(when.steps(), std::vector<double>(static_cast<std::size_t>(p.scenarios_per_step))) {
        for (const auto& r : data.rows) rows.emplace_back(r.size());
    }
    template <class function>
    void for_each(const function& f) {
        for (double& x : initial_states) f(x);
        for (double& x : terms) f(x);
        for (auto& r : rows)
            for (double& x : r) f(x);
        for (auto& s : scenarios)
            for (double& x : s) f(x);
    }
};

struct section_run {
    std::size_t section, row, step;
};
inline std::vector<section_run> runs_of(const program::timeline& when) {
    std::vector<section_run> out;
    for (std::size_t step = 0; step < when.steps(); ++step) {
        out.push_back({0, step, step});
        for (const program::event& e : when.events_after(step)) out.push_back({e.section, e.row, step});
    }
    return out;
}

// Place of a position in a table: the interval `i` and the fraction `on` of it, 0 or 1 beyond the ends.
struct plain_place {
    std::size_t i;
    double on;
    bool is_inside;
};
inline plain_place place_in_table(std::size_t size, double position) {
    const double last = static_cast<double>(size - 1);
    const double at = std::fmin(std::fmax(position, 0.0), last);
    const std::size_t i = std::min(static_cast<std::size_t>(at), size - 2);
    return {i, at - static_cast<double>(i), position >= 0 && position <= last};
}

inline std::vector<double> values_of(const program::path_program& p, const program::path_data& data,
                                     const section_run& at, const std::vector<double>& states,
                                     const noise_of_path& noise) {
    using program::operation;
    const program::lane_section& of = p.sections[at.section];
    const double* row = data.rows[at.section].data() + at.row * data.widths[at.section];
    std::vector<double> v(of.nodes.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
        const program::node& n = of.nodes[i];
        const std::size_t slot = n.args[0];
        switch (n.code) {
            case operation::constant:
                v[i] = n.number;
                break;
            case operation::term:
                v[i] = data.terms[slot];
                break;
            case operation::row:
                v[i] = row[slot];
                break;
            case operation::state:
                v[i] = states[slot];
                break;
            case operation::normal:
                v[i] = noise.normal(at.step, slot);
                break;
            case operation::uniform:
                v[i] = noise.uniform(at.step, slot);
                break;
            case operation::scenario:
                v[i] = noise.scenario(at.step, slot);
                break;
            case operation::interpolate: {
                const double* table = row + of.place_of_table(n.args[1]);
                const plain_place place = place_in_table(of.tables[n.args[1]].size, v[slot]);
                v[i] = std::fma(place.on, table[place.i + 1] - table[place.i], table[place.i]);
                break;
            }
            default: {
                std::array<double, 3> x{};
                for (std::size_t a = 0; a < program::operands(n).size(); ++a) x[a] = v[n.args[a]];
                v[i] = program::evaluate(n.code, x[0], x[1], x[2]);
            }
        }
    }
    return v;
}

inline void write_states(const program::lane_section& of, const std::vector<double>& values,
                         std::vector<double>& states) {
    for (const program::state_write& w : of.writes) states[w.state] = values[w.node];
}

// Derivatives of one path's payoff by the adjoint. The program `a.again` recomputes the path's states.
inline number_vector gradient_along(const program::adjoint_program& a, const program::path_data& data,
                                    const program::timeline& when, const noise_of_path& noise,
                                    const program::smoothing& widths = {}, double control = 0) {
    number_vector out(a.again, data, when);
    const program::path_data of_back = program::data_of_back(a, data, widths, control);
    const std::vector<section_run> runs = runs_of(when);
    std::vector<std::vector<double>> before;
    std::vector<double> states = data.initial_states;
    for (const section_run& at : runs) {
        before.push_back(states);
        write_states(a.again.sections[at.section], values_of(a.again, data, at, states, noise), states);
    }
    std::vector<double> back = of_back.initial_states;
    for (std::size_t k = runs.size(); k-- > 0;) {
        const section_run& at = runs[k];
        const program::section_derivatives& told = a.sections[at.section];
        for (const program::derivative_in& g : told.given) back[g.state] = before[k][g.number];
        write_states(a.back.sections[at.section], values_of(a.back, of_back, at, back, noise), back);
        double* row = out.rows[at.section].data() + at.row * data.widths[at.section];
        for (const program::derivative_in& r : told.rows) row[r.number] += back[r.state];
        for (const program::derivative_in& s : told.scenarios)
            out.scenarios[at.step][s.number] += back[s.state];
        for (const program::derivative_in_table& t : told.tables) {
            const program::lane_section& from = a.again.sections[at.section];
            double* table = row + from.place_of_table(t.table);
            for (const auto& read : t.reads) {
                const plain_place place = place_in_table(from.tables[t.table].size, back[read.position]);
                table[place.i] += back[read.state] * (1 - place.on);
                table[place.i + 1] += back[read.state] * place.on;
            }
        }
    }
    for (const program::derivative_in& s : a.initial_states) out.initial_states[s.number] = back[s.state];
    for (const program::derivative_in& t : a.terms) out.terms[t.number] = back[t.state];
    return out;
}

// The derivative of an operation in a direction, from its operands `x` and their tangents `dx`, by the rules
// of calculus and the standard library's functions.
inline double tangent_of(program::operation code, double value, const std::array<double, 3>& x,
                         const std::array<double, 3>& dx) {
    using enum program::operation;
    const auto times = [](double a, double b) { return b == 0 ? 0.0 : a * b; };
    const auto density = [](double z) { return std::exp(-z * z / 2) / std::sqrt(2 * M_PI); };
    switch (code) {
        case neg:
            return -dx[0];
        case abs:
            return x[0] < 0 ? -dx[0] : dx[0];
        case sqrt:
            return value > 0 ? dx[0] / (2 * std::sqrt(x[0])) : 0;
        case exp:
            return times(std::exp(x[0]), dx[0]);
        case log:
            return times(1 / x[0], dx[0]);
        case sin:
            return std::cos(x[0]) * dx[0];
        case cos:
            return -std::sin(x[0]) * dx[0];
        case norm_cdf:
            return density(x[0]) * dx[0];
        case norm_inv:
            return times(1 / density(value), dx[0]);
        case normal_to_exponential:
            return x[0] > -1 && x[0] < 9 ? density(x[0]) / (0.5 * std::erfc(x[0] / std::sqrt(2.0))) * dx[0]
                                         : 0;
        case add:
            return dx[0] + dx[1];
        case sub:
            return dx[0] - dx[1];
        case mul:
            return times(x[1], dx[0]) + times(x[0], dx[1]);
        case div:
            return times(1 / x[1], dx[0]) - times(x[0] / (x[1] * x[1]), dx[1]);
        case min:
            return x[1] < x[0] ? dx[1] : dx[0];
        case max:
            return x[0] < x[1] ? dx[1] : dx[0];
        case pow:
            return times(x[1] * std::pow(x[0], x[1] - 1), dx[0]) + times(value * std::log(x[0]), dx[1]);
        case fma:
            return times(x[1], dx[0]) + times(x[0], dx[1]) + dx[2];
        case select:
            return x[0] != 0 ? dx[1] : dx[2];
        case flaw:
            return dx[2];
        default:
            return 0;
    }
}

// The tangent of a truth value, from the tangents of the operands that can change it.
inline double tangent_of_truth(program::operation code, const std::array<double, 3>& x,
                               const std::array<double, 3>& dx) {
    switch (code) {
        case program::operation::logical_not:
            return -dx[0];
        case program::operation::logical_and:
            return dx[0] * (x[1] != 0) + dx[1] * (x[0] != 0);
        case program::operation::logical_or:
            return dx[0] * (x[1] == 0) + dx[1] * (x[0] == 0);
        case program::operation::equal:
            return dx[0] * (x[1] != 0 ? 1 : -1) + dx[1] * (x[0] != 0 ? 1 : -1);
        default:
            return dx[0] == 0 ? 0 : dx[0] * (x[1] - x[2]);  // select: the part by its condition
    }
}

struct smoothed_comparisons {
    std::vector<program::jump> all{};
    program::smoothing widths{};

    // The slope of a smoothed comparison where the compared numbers differ by `apart`.
    double rise(std::size_t section, std::size_t node, std::size_t run, double apart) const {
        for (std::size_t j = 0; j < all.size(); ++j) {
            if (all[j].section != section || all[j].node != node || !(widths[j][run] > 0)) continue;
            const double x = apart / widths[j][run];
            if (!(std::abs(x) < 1)) return 0;
            return 15.0 / 32 * (1 - x * x) * (3 - 7 * x * x) / widths[j][run];
        }
        return 0;
    }
};

// The derivative of the output along a direction. `size` is the sum of the absolute values of its summands,
// which rounding errors are measured by.
struct tangent {
    double derivative = 0, size = 0;
};
inline tangent tangent_along(const program::path_program& p, const program::path_data& data,
                             const program::timeline& when, const noise_of_path& noise,
                             const program::wanted_numbers& wanted, const number_vector& direction,
                             const smoothed_comparisons& smoothed = {}) {
    using program::operation;
    const auto along = [](bool is_wanted, double x) {
        return is_wanted ? tangent{x, std::abs(x)} : tangent{};
    };
    const auto times = [](double factor, const tangent& t) {
        return tangent{factor * t.derivative, std::abs(factor) * t.size};
    };
    const auto plus = [](const tangent& a, const tangent& b) {
        return tangent{a.derivative + b.derivative, a.size + b.size};
    };
    const program::active_values activity(p, program::no_number_of(p));
    std::vector<std::vector<bool>> is_truth;
    for (std::size_t s = 0; s < p.sections.size(); ++s) is_truth.push_back(activity.truths(s));
    std::vector<double> states = data.initial_states;
    std::vector<tangent> moved;
    for (std::size_t s = 0; s < states.size(); ++s)
        moved.push_back(along(wanted.initial_states[s], direction.initial_states[s]));
    for (const section_run& at : runs_of(when)) {
        const program::lane_section& of = p.sections[at.section];
        const std::vector<double> v = values_of(p, data, at, states, noise);
        const std::size_t first_of_row = at.row * data.widths[at.section];
        const double* const row = data.rows[at.section].data() + first_of_row;
        const double* const row_direction = direction.rows[at.section].data() + first_of_row;
        std::vector<tangent> d(v.size());
        for (std::size_t i = 0; i < v.size(); ++i) {
            const program::node& n = of.nodes[i];
            const std::size_t slot = n.args[0];
            switch (n.code) {
                case operation::constant:
                case operation::normal:
                case operation::uniform:
                    break;
                case operation::term:
                    d[i] = along(wanted.terms[slot], direction.terms[slot]);
                    break;
                case operation::row:
                    d[i] = along(wanted.rows[at.section][slot], row_direction[slot]);
                    break;
                case operation::state:
                    d[i] = moved[slot];
                    break;
                case operation::scenario:
                    d[i] = along(wanted.scenarios[slot], direction.scenarios[at.step][slot]);
                    break;
                case operation::interpolate: {
                    const plain_place place = place_in_table(of.tables[n.args[1]].size, v[slot]);
                    const std::size_t first = of.place_of_table(n.args[1]) + place.i;
                    if (place.is_inside) d[i] = times(row[first + 1] - row[first], d[slot]);
                    const bool is_wanted = wanted.tables[at.section][n.args[1]];
                    d[i] = plus(d[i], along(is_wanted, (1 - place.on) * row_direction[first]));
                    d[i] = plus(d[i], along(is_wanted, place.on * row_direction[first + 1]));
                    break;
                }
                default: {
                    std::array<double, 3> x{}, dx{};
                    const auto operands = program::operands(n);
                    for (std::size_t a = 0; a < operands.size(); ++a) {
                        x[a] = v[operands[a]];
                        dx[a] = d[operands[a]].derivative;
                    }
                    d[i].derivative = tangent_of(n.code, v[i], x, dx);
                    for (std::size_t a = 0; a < operands.size(); ++a) {
                        std::array<double, 3> one{};
                        one[a] = d[operands[a]].size;
                        d[i].size += std::abs(tangent_of(n.code, v[i], x, one));
                    }
                    if (smoothed.all.empty()) break;
                    if (n.code == operation::less || n.code == operation::less_equal) {
                        const double rise = smoothed.rise(at.section, i, at.row, x[1] - x[0]);
                        if (rise == 0) break;
                        d[i] = times(rise, plus(d[operands[1]], times(-1, d[operands[0]])));
                        break;
                    }
                    const auto truth_at = [&](std::size_t a) { return is_truth[at.section][operands[a]]; };
                    if (n.code == operation::equal && !(truth_at(0) && truth_at(1))) break;
                    const bool decides = n.code == operation::select;
                    if (!decides && program::entry_of(n.code).result != program::result_type::truth) break;
                    for (std::size_t a = 0; a < (decides ? 1 : operands.size()); ++a) {
                        if (!truth_at(a)) continue;
                        std::array<double, 3> one{}, size{};
                        one[a] = dx[a];
                        size[a] = d[operands[a]].size;
                        d[i].derivative += tangent_of_truth(n.code, x, one);
                        d[i].size += std::abs(tangent_of_truth(n.code, x, size));
                    }
                }
            }
        }
        for (const program::state_write& w : of.writes) {
            states[w.state] = v[w.node];
            moved[w.state] = d[w.node];
        }
    }
    return moved[p.outputs[0]];
}

inline double product_of(number_vector a, number_vector b) {
    std::vector<double> all;
    a.for_each([&](double x) { all.push_back(x); });
    std::size_t i = 0;
    double sum = 0;
    b.for_each([&](double x) { sum += all[i++] * x; });
    return sum;
}

}  // namespace tilewalk::tests
