// SPDX-License-Identifier: Apache-2.0
// Structured bindings name all members, so that a type with a new member compiles only once it is added here.
#include "engine/walk/kept/fingerprints_of_jobs.h"

#include <bit>
#include <span>
#include <utility>
#include <variant>

#include "kernels/tile.h"

namespace tilewalk::kept {

namespace {

void add(fingerprint& to, const program::stream_name& of) {
    const auto& [text, number] = of;
    to.add(text);
    to.add(number);
}

void add(fingerprint& to, const std::vector<program::derivative_in>& all) {
    to.add(std::uint64_t{all.size()});
    for (const auto& [number, state] : all) to.add(std::uint64_t{number} << 32 | state);
}

void add(fingerprint& to, const program::section_derivatives& of) {
    const auto& [given, rows, scenarios, tables] = of;
    add(to, given);
    add(to, rows);
    add(to, scenarios);
    to.add(std::uint64_t{tables.size()});
    for (const auto& [table, reads] : tables) {
        to.add(std::uint64_t{table} << 32 | reads.size());
        for (const auto& [state, position] : reads) to.add(std::uint64_t{state} << 32 | position);
    }
}

void add(fingerprint& to, const key& of) {
    to.add(of.first);
    to.add(of.second);
}

void add(fingerprint& to, const arrays::shock_cube& of) {
    const auto& [first, step_stride, slot_stride, steps, slots, paths] = of;
    for (const std::uint64_t n : {step_stride, slot_stride, steps, slots, paths}) to.add(n);
    std::visit(
        [&](const auto* numbers) {
            to.add(std::uint64_t{sizeof *numbers});
            if (numbers == nullptr) return;
            for (std::uint64_t step = 0; step < of.steps; ++step)
                for (std::uint64_t slot = 0; slot < of.slots; ++slot) {
                    const auto* const row = numbers + step * of.step_stride + slot * of.slot_stride;
                    to.add(std::string_view(reinterpret_cast<const char*>(row), of.paths * sizeof *row));
                }
        },
        first);
}

}  // namespace

void add(fingerprint& to, const program::path_data& data) {
    const auto& [terms, rows, runs, widths, initial_states, scenarios, normal_names, uniform_names] = data;
    to.add(std::span(terms));
    to.add(std::uint64_t{rows.size()});
    for (const auto& of_section : rows) to.add(std::span(of_section));
    to.add(runs);
    to.add(widths);
    to.add(std::span(initial_states));
    to.add(std::uint64_t{scenarios.size()});
    for (const auto& [array, of_steps] : scenarios) {
        to.add(std::uint64_t{array});
        to.add(of_steps);
    }
    for (const auto* const names : {&normal_names, &uniform_names}) {
        to.add(std::uint64_t{names->size()});
        for (const program::stream_name& n : *names) add(to, n);
    }
}

void add(fingerprint& to, const program::timeline& when) {
    to.add(std::span(when.times));
    for (std::size_t step = 0; step < when.steps(); ++step) {
        const auto events = when.events_after(step);
        to.add(std::uint64_t{events.size()});
        for (const auto& [section, row] : events) to.add(std::uint64_t{section} << 32 | row);
    }
}

fingerprints_of_jobs::fingerprints_of_jobs(const run::walk& of, const conditions& by) : walk_(of), by_(by) {
    for (const std::string& text : {by.precision, by.source, by.reduction}) of_walk_.add(text);
    for (const std::uint64_t n : {of.seed, of.paths, of.unit_paths, std::uint64_t{of.part_tiles()}})
        of_walk_.add(n);
    if (of.replay == nullptr) return;
    add(of_walk_, of.replay->normals());
    add(of_walk_, of.replay->uniforms());
}

const key& fingerprints_of_jobs::key_of(const program::path_program& code) {
    const auto [at, is_new] = known_.try_emplace(&code);
    if (is_new) {
        fingerprint of_code;
        of_code.add(program::shape_of(code));
        at->second = of_code.found();
    }
    return at->second;
}

const key& fingerprints_of_jobs::key_of(const program::adjoint_program& code) {
    const auto [at, is_new] = known_backs_.try_emplace(&code);
    if (!is_new) return at->second;
    const auto& [back, again, sections, initial_states, terms, smoothed, seeded, has_control] = code;
    fingerprint of_code;
    of_code.add(program::shape_of(back));
    of_code.add(program::shape_of(again));
    for (const program::section_derivatives& s : sections) add(of_code, s);
    add(of_code, initial_states);
    add(of_code, terms);
    of_code.add(std::uint64_t{smoothed.size()});
    for (const auto& [section, node] : smoothed) of_code.add(std::uint64_t{section} << 32 | node);
    of_code.add(std::uint64_t{seeded} << 1 | (has_control ? 1U : 0U));
    return at->second = of_code.found();
}

key fingerprints_of_jobs::key_of(const run::job& job) {
    const auto& [code, data, when, back, own_points] = job;
    fingerprint all = of_walk_;
    add(all, key_of(*code));
    add(all, *data);
    add(all, *when);
    for (const auto& [array, rows] : data->scenarios) all.add(by_.arrays.at(array));
    const auto& [code_of_back, data_of_back] = back;
    all.add(std::uint64_t{code_of_back != nullptr});
    if (code_of_back != nullptr) {
        add(all, key_of(*code_of_back));
        add(all, *data_of_back);
    }
    if (const auto points = walk_.points_of(job))
        all.add(quasi::name_of(points->construction));
    else
        all.add(std::string_view("independent"));
    return all.found();
}

}  // namespace tilewalk::kept
