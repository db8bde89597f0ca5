// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/exercise/swing.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/decide/exercise/policy_at_hand.h"

namespace tilewalk::exercise {

using language::right_at_hand;
using program::recorder;
using program::value;

swing_backward::swing_backward(policy& into, std::span<const double> at_the_end, interval_left last,
                               std::size_t dates, int threads, const std::atomic<bool>* cancel)
    : backward(into, at_the_end, std::move(last), threads, cancel),
      levels_(static_cast<std::size_t>(into.uses) + 1, {total_, total_, estimate_}),
      dates_before_(dates) {}

void swing_backward::swap_with(level& l) {
    std::swap(total_, l.total);
    std::swap(worth_, l.worth);
    std::swap(estimate_, l.estimate);
}

// Finds how many uses can be left after a date: each earlier date takes one at most. If no use is obligatory,
// more uses than later dates are worth as much as one for each later date.
fitted_uses uses_fitted(const policy& by, std::size_t dates_before, std::size_t dates_after) {
    const auto most = static_cast<std::size_t>(by.uses);
    const std::size_t taken = dates_before + (by.today ? 1 : 0);  // upper limit
    fitted_uses out;
    out.lowest = most > taken ? most - taken : 0;
    out.last = by.least_uses == 0 ? std::min(most, std::max(dates_after, out.lowest)) : most;
    out.forced_from = by.uses - by.least_uses + static_cast<int>(dates_after) + 1;
    return out;
}

fitted_uses uses_of_today(const policy& by) {
    const auto most = static_cast<std::size_t>(by.uses);
    return {by.today ? most - 1 : most, most, 0};
}

void decide_use_of_today(policy& by, double if_used, double if_not) {
    by.is_used_today = by.today && (by.must_be_used_today || *by.today + if_used > if_not);
}

void swing_backward::decide(decision_date& d, const date_left& left) {
    const std::size_t functions = into_.functions.functions(), most = levels_.size() - 1;
    const fitted_uses of = uses_fitted(into_, dates_before_, dates_after_);
    take_sides(left);
    scale_features(d, left);
    const fitted_side nothing{std::vector<double>(functions), 0, 0};
    d.levels.assign(levels_.size(), {nothing, nothing, std::vector<double>(functions * moves_.size())});
    for (std::size_t uses = of.lowest; uses <= most; ++uses) {
        if (uses > of.last) {
            d.levels[uses] = d.levels[uses - 1];
            levels_[uses].estimate = levels_[uses - 1].estimate;
        } else {
            swap_with(levels_[uses]);
            d.levels[uses] = fitted(d, left);
            swap_with(levels_[uses]);
        }
    }
    d.forced_from = of.forced_from;
    use_rights(d, left, of.lowest);
    ++dates_after_;
    --dates_before_;
    after_ = left.before;
}

void swing_backward::use_rights(const decision_date& d, const date_left& left, std::size_t lowest) {
    for (std::size_t p = 0; p < paths_; ++p) {
        if (left.alive[p] == 0) {
            for (level& l : levels_) l.worth[p] = l.total[p];
            continue;
        }
        const double paid = left.gives[p] / left.unit[p];
        for (std::size_t uses = levels_.size() - 1; uses > lowest; --uses) {
            level &of = levels_[uses], &less = levels_[uses - 1];
            const bool is_used = left.offered[p] != 0 && (static_cast<int>(uses) >= d.forced_from ||
                                                          of.estimate[p] - less.estimate[p] < paid);
            if (is_used) of.total[p] = less.total[p] + left.gives[p];
            of.worth[p] = left.value[p] + (is_used ? left.gives[p] + left.unit[p] * less.estimate[p]
                                                   : left.unit[p] * of.estimate[p]);
        }
        level& least = levels_[lowest];
        least.worth[p] = left.value[p] + left.unit[p] * least.estimate[p];
    }
}

void swing_backward::end() {
    into_.first_slopes_by_uses.assign(levels_.size(), std::vector<double>(moves_.size()));
    const fitted_uses of = uses_of_today(into_);
    std::vector<double> means;
    for (std::size_t uses = of.lowest; uses <= of.last; ++uses) {
        swap_with(levels_[uses]);
        means.push_back(backward::end());
        swap_with(levels_[uses]);
        if (into_.has_bound()) into_.first_slopes_by_uses[uses] = into_.first_slopes;
    }
    decide_use_of_today(into_, means.front(), means.back());
}

value following_uses::uses(const right_at_hand& right, recorder& into) {
    const rows_of_policy rows(by_, right, into);
    const basis_at_hand at(by_, right, rows, into);
    const std::uint32_t state =
        into.state("uses left", static_cast<double>(by_.uses - (by_.is_used_today ? 1 : 0)));
    const value left = into.read(state), pays = into.constant(0) < at.paid;
    std::vector<value> to_come;
    for (std::size_t uses = 0; uses <= static_cast<std::size_t>(by_.uses); ++uses) {
        to_come.push_back(select(
            pays,
            at.to_come(rows, numbered("if paid, uses", uses),
                       [=](const decision_date& d) -> const fitted_side& { return d.levels[uses].paid; }),
            at.to_come(rows, numbered("if unpaid, uses", uses),
                       [=](const decision_date& d) -> const fitted_side& { return d.levels[uses].unpaid; })));
    }
    value worth = to_come[1] - to_come[0];
    for (std::size_t uses = 2; uses < to_come.size(); ++uses)
        worth = select(into.constant(static_cast<double>(uses) - 0.5) < left,
                       to_come[uses] - to_come[uses - 1], worth);
    const value forced =
        rows.row("forced from", [](const decision_date& d) { return d.forced_from - 0.5; }) < left;
    const value used = right.offered && into.constant(0.5) < left && (forced || worth < at.paid);
    into.write(state, left - select(used, into.constant(1), into.constant(0)));
    return used;
}

void bounding_uses::begins() {
    is_open_ = false;
    best_.clear();
    sums_.clear();
    slopes_.clear();
}

void bounding_uses::open(recorder& into) {
    if (is_open_) return;
    is_open_ = true;
    bound_ = into.state("best of dates", 0);
    slopes_.resize(most() + 1);
    for (std::size_t uses = 0; uses <= most(); ++uses) {
        const double first = uses == most() && !by_.must_be_used_today ? 0
                             : uses + 1 == most() && by_.today         ? *by_.today
                                                                       : -never;
        best_.push_back(into.state(numbered("best with uses left", uses), first));
        for (std::size_t m = 0; m < moves_.size(); ++m)
            slopes_[uses].push_back(into.state(numbered("slope with uses left#" + std::to_string(uses), m),
                                               by_.first_slopes_by_uses[uses][m]));
    }
    for (std::size_t n = 0; n < by_.normals.size(); ++n)
        sums_.push_back(into.state(numbered("sum of normals", n), 0));
}

std::vector<value> bounding_uses::best_now(recorder& into, value root) {
    std::vector<value> normals, out;
    for (const std::uint32_t sum : sums_) normals.push_back(into.read(sum) * root);
    const std::vector<value> moves = moves_.values(normals, into.constant(1));
    for (std::size_t uses = 0; uses <= most(); ++uses) {
        value moved = into.constant(0);
        for (std::size_t m = 0; m < moves.size(); ++m)
            moved = fma(into.read(slopes_[uses][m]), moves[m], moved);
        out.push_back(into.read(best_[uses]) - moved);
    }
    return out;
}

value bounding_uses::uses(const right_at_hand& right, recorder& into) {
    open(into);
    const rows_of_policy rows(by_, right, into);
    const std::vector<value> best =
        best_now(into, rows.row("root of steps", [](const decision_date& d) { return d.root; }));
    for (const std::uint32_t sum : sums_) into.write(sum, into.constant(0));
    const value forced_from =
        rows.row("forced from", [](const decision_date& d) { return d.forced_from - 0.5; });
    for (std::size_t uses = 0; uses <= most(); ++uses) {
        value kept = best[uses];
        if (by_.least_uses > 0)
            kept = select(right.offered && forced_from < into.constant(static_cast<double>(uses)),
                          into.constant(-never), kept);
        if (uses < most()) kept = max(kept, select(right.offered, best[uses + 1] + right.gives, kept));
        into.write(best_[uses], kept);
    }
    const basis_at_hand at(by_, right, rows, into);
    const value weight = select(right.alive, right.unit, into.constant(0));
    for (std::size_t uses = 0; uses <= most(); ++uses) {
        for (std::size_t m = 0; m < moves_.size(); ++m) {
            const std::vector<value> slopes =
                rows.rows(numbered("slope with uses left#" + std::to_string(uses), m), at.functions.size(),
                          [&](const decision_date& d, std::size_t i) {
                              return d.levels[uses].slopes[m * by_.functions.functions() + i];
                          });
            into.write(slopes_[uses][m], weight * product(slopes, at.functions));
        }
    }
    return into.truth(false);
}

void bounding_uses::ends_step(std::span<const double>, recorder& into) {
    for (std::size_t n = 0; n < sums_.size(); ++n)
        into.write(sums_[n], into.read(sums_[n]) + into.normal_again(by_.normals[n]));
}

void bounding_uses::ends_path(std::uint32_t value_state, recorder& into) {
    open(into);
    const std::vector<value> best = best_now(into, into.term("root of the last steps", by_.last_root));
    value most_worth = best[0];
    for (std::size_t uses = 1; uses < best.size(); ++uses) most_worth = max(most_worth, best[uses]);
    into.write(bound_, into.read(value_state) + most_worth);
}

}  // namespace tilewalk::exercise
