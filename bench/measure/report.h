// SPDX-License-Identifier: Apache-2.0
// A run of benchmarks as one self-contained page of HTML, and its figures as separate files.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/row.h"

namespace tilewalk::bench {

// The whole page. HTML that is also well-formed XML, so that any tool may read it.
std::string report_html(const run& what);

// File names of the charts of `prefetch`: "prefetch-WORKLOAD-PRECISION-" followed by a layout or "share".
std::vector<std::string> figure_names(const run& what);
// The chart of that name as SVG. Throws tilewalk::error (usage) with the known names if there is none.
std::string figure_svg(const run& what, const std::string& name);

}  // namespace tilewalk::bench
