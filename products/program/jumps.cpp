// SPDX-License-Identifier: Apache-2.0
#include "products/program/jumps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "kernels/philox.h"
#include "products/program/activity.h"
#include "products/program/evaluate.h"

namespace tilewalk::program {

namespace {

using index = std::uint32_t;

constexpr std::uint64_t tried_paths = 12;
constexpr std::size_t most_places = 24;  // tried of one comparison
constexpr double same_number = 1e-9;     // of the size of the larger side, or of 1

bool is_comparison(operation code) {
    return code == operation::less || code == operation::less_equal || code == operation::equal;
}
bool combines_truths(operation code) {
    return code == operation::logical_not || code == operation::logical_and || code == operation::logical_or;
}

// A run of a section on a path: all that its nodes are computed from.
struct place_on_path {
    const double* row;
    std::vector<double> states;
    std::vector<double> normals, uniforms;  // by slot
};

class trial {
  public:
    trial(const path_program& p, const path_data& data) : p_(p), data_(data) {}

    // The values of a section's nodes, where a node may be given another value than its own.
    std::vector<double> values(std::size_t section, const place_on_path& at, index given,
                               double value) const {
        const lane_section& of = p_.sections[section];
        std::vector<double> v(of.nodes.size());
        for (std::size_t i = 0; i < v.size(); ++i) v[i] = i == given ? value : value_of(of, at, v, i);
        return v;
    }
    static constexpr index no_node = ~index{0};

  private:
    double value_of(const lane_section& of, const place_on_path& at, const std::vector<double>& v,
                    std::size_t i) const {
        const node& n = of.nodes[i];
        switch (n.code) {
            case operation::constant:
                return n.number;
            case operation::term:
                return data_.terms[n.args[0]];
            case operation::row:
                return at.row[n.args[0]];
            case operation::state:
                return at.states[n.args[0]];
            case operation::normal:
                return at.normals[n.args[0]];
            case operation::uniform:
                return at.uniforms[n.args[0]];
            case operation::scenario:
                return 0;
            case operation::interpolate:
                return interpolated(at.row + of.place_of_table(n.args[1]), of.tables[n.args[1]].size,
                                    v[n.args[0]]);
            default: {
                std::array<double, 3> x{};
                std::ranges::transform(operands(n), x.begin(), [&](index arg) { return v[arg]; });
                return evaluate(n.code, x[0], x[1], x[2]);
            }
        }
    }

    const path_program& p_;
    const path_data& data_;
};

// Numbers of a path for a trial, the same everywhere: no price depends on them.
class trial_numbers {
  public:
    double uniform() {
        const kernels::philox_block b =
            kernels::path_block(0, counter_++, 0, kernels::uniform_stream, kernels::stream_key{});
        return (static_cast<double>(b.x0) + 0.5) * 0x1p-32;
    }
    double normal() { return evaluate(operation::norm_inv, uniform(), 0, 0); }

  private:
    std::uint64_t counter_ = 0;
};

// Calls use(section, place on the path) for each run of some paths.
template <class function>
void walk_some(const path_program& p, const path_data& data, const timeline& when, const function& use) {
    const trial on(p, data);
    trial_numbers numbers;
    place_on_path at{};
    at.normals.resize(static_cast<std::size_t>(p.normals_per_step));
    at.uniforms.resize(static_cast<std::size_t>(p.uniforms_per_step));
    for (std::uint64_t path = 0; path < tried_paths; ++path) {
        at.states = data.initial_states;
        const auto run = [&](std::size_t section, std::size_t row) {
            at.row = data.rows[section].data() + row * data.widths[section];
            use(section, at);
            const std::vector<double> v = on.values(section, at, trial::no_node, 0);
            for (const state_write& w : p.sections[section].writes) at.states[w.state] = v[w.node];
        };
        for (std::size_t step = 0; step < when.steps(); ++step) {
            std::ranges::generate(at.normals, [&] { return numbers.normal(); });
            std::ranges::generate(at.uniforms, [&] { return numbers.uniform(); });
            run(0, step);
            for (const event& e : when.events_after(step)) run(e.section, e.row);
        }
    }
}

// A comparison of a section, with what its truth decides.
class candidate {
  public:
    candidate(const path_program& p, std::size_t section, index at)
        : section_(section), node_(at), comparison_(p.sections[section].nodes[at]) {
        const lane_section& of = p.sections[section];
        std::vector<bool> is_truth(of.nodes.size(), false);
        is_truth[at] = true;
        for (index i = at + 1; i < of.nodes.size(); ++i) {
            const node& n = of.nodes[i];
            for (std::size_t a = 0; a < operands(n).size(); ++a) {
                if (!is_truth[n.args[a]]) continue;
                if (n.code == operation::select && a == 0) {
                    decides_.push_back(i);
                } else if (combines_truths(n.code)) {
                    is_truth[i] = true;
                } else {
                    is_known_jump_ = true;
                }
            }
        }
        for (const state_write& w : of.writes) is_known_jump_ = is_known_jump_ || is_truth[w.node];
    }

    std::size_t section() const { return section_; }
    bool is_jump() const { return is_known_jump_ || tried_ == 0 || (jumps_[0] && jumps_[1]); }
    index node_of() const { return node_; }

    void try_at(const path_program& p, const trial& on, const place_on_path& at) {
        if (is_known_jump_ || tried_ >= most_places || (jumps_[0] && jumps_[1])) return;
        const std::vector<double> as_is = on.values(section_, at, trial::no_node, 0);
        bool is_tried = false;
        for (std::size_t side = 0; side < 2; ++side) {
            const index moved = comparison_.args[side], to = comparison_.args[1 - side];
            const std::vector<double> v = on.values(section_, at, moved, as_is[to]);
            if (!std::isfinite(as_is[to]) || v[to] != as_is[to]) {
                jumps_[side] = true;  // the number that it is moved to moves along
                continue;
            }
            is_tried = true;
            for (const index s : decides_) {
                const node& n = p.sections[section_].nodes[s];
                const double a = v[n.args[1]], b = v[n.args[2]];
                const double size = std::max({std::abs(a), std::abs(b), 1.0});
                if (!(std::abs(a - b) <= same_number * size)) jumps_[side] = true;
            }
        }
        tried_ += is_tried;
    }

  private:
    std::size_t section_;
    index node_;
    node comparison_;
    std::vector<index> decides_;  // selects
    bool is_known_jump_ = false;
    std::array<bool, 2> jumps_{};  // by the operand that is moved
    std::size_t tried_ = 0;
};

// All numbers of the program, but for states that only ever take a truth or one of some constants: such a
// state has jumped before where it was written.
wanted_numbers numbers_of_paths(const path_program& p) {
    wanted_numbers out = all_numbers_of(p);
    for (const lane_section& s : p.sections) {
        std::vector<bool> is_choice(s.nodes.size());
        for (index i = 0; i < s.nodes.size(); ++i) {
            const node& n = s.nodes[i];
            is_choice[i] = n.code == operation::constant || entry_of(n.code).result == result_type::truth ||
                           (n.code == operation::select && is_choice[n.args[1]] && is_choice[n.args[2]]);
        }
        for (const state_write& w : s.writes)
            if (is_choice[w.node]) out.initial_states[w.state] = false;
    }
    return out;
}

}  // namespace

std::vector<jump> jumps_of(const path_program& p, const path_data& data, const timeline& when) {
    const wanted_numbers all = numbers_of_paths(p);
    const active_values active(p, all);
    std::vector<jump> out;
    std::vector<candidate> candidates;
    for (std::size_t s = 0; s < p.sections.size(); ++s) {
        const std::vector<bool> is_active = active.of(s);
        const std::vector<node>& nodes = p.sections[s].nodes;
        for (index i = 0; i < nodes.size(); ++i) {
            const node& n = nodes[i];
            const bool is_moved = std::ranges::any_of(operands(n), [&](index arg) { return is_active[arg]; });
            if (!is_moved) continue;
            if (n.code == operation::floor) out.push_back({static_cast<index>(s), i});
            // A number of the path that is a condition itself jumps where it is 0. A number of the trade is
            // the same for small moves of what it is made from.
            const auto is_moved_by_paths = [&](index arg) {
                return is_active[arg] && nodes[arg].code != operation::row &&
                       nodes[arg].code != operation::term;
            };
            if (n.code == operation::select && is_moved_by_paths(n.args[0]))
                out.push_back({static_cast<index>(s), i});
            if (combines_truths(n.code) && std::ranges::any_of(operands(n), is_moved_by_paths))
                out.push_back({static_cast<index>(s), i});
            if (is_comparison(n.code)) candidates.emplace_back(p, s, i);
        }
    }
    if (!candidates.empty()) {
        const trial on(p, data);
        walk_some(p, data, when, [&](std::size_t section, const place_on_path& at) {
            for (candidate& c : candidates)
                if (c.section() == section) c.try_at(p, on, at);
        });
    }
    for (const candidate& c : candidates)
        if (c.is_jump()) out.push_back({static_cast<index>(c.section()), c.node_of()});
    return out;
}

std::vector<jump> moved_by(const path_program& p, const std::vector<jump>& all,
                           const wanted_numbers& wanted) {
    const active_values active(p, wanted);
    std::vector<jump> out;
    std::vector<bool> is_active;
    std::size_t section = p.sections.size();
    for (const jump& j : all) {
        if (j.section != section) is_active = active.of(section = j.section);
        const node& n = p.sections[section].nodes[j.node];
        if (std::ranges::any_of(operands(n), [&](index arg) { return is_active[arg]; })) out.push_back(j);
    }
    return out;
}

}  // namespace tilewalk::program
