// SPDX-License-Identifier: Apache-2.0
// The parts of the suite `reductions` that need no GPU.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/walk.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "kernels/tile_result.h"

namespace tilewalk::bench::reductions {

// A European call with one step: so little work per path that its reduction shows.
planned_walk cheap_walk(const cuda::reduction_entry& by);
double closed_form();

// The kernel `reduce`, a reduction alone; takes kernels::path_arguments.
std::string reduce_text(const cuda::reduction_entry& by);

// The tree's result of all these payoffs, in whole tiles, computed on the host.
kernels::tile_result on_host(std::vector<double> payoffs);

// Why a result can't be that of the tree's payoffs; empty if it can. Kept bits must all be equal.
std::string why_not_alike(const kernels::tile_result& got, const kernels::tile_result& tree, bool keeps_bits);
bool same_bits(const kernels::tile_result& a, const kernels::tile_result& b);

}  // namespace tilewalk::bench::reductions
