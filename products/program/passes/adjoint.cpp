// SPDX-License-Identifier: Apache-2.0
// Reverses a path program: each section turns derivatives with respect to the states after it into
// derivatives with respect to the states before it and to the numbers that it read.
#include "products/program/adjoint.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "products/program/activity.h"
#include "products/program/likelihood_ratio.h"
#include "products/program/passes/derivative_rules.h"
#include "products/program/passes/recorded_numbers.h"
#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

namespace {

class section_reversal {
  public:
    section_reversal(const lane_section& from, std::vector<bool> active, std::vector<bool> truths,
                     section& into)
        : from_(from),
          active_(std::move(active)),
          rules_(from, std::move(truths), derivative_rules::way::back, into),
          into_(into),
          derivative_(from.nodes.size(), nowhere) {}

    void smooth(index comparison) { rules_.smooth(comparison); }
    index read(index state) { return put(operation::state, {state}); }
    // Adds `by`, the derivative with respect to a state, to that with respect to node `of`, which is written
    // to the state.
    void seed(index of, index by) {
        if (active_[of]) derivative_[of] = plus(derivative_[of], by);
    }
    void go_back() {
        for (std::size_t i = from_.nodes.size(); i-- > 0;) {
            if (derivative_[i] != nowhere) distribute(static_cast<index>(i), derivative_[i]);
        }
    }
    // The sum of the derivatives with respect to nodes that satisfy `is_one`; `nowhere` if there are none.
    template <class predicate>
    index sum_of(const predicate& is_one) {
        index sum = nowhere;
        for (std::size_t i = 0; i < from_.nodes.size(); ++i) {
            if (derivative_[i] != nowhere && is_one(from_.nodes[i])) sum = plus(sum, derivative_[i]);
        }
        return sum;
    }
    index derivative(index of) const { return derivative_[of]; }
    index plus(index a, index b) { return rules_.plus(a, b); }
    index constant(double x) { return rules_.constant(x); }
    index put(operation code, std::array<index, 3> of) { return rules_.put(code, of); }
    void write(index state, index from) { into_.writes.push_back({state, from}); }

  private:
    void distribute(index i, index d) {
        const auto to = operands(from_.nodes[i]);
        for (std::size_t k = 0; k < to.size(); ++k)
            if (active_[to[k]] && rules_.is_passed(i, k)) seed(to[k], rules_.through(i, k, d));
    }

    const lane_section& from_;
    std::vector<bool> active_;
    derivative_rules rules_;
    section& into_;
    std::vector<index> derivative_;  // by node of `from_`
};

void keep_states(path_program& p, std::vector<bool> needed) {
    const auto is_needed = [&](const state_write& w) { return needed[w.state]; };
    for (bool changed = true; changed;) {
        changed = false;
        for (const lane_section& s : p.sections) {
            lane_section kept = s;
            std::erase_if(kept.writes, std::not_fn(is_needed));
            keep_written(kept);
            for (const node& n : kept.nodes) {
                if (n.code != operation::state || needed[n.args[0]]) continue;
                needed[n.args[0]] = changed = true;
            }
        }
    }
    for (lane_section& s : p.sections) {
        std::erase_if(s.writes, std::not_fn(is_needed));
        keep_written(s);
    }
}

// Records the way back as a program, before passes and hoisting.
class reversal {
  public:
    // `scored` is null, or the scored program whose code is p.
    reversal(const path_program& p, const wanted_numbers& wanted, const std::vector<jump>& smoothed,
             const scored_program* scored, index output)
        : from_(p), wanted_(wanted), smoothed_(smoothed), scored_(scored), output_(output) {
        made_.normals_per_step = p.normals_per_step;
        made_.uniforms_per_step = p.uniforms_per_step;
        made_.scenarios_per_step = p.scenarios_per_step;
        made_.normal_streams = p.normal_streams;
        made_.uniform_streams = p.uniform_streams;
        made_.lone_normals = p.lone_normals;
        made_.states = p.states;
        for (const std::string& s : p.states) made_.states.push_back("d/" + s);
        for (std::size_t t = 0; t < p.per_trade.columns.size(); ++t)
            made_.terms.push_back("term " + std::to_string(t));
        if (scored_ == nullptr) return;
        made_.terms.emplace_back("control");
        is_known_ = add_state("is known");
        value_ = add_state("value");
        is_held_ = add_state("is held still");
    }

    program make(adjoint_program& told) {
        const active_values active(from_, wanted_, smoothed_,
                                   scored_ == nullptr ? active_values::no_normal : scored_->normal);
        for (index s = 0; s < from_.states.size(); ++s) {
            if (!wanted_.initial_states[s]) continue;
            told.initial_states.push_back({s, derivative(s)});
            made_.outputs.push_back(derivative(s));
        }
        for (index t = 0; t < wanted_.terms.size(); ++t) {
            if (wanted_.terms[t]) told.terms.push_back({t, add_output("d/term " + std::to_string(t))});
        }
        told.sections.resize(from_.sections.size());
        for (std::size_t s = 0; s < from_.sections.size(); ++s)
            turn_round(s, active, told.terms, told.sections[s]);
        return std::move(made_);
    }

    index derivative(index state) const { return static_cast<index>(from_.states.size()) + state; }

  private:
    index add_state(std::string name) {
        made_.states.push_back(std::move(name));
        return static_cast<index>(made_.states.size() - 1);
    }
    index add_output(std::string name) {
        made_.outputs.push_back(add_state(std::move(name)));
        return made_.outputs.back();
    }

    // The derivative of the output with respect to the difference compared at a jump: the score of the normal
    // number that holds the jump still, less the payoff's derivative with respect to this number.
    void hold_still(section_reversal& turned, std::size_t number, const active_values& active,
                    const std::vector<index>& written) {
        const auto put = [&](operation code, std::array<index, 3> of) { return turned.put(code, of); };
        const auto after = [&](index s) { return written[s] == nowhere ? turned.read(s) : written[s]; };
        // The section walked back first has the output's final value.
        const index known = turned.read(is_known_);
        const index value = put(operation::select, {known, turned.read(value_), after(output_)});
        turned.write(value_, value);
        turned.write(is_known_, turned.constant(1));
        // One normal number holds all jumps of a step still; any of them may be used, here the last one.
        const scored_jump* last = nullptr;
        for (const scored_jump& j : scored_->jumps)
            if (j.at.section == number) last = &j;
        if (number == 0) turned.write(is_held_, turned.constant(0));
        if (last == nullptr) return;
        const index held = turned.read(is_held_);
        if (number != 0) turned.write(is_held_, turned.constant(1));
        const index control = put(operation::term, {static_cast<index>(from_.per_trade.columns.size())});
        const index f = put(operation::sub, {value, control});
        index along = nowhere;  // the output's derivative with respect to the normal number, along the path
        for (index s = 0; s < from_.states.size(); ++s) {
            const index slope = scored_->slopes[s];
            if (slope == no_slope || scored_->is_curvature[slope] || !active.states()[s]) continue;
            // If a section writes the state but not its slope, the slope is 0.
            const index of = written[s] != nowhere && written[slope] == nowhere ? nowhere : after(slope);
            if (of == nowhere) continue;
            along = turned.plus(along, put(operation::mul, {turned.read(derivative(s)), of}));
        }
        const index z = put(operation::normal, {scored_->normal});
        index score = put(operation::mul, {f, z});
        if (along != nowhere) score = put(operation::sub, {score, along});
        const index by_slope = put(operation::div, {f, last->slope});
        if (last->curvature != no_slope) score = put(operation::fma, {by_slope, last->curvature, score});
        const auto seed = [&](index of, index by) {
            turned.seed(of, put(operation::select, {held, turned.constant(0), by}));
        };
        seed(last->difference, put(operation::div, {score, last->slope}));
        seed(last->slope, put(operation::neg, {by_slope}));
    }

    void turn_round(std::size_t number, const active_values& active, const std::vector<derivative_in>& terms,
                    section_derivatives& told) {
        const lane_section& from = from_.sections[number];
        section& into = made_.sections.emplace_back();
        const std::vector<bool> is_active = active.active_in(number);
        // Truths have no derivative if no comparison is smoothed.
        section_reversal turned(
            from, is_active, smoothed_.empty() ? std::vector<bool>(from.nodes.size()) : active.truths(number),
            into);
        for (const jump& j : smoothed_)
            if (j.section == number) turned.smooth(j.node);
        std::vector<index> written(from_.states.size(), nowhere);
        for (const state_write& w : from.writes) {
            written[w.state] = w.node;
            // Second derivatives are factors of scores; their own derivatives are not needed.
            if (scored_ != nullptr && scored_->is_curvature[w.state]) continue;
            if (is_active[w.node]) turned.seed(w.node, turned.read(derivative(w.state)));
        }
        if (scored_ != nullptr) hold_still(turned, number, active, written);
        turned.go_back();
        for (index s = 0; s < from_.states.size(); ++s) {
            if (!active.states()[s]) continue;
            index sum =
                turned.sum_of([&](const node& n) { return n.code == operation::state && n.args[0] == s; });
            if (written[s] == nowhere) {
                if (sum == nowhere) continue;
                sum = turned.plus(turned.read(derivative(s)), sum);
            }
            turned.write(derivative(s), sum == nowhere ? turned.constant(0) : sum);
        }
        const auto sum_of_slot = [&](operation leaf, index slot) {
            return turned.sum_of([&](const node& n) { return n.code == leaf && n.args[0] == slot; });
        };
        for (const derivative_in& t : terms) {
            if (const index sum = sum_of_slot(operation::term, t.number); sum != nowhere)
                turned.write(t.state, turned.plus(turned.read(t.state), sum));
        }
        const auto hand_out = [&](operation leaf, const std::vector<bool>& wanted,
                                  std::vector<derivative_in>& to) {
            for (index slot = 0; slot < wanted.size(); ++slot) {
                if (!wanted[slot]) continue;
                const index sum = sum_of_slot(leaf, slot);
                if (sum == nowhere) continue;
                const std::string name =
                    "d/" + from.name + "." + std::string(entry_of(leaf).name) + " " + std::to_string(slot);
                to.push_back({slot, add_output(name)});
                turned.write(to.back().state, sum);
            }
        };
        hand_out(operation::row, wanted_.rows[number], told.rows);
        hand_out(operation::scenario, wanted_.scenarios, told.scenarios);
        for (index table = 0; table < from.tables.size(); ++table) {
            if (!wanted_.tables[number][table]) continue;
            derivative_in_table of{table};
            for (index i = 0; i < from.nodes.size(); ++i) {
                const node& n = from.nodes[i];
                if (n.code != operation::interpolate || n.args[1] != table) continue;
                if (turned.derivative(i) == nowhere) continue;
                const std::string name = from.name + ".table " + std::to_string(table);
                auto& read = of.reads.emplace_back();
                read.state = add_output("d/" + name);
                read.position = add_output("position in " + name);
                turned.write(read.state, turned.derivative(i));
                turned.write(read.position, n.args[0]);
            }
            if (!of.reads.empty()) told.tables.push_back(std::move(of));
        }
    }

    const path_program& from_;
    const wanted_numbers& wanted_;
    const std::vector<jump>& smoothed_;
    const scored_program* scored_;
    index output_;
    index is_known_ = nowhere, value_ = nowhere, is_held_ = nowhere;  // states of the way back
    program made_;
};

}  // namespace

wanted_numbers no_number_of(const path_program& p) {
    wanted_numbers out;
    out.initial_states.resize(p.states.size());
    out.terms.resize(p.per_trade.columns.size());
    for (const lane_section& s : p.sections) {
        out.rows.emplace_back(s.per_run.columns.size());
        out.tables.emplace_back(s.tables.size());
    }
    out.scenarios.resize(static_cast<std::size_t>(p.scenarios_per_step));
    return out;
}

wanted_numbers all_numbers_of(const path_program& p) {
    wanted_numbers out = no_number_of(p);
    out.initial_states.flip();
    out.terms.flip();
    for (std::vector<bool>& r : out.rows) r.flip();
    for (std::vector<bool>& t : out.tables) t.flip();
    out.scenarios.flip();
    return out;
}

namespace {

adjoint_program turned_round(const path_program& p, const wanted_numbers& wanted,
                             const std::vector<jump>& smoothed, std::size_t output,
                             const scored_program* scored) {
    adjoint_program out;
    out.smoothed = smoothed;
    out.has_control = scored != nullptr;
    reversal turned(p, wanted, smoothed, scored, p.outputs[output]);
    const index seeded = turned.derivative(p.outputs[output]);
    out.back = hoist(optimise(turned.make(out)));

    const auto states = static_cast<index>(p.states.size());
    std::vector<index> place_of(2 * states, nowhere);  // by recorded state: its place in `back`
    for (index b = 0; b < out.back.state_sources.size(); ++b) {
        place_of.resize(std::max<std::size_t>(place_of.size(), out.back.state_sources[b] + 1), nowhere);
        place_of[out.back.state_sources[b]] = b;
    }
    const auto place = [&](std::vector<derivative_in>& all) {
        for (derivative_in& d : all) d.state = place_of[d.state];
    };
    out.seeded = place_of[seeded];
    place(out.initial_states);
    place(out.terms);
    std::vector<bool> needed(states, false);
    for (std::size_t s = 0; s < p.sections.size(); ++s) {
        section_derivatives& of = out.sections[s];
        place(of.rows);
        place(of.scenarios);
        for (derivative_in_table& t : of.tables) {
            for (auto& read : t.reads) read = {place_of[read.state], place_of[read.position]};
        }
        lane_section& back = out.back.sections[s];
        back.is_on_every_step = p.sections[s].is_on_every_step;
        std::vector<bool> given(states, false);
        for (const node& n : back.nodes) {
            if (n.code != operation::state) continue;
            if (const index source = out.back.state_sources[n.args[0]]; source < states) given[source] = true;
        }
        for (index i = 0; i < states; ++i) {
            if (!given[i]) continue;
            of.given.push_back({i, place_of[i]});
            needed[i] = true;
        }
    }
    out.again = p;
    out.again.crossed.clear();
    keep_states(out.again, std::move(needed));
    return out;
}

}  // namespace

adjoint_program adjoint(const path_program& p, const wanted_numbers& wanted,
                        const std::vector<jump>& smoothed, std::size_t output) {
    return turned_round(p, wanted, smoothed, output, nullptr);
}

scored_adjoint adjoint(const scored_program& p, const wanted_numbers& wanted, std::size_t output) {
    wanted_numbers with_slopes = wanted;
    with_slopes.initial_states.resize(p.code.states.size(), false);
    scored_adjoint out{p.code, turned_round(p.code, with_slopes, {}, output, &p)};
    std::vector<bool> needed(p.code.states.size(), false);
    for (const index o : p.code.outputs) needed[o] = true;
    for (const section_derivatives& s : out.code.sections)
        for (const derivative_in& g : s.given) needed[g.number] = true;
    keep_states(out.forth, std::move(needed));
    return out;
}

path_program again_quietly(const adjoint_program& a) {
    path_program out = a.again;
    std::vector<bool> needed(out.states.size(), false);
    for (std::size_t s = 0; s < out.sections.size(); ++s) {
        if (s == 0 || out.sections[s].is_on_every_step) {
            for (const derivative_in& given : a.sections[s].given) needed[given.number] = true;
        } else {
            out.sections[s].writes.clear();
            out.sections[s].nodes.clear();
        }
    }
    keep_states(out, std::move(needed));
    return out;
}

derivative_places places_of(const adjoint_program& a, const path_data& data) {
    derivative_places out;
    out.terms = a.initial_states.size();
    out.size = out.terms + a.terms.size();
    for (std::size_t s = 0; s < a.sections.size(); ++s) {
        const section_derivatives& of = a.sections[s];
        std::size_t per_run = of.rows.size() + of.scenarios.size();
        for (const derivative_in_table& t : of.tables) per_run += a.again.sections[s].tables[t.table].size;
        out.first.push_back(out.size);
        out.per_run.push_back(per_run);
        out.size += per_run * data.runs[s];
    }
    return out;
}

std::vector<double> numbers_in_line(const adjoint_program& a, const path_data& data) {
    std::vector<double> out;
    out.reserve(places_of(a, data).size);
    for (const derivative_in& s : a.initial_states) out.push_back(data.initial_states[s.number]);
    for (const derivative_in& t : a.terms) out.push_back(data.terms[t.number]);
    for (std::size_t s = 0; s < a.sections.size(); ++s) {
        const section_derivatives& of = a.sections[s];
        for (std::size_t r = 0; r < data.runs[s]; ++r) {
            const double* const row = data.rows[s].data() + r * data.widths[s];
            for (const derivative_in& c : of.rows) out.push_back(row[c.number]);
            out.insert(out.end(), of.scenarios.size(), 0.0);
            for (const derivative_in_table& t : of.tables) {
                const double* const table = row + a.again.sections[s].place_of_table(t.table);
                out.insert(out.end(), table, table + a.again.sections[s].tables[t.table].size);
            }
        }
    }
    return out;
}

path_data data_of_back(const adjoint_program& a, const path_data& data, const smoothing& widths,
                       double control) {
    // The way back was recorded with the forward program's columns as terms and rows.
    program_data as_recorded =
        recorded_numbers(a.again, data, [&](std::size_t section, std::size_t run, std::vector<double>& row) {
            add_narrowness(a.smoothed, widths, section, run, row);
        });
    if (a.has_control) as_recorded.terms.push_back(control);
    index sources = 0;
    for (const index s : a.back.state_sources) sources = std::max(sources, s + 1);
    as_recorded.initial_states.assign(sources, 0.0);
    path_data out = bind(a.back, as_recorded);
    if (a.seeded != nowhere) out.initial_states[a.seeded] = 1;
    return out;
}

}  // namespace tilewalk::program
