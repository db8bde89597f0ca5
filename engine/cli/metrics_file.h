// SPDX-License-Identifier: Apache-2.0
// The file of --metrics: how a run went, for Prometheus.
#pragma once

#include <string>

#include "engine/cli/side_files.h"

namespace tilewalk::cli {

std::string metrics_of(const told_results& of);

}  // namespace tilewalk::cli
