// SPDX-License-Identifier: Apache-2.0
// Fuses products into the sums that they are added to.
#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

namespace {

lane_section contracted(const lane_section& s) {
    std::vector<int> uses(s.nodes.size(), 0);
    for (const node& n : s.nodes) {
        for (const index arg : operands(n)) ++uses[arg];
    }
    for (const state_write& w : s.writes) ++uses[w.node];
    // The first operand of a sum or difference that is a product which no other node uses.
    const auto product_in = [&](const node& n) -> index {
        if (n.code != operation::add && n.code != operation::sub) return nowhere;
        for (const index arg : {n.args[0], n.args[1]}) {
            if (s.nodes[arg].code == operation::mul && uses[arg] == 1) return arg;
        }
        return nowhere;
    };
    std::vector<bool> fused(s.nodes.size(), false);
    for (const node& n : s.nodes) {
        if (const index product = product_in(n); product != nowhere) fused[product] = true;
    }

    lane_section out = s;
    out.nodes.clear();
    std::vector<index> renamed(s.nodes.size(), nowhere);
    const auto append = [&](const node& n) {
        out.nodes.push_back(n);
        return static_cast<index>(out.nodes.size() - 1);
    };
    const auto negative = [&](index i) { return append({operation::neg, {i, 0, 0}, 0}); };
    for (std::size_t i = 0; i < s.nodes.size(); ++i) {
        node n = s.nodes[i];
        if (fused[i]) continue;
        if (const index product = product_in(n); product != nowhere) {
            index x = renamed[s.nodes[product].args[0]];
            const index y = renamed[s.nodes[product].args[1]];
            const bool is_first = n.args[0] == product;
            index rest = renamed[n.args[is_first ? 1 : 0]];
            if (n.code == operation::sub) (is_first ? rest : x) = negative(is_first ? rest : x);
            n = {operation::fma, {x, y, rest}, 0};
        } else {
            for (index& arg : operands(n)) arg = renamed[arg];
        }
        renamed[i] = append(n);
    }
    for (state_write& w : out.writes) w.node = renamed[w.node];
    return out;
}

}  // namespace

path_program contract(const path_program& p) {
    path_program out = p;
    for (lane_section& s : out.sections) s = contracted(s);
    return out;
}

}  // namespace tilewalk::program
