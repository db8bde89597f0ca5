// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "products/program/integration/node_list.h"
#include "products/program/integration/rising_nodes.h"

namespace tilewalk::program {

// The gain of an output in a section: a node, or the product of two.
struct gain {
    index output = 0;
    std::array<index, 2> factors{nowhere, nowhere};

    index value_in(node_list& list, const std::vector<index>& made) const {
        const index first = made[factors[0]];
        return factors[1] == nowhere ? first : list.put(operation::mul, first, made[factors[1]]);
    }
};

// A state that holds `number` once the path has ended.
struct mark {
    index state = 0;
    double number = 0;
    friend bool operator==(const mark&, const mark&) = default;
};

struct decision {
    std::size_t section = 0;
    index truth = 0;
    bool upper = true;  // the truth's value beyond its root along the direction
    bool ends = false;  // ends the path beyond the root; false: it only pays there
    rises ways{};       // directions in which states move to get beyond the root
};

class decisions_to_integrate {
  public:
    decisions_to_integrate(const path_program& p, const path_data& data, const timeline& when);

    bool are_none() const { return of_section_.empty(); }
    const decision* decision_of(std::size_t section) const;  // null if there is none
    // The mark of ended paths; empty if no decision ends a path.
    const std::optional<mark>& ended() const { return ended_; }
    const directed_steps& steps() const { return steps_; }
    const rising_nodes& nodes(std::size_t section) const { return nodes_[section]; }
    const std::vector<gain>& gains(std::size_t section) const { return gains_[section]; }
    // A node for each gain of an ended path in a section; empty if a gain depends on shocks.
    std::optional<std::vector<index>> gains_when_ended(std::size_t section, const mark& at,
                                                       std::vector<node>& into) const;
    // By run: 1 if no decision of its date that can end the path comes before it, else 0.
    std::vector<double> is_first(std::size_t section) const;
    bool is_output(index state) const;

  private:
    void find_steps();
    void decide(std::size_t section, bool ends);
    bool only_pays(const decision& d) const;
    std::map<index, double> known_writes(std::size_t section, const std::optional<mark>& has,
                                         index truth = nowhere, double is = 0) const;
    bool ends_path(const decision& d);
    bool stays_ended(const mark& at) const;
    bool fits(const decision& d);
    std::vector<double> direction_for(const decision& d, std::size_t step) const;
    void add_memory(std::size_t section, std::set<index>& to) const;
    bool is_after_memory(const decision& d) const;

    const path_program& p_;
    const path_data& data_;
    const timeline& when_;
    directed_steps steps_;
    std::vector<rising_nodes> nodes_;       // by section
    std::vector<std::vector<gain>> gains_;  // by section
    std::set<std::size_t> runs_again_;
    std::map<std::size_t, decision> of_section_;
    std::optional<mark> ended_;
};

}  // namespace tilewalk::program
