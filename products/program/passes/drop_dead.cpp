// SPDX-License-Identifier: Apache-2.0
// Dead code elimination: drops nodes, writes and states that no output depends on.
#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

namespace {

std::vector<bool> needed_nodes(const std::vector<node>& nodes, std::vector<bool> roots) {
    for (std::size_t i = nodes.size(); i-- > 0;) {
        if (!roots[i]) continue;
        for (const index arg : operands(nodes[i])) roots[arg] = true;
    }
    return roots;
}

std::vector<bool> write_roots(const section& s, const std::vector<bool>& live_states) {
    std::vector<bool> roots(s.nodes.size(), false);
    for (const state_write& w : s.writes) {
        if (live_states[w.state]) roots[w.node] = true;
    }
    return roots;
}

}  // namespace

program drop_dead(const program& p) {
    // A state is live if it is an output, or if the next value of a live state reads it in any section.
    std::vector<bool> live(p.states.size(), false);
    for (const index o : p.outputs) live[o] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (const section& s : p.sections) {
            const auto needed = needed_nodes(s.nodes, write_roots(s, live));
            for (std::size_t i = 0; i < s.nodes.size(); ++i) {
                if (!needed[i] || s.nodes[i].code != operation::state || live[s.nodes[i].args[0]]) continue;
                live[s.nodes[i].args[0]] = true;
                changed = true;
            }
        }
    }
    program out = p;
    for (section& s : out.sections) {
        std::erase_if(s.writes, [&](const state_write& w) {
            const node& n = s.nodes[w.node];
            return !live[w.state] || (n.code == operation::state && n.args[0] == w.state);
        });
        const auto renamed = keep_needed(s.nodes, write_roots(s, live));
        for (state_write& w : s.writes) w.node = renamed[w.node];
    }
    return out;
}

}  // namespace tilewalk::program
