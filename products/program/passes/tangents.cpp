// SPDX-License-Identifier: Apache-2.0
// Forward derivatives of a path program: each section also computes the derivatives of its writes, from those
// of the states, terms and rows that it reads.
#include "products/program/tangents.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "products/program/activity.h"
#include "products/program/cost.h"
#include "products/program/passes/derivative_rules.h"
#include "products/program/passes/recorded_numbers.h"
#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

namespace {

// Moves nodes directly after their last operand, to keep few numbers live. The first nodes stay in order.
void put_near_operands(section& s, std::size_t first_nodes) {
    std::vector<index> behind(s.nodes.size(), 0), order(s.nodes.size());
    for (index i = 0; i < s.nodes.size(); ++i) {
        if (i < first_nodes) behind[i] = i;
        for (const index arg : operands(std::as_const(s.nodes[i])))
            behind[i] = std::max(behind[i], behind[arg]);
    }
    std::iota(order.begin(), order.end(), index{0});
    std::ranges::stable_sort(order, {}, [&](index i) { return behind[i]; });
    std::vector<index> renamed(order.size());
    for (index i = 0; i < order.size(); ++i) renamed[order[i]] = i;
    std::vector<node> nodes;
    for (const index i : order) {
        nodes.push_back(s.nodes[i]);
        for (index& arg : operands(nodes.back())) arg = renamed[arg];
    }
    s.nodes = std::move(nodes);
    for (state_write& w : s.writes) w.node = renamed[w.node];
}

// Records the tangents as a program, before passes and hoisting.
class recording {
  public:
    recording(const path_program& p, tangent_program& told, index output)
        : from_(p), told_(told), output_(output), state_of_(told.along.size()), moved_(told.along) {
        made_.normals_per_step = p.normals_per_step;
        made_.uniforms_per_step = p.uniforms_per_step;
        made_.scenarios_per_step = p.scenarios_per_step;
        made_.normal_streams = p.normal_streams;
        made_.uniform_streams = p.uniform_streams;
        made_.lone_normals = p.lone_normals;
        made_.crossed = p.crossed;
        made_.states = p.states;
        made_.outputs = p.outputs;
        for (std::size_t t = 0; t < p.per_trade.columns.size(); ++t)
            made_.terms.push_back("term " + std::to_string(t));
        told.rows.resize(p.sections.size());
        told.tables.resize(p.sections.size());
    }

    program make() {
        for (wanted_numbers& moved : moved_) {
            moved.scenarios.assign(moved.scenarios.size(), false);
            active_.emplace_back(from_, moved, told_.smoothed);
        }
        made_.sections.resize(from_.sections.size());
        for (std::size_t s = 0; s < from_.sections.size(); ++s) carry(s);
        for (index d = 0; d < told_.along.size(); ++d) made_.outputs.push_back(state(d, output_));
        hold_still();
        for (std::size_t s = 0; s < from_.sections.size(); ++s)
            put_near_operands(made_.sections[s], from_.sections[s].nodes.size());
        return std::move(made_);
    }

  private:
    static std::string name(index direction, const std::string& of) {
        return "d" + std::to_string(direction) + "/" + of;
    }
    // The state that holds the derivative of state `of` along the direction.
    index state(index direction, index of) {
        const auto [at, is_new] =
            state_of_[direction].try_emplace(of, static_cast<index>(made_.states.size()));
        if (is_new) {
            made_.states.push_back(name(direction, from_.states[of]));
            told_.states.push_back({direction, of});
        }
        return at->second;
    }
    index term(index direction, index of) {
        for (index t = 0; t < told_.terms.size(); ++t)
            if (told_.terms[t].direction == direction && told_.terms[t].number == of)
                return static_cast<index>(from_.per_trade.columns.size()) + t;
        told_.terms.push_back({direction, of});
        made_.terms.push_back(name(direction, "term " + std::to_string(of)));
        return static_cast<index>(made_.terms.size() - 1);
    }
    index row(std::size_t number, index direction, index of) {
        told_.rows[number].push_back({direction, of});
        made_.sections[number].rows.push_back(name(direction, "column " + std::to_string(of)));
        return static_cast<index>(made_.sections[number].rows.size() - 1);
    }
    index table(std::size_t number, index direction, index of) {
        told_.tables[number].push_back({direction, of});
        section& into = made_.sections[number];
        into.tables.push_back(
            {name(direction, "table " + std::to_string(of)), from_.sections[number].tables[of].size});
        return static_cast<index>(into.tables.size() - 1);
    }

    void carry(std::size_t number) {
        const lane_section& from = from_.sections[number];
        section& into = made_.sections[number];
        derivative_rules rules(
            from,
            told_.smoothed.empty() ? std::vector<bool>(from.nodes.size()) : active_.front().truths(number),
            derivative_rules::way::forth, into);
        for (const jump& j : told_.smoothed)
            if (j.section == number) rules.smooth(j.node);
        into.writes = from.writes;
        reach_of_.clear();
        for (index d = 0; d < told_.along.size(); ++d) carry(number, d, rules);
    }

    void carry(std::size_t number, index direction, derivative_rules& rules) {
        const lane_section& from = from_.sections[number];
        section& into = made_.sections[number];
        std::vector<index> tangent(from.nodes.size(), nowhere);
        std::vector<bool> may_be_infinite(from.nodes.size(), false);
        std::map<index, index> tables;
        for (index i = 0; i < from.nodes.size(); ++i) {
            const node& n = from.nodes[i];
            if (is_leaf(n.code)) {
                tangent[i] = leaf(number, direction, n, rules);
                continue;
            }
            const auto to = operands(n);
            const auto moves = [&](std::size_t k) {
                return tangent[to[k]] != nowhere && rules.is_passed(i, k);
            };
            const bool is_choice = derivative_rules::is_choice(n.code);
            if (is_choice && (moves(0) || moves(1) || (to.size() > 2 && moves(2)))) {
                const derivative_rules::choice one = rules.choice_of(i);
                const auto or_zero = [&](std::size_t k) {
                    return moves(k) ? tangent[to[k]] : rules.constant(0);
                };
                const index if_so = or_zero(one.if_so), if_not = or_zero(one.if_not);
                tangent[i] = rules.put(operation::select, {one.condition, if_so, if_not});
            }
            for (std::size_t k = 0; k < to.size(); ++k) {
                if (!moves(k)) continue;
                may_be_infinite[i] = may_be_infinite[i] || may_be_infinite[to[k]] || rules.makes_infinite(i);
                if (is_choice && !derivative_rules::decides(n.code, k)) continue;
                const index passed = rules.through(i, k, tangent[to[k]], may_be_infinite[to[k]]);
                tangent[i] = plus(tangent[i], passed, into, rules);
            }
            if (n.code != operation::interpolate || !moved_[direction].tables[number][n.args[1]]) continue;
            const auto [at, is_new] = tables.try_emplace(n.args[1], nowhere);
            if (is_new) at->second = table(number, direction, n.args[1]);
            const index found = rules.put(operation::interpolate, {n.args[0], at->second});
            tangent[i] = plus(tangent[i], found, into, rules);
        }
        for (const state_write& w : from.writes) {
            if (!active_[direction].states()[w.state]) continue;
            const index kept = state(direction, w.state);
            const index value = tangent[w.node] == nowhere ? rules.constant(0) : tangent[w.node];
            if (into.nodes[value] != node{operation::state, {kept}, 0}) into.writes.push_back({kept, value});
        }
    }

    // The node sum + d. A product of path numbers is fused into the sum, so that it is not rounded first.
    index plus(index sum, index d, section& into, derivative_rules& rules) {
        if (sum == nowhere) return d;
        extend(reach_of_, into.nodes);
        const auto is_product = [&](index i) {
            return into.nodes[i].code == operation::mul && reach_of_[i] == reach::path;
        };
        const auto fused = [&](index product, index other) {
            const auto [a, b, c] = into.nodes[product].args;
            return rules.put(operation::fma, {a, b, other});
        };
        if (is_product(d)) return fused(d, sum);
        if (is_product(sum)) return fused(sum, d);
        if (into.nodes[d].code == operation::neg)
            return rules.put(operation::sub, {sum, into.nodes[d].args[0]});
        return rules.plus(sum, d);
    }

    // The derivative of a state, term or row along the direction; `nowhere` if it is 0.
    index leaf(std::size_t number, index direction, const node& n, derivative_rules& rules) {
        const index slot = n.args[0];
        const wanted_numbers& moved = moved_[direction];
        if (n.code == operation::state && active_[direction].states()[slot])
            return rules.put(operation::state, {state(direction, slot)});
        if (n.code == operation::term && moved.terms[slot])
            return rules.put(operation::term, {term(direction, slot)});
        if (n.code == operation::row && moved.rows[number][slot])
            return rules.put(operation::row, {row(number, direction, slot)});
        return nowhere;
    }

    // Turns states of derivatives that no section writes, and which never change, into terms.
    void hold_still() {
        std::vector<bool> is_written(made_.states.size(), false);
        for (const section& s : made_.sections)
            for (const state_write& w : s.writes) is_written[w.state] = true;
        std::vector<index> term_of(made_.states.size(), nowhere);
        for (std::size_t s = from_.states.size(); s < made_.states.size(); ++s) {
            if (is_written[s]) continue;
            told_.still.push_back(told_.states[s - from_.states.size()]);
            term_of[s] = static_cast<index>(made_.terms.size());
            made_.terms.push_back(made_.states[s]);
        }
        for (section& s : made_.sections) {
            for (node& n : s.nodes)
                if (n.code == operation::state && term_of[n.args[0]] != nowhere)
                    n = {operation::term, {term_of[n.args[0]]}, 0};
        }
    }

    const path_program& from_;
    tangent_program& told_;
    index output_;
    std::vector<std::map<index, index>> state_of_;  // by direction: each state's state of derivatives
    std::vector<wanted_numbers> moved_;             // by direction
    std::vector<active_values> active_;             // by direction
    std::vector<reach> reach_of_;                   // by node of the section being made
    program made_;
};

// The assumed frequency of sections that do not run on every step.
constexpr double share_of_steps = 1.0 / 8;

// Operations per step; sections that do not run on every step count by share_of_steps.
double operations_of(const path_program& p) {
    double out = 0;
    for (std::size_t s = 0; s < p.sections.size(); ++s) {
        const bool is_of_steps = s == 0 || p.sections[s].is_on_every_step;
        for (const node& n : p.sections[s].nodes) out += cost(n.code) * (is_of_steps ? 1 : share_of_steps);
    }
    return out;
}

}  // namespace

tangent_program tangents(const path_program& p, const std::vector<wanted_numbers>& along,
                         const std::vector<jump>& smoothed, std::size_t output) {
    tangent_program out;
    out.along = along;
    out.smoothed = smoothed;
    out.code = hoist(optimise(recording(p, out, p.outputs[output]).make()));
    for (std::size_t s = 0; s < p.sections.size(); ++s)
        out.code.sections[s].is_on_every_step = p.sections[s].is_on_every_step;
    return out;
}

path_data data_of_tangents(const tangent_program& t, const path_program& p, const path_data& data,
                           const std::vector<path_data>& directions, const smoothing& widths) {
    program_data recorded =
        recorded_numbers(p, data, [&](std::size_t section, std::size_t run, std::vector<double>& row) {
            add_narrowness(t.smoothed, widths, section, run, row);
            for (const auto& n : t.rows[section])
                row.push_back(directions[n.direction].rows[section][run * data.widths[section] + n.number]);
        });
    for (std::size_t s = 0; s < p.sections.size(); ++s) {
        for (const auto& n : t.tables[s]) {
            std::vector<double>& numbers = recorded.tables[s].emplace_back();
            for (std::size_t run = 0; run < data.runs[s]; ++run) {
                const auto first = directions[n.direction].rows[s].begin() +
                                   static_cast<std::ptrdiff_t>(run * data.widths[s] +
                                                               p.sections[s].place_of_table(n.number));
                numbers.insert(numbers.end(), first, first + p.sections[s].tables[n.number].size);
            }
        }
    }
    const auto in_state = [&](const tangent_program::moved_number& n) {
        return t.along[n.direction].initial_states[n.number]
                   ? directions[n.direction].initial_states[n.number]
                   : 0.0;
    };
    recorded.initial_states = data.initial_states;
    for (const auto& n : t.states) recorded.initial_states.push_back(in_state(n));
    for (const auto& n : t.terms) recorded.terms.push_back(directions[n.direction].terms[n.number]);
    for (const auto& n : t.still) recorded.terms.push_back(in_state(n));
    return bind(t.code, recorded);
}

bool costs_less(const tangent_program& t, const path_program& p, const adjoint_program& back) {
    return operations_of(t.code) < operations_of(p) + operations_of(back.again) + operations_of(back.back);
}

}  // namespace tilewalk::program
