// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cpu/lane_program.h"

#include <algorithm>
#include <bit>

namespace tilewalk::cpu {

namespace {

using program::node;
using program::operation;
using program::state_write;

constexpr std::uint32_t none = ~std::uint32_t{0};

// Compiles one section. State s owns register s for the whole path. A result takes a free register or, once
// the old value of the state that it becomes is no longer needed, that state's register.
class section_layout {
  public:
    section_layout(const program::guarded_section& of, lane_program& into)
        : code_(of.code),
          guards_(of.guards),
          into_(into),
          last_use_(code_.nodes.size(), 0),
          place_(code_.nodes.size()) {}

    std::vector<instruction> run() {
        find_last_uses();
        choose_state_targets();
        std::uint32_t next = 0;
        for (const program::guard& g : guards_) {
            for (; next < g.first; ++next) emit(next);
            const std::size_t start = out_.size();
            for (; next < g.last; ++next) emit(next);
            if (start == out_.size()) continue;  // the guarded nodes emitted no instruction
            out_[start].skipped = static_cast<std::uint32_t>(out_.size() - start);
            out_[start].guard = place_[g.condition];
            out_[start].wanted = g.side;
        }
        for (; next < code_.nodes.size(); ++next) emit(next);
        copy_writes();
        return std::move(out_);
    }

  private:
    static constexpr std::uint32_t at_the_end = none - 1;

    void find_last_uses() {
        last_state_read_.assign(into_.states, 0);
        copies_of_.assign(into_.states, 0);
        for (std::uint32_t i = 0; i < code_.nodes.size(); ++i) {
            const node& n = code_.nodes[i];
            for (const std::uint32_t arg : program::operands(n)) {
                last_use_[arg] = i;
                const node& from = code_.nodes[arg];
                if (from.code == operation::state) last_state_read_[from.args[0]] = i;
            }
        }
        for (const state_write& w : code_.writes) {
            last_use_[w.node] = at_the_end;
            const node& from = code_.nodes[w.node];
            if (from.code == operation::state) ++copies_of_[from.args[0]];
        }
    }

    void choose_state_targets() {
        // A state that takes another state's old value copies it first, unless its own is still read.
        for (const state_write& w : code_.writes) {
            const node& from = code_.nodes[w.node];
            if (from.code != operation::state || copies_of_[w.state] > 0 || last_state_read_[w.state] > 0)
                continue;
            out_.push_back({operation::constant, 0, w.state, {{space::lane, from.args[0]}, {}, {}}});
            early_.push_back(w.state);
            --copies_of_[from.args[0]];
        }
        // A result goes straight into its state's register if the state's old value is not read afterwards.
        target_.assign(code_.nodes.size(), none);
        for (const state_write& w : code_.writes) {
            if (program::is_leaf(code_.nodes[w.node].code) || target_[w.node] != none) continue;
            if (copies_of_[w.state] > 0 || last_state_read_[w.state] > w.node) continue;
            target_[w.node] = w.state;
        }
    }

    bool is_early(std::uint32_t state) const {
        return std::find(early_.begin(), early_.end(), state) != early_.end();
    }

    operand constant(double number) {
        const auto same = [&](double c) {
            return std::bit_cast<std::uint64_t>(c) == std::bit_cast<std::uint64_t>(number);
        };
        auto found = std::find_if(into_.constants.begin(), into_.constants.end(), same);
        if (found == into_.constants.end()) found = into_.constants.insert(found, number);
        return {space::constant, static_cast<std::uint32_t>(found - into_.constants.begin())};
    }

    std::uint32_t take_register() {
        if (!free_.empty()) {
            const std::uint32_t r = free_.back();
            free_.pop_back();
            return r;
        }
        return next_++;
    }

    void emit(std::uint32_t i) {
        const node& n = code_.nodes[i];
        switch (n.code) {
            case operation::constant:
                place_[i] = constant(n.number);
                return;
            case operation::term:
                place_[i] = {space::term, n.args[0]};
                return;
            case operation::row:
                place_[i] = {space::row, n.args[0]};
                return;
            case operation::state:
                place_[i] = {space::lane, n.args[0]};
                return;
            case operation::normal:
                place_[i] = {space::normal, n.args[0]};
                return;
            case operation::uniform:
                place_[i] = {space::uniform, n.args[0]};
                return;
            case operation::scenario:
                place_[i] = {space::scenario, n.args[0]};
                return;
            default:
                break;
        }
        instruction it{n.code, 0, 0, {}};
        if (program::reads_table(n.code)) {
            it.table = static_cast<std::uint32_t>(code_.place_of_table(n.args[1]));
            it.size = code_.tables[n.args[1]].size;
        }
        const int arity = program::entry_of(n.code).arity;
        for (int a = 0; a < arity; ++a) {
            it.args[a] = place_[n.args[static_cast<std::size_t>(a)]];
            if (it.args[a].is_number()) it.mode = static_cast<std::uint8_t>(it.mode | (1 << a));
        }
        give_a_lane(it, arity);
        // Registers of operands that are not read again are freed before the result takes one: a loop may
        // overwrite its operands.
        for (int a = 0; a < arity; ++a) {
            const std::uint32_t arg = n.args[static_cast<std::size_t>(a)];
            const operand& from = place_[arg];
            if (last_use_[arg] != i || from.in != space::lane || from.at < into_.states) continue;
            if (std::find(free_.begin(), free_.end(), from.at) == free_.end()) free_.push_back(from.at);
        }
        it.out = target_[i] != none ? target_[i] : take_register();
        place_[i] = {space::lane, it.out};
        out_.push_back(it);
    }

    // Spreads one number over the lanes if no operand has 256 numbers, as passes may leave it: loops need
    // one.
    void give_a_lane(instruction& it, int arity) {
        if (program::reads_table(it.code) || it.mode != (1 << arity) - 1) return;
        const std::uint32_t filled = take_register();
        out_.push_back({operation::constant, 1, filled, {it.args[0], {}, {}}});
        it.args[0] = {space::lane, filled};
        it.mode = static_cast<std::uint8_t>(it.mode & ~1);
        free_.push_back(filled);
    }

    // The remaining writes are simultaneous: values still needed are saved before they are overwritten.
    void copy_writes() {
        struct move {
            std::uint32_t to;
            operand from;
        };
        std::vector<move> moves;
        for (const state_write& w : code_.writes) {
            const operand from = place_[w.node];
            if (is_early(w.state) || (from.in == space::lane && from.at == w.state)) continue;
            moves.push_back({w.state, from});
        }
        const auto push = [&](std::uint32_t to, const operand& from) {
            out_.push_back({operation::constant,
                            static_cast<std::uint8_t>(from.is_number() ? 1 : 0),
                            to,
                            {from, {}, {}}});
        };
        while (!moves.empty()) {
            const auto free_target = std::find_if(moves.begin(), moves.end(), [&](const move& m) {
                return std::none_of(moves.begin(), moves.end(), [&](const move& other) {
                    return &other != &m && other.from.in == space::lane && other.from.at == m.to;
                });
            });
            if (free_target != moves.end()) {
                push(free_target->to, free_target->from);
                moves.erase(free_target);
                continue;
            }
            const std::uint32_t saved = take_register();  // states are exchanged in a cycle: save one of them
            const std::uint32_t victim = moves.front().to;
            push(saved, {space::lane, victim});
            for (move& m : moves) {
                if (m.from.in == space::lane && m.from.at == victim) m.from.at = saved;
            }
        }
        into_.registers = std::max(into_.registers, next_);
    }

    const program::lane_section& code_;
    const std::vector<program::guard>& guards_;
    lane_program& into_;
    std::vector<std::uint32_t> last_use_;
    std::vector<operand> place_;
    std::vector<std::uint32_t> last_state_read_;  // the last node that reads the state, or 0
    std::vector<int> copies_of_;                  // writes of this state's old value to other states
    std::vector<std::uint32_t> target_;
    std::vector<std::uint32_t> early_;
    std::vector<std::uint32_t> free_;
    std::uint32_t next_ = into_.states;
    std::vector<instruction> out_;
};

}  // namespace

std::size_t lane_program::operations() const {
    std::size_t count = 0;
    for (const auto& s : sections) count += s.size();
    return count;
}

lane_program compile(const program::path_program& p, int least_guarded_cost) {
    lane_program out;
    out.states = static_cast<std::uint32_t>(p.states.size());
    out.registers = out.states;
    out.normals = program::places_in_streams(p.normal_streams, p.normals_per_step);
    out.uniforms = program::places_in_streams(p.uniform_streams, p.uniforms_per_step);
    out.scenarios_per_step = p.scenarios_per_step;
    out.outputs = p.outputs;
    out.crossed = p.crossed;
    for (const auto& s : p.sections)
        out.sections.push_back(section_layout(program::guarded(s, least_guarded_cost), out).run());
    return out;
}

}  // namespace tilewalk::cpu
