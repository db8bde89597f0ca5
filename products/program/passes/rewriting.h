// SPDX-License-Identifier: Apache-2.0
// What passes rewrite programs with.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::program {

using index = std::uint32_t;
inline constexpr index nowhere = ~index{0};

// Rebuilds each section node by node: `put` sees a node whose operands are already renamed and says which
// node of the new section stands for it.
inline program rebuild(const program& p, const std::function<index(section& into, const node&)>& put) {
    program out = p;
    for (std::size_t s = 0; s < p.sections.size(); ++s) {
        const section& from = p.sections[s];
        section& into = out.sections[s];
        into.nodes.clear();
        std::vector<index> renamed(from.nodes.size());
        for (std::size_t i = 0; i < from.nodes.size(); ++i) {
            node n = from.nodes[i];
            if (!is_leaf(n.code)) {
                for (int a = 0; a < entry_of(n.code).arity; ++a) {
                    index& arg = n.args[static_cast<std::size_t>(a)];
                    arg = renamed[arg];
                }
            }
            renamed[i] = put(into, n);
        }
        for (state_write& w : into.writes) w.node = renamed[w.node];
    }
    return out;
}

inline index append(section& into, const node& n) {
    into.nodes.push_back(n);
    return static_cast<index>(into.nodes.size() - 1);
}

// How widely one value of a node holds.
enum class reach : std::uint8_t { trade, run, path };

// Goes on to all nodes where `out` stands for the first of them.
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
            case operation::interpolate:  // paths have the tables
                out[i] = reach::path;
                break;
            default:
                for (int a = 0; a < entry_of(n.code).arity; ++a) {
                    out[i] = std::max(out[i], out[n.args[static_cast<std::size_t>(a)]]);
                }
        }
    }
}

inline std::vector<reach> reaches(const std::vector<node>& nodes) {
    std::vector<reach> out;
    extend(out, nodes);
    return out;
}

}  // namespace tilewalk::program
