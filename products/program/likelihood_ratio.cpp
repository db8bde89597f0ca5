// SPDX-License-Identifier: Apache-2.0
#include "products/program/likelihood_ratio.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "products/program/trial.h"

namespace tilewalk::program {

namespace {

using index = std::uint32_t;

constexpr std::uint64_t paths_of_strength = 64, compared_paths = 4;
// A jump counts as unmoved by a normal number if its least slope is below this part of its mean slope.
constexpr double least_slope = 1e-3;
constexpr double one_over_root_two_pi = 0x1.9884533d43651p-2;

// Makes the sections of a program carry slopes: derivatives of all states with respect to one normal number
// of each step. The step section starts from states that do not depend on its normal.
class slopes_of_states {
  public:
    slopes_of_states(scored_program& into, const std::vector<jump>& jumps)
        : into_(into), jumps_(jumps), is_rough_(into.code.states.size(), false) {
        into.slopes.assign(into.code.states.size(), no_slope);
        into.is_curvature.assign(into.code.states.size(), false);
        is_touched_ = is_rough_;
    }

    // Returns false if the normal number can't hold a jump still.
    bool add() {
        for (std::size_t s = 0; s < into_.code.sections.size(); ++s)
            if (!go_through(s)) return false;
        begin_steps_anew();
        return true;
    }

  private:
    bool go_through(std::size_t number) {
        section_ = &into_.code.sections[number];
        seen_.clear();
        slope_of_.clear();
        touched_.clear();
        rough_.clear();
        is_known_ = true;
        for (const jump& j : jumps_)
            if (j.section == number && !add_jump(j)) return false;
        struct change {
            index state;
            bool is_touched, is_rough;
            index slope, curvature;
        };
        std::vector<change> changes;
        for (const state_write& w : section_->writes) {
            change c{w.state, is_touched(w.node), is_rough(w.node), slope_of(w.node), no_slope};
            if (c.slope != no_slope && !c.is_rough) c.curvature = slope_of(c.slope);
            changes.push_back(c);
        }
        for (const change& c : changes) {
            write_slope(c.state, c.slope, false);
            if (into_.slopes[c.state] != no_slope) write_slope(into_.slopes[c.state], c.curvature, true);
            is_touched_[c.state] = is_touched_[c.state] || c.is_touched;
            is_rough_[c.state] = is_rough_[c.state] || c.is_rough;
        }
        return is_known_;
    }

    bool add_jump(const jump& j) {
        const node n = section_->nodes[j.node];
        if (n.code != operation::less && n.code != operation::less_equal) return false;
        scored_jump made{.at = j, .difference = put(operation::sub, {n.args[1], n.args[0]})};
        if (is_rough(made.difference)) return false;
        made.slope = slope_of(made.difference);
        if (made.slope == no_slope) return false;
        made.curvature = slope_of(made.slope);
        into_.jumps.push_back(made);
        return is_known_;
    }

    // A state whose slope is 0 has no slope state, unless another section made one.
    void write_slope(index state, index slope, bool is_second) {
        index& at = into_.slopes[state];
        if (at == no_slope) {
            if (slope == no_slope) return;
            at = static_cast<index>(into_.code.states.size());
            const index made = at;
            into_.code.states.push_back("slope of " + into_.code.states[state]);
            const auto& sources = into_.code.state_sources;
            const index source = sources.empty() ? 0 : *std::ranges::max_element(sources) + 1;
            into_.code.state_sources.push_back(source);
            into_.slopes.push_back(no_slope);  // invalidates `at`
            into_.is_curvature.push_back(is_second);
            is_touched_.push_back(false);
            is_rough_.push_back(false);
            section_->writes.push_back({made, slope});
            return;
        }
        section_->writes.push_back({at, slope == no_slope ? constant(0) : slope});
    }

    // Sets the slopes that the step does not write itself to 0, so that each step starts anew.
    void begin_steps_anew() {
        section_ = &into_.code.sections.front();
        seen_.clear();
        for (const index state : into_.slopes) {
            const auto is_of = [&](const state_write& w) { return w.state == state; };
            if (state != no_slope && std::ranges::none_of(section_->writes, is_of))
                section_->writes.push_back({state, constant(0)});
        }
    }

    index append_once(const node& n) {
        const auto key = std::tuple(n.code, n.args, std::bit_cast<std::uint64_t>(n.number));
        const auto [found, is_new] = seen_.try_emplace(key, static_cast<index>(section_->nodes.size()));
        if (is_new) section_->nodes.push_back(n);
        return found->second;
    }
    index put(operation code, std::array<index, 3> of) { return append_once({code, of, 0}); }
    index constant(double x) { return append_once({operation::constant, {}, x}); }
    bool is_one(index i) const {
        return section_->nodes[i].code == operation::constant && section_->nodes[i].number == 1;
    }
    index product(index slope, index by) {
        if (slope == no_slope || is_one(by)) return slope;
        return is_one(slope) ? by : put(operation::mul, {slope, by});
    }
    index negative(index slope) { return slope == no_slope ? slope : put(operation::neg, {slope}); }
    index sum(index a, index b) {
        if (a == no_slope || b == no_slope) return a == no_slope ? b : a;
        return put(operation::add, {a, b});
    }
    index chosen(index condition, index if_so, index if_not) {
        if (if_so == no_slope && if_not == no_slope) return no_slope;
        return put(operation::select, {condition, if_so == no_slope ? constant(0) : if_so,
                                       if_not == no_slope ? constant(0) : if_not});
    }
    index density(index x) {
        const index squared = put(operation::mul, {x, x});
        return put(operation::mul, {constant(one_over_root_two_pi),
                                    put(operation::exp, {put(operation::mul, {constant(-0.5), squared})})});
    }

    // True if a node depends on the normal number; is_rough: if it does so by a kink or a jump.
    bool is_touched(index i) {
        find_facts();
        return touched_[i];
    }
    bool is_rough(index i) {
        find_facts();
        return rough_[i];
    }
    void find_facts() {
        for (auto i = static_cast<index>(touched_.size()); i < section_->nodes.size(); ++i) {
            const node& n = section_->nodes[i];
            bool touched = false, rough = false;
            for (const index arg : operands(n)) {
                touched = touched || touched_[arg];
                rough = rough || rough_[arg];
            }
            switch (n.code) {
                case operation::normal:
                    touched = n.args[0] == into_.normal;
                    break;
                case operation::state:
                    touched = is_touched_[n.args[0]] || into_.slopes[n.args[0]] != no_slope;
                    rough = is_rough_[n.args[0]];
                    break;
                case operation::select:
                    rough = rough || touched_[n.args[0]];
                    break;
                case operation::flaw:
                    touched = touched_[n.args[2]];
                    rough = rough_[n.args[2]];
                    break;
                case operation::neg:
                case operation::sqrt:
                case operation::exp:
                case operation::log:
                case operation::sin:
                case operation::cos:
                case operation::norm_cdf:
                case operation::norm_inv:
                case operation::add:
                case operation::sub:
                case operation::mul:
                case operation::div:
                case operation::pow:
                case operation::fma:
                    break;
                default:
                    rough = rough || touched;
            }
            touched_.push_back(touched);
            rough_.push_back(rough);
        }
    }

    // Returns the node that holds the derivative of a node along the path, or no_slope.
    index slope_of(index i) {
        if (!is_touched(i)) return no_slope;
        if (const auto found = slope_of_.find(i); found != slope_of_.end()) return found->second;
        const index made = made_slope(i);
        slope_of_[i] = made;
        return made;
    }
    index made_slope(index i) {
        const node n = section_->nodes[i];
        const index a = n.args[0], b = n.args[1];
        // Fixes the order in which nodes are made, which must not depend on the compiler.
        std::array<index, 3> slopes{no_slope, no_slope, no_slope};
        for (std::size_t k = 0; k < operands(n).size(); ++k) slopes[k] = slope_of(n.args[k]);
        const auto [of_a, of_b, of_c] = slopes;
        switch (n.code) {
            case operation::normal:
                return constant(1);
            case operation::state: {
                const index from = into_.slopes[a];
                return from == no_slope ? no_slope : put(operation::state, {from});
            }
            case operation::neg:
                return negative(of_a);
            case operation::abs: {
                const index opposite = negative(of_a);
                return chosen(put(operation::less, {a, constant(0)}), opposite, of_a);
            }
            case operation::sqrt:
                return quotient(product(of_a, constant(0.5)), i);
            case operation::exp:
                return product(of_a, i);
            case operation::log:
                return quotient(of_a, a);
            case operation::sin:
                return product(of_a, put(operation::cos, {a}));
            case operation::cos:
                return negative(product(of_a, put(operation::sin, {a})));
            case operation::norm_cdf:
                return product(of_a, density(a));
            case operation::norm_inv:
                return quotient(of_a, density(i));
            case operation::add:
                return sum(of_a, of_b);
            case operation::sub:
                return sum(of_a, negative(of_b));
            case operation::mul:
                return sum_of_products(of_a, b, of_b, a);
            case operation::div:
                return quotient(sum(of_a, negative(product(of_b, i))), b);
            case operation::min:
                return chosen(put(operation::less, {b, a}), of_b, of_a);
            case operation::max:
                return chosen(put(operation::less, {a, b}), of_b, of_a);
            case operation::pow: {
                const index less_one = put(operation::pow, {a, put(operation::sub, {b, constant(1)})});
                const index by_a = put(operation::mul, {b, less_one});
                return sum_of_products(of_a, by_a, of_b, put(operation::mul, {i, put(operation::log, {a})}));
            }
            case operation::fma:
                return sum(sum_of_products(of_a, b, of_b, a), of_c);
            case operation::select:
                return chosen(a, of_b, of_c);
            case operation::flaw:
                return of_c;
            case operation::interpolate:
            case operation::normal_to_exponential:
                is_known_ = false;  // not differentiable
                return no_slope;
            default:
                return no_slope;  // floors and truths change by jumps alone
        }
    }
    index sum_of_products(index slope, index by, index other, index other_by) {
        const index first = product(slope, by);
        return sum(first, product(other, other_by));
    }
    index quotient(index slope, index by) {
        return slope == no_slope ? no_slope : put(operation::div, {slope, by});
    }

    scored_program& into_;
    const std::vector<jump>& jumps_;
    std::vector<bool> is_touched_, is_rough_;  // by state
    lane_section* section_ = nullptr;
    std::map<std::tuple<operation, std::array<index, 3>, std::uint64_t>, index> seen_;
    std::map<index, index> slope_of_;    // by node of the section
    std::vector<bool> touched_, rough_;  // by node of the section
    bool is_known_ = true;
};

// The difference between the operands of a jump's comparison, in one of its runs, and its slope.
struct seen_jump {
    std::size_t step = 0, jump = 0, run = 0;
    double difference = 0, slope = 0;
};
std::vector<seen_jump> jumps_on_path(const scored_program& of, const path_data& data, const timeline& when,
                                     std::uint64_t path) {
    std::vector<seen_jump> out;
    const trial on(of.code, data);
    std::size_t step = 0;
    walk_path(of.code, data, when, path, [&](std::size_t section, std::size_t run, const place_on_path& at) {
        if (section == 0) step = run;
        std::vector<double> v = on.values(section, at, trial::no_node, 0);
        for (std::size_t j = 0; j < of.jumps.size(); ++j) {
            const scored_jump& one = of.jumps[j];
            if (one.at.section == section) out.push_back({step, j, run, v[one.difference], v[one.slope]});
        }
        return v;
    });
    return out;
}

// How much a normal number moves the jumps: the sum of log(mean absolute slope) over jumps and runs. Empty if
// it leaves a jump unmoved.
std::optional<double> strength_of(const scored_program& of, const path_data& data, const timeline& when) {
    struct seen {
        double count = 0, sum = 0, least = INFINITY;
    };
    std::map<std::pair<std::size_t, std::size_t>, seen> all;  // by jump and run
    for (std::uint64_t path = 0; path < paths_of_strength; ++path) {
        for (const seen_jump& s : jumps_on_path(of, data, when, path)) {
            const double size = std::abs(s.slope);
            if (!std::isfinite(size)) return std::nullopt;
            seen& to = all[{s.jump, s.run}];
            ++to.count;
            to.sum += size;
            to.least = std::min(to.least, size);
        }
    }
    double out = 0;
    for (const auto& [at, s] : all) {
        if (!(s.least > least_slope * s.sum / s.count)) return std::nullopt;
        out += std::log(s.sum / s.count);
    }
    return out;
}

void move(std::vector<double>& numbers, const std::vector<double>& direction, double by) {
    for (std::size_t i = 0; i < direction.size(); ++i)
        if (direction[i] != 0) numbers[i] += by * direction[i];
}
path_data moved(path_data data, const path_data& direction, double by) {
    move(data.terms, direction.terms, by);
    move(data.initial_states, direction.initial_states, by);
    for (std::size_t s = 0; s < data.rows.size(); ++s) move(data.rows[s], direction.rows[s], by);
    return data;
}
// The length of a move along `direction` that changes no number by more than a small part of its size.
double small_move(const path_data& data, const path_data& direction) {
    constexpr double least_size = 0.01, part = 1e-5;
    double fastest = 0;
    const auto look_at = [&](const std::vector<double>& numbers, const std::vector<double>& by) {
        for (std::size_t i = 0; i < by.size(); ++i)
            if (by[i] != 0)
                fastest = std::max(fastest, std::abs(by[i]) / std::max(std::abs(numbers[i]), least_size));
    };
    look_at(data.terms, direction.terms);
    look_at(data.initial_states, direction.initial_states);
    for (std::size_t s = 0; s < data.rows.size(); ++s) look_at(data.rows[s], direction.rows[s]);
    return fastest > 0 ? part / fastest : 0;
}

}  // namespace

std::optional<scored_program> scored_by(const path_program& p, const std::vector<jump>& jumps,
                                        std::uint32_t normal) {
    std::optional<scored_program> out(std::in_place);
    out->code = p;
    out->code.crossed.clear();
    out->normal = normal;
    if (!slopes_of_states(*out, jumps).add()) return std::nullopt;
    return out;
}

std::optional<scored_program> scored(const path_program& p, const path_data& data, const timeline& when,
                                     const std::vector<jump>& jumps) {
    std::optional<scored_program> best;
    double strength = 0;
    for (int normal = 0; normal < p.normals_per_step; ++normal) {
        auto made = scored_by(p, jumps, static_cast<std::uint32_t>(normal));
        if (!made) continue;
        const auto found = strength_of(*made, data_of_scored(*made, data), when);
        if (!found || (best && *found <= strength)) continue;
        best = std::move(made);
        strength = *found;
    }
    return best;
}

bool stand_still_together(const scored_program& of, const path_data& data, const timeline& when,
                          const path_data& direction) {
    constexpr double same = 1e-4, of_path = 1e-6;  // relative to a move; to the path's largest move
    if (of.jumps.size() < 2) return true;
    const double by = small_move(data, direction);
    if (by == 0) return true;
    const path_data numbers = data_of_scored(of, data);
    const path_data higher = moved(numbers, direction, by), lower = moved(numbers, direction, -by);
    for (std::uint64_t path = 0; path < compared_paths; ++path) {
        const auto here = jumps_on_path(of, numbers, when, path);
        const auto up = jumps_on_path(of, higher, when, path), down = jumps_on_path(of, lower, when, path);
        std::vector<double> moves;  // moves of the normal number that hold each jump still
        double greatest = 0;
        for (std::size_t i = 0; i < here.size(); ++i) {
            moves.push_back((up[i].difference - down[i].difference) / (2 * by) / here[i].slope);
            greatest = std::max(greatest, std::abs(moves.back()));
        }
        for (std::size_t i = 1; i < here.size(); ++i) {
            if (here[i].step != here[i - 1].step) continue;
            const double apart = std::abs(moves[i] - moves[i - 1]);
            if (!(apart <= same * std::abs(moves[i]) + of_path * greatest)) return false;
        }
    }
    return true;
}

path_data data_of_scored(const scored_program& of, path_data data) {
    data.initial_states.resize(of.code.states.size(), 0.0);
    return data;
}

}  // namespace tilewalk::program
