// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/rewrites.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/crew.h"
#include "engine/decide/controls/moving_controls.h"
#include "engine/decide/importance.h"
#include "engine/decide/pairs.h"
#include "engine/decide/preintegration.h"
#include "engine/decide/progress_reporter.h"

namespace tilewalk::studies {

scenarios_of_markets::scenarios_of_markets(std::span<const market> in) {
    for (const market& m : in) {
        first.push_back(static_cast<std::uint32_t>(cubes.size()));
        for (const markets::scenario_array& a : state_of(m).scenarios) cubes.push_back(a.cube);
    }
}

std::span<const rewriter::entry> rewriter::list() {
    static constexpr std::array<entry, 4> all{
        entry{stage::controls, &rewriter::integrates, &rewriter::integrate},
        entry{stage::controls, &rewriter::subtracts, &rewriter::subtract},
        entry{stage::importance, &rewriter::shifts, &rewriter::shift},
        entry{stage::planning, &rewriter::mirrors, &rewriter::mirror},
    };
    return all;
}

void rewriter::rewrite(plans_of_trade& of) const {
    for (const entry& e : list())
        if ((this->*e.is_wanted)()) (this->*e.make)(of);
}

chosen_control rewriter::rewrite(const books::trade& t, planned& p) const {
    plans_of_trade of{t, {&p}};
    rewrite(of);
    return std::move(of.control);
}

void rewriter::rewrite(std::span<const books::trade> trades, std::span<planned> plans,
                       const progress_reporter& reporter, timings* times) const {
    for (const entry& e : list()) {
        if (!(this->*e.is_wanted)()) continue;
        const timings::during rewriting(times, e.takes_time_of);
        threads::for_each(
            trades.size(), by_.run.threads, by_.cancel,
            [&](int, std::uint64_t i) {
                plans_of_trade of{trades[i], {}};
                for (std::size_t k = i; k < plans.size(); k += trades.size()) of.plans.push_back(&plans[k]);
                (this->*e.make)(of);
            },
            reporter.is_wanted() ? [&] { reporter.report(); } : std::function<void()>());
    }
}

void rewriter::integrate(plans_of_trade& of) const {
    std::optional<bool> is_chosen = from_.known(of.trade.id).integrates;
    for (planned* const p : of.plans) {
        if (!p->needs_paths() || is_chosen == false) continue;
        try {
            const std::shared_ptr<const ready_trade> made =
                integrated(of.trade, *p, by_.run.how.precision, shapes_);
            if (!is_chosen)
                is_chosen = made && from_.says("integrates", p->ready->job(),
                                               [&] { return pays(*p->ready, *made, by_); });
            if (!made || !*is_chosen) continue;
            p->recorded = p->ready;
            p->ready = made;
            p->is_integrated = true;
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
            p->failure = at_trade(of.trade, e);
        }
    }
}

// Subtracts a control, but not from a trade whose right is used today: that pays a fixed amount.
void rewriter::subtract(plans_of_trade& of) const {
    std::optional<chosen_control> found;
    for (std::size_t m = 0; m < in_.size(); ++m) {
        planned& p = *of.plans[m];
        if (!p.needs_paths() || p.is_integrated || (p.rights && p.rights->used_today)) continue;
        try {
            const markets::market_state& in = state_of(in_[m]);
            if (stages_.about != nullptr)
                found = {stages_.about->in(of.trade.id, in_[m])};
            else if (!found)
                found = m == 0 ? control_for(subject_of(of.trade, p), p.ready->job(), in, scenarios_.cubes,
                                             by_, from_)
                               : chosen_control{};
            p.is_priced_apart = !found->is_that_of_prices;
            found->give_points(by_.run, p);
            if (found->what && found->what->fewer_paths >= stages_.least_gain)
                studies::subtract(*found->what, of.trade, p, in, by_, shapes_, scenarios_.first[m]);
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
            p.failure = at_trade(of.trade, e);
        }
    }
    if (found) of.control = *std::move(found);
}

void rewriter::shift(plans_of_trade& of) const {
    std::optional<std::shared_ptr<const chosen_shifts>> found;
    for (std::size_t m = 0; m < in_.size(); ++m) {
        planned& p = *of.plans[m];
        if (!p.needs_paths()) continue;
        try {
            if (!found)
                found = m == 0 ? shifts_for(of.trade, p, by_, from_)
                               : from_.known(of.trade.id).shifts.value_or(nullptr);
            studies::shift(p, *found, shapes_);
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
            p.failure = at_trade(of.trade, e);
        }
    }
}

void rewriter::mirror(plans_of_trade& of) const {
    for (planned* const p : of.plans) walk_in_pairs(*p, shapes_);
}

}  // namespace tilewalk::studies
