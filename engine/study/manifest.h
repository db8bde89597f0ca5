// SPDX-License-Identifier: Apache-2.0
// Manifests of runs: what was asked for, on which machine, from which files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/decide/settled.h"
#include "engine/reading/book_state.h"
#include "engine/walk/arrays/mapped_file.h"
#include "tilewalk/manifest.h"
#include "tilewalk/run_settings.h"

namespace tilewalk::verbs {

std::string utc_now();

struct file_of_setting {
    std::string name;
    arrays::mapped_file held;
};
// Throws tilewalk::error (io) for a file that can't be read.
std::vector<file_of_setting> files_named_by(const run_settings& all);
std::vector<input_file> fingerprints_of(const std::vector<file_of_setting>& files);

// Needs no path, but waits for hashes of scenarios. `named` are the files that settings name.
void describe_run(const settled& run, std::string_view instruction_set, const books::book_state& book,
                  const market& in, const std::vector<input_file>& named, run_manifest& into);

// Adds a later walk without its path-steps. Kernels from the cache were counted by the first walk.
void add_walk(run_manifest& to, const run_manifest& of);

// Adds the path-steps of a later walk, and what it left to the processor.
void add_steps(run_manifest& to, const run_manifest& of);

// Work there already keeps the larger number of trades: walks of a run mostly have the same trades.
void add_left(std::vector<left_work>& to, const left_work& one);

// The sentence of a run with too few parts for standard errors, which says how many paths would do; empty of
// other runs. `randomisations`: those of its points, 0 if its paths are independent.
std::string remark_on_few_parts(const run_manifest& of, std::size_t randomisations);

}  // namespace tilewalk::verbs
