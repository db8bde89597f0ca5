// SPDX-License-Identifier: Apache-2.0
// How the normal numbers of a step move the states, and the directions along which they are integrated.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "products/program/evaluate.h"
#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

using known_number = std::optional<double>;

// The numbers of a section's nodes in one of its runs; empty for nodes that vary by path.
inline std::vector<known_number> uniform_numbers(const path_program& p, const path_data& data,
                                                 std::size_t section, std::size_t run) {
    const std::vector<node>& nodes = p.sections[section].nodes;
    const std::vector<reach> reach_of = reaches(nodes);
    std::vector<known_number> out(nodes.size());
    for (index i = 0; i < nodes.size(); ++i) {
        const node& n = nodes[i];
        if (reach_of[i] == reach::path) continue;
        const auto arg = [&](std::size_t k) { return k < operands(n).size() ? *out[n.args[k]] : 0.0; };
        if (n.code == operation::constant)
            out[i] = n.number;
        else if (n.code == operation::term)
            out[i] = data.terms[n.args[0]];
        else if (n.code == operation::row)
            out[i] = data.rows[section][run * data.widths[section] + n.args[0]];
        else
            out[i] = evaluate(n.code, arg(0), arg(1), arg(2));
    }
    return out;
}

// The states that the normal numbers of a step move linearly, with their multipliers.
class step_moves {
  public:
    step_moves(const path_program& p, const path_data& data)
        : slots_(static_cast<std::size_t>(p.normals_per_step)),
          is_free_(slots_, true),
          is_used_(slots_, false),
          moved_(p.states.size(), false) {
        find_dependence(p);
        for (std::size_t run = 0; run < data.runs[0]; ++run) by_step_.push_back(found_in(p, data, run));
    }
    // Slots of normals that move states linearly; the same for all trades of one shape, in any market.
    const std::vector<bool>& slots() const { return is_used_; }
    const std::vector<bool>& moved() const { return moved_; }
    // By slot: how far a normal of the step moves the state; 0 where slots() is false.
    const std::vector<double>& of(std::size_t step, index state) const { return by_step_[step].at(state); }

  private:
    enum class way : std::uint8_t { none, linear, other };

    void find_dependence(const path_program& p) {
        const lane_section& step = p.sections[0];
        const std::vector<reach> reach_of = reaches(step.nodes);
        const auto is_uniform = [&](index i) { return reach_of[i] != reach::path; };
        std::vector<std::vector<bool>> slots(step.nodes.size(), std::vector<bool>(slots_, false));
        way_.assign(step.nodes.size(), way::none);
        for (index i = 0; i < step.nodes.size(); ++i) {
            const node& n = step.nodes[i];
            if (n.code == operation::normal) {
                slots[i][n.args[0]] = true;
                way_[i] = way::linear;
                continue;
            }
            bool depends = false, is_bent = false;
            for (const index arg : operands(n)) {
                depends = depends || way_[arg] != way::none;
                is_bent = is_bent || way_[arg] == way::other;
                for (std::size_t j = 0; j < slots_; ++j) slots[i][j] = slots[i][j] || slots[arg][j];
            }
            if (!depends) continue;
            const auto& a = n.args;
            const bool is_product = (n.code == operation::mul || n.code == operation::fma) &&
                                    (is_uniform(a[0]) || is_uniform(a[1]) ||
                                     (way_[a[0]] == way::none && way_[a[1]] == way::none));
            const bool is_quotient = n.code == operation::div && is_uniform(a[1]);
            const bool is_sum =
                n.code == operation::add || n.code == operation::sub || n.code == operation::neg;
            way_[i] = !is_bent && (is_product || is_quotient || is_sum) ? way::linear : way::other;
        }
        for (const state_write& w : step.writes)
            if (way_[w.node] == way::other)
                for (std::size_t j = 0; j < slots_; ++j)
                    if (slots[w.node][j]) is_free_[j] = false;
        for (const state_write& w : step.writes)
            for (std::size_t j = 0; j < slots_; ++j)
                if (is_free_[j] && slots[w.node][j]) moved_[w.state] = is_used_[j] = true;
    }

    std::map<index, std::vector<double>> found_in(const path_program& p, const path_data& data,
                                                  std::size_t run) const {
        const lane_section& step = p.sections[0];
        const std::vector<known_number> number = uniform_numbers(p, data, 0, run);
        std::vector<std::vector<double>> by(step.nodes.size());
        for (index i = 0; i < step.nodes.size(); ++i) {
            if (way_[i] != way::linear) continue;
            const node& n = step.nodes[i];
            by[i].assign(slots_, 0.0);
            const auto add = [&](index of, double times) {
                for (std::size_t j = 0; j < by[of].size(); ++j) by[i][j] += times * by[of][j];
            };
            const auto add_product = [&] {
                if (number[n.args[0]]) add(n.args[1], *number[n.args[0]]);
                if (number[n.args[1]]) add(n.args[0], *number[n.args[1]]);
            };
            switch (n.code) {
                case operation::normal:
                    by[i][n.args[0]] = is_free_[n.args[0]] ? 1 : 0;
                    break;
                case operation::add:
                case operation::sub:
                    add(n.args[0], 1);
                    add(n.args[1], n.code == operation::add ? 1 : -1);
                    break;
                case operation::neg:
                    add(n.args[0], -1);
                    break;
                case operation::div:
                    add(n.args[0], 1 / *number[n.args[1]]);
                    break;
                case operation::fma:
                    add(n.args[2], 1);
                    add_product();
                    break;
                default:
                    add_product();
            }
        }
        std::map<index, std::vector<double>> out;
        for (const state_write& w : step.writes)
            if (moved_[w.state]) out[w.state] = by[w.node];
        return out;
    }

    std::size_t slots_;
    std::vector<bool> is_free_, is_used_, moved_;
    std::vector<way> way_;
    std::vector<std::map<index, std::vector<double>>> by_step_;
};

// The steps before dates, their directions of unit length, and the rates at which states move along them.
struct directed_steps {
    step_moves moves;
    std::vector<std::vector<std::size_t>> before{};      // by section and run
    std::map<std::size_t, std::vector<double>> along{};  // by step; absent if the step has none

    static double product(const std::vector<double>& a, const std::vector<double>& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    }
    static double length(const std::vector<double>& of) { return std::sqrt(product(of, of)); }
    double rate(std::size_t step, index state) const {
        return product(moves.of(step, state), along.at(step));
    }
};

}  // namespace tilewalk::program
