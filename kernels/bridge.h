// SPDX-License-Identifier: Apache-2.0
// Brownian bridges: the place (value) of a path from its places at an earlier and a later step.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

// The place after `step`, from those after `left` (-1: the start, at 0) and `right` (-1: no later step).
struct bridge_node {
    int step, left, right;
    double by_left, by_right, deviation;
};

// A step of a path towards a target, which is a place known in advance: weights as of a bridge node, and the
// scale that turns the path's move into a normal. On the step that reaches the target, by_right is 1, by_left
// and deviation are 0. After the last target, by_right is 0.
template <typename real>
struct step_to_target {
    real by_left, by_right, deviation, inverse_root;
};

// The place of a bridge node, from the places of its neighbours; pass 0 for a missing one.
template <typename real>
static constexpr real place_between(real by_left, real left, real by_right, real right, real deviation,
                                    real normal) {
    return fma(by_left, left, fma(by_right, right, deviation * normal));
}

// The standard normal of a path's move from place `before` to place `here`.
template <typename real>
static constexpr real move_between(real before, real here, real inverse_root) {
    return (here - before) * inverse_root;
}

}  // namespace tilewalk::kernels
