// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/planned_run.h"

#include <cstddef>
#include <functional>

#include "engine/decide/pilot.h"
#include "engine/decide/rewrites.h"
#include "tilewalk/timings.h"

namespace tilewalk::studies {

decide::decided_by_trade decided_in(const planned_run& r) {
    decide::decided_by_trade out;
    const bool has_points = r.run.chooses_source || r.run.chooses_construction;
    const std::vector<books::trade>& trades = r.book.trades;
    for (std::size_t i = 0; i < trades.size(); ++i) {
        const planned& p = r.plans[i];
        if (p.failure) continue;
        if (p.rights && p.rights->saved) out[trades[i].id].policy = p.rights->saved;
        if (!p.needs_paths()) continue;
        decide::decided& of = out[trades[i].id];
        if (has_points) of.points = p.points;
        if (r.run.chooses_preintegration) of.integrates = p.is_integrated;
        if (r.run.chooses_importance) of.shifts = p.shifts;
    }
    return out;
}

void choose_points(planned_run& r, const sources& from, const progress_reporter& reporter) {
    const timings::during choosing(r.options.times, stage::points);
    const scenarios_of_markets scenarios(r.in);
    choose_points(r.book.trades, r.plans,
                  {r.run, r.operations, scenarios.cubes, r.options.cancel, from,
                   reporter.is_wanted() ? [&] { reporter.report(); } : std::function<void()>()});
}

std::vector<std::uint64_t> steps_of_paths(const planned_run& r) {
    std::vector<std::uint64_t> out(r.book.trades.size(), 0);
    for (std::size_t k = 0; k < r.plans.size(); ++k)
        if (r.plans[k].needs_paths()) out[k % out.size()] += r.plans[k].ready->when.steps();
    return out;
}

}  // namespace tilewalk::studies
