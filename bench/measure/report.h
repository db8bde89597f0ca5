// SPDX-License-Identifier: Apache-2.0
// A run of benchmarks as one page of HTML that needs nothing else, and its figures as files of their own.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/row.h"

namespace tilewalk::bench {

// Well-formed XML as well, so that any tool may read it.
std::string report_html(const run& what);

// What a run of the suite prefetch has figures of, as names of files: "prefetch-WORKLOAD-PRECISION-" and
// "plain", "padded", "transposed" or "share".
std::vector<std::string> figure_names(const run& what);
// Throws tilewalk::error (usage) with the names that there are.
std::string figure_svg(const run& what, const std::string& name);

}  // namespace tilewalk::bench
