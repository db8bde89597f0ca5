// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/arguments.h"
#include "products/program/passes.h"

namespace tilewalk::program {

namespace {

bool is_after_every_step(const timeline& when, std::size_t place, std::size_t section) {
    for (std::size_t step = 0; step < when.steps(); ++step) {
        const auto events = when.events_after(step);
        if (place >= events.size() || events[place].section != section || events[place].row != step)
            return false;
    }
    return true;
}

}  // namespace

void mark_every_step(path_program& p, const timeline& when, const std::vector<bool>& is_of_intervals) {
    if (when.steps() == 0) return;
    std::size_t place = 0;
    const std::size_t last = std::min<std::size_t>(p.sections.size(), kernels::most_sections_of_masks);
    for (std::size_t k = 1; k < last; ++k) {
        if (p.sections[k].writes.empty()) continue;
        const bool is_of_steps = when.steps() > 1 || (k < is_of_intervals.size() && is_of_intervals[k]);
        if (!is_of_steps || !is_after_every_step(when, place, k)) return;
        p.sections[k].is_on_every_step = true;
        ++place;
    }
}

}  // namespace tilewalk::program
