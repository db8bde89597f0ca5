// SPDX-License-Identifier: Apache-2.0
// A sum of estimates of a run whose rounds had different numbers of paths, with its error. Estimates of
// points have the same randomisations. Those of independent paths have the first ones in common, whose parts
// tell what their errors have in common, and are independent of points.
#pragma once

#include <cstdint>
#include <map>

#include "engine/study/estimate.h"

namespace tilewalk::studies {

class sum_of_rounds {
  public:
    // `first`: the parts of the first round.
    explicit sum_of_rounds(const run_parts& first) : first_(first) {}

    // The means of an estimate of independent paths are those of the first round. All estimates have as many
    // parts.
    void add(estimate of_unit, double times, std::uint64_t paths, bool is_of_points);
    // True if no estimate is of more paths than those of the first round.
    bool is_of_one_round() const { return is_of_one_round_; }
    bool has_points() const { return !of_points_.means.empty(); }
    const estimate& all() const { return all_; }
    double error() const;

  private:
    double error_by_parts() const;
    double share_of(std::uint64_t paths) const;

    const run_parts first_;
    bool is_of_one_round_ = true;
    estimate all_, of_points_;
    std::map<std::uint64_t, estimate> of_paths_;  // by number of paths
    double beside_parts_ = 0;                     // errors that parts do not show
};

}  // namespace tilewalk::studies
