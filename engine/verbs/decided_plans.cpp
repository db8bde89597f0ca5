// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/decided_plans.h"

#include <functional>
#include <utility>

#include "engine/decide/followed.h"
#include "engine/verbs/pairs.h"
#include "engine/verbs/sources.h"
#include "tilewalk/timings.h"

namespace tilewalk::verbs {

decided_plans::asked::asked(const settled& run)
    : seed(run.seed),
      paths(run.paths),
      unit_paths(run.unit_paths),
      chooses_source(run.chooses_source),
      chooses_construction(run.chooses_construction),
      chooses_controls(run.chooses_controls),
      chooses_importance(run.chooses_importance),
      walks_pairs(run.walks_pairs),
      points(run.asked_points),
      followed(run.followed ? run.followed->digest() : std::string()) {}

void decided_plans::decide(planned_run& r, shape_store& shapes, threads::crew& by, const teller& tells) {
    const sources from(r.run);
    const pilots of{{r.run, r.operations, r.options.cancel}, from, shapes};
    {
        const timings::during choosing(r.options.times, stage::controls);
        by.for_each(
            r.plans.size(), r.options.cancel,
            [&](int, std::uint64_t i) {
                planned& p = r.plans[i];
                if (!p.needs_paths()) return;
                try {
                    take_plan(r.book.trades[i], i, p, r.in.front(), of);
                } catch (const std::exception& e) {
                    throw_if_cancelled(e);
                    p.failure = at_trade(r.book.trades[i], e);
                }
            },
            tells.is_heard() ? [&] { tells.tell(); } : std::function<void()>());
    }
    choose_points(r, from, tells);
    keep(r);
}

void decided_plans::forget(std::span<const std::size_t> trades) {
    const std::lock_guard guard(lock_);
    for (const std::size_t i : trades) plans_[i].reset();
}

void decided_plans::take_plan(const books::trade& t, std::size_t i, planned& p, const market& in,
                              const pilots& of) {
    const settled& run = of.by.run;
    if (!p.rights) {
        const std::lock_guard guard(lock_);
        if (const auto& kept = plans_[i]; kept && kept->plain == p.ready && kept->by == asked(run)) {
            p = kept->walked;
            return;
        }
    }
    const planned plain = p;
    const auto plan_by = [&](const chosen_control& control) {
        p = plain;
        if (control.what) subtract(*control.what, t, p, in.state(), of.by, of.shapes);
        control.give_points(run, p);
        return !control.what || p.control;
    };
    const bool is_used_today = p.rights && p.rights->used_today;
    bool is_decided = is_used_today;
    std::shared_ptr<const chosen_shifts> shifts;
    if (!p.rights && of_book_ && of_book_->state().as_of == in.state().as_of) {
        try {
            const choices found = chosen_in_market_of_book(t, i, p, in, of);
            is_decided = plan_by(found.control);
            shifts = found.shifts;
        } catch (const std::exception& e) {
            throw_if_cancelled(e);  // the trade may have a price in this market all the same
        }
    }
    if (!is_decided) {
        plan_by(control_for(subject_of(t, plain), plain.ready->job(), in.state(), in.state().scenario_cubes(),
                            of.by, of.from));
        shifts = shifts_for(t, p, of.by, of.from);
    }
    shift(p, shifts, of.shapes);
    if (run.walks_pairs) walk_in_pairs(p, of.shapes);
    if (p.rights) return;
    auto made = std::make_shared<const kept_plan>(kept_plan{asked(run), plain.ready, p});
    const std::lock_guard guard(lock_);
    plans_[i].swap(made);
}

void decided_plans::keep(const planned_run& r) {
    const asked as_now(r.run);
    const std::lock_guard guard(lock_);
    for (std::size_t i = 0; i < r.plans.size(); ++i) {
        const planned& p = r.plans[i];
        const auto& kept = plans_[i];
        if (p.failure || !kept || kept->walked.has_points_chosen || kept->walked.ready != p.ready) continue;
        kept_plan with = *kept;
        with.walked.points = p.points;
        with.walked.has_points_chosen = true;
        plans_[i] = std::make_shared<const kept_plan>(std::move(with));
    }
}

decided_plans::choices decided_plans::chosen_in_market_of_book(const books::trade& t, std::size_t i,
                                                               const planned& p, const market& in,
                                                               const pilots& of) {
    const settled& run = of.by.run;
    const asked as_now(run);
    {
        const std::lock_guard guard(lock_);
        if (const auto& kept = chosen_[i]; kept && kept->by == as_now) return kept->what;
    }
    const markets::market_state& state = of_book_->state();
    shape_store shapes;  // programs that no call walks
    planned there = p;
    if (&in.state() != &state)
        there.ready = std::make_shared<const ready_trade>(
            plan::plan_trade(t, state, run.how.precision, {}, poll_of(of.by.cancel)), shapes);
    choices out{control_for({t}, there.ready->job(), state, state.scenario_cubes(), of.by, of.from)};
    if (run.chooses_importance) {
        if (out.control.what) subtract(*out.control.what, t, there, state, of.by, shapes);
        out.shifts = shifts_for(t, there, of.by, of.from);
    }
    auto made = std::make_shared<const of_book_market>(of_book_market{as_now, out});
    const std::lock_guard guard(lock_);
    chosen_[i].swap(made);
    return out;
}

}  // namespace tilewalk::verbs
