// SPDX-License-Identifier: Apache-2.0
#include "products/program/moves.h"

#include <algorithm>

#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

namespace {

bool is_number(const node& n) {
    return n.code == operation::constant || n.code == operation::term || n.code == operation::row;
}

// The nodes of a step as links of chains: link j adds shock j to the sum of the links before it.
class chains {
  public:
    explicit chains(const lane_section& step)
        : nodes_(step.nodes),
          place_(nodes_.size(), nowhere),
          users_(nodes_.size(), 0),
          links_(nodes_.size(), 0) {
        for (index i = 0; i < nodes_.size(); ++i) {
            for (const index arg : operands(nodes_[i])) ++users_[arg];
            if (!is_link(i)) continue;
            place_[i] = nodes_[nodes_[i].args[0]].args[0];
            ++links_[nodes_[i].args[0]];
            if (place_[i] > 0) ++links_[nodes_[i].args[2]];
        }
        for (const state_write& w : step.writes) ++users_[w.node];
    }

    // By shock: the last link of the chain that ends with it, or `nowhere`. Empty unless only links use
    // shocks, each intermediate sum is used by the next link alone, and chains end with different shocks.
    std::optional<std::vector<index>> ends(std::size_t shocks) const {
        std::vector<index> out(shocks, nowhere);
        for (index i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i].code == operation::normal && links_[i] != users_[i]) return std::nullopt;
            if (place_[i] == nowhere) continue;
            if (links_[i] > 0) {
                if (users_[i] != 1) return std::nullopt;
                continue;
            }
            if (out[place_[i]] != nowhere) return std::nullopt;
            out[place_[i]] = i;
        }
        return out;
    }

    factor_move move_that_ends_at(index link) const {
        factor_move out;
        for (;; link = nodes_[link].args[2]) {
            out.roots.push_back(nodes_[nodes_[link].args[1]]);
            if (place_[link] == 0) break;
        }
        out.drift = nodes_[nodes_[link].args[2]];
        std::reverse(out.roots.begin(), out.roots.end());
        return out;
    }

  private:
    bool is_link(index i) const {
        const node& n = nodes_[i];
        if (n.code != operation::fma) return false;
        const node& shock = nodes_[n.args[0]];
        if (shock.code != operation::normal || !is_number(nodes_[n.args[1]])) return false;
        const index j = shock.args[0];
        return j == 0 ? is_number(nodes_[n.args[2]]) : place_[n.args[2]] == j - 1;
    }

    const std::vector<node>& nodes_;
    std::vector<index> place_;  // the node's link number in its chain, or nowhere
    std::vector<index> users_;  // number of operands and writes that use the node
    std::vector<index> links_;  // number of users that take it as their shock or their sum
};

// Drops nodes and columns that no write needs, but no table. Returns the old place of each number of a row.
std::vector<index> drop_unneeded(lane_section& s) {
    keep_written(s);

    std::vector<bool> is_read(s.per_run.columns.size(), false);
    for (const node& n : s.nodes) {
        if (n.code == operation::row) is_read[n.args[0]] = true;
    }
    std::vector<index> numbers, new_column(is_read.size(), nowhere), nodes_of_columns;
    for (index c = 0; c < is_read.size(); ++c) {
        if (!is_read[c]) continue;
        new_column[c] = static_cast<index>(numbers.size());
        numbers.push_back(c);
        nodes_of_columns.push_back(s.per_run.columns[c]);
    }
    for (node& n : s.nodes) {
        if (n.code == operation::row) n.args[0] = new_column[n.args[0]];
    }
    for (std::size_t i = s.place_of_table(0); i < s.row_width(); ++i)
        numbers.push_back(static_cast<index>(i));
    if (s.per_run.nodes.empty()) {
        s.per_run.columns.assign(nodes_of_columns.size(), 0);
        return numbers;
    }
    std::vector<bool> makes_column(s.per_run.nodes.size(), false);
    for (const index i : nodes_of_columns) makes_column[i] = true;
    const auto place = keep_needed(s.per_run.nodes, std::move(makes_column));
    s.per_run.columns.clear();
    for (const index i : nodes_of_columns) s.per_run.columns.push_back(place[i]);
    return numbers;
}

}  // namespace

std::optional<separated_moves> separate_moves(const path_program& p) {
    if (p.normals_per_step == 0) return std::nullopt;
    for (std::size_t s = 1; s < p.sections.size(); ++s) {
        for (const node& n : p.sections[s].nodes) {
            if (n.code == operation::normal) return std::nullopt;
        }
    }
    const chains found(p.sections[0]);
    const auto ends = found.ends(static_cast<std::size_t>(p.normals_per_step));
    if (!ends || std::all_of(ends->begin(), ends->end(), [](index end) { return end == nowhere; })) {
        return std::nullopt;
    }

    separated_moves out{p, {}, {}};
    out.code.normal_streams.clear();  // moves belong to no stream
    out.code.lone_normals.clear();
    lane_section& step = out.code.sections[0];
    for (index i = 0; i < ends->size(); ++i) {
        const index end = (*ends)[i];
        factor_move& move = out.factors.emplace_back();
        if (end == nowhere) continue;
        move = found.move_that_ends_at(end);
        step.nodes[end] = {operation::normal, {i, 0, 0}, 0};
    }
    out.numbers_of_row = drop_unneeded(step);
    return out;
}

path_data data_of_code(const separated_moves& m, const path_data& data) {
    path_data out = data;
    out.normal_names.clear();
    const std::size_t width = m.numbers_of_row.size();
    out.widths[0] = width;
    out.rows[0].resize(width * data.runs[0]);
    for (std::size_t run = 0; run < data.runs[0]; ++run) {
        for (std::size_t c = 0; c < width; ++c) {
            out.rows[0][run * width + c] = data.rows[0][run * data.widths[0] + m.numbers_of_row[c]];
        }
    }
    return out;
}

move_numbers numbers_of_moves(const separated_moves& m, const path_data& data) {
    move_numbers out{m.factors.size(), data.runs[0], {}, {}};
    out.drifts.resize(out.steps * out.factors);
    out.roots.resize(out.steps * out.roots_per_step());
    for (std::size_t step = 0; step < out.steps; ++step) {
        const auto number = [&](const node& n) {
            if (n.code == operation::constant) return n.number;
            if (n.code == operation::term) return data.terms[n.args[0]];
            return data.rows[0][step * data.widths[0] + n.args[0]];
        };
        double* roots = out.roots.data() + step * out.roots_per_step();
        for (std::size_t i = 0; i < out.factors; ++i) {
            const factor_move& move = m.factors[i];
            out.drifts[step * out.factors + i] = number(move.drift);
            for (std::size_t j = 0; j < move.roots.size(); ++j) {
                roots[move_numbers::place_of_root(i, j)] = number(move.roots[j]);
            }
        }
    }
    return out;
}

}  // namespace tilewalk::program
