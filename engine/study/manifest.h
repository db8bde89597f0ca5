// SPDX-License-Identifier: Apache-2.0
// The manifest of a run: what was asked for, on which machine, from which files.
#pragma once

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

// A file that a setting names, open for its fingerprint.
struct file_of_setting {
    std::string name;
    arrays::mapped_file held;
};
// Throws tilewalk::error (io) for one that can't be read.
std::vector<file_of_setting> files_named_by(const run_settings& all);
std::vector<input_file> fingerprints_of(const std::vector<file_of_setting>& files);

// Fills in what is known without a path. Waits for the hashes of the market's scenarios. `named` are the
// files of the run's settings.
void describe_run(const settled& run, std::string_view instruction_set, const books::book_state& book,
                  const market& in, const std::vector<input_file>& named, run_manifest& into);

// Adds the time of a later walk of a run and what GPUs did in it, but for its path-steps. Kernels that it
// found are those of the first walk, which has counted them.
void add_walk(run_manifest& to, const run_manifest& of);

// Adds the path-steps of a later walk of a run, and what it left to the processor.
void add_steps(run_manifest& to, const run_manifest& of);

// Work that is there already, for the same reason, has the larger number of trades: most walks of a run are
// of the same trades.
void add_left(std::vector<left_work>& to, const left_work& one);

}  // namespace tilewalk::verbs
