// SPDX-License-Identifier: Apache-2.0
// A quarter of a tile is the consecutive paths of a pass; moments of quarters give errors for runs of few
// tiles. Among pairs of outputs, the second member `first_quarter + j` stands for the first one's quarter j.
#pragma once

#include "kernels/tile.h"

namespace tilewalk::kernels {

static constexpr int quarters_of_tile = paths_per_lane;
static constexpr int paths_of_quarter = lanes_per_tile;
static constexpr word32 first_quarter = word32(1) << 16;

}  // namespace tilewalk::kernels
