// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::program {

using index = std::uint32_t;
inline constexpr index nowhere = ~index{0};

// Rebuilds sections node by node: `put` gets a node with renamed operands and returns its new node.
inline program rebuild(const program& p, const std::function<index(section& into, const node&)>& put) {
    program out = p;
    for (std::size_t s = 0; s < p.sections.size(); ++s) {
        const section& from = p.sections[s];
        section& into = out.sections[s];
        into.nodes.clear();
        std::vector<index> renamed(from.nodes.size());
        for (std::size_t i = 0; i < from.nodes.size(); ++i) {
            node n = from.nodes[i];
            for (index& arg : operands(n)) arg = renamed[arg];
            renamed[i] = put(into, n);
        }
        for (state_write& w : into.writes) w.node = renamed[w.node];
    }
    return out;
}

inline index append(std::vector<node>& into, const node& n) {
    into.push_back(n);
    return static_cast<index>(into.size() - 1);
}
inline index append(section& into, const node& n) {
    return append(into.nodes, n);
}

// Keeps the nodes that the marked ones need, in their order. Returns the new place of each.
inline std::vector<index> keep_needed(std::vector<node>& nodes, std::vector<bool> needed) {
    for (std::size_t i = nodes.size(); i-- > 0;) {
        if (!needed[i]) continue;
        for (const index arg : operands(nodes[i])) needed[arg] = true;
    }
    std::vector<node> kept;
    std::vector<index> renamed(nodes.size(), nowhere);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!needed[i]) continue;
        node n = nodes[i];
        for (index& arg : operands(n)) arg = renamed[arg];
        renamed[i] = append(kept, n);
    }
    nodes = std::move(kept);
    return renamed;
}

template <class any_section>
void keep_written(any_section& s) {
    std::vector<bool> needed(s.nodes.size(), false);
    for (const state_write& w : s.writes) needed[w.node] = true;
    const auto renamed = keep_needed(s.nodes, std::move(needed));
    for (state_write& w : s.writes) w.node = renamed[w.node];
}

// The scope within which a node has a single value.
enum class reach : std::uint8_t { trade, run, path };

inline void extend(std::vector<reach>& out, const std::vector<node>& nodes) {
    for (std::size_t i = out.size(); i < nodes.size(); ++i) {
        const node& n = nodes[i];
        out.push_back(reach::trade);
        switch (n.code) {
            case operation::constant:
            case operation::term:
                break;
            case operation::row:
                out[i] = reach::run;
                break;
            case operation::state:
            case operation::normal:
            case operation::uniform:
            case operation::scenario:
            case operation::interpolate:  // paths read tables at their own positions
                out[i] = reach::path;
                break;
            default:
                for (const index arg : operands(n)) out[i] = std::max(out[i], out[arg]);
        }
    }
}

inline std::vector<reach> reaches(const std::vector<node>& nodes) {
    std::vector<reach> out;
    extend(out, nodes);
    return out;
}

}  // namespace tilewalk::program
