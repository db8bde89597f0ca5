// SPDX-License-Identifier: Apache-2.0
// A manifest in words, for the reports that people read.
#pragma once

#include <string>
#include <vector>

#include "tilewalk/manifest.h"

namespace tilewalk::report {

// "double precision", "mixed precision, random numbers of mrg32k3a", "double precision, shocks of a.npy"
std::string draws_text(const run_manifest& m);
// "2 x NVIDIA H200, NVIDIA L4", in the order of first appearance.
std::string devices_text(const std::vector<std::string>& names);
// The line about GPUs; empty if the CPU did everything.
std::string gpu_text(const run_manifest& m);

// Names of settings whose values differ, including defaults.
std::vector<std::string> settings_that_differ(const run_manifest& first, const run_manifest& second);

}  // namespace tilewalk::report
