// SPDX-License-Identifier: Apache-2.0
// Rough relative costs of jobs, the same for every device.
#pragma once

#include "engine/walk/job.h"

namespace tilewalk::run {

// Operations of a path, including its way back.
double operations_of(const job& of);

}  // namespace tilewalk::run
