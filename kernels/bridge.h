// SPDX-License-Identifier: Apache-2.0
// Brownian bridges: where a path is after some steps, from where it is before and behind them.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

// A path is after `step` between where it is after `left` and after `right`; -1: it begins there, at 0, or
// nothing behind is known.
struct bridge_node {
    int step, left, right;
    double by_left, by_right, deviation;
};

// A step between two targets, places of paths at a few dates that are known: from the place before and the
// target ahead, by the numbers of its node, to the normal number of its move. A step that ends on a target
// has by_right 1, and 0 for what else a node has; behind the last target by_right is 0.
template <typename real>
struct step_to_target {
    real by_left, by_right, deviation, inverse_root;
};

// `left` and `right` are 0 where there are none.
template <typename real>
static constexpr real place_between(real by_left, real left, real by_right, real right, real deviation,
                                    real normal) {
    return fma(by_left, left, fma(by_right, right, deviation * normal));
}

// The normal number of the move between neighbours.
template <typename real>
static constexpr real move_between(real before, real here, real inverse_root) {
    return (here - before) * inverse_root;
}

}  // namespace tilewalk::kernels
