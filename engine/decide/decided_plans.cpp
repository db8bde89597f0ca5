// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/decided_plans.h"

#include <functional>
#include <memory>
#include <utility>

#include "engine/decide/followed.h"
#include "engine/decide/sources.h"
#include "tilewalk/timings.h"

namespace tilewalk::studies {

decided_plans::asked::asked(const settled& run)
    : seed(run.seed),
      paths(run.paths),
      unit_paths(run.unit_paths),
      chooses_source(run.chooses_source),
      chooses_construction(run.chooses_construction),
      chooses_controls(run.chooses_controls),
      chooses_preintegration(run.chooses_preintegration),
      chooses_importance(run.chooses_importance),
      walks_pairs(run.walks_pairs),
      points(run.asked_points),
      followed(run.followed ? run.followed->digest() : std::string()) {}

void decided_plans::decide(planned_run& r, shape_store& shapes, threads::crew& by,
                           const progress_reporter& reporter) {
    const kept::work* const work = r.options.work.get();
    const sources from(r.run, work);
    const pilot_of_controls pilots{r.run, r.operations, r.options.cancel};
    const rewriter rewrites(pilots, from, shapes, r.in);
    {
        const timings::during choosing(r.options.times, stage::controls);
        by.for_each(
            r.plans.size(), r.options.cancel,
            [&](int, std::uint64_t i) {
                planned& p = r.plans[i];
                if (p.needs_paths())
                    take_plan(r.book.trades[i], i, p, r.in.front(), {pilots, rewrites, work, shapes});
            },
            reporter.is_wanted() ? [&] { reporter.report(); } : std::function<void()>());
    }
    choose_points(r, from, reporter);
    keep(r);
}

void decided_plans::take_plan(const books::trade& t, std::size_t i, planned& p, const market& in,
                              const rewriting& by) {
    const settled& run = by.pilots.run;
    if (!p.rights) {
        const std::lock_guard guard(lock_);
        if (const auto& kept = plans_[i]; kept && kept->plain == p.ready && kept->by == asked(run)) {
            p = kept->walked;
            return;
        }
    }
    const planned plain = p;
    const bool has_its_day = of_book_ && state_of(*of_book_).as_of == state_of(in).as_of;
    const auto found = has_its_day && !p.rights ? chosen_in_market_of_book(t, i, plain, in, by) : nullptr;
    if (found != nullptr) {
        const sources from(run, by.work, &found->held);
        rewriter(by.pilots, from, by.shapes, {&in, 1}).rewrite(t, p);
        found->control.give_points(run, p);
    }
    // Pilots in this market decide if the book's market has no decisions, or those fail or do not fit here.
    if (found == nullptr || p.failure || (found->control.what && !p.control)) {
        p = plain;
        by.rewrites.rewrite(t, p);
    }
    if (p.rights || p.failure) return;
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

std::shared_ptr<const decided_plans::of_book_market> decided_plans::chosen_in_market_of_book(
    const books::trade& t, std::size_t i, const planned& plain, const market& in, const rewriting& by) {
    const settled& run = by.pilots.run;
    const asked as_now(run);
    {
        const std::lock_guard guard(lock_);
        if (const auto& kept = chosen_[i]; kept && kept->by == as_now) return kept;
    }
    const markets::market_state& state = state_of(*of_book_);
    shape_store shapes;  // throw-away: no call walks programs of the book's market
    planned there = plain;
    if (&state_of(in) != &state) {
        missing_pairs missing;
        there = plan_one(t, state, run, shapes, missing, by.pilots.cancel, usual_planner());
        if (there.failure) return nullptr;
    }
    const sources from(run, by.work);
    of_book_market made{as_now, rewriter(by.pilots, from, shapes, {&*of_book_, 1}).rewrite(t, there)};
    if (there.failure) return nullptr;
    decide::decided& held = made.held[t.id];
    held.control =
        made.control.what ? std::make_shared<const controls::control>(*made.control.what) : nullptr;
    held.shifts = there.shifts;
    held.integrates = there.is_integrated;
    const std::lock_guard guard(lock_);
    return chosen_[i] = std::make_shared<const of_book_market>(std::move(made));
}

}  // namespace tilewalk::studies
