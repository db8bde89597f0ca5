// SPDX-License-Identifier: Apache-2.0
// Hoisting: computes what all paths share ahead of them, once for the trade or for each run of a section.
#include <map>
#include <tuple>

#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

namespace {

// Collects nodes that all paths share, once across sections, and gives columns to those that paths read.
class collector {
  public:
    explicit collector(uniform_code& into) : into_(into) {}

    index add(const node& n) {
        const key k{n.code, n.args, std::bit_cast<std::uint64_t>(n.number)};
        if (const auto found = seen_.find(k); found != seen_.end()) return found->second;
        into_.nodes.push_back(n);
        return seen_[k] = static_cast<index>(into_.nodes.size() - 1);
    }
    index column(index of_node) {
        if (const auto found = columns_.find(of_node); found != columns_.end()) return found->second;
        into_.columns.push_back(of_node);
        return columns_[of_node] = static_cast<index>(into_.columns.size() - 1);
    }

  private:
    using key = std::tuple<operation, std::array<index, 3>, std::uint64_t>;
    uniform_code& into_;
    std::map<key, index> seen_;
    std::map<index, index> columns_;
};

// Keeps the states that a section or an output uses, in their order. Returns the new slot of each old one.
std::vector<index> keep_used_states(const program& p, path_program& out) {
    std::vector<bool> used(p.states.size(), false);
    for (const index o : p.outputs) used[o] = true;
    for (const section& s : p.sections) {
        for (const state_write& w : s.writes) used[w.state] = true;
        for (const node& n : s.nodes) {
            if (n.code == operation::state) used[n.args[0]] = true;
        }
    }
    std::vector<index> new_state(p.states.size(), nowhere);
    for (index i = 0; i < p.states.size(); ++i) {
        if (!used[i]) continue;
        new_state[i] = static_cast<index>(out.states.size());
        out.states.push_back(p.states[i]);
        out.state_sources.push_back(i);
    }
    return new_state;
}

// Splits the nodes of a section into code for the trade, for each run, and for each path.
class section_split {
  public:
    section_split(const section& from, const std::vector<index>& new_state, collector& trade,
                  lane_section& into)
        : from_(from),
          new_state_(new_state),
          trade_(trade),
          into_(into),
          run_(into.per_run),
          reach_of_(reaches(from.nodes)),
          in_trade_(from.nodes.size(), nowhere),
          in_run_(from.nodes.size(), nowhere),
          in_path_(from.nodes.size(), nowhere),
          new_table_(from.tables.size(), nowhere) {}

    void deal_out() {
        for (index i = 0; i < from_.nodes.size(); ++i) {
            switch (reach_of_[i]) {
                case reach::trade:
                    if (from_.nodes[i].code == operation::constant) break;
                    in_trade_[i] = trade_.add(renamed(i, &section_split::trade_operand));
                    break;
                case reach::run:
                    in_run_[i] = run_.add(renamed(i, &section_split::run_operand));
                    break;
                case reach::path:
                    in_path_[i] =
                        append(into_.nodes, with_new_slots(renamed(i, &section_split::path_operand)));
                    break;
            }
        }
        for (const state_write& w : from_.writes)
            into_.writes.push_back({new_state_[w.state], path_operand(w.node)});
    }

  private:
    // Constants are copied to where they are used, so they take no column.
    index trade_operand(index i) {
        const node& n = from_.nodes[i];
        return n.code == operation::constant ? trade_.add(n) : in_trade_[i];
    }
    index run_operand(index i) {
        if (reach_of_[i] == reach::run) return in_run_[i];
        const node& n = from_.nodes[i];
        if (n.code == operation::constant) return run_.add(n);
        return run_.add({operation::term, {trade_.column(in_trade_[i]), 0, 0}, 0});
    }
    index path_operand(index i) {
        if (in_path_[i] != nowhere) return in_path_[i];
        node leaf = from_.nodes[i];
        if (reach_of_[i] == reach::run) {
            leaf = {operation::row, {run_.column(in_run_[i]), 0, 0}, 0};
        } else if (leaf.code != operation::constant) {
            leaf = {operation::term, {trade_.column(in_trade_[i]), 0, 0}, 0};
        }
        return in_path_[i] = append(into_.nodes, leaf);
    }

    node renamed(index i, index (section_split::*operand)(index)) {
        node n = from_.nodes[i];
        for (index& arg : operands(n)) arg = (this->*operand)(arg);
        return n;
    }
    node with_new_slots(node n) {
        if (n.code == operation::state) n.args[0] = new_state_[n.args[0]];
        if (n.code == operation::interpolate) {
            index& to = new_table_[n.args[1]];
            if (to == nowhere) {
                to = static_cast<index>(into_.tables.size());
                into_.tables.push_back({n.args[1], from_.tables[n.args[1]].size});
            }
            n.args[1] = to;
        }
        return n;
    }

    const section& from_;
    const std::vector<index>& new_state_;
    collector& trade_;
    lane_section& into_;
    collector run_;
    std::vector<reach> reach_of_;
    std::vector<index> in_trade_, in_run_, in_path_;  // by node: its place in each code
    std::vector<index> new_table_;
};

}  // namespace

std::string name_of_input(const uniform_code& code, std::size_t slot) {
    return slot < code.inputs.size() ? code.inputs[slot] : "";
}

std::string name_of_term(const path_program& p, std::size_t column) {
    const uniform_code& code = p.per_trade;
    if (column >= code.columns.size() || code.nodes.empty()) return {};
    const node& n = code.nodes[code.columns[column]];
    return n.code == operation::term ? name_of_input(code, n.args[0]) : "";
}

std::string name_of_row(const path_program& p, std::size_t section, std::size_t column) {
    const uniform_code& code = p.sections.at(section).per_run;
    if (column >= code.columns.size() || code.nodes.empty()) return {};
    const node& n = code.nodes[code.columns[column]];
    if (n.code == operation::term) return name_of_term(p, n.args[0]);
    return n.code == operation::row ? name_of_input(code, n.args[0]) : "";
}

path_program hoist(const program& p) {
    path_program out;
    out.normals_per_step = p.normals_per_step;
    out.uniforms_per_step = p.uniforms_per_step;
    out.scenarios_per_step = p.scenarios_per_step;
    out.normal_streams = p.normal_streams;
    out.uniform_streams = p.uniform_streams;
    out.lone_normals = p.lone_normals;
    const std::vector<index> new_state = keep_used_states(p, out);
    for (const index o : p.outputs) out.outputs.push_back(new_state[o]);
    out.crossed = p.crossed;

    out.per_trade.inputs = p.terms;
    collector trade(out.per_trade);
    for (const section& s : p.sections) {
        lane_section& into = out.sections.emplace_back();
        into.name = s.name;
        into.per_run.inputs = s.rows;
        section_split(s, new_state, trade, into).deal_out();
    }
    return out;
}

}  // namespace tilewalk::program
