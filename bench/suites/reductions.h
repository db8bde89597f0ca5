// SPDX-License-Identifier: Apache-2.0
// Parts of the suite `reductions` that need no GPU.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/walk.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "kernels/tile_result.h"

namespace tilewalk::bench::reductions {

// A European call of one step: so little work on a path that the time of the reduction shows.
planned_walk cheap_walk(const cuda::reduction_entry& by);
double closed_form();

// Text of the kernel `reduce`, which only sums payoffs; it takes kernels::path_arguments.
std::string reduce_text(const cuda::reduction_entry& by);

// Sums these payoffs (whole tiles) in the order of the reduction `tree`, on the host.
kernels::tile_result on_host(std::vector<double> payoffs);

// Says why `got` can't be a sum of the payoffs of `tree`; empty if it can. Kept bits must all be equal.
std::string why_not_alike(const kernels::tile_result& got, const kernels::tile_result& tree, bool keeps_bits);
bool same_bits(const kernels::tile_result& a, const kernels::tile_result& b);

}  // namespace tilewalk::bench::reductions
