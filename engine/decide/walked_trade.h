// SPDX-License-Identifier: Apache-2.0
// Results of walking a trade's paths.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/decide/planned.h"
#include "engine/walk/tally.h"
#include "engine/walk/units.h"
#include "kernels/tile_result.h"
#include "tilewalk/error.h"

namespace tilewalk::studies {

struct walked_trade {
    kernels::tile_result result;
    std::optional<run::estimate> quasi;  // mean and error over randomisations, if there are any
    double added_back = 0;               // share of the control that was not subtracted
    std::vector<double> part_means;
    std::uint64_t part_paths = 0;
    std::optional<kernels::tile_result> sample;  // first tiles as the run walks them, to compare with double
    std::optional<error> sample_failure;         // why `sample` is not compared with double
    std::optional<double> shadow_difference;
    std::vector<std::vector<double>> derivatives;  // [wanted number of the market][part of the run]

    walked_trade(const run::tally& of, bool is_quasi, const planned& p);
};

}  // namespace tilewalk::studies
