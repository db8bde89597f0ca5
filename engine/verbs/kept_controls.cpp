// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/kept_controls.h"

#include <functional>
#include <utility>

#include "engine/controls/written.h"
#include "engine/verbs/decisions.h"
#include "engine/verbs/pairs.h"
#include "engine/verbs/remembered.h"
#include "tilewalk/timings.h"

namespace tilewalk::verbs {

void kept_controls::add_to(planned_run& r, shape_store& shapes, threads::crew& by, const teller& tells) {
    const pilot_of_controls pilot{r.run, r.operations, r.options.cancel};
    if (!pilot.is_wanted() && !r.run.chooses_importance && !r.run.walks_pairs) return;
    const timings::during choosing(r.options.times, stage::controls);
    const auto add = [&](int, std::uint64_t i) {
        planned& p = r.plans[i];
        if (!p.needs_paths()) return;
        const books::trade& t = r.book.trades[i];
        try {
            if (p.rights && p.rights->used_today) {
                if (r.run.walks_pairs) walk_in_pairs(p, shapes);
                return;
            }
            take_plan(t, i, p, r.in.front(), pilot, shapes);
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
            p.failure = at_trade(t, e);
        }
    };
    by.for_each(r.plans.size(), r.options.cancel, add,
                tells.is_heard() ? [&] { tells.tell(); } : std::function<void()>());
}

void kept_controls::take_plan(const books::trade& t, std::size_t i, planned& p, const market& in,
                              const pilot_of_controls& by, shape_store& shapes) {
    const asked as_now(by.run);
    const auto take = [&](const kept_plan& made) {
        p = made.walked;
        made.chosen.control.give_points(by.run, p);
    };
    if (!p.rights) {
        const std::lock_guard guard(lock_);
        const auto& kept = plans_[i];
        if (kept && kept->plain == p.ready && kept->by == as_now) return take(*kept);
    }
    const subject_of_control of = subject_of(t, p);
    auto made = std::make_shared<kept_plan>(kept_plan{as_now, p.ready});
    const auto plan_by = [&](const chosen_control& what) {
        made->chosen.control = what;
        planned& to = made->walked = p;
        if (!what.what) return true;
        auto with = plan_with(*what.what, of, in.state(), by);
        if (!with) return false;
        auto controlled = ready_with(*what.what, *std::move(with), shapes);
        if (by.run.chooses_importance) controlled->without_control = p.ready;
        to.ready = std::move(controlled);
        to.control = std::make_shared<const controls::control>(*what.what);
        to.decisions = with_decision(to.decisions, name_of_control, controls::written(*what.what));
        return true;
    };
    bool is_decided = false;
    if (!p.rights && of_book_ && of_book_->state().as_of == in.state().as_of) {
        try {
            const choices found = chosen_in_market_of_book(t, i, by);
            is_decided = plan_by(found.control);
            made->chosen.shifts = found.shifts;
        } catch (const std::exception& e) {
            throw_if_cancelled(e);  // the trade may have a price in this market all the same
        }
    }
    if (!is_decided) {
        plan_by(choose_control(of, in.state(), in.state().scenario_cubes(), by));
        made->chosen.shifts = shifts_for(t, made->walked, by, remembered(nullptr, by.run));
    }
    shift(made->walked, made->chosen.shifts, shapes);
    if (by.run.walks_pairs) walk_in_pairs(made->walked, shapes);
    take(*made);
    if (!p.rights) {
        std::shared_ptr<const kept_plan> kept = std::move(made);
        const std::lock_guard guard(lock_);
        plans_[i].swap(kept);
    }
}

kept_controls::choices kept_controls::chosen_in_market_of_book(const books::trade& t, std::size_t i,
                                                               const pilot_of_controls& by) {
    const asked as_now(by.run);
    {
        const std::lock_guard guard(lock_);
        const auto& kept = chosen_[i];
        if (kept && kept->by == as_now) return kept->what;
    }
    const markets::market_state& state = of_book_->state();
    choices out{choose_control({t}, state, state.scenario_cubes(), by)};
    if (by.run.chooses_importance) {
        // Programs of the book's market, which no call walks.
        shape_store shapes;
        planned there;
        auto plain = std::make_shared<const ready_trade>(
            plan::plan_trade(t, state, by.run.how.precision, {}, poll_of(by.cancel)), shapes);
        there.ready = plain;
        if (out.control.what) {
            if (auto with = plan_with(*out.control.what, {t}, state, by)) {
                auto controlled = ready_with(*out.control.what, *std::move(with), shapes);
                controlled->without_control = plain;
                there.ready = std::move(controlled);
            }
        }
        out.shifts = shifts_for(t, there, by, remembered(nullptr, by.run));
    }
    auto made = std::make_shared<const of_book_market>(of_book_market{as_now, out});
    const std::lock_guard guard(lock_);
    chosen_[i].swap(made);
    return out;
}

}  // namespace tilewalk::verbs
