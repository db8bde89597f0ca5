// SPDX-License-Identifier: Apache-2.0
// A quarter of a tile is the 256 consecutive paths of a pass. Moments of quarters give errors to runs of few
// tiles. In pairs of outputs, a second member first_quarter + j stands for quarter j of the first member.
#pragma once

#include "kernels/tile.h"

namespace tilewalk::kernels {

static constexpr int quarters_of_tile = paths_per_lane;
static constexpr int paths_of_quarter = lanes_per_tile;
static constexpr word32 first_quarter = word32(1) << 16;

}  // namespace tilewalk::kernels
