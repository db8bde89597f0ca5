// SPDX-License-Identifier: Apache-2.0
// Finds which shard a process runs, from an argument or from the environment of its scheduler.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "engine/cli/settings.h"

namespace tilewalk::cli {

struct shard_number {
    std::size_t number = 0;  // counted from 1
    std::string origin;      // such as "SLURM_ARRAY_TASK_ID=7"; empty if from the argument
};

// Reads "3/16"; for "auto", TILEWALK_SHARD or else the first variable of a scheduler that is set. `count` is
// the plan's. Throws tilewalk::error (usage) for a number or a count that the plan lacks, or if nothing is
// set.
shard_number shard_number_of(const std::string& text, std::size_t count, const environment& variables);

std::string shard_variables_text();

}  // namespace tilewalk::cli
