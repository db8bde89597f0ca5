// SPDX-License-Identifier: Apache-2.0
// The outcome of a trade's walk.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/decide/planned.h"
#include "engine/walk/tally.h"
#include "engine/walk/units.h"
#include "kernels/tile_result.h"
#include "tilewalk/error.h"

namespace tilewalk::verbs {

struct walked_trade {
    kernels::tile_result result;
    std::optional<run::estimate> quasi;  // if quasi-random, since paths are not independent
    double added_back = 0;               // share of the control that randomisations do not subtract
    std::vector<double> part_means;
    std::uint64_t part_paths = 0;
    std::optional<kernels::tile_result> sample;  // of the first tiles, if the CPU can't take it
    std::optional<error> sample_failure;         // why the sample is not compared with double
    std::optional<double> shadow_difference;
    std::vector<std::vector<double>> derivatives;  // by wanted number of the market, and by part

    walked_trade(const run::tally& of, bool is_quasi, const planned& p);
};

}  // namespace tilewalk::verbs
