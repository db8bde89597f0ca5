// SPDX-License-Identifier: Apache-2.0
// Programs as text: for `explain`, and to distinguish shapes.
#include <array>
#include <bit>
#include <charconv>
#include <functional>

#include "products/program/passes.h"

namespace tilewalk::program {

namespace {

std::string shortest(double number) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    return {text.data(), end};
}

// Returns the name of the number that a node reads by its slot; empty if the number has no name.
using naming = std::function<std::string(const node& of)>;

// Writes a node as an expression of its operands' names. The names of this code's values begin with `prefix`.
std::string expression(const node& n, const std::vector<std::string>& states, std::string_view prefix,
                       const naming& name_of) {
    const auto slot = std::to_string(n.args[0]);
    const auto named = [&](const std::string& what) {
        const std::string name = name_of(n);
        return what + "[" + slot + "]" + (name.empty() ? "" : ", " + name);
    };
    switch (n.code) {
        case operation::constant:
            return shortest(n.number);
        case operation::term:
            return named("term");
        case operation::row:
            return named("row");
        case operation::state:
            return states.empty() ? "state[" + slot + "]" : states[n.args[0]];
        case operation::normal:
            return "normal[" + slot + "]";
        case operation::uniform:
            return "uniform[" + slot + "]";
        case operation::scenario:
            return "scenario[" + slot + "]";
        default:
            break;
    }
    const operation_entry& entry = entry_of(n.code);
    std::string text = std::string(entry.name) + "(";
    for (const std::uint32_t arg : operands(n)) {
        if (text.back() != '(') text += ", ";
        text += std::string(prefix) + std::to_string(arg);
    }
    if (reads_table(n.code)) text += ", table[" + std::to_string(n.args[1]) + "]";
    return text + ")";
}

void print_uniform(std::string& out, const uniform_code& code, std::string_view column_name,
                   const naming& name_of) {
    for (std::size_t i = 0; i < code.nodes.size(); ++i) {
        out += "    u" + std::to_string(i) + " = " + expression(code.nodes[i], {}, "u", name_of) + "\n";
    }
    for (std::size_t c = 0; c < code.columns.size(); ++c) {
        out += "    " + std::string(column_name) + "[" + std::to_string(c) + "] = u" +
               std::to_string(code.columns[c]) + "\n";
    }
}

}  // namespace

std::string print(const path_program& p) {
    std::string out;
    if (!p.per_trade.nodes.empty()) {
        out += "once for the trade:\n";
        print_uniform(out, p.per_trade, "term",
                      [&](const node& n) { return name_of_input(p.per_trade, n.args[0]); });
    }
    for (std::size_t k = 0; k < p.sections.size(); ++k) {
        const lane_section& s = p.sections[k];
        if (s.nodes.empty() && s.per_run.nodes.empty()) continue;
        if (!s.per_run.nodes.empty()) {
            out += s.name + ", once for each run:\n";
            print_uniform(out, s.per_run, "row", [&](const node& n) {
                return n.code == operation::term ? name_of_term(p, n.args[0])
                                                 : name_of_input(s.per_run, n.args[0]);
            });
        }
        out += s.name + ", on every path:\n";
        for (std::size_t t = 0; t < s.tables.size(); ++t) {
            out += "    table[" + std::to_string(t) + "] of " + std::to_string(s.tables[t].size) +
                   " numbers, a row for each run\n";
        }
        for (std::size_t i = 0; i < s.nodes.size(); ++i) {
            const auto name_of = [&](const node& n) {
                return n.code == operation::term ? name_of_term(p, n.args[0]) : name_of_row(p, k, n.args[0]);
            };
            out +=
                "    v" + std::to_string(i) + " = " + expression(s.nodes[i], p.states, "v", name_of) + "\n";
        }
        for (const state_write& w : s.writes)
            out += "    " + p.states[w.state] + " <- v" + std::to_string(w.node) + "\n";
    }
    return out;
}

std::string shape_of(const path_program& p) {
    std::string key;
    const auto put = [&key](auto number) {
        const auto bytes = std::bit_cast<std::array<char, sizeof number>>(number);
        key.append(bytes.data(), bytes.size());
    };
    const auto put_nodes = [&](const std::vector<node>& nodes) {
        put(nodes.size());
        for (const node& n : nodes) {
            put(n.code);
            for (const auto a : n.args) put(a);
            put(n.number);
        }
    };
    const auto put_uniform = [&](const uniform_code& code) {
        put_nodes(code.nodes);
        put(code.columns.size());
        for (const auto c : code.columns) put(c);
    };
    put_uniform(p.per_trade);
    put(p.sections.size());
    for (const lane_section& s : p.sections) {
        put(s.is_on_every_step);
        put_uniform(s.per_run);
        put_nodes(s.nodes);
        put(s.writes.size());
        for (const state_write& w : s.writes) {
            put(w.state);
            put(w.node);
        }
        // The number of tables is not put: the nodes determine it.
        for (const lane_table& t : s.tables) {
            put(t.source);
            put(t.size);
        }
    }
    put(p.state_sources.size());
    for (const auto s : p.state_sources) put(s);
    for (const auto o : p.outputs) put(o);
    for (const output_pair& c : p.crossed) {
        put(c.first);
        put(c.second);
    }
    put(p.normals_per_step);
    put(p.uniforms_per_step);
    put(p.scenarios_per_step);
    for (const auto s : p.normal_streams) put(s);
    for (const auto s : p.uniform_streams) put(s);
    for (const auto s : p.lone_normals) put(s);
    return key;
}

}  // namespace tilewalk::program
