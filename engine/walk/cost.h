// SPDX-License-Identifier: Apache-2.0
// The cost of jobs, next to each other: rough, and alike on every device.
#pragma once

#include "engine/walk/job.h"

namespace tilewalk::run {

// Operations of a path, those of its way back with them.
double operations_of(const job& of);

}  // namespace tilewalk::run
