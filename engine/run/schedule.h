// SPDX-License-Identifier: Apache-2.0
// A schedule is walks in their order, where the numbers of a later one may come from the tallies of those
// before: a pilot, a regression on what it found, the price.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/run/job.h"

namespace tilewalk::run {

// A walk of a schedule, with what it points to where that was made for it.
struct round {
    walk of;
    std::shared_ptr<const void> keeps{};
};

class schedule {
  public:
    // A maker gives the next round from the outcomes of all before.
    using maker = std::function<round(std::span<const outcome> before)>;
    schedule& then(maker next);

    // The outcomes, round by round. Progress adds up over the rounds; the jobs that are done are the last's.
    // Throws what the back end or a maker throws.
    std::vector<outcome> walk_on(back_end& on) const;

  private:
    std::vector<maker> rounds_;
};

// Path-steps of a walk: what its progress counts.
std::uint64_t path_steps_of(const walk& of);

// The seed of a walk that finds numbers for a later one, the same for every run of that seed. On the paths of
// the price itself, numbers that suit these paths best would pull the price to one side.
std::uint64_t pilot_seed(std::uint64_t seed, std::uint32_t pilot = 0);

}  // namespace tilewalk::run
