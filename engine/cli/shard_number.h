// SPDX-License-Identifier: Apache-2.0
// The shard that a process does: as it is told, or as the engine that started it says in its environment.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "engine/cli/settings.h"

namespace tilewalk::cli {

struct shard_number {
    std::size_t number = 0;  // counted from 1
    std::string origin;      // "SLURM_ARRAY_TASK_ID=7"; empty: it was told
};

// "3/16", or "auto" for the first variable of the table that is set. `count` is that of the plan. Throws
// tilewalk::error (usage) for a number or a count that the plan has not, and where no variable is set.
shard_number shard_number_of(const std::string& text, std::size_t count, const environment& variables);

// The variables, one a line, with what each counts from.
std::string shard_variables_text();

}  // namespace tilewalk::cli
