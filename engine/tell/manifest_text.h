// SPDX-License-Identifier: Apache-2.0
// A run's manifest in words, for the reports that people read.
#pragma once

#include <string>
#include <vector>

#include "tilewalk/manifest.h"

namespace tilewalk::report {

// Says what paths were drawn with, such as "double precision", "mixed precision, random numbers of mrg32k3a".
std::string draws_text(const run_manifest& m);
// Counts equal names: "2 x NVIDIA H200, NVIDIA L4", in the order in which they first appear.
std::string devices_text(const std::vector<std::string>& names);
// A line on how GPUs were used; empty if the CPU did everything.
std::string gpu_text(const run_manifest& m);

// Names of settings with different values in the two runs. A setting left out counts with its default.
std::vector<std::string> settings_that_differ(const run_manifest& first, const run_manifest& second);

}  // namespace tilewalk::report
