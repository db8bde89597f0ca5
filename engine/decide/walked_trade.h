// SPDX-License-Identifier: Apache-2.0
// Knowledge of a trade after its paths.
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
    std::optional<run::estimate> quasi;  // of a quasi-random run, whose paths are not independent
    double added_back = 0;               // the share of the control that randomisations do not subtract
    std::vector<double> part_means;
    std::uint64_t part_paths = 0;
    std::optional<kernels::tile_result> sample;  // of the first tiles, where the CPU can't take it
    std::optional<error> sample_failure;         // then it is not compared with double
    std::optional<double> shadow_difference;
    std::vector<std::vector<double>> derivatives;  // by wanted number of the market and by part of the run

    walked_trade(const run::tally& of, bool is_quasi, const planned& p);
};

}  // namespace tilewalk::verbs
