// SPDX-License-Identifier: Apache-2.0
#include "products/program/guard.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "products/program/cost.h"

namespace tilewalk::program {

namespace {

using index = std::uint32_t;

// The number of operands between which the condition chooses. A `flaw` reads its last operand in any case.
int sides_of(operation code) {
    return code == operation::select ? 2 : code == operation::flaw ? 1 : 0;
}

// One side, true or false, of all selects with the same condition.
struct choice {
    index condition;
    bool side;
    friend auto operator<=>(const choice&, const choice&) = default;
};

class needs {
  public:
    needs(const lane_section& of, const std::set<choice>& not_worth_it)
        : seen_(of.nodes.size(), seen::nowhere), by_(of.nodes.size()) {
        for (const state_write& w : of.writes) seen_[w.node] = seen::everywhere;
        for (std::size_t i = of.nodes.size(); i-- > 0;) {
            const node& n = of.nodes[i];
            if (is_leaf(n.code)) continue;
            for (int a = 0; a < entry_of(n.code).arity; ++a) {
                const index arg = n.args[static_cast<std::size_t>(a)];
                const choice taken{n.args[0], a == 1};
                if (seen_[i] == seen::by_choice) {
                    add(arg, by_[i]);
                } else if (a > 0 && a <= sides_of(n.code) && !not_worth_it.contains(taken)) {
                    add(arg, taken);
                } else {
                    seen_[arg] = seen::everywhere;
                }
            }
        }
    }

    const choice* of(std::size_t i) const { return seen_[i] == seen::by_choice ? &by_[i] : nullptr; }

  private:
    enum class seen : std::uint8_t { nowhere, by_choice, everywhere };

    void add(index i, const choice& by) {
        if (seen_[i] == seen::nowhere) {
            seen_[i] = seen::by_choice;
            by_[i] = by;
        } else if (seen_[i] == seen::by_choice && by_[i] != by) {
            seen_[i] = seen::everywhere;
        }
    }

    std::vector<seen> seen_;
    std::vector<choice> by_;
};

// Finds the sides worth a guard. A select nested in a side counts towards this side or, if this side is not
// worth a guard, counts alone.
needs worth_guarding(const lane_section& of, int least_cost) {
    std::set<choice> not_worth_it;
    for (;;) {
        needs found(of, not_worth_it);
        std::map<choice, int> costs;
        for (std::size_t i = 0; i < of.nodes.size(); ++i) {
            if (const choice* by = found.of(i)) costs[*by] += cost(of.nodes[i].code);
        }
        const std::size_t known = not_worth_it.size();
        for (const auto& [by, sum] : costs) {
            if (sum < least_cost) not_worth_it.insert(by);
        }
        if (not_worth_it.size() == known) return found;
    }
}

class layout {
  public:
    layout(const lane_section& of, int least_cost)
        : of_(of), needed_(worth_guarding(of, least_cost)), place_(of.nodes.size(), nowhere) {
        for (index i = 0; i < of.nodes.size(); ++i) {
            if (const choice* by = needed_.of(i)) members_[*by].push_back(i);
        }
    }

    guarded_section run() {
        out_.code = of_;
        out_.code.nodes.clear();
        for (index i = 0; i < of_.nodes.size(); ++i) {
            if (needed_.of(i) != nullptr) continue;  // cover() places it before a choice that needs it
            const node& n = of_.nodes[i];
            if (sides_of(n.code) > 0) cover(n.args[1], {n.args[0], true});
            if (sides_of(n.code) > 1) cover(n.args[2], {n.args[0], false});
            append(i);
        }
        for (state_write& w : out_.code.writes) w.node = place_[w.node];
        return std::move(out_);
    }

  private:
    static constexpr index nowhere = ~index{0};

    bool is_due(index i, const choice& by) const {
        const choice* const here = needed_.of(i);
        return here != nullptr && *here == by && place_[i] == nowhere;
    }

    // Appends every node of this side whose operands are in place, so that one guard usually suffices.
    void cover(index root, const choice& by) {
        if (!is_due(root, by)) return;
        const auto first = static_cast<index>(out_.code.nodes.size());
        for (const index i : members_[by]) {
            if (place_[i] == nowhere && has_operands(of_.nodes[i])) append(i);
        }
        out_.guards.push_back(
            {first, static_cast<index>(out_.code.nodes.size()), place_[by.condition], by.side});
    }

    bool has_operands(const node& n) const {
        const int arity = is_leaf(n.code) ? 0 : entry_of(n.code).arity;
        return std::all_of(n.args.begin(), n.args.begin() + arity,
                           [&](index arg) { return place_[arg] != nowhere; });
    }

    void append(index i) {
        node n = of_.nodes[i];
        for (index& arg : operands(n)) arg = place_[arg];
        place_[i] = static_cast<index>(out_.code.nodes.size());
        out_.code.nodes.push_back(n);
    }

    const lane_section& of_;
    needs needed_;
    std::map<choice, std::vector<index>> members_;
    std::vector<index> place_;
    guarded_section out_;
};

}  // namespace

guarded_section guarded(const lane_section& of, int least_cost) {
    return layout(of, least_cost).run();
}

}  // namespace tilewalk::program
