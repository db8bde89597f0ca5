// SPDX-License-Identifier: Apache-2.0
#include "products/program/jumps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "products/program/activity.h"
#include "products/program/row_names.h"
#include "products/program/trial.h"

namespace tilewalk::program {

namespace {

using index = std::uint32_t;

constexpr std::uint64_t tried_paths = 12, most_tried_paths = 1200;
constexpr std::uint64_t measured_paths = 64;
constexpr std::size_t most_places = 24;  // places on paths at which a comparison is tried
constexpr double same_number = 1e-9;     // of the size of the larger side, or of 1

bool is_comparison(operation code) {
    return code == operation::less || code == operation::less_equal || code == operation::equal;
}

class candidate {
  public:
    candidate(const path_program& p, std::size_t section, index at)
        : section_(section), node_(at), comparison_(p.sections[section].nodes[at]) {
        const lane_section& of = p.sections[section];
        std::vector<bool> is_truth(of.nodes.size(), false);
        is_truth[at] = true;
        for (index i = at + 1; i < of.nodes.size(); ++i) {
            const node& n = of.nodes[i];
            for (std::size_t a = 0; a < operands(n).size(); ++a) {
                if (!is_truth[n.args[a]] || (n.code == operation::flaw && a < 2)) continue;
                if (n.code == operation::select && a == 0) {
                    decides_.push_back(i);
                } else if (combines_truths(n.code)) {
                    is_truth[i] = true;
                } else {
                    is_known_jump_ = true;
                }
            }
        }
        for (const state_write& w : of.writes) is_known_jump_ = is_known_jump_ || is_truth[w.node];
    }

    std::size_t section() const { return section_; }
    bool is_jump() const { return is_known_jump_ || tried_ == 0 || (jumps_[0] && jumps_[1]); }
    index node_of() const { return node_; }

    void try_at(const path_program& p, const trial& on, const place_on_path& at) {
        if (is_known_jump_ || tried_ >= most_places || (jumps_[0] && jumps_[1])) return;
        const std::vector<double> as_is = on.values(section_, at, trial::no_node, 0);
        bool is_tried = false;
        for (std::size_t side = 0; side < 2; ++side) {
            const index moved = comparison_.args[side], to = comparison_.args[1 - side];
            const std::vector<double> v = on.values(section_, at, moved, as_is[to]);
            if (!std::isfinite(as_is[to]) || v[to] != as_is[to]) {
                jumps_[side] = true;  // moving one operand moves the other one too
                continue;
            }
            is_tried = true;
            for (const index s : decides_) {
                const node& n = p.sections[section_].nodes[s];
                const double a = v[n.args[1]], b = v[n.args[2]];
                const double size = std::max({std::abs(a), std::abs(b), 1.0});
                if (!(std::abs(a - b) <= same_number * size)) jumps_[side] = true;
            }
        }
        tried_ += is_tried;
    }

  private:
    std::size_t section_;
    index node_;
    node comparison_;
    std::vector<index> decides_;  // selects that the comparison decides
    bool is_known_jump_ = false;
    std::array<bool, 2> jumps_{};  // by the operand that is moved
    std::size_t tried_ = 0;
};

// Tests on some paths whether the payoff is linear in the truth of a comparison.
class linearity {
  public:
    linearity(const path_program& p, const path_data& data, const timeline& when)
        : p_(p), data_(data), when_(when), on_(p, data) {}

    // Tries paths until the truth matters: on many it decides nothing, such as after a note was called.
    bool holds_for(const jump& of) const {
        const std::size_t runs = data_.runs[of.section];
        if (runs == 0) return false;
        bool has_counted = false;
        for (std::uint64_t path = 0; path < tried_paths || (!has_counted && path < most_tried_paths);
             ++path) {
            const std::size_t run = (path % tried_paths * runs / tried_paths + path / tried_paths) % runs;
            const double without = payoff(of, run, path, 0), with = payoff(of, run, path, 1);
            if (path >= tried_paths && with == without) continue;
            const double size = std::max({std::abs(without), std::abs(with), 1.0});
            for (const double share : {1e-4, 0.5, 1 - 1e-4}) {
                const double between = (1 - share) * without + share * with;
                if (!(std::abs(payoff(of, run, path, share) - between) <= same_number * size)) return false;
            }
            has_counted = has_counted || with != without;
        }
        return has_counted;
    }

  private:
    double payoff(const jump& of, std::size_t run, std::uint64_t path, double truth) const {
        return walk_path(p_, data_, when_, path,
                         [&](std::size_t section, std::size_t row, const place_on_path& at) {
                             const bool is_there = section == of.section && row == run;
                             return on_.values(section, at, is_there ? of.node : trial::no_node, truth);
                         });
    }

    const path_program& p_;
    const path_data& data_;
    const timeline& when_;
    trial on_;
};

// All numbers except states that hold truths or constants: such a state jumps only where it is written.
wanted_numbers numbers_of_paths(const path_program& p) {
    wanted_numbers out = all_numbers_of(p);
    for (const lane_section& s : p.sections) {
        std::vector<bool> is_choice(s.nodes.size());
        for (index i = 0; i < s.nodes.size(); ++i) {
            const node& n = s.nodes[i];
            is_choice[i] = n.code == operation::constant || entry_of(n.code).result == result_type::truth ||
                           (n.code == operation::select && is_choice[n.args[1]] && is_choice[n.args[2]]);
        }
        for (const state_write& w : s.writes)
            if (is_choice[w.node]) out.initial_states[w.state] = false;
    }
    return out;
}

}  // namespace

namespace {

// Nodes that later sections use for more than a policy's comparisons with its continuation value.
std::vector<bool> beside_decisions(const path_program& p, std::size_t section) {
    const lane_section& s = p.sections[section];
    std::vector<bool> is_to_come(s.nodes.size()), matters(s.nodes.size());
    for (index i = 0; i < s.nodes.size(); ++i) {
        const node& n = s.nodes[i];
        if (n.code == operation::row) {
            is_to_come[i] = row_names::is_of_a_decision(name_of_row(p, section, n.args[0]));
            continue;
        }
        if (is_comparison(n.code) || combines_truths(n.code)) continue;
        const std::size_t decides = n.code == operation::select ? 1 : n.code == operation::flaw ? 2 : 0;
        const auto from = operands(n).subspan(decides);
        is_to_come[i] = std::ranges::any_of(from, [&](index arg) { return is_to_come[arg]; });
    }
    for (const state_write& w : s.writes) matters[w.node] = true;
    for (std::size_t i = s.nodes.size(); i-- > 0;) {
        if (!matters[i]) continue;
        const node& n = s.nodes[i];
        const auto of = operands(n);
        if (is_comparison(n.code) && std::ranges::any_of(of, [&](index arg) { return is_to_come[arg]; }))
            matters[i] = false;
        else
            for (const index arg : of.subspan(n.code == operation::flaw ? 2 : 0)) matters[arg] = true;
    }
    return matters;
}

}  // namespace

std::vector<jump> jumps_of(const path_program& p, const path_data& data, const timeline& when) {
    const wanted_numbers all = numbers_of_paths(p);
    const active_values active(p, all);
    std::vector<bool> is_written(p.states.size(), false);
    for (const lane_section& s : p.sections)
        for (const state_write& w : s.writes) is_written[w.state] = true;
    std::vector<jump> out;
    std::vector<candidate> candidates;
    for (std::size_t s = 0; s < p.sections.size(); ++s) {
        const std::vector<bool> is_active = active.active_in(s), matters = beside_decisions(p, s);
        const std::vector<node>& nodes = p.sections[s].nodes;
        for (index i = 0; i < nodes.size(); ++i) {
            if (!matters[i]) continue;
            const node& n = nodes[i];
            const bool is_moved = std::ranges::any_of(operands(n), [&](index arg) { return is_active[arg]; });
            if (!is_moved) continue;
            if (n.code == operation::floor) out.push_back({static_cast<index>(s), i});
            // A condition that is a number of the path jumps at 0. A small move of the inputs does not take a
            // term, a row, or a state that nothing writes, across 0.
            const auto is_moved_by_paths = [&](index arg) {
                const node& of = nodes[arg];
                const bool stays = of.code == operation::state && !is_written[of.args[0]];
                return is_active[arg] && of.code != operation::row && of.code != operation::term && !stays;
            };
            if (n.code == operation::select && is_moved_by_paths(n.args[0]))
                out.push_back({static_cast<index>(s), i});
            if (combines_truths(n.code) && std::ranges::any_of(operands(n), is_moved_by_paths))
                out.push_back({static_cast<index>(s), i});
            if (is_comparison(n.code)) candidates.emplace_back(p, s, i);
        }
    }
    if (!candidates.empty()) {
        const trial on(p, data);
        for (std::uint64_t path = 0; path < tried_paths; ++path) {
            walk_path(p, data, when, path, [&](std::size_t section, std::size_t, const place_on_path& at) {
                for (candidate& c : candidates)
                    if (c.section() == section) c.try_at(p, on, at);
                return on.values(section, at, trial::no_node, 0);
            });
        }
    }
    for (const candidate& c : candidates)
        if (c.is_jump()) out.push_back({static_cast<index>(c.section()), c.node_of()});
    return out;
}

std::vector<jump> moved_by(const path_program& p, const std::vector<jump>& all,
                           const wanted_numbers& wanted) {
    // A comparison may move only because an earlier one decides what it compares: treat all as smoothed.
    const active_values active(p, wanted, all);
    std::vector<jump> out;
    std::vector<bool> is_active;
    std::size_t section = p.sections.size();
    for (const jump& j : all) {
        if (j.section != section) is_active = active.active_in(section = j.section);
        const node& n = p.sections[section].nodes[j.node];
        if (std::ranges::any_of(operands(n), [&](index arg) { return is_active[arg]; })) out.push_back(j);
    }
    return out;
}

std::vector<jump> smoothable(const path_program& p, const path_data& data, const timeline& when,
                             const std::vector<jump>& all) {
    const linearity payoff(p, data, when);
    std::vector<jump> out;
    for (const jump& j : all) {
        const operation code = p.sections[j.section].nodes[j.node].code;
        if ((code == operation::less || code == operation::less_equal) && payoff.holds_for(j))
            out.push_back(j);
    }
    return out;
}

namespace {

// Shocks between those of two paths: `reach` multiplies the second path's normals, `share` is its weight.
class bent_numbers {
  public:
    bent_numbers(std::uint64_t path, double reach, double share)
        : from_(2 * path), to_(2 * path + 1), reach_(reach), share_(share) {}
    double normal() { return (1 - share_) * from_.normal() + share_ * reach_ * to_.normal(); }
    double uniform() { return (1 - share_) * from_.uniform() + share_ * to_.uniform(); }

  private:
    trial_numbers from_, to_;
    double reach_, share_;
};

class bent_paths {
  public:
    bent_paths(const path_program& p, const path_data& data, const timeline& when,
               const std::vector<jump>& jumps)
        : p_(p), data_(data), when_(when), jumps_(jumps), on_(p, data), crossed_(jumps.size()) {}

    std::optional<double> largest_step() {
        double out = 0;
        for (std::uint64_t pair = 0; pair < most_pairs && fewest_crossed() < wanted_crossings; ++pair)
            out = std::max(out, step_between(pair));
        if (fewest_crossed() == 0) return std::nullopt;
        return out;
    }

  private:
    static constexpr std::uint64_t most_pairs = 48;
    static constexpr int wanted_crossings = 6, halvings = 36;

    struct seen {
        double payoff = 0;
        std::vector<double> sides{};          // side of each jump, in the order in which the path meets them
        std::vector<std::size_t> of_jumps{};  // number of the jump of each side
    };

    int fewest_crossed() const { return *std::ranges::min_element(crossed_); }

    // Half of the second paths are usual ones, the others reach two or four times as far.
    seen bent(std::uint64_t pair, double share) const {
        constexpr std::array<double, 4> reaches{1, 2, 1, 4};
        seen out;
        out.payoff =
            walk_numbers(p_, data_, when_, bent_numbers(pair, reaches[pair % reaches.size()], share),
                         [&](std::size_t section, std::size_t, const place_on_path& at) {
                             std::vector<double> v = on_.values(section, at, trial::no_node, 0);
                             for (std::size_t j = 0; j < jumps_.size(); ++j) {
                                 if (jumps_[j].section != section) continue;
                                 const node& n = p_.sections[section].nodes[jumps_[j].node];
                                 out.sides.push_back(n.code == operation::select ? double(v[n.args[0]] != 0)
                                                                                 : v[jumps_[j].node]);
                                 out.of_jumps.push_back(j);
                             }
                             return v;
                         });
        return out;
    }

    // The payoff's step at a crossing of the jump that was crossed least so far, found by bisection.
    double step_between(std::uint64_t pair) {
        seen from = bent(pair, 0), to = bent(pair, 1);
        std::size_t crossing = from.sides.size();
        for (std::size_t k = 0; k < from.sides.size(); ++k) {
            if (from.sides[k] == to.sides[k]) continue;
            if (crossing == from.sides.size() ||
                crossed_[from.of_jumps[k]] < crossed_[from.of_jumps[crossing]])
                crossing = k;
        }
        if (crossing == from.sides.size()) return 0;
        double low = 0, high = 1;
        for (int k = 0; k < halvings; ++k) {
            const double middle = 0.5 * (low + high);
            seen found = bent(pair, middle);
            const bool is_before = found.sides[crossing] == from.sides[crossing];
            (is_before ? low : high) = middle;
            (is_before ? from : to) = std::move(found);
        }
        const double step = std::abs(to.payoff - from.payoff);
        if (!std::isfinite(step)) return 0;
        ++crossed_[from.of_jumps[crossing]];
        return step;
    }

    const path_program& p_;
    const path_data& data_;
    const timeline& when_;
    const std::vector<jump>& jumps_;
    trial on_;
    std::vector<int> crossed_;  // by jump
};

}  // namespace

std::optional<double> largest_step(const path_program& p, const path_data& data, const timeline& when,
                                   const std::vector<jump>& jumps) {
    return jumps.empty() ? 0.0 : bent_paths(p, data, when, jumps).largest_step();
}

smoothing widths_for(const path_program& p, const path_data& data, const timeline& when,
                     const std::vector<jump>& smoothed, std::uint64_t paths) {
    struct seen {
        double count = 0, mean = 0, squares = 0;
        void add(double x) {
            if (!std::isfinite(x)) return;
            const double from_mean = x - mean;
            mean += from_mean / ++count;
            squares += from_mean * (x - mean);
        }
    };
    std::vector<std::vector<seen>> apart;  // by comparison and run
    for (const jump& j : smoothed) apart.emplace_back(data.runs[j.section]);
    const trial on(p, data);
    for (std::uint64_t path = 0; path < measured_paths; ++path) {
        walk_path(p, data, when, path, [&](std::size_t section, std::size_t row, const place_on_path& at) {
            std::vector<double> v = on.values(section, at, trial::no_node, 0);
            for (std::size_t j = 0; j < smoothed.size(); ++j) {
                if (smoothed[j].section != section) continue;
                const node& comparison = p.sections[section].nodes[smoothed[j].node];
                apart[j][row].add(v[comparison.args[1]] - v[comparison.args[0]]);
            }
            return v;
        });
    }
    // The width with the least error for a normal density and a fourth-order kernel is 3.0 standard
    // deviations over the ninth root of the sample size.
    const double deviations = 3.0 / std::pow(std::max(static_cast<double>(paths), 1.0), 1.0 / 9);
    smoothing out;
    for (const auto& of_comparison : apart) {
        std::vector<double>& widths = out.emplace_back();
        for (const seen& s : of_comparison)
            widths.push_back(s.count > 1 ? deviations * std::sqrt(s.squares / (s.count - 1)) : 0.0);
    }
    return out;
}

}  // namespace tilewalk::program
