// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/kept_controls.h"

#include <functional>
#include <utility>

namespace tilewalk::verbs {

void kept_controls::add_to(planned_run& r, shape_store& shapes, cpu::crew& by, const teller& tells) {
    const pilot_of_controls pilot{r.run, r.operations, r.options.cancel};
    if (!pilot.is_wanted()) return;
    const auto add = [&](int, std::uint64_t i) {
        planned& p = r.plans[i];
        if (!p.needs_paths() || (p.rights && p.rights->used_today)) return;
        const books::trade& t = r.book.trades[i];
        try {
            if (auto ready = controlled(t, i, p, r.in.front(), pilot, shapes)) p.ready = std::move(ready);
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
            p.failure = at_trade(t, e);
        }
    };
    by.for_each(r.plans.size(), r.options.cancel, add,
                tells.is_heard() ? [&] { tells.tell(); } : std::function<void()>());
}

std::shared_ptr<const ready_trade> kept_controls::controlled(const books::trade& t, std::size_t i,
                                                             const planned& p, const market& in,
                                                             const pilot_of_controls& by,
                                                             shape_store& shapes) {
    const std::uint64_t seed = by.run.seed, paths = by.run.paths;
    if (!p.rights) {
        const std::lock_guard guard(lock_);
        const auto& kept = plans_[i];
        if (kept && kept->plain == p.ready && kept->seed == seed && kept->paths == paths)
            return kept->controlled;
    }
    const subject_of_control of = subject_of(t, p);
    std::shared_ptr<const ready_trade> made;
    const auto plan_by = [&](const controls::control& what) {
        auto with = plan_with(what, of, in.state(), by);
        if (with) made = ready_with(what, *std::move(with), shapes);
        return made != nullptr;
    };
    bool is_decided = false;
    if (!p.rights && of_book_ && of_book_->state().as_of == in.state().as_of) {
        try {
            const auto what = chosen_in_market_of_book(t, i, by);
            is_decided = !what || plan_by(*what);
        } catch (const std::exception& e) {
            throw_if_cancelled(e);  // the trade may have a price in this market all the same
        }
    }
    if (!is_decided) {
        const auto what = choose_control(of, in.state(), in.state().scenario_cubes(), by).what;
        if (what) plan_by(*what);
    }
    if (!p.rights) {
        auto kept = std::make_shared<const kept_plan>(kept_plan{p.ready, made, seed, paths});
        const std::lock_guard guard(lock_);
        plans_[i].swap(kept);
    }
    return made;
}

std::optional<controls::control> kept_controls::chosen_in_market_of_book(const books::trade& t, std::size_t i,
                                                                         const pilot_of_controls& by) {
    const std::uint64_t seed = by.run.seed, paths = by.run.paths;
    {
        const std::lock_guard guard(lock_);
        const auto& kept = chosen_[i];
        if (kept && kept->seed == seed && kept->paths == paths) return kept->what;
    }
    const markets::market_state& state = of_book_->state();
    auto made = std::make_shared<const of_book_market>(
        of_book_market{seed, paths, choose_control({t}, state, state.scenario_cubes(), by).what});
    std::optional<controls::control> out = made->what;
    const std::lock_guard guard(lock_);
    chosen_[i].swap(made);
    return out;
}

}  // namespace tilewalk::verbs
