// SPDX-License-Identifier: Apache-2.0
// Tallies of quarters of tiles, so that differences between markets have errors in runs of few tiles.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/walk/tally.h"

namespace tilewalk::verbs {

// Has trades tally the quarters of their tiles if whole tiles are too few for an error.
void tally_quarters(std::span<planned> plans, const settled& run, const std::atomic<bool>* cancel);

// Returns the mean of each quarter of the run in order; empty if none was tallied.
std::vector<double> means_of_quarters(const run::tally& of);

}  // namespace tilewalk::verbs
