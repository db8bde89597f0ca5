// SPDX-License-Identifier: Apache-2.0
#include "products/program/activity.h"

#include <algorithm>
#include <cstdint>

namespace tilewalk::program {

active_values::active_values(const path_program& p, const wanted_numbers& wanted)
    : of_(p), wanted_(wanted), states_(wanted.initial_states) {
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t s = 0; s < p.sections.size(); ++s) {
            const std::vector<bool> active = of(s);
            for (const state_write& w : p.sections[s].writes) {
                if (!active[w.node] || states_[w.state]) continue;
                states_[w.state] = changed = true;
            }
        }
    }
}

std::vector<bool> active_values::of(std::size_t section) const {
    const std::vector<node>& nodes = of_.sections[section].nodes;
    std::vector<bool> out(nodes.size(), false);
    for (std::size_t i = 0; i < nodes.size(); ++i) out[i] = is_active(nodes[i], section, out);
    return out;
}

bool active_values::is_active(const node& n, std::size_t section, const std::vector<bool>& before) const {
    switch (n.code) {
        case operation::term:
            return wanted_.terms[n.args[0]];
        case operation::row:
            return wanted_.rows[section][n.args[0]];
        case operation::state:
            return states_[n.args[0]];
        case operation::scenario:
            return wanted_.scenarios[n.args[0]];
        case operation::interpolate:
            return before[n.args[0]] || wanted_.tables[section][n.args[1]];
        case operation::select:
            return before[n.args[1]] || before[n.args[2]];
        case operation::floor:
            return false;
        default:
            if (entry_of(n.code).result == result_type::truth) return false;
            return std::ranges::any_of(operands(n), [&](std::uint32_t arg) { return before[arg]; });
    }
}

}  // namespace tilewalk::program
