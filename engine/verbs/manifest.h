// SPDX-License-Identifier: Apache-2.0
// The manifest of a run: what was asked for, on which machine, from which files.
#pragma once

#include <string>
#include <string_view>

#include "engine/book/book_state.h"
#include "engine/verbs/settled.h"
#include "tilewalk/results.h"

namespace tilewalk::verbs {

std::string utc_now();

// Fills in what is known without a path. Waits for the hashes of the market's scenarios.
void describe_run(const settled& run, std::string_view instruction_set, const books::book_state& book,
                  const market& in, run_manifest& into);

// Adds the time of a later walk of a run and what GPUs did in it, but for its path-steps. Kernels that it
// found are those of the first walk, which has counted them.
void add_walk(run_manifest& to, const run_manifest& of);

}  // namespace tilewalk::verbs
