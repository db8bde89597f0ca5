// SPDX-License-Identifier: Apache-2.0
// Monotonicity of a section's numbers in the asset levels of a date.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "products/program/integration/step_moves.h"

namespace tilewalk::program {

inline bool is_order(operation code) {
    return code == operation::less || code == operation::less_equal;
}
inline bool joins_truths(operation code) {
    return code == operation::logical_and || code == operation::logical_or;
}

// The direction, 1 or -1, in which each state has to move for a number to rise.
using rises = std::map<index, int>;

// A section's nodes as functions of the states that the step's normals have moved.
class rising_nodes {
  public:
    rising_nodes(const path_program& p, const path_data& data, std::size_t section,
                 const std::vector<bool>& moved)
        : nodes_(p.sections[section].nodes), moved_(moved), depends_(nodes_.size(), false) {
        for (std::size_t run = 0; run < data.runs[section]; ++run)
            numbers_.push_back(uniform_numbers(p, data, section, run));
        for (index i = 0; i < nodes_.size(); ++i) {
            const node& n = nodes_[i];
            depends_[i] = n.code == operation::normal || (n.code == operation::state && moved_[n.args[0]]) ||
                          std::ranges::any_of(operands(n), [&](index arg) { return depends_[arg]; });
        }
    }
    bool depends(index i) const { return depends_[i]; }
    bool is_uniform(index i) const { return !numbers_.empty() && numbers_.front()[i].has_value(); }
    double number(std::size_t run, index i) const { return *numbers_[run][i]; }
    std::size_t runs() const { return numbers_.size(); }

    // Directions in which states move to make the truth `wanted`; empty if it may change more than once.
    std::optional<rises> rising_to(index truth, bool wanted) const {
        rises out;
        return becomes(truth, wanted, out) && !out.empty() ? std::optional(out) : std::nullopt;
    }

    // 1 or -1 if a number that all paths share has this sign in all runs, else 0.
    int sign(index i) const {
        if (numbers_.empty() || !is_uniform(i)) return 0;
        const auto has = [&](auto test) {
            return std::ranges::all_of(numbers_, [&](const auto& run) { return test(*run[i]); });
        };
        return has([](double x) { return x > 0; }) ? 1 : has([](double x) { return x < 0; }) ? -1 : 0;
    }
    // The sign of a number that varies by path, if it is the same at all levels; 0 if unknown.
    int sign_on_paths(index i) const {
        if (is_positive(i)) return 1;
        const node& n = nodes_[i];
        const auto is_opposite = [&](std::size_t k) {
            return sign(n.args[k]) < 0 && is_positive(n.args[1 - k]);
        };
        const bool is_negative = n.code == operation::mul ? is_opposite(0) || is_opposite(1) : sign(i) < 0;
        return is_negative ? -1 : 0;
    }
    bool is_positive(index i) const {
        const node& n = nodes_[i];
        const auto is = [&](std::size_t k) { return is_positive(n.args[k]); };
        switch (n.code) {
            case operation::exp:
                return true;
            case operation::mul:
            case operation::div:
            case operation::add:
                return is(0) && is(1);
            case operation::fma:
                return is(0) && is(1) && is(2);
            default:
                return sign(i) > 0;
        }
    }

  private:
    bool becomes(index i, bool wanted, rises& out) const {
        if (!depends_[i]) return true;
        const node& n = nodes_[i];
        if (n.code == operation::logical_not) return becomes(n.args[0], !wanted, out);
        if (joins_truths(n.code)) return becomes(n.args[0], wanted, out) && becomes(n.args[1], wanted, out);
        if (!is_order(n.code)) return false;
        const int up = wanted ? 1 : -1;
        return rise(n.args[1], up, out) && rise(n.args[0], -up, out) &&
               (depends_[n.args[0]] || depends_[n.args[1]]);
    }

    // True if node `i` rises (way 1) or falls (-1) when states move in the directions `out`. Adds the
    // directions of further states to `out`.
    bool rise(index i, int way, rises& out) const {
        if (!depends_[i]) return true;
        const node& n = nodes_[i];
        const auto product = [&](index a, index b, int way_of_b) {
            if (!depends_[b]) return sign(b) != 0 && rise(a, way * sign(b), out);
            if (!depends_[a]) return sign(a) != 0 && rise(b, way_of_b * sign(a), out);
            return is_positive(a) && is_positive(b) && rise(a, way, out) && rise(b, way_of_b, out);
        };
        switch (n.code) {
            case operation::state:
                return out.try_emplace(n.args[0], way).first->second == way;
            case operation::exp:
                return rise(n.args[0], way, out);
            case operation::neg:
                return rise(n.args[0], -way, out);
            case operation::add:
            case operation::min:
            case operation::max:
                return rise(n.args[0], way, out) && rise(n.args[1], way, out);
            case operation::sub:
                return rise(n.args[0], way, out) && rise(n.args[1], -way, out);
            case operation::mul:
                return product(n.args[0], n.args[1], way);
            case operation::div:
                return (!depends_[n.args[1]] || is_positive(n.args[1])) &&
                       product(n.args[0], n.args[1], -way);
            case operation::fma:
                return product(n.args[0], n.args[1], way) && rise(n.args[2], way, out);
            default:
                return false;
        }
    }

    const std::vector<node>& nodes_;
    const std::vector<bool>& moved_;
    std::vector<bool> depends_;
    std::vector<std::vector<known_number>> numbers_;  // by run
};

}  // namespace tilewalk::program
