// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/ways_back.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tilewalk::greeks {

namespace {

std::vector<double> difference(const std::vector<double>& up, const std::vector<double>& down,
                               double distance) {
    std::vector<double> out(up.size());
    std::ranges::transform(up, down, out.begin(), [&](double a, double b) {
        // Returns 0 for equal infinities and for differences of rounding size.
        const bool stands = a == b || std::abs(a - b) <= 0x1p-50 * std::max(std::abs(a), std::abs(b));
        return stands ? 0.0 : (a - b) / distance;
    });
    return out;
}

}  // namespace

program::path_data moves_of_numbers(const program::path_data& up, const program::path_data& down,
                                    double distance) {
    program::path_data out;
    out.terms = difference(up.terms, down.terms, distance);
    out.initial_states = difference(up.initial_states, down.initial_states, distance);
    for (std::size_t s = 0; s < up.rows.size(); ++s)
        out.rows.push_back(difference(up.rows[s], down.rows[s], distance));
    out.runs = up.runs;
    out.widths = up.widths;
    return out;
}

bool mark_moved(const program::path_data& moves, program::wanted_numbers& into,
                const program::path_program& of) {
    bool any = false;
    const auto mark = [&](std::vector<bool>& marks, std::size_t at, double move) {
        if (move == 0) return;
        marks[at] = any = true;
    };
    for (std::size_t i = 0; i < moves.initial_states.size(); ++i)
        mark(into.initial_states, i, moves.initial_states[i]);
    for (std::size_t i = 0; i < moves.terms.size(); ++i) mark(into.terms, i, moves.terms[i]);
    for (std::size_t s = 0; s < moves.rows.size(); ++s) {
        const program::lane_section& section = of.sections[s];
        const std::size_t columns = section.per_run.columns.size(), width = moves.widths[s];
        for (std::size_t i = 0; i < moves.rows[s].size(); ++i) {
            const std::size_t in_row = i % width;
            if (in_row < columns) {
                mark(into.rows[s], in_row, moves.rows[s][i]);
                continue;
            }
            std::size_t table = section.tables.size() - 1;
            while (section.place_of_table(table) > in_row) --table;
            mark(into.tables[s], table, moves.rows[s][i]);
        }
    }
    return any;
}

std::size_t adjoint_store::size() const {
    const std::lock_guard guard(lock_);
    return known_.size();
}

adjoint_store::of_program& adjoint_store::entry_of(const std::shared_ptr<const program::path_program>& p) {
    const std::lock_guard guard(lock_);
    of_program& entry = known_[p.get()];
    entry.program = p;
    return entry;
}

std::shared_ptr<const program::adjoint_program> adjoint_store::adjoint_of(
    const std::shared_ptr<const program::path_program>& p, const program::wanted_numbers& wanted,
    const std::vector<program::jump>& smoothed) {
    of_program& entry = entry_of(p);
    const std::lock_guard guard(entry.lock);
    for (std::size_t i = 0; i < entry.adjoints.size(); ++i)
        if (entry.wanted[i] == wanted && entry.adjoints[i]->smoothed == smoothed) return entry.adjoints[i];
    auto made = std::make_shared<const program::adjoint_program>(program::adjoint(*p, wanted, smoothed));
    entry.adjoints.push_back(made);
    entry.wanted.push_back(wanted);
    return made;
}

std::shared_ptr<const program::tangent_program> adjoint_store::tangents_of(
    const std::shared_ptr<const program::path_program>& p, const std::vector<program::wanted_numbers>& along,
    const std::shared_ptr<const program::adjoint_program>& back) {
    if (along.size() > most_directions) return nullptr;
    of_program& entry = entry_of(p);
    const std::lock_guard guard(entry.lock);
    for (const tried_tangents& t : entry.tangents)
        if (t.back == back && t.along == along) return t.made;
    auto made =
        std::make_shared<const program::tangent_program>(program::tangents(*p, along, back->smoothed));
    if (!program::costs_less(*made, *p, *back)) made = nullptr;
    entry.tangents.push_back({back, along, made});
    return made;
}

const std::vector<program::jump>& adjoint_store::jumps_of(
    const std::shared_ptr<const program::path_program>& p, const program::path_data& data,
    const program::timeline& when) {
    of_program& entry = entry_of(p);
    std::call_once(entry.once, [&] { entry.jumps = program::jumps_of(*p, data, when); });
    return entry.jumps;
}

const std::vector<program::jump>& adjoint_store::smoothable_of(
    const std::shared_ptr<const program::path_program>& p, const program::path_data& data,
    const program::timeline& when) {
    const std::vector<program::jump>& jumps = jumps_of(p, data, when);
    of_program& entry = entry_of(p);
    std::call_once(entry.smoothable_once,
                   [&] { entry.smoothable = program::smoothable(*p, data, when, jumps); });
    return entry.smoothable;
}

const std::optional<program::scored_program>& adjoint_store::scored_of(
    const std::shared_ptr<const program::path_program>& p, const program::path_data& data,
    const program::timeline& when) {
    const std::vector<program::jump>& jumps = jumps_of(p, data, when);
    of_program& entry = entry_of(p);
    std::call_once(entry.scored_once, [&] {
        // Takes all jumps that any state moves, as a normal that holds one of them still moves the others.
        program::wanted_numbers states = program::no_number_of(*p);
        states.initial_states.flip();
        entry.scored = program::scored(*p, data, when, program::moved_by(*p, jumps, states));
    });
    return entry.scored;
}

std::shared_ptr<const program::scored_adjoint> adjoint_store::scored_adjoint_of(
    const std::shared_ptr<const program::path_program>& p, const program::scored_program& scored,
    const program::wanted_numbers& wanted) {
    of_program& entry = entry_of(p);
    const std::lock_guard guard(entry.lock);
    for (std::size_t i = 0; i < entry.scored_adjoints.size(); ++i)
        if (entry.wanted_of_scored[i] == wanted) return entry.scored_adjoints[i];
    auto made = std::make_shared<const program::scored_adjoint>(program::adjoint(scored, wanted));
    entry.scored_adjoints.push_back(made);
    entry.wanted_of_scored.push_back(wanted);
    return made;
}

ready_way_back::ready_way_back(std::shared_ptr<const program::adjoint_program> code,
                               const program::path_data& data, const std::vector<program::path_data>& moves,
                               const program::smoothing& widths)
    : code_(std::move(code)),
      data_(program::data_of_back(*code_, data, widths)),
      size_(program::places_of(*code_, data).size) {
    set_moves(moves);
}

ready_way_back::ready_way_back(const std::shared_ptr<const program::scored_adjoint>& scored,
                               const program::path_data& data, const std::vector<program::path_data>& moves,
                               double control)
    : code_(scored, &scored->code),
      forth_(&scored->forth),
      data_of_forth_(data),
      data_(program::data_of_back(*code_, data, {}, control)),
      size_(program::places_of(*code_, data).size) {
    set_moves(moves);
}

run::job ready_way_back::both_ways(run::job forth) const {
    if (forth_ != nullptr) {
        forth.code = forth_;
        forth.data = &data_of_forth_;
    }
    forth.back = {code_.get(), &data_};
    return forth;
}

void ready_way_back::set_moves(const std::vector<program::path_data>& moves) {
    for (const auto& of_number : moves) {
        std::vector<term>& terms = moves_.emplace_back();
        const std::vector<double> line = program::numbers_in_line(*code_, of_number);
        for (std::size_t i = 0; i < line.size(); ++i)
            if (line[i] != 0) terms.push_back({static_cast<std::uint32_t>(i), line[i]});
    }
}

std::vector<std::vector<double>> ready_way_back::means_by_number(const run::tally& of) const {
    const std::vector<kernels::moments> parts = of.parts();
    const std::vector<std::span<const double>> sums = of.derivatives_of_parts();
    std::vector<std::vector<double>> out;
    for (const std::vector<term>& terms : moves_) {
        std::vector<double>& means = out.emplace_back();
        for (std::size_t p = 0; p < parts.size(); ++p) {
            double sum = 0;
            for (const term& t : terms) sum += sums[p][t.place] * t.derivative;
            means.push_back(sum / parts[p].count);
        }
    }
    return out;
}

}  // namespace tilewalk::greeks
