// SPDX-License-Identifier: Apache-2.0
#include "products/program/integrate.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "products/program/integration/decisions.h"
#include "products/program/integration/section_maker.h"

namespace tilewalk::program {

namespace {

constexpr double least_probability = 1e-30;

// The two sides of a decision, as nodes of its section. `below` and `above`: the probabilities that a normal
// number is below and above the decision's root, which is kept within the range that the date's earlier roots
// leave. `goes_`: the probability of each side, given this range. `at_`: the coordinate along the direction,
// drawn anew on each side.
struct sides {
    index place, below, above;  // place: the coordinate before it is drawn anew
    index goes_below, goes_above, at_below, at_above;
};

class integration {
  public:
    integration(const path_program& p, const path_data& data, const timeline& when,
                const decisions_to_integrate& found)
        : p_(p), found_(found), out_{p, data, when} {}

    whole_program make() {
        add_states();
        for (std::size_t s = 0; s < p_.sections.size(); ++s) rewrite(s);
        return std::move(out_);
    }

  private:
    bool is_always_first(std::size_t section) const {
        return std::ranges::all_of(found_.is_first(section), [](double x) { return x == 1; });
    }

    void add_states() {
        if (found_.ended()) weight_ = add_state(out_, "weight of what goes on", 1);
        for (std::size_t s = 0; s < p_.sections.size(); ++s)
            share_a_date_ = share_a_date_ || (found_.decision_of(s) != nullptr && !is_always_first(s));
        if (!share_a_date_) return;
        below_ = add_state(out_, "probability below", 1);
        above_ = add_state(out_, "probability above", 0);
        place_ = add_state(out_, "place along", 0);
    }

    void rewrite(std::size_t section) {
        const decision* const d = found_.decision_of(section);
        if (d == nullptr && (!found_.ended() || found_.gains(section).empty())) return;
        lane_section& to = out_.code.sections[section];
        to.nodes.clear();
        to.writes.clear();
        section_maker make(p_, section, found_.nodes(section), found_.steps(), to.nodes);
        if (d == nullptr)
            weigh(make, section, to);
        else
            take_both_ways(make, *d, to);
        keep_written(to);
        add_columns(out_, section, make.columns());
    }

    // Adds what a path gains on a date to an output: the gain of a path that goes on, weighted by the
    // probability of that, and the gain of a path that has ended, weighted by the rest.
    void write_gain(node_list& list, lane_section& to, std::size_t section, std::size_t number,
                    index gained) {
        const index output = found_.gains(section)[number].output;
        if (found_.ended()) {
            const index weight = list.state(weight_), rest = list.put(operation::sub, list.number(1), weight);
            const index of_ended = found_.gains_when_ended(section, *found_.ended(), to.nodes)->at(number);
            gained = list.put(operation::fma, weight, gained, list.put(operation::mul, rest, of_ended));
        }
        to.writes.push_back({output, list.put(operation::add, list.state(output), gained)});
    }

    void weigh(section_maker& make, std::size_t section, lane_section& to) {
        const std::vector<gain>& gains = found_.gains(section);
        for (std::size_t k = 0; k < gains.size(); ++k)
            write_gain(make.list(), to, section, k, gains[k].value_in(make.list(), make.same()));
        for (const state_write& w : p_.sections[section].writes)
            if (!found_.is_output(w.state)) to.writes.push_back({w.state, make.same()[w.node]});
    }

    // A new coordinate has the same relative position within its side as the old one within the whole range.
    // A side of probability 0 counts for nothing, but still has a coordinate.
    sides find_sides(section_maker& make, const decision& d) const {
        node_list& list = make.list();
        const auto put = [&](operation code, index a, index b = 0, index c = 0) {
            return list.put(code, a, b, c);
        };
        const auto probability_below = [&](index x) { return put(operation::norm_cdf, x); };
        const auto probability_above = [&](index x) { return probability_below(put(operation::neg, x)); };
        const auto place_of = [&](index probability) {
            return put(operation::norm_inv, put(operation::max, probability, list.number(least_probability)));
        };
        const index drawn = make.place();
        sides out{};
        out.place = drawn;
        index all = list.number(1), beyond = list.number(0);
        if (!is_always_first(d.section)) {
            const index is_first = make.column("is first", found_.is_first(d.section));
            out.place = put(operation::select, is_first, drawn, list.state(place_));
            const index left = put(operation::max, list.state(below_), list.number(least_probability));
            all = put(operation::select, is_first, all, left);
            beyond = put(operation::select, is_first, beyond, list.state(above_));
        }
        const index root = put(operation::add, out.place, *make.root(d.truth, d.upper));
        out.below = put(operation::min, probability_below(root), all);
        out.above = put(operation::max, probability_above(root), beyond);
        const index between = put(operation::sub, out.above, beyond);
        out.goes_below = put(operation::div, out.below, all);
        out.goes_above = put(operation::div, between, all);
        out.at_below = place_of(put(operation::mul, probability_below(drawn), out.below));
        out.at_above =
            put(operation::neg, place_of(put(operation::fma, probability_above(drawn), between, beyond)));
        return out;
    }

    std::map<index, index> levels_at(section_maker& make, index place, index before) const {
        std::map<index, index> out;
        node_list& list = make.list();
        const index by = list.put(operation::sub, place, before);
        for (index s = 0; s < p_.states.size(); ++s)
            if (found_.steps().moves.moved()[s])
                out[s] = list.put(operation::fma, make.rate(s), by, list.state(s));
        return out;
    }

    // Copies the section's nodes, with the decision's truth fixed to `truth` and states replaced by `levels`.
    std::vector<index> taken(section_maker& make, const decision& d, bool truth,
                             const std::map<index, index>& levels) const {
        const std::vector<node>& from = p_.sections[d.section].nodes;
        std::vector<bool> differs(from.size(), false);
        return make.list().put_all(from, [&](index i, const node& n) -> std::optional<index> {
            const bool is_level = n.code == operation::state && levels.contains(n.args[0]);
            differs[i] = i == d.truth || is_level ||
                         std::ranges::any_of(operands(n), [&](index arg) { return differs[arg]; });
            if (i == d.truth) return make.list().number(truth ? 1 : 0);
            if (is_level) return levels.at(n.args[0]);
            return differs[i] ? std::nullopt : std::optional(make.same()[i]);
        });
    }

    void take_both_ways(section_maker& make, const decision& d, lane_section& to) {
        node_list& list = make.list();
        const sides of = find_sides(make, d);
        const std::map<index, index> levels_below = levels_at(make, of.at_below, of.place),
                                     levels_above = levels_at(make, of.at_above, of.place);
        const std::vector<index> if_above = taken(make, d, d.upper, levels_above),
                                 if_below = taken(make, d, !d.upper, levels_below);
        const std::vector<gain>& gains = found_.gains(d.section);
        for (std::size_t k = 0; k < gains.size(); ++k) {
            const index there = list.put(operation::mul, of.goes_below, gains[k].value_in(list, if_below));
            write_gain(list, to, d.section, k,
                       list.put(operation::fma, of.goes_above, gains[k].value_in(list, if_above), there));
        }
        for (const state_write& w : p_.sections[d.section].writes) {
            const index left = d.ends ? if_below[w.node] : make.same()[w.node];
            const bool stays = to.nodes[left].code == operation::state && to.nodes[left].args[0] == w.state;
            if (!found_.is_output(w.state) && !stays) to.writes.push_back({w.state, left});
        }
        if (!d.ends) return;
        for (const auto& [state, level] : levels_below) to.writes.push_back({state, level});
        to.writes.push_back({weight_, list.put(operation::mul, list.state(weight_), of.goes_below)});
        if (!share_a_date_) return;
        to.writes.push_back({below_, of.below});
        to.writes.push_back({above_, of.above});
        to.writes.push_back({place_, of.at_below});
    }

    const path_program& p_;
    const decisions_to_integrate& found_;
    whole_program out_;
    bool share_a_date_ = false;
    index weight_ = nowhere, below_ = nowhere, above_ = nowhere, place_ = nowhere;  // states, or nowhere
};

}  // namespace

std::optional<whole_program> integrated(const path_program& p, const path_data& data, const timeline& when) {
    const decisions_to_integrate found(p, data, when);
    if (found.are_none()) return std::nullopt;
    return integration(p, data, when, found).make();
}

}  // namespace tilewalk::program
