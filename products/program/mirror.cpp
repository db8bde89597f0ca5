// SPDX-License-Identifier: Apache-2.0
#include "products/program/mirror.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

namespace {

// The section that ends every path: last in order, run once. Empty if there is none.
std::optional<index> last_section(const timeline& when) {
    const auto at_the_end = when.events_after(when.steps() - 1);
    if (at_the_end.empty()) return std::nullopt;
    const index last = at_the_end.back().section;
    std::size_t runs = 0;
    for (std::size_t step = 0; step < when.steps(); ++step)
        for (const event e : when.events_after(step)) runs += e.section == last ? 1 : 0;
    return runs == 1 ? std::optional(last) : std::nullopt;
}

// By node: true if it may have another number on the opposite path.
std::vector<bool> differing(const std::vector<node>& nodes, const std::vector<bool>& states) {
    std::vector<bool> out(nodes.size(), false);
    for (index i = 0; i < nodes.size(); ++i) {
        const node& n = nodes[i];
        if (n.code == operation::normal || n.code == operation::uniform) out[i] = true;
        if (n.code == operation::state) out[i] = states[n.args[0]];
        for (const index arg : operands(n)) out[i] = out[i] || out[arg];
    }
    return out;
}

// By state: true if a section may read another number on the opposite path. No section reads after the last.
std::vector<bool> differing_states(const path_program& p, index last) {
    std::vector<bool> out(p.states.size(), false);
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (index s = 0; s < p.sections.size(); ++s) {
            if (s == last) continue;
            const std::vector<bool> nodes = differing(p.sections[s].nodes, out);
            for (const state_write& w : p.sections[s].writes) {
                if (out[w.state] || !nodes[w.node]) continue;
                out[w.state] = is_new = true;
            }
        }
    }
    return out;
}

// Sums of a drift and multiples of normals. Opposite shocks reflect the sum about the drift.
class sums_of_normals {
  public:
    explicit sums_of_normals(const std::vector<node>& nodes) : drift_(nodes.size(), nowhere) {
        std::vector<std::size_t> links(nodes.size(), 0);
        const auto is_number = [&](index i) {
            const operation code = nodes[i].code;
            return code == operation::constant || code == operation::term || code == operation::row;
        };
        for (index i = 0; i < nodes.size(); ++i) {
            const node& n = nodes[i];
            if (n.code != operation::fma || nodes[n.args[0]].code != operation::normal ||
                !is_number(n.args[1]))
                continue;
            const index sum = n.args[2];
            if (!is_number(sum) && drift_[sum] == nowhere) continue;
            drift_[i] = is_number(sum) ? sum : drift_[sum];
            links[i] = links[sum] + 1;
            longest_ = std::max(longest_, links[i]);
        }
    }
    // Returns the drift of a sum; `nowhere` if the node is no such sum, or if summing the opposite shocks
    // costs no more. A kernel for correlated moves recognises sums only if a section reflects all alike.
    index drift_to_turn_about(index i) const { return longest_ < least_links ? nowhere : drift_[i]; }

  private:
    static constexpr std::size_t least_links = 3;
    std::vector<index> drift_;  // by node
    std::size_t longest_ = 0;
};

class maker {
  public:
    maker(const path_program& p, index last)
        : from_(p), last_(last), differs_(differing_states(p, last)), twin_(p.states.size(), nowhere) {}

    path_program make() {
        path_program out = from_;
        for (index s = 0; s < from_.states.size(); ++s) {
            if (!differs_[s]) continue;
            twin_[s] = static_cast<index>(out.states.size());
            out.states.push_back("opposite/" + from_.states[s]);
            out.state_sources.push_back(from_.state_sources[s]);
        }
        for (index s = 0; s < from_.sections.size(); ++s) out.sections[s] = of_both(s);
        if (last_ == from_.sections.size()) {
            lane_section& end = out.sections.emplace_back();
            end.name = "pairs";
            write_means(end, end, {}, {});
        }
        return out;
    }
    const std::vector<bool>& differs() const { return differs_; }

  private:
    lane_section of_both(index number) const {
        const lane_section& from = from_.sections[number];
        lane_section out = from;
        const std::vector<bool> differs = differing(from.nodes, differs_);
        const std::vector<index> opposite = add_opposites(from.nodes, differs, out.nodes);
        if (number == last_) {
            write_means(from, out, differs, opposite);
        } else {
            for (const state_write& w : from.writes)
                if (differs_[w.state])
                    out.writes.push_back({twin_[w.state], differs[w.node] ? opposite[w.node] : w.node});
        }
        keep_written(out);
        return out;
    }

    // Opposite nodes follow their originals directly, which keeps few numbers live.
    std::vector<index> add_opposites(const std::vector<node>& from, const std::vector<bool>& differs,
                                     std::vector<node>& into) const {
        const sums_of_normals sums(from);
        const auto put = [&](operation code, const std::array<index, 3>& args) {
            return append(into, {code, args, 0});
        };
        std::vector<index> out(from.size(), nowhere);
        for (index i = 0; i < from.size(); ++i) {
            if (!differs[i]) continue;
            node n = from[i];
            if (const index drift = sums.drift_to_turn_about(i); drift != nowhere) {
                out[i] = put(operation::add, {put(operation::sub, {drift, i}), drift});
            } else if (n.code == operation::normal) {
                out[i] = put(operation::neg, {i});
            } else if (n.code == operation::uniform) {
                out[i] = put(operation::sub, {append(into, {operation::constant, {}, 1.0}), i});
            } else if (n.code == operation::state) {
                out[i] = put(operation::state, {twin_[n.args[0]]});
            } else {
                for (index& arg : operands(n))
                    if (differs[arg]) arg = out[arg];
                out[i] = append(into, n);
            }
        }
        return out;
    }

    // Writes the outputs, as means of both paths, and drops all other writes.
    void write_means(const lane_section& from, lane_section& into, const std::vector<bool>& differs,
                     const std::vector<index>& opposite) const {
        std::vector<state_write> means;
        for (const index o : from_.outputs) {
            if (std::ranges::find(means, o, &state_write::state) != means.end()) continue;
            const auto written = std::ranges::find(from.writes, o, &state_write::state);
            const bool is_written = written != from.writes.end();
            index one = nowhere, other = nowhere;
            if (is_written) {
                one = written->node;
                other = differs[one] ? opposite[one] : one;
            } else if (differs_[o]) {
                one = append(into.nodes, {operation::state, {o}, 0});
                other = append(into.nodes, {operation::state, {twin_[o]}, 0});
            }
            if (one != other) {
                const index half = append(into.nodes, {operation::constant, {}, 0.5}),
                            sum = append(into.nodes, {operation::add, {one, other}, 0});
                one = append(into.nodes, {operation::mul, {sum, half}, 0});
            }
            if (one != nowhere) means.push_back({o, one});
        }
        into.writes = std::move(means);
    }

    const path_program& from_;
    index last_;
    std::vector<bool> differs_;  // by state
    std::vector<index> twin_;    // by state: the opposite path's state
};

}  // namespace

whole_program mirror(const path_program& p, const path_data& data, const timeline& when) {
    const auto end = static_cast<index>(p.sections.size());
    const index last = last_section(when).value_or(end);
    maker made(p, last);
    whole_program out{made.make(), data, when};
    if (out.code.sections[last].writes.empty()) return {p, data, when};  // no output depends on a shock
    for (index s = 0; s < p.states.size(); ++s)
        if (made.differs()[s]) out.data.initial_states.push_back(data.initial_states[s]);
    if (last < end) return out;
    out.data.rows.emplace_back();
    out.data.runs.push_back(1);
    out.data.widths.push_back(0);
    out.when = {};
    out.when.times = when.times;
    for (std::size_t step = 0; step < when.steps(); ++step) {
        for (const event e : when.events_after(step)) out.when.add(e);
        if (step + 1 == when.steps()) out.when.add({end, 0});
        out.when.close_step();
    }
    return out;
}

}  // namespace tilewalk::program
