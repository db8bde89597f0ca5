// SPDX-License-Identifier: Apache-2.0
// Tallies by quarter of a tile, so that differences between markets get an error in runs of few tiles.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/walk/tally.h"

namespace tilewalk::studies {

// Makes trades tally the quarters of their tiles if whole tiles are too few to estimate an error.
void tally_quarters(std::span<planned> plans, const settled& run, const std::atomic<bool>* cancel);

// Returns the mean of each quarter tile in order of paths; empty if quarters were not tallied.
std::vector<double> means_of_quarters(const run::tally& of);

}  // namespace tilewalk::studies
