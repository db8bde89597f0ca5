// SPDX-License-Identifier: Apache-2.0
// Takes what is alike for all paths out of the paths: once for the trade, or once for each run of a section.
#include <map>
#include <tuple>

#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

namespace {

// Collects uniform nodes, each once whatever section it came from, and hands out columns for those that are
// read.
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
    for (const index o : p.outputs) out.outputs.push_back(new_state[o]);
    out.crossed = p.crossed;

    out.per_trade.inputs = p.terms;
    collector trade(out.per_trade);
    for (const section& s : p.sections) {
        lane_section& into = out.sections.emplace_back();
        into.name = s.name;
        into.per_run.inputs = s.rows;
        std::vector<index> new_table(s.tables.size(), nowhere);
        collector run(into.per_run);
        const auto reach_of = reaches(s.nodes);
        // Where each recorded node went: its index in the trade's, the run's or the path's code.
        std::vector<index> in_trade(s.nodes.size(), nowhere), in_run(s.nodes.size(), nowhere),
            in_path(s.nodes.size(), nowhere);

        // A constant stands wherever it is used; it needs no column.
        const auto trade_operand = [&](index i) {
            return s.nodes[i].code == operation::constant ? trade.add(s.nodes[i]) : in_trade[i];
        };
        const auto run_operand = [&](index i) {
            if (reach_of[i] == reach::run) return in_run[i];
            const node& n = s.nodes[i];
            if (n.code == operation::constant) return run.add(n);
            return run.add({operation::term, {trade.column(in_trade[i]), 0, 0}, 0});
        };
        const auto path_operand = [&](index i) {
            if (in_path[i] != nowhere) return in_path[i];
            const node& n = s.nodes[i];
            node leaf = n;
            if (reach_of[i] == reach::run) {
                leaf = {operation::row, {run.column(in_run[i]), 0, 0}, 0};
            } else if (n.code != operation::constant) {
                leaf = {operation::term, {trade.column(in_trade[i]), 0, 0}, 0};
            }
            into.nodes.push_back(leaf);
            return in_path[i] = static_cast<index>(into.nodes.size() - 1);
        };
        for (index i = 0; i < s.nodes.size(); ++i) {
            node n = s.nodes[i];
            const auto rename = [&](const auto& operand) {
                for (index& arg : operands(n)) arg = operand(arg);
            };
            switch (reach_of[i]) {
                case reach::trade:
                    if (n.code == operation::constant) break;
                    rename(trade_operand);
                    in_trade[i] = trade.add(n);
                    break;
                case reach::run:
                    rename(run_operand);
                    in_run[i] = run.add(n);
                    break;
                case reach::path:
                    rename(path_operand);
                    if (n.code == operation::state) n.args[0] = new_state[n.args[0]];
                    if (n.code == operation::interpolate) {
                        index& to = new_table[n.args[1]];
                        if (to == nowhere) {
                            to = static_cast<index>(into.tables.size());
                            into.tables.push_back({n.args[1], s.tables[n.args[1]].size});
                        }
                        n.args[1] = to;
                    }
                    into.nodes.push_back(n);
                    in_path[i] = static_cast<index>(into.nodes.size() - 1);
                    break;
            }
        }
        for (const state_write& w : s.writes)
            into.writes.push_back({new_state[w.state], path_operand(w.node)});
    }
    return out;
}

}  // namespace tilewalk::program
