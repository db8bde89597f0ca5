// SPDX-License-Identifier: Apache-2.0
// A run of benchmarks as one self-contained page of HTML, and its figures as files of their own.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/row.h"

namespace tilewalk::bench {

// The page is well-formed XML, too, so that any tool may read it.
std::string report_html(const run& what);

// The figures of a run of the suite prefetch, as names of files: "prefetch-WORKLOAD-PRECISION-" and "plain",
// "padded", "transposed" or "share".
std::vector<std::string> figure_names(const run& what);
// Throws tilewalk::error (usage) with the known names.
std::string figure_svg(const run& what, const std::string& name);

}  // namespace tilewalk::bench
