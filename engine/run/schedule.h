// SPDX-License-Identifier: Apache-2.0
// A schedule: walks in order, where a later walk may use numbers from the tallies of earlier ones: a pilot, a
// regression on its tallies, the price.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/run/job.h"

namespace tilewalk::run {

// A walk of a schedule, and the data made for it that it points to.
struct round {
    walk of;
    std::shared_ptr<const void> keeps{};
};

class schedule {
  public:
    // A maker gives the next round, from the outcomes of all earlier ones.
    using maker = std::function<round(std::span<const outcome> before)>;
    schedule& then(maker next);

    // The outcomes, round by round. Progress adds up over the rounds; the jobs done are those of the last
    // round. Throws exceptions of the back end and of makers.
    std::vector<outcome> walk_on(back_end& on) const;

  private:
    std::vector<maker> rounds_;
};

// The path-steps of a walk, in which its progress is counted.
std::uint64_t path_steps_of(const walk& of);

// The seed of a walk that finds numbers for a later one; it is the same in every run of the seed. Numbers
// found on the paths of the price itself would suit these paths best and so bias the price.
std::uint64_t pilot_seed(std::uint64_t seed, std::uint32_t pilot = 0);

}  // namespace tilewalk::run
