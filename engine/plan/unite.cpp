// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/unite.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace tilewalk::plan {

namespace {

using program::lane_section;
using program::operation;
using program::path_program;

// Places states alike for equal steps: first those that the step writes, then outputs, then the others.
std::vector<std::uint32_t> places_of_states(const path_program& p) {
    std::vector<int> rank(p.states.size(), 2);
    for (const auto o : p.outputs) rank[o] = 1;
    for (const auto& w : p.sections.at(0).writes) rank[w.state] = 0;
    std::vector<std::uint32_t> order(p.states.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return rank[a] < rank[b]; });
    std::vector<std::uint32_t> places(p.states.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) places[order[i]] = i;
    return places;
}

lane_section renamed(const lane_section& from, const std::vector<std::uint32_t>& places) {
    lane_section to{from.name, {}, from.nodes, from.writes, from.tables, from.is_on_every_step};
    to.per_run.columns.resize(from.per_run.columns.size());
    for (auto& t : to.tables) t.source = 0;  // data are bound, so tables need no source
    for (auto& n : to.nodes) {
        if (n.code == operation::state) n.args[0] = places[n.args[0]];
    }
    for (auto& w : to.writes) w.state = places[w.state];
    std::sort(to.writes.begin(), to.writes.end(),
              [](const auto& a, const auto& b) { return a.state < b.state; });
    return to;
}

template <class number>
void put(std::string& into, number n) {
    const auto bytes = std::bit_cast<std::array<char, sizeof n>>(n);
    into.append(bytes.data(), bytes.size());
}

// Returns a key that is equal for sections with the same code, which can share one section of a kernel.
std::string meaning_of(const lane_section& s) {
    std::string key;
    put(key, s.per_run.columns.size());
    put(key, s.nodes.size());
    for (const auto& n : s.nodes) {
        put(key, n.code);
        for (const auto a : n.args) put(key, a);
        put(key, n.number);
    }
    for (const auto& w : s.writes) {
        put(key, w.state);
        put(key, w.node);
    }
    for (const auto& t : s.tables) put(key, t.size);
    return key;
}

// A program to unite, with its states in common order and without sections that do nothing.
struct candidate {
    std::size_t given = 0;  // place in `shapes`
    const path_program* code = nullptr;
    std::vector<std::uint32_t> places;
    lane_section step;
    std::vector<lane_section> observations;
    std::vector<std::size_t> numbers;  // of `observations` in the given program
    std::string step_key;
    std::vector<std::string> keys;
};

// With `by_every_step`, sections that run on every step become part of step_key.
candidate candidate_of(const path_program& p, std::size_t given, bool by_every_step) {
    candidate c;
    c.given = given;
    c.code = &p;
    c.places = places_of_states(p);
    c.step = renamed(p.sections.at(0), c.places);
    c.step_key = meaning_of(c.step);
    put(c.step_key, p.normals_per_step);
    put(c.step_key, p.uniforms_per_step);
    put(c.step_key, p.scenarios_per_step);
    for (const auto s : p.normal_streams) put(c.step_key, s);
    for (const auto s : p.uniform_streams) put(c.step_key, s);
    for (const auto s : p.lone_normals) put(c.step_key, s);
    put(c.step_key, p.outputs.size());
    for (const auto o : p.outputs) put(c.step_key, c.places[o]);
    for (const auto& pair : p.crossed) {
        put(c.step_key, pair.first);
        put(c.step_key, pair.second);
    }
    for (std::size_t k = 1; k < p.sections.size(); ++k) {
        if (p.sections[k].writes.empty()) continue;
        c.observations.push_back(renamed(p.sections[k], c.places));
        c.numbers.push_back(k);
        c.keys.push_back(meaning_of(c.observations.back()));
        if (by_every_step && p.sections[k].is_on_every_step) c.step_key += c.keys.back();
    }
    return c;
}

struct union_of_programs {
    path_program code;
    std::string step_key;
    std::vector<std::string> keys;  // of sections, without the step
    std::size_t members = 0;
    std::vector<std::size_t> on_every_step;  // of `keys`: members that run it on every step

    // Returns the section that serves each observation; a place past the end stands for a section to add.
    // Places increase, since sections after the same step run in the order of their numbers.
    std::vector<std::size_t> seats_for(const candidate& c) const {
        std::vector<std::size_t> seats;
        std::size_t from = 0, end = keys.size();
        for (const std::string& key : c.keys) {
            while (from < keys.size() && keys[from] != key) ++from;
            seats.push_back(from < keys.size() ? from++ : end++);
        }
        return seats;
    }
};

void add(const candidate& c, const std::vector<std::size_t>& seats, union_of_programs& to) {
    for (std::size_t i = 0; i < seats.size(); ++i) {
        if (seats[i] < to.keys.size()) continue;
        to.keys.push_back(c.keys[i]);
        to.code.sections.push_back(c.observations[i]);
        to.on_every_step.push_back(0);
    }
    ++to.members;
    for (std::size_t i = 0; i < seats.size(); ++i) {
        if (c.observations[i].is_on_every_step) ++to.on_every_step[seats[i]];
    }
    const std::size_t terms = c.code->per_trade.columns.size();
    if (to.code.per_trade.columns.size() < terms) to.code.per_trade.columns.resize(terms);
    for (std::size_t s = 0; s < c.places.size(); ++s) {
        if (c.places[s] < to.code.states.size()) continue;
        to.code.states.resize(c.places[s] + 1);
    }
    for (std::size_t s = 0; s < c.places.size(); ++s) {
        if (to.code.states[c.places[s]].empty()) to.code.states[c.places[s]] = c.code->states[s];
    }
}

// Marks sections that all members run on every step, as far as all sections before them are marked, too.
void keep_common_steps(union_of_programs& u) {
    bool is_common = true;
    for (std::size_t k = 0; k < u.keys.size(); ++k) {
        is_common = is_common && u.on_every_step[k] == u.members;
        u.code.sections[k + 1].is_on_every_step = is_common;
    }
}

union_of_programs begin_with(const candidate& c) {
    union_of_programs u;
    u.step_key = c.step_key;
    u.code.sections.push_back(c.step);
    u.code.normals_per_step = c.code->normals_per_step;
    u.code.uniforms_per_step = c.code->uniforms_per_step;
    u.code.scenarios_per_step = c.code->scenarios_per_step;
    u.code.normal_streams = c.code->normal_streams;
    u.code.uniform_streams = c.code->uniform_streams;
    u.code.lone_normals = c.code->lone_normals;
    for (const auto o : c.code->outputs) u.code.outputs.push_back(c.places[o]);
    u.code.crossed = c.code->crossed;
    return u;
}

united_programs unite_all(std::span<const path_program* const> shapes, std::size_t most_sections,
                          bool by_every_step) {
    std::vector<candidate> candidates;
    for (std::size_t i = 0; i < shapes.size(); ++i)
        candidates.push_back(candidate_of(*shapes[i], i, by_every_step));
    std::stable_sort(candidates.begin(), candidates.end(), [](const candidate& a, const candidate& b) {
        return std::tie(a.step_key, a.keys) < std::tie(b.step_key, b.keys);
    });

    std::vector<union_of_programs> unions;
    united_programs out;
    out.seats.resize(shapes.size());
    for (const candidate& c : candidates) {
        std::optional<std::size_t> best;
        std::vector<std::size_t> best_seats;
        std::size_t best_added = 0;
        for (std::size_t u = 0; u < unions.size(); ++u) {
            if (unions[u].step_key != c.step_key) continue;
            auto seats = unions[u].seats_for(c);
            const std::size_t have = unions[u].keys.size();
            const std::size_t end = seats.empty() ? have : std::max(have, seats.back() + 1);
            if (end + 1 > most_sections || (best && end - have >= best_added)) continue;
            best = u;
            best_seats = std::move(seats);
            best_added = end - have;
        }
        if (!best) {
            best = unions.size();
            unions.push_back(begin_with(c));
            best_seats = unions.back().seats_for(c);
        }
        add(c, best_seats, unions[*best]);
        seat& s = out.seats[c.given];
        s.program = *best;
        s.states = c.places;
        s.sections.assign(c.code->sections.size(), seat::nowhere);
        s.sections[0] = 0;
        for (std::size_t i = 0; i < best_seats.size(); ++i) {
            s.sections[c.numbers[i]] = static_cast<std::uint32_t>(best_seats[i] + 1);
        }
    }
    for (auto& u : unions) {
        keep_common_steps(u);
        out.programs.push_back(std::move(u.code));
    }
    return out;
}

}  // namespace

united_programs unite(std::span<const path_program* const> shapes, std::size_t most_sections) {
    united_programs apart = unite_all(shapes, most_sections, true);
    return apart.programs.size() <= most_programs_apart ? apart : unite_all(shapes, most_sections, false);
}

program::path_data seated(const program::path_data& data, const seat& to, const path_program& into) {
    program::path_data out;
    out.terms = data.terms;
    out.scenarios = data.scenarios;
    out.normal_names = data.normal_names;
    out.uniform_names = data.uniform_names;
    out.terms.resize(into.per_trade.columns.size(), 0.0);
    out.initial_states.resize(into.states.size(), 0.0);
    for (std::size_t s = 0; s < to.states.size(); ++s) {
        out.initial_states[to.states[s]] = data.initial_states[s];
    }
    out.rows.resize(into.sections.size());
    out.runs.resize(into.sections.size(), 0);
    for (const auto& s : into.sections) out.widths.push_back(s.row_width());
    for (std::size_t k = 0; k < to.sections.size(); ++k) {
        if (to.sections[k] == seat::nowhere) continue;
        out.rows[to.sections[k]] = data.rows[k];
        out.runs[to.sections[k]] = data.runs[k];
    }
    return out;
}

program::timeline seated(const program::timeline& when, const seat& to) {
    program::timeline out;
    out.times = when.times;
    for (std::size_t step = 0; step < when.steps(); ++step) {
        for (const program::event& e : when.events_after(step)) out.add({to.sections[e.section], e.row});
        out.close_step();
    }
    return out;
}

}  // namespace tilewalk::plan
