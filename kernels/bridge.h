// SPDX-License-Identifier: Apache-2.0
// Brownian bridges: the place of a path from its places at an earlier and a later step.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

// The place after `step` lies between those after `left` and `right`. -1: the path's start, at 0, or no later
// step known.
struct bridge_node {
    int step, left, right;
    double by_left, by_right, deviation;
};

// A step of a path towards a target, a place known in advance: the numbers of its bridge node, from the place
// before and the target ahead, and the scale that turns the move into a normal number. A step that ends on a
// target has by_right 1 and the node's other numbers 0; after the last target by_right is 0.
template <typename real>
struct step_to_target {
    real by_left, by_right, deviation, inverse_root;
};

// Pass 0 for a missing `left` or `right`.
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
