// SPDX-License-Identifier: Apache-2.0
// A quarter of a tile is the paths of a pass, consecutive too: the moments of quarters show an error where a
// run has few tiles. Among the pairs of outputs whose sum has its moments taken, an output with
// `first_quarter + j` in the place of another one stands for its quarter j.
#pragma once

#include "kernels/tile.h"

namespace tilewalk::kernels {

static constexpr int quarters_of_tile = paths_per_lane;
static constexpr int paths_of_quarter = lanes_per_tile;
static constexpr word32 first_quarter = word32(1) << 16;

}  // namespace tilewalk::kernels
