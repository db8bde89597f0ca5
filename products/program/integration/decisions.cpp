// SPDX-License-Identifier: Apache-2.0
#include "products/program/integration/decisions.h"

#include <algorithm>
#include <utility>

#include "products/program/integration/section_maker.h"

namespace tilewalk::program {

namespace {

constexpr std::size_t no_step = ~std::size_t{0};
constexpr double least_rate = 1e-3;  // least part of a state's move that is along the direction

std::optional<std::vector<gain>> gains_of(const path_program& p, std::size_t section) {
    const lane_section& s = p.sections[section];
    const auto is_output = [&](index state) {
        return std::ranges::find(p.outputs, state) != p.outputs.end();
    };
    const auto reads = [&](index i, index state) {
        return s.nodes[i].code == operation::state && s.nodes[i].args[0] == state;
    };
    std::vector<gain> out;
    std::vector<bool> may_read(s.nodes.size(), false);  // true for a sum or fma that adds to its own output
    for (const state_write& w : s.writes) {
        if (!is_output(w.state)) continue;
        const node& n = s.nodes[w.node];
        if (reads(w.node, w.state)) continue;
        if (n.code == operation::add && (reads(n.args[0], w.state) || reads(n.args[1], w.state)))
            out.push_back({w.state, {n.args[reads(n.args[0], w.state) ? 1 : 0], nowhere}});
        else if (n.code == operation::fma && reads(n.args[2], w.state))
            out.push_back({w.state, {n.args[0], n.args[1]}});
        else
            return std::nullopt;
        may_read[w.node] = true;
    }
    for (index i = 0; i < s.nodes.size(); ++i) {
        if (may_read[i]) continue;
        for (const index arg : operands(s.nodes[i]))
            if (s.nodes[arg].code == operation::state && is_output(s.nodes[arg].args[0])) return std::nullopt;
    }
    // If another node used a sum with an output in it, this node would depend on the output.
    for (index i = 0; i < s.nodes.size(); ++i)
        for (const index arg : operands(s.nodes[i]))
            if (may_read[arg]) return std::nullopt;
    for (const state_write& w : s.writes)
        if (may_read[w.node] && !is_output(w.state)) return std::nullopt;
    return out;
}

void mark_parts(const std::vector<node>& nodes, index of, std::vector<bool>& is_part) {
    is_part[of] = true;
    const node& n = nodes[of];
    if (joins_truths(n.code) || n.code == operation::logical_not)
        for (const index arg : operands(n)) mark_parts(nodes, arg, is_part);
}

// True if a section's writes use a part of a truth, such as one side of an `and`, besides the truth itself.
bool counts_by_parts(const lane_section& s, index truth) {
    std::vector<bool> is_part(s.nodes.size(), false), is_needed(s.nodes.size(), false);
    mark_parts(s.nodes, truth, is_part);
    for (const state_write& w : s.writes) is_needed[w.node] = true;
    for (index i = static_cast<index>(s.nodes.size()); i-- > 0;) {
        if (!is_needed[i] || i == truth) continue;
        if (is_part[i]) return true;
        for (const index arg : operands(s.nodes[i])) is_needed[arg] = true;
    }
    return false;
}

}  // namespace

decisions_to_integrate::decisions_to_integrate(const path_program& p, const path_data& data,
                                               const timeline& when)
    : p_(p), data_(data), when_(when), steps_{step_moves(p, data)} {
    const auto reads_normals = [](const lane_section& s) {
        return std::ranges::find(s.nodes, operation::normal, &node::code) != s.nodes.end();
    };
    if (std::ranges::any_of(p.sections.begin() + 1, p.sections.end(), reads_normals) || !p.crossed.empty() ||
        when.steps() == 0 || std::ranges::count(steps_.moves.moved(), true) == 0)
        return;
    for (std::size_t s = 0; s < p.sections.size(); ++s) {
        nodes_.emplace_back(p, data, s, steps_.moves.moved());
        auto gains = gains_of(p, s);
        if (!gains) return;
        gains_.push_back(*std::move(gains));
    }
    find_steps();
    for (const bool ends : {true, false})
        for (std::size_t s = 1; s < p.sections.size(); ++s)
            if (!of_section_.contains(s)) decide(s, ends);
}

bool decisions_to_integrate::is_output(index state) const {
    return std::ranges::find(p_.outputs, state) != p_.outputs.end();
}

const decision* decisions_to_integrate::decision_of(std::size_t section) const {
    const auto known = of_section_.find(section);
    return known == of_section_.end() ? nullptr : &known->second;
}

// Finds the step before each run, and the sections with a run that occurs more than once.
void decisions_to_integrate::find_steps() {
    for (std::size_t s = 0; s < p_.sections.size(); ++s) steps_.before.emplace_back(data_.runs[s], no_step);
    for (std::size_t step = 0; step < when_.steps(); ++step)
        for (const event& e : when_.events_after(step)) {
            std::size_t& known = steps_.before[e.section][e.row];
            if (known != no_step) runs_again_.insert(e.section);
            known = step;
        }
}

// Takes the last truth of the section that can be integrated, since earlier truths may be parts of it.
void decisions_to_integrate::decide(std::size_t s, bool ends) {
    if (runs_again_.contains(s) || steps_.before[s].empty() ||
        std::ranges::find(steps_.before[s], no_step) != steps_.before[s].end())
        return;
    const std::vector<node>& nodes = p_.sections[s].nodes;
    std::vector<bool> is_part(nodes.size(), false);
    for (index i = static_cast<index>(nodes.size()); i-- > 0;) {
        const node& n = nodes[i];
        if (is_part[i] || !(is_order(n.code) || joins_truths(n.code))) continue;
        if (!nodes_[s].rising_to(i, true)) continue;
        if (counts_by_parts(p_.sections[s], i)) continue;
        mark_parts(nodes, i, is_part);
        for (const bool upper : {true, false}) {
            decision made{s, i, upper, ends, *nodes_[s].rising_to(i, upper)};
            const std::optional<mark> before = ended_;
            if ((ends ? ends_path(made) : only_pays(made)) && fits(made)) {
                of_section_[s] = std::move(made);
                return;
            }
            ended_ = before;
        }
    }
}

bool decisions_to_integrate::only_pays(const decision& d) const {
    const lane_section& s = p_.sections[d.section];
    std::vector<bool> depends(s.nodes.size(), false);
    depends[d.truth] = true;
    for (index i = d.truth + 1; i < s.nodes.size(); ++i)
        for (const index arg : operands(s.nodes[i])) depends[i] = depends[i] || depends[arg];
    bool pays = false;
    for (const state_write& w : s.writes) {
        if (!depends[w.node]) continue;
        if (!is_output(w.state)) return false;
        pays = true;
    }
    return pays;
}

// The numbers that a section certainly writes, by state, if the truth is `is` and any mark `has` is set.
std::map<index, double> decisions_to_integrate::known_writes(std::size_t section,
                                                             const std::optional<mark>& has, index truth,
                                                             double is) const {
    std::vector<node> into;
    node_list list(into);
    const lane_section& s = p_.sections[section];
    const std::vector<index> made =
        list.put_all(s.nodes, [&](index i, const node& n) -> std::optional<index> {
            if (i == truth) return list.number(is);
            if (has && n.code == operation::state && n.args[0] == has->state) return list.number(has->number);
            return std::nullopt;
        });
    std::map<index, double> out;
    for (const state_write& w : s.writes)
        if (const known_number known = list.known(made[w.node])) out[w.state] = *known;
    return out;
}

// Looks for a mark: a state that is set only if the decision ends the path, and after which no shock matters.
// All decisions that end paths share one mark.
bool decisions_to_integrate::ends_path(const decision& d) {
    const auto above = known_writes(d.section, {}, d.truth, d.upper ? 1 : 0),
               below = known_writes(d.section, {}, d.truth, d.upper ? 0 : 1);
    for (const auto& [state, number] : above) {
        const mark found{state, number};
        const auto there = below.find(state);
        if ((there != below.end() && there->second == number) || data_.initial_states[state] == number)
            continue;
        if (ended_ && *ended_ != found) continue;
        if (!ended_ && !stays_ended(found)) continue;
        ended_ = found;
        return true;
    }
    return false;
}
bool decisions_to_integrate::stays_ended(const mark& at) const {
    for (std::size_t s = 0; s < p_.sections.size(); ++s) {
        const lane_section& of = p_.sections[s];
        const auto known = known_writes(s, at);
        for (const state_write& w : of.writes)
            if (w.state == at.state && (!known.contains(w.state) || known.at(w.state) != at.number))
                return false;
        std::vector<node> into;
        if (!gains_when_ended(s, at, into)) return false;
    }
    return true;
}

// Returns the node of each output's gain in a section of an ended path; empty if one depends on shocks.
std::optional<std::vector<index>> decisions_to_integrate::gains_when_ended(std::size_t section,
                                                                           const mark& at,
                                                                           std::vector<node>& into) const {
    node_list list(into);
    const std::vector<node>& nodes = p_.sections[section].nodes;
    const std::vector<index> made = list.put_all(nodes, [&](index, const node& n) -> std::optional<index> {
        if (n.code == operation::state && n.args[0] == at.state) return list.number(at.number);
        return std::nullopt;
    });
    std::vector<index> out;
    for (const gain& g : gains_[section]) {
        const index paid = g.value_in(list, made);
        if (reaches(into)[paid] == reach::path) return std::nullopt;
        out.push_back(paid);
    }
    return out;
}

// Finds the direction of the step before each run; decisions of one date share it. False if none fits.
bool decisions_to_integrate::fits(const decision& d) {
    if (is_after_memory(d)) return false;
    auto along = steps_.along;
    for (const std::size_t step : steps_.before[d.section])
        if (steps_.along[step].empty()) steps_.along[step] = direction_for(d, step);
    const auto goes_along = [&](std::size_t step) {
        return std::ranges::all_of(d.ways, [&](const auto& w) {
            return w.second * steps_.rate(step, w.first) >
                   least_rate * directed_steps::length(steps_.moves.of(step, w.first));
        });
    };
    std::vector<node> into;
    if (std::ranges::all_of(steps_.before[d.section], goes_along) &&
        section_maker(p_, d.section, nodes_[d.section], steps_, into).root(d.truth, d.upper))
        return true;
    steps_.along.swap(along);
    return false;
}

// The mean of the directions in which normals move the decision's states, scaled to unit length.
std::vector<double> decisions_to_integrate::direction_for(const decision& d, std::size_t step) const {
    std::vector<double> out(static_cast<std::size_t>(p_.normals_per_step), 0.0);
    const auto add = [](std::vector<double>& to, const std::vector<double>& by, double times) {
        for (std::size_t j = 0; j < to.size(); ++j) to[j] += times * by[j];
    };
    for (const auto& [state, way] : d.ways) {
        const std::vector<double>& by = steps_.moves.of(step, state);
        add(out, by, way / directed_steps::length(by));
    }
    const double all = directed_steps::length(out);
    for (double& x : out) x /= all;
    return out;
}

// Adds the states in which a section keeps asset levels, except for outputs and the decision's own outcome.
void decisions_to_integrate::add_memory(std::size_t section, std::set<index>& to) const {
    const lane_section& s = p_.sections[section];
    const auto known = of_section_.find(section);
    std::vector<bool> depends(s.nodes.size());
    for (index i = 0; i < s.nodes.size(); ++i) {
        const node& n = s.nodes[i];
        depends[i] = n.code == operation::state
                         ? nodes_[section].depends(i) || to.contains(n.args[0])
                         : std::ranges::any_of(operands(n), [&](index arg) { return depends[arg]; });
        if (known != of_section_.end() && known->second.ends && known->second.truth == i) depends[i] = false;
    }
    for (const state_write& w : s.writes)
        if (!is_output(w.state) && depends[w.node]) to.insert(w.state);
}

// True if, before the decision, other states hold levels of its date that would have to be drawn anew: any
// state, if it ends paths; the states that it reads, if it only pays.
bool decisions_to_integrate::is_after_memory(const decision& d) const {
    const auto reads = [&](const std::set<index>& states) {
        return std::ranges::any_of(p_.sections[d.section].nodes, [&](const node& n) {
            return n.code == operation::state && states.contains(n.args[0]);
        });
    };
    for (std::size_t step = 0; step < when_.steps(); ++step) {
        std::set<index> memory;
        for (const event& e : when_.events_after(step)) {
            if (e.section == d.section && (d.ends ? !memory.empty() : reads(memory))) return true;
            if (e.section != d.section) add_memory(e.section, memory);
        }
    }
    return std::ranges::any_of(p_.sections[d.section].writes,
                               [&](const state_write& w) { return steps_.moves.moved()[w.state]; });
}

// By run: 1 unless a decision of the same date that can end the path comes earlier.
std::vector<double> decisions_to_integrate::is_first(std::size_t section) const {
    std::vector<double> out(steps_.before[section].size(), 1.0);
    for (std::size_t step = 0; step < when_.steps(); ++step) {
        bool was_decided = false;
        for (const event& e : when_.events_after(step)) {
            if (e.section == section && was_decided) out[e.row] = 0;
            const auto known = of_section_.find(e.section);
            was_decided = was_decided || (known != of_section_.end() && known->second.ends);
        }
    }
    return out;
}

}  // namespace tilewalk::program
