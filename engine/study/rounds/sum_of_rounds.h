// SPDX-License-Identifier: Apache-2.0
// A sum of estimates from rounds with different numbers of paths. Part means show common errors: points have
// the same randomisations in all rounds, independent paths share the first round.
#pragma once

#include <cstdint>
#include <map>

#include "engine/study/estimate.h"

namespace tilewalk::studies {

class sum_of_rounds {
  public:
    explicit sum_of_rounds(const run_parts& first) : first_(first) {}

    // Means of independent paths must be the first round's. All estimates must have equally many parts.
    void add(estimate of_unit, double times, std::uint64_t paths, bool is_of_points);
    // True if all estimates are from the paths of the first round.
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
    double beside_parts_ = 0;                     // errors that part means do not show
};

}  // namespace tilewalk::studies
