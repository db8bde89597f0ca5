// SPDX-License-Identifier: Apache-2.0
// Reductions side by side: what of it needs no GPU.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/walk.h"
#include "engine/cuda/reductions.h"
#include "kernels/tile_result.h"

namespace tilewalk::bench::reductions {

// A European call with one step: so little work a path that its reduction shows.
planned_walk cheap_walk(const cuda::reduction_entry& by);
// Its price.
double closed_form();

// The kernel `reduce` of a reduction alone; takes kernels::path_arguments.
std::string reduce_text(const cuda::reduction_entry& by);

// What of all these payoffs, whole tiles, the tree makes, on the host.
kernels::tile_result on_host(std::vector<double> payoffs);

// Why a result can't be that of the same payoffs as the tree's; empty if it can. One that keeps bits must
// have them all.
std::string why_not_alike(const kernels::tile_result& got, const kernels::tile_result& tree, bool keeps_bits);
bool same_bits(const kernels::tile_result& a, const kernels::tile_result& b);

}  // namespace tilewalk::bench::reductions
