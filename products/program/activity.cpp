// SPDX-License-Identifier: Apache-2.0
#include "products/program/activity.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tilewalk::program {

active_values::active_values(const path_program& p, const wanted_numbers& wanted, std::vector<jump> smoothed,
                             std::uint32_t normal)
    : of_(p),
      wanted_(wanted),
      smoothed_(std::move(smoothed)),
      normal_(normal),
      states_(wanted.initial_states) {
    find_truths();
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t s = 0; s < p.sections.size(); ++s) {
            const std::vector<bool> active = active_in(s);
            for (const state_write& w : p.sections[s].writes) {
                if (!active[w.node] || states_[w.state]) continue;
                states_[w.state] = changed = true;
            }
        }
    }
}

std::vector<bool> active_values::active_in(std::size_t section) const {
    const std::vector<node>& nodes = of_.sections[section].nodes;
    const std::vector<bool> is_truth = truths(section);
    std::vector<bool> out(nodes.size(), false);
    for (std::size_t i = 0; i < nodes.size(); ++i) out[i] = is_active(section, i, out, is_truth);
    return out;
}

std::vector<bool> active_values::truths(std::size_t section) const {
    const std::vector<node>& nodes = of_.sections[section].nodes;
    std::vector<bool> out(nodes.size(), false);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const node& n = nodes[i];
        const bool is_choice = n.code == operation::select && out[n.args[1]] && out[n.args[2]];
        out[i] = entry_of(n.code).result == result_type::truth || is_choice ||
                 (n.code == operation::constant && (n.number == 0 || n.number == 1)) ||
                 (n.code == operation::state && holds_truth_[n.args[0]]);
    }
    return out;
}

void active_values::find_truths() {
    std::vector<bool> is_written(states_.size(), false);
    for (const lane_section& s : of_.sections)
        for (const state_write& w : s.writes) is_written[w.state] = true;
    holds_truth_ = is_written;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t s = 0; s < of_.sections.size(); ++s) {
            const std::vector<bool> is_truth = truths(s);
            for (const state_write& w : of_.sections[s].writes) {
                if (is_truth[w.node] || !holds_truth_[w.state]) continue;
                holds_truth_[w.state] = false;
                changed = true;
            }
        }
    }
}

bool active_values::is_active(std::size_t section, std::size_t at, const std::vector<bool>& before,
                              const std::vector<bool>& is_truth) const {
    const node& n = of_.sections[section].nodes[at];
    const auto any = [&] {
        return std::ranges::any_of(operands(n), [&](std::uint32_t arg) { return before[arg]; });
    };
    const auto is_moved_truth = [&](std::uint32_t arg) {
        return !smoothed_.empty() && before[arg] && is_truth[arg];
    };
    switch (n.code) {
        case operation::term:
            return wanted_.terms[n.args[0]];
        case operation::row:
            return wanted_.rows[section][n.args[0]];
        case operation::state:
            return states_[n.args[0]];
        case operation::normal:
            return n.args[0] == normal_;
        case operation::scenario:
            return wanted_.scenarios[n.args[0]];
        case operation::interpolate:
            return before[n.args[0]] || wanted_.tables[section][n.args[1]];
        case operation::less:
        case operation::less_equal:
            return any() &&
                   std::ranges::find(smoothed_, jump{static_cast<std::uint32_t>(section),
                                                     static_cast<std::uint32_t>(at)}) != smoothed_.end();
        case operation::floor:
            return false;
        case operation::flaw:
            return before[n.args[2]];
        // A truth has a derivative only through a smoothed comparison; `equal` of two truths passes it on.
        case operation::equal:
            return is_truth[n.args[0]] && is_truth[n.args[1]] &&
                   (is_moved_truth(n.args[0]) || is_moved_truth(n.args[1]));
        case operation::logical_not:
        case operation::logical_and:
        case operation::logical_or:
            return std::ranges::any_of(operands(n), is_moved_truth);
        case operation::select:
            return is_moved_truth(n.args[0]) || before[n.args[1]] || before[n.args[2]];
        default:
            return any();
    }
}

}  // namespace tilewalk::program
