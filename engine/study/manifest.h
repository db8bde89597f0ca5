// SPDX-License-Identifier: Apache-2.0
// Manifests of runs: settings, machine, input files and times.
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

namespace tilewalk::studies {

std::string utc_now();

struct file_of_setting {
    std::string name;
    arrays::mapped_file held;
};
// Opens the files that settings name. Throws tilewalk::error (io) if one can't be read.
std::vector<file_of_setting> files_named_by(const run_settings& all);
std::vector<input_file> fingerprints_of(const std::vector<file_of_setting>& files);

// Walks no path, but waits for the hashes of scenario arrays. `named` are the files that settings name.
void describe_run(const settled& run, std::string_view instruction_set, const books::book_state& book,
                  const market& in, const std::vector<input_file>& named, run_manifest& into);

// Adds a later walk without its path-steps, and without kernels from the cache: the first walk counted them.
void add_walk(run_manifest& to, const run_manifest& of);

// Adds the path-steps of another walk.
void count_steps(run_manifest& to, const run_manifest& of);
// Adds the path-steps of a later walk, and the work that it left to the CPU.
void add_steps(run_manifest& to, const run_manifest& of);

// Keeps the larger number of trades if the work is known: walks of a run mostly have the same trades.
void add_left(std::vector<left_work>& to, const left_work& one);

// Remarks on too few parts for standard errors, and how many paths would do; empty if there are enough.
// `randomisations` is 0 if paths are independent.
std::string remark_on_few_parts(const run_manifest& of, std::size_t randomisations);

}  // namespace tilewalk::studies
