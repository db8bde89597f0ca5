// SPDX-License-Identifier: Apache-2.0
// Brownian bridges: the place of a path from its places at an earlier and a later step.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

// A place after `step`, between those after `left` and `right`; -1: the start at 0, or no later step.
struct bridge_node {
    int step, left, right;
    double by_left, by_right, deviation;
};

// A step towards a target, a place known in advance: its bridge node's numbers, and the scale that turns the
// move into a normal. On a target's step by_right is 1 and the rest 0; after the last, by_right is 0.
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
